/* SPDX-License-Identifier: MIT */
/*
 * Columns of a matrix as vectors of eight floats, or of sixteen, in terms of the compiler. They
 * are for CPUs that have such vectors; for others it makes single numbers of them.
 */
#ifndef NNPU_EMU_FLOAT_COLUMNS_H
#define NNPU_EMU_FLOAT_COLUMNS_H

#include "float_quads.h"

/* At any address of a float. */
typedef float float_octet __attribute__((vector_size(8 * sizeof(float)), aligned(4)));
typedef float float_line __attribute__((vector_size(16 * sizeof(float)), aligned(4)));

/* Four values of two rows in one. */
static inline __attribute__((always_inline, unused)) void
float_octet_join(const float *low, const float *high, float_octet *v)
{
	*v = __builtin_shufflevector(*(const float_quad *)low, *(const float_quad *)high,
				     0, 1, 2, 3, 4, 5, 6, 7);
}

/* Four vectors as two matrices of 4 x 4, side by side, which are transposed. */
static inline __attribute__((always_inline, unused)) void
float_octet_transpose(float_octet v[4])
{
	float_octet ab, cd, ab_high, cd_high;

	ab = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13);
	cd = __builtin_shufflevector(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13);
	ab_high = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15);
	cd_high = __builtin_shufflevector(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);
	v[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
	v[1] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
	v[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 8, 9, 4, 5, 12, 13);
	v[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Four columns of eight rows, which are @stride values apart, as a vector of a column each. */
static inline __attribute__((always_inline, unused)) void
float_octet_columns(const float *rows, size_t stride, float_octet *columns)
{
	for (unsigned int i = 0; i < 4; i++)
		float_octet_join(rows + i * stride, rows + (i + 4) * stride, &columns[i]);
	float_octet_transpose(columns);
}

/* Four vectors as matrices of 4 x 4, side by side, which are transposed. */
static inline __attribute__((always_inline, unused)) void
float_line_transpose(float_line v[4])
{
	float_line ab, cd, ab_high, cd_high;

	ab = __builtin_shufflevector(v[0], v[1], 0, 16, 1, 17, 4, 20, 5, 21,
				     8, 24, 9, 25, 12, 28, 13, 29);
	cd = __builtin_shufflevector(v[2], v[3], 0, 16, 1, 17, 4, 20, 5, 21,
				     8, 24, 9, 25, 12, 28, 13, 29);
	ab_high = __builtin_shufflevector(v[0], v[1], 2, 18, 3, 19, 6, 22, 7, 23,
					  10, 26, 11, 27, 14, 30, 15, 31);
	cd_high = __builtin_shufflevector(v[2], v[3], 2, 18, 3, 19, 6, 22, 7, 23,
					  10, 26, 11, 27, 14, 30, 15, 31);
	v[0] = __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21,
				       8, 9, 24, 25, 12, 13, 28, 29);
	v[1] = __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23,
				       10, 11, 26, 27, 14, 15, 30, 31);
	v[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 16, 17, 4, 5, 20, 21,
				       8, 9, 24, 25, 12, 13, 28, 29);
	v[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 18, 19, 6, 7, 22, 23,
				       10, 11, 26, 27, 14, 15, 30, 31);
}

/*
 * Eight columns of sixteen rows, as a vector of a column each. Row i is in element i but for those
 * of 4 to 7 and of 8 to 11, which have each other's places: so each is loaded once.
 */
static inline __attribute__((always_inline, unused)) void
float_line_columns(const float *rows, size_t stride, float_line *columns)
{
	float_line v[8];

	/* Rows i and i + 8 in one. */
	for (unsigned int i = 0; i < 8; i++)
		v[i] = __builtin_shufflevector(*(const float_octet *)(rows + i * stride),
					       *(const float_octet *)(rows + (i + 8) * stride),
					       0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	/* Then v[0..3] have rows 0 and 8, v[4..7] rows 4 and 12 of four columns each. */
	float_line_transpose(v);
	float_line_transpose(v + 4);
	for (unsigned int i = 0; i < 4; i++) {
		columns[i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11,
						     16, 17, 18, 19, 24, 25, 26, 27);
		columns[i + 4] = __builtin_shufflevector(v[i], v[i + 4], 4, 5, 6, 7, 12, 13, 14, 15,
							 20, 21, 22, 23, 28, 29, 30, 31);
	}
}

/* Between the order of these elements and that of the rows, either way. */
static inline __attribute__((always_inline, unused)) void
float_line_order(float_line *v)
{
	*v = __builtin_shufflevector(*v, *v, 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15);
}

#endif /* NNPU_EMU_FLOAT_COLUMNS_H */
