/* SPDX-License-Identifier: MIT */
/*
 * Depthwise convolution of floats, pixel by pixel: what variants of kernels.h share that compute
 * one pixel at a time. What they hand over is inlined.
 */
#ifndef NNPU_EMU_FDEPTHWISE_H
#define NNPU_EMU_FDEPTHWISE_H

#include "kernels.h"

#define FDEPTHWISE_INLINE	static inline __attribute__((always_inline, unused))

/*
 * Channels [c, end) of the pixel whose inputs are @at values behind those of the first one.
 * @add returns total + x * w: rounded twice, or once as the vectors of a variant do it, because a
 * channel has the same sum wherever a row is divided.
 */
FDEPTHWISE_INLINE void fdepthwise_channels(const struct fdepthwise_pixels *p, size_t at,
					   const float *bias, struct frange range, uint32_t c,
					   uint32_t end, float *y,
					   float (*add)(float total, float x, float w))
{
	for (; c < end; c++) {
		float total = 0.0f;

		for (unsigned int t = 0; t < p->taps; t++)
			total = add(total, p->x[t][at + c], p->w[t][c]);
		y[c] = f_clamp(total + bias[c], range.min, range.max);
	}
}

/* The member fdepthwise() of struct kernels, by one that computes a pixel. */
FDEPTHWISE_INLINE void fdepthwise_by_pixel(const struct fdepthwise_pixels *p, const float *bias,
					   struct frange range, uint32_t col, uint32_t n, float *y,
					   void (*pixel)(const struct fdepthwise_pixels *p,
							 size_t at, const float *bias,
							 struct frange range, uint32_t col,
							 uint32_t n, float *y))
{
	for (unsigned int row = 0; row < p->rows; row++) {
		for (unsigned int i = 0; i < p->cols; i++)
			pixel(p, row * p->in_row + i * p->in_col, bias, range, col, n,
			      y + row * p->out_row + i * p->out_col);
	}
}

#endif /* NNPU_EMU_FDEPTHWISE_H */
