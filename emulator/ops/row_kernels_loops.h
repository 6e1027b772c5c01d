/* SPDX-License-Identifier: MIT */
/*
 * The loops of row_kernels.h. A source file of a variant defines ROW_WIDTH, the floats of a vector,
 * includes this and then writes ROW_KERNELS(), which makes its table of them; compilers inline the
 * loops there, and vectorize them for the instruction set of the variant. It may have functions of its own:
 * ROW_DOT_SOME(), and ROW_REST() with ROW_STORE_REST(). ROW_TARGET is its target attribute then.
 *
 * Every variant does the same steps with each element, and sums in the same order. No step is
 * contracted with another one. So all of them give the same bytes.
 */
#ifndef NNPU_EMU_ROW_KERNELS_LOOPS_H
#define NNPU_EMU_ROW_KERNELS_LOOPS_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "float_quads.h"
#include "qfactor.h"
#include "row_kernels.h"
#include "row_sums.h"

#ifndef ROW_TARGET
#define ROW_TARGET
#endif
#define ROW_INLINE	static inline __attribute__((always_inline, unused)) ROW_TARGET
/* A function apart, so that a caller which does not need its room on the stack does not make it. */
#define ROW_APART	static __attribute__((noinline))

/* Of the elements of a vector; ROW_INLINE is for them, too. */
#include "row_functions.h"

/* Loops. */

typedef int32_t row_mask __attribute__((vector_size(4 * sizeof(int32_t)), aligned(4)));

/*
 * Of a loop whose output may be its input: no step reads what another one writes. Compilers
 * would check it, and not vectorize the loop if both are the same.
 */
#if defined(__clang__)
#define ROW_NO_OVERLAP	_Pragma("clang loop vectorize(assume_safety)")
#else
#define ROW_NO_OVERLAP	_Pragma("GCC ivdep")
#endif

#ifndef ROW_REST
/* The elements of a row that fill no vector, as the first ones of one, with @fill behind them. */
ROW_INLINE void row_rest(const float *x, size_t n, float fill, row_vector *v)
{
	float values[ROW_WIDTH];

	for (unsigned int j = 0; j < ROW_WIDTH; j++)
		values[j] = fill;
	for (size_t j = 0; j < n % ROW_WIDTH; j++)
		values[j] = x[n / ROW_WIDTH * ROW_WIDTH + j];
	memcpy(v, values, sizeof(*v));
}

ROW_INLINE void row_store_rest(const row_vector *v, size_t n, float *y)
{
	float values[ROW_WIDTH];

	memcpy(values, v, sizeof(values));
	for (size_t j = 0; j < n % ROW_WIDTH; j++)
		y[n / ROW_WIDTH * ROW_WIDTH + j] = values[j];
}
#define ROW_REST	row_rest
#define ROW_STORE_REST	row_store_rest
#endif

/* y[i] = @function of x[i]; both may be the same row. */
#define ROW_MAP(x, n, y, function) do { \
	row_vector v; \
	\
	for (size_t j = 0; j + ROW_WIDTH <= (n); j += ROW_WIDTH) { \
		v = *(const row_vector *)((x) + j); \
		function(&v); \
		*(row_vector *)((y) + j) = v; \
	} \
	if ((n) % ROW_WIDTH) { \
		ROW_REST(x, n, 0.0f, &v); \
		function(&v); \
		ROW_STORE_REST(&v, n, y); \
	} \
} while (0)

/* Four lanes of a vector: compilers keep vectors in registers, and arrays of numbers in memory. */
#define ROW_QUADS	(ROW_SUMS / 4)

/* Of each two elements the larger one: @b if one is a NaN. */
ROW_INLINE float_quad row_larger(float_quad a, float_quad b)
{
	row_mask larger = a > b;

	return (float_quad)(((row_mask)a & larger) | ((row_mask)b & ~larger));
}

