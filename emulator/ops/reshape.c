// SPDX-License-Identifier: MIT
/*
 * RESHAPE, SQUEEZE and EXPAND_DIMS: the elements stay as they are.
 *
 * RESHAPE: 0 tensor, 1 the new shape, one entry of which may be -1: the size that
 * keeps the number of elements.
 * SQUEEZE: 0 tensor, 1 list of dimensions to remove (may be omitted: all of size 1).
 * EXPAND_DIMS: 0 tensor, 1 where to insert a dimension of size 1.
 */
#include <string.h>

#include "nd_copy.h"
#include "ops.h"

int reshape_check(const struct op_call *c)
{
	if (op_check_moved(c, TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8,
			   OP_MAX_RANK) ||
	    op_check_list(c, 1))
		return -1;
	return 0;
}

int reshape_infer(const struct op_call *c)
{
	size_t elements = tensor_elements(c->in[0]), known = 1;
	uint32_t dims[NNPU_MAX_RANK];
	uint32_t rank = c->in[1]->dims[0];
	int stretch = -1;

	if (rank == 0 || rank > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (uint32_t i = 0; i < rank; i++) {
		int32_t v = op_list_at(c, 1, i);

		if (v < -1 || (v == -1 && stretch >= 0))
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
		if (known == 0 || elements % known || elements / known > UINT32_MAX)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		dims[stretch] = (uint32_t)(elements / known);
	} else if (known != elements) {
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	}
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int reshape_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };

	return nd_move(&pace, c->in[0]->data, c->out[0]->data, c->out[0]->bytes);
}

int squeeze_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES_FLOAT | TYPES_QUANT8, OP_MAX_RANK) ||
	       op_check_list(c, 1) ? -1 : 0;
}

/* The dimensions to remove, one bit each. 0; 1 if not known; -1 with error. */
static int squeezed(const struct op_call *c, unsigned int *mask)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	unsigned int axis;

	*mask = 0;
	if (!tensor_has_value(c->in[1])) {
		for (unsigned int i = 0; i < t->rank; i++)
			*mask |= (t->dims[i] == 1 ? 1u : 0) << i;
		return 0;
	}
	if (!op_list_known(c, 1))
		return 1;
	for (uint32_t i = 0; i < c->in[1]->dims[0] && !op_pace_row(&pace, i, 4); i++) {
		if (op_list_axis(c, 1, i, t->rank, &axis))
			return -1;
		if (t->dims[axis] != 1)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		*mask |= 1u << axis;
	}
	return 0;
}

int squeeze_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = 0, mask;
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = squeezed(c, &mask);
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

int squeeze_execute(const struct op_call *c)
{
	return reshape_execute(c);
}

int expand_dims_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8,
			      NNPU_MAX_RANK - 1) ||
	       op_check_type(c, 1, TYPE_BIT(INT32)) ? -1 : 0;
}

int expand_dims_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = c->in[0]->rank, axis;
	int ret;

	if (op_check_rank(c, 0, 1, NNPU_MAX_RANK - 1))
		return -1;
	ret = op_get_axis(c, 1, rank + 1, true, &axis);
	if (ret)
		return ret;
	memcpy(dims, c->in[0]->dims, axis * sizeof(*dims));
	dims[axis] = 1;
	memcpy(dims + axis + 1, c->in[0]->dims + axis, (rank - axis) * sizeof(*dims));
	tensor_set_shape(c->out[0], rank + 1, dims);
	return 0;
}

int expand_dims_execute(const struct op_call *c)
{
	return reshape_execute(c);
}
