// SPDX-License-Identifier: MIT
/*
 * Reader of NNTC files.
 *
 * Counts in a file are compared with the bytes that are left before anything is
 * allocated for them, so a file takes no more memory than a multiple of its size.
 */
#include "nntc.h"
#include "plural.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes each of them takes at least. */
#define MIN_CASE	30
#define MIN_SUBGRAPH	16
#define MIN_OPERAND	28
#define MIN_OPERATION	8

/* Where the reader is, for messages. */
struct reader {
	struct nntc_file *f;
	const struct nntc_case *nc;	/* NULL in front of the first case */
	uint32_t subgraph;
	const char *kind;		/* "operand", "operation" or NULL */
	uint32_t number;
};

uint32_t nntc_element_size(uint32_t type)
{
	/* By type, FLOAT32 to SUBGRAPH. The HAL gives SUBGRAPH no size. */
	static const uint8_t sizes[] = { 4, 4, 4, 4, 4, 1, 1, 2, 2, 1, 2, 1, 2, 1, 1 };

	return type < sizeof(sizes) ? sizes[type] : 0;
}

bool nntc_is_scalar(uint32_t type)
{
	/* FLOAT32, INT32, UINT32, BOOL, FLOAT16, SUBGRAPH, OEM */
	return type <= 2 || type == 6 || type == 10 || type == 15 || type == 10000;
}

__attribute__((format(printf, 3, 4)))
static bool malformed(struct reader *r, size_t offset, const char *fmt, ...)
{
	struct nntc_file *f = r->f;
	size_t n = 0;
	va_list args;

	n += (size_t)snprintf(f->error, sizeof(f->error), "malformed at offset %zu: ", offset);
	if (r->nc)
		n += (size_t)snprintf(f->error + n, sizeof(f->error) - n, "case %u%s%.120s: ",
				      f->next, r->nc->name[0] ? " " : "", r->nc->name);
	if (r->kind && r->subgraph)
		n += (size_t)snprintf(f->error + n, sizeof(f->error) - n, "subgraph %u, ",
				      r->subgraph);
	if (r->kind)
		n += (size_t)snprintf(f->error + n, sizeof(f->error) - n, "%s %u: ", r->kind,
				      r->number);
	va_start(args, fmt);
	vsnprintf(f->error + n, sizeof(f->error) - n, fmt, args);
	va_end(args);
	return false;
}

static size_t left(const struct reader *r)
{
	return r->f->size - r->f->at;
}

static bool take(struct reader *r, void *to, size_t n)
{
	struct nntc_file *f = r->f;

	if (n > left(r))
		return malformed(r, f->at, "the file ends here, %zu byte%s missing", n - left(r),
				 plural(n - left(r)));
	if (n)
		memcpy(to, f->bytes + f->at, n);
	f->at += n;
	return true;
}

/* Allocate @count elements. Each takes at least @min bytes in the file. */
static void *allocate(struct reader *r, const char *what, uint32_t count, size_t min,
		      size_t size)
{
	void *room;

	if (count > left(r) / min) {
		malformed(r, r->f->at, "%u %s, but only %zu byte%s left", count, what, left(r),
			  plural(left(r)));
		return NULL;
	}
	room = calloc((size_t)count + 1, size);
	if (!room)
		snprintf(r->f->error, sizeof(r->f->error), "no memory for %u %s", count, what);
	return room;
}

/* @count operand indexes; NULL after a failure. */
static uint32_t *take_indexes(struct reader *r, const char *what, uint32_t count,
			      uint32_t num_operands)
{
	uint32_t *list = allocate(r, what, count, sizeof(*list), sizeof(*list));

	if (!list)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		size_t offset = r->f->at;

		if (!take(r, &list[i], sizeof(*list)))
			break;
		if (list[i] < num_operands)
			continue;
		malformed(r, offset, "%s: operand %u does not exist, there are %u", what, list[i],
			  num_operands);
		break;
	}
	if (!r->f->error[0])
		return list;
	free(list);
	return NULL;
}

