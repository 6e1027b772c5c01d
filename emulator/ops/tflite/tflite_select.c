// SPDX-License-Identifier: MIT
/*
 * SELECT, SELECT_V2 and WHERE.
 *
 * SELECT: 0 condition, of the shape of the others, or of one element, or of rank 1 with an element
 * for each row; 1 elements where it is true, 2 elements where it is false, of one shape.
 * SELECT_V2: the same, all three broadcast.
 * WHERE: 0 condition; the output has the indices of what is not zero, [number, rank].
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

int tflite_select_check(const struct op_call *c)
{
	return tflite_check_alike(c, 2, 1) || tflite_check_moved(c, 1) ? -1 : 0;
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0]));
}

/* Has the condition of SELECT an element for each row? */
static bool selects_rows(const struct op_call *c)
{
	return c->in[0]->rank == 1 && c->in[0]->dims[0] == c->in[1]->dims[0];
}

int tflite_select_infer(const struct op_call *c)
{
	if (!same_shape(c->in[1], c->in[2]))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (!same_shape(c->in[0], c->in[1]) && tensor_elements(c->in[0]) != 1 && !selects_rows(c))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	tensor_set_shape(c->out[0], c->in[1]->rank, c->in[1]->dims);
	return 0;
}

int tflite_select_v2_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = c->in[0]->rank;

	memcpy(dims, c->in[0]->dims, sizeof(dims));
	if (tflite_broadcast(c, 1, &rank, dims) || tflite_broadcast(c, 2, &rank, dims))
		return -1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

/* A row of the output: where its operands begin, and how far their elements are apart. */
struct row {
	const uint8_t *choice;
	const char *yes, *no;
	ptrdiff_t strides[3];
};

#define SELECT_ROW(type) do { \
	const type *yes = (const void *)r->yes, *no = (const void *)r->no; \
	type *to = out; \
	for (size_t i = 0; i < n; i++, choice += s[0], yes += s[1], no += s[2]) \
		to[i] = *choice ? *yes : *no; \
} while (0)

static void select_row(const struct row *r, void *out, size_t n, size_t size)
{
	const uint8_t *choice = r->choice;
	const ptrdiff_t *s = r->strides;

	if (size == 1)
		SELECT_ROW(uint8_t);
	else if (size == 2)
		SELECT_ROW(uint16_t);
	else if (size == 4)
		SELECT_ROW(uint32_t);
	else
		SELECT_ROW(uint64_t);
}

/* Elements of a row between two looks at op_pace(). */
#define ROW_RUN		4096u

static int select_all(const struct op_call *c, ptrdiff_t strides[3][NNPU_MAX_RANK])
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	ptrdiff_t size = (ptrdiff_t)type_size(out->type);
	unsigned int last = out->rank - 1u;
	uint32_t index[NNPU_MAX_RANK] = { 0 };
	size_t rows = tensor_elements_of(out, 0, last), n;
	char *to = out->data;

	for (size_t k = 0; k < rows; k++) {
		struct row r = { c->in[0]->data, c->in[1]->data, c->in[2]->data,
				 { strides[0][last], strides[1][last], strides[2][last] } };

		for (unsigned int d = 0; d < last; d++) {
			r.choice += strides[0][d] * (ptrdiff_t)index[d];
			r.yes += strides[1][d] * (ptrdiff_t)index[d] * size;
			r.no += strides[2][d] * (ptrdiff_t)index[d] * size;
		}
		for (size_t at = 0; at < out->dims[last]; at += n) {
			n = out->dims[last] - at < ROW_RUN ? out->dims[last] - at : ROW_RUN;
			select_row(&r, to, n, (size_t)size);
			r.choice += r.strides[0] * (ptrdiff_t)n;
			r.yes += r.strides[1] * (ptrdiff_t)n * size;
			r.no += r.strides[2] * (ptrdiff_t)n * size;
			to += n * (size_t)size;
			if (op_pace(&pace, n * 2 + 32))
				return OP_ABORTED;
		}
		for (unsigned int d = last; d-- > 0;) {
			if (++index[d] < out->dims[d])
				break;
			index[d] = 0;
		}
	}
	return 0;
}

int tflite_select_v2_check(const struct op_call *c)
{
	return tflite_select_check(c);
}

int tflite_select_v2_execute(const struct op_call *c)
{
	ptrdiff_t strides[3][NNPU_MAX_RANK];

	for (unsigned int i = 0; i < 3; i++)
		tflite_broadcast_strides(c->in[i], c->out[0]->rank, c->out[0]->dims, strides[i]);
	return select_all(c, strides);
}

int tflite_select_execute(const struct op_call *c)
{
	ptrdiff_t strides[3][NNPU_MAX_RANK];

	nd_strides(c->in[1], strides[1]);
	nd_strides(c->in[2], strides[2]);
	if (same_shape(c->in[0], c->in[1]))
		nd_strides(c->in[0], strides[0]);
	else
		memset(strides[0], 0, sizeof(strides[0]));
	if (selects_rows(c))
		strides[0][0] = 1;
	return select_all(c, strides);
}

/* ---- WHERE ---- */

int tflite_where_check(const struct op_call *c)
{
	(void)c;
	return 0;
}

static bool is_set(const struct tensor *t, size_t i)
{
	switch (tflite_type_of(t)) {
	case TFLITE_FLOAT32:
		return ((const float *)t->data)[i] != 0;
	case TFLITE_INT32:
	case TFLITE_UINT32:
		return ((const uint32_t *)t->data)[i] != 0;
	case TFLITE_INT64:
		return ((const int64_t *)t->data)[i] != 0;
	default:
		return ((const uint8_t *)t->data)[i] != 0;
	}
}

int tflite_where_infer(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	uint32_t dims[2] = { 0, t->rank };
	size_t n;

	if (c->loading || !tensor_data_known(t))
		return 1;
	n = tensor_elements(t);
	if (n > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	for (size_t i = 0; i < n; i++) {
		dims[0] += is_set(t, i);
		if (op_pace_row(&pace, i, 2))
			break;
	}
	tensor_set_shape(c->out[0], 2, dims);
	return 0;
}

int tflite_where_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	uint32_t index[NNPU_MAX_RANK] = { 0 };
	size_t n = tensor_elements(t);
	int64_t *to = c->out[0]->data;

	for (size_t i = 0; i < n; i++) {
		if (is_set(t, i)) {
			for (unsigned int d = 0; d < t->rank; d++)
				*to++ = index[d];
		}
		for (unsigned int d = t->rank; d-- > 0;) {
			if (++index[d] < t->dims[d])
				break;
			index[d] = 0;
		}
		if (op_pace_row(&pace, i, 8))
			return OP_ABORTED;
	}
	return 0;
}
