// SPDX-License-Identifier: MIT
/*
 * Inner loops of the convolutions in plain C, and the choice between variants.
 */
#include "kernels.h"

#include <stdatomic.h>
#include <string.h>

static void widen(const uint8_t *restrict x, struct qbyte b, size_t n, int16_t *restrict y)
{
	for (size_t i = 0; i < n; i++)
		y[i] = qbyte_value(x[i], b);
}

static int32_t sum(const int16_t *x, size_t n)
{
	uint32_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += (uint32_t)(int32_t)x[i];
	return (int32_t)total;
}

/* One row and one panel. */
static void multiply(const int16_t *restrict x, const int8_t *restrict w, size_t pairs,
		     int32_t *restrict total)
{
	for (size_t i = 0; i < pairs; i++, x += 2, w += 2 * KERNEL_PANEL) {
		for (unsigned int c = 0; c < KERNEL_PANEL; c++)
			total[c] = q_add(total[c], x[0] * w[2 * c] + x[1] * w[2 * c + 1]);
	}
}

static void qgemm(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
		  size_t pairs, unsigned int panels, const int32_t *bias, const int32_t *add,
		  int32_t *acc)
{
	for (unsigned int r = 0; r < rows; r++, x += stride, acc += KERNEL_COLS) {
		for (unsigned int p = 0; p < panels; p++) {
			int32_t total[KERNEL_PANEL] = { 0 };
			int32_t *to = acc + p * KERNEL_PANEL;

			multiply(x, w + p * pairs * 2 * KERNEL_PANEL, pairs, total);
			for (unsigned int c = 0; c < KERNEL_PANEL; c++) {
				int32_t base = to[c];

				if (bias)
					base = q_add(bias[p * KERNEL_PANEL + c], add[r]);
				to[c] = q_add(base, total[c]);
			}
		}
	}
}

static uint8_t requantize_one(int32_t acc, const struct requant *q, uint32_t channel)
{
	uint32_t i = q->per_channel ? channel : 0;
	struct qfactor f = { q->mult[i], q->shift[i] };

	return (uint8_t)q_clamp(q_add(q_scale(acc, f), q->zero_point), q->range.min, q->range.max);
}

static void requantize(const int32_t *acc, unsigned int rows, const struct requant *q,
		       uint32_t col, unsigned int n, uint8_t *y, size_t y_stride)
{
	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS, y += y_stride) {
		for (unsigned int c = 0; c < n; c++)
			y[c] = requantize_one(acc[c], q, col + c);
	}
}

static void depthwise(const uint8_t *const *taps, const struct depthwise_weights *w,
		      const int32_t *bias, const struct requant *q, bool is_signed,
		      uint32_t col, uint32_t n, uint8_t *y)
{
	uint8_t flip = is_signed ? 0x80 : 0;

	for (uint32_t c = col; c < col + n; c++) {
		size_t at = (size_t)(c / KERNEL_COLS) * w->pairs * 2 * KERNEL_COLS +
			    c % KERNEL_COLS * 2;
		int32_t total = w->fold ? q_add(bias[c], w->fold[c]) : bias[c];

		for (unsigned int p = 0; p < w->pairs; p++, at += 2 * KERNEL_COLS) {
			int32_t a = (taps[2 * p][c] ^ flip) - flip;
			int32_t b = (taps[2 * p + 1][c] ^ flip) - flip;

			if (w->narrow)
				total = q_add(total, a * ((const int8_t *)w->data)[at] +
					      b * ((const int8_t *)w->data)[at + 1]);
			else
				total = q_add(total, a * ((const int16_t *)w->data)[at] +
					      b * ((const int16_t *)w->data)[at + 1]);
		}
		y[c] = requantize_one(total, q, c);
	}
}

static void fgemm(const float *x, size_t stride, unsigned int rows, const float *w,
		  size_t depth, size_t panel, unsigned int panels, float *acc)
{
	for (unsigned int r = 0; r < rows; r++, x += stride, acc += KERNEL_COLS) {
		for (unsigned int p = 0; p < panels; p++) {
			const float *v = w + p * panel;
			float total[KERNEL_PANEL];

			memcpy(total, acc + p * KERNEL_PANEL, sizeof(total));
			for (size_t i = 0; i < depth; i++, v += KERNEL_PANEL) {
				for (unsigned int c = 0; c < KERNEL_PANEL; c++)
					total[c] += x[i] * v[c];
			}
			memcpy(acc + p * KERNEL_PANEL, total, sizeof(total));
		}
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

static void fdepthwise(const float *const *x, const float *const *w, unsigned int taps,
		       const float *bias, struct frange range, uint32_t col, uint32_t n,
		       float *y)
{
	for (uint32_t c = col; c < col + n; c++) {
		float total = 0.0f;

		for (unsigned int t = 0; t < taps; t++)
			total += x[t][c] * w[t][c];
		y[c] = f_clamp(total + bias[c], range.min, range.max);
	}
}

static const struct kernels baseline = {
	.widen = widen,
	.sum = sum,
	.qgemm = qgemm,
	.requantize = requantize,
	.depthwise = depthwise,
	.fgemm = fgemm,
	.finish = finish,
	.fdepthwise = fdepthwise,
};

const struct kernels *kernels_get(void)
{
	const struct kernels *wide = kernels_avx2();

	return wide ? wide : &baseline;
}

const struct kernels *kernels_variant(unsigned int i)
{
	if (i == 0)
		return &baseline;
	return i == 1 ? kernels_avx2() : NULL;
}

static atomic_bool plain;

void kernels_use_plain(bool on)
{
	atomic_store(&plain, on);
}

bool kernels_plain(void)
{
	return atomic_load_explicit(&plain, memory_order_relaxed);
}