/* Bytes of the shape; false if a size is not known or the product exceeds 64 bits. */
static bool size_of_shape(const struct nntc_operand *o, uint64_t *size)
{
	*size = nntc_element_size(o->type);
	if (!*size || (!o->rank && !nntc_is_scalar(o->type)))
		return false;
	for (unsigned int i = 0; i < o->rank; i++) {
		if (__builtin_mul_overflow(*size, (uint64_t)o->dims[i], size))
			return false;
	}
	return true;
}

static bool has_unknown_dims(const struct nntc_operand *o)
{
	for (unsigned int i = 0; i < o->rank; i++) {
		if (!o->dims[i])
			return true;
	}
	return !o->rank && !nntc_is_scalar(o->type);
}

static bool check_data(struct reader *r, const struct nntc_operand *o, size_t offset)
{
	uint32_t element = nntc_element_size(o->type);
	uint64_t size;
	bool exact = size_of_shape(o, &size) && size == o->num_bytes;

	switch (o->lifetime) {
	case NNTC_SUBGRAPH:
		/* The caller reads the index. */
		return true;
	case NNTC_TEMPORARY:
	case NNTC_NO_VALUE:
		if (!o->num_bytes)
			return true;
		return malformed(r, offset, "%u byte%s of data, expected none", o->num_bytes,
				 plural(o->num_bytes));
	case NNTC_INPUT:
		if (!o->num_bytes)
			return true;
		break;
	case NNTC_OUTPUT:
		if (!o->num_bytes ||
		    (element && o->num_bytes % element == 0 && has_unknown_dims(o)))
			return true;
		break;
	default:
		break;
	}
	if (exact)
		return true;
	if (!element)
		return malformed(r, offset, "%u byte%s of data of type %u, which has no size",
				 o->num_bytes, plural(o->num_bytes), o->type);
	return malformed(r, offset, "%u byte%s of data, not what its shape takes", o->num_bytes,
			 plural(o->num_bytes));
}

static bool check_subgraph_index(struct reader *r, struct nntc_operand *o, size_t offset,
				 uint32_t num_referenced)
{
	if (o->num_bytes != sizeof(o->subgraph))
		return malformed(r, offset, "%u byte%s of data, a subgraph's index takes 4",
				 o->num_bytes, plural(o->num_bytes));
	memcpy(&o->subgraph, o->data, sizeof(o->subgraph));
	o->data = NULL;
	o->num_bytes = 0;
	if (o->subgraph < num_referenced)
		return true;
	return malformed(r, offset, "subgraph %u does not exist, there are %u", o->subgraph,
			 num_referenced);
}

static bool is_flag(uint8_t byte)
{
	return byte <= 1;
}

static bool read_operand(struct reader *r, struct nntc_operand *o, uint32_t num_referenced)
{
	struct nntc_file *f = r->f;
	size_t start = f->at, offset;
	uint8_t b[4];

	if (!take(r, &o->type, 4) || !take(r, b, 4) || !take(r, &o->scale, 4) ||
	    !take(r, &o->zero_point, 4) || !take(r, &o->channel_dim, 4) ||
	    !take(r, &o->num_channel_scales, 4))
		return false;
	o->lifetime = b[0];
	o->ignore_output = b[1];
	o->rank = b[2];
	if (b[0] > NNTC_SUBGRAPH)
		return malformed(r, start + 4, "lifetime %u, expected at most %d", b[0],
				 NNTC_SUBGRAPH);
	if (!is_flag(b[1]) || b[3])
		return malformed(r, start + 5, "flag %u, reserved byte %u, expected 0 or 1, and 0",
				 b[1], b[3]);
	if (o->rank > NNTC_MAX_RANK)
		return malformed(r, start + 6, "rank %u, expected at most %d", o->rank,
				 NNTC_MAX_RANK);
	if (!take(r, o->dims, 4u * o->rank))
		return false;
	o->channel_scales = allocate(r, "channel scales", o->num_channel_scales,
				     sizeof(float), sizeof(float));
	if (!o->channel_scales ||
	    !take(r, o->channel_scales, sizeof(float) * o->num_channel_scales))
		return false;
	offset = f->at;
	if (!take(r, &o->num_bytes, 4))
		return false;
	if (o->num_bytes > left(r))
		return malformed(r, offset, "%u byte%s of data, but only %zu left", o->num_bytes,
				 plural(o->num_bytes), left(r));
	o->data = f->bytes + f->at;
	f->at += o->num_bytes;
	if (o->lifetime == NNTC_SUBGRAPH)
		return check_subgraph_index(r, o, offset, num_referenced);
	return check_data(r, o, offset);
}

