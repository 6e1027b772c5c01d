/* SPDX-License-Identifier: MIT */
/*
 * What a reader of one image format offers to image.c.
 *
 * A probe says whether bytes can be the start of such a file. A decoder gets a whole file and
 * fills in the image, 0, or says why not and where, -1; image_free() also after an error.
 */
#ifndef NNRUN_IMAGE_FORMAT_H
#define NNRUN_IMAGE_FORMAT_H

#include "image.h"

bool bmp_probe(const uint8_t *data, size_t size);
int bmp_decode(const uint8_t *data, size_t size, struct image *image, struct error *err);
bool pnm_probe(const uint8_t *data, size_t size);
int pnm_decode(const uint8_t *data, size_t size, struct image *image, struct error *err);
bool png_probe(const uint8_t *data, size_t size);
int png_decode(const uint8_t *data, size_t size, struct image *image, struct error *err);
bool jpeg_probe(const uint8_t *data, size_t size);
int jpeg_decode(const uint8_t *data, size_t size, struct image *image, struct error *err);

#endif /* NNRUN_IMAGE_FORMAT_H */
