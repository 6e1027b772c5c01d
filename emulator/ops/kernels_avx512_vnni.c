// SPDX-License-Identifier: MIT
/*
 * The variant of kernels.h for AVX-512 with VNNI: VPDPWSSD multiplies pairs and adds them to the
 * sum, without saturation. VPDPBUSD does so with four bytes of whole rows, which neither inputs nor
 * weights need to be widened for.
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
	__m512i total = _mm512_add_epi32(products, avx512_load_bias(bias, some));

	if (biased)
		total = _mm512_sub_epi32(total, _mm512_mullo_epi32(weights,
								   _mm512_set1_epi32(r->byte.bias)));
	_mm_mask_storeu_epi8(y + col, some,
			     avx512_to_bytes(avx512_scale(total, &f), &r->limits));
}

#define CLEAR_BYTE_PANEL(p)	__m512i a##p = _mm512_setzero_si512(), s##p = a##p;

#define ADD_BYTE_PANEL(p) \
	if (panels > p) { \
		__m512i v = whole ? _mm512_loadu_si512(w + p * panel) : \
				    _mm512_maskz_loadu_epi16(some, w + p * panel); \
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
	const uint8_t *x = r->x, *end = x + r->depth;
	__mmask32 some = 0xffffffff;

	EACH_PANEL(CLEAR_BYTE_PANEL)
	for (; x + 8 <= end; x += 8, w += 8 * KERNEL_PANEL) {
		const bool whole = true;
		uint64_t bytes;
		__m512i u;

		memcpy(&bytes, x, sizeof(bytes));
		u = _mm512_xor_si512(_mm512_set1_epi64((long long)bytes), flip);
		EACH_PANEL(ADD_BYTE_PANEL)
	}
	/* Behind the row, weights are 0. */
	if (x < end) {
		const bool whole = false;
		size_t left = (size_t)(end - x);
		uint64_t bytes = 0;
		__m512i u;

		memcpy(&bytes, x, left);
		some >>= 32 - (left + 1) / 2 * KERNEL_PANEL;
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

/* Rows of bytes. */

DOT static void sum_rows(const uint8_t *x, size_t stride, unsigned int rows, size_t n,
			 int32_t *sums)
{
	__mmask64 rest = n % 64 ? ~0ull >> (64 - n % 64) : 0;

	for (unsigned int r = 0; r < rows; r++, x += stride) {
		const __m512i zero = _mm512_setzero_si512();
		__m512i total = zero;
		size_t i = 0;

		for (; i + 64 <= n; i += 64)
			total = _mm512_add_epi64(total, _mm512_sad_epu8(_mm512_loadu_si512(x + i),
									zero));
		if (rest)
			total = _mm512_add_epi64(total, _mm512_sad_epu8(
					_mm512_maskz_loadu_epi8(rest, x + i), zero));
		sums[r] = (int32_t)_mm512_reduce_add_epi64(total);
	}
}

DOT static void flip_bytes(const uint8_t *x, uint8_t flip, size_t n, uint8_t *y)
{
	const __m512i flips = _mm512_set1_epi8((char)flip);
	size_t i = 0;

	for (; i + 64 <= n; i += 64)
		_mm512_storeu_si512(y + i, _mm512_xor_si512(_mm512_loadu_si512(x + i), flips));
	if (i < n) {
		__mmask64 some = ~0ull >> (64 - (n - i));

		_mm512_mask_storeu_epi8(y + i, some, _mm512_xor_si512(
				_mm512_maskz_loadu_epi8(some, x + i), flips));
	}
}

/* A run may end in the middle of a vector: what is behind it is overwritten by the next one. */
DOT static void gather_bytes(const struct gathered *g, uint8_t flip, uint8_t *y, size_t stride)
{
	const __m512i flips = _mm512_set1_epi8((char)flip);
	const __m128i some_flips = _mm512_castsi512_si128(flips);

	for (unsigned int r = 0; r < g->rows; r++) {
		const uint8_t *x = g->from + r * g->step;
		uint8_t *to = y + r * stride;

		for (unsigned int run = 0; run < g->runs; run++, x += g->next, to += g->run) {
			size_t i = 0;

			for (; i + 64 <= g->run; i += 64)
				_mm512_storeu_si512(to + i, _mm512_xor_si512(
						    _mm512_loadu_si512(x + i), flips));
			for (; i < g->run; i += 16)
				_mm_storeu_si128((__m128i *)(to + i), _mm_xor_si128(
						 _mm_loadu_si128((const __m128i *)(x + i)),
						 some_flips));
		}
	}
}

/* What all rows of qconv() have in common, by vectors of KERNEL_COLS channels. */
struct byte_conv {
	size_t stride, pairs;
	const int8_t *w[2];
	size_t next[2];			/* from a panel to the next one; 0: it is the last */
	__m512i base[2];
	struct avx512_factors factors[2];
	struct avx512_limits limits;
	__mmask16 some;			/* channels of the last vector */
	size_t y_stride;
};

/* Weights of two panels for two pairs, or for one: those of a channel become adjacent. */
DOT_INLINE __m512i load_quad(const bool half, const int8_t *w, size_t next)
{
	const __m512i order = _mm512_set_epi16(
		31, 23, 30, 22, 29, 21, 28, 20, 27, 19, 26, 18, 25, 17, 24, 16,
		15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
	const __m128i *first = (const __m128i *)w, *second = (const __m128i *)(w + next);
	__m256i a, b;

	if (half) {
		a = _mm256_zextsi128_si256(_mm_loadu_si128(first));
		b = _mm256_zextsi128_si256(_mm_loadu_si128(second));
	} else {
		a = _mm256_loadu_si256((const __m256i *)first);
		b = _mm256_loadu_si256((const __m256i *)second);
	}
	return _mm512_permutexvar_epi16(order, _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1));
}

#define QUAD	(4 * KERNEL_PANEL)

/* What a byte of @zero in all positions adds. */
DOT_INLINE __m512i sum_of_zeros(const struct byte_conv *b, unsigned int i, int32_t zero)
{
	const __m512i bytes = _mm512_set1_epi8((char)zero);
	__m512i sum = _mm512_setzero_si512();
	const int8_t *w = b->w[i];

	if (!zero)
		return sum;
	for (size_t k = 0; k + 2 <= b->pairs; k += 2, w += QUAD)
		sum = _mm512_dpbusd_epi32(sum, bytes, load_quad(false, w, b->next[i]));
	if (b->pairs % 2)
		sum = _mm512_dpbusd_epi32(sum, bytes, load_quad(true, w, b->next[i]));
	return sum;
}

#define CLEAR_ROW(r)	__m512i a##r = _mm512_setzero_si512(), b##r = a##r;

#define ADD_ROW(r) \
	if (rows > r) { \
		int32_t quad; \
		__m512i u; \
		\
		memcpy(&quad, (r < 3 ? x0 : r < 6 ? x3 : r < 9 ? x6 : x9) + r % 3 * stride, \
		       sizeof(quad)); \
		u = _mm512_set1_epi32(quad); \
		a##r = _mm512_dpbusd_epi32(a##r, u, v0); \
		AVX512_KEEP(a##r); \
		if (vectors > 1) { \
			b##r = _mm512_dpbusd_epi32(b##r, u, v1); \
			AVX512_KEEP(b##r); \
		} \
	}

DOT_INLINE __m512i scale_sums(const struct byte_conv *c, unsigned int i, __m512i sum, int32_t add)
{
	__m512i total = _mm512_add_epi32(_mm512_add_epi32(sum, c->base[i]), _mm512_set1_epi32(add));

	return avx512_scale(total, &c->factors[i]);
}

/* One row's vector, and those of four rows, to whose addresses @y_stride is added each. */
DOT_INLINE void finish_row_of(const struct byte_conv *c, unsigned int i, __m512i sum,
			      const int32_t *add, __mmask16 some, uint8_t *y)
{
	__m512i scaled = scale_sums(c, i, sum, add[0]);

	_mm_mask_storeu_epi8(y, some, avx512_to_bytes(scaled, &c->limits));
}

DOT_INLINE void finish_four(const struct byte_conv *c, unsigned int i, __m512i s0, __m512i s1,
			    __m512i s2, __m512i s3, const int32_t *add, __mmask16 some, uint8_t *y)
{
	__m512i v = avx512_to_bytes_4(scale_sums(c, i, s0, add[0]), scale_sums(c, i, s1, add[1]),
				      scale_sums(c, i, s2, add[2]), scale_sums(c, i, s3, add[3]),
				      &c->limits);

	_mm_mask_storeu_epi8(y, some, _mm512_castsi512_si128(v));
	_mm_mask_storeu_epi8(y + c->y_stride, some, _mm512_extracti32x4_epi32(v, 1));
	_mm_mask_storeu_epi8(y + 2 * c->y_stride, some, _mm512_extracti32x4_epi32(v, 2));
	_mm_mask_storeu_epi8(y + 3 * c->y_stride, some, _mm512_extracti32x4_epi32(v, 3));
}

/* Rows [first, first + 4), if there are so many. */
#define FINISH_FOUR(first, r1, r2, r3) \
	if (rows > r3) { \
		uint8_t *to = y + first * c->y_stride; \
		\
		finish_four(c, 0, a##first, a##r1, a##r2, a##r3, add + first, \
			    vectors > 1 ? 0xffff : c->some, to); \
		if (vectors > 1) \
			finish_four(c, 1, b##first, b##r1, b##r2, b##r3, add + first, c->some, \
				    to + KERNEL_COLS); \
	}

#define FINISH_ROW(r) \
	if (rows > r) { \
		uint8_t *to = y + r * c->y_stride; \
		\
		finish_row_of(c, 0, a##r, add + r, vectors > 1 ? 0xffff : c->some, to); \
		if (vectors > 1) \
			finish_row_of(c, 1, b##r, add + r, c->some, to + KERNEL_COLS); \
	}

/* 1, 2, 4, 8 or 12 rows, by one vector of channels or by two. Inlined with constants. */
DOT_INLINE void convolve_rows(const unsigned int rows, const unsigned int vectors,
			      const struct byte_conv *c, const uint8_t *x, const int32_t *add,
			      uint8_t *y)
{
	const int8_t *w0 = c->w[0], *w1 = c->w[1];
	size_t stride = c->stride;
	const uint8_t *x0 = x, *x3 = x + (rows > 3 ? 3 * stride : 0);
	const uint8_t *x6 = x + (rows > 6 ? 6 * stride : 0);
	const uint8_t *x9 = x + (rows > 9 ? 9 * stride : 0);
	__m512i v0, v1 = _mm512_setzero_si512();

	EACH_ROW(CLEAR_ROW)
	for (size_t k = 0; k + 2 <= c->pairs; k += 2) {
		v0 = load_quad(false, w0, c->next[0]);
		if (vectors > 1)
			v1 = load_quad(false, w1, c->next[1]);
		EACH_ROW(ADD_ROW)
		w0 += QUAD, w1 += QUAD;
		x0 += 4, x3 += 4, x6 += 4, x9 += 4;
		asm("" : "+r"(x0), "+r"(x3), "+r"(x6), "+r"(x9));
	}
	if (c->pairs % 2) {
		v0 = load_quad(true, w0, c->next[0]);
		if (vectors > 1)
			v1 = load_quad(true, w1, c->next[1]);
		EACH_ROW(ADD_ROW)
	}
	if (rows < 4) {
		FINISH_ROW(0)
		FINISH_ROW(1)
	}
	FINISH_FOUR(0, 1, 2, 3)
	FINISH_FOUR(4, 5, 6, 7)
	FINISH_FOUR(8, 9, 10, 11)
}

/* All rows: as many at once as have their sums in registers, then fewer. Inlined with constants. */
DOT_INLINE void convolve_all(const unsigned int most, const unsigned int vectors,
			     const struct byte_conv *c, const uint8_t *x, unsigned int rows,
			     const int32_t *add, uint8_t *y)
{
	for (unsigned int n; rows; rows -= n, x += n * c->stride, add += n, y += n * c->y_stride) {
		n = rows >= most ? most : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
		if (n == most)
			convolve_rows(most, vectors, c, x, add, y);
		else if (n == 4)
			convolve_rows(4, vectors, c, x, add, y);
		else if (n == 2)
			convolve_rows(2, vectors, c, x, add, y);
		else
			convolve_rows(1, vectors, c, x, add, y);
	}
}

DOT static void qconv(const uint8_t *x, size_t stride, unsigned int rows, const int8_t *w,
		      size_t depth, int32_t zero, const int32_t *bias, const int32_t *add,
		      const struct requant *q, uint32_t col, uint32_t n, uint8_t *y, size_t y_stride)
{
	size_t panel = (depth + 1) / 2 * 2 * KERNEL_PANEL;
	unsigned int vectors = n > KERNEL_COLS ? 2 : 1;
	struct byte_conv c;

	c.stride = stride;
	c.pairs = (depth + 1) / 2;
	c.limits = avx512_limits_of(q->zero_point, q->range);
	c.y_stride = y_stride;
	for (unsigned int i = 0; i < vectors; i++) {
		uint32_t left = n - i * KERNEL_COLS;

		c.some = left < KERNEL_COLS ? (__mmask16)((1u << left) - 1) : 0xffff;
		c.w[i] = w + i * 2 * panel;
		c.next[i] = left > KERNEL_PANEL ? panel : 0;
		c.factors[i] = avx512_factors_of(q, col + i * KERNEL_COLS);
		c.base[i] = _mm512_sub_epi32(avx512_load_bias(bias + i * KERNEL_COLS, c.some),
					     sum_of_zeros(&c, i, zero));
	}
	if (vectors > 1) {
		convolve_all(8, 2, &c, x, rows, add, y);
	} else {
		c.w[1] = w;
		convolve_all(12, 1, &c, x, rows, add, y);
	}
}

DOT_VARIANT(vnni, .qrow_bytes = qrow_bytes, .sum_rows = sum_rows, .flip = flip_bytes,
	    .gather_bytes = gather_bytes, .qconv = qconv);

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
