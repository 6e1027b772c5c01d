// SPDX-License-Identifier: MIT
/*
 * The inner loops of kernels.h for floats with the vectors of AVX-512. A term is multiplied and
 * added with one rounding.
 */
#include "kernels_avx512.h"

#if defined(__x86_64__)

/* Rows that are multiplied together: two times KERNEL_ROWS. */
#define EACH_ROW(what) \
	what(0) what(1) what(2) what(3) what(4) what(5) \
	what(6) what(7) what(8) what(9) what(10) what(11)
#define MANY_ROWS	12u

_Static_assert(MANY_ROWS == 2 * KERNEL_ROWS, "tiles end in the middle of MANY_ROWS");

#define LOAD_WIDE(r) \
	__m512 a##r = rows > r ? _mm512_loadu_ps(acc + r * KERNEL_COLS) : _mm512_setzero_ps();
#define LOAD_HALF(r) \
	__m256 a##r = rows > r ? _mm256_loadu_ps(acc + r * KERNEL_COLS) : _mm256_setzero_ps();

#define ADD_WIDE(r) \
	if (rows > r) { \
		a##r = _mm512_fmadd_ps(_mm512_set1_ps(x[r * stride]), v, a##r); \
		AVX512_KEEP(a##r); \
	}

#define ADD_HALF(r) \
	if (rows > r) { \
		a##r = _mm256_fmadd_ps(_mm256_set1_ps(x[r * stride]), v, a##r); \
		AVX512_KEEP(a##r); \
	}

#define STORE_WIDE(r) \
	if (rows > r) \
		_mm512_storeu_ps(acc + r * KERNEL_COLS, a##r);
#define STORE_HALF(r) \
	if (rows > r) \
		_mm256_storeu_ps(acc + r * KERNEL_COLS, a##r);

/* Up to MANY_ROWS rows by two panels, or by one. Inlined with a constant number of rows. */
AVX512_INLINE void multiply_two(const unsigned int rows, const float *x, size_t stride,
				const float *w, size_t depth, size_t panel, float *acc)
{
	EACH_ROW(LOAD_WIDE)
	for (size_t i = 0; i < depth; i++, x++, w += KERNEL_PANEL) {
		__m512 v = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(w)),
					      _mm256_loadu_ps(w + panel), 1);

		EACH_ROW(ADD_WIDE)
	}
	EACH_ROW(STORE_WIDE)
}

AVX512_INLINE void multiply_one(const unsigned int rows, const float *x, size_t stride,
				const float *w, size_t depth, float *acc)
{
	EACH_ROW(LOAD_HALF)
	for (size_t i = 0; i < depth; i++, x++, w += KERNEL_PANEL) {
		__m256 v = _mm256_loadu_ps(w);

		EACH_ROW(ADD_HALF)
	}
	EACH_ROW(STORE_HALF)
}

AVX512_INLINE void multiply_some(const unsigned int rows, const unsigned int panels,
				 const float *x, size_t stride, const float *w, size_t depth,
				 size_t panel, float *acc)
{
	if (panels > 1)
		multiply_two(rows, x, stride, w, depth, panel, acc);
	else
		multiply_one(rows, x, stride, w, depth, acc);
}

#define CASE_ROWS(r) \
	case r: \
		multiply_some(r, panels, x, stride, w, depth, panel, acc); \
		break;

AVX512_INLINE void multiply_panels(unsigned int rows, const unsigned int panels, const float *x,
				   size_t stride, const float *w, size_t depth, size_t panel,
				   float *acc)
{
	for (; rows >= MANY_ROWS; rows -= MANY_ROWS) {
		multiply_some(MANY_ROWS, panels, x, stride, w, depth, panel, acc);
		x += MANY_ROWS * stride;
		acc += MANY_ROWS * KERNEL_COLS;
	}
	switch (rows) {
	EACH_ROW(CASE_ROWS)
	}
}

AVX512 void avx512_fgemm(const float *x, size_t stride, unsigned int rows, const float *w,
			 size_t depth, size_t panel, unsigned int panels, float *acc)
{
	if (panels > 1)
		multiply_panels(rows, 2, x, stride, w, depth, panel, acc);
	else
		multiply_panels(rows, 1, x, stride, w, depth, panel, acc);
}

/* If an operand is a NaN, the instructions return the second one: a NaN stays a NaN. */
AVX512_INLINE __m512 limit(__m512 v, struct frange range)
{
	v = _mm512_max_ps(_mm512_set1_ps(range.min), v);
	return _mm512_min_ps(_mm512_set1_ps(range.max), v);
}

AVX512 void avx512_finish(const float *acc, unsigned int rows, const float *bias,
			  struct frange range, unsigned int n, float *y, size_t y_stride)
{
	__mmask16 some = (__mmask16)((1u << n) - 1);
	__m512 add = _mm512_maskz_loadu_ps(some, bias);

	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		__m512 v = limit(_mm512_add_ps(_mm512_loadu_ps(acc), add), range);

		if (n == KERNEL_COLS)
			_mm512_storeu_ps(y, v);
		else
			_mm512_mask_storeu_ps(y, some, v);
	}
}

AVX512_INLINE void fdepthwise_block(const unsigned int vectors, const float *const *x,
				    const float *const *w, unsigned int taps, const float *bias,
				    struct frange range, uint32_t c, float *y)
{
	__m512 total[4];

	for (unsigned int i = 0; i < vectors; i++)
		total[i] = _mm512_setzero_ps();
	for (unsigned int t = 0; t < taps; t++) {
		for (unsigned int i = 0; i < vectors; i++) {
			__m512 v = _mm512_loadu_ps(x[t] + c + 16 * i);

			total[i] = _mm512_fmadd_ps(v, _mm512_loadu_ps(w[t] + c + 16 * i), total[i]);
		}
	}
	for (unsigned int i = 0; i < vectors; i++) {
		__m512 v = _mm512_add_ps(total[i], _mm512_loadu_ps(bias + c + 16 * i));

		_mm512_storeu_ps(y + c + 16 * i, limit(v, range));
	}
}

AVX512 void avx512_fdepthwise(const float *const *x, const float *const *w, unsigned int taps,
			      const float *bias, struct frange range, uint32_t col, uint32_t n,
			      float *y)
{
	uint32_t c = col, end = col + n;

	for (; c + 64 <= end; c += 64)
		fdepthwise_block(4, x, w, taps, bias, range, c, y);
	for (; c + 16 <= end; c += 16)
		fdepthwise_block(1, x, w, taps, bias, range, c, y);
	if (c < end)
		kernels_avx2()->fdepthwise(x, w, taps, bias, range, c, end - c, y);
}

#endif
