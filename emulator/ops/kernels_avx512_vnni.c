// SPDX-License-Identifier: MIT
/*
 * The variant of kernels.h for AVX-512 with VNNI: VPDPWSSD multiplies pairs and adds them to the
 * sum, without saturation. For one row, VPDPBUSD does so with four bytes, which weights need not be
 * widened for.
 */
#include "kernels_avx512.h"

#if defined(__x86_64__)

#define DOT	__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")))
#define dot_512(sum, a, b)	_mm512_dpwssd_epi32(sum, a, b)
#define dot_256(sum, a, b)	_mm256_dpwssd_epi32(sum, a, b)

#include "kernels_avx512_dot.h"

/*
 * qrow_bytes(). Inputs are unsigned: the sum is that of (byte - zero point) * weight = byte *
 * weight - zero point * weight. The weights are summed on the way, which costs less than to read
 * such sums, and no memory.
 */

/* Sums of one or two panels, which are adjacent in a vector for two halves of the positions. */
DOT_INLINE __m512i join_halves(__m512i a, __m512i b)
{
	const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
					       28, 30);
	const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));

	return _mm512_add_epi32(_mm512_permutex2var_epi32(a, even, b),
				_mm512_permutex2var_epi32(a, odd, b));
}

/* What qrow_bytes() has, with limits and factors in registers. */
struct byte_row {
	const uint8_t *x;
	struct qbyte byte;
	size_t depth;
	const struct requant *q;
	struct avx512_limits limits;
	struct avx512_factors shared;
};

/* Up to KERNEL_COLS channels from @col on: their sums of products and of weights become bytes. */
DOT_INLINE void finish_bytes(const struct byte_row *r, const bool biased, __m512i products,
			     __m512i weights, const int32_t *bias, uint32_t col, uint32_t n,
			     uint8_t *y)
{
	__mmask16 some = n < KERNEL_COLS ? (__mmask16)((1u << n) - 1) : 0xffff;
	struct avx512_factors f = r->q->per_channel ? avx512_factors_of(r->q, col) : r->shared;
	__m512i total = _mm512_add_epi32(products, _mm512_maskz_loadu_epi32(some, bias));

	if (biased)
		total = _mm512_sub_epi32(total, _mm512_mullo_epi32(weights,
								   _mm512_set1_epi32(r->byte.bias)));
	_mm_mask_storeu_epi8(y + col, some,
			     avx512_to_bytes(avx512_scale(total, &f), &r->limits));
}

#define CLEAR_BYTE_PANEL(p)	__m512i a##p = _mm512_setzero_si512(), s##p = a##p;

#define ADD_BYTE_PANEL(p) \
	if (panels > p) { \
		__m512i v = _mm512_maskz_loadu_epi16(some, w + p * panel); \
		\
		v = _mm512_permutexvar_epi16(order, v); \
		a##p = _mm512_dpbusd_epi32(a##p, u, v); \
		if (biased) \
			s##p = _mm512_dpbusd_epi32(s##p, ones, v); \
	}

/* Some panels. Inlined with constants. */
DOT_INLINE void multiply_bytes(const unsigned int panels, const bool biased,
			       const struct byte_row *r, const int8_t *w, const int32_t *bias,
			       uint32_t col, uint32_t n, uint8_t *y)
{
	/* Of the weights of four pairs, those of a channel become adjacent. */
	const __m512i order = _mm512_set_epi16(
		31, 23, 15, 7, 30, 22, 14, 6, 29, 21, 13, 5, 28, 20, 12, 4,
		27, 19, 11, 3, 26, 18, 10, 2, 25, 17, 9, 1, 24, 16, 8, 0);
	const __m512i flip = _mm512_set1_epi8((char)r->byte.flip), ones = _mm512_set1_epi8(1);
	size_t panel = (r->depth + 1) / 2 * 2 * KERNEL_PANEL;
	__mmask32 some = 0xffffffff;

	EACH_PANEL(CLEAR_BYTE_PANEL)
	for (size_t i = 0; i < r->depth; i += 8, w += 8 * KERNEL_PANEL) {
		size_t left = r->depth - i;
		uint64_t bytes = 0;
		__m512i u;

		/* Behind the row, weights are 0. */
		if (left < 8) {
			memcpy(&bytes, r->x + i, left);
			some >>= 32 - (left + 1) / 2 * KERNEL_PANEL;
		} else {
			memcpy(&bytes, r->x + i, sizeof(bytes));
		}
		u = _mm512_xor_si512(_mm512_set1_epi64((long long)bytes), flip);
		EACH_PANEL(ADD_BYTE_PANEL)
	}
	finish_bytes(r, biased, join_halves(a0, a1), join_halves(s0, s1), bias, col, n, y);
	if (panels > 2 && n > KERNEL_COLS)
		finish_bytes(r, biased, join_halves(a2, a3), join_halves(s2, s3),
			     bias + KERNEL_COLS, col + KERNEL_COLS, n - KERNEL_COLS, y);
}

DOT_INLINE void multiply_byte_row(const bool biased, const struct byte_row *r, const int8_t *w,
				  const int32_t *bias, uint32_t col, uint32_t n, uint8_t *y)
{
	size_t panel = (r->depth + 1) / 2 * 2 * KERNEL_PANEL;

	for (; n > 3 * KERNEL_PANEL; w += MANY_PANELS * panel) {
		uint32_t done = n < MANY_PANELS * KERNEL_PANEL ? n : MANY_PANELS * KERNEL_PANEL;

		multiply_bytes(MANY_PANELS, biased, r, w, bias, col, done, y);
		bias += done;
		col += done;
		n -= done;
	}
	if (n > 2 * KERNEL_PANEL)
		multiply_bytes(3, biased, r, w, bias, col, n, y);
	else if (n > KERNEL_PANEL)
		multiply_bytes(2, biased, r, w, bias, col, n, y);
	else if (n)
		multiply_bytes(1, biased, r, w, bias, col, n, y);
}

DOT static void qrow_bytes(const uint8_t *x, struct qbyte b, size_t depth, const int8_t *w,
			   const int32_t *bias, const struct requant *q, uint32_t col, uint32_t n,
			   uint8_t *y)
{
	struct byte_row r = {
		.x = x,
		.byte = b,
		.depth = depth,
		.q = q,
		.limits = avx512_limits_of(q->zero_point, q->range),
		.shared = avx512_factors_of(q, col),
	};

	if (b.bias)
		multiply_byte_row(true, &r, w, bias, col, n, y);
	else
		multiply_byte_row(false, &r, w, bias, col, n, y);
}

DOT_VARIANT(vnni, .qrow_bytes = qrow_bytes);

const struct kernels *kernels_avx512_vnni(void)
{
	return kernels_avx512() && __builtin_cpu_supports("avx512vnni") ? &vnni : NULL;
}

#else

const struct kernels *kernels_avx512_vnni(void)
{
	return NULL;
}

#endif
