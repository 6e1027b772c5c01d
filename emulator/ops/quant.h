/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of quantized operations, as Documentation/operations/ fixes it.
 *
 * A real factor is stored as a 31-bit fraction in [0.5, 1) and a power of two. Its product
 * with an integer is rounded twice, in the multiplication and in the shift. Every kernel
 * must give exactly the results of these functions.
 */
#ifndef NNPU_EMU_QUANT_H
#define NNPU_EMU_QUANT_H

#include <stdint.h>

#include "qfactor.h"
#include "shape.h"

/*
 * A factor below 2^-32 becomes 0. A factor above 2^62, or one that is not finite, becomes
 * the largest factor. @real must not be negative.
 */
struct qfactor qfactor_from(double real);

/* x * mult / 2^31, rounded to nearest, halves up. mult is not negative. */
static inline int32_t q_mul_high(int32_t x, int32_t mult)
{
	return (int32_t)(uint32_t)((uint64_t)((int64_t)x * mult + (1 << 30)) >> 31);
}

/* x / 2^n, rounded to nearest, halves away from zero. 0 <= n <= 31. */
static inline int32_t q_shift_right(int32_t x, int32_t n)
{
	uint32_t mask = (1u << n) - 1;
	uint32_t rem = (uint32_t)x & mask;
	uint32_t half = (mask >> 1) + (x < 0);

	return (x >> n) + (rem > half);
}

/* x * 2^n, limited to the range of int32_t. 0 <= n. */
static inline int32_t q_shift_left(int32_t x, int32_t n)
{
	int64_t v = (int64_t)x * (1ll << (n > 31 ? 31 : n));

	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline int32_t q_scale(int32_t x, struct qfactor f)
{
	if (f.shift > 0)
		return q_mul_high(q_shift_left(x, f.shift), f.mult);
	return q_shift_right(q_mul_high(x, f.mult), -f.shift);
}

/*
 * The same for a wide accumulator, with 16 bits of the factor, rounded once: the product modulo
 * 2^64, divided by a power of two, halves up. The factor is limited to 2^14.
 */
static inline int32_t q_scale_wide(int64_t x, struct qfactor f)
{
	int64_t mult = f.mult < 0x7fff0000 ? (f.mult + (1 << 15)) >> 16 : 0x7fff;
	int n = f.shift < 14 ? 15 - f.shift : 1;
	uint64_t product = (uint64_t)x * (uint64_t)mult + (1ull << (n - 1));

	return (int32_t)(uint32_t)(uint64_t)((int64_t)product >> n);
}

/* Sum modulo 2^32: accumulators wrap around. */
static inline int32_t q_add(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Smallest and largest value of a quantized type. */
static inline int32_t q_type_min(enum nnpu_type t)
{
	if (t == NNPU_TYPE_TENSOR_QUANT16_SYMM)
		return INT16_MIN;
	return t == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : INT8_MIN;
}

static inline int32_t q_type_max(enum nnpu_type t)
{
	if (t == NNPU_TYPE_TENSOR_QUANT16_SYMM)
		return INT16_MAX;
	return t == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? UINT8_MAX : INT8_MAX;
}

/*
 * Kernels read signed and unsigned 8-bit values as bytes: q - zero_point is
 * (byte ^ flip) - bias.
 */
struct qbyte {
	uint8_t flip;
	int16_t bias;
};

static inline struct qbyte qbyte_of(const struct tensor *t)
{
	if (t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM)
		return (struct qbyte){ 0, (int16_t)t->zero_point };
	return (struct qbyte){ 0x80, (int16_t)(tensor_zero_point(t) + 128) };
}

static inline int16_t qbyte_value(uint8_t raw, struct qbyte b)
{
	return (int16_t)((raw ^ b.flip) - b.bias);
}

static inline int32_t q_clamp(int32_t v, int32_t min, int32_t max)
{
	v = v < min ? min : v;
	return v > max ? max : v;
}

/* A NaN stays a NaN. */
static inline float f_clamp(float v, float min, float max)
{
	v = v < min ? min : v;
	return v > max ? max : v;
}

/* Range of output values after a fused activation, in steps of @out. */
struct qrange {
	int32_t min;
	int32_t max;
};

struct frange {
	float min;
	float max;
};

struct qrange qrange_of(enum activation a, const struct tensor *out);

/* By activation, which has been checked: see op_get_activation(). */
extern const struct frange franges[ACTIVATION_UNLIMITED + 1];

static inline struct frange frange_of(enum activation a)
{
	return franges[a];
}

/* The real value of byte @raw of an 8-bit quantized tensor; exact. */
static inline double q_real(const struct tensor *t, uint8_t raw)
{
	return (double)t->scale * qbyte_value(raw, qbyte_of(t));
}

/* Element @i as the plain number that is stored, exact. No TENSOR_FLOAT16. */
static inline double tensor_number(const struct tensor *t, size_t i)
{
	switch (t->type) {
	case NNPU_TYPE_TENSOR_FLOAT32:
		return ((const float *)t->data)[i];
	case NNPU_TYPE_TENSOR_INT32:
		return ((const int32_t *)t->data)[i];
	case NNPU_TYPE_TENSOR_QUANT16_ASYMM:
		return ((const uint16_t *)t->data)[i];
	case NNPU_TYPE_TENSOR_QUANT16_SYMM:
		return ((const int16_t *)t->data)[i];
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
	case NNPU_TYPE_TENSOR_BOOL8:
		return ((const uint8_t *)t->data)[i];
	default:
		return ((const int8_t *)t->data)[i];
	}
}

/*
 * The byte of @t that is nearest to @real, halves away from zero, limited to the
 * type; the zero point for a NaN.
 */
uint8_t q_from_real(const struct tensor *t, double real);

/* Fill a table that converts bytes of @in to the quantization of @out. */
void q_requantize_table(const struct tensor *in, const struct tensor *out, uint8_t *table);

/*
 * Checks of convolutions and FULLY_CONNECTED: types and quantization of input 0,
 * filter 1, bias 2 and output 0. @channel_dim is the filter dimension that may
 * have one scale per index, or -1.
 */
int op_check_weights(const struct op_call *c, int channel_dim);

/*
 * Factor from accumulator to output of channel @i: with one scale per channel
 * s_in * s_w / s_out in double precision; else s_in * s_w rounded to single
 * precision, then divided by s_out in double precision.
 */
struct qfactor qfactor_of_channel(const struct op_call *c, uint32_t i);

#endif /* NNPU_EMU_QUANT_H */
