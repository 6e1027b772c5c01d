/* SPDX-License-Identifier: MIT */
/*
 * Functions of quantized tensors by table.
 */
#ifndef NNPU_EMU_TFLITE_LUT_H
#define NNPU_EMU_TFLITE_LUT_H

#include "tflite_elem.h"

#define LUT_STEPS	512

struct lut {
	uint8_t bytes[256];		/* INT8, UINT8: result of each byte */
	int16_t words[LUT_STEPS + 1];	/* INT16: samples 128 values apart */
};

/* A real function; @param belongs to it. */
typedef float (*lut_function)(float x, float param);

/* Fill the table that turns values of @in into values of @out. */
void lut_fill(struct lut *lut, const struct tensor *in, const struct tensor *out, lut_function fn,
	      float param);

/*
 * Samples of @fn between two values, as INT16 for the range from @out_min to @out_max, in double
 * precision.
 */
void lut_fill_double(int16_t *words, double min, double max, double out_min, double out_max,
		     double (*fn)(double x));

/* Interpolate between the samples, halves up. */
static inline int16_t lut_word(const int16_t *words, int16_t value)
{
	unsigned int at = (unsigned int)(256 + (value >> 7));
	int32_t slope = words[at + 1] - words[at];

	return (int16_t)(words[at] + ((slope * (value & 127) + 64) >> 7));
}

/* prepare(): the table for inputs 0 and output 0 of the call. */
int lut_prepare(struct op_call *c, size_t *bytes, lut_function fn, float param);

/* execute(): with the table that prepare() made, or with a new one. */
int lut_execute(const struct op_call *c, lut_function fn, float param);

#endif /* NNPU_EMU_TFLITE_LUT_H */
