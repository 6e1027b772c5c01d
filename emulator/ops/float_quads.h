/* SPDX-License-Identifier: MIT */
/*
 * Vectors of four floats in terms of the compiler, which all CPUs have.
 */
#ifndef NNPU_EMU_FLOAT_QUADS_H
#define NNPU_EMU_FLOAT_QUADS_H

#include <stddef.h>

/* At any address of a float. */
typedef float float_quad __attribute__((vector_size(4 * sizeof(float)), aligned(4)));

/* Four columns of four rows, which are @stride values apart, as a vector of a column each. */
static inline __attribute__((always_inline, unused)) void
float_quad_columns(const float *rows, size_t stride, float_quad *columns)
{
	float_quad a = *(const float_quad *)rows, b = *(const float_quad *)(rows + stride);
	float_quad c = *(const float_quad *)(rows + 2 * stride);
	float_quad d = *(const float_quad *)(rows + 3 * stride);
	float_quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
	float_quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	float_quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	float_quad cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);

	columns[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	columns[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	columns[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
	columns[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

#endif /* NNPU_EMU_FLOAT_QUADS_H */
