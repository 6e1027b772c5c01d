// SPDX-License-Identifier: MIT
/*
 * The inner loops of kernels.h with the vectors of AVX2.
 *
 * Products of 9-bit inputs and 8-bit weights are added in pairs by VPMADDWD, which is
 * exact.
 */
#include "kernels_avx2_requant.h"
#include "near_sum.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdatomic.h>

/* Values of 8 bytes; @flip and @bias are in every element. */
INLINE __m128i widen_8(const uint8_t *x, __m128i flip, __m128i bias)
{
	return _mm_sub_epi16(_mm_cvtepu8_epi16(_mm_xor_si128(load_quarter(x), flip)), bias);
}

AVX2 static void widen(const uint8_t *x, struct qbyte b, size_t n, int16_t *y)
{
	__m128i flip = _mm_set1_epi8((char)b.flip), bias = _mm_set1_epi16(b.bias);
	__m256i wide_bias = _mm256_set1_epi16(b.bias);
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		__m256i v = _mm256_cvtepu8_epi16(_mm_xor_si128(load_half(x + i), flip));

		_mm256_storeu_si256((__m256i *)(y + i), _mm256_sub_epi16(v, wide_bias));
	}
	if (n >= 8) {
		/* The last eight overlap those before, so that no shorter vector is needed. */
		for (; i < n; i += 8) {
			i = i + 8 <= n ? i : n - 8;
			_mm_storeu_si128((__m128i *)(y + i), widen_8(x + i, flip, bias));
		}
		return;
	}
	for (; i < n; i++)
		y[i] = qbyte_value(x[i], b);
}

/* A run may end in the middle of a vector: what is behind it is overwritten by the next one. */
AVX2 static void gather(const struct gathered *g, struct qbyte b, int16_t *y, size_t stride)
{
	__m128i flip = _mm_set1_epi8((char)b.flip);
	__m256i bias = _mm256_set1_epi16(b.bias);

	for (unsigned int r = 0; r < g->rows; r++) {
		const uint8_t *x = g->from + r * g->step;
		int16_t *to = y + r * stride;

		for (unsigned int run = 0; run < g->runs; run++, x += g->next, to += g->run) {
			for (size_t i = 0; i < g->run; i += 16) {
				__m128i v = _mm_xor_si128(load_half(x + i), flip);

				_mm256_storeu_si256((__m256i *)(to + i),
						    _mm256_sub_epi16(_mm256_cvtepu8_epi16(v),
								     bias));
			}
		}
	}
}

