/* SPDX-License-Identifier: MIT */
/*
 * Inner loops of the quantized kernels, compiled once for the baseline of the
 * architecture and, where the compiler and the CPU have it, once more for wider
 * vectors. Integer arithmetic only: every variant gives the same bytes.
 */
#ifndef NNPU_EMU_KERNELS_H
#define NNPU_EMU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "quant.h"

/* Output channels that are computed together, at most. */
#define KERNEL_COLS	64

/* Rows of weights and inputs of dot() are padded with zeros to this length. */
#define KERNEL_DOT_ALIGN	16

/* Longest row of dot(): sums of products of 9-bit values stay below 2^31. */
#define KERNEL_DOT_MAX	2048

/* Requantization of up to KERNEL_COLS channels. */
struct qcols {
	int32_t mult[KERNEL_COLS];
	int32_t shift[KERNEL_COLS];
	bool shifts_left;		/* some shift is positive */
	int32_t zero_point;
	struct qrange range;
};

struct kernels {
	/*
	 * acc[r * KERNEL_COLS + c] += sum over i < n of x[r * n + i] * w[c * w_stride + i],
	 * for r < rows, c < cols. rows is even, cols a multiple of 4, n a multiple
	 * of KERNEL_DOT_ALIGN and at most KERNEL_DOT_MAX; values are in
	 * [-255, 255]. The sums wrap around at 32 bits.
	 */
	void (*dot)(const int16_t *x, unsigned int rows, const int16_t *w, size_t w_stride,
		    unsigned int cols, unsigned int n, int32_t *acc);

	/* acc[i] += x[i] * w[i], wrapping around; values in [-255, 255]. */
	void (*mac)(const int16_t *x, const int16_t *w, unsigned int n, int32_t *acc);

	/* y[i] = value of byte x[i]. */
	void (*widen)(const uint8_t *x, struct qbyte b, size_t n, int16_t *y);

	/* y[i] = clamp(scale(acc[i]) + zero point), for n <= KERNEL_COLS. */
	void (*requantize)(const int32_t *acc, const struct qcols *q, unsigned int n, uint8_t *y);
};

/* The best variant for this CPU. */
const struct kernels *kernels_get(void);

/* Variant @i of those that run on this CPU, the baseline first; NULL behind the last. */
const struct kernels *kernels_variant(unsigned int i);

#endif /* NNPU_EMU_KERNELS_H */
