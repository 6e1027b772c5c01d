/* SPDX-License-Identifier: MIT */
/*
 * Inner loops along rows of elements, which compilers vectorize: row_kernels_loops.h has them in
 * portable C, and each variant of kernels.h has them compiled for its instruction set. All give
 * the same bytes.
 */
#ifndef NNPU_EMU_ROW_KERNELS_H
#define NNPU_EMU_ROW_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broadcast_run.h"

/* Sums that exps() adds to: the element at i counts for sum i % ROW_SUMS. */
#define ROW_SUMS	16u

/* Sums of a row or column of sum_rows() and sum_columns(). */
#define ROW_PARTS	4u

/* Rows of a matrix that products() multiplies at once. */
#define ROW_PRODUCTS	8u

/* Rows of weights that dot_values() multiplies by at once, at most. */
#define ROW_UNITS	4u

/* What sum_bytes(), dot_bytes() and dot_values() add at once, at most. */
#define ROW_BYTES	(1u << 15)

/* Counts that divide() divides by: a sum of so many bytes is exact in single precision. */
#define ROW_COUNT	(1 << 15)

/* Where a pixel of a row lies between two of another one: their offsets, and the weight of the second. */
struct between_columns {
	size_t left, right;
	float weight;
};

/* Pixels of an image between those of another one. Channels are adjacent. */
struct between_pixels {
	const void *top, *bottom;	/* rows */
	float weight;			/* of the bottom one */
	const struct between_columns *columns;	/* of each pixel */
	size_t pixels, channels;
	size_t next;			/* from a pixel to the next, in the output */
};

/* Arithmetic of rows; the last one is the square of the difference. */
enum row_arithmetic { ROW_ADD, ROW_SUB, ROW_MUL, ROW_DIV, ROW_SQUARE };

/* Functions of single elements. With @a and @b: x > 0 ? x : x * a, and x within [a, b]; a NaN stays one. */
enum row_function { ROW_NEG, ROW_ABS, ROW_SQRT, ROW_RSQRT, ROW_LEAKY, ROW_LIMIT };

/* The sum of those of exps(), which are overwritten: pairs half of them apart are added, as long as there are two. */
static inline float row_total(float *sums)
{
	for (unsigned int half = ROW_SUMS / 2; half; half /= 2) {
		for (unsigned int i = 0; i < half; i++)
			sums[i] += sums[i + half];
	}
	return sums[0];
}

/* The total of the ROW_PARTS sums of a row or column, which are @apart in memory: see sum_columns(). */
static inline float row_total_of_parts(const float *parts, size_t apart)
{
	return (parts[0] + parts[apart]) + (parts[2 * apart] + parts[3 * apart]);
}

/* No @y or @acc overlaps what is read, but for the same address. */
struct row_kernels {
	/* The largest of @max and x[]. A NaN is never larger. */
	float (*largest)(const float *x, size_t n, float max);

	/*
	 * y[i] = e^((x[i] - max) * beta), and sums[i % ROW_SUMS] += y[i]. No x[i] is above @max, which is
	 * a number, and @beta is positive. What is smaller than normal numbers is 0. @n is a
	 * multiple of ROW_SUMS in all calls of a row but the last.
	 */
	void (*exps)(const float *x, size_t n, float max, float beta, float *y, float *sums);

	/*
	 * y[i] = a[i] + b[i] and so on, of floats, limited to [min, max]; a NaN stays one. The output
	 * overlaps no input.
	 */
	void (*arithmetic)(enum row_arithmetic what, const struct broadcast_run *run, float min,
			   float max);

	/* y[i] = a function of x[i] */
	void (*function)(enum row_function what, const float *x, size_t n, float a, float b, float *y);

	/* y[i] = half_to_float(x[i]) of float16.h */
	void (*widen_halves)(const uint16_t *x, size_t n, float *y);

	/* y[i] /= by */
	void (*fdivide)(float *y, size_t n, float by);

	/*
	 * SOFTMAX of @rows rows of @n elements, one behind the other: largest() of a row from -FLT_MAX on,
	 * exps(), and fdivide() by row_total(). @y overlaps nothing.
	 */
	void (*softmax)(const float *x, size_t rows, size_t n, float beta, float *y);

