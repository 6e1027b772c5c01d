// SPDX-License-Identifier: MIT
/*
 * qrow() of kernels.h with the vectors of AVX2: a row of inputs by four panels of weights at a time,
 * which share its loads. The sums of one panel alone would wait for each other.
 */
#include "kernels_avx2_requant.h"

#if defined(__x86_64__)

#define EACH_PANEL(what)	what(0) what(1) what(2) what(3)
#define MANY_PANELS		4u

/* What qrow() has, with limits and factors in registers. */
struct row {
	const int16_t *x;
	size_t pairs;
	__m256i add;
	const struct requant *q;
	struct limits limits;
	struct factors shared[2];
};

/* Sixteen channels, or as many of them as are left: their sums become bytes. */
INLINE void finish_row(const struct row *r, __m256i a, __m256i b, uint32_t col, uint32_t n,
		       uint8_t *y)
{
	struct factors fa = r->shared[0], fb = r->shared[1];

	if (r->q->per_channel) {
		fa = factors_of(r->q, col);
		fb = factors_of(r->q, col + KERNEL_PANEL);
	}
	store_bytes(y + col, to_bytes(a, b, &fa, &fb, &r->limits),
		    n < KERNEL_COLS ? n : KERNEL_COLS);
}

/* The biases of the panel that begins @at channels behind @bias, of @n channels. */
INLINE __m256i load_bias(const int32_t *bias, uint32_t at, uint32_t n)
{
	const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

	if (at + KERNEL_PANEL <= n)
		return load(bias + at);
	return _mm256_maskload_epi32(bias + at,
				     _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n - at)), places));
}

#define CLEAR_PANEL(p)	__m256i a##p = r->add;

#define BIAS_PANEL(p) \
	if (panels > p) \
		a##p = _mm256_add_epi32(a##p, load_bias(bias, p * KERNEL_PANEL, n));

#define ADD_PANEL(p) \
	if (panels > p) { \
		__m256i wide = _mm256_cvtepi8_epi16(load_half(w + p * panel)); \
		\
		a##p = _mm256_add_epi32(a##p, _mm256_madd_epi16(v, wide)); \
		KEEP(a##p); \
	}

/* Some panels. Inlined with a constant number of them. */
INLINE void multiply_panels(const unsigned int panels, const struct row *r, const int8_t *w,
			    const int32_t *bias, uint32_t col, uint32_t n, uint8_t *y)
{
	size_t panel = r->pairs * 2 * KERNEL_PANEL;

	EACH_PANEL(CLEAR_PANEL)
	EACH_PANEL(BIAS_PANEL)
#pragma GCC unroll 4
	for (size_t i = 0; i < r->pairs; i++, w += 2 * KERNEL_PANEL) {
		__m256i v = _mm256_set1_epi32(load_pair(r->x + 2 * i));

		EACH_PANEL(ADD_PANEL)
	}
	finish_row(r, a0, a1, col, n, y);
	if (panels > 2)
		finish_row(r, a2, a3, col + KERNEL_COLS, n - KERNEL_COLS, y);
}

AVX2 void avx2_qrow(const int16_t *x, const int8_t *w, size_t pairs, const int32_t *bias,
		    int32_t add, const struct requant *q, uint32_t col, uint32_t n, uint8_t *y)
{
	struct row r = {
		.x = x,
		.pairs = pairs,
		.add = _mm256_set1_epi32(add),
		.q = q,
		.limits = limits_of(q),
		.shared = { factors_of(q, col), factors_of(q, col + KERNEL_PANEL) },
	};

	for (; n > 3 * KERNEL_PANEL; w += MANY_PANELS * pairs * 2 * KERNEL_PANEL) {
		uint32_t done = n < MANY_PANELS * KERNEL_PANEL ? n : MANY_PANELS * KERNEL_PANEL;

		multiply_panels(MANY_PANELS, &r, w, bias, col, done, y);
		bias += done;
		col += done;
		n -= done;
	}
	if (n > 2 * KERNEL_PANEL)
		multiply_panels(3, &r, w, bias, col, n, y);
	else if (n > KERNEL_PANEL)
		multiply_panels(2, &r, w, bias, col, n, y);
	else if (n)
		multiply_panels(1, &r, w, bias, col, n, y);
}

#endif
