/* SPDX-License-Identifier: MIT */
/*
 * Sums of integers to bytes with the vectors of AVX2, and how they are loaded. Requantization follows
 * quant.h step by step on eight numbers at once.
 */
#ifndef NNPU_EMU_KERNELS_AVX2_REQUANT_H
#define NNPU_EMU_KERNELS_AVX2_REQUANT_H

#include "kernels_avx2.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

INLINE __m256i load(const void *p)
{
	return _mm256_loadu_si256(p);
}

INLINE __m128i load_half(const void *p)
{
	return _mm_loadu_si128(p);
}

/* Eight bytes. */
INLINE __m128i load_quarter(const void *p)
{
	return _mm_loadl_epi64(p);
}

INLINE int32_t load_pair(const int16_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * A sum stays in its register. Compilers keep an array of them in memory, and if they may
 * move all loads to the front, they run out of registers. Either halves the speed.
 */
#define KEEP(v)		asm("" : "+x"(v))

/* Factors of eight channels, whose shifts are all to the right. */
struct factors {
	__m256i mult;
	__m256i odd_mult;		/* of odd channels, moved to the places of even ones */
	__m256i shift;			/* 0 to 31 */
	__m256i mask;			/* 2^shift - 1 */
};

INLINE struct factors factors_of(const struct requant *q, uint32_t channel)
{
	uint32_t i = q->per_channel ? channel : 0;
	struct factors f;
	__m256i one = _mm256_set1_epi32(1);

	f.mult = load(q->mult + i);
	f.odd_mult = _mm256_srli_epi64(f.mult, 32);
	f.shift = _mm256_sub_epi32(_mm256_setzero_si256(), load(q->shift + i));
	f.mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, f.shift), one);
	return f;
}

/* q_shift_right(q_mul_high(v, mult), shift) */
INLINE __m256i scale(__m256i v, const struct factors *f)
{
	const __m256i round = _mm256_set1_epi64x(1 << 30);
	__m256i even = _mm256_add_epi64(_mm256_mul_epi32(v, f->mult), round);
	__m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(v, 32), f->odd_mult),
				       round);
	__m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 31),
					  _mm256_slli_epi64(odd, 1), 0xaa);
	__m256i rest = _mm256_and_si256(high, f->mask);
	/* Minus one where the number is negative. */
	__m256i sign = _mm256_srai_epi32(high, 31);
	__m256i half = _mm256_sub_epi32(_mm256_srli_epi32(f->mask, 1), sign);

	return _mm256_sub_epi32(_mm256_srav_epi32(high, f->shift),
				_mm256_cmpgt_epi32(rest, half));
}

struct limits {
	__m256i zero_point, min, max;
};

INLINE struct limits limits_of(const struct requant *q)
{
	return (struct limits){
		.zero_point = _mm256_set1_epi16((int16_t)q->zero_point),
		.min = _mm256_set1_epi16((int16_t)q->range.min),
		.max = _mm256_set1_epi16((int16_t)q->range.max),
	};
}

/*
 * Sixteen bytes. After a right shift the scaled numbers are far from the limits of 32
 * bits. So saturating to 16 bits and limiting then gives the same as adding and limiting
 * in 32 bits.
 */
INLINE __m128i to_bytes(__m256i a, __m256i b, const struct factors *fa,
			const struct factors *fb, const struct limits *l)
{
	__m256i v = _mm256_packs_epi32(scale(a, fa), scale(b, fb));

	v = _mm256_adds_epi16(v, l->zero_point);
	v = _mm256_min_epi16(_mm256_max_epi16(v, l->min), l->max);
	v = _mm256_and_si256(v, _mm256_set1_epi16(0xff));
	v = _mm256_packus_epi16(v, v);
	/* a0-3 b0-3 in the lower lane, a4-7 b4-7 in the upper one. */
	return _mm_unpacklo_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

INLINE void store_bytes(uint8_t *y, __m128i v, unsigned int n)
{
	uint8_t bytes[KERNEL_COLS];

	if (n == KERNEL_COLS) {
		_mm_storeu_si128((__m128i *)y, v);
	} else if (n == KERNEL_COLS / 2) {
		_mm_storel_epi64((__m128i *)y, v);
	} else {
		_mm_storeu_si128((__m128i *)bytes, v);
		memcpy(y, bytes, n);
	}
}

#endif

#endif /* NNPU_EMU_KERNELS_AVX2_REQUANT_H */
