// SPDX-License-Identifier: MIT
/*
 * CAST, QUANTIZE, DEQUANTIZE and FAKE_QUANT.
 *
 * Inputs: 0 tensor; CAST: 1 and 2 the types of input and output, as TensorType; FAKE_QUANT: 1 and
 * 2 the range, 3 the number of bits, 4 whether the smallest value is not used.
 */
#include <math.h>

#include <float16.h>

#include "ops/nd_copy.h"
#include "tflite_elem.h"

/* CAST. */

/* The options name the types of the operands. */
static int check_type_option(const struct op_call *c, unsigned int i, const struct tensor *t)
{
	int32_t type;

	if (op_get_i32(c, i, &type))
		return 0;
	return type == (int32_t)tflite_type_of(t) ? 0 : op_fail(c, NNPU_REASON_VALUE, i);
}

static int check_ranks(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int tflite_cast_check(const struct op_call *c)
{
	return check_ranks(c) || check_type_option(c, 1, c->in[0]) ||
	       check_type_option(c, 2, c->out[0]) ? -1 : 0;
}

int tflite_cast_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

/* A number in one of two forms; the whole one is the low 64 bits of it. */
struct number {
	bool is_real, is_unsigned;
	double real;
	uint64_t whole;
};

static struct number whole(int64_t v)
{
	return (struct number){ .whole = (uint64_t)v };
}

static struct number real(double v)
{
	return (struct number){ .is_real = true, .real = v };
}

static struct number load(enum tflite_type type, const void *data, size_t i)
{
	switch (type) {
	case TFLITE_FLOAT16:
		return real(half_to_float(((const uint16_t *)data)[i]));
	case TFLITE_FLOAT32:
		return real(((const float *)data)[i]);
	case TFLITE_FLOAT64:
		return real(((const double *)data)[i]);
	case TFLITE_COMPLEX64:
		return real(((const float *)data)[2 * i]);
	case TFLITE_UINT16:
		return whole(((const uint16_t *)data)[i]);
	case TFLITE_UINT32:
		return whole(((const uint32_t *)data)[i]);
	case TFLITE_INT64:
		return whole(((const int64_t *)data)[i]);
	case TFLITE_UINT64:
		return (struct number){ .is_unsigned = true, .whole = ((const uint64_t *)data)[i] };
	case TFLITE_BOOL:
		return whole(((const uint8_t *)data)[i] != 0);
	default:
		return whole(elem_int(type, data, i));
	}
}

/* As an integer: a real number is cut off and limited; NaN becomes the largest number. */
static uint64_t to_integer(enum tflite_type type, struct number v)
{
	double max = type == TFLITE_UINT64 ? 0x1p64 : (double)elem_max(type) + 1.0;
	double min = (double)elem_min(type);

	if (!v.is_real)
		return v.whole;
	/* The largest 64-bit number is no double: what is less than the power of two fits. */
	if (isnan(v.real) || v.real >= max)
		return type == TFLITE_UINT64 ? UINT64_MAX : (uint64_t)elem_max(type);
	if (v.real <= min)
		return (uint64_t)elem_min(type);
	return type == TFLITE_UINT64 ? (uint64_t)v.real : (uint64_t)(int64_t)v.real;
}

static float to_float(struct number v)
{
	if (v.is_real)
		return (float)v.real;
	return v.is_unsigned ? (float)v.whole : (float)(int64_t)v.whole;
}

static double to_double(struct number v)
{
	if (v.is_real)
		return v.real;
	return v.is_unsigned ? (double)v.whole : (double)(int64_t)v.whole;
}

static void store(enum tflite_type type, void *data, size_t i, struct number v)
{
	switch (type) {
	case TFLITE_FLOAT16:
		((uint16_t *)data)[i] = float_to_half(to_float(v));
		break;
	case TFLITE_FLOAT32:
		((float *)data)[i] = to_float(v);
		break;
	case TFLITE_FLOAT64:
		((double *)data)[i] = to_double(v);
		break;
	case TFLITE_COMPLEX64:
		((float *)data)[2 * i] = to_float(v);
		((float *)data)[2 * i + 1] = 0;
		break;
	case TFLITE_BOOL:
		((uint8_t *)data)[i] = v.is_real ? v.real != 0 : v.whole != 0;
		break;
	case TFLITE_INT8:
	case TFLITE_UINT8:
		((uint8_t *)data)[i] = (uint8_t)to_integer(type, v);
		break;
	case TFLITE_INT16:
	case TFLITE_UINT16:
		((uint16_t *)data)[i] = (uint16_t)to_integer(type, v);
		break;
	case TFLITE_INT32:
	case TFLITE_UINT32:
		((uint32_t *)data)[i] = (uint32_t)to_integer(type, v);
		break;
	default:
		((uint64_t *)data)[i] = to_integer(type, v);
		break;
	}
}

struct cast {
	enum tflite_type from, to;
};

static void run_cast(const void *state, const void *in, void *out, size_t n)
{
	const struct cast *s = state;

	for (size_t i = 0; i < n; i++)
		store(s->to, out, i, load(s->from, in, i));
}

int tflite_cast_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct cast s = { tflite_type_of(c->in[0]), tflite_type_of(c->out[0]) };

	if (check_type_option(c, 1, c->in[0]) || check_type_option(c, 2, c->out[0]))
		return -1;
	if (s.from == s.to)
		return nd_move(&pace, c->in[0]->data, c->out[0]->data, c->out[0]->bytes);
	return elem_map(c, run_cast, &s);
}

/* QUANTIZE: real numbers to quantized ones, or from one quantization to another. */

