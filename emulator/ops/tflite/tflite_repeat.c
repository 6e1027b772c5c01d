// SPDX-License-Identifier: MIT
/*
 * Elements in another order, or several times: TRANSPOSE, REVERSE_V2, REVERSE_SEQUENCE, TILE,
 * BROADCAST_TO, and BROADCAST_ARGS, which computes with shapes only.
 *
 * TRANSPOSE: 0 tensor, 1 permutation.
 * REVERSE_V2: 0 tensor, 1 axes along which the order is reversed.
 * REVERSE_SEQUENCE: 0 tensor, 1 how many elements of each batch to reverse, 2 seq_dim,
 * 3 batch_dim.
 * TILE: 0 tensor, 1 number of repetitions along each dimension.
 * BROADCAST_TO: 0 tensor, 1 shape of the output.
 * BROADCAST_ARGS: 0, 1 shapes; the output is the one that both broadcast to.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* Copy input 0 with these strides for the dimensions of the output; @at elements from its start. */
static int copy_strided(const struct op_call *c, ptrdiff_t at, const ptrdiff_t *strides)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	size_t size = type_size(out->type);
	ptrdiff_t out_strides[NNPU_MAX_RANK];
	struct nd_dim dims[NNPU_MAX_RANK];

	nd_strides(out, out_strides);
	for (unsigned int i = 0; i < out->rank; i++)
		dims[i] = (struct nd_dim){ out->dims[i], strides[i], out_strides[i] };
	return nd_copy(&pace, (const char *)c->in[0]->data + at * (ptrdiff_t)size, out->data, size,
		       dims, out->rank);
}

/* ---- TRANSPOSE ---- */

int tflite_transpose_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* 0; 1 if it is not known; -1 with error. */
static int permutation(const struct op_call *c, unsigned int *perm)
{
	unsigned int seen = 0, rank = c->in[0]->rank;

	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (c->in[1]->dims[0] != rank)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (unsigned int i = 0; i < rank; i++) {
		if (op_list_axis(c, 1, i, rank, &perm[i]))
			return -1;
		if (seen >> perm[i] & 1)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		seen |= 1u << perm[i];
	}
	return 0;
}

int tflite_transpose_infer(const struct op_call *c)
{
	unsigned int perm[NNPU_MAX_RANK];
	uint32_t dims[NNPU_MAX_RANK];
	int ret = permutation(c, perm);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		dims[i] = c->in[0]->dims[perm[i]];
	tensor_set_shape(c->out[0], c->in[0]->rank, dims);
	return 0;
}

int tflite_transpose_execute(const struct op_call *c)
{
	ptrdiff_t in[NNPU_MAX_RANK], strides[NNPU_MAX_RANK];
	unsigned int perm[NNPU_MAX_RANK];

	if (permutation(c, perm))
		return -1;
	nd_strides(c->in[0], in);
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		strides[i] = in[perm[i]];
	return copy_strided(c, 0, strides);
}

/* ---- REVERSE_V2 ---- */

