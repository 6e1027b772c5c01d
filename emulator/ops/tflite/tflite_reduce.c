// SPDX-License-Identifier: MIT
/*
 * SUM, MEAN, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY and REDUCE_ALL.
 *
 * Inputs: 0 tensor, 1 list of dimensions to reduce, 2 whether they stay with size 1.
 */
#include <float.h>
#include <math.h>

#include "ops/reduce_loops.h"
#include "tflite_fixed.h"
#include "tflite_elem.h"

struct reduction {
	enum tflite_op op;
	enum tflite_type type;
	bool scaled;			/* quantized, with a factor */
	int32_t zero_in, zero_out;
	struct qfactor factor;
	size_t count;			/* elements of a sum */
};

/* SUM, MEAN and REDUCE_PROD of quantized elements bring the result to the steps of the output. */
static bool is_scaled(const struct op_call *c)
{
	enum tflite_type type = tflite_type_of(c->in[0]);

	switch (tflite_op_of(c)) {
	case TFLITE_OP_SUM:
	case TFLITE_OP_MEAN:
		return tflite_is_quantized(c->in[0]);
	case TFLITE_OP_REDUCE_PROD:
		return type == TFLITE_INT8 || type == TFLITE_INT16;
	default:
		return false;
	}
}

int tflite_reduce_check(const struct op_call *c)
{
	const struct tensor *in = c->in[0];

	if (elem_check_same(c))
		return -1;
	/* Products of UINT8 are plain ones. */
	if (tflite_op_of(c) == TFLITE_OP_REDUCE_PROD && tflite_type_of(in) == TFLITE_UINT8 &&
	    op_check_quant(c, 0, 1.0f, 0))
		return -1;
	if (is_scaled(c) || !tflite_is_quantized(in))
		return 0;
	return op_check_same_quant(c, op_output(c, 0), 0);
}

int tflite_reduce_infer(const struct op_call *c)
{
	unsigned int mask;
	bool keep;
	int ret = reduced_dims(c, &mask);

	if (!ret)
		ret = op_get_bool(c, 2, &keep);
	if (ret)
		return ret;
	reduce_set_shape(c, mask, keep);
	return 0;
}

struct sum {
	float real;
	uint64_t whole;			/* modulo 2^64 */
	bool any;			/* it has an element */
};

static struct sum first_value(const struct reduction *r)
{
	switch (r->op) {
	case TFLITE_OP_REDUCE_PROD:
		return (struct sum){ .real = 1.0f, .whole = 1 };
	case TFLITE_OP_REDUCE_MAX:
		return (struct sum){ .real = -FLT_MAX, .whole = (uint64_t)elem_min(r->type) };
	case TFLITE_OP_REDUCE_MIN:
		return (struct sum){ .real = FLT_MAX, .whole = (uint64_t)elem_max(r->type) };
	case TFLITE_OP_REDUCE_ALL:
		return (struct sum){ .whole = 1 };
	default:
		return (struct sum){ .whole = 0 };
	}
}

static void add_real(enum tflite_op op, struct sum *s, float v)
{
	switch (op) {
	case TFLITE_OP_REDUCE_PROD:
		s->real = v * s->real;
		break;
	case TFLITE_OP_REDUCE_MAX:
		s->real = v > s->real ? v : s->real;
		break;
	case TFLITE_OP_REDUCE_MIN:
		s->real = v < s->real ? v : s->real;
		break;
	default:
		s->real = v + s->real;
		break;
	}
}

/* Each product is brought back to the steps of the input, so that it does not overflow. */
static void multiply_scaled(const struct reduction *r, struct sum *s, int32_t v)
{
	v -= r->zero_in;
	if (s->any)
		v = fixed_scale64((int64_t)(int32_t)s->whole * v, r->factor);
	s->any = true;
	s->whole = (uint64_t)(int64_t)v;
}

static void add_whole(const struct reduction *r, struct sum *s, int64_t v)
{
	int64_t now = (int64_t)s->whole;

	switch (r->op) {
	case TFLITE_OP_REDUCE_PROD:
		if (r->scaled)
			multiply_scaled(r, s, (int32_t)v);
		else
			s->whole *= (uint64_t)v;
		break;
	case TFLITE_OP_REDUCE_MAX:
		s->whole = (uint64_t)(v > now ? v : now);
		break;
	case TFLITE_OP_REDUCE_MIN:
		s->whole = (uint64_t)(v < now ? v : now);
		break;
	case TFLITE_OP_REDUCE_ALL:
		s->whole &= v != 0;
		break;
	case TFLITE_OP_REDUCE_ANY:
		s->whole |= v != 0;
		break;
	default:
		s->whole += (uint64_t)v;
		break;
	}
}

