// SPDX-License-Identifier: MIT
/*
 * Error texts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clean.h"
#include "error.h"

static int set_text(struct error *err, int errnum, const char *fmt, va_list args)
{
	size_t used;
	int n;

	if (err->text[0] != '\0')
		return -1;
	n = vsnprintf(err->text, sizeof(err->text), fmt, args);
	if (errnum == 0 || n < 0)
		return -1;
	err->errnum = errnum;
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(errnum));
	return -1;
}

int fail(struct error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(err, 0, fmt, args);
	va_end(args);
	return -1;
}

int fail_errno(struct error *err, int errnum, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_text(err, errnum, fmt, args);
	va_end(args);
	return -1;
}

const char *text_print(struct text text, char *out, size_t size)
{
	size_t length = text.length;
	size_t i;

	if (size == 0)
		return out;
	if (length > size - 1)
		length = size - 1;
	for (i = 0; i < length; i++)
		out[i] = clean_char(text.data[i]);
	out[length] = '\0';
	if (length < text.length && length >= 3)
		memcpy(out + length - 3, "...", 3);
	return out;
}