static bool read_operation(struct reader *r, struct nntc_operation *o, uint32_t num_operands)
{
	uint16_t n[2];

	if (!take(r, &o->type, 4) || !take(r, n, 4))
		return false;
	o->num_inputs = n[0];
	o->num_outputs = n[1];
	o->operands = take_indexes(r, "operands", (uint32_t)n[0] + n[1], num_operands);
	return o->operands;
}

/* After a failure, nntc_free() releases what was allocated. */
static bool read_subgraph(struct reader *r, struct nntc_subgraph *sg, uint32_t num_referenced)
{
	uint32_t n[4];

	r->kind = NULL;
	if (!take(r, n, sizeof(n)))
		return false;
	sg->operands = allocate(r, "operands", n[0], MIN_OPERAND, sizeof(*sg->operands));
	if (!sg->operands)
		return false;
	sg->num_operands = n[0];
	r->kind = "operand";
	for (r->number = 0; r->number < n[0]; r->number++) {
		if (!read_operand(r, &sg->operands[r->number], num_referenced))
			return false;
	}
	r->kind = NULL;
	sg->operations = allocate(r, "operations", n[1], MIN_OPERATION, sizeof(*sg->operations));
	if (!sg->operations)
		return false;
	sg->num_operations = n[1];
	r->kind = "operation";
	for (r->number = 0; r->number < n[1]; r->number++) {
		if (!read_operation(r, &sg->operations[r->number], n[0]))
			return false;
	}
	r->kind = NULL;
	sg->inputs = take_indexes(r, "inputs", n[2], n[0]);
	if (!sg->inputs)
		return false;
	sg->num_inputs = n[2];
	sg->outputs = take_indexes(r, "outputs", n[3], n[0]);
	if (!sg->outputs)
		return false;
	sg->num_outputs = n[3];
	return true;
}

static bool read_name(struct reader *r, struct nntc_case *c)
{
	size_t start = r->f->at;
	uint16_t length;

	if (!take(r, &length, 2))
		return false;
	if (length >= sizeof(c->name))
		return malformed(r, start, "name of %u bytes, expected less than %zu", length,
				 sizeof(c->name));
	if (!take(r, c->name, length))
		return false;
	for (unsigned int i = 0; i < length; i++) {
		if (c->name[i] > ' ' && c->name[i] <= '~')
			continue;
		c->name[0] = '\0';
		return malformed(r, start + 2 + i, "the name is not printable ASCII");
	}
	return true;
}

static bool read_case(struct reader *r, struct nntc_case *c)
{
	uint32_t num_subgraphs;
	uint8_t b[4];
	size_t start;

	if (!read_name(r, c))
		return false;
	start = r->f->at;
	if (!take(r, b, 4) || !take(r, &c->multinomial_tolerance, 4) ||
	    !take(r, &num_subgraphs, 4))
		return false;
	c->min_hal_version = b[0];
	c->relaxed = b[1];
	c->expect_failure = b[2];
	if (b[0] > 4)
		return malformed(r, start, "HAL version %u, expected at most 4", b[0]);
	if (!is_flag(b[1]) || !is_flag(b[2]) || b[3])
		return malformed(r, start + 1,
				 "flags %u and %u, reserved byte %u, expected 0 or 1, and 0", b[1],
				 b[2], b[3]);
	if (!isfinite(c->multinomial_tolerance) || c->multinomial_tolerance < 0)
		return malformed(r, start + 4, "tolerance %g, expected a number from 0 on",
				 (double)c->multinomial_tolerance);
	if (!num_subgraphs)
		return malformed(r, start + 8, "no subgraph");
	c->referenced = allocate(r, "subgraphs", num_subgraphs, MIN_SUBGRAPH,
				 sizeof(*c->referenced));
	if (!c->referenced)
		return false;
	c->num_referenced = num_subgraphs - 1;
	for (r->subgraph = 0; r->subgraph < num_subgraphs; r->subgraph++) {
		if (!read_subgraph(r, r->subgraph ? &c->referenced[r->subgraph - 1] : &c->main,
				   c->num_referenced))
			return false;
	}
	return true;
}

