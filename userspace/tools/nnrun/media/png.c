// SPDX-License-Identifier: MIT
/*
 * Reading and writing PNG files, by libpng.
 */
#include <string.h>

#include "image_format.h"

bool png_probe(const uint8_t *data, size_t size)
{
	return size >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0;
}

#ifndef NNRUN_PNG

int png_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	(void)data;
	(void)size;
	(void)image;
	return fail(err, "a PNG file, but nnrun was built without PNG support");
}

int image_encode_png(const struct image *image, uint8_t **data, size_t *size, struct error *err)
{
	(void)image;
	(void)data;
	(void)size;
	return fail(err, "nnrun was built without PNG support");
}

#else

#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>

#include <png.h>

/* What one chunk may take unpacked, and how many unknown ones are kept. */
#define MAX_CHUNK	((png_alloc_size_t)8 << 20)
#define MAX_CHUNKS	64

struct source {
	const uint8_t *data;
	size_t size;
	size_t at;
	struct error *err;
};

/* Does not return: libpng goes on behind setjmp(). */
static void on_error(png_structp png, png_const_charp text)
{
	struct source *source = png_get_error_ptr(png);

	fail(source->err, "PNG file: %s at offset %zu", text, source->at);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

static void on_read(png_structp png, png_bytep out, size_t size)
{
	struct source *source = png_get_io_ptr(png);

	if (size > source->size - source->at) {
		source->at = source->size;
		png_error(png, "the file ends");
	}
	memcpy(out, source->data + source->at, size);
	source->at += size;
}

/* All forms become RGB with 8 bits; what is transparent keeps its colour. */
static void set_transforms(png_structp png)
{
	png_set_expand(png);
	png_set_scale_16(png);
	png_set_strip_alpha(png);
	png_set_gray_to_rgb(png);
}

/* libpng leaves by a jump to @source's error: nothing of this frame is used after one. */
static void read_pixels(png_structp png, png_infop info, struct source *source,
			struct image *image)
{
	uint64_t width, height;
	int passes, pass;
	uint32_t y;

	png_set_user_limits(png, IMAGE_MAX_SIDE, IMAGE_MAX_SIDE);
	png_set_chunk_malloc_max(png, MAX_CHUNK);
	png_set_chunk_cache_max(png, MAX_CHUNKS);
	png_set_read_fn(png, source, on_read);
	png_read_info(png, info);
	width = png_get_image_width(png, info);
	height = png_get_image_height(png, info);
	if (width * height > IMAGE_MAX_PACKED_PIXELS) {
		fail(source->err, "PNG image of %" PRIu64 " x %" PRIu64
		     " pixels is not supported", width, height);
		png_longjmp(png, 1);
	}
	set_transforms(png);
	passes = png_set_interlace_handling(png);
	png_read_update_info(png, info);
	if (png_get_rowbytes(png, info) != width * 3)
		png_error(png, "the pixels cannot be made RGB");
	if (image_alloc(image, width, height, source->err))
		png_longjmp(png, 1);
	/* An interlaced file is combined with what the passes before have written. */
	memset(image->pixels, 0, width * height * 3);
	for (pass = 0; pass < passes; pass++)
		for (y = 0; y < image->height; y++)
			png_read_row(png, image->pixels + (size_t)y * image->width * 3, NULL);
	png_read_end(png, NULL);
}

int png_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	struct source source = { data, size, 0, err };
	png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, on_error,
						 on_warning);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	volatile int ret = -1;

	if (!info) {
		fail(err, "out of memory");
	} else if (setjmp(png_jmpbuf(png)) == 0) {
		read_pixels(png, info, &source, image);
		ret = 0;
	}
	png_destroy_read_struct(&png, &info, NULL);
	return ret;
}

int image_encode_png(const struct image *image, uint8_t **data, size_t *size, struct error *err)
{
	png_image png = {
		.version = PNG_IMAGE_VERSION, .width = image->width, .height = image->height,
		.format = PNG_FORMAT_RGB,
	};
	png_alloc_size_t bytes = 0;
	uint8_t *out;

	if (!png_image_write_to_memory(&png, NULL, &bytes, 0, image->pixels, 0, NULL))
		return fail(err, "cannot make a PNG file: %s", png.message);
	out = malloc(bytes);
	if (!out)
		return fail(err, "out of memory");
	if (!png_image_write_to_memory(&png, out, &bytes, 0, image->pixels, 0, NULL)) {
		free(out);
		return fail(err, "cannot make a PNG file: %s", png.message);
	}
	*data = out;
	*size = bytes;
	return 0;
}

#endif /* NNRUN_PNG */
