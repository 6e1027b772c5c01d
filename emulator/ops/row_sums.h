/* SPDX-License-Identifier: MIT */
/*
 * Sums of the rows and of the columns of a matrix, which row_kernels_loops.h includes. A vector has the
 * ROW_PARTS sums of a row, or one of the sums of as many columns as it is wide.
 *
 * ROW_WIDTH is how many floats a vector of the variant holds: 4, 8 or 16.
 */
#ifndef NNPU_EMU_ROW_SUMS_H
#define NNPU_EMU_ROW_SUMS_H

#include "float_quads.h"
#include "row_kernels.h"

/* At any address of a float. */
typedef float row_vector __attribute__((vector_size(ROW_WIDTH * sizeof(float)), aligned(4)));

_Static_assert(ROW_PARTS * sizeof(float) == sizeof(float_quad), "a vector has the parts of a row");

/* @count rows from @m on, whose number is known where this is called. @first is less than ROW_PARTS. */
static inline __attribute__((always_inline, unused)) void
row_sum_group(const unsigned int count, const float *m, size_t stride, size_t n, size_t first,
	      float *parts)
{
	size_t i = 0, head = (ROW_PARTS - first) % ROW_PARTS;
	float_quad sums[4];

	for (; i < head && i < n; i++)
		for (unsigned int r = 0; r < count; r++)
			parts[r * ROW_PARTS + first + i] += m[r * stride + i];
	for (unsigned int r = 0; r < count; r++)
		sums[r] = *(const float_quad *)(parts + r * ROW_PARTS);
	for (; i + ROW_PARTS <= n; i += ROW_PARTS)
		for (unsigned int r = 0; r < count; r++)
			sums[r] += *(const float_quad *)(m + r * stride + i);
	for (unsigned int r = 0; r < count; r++)
		*(float_quad *)(parts + r * ROW_PARTS) = sums[r];
	for (unsigned int k = 0; i < n; i++, k++)
		for (unsigned int r = 0; r < count; r++)
			parts[r * ROW_PARTS + k] += m[r * stride + i];
}

static inline __attribute__((always_inline, unused)) void
row_sum_rows(const float *m, size_t stride, size_t rows, size_t n, size_t first, float *parts)
{
	for (; rows >= 4; rows -= 4, m += 4 * stride, parts += 4 * ROW_PARTS)
		row_sum_group(4, m, stride, n, first, parts);
	for (; rows; rows--, m += stride, parts += ROW_PARTS)
		row_sum_group(1, m, stride, n, first, parts);
}

/*
 * Functions for @count neighbours of a type, at most @most: vectors of columns, or a column each. Rows @r,
 * @r + ROW_PARTS and so on are added to @parts[@r].
 */
#define ROW_SUM_NEIGHBOURS(name, type, most) \
	static inline __attribute__((always_inline, unused)) void \
	name(const float *x, size_t stride, size_t rows, const unsigned int count, \
	     float *const *parts, size_t at) \
	{ \
		const size_t width = sizeof(type) / sizeof(float); \
		type v[ROW_PARTS][most]; \
		size_t r = 0; \
		\
		for (unsigned int k = 0; k < ROW_PARTS; k++) \
			for (unsigned int j = 0; j < count; j++) \
				v[k][j] = *(const type *)(parts[k] + at + j * width); \
		for (; r + ROW_PARTS <= rows; r += ROW_PARTS) \
			for (unsigned int k = 0; k < ROW_PARTS; k++) \
				for (unsigned int j = 0; j < count; j++) \
					v[k][j] += *(const type *)(x + (r + k) * stride + j * width); \
		for (unsigned int k = 0; k < ROW_PARTS - 1 && r + k < rows; k++) \
			for (unsigned int j = 0; j < count; j++) \
				v[k][j] += *(const type *)(x + (r + k) * stride + j * width); \
		for (unsigned int k = 0; k < ROW_PARTS; k++) \
			for (unsigned int j = 0; j < count; j++) \
				*(type *)(parts[k] + at + j * width) = v[k][j]; \
	}

