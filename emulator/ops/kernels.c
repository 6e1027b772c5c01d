// SPDX-License-Identifier: MIT
/*
 * Inner loops of the convolutions in portable C, and the choice between variants. Some
 * loops use SSE2, which every x86-64 CPU has, or vector types of the compiler, where
 * compilers do not vectorize plain C.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fdepthwise.h"
#include "kernels.h"

#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static void widen(const uint8_t *restrict x, struct qbyte b, size_t n, int16_t *restrict y)
{
	for (size_t i = 0; i < n; i++)
		y[i] = qbyte_value(x[i], b);
}

static void gather(const struct gathered *g, struct qbyte b, int16_t *y, size_t stride)
{
	for (unsigned int r = 0; r < g->rows; r++) {
		for (unsigned int i = 0; i < g->runs; i++)
			widen(g->from + r * g->step + i * g->next, b, g->run,
			      y + r * stride + i * g->run);
	}
}

static int32_t sum(const int16_t *x, size_t n)
{
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += (uint32_t)(int32_t)x[i];
	return (int32_t)total;
}

#define INLINE	static inline __attribute__((always_inline))

#if defined(__SSE2__)

/* Some rows and one panel, as in kernels_avx2.c with half a panel in a vector. */
INLINE void multiply(const unsigned int rows, const int16_t *restrict x, size_t stride,
		     const int8_t *restrict w, size_t pairs,
		     int32_t (*restrict total)[KERNEL_PANEL])
{
	__m128i sums[KERNEL_ROWS][2];

	for (unsigned int r = 0; r < rows; r++)
		sums[r][0] = sums[r][1] = _mm_setzero_si128();
	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)w);
		/* A byte in the upper half of a number, shifted down with its sign. */
		__m128i low = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
		__m128i high = _mm_srai_epi16(_mm_unpackhi_epi8(bytes, bytes), 8);

		for (unsigned int r = 0; r < rows; r++) {
			int32_t pair;
			__m128i v;

			memcpy(&pair, x + r * stride, sizeof(pair));
			v = _mm_set1_epi32(pair);
			sums[r][0] = _mm_add_epi32(sums[r][0], _mm_madd_epi16(v, low));
			sums[r][1] = _mm_add_epi32(sums[r][1], _mm_madd_epi16(v, high));
		}
	}
	for (unsigned int r = 0; r < rows; r++)
		memcpy(total[r], sums[r], sizeof(total[r]));
}

#else

/*
 * Some rows and one panel. The weights of a pair are unpacked once for all rows.
 * Compilers vectorize the loop over them.
 */
INLINE void multiply(const unsigned int rows, const int16_t *restrict x, size_t stride,
		     const int8_t *restrict w, size_t pairs,
		     int32_t (*restrict total)[KERNEL_PANEL])
{
	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL) {
		int16_t first[KERNEL_PANEL], second[KERNEL_PANEL];

		for (unsigned int c = 0; c < KERNEL_PANEL; c++) {
			first[c] = w[2 * c];
			second[c] = w[2 * c + 1];
		}
		for (unsigned int r = 0; r < rows; r++) {
			int16_t a = x[r * stride], b = x[r * stride + 1];

			for (unsigned int c = 0; c < KERNEL_PANEL; c++)
				total[r][c] = q_add(total[r][c], a * first[c] + b * second[c]);
		}
	}
}

#endif

static void store_sums(int32_t *restrict acc, const int32_t *restrict total,
		       const int32_t *restrict bias, int32_t add)
{
	if (bias) {
		for (unsigned int c = 0; c < KERNEL_PANEL; c++)
			acc[c] = q_add(total[c], q_add(bias[c], add));
		return;
	}
	for (unsigned int c = 0; c < KERNEL_PANEL; c++)
		acc[c] = q_add(acc[c], total[c]);
}

static void qgemm(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
		  size_t pairs, unsigned int panels, const int32_t *bias, const int32_t *add,
		  int32_t *acc)
{
	for (unsigned int done = 0, n; done < rows; done += n) {
		n = rows - done < KERNEL_ROWS ? rows - done : KERNEL_ROWS;
		for (unsigned int p = 0; p < panels; p++) {
			const int8_t *v = w + p * pairs * 2 * KERNEL_PANEL;
			int32_t total[KERNEL_ROWS][KERNEL_PANEL] = { 0 };

			if (n == KERNEL_ROWS)
				multiply(KERNEL_ROWS, x, stride, v, pairs, total);
			for (unsigned int r = 0; n < KERNEL_ROWS && r < n; r++)
				multiply(1, x + r * stride, stride, v, pairs, total + r);
			for (unsigned int r = 0; r < n; r++)
				store_sums(acc + r * KERNEL_COLS + p * KERNEL_PANEL, total[r],
					   bias ? bias + p * KERNEL_PANEL : NULL, add[done + r]);
		}
		x += n * stride;
		acc += n * KERNEL_COLS;
	}
}

