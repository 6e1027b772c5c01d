/* SPDX-License-Identifier: MIT */
/*
 * Sums of the rows and of the columns of a matrix, which row_kernels_loops.h includes. Each sum
 * has the order of the elements; what is side by side is several of them.
 *
 * ROW_WIDTH is how many floats a vector of the variant holds: 4, 8 or 16.
 */
#ifndef NNPU_EMU_ROW_SUMS_H
#define NNPU_EMU_ROW_SUMS_H

#include <stdbool.h>
#include <string.h>

#include "float_columns.h"

/* At any address of a float. */
typedef float row_vector __attribute__((vector_size(ROW_WIDTH * sizeof(float)), aligned(4)));

/* Columns of rows as vectors: so many rows, and as many columns at once. */
#if ROW_WIDTH == 16
typedef float_line row_lanes;
#define ROW_COLUMNS	8u
#define row_lane_columns	float_line_columns
#define row_lane_order	float_line_order
#else
#if ROW_WIDTH == 8
typedef float_octet row_lanes;
#define row_lane_columns	float_octet_columns
#else
typedef float_quad row_lanes;
#define row_lane_columns	float_quad_columns
#endif
#define ROW_COLUMNS	4u
#define row_lane_order(v)	((void)(v))
#endif
#define ROW_LANES	(sizeof(row_lanes) / sizeof(float))

/* Vectors that are summed side by side, for a sum waits for the one before. */
#if ROW_WIDTH == 4
#define ROW_VECTORS	4u
#else
#define ROW_VECTORS	2u
#endif

/*
 * @vectors of rows from @m on; and four rows from @last on, @has_last. Both numbers are known where
 * this is called.
 */
static inline __attribute__((always_inline, unused)) void
row_sum_group(const unsigned int vectors, const float *m, float *sums, const bool has_last,
	      const float *last, float *last_sums, size_t stride, size_t n)
{
	row_lanes lanes[ROW_VECTORS];
	float_quad quad;
	size_t i = 0;

	for (unsigned int v = 0; v < vectors; v++) {
		lanes[v] = *(const row_lanes *)(sums + v * ROW_LANES);
		row_lane_order(&lanes[v]);
	}
	if (has_last)
		quad = *(const float_quad *)last_sums;
	for (; i + ROW_COLUMNS <= n; i += ROW_COLUMNS) {
		for (unsigned int v = 0; v < vectors; v++) {
			row_lanes columns[ROW_COLUMNS];

			row_lane_columns(m + v * ROW_LANES * stride + i, stride, columns);
			for (unsigned int j = 0; j < ROW_COLUMNS; j++)
				lanes[v] += columns[j];
		}
		for (unsigned int at = 0; has_last && at < ROW_COLUMNS; at += 4) {
			float_quad columns[4];

			float_quad_columns(last + i + at, stride, columns);
			for (unsigned int j = 0; j < 4; j++)
				quad += columns[j];
		}
	}
	for (unsigned int v = 0; v < vectors; v++) {
		row_lane_order(&lanes[v]);
		*(row_lanes *)(sums + v * ROW_LANES) = lanes[v];
	}
	if (has_last)
		*(float_quad *)last_sums = quad;
	for (; i < n; i++) {
		for (unsigned int r = 0; r < vectors * ROW_LANES; r++)
			sums[r] += m[r * stride + i];
		for (unsigned int r = 0; has_last && r < 4; r++)
			last_sums[r] += last[r * stride + i];
	}
}

/*
 * The same with the last four of @rows. Of these, the first @before are summed by others, and do
 * not count.
 */
static inline __attribute__((always_inline, unused)) void
row_sum_last(const unsigned int vectors, const float *m, float *sums, size_t row, size_t rows,
	     size_t before, size_t stride, size_t n)
{
	float last[4];

	memcpy(last, sums + rows - 4, sizeof(last));
	row_sum_group(vectors, m + row * stride, sums + row, true, m + (rows - 4) * stride, last,
		      stride, n);
	for (size_t i = before; i < 4; i++)
		sums[rows - 4 + i] = last[i];
}

/* As many groups as there are, the last one with up to four rows behind it. The row that is next. */
static inline __attribute__((always_inline, unused)) size_t
row_sum_groups(const unsigned int vectors, const float *m, float *sums, size_t row, size_t rows,
	       size_t stride, size_t n)
{
	const size_t group = vectors * ROW_LANES;

	for (; rows - row > group + 4 || rows - row == group; row += group)
		row_sum_group(vectors, m + row * stride, sums + row, false, NULL, NULL, stride, n);
	if (rows - row < group)
		return row;
	row_sum_last(vectors, m, sums, row, rows, 4 - (rows - row - group), stride, n);
	return rows;
}

/* One row to three. */
static inline __attribute__((always_inline, unused)) void
row_sum_few(const float *m, size_t stride, size_t rows, size_t n, float *sums)
{
	/* What is not there is what was before. */
	const float *second = m + (rows > 1 ? stride : 0), *third = second + (rows > 2 ? stride : 0);
	float a = sums[0], b = rows > 1 ? sums[1] : 0, c = rows > 2 ? sums[2] : 0;

	for (size_t i = 0; i < n; i++) {
		a += m[i];
		b += second[i];
		c += third[i];
	}
	sums[0] = a;
	if (rows > 1)
		sums[1] = b;
	if (rows > 2)
		sums[2] = c;
}

static inline __attribute__((always_inline, unused)) void
row_sum_rows(const float *m, size_t stride, size_t rows, size_t n, float *sums)
{
	size_t row;

	if (rows < 4) {
		if (rows)
			row_sum_few(m, stride, rows, n, sums);
		return;
	}
	row = row_sum_groups(ROW_VECTORS, m, sums, 0, rows, stride, n);
	row = row_sum_groups(1, m, sums, row, rows, stride, n);
	/* By fours; with vectors of four, it is the last ones only. */
	for (; rows - row >= 4; row += 4)
		row_sum_group(0, NULL, NULL, true, m + row * stride, sums + row, stride, n);
	if (row < rows)
		row_sum_last(0, m, sums, 0, rows, 4 - (rows - row), stride, n);
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
