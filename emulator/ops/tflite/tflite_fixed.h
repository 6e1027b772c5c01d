/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point numbers of 32 bits, as Documentation/operations/arithmetic.rst describes them.
 */
#ifndef NNPU_EMU_TFLITE_FIXED_H
#define NNPU_EMU_TFLITE_FIXED_H

#include "ops/quant.h"

/* Product of two fractions, rounded to nearest; the square of -1 saturates. */
static inline int32_t fixed_mul(int32_t a, int32_t b)
{
	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

/* q_scale() with a shift out of the range of struct qfactor. */
static inline int32_t fixed_scale(int32_t x, int32_t mult, int32_t shift)
{
	if (shift < -31)
		return 0;
	return q_scale(x, (struct qfactor){ mult, shift });
}

/*
 * @x, which may have 48 bits, times a factor whose fraction is rounded to 16 bits; rounded to
 * nearest, halves up, modulo 2^32. Where TensorFlow Lite computes with 64 bits.
 */
static inline int32_t fixed_scale64(int64_t x, struct qfactor f)
{
	int64_t mult = f.mult < 0x7fff0000 ? (f.mult + (1 << 15)) >> 16 : 0x7fff;
	int32_t right = 15 - f.shift;
	uint64_t product = (uint64_t)x * (uint64_t)mult;

	if (right <= 0)
		return (int32_t)(uint32_t)(product << (right < -31 ? 31 : -right));
	if (right > 62)
		return 0;
	return (int32_t)(uint32_t)((int64_t)(product + (1ull << (right - 1))) >> right);
}

#endif /* NNPU_EMU_TFLITE_FIXED_H */