/* Requantization of @n channels from @col on. The form for right shifts has no branches. */
static void requantize_row(const int32_t *restrict acc, const struct requant *q, uint32_t col,
			   unsigned int n, uint8_t *restrict y)
{
	const int32_t *mult = q->mult + (q->per_channel ? col : 0);
	const int32_t *shift = q->shift + (q->per_channel ? col : 0);
	int32_t zero_point = q->zero_point, min = q->range.min, max = q->range.max;

	if (!q->shifts_right) {
		for (unsigned int c = 0; c < n; c++) {
			struct qfactor f = { mult[c], shift[c] };

			y[c] = (uint8_t)q_clamp(q_add(q_scale(acc[c], f), zero_point), min, max);
		}
		return;
	}
	for (unsigned int c = 0; c < n; c++) {
		int32_t v = q_shift_right(q_mul_high(acc[c], mult[c]), -shift[c]);

		y[c] = (uint8_t)q_clamp(q_add(v, zero_point), min, max);
	}
}

static void requantize(const int32_t *acc, unsigned int rows, const struct requant *q,
		       uint32_t col, unsigned int n, uint8_t *y, size_t y_stride)
{
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride)
		requantize_row(acc, q, col, n, y);
}

/*
 * Up to KERNEL_COLS channels from @c on, which are in one block, of the pixel @in bytes behind
 * the first one; weights from @at on. @outside: as many zero points.
 */
static void depthwise_block(const struct depthwise_pixels *d, const struct depthwise_weights *w,
			    const uint8_t *outside, size_t in, uint32_t c, unsigned int n,
			    size_t at, int32_t *restrict total)
{
	uint8_t flip = d->is_signed ? 0x80 : 0;

	for (unsigned int p = 0; p < w->pairs; p++, at += 2 * KERNEL_COLS) {
		const uint8_t *x = d->taps[2 * p] ? d->taps[2 * p] + in + c : outside;
		const uint8_t *y = d->taps[2 * p + 1] ? d->taps[2 * p + 1] + in + c : outside;
		int16_t first[KERNEL_COLS], second[KERNEL_COLS];

		for (unsigned int i = 0; i < n; i++) {
			first[i] = w->narrow ? ((const int8_t *)w->data)[at + 2 * i] :
					       ((const int16_t *)w->data)[at + 2 * i];
			second[i] = w->narrow ? ((const int8_t *)w->data)[at + 2 * i + 1] :
						((const int16_t *)w->data)[at + 2 * i + 1];
		}
		for (unsigned int i = 0; i < n; i++) {
			int16_t a = (int16_t)((x[i] ^ flip) - flip);
			int16_t b = (int16_t)((y[i] ^ flip) - flip);

			total[i] = q_add(total[i], a * first[i] + b * second[i]);
		}
	}
}

static void depthwise_pixel(const struct depthwise_pixels *d, const struct depthwise_weights *w,
			    const int32_t *bias, const struct requant *q, size_t in, uint32_t col,
			    uint32_t n, uint8_t *y)
{
	size_t block = (size_t)w->pairs * 2 * KERNEL_COLS;
	uint32_t c = col, end = col + n, run;
	uint8_t outside[KERNEL_COLS];

	memset(outside, d->zero_point, sizeof(outside));
	for (; c < end; c += run) {
		uint32_t inside = c % KERNEL_COLS;
		int32_t total[KERNEL_COLS];

		run = end - c < KERNEL_COLS - inside ? end - c : KERNEL_COLS - inside;
		for (unsigned int i = 0; i < run; i++)
			total[i] = w->fold ? q_add(bias[c + i], w->fold[c + i]) : bias[c + i];
		depthwise_block(d, w, outside, in, c, run, c / KERNEL_COLS * block + 2 * inside,
				total);
		requantize_row(total, q, c, run, y + c);
	}
}

static void depthwise(const struct depthwise_pixels *d, const struct depthwise_weights *w,
		      const int32_t *bias, const struct requant *q, uint32_t col, uint32_t n,
		      uint8_t *y)
{
	for (unsigned int row = 0; row < d->rows; row++) {
		for (unsigned int i = 0; i < d->cols; i++)
			depthwise_pixel(d, w, bias, q, row * d->in_row + i * d->in_col, col, n,
					y + row * d->out_row + i * d->out_col);
	}
}

/* Half a panel of floats, as a vector: compilers keep it in registers, unlike an array. */
typedef float half_panel __attribute__((vector_size(KERNEL_PANEL / 2 * sizeof(float))));

