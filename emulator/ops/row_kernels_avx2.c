// SPDX-License-Identifier: MIT
/* The loops of row_kernels.h with AVX2. */
#define ROW_WIDTH	8
#define ROW_DOT_VALUES	dot_in_bytes
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

/* row_rest() and row_store_rest(), not by way of memory. */
INLINE void load_rest(const float *x, size_t n, float fill, row_vector *v)
{
	*v = (row_vector)avx2_load_some(x + n / 8 * 8, n % 8, _mm256_set1_ps(fill));
}

INLINE void store_rest(const row_vector *v, size_t n, float *y)
{
	avx2_store_some(y + n / 8 * 8, n % 8, (__m256)*v);
}

/* Bytes of a vector, and vectors between two sums of 16 bits that are widened: 64 * 256 fits. */
#define BYTES	32u
#define VECTORS	64u

/*
 * Sums of a row. Products of bytes of inputs and weights would not fit 16 bits in pairs: so an input is
 * 2 * half + bit. What is left is the product of the zero point and the sum of the weights.
 */
struct dot {
	__m256i halves;			/* of 32 bits */
	__m256i bits, weights;		/* of 16 bits */
};

INLINE __m256i load_bytes(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

/* @rows: known where this is called. @mask: of the bytes that count. */
INLINE void dot_vector(const unsigned int rows, __m256i x, const uint8_t *const *w, size_t at,
		       __m256i flips, __m256i mask, struct dot *d)
{
	const __m256i ones = _mm256_set1_epi8(1), pairs = _mm256_set1_epi16(1);
	__m256i half = _mm256_and_si256(_mm256_srli_epi16(x, 1), _mm256_set1_epi8(0x7f));
	__m256i bit = _mm256_and_si256(x, ones);

	for (unsigned int r = 0; r < rows; r++) {
		__m256i b = _mm256_and_si256(_mm256_xor_si256(load_bytes(w[r] + at), flips), mask);
		__m256i products = _mm256_maddubs_epi16(half, b);

		d[r].halves = _mm256_add_epi32(d[r].halves, _mm256_madd_epi16(products, pairs));
		d[r].bits = _mm256_add_epi16(d[r].bits, _mm256_maddubs_epi16(bit, b));
		d[r].weights = _mm256_add_epi16(d[r].weights, _mm256_maddubs_epi16(ones, b));
	}
}

INLINE int32_t sum_of_words(__m256i v)
{
	__m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
	sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
	return _mm_cvtsi128_si32(sum);
}

/* At least BYTES inputs: the last vector has some of those before, which do not count. */
INLINE void dot_rows(const unsigned int rows, const uint8_t *x, uint8_t x_flip, int16_t zero,
		     const uint8_t *const *w, uint8_t flip, size_t n, int32_t *sums)
{
	const __m256i x_flips = _mm256_set1_epi8((char)x_flip), flips = _mm256_set1_epi8((char)flip);
	const __m256i all = _mm256_set1_epi8(-1), pairs = _mm256_set1_epi16(1);
	uint8_t masks[2 * BYTES];
	struct dot d[2];

	memset(masks, 0, BYTES);
	memset(masks + BYTES, 0xff, BYTES);
	for (unsigned int r = 0; r < rows; r++)
		sums[r] = 0;
	for (size_t i = 0, end; i < n; i = end) {
		end = i + VECTORS * BYTES < n ? i + VECTORS * BYTES : n;
		for (unsigned int r = 0; r < rows; r++)
			d[r].halves = d[r].bits = d[r].weights = _mm256_setzero_si256();
		for (; i + BYTES <= end; i += BYTES)
			dot_vector(rows, _mm256_xor_si256(load_bytes(x + i), x_flips), w, i, flips, all, d);
		if (i < end)
			dot_vector(rows, _mm256_xor_si256(load_bytes(x + n - BYTES), x_flips), w, n - BYTES,
				   flips, load_bytes(masks + (n - i)), d);
		for (unsigned int r = 0; r < rows; r++)
			sums[r] += 2 * sum_of_words(d[r].halves) +
				   sum_of_words(_mm256_madd_epi16(d[r].bits, pairs)) -
				   zero * sum_of_words(_mm256_madd_epi16(d[r].weights, pairs));
	}
}

AVX2 static void dot_in_bytes(unsigned int rows, const uint8_t *x, uint8_t x_flip, int16_t zero,
			      const uint8_t *const *w, uint8_t flip, size_t n, int32_t *sums)
{
	if (n < BYTES) {
		for (unsigned int r = 0; r < rows; r++) {
			sums[r] = 0;
			for (size_t i = 0; i < n; i++)
				sums[r] += ((x[i] ^ x_flip) - zero) * (int8_t)(w[r][i] ^ flip);
		}
		return;
	}
	/* Compilers do not keep the sums of more rows in registers. */
	for (; rows > 1; rows -= 2, w += 2, sums += 2)
		dot_rows(2, x, x_flip, zero, w, flip, n, sums);
	if (rows)
		dot_rows(1, x, x_flip, zero, w, flip, n, sums);
}

#include "row_kernels_loops.h"

ROW_KERNELS(avx2, AVX2);

#endif
