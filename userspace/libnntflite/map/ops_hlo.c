// SPDX-License-Identifier: MIT
/*
 * Operators of StableHLO with parameters that compute: comparisons, limits, sums, products.
 */
#include <inttypes.h>

#include "map_model.h"
#include "map_table.h"
#include "ops_hlo.h"

/* Slots of the options tables, in the order of the schema. */
enum { COMPARE_DIRECTION, COMPARE_TYPE };
enum { REDUCE_DIMENSIONS, REDUCE_BODY };
enum { DOT_LHS_BATCH, DOT_RHS_BATCH, DOT_LHS_CONTRACTING, DOT_RHS_CONTRACTING };

#define COMPARE_TOTAL_ORDER	2

static const struct shape *known(struct mapper *m, const struct tflite_tensor *tensor)
{
	const struct shape *shape = tensor ? tensor_shape(m, tensor) : NULL;

	if (!tensor) {
		map_fail(m, "an input or output is missing");
		return NULL;
	}
	if (!shape_is_known(shape) || shape->scalar) {
		tensor_fail(m, tensor, shape->scalar ? "a scalar, expected a tensor with dimensions" :
			    "its shape is not known before the model runs");
		return NULL;
	}
	return shape;
}

const struct shape *hlo_input_shape(struct mapper *m, uint32_t pos)
{
	return known(m, input_tensor(m, pos));
}

const struct shape *hlo_output_shape(struct mapper *m, uint32_t pos)
{
	return known(m, output_tensor(m, pos));
}

int hlo_list(struct mapper *m, unsigned int slot, const char *name, uint32_t count,
	     int32_t *values)
{
	struct fb_vector list = fb_vector(&m->options, slot, 8);
	uint32_t i;

	if (list.count != count)
		return map_fail(m, "%" PRIu32 " entries in its option '%s', expected %" PRIu32,
				list.count, name, count);
	for (i = 0; i < count; i++) {
		int64_t value = fb_vector_i64(&list, i);

		if (value < INT32_MIN || value > INT32_MAX)
			return map_fail(m, "its option '%s' has %" PRId64 ", which does not fit 32"
					" bits", name, value);
		values[i] = (int32_t)value;
	}
	return 0;
}

int32_t hlo_dimension(struct mapper *m, unsigned int slot, const char *name, uint32_t rank)
{
	uint64_t value = fb_u64(&m->options, slot, 0);

	if (value >= rank)
		return map_fail(m, "its option '%s' is %" PRId64 ", for a tensor of rank %" PRIu32,
				name, (int64_t)value, rank);
	return (int32_t)value;
}

int hlo_shape_operand(struct mapper *m, const struct shape *shape)
{
	int32_t dims[TFLITE_MAX_RANK];
	uint32_t i;

	for (i = 0; i < shape->rank; i++)
		dims[i] = (int32_t)shape->dims[i];
	return int32_vector_operand(m, dims, shape->rank);
}

int hlo_step(struct mapper *m, int32_t code, const struct inputs *in, int like,
	     const struct shape *shape)
{
	int output;

	if (in->failed || like < 0)
		return -1;
	output = temporary_operand(m, (uint32_t)like, shape);
	if (output < 0 ||
	    add_operation(m, HAL_EXTENSION_CODE(code), in->list, in->count, output))
		return -1;
	return output;
}

int hlo_last(struct mapper *m, int32_t code, const struct inputs *in)
{
	return finish_operation(m, HAL_EXTENSION_CODE(code), in);
}

