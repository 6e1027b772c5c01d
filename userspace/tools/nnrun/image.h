/* SPDX-License-Identifier: MIT */
/*
 * Images as model input: BMP and binary PNM files, resizing, and turning pixels
 * into tensor elements.
 */
#ifndef NNRUN_IMAGE_H
#define NNRUN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/error.h"
#include "tflite_to_hal.h"

/* RGB, one byte each, rows from the top without padding. */
struct image {
	uint32_t width;
	uint32_t height;
	uint8_t *pixels;
};

/**
 * struct image_scaling - how pixels become numbers
 * @given: use @mean and @std_dev for every type of input
 * @mean: subtracted from a pixel value of 0 to 255
 * @std_dev: divides the difference
 *
 * Without @given uint8 inputs take the pixel value as it is, int8 inputs the
 * value - 128, float inputs value / 127.5 - 1. With it, inputs take
 * (value - mean) / std_dev, quantized with the input's scale and zero point.
 */
struct image_scaling {
	bool given;
	double mean;
	double std_dev;
};

/* Could these bytes be the start of an image file? */
bool image_probe(const uint8_t *data, size_t size);

/*
 * Decode a whole file: BMP with 24 or 32 bits per pixel, or PNM P5 and P6. 0, or
 * -1 with the error filled in. image_free() also after an error.
 */
int image_decode(const uint8_t *data, size_t size, struct image *image, struct error *err);

/*
 * Resize without keeping the aspect ratio: bilinear, and when shrinking with the
 * triangle widened so that each source pixel counts. 0 or -1.
 */
int image_resize(const struct image *image, uint32_t width, uint32_t height,
		 struct image *resized, struct error *err);

/* Height and width are dimensions 1 and 2, 1 or 3 channels dimension 3; batch is 1. */
bool image_fits(const struct hal_io *io);

/*
 * Write the sample that an image gives: resized to the input's height and width,
 * luminance if it has one channel. @sample has io->bytes bytes. 0 or -1.
 */
int image_to_sample(const struct image *image, const struct hal_io *io,
		    const struct image_scaling *scaling, void *sample, struct error *err);

void image_free(struct image *image);

#endif /* NNRUN_IMAGE_H */
