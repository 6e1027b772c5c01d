// SPDX-License-Identifier: MIT
/*
 * Turning pixels into tensor elements.
 */
#include <math.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "image_input.h"

bool image_fits(const struct tensor *t)
{
	return t->rank == 4 && t->dims[0] == 1 && (t->dims[3] == 1 || t->dims[3] == 3) &&
	       t->dims[1] <= IMAGE_MAX_SIDE && t->dims[2] <= IMAGE_MAX_SIDE &&
	       (t->type == NNHAL_OPERAND_TENSOR_FLOAT32 ||
		t->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ||
		t->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED);
}

/* The tensor element for each of the 256 pixel values. */
static void fill_table(const struct tensor *t, const struct image_scaling *scaling,
		       float *reals, int32_t *integers)
{
	bool is_signed = t->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
	int32_t low = is_signed ? INT8_MIN : 0;
	int32_t high = is_signed ? INT8_MAX : UINT8_MAX;
	int value;

	for (value = 0; value < 256; value++) {
		double real, quantized;

		if (!scaling->given) {
			reals[value] = (float)(value / 127.5 - 1);
			integers[value] = is_signed ? value - 128 : value;
			continue;
		}
		real = (value - scaling->mean) / scaling->std_dev;
		reals[value] = (float)real;
		quantized = 0;
		if (t->scale > 0)
			quantized = nearbyint(real / (double)t->scale) + t->zero_point;
		quantized = fmin(fmax(quantized, low), high);
		integers[value] = (int32_t)quantized;
	}
}

int image_to_sample(const struct image *image, const struct tensor *t,
		    const struct image_scaling *scaling, void *sample, struct error *err)
{
	uint32_t channels = t->dims[3];
	int32_t integers[256];
	struct image resized;
	float reals[256];
	size_t i;

	if (image_resize(image, t->dims[2], t->dims[1], &resized, err))
		return -1;
	fill_table(t, scaling, reals, integers);
	for (i = 0; i < t->elements; i++) {
		const uint8_t *p = resized.pixels + (channels == 3 ? i : 3 * i);
		uint32_t value = p[0];

		if (channels == 1)	/* luminance of ITU-R BT.601 */
			value = (19595 * (uint32_t)p[0] + 38470 * (uint32_t)p[1] +
				 7471 * (uint32_t)p[2] + 32768) >> 16;
		if (t->type == NNHAL_OPERAND_TENSOR_FLOAT32)
			memcpy((uint8_t *)sample + 4 * i, &reals[value], 4);
		else
			((uint8_t *)sample)[i] = (uint8_t)integers[value];
	}
	image_free(&resized);
	return 0;
}