/* The result in steps of the output; the sum is one modulo 2^32. */
static int32_t scaled_result(const struct reduction *r, const struct sum *s)
{
	uint32_t zeros = (uint32_t)((uint64_t)r->zero_in * r->count);
	int32_t v;

	if (!r->count)
		return 0;
	if (r->op == TFLITE_OP_REDUCE_PROD)
		v = fixed_scale64((int32_t)s->whole, r->factor);
	else
		v = fixed_scale((int32_t)((uint32_t)s->whole - zeros), r->factor.mult,
				r->factor.shift);
	return elem_clamp(r->type, q_add(v, r->zero_out));
}

static void store(const struct reduction *r, void *out, size_t i, const struct sum *s)
{
	int64_t v = (int64_t)s->whole;

	if (r->scaled)
		v = scaled_result(r, s);
	else if (r->op == TFLITE_OP_MEAN)
		v = r->count ? v / (int64_t)r->count : 0;
	switch (r->type) {
	case TFLITE_FLOAT32:
		((float *)out)[i] = r->op == TFLITE_OP_MEAN ? s->real / (float)r->count : s->real;
		break;
	case TFLITE_INT32:
		((uint32_t *)out)[i] = (uint32_t)v;
		break;
	case TFLITE_INT64:
		((int64_t *)out)[i] = v;
		break;
	case TFLITE_INT16:
		((uint16_t *)out)[i] = (uint16_t)v;
		break;
	default:
		((uint8_t *)out)[i] = (uint8_t)v;
		break;
	}
}

/* MEAN: the factor divided by the number of elements; its fraction keeps as many bits as it can. */
static void divide_factor(struct qfactor *f, size_t count)
{
	int32_t shift = 63 - __builtin_clzll(count);

	shift = shift > 32 ? 32 : shift;
	shift = shift > 31 + f->shift ? 31 + f->shift : shift;
	f->mult = (int32_t)(((uint64_t)f->mult << shift) / count);
	f->shift -= shift;
}

static void set_factor(const struct op_call *c, struct reduction *r)
{
	double in = c->in[0]->scale, out = c->out[0]->scale;

	r->zero_in = c->in[0]->zero_point;
	r->zero_out = c->out[0]->zero_point;
	if (!r->count)
		return;
	if (r->op == TFLITE_OP_REDUCE_PROD) {
		r->factor = qfactor_from(in / pow(out, 1.0 / (double)r->count));
		return;
	}
	r->factor = qfactor_from(in / out);
	if (r->op == TFLITE_OP_MEAN)
		divide_factor(&r->factor, r->count);
}

static void add_element(const struct reduction *r, struct sum *s, const void *data, ptrdiff_t at)
{
	if (r->type == TFLITE_FLOAT32)
		add_real(r->op, s, ((const float *)data)[at]);
	else if (r->type == TFLITE_INT64)
		add_whole(r, s, ((const int64_t *)data)[at]);
	else
		add_whole(r, s, elem_int(r->type, data, (size_t)at));
}

int tflite_reduce_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0];
	struct reduction r = { .op = tflite_op_of(c), .type = tflite_type_of(in) };
	size_t total = tensor_elements(c->out[0]), elements = tensor_elements(in), apart = 0, jump = 0;
	size_t kept_index[NNPU_MAX_RANK] = { 0 };
	struct loops kept, reduced;
	ptrdiff_t base = 0;
	unsigned int mask;

	if (reduced_dims(c, &mask))
		return -1;
	loops_over(in, mask, &kept, &reduced);
	r.count = reduced.total;
	/* How far the elements of an output are apart, most of them. */
	if (elements && reduced.rank)
		apart = (size_t)reduced.dims[reduced.rank - 1].in * (in->bytes / elements);
	/* op_pace_strided() counts elements that are all that far apart. */
	if (elements && apart < OP_PACE_LINE)
		jump = loops_jump_units(&reduced, in->bytes / elements);
	r.scaled = is_scaled(c);
	if (r.scaled)
		set_factor(c, &r);
	for (size_t i = 0; i < total; i++) {
		size_t index[NNPU_MAX_RANK] = { 0 };
		struct sum s = first_value(&r);
		ptrdiff_t at = base;

		for (size_t j = 0; j < reduced.total; j++) {
			add_element(&r, &s, in->data, at);
			loops_step(&reduced, index, &at);
			if ((jump && op_pace(&pace, jump)) || op_pace_strided(&pace, j, apart, 4))
				return OP_ABORTED;
		}
		store(&r, c->out[0]->data, i, &s);
		loops_step(&kept, kept_index, &base);
		if (op_pace(&pace, op_pace_rest(reduced.total, apart, 4) + 16))
			return OP_ABORTED;
	}
	return 0;
}
