// SPDX-License-Identifier: MIT
/*
 * Tensors made of a few values: FILL, ZEROS_LIKE, RANGE, ONE_HOT and SPARSE_TO_DENSE.
 *
 * FILL: 0 shape of the output, 1 the value of its elements.
 * ZEROS_LIKE: 0 tensor, whose shape and type the output has.
 * RANGE: 0 start, 1 limit, 2 delta.
 * ONE_HOT: 0 indices, 1 depth, 2 on_value, 3 off_value, 4 axis of the new dimension.
 * SPARSE_TO_DENSE: 0 indices, 1 shape of the output, 2 values, 3 default value, 4
 * validate_indices, which TensorFlow Lite ignores: here all are.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <math.h>
#include <string.h>

/* Input @i has one element. */
static int check_single(const struct op_call *c, unsigned int i)
{
	return tensor_elements(c->in[i]) == 1 ? 0 : op_fail(c, NNPU_REASON_DIMENSION, i);
}

/* ---- FILL, ZEROS_LIKE ---- */

int tflite_fill_check(const struct op_call *c)
{
	return tflite_check_moved(c, 1);
}

int tflite_fill_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank;
	int ret = tflite_get_shape(c, 0, &rank, dims);

	if (ret)
		return ret;
	if (check_single(c, 1))
		return -1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int tflite_fill_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };

	return nd_fill(&pace, c->out[0]->data, type_size(c->out[0]->type),
		       tensor_elements(c->out[0]), c->in[1]->data);
}

int tflite_zeros_like_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_zeros_like_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

int tflite_zeros_like_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	static const uint8_t zero;

	return nd_fill(&pace, c->out[0]->data, 1, c->out[0]->bytes, &zero);
}

/* ---- RANGE ---- */

int tflite_range_check(const struct op_call *c)
{
	return op_check_same_type(c, 1, 0) || op_check_same_type(c, 2, 0) ||
	       op_check_same_type(c, op_output(c, 0), 0) ? -1 : 0;
}

static float real_at(const struct op_call *c, unsigned int i)
{
	return *(const float *)c->in[i]->data;
}

/* Number of elements; -1 with error if delta leads nowhere. */
static int count_range(const struct op_call *c, uint32_t *n)
{
	if (c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32) {
		float start = real_at(c, 0), limit = real_at(c, 1), delta = real_at(c, 2);
		float size = ceilf(fabsf((limit - start) / delta));

		if (!(start >= limit && delta < 0) && !(start <= limit && delta > 0))
			return op_fail(c, NNPU_REASON_VALUE, 2);
		if (!(size < 0x1p31f))
			return op_fail(c, NNPU_REASON_OVERFLOW, 2);
		*n = (uint32_t)size;
	} else {
		int64_t start = tflite_int_at(c, 0, 0), limit = tflite_int_at(c, 1, 0);
		int64_t delta = tflite_int_at(c, 2, 0);
		uint64_t length, step;

		if (!(start >= limit && delta < 0) && !(start <= limit && delta > 0))
			return op_fail(c, NNPU_REASON_VALUE, 2);
		length = start > limit ? (uint64_t)start - (uint64_t)limit :
			 (uint64_t)limit - (uint64_t)start;
		step = delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
		length = length / step + (length % step != 0);
		if (length > INT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, 2);
		*n = (uint32_t)length;
	}
	return 0;
}

int tflite_range_infer(const struct op_call *c)
{
	uint32_t n;

	for (unsigned int i = 0; i < 3; i++) {
		if (check_single(c, i))
			return -1;
		if (!tensor_data_known(c->in[i]))
			return 1;
	}
	if (count_range(c, &n))
		return -1;
	tensor_set_shape(c->out[0], 1, &n);
	return 0;
}

