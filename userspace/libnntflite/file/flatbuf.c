// SPDX-License-Identifier: MIT
/*
 * Reader for FlatBuffers of unknown origin.
 */
#include <inttypes.h>
#include <string.h>

#include "flatbuf.h"

/* The format has signed 32-bit offsets, so no buffer is larger. */
#define FB_MAX_SIZE	0x7fffffffu

static uint16_t load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t load_u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t load_u64(const uint8_t *p)
{
	return load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

static float load_f32(const uint8_t *p)
{
	uint32_t bits = load_u32(p);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void fault(struct fb_reader *reader, uint64_t pos, const char *what)
{
	/* A file that was not copied to its end is the most frequent case. */
	if (!reader->failed)
		diag_fail(reader->diag, "malformed file: %s at offset %" PRIu64 "%s", what, pos,
			  pos > reader->size ? ": the file ends before" : "");
	reader->failed = true;
}

/* Are there @bytes bytes from @pos on? */
static bool inside(const struct fb_reader *reader, uint64_t pos, uint64_t bytes)
{
	return pos <= reader->size && bytes <= reader->size - pos;
}

static struct fb_table open_table(struct fb_reader *reader, uint64_t pos)
{
	struct fb_table table = { .reader = reader };
	int64_t vtable;
	uint16_t vtable_size;

	if (!inside(reader, pos, 4)) {
		fault(reader, pos, "table beyond the end of the file");
		return table;
	}
	vtable = (int64_t)pos - (int32_t)load_u32(reader->data + pos);
	if (vtable < 0 || !inside(reader, (uint64_t)vtable, 4)) {
		fault(reader, pos, "table whose vtable is outside the file");
		return table;
	}
	vtable_size = load_u16(reader->data + vtable);
	table.size = load_u16(reader->data + vtable + 2);
	if (vtable_size < 4 || vtable_size % 2 != 0 ||
	    !inside(reader, (uint64_t)vtable, vtable_size)) {
		fault(reader, (uint64_t)vtable, "vtable of impossible size");
		return table;
	}
	if (table.size < 4 || !inside(reader, pos, table.size)) {
		fault(reader, pos, "table of impossible size");
		return table;
	}
	table.pos = (uint32_t)pos;
	table.vtable = (uint32_t)vtable;
	table.num_slots = (uint16_t)((vtable_size - 4) / 2);
	table.present = true;
	return table;
}

struct fb_table fb_root(struct fb_reader *reader, const uint8_t *data, size_t size,
			const char *identifier, struct nntflite_diag *diag)
{
	struct fb_table none = { .reader = reader };

	*reader = (struct fb_reader){ .data = data, .size = size, .diag = diag };
	if (size > FB_MAX_SIZE) {
		fault(reader, FB_MAX_SIZE, "more data than the format can address");
		return none;
	}
	if (!size) {
		diag_fail(diag, "the file is empty");
		reader->failed = true;
		return none;
	}
	if (size < 8) {
		fault(reader, size, "end of the file inside the header");
		return none;
	}
	if (identifier && memcmp(data + 4, identifier, 4) != 0) {
		diag_fail(diag, "not a %s file: identifier \"%s\" not found at offset 4",
		     strcmp(identifier, "TFL3") == 0 ? "TensorFlow Lite" : "known", identifier);
		reader->failed = true;
		return none;
	}
	return open_table(reader, load_u32(data));
}

/* Position of a field of @bytes bytes, 0 if it is absent or there is a fault. */
static uint32_t field_pos(const struct fb_table *table, unsigned int slot, size_t bytes)
{
	struct fb_reader *reader = table->reader;
	uint16_t offset;

	if (!table->present || reader->failed || slot >= table->num_slots)
		return 0;
	offset = load_u16(reader->data + table->vtable + 4 + 2 * slot);
	if (offset == 0)
		return 0;
	if (offset < 4 || offset + bytes > table->size) {
		fault(reader, table->pos, "field outside its table");
		return 0;
	}
	return table->pos + offset;
}

/* Position a field of offset type refers to, 0 if absent or faulty. */
static uint64_t target_pos(const struct fb_table *table, unsigned int slot)
{
	uint32_t pos = field_pos(table, slot, 4);
	uint32_t offset;

	if (pos == 0)
		return 0;
	offset = load_u32(table->reader->data + pos);
	if (offset < 4) {
		fault(table->reader, pos, "reference to nowhere");
		return 0;
	}
	return (uint64_t)pos + offset;
}

uint8_t fb_u8(const struct fb_table *table, unsigned int slot, uint8_t value)
{
	uint32_t pos = field_pos(table, slot, 1);

	return pos ? table->reader->data[pos] : value;
}

int8_t fb_i8(const struct fb_table *table, unsigned int slot, int8_t value)
{
	return (int8_t)fb_u8(table, slot, (uint8_t)value);
}

uint32_t fb_u32(const struct fb_table *table, unsigned int slot, uint32_t value)
{
	uint32_t pos = field_pos(table, slot, 4);

	return pos ? load_u32(table->reader->data + pos) : value;
}

int32_t fb_i32(const struct fb_table *table, unsigned int slot, int32_t value)
{
	return (int32_t)fb_u32(table, slot, (uint32_t)value);
}

uint64_t fb_u64(const struct fb_table *table, unsigned int slot, uint64_t value)
{
	uint32_t pos = field_pos(table, slot, 8);

	return pos ? load_u64(table->reader->data + pos) : value;
}

float fb_f32(const struct fb_table *table, unsigned int slot, float value)
{
	uint32_t pos = field_pos(table, slot, 4);

	return pos ? load_f32(table->reader->data + pos) : value;
}

struct fb_table fb_subtable(const struct fb_table *table, unsigned int slot)
{
	struct fb_table none = { .reader = table->reader };
	uint64_t pos = target_pos(table, slot);

	return pos ? open_table(table->reader, pos) : none;
}

struct fb_vector fb_vector(const struct fb_table *table, unsigned int slot, size_t element)
{
	struct fb_reader *reader = table->reader;
	struct fb_vector vector = { NULL, 0, 0 };
	uint64_t pos = target_pos(table, slot);
	uint32_t count;

	if (pos == 0)
		return vector;
	if (!inside(reader, pos, 4)) {
		fault(reader, pos, "vector beyond the end of the file");
		return vector;
	}
	count = load_u32(reader->data + pos);
	if (!inside(reader, pos + 4, (uint64_t)count * element)) {
		fault(reader, pos, "vector that runs past the end of the file");
		return vector;
	}
	vector.data = reader->data + pos + 4;
	vector.pos = (uint32_t)pos + 4;
	vector.count = count;
	return vector;
}

struct text fb_string(const struct fb_table *table, unsigned int slot)
{
	struct fb_vector vector = fb_vector(table, slot, 1);

	return (struct text){ vector.count ? (const char *)vector.data : "", vector.count };
}

struct fb_table fb_vector_table(struct fb_reader *reader, const struct fb_vector *vector,
				uint32_t i)
{
	struct fb_table none = { .reader = reader };

	if (reader->failed || i >= vector->count)
		return none;
	return open_table(reader, (uint64_t)vector->pos + 4 * (uint64_t)i +
			  load_u32(vector->data + 4 * (size_t)i));
}

int32_t fb_vector_i32(const struct fb_vector *vector, uint32_t i)
{
	return (int32_t)load_u32(vector->data + 4 * (size_t)i);
}

int64_t fb_vector_i64(const struct fb_vector *vector, uint32_t i)
{
	return (int64_t)load_u64(vector->data + 8 * (size_t)i);
}

float fb_vector_f32(const struct fb_vector *vector, uint32_t i)
{
	return load_f32(vector->data + 4 * (size_t)i);
}
