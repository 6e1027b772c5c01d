// SPDX-License-Identifier: MIT
/*
 * What recurrent operations share.
 */
#include "recurrent.h"

#include <string.h>

#include "kernels.h"
#include "quant.h"

int recurrent_activation(const struct op_call *c, unsigned int i, int32_t *code)
{
	if (op_get_i32(c, i, code))
		return 1;
	if ((*code < ACTIVATION_NONE || *code > ACTIVATION_RELU6) && *code != RECURRENT_TANH &&
	    *code != RECURRENT_SIGMOID)
		return op_fail(c, NNPU_REASON_VALUE, i);
	return 0;
}

/* @n at a time, so that points are near. */
#define PIECE	1024u

void recurrent_apply(struct op_pace *pace, int32_t code, const float *x, uint32_t n, float *y)
{
	const struct row_kernels *k = kernels_rows();
	struct frange r;

	for (uint32_t at = 0, len; at < n && !pace->ended; at += len) {
		len = n - at < PIECE ? n - at : PIECE;
		if (code == RECURRENT_TANH) {
			k->tanh(x + at, len, y + at);
		} else if (code == RECURRENT_SIGMOID) {
			k->logistic(x + at, len, y + at);
		} else if (code == ACTIVATION_NONE) {
			memmove(y + at, x + at, len * sizeof(*y));
		} else {
			r = frange_of((enum activation)code);
			for (uint32_t i = 0; i < len; i++)
				y[at + i] = f_clamp(x[at + i], r.min, r.max);
		}
		op_pace(pace, len * 8);
	}
}

/* The sums of ROW_PRODUCTS rows side by side. */
static void products(struct op_pace *pace, const struct row_kernels *k, const float *m,
		     const float *x, uint32_t cols, float *sums)
{
	for (uint32_t at = 0, n; at < cols; at += n) {
		n = cols - at < OP_PACE_RUN ? cols - at : OP_PACE_RUN;
		k->products(m + at, cols, x + at, n, sums);
		if (op_pace(pace, n * ROW_PRODUCTS / 2))
			break;
	}
}

void recurrent_product(struct op_pace *pace, const float *m, const float *x, uint32_t rows,
		       uint32_t cols, float *y)
{
	const struct row_kernels *k = kernels_rows();
	uint32_t i = 0;

	while (rows >= ROW_PRODUCTS && i < rows && !pace->ended) {
		/* The last ones may be rows that have been computed before. */
		uint32_t from = rows - i < ROW_PRODUCTS ? rows - ROW_PRODUCTS : i;
		float sums[ROW_PRODUCTS] = { 0 };

		products(pace, k, m + (size_t)from * cols, x, cols, sums);
		for (; i < from + ROW_PRODUCTS; i++)
			y[i] += sums[i - from];
		/* Rows may be empty. */
		op_pace(pace, 2 * ROW_PRODUCTS);
	}
	for (; i < rows && !op_pace(pace, cols % OP_PACE_RUN + 4); i++) {
		const float *row = m + (size_t)i * cols;
		float sum = 0.0f;

		for (uint32_t j = 0; j < cols && !op_pace_row(pace, j, 1); j++)
			sum += row[j] * x[j];
		y[i] += sum;
	}
}

int recurrent_check_types(const struct op_call *c, unsigned int first, unsigned int last)
{
	for (unsigned int i = first; i <= last; i++) {
		if (op_check_same_type(c, i, 0) ||
		    (tensor_has_value(c->in[i]) && op_check_rank(c, i, 1, 3)))
			return -1;
	}
	return 0;
}

int recurrent_shape(const struct op_call *c, unsigned int i, unsigned int rank,
		    const uint32_t *dims)
{
	const struct tensor *t = c->in[i];

	if (!tensor_has_value(t))
		return 0;
	if (t->rank != rank)
		return op_fail(c, NNPU_REASON_RANK, i);
	for (unsigned int d = 0; d < rank; d++) {
		if (t->dims[d] != dims[d])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
	}
	return 0;
}

void sequence_set_shape(const struct op_call *c, unsigned int i, const struct sequence *s,
			uint32_t size)
{
	uint32_t dims[3] = { s->time, s->batch, size };

	if (!s->time_major) {
		dims[0] = s->batch;
		dims[1] = s->time;
	}
	tensor_set_shape(c->out[i], 3, dims);
}
