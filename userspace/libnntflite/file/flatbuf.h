/* SPDX-License-Identifier: MIT */
/*
 * Reader for FlatBuffers of unknown origin.
 *
 * Every offset, vtable, vector and string is checked against the bounds of the
 * buffer before it is used, and nothing is assumed to be aligned. Nothing here
 * follows more than one reference per call, so that offsets that form a cycle
 * cannot make it recurse or loop.
 *
 * The error is sticky: after the first fault all functions return defaults and
 * empty vectors, and fb_failed() says so. That keeps the code that walks a
 * schema free of a check per field.
 */
#ifndef NNTFLITE_FILE_FLATBUF_H
#define NNTFLITE_FILE_FLATBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/nntflite_diag.h"

struct fb_reader {
	const uint8_t *data;
	size_t size;
	bool failed;
	struct nntflite_diag *diag;		/* where the first fault is described */
};

/* A table; one that is absent has no fields. */
struct fb_table {
	struct fb_reader *reader;
	bool present;
	uint32_t pos;
	uint32_t vtable;
	uint16_t num_slots;
	uint16_t size;
};

/* A vector of scalars, of offsets (elements of 4 bytes) or the bytes of a string. */
struct fb_vector {
	const uint8_t *data;
	uint32_t pos;
	uint32_t count;
};

/*
 * Start reading. @identifier is four characters, or NULL. Returns the root table,
 * absent after a fault.
 */
struct fb_table fb_root(struct fb_reader *reader, const uint8_t *data, size_t size,
			const char *identifier, struct nntflite_diag *diag);

static inline bool fb_failed(const struct fb_reader *reader)
{
	return reader->failed;
}

/* Fields of a table by slot number; @value if the field is absent. */
uint8_t fb_u8(const struct fb_table *table, unsigned int slot, uint8_t value);
int8_t fb_i8(const struct fb_table *table, unsigned int slot, int8_t value);
int32_t fb_i32(const struct fb_table *table, unsigned int slot, int32_t value);
uint32_t fb_u32(const struct fb_table *table, unsigned int slot, uint32_t value);
uint64_t fb_u64(const struct fb_table *table, unsigned int slot, uint64_t value);
float fb_f32(const struct fb_table *table, unsigned int slot, float value);
struct fb_table fb_subtable(const struct fb_table *table, unsigned int slot);
struct fb_vector fb_vector(const struct fb_table *table, unsigned int slot, size_t element);
struct text fb_string(const struct fb_table *table, unsigned int slot);

/* Element @i of a vector of tables. */
struct fb_table fb_vector_table(struct fb_reader *reader, const struct fb_vector *vector,
				uint32_t i);

/* Elements of a vector of scalars; @i must be below count. */
int32_t fb_vector_i32(const struct fb_vector *vector, uint32_t i);
int64_t fb_vector_i64(const struct fb_vector *vector, uint32_t i);
float fb_vector_f32(const struct fb_vector *vector, uint32_t i);

#endif /* NNTFLITE_FILE_FLATBUF_H */
