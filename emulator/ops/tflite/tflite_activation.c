// SPDX-License-Identifier: MIT
/*
 * RELU, RELU6, RELU_N1_TO_1, RELU_0_TO_1, LEAKY_RELU, ELU, GELU and HARD_SWISH.
 *
 * Inputs: 0 tensor; LEAKY_RELU: 1 alpha; GELU: 1 whether the approximation by tanh is used.
 */
#include <math.h>

#include "ops/kernels.h"
#include "tflite_fixed.h"
#include "tflite_lut.h"

struct activation_call {
	enum tflite_op op;
	enum tflite_type type;
	bool approximate;
	float alpha, min, max;
	int32_t zero_in, zero_out;
	struct qrange range;
	struct qfactor positive, negative;
	/* HARD_SWISH: factors as 16-bit fractions and powers of two. */
	int32_t out_mult, out_shift, gate_mult, gate_shift;
};

/* A factor as 16-bit fraction. */
static void narrow_factor(float real, int32_t *mult, int32_t *shift)
{
	struct qfactor f = elem_factor(real);

	*mult = f.mult >= INT32_MAX - (1 << 15) ? INT16_MAX : (f.mult + (1 << 15)) >> 16;
	*shift = f.shift;
}

static float swish_scale(const struct op_call *c)
{
	return 1.0f / 128.0f * c->in[0]->scale;
}

int tflite_activation_check(const struct op_call *c)
{
	int32_t mult, shift;

	if (elem_check_same(c))
		return -1;
	if (tflite_op_of(c) != TFLITE_OP_HARD_SWISH || !tflite_is_quantized(c->in[0]))
		return 0;
	narrow_factor(swish_scale(c) / c->out[0]->scale, &mult, &shift);
	return shift > 0 ? op_fail(c, NNPU_REASON_SCALE, op_output(c, 0)) : 0;
}

int tflite_activation_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

/* The functions: transcendental ones in double precision, rounded to single. */

static float elu(float x, float param)
{
	(void)param;
	return x < 0 ? (float)expm1((double)x) : x;
}

static float gelu(float x, float param)
{
	(void)param;
	return 0.5f * x * (float)erfc((double)(x * -0.70710678118654752440f));
}

static float gelu_by_tanh(float x, float param)
{
	float inner = 0.79788456080286535588f * (x + 0.044715f * x * x * x);

	(void)param;
	return 0.5f * x * (1.0f + (float)tanh((double)inner));
}

/* Function of a tensor with a table, or NULL; while a program is loaded also if it is not known. */
static lut_function table_function(const struct op_call *c)
{
	bool approximate;

	if (!tflite_is_quantized(c->in[0]))
		return NULL;
	if (tflite_op_of(c) == TFLITE_OP_ELU)
		return elu;
	if (tflite_op_of(c) != TFLITE_OP_GELU || op_get_bool(c, 1, &approximate))
		return NULL;
	return approximate ? gelu_by_tanh : gelu;
}

int tflite_activation_prepare(struct op_call *c, size_t *bytes)
{
	lut_function fn = table_function(c);

	return fn ? lut_prepare(c, bytes, fn, 0) : 0;
}

static float apply(const struct activation_call *s, float x)
{
	switch (s->op) {
	case TFLITE_OP_ELU:
		return elu(x, 0);
	case TFLITE_OP_GELU:
		return s->approximate ? gelu_by_tanh(x, 0) : gelu(x, 0);
	default:
		return x * f_clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f;
	}
}

static void run_f32(const void *state, const void *in, void *out, size_t n)
{
	const struct activation_call *s = state;

	switch (s->op) {
	case TFLITE_OP_LEAKY_RELU:
		kernels_rows()->function(ROW_LEAKY, in, n, s->alpha, 0, out);
		break;
	case TFLITE_OP_ELU:
	case TFLITE_OP_GELU:
	case TFLITE_OP_HARD_SWISH:
		for (size_t i = 0; i < n; i++)
			((float *)out)[i] = apply(s, ((const float *)in)[i]);
		break;
	default:
		kernels_rows()->function(ROW_LIMIT, in, n, s->min, s->max, out);
		break;
	}
}

