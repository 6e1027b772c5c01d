// SPDX-License-Identifier: MIT
/* The loops of row_kernels.h with AVX2. */
#define ROW_WIDTH	8
#define ROW_DOT_SOME	dot_some
#define ROW_REST	load_rest
#define ROW_STORE_REST	store_rest
#define ROW_TARGET	AVX2

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "avx2_some.h"
#include "row_kernels.h"
#include "row_sums.h"

#define AVX2	__attribute__((target("avx2")))
#define INLINE	static inline __attribute__((always_inline)) AVX2

/*
 * row_rest() and row_store_rest(), not by way of memory. If nothing is left, an address behind the row may
 * be in no page, for which CPUs take long even if nothing is loaded from there.
 */
INLINE void load_rest(const float *x, size_t n, float fill, row_vector *v)
{
	*v = (row_vector)avx2_load_some(n % 8 ? x + n / 8 * 8 : x, n % 8, _mm256_set1_ps(fill));
}

INLINE void store_rest(const row_vector *v, size_t n, float *y)
{
	avx2_store_some(y + n / 8 * 8, n % 8, (__m256)*v);
}

/* Bytes of a vector, and vectors whose sums times 256 have 32 bits: |input| < 256, |weight| <= 128. */
#define BYTES	32u
#define VECTORS	127u

/*
 * Sums of a row. Of each 16 bits of weights, the upper byte is shifted down, the lower one up: that takes
 * one step each, and the sums of the lower ones are 256 times what they are.
 */
struct dot {
	__m256i upper, lower;		/* of 32 bits */
};

INLINE __m256i load_bytes(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

/* What the bytes at @at of @rows rows add, with those of the inputs flipped. @mask: of those that count. */
INLINE void dot_vector(const unsigned int rows, __m256i x, __m256i zeros, const uint8_t *const *w,
		       size_t at, __m256i flips, __m256i mask, struct dot *d)
{
	__m256i lower = _mm256_sub_epi16(_mm256_and_si256(x, _mm256_set1_epi16(0xff)), zeros);
	__m256i upper = _mm256_sub_epi16(_mm256_srli_epi16(x, 8), zeros);

	for (unsigned int r = 0; r < rows; r++) {
		__m256i b = _mm256_and_si256(_mm256_xor_si256(load_bytes(w[r] + at), flips), mask);

		d[r].lower = _mm256_add_epi32(d[r].lower,
					      _mm256_madd_epi16(lower, _mm256_slli_epi16(b, 8)));
		d[r].upper = _mm256_add_epi32(d[r].upper,
					      _mm256_madd_epi16(upper, _mm256_srai_epi16(b, 8)));
	}
}

INLINE int32_t sum_of_words(__m256i v)
{
	__m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
	sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
	return _mm_cvtsi128_si32(sum);
}

/* row_dot_some(). The last vector has some of the inputs before, which do not count. */
INLINE void dot_some(const unsigned int rows, const uint8_t *x, uint8_t x_flip, int16_t zero,
		     const uint8_t *const *w, const uint8_t flip, size_t n, int32_t *sums)
{
	const __m256i x_flips = _mm256_set1_epi8((char)x_flip), zeros = _mm256_set1_epi16(zero);
	const __m256i flips = _mm256_set1_epi8((char)flip), all = _mm256_set1_epi8(-1);
	uint8_t masks[2 * BYTES];
	struct dot d[ROW_UNITS];

	if (n < BYTES) {
		for (unsigned int r = 0; r < rows; r++) {
			sums[r] = 0;
			for (size_t i = 0; i < n; i++)
				sums[r] += ((x[i] ^ x_flip) - zero) * (int8_t)(w[r][i] ^ flip);
		}
		return;
	}
	memset(masks, 0, BYTES);
	memset(masks + BYTES, 0xff, BYTES);
	for (unsigned int r = 0; r < rows; r++)
		d[r].upper = _mm256_setzero_si256();
	for (size_t i = 0, end; i < n; i = end) {
		end = i + VECTORS * BYTES < n ? i + VECTORS * BYTES : n;
		for (unsigned int r = 0; r < rows; r++)
			d[r].lower = _mm256_setzero_si256();
		for (; i + BYTES <= end; i += BYTES)
			dot_vector(rows, _mm256_xor_si256(load_bytes(x + i), x_flips), zeros, w, i,
				   flips, all, d);
		if (i < end)
			dot_vector(rows, _mm256_xor_si256(load_bytes(x + n - BYTES), x_flips), zeros, w,
				   n - BYTES, flips, load_bytes(masks + (n - i)), d);
		for (unsigned int r = 0; r < rows; r++)
			d[r].upper = _mm256_add_epi32(d[r].upper, _mm256_srai_epi32(d[r].lower, 8));
	}
	for (unsigned int r = 0; r < rows; r++)
		sums[r] = sum_of_words(d[r].upper);
}

#include "row_kernels_loops.h"

ROW_KERNELS(avx2, AVX2);

#endif
