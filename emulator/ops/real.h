/* SPDX-License-Identifier: MIT */
/*
 * Elements as real numbers, whatever the type of their tensor.
 */
#ifndef NNPU_EMU_REAL_H
#define NNPU_EMU_REAL_H

#include <math.h>

#include <float16.h>

#include "quant.h"

/* Element @i, a quantized one dequantized in single precision. */
static inline float real_at(const struct tensor *t, size_t i)
{
	switch (t->type) {
	case NNPU_TYPE_TENSOR_FLOAT32:
		return ((const float *)t->data)[i];
	case NNPU_TYPE_TENSOR_FLOAT16:
		return half_to_float(((const uint16_t *)t->data)[i]);
	default:
		return (float)(tensor_number(t, i) - t->zero_point) * t->scale;
	}
}

/* Store to element @i. Quantized: halves are rounded away from zero, values are limited. */
static inline void real_put(const struct tensor *t, size_t i, float v)
{
	double steps;

	switch (t->type) {
	case NNPU_TYPE_TENSOR_FLOAT32:
		((float *)t->data)[i] = v;
		break;
	case NNPU_TYPE_TENSOR_FLOAT16:
		((uint16_t *)t->data)[i] = float_to_half(v);
		break;
	case NNPU_TYPE_TENSOR_QUANT16_ASYMM:
		steps = round((double)v / t->scale) + t->zero_point;
		((uint16_t *)t->data)[i] = steps > 0 ? steps < 65535 ? (uint16_t)steps : 65535 : 0;
		break;
	default:
		((uint8_t *)t->data)[i] = q_from_real(t, v);
		break;
	}
}

/* e^x, the same bits on every host. */
float real_exp(float x);

#endif /* NNPU_EMU_REAL_H */
