// SPDX-License-Identifier: MIT
/*
 * The inner loops of kernels.h for floats with the vectors of AVX2 and FMA. A term is multiplied
 * and added with one rounding, in the rest of a row too: a channel has the same sum wherever the
 * row is divided.
 */
#include "kernels_avx2.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>

#include "avx2_some.h"

INLINE void fmultiply(const unsigned int rows, const unsigned int panels, const float *x,
		      size_t stride, const float *w, size_t depth, size_t panel, float *acc)
{
	__m256 total[KERNEL_ROWS][2];

	for (unsigned int r = 0; r < rows; r++) {
		for (unsigned int p = 0; p < panels; p++)
			total[r][p] = _mm256_loadu_ps(acc + r * KERNEL_COLS + p * KERNEL_PANEL);
	}
	for (size_t i = 0; i < depth; i++, x++, w += KERNEL_PANEL) {
		__m256 w0 = _mm256_loadu_ps(w), w1 = w0;

		if (panels > 1)
			w1 = _mm256_loadu_ps(w + panel);
		for (unsigned int r = 0; r < rows; r++) {
			__m256 v = _mm256_broadcast_ss(x + r * stride);

			total[r][0] = _mm256_fmadd_ps(v, w0, total[r][0]);
			if (panels > 1)
				total[r][1] = _mm256_fmadd_ps(v, w1, total[r][1]);
		}
	}
	for (unsigned int r = 0; r < rows; r++) {
		for (unsigned int p = 0; p < panels; p++)
			_mm256_storeu_ps(acc + r * KERNEL_COLS + p * KERNEL_PANEL, total[r][p]);
	}
}

INLINE void fmultiply_rows(unsigned int rows, const unsigned int panels, const float *x,
			   size_t stride, const float *w, size_t depth, size_t panel, float *acc)
{
	for (; rows >= KERNEL_ROWS; rows -= KERNEL_ROWS) {
		fmultiply(KERNEL_ROWS, panels, x, stride, w, depth, panel, acc);
		x += KERNEL_ROWS * stride;
		acc += KERNEL_ROWS * KERNEL_COLS;
	}
	for (; rows >= 3; rows -= 3) {
		fmultiply(3, panels, x, stride, w, depth, panel, acc);
		x += 3 * stride;
		acc += 3 * KERNEL_COLS;
	}
	if (rows == 2)
		fmultiply(2, panels, x, stride, w, depth, panel, acc);
	else if (rows == 1)
		fmultiply(1, panels, x, stride, w, depth, panel, acc);
}

AVX2 void avx2_fgemm(const float *x, size_t stride, unsigned int rows, const float *w,
		     size_t depth, size_t panel, unsigned int panels, float *acc)
{
	if (panels > 1)
		fmultiply_rows(rows, 2, x, stride, w, depth, panel, acc);
	else
		fmultiply_rows(rows, 1, x, stride, w, depth, panel, acc);
}

/* Rows of weights that are multiplied at once. */
#define AT_ONCE		4u

/* The sum of each of four vectors. */
INLINE __m128 sums_of(const __m256 *v)
{
	__m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));

	return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
}

/* Products of sixteen positions, side by side: terms of one sum would wait for each other. */
INLINE void fmultiply_unpacked(const float *x, const float *const *rows, size_t depth, float *acc)
{
	__m256 first[AT_ONCE], second[AT_ONCE];
	size_t i = 0;

	for (unsigned int c = 0; c < AT_ONCE; c++)
		first[c] = second[c] = _mm256_setzero_ps();
	for (; i + 16 <= depth; i += 16) {
		__m256 x0 = _mm256_loadu_ps(x + i), x1 = _mm256_loadu_ps(x + i + 8);

		for (unsigned int c = 0; c < AT_ONCE; c++) {
			first[c] = _mm256_fmadd_ps(x0, _mm256_loadu_ps(rows[c] + i), first[c]);
			second[c] = _mm256_fmadd_ps(x1, _mm256_loadu_ps(rows[c] + i + 8),
						    second[c]);
		}
	}
	for (unsigned int c = 0; c < AT_ONCE; c++)
		first[c] = _mm256_add_ps(first[c], second[c]);
	_mm_storeu_ps(acc, _mm_add_ps(_mm_loadu_ps(acc), sums_of(first)));
	for (; i < depth; i++) {
		for (unsigned int c = 0; c < AT_ONCE; c++)
			acc[c] = fmaf(x[i], rows[c][i], acc[c]);
	}
}

