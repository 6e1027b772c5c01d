// SPDX-License-Identifier: MIT
/*
 * Image resizing: bilinear with area support, rows first, then columns.
 *
 * Each pass is a weighted sum per output pixel. The weights are a triangle as wide
 * as two source pixels, or two output pixels when shrinking; they are fixed-point
 * numbers, and each pass rounds to 8 bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

/* Fraction bits of a weight: 8 bits of pixel and 2 of headroom remain. */
#define WEIGHT_BITS	22

/* The weights of one output position. */
struct window {
	uint32_t first;			/* first source pixel */
	uint32_t count;
	int32_t *weights;
};

struct filter {
	struct window *windows;
	int32_t *weights;
};

static double triangle(double x)
{
	x = fabs(x);
	return x < 1 ? 1 - x : 0;
}

static void fill_window(struct window *w, uint32_t out, double scale, uint32_t in_size)
{
	double width = scale > 1 ? scale : 1;
	double center = (out + 0.5) * scale;
	double low = center - width + 0.5;
	double high = center + width + 0.5;
	double sum = 0;
	uint32_t i;

	w->first = low > 0 ? (uint32_t)low : 0;
	if (high > in_size)
		high = in_size;
	w->count = (uint32_t)high - w->first;
	for (i = 0; i < w->count; i++)
		sum += triangle((i + w->first - center + 0.5) / width);
	for (i = 0; i < w->count; i++) {
		double weight = triangle((i + w->first - center + 0.5) / width) / sum;

		w->weights[i] = (int32_t)(0.5 + weight * (1 << WEIGHT_BITS));
	}
}

static int make_filter(struct filter *f, uint32_t in_size, uint32_t out_size,
		       struct error *err)
{
	double scale = (double)in_size / out_size;
	size_t room = 2 * (size_t)ceil(scale > 1 ? scale : 1) + 1;
	uint32_t i;

	f->windows = calloc(out_size, sizeof(*f->windows));
	f->weights = calloc(out_size * room, sizeof(*f->weights));
	if (!f->windows || !f->weights)
		return fail(err, "out of memory");
	for (i = 0; i < out_size; i++) {
		f->windows[i].weights = f->weights + i * room;
		fill_window(&f->windows[i], i, scale, in_size);
	}
	return 0;
}

static void free_filter(struct filter *f)
{
	free(f->windows);
	free(f->weights);
}

/* One output byte: source bytes @stride apart from @in on. */
static uint8_t weigh(const struct window *w, const uint8_t *in, size_t stride)
{
	int64_t sum = INT64_C(1) << (WEIGHT_BITS - 1);
	uint32_t i;

	in += stride * w->first;
	for (i = 0; i < w->count; i++)
		sum += (int64_t)in[stride * i] * w->weights[i];
	sum >>= WEIGHT_BITS;
	return sum > 255 ? 255 : (uint8_t)sum;
}

static int new_image(struct image *image, uint32_t width, uint32_t height, struct error *err)
{
	image->width = width;
	image->height = height;
	image->pixels = malloc((size_t)width * height * 3);
	return image->pixels ? 0 : fail(err, "out of memory");
}

static int resize_rows(const struct image *in, uint32_t width, struct image *out,
		       struct error *err)
{
	struct filter f = { NULL, NULL };
	size_t x, y, c;
	int ret;

	ret = new_image(out, width, in->height, err) || make_filter(&f, in->width, width, err);
	for (y = 0; y < in->height && !ret; y++) {
		const uint8_t *row = in->pixels + y * in->width * 3;

		for (x = 0; x < width; x++)
			for (c = 0; c < 3; c++)
				out->pixels[(y * width + x) * 3 + c] =
					weigh(&f.windows[x], row + c, 3);
	}
	free_filter(&f);
	return ret ? -1 : 0;
}

static int resize_columns(const struct image *in, uint32_t height, struct image *out,
			  struct error *err)
{
	size_t stride = (size_t)in->width * 3;
	struct filter f = { NULL, NULL };
	size_t i, y;
	int ret;

	ret = new_image(out, in->width, height, err) || make_filter(&f, in->height, height, err);
	for (y = 0; y < height && !ret; y++)
		for (i = 0; i < stride; i++)
			out->pixels[y * stride + i] =
				weigh(&f.windows[y], in->pixels + i, stride);
	free_filter(&f);
	return ret ? -1 : 0;
}

int image_resize(const struct image *image, uint32_t width, uint32_t height,
		 struct image *resized, struct error *err)
{
	struct image wide = { 0, 0, NULL };
	int ret;

	*resized = (struct image){ 0, 0, NULL };
	ret = resize_rows(image, width, &wide, err) ||
	      resize_columns(&wide, height, resized, err);
	image_free(&wide);
	if (ret)
		image_free(resized);
	return ret ? -1 : 0;
}
