// SPDX-License-Identifier: MIT
/*
 * Inner loops of the quantized kernels.
 *
 * The bodies are plain C that compilers vectorize; the wrappers at the end only
 * say for which instruction set.
 */
#include "kernels.h"

#define BODY static inline __attribute__((always_inline))

/* Two rows of inputs times four rows of weights. */
BODY void dot_2x4(const int16_t *restrict x0, const int16_t *restrict x1,
		  const int16_t *restrict w, size_t w_stride, unsigned int n,
		  int32_t *restrict acc)
{
	const int16_t *restrict w0 = w, *restrict w1 = w + w_stride;
	const int16_t *restrict w2 = w + 2 * w_stride, *restrict w3 = w + 3 * w_stride;
	int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;

	n &= ~(KERNEL_DOT_ALIGN - 1u);
	for (unsigned int i = 0; i < n; i++) {
		a0 += x0[i] * w0[i];
		a1 += x0[i] * w1[i];
		a2 += x0[i] * w2[i];
		a3 += x0[i] * w3[i];
		b0 += x1[i] * w0[i];
		b1 += x1[i] * w1[i];
		b2 += x1[i] * w2[i];
		b3 += x1[i] * w3[i];
	}
	acc[0] = q_add(acc[0], a0);
	acc[1] = q_add(acc[1], a1);
	acc[2] = q_add(acc[2], a2);
	acc[3] = q_add(acc[3], a3);
	acc += KERNEL_COLS;
	acc[0] = q_add(acc[0], b0);
	acc[1] = q_add(acc[1], b1);
	acc[2] = q_add(acc[2], b2);
	acc[3] = q_add(acc[3], b3);
}

BODY void dot_body(const int16_t *x, unsigned int rows, const int16_t *w, size_t w_stride,
		   unsigned int cols, unsigned int n, int32_t *acc)
{
	for (unsigned int r = 0; r < rows; r += 2, x += 2 * (size_t)n, acc += 2 * KERNEL_COLS) {
		for (unsigned int c = 0; c < cols; c += 4)
			dot_2x4(x, x + n, w + c * w_stride, w_stride, n, acc + c);
	}
}

BODY void mac_body(const int16_t *restrict x, const int16_t *restrict w, unsigned int n,
		   int32_t *restrict acc)
{
	for (unsigned int i = 0; i < n; i++)
		acc[i] = q_add(acc[i], x[i] * w[i]);
}

BODY void widen_body(const uint8_t *restrict x, struct qbyte b, size_t n, int16_t *restrict y)
{
	for (size_t i = 0; i < n; i++)
		y[i] = qbyte_value(x[i], b);
}

BODY void requantize_body(const int32_t *restrict acc, const struct qcols *restrict q,
			  unsigned int n, uint8_t *restrict y)
{
	int32_t zero_point = q->zero_point, min = q->range.min, max = q->range.max;

	if (q->shifts_left) {
		for (unsigned int i = 0; i < n; i++) {
			struct qfactor f = { q->mult[i], q->shift[i] };

			y[i] = (uint8_t)q_clamp(q_add(q_scale(acc[i], f), zero_point), min, max);
		}
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		int32_t v = q_shift_right(q_mul_high(acc[i], q->mult[i]), -q->shift[i]);

		y[i] = (uint8_t)q_clamp(q_add(v, zero_point), min, max);
	}
}

#define DEFINE_KERNELS(name, target)						\
static target void dot_##name(const int16_t *x, unsigned int rows,		\
			      const int16_t *w, size_t w_stride,		\
			      unsigned int cols, unsigned int n, int32_t *acc)	\
{										\
	dot_body(x, rows, w, w_stride, cols, n, acc);				\
}										\
static target void mac_##name(const int16_t *x, const int16_t *w,		\
			      unsigned int n, int32_t *acc)			\
{										\
	mac_body(x, w, n, acc);							\
}										\
static target void widen_##name(const uint8_t *x, struct qbyte b, size_t n,	\
				int16_t *y)					\
{										\
	widen_body(x, b, n, y);							\
}										\
static target void requantize_##name(const int32_t *acc, const struct qcols *q,	\
				     unsigned int n, uint8_t *y)		\
{										\
	requantize_body(acc, q, n, y);						\
}										\
static const struct kernels kernels_##name = {					\
	.dot = dot_##name,							\
	.mac = mac_##name,							\
	.widen = widen_##name,							\
	.requantize = requantize_##name,					\
}

DEFINE_KERNELS(baseline, /* for any CPU */);

#if defined(__x86_64__)

DEFINE_KERNELS(avx2, __attribute__((target("avx2"))));

static const struct kernels *wide_kernels(void)
{
	return __builtin_cpu_supports("avx2") ? &kernels_avx2 : NULL;
}

#else

static const struct kernels *wide_kernels(void)
{
	return NULL;
}

#endif

const struct kernels *kernels_get(void)
{
	const struct kernels *wide = wide_kernels();

	return wide ? wide : &kernels_baseline;
}

const struct kernels *kernels_variant(unsigned int i)
{
	if (i == 0)
		return &kernels_baseline;
	return i == 1 ? wide_kernels() : NULL;
}
