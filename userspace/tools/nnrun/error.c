// SPDX-License-Identifier: MIT
/*
 * Error texts of nnrun.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text.data[i];

		/* Bytes from 0x80 on are UTF-8 or harmless; C1 controls need 0xc2. */
		out[i] = c < 0x20 || c == 0x7f || c == 0xc2 ? '?' : (char)c;
	}
	out[length] = '\0';
	if (length < text.length && length >= 3)
		memcpy(out + length - 3, "...", 3);
	return out;
}