AVX2 void avx2_fgemm_rows(const float *x, size_t stride, unsigned int rows, const float *w,
			  size_t apart, size_t depth, unsigned int n, float *acc)
{
	for (unsigned int c = 0; c < n; c += AT_ONCE) {
		const float *weights[AT_ONCE];

		for (unsigned int i = 0; i < AT_ONCE; i++)
			weights[i] = w + (c + i < n ? c + i : n - 1) * apart;
		for (unsigned int r = 0; r < rows; r++)
			fmultiply_unpacked(x + r * stride, weights, depth,
					   acc + r * KERNEL_COLS + c);
	}
}

/* If an operand is a NaN, the instructions return the second one: a NaN stays a NaN. */
INLINE __m256 limit(__m256 v, struct frange range)
{
	v = _mm256_max_ps(_mm256_set1_ps(range.min), v);
	return _mm256_min_ps(_mm256_set1_ps(range.max), v);
}

AVX2 void avx2_finish(const float *acc, unsigned int rows, const float *bias,
		      struct frange range, unsigned int n, float *y, size_t y_stride)
{
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		unsigned int c = 0;

		for (; c + 8 <= n; c += 8) {
			__m256 v = _mm256_add_ps(_mm256_loadu_ps(acc + c),
						 _mm256_loadu_ps(bias + c));

			_mm256_storeu_ps(y + c, limit(v, range));
		}
		for (; c < n; c++)
			y[c] = f_clamp(acc[c] + bias[c], range.min, range.max);
	}
}

/* By @panels panels, of which the last one has less than eight of the @n channels, if they are so few. */
INLINE void row_by(const unsigned int panels, const float *x, size_t depth, const float *w,
		   const float *bias, struct frange range, unsigned int n, float *y)
{
	__m256 total[4];

	for (unsigned int p = 0; p < panels; p++)
		total[p] = _mm256_setzero_ps();
	for (size_t i = 0; i < depth; i++, w += KERNEL_PANEL) {
		__m256 v = _mm256_broadcast_ss(x + i);

		for (unsigned int p = 0; p < panels; p++)
			total[p] = _mm256_fmadd_ps(v, _mm256_loadu_ps(w + p * depth * KERNEL_PANEL),
						   total[p]);
	}
	for (unsigned int p = 0, c = 0; p < panels; p++, c += KERNEL_PANEL) {
		__m256 add = avx2_load_some(bias + c, n - c, _mm256_setzero_ps());

		avx2_store_some(y + c, n - c, limit(_mm256_add_ps(total[p], add), range));
	}
}

AVX2 void avx2_frow(const float *x, size_t depth, const float *w, const float *bias,
		    struct frange range, uint32_t n, float *y)
{
	const size_t panel = depth * KERNEL_PANEL;

	for (; n > 3 * KERNEL_PANEL; n -= 4 * KERNEL_PANEL, w += 4 * panel) {
		row_by(4, x, depth, w, bias, range, n, y);
		if (n <= 4 * KERNEL_PANEL)
			return;
		bias += 4 * KERNEL_PANEL;
		y += 4 * KERNEL_PANEL;
	}
	if (n > 2 * KERNEL_PANEL)
		row_by(3, x, depth, w, bias, range, n, y);
	else if (n > KERNEL_PANEL)
		row_by(2, x, depth, w, bias, range, n, y);
	else
		row_by(1, x, depth, w, bias, range, n, y);
}

INLINE __m128i load_bytes(const unsigned int n, const uint8_t *p)
{
	return n == 16 ? _mm_loadu_si128((const __m128i *)p) : _mm_loadl_epi64((const __m128i *)p);
}

