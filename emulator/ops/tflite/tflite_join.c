// SPDX-License-Identifier: MIT
/*
 * CONCATENATION and PACK: several tensors become one.
 *
 * CONCATENATION: 0 to n - 1 tensors, n axis, n + 1 fused_activation_function: NONE.
 * PACK: 0 to n - 1 tensors of one shape, n values_count, n + 1 axis, a new dimension.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* The tensors: all inputs but the last two, scalars. */
static unsigned int num_tensors(const struct op_call *c)
{
	return c->num_inputs - 2;
}

static int check_tensors(const struct op_call *c)
{
	for (unsigned int i = 1; i < num_tensors(c); i++) {
		if (tflite_check_alike(c, i, 0))
			return -1;
	}
	return tflite_check_moved(c, 0);
}

/* Copy the tensors, each of which has @outer rows, side by side into the rows of the output. */
static int copy_tensors(const struct op_call *c, size_t outer)
{
	struct op_pace pace = { .progress = c->progress };
	size_t size = type_size(c->out[0]->type), at = 0;
	ptrdiff_t row;

	row = (ptrdiff_t)(tensor_elements(c->out[0]) / outer);
	for (unsigned int i = 0; i < num_tensors(c); i++) {
		size_t part = tensor_elements(c->in[i]) / outer;

		if (nd_copy(&pace, c->in[i]->data, (char *)c->out[0]->data + at * size, size,
			    (struct nd_dim[]){ { outer, (ptrdiff_t)part, row }, { part, 1, 1 } }, 2) ||
		    op_pace(&pace, 64))
			return OP_ABORTED;
		at += part;
	}
	return 0;
}

/* The activation is NONE. 0; 1 if it is not known; -1 with error. */
static int check_activation(const struct op_call *c)
{
	int32_t v;

	if (op_get_i32(c, c->num_inputs - 1, &v))
		return 1;
	return v == ACTIVATION_NONE ? 0 : op_fail(c, NNPU_REASON_VALUE, c->num_inputs - 1);
}

int tflite_concatenation_check(const struct op_call *c)
{
	return check_tensors(c) || check_activation(c) < 0 ? -1 : 0;
}

int tflite_concatenation_infer(const struct op_call *c)
{
	const struct tensor *first = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis;
	int ret = op_get_axis(c, c->num_inputs - 2, first->rank, true, &axis);

	if (!ret)
		ret = check_activation(c);
	if (ret)
		return ret;
	memcpy(dims, first->dims, sizeof(dims));
	for (unsigned int i = 1; i < num_tensors(c); i++) {
		const struct tensor *t = c->in[i];

		if (t->rank != first->rank)
			return op_fail(c, NNPU_REASON_RANK, i);
		for (unsigned int d = 0; d < t->rank; d++) {
			if (d != axis && t->dims[d] != first->dims[d])
				return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
		}
		if (__builtin_add_overflow(dims[axis], t->dims[axis], &dims[axis]))
			return op_fail(c, NNPU_REASON_OVERFLOW, i);
	}
	tensor_set_shape(c->out[0], first->rank, dims);
	return 0;
}

int tflite_concatenation_execute(const struct op_call *c)
{
	unsigned int axis;

	if (op_get_axis(c, c->num_inputs - 2, c->out[0]->rank, true, &axis))
		return -1;
	return copy_tensors(c, tensor_elements_of(c->out[0], 0, axis));
}

/* The option counts the tensors. 0; 1 if it is not known; -1 with error. */
static int check_count(const struct op_call *c)
{
	int32_t v;

	if (op_get_i32(c, c->num_inputs - 2, &v))
		return 1;
	return v >= 0 && (uint32_t)v == num_tensors(c) ? 0 :
	       op_fail(c, NNPU_REASON_VALUE, c->num_inputs - 2);
}

int tflite_pack_check(const struct op_call *c)
{
	return check_tensors(c) || check_count(c) < 0 ? -1 : 0;
}

int tflite_pack_infer(const struct op_call *c)
{
	const struct tensor *first = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis;
	int ret;

	if (op_check_rank(c, 0, 1, NNPU_MAX_RANK - 1))
		return -1;
	ret = op_get_axis(c, c->num_inputs - 1, first->rank + 1u, true, &axis);
	if (!ret)
		ret = check_count(c);
	if (ret)
		return ret;
	for (unsigned int i = 1; i < num_tensors(c); i++) {
		if (c->in[i]->rank != first->rank ||
		    memcmp(c->in[i]->dims, first->dims, first->rank * sizeof(*dims)))
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
	}
	memcpy(dims, first->dims, axis * sizeof(*dims));
	dims[axis] = num_tensors(c);
	memcpy(dims + axis + 1, first->dims + axis, (first->rank - axis) * sizeof(*dims));
	tensor_set_shape(c->out[0], first->rank + 1u, dims);
	return 0;
}

int tflite_pack_execute(const struct op_call *c)
{
	unsigned int axis;

	if (op_get_axis(c, c->num_inputs - 1, c->out[0]->rank, true, &axis))
		return -1;
	return copy_tensors(c, tensor_elements_of(c->out[0], 0, axis));
}
