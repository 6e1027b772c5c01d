// SPDX-License-Identifier: MIT
/*
 * Archives of NumPy arrays.
 *
 * The directory at the end of the file counts; what local headers say beside the place of the
 * data is not read. Archives of more than 4 GiB are refused by the limit of input files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef NNRUN_ZLIB
#include <zlib.h>
#endif

#include "npz.h"

#define END_SIZE	22
#define ENTRY_SIZE	46
#define LOCAL_SIZE	30
#define MAX_COMMENT	65535
#define METHOD_STORED	0
#define METHOD_DEFLATED	8
#define FLAG_ENCRYPTED	1
/* Deflate makes at most 1032 bytes of one; a header that promises more is wrong. */
#define MAX_RATIO	1032

static uint32_t get16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | get16(p + 2) << 16;
}

bool npz_probe(const uint8_t *data, size_t size)
{
	return size >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

/* Offset of the end record, the last one whose comment ends with the file. */
static int find_end(const uint8_t *data, size_t size, size_t *end, struct error *err)
{
	size_t back;

	for (back = END_SIZE; back <= size && back <= END_SIZE + MAX_COMMENT; back++) {
		*end = size - back;
		if (memcmp(data + *end, "PK\5\6", 4) == 0 &&
		    get16(data + *end + 20) == back - END_SIZE)
			return 0;
	}
	return fail(err, ".npz file: no directory before the end at offset %zu", size);
}

static int read_entry(const uint8_t *data, size_t end, size_t at, struct npz_array *array,
		      size_t *next, struct error *err)
{
	const uint8_t *p = data + at;
	size_t name;

	if (end - at < ENTRY_SIZE || memcmp(p, "PK\1\2", 4) != 0)
		return fail(err, ".npz file: no directory entry at offset %zu", at);
	name = get16(p + 28);
	*next = at + ENTRY_SIZE + name + get16(p + 30) + get16(p + 32);
	if (*next > end)
		return fail(err, ".npz file: the directory entry at offset %zu is cut off", at);
	array->name = (struct text){ (const char *)p + ENTRY_SIZE, name };
	if (name > 4 && memcmp(p + ENTRY_SIZE + name - 4, ".npy", 4) == 0)
		array->name.length -= 4;
	array->method = get16(p + 10);
	array->crc = get32(p + 16);
	array->packed = get32(p + 20);
	array->size = get32(p + 24);
	array->header = get32(p + 42);
	if (get16(p + 8) & FLAG_ENCRYPTED)
		return fail(err, ".npz file: the array '%s' (entry at offset %zu) is encrypted",
			    TEXT(array->name), at);
	return 0;
}

int npz_list(const uint8_t *data, size_t size, struct npz_array **arrays, size_t *count,
	     struct error *err)
{
	struct npz_array *list;
	size_t end = 0, at, i, entries;

	if (find_end(data, size, &end, err))
		return -1;
	entries = get16(data + end + 10);
	at = get32(data + end + 16);
	if (at > end || entries > (end - at) / ENTRY_SIZE)
		return fail(err, ".npz file: the end record at offset %zu has %zu entries at offset "
			    "%zu, which do not fit", end, entries, at);
	list = calloc(entries ? entries : 1, sizeof(*list));
	if (!list)
		return fail(err, "out of memory");
	for (i = 0; i < entries; i++) {
		if (read_entry(data, end, at, &list[i], &at, err)) {
			free(list);
			return -1;
		}
	}
	*arrays = list;
	*count = entries;
	return 0;
}

#ifdef NNRUN_ZLIB

static int inflate_array(const uint8_t *packed, size_t at, const struct npz_array *array,
			 uint8_t *out, struct error *err)
{
	/* Sizes have 32 bits in the archive. */
	z_stream z = {
		.next_in = (Bytef *)packed, .avail_in = (uInt)array->packed,
		.next_out = out, .avail_out = (uInt)array->size,
	};
	int status;

	/* Without a header of zlib's own. */
	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return fail(err, "out of memory");
	status = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (status == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0)
		return 0;
	return fail(err, ".npz file: the array '%s' cannot be unpacked: %s at offset %zu",
		    TEXT(array->name), z.msg ? z.msg : "its size is wrong",
		    at + array->packed - z.avail_in);
}

static uint32_t checksum(const uint8_t *data, size_t size)
{
	return (uint32_t)crc32(0, data, (uInt)size);
}

#else

static int inflate_array(const uint8_t *packed, size_t at, const struct npz_array *array,
			 uint8_t *out, struct error *err)
{
	(void)packed;
	(void)at;
	(void)out;
	return fail(err, ".npz file: the array '%s' is compressed, but nnrun was built without zlib",
		    TEXT(array->name));
}

static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t crc = UINT32_MAX;
	size_t i;
	int bit;

	for (i = 0; i < size; i++) {
		crc ^= data[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

#endif

int npz_extract(const uint8_t *data, size_t size, const struct npz_array *array, uint8_t **npy,
		struct error *err)
{
	size_t at = array->header;
	uint8_t *out;
	int ret = 0;

	if (array->method != METHOD_STORED && array->method != METHOD_DEFLATED)
		return fail(err, ".npz file: the array '%s' has compression %" PRIu32
			    ", only stored and deflated are supported", TEXT(array->name),
			    array->method);
	if (at > size || size - at < LOCAL_SIZE || memcmp(data + at, "PK\3\4", 4) != 0)
		return fail(err, ".npz file: no header of the array '%s' at offset %zu",
			    TEXT(array->name), at);
	at += LOCAL_SIZE + get16(data + at + 26) + get16(data + at + 28);
	if (at > size || array->packed > size - at)
		return fail(err, ".npz file: the array '%s' at offset %zu is cut off",
			    TEXT(array->name), at);
	if (array->method == METHOD_STORED ? array->size != array->packed :
					     array->size / MAX_RATIO > array->packed)
		return fail(err, ".npz file: the array '%s' at offset %zu has %zu bytes, packed in "
			    "%zu", TEXT(array->name), at, array->size, array->packed);
	out = malloc(array->size ? array->size : 1);
	if (!out)
		return fail(err, "out of memory");
	if (array->method == METHOD_STORED)
		memcpy(out, data + at, array->size);
	else
		ret = inflate_array(data + at, at, array, out, err);
	if (!ret && checksum(out, array->size) != array->crc)
		ret = fail(err, ".npz file: the array '%s' at offset %zu has a wrong checksum",
			   TEXT(array->name), at);
	if (ret)
		free(out);
	else
		*npy = out;
	return ret;
}
