// SPDX-License-Identifier: MIT
/*
 * PAD, PADV2, MIRROR_PAD and DYNAMIC_UPDATE_SLICE: a tensor within a larger one.
 *
 * PAD: 0 tensor, 1 paddings [rank, 2], elements before and behind each dimension, which are
 * zeros or, of quantized tensors, the zero point.
 * PADV2: 2 the element to fill up with.
 * MIRROR_PAD: 2 mode: REFLECT (0) leaves the element at the edge out, SYMMETRIC (1) repeats it.
 * DYNAMIC_UPDATE_SLICE: 0 tensor, 1 what to write into it, 2 where.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* The shape of the output; 0; 1 if it is not known; -1 with error. */
static int padded(const struct op_call *c, uint32_t *dims)
{
	const struct tensor *t = c->in[0], *pads = c->in[1];

	if (op_check_rank(c, 1, 2, 2))
		return -1;
	if (pads->dims[0] != t->rank || pads->dims[1] != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(pads))
		return 1;
	for (unsigned int i = 0; i < t->rank; i++) {
		int64_t before = tflite_int_at(c, 1, 2 * i), after = tflite_int_at(c, 1, 2 * i + 1);

		if (before < 0 || after < 0)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (before > INT32_MAX || after > INT32_MAX ||
		    t->dims[i] + (uint64_t)before + (uint64_t)after > UINT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
		dims[i] = t->dims[i] + (uint32_t)before + (uint32_t)after;
	}
	return 0;
}

int tflite_pad_check(const struct op_call *c)
{
	if (c->num_inputs > 2 && tflite_check_alike(c, 2, 0))
		return -1;
	return tflite_check_moved(c, 0);
}

int tflite_pad_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	int ret = padded(c, dims);

	if (ret)
		return ret;
	if (c->num_inputs > 2 && tensor_elements(c->in[2]) != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	tensor_set_shape(c->out[0], c->in[0]->rank, dims);
	return 0;
}

int tflite_pad_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0], *out = c->out[0];
	ptrdiff_t in_strides[NNPU_MAX_RANK], out_strides[NNPU_MAX_RANK];
	size_t size = type_size(out->type), at = 0;
	struct nd_dim dims[NNPU_MAX_RANK];
	uint64_t value = 0;

	if (c->num_inputs > 2)
		memcpy(&value, c->in[2]->data, size);
	else if (size == 1)
		memset(&value, (uint8_t)out->zero_point, 1);
	if (nd_fill(&pace, out->data, size, tensor_elements(out), &value))
		return OP_ABORTED;
	if (in->bytes == 0)
		return 0;
	nd_strides(in, in_strides);
	nd_strides(out, out_strides);
	for (unsigned int i = 0; i < in->rank; i++) {
		at += (size_t)tflite_int_at(c, 1, 2 * i) * (size_t)out_strides[i];
		dims[i] = (struct nd_dim){ in->dims[i], in_strides[i], out_strides[i] };
	}
	return nd_copy(&pace, in->data, (char *)out->data + at * size, size, dims, in->rank);
}

/* ---- MIRROR_PAD ---- */

enum { REFLECT, SYMMETRIC };

int tflite_mirror_pad_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* The mode. 0; 1 if it is not known; -1 with error. */
static int get_mode(const struct op_call *c, int32_t *mode)
{
	if (op_get_i32(c, 2, mode))
		return 1;
	return *mode == REFLECT || *mode == SYMMETRIC ? 0 : op_fail(c, NNPU_REASON_VALUE, 2);
}

int tflite_mirror_pad_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	int32_t mode;
	int ret = get_mode(c, &mode);

	if (!ret)
		ret = padded(c, dims);
	if (ret)
		return ret;
	/* There are no more elements to mirror. */
	for (unsigned int i = 0; i < 2u * t->rank; i++) {
		int64_t most = (int64_t)t->dims[i / 2] - (mode == REFLECT);

		if (tflite_int_at(c, 1, i) > (most > 0 ? most : 0))
			return op_fail(c, NNPU_REASON_VALUE, 1);
	}
	tensor_set_shape(c->out[0], t->rank, dims);
	return 0;
}

