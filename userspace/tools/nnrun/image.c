// SPDX-License-Identifier: MIT
/*
 * Reading BMP and binary PNM files, and turning pixels into tensor elements.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

/* Larger pictures are refused before memory is asked for. */
#define MAX_SIDE	32768u
#define MAX_PIXELS	(UINT64_C(1) << 28)

#define BMP_FILE_HEADER	14
#define BMP_CORE_HEADER	12
#define BMP_INFO_HEADER	40
#define BMP_RGB		0
#define BMP_BITFIELDS	3
#define BMP_ALPHA_BITFIELDS 6

static uint32_t le16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | le16(p + 2) << 16;
}

bool image_probe(const uint8_t *data, size_t size)
{
	/* The reserved words and the size of the DIB header tell a BMP file from raw data. */
	if (size >= BMP_FILE_HEADER + 4 && data[0] == 'B' && data[1] == 'M')
		return le32(data + 6) == 0 && le32(data + 14) >= BMP_CORE_HEADER &&
		       le32(data + 14) <= 124;
	if (size >= 8 && data[0] == 'P' && (data[1] == '5' || data[1] == '6') &&
	    (data[2] == '\n' || data[2] == ' ' || data[2] == '\r' || data[2] == '\t'))
		return (data[3] >= '0' && data[3] <= '9') || data[3] == '#';
	return false;
}

static int alloc_image(struct image *image, uint64_t width, uint64_t height,
		       struct error *err)
{
	if (width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE ||
	    width * height > MAX_PIXELS)
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

/* What the headers of a BMP file say. */
struct bmp {
	uint64_t width;
	uint64_t height;
	bool top_down;
	uint32_t bytes_per_pixel;
	uint32_t data;			/* offset of the first row */
	uint32_t red;			/* position of the byte in a pixel */
	uint32_t green;
	uint32_t blue;
};

/* Position of the byte a colour mask names. */
static int mask_byte(uint32_t mask, uint32_t *byte, struct error *err)
{
	for (*byte = 0; *byte < 4; (*byte)++)
		if (mask == UINT32_C(0xff) << (8 * *byte))
			return 0;
	return fail(err, "BMP colour mask %08" PRIx32 " is not one whole byte", mask);
}

static int bmp_headers(const uint8_t *data, size_t size, struct bmp *bmp, struct error *err)
{
	uint32_t header = le32(data + BMP_FILE_HEADER);
	uint32_t bits, compression = BMP_RGB;
	const uint8_t *info = data + BMP_FILE_HEADER;
	int32_t height;

	*bmp = (struct bmp){ .data = le32(data + 10), .red = 2, .green = 1, .blue = 0 };
	if (header == BMP_CORE_HEADER) {
		if (size < BMP_FILE_HEADER + BMP_CORE_HEADER)
			return fail(err, "BMP file ends inside its header");
		bmp->width = le16(info + 4);
		bmp->height = le16(info + 6);
		bits = le16(info + 10);
	} else {
		if (header < BMP_INFO_HEADER)
			return fail(err, "BMP header of %" PRIu32 " bytes is not supported",
				    header);
		if (size < BMP_FILE_HEADER + BMP_INFO_HEADER)
			return fail(err, "BMP file ends inside its header");
		if ((int32_t)le32(info + 4) < 0)
			return fail(err, "BMP width %" PRId32 " is negative",
				    (int32_t)le32(info + 4));
		bmp->width = le32(info + 4);
		height = (int32_t)le32(info + 8);
		bmp->top_down = height < 0;
		bmp->height = (uint64_t)llabs((long long)height);
		bits = le16(info + 14);
		compression = le32(info + 16);
	}
	if (bits != 24 && bits != 32)
		return fail(err, "BMP with %" PRIu32
			    " bits per pixel, only 24 and 32 are supported", bits);
	bmp->bytes_per_pixel = bits / 8;
	if (compression == BMP_RGB)
		return 0;
	if ((compression != BMP_BITFIELDS && compression != BMP_ALPHA_BITFIELDS) || bits != 32)
		return fail(err, "BMP compression %" PRIu32 " with %" PRIu32
			    " bits per pixel is not supported", compression, bits);
	/*
	 * The masks follow the short header or are inside the long one. The offset is the same.
	 */
	if (size < BMP_FILE_HEADER + BMP_INFO_HEADER + 12)
		return fail(err, "BMP file ends inside its header");
	if (mask_byte(le32(info + 40), &bmp->red, err) ||
	    mask_byte(le32(info + 44), &bmp->green, err) ||
	    mask_byte(le32(info + 48), &bmp->blue, err))
		return -1;
	return 0;
}

static int decode_bmp(const uint8_t *data, size_t size, struct image *image,
		      struct error *err)
{
	uint64_t row, stride;
	struct bmp bmp;
	uint32_t x, y;

