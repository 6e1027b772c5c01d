// SPDX-License-Identifier: MIT
/*
 * MAXIMUM, MINIMUM, POW, PRELU, LOGICAL_AND, LOGICAL_OR and the comparisons EQUAL,
 * NOT_EQUAL, GREATER, GREATER_EQUAL, LESS and LESS_EQUAL, all with broadcasting.
 *
 * Inputs: 0 and 1 the operands. Quantized operands are compared by their real values.
 */
#include <math.h>

#include "broadcast.h"
#include "ops.h"
#include "quant.h"

#define NUMBERS		(TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8)

static int check(const struct op_call *c, uint32_t types, uint32_t out_types)
{
	return op_check_operands(c) || op_check_type(c, 0, types) ||
	       op_check_same_type(c, 1, 0) ||
	       op_check_type(c, op_output(c, 0), out_types) ||
	       op_check_rank(c, 0, 1, NNPU_MAX_RANK) || op_check_rank(c, 1, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

/* MAXIMUM, MINIMUM. */

int extreme_check(const struct op_call *c)
{
	return check(c, NUMBERS, type_bit(c->in[0]->type));
}

int extreme_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

struct extreme {
	bool max;
	bool is_signed;
	uint8_t tables[2][256];		/* each input in the output's quantization */
};

#define EXTREME_LOOP(type) do { \
	const type *a = r->a, *b = r->b; \
	type *out = r->out; \
	for (size_t i = 0; i < r->n; i++) { \
		type x = a[i * r->sa], y = b[i * r->sb]; \
		out[i] = e->max ? (x < y ? y : x) : (y < x ? y : x); \
	} \
} while (0)

static void extreme_float(const void *state, const struct broadcast_run *r)
{
	const struct extreme *e = state;

	EXTREME_LOOP(float);
}

static void extreme_int32(const void *state, const struct broadcast_run *r)
{
	const struct extreme *e = state;

	EXTREME_LOOP(int32_t);
}

static void extreme_quant(const void *state, const struct broadcast_run *r)
{
	const struct extreme *e = state;
	const uint8_t *a = r->a, *b = r->b;
	uint8_t *out = r->out, flip = e->is_signed ? 0x80 : 0;

	for (size_t i = 0; i < r->n; i++) {
		uint8_t x = e->tables[0][a[i * r->sa]] ^ flip;
		uint8_t y = e->tables[1][b[i * r->sb]] ^ flip;

		out[i] = ((x < y) == e->max ? y : x) ^ flip;
	}
}

int extreme_execute(const struct op_call *c)
{
	struct extreme e = { .max = c->desc->op == NNPU_OP_MAXIMUM };

	if (c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32)
		return op_broadcast(c, extreme_float, &e);
	if (c->in[0]->type == NNPU_TYPE_TENSOR_INT32)
		return op_broadcast(c, extreme_int32, &e);
	e.is_signed = c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
	q_requantize_table(c->in[0], c->out[0], e.tables[0]);
	q_requantize_table(c->in[1], c->out[0], e.tables[1]);
	return op_broadcast(c, extreme_quant, &e);
}

/* POW. */

int power_check(const struct op_call *c)
{
	return check(c, TYPES_FLOAT, type_bit(c->in[0]->type));
}

int power_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

static void power_run(const void *state, const struct broadcast_run *r)
{
	const float *a = r->a, *b = r->b;
	float *out = r->out;

	(void)state;
	for (size_t i = 0; i < r->n; i++)
		out[i] = powf(a[i * r->sa], b[i * r->sb]);
}

int power_execute(const struct op_call *c)
{
	return op_broadcast_slow(c, power_run, NULL, 64);
}

/* PRELU: negative elements are multiplied by input 1. */

int prelu_check(const struct op_call *c)
{
	return check(c, TYPES_FLOAT | TYPES_QUANT8, type_bit(c->in[0]->type));
}

int prelu_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

struct prelu {
	struct qbyte in, alpha;
	struct qfactor positive, negative;
	int32_t zero_point, min, max;
};

static void prelu_float(const void *state, const struct broadcast_run *r)
{
	const float *a = r->a, *b = r->b;
	float *out = r->out;

	(void)state;
	for (size_t i = 0; i < r->n; i++) {
		float v = a[i * r->sa];

		out[i] = v >= 0.0f ? v : v * b[i * r->sb];
	}
}

static void prelu_quant(const void *state, const struct broadcast_run *r)
{
	const struct prelu *p = state;
	const uint8_t *a = r->a, *b = r->b;
	uint8_t *out = r->out;

	for (size_t i = 0; i < r->n; i++) {
		int32_t v = qbyte_value(a[i * r->sa], p->in);

		if (v >= 0)
			v = q_scale(v, p->positive);
		else
			v = q_scale(v * qbyte_value(b[i * r->sb], p->alpha), p->negative);
		out[i] = (uint8_t)q_clamp(q_add(v, p->zero_point), p->min, p->max);
	}
}

int prelu_execute(const struct op_call *c)
{
	const struct tensor *out = c->out[0];
	struct prelu p;
	float product;

	if (!type_is_quant8(out->type))
		return op_broadcast(c, prelu_float, NULL);
	product = c->in[0]->scale * c->in[1]->scale;
	p = (struct prelu){
		.in = qbyte_of(c->in[0]),
		.alpha = qbyte_of(c->in[1]),
		.positive = qfactor_from((double)c->in[0]->scale / out->scale),
		.negative = qfactor_from((double)product / out->scale),
		.zero_point = out->zero_point,
		.min = q_type_min(out->type),
		.max = q_type_max(out->type),
	};
	return op_broadcast(c, prelu_quant, &p);
}

/* Comparisons. */

int compare_check(const struct op_call *c)
{
	return check(c, NUMBERS | TYPE_BIT(TENSOR_BOOL8), TYPE_BIT(TENSOR_BOOL8));
}

int compare_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

struct compare {
	enum nnpu_operation op;
	double tables[2][256];		/* real value of each byte */
};

#define COMPARE_LOOP(type, value_a, value_b) do { \
	for (size_t i = 0; i < r->n; i++) { \
		type x = (value_a), y = (value_b); \
		switch (cmp->op) { \
		case NNPU_OP_EQUAL: \
			out[i] = x == y; \
			break; \
		case NNPU_OP_NOT_EQUAL: \
			out[i] = x != y; \
			break; \
		case NNPU_OP_GREATER: \
			out[i] = x > y; \
			break; \
		case NNPU_OP_GREATER_EQUAL: \
			out[i] = x >= y; \
			break; \
		case NNPU_OP_LESS: \
			out[i] = x < y; \
			break; \
		default: \
			out[i] = x <= y; \
			break; \
		} \
	} \
} while (0)

