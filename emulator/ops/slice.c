// SPDX-License-Identifier: MIT
/*
 * SLICE, STRIDED_SLICE and SPLIT.
 *
 * SLICE: 0 tensor, 1 begin, 2 size of each dimension (-1: the rest).
 * STRIDED_SLICE: 0 tensor, 1 begin, 2 end, 3 strides of each dimension, negative
 * ones counted from the end; bit masks 4 begin, 5 end (whole range), 6 dimensions
 * to remove.
 * SPLIT: 0 tensor, 1 axis, 2 number of outputs.
 */
#include "nd_copy.h"
#include "ops.h"

#include <string.h>

#define TYPES	(TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8)

/* The elements of each dimension of input 0 that the output gets. */
struct cut {
	int64_t begin, stride;
	uint32_t size;
};

/* @list is a list with one entry per dimension: 0; 1 if not known; -1 with error. */
static int list_of_rank(const struct op_call *c, unsigned int list)
{
	if (op_check_rank(c, list, 1, 1))
		return -1;
	if (c->in[list]->dims[0] != c->in[0]->rank)
		return op_fail(c, NNPU_REASON_DIMENSION, list);
	return tensor_data_known(c->in[list]) ? 0 : 1;
}

static int copy_cuts(const struct op_call *c, struct op_pace *pace, const struct cut *cuts,
		     struct tensor *out)
{
	const struct tensor *in = c->in[0];
	size_t size = type_size(in->type);
	ptrdiff_t strides[NNPU_MAX_RANK], at = 0, out_stride = 1;
	struct nd_dim dims[NNPU_MAX_RANK];

	nd_strides(in, strides);
	for (unsigned int i = in->rank; i-- > 0;) {
		at += (ptrdiff_t)cuts[i].begin * strides[i];
		dims[i] = (struct nd_dim){ cuts[i].size, (ptrdiff_t)cuts[i].stride * strides[i],
					   out_stride };
		out_stride *= cuts[i].size;
	}
	return nd_copy(pace, (const char *)in->data + at * (ptrdiff_t)size, out->data, size,
		       dims, in->rank);
}

int slice_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES, NNPU_MAX_RANK) || op_check_list(c, 1) ||
	       op_check_list(c, 2) ? -1 : 0;
}

static int slice_cuts(const struct op_call *c, struct cut *cuts)
{
	int ret = list_of_rank(c, 1);

	if (!ret)
		ret = list_of_rank(c, 2);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		int64_t begin = op_list_at(c, 1, i), size = op_list_at(c, 2, i);
		int64_t dim = c->in[0]->dims[i];

		if (begin < 0 || begin > dim)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (size == -1)
			size = dim - begin;
		if (size < 0 || size > dim - begin)
			return op_fail(c, NNPU_REASON_VALUE, 2);
		cuts[i] = (struct cut){ begin, 1, (uint32_t)size };
	}
	return 0;
}

int slice_infer(const struct op_call *c)
{
	struct cut cuts[NNPU_MAX_RANK];
	uint32_t dims[NNPU_MAX_RANK];
	int ret = slice_cuts(c, cuts);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		dims[i] = cuts[i].size;
	tensor_set_shape(c->out[0], c->in[0]->rank, dims);
	return 0;
}

int slice_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct cut cuts[NNPU_MAX_RANK];

	return slice_cuts(c, cuts) ? -1 : copy_cuts(c, &pace, cuts, c->out[0]);
}

int strided_slice_check(const struct op_call *c)
{
	if (op_check_moved(c, TYPES_FLOAT | TYPES_QUANT8, OP_MAX_RANK))
		return -1;
	for (unsigned int i = 1; i < 4; i++) {
		if (op_check_list(c, i) || op_check_type(c, i + 3, TYPE_BIT(INT32)))
			return -1;
	}
	return 0;
}

/* A position from the list, limited to the valid range for this direction. */
static int64_t clamp_position(int64_t v, int64_t dim, bool forward)
{
	int64_t min = forward ? 0 : -1, max = forward ? dim : dim - 1;

	v += v < 0 ? dim : 0;
	v = v < min ? min : v;
	return v > max ? max : v;
}

