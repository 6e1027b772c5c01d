// SPDX-License-Identifier: MIT
/*
 * CUMSUM, ARG_MAX, ARG_MIN and TOPK_V2 along a dimension; ADD_N of several tensors; BUCKETIZE.
 *
 * CUMSUM: 0 tensor, 1 axis, 2 whether an element is left out of its own sum, 3 whether the sums
 * begin at the end.
 * ARG_MAX, ARG_MIN: 0 tensor, 1 axis, 2 type of the output, as TensorType.
 * TOPK_V2: 0 tensor, 1 number of elements.
 * ADD_N: tensors of one shape.
 * BUCKETIZE: 0 tensor, 1 boundaries, ascending.
 */
#include <math.h>
#include <string.h>

#include "ops/ops.h"
#include "tflite_elem.h"

/* Rows of input 0 along the axis that input 1 is. */
static int get_rows(const struct op_call *c, struct rows *rows)
{
	const struct tensor *t = c->in[0];
	unsigned int axis;
	int ret = tflite_get_axis(c, 1, t->rank, &axis);

	if (ret)
		return ret;
	rows->outer = tensor_elements_of(t, 0, axis);
	rows->size = t->dims[axis];
	rows->inner = tensor_elements_of(t, axis + 1, t->rank);
	return 0;
}

int tflite_cumsum_check(const struct op_call *c)
{
	return elem_check_same(c);
}

int tflite_cumsum_infer(const struct op_call *c)
{
	struct rows rows;

	if (get_rows(c, &rows) < 0)
		return -1;
	return op_infer_same_shape(c);
}

/* Bytes from an element of a row to the next. */
static size_t rows_apart(const struct tensor *t, const struct rows *rows)
{
	size_t elements = tensor_elements(t);

	return elements ? rows->inner * (t->bytes / elements) : 0;
}

#define SUM_ROW(type) do { \
	const type *x = c->in[0]->data; \
	type *y = c->out[0]->data; \
	type sum = 0; \
	for (size_t k = 0; k < rows->size; k++) { \
		size_t i = at + (reverse ? rows->size - 1 - k : k) * rows->inner; \
		type next = sum + x[i]; \
		y[i] = exclusive ? sum : next; \
		sum = next; \
		if (op_pace_strided(pace, k, rows->inner * sizeof(type), 4)) \
			return OP_ABORTED; \
	} \
} while (0)

static int sum_row(const struct op_call *c, const struct rows *rows, size_t at, bool exclusive,
		   bool reverse, struct op_pace *pace)
{
	switch (tflite_type_of(c->in[0])) {
	case TFLITE_FLOAT32:
		SUM_ROW(float);
		break;
	case TFLITE_INT32:
		SUM_ROW(uint32_t);
		break;
	default:
		SUM_ROW(uint64_t);
		break;
	}
	return 0;
}

int tflite_cumsum_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	bool exclusive, reverse;
	struct rows rows;

	if (get_rows(c, &rows) || op_get_bool(c, 2, &exclusive) || op_get_bool(c, 3, &reverse))
		return -1;
	for (size_t i = 0; i < rows.outer * rows.inner; i++) {
		if (sum_row(c, &rows, row_start(&rows, i), exclusive, reverse, &pace) ||
		    op_pace(&pace, op_pace_rest(rows.size, rows_apart(c->in[0], &rows), 4) + 16))
			return OP_ABORTED;
	}
	return 0;
}

/* ARG_MAX, ARG_MIN. */

/* The option names the type that the output has. */
static int check_output_type(const struct op_call *c)
{
	int32_t type;

	if (op_get_i32(c, 2, &type))
		return 0;
	return type == (int32_t)tflite_type_of(c->out[0]) ? 0 : op_fail(c, NNPU_REASON_VALUE, 2);
}

int tflite_arg_check(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, NNPU_MAX_RANK) || check_output_type(c) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int tflite_arg_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK] = { 1 };
	unsigned int axis, rank = 0;
	int ret = tflite_get_axis(c, 1, t->rank, &axis);

	if (ret)
		return ret;
	if (t->dims[axis] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	for (unsigned int i = 0; i < t->rank; i++) {
		if (i != axis)
			dims[rank++] = t->dims[i];
	}
	tensor_set_shape(c->out[0], rank ? rank : 1, dims);
	return 0;
}

/* Element @i; single precision holds no integers of 32 bits, double does. */
static double number_at(const struct tensor *t, enum tflite_type type, size_t i)
{
	if (type == TFLITE_FLOAT32)
		return ((const float *)t->data)[i];
	return elem_int(type, t->data, i);
}