	if (bmp_headers(data, size, &bmp, err) ||
	    alloc_image(image, bmp.width, bmp.height, err))
		return -1;
	row = bmp.width * bmp.bytes_per_pixel;
	stride = (row + 3) & ~UINT64_C(3);
	/* Some programs omit the padding of the last row. */
	if (bmp.data > size || stride * (bmp.height - 1) + row > size - bmp.data)
		return fail(err, "BMP file of %zu bytes is too short for %" PRIu64 " x %" PRIu64
			    " pixels from offset %" PRIu32, size, bmp.width, bmp.height,
			    bmp.data);
	for (y = 0; y < image->height; y++) {
		uint32_t line = bmp.top_down ? y : image->height - 1 - y;
		const uint8_t *in = data + bmp.data + stride * line;
		uint8_t *out = image->pixels + (size_t)y * image->width * 3;

		for (x = 0; x < image->width; x++) {
			out[0] = in[bmp.red];
			out[1] = in[bmp.green];
			out[2] = in[bmp.blue];
			in += bmp.bytes_per_pixel;
			out += 3;
		}
	}
	return 0;
}

/* A number of a PNM header; white space and comments before it are skipped. */
static int pnm_number(const uint8_t *data, size_t size, size_t *at, uint32_t *value,
		      struct error *err)
{
	*value = 0;
	while (*at < size) {
		uint8_t c = data[*at];

		if (c == '#') {
			while (*at < size && data[*at] != '\n')
				(*at)++;
		} else if (c == ' ' || (c >= '\t' && c <= '\r')) {
			(*at)++;
		} else {
			break;
		}
	}
	if (*at >= size || data[*at] < '0' || data[*at] > '9')
		return fail(err, "PNM header: number expected at offset %zu", *at);
	while (*at < size && data[*at] >= '0' && data[*at] <= '9') {
		if (*value > 1000000)
			return fail(err, "PNM header: number too large at offset %zu", *at);
		*value = *value * 10 + data[(*at)++] - '0';
	}
	return 0;
}

static int decode_pnm(const uint8_t *data, size_t size, struct image *image,
		      struct error *err)
{
	uint32_t channels = data[1] == '6' ? 3 : 1;
	uint32_t width, height, max, bytes, c;
	size_t at = 2;
	uint64_t need;
	uint64_t i;

	if (pnm_number(data, size, &at, &width, err) ||
	    pnm_number(data, size, &at, &height, err) ||
	    pnm_number(data, size, &at, &max, err))
		return -1;
	if (max == 0 || max > 65535)
		return fail(err, "PNM header: maximum value %" PRIu32 " is not in 1 to 65535", max);
	at++;			/* one white space before the data */
	if (alloc_image(image, width, height, err))
		return -1;
	bytes = max > 255 ? 2 : 1;
	need = (uint64_t)width * height * channels * bytes;
	if (at > size || need > size - at)
		return fail(err, "PNM file of %zu bytes is too short for %" PRIu32 " x %" PRIu32
			    " pixels from offset %zu", size, width, height, at);
	for (i = 0; i < (uint64_t)width * height; i++) {
		for (c = 0; c < 3; c++) {
			size_t element = (size_t)(i * channels + (channels == 3 ? c : 0));
			const uint8_t *p = data + at + element * bytes;
			uint32_t value = bytes == 2 ? (uint32_t)p[0] << 8 | p[1] : p[0];

			if (value > max)
				value = max;
			image->pixels[3 * i + c] = (uint8_t)((value * 255 + max / 2) / max);
		}
	}
	return 0;
}

int image_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	*image = (struct image){ 0, 0, NULL };
	if (!image_probe(data, size))
		return fail(err, "neither a BMP nor a binary PPM or PGM file");
	return data[0] == 'B' ? decode_bmp(data, size, image, err) :
				decode_pnm(data, size, image, err);
}

bool image_fits(const struct hal_io *io)
{
	return io->rank == 4 && io->dims[0] == 1 && (io->dims[3] == 1 || io->dims[3] == 3) &&
	       io->dims[1] <= MAX_SIDE && io->dims[2] <= MAX_SIDE &&
	       (io->type == NNHAL_OPERAND_TENSOR_FLOAT32 ||
		io->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ||
		io->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED);
}

/* The tensor element for each of the 256 pixel values. */
static void fill_table(const struct hal_io *io, const struct image_scaling *scaling,
		       float *reals, int32_t *integers)
{
	bool is_signed = io->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
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
		if (io->scale > 0)
			quantized = nearbyint(real / (double)io->scale) + io->zero_point;
		quantized = fmin(fmax(quantized, low), high);
		integers[value] = (int32_t)quantized;
	}
}

int image_to_sample(const struct image *image, const struct hal_io *io,
		    const struct image_scaling *scaling, void *sample, struct error *err)
{
	uint32_t channels = io->dims[3];
	int32_t integers[256];
	struct image resized;
	float reals[256];
	size_t i;

	if (image_resize(image, io->dims[2], io->dims[1], &resized, err))
		return -1;
	fill_table(io, scaling, reals, integers);
	for (i = 0; i < io->elements; i++) {
		const uint8_t *p = resized.pixels + (channels == 3 ? i : 3 * i);
		uint32_t value = p[0];

		if (channels == 1)	/* luminance of ITU-R BT.601 */
			value = (19595 * (uint32_t)p[0] + 38470 * (uint32_t)p[1] +
				 7471 * (uint32_t)p[2] + 32768) >> 16;
		if (io->type == NNHAL_OPERAND_TENSOR_FLOAT32)
			memcpy((uint8_t *)sample + 4 * i, &reals[value], 4);
		else
			((uint8_t *)sample)[i] = (uint8_t)integers[value];
	}
	image_free(&resized);
	return 0;
}
