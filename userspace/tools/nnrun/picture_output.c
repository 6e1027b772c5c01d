// SPDX-License-Identifier: MIT
/*
 * Outputs that belong to a picture: boxes of detectors, key points, segments.
 *
 * Places are parts of the height and width, from 0 to 1, as the whole picture is the input.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "picture_output.h"

#define MAX_POINTS	1024u
#define MAX_CLASSES	4096u

struct box {
	double y0, x0, y1, x1;
	double class, score;
};

static bool has_shape(const struct tensor *t, uint32_t rank, const uint32_t *dims)
{
	return t->rank == rank && memcmp(t->dims, dims, rank * sizeof(*dims)) == 0;
}

static bool are_boxes(const struct tensor *t)
{
	uint32_t count = t[0].rank == 3 ? t[0].dims[1] : 0;

	return count > 0 && has_shape(&t[0], 3, (uint32_t[]){ 1, count, 4 }) &&
	       has_shape(&t[1], 2, (uint32_t[]){ 1, count }) &&
	       has_shape(&t[2], 2, (uint32_t[]){ 1, count }) && t[3].elements == 1;
}

static bool are_points(const struct tensor *t)
{
	return t->rank == 4 && t->dims[0] == 1 && t->dims[1] == 1 && t->dims[2] > 1 &&
	       t->dims[2] <= MAX_POINTS && t->dims[3] == 3;
}

static bool are_segments(const struct tensor *t)
{
	return t->rank == 4 && t->dims[0] == 1 && t->dims[1] > 1 && t->dims[2] > 1 &&
	       t->dims[3] > 1 && t->dims[3] <= MAX_CLASSES &&
	       t->dims[1] <= IMAGE_MAX_SIDE && t->dims[2] <= IMAGE_MAX_SIDE;
}

struct picture_outputs picture_find(const struct tensors *tensors)
{
	uint32_t i;

	for (i = 0; i + 4 <= tensors->num_outputs; i++)
		if (are_boxes(&tensors->outputs[i]))
			return (struct picture_outputs){ PICTURE_BOXES, i };
	for (i = 0; i < tensors->num_outputs; i++)
		if (are_points(&tensors->outputs[i]))
			return (struct picture_outputs){ PICTURE_POINTS, i };
	if (tensors->num_outputs == 1 && are_segments(&tensors->outputs[0]))
		return (struct picture_outputs){ PICTURE_SEGMENTS, 0 };
	return (struct picture_outputs){ PICTURE_NONE, 0 };
}

size_t picture_labels(struct picture_outputs which, const struct tensors *tensors)
{
	const struct tensor *t = &tensors->outputs[which.first];

	switch (which.kind) {
	case PICTURE_BOXES:
		return 0;
	case PICTURE_POINTS:
		return t->dims[2];
	case PICTURE_SEGMENTS:
		return t->dims[3];
	default:
		return t->elements;
	}
}

/* How many boxes there are, as the last of the outputs says. */
static uint32_t box_count(const struct tensor *t, const void *const *outputs)
{
	double count = tensor_element(&t[3], outputs[3], 0);

	if (!(count > 0))
		return 0;
	return count < t[0].dims[1] ? (uint32_t)count : t[0].dims[1];
}

static struct box get_box(const struct tensor *t, const void *const *outputs, uint32_t i)
{
	return (struct box){
		.y0 = tensor_element(&t[0], outputs[0], 4 * (size_t)i),
		.x0 = tensor_element(&t[0], outputs[0], 4 * (size_t)i + 1),
		.y1 = tensor_element(&t[0], outputs[0], 4 * (size_t)i + 2),
		.x1 = tensor_element(&t[0], outputs[0], 4 * (size_t)i + 3),
		.class = tensor_element(&t[1], outputs[1], i),
		.score = tensor_element(&t[2], outputs[2], i),
	};
}

static void print_label(FILE *stream, const struct labels *labels, double class)
{
	if (class >= 0 && class < (double)labels->count) {
		const char *name = labels->names[(size_t)class];
		struct text text = { name, strlen(name) };

		fprintf(stream, "  %s", TEXT(text));
	}
	fputc('\n', stream);
}