int map_hlo_compare(struct mapper *m, uint32_t type)
{
	static const int32_t codes[] = {
		TFLITE_EQUAL, TFLITE_NOT_EQUAL, TFLITE_GREATER_EQUAL, TFLITE_GREATER,
		TFLITE_LESS_EQUAL, TFLITE_LESS,
	};
	uint32_t direction = fb_u32(&m->options, COMPARE_DIRECTION, 0);
	struct inputs in = { .count = 0 };

	(void)type;
	if (direction >= sizeof(codes) / sizeof(codes[0]))
		return map_fail(m, "unknown direction %" PRIu32 " of a comparison", direction);
	if (fb_u32(&m->options, COMPARE_TYPE, 0) == COMPARE_TOTAL_ORDER)
		return map_fail(m, "a comparison in the total order of floats is not supported");
	put_input(m, &in, 0);
	put_input(m, &in, 1);
	return hlo_last(m, codes[direction], &in);
}

/* min(max(x, least), most); the limits are scalars or like x. */
int map_hlo_clamp(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *x = input_tensor(m, 1);
	struct inputs in = { .count = 0 }, next = { .count = 0 };

	(void)type;
	if (!x)
		return map_fail(m, "input 1 is missing");
	put_input(m, &in, 1);
	put_input(m, &in, 0);
	put(&next, in.failed ? -1 :
	    hlo_step(m, TFLITE_MAXIMUM, &in, in.list[0], tensor_shape(m, x)));
	put_input(m, &next, 2);
	return hlo_last(m, TFLITE_MINIMUM, &next);
}

/* How to reduce by an operator, and how to join the result with the start value. */
static const struct reduction {
	int32_t body, reduce, join;
} reductions[] = {
	{ TFLITE_ADD, TFLITE_SUM, TFLITE_ADD },
	{ TFLITE_MUL, TFLITE_REDUCE_PROD, TFLITE_MUL },
	{ TFLITE_MAXIMUM, TFLITE_REDUCE_MAX, TFLITE_MAXIMUM },
	{ TFLITE_MINIMUM, TFLITE_REDUCE_MIN, TFLITE_MINIMUM },
	{ TFLITE_LOGICAL_OR, TFLITE_REDUCE_ANY, TFLITE_LOGICAL_OR },
	{ TFLITE_LOGICAL_AND, TFLITE_REDUCE_ALL, TFLITE_LOGICAL_AND },
};

/* The body has to be one operator on its two inputs. */
static const struct reduction *reduction_of(struct mapper *m)
{
	const struct tflite_model *tflite = m->model->tflite;
	uint32_t index = fb_u32(&m->options, REDUCE_BODY, 0), i;
	const struct tflite_subgraph *body;
	struct fb_table options;
	int32_t code, a, b;

	if (index >= tflite->num_subgraphs) {
		map_fail(m, "its body is subgraph %" PRIu32 ", the file has %" PRIu32, index,
			 tflite->num_subgraphs);
		return NULL;
	}
	body = &tflite->subgraphs[index];
	if (body->num_operators != 1 || body->inputs.count != 2 || body->outputs.count != 1 ||
	    body->operators[0].inputs.count != 2 || body->operators[0].outputs.count != 1 ||
	    fb_vector_i32(&body->operators[0].outputs, 0) != fb_vector_i32(&body->outputs, 0))
		goto unknown;
	a = fb_vector_i32(&body->operators[0].inputs, 0);
	b = fb_vector_i32(&body->operators[0].inputs, 1);
	if (a == b || (a != fb_vector_i32(&body->inputs, 0) && a != fb_vector_i32(&body->inputs, 1)) ||
	    (b != fb_vector_i32(&body->inputs, 0) && b != fb_vector_i32(&body->inputs, 1)))
		goto unknown;
	code = op_same_as(body->operators[0].code);
	/* An activation of the body, the first of its options, would count for each element. */
	options = body->operators[0].options;
	options.reader = &m->reader;
	if (code == body->operators[0].code && fb_i8(&options, 0, 0) != 0)
		goto unknown;
	for (i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++)
		if (reductions[i].body == code)
			return &reductions[i];
unknown:
	map_fail(m, "its body, subgraph %" PRIu32 ", is not one operator of its two inputs that"
		 " adds, multiplies or takes the maximum, minimum, OR or AND", index);
	return NULL;
}

