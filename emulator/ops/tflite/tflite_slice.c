// SPDX-License-Identifier: MIT
/*
 * Parts of a tensor: SLICE, STRIDED_SLICE, SPLIT, SPLIT_V and UNPACK.
 *
 * SLICE: 0 tensor, 1 begin, 2 size of each dimension (-1: the rest).
 * STRIDED_SLICE: 0 tensor, 1 begin, 2 end, 3 strides; bit masks 4 begin_mask, 5 end_mask,
 * 6 ellipsis_mask, 7 new_axis_mask, 8 shrink_axis_mask; 9 offset: end counts from begin.
 * SPLIT: 0 axis, 1 tensor, 2 num_splits.
 * SPLIT_V: 0 tensor, 1 sizes, one of which may be -1: the rest, 2 axis, 3 num_splits.
 * UNPACK: 0 tensor, 1 num, 2 axis.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* The elements of each dimension of a tensor that an output gets. */
struct cut {
	int64_t begin, stride;
	uint32_t size;
};

static int copy_cuts(struct op_pace *pace, const struct tensor *in, const struct cut *cuts,
		     struct tensor *out)
{
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

/* ---- SLICE ---- */

int tflite_slice_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

static int slice_cuts(const struct op_call *c, struct cut *cuts)
{
	for (unsigned int i = 1; i < 3; i++) {
		if (op_check_rank(c, i, 1, 1))
			return -1;
		if (c->in[i]->dims[0] != c->in[0]->rank)
			return op_fail(c, NNPU_REASON_DIMENSION, i);
	}
	if (!tensor_data_known(c->in[1]) || !tensor_data_known(c->in[2]))
		return 1;
	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		int64_t begin = tflite_int_at(c, 1, i), size = tflite_int_at(c, 2, i);
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

int tflite_slice_infer(const struct op_call *c)
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

int tflite_slice_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct cut cuts[NNPU_MAX_RANK];

	return slice_cuts(c, cuts) ? -1 : copy_cuts(&pace, c->in[0], cuts, c->out[0]);
}

/* ---- STRIDED_SLICE ---- */

enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_AXIS_MASK, NUM_MASKS };

/* What STRIDED_SLICE takes from its operands. */
struct strided {
	int32_t masks[NUM_MASKS];
	bool offset;
	struct cut cuts[NNPU_MAX_RANK];
	uint32_t dims[NNPU_MAX_RANK];	/* of the output */
	unsigned int rank;
};

int tflite_strided_slice_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

static bool masked(const struct strided *s, int mask, unsigned int entry)
{
	return (uint32_t)s->masks[mask] >> entry & 1;
}

static int64_t clamp(int64_t v, int64_t min, int64_t max)
{
	v = v < min ? min : v;
	return v > max ? max : v;
}

/* Farther than all positions of a dimension are apart. */
#define FAR	(1ll << 33)

/* A position of a dimension, limited to the valid range for this direction. */
static int64_t position(int64_t v, int64_t dim, bool forward)
{
	v += v < 0 ? dim : 0;
	return forward ? clamp(v, 0, dim) : clamp(v, -1, dim - 1);
}

/* The output gets a dimension of this size. */
static int add_dimension(const struct op_call *c, struct strided *s, uint32_t size)
{
	if (s->rank == NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 0);
	s->dims[s->rank++] = size;
	return 0;
}

/* Dimension @d of the input by entry @entry of the lists. */
static int cut_dimension(const struct op_call *c, struct strided *s, unsigned int entry,
			 unsigned int d)
{
	int64_t dim = c->in[0]->dims[d], begin, end, size;
	/* What is greater than a dimension can be makes no difference, and does not overflow. */
	int64_t stride = clamp(tflite_int_at(c, 3, entry), -FAR, FAR);
	bool forward = stride > 0;

	if (stride == 0)
		return op_fail(c, NNPU_REASON_VALUE, 3);
	begin = tflite_int_at(c, 1, entry);
	if (masked(s, SHRINK_AXIS_MASK, entry)) {
		if (masked(s, BEGIN_MASK, entry))
			begin = forward ? 0 : dim - 1;
		begin += begin < 0 ? dim : 0;
		if (begin < 0 || begin >= dim)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		s->cuts[d] = (struct cut){ begin, 1, 1 };
		return 0;
	}
	begin = masked(s, BEGIN_MASK, entry) ? (forward ? 0 : dim - 1) :
		position(begin, dim, forward);
	end = clamp(tflite_int_at(c, 2, entry), -FAR, FAR) + (s->offset ? begin : 0);
	end = masked(s, END_MASK, entry) ? (forward ? dim : -1) : position(end, dim, forward);
	size = forward ? (end - begin + stride - 1) / stride : (begin - end - stride - 1) / -stride;
	size = (forward ? end > begin : begin > end) ? size : 0;
	s->cuts[d] = (struct cut){ begin, size > 1 ? stride : 1, (uint32_t)size };
	return add_dimension(c, s, (uint32_t)size);
}