static void print_boxes(FILE *stream, const struct tensor *t, const void *const *outputs,
			double min_score, const struct labels *labels)
{
	uint32_t i;

	fprintf(stream, "%12s %6s  %7s %7s %7s %7s\n", "score", "class", "left", "top", "right",
		"bottom");
	for (i = 0; i < box_count(t, outputs); i++) {
		struct box b = get_box(t, outputs, i);

		if (!(b.score >= min_score))
			continue;
		fprintf(stream, "%12.6f %6.0f  %7.4f %7.4f %7.4f %7.4f", b.score, b.class, b.x0,
			b.y0, b.x1, b.y1);
		print_label(stream, labels, b.class);
	}
}

static void print_points(FILE *stream, const struct tensor *t, const void *data,
			 double min_score, const struct labels *labels)
{
	uint32_t i;

	fprintf(stream, "%12s %6s  %7s %7s\n", "score", "point", "x", "y");
	for (i = 0; i < t->dims[2]; i++) {
		double score = tensor_element(t, data, 3 * (size_t)i + 2);

		if (!(score >= min_score))
			continue;
		fprintf(stream, "%12.6f %6" PRIu32 "  %7.4f %7.4f", score, i,
			tensor_element(t, data, 3 * (size_t)i + 1),
			tensor_element(t, data, 3 * (size_t)i));
		print_label(stream, labels, i);
	}
}

/* The class of the largest value, the first of equal ones. */
static uint32_t class_at(const struct tensor *t, const void *data, size_t pixel)
{
	uint32_t classes = t->dims[3];
	uint32_t best = 0, c;

	for (c = 1; c < classes; c++)
		if (tensor_element(t, data, pixel * classes + c) >
		    tensor_element(t, data, pixel * classes + best))
			best = c;
	return best;
}

static int print_segments(FILE *stream, const struct tensor *t, const void *data,
			  const struct labels *labels, struct error *err)
{
	size_t pixels = (size_t)t->dims[1] * t->dims[2];
	size_t *counts = calloc(t->dims[3], sizeof(*counts));
	size_t i;

	if (!counts)
		return fail(err, "out of memory");
	for (i = 0; i < pixels; i++)
		counts[class_at(t, data, i)]++;
	fprintf(stream, "%12s %6s\n", "part", "class");
	for (i = 0; i < t->dims[3]; i++) {
		if (!counts[i])
			continue;
		fprintf(stream, "%11.2f%% %6zu", 100.0 * (double)counts[i] / (double)pixels, i);
		print_label(stream, labels, (double)i);
	}
	free(counts);
	return 0;
}

int picture_print(FILE *stream, struct picture_outputs which, const struct tensors *tensors,
		  const void *const *outputs, double min_score, const struct labels *labels,
		  struct error *err)
{
	const struct tensor *t = &tensors->outputs[which.first];

	outputs += which.first;
	if (which.kind == PICTURE_BOXES)
		print_boxes(stream, t, outputs, min_score, labels);
	else if (which.kind == PICTURE_POINTS)
		print_points(stream, t, outputs[0], min_score, labels);
	else
		return print_segments(stream, t, outputs[0], labels, err);
	return 0;
}

/* Colours far apart for neighbouring numbers; class 0 of a segmentation, the rest, is black. */
static void color_of(uint32_t class, uint8_t *rgb)
{
	uint32_t bit;

	memset(rgb, 0, 3);
	for (bit = 0; bit < 8; bit++, class >>= 3) {
		rgb[0] |= (uint8_t)((class & 1) << (7 - bit));
		rgb[1] |= (uint8_t)((class >> 1 & 1) << (7 - bit));
		rgb[2] |= (uint8_t)((class >> 2 & 1) << (7 - bit));
	}
}

/* A place in the picture as a pixel, inside of it. */
static int64_t pixel_at(double part, uint32_t size)
{
	if (!(part > 0))
		return 0;
	return part < 1 ? (int64_t)(part * (size - 1) + 0.5) : size - 1;
}