/* The lower eight bytes as floats. */
INLINE __m256 scale_bytes(__m128i bytes, struct qbyte b, __m256 scale)
{
	__m256i v = _mm256_sub_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_set1_epi32(b.bias));

	return _mm256_mul_ps(scale, _mm256_cvtepi32_ps(v));
}

/* @n bytes, 8 or 16, of each row: bytes change places, then pairs of them, then fours. */
INLINE void pack_some(const unsigned int n, const uint8_t *rows, size_t stride, struct qbyte b,
		      __m256 scale, float *panel)
{
	const __m128i flip = _mm_set1_epi8((char)b.flip);
	__m128i pairs[8], fours[8], eights[8];

	for (unsigned int j = 0; j < 8; j += 2) {
		__m128i even = load_bytes(n, rows + j * stride);
		__m128i odd = load_bytes(n, rows + (j + 1) * stride);

		pairs[j] = _mm_unpacklo_epi8(even, odd);
		pairs[j + 1] = _mm_unpackhi_epi8(even, odd);
	}
	for (unsigned int h = 0; h < n / 8; h++) {
		for (unsigned int j = 0; j < 8; j += 4) {
			fours[j + h] = _mm_unpacklo_epi16(pairs[j + h], pairs[j + h + 2]);
			fours[j + h + 2] = _mm_unpackhi_epi16(pairs[j + h], pairs[j + h + 2]);
		}
		eights[4 * h] = _mm_unpacklo_epi32(fours[h], fours[h + 4]);
		eights[4 * h + 1] = _mm_unpackhi_epi32(fours[h], fours[h + 4]);
		eights[4 * h + 2] = _mm_unpacklo_epi32(fours[h + 2], fours[h + 6]);
		eights[4 * h + 3] = _mm_unpackhi_epi32(fours[h + 2], fours[h + 6]);
	}
	for (unsigned int i = 0; i < n / 2; i++, panel += 2 * KERNEL_PANEL) {
		__m128i v = _mm_xor_si128(eights[i], flip);

		_mm256_storeu_ps(panel, scale_bytes(v, b, scale));
		_mm256_storeu_ps(panel + KERNEL_PANEL,
				 scale_bytes(_mm_srli_si128(v, 8), b, scale));
	}
}

AVX2 void avx2_pack_bytes(const uint8_t *rows, size_t stride, size_t n, struct qbyte b,
			  const float *scale, float *panel)
{
	__m256 scales = _mm256_loadu_ps(scale);
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		pack_some(16, rows + i, stride, b, scales, panel + i * KERNEL_PANEL);
	for (; i + 8 <= n; i += 8)
		pack_some(8, rows + i, stride, b, scales, panel + i * KERNEL_PANEL);
	for (; i < n; i++) {
		for (unsigned int j = 0; j < KERNEL_PANEL; j++)
			panel[i * KERNEL_PANEL + j] =
				scale[j] * (float)qbyte_value(rows[j * stride + i], b);
	}
}

/* Eight numbers of each row. They change places as bytes do, but are twice as large. */
INLINE void pack_8_halves(const uint16_t *rows, size_t stride, float *panel)
{
	__m128i pairs[8], fours[8];

	for (unsigned int j = 0; j < 8; j += 2) {
		__m128i even = _mm_loadu_si128((const __m128i *)(rows + j * stride));
		__m128i odd = _mm_loadu_si128((const __m128i *)(rows + (j + 1) * stride));

		pairs[j] = _mm_unpacklo_epi16(even, odd);
		pairs[j + 1] = _mm_unpackhi_epi16(even, odd);
	}
	for (unsigned int j = 0; j < 8; j += 4) {
		for (unsigned int h = 0; h < 2; h++) {
			__m128i low = pairs[j + h], high = pairs[j + h + 2];

			fours[j + 2 * h] = _mm_unpacklo_epi32(low, high);
			fours[j + 2 * h + 1] = _mm_unpackhi_epi32(low, high);
		}
	}
	for (unsigned int i = 0; i < 4; i++, panel += 2 * KERNEL_PANEL) {
		__m128i first = _mm_unpacklo_epi64(fours[i], fours[i + 4]);
		__m128i second = _mm_unpackhi_epi64(fours[i], fours[i + 4]);

		_mm256_storeu_ps(panel, _mm256_cvtph_ps(first));
		_mm256_storeu_ps(panel + KERNEL_PANEL, _mm256_cvtph_ps(second));
	}
}

