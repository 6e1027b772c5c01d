/* SPDX-License-Identifier: MIT */
/*
 * The inner loops of kernels.h that add products, with the vectors of AVX-512. A file that
 * includes this defines before
 *
 *	DOT		attributes of functions: the instruction sets they may use,
 *	dot_512(), dot_256()
 *			sum + products of pairs of 16 bits, added, for each number of 32 bits,
 *
 * and makes its variant of multiply_all(), multiply_row() and depthwise_all().
 */
#ifndef NNPU_EMU_KERNELS_AVX512_DOT_H
#define NNPU_EMU_KERNELS_AVX512_DOT_H

#include "kernels_avx512.h"

#include <string.h>

#define DOT_INLINE	DOT __attribute__((always_inline)) static inline

DOT_INLINE int32_t load_pair(const int16_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The weights of a pair of positions for both panels, widened. */
DOT_INLINE __m512i load_panels(const int8_t *w, const int8_t *second)
{
	__m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)w));

	v = _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)second), 1);
	return _mm512_cvtepi8_epi16(v);
}

/* Rows that are multiplied together: two times KERNEL_ROWS. */
#define EACH_ROW(what) \
	what(0) what(1) what(2) what(3) what(4) what(5) \
	what(6) what(7) what(8) what(9) what(10) what(11)
#define MANY_ROWS	12u

_Static_assert(MANY_ROWS == 2 * KERNEL_ROWS, "tiles end in the middle of MANY_ROWS");

#define CLEAR_WIDE(r)	__m512i a##r = _mm512_setzero_si512();
#define CLEAR_HALF(r)	__m256i a##r = _mm256_setzero_si256();