/* A filled rectangle, cut off at the edges. */
static void fill(struct image *image, int64_t x0, int64_t y0, int64_t x1, int64_t y1,
		 const uint8_t *rgb)
{
	int64_t x, y;

	x0 = x0 < 0 ? 0 : x0;
	y0 = y0 < 0 ? 0 : y0;
	x1 = x1 >= image->width ? (int64_t)image->width - 1 : x1;
	y1 = y1 >= image->height ? (int64_t)image->height - 1 : y1;
	for (y = y0; y <= y1; y++)
		for (x = x0; x <= x1; x++)
			memcpy(image->pixels + 3 * ((size_t)y * image->width + (size_t)x), rgb, 3);
}

/* Half the width of lines: thicker in larger pictures. */
static int64_t pen(const struct image *image)
{
	uint32_t side = image->width > image->height ? image->width : image->height;

	return side / 400;
}

static void draw_boxes(struct image *image, const struct tensor *t, const void *const *outputs,
		       double min_score)
{
	int64_t w = pen(image);
	uint32_t i;

	for (i = 0; i < box_count(t, outputs); i++) {
		struct box b = get_box(t, outputs, i);
		int64_t x0 = pixel_at(b.x0, image->width), x1 = pixel_at(b.x1, image->width);
		int64_t y0 = pixel_at(b.y0, image->height), y1 = pixel_at(b.y1, image->height);
		uint8_t rgb[3];

		if (!(b.score >= min_score))
			continue;
		color_of(b.class >= 0 && b.class < MAX_CLASSES ? (uint32_t)b.class + 1 : 7, rgb);
		fill(image, x0 - w, y0 - w, x1 + w, y0 + w, rgb);
		fill(image, x0 - w, y1 - w, x1 + w, y1 + w, rgb);
		fill(image, x0 - w, y0 - w, x0 + w, y1 + w, rgb);
		fill(image, x1 - w, y0 - w, x1 + w, y1 + w, rgb);
	}
}

static void draw_points(struct image *image, const struct tensor *t, const void *data,
			double min_score)
{
	int64_t w = 2 * pen(image) + 1;
	uint32_t i;

	for (i = 0; i < t->dims[2]; i++) {
		int64_t y = pixel_at(tensor_element(t, data, 3 * (size_t)i), image->height);
		int64_t x = pixel_at(tensor_element(t, data, 3 * (size_t)i + 1), image->width);
		uint8_t rgb[3];

		if (!(tensor_element(t, data, 3 * (size_t)i + 2) >= min_score))
			continue;
		color_of(i + 1, rgb);
		fill(image, x - w, y - w, x + w, y + w, rgb);
	}
}

static int draw_segments(struct image *image, const struct tensor *t, const void *data,
			 struct error *err)
{
	size_t pixels = (size_t)t->dims[1] * t->dims[2];
	uint32_t *classes = malloc(pixels * sizeof(*classes));
	size_t i, x, y;
	uint32_t c;

	if (!classes)
		return fail(err, "out of memory");
	for (i = 0; i < pixels; i++)
		classes[i] = class_at(t, data, i);
	for (y = 0; y < image->height; y++) {
		const uint32_t *row = classes + y * t->dims[1] / image->height * t->dims[2];

		for (x = 0; x < image->width; x++) {
			uint8_t *p = image->pixels + 3 * (y * image->width + x);
			uint8_t rgb[3];

			color_of(row[x * t->dims[2] / image->width], rgb);
			for (c = 0; c < 3; c++)
				p[c] = (uint8_t)((p[c] + rgb[c]) / 2);
		}
	}
	free(classes);
	return 0;
}

int picture_draw(struct image *image, struct picture_outputs which,
		 const struct tensors *tensors, const void *const *outputs, double min_score,
		 struct error *err)
{
	const struct tensor *t = &tensors->outputs[which.first];

	outputs += which.first;
	if (which.kind == PICTURE_BOXES)
		draw_boxes(image, t, outputs, min_score);
	else if (which.kind == PICTURE_POINTS)
		draw_points(image, t, outputs[0], min_score);
	else
		return draw_segments(image, t, outputs[0], err);
	return 0;
}