int tflite_quantize_check(const struct op_call *c)
{
	enum tflite_type from = tflite_type_of(c->in[0]), to = tflite_type_of(c->out[0]);

	if (check_ranks(c))
		return -1;
	/* INT32 comes from INT16 only, and goes to INT8 and INT16. */
	if (to == TFLITE_INT32 ? from != TFLITE_INT16 : from == TFLITE_INT32 && to == TFLITE_UINT8)
		return op_fail(c, NNPU_REASON_TYPE, op_output(c, 0));
	if (from == TFLITE_INT32 && !(c->in[0]->scale > 0))
		return op_fail(c, NNPU_REASON_SCALE, 0);
	if (to == TFLITE_INT32 && !(c->out[0]->scale > 0))
		return op_fail(c, NNPU_REASON_SCALE, op_output(c, 0));
	return 0;
}

int tflite_quantize_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

struct quantize {
	enum tflite_type from, to;
	float scale;
	int32_t zero_in, zero_out;
	struct qfactor factor;
};

static void put(const struct quantize *s, void *out, size_t i, int64_t v)
{
	int64_t min = elem_min(s->to), max = elem_max(s->to);

	v = v < min ? min : v > max ? max : v;
	if (s->to == TFLITE_INT32)
		((int32_t *)out)[i] = (int32_t)v;
	else
		elem_put(s->to, out, i, (int32_t)v);
}

static void run_quantize(const void *state, const void *in, void *out, size_t n)
{
	const struct quantize *s = state;

	for (size_t i = 0; i < n; i++) {
		float v = roundf(((const float *)in)[i] / s->scale);

		/* Far outside of every type; a NaN becomes the zero point. */
		v = v > 0x1p24f ? 0x1p24f : v < -0x1p24f ? -0x1p24f : v;
		put(s, out, i, (isnan(v) ? 0 : (int64_t)v) + s->zero_out);
	}
}

static void run_requantize(const void *state, const void *in, void *out, size_t n)
{
	const struct quantize *s = state;

	for (size_t i = 0; i < n; i++) {
		int64_t v = (int64_t)elem_int(s->from, in, i) - s->zero_in;
		int32_t x = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;

		put(s, out, i, (int64_t)q_scale(x, s->factor) + s->zero_out);
	}
}

int tflite_quantize_execute(const struct op_call *c)
{
	const struct tensor *in = c->in[0], *out = c->out[0];
	struct quantize s = {
		.from = tflite_type_of(in), .to = tflite_type_of(out), .scale = out->scale,
		.zero_in = in->zero_point, .zero_out = out->zero_point,
	};

	if (s.from == TFLITE_FLOAT32)
		return elem_map(c, run_quantize, &s);
	s.factor = qfactor_from((double)in->scale / (double)out->scale);
	return elem_map(c, run_requantize, &s);
}

/* DEQUANTIZE. */

int tflite_dequantize_check(const struct op_call *c)
{
	return check_ranks(c);
}

int tflite_dequantize_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

static void run_dequantize(const void *state, const void *in, void *out, size_t n)
{
	const struct quantize *s = state;

	for (size_t i = 0; i < n; i++) {
		if (s->from == TFLITE_FLOAT16)
			((float *)out)[i] = half_to_float(((const uint16_t *)in)[i]);
		else
			((float *)out)[i] = s->scale *
					    (float)(elem_int(s->from, in, i) - s->zero_in);
	}
}

int tflite_dequantize_execute(const struct op_call *c)
{
	struct quantize s = {
		.from = tflite_type_of(c->in[0]), .scale = c->in[0]->scale,
		.zero_in = c->in[0]->zero_point,
	};

	return elem_map(c, run_dequantize, &s);
}

/* FAKE_QUANT: the values that quantization with a range leaves. */

struct fake_quant {
	float min, max, scale;
};

/* The range moved so that zero is a step. 0; 1 if it is not known yet; -1 with error. */
static int get_range(const struct op_call *c, struct fake_quant *f)
{
	float min, max, zero, first, last;
	int32_t bits;
	bool narrow;

	if (op_get_f32(c, 1, &min) || op_get_f32(c, 2, &max) || op_get_i32(c, 3, &bits) ||
	    op_get_bool(c, 4, &narrow))
		return 1;
	if (!(min <= 0 && isfinite(min)))
		return op_fail(c, NNPU_REASON_VALUE, 1);
	if (!(max >= 0 && isfinite(max) && max > min && isfinite(max - min)))
		return op_fail(c, NNPU_REASON_VALUE, 2);
	if (bits < 2 || bits > 16)
		return op_fail(c, NNPU_REASON_VALUE, 3);
	first = narrow ? 1 : 0;
	last = (float)((1 << bits) - 1);
	f->scale = (max - min) / (last - first);
	zero = first - min / f->scale;
	zero = zero < first ? first : zero > last ? last : roundf(zero);
	f->min = (first - zero) * f->scale;
	f->max = (last - zero) * f->scale;
	return 0;
}

int tflite_fake_quant_check(const struct op_call *c)
{
	struct fake_quant f;

	return elem_check_same(c) || get_range(c, &f) < 0 ? -1 : 0;
}

int tflite_fake_quant_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

static void run_fake_quant(const void *state, const void *in, void *out, size_t n)
{
	const struct fake_quant *f = state;
	float inverse = 1.0f / f->scale;

	for (size_t i = 0; i < n; i++) {
		float v = f_clamp(((const float *)in)[i], f->min, f->max) - f->min;

		((float *)out)[i] = roundf(v * inverse) * f->scale + f->min;
	}
}

int tflite_fake_quant_execute(const struct op_call *c)
{
	struct fake_quant f;

	if (get_range(c, &f))
		return -1;
	return elem_map(c, run_fake_quant, &f);
}