#define ADD_WIDE(r) \
	if (rows > r) { \
		a##r = dot_512(a##r, _mm512_set1_epi32(load_pair(x + r * stride)), v); \
		AVX512_KEEP(a##r); \
	}

#define ADD_HALF(r) \
	if (rows > r) { \
		a##r = dot_256(a##r, _mm256_set1_epi32(load_pair(x + r * stride)), v); \
		AVX512_KEEP(a##r); \
	}

#define STORE_WIDE(r) \
	if (rows > r) { \
		int32_t *to = acc + r * KERNEL_COLS; \
		__m512i base = bias ? _mm512_add_epi32(wide, _mm512_set1_epi32(add[r])) : \
				      _mm512_loadu_si512(to); \
		\
		_mm512_storeu_si512(to, _mm512_add_epi32(base, a##r)); \
	}

#define STORE_HALF(r) \
	if (rows > r) { \
		__m256i *to = (__m256i *)(acc + r * KERNEL_COLS); \
		__m256i base = bias ? _mm256_add_epi32(half, _mm256_set1_epi32(add[r])) : \
				      _mm256_loadu_si256(to); \
		\
		_mm256_storeu_si256(to, _mm256_add_epi32(base, a##r)); \
	}

/* Up to MANY_ROWS rows by two panels, or by one. Inlined with a constant number of rows. */
DOT_INLINE void multiply_two(const unsigned int rows, const int16_t *x, size_t stride,
			     const int8_t *w, size_t pairs, const int32_t *bias,
			     const int32_t *add, int32_t *acc)
{
	__m512i wide = bias ? _mm512_loadu_si512(bias) : _mm512_setzero_si512();
	const int8_t *second = w + pairs * 2 * KERNEL_PANEL;

	EACH_ROW(CLEAR_WIDE)
	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL, second += 2 * KERNEL_PANEL) {
		__m512i v = load_panels(w, second);

		EACH_ROW(ADD_WIDE)
	}
	EACH_ROW(STORE_WIDE)
}

DOT_INLINE void multiply_one(const unsigned int rows, const int16_t *x, size_t stride,
			     const int8_t *w, size_t pairs, const int32_t *bias,
			     const int32_t *add, int32_t *acc)
{
	__m256i half = bias ? _mm256_loadu_si256((const __m256i *)bias) : _mm256_setzero_si256();

	EACH_ROW(CLEAR_HALF)
	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL) {
		__m256i v = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w));

		EACH_ROW(ADD_HALF)
	}
	EACH_ROW(STORE_HALF)
}

DOT_INLINE void multiply_some(const unsigned int rows, const unsigned int panels,
			      const int16_t *x, size_t stride, const int8_t *w, size_t pairs,
			      const int32_t *bias, const int32_t *add, int32_t *acc)
{
	if (panels > 1)
		multiply_two(rows, x, stride, w, pairs, bias, add, acc);
	else
		multiply_one(rows, x, stride, w, pairs, bias, add, acc);
}

#define CASE_ROWS(r) \
	case r: \
		multiply_some(r, panels, x, stride, w, pairs, bias, add, acc); \
		break;

DOT_INLINE void multiply_panels(unsigned int rows, const unsigned int panels, const int16_t *x,
				size_t stride, const int8_t *w, size_t pairs, const int32_t *bias,
				const int32_t *add, int32_t *acc)
{
	for (; rows >= MANY_ROWS; rows -= MANY_ROWS) {
		multiply_some(MANY_ROWS, panels, x, stride, w, pairs, bias, add, acc);
		x += MANY_ROWS * stride;
		add += bias ? MANY_ROWS : 0;
		acc += MANY_ROWS * KERNEL_COLS;
	}
	switch (rows) {
	EACH_ROW(CASE_ROWS)
	}
}

/* qgemm() */
DOT_INLINE void multiply_all(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
			     size_t pairs, unsigned int panels, const int32_t *bias,
			     const int32_t *add, int32_t *acc)
{
	if (panels > 1)
		multiply_panels(rows, 2, x, stride, w, pairs, bias, add, acc);
	else
		multiply_panels(rows, 1, x, stride, w, pairs, bias, add, acc);
}

/* A single row. */

#define EACH_PANEL(what)	what(0) what(1) what(2) what(3)
#define MANY_PANELS		4u

/* What qrow() has, with limits and factors in registers. */
struct row {
	const int16_t *x;
	size_t pairs;
	__m512i add;
	const struct requant *q;
	struct avx512_limits limits;
	struct avx512_factors shared;
};

/* Sixteen channels, or as many of them as are left: the sums of two panels become bytes. */
DOT_INLINE void finish_row(const struct row *r, __m256i a, __m256i b, const int32_t *bias,
			   uint32_t col, uint32_t n, uint8_t *y)
{
	__mmask16 some = n < KERNEL_COLS ? (__mmask16)((1u << n) - 1) : 0xffff;
	struct avx512_factors f = r->q->per_channel ? avx512_factors_of(r->q, col) : r->shared;
	__m512i total = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);

	total = _mm512_add_epi32(total, _mm512_add_epi32(r->add,
							 avx512_load_bias(bias, some)));
	_mm_mask_storeu_epi8(y + col, some, avx512_to_bytes(avx512_scale(total, &f), &r->limits));
}

#define CLEAR_PANEL(p)	__m256i a##p = _mm256_setzero_si256();

#define ADD_PANEL(p) \
	if (panels > p) { \
		__m128i narrow = _mm_loadu_si128((const __m128i *)(w + p * panel)); \
		\
		a##p = dot_256(a##p, v, _mm256_cvtepi8_epi16(narrow)); \
		AVX512_KEEP(a##p); \
	}

/*
 * Some panels. Inlined with a constant number of them. Half a vector has the weights of a pair for
 * one panel. More would need two pairs of the row side by side, which costs what it gains.
 */
DOT_INLINE void multiply_row_panels(const unsigned int panels, const struct row *r, const int8_t *w,
				    const int32_t *bias, uint32_t col, uint32_t n, uint8_t *y)
{
	size_t panel = r->pairs * 2 * KERNEL_PANEL;

	EACH_PANEL(CLEAR_PANEL)
#pragma GCC unroll 4
	for (size_t i = 0; i < r->pairs; i++, w += 2 * KERNEL_PANEL) {
		__m256i v = _mm256_set1_epi32(load_pair(r->x + 2 * i));

		EACH_PANEL(ADD_PANEL)
	}
	finish_row(r, a0, a1, bias, col, n, y);
	if (panels > 2)
		finish_row(r, a2, a3, bias + KERNEL_COLS, col + KERNEL_COLS, n - KERNEL_COLS, y);
}

/* qrow() */
DOT_INLINE void multiply_row(const int16_t *x, const int8_t *w, size_t pairs, const int32_t *bias,
			     int32_t add, const struct requant *q, uint32_t col, uint32_t n,
			     uint8_t *y)
{
	struct row r = {
		.x = x,
		.pairs = pairs,
		.add = _mm512_set1_epi32(add),
		.q = q,
		.limits = avx512_limits_of(q->zero_point, q->range),
		.shared = avx512_factors_of(q, col),
	};

	for (; n > 3 * KERNEL_PANEL; w += MANY_PANELS * pairs * 2 * KERNEL_PANEL) {
		uint32_t done = n < MANY_PANELS * KERNEL_PANEL ? n : MANY_PANELS * KERNEL_PANEL;

		multiply_row_panels(MANY_PANELS, &r, w, bias, col, done, y);
		bias += done;
		col += done;
		n -= done;
	}
	if (n > 2 * KERNEL_PANEL)
		multiply_row_panels(3, &r, w, bias, col, n, y);
	else if (n > KERNEL_PANEL)
		multiply_row_panels(2, &r, w, bias, col, n, y);
	else if (n)
		multiply_row_panels(1, &r, w, bias, col, n, y);
}

/* Depthwise. */

/* Sixteen channels under two taps, as numbers of 16 bits with the taps of a channel adjacent. */
DOT_INLINE __m512i widen_taps(const uint8_t *x, const uint8_t *y, const bool is_signed)
{
	__m128i a = _mm_loadu_si128((const __m128i *)x), b = _mm_loadu_si128((const __m128i *)y);
	__m256i both = _mm256_castsi128_si256(_mm_unpacklo_epi8(a, b));

	both = _mm256_inserti128_si256(both, _mm_unpackhi_epi8(a, b), 1);
	return is_signed ? _mm512_cvtepi8_epi16(both) : _mm512_cvtepu8_epi16(both);
}

/* The weights of sixteen channels from number @at on. */
DOT_INLINE __m512i load_weights(const void *w, const bool narrow, size_t at)
{
	if (narrow)
		return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)((const int8_t *)w + at)));
	return _mm512_loadu_si512((const int16_t *)w + at);
}