/* The place in the input that element @i of dimension @d of the output shows. */
static ptrdiff_t mirrored(const struct op_call *c, unsigned int d, uint32_t i, int32_t mode)
{
	ptrdiff_t at = (ptrdiff_t)i - (ptrdiff_t)tflite_int_at(c, 1, 2 * d);
	ptrdiff_t n = c->in[0]->dims[d];

	if (at < 0)
		return -at - (mode == SYMMETRIC);
	return at < n ? at : 2 * n - 1 - at - (mode == REFLECT);
}

int tflite_mirror_pad_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0], *out = c->out[0];
	size_t size = type_size(in->type), rows;
	ptrdiff_t strides[NNPU_MAX_RANK];
	unsigned int last = in->rank - 1u;
	uint32_t before = (uint32_t)tflite_int_at(c, 1, 2 * last), n = in->dims[last];
	uint32_t after = out->dims[last] - before - n;
	uint32_t index[NNPU_MAX_RANK] = { 0 };
	int32_t mode;
	char *to = out->data;

	if (get_mode(c, &mode))
		return -1;
	nd_strides(in, strides);
	rows = tensor_elements_of(out, 0, last);
	for (size_t r = 0; r < rows; r++) {
		const char *from = in->data;
		struct nd_dim back = { before, -1, 1 }, plain = { n, 1, 1 };

		for (unsigned int d = 0; d < last; d++)
			from += mirrored(c, d, index[d], mode) * strides[d] * (ptrdiff_t)size;
		if (before && nd_copy(&pace, from + mirrored(c, last, 0, mode) * (ptrdiff_t)size, to,
				      size, &back, 1))
			return OP_ABORTED;
		to += before * size;
		if (nd_copy(&pace, from, to, size, &plain, 1))
			return OP_ABORTED;
		to += n * size;
		back.n = after;
		if (after && nd_copy(&pace, from + mirrored(c, last, before + n, mode) * (ptrdiff_t)size,
				     to, size, &back, 1))
			return OP_ABORTED;
		to += after * size;
		for (unsigned int d = last; d-- > 0;) {
			if (++index[d] < out->dims[d])
				break;
			index[d] = 0;
		}
		if (op_pace(&pace, 64))
			return OP_ABORTED;
	}
	return 0;
}

/* ---- DYNAMIC_UPDATE_SLICE ---- */

int tflite_dynamic_update_slice_check(const struct op_call *c)
{
	return tflite_check_alike(c, 1, 0) || tflite_check_moved(c, 0) ? -1 : 0;
}

int tflite_dynamic_update_slice_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0], *update = c->in[1];

	if (update->rank != t->rank)
		return op_fail(c, NNPU_REASON_RANK, 1);
	for (unsigned int i = 0; i < t->rank; i++) {
		if (update->dims[i] > t->dims[i])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	}
	if (op_check_rank(c, 2, 1, 1))
		return -1;
	if (c->in[2]->dims[0] != t->rank)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	return op_infer_same_shape(c);
}

/* The start is moved to where all of the update fits. */
int tflite_dynamic_update_slice_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0], *update = c->in[1];
	ptrdiff_t in[NNPU_MAX_RANK], out[NNPU_MAX_RANK];
	struct nd_dim dims[NNPU_MAX_RANK];
	size_t size = type_size(t->type), at = 0;

	if (nd_move(&pace, t->data, c->out[0]->data, t->bytes))
		return OP_ABORTED;
	if (update->bytes == 0)
		return 0;
	nd_strides(update, in);
	nd_strides(t, out);
	for (unsigned int i = 0; i < t->rank; i++) {
		int64_t start = tflite_int_at(c, 2, i), most = t->dims[i] - update->dims[i];

		start = start < 0 ? 0 : start;
		at += (size_t)(start > most ? most : start) * (size_t)out[i];
		dims[i] = (struct nd_dim){ update->dims[i], in[i], out[i] };
	}
	return nd_copy(&pace, update->data, (char *)c->out[0]->data + at * size, size, dims, t->rank);
}