bool nntc_next(struct nntc_file *f, struct nntc_case *c)
{
	struct reader r = { .f = f, .nc = c };

	memset(c, 0, sizeof(*c));
	if (f->error[0] || f->next >= f->num_cases) {
		if (!f->error[0])
			snprintf(f->error, sizeof(f->error), "the file has only %u case%s",
				 f->num_cases, plural(f->num_cases));
		return false;
	}
	if (!read_case(&r, c)) {
		nntc_free(c);
		return false;
	}
	f->next++;
	r.nc = NULL;
	r.kind = NULL;
	if (f->next < f->num_cases || f->at == f->size)
		return true;
	malformed(&r, f->at, "%zu byte%s after the last case", left(&r), plural(left(&r)));
	nntc_free(c);
	return false;
}

static void free_subgraph(struct nntc_subgraph *sg)
{
	for (uint32_t i = 0; i < sg->num_operands; i++)
		free(sg->operands[i].channel_scales);
	for (uint32_t i = 0; i < sg->num_operations; i++)
		free(sg->operations[i].operands);
	free(sg->operands);
	free(sg->operations);
	free(sg->inputs);
	free(sg->outputs);
}

void nntc_free(struct nntc_case *c)
{
	free_subgraph(&c->main);
	for (uint32_t i = 0; i < c->num_referenced; i++)
		free_subgraph(&c->referenced[i]);
	free(c->referenced);
	memset(c, 0, sizeof(*c));
}

bool nntc_open_bytes(struct nntc_file *f, const void *bytes, size_t size)
{
	struct reader r = { .f = f };
	char magic[4];
	uint32_t version;

	memset(f, 0, sizeof(*f));
	f->bytes = bytes;
	f->size = size;
	if (!take(&r, magic, 4))
		return false;
	if (memcmp(magic, "NNTC", 4))
		return malformed(&r, 0, "not an NNTC file");
	if (!take(&r, &version, 4))
		return false;
	if (version != 1)
		return malformed(&r, 4, "version %u, expected 1", version);
	if (!take(&r, &f->num_cases, 4))
		return false;
	if (f->num_cases > left(&r) / MIN_CASE)
		return malformed(&r, 8, "%u case%s, but only %zu byte%s left", f->num_cases,
				 plural(f->num_cases), left(&r), plural(left(&r)));
	if (!f->num_cases && left(&r))
		return malformed(&r, f->at, "%zu byte%s after the last case", left(&r), plural(left(&r)));
	return true;
}

/* Everything of a stream; NULL with a text in @f. */
static uint8_t *read_all(struct nntc_file *f, FILE *in, size_t *size)
{
	size_t room = 0, n = 1;
	uint8_t *bytes = NULL, *larger;

	for (*size = 0; n && *size <= NNTC_MAX_FILE; *size += n) {
		if (*size == room) {
			room = room ? room * 2 : 65536;
			larger = realloc(bytes, room);
			if (!larger)
				break;
			bytes = larger;
		}
		n = fread(bytes + *size, 1, room - *size, in);
	}
	if (!ferror(in) && !n)
		return bytes;
	if (ferror(in))
		snprintf(f->error, sizeof(f->error), "cannot be read: %s", strerror(errno));
	else if (*size > NNTC_MAX_FILE)
		snprintf(f->error, sizeof(f->error), "larger than %u bytes", NNTC_MAX_FILE);
	else
		snprintf(f->error, sizeof(f->error), "no memory to read it");
	free(bytes);
	return NULL;
}

bool nntc_open(struct nntc_file *f, const char *path)
{
	uint8_t *bytes;
	size_t size;
	FILE *in;

	memset(f, 0, sizeof(*f));
	in = fopen(path, "rbe");
	if (!in) {
		snprintf(f->error, sizeof(f->error), "cannot be opened: %s", strerror(errno));
		return false;
	}
	bytes = read_all(f, in, &size);
	fclose(in);
	if (!bytes)
		return false;
	if (!nntc_open_bytes(f, bytes, size)) {
		free(bytes);
		return false;
	}
	f->owned = bytes;
	return true;
}

void nntc_close(struct nntc_file *f)
{
	free(f->owned);
	memset(f, 0, sizeof(*f));
}
