// SPDX-License-Identifier: MIT
/*
 * GATHER, GATHER_ND and SCATTER_ND: parts of a tensor by index.
 *
 * GATHER: 0 tensor, 1 indices, 2 axis that they replace, 3 batch_dims that both share.
 * GATHER_ND: 0 tensor, 1 indices: the last dimension holds a place in the first dimensions of
 * the tensor.
 * SCATTER_ND: 0 such indices, 1 what to add there, 2 shape of the output.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* ---- GATHER ---- */

struct gather {
	unsigned int axis, batch;
};

int tflite_gather_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* 0; 1 if an option is not known; -1 with error. */
static int get_gather(const struct op_call *c, struct gather *g)
{
	const struct tensor *t = c->in[0], *indices = c->in[1];
	int32_t batch;
	int ret = op_get_axis(c, 2, t->rank, true, &g->axis);

	if (ret)
		return ret;
	if (op_get_i32(c, 3, &batch))
		return 1;
	batch += batch < 0 ? indices->rank : 0;
	if (batch < 0 || batch > indices->rank || (unsigned int)batch > g->axis)
		return op_fail(c, NNPU_REASON_VALUE, 3);
	g->batch = (unsigned int)batch;
	for (unsigned int d = 0; d < g->batch; d++) {
		if (t->dims[d] != indices->dims[d])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	}
	return 0;
}

int tflite_gather_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0], *indices = c->in[1];
	uint32_t dims[2 * NNPU_MAX_RANK] = { 1 };
	unsigned int rank = 0;
	struct gather g;
	int ret = get_gather(c, &g);

	if (ret)
		return ret;
	for (unsigned int d = 0; d < g.axis; d++)
		dims[rank++] = t->dims[d];
	for (unsigned int d = g.batch; d < indices->rank; d++)
		dims[rank++] = indices->dims[d];
	for (unsigned int d = g.axis + 1; d < t->rank; d++)
		dims[rank++] = t->dims[d];
	if (rank > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 1);
	tensor_set_shape(c->out[0], rank ? rank : 1, dims);
	return 0;
}

int tflite_gather_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0], *indices = c->in[1];
	size_t batches, outer, count, bytes;
	char *to = c->out[0]->data;
	struct gather g;

	if (get_gather(c, &g))
		return -1;
	batches = tensor_elements_of(t, 0, g.batch);
	outer = tensor_elements_of(t, g.batch, g.axis);
	count = tensor_elements_of(indices, g.batch, indices->rank);
	bytes = tensor_elements_of(t, g.axis + 1, t->rank) * type_size(t->type);
	for (size_t i = 0; i < batches * count; i++) {
		int64_t v = tflite_int_at(c, 1, i);

		if (v < 0 || v >= t->dims[g.axis])
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (op_pace_row(&pace, i, 2))
			return OP_ABORTED;
	}
	for (size_t b = 0; b < batches; b++) {
		for (size_t o = 0; o < outer; o++) {
			const char *from = (const char *)t->data +
					   (b * outer + o) * t->dims[g.axis] * bytes;

			for (size_t i = 0; i < count; i++, to += bytes) {
				size_t v = (size_t)tflite_int_at(c, 1, b * count + i);

				if (nd_move(&pace, from + v * bytes, to, bytes))
					return OP_ABORTED;
			}
		}
	}
	return 0;
}

/* ---- GATHER_ND, SCATTER_ND ---- */

/* Places in a tensor: parts of @part elements each. */
struct places {
	unsigned int depth;		/* dimensions that an index counts along */
	size_t count, part;
};

/*
 * The output of GATHER_ND, or the updates of SCATTER_ND: the shape of the indices (input @i) without
 * the last dimension, then that of @dims without the first ones. 0 or -1 with error.
 */
static int get_places(const struct op_call *c, unsigned int i, unsigned int rank,
		      const uint32_t *dims, struct places *p, unsigned int *parts_rank,
		      uint32_t *parts)
{
	const struct tensor *indices = c->in[i];
	unsigned int last = indices->rank - 1u, n = 0;

	p->depth = indices->dims[last];
	if (indices->dims[last] > rank)
		return op_fail(c, NNPU_REASON_DIMENSION, i);
	if (last + rank - p->depth > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, i);
	for (unsigned int d = 0; d < last; d++)
		parts[n++] = indices->dims[d];
	for (unsigned int d = p->depth; d < rank; d++)
		parts[n++] = dims[d];
	if (n == 0)
		parts[n++] = 1;
	*parts_rank = n;
	p->count = tensor_elements_of(indices, 0, last);
	p->part = 1;
	for (unsigned int d = p->depth; d < rank; d++)
		p->part *= dims[d];
	/* Neither indices nor elements: there may be more of them than anybody can count. */
	if (p->depth == 0 && p->part == 0)
		p->count = 0;
	return 0;
}