ROW_INLINE float row_largest(const float *restrict x, size_t n, float max)
{
	float_quad start = { max, max, max, max }, lanes[ROW_QUADS];
	size_t i = 0;

	for (unsigned int j = 0; j < ROW_QUADS; j++)
		lanes[j] = start;
	for (; i + ROW_SUMS <= n; i += ROW_SUMS) {
		for (unsigned int j = 0; j < ROW_QUADS; j++) {
			float_quad v = *(const float_quad *)(x + i + 4 * j);

			lanes[j] = row_larger(v, lanes[j]);
		}
	}
	for (; i + 4 <= n; i += 4)
		lanes[0] = row_larger(*(const float_quad *)(x + i), lanes[0]);
	for (unsigned int half = ROW_QUADS / 2; half; half /= 2) {
		for (unsigned int j = 0; j < half; j++)
			lanes[j] = row_larger(lanes[j + half], lanes[j]);
	}
	for (; i < n; i++)
		max = x[i] > max ? x[i] : max;
	for (unsigned int j = 0; j < 4; j++)
		max = lanes[0][j] > max ? lanes[0][j] : max;
	return max;
}

/* It uses what is defined above. */
#include "row_softmax.h"

/*
 * half_to_float(), without conditions, and with numbers of 32 bits all along. What is infinite or a
 * NaN has all bits of the exponent, and no product changes those of its fraction.
 */
ROW_INLINE void row_widen_halves(const uint16_t *restrict x, size_t n, float *restrict y)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t h = x[i], bits = h << 13 & 0x7fffu << 13;
		uint32_t no_number = (int32_t)bits > 0x7bff << 13 ? 0x7f800000u : 0;
		float v;

		memcpy(&v, &bits, sizeof(v));
		v *= 0x1p112f;
		memcpy(&bits, &v, sizeof(bits));
		bits |= no_number | (h << 16 & 0x80000000u);
		memcpy(&y[i], &bits, sizeof(bits));
	}
}

ROW_INLINE void row_fdivide(float *restrict y, size_t n, float by)
{
	for (size_t i = 0; i < n; i++)
		y[i] /= by;
}

ROW_INLINE void row_logistics(const float *x, size_t n, float *y)
{
	ROW_MAP(x, n, y, row_logistic);
}

ROW_INLINE void row_tanhs(const float *x, size_t n, float *y)
{
	ROW_MAP(x, n, y, row_tanh);
}

ROW_INLINE void row_products(const float *m, size_t stride, const float *x, size_t n, float *sums)
{
	float_quad low = *(const float_quad *)sums, high = *(const float_quad *)(sums + 4);
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		float_quad a[4], b[4];

		float_quad_columns(m + i, stride, a);
		float_quad_columns(m + 4 * stride + i, stride, b);
		for (unsigned int j = 0; j < 4; j++) {
			low += a[j] * x[i + j];
			high += b[j] * x[i + j];
		}
	}
	*(float_quad *)sums = low;
	*(float_quad *)(sums + 4) = high;
	for (; i < n; i++) {
		for (unsigned int r = 0; r < ROW_PRODUCTS; r++)
			sums[r] += m[r * stride + i] * x[i];
	}
}

ROW_INLINE int32_t row_dot_bytes(const int8_t *restrict w, const int8_t *restrict x, size_t n,
				 int32_t zero)
{
	int16_t bias = (int16_t)zero;
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		int16_t a = w[i], b = (int16_t)(x[i] - bias);

		sum += a * b;
	}
	return sum;
}

#ifndef ROW_DOT_SOME
/*
 * The number of rows is known where this is called. They have names: compilers do not vectorize sums
 * in an array.
 */
