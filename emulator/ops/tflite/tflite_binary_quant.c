// SPDX-License-Identifier: MIT
/*
 * ADD, SUB, MUL, DIV and SQUARED_DIFFERENCE of quantized operands.
 */
#include <math.h>

#include "ops/broadcast.h"
#include "ops/fixedpoint.h"
#include "tflite_binary.h"

struct binary {
	enum tflite_op op;
	int32_t zero_a, zero_b, zero_out;
	int32_t left_shift;
	struct qfactor factor_a, factor_b, factor_out;
	struct qrange range;
	/* INT16 operands shifted: by how much, and which of them. */
	bool shifted;
	int32_t shift_a, shift_b;
};

bool binary_is_quant(const struct op_call *c)
{
	switch (tflite_op_of(c)) {
	case TFLITE_OP_ADD:
	case TFLITE_OP_SUB:
	case TFLITE_OP_MUL:
	case TFLITE_OP_DIV:
	case TFLITE_OP_SQUARED_DIFFERENCE:
		return tflite_is_quantized(c->out[0]);
	default:
		return false;
	}
}

/* The exponent of a scale that is a power of two. */
static bool power_of_two(float scale, int *exponent)
{
	bool yes = frexpf(scale, exponent) == 0.5f;

	(*exponent)--;
	return yes;
}

static bool is_sum(enum tflite_op op)
{
	return op == TFLITE_OP_ADD || op == TFLITE_OP_SUB;
}

/*
 * The shifts of INT16 terms whose scales are powers of two: 0 with the shifts, 1 if the terms
 * are scaled or that is not known yet, -1 with error.
 */
static int get_shifts(const struct op_call *c, int32_t *shift_a, int32_t *shift_b)
{
	int a, b, out;
	bool pot;

	if (!is_sum(tflite_op_of(c)) || tflite_type_of(c->out[0]) != TFLITE_INT16 ||
	    op_get_bool(c, 3, &pot) || !pot)
		return 1;
	if (!power_of_two(c->in[0]->scale, &a) || !power_of_two(c->in[1]->scale, &b) ||
	    !power_of_two(c->out[0]->scale, &out))
		return 1;
	/* One of the terms has the scale of the output, and none a greater one. */
	if (a > out)
		return op_fail(c, NNPU_REASON_SCALE, 0);
	if (b > out || (a != out && b != out))
		return op_fail(c, NNPU_REASON_SCALE, 1);
	*shift_a = out - a > 31 ? 31 : out - a;
	*shift_b = out - b > 31 ? 31 : out - b;
	return 0;
}

int binary_quant_check(const struct op_call *c)
{
	int32_t a, b;

	return get_shifts(c, &a, &b) < 0 ? -1 : 0;
}

/* The quotient of two values. Zero is no divisor. */
static int32_t divide(const struct binary *s, int32_t x, int32_t y)
{
	int32_t bits, inverse, room, v, shift;

	if (y < 0) {
		x = -x;
		y = -y;
	}
	/* 1 / y as 31-bit fraction; y is a fraction in [1/2, 1) after the shift. */
	bits = __builtin_clz((unsigned int)y);
	inverse = fp_reciprocal_of_one_plus((int32_t)(((uint32_t)y << bits) - (1u << 31)));
	room = x ? __builtin_clrsb(x) : 31;
	v = q_mul_high((int32_t)((uint32_t)x << room), inverse);
	shift = s->factor_out.shift - (31 - bits) - room;
	v = q_mul_high(v, s->factor_out.mult);
	return shift > 0 ? q_shift_left(v, shift) : shift < -31 ? 0 : q_shift_right(v, -shift);
}

static int32_t shifted_sum(const struct binary *s, int32_t x, int32_t y)
{
	int32_t v;

	x = q_shift_right(x, s->shift_a);
	y = q_shift_right(y, s->shift_b);
	v = s->op == TFLITE_OP_ADD ? x + y : x - y;
	return q_clamp(v, INT16_MIN, INT16_MAX);
}