/* The part that index @k of input @i names; -1 with error if it is outside. */
static int find_part(const struct op_call *c, unsigned int i, const struct places *p, size_t k,
		     const uint32_t *dims, size_t *part)
{
	*part = 0;
	for (unsigned int d = 0; d < p->depth; d++) {
		int64_t v = tflite_int_at(c, i, k * p->depth + d);

		if (v < 0 || v >= dims[d])
			return op_fail(c, NNPU_REASON_VALUE, i);
		*part = *part * dims[d] + (size_t)v;
	}
	return 0;
}

int tflite_gather_nd_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_gather_nd_infer(const struct op_call *c)
{
	uint32_t dims[2 * NNPU_MAX_RANK];
	struct places p;
	unsigned int rank;

	if (get_places(c, 1, c->in[0]->rank, c->in[0]->dims, &p, &rank, dims))
		return -1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int tflite_gather_nd_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	uint32_t dims[2 * NNPU_MAX_RANK];
	unsigned int rank;
	struct places p;
	size_t bytes, part;

	if (get_places(c, 1, t->rank, t->dims, &p, &rank, dims))
		return -1;
	bytes = p.part * type_size(t->type);
	for (size_t k = 0; k < p.count; k++) {
		if (find_part(c, 1, &p, k, t->dims, &part))
			return -1;
		if (bytes && nd_move(&pace, (const char *)t->data + part * bytes,
				     (char *)c->out[0]->data + k * bytes, bytes))
			return OP_ABORTED;
		if (op_pace(&pace, 16))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_scatter_nd_check(const struct op_call *c)
{
	return tflite_check_moved(c, 1);
}

int tflite_scatter_nd_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK], parts[2 * NNPU_MAX_RANK];
	unsigned int rank, parts_rank;
	struct places p;
	int ret = tflite_get_shape(c, 2, &rank, dims);

	if (ret)
		return ret;
	if (get_places(c, 0, rank, dims, &p, &parts_rank, parts))
		return -1;
	if (c->in[1]->rank != parts_rank ||
	    memcmp(c->in[1]->dims, parts, parts_rank * sizeof(*parts)))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

#define ADD_LOOP(type) do { \
	const type *from = in; \
	type *to = out; \
	for (size_t i = 0; i < n; i++) \
		to[i] = (type)(to[i] + from[i]); \
} while (0)

/* Add @n elements; integers wrap. */
static void add_elements(enum tflite_type type, const void *in, void *out, size_t n)
{
	switch (type) {
	case TFLITE_FLOAT32:
		ADD_LOOP(float);
		break;
	case TFLITE_INT32:
		ADD_LOOP(uint32_t);
		break;
	case TFLITE_INT64:
		ADD_LOOP(uint64_t);
		break;
	case TFLITE_BOOL:
		for (size_t i = 0; i < n; i++)
			((uint8_t *)out)[i] |= ((const uint8_t *)in)[i];
		break;
	default:
		ADD_LOOP(uint8_t);
		break;
	}
}

#define ADD_RUN		4096u

int tflite_scatter_nd_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	enum tflite_type type = tflite_type_of(out);
	uint32_t parts[2 * NNPU_MAX_RANK];
	size_t size = type_size(out->type), part, n;
	static const uint8_t zero;
	unsigned int rank;
	struct places p;

	if (get_places(c, 0, out->rank, out->dims, &p, &rank, parts))
		return -1;
	if (nd_fill(&pace, out->data, 1, out->bytes, &zero))
		return OP_ABORTED;
	for (size_t k = 0; k < p.count; k++) {
		const char *from = (const char *)c->in[1]->data + k * p.part * size;

		if (find_part(c, 0, &p, k, out->dims, &part))
			return -1;
		for (size_t at = 0; at < p.part; at += n) {
			n = p.part - at < ADD_RUN ? p.part - at : ADD_RUN;
			add_elements(type, from + at * size,
				     (char *)out->data + (part * p.part + at) * size, n);
			if (op_pace(&pace, n))
				return OP_ABORTED;
		}
		if (op_pace(&pace, 16))
			return OP_ABORTED;
	}
	return 0;
}