ROW_INLINE void row_dot_some(const unsigned int rows, const uint8_t *restrict x, uint8_t x_flip,
			     int16_t zero, const uint8_t *const *w, const uint8_t flip, size_t n,
			     int32_t *restrict sums)
{
	const uint8_t *restrict w0 = w[0], *restrict w1 = w[rows > 1 ? 1 : 0];
	const uint8_t *restrict w2 = w[rows > 2 ? 2 : 0], *restrict w3 = w[rows > 3 ? 3 : 0];
	int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

	for (size_t i = 0; i < n; i++) {
		int16_t a = (int16_t)((x[i] ^ x_flip) - zero);
		int16_t b0 = (int8_t)(w0[i] ^ flip), b1 = (int8_t)(w1[i] ^ flip);
		int16_t b2 = (int8_t)(w2[i] ^ flip), b3 = (int8_t)(w3[i] ^ flip);

		s0 += a * b0;
		s1 += rows > 1 ? a * b1 : 0;
		s2 += rows > 2 ? a * b2 : 0;
		s3 += rows > 3 ? a * b3 : 0;
	}
	sums[0] = s0;
	if (rows > 1)
		sums[1] = s1;
	if (rows > 2)
		sums[2] = s2;
	if (rows > 3)
		sums[3] = s3;
}
#define ROW_DOT_SOME	row_dot_some
#endif

ROW_INLINE void row_dot_rows(unsigned int rows, const uint8_t *x, uint8_t x_flip, int16_t zero,
			     const uint8_t *const *w, const uint8_t flip, size_t n, int32_t *sums)
{
	switch (rows) {
	case 1:
		ROW_DOT_SOME(1, x, x_flip, zero, w, flip, n, sums);
		break;
	case 2:
		ROW_DOT_SOME(2, x, x_flip, zero, w, flip, n, sums);
		break;
	case 3:
		ROW_DOT_SOME(3, x, x_flip, zero, w, flip, n, sums);
		break;
	default:
		ROW_DOT_SOME(4, x, x_flip, zero, w, flip, n, sums);
	}
}

ROW_INLINE void row_dot_values(unsigned int rows, const uint8_t *x, uint8_t x_flip, int16_t zero,
			       const uint8_t *const *w, uint8_t flip, size_t n, int32_t *sums)
{
	if (flip)
		row_dot_rows(rows, x, x_flip, zero, w, 0x80, n, sums);
	else
		row_dot_rows(rows, x, x_flip, zero, w, 0, n, sums);
}

ROW_INLINE void row_fmax(const float *restrict x, size_t n, float *restrict acc)
{
	for (size_t i = 0; i < n; i++)
		acc[i] = x[i] > acc[i] ? x[i] : acc[i];
}

ROW_INLINE void row_fadd_squares(const float *restrict x, size_t n, float *restrict acc)
{
	for (size_t i = 0; i < n; i++)
		acc[i] += x[i] * x[i];
}

ROW_INLINE void row_max_bytes(const uint8_t *restrict x, size_t n, uint8_t flip,
			      uint8_t *restrict acc)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t v = x[i] ^ flip;

		acc[i] = v > acc[i] ? v : acc[i];
	}
}

ROW_INLINE void row_add_bytes(const uint8_t *restrict x, size_t n, uint8_t flip,
			      int32_t *restrict acc)
{
	for (size_t i = 0; i < n; i++)
		acc[i] += (x[i] ^ flip) - flip;
}

ROW_INLINE int32_t row_sum_bytes(const uint8_t *x, size_t n, uint8_t flip)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] ^ flip;
	return (int32_t)sum - (int32_t)n * flip;
}

/* Sums are below 2^24. No quotient but a whole number rounds to a whole one. */
ROW_INLINE void row_divide(int32_t *restrict acc, size_t n, int32_t count)
{
	int32_t half = count / 2;
	float by = (float)count;

	for (size_t i = 0; i < n; i++)
		acc[i] = (int32_t)((float)(acc[i] > 0 ? acc[i] + half : acc[i] - half) / by);
}

/* Arithmetic. */

ROW_INLINE float row_limited(float v, float min, float max)
{
	v = v < min ? min : v;
	return v > max ? max : v;
}

