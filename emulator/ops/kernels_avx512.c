// SPDX-License-Identifier: MIT
/*
 * The inner loops of kernels.h for integers with the vectors of AVX-512, as far as they need no
 * sums of products (kernels_avx512_dot.h). Numbers are rounded as quant.h does it.
 */
#include "kernels_avx512.h"

#if defined(__x86_64__)

#include <string.h>

#include "near_sum.h"

/* A mask of the first @n of at most 64 elements. */
AVX512_INLINE uint64_t first(size_t n)
{
	return n < 64 ? (1ull << n) - 1 : ~0ull;
}

AVX512_INLINE __m512i widen_32(__m256i bytes, __m256i flip, __m512i bias)
{
	return _mm512_sub_epi16(_mm512_cvtepu8_epi16(_mm256_xor_si256(bytes, flip)), bias);
}

AVX512 void avx512_widen(const uint8_t *x, struct qbyte b, size_t n, int16_t *y)
{
	__m256i flip = _mm256_set1_epi8((char)b.flip);
	__m512i bias = _mm512_set1_epi16(b.bias);
	size_t i = 0;

	for (; i + 32 <= n; i += 32)
		_mm512_storeu_si512(y + i, widen_32(_mm256_loadu_si256((const __m256i *)(x + i)),
						    flip, bias));
	if (i < n) {
		__mmask32 rest = (__mmask32)first(n - i);

		_mm512_mask_storeu_epi16(y + i, rest,
					 widen_32(_mm256_maskz_loadu_epi8(rest, x + i), flip,
						  bias));
	}
}

/* A run may end in the middle of a vector: what is behind it is overwritten by the next one. */
AVX512 void avx512_gather(const struct gathered *g, struct qbyte b, int16_t *y, size_t stride)
{
	__m128i flip = _mm_set1_epi8((char)b.flip);
	__m256i bias = _mm256_set1_epi16(b.bias);
	__m256i wide_flip = _mm256_set1_epi8((char)b.flip);
	__m512i wide_bias = _mm512_set1_epi16(b.bias);

	for (unsigned int r = 0; r < g->rows; r++) {
		const uint8_t *x = g->from + r * g->step;
		int16_t *to = y + r * stride;

		for (unsigned int run = 0; run < g->runs; run++, x += g->next, to += g->run) {
			size_t i = 0;

			for (; i + 32 <= g->run; i += 32) {
				__m256i v = _mm256_loadu_si256((const __m256i *)(x + i));

				_mm512_storeu_si512(to + i, widen_32(v, wide_flip, wide_bias));
			}
			for (; i < g->run; i += 16) {
				__m128i v = _mm_loadu_si128((const __m128i *)(x + i));
				__m256i wide = _mm256_cvtepu8_epi16(_mm_xor_si128(v, flip));

				_mm256_storeu_si256((__m256i *)(to + i),
						    _mm256_sub_epi16(wide, bias));
			}
		}
	}
}

AVX512 int32_t avx512_sum(const int16_t *x, size_t n)
{
	const __m512i ones = _mm512_set1_epi16(1);
	__m512i total = _mm512_setzero_si512();
	size_t i = 0;

	for (; i + 32 <= n; i += 32)
		total = _mm512_add_epi32(total, _mm512_madd_epi16(_mm512_loadu_si512(x + i), ones));
	if (i < n) {
		__m512i v = _mm512_maskz_loadu_epi16((__mmask32)first(n - i), x + i);

		total = _mm512_add_epi32(total, _mm512_madd_epi16(v, ones));
	}
	return _mm512_reduce_add_epi32(total);
}

AVX512 void avx512_requantize(const int32_t *acc, unsigned int rows, const struct requant *q,
			      uint32_t col, unsigned int n, uint8_t *y, size_t y_stride)
{
	struct avx512_factors f;
	struct avx512_limits l;
	__mmask16 some = (__mmask16)first(n);

	if (!q->shifts_right) {
		kernels_variant(0)->requantize(acc, rows, q, col, n, y, y_stride);
		return;
	}
	f = avx512_factors_of(q, col);
	l = avx512_limits_of(q->zero_point, q->range);
	for (; n == KERNEL_COLS && rows >= 4; rows -= 4, acc += 4 * KERNEL_COLS, y += 4 * y_stride) {
		__m512i v = avx512_to_bytes_4(
			avx512_scale(_mm512_loadu_si512(acc), &f),
			avx512_scale(_mm512_loadu_si512(acc + KERNEL_COLS), &f),
			avx512_scale(_mm512_loadu_si512(acc + 2 * KERNEL_COLS), &f),
			avx512_scale(_mm512_loadu_si512(acc + 3 * KERNEL_COLS), &f), &l);

		_mm_storeu_si128((__m128i *)y, _mm512_castsi512_si128(v));
		_mm_storeu_si128((__m128i *)(y + y_stride), _mm512_extracti32x4_epi32(v, 1));
		_mm_storeu_si128((__m128i *)(y + 2 * y_stride), _mm512_extracti32x4_epi32(v, 2));
		_mm_storeu_si128((__m128i *)(y + 3 * y_stride), _mm512_extracti32x4_epi32(v, 3));
	}
	for (; rows > 0; rows--, acc += KERNEL_COLS, y += y_stride) {
		__m128i v = avx512_to_bytes(avx512_scale(_mm512_loadu_si512(acc), &f), &l);

		if (n == KERNEL_COLS)
			_mm_storeu_si128((__m128i *)y, v);
		else if (n == KERNEL_COLS / 2)
			_mm_storel_epi64((__m128i *)y, v);
		else
			_mm_mask_storeu_epi8(y, some, v);
	}
}

