/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point functions of SOFTMAX, LOGISTIC and TANH.
 *
 * A Qm.n number has m integer bits, n = 31 - m fraction bits and a sign. Products
 * of the fractions are q_mul_high(), as in the other quantized operations.
 */
#ifndef NNPU_EMU_FIXEDPOINT_H
#define NNPU_EMU_FIXEDPOINT_H

#include <stdint.h>

/* e^x for x <= 0 in Q5.26, as Q0.31. */
int32_t fp_exp_q5(int32_t x);

/* 1 / (1 + x) for x in [0, 1) in Q0.31, as Q0.31. */
int32_t fp_reciprocal_of_one_plus(int32_t x);

/* Logistic function and hyperbolic tangent of x in Q4.27, as Q0.31. */
int32_t fp_logistic_q4(int32_t x);
int32_t fp_tanh_q4(int32_t x);

/*
 * Largest magnitude of an 8-bit difference that fits @integer_bits integer bits
 * after the factor with @left_shift is applied.
 */
int32_t fp_input_radius(int integer_bits, int left_shift);

#endif /* NNPU_EMU_FIXEDPOINT_H */