int tflite_range_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	bool is_real = c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32;
	bool is_wide = tflite_type_of(c->out[0]) == TFLITE_INT64;
	float real = is_real ? real_at(c, 0) : 0, real_step = is_real ? real_at(c, 2) : 0;
	uint64_t value = is_real ? 0 : (uint64_t)tflite_int_at(c, 0, 0);
	uint64_t step = is_real ? 0 : (uint64_t)tflite_int_at(c, 2, 0);

	for (uint32_t i = 0; i < c->out[0]->dims[0]; i++) {
		if (is_real)
			((float *)c->out[0]->data)[i] = real;
		else if (is_wide)
			((uint64_t *)c->out[0]->data)[i] = value;
		else
			((uint32_t *)c->out[0]->data)[i] = (uint32_t)value;
		real += real_step;
		value += step;
		if (op_pace_row(&pace, i, 2))
			return OP_ABORTED;
	}
	return 0;
}

/* ---- ONE_HOT ---- */

int tflite_one_hot_check(const struct op_call *c)
{
	return tflite_check_alike(c, 3, 2) || tflite_check_moved(c, 2) ? -1 : 0;
}

int tflite_one_hot_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis;
	int64_t depth;
	int ret;

	if (op_check_rank(c, 0, 1, NNPU_MAX_RANK - 1) || check_single(c, 1) || check_single(c, 2) ||
	    check_single(c, 3))
		return -1;
	ret = op_get_axis(c, 4, t->rank + 1u, true, &axis);
	if (ret)
		return ret;
	if (!tensor_data_known(c->in[1]))
		return 1;
	depth = tflite_int_at(c, 1, 0);
	if (depth < 0)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	memcpy(dims, t->dims, axis * sizeof(*dims));
	dims[axis] = (uint32_t)depth;
	memcpy(dims + axis + 1, t->dims + axis, (t->rank - axis) * sizeof(*dims));
	tensor_set_shape(c->out[0], t->rank + 1u, dims);
	return 0;
}

int tflite_one_hot_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0], *out = c->out[0];
	size_t size = type_size(out->type), n = tensor_elements(t), inner;
	uint64_t depth = (uint64_t)tflite_int_at(c, 1, 0);
	unsigned int axis;

	if (op_get_axis(c, 4, out->rank, true, &axis))
		return -1;
	if (nd_fill(&pace, out->data, size, tensor_elements(out), c->in[3]->data))
		return OP_ABORTED;
	inner = tensor_elements_of(t, axis, t->rank);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = (uint64_t)tflite_int_at(c, 0, i);

		if (v < depth)
			memcpy((char *)out->data + (((i / inner) * depth + v) * inner + i % inner) * size,
			       c->in[2]->data, size);
		if (op_pace(&pace, 8))
			return OP_ABORTED;
	}
	return 0;
}

/* ---- SPARSE_TO_DENSE ---- */

int tflite_sparse_to_dense_check(const struct op_call *c)
{
	return tflite_check_alike(c, 3, 2) || tflite_check_moved(c, 2) ? -1 : 0;
}

int tflite_sparse_to_dense_infer(const struct op_call *c)
{
	const struct tensor *indices = c->in[0], *values = c->in[2];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank;
	int ret;

	if (op_check_rank(c, 0, 1, 2) || op_check_rank(c, 2, 1, 1) || check_single(c, 3))
		return -1;
	if (values->dims[0] != 1 && values->dims[0] != indices->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	ret = tflite_get_shape(c, 1, &rank, dims);
	if (ret)
		return ret;
	if ((indices->rank == 1 ? 1 : indices->dims[1]) != rank)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int tflite_sparse_to_dense_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0], *values = c->in[2];
	size_t size = type_size(out->type);

	if (nd_fill(&pace, out->data, size, tensor_elements(out), c->in[3]->data))
		return OP_ABORTED;
	for (size_t k = 0; k < c->in[0]->dims[0]; k++) {
		size_t at = 0;

		for (unsigned int d = 0; d < out->rank; d++) {
			int64_t v = tflite_int_at(c, 0, k * out->rank + d);

			if (v < 0 || v >= out->dims[d])
				return op_fail(c, NNPU_REASON_VALUE, 0);
			at = at * out->dims[d] + (size_t)v;
		}
		memcpy((char *)out->data + at * size,
		       (const char *)values->data + (values->dims[0] == 1 ? 0 : k) * size, size);
		if (op_pace(&pace, 16))
			return OP_ABORTED;
	}
	return 0;
}