int tflite_reverse_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* The axes, one bit each. 0; 1 if they are not known; -1 with error. */
static int reversed(const struct op_call *c, unsigned int *mask)
{
	unsigned int axis;

	*mask = 0;
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (c->in[1]->dims[0] > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (uint32_t i = 0; i < c->in[1]->dims[0]; i++) {
		if (op_list_axis(c, 1, i, c->in[0]->rank, &axis))
			return -1;
		if (*mask >> axis & 1)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		*mask |= 1u << axis;
	}
	return 0;
}

int tflite_reverse_infer(const struct op_call *c)
{
	unsigned int mask;

	if (reversed(c, &mask) < 0)
		return -1;
	return op_infer_same_shape(c);
}

int tflite_reverse_execute(const struct op_call *c)
{
	const struct tensor *in = c->in[0];
	ptrdiff_t strides[NNPU_MAX_RANK], at = 0;
	unsigned int mask;

	if (reversed(c, &mask))
		return -1;
	nd_strides(in, strides);
	for (unsigned int i = 0; i < in->rank; i++) {
		if (!(mask >> i & 1))
			continue;
		at += strides[i] * (ptrdiff_t)(in->dims[i] - 1);
		strides[i] = -strides[i];
	}
	return copy_strided(c, at, strides);
}

/* ---- REVERSE_SEQUENCE ---- */

struct sequences {
	unsigned int dim, batch;
};

int tflite_reverse_sequence_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* 0; 1 if an option is not known; -1 with error. */
static int get_sequences(const struct op_call *c, struct sequences *s)
{
	int ret = op_get_axis(c, 2, c->in[0]->rank, false, &s->dim);

	if (!ret)
		ret = op_get_axis(c, 3, c->in[0]->rank, false, &s->batch);
	if (ret)
		return ret;
	if (s->dim == s->batch)
		return op_fail(c, NNPU_REASON_VALUE, 3);
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	return c->in[1]->dims[0] == c->in[0]->dims[s->batch] ? 0 :
	       op_fail(c, NNPU_REASON_DIMENSION, 1);
}

int tflite_reverse_sequence_infer(const struct op_call *c)
{
	struct sequences s;
	int ret = get_sequences(c, &s);

	return ret ? ret : op_infer_same_shape(c);
}

/* Of each batch, the first elements backwards, then the others. */
int tflite_reverse_sequence_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0];
	size_t size = type_size(in->type);
	ptrdiff_t strides[NNPU_MAX_RANK];
	struct nd_dim dims[NNPU_MAX_RANK];
	struct sequences s;

	if (get_sequences(c, &s))
		return -1;
	nd_strides(in, strides);
	for (unsigned int i = 0; i < in->rank; i++)
		dims[i] = (struct nd_dim){ in->dims[i], strides[i], strides[i] };
	dims[s.batch].n = 1;
	for (uint32_t b = 0; b < in->dims[s.batch]; b++) {
		int64_t n = tflite_int_at(c, 1, b);
		ptrdiff_t start = strides[s.batch] * (ptrdiff_t)b, last;
		const char *from = (const char *)in->data;
		char *to = c->out[0]->data;

		if (n < 0 || n > in->dims[s.dim])
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (n) {
			last = start + strides[s.dim] * (ptrdiff_t)(n - 1);
			dims[s.dim].n = (size_t)n;
			dims[s.dim].in = -strides[s.dim];
			if (nd_copy(&pace, from + last * (ptrdiff_t)size, to + start * (ptrdiff_t)size,
				    size, dims, in->rank))
				return OP_ABORTED;
		}
		last = start + strides[s.dim] * (ptrdiff_t)n;
		dims[s.dim].n = in->dims[s.dim] - (size_t)n;
		dims[s.dim].in = strides[s.dim];
		if (nd_copy(&pace, from + last * (ptrdiff_t)size, to + last * (ptrdiff_t)size, size,
			    dims, in->rank) || op_pace(&pace, 64))
			return OP_ABORTED;
	}
	return 0;
}

/* ---- TILE ---- */

int tflite_tile_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_tile_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];

	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (c->in[1]->dims[0] != t->rank)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (unsigned int i = 0; i < t->rank; i++) {
		int64_t v = tflite_int_at(c, 1, i);

		if (v < 0)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (v > UINT32_MAX || __builtin_mul_overflow(t->dims[i], (uint32_t)v, &dims[i]))
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	}
	tensor_set_shape(c->out[0], t->rank, dims);
	return 0;
}

int tflite_tile_execute(const struct op_call *c)
{
	return tile_execute(c);
}

/* ---- BROADCAST_TO, BROADCAST_ARGS ---- */

int tflite_broadcast_to_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_broadcast_to_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank;
	int ret = tflite_get_shape(c, 1, &rank, dims);

	if (ret)
		return ret;
	if (t->rank > rank)
		return op_fail(c, NNPU_REASON_RANK, 0);
	for (unsigned int i = 1; i <= t->rank; i++) {
		uint32_t n = t->dims[t->rank - i];

		if (n != 1 && n != dims[rank - i])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	}
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int tflite_broadcast_to_execute(const struct op_call *c)
{
	ptrdiff_t strides[NNPU_MAX_RANK];

	tflite_broadcast_strides(c->in[0], c->out[0]->rank, c->out[0]->dims, strides);
	return copy_strided(c, 0, strides);
}

int tflite_broadcast_args_check(const struct op_call *c)
{
	return op_check_same_type(c, 1, 0) || op_check_same_type(c, op_output(c, 0), 0) ? -1 : 0;
}

int tflite_broadcast_args_infer(const struct op_call *c)
{
	uint32_t n = c->in[0]->dims[0] > c->in[1]->dims[0] ? c->in[0]->dims[0] : c->in[1]->dims[0];

	if (op_check_rank(c, 0, 1, 1) || op_check_rank(c, 1, 1, 1))
		return -1;
	tensor_set_shape(c->out[0], 1, &n);
	return 0;
}

/* The size of dimension @k from the last of a shape. */
static int64_t size_at(const struct op_call *c, unsigned int i, uint32_t k)
{
	uint32_t n = c->in[i]->dims[0];

	return k < n ? tflite_int_at(c, i, n - 1 - k) : 1;
}

int tflite_broadcast_args_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	uint32_t n = c->out[0]->dims[0];

	for (uint32_t k = 0; k < n; k++) {
		int64_t a = size_at(c, 0, k), b = size_at(c, 1, k), v = a == 1 ? b : a;

		if (a != b && a != 1 && b != 1)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (tflite_type_of(c->out[0]) == TFLITE_INT64)
			((int64_t *)c->out[0]->data)[n - 1 - k] = v;
		else
			((int32_t *)c->out[0]->data)[n - 1 - k] = (int32_t)v;
		if (op_pace_row(&pace, k, 8))
			return OP_ABORTED;
	}
	return 0;
}