static int32_t compute(const struct binary *s, int32_t x, int32_t y)
{
	int32_t v;

	if (s->shifted)
		return shifted_sum(s, x, y);
	x -= s->zero_a;
	y -= s->zero_b;
	switch (s->op) {
	case TFLITE_OP_MUL:
		v = q_scale((int32_t)((uint32_t)x * (uint32_t)y), s->factor_out);
		break;
	case TFLITE_OP_DIV:
		v = divide(s, x, y);
		break;
	default:
		x = q_scale((int32_t)((uint32_t)x << s->left_shift), s->factor_a);
		y = q_scale((int32_t)((uint32_t)y << s->left_shift), s->factor_b);
		if (s->op == TFLITE_OP_ADD)
			v = q_add(x, y);
		else
			v = q_add(x, -y);
		if (s->op == TFLITE_OP_SQUARED_DIFFERENCE)
			v = (int32_t)((uint32_t)v * (uint32_t)v);
		v = q_scale(v, s->factor_out);
		break;
	}
	return q_add(v, s->zero_out);
}

#define DEFINE(name, type) \
static void name(const void *state, const struct broadcast_run *r) \
{ \
	const struct binary *s = state; \
	const type *a = r->a, *b = r->b; \
	type *out = r->out; \
	for (size_t i = 0; i < r->n; i++) \
		out[i] = (type)q_clamp(compute(s, a[i * r->sa], b[i * r->sb]), \
				       s->range.min, s->range.max); \
}

DEFINE(run_i8, int8_t)
DEFINE(run_u8, uint8_t)
DEFINE(run_i16, int16_t)

/* Both terms are brought to twice the larger scale. */
static void set_term_factors(const struct op_call *c, struct binary *s)
{
	float a = c->in[0]->scale, b = c->in[1]->scale, out = c->out[0]->scale;
	double unit = 2.0f * (a > b ? a : b);

	s->left_shift = s->op == TFLITE_OP_SQUARED_DIFFERENCE ? 7 :
			tflite_type_of(c->out[0]) == TFLITE_INT16 ? 15 : 20;
	s->factor_a = qfactor_from(a / unit);
	s->factor_b = qfactor_from(b / unit);
	if (s->op == TFLITE_OP_SQUARED_DIFFERENCE)
		s->factor_out = qfactor_from(unit * unit /
					     (float)((float)(1 << (2 * s->left_shift)) * out));
	else
		s->factor_out = qfactor_from(unit / (float)((float)(1 << s->left_shift) * out));
}

static void set_factors(const struct op_call *c, struct binary *s)
{
	float a = c->in[0]->scale, b = c->in[1]->scale, out = c->out[0]->scale;

	if (s->op == TFLITE_OP_MUL)
		s->factor_out = elem_factor(a * b / out);
	else if (s->op == TFLITE_OP_DIV)
		s->factor_out = elem_factor(a / (b * out));
	else
		set_term_factors(c, s);
}

/* No element of the divisor is the zero point. */
static int check_divisor(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->in[1]);

	for (size_t i = 0; i < total; i++) {
		if (tflite_int_at(c, 1, i) == c->in[1]->zero_point)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (op_pace_row(&pace, i, 2))
			return OP_ABORTED;
	}
	return 0;
}

int binary_quant_execute(const struct op_call *c, enum activation a)
{
	enum tflite_type type = tflite_type_of(c->out[0]);
	struct binary s = {
		.op = tflite_op_of(c),
		.zero_a = c->in[0]->zero_point,
		.zero_b = c->in[1]->zero_point,
		.zero_out = c->out[0]->zero_point,
		.range = elem_qrange(a, c->out[0]),
	};
	int ret = get_shifts(c, &s.shift_a, &s.shift_b);

	if (ret < 0)
		return -1;
	s.shifted = !ret;
	if (s.op == TFLITE_OP_DIV) {
		ret = check_divisor(c);
		if (ret)
			return ret;
	}
	set_factors(c, &s);
	/* Three products and their shifts, or a reciprocal by iteration. */
	return op_broadcast_slow(c, type == TFLITE_INT8 ? run_i8 : type == TFLITE_UINT8 ? run_u8 : run_i16,
				 &s, s.op == TFLITE_OP_DIV ? 32 : 16);
}
