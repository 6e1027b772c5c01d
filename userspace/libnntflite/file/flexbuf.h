/* SPDX-License-Identifier: MIT */
/*
 * Reader for FlexBuffers of unknown origin, as far as options of custom operators need them:
 * a map of numbers at the root.
 *
 * Every offset is checked against the bounds of the buffer. Nothing recurses.
 */
#ifndef NNTFLITE_FILE_FLEXBUF_H
#define NNTFLITE_FILE_FLEXBUF_H

#include "flatbuf.h"

/**
 * struct flex_map - a map at the root of a FlexBuffer
 * @data: the buffer
 * @size: its bytes
 * @count: entries
 * @keys: offset of the vector of keys
 * @key_width: bytes of an element there
 * @values: offset of the vector of values
 * @width: bytes of an element there
 */
struct flex_map {
	const uint8_t *data;
	size_t size;
	uint32_t count;
	size_t keys;
	size_t values;
	uint8_t key_width;
	uint8_t width;
};

/*
 * Find the map; false if the buffer is malformed, holds something else, or if the map has more
 * than 64 entries.
 */
bool flex_map(const struct fb_vector *bytes, struct flex_map *map);

/*
 * The number at @key: integers, bools and floats. false if there is none; *@value stays as it is.
 */
bool flex_number(const struct flex_map *map, const char *key, double *value);

#endif /* NNTFLITE_FILE_FLEXBUF_H */