/* Dimensions [*@d, @end) of the input as a whole. */
static int cut_nothing(const struct op_call *c, struct strided *s, unsigned int *d,
		       unsigned int end)
{
	for (; *d < end; ++*d) {
		s->cuts[*d] = (struct cut){ 0, 1, c->in[0]->dims[*d] };
		if (add_dimension(c, s, c->in[0]->dims[*d]))
			return -1;
	}
	return 0;
}

/* Entries of the lists behind @entry that stand for a dimension of the input. */
static unsigned int dimensions_behind(const struct strided *s, unsigned int entry,
				      unsigned int entries)
{
	unsigned int n = 0;

	while (++entry < entries)
		n += !masked(s, NEW_AXIS_MASK, entry);
	return n;
}

/* 0; 1 if a value is not known; -1 with error. */
static int read_options(const struct op_call *c, struct strided *s)
{
	for (unsigned int i = 0; i < NUM_MASKS; i++) {
		if (op_get_i32(c, 4 + i, &s->masks[i]))
			return 1;
	}
	if (op_get_bool(c, 9, &s->offset))
		return 1;
	for (unsigned int i = 1; i < 4; i++) {
		if (op_check_rank(c, i, 1, 1))
			return -1;
		if (c->in[i]->dims[0] > 2 * NNPU_MAX_RANK || c->in[i]->dims[0] != c->in[1]->dims[0])
			return op_fail(c, NNPU_REASON_DIMENSION, i);
		if (!tensor_data_known(c->in[i]))
			return 1;
	}
	return 0;
}

static int strided_cuts(const struct op_call *c, struct strided *s)
{
	unsigned int entries, d = 0, rank = c->in[0]->rank;
	bool ellipsis = false;
	int ret;

	s->rank = 0;
	ret = read_options(c, s);
	if (ret)
		return ret;
	entries = c->in[1]->dims[0];
	for (unsigned int i = 0; !ret && i < entries; i++) {
		if (masked(s, ELLIPSIS_MASK, i)) {
			unsigned int behind = dimensions_behind(s, i, entries);

			if (ellipsis)
				return op_fail(c, NNPU_REASON_VALUE, 6);
			ellipsis = true;
			ret = cut_nothing(c, s, &d, rank > behind ? rank - behind : 0);
		} else if (masked(s, NEW_AXIS_MASK, i)) {
			ret = add_dimension(c, s, 1);
		} else if (d == rank) {
			ret = op_fail(c, NNPU_REASON_DIMENSION, 1);
		} else {
			ret = cut_dimension(c, s, i, d++);
		}
	}
	if (ret || cut_nothing(c, s, &d, rank))
		return -1;
	if (s->rank == 0)
		s->dims[s->rank++] = 1;
	return 0;
}

int tflite_strided_slice_infer(const struct op_call *c)
{
	struct strided s;
	int ret = strided_cuts(c, &s);

	if (!ret)
		tensor_set_shape(c->out[0], s.rank, s.dims);
	return ret;
}

int tflite_strided_slice_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct strided s;

	return strided_cuts(c, &s) ? -1 : copy_cuts(&pace, c->in[0], s.cuts, c->out[0]);
}

/* ---- SPLIT, SPLIT_V, UNPACK ---- */

/* All outputs are like input @i. */
static int check_parts(const struct op_call *c, unsigned int i)
{
	for (unsigned int o = 0; o < c->num_outputs; o++) {
		if (tflite_check_alike(c, op_output(c, o), i))
			return -1;
	}
	return 0;
}

/* Scalar @i is the number of outputs. 0; 1 if it is not known; -1 with error. */
static int check_count(const struct op_call *c, unsigned int i)
{
	int32_t count;

	if (op_get_i32(c, i, &count))
		return 1;
	return count >= 0 && (uint32_t)count == c->num_outputs ? 0 :
	       op_fail(c, NNPU_REASON_VALUE, i);
}

