// SPDX-License-Identifier: MIT
/*
 * MEAN, REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL and REDUCE_ANY.
 *
 * Inputs: 0 tensor, 1 list of dimensions to reduce, 2 whether they stay with size 1
 * (an INT32 for MEAN, else a BOOL).
 */
#include <float.h>
#include <math.h>

#include "nd_copy.h"
#include "ops.h"
#include "quant.h"

/* Elements between two looks at op_pace(). */
#define RUN	16384

/* Loops over some dimensions of input 0. */
struct loops {
	struct nd_dim dims[NNPU_MAX_RANK];
	unsigned int rank;
	size_t total;
};

static bool is_mean(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_MEAN;
}

static uint32_t types_of(enum nnpu_operation op)
{
	switch (op) {
	case NNPU_OP_REDUCE_ALL:
	case NNPU_OP_REDUCE_ANY:
		return TYPE_BIT(TENSOR_BOOL8);
	case NNPU_OP_REDUCE_SUM:
	case NNPU_OP_REDUCE_PROD:
		return TYPES_FLOAT;
	default:
		return TYPES_FLOAT | TYPES_QUANT8;
	}
}

int reduce_check(const struct op_call *c)
{
	return op_check_moved(c, types_of(c->desc->op), OP_MAX_RANK) || op_check_list(c, 1) ||
	       op_check_type(c, 2, is_mean(c) ? TYPE_BIT(INT32) : TYPE_BIT(BOOL)) ? -1 : 0;
}

/* The dimensions to reduce, one bit each. 0; 1 if not known; -1 with error. */
static int reduced_dims(const struct op_call *c, unsigned int *mask)
{
	struct op_pace pace = { .progress = c->progress };
	unsigned int axis;

	*mask = 0;
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (!op_list_known(c, 1))
		return 1;
	for (uint32_t i = 0; i < c->in[1]->dims[0] && !op_pace_row(&pace, i, 4); i++) {
		if (op_list_axis(c, 1, i, c->in[0]->rank, &axis))
			return -1;
		*mask |= 1u << axis;
	}
	return 0;
}

static int keeps_dims(const struct op_call *c, bool *keep)
{
	int32_t v;

	if (!is_mean(c))
		return op_get_bool(c, 2, keep);
	if (op_get_i32(c, 2, &v))
		return 1;
	*keep = v > 0;
	return 0;
}

int reduce_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = 0, mask;
	bool keep;
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = reduced_dims(c, &mask);
	if (!ret)
		ret = keeps_dims(c, &keep);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		if (!(mask >> i & 1))
			dims[rank++] = c->in[0]->dims[i];
		else if (keep)
			dims[rank++] = 1;
	}
	if (rank == 0)
		dims[rank++] = 1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

/* Loops over the dimensions that are in @mask. */
static struct loops loops_over(const struct tensor *t, unsigned int mask)
{
	ptrdiff_t strides[NNPU_MAX_RANK];
	struct loops l = { .total = 1 };

	nd_strides(t, strides);
	for (unsigned int i = 0; i < t->rank; i++) {
		if (!(mask >> i & 1))
			continue;
		l.dims[l.rank++] = (struct nd_dim){ .n = t->dims[i], .in = strides[i] };
		l.total *= t->dims[i];
	}
	return l;
}

/* Go on to the next element of the loops: update offset and indices. */
static void step(const struct loops *l, size_t *index, ptrdiff_t *at)
{
	for (unsigned int d = l->rank; d-- > 0;) {
		*at += l->dims[d].in;
		if (++index[d] < l->dims[d].n)
			return;
		*at -= l->dims[d].in * (ptrdiff_t)l->dims[d].n;
		index[d] = 0;
	}
}

struct sum {
	float real;
	int64_t whole;
};

static struct sum first_value(enum nnpu_operation op)
{
	switch (op) {
	case NNPU_OP_REDUCE_PROD:
		return (struct sum){ 1.0f, 0 };
	case NNPU_OP_REDUCE_MAX:
		return (struct sum){ -FLT_MAX, INT64_MIN };
	case NNPU_OP_REDUCE_MIN:
		return (struct sum){ FLT_MAX, INT64_MAX };
	case NNPU_OP_REDUCE_ALL:
		return (struct sum){ 0.0f, 1 };
	default:
		return (struct sum){ 0.0f, 0 };
	}
}

static void add_real(enum nnpu_operation op, struct sum *s, float v)
{
	switch (op) {
	case NNPU_OP_REDUCE_PROD:
		s->real *= v;
		break;
	case NNPU_OP_REDUCE_MAX:
		s->real = v > s->real || isnan(v) ? v : s->real;
		break;
	case NNPU_OP_REDUCE_MIN:
		s->real = v < s->real || isnan(v) ? v : s->real;
		break;
	default:
		s->real += v;
		break;
	}
}

static void add_whole(enum nnpu_operation op, struct sum *s, int32_t v)
{
	switch (op) {
	case NNPU_OP_REDUCE_MAX:
		s->whole = v > s->whole ? v : s->whole;
		break;
	case NNPU_OP_REDUCE_MIN:
		s->whole = v < s->whole ? v : s->whole;
		break;
	case NNPU_OP_REDUCE_ALL:
		s->whole &= v != 0;
		break;
	case NNPU_OP_REDUCE_ANY:
		s->whole |= v != 0;
		break;
	default:
		s->whole += v;
		break;
	}
}

static void store(const struct op_call *c, size_t i, const struct sum *s, size_t count)
{
	const struct tensor *out = c->out[0];
	int64_t v = s->whole;

	if (out->type == NNPU_TYPE_TENSOR_FLOAT32) {
		((float *)out->data)[i] = is_mean(c) ? s->real / (float)count : s->real;
		return;
	}
	if (type_is_quant8(out->type)) {
		if (is_mean(c))
			v = count ? v / (int64_t)count : out->zero_point;
		/* The maximum and minimum of no elements lie outside of the type. */
		v = v < q_type_min(out->type) ? q_type_min(out->type) : v;
		v = v > q_type_max(out->type) ? q_type_max(out->type) : v;
	}
	((uint8_t *)out->data)[i] = (uint8_t)v;
}

int reduce_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	enum nnpu_operation op = c->desc->op;
	const struct tensor *in = c->in[0];
	size_t total = tensor_elements(c->out[0]);
	size_t kept_index[NNPU_MAX_RANK] = { 0 };
	struct loops kept, reduced;
	ptrdiff_t base = 0;
	unsigned int mask;

	if (reduced_dims(c, &mask))
		return -1;
	kept = loops_over(in, ~mask);
	reduced = loops_over(in, mask);
	for (size_t i = 0; i < total; i++) {
		size_t index[NNPU_MAX_RANK] = { 0 };
		struct sum s = first_value(op);
		ptrdiff_t at = base;

		for (size_t j = 0; j < reduced.total; j++) {
			if (in->type == NNPU_TYPE_TENSOR_FLOAT32)
				add_real(op, &s, ((const float *)in->data)[at]);
			else if (in->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED)
				add_whole(op, &s, ((const int8_t *)in->data)[at]);
			else
				add_whole(op, &s, ((const uint8_t *)in->data)[at]);
			step(&reduced, index, &at);
			if (j % RUN == RUN - 1 && op_pace(&pace, RUN * 4))
				return OP_ABORTED;
		}
		store(c, i, &s, reduced.total);
		step(&kept, kept_index, &base);
		if (op_pace(&pace, reduced.total % RUN * 4 + 16))
			return OP_ABORTED;
	}
	return 0;
}