int tflite_arg_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	enum tflite_type type = tflite_type_of(t);
	bool max = tflite_op_of(c) == TFLITE_OP_ARG_MAX;
	bool wide = tflite_type_of(c->out[0]) == TFLITE_INT64;
	struct rows rows;
	size_t apart;

	if (get_rows(c, &rows) || check_output_type(c))
		return -1;
	apart = rows_apart(t, &rows);
	for (size_t i = 0; i < rows.outer * rows.inner; i++) {
		size_t at = row_start(&rows, i), where = 0;
		double best = number_at(t, type, at);

		for (size_t j = 1; j < rows.size; j++) {
			double v = number_at(t, type, at + j * rows.inner);

			if (max ? v > best : v < best) {
				best = v;
				where = j;
			}
			if (op_pace_strided(&pace, j, apart, 4))
				return OP_ABORTED;
		}
		if (wide)
			((int64_t *)c->out[0]->data)[i] = (int64_t)where;
		else
			((int32_t *)c->out[0]->data)[i] = (int32_t)where;
		if (op_pace(&pace, op_pace_rest(rows.size, apart, 4) + 8))
			return OP_ABORTED;
	}
	return 0;
}

/* ADD_N. */

int tflite_add_n_check(const struct op_call *c)
{
	for (unsigned int i = 1; i < c->num_inputs; i++)
		if (op_check_same_type(c, i, 0) || op_check_rank(c, i, 1, NNPU_MAX_RANK))
			return -1;
	return elem_check_same(c);
}

int tflite_add_n_infer(const struct op_call *c)
{
	for (unsigned int i = 1; i < c->num_inputs; i++) {
		if (c->in[i]->rank != c->in[0]->rank ||
		    memcmp(c->in[i]->dims, c->in[0]->dims, c->in[0]->rank * sizeof(uint32_t)) != 0)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
	}
	return op_infer_same_shape(c);
}

int tflite_add_n_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->out[0]);
	bool real = tflite_type_of(c->out[0]) == TFLITE_FLOAT32;
	float *reals = c->out[0]->data;
	uint32_t *wholes = c->out[0]->data;

	for (size_t i = 0; i < total; i++) {
		float sum = 0;
		uint32_t whole = 0;

		for (unsigned int k = 0; k < c->num_inputs; k++) {
			if (real)
				sum += ((const float *)c->in[k]->data)[i];
			else
				whole += ((const uint32_t *)c->in[k]->data)[i];
			if (op_pace_row(&pace, k, 16))
				return OP_ABORTED;
		}
		if (real)
			reals[i] = sum;
		else
			wholes[i] = whole;
		if (op_pace(&pace, c->num_inputs % OP_PACE_RUN * 4))
			return OP_ABORTED;
	}
	return 0;
}

/* BUCKETIZE: the number of boundaries that are not above an element. */

int tflite_bucketize_check(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int tflite_bucketize_infer(const struct op_call *c)
{
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	return op_infer_same_shape(c);
}

/* Integers are compared with boundaries in single precision, as they are converted to it. */
static double bucket_value(const struct tensor *t, size_t i)
{
	switch (tflite_type_of(t)) {
	case TFLITE_FLOAT32:
		return ((const float *)t->data)[i];
	case TFLITE_FLOAT64:
		return ((const double *)t->data)[i];
	case TFLITE_INT64:
		return (float)((const int64_t *)t->data)[i];
	default:
		return (float)((const int32_t *)t->data)[i];
	}
}

/* Boundaries ascend; a NaN does not. */
static int check_boundaries(const struct op_call *c, struct op_pace *pace)
{
	const float *b = c->in[1]->data;
	size_t n = c->in[1]->dims[0];

	for (size_t i = 0; i < n; i++) {
		if (isnan(b[i]) || (i && b[i] < b[i - 1]))
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (op_pace_row(pace, i, 2))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_bucketize_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const float *boundaries = c->in[1]->data;
	int32_t *out = c->out[0]->data;
	size_t total = tensor_elements(c->out[0]);
	int ret = check_boundaries(c, &pace);

	if (ret)
		return ret;
	for (size_t i = 0; i < total; i++) {
		double v = bucket_value(c->in[0], i);
		size_t low = 0, high = c->in[1]->dims[0];

		/* The first boundary above the element; none is above a NaN. */
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (v < boundaries[middle])
				high = middle;
			else
				low = middle + 1;
		}
		out[i] = (int32_t)low;
		if (op_pace(&pace, 64))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_topk_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_topk_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	int64_t k;

	if (op_check_rank(c, 0, 1, NNPU_MAX_RANK))
		return -1;
	if (tensor_elements(c->in[1]) != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	k = tflite_int_at(c, 1, 0);
	if (k < 0 || k > t->dims[t->rank - 1u])
		return op_fail(c, NNPU_REASON_VALUE, 1);
	memcpy(dims, t->dims, sizeof(dims));
	dims[t->rank - 1u] = (uint32_t)k;
	tensor_set_shape(c->out[0], t->rank, dims);
	tensor_set_shape(c->out[1], t->rank, dims);
	return 0;
}

size_t tflite_topk_scratch(const struct op_call *c)
{
	return topk_scratch(c);
}

int tflite_topk_execute(const struct op_call *c)
{
	return c->out[0]->bytes ? topk_execute(c) : 0;
}
