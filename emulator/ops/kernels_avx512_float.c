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
		a##r = _mm512_fmadd_ps(_mm512_set1_ps(AT_ROW(r)), v, a##r); \
		AVX512_KEEP(a##r); \
	}

#define ADD_HALF(r) \
	if (rows > r) { \
		a##r = _mm256_fmadd_ps(_mm256_set1_ps(AT_ROW(r)), v, a##r); \
		AVX512_KEEP(a##r); \
	}

#define STORE_WIDE(r) \
	if (rows > r) \
		_mm512_storeu_ps(acc + r * KERNEL_COLS, a##r);
#define STORE_HALF(r) \
	if (rows > r) \
		_mm256_storeu_ps(acc + r * KERNEL_COLS, a##r);

/*
 * Rows are in groups of three, with a pointer to each group. Compilers would rather have one pointer
 * and the distance of each row from it, which takes more registers than there are.
 */
#define ROW_POINTERS \
	const float *x0 = x, *x3 = x + (rows > 3 ? 3 * stride : 0); \
	const float *x6 = x + (rows > 6 ? 6 * stride : 0); \
	const float *x9 = x + (rows > 9 ? 9 * stride : 0);
#define NEXT_POSITION \
	x0++, x3++, x6++, x9++; \
	asm("" : "+r"(x0), "+r"(x3), "+r"(x6), "+r"(x9));
#define AT_ROW(r) \
	((r) < 3 ? x0 : (r) < 6 ? x3 : (r) < 9 ? x6 : x9)[(r) % 3 * stride]

/* Weights of two panels. */
AVX512_INLINE __m512 load_two(const float *w, size_t panel)
{
	return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(w)),
				  _mm256_loadu_ps(w + panel), 1);
}

/* Up to MANY_ROWS rows by two panels, or by one. Inlined with a constant number of rows. */
AVX512_INLINE void multiply_two(const unsigned int rows, const float *x, size_t stride,
				const float *w, size_t depth, size_t panel, float *acc)
{
	ROW_POINTERS
	EACH_ROW(LOAD_WIDE)
	for (size_t i = 0; i < depth; i++, w += KERNEL_PANEL) {
		__m512 v = load_two(w, panel);

		EACH_ROW(ADD_WIDE)
		NEXT_POSITION
	}
	EACH_ROW(STORE_WIDE)
}

AVX512_INLINE void multiply_one(const unsigned int rows, const float *x, size_t stride,
				const float *w, size_t depth, float *acc)
{
	ROW_POINTERS
	EACH_ROW(LOAD_HALF)
	for (size_t i = 0; i < depth; i++, w += KERNEL_PANEL) {
		__m256 v = _mm256_loadu_ps(w);

		EACH_ROW(ADD_HALF)
		NEXT_POSITION
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
	__m512 add = _mm512_castsi512_ps(avx512_load_bias(bias, some));

	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		__m512 v = limit(_mm512_add_ps(_mm512_loadu_ps(acc), add), range);

		if (n == KERNEL_COLS)
			_mm512_storeu_ps(y, v);
		else
			_mm512_mask_storeu_ps(y, some, v);
	}
}

/* fgemm() and finish() in one: sums do not go through memory. */

#define ZERO_WIDE(r)	__m512 a##r = _mm512_setzero_ps();

#define FINISH_WIDE(r) \
	if (rows > r) \
		_mm512_mask_storeu_ps(y + r * y_stride, some, \
				      limit(_mm512_add_ps(a##r, add), range));

/* If there is only one panel, @panel is 0: its weights are read twice. */
AVX512_INLINE void convolve(const unsigned int rows, const float *x, size_t stride, const float *w,
			    size_t depth, size_t panel, __m512 add, struct frange range,
			    __mmask16 some, float *y, size_t y_stride)
{
	ROW_POINTERS
	EACH_ROW(ZERO_WIDE)
	for (size_t i = 0; i < depth; i++, w += KERNEL_PANEL) {
		__m512 v = load_two(w, panel);

		EACH_ROW(ADD_WIDE)
		NEXT_POSITION
	}
	EACH_ROW(FINISH_WIDE)
}

#define CASE_CONVOLVE(r) \
	case r: \
		convolve(r, x, stride, w, depth, panel, add, range, some, y, y_stride); \
		break;

AVX512_INLINE void convolve_two(const float *x, size_t stride, unsigned int rows, const float *w,
				size_t depth, size_t panel, const float *bias, struct frange range,
				unsigned int n, float *y, size_t y_stride)
{
	__mmask16 some = (__mmask16)((1u << n) - 1);
	__m512 add = _mm512_castsi512_ps(avx512_load_bias(bias, some));

	if (n <= KERNEL_PANEL)
		panel = 0;
	for (; rows >= MANY_ROWS; rows -= MANY_ROWS) {
		convolve(MANY_ROWS, x, stride, w, depth, panel, add, range, some, y, y_stride);
		x += MANY_ROWS * stride;
		y += MANY_ROWS * y_stride;
	}
	switch (rows) {
	EACH_ROW(CASE_CONVOLVE)
	}
}

/*
 * The same for four panels. An input is read for two vectors of weights: with one, as many inputs as
 * products are read, and the loads take longer.
 */
#define EACH_WIDE_ROW(what) \
	what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)
#define WIDE_ROWS	8u

#define ZERO_PAIR(r) \
	__m512 a##r = _mm512_setzero_ps(), b##r = _mm512_setzero_ps();

#define ADD_PAIR(r) \
	if (rows > r) { \
		__m512 in##r = _mm512_set1_ps(AT_ROW(r)); \
\
		a##r = _mm512_fmadd_ps(in##r, v0, a##r); \
		b##r = _mm512_fmadd_ps(in##r, v1, b##r); \
		AVX512_KEEP(a##r); \
		AVX512_KEEP(b##r); \
	}

#define FINISH_PAIR(r) \
	if (rows > r) { \
		_mm512_storeu_ps(y + r * y_stride, limit(_mm512_add_ps(a##r, add0), range)); \
		_mm512_mask_storeu_ps(y + r * y_stride + 16, some, \
				      limit(_mm512_add_ps(b##r, add1), range)); \
	}

/* @fourth: from the third panel to the fourth. It is 0 if there are only three. */
AVX512_INLINE void convolve_wide(const unsigned int rows, const float *x, size_t stride,
				 const float *w, size_t depth, size_t panel, size_t fourth,
				 const float *bias, struct frange range, __mmask16 some, float *y,
				 size_t y_stride)
{
	__m512 add1 = _mm512_castsi512_ps(avx512_load_bias(bias + 16, some));
	__m512 add0 = _mm512_loadu_ps(bias);
	const float *behind = w + 2 * panel;

	ROW_POINTERS
	EACH_WIDE_ROW(ZERO_PAIR)
	for (size_t i = 0; i < depth; i++, w += KERNEL_PANEL, behind += KERNEL_PANEL) {
		__m512 v0 = load_two(w, panel), v1 = load_two(behind, fourth);

		EACH_WIDE_ROW(ADD_PAIR)
		NEXT_POSITION
	}
	EACH_WIDE_ROW(FINISH_PAIR)
}

#define CASE_WIDE(r) \
	case r: \
		convolve_wide(r, x, stride, w, depth, panel, fourth, bias, range, some, y, \
			      y_stride); \
		break;

/* Three panels, or four. */
AVX512_INLINE void convolve_four(const float *x, size_t stride, unsigned int rows, const float *w,
				 size_t depth, size_t panel, const float *bias, struct frange range,
				 unsigned int n, float *y, size_t y_stride)
{
	__mmask16 some = (__mmask16)((1u << (n - 16)) - 1);
	size_t fourth = n > 3 * KERNEL_PANEL ? panel : 0;

	for (; rows >= WIDE_ROWS; rows -= WIDE_ROWS) {
		convolve_wide(WIDE_ROWS, x, stride, w, depth, panel, fourth, bias, range, some, y,
			      y_stride);
		x += WIDE_ROWS * stride;
		y += WIDE_ROWS * y_stride;
	}
	switch (rows) {
	EACH_WIDE_ROW(CASE_WIDE)
	}
}

AVX512 void avx512_fconv(const float *x, size_t stride, unsigned int rows, const float *w,
			 size_t depth, size_t panel, const float *bias, struct frange range,
			 unsigned int n, float *y, size_t y_stride)
{
	if (n > KERNEL_COLS)
		convolve_four(x, stride, rows, w, depth, panel, bias, range, n, y, y_stride);
	else
		convolve_two(x, stride, rows, w, depth, panel, bias, range, n, y, y_stride);
}

AVX512 void avx512_frow(const float *x, size_t depth, const float *w, const float *bias,
			struct frange range, uint32_t n, float *y)
{
	for (uint32_t col = 0, some; col < n; col += some) {
		some = n - col < KERNEL_WIDE ? n - col : KERNEL_WIDE;
		avx512_fconv(x, depth, 1, w + col * depth, depth, depth * KERNEL_PANEL, bias + col,
			     range, some, y + col, 0);
	}
}

/* Depthwise. */

/* Pixels side by side that are computed together. */
#define MANY_PIXELS	8u
#define EACH_PIXEL(what) \
	what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)

#define ADD_PIXEL(i) \
	if (pixels > i) { \
		a##i = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(some, x + i * step), w, a##i); \
		AVX512_KEEP(a##i); \
	}

#define FINISH_PIXEL(i) \
	if (pixels > i) \
		_mm512_mask_storeu_ps(y + i * p->out_col, some, \
				      limit(_mm512_add_ps(a##i, add), range));

/*
 * Channels from @c on, as many as bits of @some are set, of pixels whose inputs are @at values behind
 * those of the first one. Weights are read once for all of them.
 */
AVX512_INLINE void fdepthwise_block(const unsigned int pixels, __mmask16 some,
				    const struct fdepthwise_pixels *p, size_t at,
				    const float *bias, struct frange range, uint32_t c, float *y)
{
	__m512 add = _mm512_castsi512_ps(avx512_load_bias(bias + c, some));
	size_t step = p->in_col;

	y += c;
	EACH_PIXEL(ZERO_WIDE)
	for (unsigned int t = 0; t < p->taps; t++) {
		__m512 w = _mm512_maskz_loadu_ps(some, p->w[t] + c);
		const float *x = p->x[t] + at + c;

		EACH_PIXEL(ADD_PIXEL)
	}
	EACH_PIXEL(FINISH_PIXEL)
}

AVX512_INLINE void fdepthwise_some(const unsigned int pixels, const struct fdepthwise_pixels *p,
				   size_t at, const float *bias, struct frange range, uint32_t col,
				   uint32_t n, float *y)
{
	uint32_t c = col, end = col + n;

	for (; c + 16 <= end; c += 16)
		fdepthwise_block(pixels, 0xffff, p, at, bias, range, c, y);
	if (c < end)
		fdepthwise_block(pixels, (__mmask16)((1u << (end - c)) - 1), p, at, bias, range, c,
				 y);
}

#define CASE_PIXELS(i) \
	case i: \
		fdepthwise_some(i, p, at, bias, range, col, n, to); \
		break;

AVX512 void avx512_fdepthwise(const struct fdepthwise_pixels *p, const float *bias,
			      struct frange range, uint32_t col, uint32_t n, float *y)
{
	for (unsigned int row = 0; row < p->rows; row++) {
		unsigned int left = p->cols;
		size_t at = row * p->in_row;
		float *to = y + row * p->out_row;

		for (; left >= MANY_PIXELS; left -= MANY_PIXELS) {
			fdepthwise_some(MANY_PIXELS, p, at, bias, range, col, n, to);
			at += MANY_PIXELS * p->in_col;
			to += MANY_PIXELS * p->out_col;
		}
		switch (left) {
		EACH_PIXEL(CASE_PIXELS)
		}
	}
}

#endif