AVX2 void avx2_pack_halves(const uint16_t *rows, size_t stride, size_t n, float *panel)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		pack_8_halves(rows + i, stride, panel + i * KERNEL_PANEL);
	for (; i < n; i++) {
		for (unsigned int j = 0; j < KERNEL_PANEL; j++)
			panel[i * KERNEL_PANEL + j] = _cvtsh_ss(rows[j * stride + i]);
	}
}

/*
 * Channels from @c on of pixels side by side, whose inputs are @at values behind those of the first
 * one. @pixels times @vectors are eight sums, as many as are under way at once, or fewer.
 */
INLINE void fdepthwise_block(const unsigned int pixels, const unsigned int vectors,
			     const struct fdepthwise_pixels *p, size_t at, const float *bias,
			     struct frange range, uint32_t c, float *y)
{
	__m256 total[8];

	for (unsigned int i = 0; i < pixels * vectors; i++)
		total[i] = _mm256_setzero_ps();
	for (unsigned int t = 0; t < p->taps; t++) {
		const float *x = p->x[t] + at + c, *w = p->w[t] + c;

		for (unsigned int v = 0; v < vectors; v++) {
			__m256 weight = _mm256_loadu_ps(w + 8 * v);

			for (unsigned int i = 0; i < pixels; i++)
				total[i * vectors + v] =
					_mm256_fmadd_ps(_mm256_loadu_ps(x + i * p->in_col + 8 * v),
							weight, total[i * vectors + v]);
		}
	}
	for (unsigned int i = 0; i < pixels; i++) {
		for (unsigned int v = 0; v < vectors; v++) {
			__m256 sum = _mm256_add_ps(total[i * vectors + v],
						   _mm256_loadu_ps(bias + c + 8 * v));

			_mm256_storeu_ps(y + i * p->out_col + c + 8 * v, limit(sum, range));
		}
	}
}

/* Pixels side by side, @wide vectors of channels at once as long as there are so many. */
INLINE void fdepthwise_some(const unsigned int pixels, const unsigned int wide,
			    const struct fdepthwise_pixels *p, size_t at, const float *bias,
			    struct frange range, uint32_t col, uint32_t n, float *y)
{
	uint32_t c = col, end = col + n;

	for (; c + 8 * wide <= end; c += 8 * wide)
		fdepthwise_block(pixels, wide, p, at, bias, range, c, y);
	for (; c + 8 <= end; c += 8)
		fdepthwise_block(pixels, 1, p, at, bias, range, c, y);
	for (; c < end; c++) {
		for (unsigned int i = 0; i < pixels; i++) {
			float total = 0.0f;

			for (unsigned int t = 0; t < p->taps; t++)
				total = fmaf(p->x[t][at + i * p->in_col + c], p->w[t][c], total);
			y[i * p->out_col + c] = f_clamp(total + bias[c], range.min, range.max);
		}
	}
}

AVX2 void avx2_fdepthwise(const struct fdepthwise_pixels *p, const float *bias,
			  struct frange range, uint32_t col, uint32_t n, float *y)
{
	for (unsigned int row = 0; row < p->rows; row++, y += p->out_row) {
		size_t at = row * p->in_row;
		unsigned int i = 0;

		for (; i + 4 <= p->cols; i += 4)
			fdepthwise_some(4, 2, p, at + i * p->in_col, bias, range, col, n,
					y + i * p->out_col);
		for (; i < p->cols; i++)
			fdepthwise_some(1, 4, p, at + i * p->in_col, bias, range, col, n,
					y + i * p->out_col);
	}
}

#endif
