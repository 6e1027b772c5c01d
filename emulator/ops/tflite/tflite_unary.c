// SPDX-License-Identifier: MIT
/*
 * ABS, NEG, SQUARE, SQRT, RSQRT, EXP, LOG, SIN, COS, ROUND, CEIL and SIGN.
 *
 * Input: 0 tensor.
 */
#include <math.h>

#include "ops/kernels.h"
#include "tflite_fixed.h"
#include "tflite_lut.h"

int tflite_unary_check(const struct op_call *c)
{
	return elem_check_same(c);
}

int tflite_unary_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

/* The functions behind tables: in double precision, rounded once. */

static float exp_function(float x, float param)
{
	(void)param;
	return (float)exp((double)x);
}

/* The logarithm of what has none is the smallest output. */
static float log_function(float x, float smallest)
{
	return x > 0 ? (float)log((double)x) : smallest;
}

static float rsqrt_function(float x, float largest)
{
	return x > 0 ? 1.0f / sqrtf(x) : largest;
}

/* The function of a quantized operation that has a table, or NULL; and its parameter. */
static lut_function table_function(const struct op_call *c, float *param)
{
	const struct tensor *out = c->out[0];
	enum tflite_type type = tflite_type_of(out);

	*param = 0;
	if (!tflite_is_quantized(out))
		return NULL;
	switch (tflite_op_of(c)) {
	case TFLITE_OP_EXP:
		return exp_function;
	case TFLITE_OP_LOG:
		*param = (float)(elem_min(type) - out->zero_point) * out->scale;
		return log_function;
	case TFLITE_OP_RSQRT:
		*param = (float)INT16_MAX * out->scale;
		return type == TFLITE_INT16 ? rsqrt_function : NULL;
	default:
		return NULL;
	}
}

int tflite_unary_prepare(struct op_call *c, size_t *bytes)
{
	float param;
	lut_function fn = table_function(c, &param);

	return fn ? lut_prepare(c, bytes, fn, param) : 0;
}

static float apply(enum tflite_op op, float v)
{
	switch (op) {
	case TFLITE_OP_SQUARE:
		return v * v;
	case TFLITE_OP_EXP:
		return expf(v);
	case TFLITE_OP_LOG:
		return logf(v);
	case TFLITE_OP_SIN:
		return sinf(v);
	case TFLITE_OP_COS:
		return cosf(v);
	case TFLITE_OP_CEIL:
		return ceilf(v);
	case TFLITE_OP_SIGN:
		return (float)((v > 0) - (v < 0));
	default:
		/* Nothing but a negative zero becomes one. */
		return v == 0 ? v : rintf(v) + 0.0f;
	}
}

static void run_f32(const void *state, const void *in, void *out, size_t n)
{
	enum tflite_op op = *(const enum tflite_op *)state;
	const struct row_kernels *k = kernels_rows();

	switch (op) {
	case TFLITE_OP_ABS:
		k->function(ROW_ABS, in, n, 0, 0, out);
		break;
	case TFLITE_OP_NEG:
		k->function(ROW_NEG, in, n, 0, 0, out);
		break;
	case TFLITE_OP_SQRT:
		k->function(ROW_SQRT, in, n, 0, 0, out);
		break;
	case TFLITE_OP_RSQRT:
		k->function(ROW_RSQRT, in, n, 0, 0, out);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			((float *)out)[i] = apply(op, ((const float *)in)[i]);
	}
}

/* SIGN. */
static void run_f64(const void *state, const void *in, void *out, size_t n)
{
	const double *v = in;

	(void)state;
	for (size_t i = 0; i < n; i++)
		((double *)out)[i] = (v[i] > 0) - (v[i] < 0);
}

/* The smallest integer is its own negative and absolute value. */
static uint64_t apply_int(enum tflite_op op, int64_t v)
{
	if (op == TFLITE_OP_SIGN)
		return (uint64_t)((v > 0) - (v < 0));
	return op == TFLITE_OP_ABS && v >= 0 ? (uint64_t)v : -(uint64_t)v;
}

static void run_i32(const void *state, const void *in, void *out, size_t n)
{
	enum tflite_op op = *(const enum tflite_op *)state;

	for (size_t i = 0; i < n; i++)
		((uint32_t *)out)[i] = (uint32_t)apply_int(op, ((const int32_t *)in)[i]);
}

