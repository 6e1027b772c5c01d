/* SPDX-License-Identifier: MIT */
/*
 * Writer of JSON.
 *
 * Members and elements are written in order; commas, line breaks and escapes are the
 * writer's work. The first two levels have a line for each value, deeper ones are on one
 * line. Errors are those of the stream: ask ferror() at the end.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH	8

struct json {
	FILE *out;
	unsigned int depth;
	char closing[JSON_MAX_DEPTH];	/* '}' or ']' of each open level */
	bool empty;			/* nothing was written on this level so far */
	bool narrow;			/* all of it is on one line */
};

/* Start a document: an object. json_end() closes it. */
void json_begin(struct json *json, FILE *out);
/* The same, on one line. */
void json_begin_line(struct json *json, FILE *out);

/* Start an object or an array. @name is the member's name, NULL in an array. */
void json_object(struct json *json, const char *name);
void json_array(struct json *json, const char *name);

/* End the innermost object or array; after the outermost a newline follows. */
void json_end(struct json *json);

/*
 * Values. A @text of NULL becomes null; bytes of it that are not UTF-8 become U+FFFD. A
 * number that is not finite becomes null. @digits are those behind the point.
 */
void json_string(struct json *json, const char *name, const char *text);
void json_bool(struct json *json, const char *name, bool value);
void json_u64(struct json *json, const char *name, uint64_t value);
void json_real(struct json *json, const char *name, double value, int digits);

#endif /* TOOLS_JSON_H */