AVX2 static int32_t sum(const int16_t *x, size_t n)
{
	/* Ones for the last values of a vector, from position 16 - count on. */
	static const int16_t last[32] = { [16] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	const __m256i ones = _mm256_set1_epi16(1);
	__m256i wide = _mm256_setzero_si256();
	__m128i half;
	size_t i = 0;

	if (n < 16)
		return kernels_variant(0)->sum(x, n);
	for (; i + 16 <= n; i += 16)
		wide = _mm256_add_epi32(wide, _mm256_madd_epi16(load(x + i), ones));
	wide = _mm256_add_epi32(wide, _mm256_madd_epi16(load(x + n - 16), load(last + (n - i))));
	half = _mm_add_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
	half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
	half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
	return _mm_cvtsi128_si32(half);
}

/* Multiplication. */

INLINE void store_sums(int32_t *acc, __m256i total, const int32_t *bias, const int32_t *add)
{
	__m256i base;

	if (bias)
		base = _mm256_add_epi32(load(bias), _mm256_set1_epi32(*add));
	else
		base = load(acc);
	_mm256_storeu_si256((__m256i *)acc, _mm256_add_epi32(base, total));
}

#define EACH_ROW(what)	what(0) what(1) what(2) what(3) what(4) what(5)

#define ADD_ROW(r) \
	if (rows > r) { \
		__m256i v = _mm256_set1_epi32(load_pair(x + r * stride)); \
		\
		a##r = _mm256_add_epi32(a##r, _mm256_madd_epi16(v, w0)); \
		KEEP(a##r); \
		if (panels > 1) { \
			b##r = _mm256_add_epi32(b##r, _mm256_madd_epi16(v, w1)); \
			KEEP(b##r); \
		} \
	}

#define STORE_ROW(r) \
	if (rows > r) { \
		store_sums(acc + r * KERNEL_COLS, a##r, bias, bias ? add + r : NULL); \
		if (panels > 1) \
			store_sums(acc + r * KERNEL_COLS + KERNEL_PANEL, b##r, \
				   bias ? bias + KERNEL_PANEL : NULL, bias ? add + r : NULL); \
	}

_Static_assert(KERNEL_ROWS == 6, "EACH_ROW() has other rows");

/* Up to KERNEL_ROWS rows. Inlined with constant numbers of rows and panels. */
INLINE void multiply(const unsigned int rows, const unsigned int panels, const int16_t *x,
		     size_t stride, const int8_t *w, size_t pairs, const int32_t *bias,
		     const int32_t *add, int32_t *acc)
{
	const int8_t *second = w + pairs * 2 * KERNEL_PANEL;
	__m256i a0 = _mm256_setzero_si256(), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
	__m256i b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;

	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL) {
		__m256i w0 = _mm256_cvtepi8_epi16(load_half(w)), w1 = w0;

		if (panels > 1) {
			w1 = _mm256_cvtepi8_epi16(load_half(second));
			second += 2 * KERNEL_PANEL;
		}
		EACH_ROW(ADD_ROW)
	}
	EACH_ROW(STORE_ROW)
}

INLINE void multiply_rows(unsigned int rows, const unsigned int panels, const int16_t *x,
			  size_t stride, const int8_t *w, size_t pairs, const int32_t *bias,
			  const int32_t *add, int32_t *acc)
{
	for (; rows >= KERNEL_ROWS; rows -= KERNEL_ROWS) {
		multiply(KERNEL_ROWS, panels, x, stride, w, pairs, bias, add, acc);
		x += KERNEL_ROWS * stride;
		add += KERNEL_ROWS;
		acc += KERNEL_ROWS * KERNEL_COLS;
	}
	switch (rows) {
	case 5:
		multiply(5, panels, x, stride, w, pairs, bias, add, acc);
		break;
	case 4:
		multiply(4, panels, x, stride, w, pairs, bias, add, acc);
		break;
	case 3:
		multiply(3, panels, x, stride, w, pairs, bias, add, acc);
		break;
	case 2:
		multiply(2, panels, x, stride, w, pairs, bias, add, acc);
		break;
	case 1:
		multiply(1, panels, x, stride, w, pairs, bias, add, acc);
		break;
	}
}

AVX2 static void qgemm(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
		       size_t pairs, unsigned int panels, const int32_t *bias,
		       const int32_t *add, int32_t *acc)
{
	if (panels > 1)
		multiply_rows(rows, 2, x, stride, w, pairs, bias, add, acc);
	else
		multiply_rows(rows, 1, x, stride, w, pairs, bias, add, acc);
}

/* Requantization. */

AVX2 static void requantize(const int32_t *acc, unsigned int rows, const struct requant *q,
			    uint32_t col, unsigned int n, uint8_t *y, size_t y_stride)
{
	struct factors fa, fb;
	struct limits l;

	if (!q->shifts_right) {
		kernels_variant(0)->requantize(acc, rows, q, col, n, y, y_stride);
		return;
	}
	fa = factors_of(q, col);
	fb = factors_of(q, col + 8);
	l = limits_of(q);
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride)
		store_bytes(y, to_bytes(load(acc), load(acc + 8), &fa, &fb, &l), n);
}

/* Depthwise. */

/* Eight channels of two taps, as numbers of 16 bits with the taps of a channel adjacent. */
INLINE __m256i widen_taps(__m128i both, const bool is_signed)
{
	return is_signed ? _mm256_cvtepi8_epi16(both) : _mm256_cvtepu8_epi16(both);
}

/* The weights of eight channels from number @at on. */
INLINE __m256i load_weights(const void *w, const bool narrow, size_t at)
{
	if (narrow)
		return _mm256_cvtepi8_epi16(load_half((const int8_t *)w + at));
	return load((const int16_t *)w + at);
}

/*
 * A block of channels: all that is the same for each pixel. Sixteen channels, or eight of two
 * pixels at once: both halves are the same then.
 */
struct deep_block {
	unsigned int pairs;		/* with a tap inside */
	const uint8_t *taps[KERNEL_TAPS];
	__m256i weights[KERNEL_TAPS / 2][2];
	__m256i base[2];
	struct factors factors[2];
};

/* Initial sums of eight channels. */
INLINE __m256i load_base(const int32_t *bias, const int32_t *fold, uint32_t c)
{
	return fold ? _mm256_add_epi32(load(bias + c), load(fold + c)) : load(bias + c);
}

/* What taps outside of the image add is the same for all pixels, too. */
INLINE void begin_block(struct deep_block *b, const struct depthwise_pixels *p,
			const struct depthwise_weights *w, const int32_t *bias,
			const struct requant *q, const bool narrow, const unsigned int halves,
			uint32_t c)
{
	const __m256i outside = _mm256_set1_epi16((int16_t)p->zero_point);
	size_t at = c / KERNEL_COLS * ((size_t)w->pairs * 2 * KERNEL_COLS);
	unsigned int n = 0;

	for (unsigned int h = 0; h < 2; h++) {
		uint32_t from = h < halves ? c + 8 * h : c;

		b->base[h] = load_base(bias, w->fold, from);
		b->factors[h] = factors_of(q, from);
	}
	for (unsigned int i = 0; i < w->pairs; i++, at += 2 * KERNEL_COLS) {
		const uint8_t *x = p->taps[2 * i], *y = p->taps[2 * i + 1];
		__m256i keep = _mm256_set1_epi32((x ? 0xffff : 0) | (y ? -0x10000 : 0));

		for (unsigned int h = 0; h < 2; h++) {
			__m256i v = load_weights(w->data, narrow, at + h % halves * KERNEL_COLS);

			b->weights[n][h] = _mm256_and_si256(v, keep);
			if (x && y)
				continue;
			v = _mm256_madd_epi16(_mm256_andnot_si256(keep, v), outside);
			b->base[h] = _mm256_add_epi32(b->base[h], v);
		}
		if (x || y) {
			b->taps[2 * n] = (x ? x : y) + c;
			b->taps[2 * n + 1] = (y ? y : x) + c;
			n++;
		}
	}
	b->pairs = n;
}

/* Sixteen bytes under a tap: of a pixel, or eight each of two pixels. */
INLINE __m128i load_tap(const uint8_t *tap, const bool two, size_t first, size_t second)
{
	if (two)
		return _mm_unpacklo_epi64(load_quarter(tap + first), load_quarter(tap + second));
	return load_half(tap + first);
}

/* @first and @second: bytes from the first pixel of all on. */
INLINE __m128i deep_pixels(const struct deep_block *b, const bool is_signed, const bool two,
			   size_t first, size_t second, const struct limits *l)
{
	__m256i low_sum = b->base[0], high_sum = b->base[1];

	for (unsigned int i = 0; i < b->pairs; i++) {
		__m128i x = load_tap(b->taps[2 * i], two, first, second);
		__m128i y = load_tap(b->taps[2 * i + 1], two, first, second);
		__m256i low = widen_taps(_mm_unpacklo_epi8(x, y), is_signed);
		__m256i high = widen_taps(_mm_unpackhi_epi8(x, y), is_signed);

		low_sum = _mm256_add_epi32(low_sum, _mm256_madd_epi16(low, b->weights[i][0]));
		high_sum = _mm256_add_epi32(high_sum, _mm256_madd_epi16(high, b->weights[i][1]));
	}
	return to_bytes(low_sum, high_sum, &b->factors[0], &b->factors[1], l);
}

/* Sixteen channels of all pixels. */
INLINE void deep_16(const struct deep_block *b, const struct depthwise_pixels *p,
		    const bool is_signed, const struct limits *l, uint8_t *y)
{
	for (unsigned int row = 0; row < p->rows; row++) {
		uint8_t *to = y + row * p->out_row;
		size_t at = row * p->in_row;

		for (unsigned int i = 0; i < p->cols; i++, at += p->in_col, to += p->out_col)
			_mm_storeu_si128((__m128i *)to,
					 deep_pixels(b, is_signed, false, at, at, l));
	}
}

/* Eight channels of all pixels, two pixels of a row at a time. */
INLINE void deep_8(const struct deep_block *b, const struct depthwise_pixels *p,
		   const bool is_signed, const struct limits *l, uint8_t *y)
{
	for (unsigned int row = 0; row < p->rows; row++) {
		uint8_t *to = y + row * p->out_row;
		size_t at = row * p->in_row;

		for (unsigned int i = 0; i < p->cols; i += 2) {
			bool two = i + 1 < p->cols;
			__m128i v = deep_pixels(b, is_signed, true, at,
						two ? at + p->in_col : at, l);

			_mm_storel_epi64((__m128i *)to, v);
			if (two)
				_mm_storel_epi64((__m128i *)(to + p->out_col),
						 _mm_unpackhi_epi64(v, v));
			at += 2 * p->in_col;
			to += 2 * p->out_col;
		}
	}
}

/* For so few pixels a deep_block costs more than it saves. */
#define FEW_PIXELS	3

/* Eight or sixteen channels of a pixel, @at bytes from the first one on. */
INLINE __m128i single_pixel(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			    const int32_t *bias, const struct requant *q, const bool narrow,
			    const bool is_signed, const unsigned int halves, size_t at, uint32_t c,
			    const struct limits *l)
{
	const __m128i outside = _mm_set1_epi8((char)p->zero_point);
	size_t weight = c / KERNEL_COLS * ((size_t)w->pairs * 2 * KERNEL_COLS);
	struct factors fa = factors_of(q, c), fb = halves > 1 ? factors_of(q, c + 8) : fa;
	__m256i a = load_base(bias, w->fold, c), b = a;

	if (halves > 1)
		b = load_base(bias, w->fold, c + 8);
	at += c;
	for (unsigned int i = 0; i < w->pairs; i++, weight += 2 * KERNEL_COLS) {
		const uint8_t *first = p->taps[2 * i], *second = p->taps[2 * i + 1];
		__m128i x = outside, y = outside;
		__m256i low, high;

		if (first)
			x = halves > 1 ? load_half(first + at) : load_quarter(first + at);
		if (second)
			y = halves > 1 ? load_half(second + at) : load_quarter(second + at);
		low = widen_taps(_mm_unpacklo_epi8(x, y), is_signed);
		low = _mm256_madd_epi16(low, load_weights(w->data, narrow, weight));
		a = _mm256_add_epi32(a, low);
		if (halves > 1) {
			high = widen_taps(_mm_unpackhi_epi8(x, y), is_signed);
			high = _mm256_madd_epi16(high, load_weights(w->data, narrow,
								    weight + KERNEL_COLS));
			b = _mm256_add_epi32(b, high);
		}
	}
	return to_bytes(a, b, &fa, &fb, l);
}

INLINE void few_pixels(const struct depthwise_pixels *p, const struct depthwise_weights *w,
		       const int32_t *bias, const struct requant *q, const bool narrow,
		       const bool is_signed, uint32_t col, uint32_t n, const struct limits *l,
		       uint8_t *y)
{
	uint32_t end = col + n;

	for (unsigned int i = 0; i < p->rows * p->cols; i++) {
		size_t at = i / p->cols * p->in_row + i % p->cols * p->in_col;
		uint8_t *to = y + i / p->cols * p->out_row + i % p->cols * p->out_col;
		uint32_t c = col;

		for (; c + KERNEL_COLS <= end; c += KERNEL_COLS)
			store_bytes(to + c, single_pixel(p, w, bias, q, narrow, is_signed, 2, at, c,
							 l), KERNEL_COLS);
		if (c < end)
			store_bytes(to + c, single_pixel(p, w, bias, q, narrow, is_signed, 1, at, c,
							 l), KERNEL_COLS / 2);
	}
}

INLINE void depthwise_blocks(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			     const int32_t *bias, const struct requant *q, const bool narrow,
			     const bool is_signed, uint32_t col, uint32_t n, uint8_t *y)
{
	struct limits l = limits_of(q);
	uint32_t c = col, end = col + n;
	struct deep_block b;

	if (p->rows * p->cols <= FEW_PIXELS) {
		few_pixels(p, w, bias, q, narrow, is_signed, col, n, &l, y);
		return;
	}
	for (; c + KERNEL_COLS <= end; c += KERNEL_COLS) {
		begin_block(&b, p, w, bias, q, narrow, 2, c);
		deep_16(&b, p, is_signed, &l, y + c);
	}
	if (c < end) {
		begin_block(&b, p, w, bias, q, narrow, 1, c);
		deep_8(&b, p, is_signed, &l, y + c);
	}
}

AVX2 static void depthwise(const struct depthwise_pixels *p, const struct depthwise_weights *w,
			   const int32_t *bias, const struct requant *q, uint32_t col, uint32_t n,
			   uint8_t *y)
{
	uint32_t whole = n / 8 * 8;

	if (!q->shifts_right)
		whole = 0;
	else if (w->narrow && p->is_signed)
		depthwise_blocks(p, w, bias, q, true, true, col, whole, y);
	else if (w->narrow)
		depthwise_blocks(p, w, bias, q, true, false, col, whole, y);
	else if (p->is_signed)
		depthwise_blocks(p, w, bias, q, false, true, col, whole, y);
	else
		depthwise_blocks(p, w, bias, q, false, false, col, whole, y);
	if (whole < n)
		kernels_variant(0)->depthwise(p, w, bias, q, col + whole, n - whole, y);
}

/* Sums. */

INLINE struct factors factors_same(struct qfactor f)
{
	struct factors s;

	s.mult = _mm256_set1_epi32(f.mult);
	s.odd_mult = s.mult;
	s.shift = _mm256_set1_epi32(-f.shift);
	s.mask = _mm256_set1_epi32((int32_t)((1u << -f.shift) - 1));
	return s;
}

/* Eight values of a term, scaled. */
INLINE __m256i term(const uint8_t *x, const struct qsum *s, const unsigned int i,
		    const struct factors *f)
{
	__m128i flip = _mm_set1_epi8((char)s->byte[i].flip);
	__m256i v = _mm256_cvtepu8_epi32(_mm_xor_si128(load_quarter(x), flip));

	v = _mm256_sub_epi32(v, _mm256_set1_epi32(s->byte[i].bias));
	return scale(_mm256_slli_epi32(v, s->left_shift), f);
}

INLINE __m256i sum_8(const uint8_t *a, const uint8_t *b, const struct qsum *s,
		     const struct factors *fa, const struct factors *fb)
{
	__m256i x = term(a, s, 0, fa), y = term(b, s, 1, fb);

	return s->subtract ? _mm256_sub_epi32(x, y) : _mm256_add_epi32(x, y);
}

AVX2 static void exact_qsum(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s,
			    uint8_t *y)
{
	struct factors fa = factors_same(s->factor[0]), fb = factors_same(s->factor[1]);
	struct factors out = factors_same(s->out);
	uint8_t tail[2][KERNEL_COLS] = { { 0 } };
	struct limits l = {
		.zero_point = _mm256_set1_epi16((int16_t)s->zero_point),
		.min = _mm256_set1_epi16((int16_t)s->range.min),
		.max = _mm256_set1_epi16((int16_t)s->range.max),
	};
	size_t i = 0;

	for (; i + KERNEL_COLS <= n; i += KERNEL_COLS)
		store_bytes(y + i, to_bytes(sum_8(a + i, b + i, s, &fa, &fb),
					    sum_8(a + i + 8, b + i + 8, s, &fa, &fb), &out, &out,
					    &l), KERNEL_COLS);
	if (i < n) {
		memcpy(tail[0], a + i, n - i);
		memcpy(tail[1], b + i, n - i);
		store_bytes(y + i, to_bytes(sum_8(tail[0], tail[1], s, &fa, &fb),
					    sum_8(tail[0] + 8, tail[1] + 8, s, &fa, &fb), &out,
					    &out, &l), (unsigned int)(n - i));
	}
}

/* Bytes at once that near_sum.h is for. */
#define NEAR_BYTES	32u

INLINE __m256i near_8(const uint8_t *a, const uint8_t *b, const bool is_signed, __m256i factor_a,
		      __m256i factor_b, __m256i add)
{
	__m128i x = load_quarter(a), y = load_quarter(b);
	__m256i v = is_signed ? _mm256_cvtepi8_epi32(x) : _mm256_cvtepu8_epi32(x);
	__m256i w = is_signed ? _mm256_cvtepi8_epi32(y) : _mm256_cvtepu8_epi32(y);

	return _mm256_add_epi32(_mm256_add_epi32(_mm256_mullo_epi32(v, factor_a), add),
				_mm256_mullo_epi32(w, factor_b));
}

/* Groups of bytes; those that are not sure are summed again. How many it has done: not all if many are not. */
INLINE size_t near_sums(const uint8_t *a, const uint8_t *b, size_t n, const struct near_sum *near,
			const bool is_signed, const struct qsum *s, uint8_t *y)
{
	__m256i factor_a = _mm256_set1_epi32(near->a), factor_b = _mm256_set1_epi32(near->b);
	__m256i add = _mm256_set1_epi32(near->add);
	__m256i out = _mm256_set1_epi32((1 << near->down) - 1);	/* what is shifted out */
	__m256i unsure = _mm256_set1_epi32((int)near->unsure - 1);
	__m128i down = _mm_cvtsi32_si128((int)near->down);
	__m256i min = _mm256_set1_epi8((char)s->range.min), max = _mm256_set1_epi8((char)s->range.max);
	const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
	size_t i = 0, again = 0;

	for (; i + NEAR_BYTES <= n && again <= NEAR_SUM_AGAIN + i / (8 * NEAR_BYTES); i += NEAR_BYTES) {
		__m256i least = _mm256_set1_epi32(-1), v[4];

		for (unsigned int j = 0; j < 4; j++) {
			v[j] = near_8(a + i + 8 * j, b + i + 8 * j, is_signed, factor_a, factor_b, add);
			least = _mm256_min_epu32(least, _mm256_and_si256(v[j], out));
			v[j] = _mm256_sra_epi32(v[j], down);
		}
		if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_min_epu32(least, unsure), least))) {
			exact_qsum(a + i, b + i, NEAR_BYTES, s, y + i);
			again++;
			continue;
		}
		v[0] = _mm256_packs_epi32(v[0], v[1]);
		v[2] = _mm256_packs_epi32(v[2], v[3]);
		if (is_signed)
			v[0] = _mm256_min_epi8(_mm256_max_epi8(_mm256_packs_epi16(v[0], v[2]), min), max);
		else
			v[0] = _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(v[0], v[2]), min), max);
		_mm256_storeu_si256((__m256i *)(y + i), _mm256_permutevar8x32_epi32(v[0], order));
	}
	return i;
}