static void run_relu(const void *state, const void *in, void *out, size_t n)
{
	const struct activation_call *s = state;

	for (size_t i = 0; i < n; i++) {
		int32_t v = elem_int(s->type, in, i) - s->zero_in;

		v = q_scale(v, v >= 0 ? s->positive : s->negative);
		elem_put(s->type, out, i, q_clamp(q_add(v, s->zero_out), s->range.min,
						  s->range.max));
	}
}

/* Product of two 16-bit fractions, rounded to nearest. */
static int32_t mul16(int32_t a, int32_t b)
{
	return q_clamp((a * b + (1 << 14)) >> 15, INT16_MIN, INT16_MAX);
}

static int32_t shift16(int32_t v, int32_t n)
{
	return q_clamp(q_shift_left(v, n), INT16_MIN, INT16_MAX);
}

static int32_t hard_swish(const struct activation_call *s, int32_t x)
{
	int32_t fine = x * (1 << 7), value = mul16(fine, s->out_mult), gate = fine;

	/* The value in thirds, from -1 to 1; the last step to the left saturates. */
	if (s->gate_shift > 0)
		gate = shift16(gate, s->gate_shift - 1);
	gate = mul16(gate, s->gate_mult);
	if (s->gate_shift > 0)
		gate = shift16(gate, 1);
	if (s->gate_shift < 0)
		gate = q_shift_right(gate, -s->gate_shift);
	gate = (gate + (1 << 15)) >> 1;
	/* This product is cut off towards zero. */
	return q_shift_right(gate * value / (1 << 15), -s->out_shift) + s->zero_out;
}

static void run_swish(const void *state, const void *in, void *out, size_t n)
{
	const struct activation_call *s = state;

	for (size_t i = 0; i < n; i++) {
		int32_t v = hard_swish(s, elem_int(s->type, in, i) - s->zero_in);

		elem_put(s->type, out, i, elem_clamp(s->type, v));
	}
}

/* Bounds of what the activation lets through. */
static void set_bounds(struct activation_call *s)
{
	s->min = s->op == TFLITE_OP_RELU_N1_TO_1 ? -1.0f : 0.0f;
	s->max = s->op == TFLITE_OP_RELU ? INFINITY : s->op == TFLITE_OP_RELU6 ? 6.0f : 1.0f;
}

static void set_quant(const struct op_call *c, struct activation_call *s)
{
	const struct tensor *in = c->in[0], *out = c->out[0];
	enum activation a = s->op == TFLITE_OP_RELU6 ? ACTIVATION_RELU6 :
			    s->op == TFLITE_OP_RELU ? ACTIVATION_RELU :
			    s->op == TFLITE_OP_LEAKY_RELU ? ACTIVATION_NONE : ACTIVATION_RELU1;
	float product = in->scale * s->alpha / out->scale;

	s->zero_in = in->zero_point;
	s->zero_out = out->zero_point;
	s->range = elem_qrange(a, out);
	if (s->op == TFLITE_OP_RELU_0_TO_1 && s->range.min < out->zero_point)
		s->range.min = out->zero_point;
	s->positive = elem_factor(in->scale / out->scale);
	s->negative = s->positive;
	if (s->op != TFLITE_OP_LEAKY_RELU)
		return;
	s->negative = elem_factor(fabsf(product));
	if (product < 0)
		s->negative.mult = -s->negative.mult;
}

int tflite_activation_execute(const struct op_call *c)
{
	struct activation_call s = {
		.op = tflite_op_of(c), .type = tflite_type_of(c->in[0]),
	};
	lut_function fn;

	if (s.op == TFLITE_OP_LEAKY_RELU && op_get_f32(c, 1, &s.alpha))
		return -1;
	if (s.op == TFLITE_OP_GELU && op_get_bool(c, 1, &s.approximate))
		return -1;
	set_bounds(&s);
	if (s.type == TFLITE_FLOAT32)
		return elem_map(c, run_f32, &s);
	fn = table_function(c);
	if (fn)
		return lut_execute(c, fn, 0);
	set_quant(c, &s);
	if (s.op != TFLITE_OP_HARD_SWISH)
		return elem_map(c, run_relu, &s);
	narrow_factor(swish_scale(c) / c->out[0]->scale, &s.out_mult, &s.out_shift);
	narrow_factor(swish_scale(c) / (3.0f / 32768.0f), &s.gate_mult, &s.gate_shift);
	return elem_map(c, run_swish, &s);
}