static int strided_cut(const struct op_call *c, unsigned int i, const int32_t *masks,
		       struct cut *cut)
{
	int64_t dim = c->in[0]->dims[i], stride = op_list_at(c, 3, i);
	int64_t begin, end, size;
	bool forward = stride > 0;

	if (stride == 0)
		return op_fail(c, NNPU_REASON_VALUE, 3);
	if (masks[0] >> i & 1)
		begin = forward ? 0 : dim - 1;
	else
		begin = clamp_position(op_list_at(c, 1, i), dim, forward);
	if (masks[1] >> i & 1)
		end = forward ? dim : -1;
	else
		end = clamp_position(op_list_at(c, 2, i), dim, forward);
	size = forward ? (end - begin + stride - 1) / stride : (begin - end - stride - 1) / -stride;
	size = (forward ? end > begin : begin > end) ? size : 0;
	if (masks[2] >> i & 1 && (size != 1 || !forward))
		return op_fail(c, NNPU_REASON_VALUE, 6);
	*cut = (struct cut){ begin, stride, (uint32_t)size };
	return 0;
}

static int strided_cuts(const struct op_call *c, struct cut *cuts, int32_t *masks)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < 3; i++) {
		ret = list_of_rank(c, i + 1);
		if (!ret)
			ret = op_get_i32(c, i + 4, &masks[i]);
	}
	for (unsigned int i = 0; !ret && i < c->in[0]->rank; i++)
		ret = strided_cut(c, i, masks, &cuts[i]);
	return ret;
}

int strided_slice_infer(const struct op_call *c)
{
	struct cut cuts[NNPU_MAX_RANK];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = 0;
	int32_t masks[3];
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = strided_cuts(c, cuts, masks);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		if (!(masks[2] >> i & 1))
			dims[rank++] = cuts[i].size;
	}
	if (rank == 0)
		dims[rank++] = 1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int strided_slice_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct cut cuts[NNPU_MAX_RANK];
	int32_t masks[3];

	return strided_cuts(c, cuts, masks) ? -1 : copy_cuts(c, &pace, cuts, c->out[0]);
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int split_axis(const struct op_call *c, unsigned int *axis)
{
	int32_t count;
	int ret = op_get_axis(c, 1, c->in[0]->rank, true, axis);

	if (ret)
		return ret;
	if (op_get_i32(c, 2, &count))
		return 1;
	if (count < 1 || (uint32_t)count != c->num_outputs)
		return op_fail(c, NNPU_REASON_VALUE, 2);
	if (c->in[0]->dims[*axis] % c->num_outputs)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	return 0;
}

int split_check(const struct op_call *c)
{
	int32_t count;

	if (op_check_moved(c, TYPES, OP_MAX_RANK) || op_check_type(c, 1, TYPE_BIT(INT32)) ||
	    op_check_type(c, 2, TYPE_BIT(INT32)))
		return -1;
	for (unsigned int i = 1; i < c->num_outputs; i++) {
		if (op_check_same_type(c, op_output(c, i), 0) ||
		    op_check_same_quant(c, op_output(c, i), 0) ||
		    op_check_rank(c, op_output(c, i), 1, OP_MAX_RANK))
			return -1;
	}
	if (!op_get_i32(c, 2, &count) && (count < 1 || (uint32_t)count != c->num_outputs))
		return op_fail(c, NNPU_REASON_VALUE, 2);
	return 0;
}

int split_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis;
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = split_axis(c, &axis);
	if (ret)
		return ret;
	memcpy(dims, c->in[0]->dims, sizeof(dims));
	dims[axis] /= c->num_outputs;
	for (unsigned int i = 0; i < c->num_outputs; i++)
		tensor_set_shape(c->out[i], c->in[0]->rank, dims);
	return 0;
}

int split_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct cut cuts[NNPU_MAX_RANK];
	unsigned int axis;
	int ret = 0;

	if (split_axis(c, &axis))
		return -1;
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		cuts[i] = (struct cut){ 0, 1, c->out[0]->dims[i] };
	for (unsigned int i = 0; !ret && i < c->num_outputs; i++) {
		cuts[axis].begin = (int64_t)i * cuts[axis].size;
		ret = copy_cuts(c, &pace, cuts, c->out[i]);
		if (op_pace(&pace, 64))
			return OP_ABORTED;
	}
	return ret;
}