	/* y[i] = 1 / (1 + e^-x[i]); and tanh(x[i]) */
	void (*logistic)(const float *x, size_t n, float *y);
	void (*tanh)(const float *x, size_t n, float *y);

	/*
	 * sums[r] += m[r * stride + j] * x[j] for each of ROW_PRODUCTS rows, in the order of j.
	 */
	void (*products)(const float *m, size_t stride, const float *x, size_t n, float *sums);

	/*
	 * Of a matrix of @rows of @n elements, which are @stride apart: acc[j] += m[r * stride + j] in the
	 * order of r.
	 */
	void (*add_rows)(const float *m, size_t stride, size_t rows, size_t n, float *acc);

	/*
	 * The same in ROW_PARTS sums for each row or column, so that an addition need not wait for the one
	 * before. The first element of each is added to sum @first < ROW_PARTS:
	 *	parts[r * ROW_PARTS + (first + j) % ROW_PARTS] += m[r * stride + j]
	 *	parts[(first + r) % ROW_PARTS * apart + j] += m[r * stride + j]
	 */
	void (*sum_rows)(const float *m, size_t stride, size_t rows, size_t n, size_t first,
			 float *parts);
	void (*sum_columns)(const float *m, size_t stride, size_t rows, size_t n, size_t first,
			    float *parts, size_t apart);

	/* Sum of w[i] * (x[i] - zero); @n is at most ROW_BYTES, @zero a value of a byte. */
	int32_t (*dot_bytes)(const int8_t *w, const int8_t *x, size_t n, int32_t zero);

	/*
	 * sums[r] = the sum of ((x[i] ^ x_flip) - zero) * the signed byte w[r][i] ^ flip, for each of 1 to
	 * ROW_UNITS rows; @zero is in [0, 255], @n at most ROW_BYTES, @flip 0 or 0x80.
	 */
	void (*dot_values)(unsigned int rows, const uint8_t *x, uint8_t x_flip, int16_t zero,
			   const uint8_t *const *w, uint8_t flip, size_t n, int32_t *sums);

	/* acc[i] = the larger one of acc[i] and x[i]; acc[i] += x[i]^2 */
	void (*fmax)(const float *x, size_t n, float *acc);
	void (*fadd_squares)(const float *x, size_t n, float *acc);

	/*
	 * The same for bytes x[i] ^ flip, unsigned; and acc[i] += the value of x[i], which is
	 * (x[i] ^ flip) - flip.
	 */
	void (*max_bytes)(const uint8_t *x, size_t n, uint8_t flip, uint8_t *acc);
	void (*add_bytes)(const uint8_t *x, size_t n, uint8_t flip, int32_t *acc);

	/* Sum of the values of @n bytes, at most ROW_BYTES. */
	int32_t (*sum_bytes)(const uint8_t *x, size_t n, uint8_t flip);

	/*
	 * acc[i] / count, halves away from zero. @count is at most ROW_COUNT, acc[i] a sum of as
	 * many bytes.
	 */
	void (*divide)(int32_t *acc, size_t n, int32_t count);

	/*
	 * mult[i] and shift[i] = qfactor_from(in * scale[i] / out), which is finite and positive; the
	 * shift of a factor of 0 is -1. Are all shifts to the right, by 1 at least?
	 */
	bool (*factors)(const float *scale, size_t n, double in, double out, int32_t *mult,
			int32_t *shift);

	/*
	 * What lies between the four corners of each pixel; bytes are rounded, with values as in
	 * add_bytes().
	 */
	void (*fbetween)(const struct between_pixels *p, float *y);
	void (*between)(const struct between_pixels *p, uint8_t flip, uint8_t *y);
};

/* For the baseline of this architecture, AVX2 and AVX-512. The latter two: x86-64 only. */
extern const struct row_kernels row_kernels_baseline;
extern const struct row_kernels row_kernels_avx2;
extern const struct row_kernels row_kernels_avx512;

#endif /* NNPU_EMU_ROW_KERNELS_H */
