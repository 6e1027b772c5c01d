// SPDX-License-Identifier: MIT
/*
 * ARGMAX, ARGMIN and TOPK_V2.
 *
 * ARGMAX, ARGMIN: 0 tensor, 1 axis; the output has the positions along the axis.
 * TOPK_V2: 0 tensor, 1 number of elements; outputs: 0 the largest ones of each row of
 * the last dimension, 1 their positions.
 *
 * Of equal elements the first one wins.
 */
#include "ops.h"
#include "quant.h"

#include <string.h>

#define TYPES	(TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8)

int argmax_check(const struct op_call *c)
{
	return op_check_operands(c) || op_check_type(c, 0, TYPES) ||
	       op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_type(c, 1, TYPE_BIT(INT32)) ||
	       op_check_type(c, op_output(c, 0), TYPE_BIT(TENSOR_INT32)) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int argmax_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK] = { 1 };
	unsigned int axis, rank = 0;
	int ret = op_get_axis(c, 1, t->rank, true, &axis);

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

int argmax_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	bool max = c->desc->op == NNPU_OP_ARGMAX;
	int32_t *out = c->out[0]->data;
	size_t outer, inner, apart;
	unsigned int axis;

	if (op_get_axis(c, 1, t->rank, true, &axis))
		return -1;
	outer = tensor_elements_of(t, 0, axis);
	inner = tensor_elements_of(t, axis + 1, t->rank);
	apart = inner * type_size(t->type);
	for (size_t i = 0; i < outer * inner; i++) {
		size_t at = i / inner * inner * t->dims[axis] + i % inner;
		double best = tensor_number(t, at);
		uint32_t where = 0;

		for (uint32_t j = 1; j < t->dims[axis]; j++) {
			double v = tensor_number(t, at + j * inner);

			if (max ? v > best : v < best) {
				best = v;
				where = j;
			}
			if (op_pace_strided(&pace, j, apart, 4))
				return OP_ABORTED;
		}
		out[i] = (int32_t)where;
		if (op_pace(&pace, op_pace_rest(t->dims[axis], apart, 4) + 8))
			return OP_ABORTED;
	}
	return 0;
}

int topk_check(const struct op_call *c)
{
	int32_t k;

	if (op_check_moved(c, TYPES, NNPU_MAX_RANK) ||
	    op_check_type(c, 1, TYPE_BIT(INT32)) ||
	    op_check_type(c, op_output(c, 1), TYPE_BIT(TENSOR_INT32)) ||
	    op_check_rank(c, op_output(c, 1), 1, NNPU_MAX_RANK))
		return -1;
	if (!op_get_i32(c, 1, &k) && k < 1)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return 0;
}

int topk_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	int32_t k;

	if (op_get_i32(c, 1, &k))
		return 1;
	if (k < 1 || (uint32_t)k > t->dims[t->rank - 1])
		return op_fail(c, NNPU_REASON_VALUE, 1);
	memcpy(dims, t->dims, sizeof(dims));
	dims[t->rank - 1] = (uint32_t)k;
	tensor_set_shape(c->out[0], t->rank, dims);
	tensor_set_shape(c->out[1], t->rank, dims);
	return 0;
}

size_t topk_scratch(const struct op_call *c)
{
	const struct tensor *out = c->out[0];

	return scratch_add(0, out->dims[out->rank - 1], sizeof(uint32_t));
}

/* Elements of a row of @t from @base on. */
struct row {
	const struct tensor *t;
	size_t base;
};

/* Does element @i come after element @j in the order of the results? */
static bool behind(const struct row *r, uint32_t i, uint32_t j)
{
	const int64_t *whole = r->t->data;
	double a, b;

	/* Integers that no double holds, of an extension. */
	if (type_size(r->t->type) == 8) {
		whole += r->base;
		return whole[i] < whole[j] || (whole[i] == whole[j] && i > j);
	}
	a = tensor_number(r->t, r->base + i);
	b = tensor_number(r->t, r->base + j);
	return a < b || (!(a > b) && i > j);
}

/* Sift the element at @i down in a heap whose top is the last in order. */
static void sift(const struct row *r, uint32_t *heap, uint32_t n, uint32_t i)
{
	for (;;) {
		uint64_t child = 2 * (uint64_t)i + 1;
		uint32_t moved = heap[i];

		if (child >= n)
			return;
		if (child + 1 < n && behind(r, heap[child + 1], heap[child]))
			child++;
		if (!behind(r, heap[child], moved))
			return;
		heap[i] = heap[child];
		heap[child] = moved;
		i = (uint32_t)child;
	}
}

/* The first @k of @size elements in order, in @heap. */
static int sort_row(struct op_pace *pace, const struct row *r, uint32_t size, uint32_t *heap,
		    uint32_t k)
{
	for (uint32_t i = 0; i < k; i++) {
		heap[i] = i;
		if (op_pace_row(pace, i, 1))
			return OP_ABORTED;
	}
	for (uint32_t i = k / 2; i-- > 0;) {
		sift(r, heap, k, i);
		if (op_pace(pace, 64))
			return OP_ABORTED;
	}
	for (uint32_t i = k; i < size; i++) {
		if (behind(r, heap[0], i)) {
			heap[0] = i;
			sift(r, heap, k, 0);
		}
		if (op_pace(pace, 64))
			return OP_ABORTED;
	}
	for (uint32_t n = k; n > 1; n--) {
		uint32_t last = heap[0];

		heap[0] = heap[n - 1];
		heap[n - 1] = last;
		sift(r, heap, n - 1, 0);
		if (op_pace(pace, 256))
			return OP_ABORTED;
	}
	return 0;
}

int topk_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0], *out = c->out[0];
	uint32_t size = t->dims[t->rank - 1u], k = out->dims[t->rank - 1u];
	size_t bytes = type_size(t->type);
	size_t rows = tensor_elements_of(t, 0, t->rank - 1u);
	int32_t *indices = c->out[1]->data;
	uint32_t *heap = c->scratch;

	for (size_t i = 0; i < rows; i++) {
		struct row r = { t, i * size };

		if (sort_row(&pace, &r, size, heap, k))
			return OP_ABORTED;
		for (uint32_t j = 0; j < k; j++) {
			indices[i * k + j] = (int32_t)heap[j];
			memcpy((char *)out->data + (i * k + j) * bytes,
			       (const char *)t->data + (r.base + heap[j]) * bytes, bytes);
			if (op_pace_row(&pace, j, 8))
				return OP_ABORTED;
		}
		if (op_pace(&pace, k % OP_PACE_RUN * 8 + 8))
			return OP_ABORTED;
	}
	return 0;
}