/* Sums. */

/*
 * A term: q_scale(value << left_shift, factor). With the factor in two parts, 2^16 * high + low,
 * the products of a value of nine bits fit 32 bits, and the shift to the left goes into the
 * one to the right. What only depends on the bias is computed once.
 */
struct term {
	__m512i high, low;
	__m512i high_add, low_add;	/* those of the bias; with what rounds */
	unsigned int down;
	bool shifted;			/* the factor is shifted, by @shift + 1; else it is a half */
	__m512i shift;
	unsigned int up;		/* of a half: the value is shifted left by so much */
};

/* As that of the larger term of a sum is: the scale of sums is twice the larger one. */
static bool is_half(struct qfactor f)
{
	return f.mult == 1 << 30 && f.shift == 0;
}

AVX512_INLINE struct term term_of(const struct qsum *s, unsigned int i)
{
	int32_t high = (s->factor[i].mult >> 16) * (1 << (s->left_shift - 15));
	int32_t low = s->factor[i].mult & 0xffff, bias = s->byte[i].bias;

	return (struct term){
		.high = _mm512_set1_epi32(high),
		.low = _mm512_set1_epi32(low),
		.high_add = _mm512_set1_epi32(-bias * high),
		.low_add = _mm512_set1_epi32((1 << (30 - s->left_shift)) - bias * low),
		.down = (unsigned int)(31 - s->left_shift),
		.shifted = s->factor[i].shift < 0,
		.shift = _mm512_set1_epi32(-s->factor[i].shift - 1),
		.up = (unsigned int)s->left_shift - 1,
	};
}

AVX512_INLINE __m512i term_value(const struct term *t, const bool shifted, __m128i bytes)
{
	__m512i x = _mm512_cvtepu8_epi32(bytes), v;

	if (!shifted)
		return _mm512_add_epi32(_mm512_slli_epi32(x, t->up), t->high_add);
	v = _mm512_srai_epi32(_mm512_add_epi32(_mm512_mullo_epi32(x, t->low), t->low_add), t->down);
	v = _mm512_add_epi32(v, _mm512_add_epi32(_mm512_mullo_epi32(x, t->high), t->high_add));
	v = _mm512_add_epi32(avx512_shift(v, t->shift), _mm512_set1_epi32(1));
	return _mm512_srai_epi32(v, 1);
}

struct sums {
	struct term a, b;
	__m128i flip_a, flip_b;
	__m512i mult;
	__m512i shift;
	struct avx512_limits limits;
};

/* Sixteen sums, scaled. */
AVX512_INLINE __m512i sum_16(const struct sums *s, const bool shift_a, const bool shift_b,
			     const bool subtract, __m128i a, __m128i b)
{
	__m512i x = term_value(&s->a, shift_a, _mm_xor_si128(a, s->flip_a));
	__m512i y = term_value(&s->b, shift_b, _mm_xor_si128(b, s->flip_b));
	__m512i v = subtract ? _mm512_sub_epi32(x, y) : _mm512_add_epi32(x, y);

	return avx512_shift(avx512_mul_high(v, s->mult, s->mult), s->shift);
}

AVX512_INLINE __m128i load_16(const uint8_t *x)
{
	return _mm_loadu_si128((const __m128i *)x);
}

AVX512_INLINE void add_all(const uint8_t *a, const uint8_t *b, size_t n, const struct sums *s,
			   const bool shift_a, const bool shift_b, const bool subtract, uint8_t *y)
{
	size_t i = 0;

	for (; i + 64 <= n; i += 64) {
		__m512i v[4];

		for (unsigned int j = 0; j < 4; j++)
			v[j] = sum_16(s, shift_a, shift_b, subtract, load_16(a + i + 16 * j),
				      load_16(b + i + 16 * j));
		/* Four vectors of sixteen sums side by side: quarters alternate, as of four rows. */
		_mm512_storeu_si512(y + i, avx512_to_bytes_4(v[0], v[1], v[2], v[3], &s->limits));
	}
	for (; i < n; i += 16) {
		__mmask16 some = (__mmask16)first(n - i < 16 ? n - i : 16);
		__m512i v = sum_16(s, shift_a, shift_b, subtract,
				   _mm_maskz_loadu_epi8(some, a + i),
				   _mm_maskz_loadu_epi8(some, b + i));

		_mm_mask_storeu_epi8(y + i, some, avx512_to_bytes(v, &s->limits));
	}
}