ROW_INLINE float row_result(const enum row_arithmetic what, float a, float b)
{
	switch (what) {
	case ROW_ADD:
		return a + b;
	case ROW_SUB:
		return a - b;
	case ROW_MUL:
		return a * b;
	case ROW_SQUARE:
		return (a - b) * (a - b);
	case ROW_DIV:
		break;
	}
	return a / b;
}

/* Whether a term is one value is known where this is called, so that it is a loop without conditions. */
ROW_INLINE void row_results(const enum row_arithmetic what, const struct broadcast_run *run,
			    const bool one_a, const bool one_b, float min, float max)
{
	/* It may lie where outputs do, for all that compilers know. */
	const struct broadcast_run r = *run;

	for (size_t row = 0; row < r.rows; row++) {
		const float *restrict a = (const float *)r.a + row * r.next_a;
		const float *restrict b = (const float *)r.b + row * r.next_b;
		float *restrict to = (float *)r.out + row * r.n;

		for (size_t i = 0; i < r.n; i++)
			to[i] = row_limited(row_result(what, a[one_a ? 0 : i], b[one_b ? 0 : i]),
					    min, max);
	}
}

ROW_INLINE void row_results_of(const enum row_arithmetic what, const struct broadcast_run *run, float min,
			       float max)
{
	if (!run->sa)
		row_results(what, run, true, false, min, max);
	else if (!run->sb)
		row_results(what, run, false, true, min, max);
	else
		row_results(what, run, false, false, min, max);
}

/* A loop for each. */
ROW_INLINE void row_arithmetics(enum row_arithmetic what, const struct broadcast_run *run, float min,
				float max)
{
	switch (what) {
	case ROW_ADD:
		row_results_of(ROW_ADD, run, min, max);
		break;
	case ROW_SUB:
		row_results_of(ROW_SUB, run, min, max);
		break;
	case ROW_MUL:
		row_results_of(ROW_MUL, run, min, max);
		break;
	case ROW_DIV:
		row_results_of(ROW_DIV, run, min, max);
		break;
	case ROW_SQUARE:
		row_results_of(ROW_SQUARE, run, min, max);
		break;
	}
}

/* Rows of fewer elements are not worth a loop each: they are put together. */
#define ROW_SHORT	16u
#define ROW_TOGETHER	256u

/* What @count rows from @row on take of a term: as it is, or one behind the other in @to. */
ROW_INLINE const float *row_together(const float *x, bool one, size_t next, size_t row,
				     size_t count, size_t n, float *to)
{
	if (!one && next == n)
		return x + row * n;
	/* Is it there already? */
	if (!next && row)
		return to;
	for (size_t r = 0; r < count; r++) {
		for (size_t i = 0; i < n; i++)
			to[r * n + i] = x[(row + r) * next + (one ? 0 : i)];
	}
	return to;
}

typedef void row_arithmetic_fn(enum row_arithmetic what, const struct broadcast_run *run, float min,
			       float max);

ROW_INLINE void row_arithmetics_short(enum row_arithmetic what, const struct broadcast_run *run, float min,
				      float max, row_arithmetic_fn *compute)
{
	size_t n = run->n, count = ROW_TOGETHER / n;
	float a[ROW_TOGETHER], b[ROW_TOGETHER];

	for (size_t row = 0; row < run->rows; row += count) {
		struct broadcast_run part = { .sa = 1, .sb = 1, .rows = 1 };

		count = count < run->rows - row ? count : run->rows - row;
		part.n = count * n;
		part.a = row_together(run->a, !run->sa, run->next_a, row, count, n, a);
		part.b = row_together(run->b, !run->sb, run->next_b, row, count, n, b);
		part.out = (float *)run->out + row * n;
		compute(what, &part, min, max);
	}
}