/* Some rows and one panel. */
INLINE void fmultiply(const unsigned int rows, const float *restrict x, size_t stride,
		      const float *restrict w, size_t depth, float *restrict acc)
{
	half_panel total[KERNEL_ROWS][2];

	for (unsigned int r = 0; r < rows; r++)
		memcpy(total[r], acc + r * KERNEL_COLS, sizeof(total[r]));
	for (size_t i = 0; i < depth; i++, w += KERNEL_PANEL) {
		half_panel v[2];

		memcpy(v, w, sizeof(v));
		for (unsigned int r = 0; r < rows; r++) {
			total[r][0] += x[r * stride + i] * v[0];
			total[r][1] += x[r * stride + i] * v[1];
		}
	}
	for (unsigned int r = 0; r < rows; r++)
		memcpy(acc + r * KERNEL_COLS, total[r], sizeof(total[r]));
}

static void fgemm(const float *x, size_t stride, unsigned int rows, const float *w,
		  size_t depth, size_t panel, unsigned int panels, float *acc)
{
	for (unsigned int p = 0; p < panels; p++, w += panel, acc += KERNEL_PANEL) {
		unsigned int r = 0;

		for (; r + KERNEL_ROWS <= rows; r += KERNEL_ROWS)
			fmultiply(KERNEL_ROWS, x + r * stride, stride, w, depth,
				  acc + r * KERNEL_COLS);
		for (; r < rows; r++)
			fmultiply(1, x + r * stride, stride, w, depth, acc + r * KERNEL_COLS);
	}
}

static void finish(const float *acc, unsigned int rows, const float *bias,
		   struct frange range, unsigned int n, float *y, size_t y_stride)
{
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		for (unsigned int c = 0; c < n; c++)
			y[c] = f_clamp(acc[c] + bias[c], range.min, range.max);
	}
}

static inline float add_product(float total, float x, float w)
{
	return total + x * w;
}

static inline void fdepthwise_pixel(const struct fdepthwise_pixels *p, size_t at,
				    const float *bias, struct frange range, uint32_t col,
				    uint32_t n, float *y)
{
	fdepthwise_channels(p, at, bias, range, col, col + n, y, add_product);
}

static void fdepthwise(const struct fdepthwise_pixels *p, const float *bias, struct frange range,
		       uint32_t col, uint32_t n, float *y)
{
	fdepthwise_by_pixel(p, bias, range, col, n, y, fdepthwise_pixel);
}

static const struct kernels baseline = {
	.widen = widen,
	.gather = gather,
	.sum = sum,
	.qgemm = qgemm,
	.requantize = requantize,
	.depthwise = depthwise,
	.fgemm = fgemm,
	.finish = finish,
	.fdepthwise = fdepthwise,
	.rows = &row_kernels_baseline,
};

static const struct kernels *kernels_baseline(void)
{
	return &baseline;
}

static const struct {
	const char *name;
	const struct kernels *(*get)(void);
} variants[] = {
#if defined(__x86_64__)
	{ "sse2", kernels_baseline },
	{ "avx2", kernels_avx2 },
	{ "avx512", kernels_avx512 },
	{ "avx512vnni", kernels_avx512_vnni },
#else
	{ "generic", kernels_baseline },
	{ "neon", kernels_neon },	/* AArch64 */
#endif
};

#define NUM_VARIANTS	(sizeof(variants) / sizeof(*variants))

const struct kernels *kernels_variant(unsigned int i)
{
	return i < NUM_VARIANTS ? variants[i].get() : NULL;
}

const char *kernels_name(unsigned int i)
{
	return i < NUM_VARIANTS ? variants[i].name : NULL;
}

struct kernels_choice kernels_choice;

static void choose(const struct kernels *k, bool plain)
{
	atomic_store(&kernels_choice.plain, plain);
	atomic_store(&kernels_choice.rows, plain ? baseline.rows : k->rows);
	/* Pairs with kernels_get(): who finds it finds @plain. */
	atomic_store(&kernels_choice.kernels, k);
}

bool kernels_use(const char *name)
{
	const struct kernels *best = &baseline;
	bool by_name = false, by_loops;

	if (!name)
		name = secure_getenv("NNPU_ISA");
	by_loops = name && !strcmp(name, "plain");
	for (unsigned int i = 0; i < NUM_VARIANTS && !by_name; i++) {
		const struct kernels *k = variants[i].get();

		best = k ? k : best;
		by_name = k && name && !strcmp(name, variants[i].name);
	}
	choose(best, by_loops);
	return by_name || by_loops;
}

void kernels_choose(void)
{
	/* Several threads that come here at once all choose the same. */
	kernels_use(NULL);
}

void kernels_use_plain(bool on)
{
	choose(kernels_get(), on);
}
