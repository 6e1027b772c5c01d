// SPDX-License-Identifier: MIT
/*
 * FlexBuffers: options of custom operators, whole and damaged.
 */
#include <stdlib.h>
#include <string.h>

#include <tap.h>

#include "userspace/libnntflite/file/flexbuf.h"

/* { a: -5, b: true, c: 0.5 } with elements of 4 bytes where the float needs them. */
static const uint8_t small[] = {
	'a', 0, 'b', 0,
	2, 5, 4,			/* keys: how many, distances of each */
	2, 1, 2, 0xfb, 1, 4, 104,	/* keys, their width, how many, values, types */
	4, 36, 1,			/* the root: distance, type, width */
};

static const uint8_t wide[] = {
	'c', 0, 0, 0,
	1, 0, 0, 0, 8, 0, 0, 0,		/* keys, 4 bytes each */
	4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x3f, 14,
	5, 38, 1,
};

static bool number(const uint8_t *data, size_t size, const char *key, double *value)
{
	struct fb_vector bytes = { .count = (uint32_t)size };
	struct flex_map map;
	uint8_t *copy = malloc(size ? size : 1);
	bool found;

	/* Of exactly its size, so that one byte beyond is noticed. */
	if (size)
		memcpy(copy, data, size);
	bytes.data = copy;
	found = flex_map(&bytes, &map) && flex_number(&map, key, value);
	free(copy);
	return found;
}

static void damage(const uint8_t *data, size_t size, const char *name)
{
	static const char *const keys[] = { "a", "b", "c", "nobody" };
	uint8_t copy[64];
	double value;
	size_t i, k;
	unsigned int byte, found = 0, all = 0;

	for (i = 0; i < size; i++) {
		for (byte = 0; byte < 256; byte++) {
			memcpy(copy, data, size);
			copy[i] = (uint8_t)byte;
			for (k = 0; k < 4; k++) {
				found += number(copy, size, keys[k], &value);
				all++;
			}
		}
		number(data, i, "a", &value);
	}
	ok(found && found < all, "%s damaged at each place: %u of %u numbers are found", name, found,
	   all);
}

/* A map whose @count keys are all the same, at the beginning. */
static bool long_map(uint32_t count)
{
	uint8_t data[1024] = { 'a', 0 };
	size_t size = 3, keys = 3, values, i;
	double value = 0;

	data[2] = (uint8_t)count;
	for (i = 0; i < count; i++, size++)
		data[size] = (uint8_t)size;
	data[size] = (uint8_t)(size - keys);
	data[size + 1] = 1;
	data[size + 2] = (uint8_t)count;
	values = size += 3;
	memset(data + size, 9, count);
	memset(data + size + count, 4, count);
	size += 2 * (size_t)count;
	data[size] = (uint8_t)(size - values);
	data[size + 1] = 36;
	data[size + 2] = 1;
	return number(data, size + 3, "a", &value) && value == 9;
}

int main(void)
{
	double value = 7;

	ok(number(small, sizeof(small), "a", &value) && value == -5, "an integer");
	ok(number(small, sizeof(small), "b", &value) && value == 1, "a bool");
	value = 7;
	ok(!number(small, sizeof(small), "c", &value) && value == 7, "no such key");
	ok(!number(small, sizeof(small), "", &value) && value == 7, "an empty key");
	ok(number(wide, sizeof(wide), "c", &value) && value == 0.5, "a float");
	ok(!number(small, 0, "a", &value) && !number(small, 2, "a", &value), "nothing");
	ok(long_map(1) && long_map(64), "as many entries as are looked through");
	ok(!long_map(65), "an entry more");
	damage(small, sizeof(small), "a map of bytes");
	damage(wide, sizeof(wide), "a map of words");
	return tap_done();
}