static void compare_float(const void *state, const struct broadcast_run *r)
{
	const struct compare *cmp = state;
	const float *a = r->a, *b = r->b;
	uint8_t *out = r->out;

	COMPARE_LOOP(float, a[i * r->sa], b[i * r->sb]);
}

static void compare_int32(const void *state, const struct broadcast_run *r)
{
	const struct compare *cmp = state;
	const int32_t *a = r->a, *b = r->b;
	uint8_t *out = r->out;

	COMPARE_LOOP(int32_t, a[i * r->sa], b[i * r->sb]);
}

static void compare_bytes(const void *state, const struct broadcast_run *r)
{
	const struct compare *cmp = state;
	const uint8_t *a = r->a, *b = r->b;
	uint8_t *out = r->out;

	COMPARE_LOOP(double, cmp->tables[0][a[i * r->sa]], cmp->tables[1][b[i * r->sb]]);
}

int compare_execute(const struct op_call *c)
{
	struct compare cmp = { .op = c->desc->op };
	bool flags = c->in[0]->type == NNPU_TYPE_TENSOR_BOOL8;

	if (c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32)
		return op_broadcast(c, compare_float, &cmp);
	if (c->in[0]->type == NNPU_TYPE_TENSOR_INT32)
		return op_broadcast(c, compare_int32, &cmp);
	for (int i = 0; i < 256; i++) {
		cmp.tables[0][i] = flags ? i != 0 : q_real(c->in[0], (uint8_t)i);
		cmp.tables[1][i] = flags ? i != 0 : q_real(c->in[1], (uint8_t)i);
	}
	return op_broadcast(c, compare_bytes, &cmp);
}

/* LOGICAL_AND, LOGICAL_OR. */

int logical_check(const struct op_call *c)
{
	return check(c, TYPE_BIT(TENSOR_BOOL8), TYPE_BIT(TENSOR_BOOL8));
}

int logical_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

static void logical_run(const void *state, const struct broadcast_run *r)
{
	bool both = *(const bool *)state;
	const uint8_t *a = r->a, *b = r->b;
	uint8_t *out = r->out;

	for (size_t i = 0; i < r->n; i++) {
		bool x = a[i * r->sa], y = b[i * r->sb];

		out[i] = both ? x && y : x || y;
	}
}

int logical_execute(const struct op_call *c)
{
	bool both = c->desc->op == NNPU_OP_LOGICAL_AND;

	return op_broadcast(c, logical_run, &both);
}
