/* SPDX-License-Identifier: MIT */
/*
 * Images: reading files of several formats, resizing.
 */
#ifndef NNRUN_IMAGE_H
#define NNRUN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/error.h"

/* Larger pictures are refused before memory is asked for. */
#define IMAGE_MAX_SIDE		32768u
#define IMAGE_MAX_PIXELS	(UINT64_C(1) << 28)
/* Of formats that compress: a small file may hold a large picture. */
#define IMAGE_MAX_PACKED_PIXELS	(UINT64_C(1) << 26)

/* RGB, one byte each, rows from the top without padding. */
struct image {
	uint32_t width;
	uint32_t height;
	uint8_t *pixels;
};

/* Could these bytes be the start of an image file? */
bool image_probe(const uint8_t *data, size_t size);

/*
 * Decode a whole file: BMP with 24 or 32 bits per pixel, PNM P5 and P6, PNG, JPEG. 0, or -1
 * with the error filled in. image_free() also after an error.
 */
int image_decode(const uint8_t *data, size_t size, struct image *image, struct error *err);

/* Encode as PNG; @data is to be freed. 0, or -1 with the error filled in. */
int image_encode_png(const struct image *image, uint8_t **data, size_t *size, struct error *err);

/* Memory for an image of a size that is allowed. 0 or -1. */
int image_alloc(struct image *image, uint64_t width, uint64_t height, struct error *err);

/*
 * Resize without keeping the aspect ratio: bilinear, and when shrinking with the
 * triangle widened so that each source pixel counts. 0 or -1.
 */
int image_resize(const struct image *image, uint32_t width, uint32_t height,
		 struct image *resized, struct error *err);

void image_free(struct image *image);

#endif /* NNRUN_IMAGE_H */
