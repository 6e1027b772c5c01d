// SPDX-License-Identifier: MIT
/*
 * Functions of quantized tensors by table.
 *
 * Each step rounds to single precision.
 */
#include "tflite_lut.h"

#include <math.h>

static float limit(float v, float min, float max)
{
	return v > min ? v < max ? v : max : min;
}

static void fill_bytes(struct lut *lut, const struct tensor *in, const struct tensor *out,
		       lut_function fn, float param)
{
	enum tflite_type type = tflite_type_of(in), to = tflite_type_of(out);
	float inverse = 1.0f / out->scale;

	for (int i = 0; i < 256; i++) {
		int32_t q = type == TFLITE_INT8 ? (int8_t)i : i;
		float v = roundf(fn(in->scale * (float)(q - in->zero_point), param) * inverse);

		v = limit(v + (float)out->zero_point, (float)elem_min(to), (float)elem_max(to));
		lut->bytes[i] = (uint8_t)(int32_t)v;
	}
}

/* The samples in the precision of @real; @fn and its parameters follow. */
#define FILL_WORDS(real, round_, call) do { \
	real step = (max - min) / LUT_STEPS, half = step / 2; \
	real inverse = 65536 / (out_max - out_min); \
	for (int i = 0; i < LUT_STEPS; i++) { \
		real at = min + (real)i * step; \
		real here = call(at) * inverse; \
		real next = call(min + (real)(i + 1) * step) * inverse; \
		real middle = round_(call(at + half) * inverse); \
		/* Half of what a straight line differs by in the middle. */ \
		real bias = round_((round_((next + round_(here)) / 2) - middle) / 2); \
		words[i] = limit_word(round_(here) - bias); \
	} \
	words[LUT_STEPS] = limit_word(round_(call(max) * inverse)); \
} while (0)

static int16_t limit_word(double v)
{
	return (int16_t)(v > INT16_MIN ? v < INT16_MAX ? v : INT16_MAX : INT16_MIN);
}

#define CALL_FLOAT(x)	fn((x), param)

static void fill_words(int16_t *words, float min, float max, float out_min, float out_max,
		       lut_function fn, float param)
{
	FILL_WORDS(float, roundf, CALL_FLOAT);
}

void lut_fill_double(int16_t *words, double min, double max, double out_min, double out_max,
		     double (*fn)(double x))
{
	FILL_WORDS(double, round, fn);
}

void lut_fill(struct lut *lut, const struct tensor *in, const struct tensor *out, lut_function fn,
	      float param)
{
	if (tflite_type_of(in) == TFLITE_INT16)
		fill_words(lut->words, in->scale * (float)(INT16_MIN - in->zero_point),
			   in->scale * (float)(INT16_MAX - in->zero_point),
			   out->scale * (float)(INT16_MIN - out->zero_point),
			   out->scale * (float)(INT16_MAX - out->zero_point), fn, param);
	else
		fill_bytes(lut, in, out, fn, param);
}

int lut_prepare(struct op_call *c, size_t *bytes, lut_function fn, float param)
{
	struct lut *lut = op_take(c->progress, sizeof(*lut), bytes);

	if (!lut)
		return 0;	/* execute() makes the table itself */
	lut_fill(lut, c->in[0], c->out[0], fn, param);
	c->prepared = lut;
	return 0;
}

static void run_bytes(const void *state, const void *in, void *out, size_t n)
{
	const struct lut *lut = state;

	for (size_t i = 0; i < n; i++)
		((uint8_t *)out)[i] = lut->bytes[((const uint8_t *)in)[i]];
}

static void run_words(const void *state, const void *in, void *out, size_t n)
{
	const struct lut *lut = state;

	for (size_t i = 0; i < n; i++)
		((int16_t *)out)[i] = lut_word(lut->words, ((const int16_t *)in)[i]);
}

int lut_execute(const struct op_call *c, lut_function fn, float param)
{
	const struct lut *lut = c->prepared;
	struct lut own;

	if (!lut) {
		lut_fill(&own, c->in[0], c->out[0], fn, param);
		lut = &own;
	}
	return elem_map(c, tflite_type_of(c->in[0]) == TFLITE_INT16 ? run_words : run_bytes, lut);
}
