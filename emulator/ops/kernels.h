/* SPDX-License-Identifier: MIT */
/*
 * Inner loops of the convolutions, in plain C for any CPU and once more with the
 * vector instructions of those that have them. All variants give the same bytes:
 * integer sums are exact, float sums keep the order of their terms.
 */
#ifndef NNPU_EMU_KERNELS_H
#define NNPU_EMU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "quant.h"

/* Output channels of a panel of weights, and of the two that are used together. */
#define KERNEL_PANEL	8u
#define KERNEL_COLS	16u

/* Rows of inputs that are multiplied together. */
#define KERNEL_ROWS	6u

/* Requantization of output channels. */
struct requant {
	/* By channel, as many as fill whole blocks of KERNEL_COLS; else one block for all. */
	const int32_t *mult;
	const int32_t *shift;
	bool per_channel;
	bool shifts_right;		/* every shift is negative */
	int32_t zero_point;
	struct qrange range;
};

/*
 * Weights of a depthwise convolution: int8_t if all fit, else int16_t. They come in blocks
 * of KERNEL_COLS channels, in a block pair by pair of taps, in a pair channel by channel,
 * the two taps of a channel adjacent.
 */
struct depthwise_weights {
	unsigned int pairs;
	bool narrow;
	const void *data;
	const int32_t *fold;		/* by channel, or NULL */
};

/* A sum of two quantized numbers, the values of both shifted left and scaled first. */
struct qsum {
	struct qbyte byte[2];
	int left_shift;
	struct qfactor factor[2];	/* shifts are not to the left */
	bool subtract;
	struct qfactor out;		/* its shift is to the right */
	int32_t zero_point;
	struct qrange range;
};

struct kernels {
	/* y[i] = value of byte x[i]. */
	void (*widen)(const uint8_t *x, struct qbyte b, size_t n, int16_t *y);

	/* Sum of x[i], wrapping around. */
	int32_t (*sum)(const int16_t *x, size_t n);

	/*
	 * Products of rows of inputs, @stride values apart, and of @panels (1 or 2)
	 * panels of weights. In a panel, the 2 * KERNEL_PANEL weights of one pair of
	 * positions in the row are adjacent, the two of a channel first; the panels
	 * follow each other. With @bias, of as many channels,
	 *	acc[r * KERNEL_COLS + c] = sum + bias[c] + add[r]
	 * and without acc[] += sum. Inputs are in [-255, 255]; sums wrap around.
	 */
	void (*qgemm)(const int16_t *x, size_t stride, unsigned int rows, const int8_t *w,
		      size_t pairs, unsigned int panels, const int32_t *bias,
		      const int32_t *add, int32_t *acc);

	/*
	 * y[r * y_stride + c] = clamp(scale(acc[r * KERNEL_COLS + c]) + zero point) for
	 * @n <= KERNEL_COLS channels from @col, a multiple of KERNEL_COLS, on.
	 */
	void (*requantize)(const int32_t *acc, unsigned int rows, const struct requant *q,
			   uint32_t col, unsigned int n, uint8_t *y, size_t y_stride);

	/*
	 * One output pixel of a depthwise convolution, channels [col, col + n) with @col a
	 * multiple of KERNEL_COLS: bytes under 2 * w->pairs taps, signed or not, times
	 * weights, requantized. @bias and w->fold are added. Pointers are to channel 0.
	 */
	void (*depthwise)(const uint8_t *const *taps, const struct depthwise_weights *w,
			  const int32_t *bias, const struct requant *q, bool is_signed,
			  uint32_t col, uint32_t n, uint8_t *y);

	/* y[i] = sum of a[i] and b[i]. NULL: a table of values is as good. */
	void (*qsum)(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s,
		     uint8_t *y);

	/*
	 * Products of floats, added to acc[r * KERNEL_COLS + c] in the order of the row.
	 * Panels have the KERNEL_PANEL weights of one position in the row adjacent and
	 * are @panel values long.
	 */
	void (*fgemm)(const float *x, size_t stride, unsigned int rows, const float *w,
		      size_t depth, size_t panel, unsigned int panels, float *acc);

	/* y[r * y_stride + c] = clamp(acc[r * KERNEL_COLS + c] + bias[c]) for c < @n. */
	void (*finish)(const float *acc, unsigned int rows, const float *bias,
		       struct frange range, unsigned int n, float *y, size_t y_stride);

	/*
	 * One output pixel of a depthwise convolution of floats, channels [col, col + n):
	 * the products of @taps pixels and rows of weights, in this order. Pointers are to
	 * channel 0.
	 */
	void (*fdepthwise)(const float *const *x, const float *const *w, unsigned int taps,
			   const float *bias, struct frange range, uint32_t col, uint32_t n,
			   float *y);
};

/* The best variant for this CPU. */
const struct kernels *kernels_get(void);

/* Variant @i of those that run on this CPU, the baseline first; NULL behind the last. */
const struct kernels *kernels_variant(unsigned int i);

/* The variant of kernels_avx2.c, NULL if the CPU cannot run it. */
const struct kernels *kernels_avx2(void);

/*
 * For tests: from here on operations are computed by plain loops, term by term as
 * Documentation/operations/ writes them, or (@on is false) as ever. What is
 * prepared already stays as it is.
 */
void kernels_use_plain(bool on);
bool kernels_plain(void);

#endif /* NNPU_EMU_KERNELS_H */