static void run_i64(const void *state, const void *in, void *out, size_t n)
{
	enum tflite_op op = *(const enum tflite_op *)state;

	for (size_t i = 0; i < n; i++)
		((uint64_t *)out)[i] = apply_int(op, ((const int64_t *)in)[i]);
}

struct quant_unary {
	enum tflite_op op;
	enum tflite_type type;
	int32_t zero_in, zero_out;
	float scale_in, scale_out;
	bool same;			/* ABS: input and output have one scale */
	struct qfactor factor;
};

/*
 * 1 / sqrt(value) for value > 1, times 2^20: Newton's iteration in Q3 for the value shifted
 * into [1/4, 1), from 1 on.
 */
static int32_t reciprocal_root(int32_t value)
{
	const int32_t three_halves = 3 << 27, root_half = 1518500250;
	int32_t pairs = (__builtin_clz((unsigned int)value) - 1) / 2 - 1;
	int32_t in = (value << (2 * pairs)) >> 1, half = q_shift_right(in, 1);
	int32_t x = 1 << 28;

	for (int i = 0; i < 5; i++) {
		int32_t cube = q_shift_left(fixed_mul(fixed_mul(x, x), x), 6);

		x = q_shift_left(fixed_mul(three_halves, x) - fixed_mul(half, cube), 3);
	}
	return fixed_scale(1, fixed_mul(x, root_half), 20 - (11 - pairs));
}

static int32_t quant_apply(const struct quant_unary *s, int32_t q)
{
	int32_t v = q - s->zero_in;
	float steps;

	switch (s->op) {
	case TFLITE_OP_ABS:
		v = v < 0 ? -v : v;
		return elem_clamp(s->type, q_add(s->same ? v : q_scale(v, s->factor), s->zero_out));
	case TFLITE_OP_SQRT:
		steps = sqrtf(s->scale_in * (float)v) / s->scale_out;
		v = steps < 0x1p24f ? (int32_t)steps : 1 << 24;
		return elem_clamp(s->type, v + s->zero_out);
	default:
		if (v == 0)
			return (int32_t)elem_max(s->type);
		v = v == 1 ? 1 << 20 : reciprocal_root(v);
		v = fixed_scale(v, s->factor.mult, s->factor.shift - 20);
		return elem_clamp(s->type, q_add(v, s->zero_out));
	}
}

static void run_quant(const void *state, const void *in, void *out, size_t n)
{
	const struct quant_unary *s = state;

	for (size_t i = 0; i < n; i++)
		elem_put(s->type, out, i, quant_apply(s, elem_int(s->type, in, i)));
}

/* Roots of negative values do not exist. */
static int check_roots(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	enum tflite_type type = tflite_type_of(c->in[0]);
	size_t total = tensor_elements(c->in[0]);

	for (size_t i = 0; i < total; i++) {
		if (elem_int(type, c->in[0]->data, i) < c->in[0]->zero_point)
			return op_fail(c, NNPU_REASON_VALUE, 0);
		if (op_pace_row(&pace, i, 2))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_quant(const struct op_call *c)
{
	const struct tensor *in = c->in[0], *out = c->out[0];
	struct quant_unary s = {
		.op = tflite_op_of(c), .type = tflite_type_of(out),
		.zero_in = in->zero_point, .zero_out = out->zero_point,
		.scale_in = in->scale, .scale_out = out->scale,
		.same = in->scale == out->scale,
	};
	float param;
	lut_function fn = table_function(c, &param);
	int ret;

	if (s.op == TFLITE_OP_SQRT || s.op == TFLITE_OP_RSQRT) {
		ret = check_roots(c);
		if (ret)
			return ret;
	}
	if (fn)
		return lut_execute(c, fn, param);
	if (s.op == TFLITE_OP_RSQRT)
		s.factor = qfactor_from(1.0 / (double)(sqrtf(in->scale) * out->scale));
	else
		s.factor = elem_factor(in->scale / out->scale);
	return elem_map(c, run_quant, &s);
}

int tflite_unary_execute(const struct op_call *c)
{
	enum tflite_op op = tflite_op_of(c);

	switch (tflite_type_of(c->out[0])) {
	case TFLITE_FLOAT32:
		return elem_map(c, run_f32, &op);
	case TFLITE_FLOAT64:
		return elem_map(c, run_f64, &op);
	case TFLITE_INT32:
		return elem_map(c, run_i32, &op);
	case TFLITE_INT64:
		return elem_map(c, run_i64, &op);
	default:
		return execute_quant(c);
	}
}