/* One row: known here, so that nothing is set up for the next one. */
ROW_INLINE void row_arithmetics_one(enum row_arithmetic what, const struct broadcast_run *run, float min,
				    float max)
{
	struct broadcast_run one = *run;

	one.rows = 1;
	row_arithmetics(what, &one, min, max);
}

/* Functions of single elements. */

ROW_INLINE float row_value(const enum row_function what, float x, float a, float b)
{
	switch (what) {
	case ROW_NEG:
		return -x;
	case ROW_ABS:
		return __builtin_fabsf(x);
	case ROW_SQRT:
		return __builtin_sqrtf(x);
	case ROW_RSQRT:
		return 1.0f / __builtin_sqrtf(x);
	case ROW_LEAKY:
		return x > 0 ? x : x * a;
	case ROW_LIMIT:
		break;
	}
	return row_limited(x, a, b);
}

ROW_INLINE void row_values(const enum row_function what, const float *x, size_t n, float a, float b,
			   float *y)
{
	ROW_NO_OVERLAP
	for (size_t i = 0; i < n; i++)
		y[i] = row_value(what, x[i], a, b);
}

/* A loop for each. */
ROW_INLINE void row_functions(enum row_function what, const float *x, size_t n, float a, float b,
			      float *y)
{
	switch (what) {
	case ROW_NEG:
		row_values(ROW_NEG, x, n, a, b, y);
		break;
	case ROW_ABS:
		row_values(ROW_ABS, x, n, a, b, y);
		break;
	case ROW_SQRT:
		row_values(ROW_SQRT, x, n, a, b, y);
		break;
	case ROW_RSQRT:
		row_values(ROW_RSQRT, x, n, a, b, y);
		break;
	case ROW_LEAKY:
		row_values(ROW_LEAKY, x, n, a, b, y);
		break;
	case ROW_LIMIT:
		row_values(ROW_LIMIT, x, n, a, b, y);
		break;
	}
}

/* It uses what is defined above. */
#include "row_between.h"

ROW_INLINE bool row_factors(const float *restrict scale, size_t n, double in, double out,
			    int32_t *restrict mult, int32_t *restrict shift)
{
	int32_t most = INT32_MIN;

	for (size_t i = 0; i < n; i++) {
		struct qfactor f = qfactor_of_positive(in * (double)scale[i] / out);

		mult[i] = f.mult;
		shift[i] = f.mult ? f.shift : -1;
		most = shift[i] > most ? shift[i] : most;
	}
	return most < 0;
}

/*
 * The table row_kernels_@variant; its functions have the attribute @target.
 */
