// SPDX-License-Identifier: MIT
/*
 * RESHAPE, SQUEEZE, EXPAND_DIMS and BITCAST: the bytes stay as they are.
 *
 * RESHAPE: 0 tensor, 1 the new shape, one entry of which may be -1.
 * SQUEEZE: 0 tensor, 1 squeeze_dims (may be omitted: all of size 1).
 * EXPAND_DIMS: 0 tensor, 1 where to insert a dimension of size 1.
 * BITCAST: 0 tensor; elements of another size appear or vanish along a last dimension.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

int tflite_reshape_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_reshape_infer(const struct op_call *c)
{
	size_t elements = tensor_elements(c->in[0]), known = 1;
	uint32_t dims[NNPU_MAX_RANK] = { 1 };
	uint32_t rank = c->in[1]->dims[0];
	int stretch = -1;

	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (rank > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (uint32_t i = 0; i < rank; i++) {
		int64_t v = tflite_int_at(c, 1, i);

		if (v < -1 || v > INT32_MAX || (v == -1 && stretch >= 0))
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (v == -1) {
			stretch = (int)i;
			continue;
		}
		dims[i] = (uint32_t)v;
		if (__builtin_mul_overflow(known, (size_t)v, &known))
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	}
	if (stretch >= 0) {
		if (known == 0 || elements % known || elements / known > INT32_MAX)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		dims[stretch] = (uint32_t)(elements / known);
	} else if (known != elements) {
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	}
	tensor_set_shape(c->out[0], rank ? rank : 1, dims);
	return 0;
}

int tflite_reshape_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };

	return nd_move(&pace, c->in[0]->data, c->out[0]->data, c->out[0]->bytes);
}

int tflite_squeeze_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* The dimensions to remove, one bit each. 0; 1 if not known; -1 with error. */
static int squeezed(const struct op_call *c, unsigned int *mask)
{
	const struct tensor *t = c->in[0];
	unsigned int axis;

	*mask = 0;
	if (!op_has_input(c, 1)) {
		for (unsigned int i = 0; i < t->rank; i++)
			*mask |= (t->dims[i] == 1 ? 1u : 0) << i;
		return 0;
	}
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (c->in[1]->dims[0] > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (uint32_t i = 0; i < c->in[1]->dims[0]; i++) {
		if (op_list_axis(c, 1, i, t->rank, &axis))
			return -1;
		if (t->dims[axis] != 1)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		*mask |= 1u << axis;
	}
	return 0;
}

int tflite_squeeze_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = 0, mask;
	int ret = squeezed(c, &mask);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		if (!(mask & 1u << i))
			dims[rank++] = c->in[0]->dims[i];
	}
	if (rank == 0)
		dims[rank++] = 1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int tflite_squeeze_execute(const struct op_call *c)
{
	return tflite_reshape_execute(c);
}

int tflite_expand_dims_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_expand_dims_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = c->in[0]->rank, axis;
	int ret;

	if (op_check_rank(c, 0, 1, NNPU_MAX_RANK - 1))
		return -1;
	ret = tflite_get_axis(c, 1, rank + 1, &axis);
	if (ret)
		return ret;
	memcpy(dims, c->in[0]->dims, axis * sizeof(*dims));
	dims[axis] = 1;
	memcpy(dims + axis + 1, c->in[0]->dims + axis, (rank - axis) * sizeof(*dims));
	tensor_set_shape(c->out[0], rank + 1, dims);
	return 0;
}

int tflite_expand_dims_execute(const struct op_call *c)
{
	return tflite_reshape_execute(c);
}

int tflite_bitcast_check(const struct op_call *c)
{
	(void)c;
	return 0;
}

int tflite_bitcast_infer(const struct op_call *c)
{
	size_t from = type_size(c->in[0]->type), to = type_size(c->out[0]->type);
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = c->in[0]->rank;

	memcpy(dims, c->in[0]->dims, sizeof(dims));
	if (from > to) {
		if (rank == NNPU_MAX_RANK)
			return op_fail(c, NNPU_REASON_RANK, 0);
		dims[rank++] = (uint32_t)(from / to);
	} else if (from < to) {
		if (dims[rank - 1] != to / from)
			return op_fail(c, NNPU_REASON_DIMENSION, 0);
		if (rank > 1)
			rank--;
		else
			dims[0] = 1;
	}
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int tflite_bitcast_execute(const struct op_call *c)
{
	return tflite_reshape_execute(c);
}