/* Copy @in to the outputs, one part along @axis after the other. */
static int copy_parts(const struct op_call *c, const struct tensor *in, unsigned int axis)
{
	struct op_pace pace = { .progress = c->progress };
	size_t outer = tensor_elements_of(in, 0, axis), inner, at = 0;
	ptrdiff_t row;

	inner = tensor_elements_of(in, axis + 1, in->rank);
	row = (ptrdiff_t)(inner * in->dims[axis]);
	for (unsigned int o = 0; o < c->num_outputs; o++) {
		size_t part = tensor_elements(c->out[o]) / outer;
		size_t size = type_size(in->type);

		if (nd_copy(&pace, (const char *)in->data + at * size, c->out[o]->data, size,
			    (struct nd_dim[]){ { outer, row, (ptrdiff_t)part }, { part, 1, 1 } }, 2) ||
		    op_pace(&pace, 64))
			return OP_ABORTED;
		at += part;
	}
	return 0;
}

int tflite_split_check(const struct op_call *c)
{
	return check_parts(c, 1) || check_count(c, 2) < 0 ? -1 : 0;
}

int tflite_split_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[1];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis;
	int ret = tflite_get_axis(c, 0, t->rank, &axis);

	if (!ret)
		ret = check_count(c, 2);
	if (ret)
		return ret;
	if (t->dims[axis] % c->num_outputs)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	memcpy(dims, t->dims, sizeof(dims));
	dims[axis] /= c->num_outputs;
	for (unsigned int i = 0; i < c->num_outputs; i++)
		tensor_set_shape(c->out[i], t->rank, dims);
	return 0;
}

int tflite_split_execute(const struct op_call *c)
{
	unsigned int axis;

	if (tflite_get_axis(c, 0, c->in[1]->rank, &axis))
		return -1;
	return copy_parts(c, c->in[1], axis);
}

int tflite_split_v_check(const struct op_call *c)
{
	return check_parts(c, 0) || check_count(c, 3) < 0 ? -1 : 0;
}

int tflite_split_v_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis, rest = UINT32_MAX;
	int64_t sum = 0;
	int ret = tflite_get_axis(c, 2, t->rank, &axis);

	if (!ret)
		ret = check_count(c, 3);
	if (ret)
		return ret;
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (c->in[1]->dims[0] != c->num_outputs)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	memcpy(dims, t->dims, sizeof(dims));
	for (unsigned int i = 0; i < c->num_outputs; i++) {
		int64_t v = tflite_int_at(c, 1, i);

		if (v == -1 && rest == UINT32_MAX) {
			rest = i;
			continue;
		}
		if (v < 0 || v > t->dims[axis] - sum)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		sum += v;
		dims[axis] = (uint32_t)v;
		tensor_set_shape(c->out[i], t->rank, dims);
	}
	if (rest == UINT32_MAX)
		return sum == t->dims[axis] ? 0 : op_fail(c, NNPU_REASON_VALUE, 1);
	dims[axis] = (uint32_t)(t->dims[axis] - sum);
	tensor_set_shape(c->out[rest], t->rank, dims);
	return 0;
}

int tflite_split_v_execute(const struct op_call *c)
{
	unsigned int axis;

	if (tflite_get_axis(c, 2, c->in[0]->rank, &axis))
		return -1;
	return copy_parts(c, c->in[0], axis);
}

int tflite_unpack_check(const struct op_call *c)
{
	return check_parts(c, 0) || check_count(c, 1) < 0 ? -1 : 0;
}

int tflite_unpack_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK] = { 1 };
	unsigned int axis, rank = 0;
	int ret = tflite_get_axis(c, 2, t->rank, &axis);

	if (!ret)
		ret = check_count(c, 1);
	if (ret)
		return ret;
	if (t->dims[axis] != c->num_outputs)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	for (unsigned int d = 0; d < t->rank; d++) {
		if (d != axis)
			dims[rank++] = t->dims[d];
	}
	for (unsigned int i = 0; i < c->num_outputs; i++)
		tensor_set_shape(c->out[i], rank ? rank : 1, dims);
	return 0;
}

int tflite_unpack_execute(const struct op_call *c)
{
	unsigned int axis;

	if (tflite_get_axis(c, 2, c->in[0]->rank, &axis))
		return -1;
	return copy_parts(c, c->in[0], axis);
}
