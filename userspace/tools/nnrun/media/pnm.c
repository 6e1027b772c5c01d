// SPDX-License-Identifier: MIT
/*
 * Reading binary PNM files.
 */
#include <inttypes.h>

#include "image_format.h"

bool pnm_probe(const uint8_t *data, size_t size)
{
	return size >= 8 && data[0] == 'P' && (data[1] == '5' || data[1] == '6') &&
	       (data[2] == '\n' || data[2] == ' ' || data[2] == '\r' || data[2] == '\t') &&
	       ((data[3] >= '0' && data[3] <= '9') || data[3] == '#');
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

int pnm_decode(const uint8_t *data, size_t size, struct image *image, struct error *err)
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
	if (image_alloc(image, width, height, err))
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
