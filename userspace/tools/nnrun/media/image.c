// SPDX-License-Identifier: MIT
/*
 * Images of any format.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "image_format.h"

static const struct image_format {
	const char *name;
	bool (*probe)(const uint8_t *data, size_t size);
	int (*decode)(const uint8_t *data, size_t size, struct image *image, struct error *err);
} formats[] = {
	{ "BMP", bmp_probe, bmp_decode },
	{ "PNM", pnm_probe, pnm_decode },
	{ "PNG", png_probe, png_decode },
	{ "JPEG", jpeg_probe, jpeg_decode },
};

static const struct image_format *find_format(const uint8_t *data, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].probe(data, size))
			return &formats[i];
	return NULL;
}

bool image_probe(const uint8_t *data, size_t size)
{
	return find_format(data, size) != NULL;
}

int image_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	const struct image_format *format = find_format(data, size);

	*image = (struct image){ 0, 0, NULL };
	if (!format)
		return fail(err, "neither a BMP, PNG, JPEG nor a binary PPM or PGM file");
	return format->decode(data, size, image, err);
}

int image_alloc(struct image *image, uint64_t width, uint64_t height, struct error *err)
{
	if (width == 0 || height == 0 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE ||
	    width * height > IMAGE_MAX_PIXELS)
		return fail(err, "image of %" PRIu64 " x %" PRIu64 " pixels is not supported",
			    width, height);
	image->pixels = malloc(width * height * 3);
	if (!image->pixels)
		return fail(err, "out of memory");
	image->width = (uint32_t)width;
	image->height = (uint32_t)height;
	return 0;
}

void image_free(struct image *image)
{
	free(image->pixels);
	image->pixels = NULL;
}
