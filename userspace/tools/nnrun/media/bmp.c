// SPDX-License-Identifier: MIT
/*
 * Reading BMP files.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "image_format.h"

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

bool bmp_probe(const uint8_t *data, size_t size)
{
	/* The reserved words and the size of the DIB header tell a BMP file from raw data. */
	return size >= BMP_FILE_HEADER + 4 && data[0] == 'B' && data[1] == 'M' &&
	       le32(data + 6) == 0 && le32(data + 14) >= BMP_CORE_HEADER && le32(data + 14) <= 124;
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

int bmp_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
{
	uint64_t row, stride;
	struct bmp bmp;
	uint32_t x, y;

	if (bmp_headers(data, size, &bmp, err) ||
	    image_alloc(image, bmp.width, bmp.height, err))
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
