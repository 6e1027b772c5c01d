// SPDX-License-Identifier: MIT
/*
 * Writer of JSON.
 */
#include <inttypes.h>
#include <math.h>

#include "json.h"

/* Levels that have a line for each value. */
#define WIDE_LEVELS	2

/* Bytes of the UTF-8 sequence at @text, 0 if it is none. */
static unsigned int utf8_length(const unsigned char *text)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int n = *text < 0x80 ? 1 : *text < 0xc0 ? 0 : *text < 0xe0 ? 2 :
			 *text < 0xf0 ? 3 : *text < 0xf8 ? 4 : 0;
	uint32_t code = n > 1 ? *text & (0xffu >> (n + 1)) : *text;

	for (unsigned int i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (n && (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return n;
}

static void write_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', out);
	while (*at) {
		unsigned int n = utf8_length(at);

		if (!n) {
			/* A file name may be anything. */
			fputs("\\ufffd", out);
			at++;
			continue;
		}
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, n, out);
		at += n;
	}
	putc('"', out);
}

static void new_line(struct json *json)
{
	putc('\n', json->out);
	for (unsigned int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* What stands before a value: comma, place, name. */
static void before_value(struct json *json, const char *name)
{
	if (!json->empty)
		putc(',', json->out);
	if (json->depth <= WIDE_LEVELS && !json->narrow)
		new_line(json);
	else if (!json->empty)
		putc(' ', json->out);
	json->empty = false;
	if (name) {
		write_string(json->out, name);
		fputs(": ", json->out);
	}
}

static void open_level(struct json *json, char opening, char closing)
{
	putc(opening, json->out);
	json->closing[json->depth++] = closing;
	json->empty = true;
}

void json_begin(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out };
	open_level(json, '{', '}');
}

void json_begin_line(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out, .narrow = true };
	open_level(json, '{', '}');
}

void json_object(struct json *json, const char *name)
{
	before_value(json, name);
	open_level(json, '{', '}');
}

void json_array(struct json *json, const char *name)
{
	before_value(json, name);
	open_level(json, '[', ']');
}

void json_end(struct json *json)
{
	bool wide = json->depth <= WIDE_LEVELS && !json->empty && !json->narrow;

	json->depth--;
	if (wide)
		new_line(json);
	putc(json->closing[json->depth], json->out);
	json->empty = false;
	if (!json->depth)
		putc('\n', json->out);
}

void json_string(struct json *json, const char *name, const char *text)
{
	before_value(json, name);
	if (text)
		write_string(json->out, text);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *name, bool value)
{
	before_value(json, name);
	fputs(value ? "true" : "false", json->out);
}

void json_u64(struct json *json, const char *name, uint64_t value)
{
	before_value(json, name);
	fprintf(json->out, "%" PRIu64, value);
}

void json_real(struct json *json, const char *name, double value, int digits)
{
	before_value(json, name);
	if (isfinite(value))
		fprintf(json->out, "%.*f", digits, value);
	else
		fputs("null", json->out);
}
