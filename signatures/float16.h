/* SPDX-License-Identifier: MIT */
/*
 * IEEE 754 half precision: conversions from and to single precision.
 *
 * The one float16 codec of the tree: operations, tools and tests include it as
 * <float16.h>.
 */
#ifndef FLOAT16_H
#define FLOAT16_H

#include <stdint.h>
#include <string.h>

/* Exact. A NaN stays a NaN. */
static inline float half_to_float(uint16_t h)
{
	uint32_t magnitude = h & 0x7fffu, bits;
	float v;

	if (magnitude >= 0x7c00) {
		bits = 0x7f800000u | (magnitude & 0x3ff) << 13;
		memcpy(&v, &bits, sizeof(v));
	} else {
		/* The exponents differ by 112; that holds for subnormal numbers, too. */
		bits = magnitude << 13;
		memcpy(&v, &bits, sizeof(v));
		v *= 0x1p112f;
	}
	return h & 0x8000 ? -v : v;
}

/* To nearest, halves to even; what is too large becomes infinite. */
static inline uint16_t float_to_half(float v)
{
	uint32_t bits, magnitude;
	uint16_t sign, h;

	memcpy(&bits, &v, sizeof(bits));
	sign = (uint16_t)(bits >> 16 & 0x8000);
	magnitude = bits & 0x7fffffff;
	if (magnitude > 0x7f800000) {
		h = 0x7e00;
	} else if (magnitude >= 0x477ff000) {
		h = 0x7c00;
	} else if (magnitude < 0x38800000) {
		/* Subnormal: 2^-24 is the last place of a number in [0.5, 1). */
		memcpy(&v, &magnitude, sizeof(v));
		v += 0.5f;
		memcpy(&bits, &v, sizeof(bits));
		h = (uint16_t)(bits - 0x3f000000);
	} else {
		magnitude += 0xfff + (magnitude >> 13 & 1);
		h = (uint16_t)((magnitude - 0x38000000) >> 13);
	}
	return sign | h;
}

#endif /* FLOAT16_H */