/* Sixteen channels: all that is the same for each pixel. */
struct deep_block {
	unsigned int pairs;		/* with a tap inside */
	const uint8_t *taps[KERNEL_TAPS];
	__m512i weights[KERNEL_TAPS / 2];
	__m512i base;
	struct avx512_factors factors;
};

/* What taps outside of the image add is the same for all pixels, too. */
DOT_INLINE void begin_block(struct deep_block *b, const struct depthwise_pixels *p,
			    const struct depthwise_weights *w, const int32_t *bias,
			    const struct requant *q, const bool narrow, uint32_t c)
{
	const __m512i outside = _mm512_set1_epi16((int16_t)p->zero_point);
	size_t at = c / KERNEL_COLS * ((size_t)w->pairs * 2 * KERNEL_COLS);
	unsigned int n = 0;

	b->base = _mm512_loadu_si512(bias + c);
	if (w->fold)
		b->base = _mm512_add_epi32(b->base, _mm512_loadu_si512(w->fold + c));
	b->factors = avx512_factors_of(q, c);
	for (unsigned int i = 0; i < w->pairs; i++, at += 2 * KERNEL_COLS) {
		const uint8_t *x = p->taps[2 * i], *y = p->taps[2 * i + 1];
		__m512i keep = _mm512_set1_epi32((x ? 0xffff : 0) | (y ? -0x10000 : 0));
		__m512i v = load_weights(w->data, narrow, at);

		if (!x || !y)
			b->base = dot_512(b->base, _mm512_andnot_si512(keep, v), outside);
		if (!x && !y)
			continue;
		b->weights[n] = _mm512_and_si512(v, keep);
		b->taps[2 * n] = (x ? x : y) + c;
		b->taps[2 * n + 1] = (y ? y : x) + c;
		n++;
	}
	b->pairs = n;
}

/* The scaled sums of the pixel @at bytes behind the first. */
DOT_INLINE __m512i deep_pixel(const struct deep_block *b, const bool is_signed, size_t at)
{
	__m512i sum = b->base, other = _mm512_setzero_si512();
	unsigned int i = 0;

	/* Two sums, so that one need not wait for the other. */
	for (; i + 2 <= b->pairs; i += 2) {
		sum = dot_512(sum, widen_taps(b->taps[2 * i] + at, b->taps[2 * i + 1] + at,
					      is_signed), b->weights[i]);
		other = dot_512(other, widen_taps(b->taps[2 * i + 2] + at,
						  b->taps[2 * i + 3] + at, is_signed),
				b->weights[i + 1]);
	}
	if (i < b->pairs)
		sum = dot_512(sum, widen_taps(b->taps[2 * i] + at, b->taps[2 * i + 1] + at,
					      is_signed), b->weights[i]);
	return avx512_scale(_mm512_add_epi32(sum, other), &b->factors);
}