AVX512_INLINE void add_shifted(const uint8_t *a, const uint8_t *b, size_t n, const struct sums *s,
			       const bool subtract, uint8_t *y)
{
	if (s->a.shifted && s->b.shifted)
		add_all(a, b, n, s, true, true, subtract, y);
	else if (s->a.shifted)
		add_all(a, b, n, s, true, false, subtract, y);
	else if (s->b.shifted)
		add_all(a, b, n, s, false, true, subtract, y);
	else
		add_all(a, b, n, s, false, false, subtract, y);
}

AVX512 static void exact_qsum(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *q,
			      uint8_t *y)
{
	struct sums s;

	/* Outside of this range the parts of a factor do not fit. Nobody needs other factors. */
	if (q->left_shift < 15 || q->left_shift > 20 ||
	    (q->factor[0].shift == 0 && !is_half(q->factor[0])) ||
	    (q->factor[1].shift == 0 && !is_half(q->factor[1]))) {
		kernels_avx2()->qsum(a, b, n, q, y);
		return;
	}
	s.a = term_of(q, 0);
	s.b = term_of(q, 1);
	s.flip_a = _mm_set1_epi8((char)q->byte[0].flip);
	s.flip_b = _mm_set1_epi8((char)q->byte[1].flip);
	s.mult = _mm512_set1_epi32(q->out.mult);
	s.shift = _mm512_set1_epi32(-q->out.shift - 1);
	s.limits = avx512_limits_of(q->zero_point, q->range);
	if (q->subtract)
		add_shifted(a, b, n, &s, true, y);
	else
		add_shifted(a, b, n, &s, false, y);
}

/* Bytes at once that near_sum.h is for. */
#define NEAR_BYTES	64u

AVX512_INLINE __m512i near_16(const uint8_t *a, const uint8_t *b, const bool is_signed,
			      __m512i factor_a, __m512i factor_b, __m512i add)
{
	__m512i v = is_signed ? _mm512_cvtepi8_epi32(load_16(a)) : _mm512_cvtepu8_epi32(load_16(a));
	__m512i w = is_signed ? _mm512_cvtepi8_epi32(load_16(b)) : _mm512_cvtepu8_epi32(load_16(b));

	return _mm512_add_epi32(_mm512_add_epi32(_mm512_mullo_epi32(v, factor_a), add),
				_mm512_mullo_epi32(w, factor_b));
}

/* Groups of bytes; those that are not sure are summed again. How many it has done: not all if many are not. */
AVX512_INLINE size_t near_sums(const uint8_t *a, const uint8_t *b, size_t n,
			       const struct near_sum *near, const bool is_signed,
			       const struct qsum *q, uint8_t *y)
{
	__m512i factor_a = _mm512_set1_epi32(near->a), factor_b = _mm512_set1_epi32(near->b);
	__m512i add = _mm512_set1_epi32(near->add);
	__m512i out = _mm512_set1_epi32((1 << near->down) - 1);	/* what is shifted out */
	__m512i unsure = _mm512_set1_epi32((int)near->unsure);
	__m128i down = _mm_cvtsi32_si128((int)near->down);
	__m512i min = _mm512_set1_epi8((char)q->range.min), max = _mm512_set1_epi8((char)q->range.max);
	const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
	size_t i = 0, again = 0;

	for (; i + NEAR_BYTES <= n && again <= NEAR_SUM_AGAIN + i / (8 * NEAR_BYTES); i += NEAR_BYTES) {
		__m512i least = _mm512_set1_epi32(-1), v[4];

		for (unsigned int j = 0; j < 4; j++) {
			v[j] = near_16(a + i + 16 * j, b + i + 16 * j, is_signed, factor_a, factor_b,
				       add);
			least = _mm512_min_epu32(least, _mm512_and_si512(v[j], out));
			v[j] = _mm512_sra_epi32(v[j], down);
		}
		if (_mm512_cmplt_epu32_mask(least, unsure)) {
			exact_qsum(a + i, b + i, NEAR_BYTES, q, y + i);
			again++;
			continue;
		}
		v[0] = _mm512_packs_epi32(v[0], v[1]);
		v[2] = _mm512_packs_epi32(v[2], v[3]);
		if (is_signed)
			v[0] = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(v[0], v[2]), min), max);
		else
			v[0] = _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(v[0], v[2]), min), max);
		_mm512_storeu_si512(y + i, _mm512_permutexvar_epi32(order, v[0]));
	}
	return i;
}

AVX512 void avx512_qsum(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *q,
			uint8_t *y)
{
	struct near_sum near;
	size_t done = 0;

	if (n >= NEAR_SUM_MIN && near_sum_of(q, &near)) {
		if (near.is_signed)
			done = near_sums(a, b, n, &near, true, q, y);
		else
			done = near_sums(a, b, n, &near, false, q, y);
	}
	if (done < n)
		exact_qsum(a + done, b + done, n - done, q, y + done);
}

#endif