int map_hlo_reduce(struct mapper *m, uint32_t type)
{
	struct fb_vector list = fb_vector(&m->options, REDUCE_DIMENSIONS, 8);
	const struct shape *shape = hlo_input_shape(m, 0);
	const struct tflite_tensor *result = output_tensor(m, 0);
	const struct reduction *r = shape ? reduction_of(m) : NULL;
	struct inputs in = { .count = 0 }, next = { .count = 0 };
	int32_t axes[TFLITE_MAX_RANK];
	bool logical;
	int part;

	(void)type;
	if (!r || !result)
		return -1;
	if (list.count > shape->rank)
		return map_fail(m, "%" PRIu32 " dimensions of a tensor of rank %" PRIu32, list.count,
				shape->rank);
	if (hlo_list(m, REDUCE_DIMENSIONS, "dimensions", list.count, axes))
		return -1;
	put_input(m, &in, 0);
	put(&in, int32_vector_operand(m, axes, list.count));
	put_bool(m, &in, false);
	part = in.failed ? -1 : hlo_step(m, r->reduce, &in, in.list[0], tensor_shape(m, result));
	put(&next, part);
	put_input(m, &next, 1);
	logical = r->join == TFLITE_LOGICAL_OR || r->join == TFLITE_LOGICAL_AND;
	if (logical)
		return finish_operation(m, r->join == TFLITE_LOGICAL_OR ? NNHAL_OPERATION_LOGICAL_OR :
					NNHAL_OPERATION_LOGICAL_AND, &next);
	if (r->join == TFLITE_ADD || r->join == TFLITE_MUL)
		put_int32(m, &next, 0);
	if (r->join == TFLITE_ADD)
		put_bool(m, &next, true);
	return hlo_last(m, r->join, &next);
}

/* Are the batches the first dimensions, and which one of the two behind them is contracted? */
static int contracted(struct mapper *m, unsigned int batch, unsigned int contracting,
		      const struct shape *shape, uint32_t batches, uint32_t *which)
{
	int32_t values[TFLITE_MAX_RANK], dim = 0;
	uint32_t i;

	if (hlo_list(m, batch, "batching_dimensions", batches, values) ||
	    hlo_list(m, contracting, "contracting_dimensions", 1, &dim))
		return -1;
	for (i = 0; i < batches; i++)
		if (values[i] != (int32_t)i)
			return map_fail(m, "batches that are not the first dimensions");
	if (dim < (int32_t)batches || dim >= (int32_t)shape->rank)
		return map_fail(m, "contracts dimension %" PRId32 " of a tensor of rank %" PRIu32, dim,
				shape->rank);
	*which = (uint32_t)dim - batches;
	return 0;
}

int map_hlo_dot_general(struct mapper *m, uint32_t type)
{
	const struct shape *x = hlo_input_shape(m, 0), *y = x ? hlo_input_shape(m, 1) : NULL;
	uint32_t batches = fb_vector(&m->options, DOT_LHS_BATCH, 8).count, of_x = 0, of_y = 0;
	struct inputs in = { .count = 0 };

	(void)type;
	if (!y)
		return -1;
	if (x->rank != y->rank || x->rank != (uint64_t)batches + 2)
		return map_fail(m, "tensors of rank %" PRIu32 " and %" PRIu32 " with %" PRIu32
				" batches, expected two dimensions behind the batches", x->rank, y->rank,
				batches);
	if (contracted(m, DOT_LHS_BATCH, DOT_LHS_CONTRACTING, x, batches, &of_x) ||
	    contracted(m, DOT_RHS_BATCH, DOT_RHS_CONTRACTING, y, batches, &of_y))
		return -1;
	put_input(m, &in, 0);
	put_input(m, &in, 1);
	put_bool(m, &in, of_x == 0);
	put_bool(m, &in, of_y == 1);
	put_bool(m, &in, false);
	return hlo_last(m, TFLITE_BATCH_MATMUL, &in);
}