ROW_SUM_NEIGHBOURS(row_sum_vectors, row_vector, 2)
ROW_SUM_NEIGHBOURS(row_sum_quads, float_quad, 1)
ROW_SUM_NEIGHBOURS(row_sum_few, float, 3)

static inline __attribute__((always_inline, unused)) void
row_sum_columns(const float *x, size_t stride, size_t rows, size_t n, size_t first, float *parts,
		size_t apart)
{
	float *to[ROW_PARTS];
	size_t i = 0;

	for (unsigned int k = 0; k < ROW_PARTS; k++)
		to[k] = parts + (first + k) % ROW_PARTS * apart;
	for (; i + 2 * ROW_WIDTH <= n; i += 2 * ROW_WIDTH)
		row_sum_vectors(x + i, stride, rows, 2, to, i);
	for (; i + ROW_WIDTH <= n; i += ROW_WIDTH)
		row_sum_vectors(x + i, stride, rows, 1, to, i);
	for (; i + 4 <= n; i += 4)
		row_sum_quads(x + i, stride, rows, 1, to, i);
	if (n - i == 1)
		row_sum_few(x + i, stride, rows, 1, to, i);
	else if (n - i == 2)
		row_sum_few(x + i, stride, rows, 2, to, i);
	else if (n - i == 3)
		row_sum_few(x + i, stride, rows, 3, to, i);
}

/* @count vectors of neighbouring columns, which do not wait for one another. */
static inline __attribute__((always_inline, unused)) void
row_add_vectors(const float *x, size_t stride, size_t rows, const unsigned int count, float *acc)
{
	row_vector v[4];

	for (unsigned int j = 0; j < count; j++)
		v[j] = *(const row_vector *)(acc + j * ROW_WIDTH);
	for (size_t r = 0; r < rows; r++) {
		for (unsigned int j = 0; j < count; j++)
			v[j] += *(const row_vector *)(x + r * stride + j * ROW_WIDTH);
	}
	for (unsigned int j = 0; j < count; j++)
		*(row_vector *)(acc + j * ROW_WIDTH) = v[j];
}

/* Four columns; or fewer, one by one. */
static inline __attribute__((always_inline, unused)) void
row_add_quad(const float *x, size_t stride, size_t rows, float *acc)
{
	float_quad v = *(const float_quad *)acc;

	for (size_t r = 0; r < rows; r++)
		v += *(const float_quad *)(x + r * stride);
	*(float_quad *)acc = v;
}

static inline __attribute__((always_inline, unused)) void
row_add_few(const float *x, size_t stride, size_t rows, const unsigned int count, float *acc)
{
	float a = acc[0], b = count > 1 ? acc[1] : 0, c = count > 2 ? acc[2] : 0;

	for (size_t r = 0; r < rows; r++) {
		a += x[r * stride];
		if (count > 1)
			b += x[r * stride + 1];
		if (count > 2)
			c += x[r * stride + 2];
	}
	acc[0] = a;
	if (count > 1)
		acc[1] = b;
	if (count > 2)
		acc[2] = c;
}

static inline __attribute__((always_inline, unused)) void
row_add_rows(const float *x, size_t stride, size_t rows, size_t n, float *acc)
{
	size_t i = 0;

	for (; i + 4 * ROW_WIDTH <= n; i += 4 * ROW_WIDTH)
		row_add_vectors(x + i, stride, rows, 4, acc + i);
	for (; i + 2 * ROW_WIDTH <= n; i += 2 * ROW_WIDTH)
		row_add_vectors(x + i, stride, rows, 2, acc + i);
	for (; i + ROW_WIDTH <= n; i += ROW_WIDTH)
		row_add_vectors(x + i, stride, rows, 1, acc + i);
	for (; i + 4 <= n; i += 4)
		row_add_quad(x + i, stride, rows, acc + i);
	if (n - i == 1)
		row_add_few(x + i, stride, rows, 1, acc + i);
	else if (n - i == 2)
		row_add_few(x + i, stride, rows, 2, acc + i);
	else if (n - i == 3)
		row_add_few(x + i, stride, rows, 3, acc + i);
}

#endif /* NNPU_EMU_ROW_SUMS_H */