DOT_INLINE void deep_pixels(const struct deep_block *b, const struct depthwise_pixels *p,
			    const bool is_signed, const struct avx512_limits *l, uint8_t *y)
{
	for (unsigned int row = 0; row < p->rows; row++) {
		uint8_t *to = y + row * p->out_row;
		size_t at = row * p->in_row;
		unsigned int i = 0;

		for (; i + 4 <= p->cols; i += 4, at += 4 * p->in_col, to += 4 * p->out_col) {
			__m512i v = avx512_to_bytes_4(
				deep_pixel(b, is_signed, at),
				deep_pixel(b, is_signed, at + p->in_col),
				deep_pixel(b, is_signed, at + 2 * p->in_col),
				deep_pixel(b, is_signed, at + 3 * p->in_col), l);

			_mm_storeu_si128((__m128i *)to, _mm512_castsi512_si128(v));
			_mm_storeu_si128((__m128i *)(to + p->out_col),
					 _mm512_extracti32x4_epi32(v, 1));
			_mm_storeu_si128((__m128i *)(to + 2 * p->out_col),
					 _mm512_extracti32x4_epi32(v, 2));
			_mm_storeu_si128((__m128i *)(to + 3 * p->out_col),
					 _mm512_extracti32x4_epi32(v, 3));
		}
		for (; i < p->cols; i++, at += p->in_col, to += p->out_col)
			_mm_storeu_si128((__m128i *)to,
					 avx512_to_bytes(deep_pixel(b, is_signed, at), l));
	}
}

DOT_INLINE void deep_blocks(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			    const int32_t *bias, const struct requant *q, const bool narrow,
			    const bool is_signed, uint32_t col, uint32_t n, uint8_t *y)
{
	struct avx512_limits l = avx512_limits_of(q->zero_point, q->range);
	struct deep_block b;

	for (uint32_t c = col; c < col + n; c += KERNEL_COLS) {
		begin_block(&b, p, w, bias, q, narrow, c);
		deep_pixels(&b, p, is_signed, &l, y + c);
	}
}

/* depthwise(). What is left of a block, AVX2 computes. */
DOT_INLINE void depthwise_all(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			      const int32_t *bias, const struct requant *q, uint32_t col,
			      uint32_t n, uint8_t *y)
{
	uint32_t whole = n / KERNEL_COLS * KERNEL_COLS;

	if (!q->shifts_right)
		whole = 0;
	else if (w->narrow && p->is_signed)
		deep_blocks(p, w, bias, q, true, true, col, whole, y);
	else if (w->narrow)
		deep_blocks(p, w, bias, q, true, false, col, whole, y);
	else if (p->is_signed)
		deep_blocks(p, w, bias, q, false, true, col, whole, y);
	else
		deep_blocks(p, w, bias, q, false, false, col, whole, y);
	if (whole < n)
		kernels_avx2()->depthwise(p, w, bias, q, col + whole, n - whole, y);
}

/* The members of struct kernels, and the variant. Behind @name: members that it alone has. */
#define DOT_VARIANT(name, ...) \
	DOT static void qgemm(const int16_t *x, size_t stride, unsigned int rows, \
			      const int8_t *w, size_t pairs, unsigned int panels, \
			      const int32_t *bias, const int32_t *add, int32_t *acc) \
	{ \
		multiply_all(x, stride, rows, w, pairs, panels, bias, add, acc); \
	} \
	\
	DOT static void qrow(const int16_t *x, const int8_t *w, size_t pairs, \
			     const int32_t *bias, int32_t add, const struct requant *q, \
			     uint32_t col, uint32_t n, uint8_t *y) \
	{ \
		multiply_row(x, w, pairs, bias, add, q, col, n, y); \
	} \
	\
	DOT static void depthwise(const struct depthwise_pixels *p, \
				  const struct depthwise_weights *w, const int32_t *bias, \
				  const struct requant *q, uint32_t col, uint32_t n, \
				  uint8_t *y) \
	{ \
		depthwise_all(p, w, bias, q, col, n, y); \
	} \
	\
	static const struct kernels name = { \
		AVX512_COMMON, \
		.qgemm = qgemm, \
		.qrow = qrow, \
		.depthwise = depthwise, \
		__VA_ARGS__ \
	}

#endif /* NNPU_EMU_KERNELS_AVX512_DOT_H */
