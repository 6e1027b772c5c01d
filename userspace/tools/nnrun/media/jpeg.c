// SPDX-License-Identifier: MIT
/*
 * Reading JPEG files, by libjpeg(-turbo).
 */
#include "image_format.h"

bool jpeg_probe(const uint8_t *data, size_t size)
{
	return size >= 4 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff &&
	       data[3] >= 0xc0 && data[3] != 0xff;
}

#ifndef NNRUN_JPEG

int jpeg_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	(void)data;
	(void)size;
	(void)image;
	return fail(err, "a JPEG file, but nnrun was built without JPEG support");
}

#else

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

/* A progressive file may refine its picture any number of times, each at full cost. */
#define MAX_SCANS	200
#define MAX_MEMORY	(1L << 30)

struct reader {
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	jmp_buf jump;
	const uint8_t *data;
	size_t size;
	uint8_t *row;			/* of a CMYK picture */
	struct error *err;
};

static struct reader *reader_of(j_common_ptr jpeg)
{
	return jpeg->client_data;
}

static void on_error(j_common_ptr jpeg)
{
	struct reader *r = reader_of(jpeg);
	char text[JMSG_LENGTH_MAX];
	size_t at = 0;

	jpeg->err->format_message(jpeg, text);
	if (r->jpeg.src)
		at = r->size - r->jpeg.src->bytes_in_buffer;
	fail(r->err, "JPEG file: %s at offset %zu", text, at);
	longjmp(r->jump, 1);
}

/* libjpeg goes on after damage and shows what it has. A wrong picture is not wanted here. */
static void on_message(j_common_ptr jpeg, int level)
{
	if (level >= 0)
		return;
	switch (jpeg->err->msg_code) {
	case JWRN_ADOBE_XFORM:
	case JWRN_EXTRANEOUS_DATA:
	case JWRN_JFIF_MAJOR:
	case JWRN_TOO_MUCH_DATA:
		return;
	default:
		on_error(jpeg);
	}
}

/* The end of the data: the reader of libjpeg would make up an end of the picture. */
static boolean on_end(j_decompress_ptr jpeg)
{
	ERREXIT(jpeg, JERR_INPUT_EOF);
	return FALSE;
}

static void on_progress(j_common_ptr jpeg)
{
	struct reader *r = reader_of(jpeg);

	if (r->jpeg.input_scan_number > MAX_SCANS) {
		fail(r->err, "JPEG file: more than %d scans", MAX_SCANS);
		longjmp(r->jump, 1);
	}
}

/* Adobe's programs store ink inverted: 255 is none. */
static void cmyk_to_rgb(const struct reader *r, uint8_t *out)
{
	bool inverted = r->jpeg.saw_Adobe_marker;
	uint32_t x, c;

	for (x = 0; x < r->jpeg.output_width; x++) {
		const uint8_t *in = r->row + 4 * (size_t)x;
		uint32_t light = inverted ? in[3] : 255u - in[3];

		for (c = 0; c < 3; c++)
			*out++ = (uint8_t)(((inverted ? in[c] : 255u - in[c]) * light + 127) / 255);
	}
}

static void read_pixels(struct reader *r, struct image *image)
{
	struct jpeg_decompress_struct *jpeg = &r->jpeg;
	bool is_cmyk;

	jpeg_create_decompress(jpeg);
	jpeg->client_data = r;
	jpeg->mem->max_memory_to_use = MAX_MEMORY;
	jpeg->progress = &r->progress;
	jpeg_mem_src(jpeg, r->data, r->size);
	jpeg->src->fill_input_buffer = on_end;
	jpeg_read_header(jpeg, TRUE);
	if ((uint64_t)jpeg->image_width * jpeg->image_height > IMAGE_MAX_PACKED_PIXELS) {
		fail(r->err, "JPEG image of %u x %u pixels is not supported", jpeg->image_width,
		     jpeg->image_height);
		longjmp(r->jump, 1);
	}
	is_cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
	jpeg->out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
	/* The slow integer transform is the exact one; all decoders that care use it. */
	jpeg->dct_method = JDCT_ISLOW;
	jpeg_start_decompress(jpeg);
	if (image_alloc(image, jpeg->output_width, jpeg->output_height, r->err))
		longjmp(r->jump, 1);
	if (is_cmyk) {
		r->row = malloc((size_t)jpeg->output_width * 4);
		if (!r->row) {
			fail(r->err, "out of memory");
			longjmp(r->jump, 1);
		}
	}
	while (jpeg->output_scanline < jpeg->output_height) {
		uint8_t *out = image->pixels +
			       (size_t)jpeg->output_scanline * image->width * 3;
		JSAMPROW row = is_cmyk ? r->row : out;

		jpeg_read_scanlines(jpeg, &row, 1);
		if (is_cmyk)
			cmyk_to_rgb(r, out);
	}
	jpeg_finish_decompress(jpeg);
}

int jpeg_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	volatile int ret = -1;

	if (!r)
		return fail(err, "out of memory");
	/* What changes between setjmp() and longjmp() is in memory of its own. */
	r->data = data;
	r->size = size;
	r->err = err;

	r->jpeg.err = jpeg_std_error(&r->errors);
	r->jpeg.client_data = r;
	r->errors.error_exit = on_error;
	r->errors.emit_message = on_message;
	r->progress.progress_monitor = on_progress;
	if (setjmp(r->jump) == 0) {
		read_pixels(r, image);
		ret = 0;
	}
	free(r->row);
	jpeg_destroy_decompress(&r->jpeg);
	free(r);
	return ret;
}

#endif /* NNRUN_JPEG */
