// SPDX-License-Identifier: MIT
/*
 * Reader for FlexBuffers of unknown origin.
 *
 * A value is stored behind what it refers to: the last byte is the width of the root, the one
 * before its type, and the root itself lies in front of them. A map is a vector of values with
 * its size in front of it; in front of the size are the width of the keys and the distance of
 * their vector.
 */
#include <string.h>

#include "flexbuf.h"

/*
 * Several times the options that an operator has in practice. Operators may share their options, and
 * each looks through them: a longer list would take time in proportion to their product.
 */
#define MAX_ENTRIES	64

/* Types, the upper six bits of a byte; the lower two are a width. */
enum { FLEX_INT = 1, FLEX_UINT = 2, FLEX_FLOAT = 3, FLEX_MAP = 9, FLEX_BOOL = 26 };

static bool inside(const struct flex_map *map, size_t at, size_t bytes)
{
	return at <= map->size && bytes <= map->size - at;
}

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static bool load(const struct flex_map *map, size_t at, uint8_t width, uint64_t *value)
{
	uint8_t i;

	if ((width != 1 && width != 2 && width != 4 && width != 8) || !inside(map, at, width))
		return false;
	*value = 0;
	for (i = 0; i < width; i++)
		*value |= (uint64_t)map->data[at + i] << 8 * i;
	return true;
}

/* What lies a stored distance in front of @at. */
static bool follow(const struct flex_map *map, size_t at, uint8_t width, size_t *target)
{
	uint64_t distance;

	if (!load(map, at, width, &distance) || distance > at)
		return false;
	*target = at - (size_t)distance;
	return true;
}

bool flex_map(const struct fb_vector *bytes, struct flex_map *map)
{
	uint64_t count, key_width;
	uint8_t root_width, type;
	size_t root;

	*map = (struct flex_map){ .data = bytes->data, .size = bytes->count };
	if (map->size < 3)
		return false;
	root_width = map->data[map->size - 1];
	type = map->data[map->size - 2];
	if (root_width > map->size - 2 || type >> 2 != FLEX_MAP)
		return false;
	root = map->size - 2 - root_width;
	map->width = (uint8_t)(1u << (type & 3));
	if (!follow(map, root, root_width, &map->values) || map->values < 3u * map->width ||
	    !load(map, map->values - map->width, map->width, &count) ||
	    !load(map, map->values - 2u * map->width, map->width, &key_width) ||
	    !follow(map, map->values - 3u * map->width, map->width, &map->keys))
		return false;
	if (key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8)
		return false;
	map->key_width = (uint8_t)key_width;
	/* A byte of type for each value behind them. */
	if (count > MAX_ENTRIES || !inside(map, map->values, (size_t)count * (map->width + 1u)) ||
	    !inside(map, map->keys, (size_t)count * map->key_width))
		return false;
	map->count = (uint32_t)count;
	return true;
}

static bool key_is(const struct flex_map *map, uint32_t i, const char *key)
{
	size_t length = strlen(key) + 1, at;

	return follow(map, map->keys + (size_t)i * map->key_width, map->key_width, &at) &&
	       inside(map, at, length) && !memcmp(map->data + at, key, length);
}

static bool load_float(const struct flex_map *map, size_t at, double *value)
{
	uint64_t bits;
	uint32_t low;
	float single;

	if (!load(map, at, map->width, &bits))
		return false;
	if (map->width == 8) {
		memcpy(value, &bits, sizeof(*value));
		return true;
	}
	if (map->width != 4)
		return false;
	low = (uint32_t)bits;
	memcpy(&single, &low, sizeof(single));
	*value = (double)single;
	return true;
}

/* Sign-extend a number of @width bytes. */
static int64_t extend(uint64_t bits, uint8_t width)
{
	unsigned int shift = 64 - 8u * width;

	return (int64_t)(bits << shift) >> shift;
}

bool flex_number(const struct flex_map *map, const char *key, double *value)
{
	uint64_t bits;
	uint32_t i;

	for (i = 0; i < map->count; i++) {
		size_t at = map->values + (size_t)i * map->width;
		uint8_t type = map->data[map->values + (size_t)map->count * map->width + i] >> 2;

		if (!key_is(map, i, key))
			continue;
		if (type == FLEX_FLOAT)
			return load_float(map, at, value);
		if ((type != FLEX_INT && type != FLEX_UINT && type != FLEX_BOOL) ||
		    !load(map, at, map->width, &bits))
			return false;
		*value = type == FLEX_INT ? (double)extend(bits, map->width) : (double)bits;
		return true;
	}
	return false;
}
