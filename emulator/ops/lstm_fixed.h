/* SPDX-License-Identifier: MIT */
/*
 * 16-bit fixed-point numbers of quantized LSTM operations: Q0.15 where nothing else is
 * said. The functions are those of fixedpoint.h with 16 bits at every step.
 */
#ifndef NNPU_EMU_LSTM_FIXED_H
#define NNPU_EMU_LSTM_FIXED_H

#include <math.h>

#include "quant.h"
#include "recurrent.h"

static inline int16_t fixed_limit(int32_t v)
{
	return (int16_t)q_clamp(v, INT16_MIN, INT16_MAX);
}

/* Product with a Q0.15 number, rounded to nearest, halves up. */
static inline int16_t fixed_product(int32_t a, int32_t b)
{
	return fixed_limit((a * b + (1 << 14)) >> 15);
}

/* Logistic function of a Q3.12 number. */
int16_t fixed_logistic(int16_t v);

/* Hyperbolic tangent of a number with @integer_bits integer bits, 0 to 6. */
int16_t fixed_tanh(int16_t v, int integer_bits);

#endif /* NNPU_EMU_LSTM_FIXED_H */
