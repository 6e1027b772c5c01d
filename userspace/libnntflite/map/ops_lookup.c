// SPDX-License-Identifier: MIT
/*
 * Operators that look something up: rows of tables, hashes, buckets.
 */
#include <inttypes.h>

#include "map_ops.h"

/* Slots of the options tables, in the order of the schema. */
enum { LSH_TYPE };
enum { BUCKETIZE_BOUNDARIES };

/* LSHProjectionType of the schema, and the numbers that the HAL has for the same. */
enum { LSH_SPARSE = 1, LSH_DENSE };
enum { HAL_LSH_DENSE = 2, HAL_LSH_SPARSE };

int map_hashtable_lookup(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	int outputs[2];
	uint32_t i;

	for (i = 0; i < 3; i++)
		put_input(m, &in, i);
	if (in.failed)
		return -1;
	for (i = 0; i < 2; i++) {
		outputs[i] = output_operand(m, i);
		if (outputs[i] < 0)
			return -1;
	}
	return add_operation_outputs(m, type, in.list, in.count, outputs, 2);
}

int map_lsh_projection(struct mapper *m, uint32_t type)
{
	int32_t kind = fb_i8(&m->options, LSH_TYPE, 0);
	struct inputs in = { .count = 0 };

	if (kind != LSH_SPARSE && kind != LSH_DENSE)
		return map_fail(m, "projection of type %" PRId32 ", expected %d (sparse) or %d (dense)",
				kind, LSH_SPARSE, LSH_DENSE);
	put_input(m, &in, 0);
	put_input(m, &in, 1);
	if (!in.failed)
		put(&in, optional_operand(m, 2, NNHAL_OPERAND_TENSOR_FLOAT32));
	put_int32(m, &in, kind == LSH_DENSE ? HAL_LSH_DENSE : HAL_LSH_SPARSE);
	return finish_operation(m, type, &in);
}

int map_bucketize(struct mapper *m, uint32_t type)
{
	struct fb_vector list = fb_vector(&m->options, BUCKETIZE_BOUNDARIES, sizeof(float));
	struct nnhal_operand boundaries = {
		.type = NNHAL_OPERAND_TENSOR_FLOAT32,
		.num_dimensions = 1,
		.dimensions = &list.count,
	};
	struct inputs in = { .count = 0 };
	float *values;
	uint32_t i;

	(void)type;
	if (!list.count)
		return map_fail(m, "no boundaries, one is needed at least");
	values = hal_alloc(m->b, list.count, sizeof(*values), m->diag);
	if (!values)
		return -1;
	for (i = 0; i < list.count; i++)
		values[i] = fb_vector_f32(&list, i);
	put_input(m, &in, 0);
	if (!in.failed)
		put(&in, hal_add_copied(m->g, &boundaries, values, list.count * sizeof(*values),
					HAL_NO_ORIGIN, m->diag));
	m->b->uses_extension = true;
	return finish_operation(m, HAL_EXTENSION_CODE(TFLITE_BUCKETIZE), &in);
}