AVX2 static void qsum(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s,
		      uint8_t *y)
{
	struct near_sum near;
	size_t done = 0;

	if (n >= NEAR_SUM_MIN && near_sum_of(s, &near)) {
		if (near.is_signed)
			done = near_sums(a, b, n, &near, true, s, y);
		else
			done = near_sums(a, b, n, &near, false, s, y);
	}
	if (done < n)
		exact_qsum(a + done, b + done, n - done, s, y + done);
}

static const struct kernels avx2 = {
	.widen = widen,
	.gather = gather,
	.sum = sum,
	.qgemm = qgemm,
	.requantize = requantize,
	.qrow = avx2_qrow,
	.depthwise = depthwise,
	.qsum = qsum,
	.fgemm = avx2_fgemm,
	.fgemm_rows = avx2_fgemm_rows,
	.finish = avx2_finish,
	.frow = avx2_frow,
	.pack_bytes = avx2_pack_bytes,
	.pack_halves = avx2_pack_halves,
	.fdepthwise = avx2_fdepthwise,
	.rows = &row_kernels_avx2,
};

/* __builtin_cpu_supports() knows this name in gcc only. */
static bool has_f16c(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

/* It is found out once: in virtual machines CPUID takes microseconds. */
const struct kernels *kernels_avx2(void)
{
	enum { UNKNOWN, ABSENT, PRESENT };
	static atomic_int known;
	int state = atomic_load_explicit(&known, memory_order_relaxed);

	if (state == UNKNOWN) {
		state = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
			has_f16c() ? PRESENT : ABSENT;
		atomic_store_explicit(&known, state, memory_order_relaxed);
	}
	return state == PRESENT ? &avx2 : NULL;
}

#else

const struct kernels *kernels_avx2(void)
{
	return NULL;
}

#endif
