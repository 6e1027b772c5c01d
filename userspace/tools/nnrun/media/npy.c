// SPDX-License-Identifier: MIT
/*
 * NumPy array files.
 *
 * The header is a Python dictionary with three known keys; what is parsed here is
 * that dictionary in any order and spacing, and nothing else of Python.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "npy.h"

#define MAGIC		"\x93NUMPY"
#define MAGIC_SIZE	6

/* Position in the header's text. */
struct cursor {
	const char *at;
	const char *end;
};

bool npy_probe(const uint8_t *data, size_t size)
{
	return size >= MAGIC_SIZE && memcmp(data, MAGIC, MAGIC_SIZE) == 0;
}

static void skip_space(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'))
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_space(c);
	if (c->at >= c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t length = strlen(word);

	skip_space(c);
	if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
		return false;
	c->at += length;
	return true;
}

/* A quoted string without escapes. */
static bool take_string(struct cursor *c, char *out, size_t size)
{
	char quote;
	size_t n = 0;

	skip_space(c);
	if (c->at >= c->end || (*c->at != '\'' && *c->at != '"'))
		return false;
	quote = *c->at++;
	while (c->at < c->end && *c->at != quote) {
		if (n + 1 >= size || *c->at == '\\')
			return false;
		out[n++] = *c->at++;
	}
	out[n] = '\0';
	return take(c, quote);
}

static bool take_number(struct cursor *c, uint64_t *value)
{
	skip_space(c);
	if (c->at >= c->end || *c->at < '0' || *c->at > '9')
		return false;
	*value = 0;
	while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
		if (*value > UINT64_MAX / 16)
			return false;
		*value = *value * 10 + (uint64_t)(*c->at++ - '0');
	}
	return true;
}

static bool take_shape(struct cursor *c, struct npy *npy)
{
	if (!take(c, '('))
		return false;
	npy->rank = 0;
	while (!take(c, ')')) {
		if (npy->rank == NPY_MAX_RANK || !take_number(c, &npy->dims[npy->rank]))
			return false;
		npy->rank++;
		if (!take(c, ',')) {
			/* A tuple of one element needs its comma. */
			return npy->rank > 1 && take(c, ')');
		}
	}
	return true;
}

static bool parse_dictionary(struct cursor *c, struct npy *npy, bool *fortran)
{
	bool have_descr = false, have_order = false, have_shape = false;
	char key[16];

	if (!take(c, '{'))
		return false;
	while (!take(c, '}')) {
		if (!take_string(c, key, sizeof(key)) || !take(c, ':'))
			return false;
		if (strcmp(key, "descr") == 0 && !have_descr) {
			have_descr = take_string(c, npy->descr, sizeof(npy->descr));
			if (!have_descr)
				return false;
		} else if (strcmp(key, "fortran_order") == 0 && !have_order) {
			have_order = true;
			*fortran = take_word(c, "True");
			if (!*fortran && !take_word(c, "False"))
				return false;
		} else if (strcmp(key, "shape") == 0 && !have_shape) {
			have_shape = take_shape(c, npy);
			if (!have_shape)
				return false;
		} else {
			return false;
		}
		if (!take(c, ',')) {
			if (!take(c, '}'))
				return false;
			break;
		}
	}
	skip_space(c);
	return c->at == c->end && have_descr && have_order && have_shape;
}

/* Size from the digits after the type letter. */
static int element_size(struct npy *npy, struct error *err)
{
	const char *d = npy->descr;
	struct text text = { d, strlen(d) };

	if (strlen(d) == 3 && strchr("<|=>", d[0]) && strchr("iufb", d[1]) && d[2] >= '1' &&
	    d[2] <= '8') {
		npy->element_size = (size_t)(d[2] - '0');
		if (d[0] == '>' && npy->element_size > 1)
			return fail(err, ".npy file: big-endian elements (%s) are not supported",
				    d);
		return 0;
	}
	return fail(err, ".npy file: elements of type '%s' are not supported", TEXT(text));
}

int npy_parse(const uint8_t *data, size_t size, struct npy *npy, struct error *err)
{
	bool fortran = false;
	struct cursor c;
	size_t prefix, length;
	uint32_t i, wide = 0;

	memset(npy, 0, sizeof(*npy));
	if (!npy_probe(data, size) || size < 10)
		return fail(err, ".npy file: too short for its header");
	if (data[6] == 1) {
		prefix = 10;
		length = data[8] | (size_t)data[9] << 8;
	} else if (data[6] == 2 || data[6] == 3) {
		if (size < 12)
			return fail(err, ".npy file: too short for its header");
		prefix = 12;
		length = data[8] | (size_t)data[9] << 8 | (size_t)data[10] << 16 |
			 (size_t)data[11] << 24;
	} else {
		return fail(err, ".npy file: format version %u.%u is not supported", data[6],
			    data[7]);
	}
	if (length > size - prefix)
		return fail(err, ".npy file: header of %zu bytes in a file of %zu", length, size);
	c.at = (const char *)data + prefix;
	c.end = c.at + length;
	if (!parse_dictionary(&c, npy, &fortran))
		return fail(err, ".npy file: malformed header at offset %zu",
			    (size_t)(c.at - (const char *)data));
	if (element_size(npy, err))
		return -1;

	npy->offset = prefix + length;
	npy->elements = 1;
	for (i = 0; i < npy->rank; i++) {
		if (npy->dims[i] != 0 && npy->elements > SIZE_MAX / 16 / npy->dims[i])
			return fail(err, ".npy file: shape is too large");
		npy->elements *= npy->dims[i];
		wide += npy->dims[i] > 1;
	}
	if (fortran && wide > 1)
		return fail(err, ".npy file: Fortran order is not supported");
	if (npy->elements * npy->element_size != size - npy->offset)
		return fail(err, ".npy file: %zu bytes of data, its shape takes %" PRIu64,
			    size - npy->offset, npy->elements * npy->element_size);
	return 0;
}

void npy_write_header(uint8_t *header, const char *descr, const uint64_t *dims, uint32_t rank)
{
	char text[NPY_HEADER_SIZE - 10 + 1];
	size_t room = sizeof(text);
	size_t used;
	uint32_t i;

	used = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
				descr);
	for (i = 0; i < rank; i++)
		used += (size_t)snprintf(text + used, room - used, "%" PRIu64 "%s", dims[i],
					 i + 1 < rank ? ", " : rank == 1 ? "," : "");
	used += (size_t)snprintf(text + used, room - used, "), }");
	memset(text + used, ' ', NPY_HEADER_SIZE - 10 - used);
	text[NPY_HEADER_SIZE - 10 - 1] = '\n';

	memcpy(header, MAGIC "\x01\x00", 8);
	header[8] = (NPY_HEADER_SIZE - 10) & 0xff;
	header[9] = (NPY_HEADER_SIZE - 10) >> 8;
	memcpy(header + 10, text, NPY_HEADER_SIZE - 10);
}
