/* SPDX-License-Identifier: MIT */
/*
 * Turning pixels into tensor elements.
 */
#ifndef NNRUN_IMAGE_INPUT_H
#define NNRUN_IMAGE_INPUT_H

#include "media/image.h"
#include "tensor.h"

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

/* Height and width are dimensions 1 and 2, 1 or 3 channels dimension 3; batch is 1. */
bool image_fits(const struct tensor *t);

/*
 * Write the sample that an image gives: resized to the input's height and width,
 * luminance if it has one channel. @sample has t->bytes bytes. 0 or -1.
 */
int image_to_sample(const struct image *image, const struct tensor *t,
		    const struct image_scaling *scaling, void *sample, struct error *err);

#endif /* NNRUN_IMAGE_INPUT_H */
