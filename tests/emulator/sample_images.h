/* SPDX-License-Identifier: MIT */
/*
 * Images of programs that several tests run.
 */
#ifndef SAMPLE_IMAGES_H
#define SAMPLE_IMAGES_H

#include "rig.h"

/* Values of image_loop() at most. */
#define LOOP_VALUES_MAX	64u

/* A constant of type FLOAT32; the index. */
uint32_t image_scalar_f32(struct image *im, float value);
/*
 * ROI_ALIGN of an input of 1x2x2x1 to one element, with @points sampling points in both directions:
 * it takes as long as they are many.
 */
void image_roi(struct image *im, int32_t points);
/*
 * while (i < 3) { i = i + 1; each of @values values = value + value; }. All of them begin as the
 * input, a tensor of rank 1 and any length; the output is the last of them.
 */
void image_loop(struct image *im, unsigned int values);
/* The image with @more tensors like @one, which nothing uses. It lives until rig_close(). */
uint8_t *image_more(struct rig *rig, const struct image *im, const struct nnpu_tensor_desc *one,
		    uint32_t more, size_t *size);
/* The same of image_add(), with 16 elements. */
uint8_t *image_tensors(struct rig *rig, uint32_t more, size_t *size);
/* out = in + a constant of @n elements. It lives until rig_close(). */
uint8_t *image_weights(struct rig *rig, uint32_t n, size_t *size);

#endif /* SAMPLE_IMAGES_H */