#define ROW_KERNELS(variant, target) \
	target static float largest(const float *x, size_t n, float max) \
	{ return row_largest(x, n, max); } \
	target static void exps(const float *x, size_t n, float max, float beta, float *y, \
				float *sums) \
	{ row_exps(x, n, max, beta, y, sums); } \
	target static void long_rows(enum row_arithmetic what, const struct broadcast_run *run, \
				     float min, float max) \
	{ row_arithmetics(what, run, min, max); } \
	target ROW_APART void many_rows(enum row_arithmetic what, const struct broadcast_run *run, \
					float min, float max) \
	{ \
		if (run->n < ROW_SHORT && run->n) \
			row_arithmetics_short(what, run, min, max, long_rows); \
		else \
			long_rows(what, run, min, max); \
	} \
	target static void arithmetic(enum row_arithmetic what, const struct broadcast_run *run, \
				      float min, float max) \
	{ \
		if (run->rows == 1) \
			row_arithmetics_one(what, run, min, max); \
		else \
			many_rows(what, run, min, max); \
	} \
	target static void function(enum row_function what, const float *x, size_t n, float a, \
				    float b, float *y) \
	{ row_functions(what, x, n, a, b, y); } \
	target static void widen_halves(const uint16_t *x, size_t n, float *y) \
	{ row_widen_halves(x, n, y); } \
	target static void fdivide(float *y, size_t n, float by) \
	{ row_fdivide(y, n, by); } \
	target static void softmax(const float *x, size_t rows, size_t n, float beta, float *y) \
	{ row_softmax(x, rows, n, beta, y); } \
	target static void logistic(const float *x, size_t n, float *y) \
	{ row_logistics(x, n, y); } \
	target static void tanh_row(const float *x, size_t n, float *y) \
	{ row_tanhs(x, n, y); } \
	target static void products(const float *m, size_t stride, const float *x, size_t n, \
				    float *sums) \
	{ row_products(m, stride, x, n, sums); } \
	target static int32_t dot_bytes(const int8_t *w, const int8_t *x, size_t n, int32_t zero) \
	{ return row_dot_bytes(w, x, n, zero); } \
	target static void dot_values(unsigned int rows, const uint8_t *x, uint8_t x_flip, \
				      int16_t zero, const uint8_t *const *w, uint8_t flip, \
				      size_t n, int32_t *sums) \
	{ row_dot_values(rows, x, x_flip, zero, w, flip, n, sums); } \
	target static void fmax_row(const float *x, size_t n, float *acc) \
	{ row_fmax(x, n, acc); } \
	target static void sum_rows(const float *m, size_t stride, size_t rows, size_t n, \
				    size_t first, float *parts) \
	{ row_sum_rows(m, stride, rows, n, first, parts); } \
	target static void sum_columns(const float *m, size_t stride, size_t rows, size_t n, \
				       size_t first, float *parts, size_t apart) \
	{ row_sum_columns(m, stride, rows, n, first, parts, apart); } \
	target static void add_rows(const float *m, size_t stride, size_t rows, size_t n, \
				    float *acc) \
	{ row_add_rows(m, stride, rows, n, acc); } \
	target static void fadd_squares(const float *x, size_t n, float *acc) \
	{ row_fadd_squares(x, n, acc); } \
	target static void max_bytes(const uint8_t *x, size_t n, uint8_t flip, uint8_t *acc) \
	{ row_max_bytes(x, n, flip, acc); } \
	target static void add_bytes(const uint8_t *x, size_t n, uint8_t flip, int32_t *acc) \
	{ row_add_bytes(x, n, flip, acc); } \
	target static int32_t sum_bytes(const uint8_t *x, size_t n, uint8_t flip) \
	{ return row_sum_bytes(x, n, flip); } \
	target static void divide(int32_t *acc, size_t n, int32_t count) \
	{ row_divide(acc, n, count); } \
	target static void fbetween(const struct between_pixels *p, float *y) \
	{ row_fbetweens(p, y); } \
	target static void between(const struct between_pixels *p, uint8_t flip, uint8_t *y) \
	{ row_betweens(p, flip, y); } \
	\
	target static bool factors(const float *scale, size_t n, double in, double out, \
				   int32_t *mult, int32_t *shift) \
	{ return row_factors(scale, n, in, out, mult, shift); } \
	\
	const struct row_kernels row_kernels_##variant = { \
		.largest = largest, \
		.exps = exps, \
		.arithmetic = arithmetic, \
		.function = function, \
		.widen_halves = widen_halves, \
		.fdivide = fdivide, \
		.softmax = softmax, \
		.logistic = logistic, \
		.tanh = tanh_row, \
		.products = products, \
		.dot_bytes = dot_bytes, \
		.dot_values = dot_values, \
		.fmax = fmax_row, \
		.fadd_squares = fadd_squares, \
		.sum_rows = sum_rows, \
		.sum_columns = sum_columns, \
		.add_rows = add_rows, \
		.max_bytes = max_bytes, \
		.add_bytes = add_bytes, \
		.sum_bytes = sum_bytes, \
		.divide = divide, \
		.fbetween = fbetween, \
		.between = between, \
		.factors = factors, \
	}

#endif /* NNPU_EMU_ROW_KERNELS_LOOPS_H */
