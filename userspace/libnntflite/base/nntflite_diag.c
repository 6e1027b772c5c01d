// SPDX-License-Identifier: MIT
/*
 * Filling in struct nntflite_diag, and text from files.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nntflite_diag.h"

void diag_init(struct nntflite_diag *diag)
{
	*diag = (struct nntflite_diag){
		.subgraph = NNTFLITE_NONE, .op = NNTFLITE_NONE, .tensor = NNTFLITE_NONE,
	};
}

static void set_message(struct nntflite_diag *diag, int errnum, const char *fmt, va_list args)
{
	size_t used;

	if (diag->message[0] != '\0')
		return;
	if (vsnprintf(diag->message, sizeof(diag->message), fmt, args) < 0 || errnum == 0)
		return;
	diag->errnum = errnum;
	used = strlen(diag->message);
	snprintf(diag->message + used, sizeof(diag->message) - used, ": %s", strerror(errnum));
}

int diag_fail(struct nntflite_diag *diag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_message(diag, 0, fmt, args);
	va_end(args);
	return -1;
}

int diag_fail_errno(struct nntflite_diag *diag, int errnum, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_message(diag, errnum, fmt, args);
	va_end(args);
	return -1;
}

int diag_prefix(struct nntflite_diag *diag, const char *fmt, ...)
{
	char text[sizeof(diag->message)];
	va_list args;
	int length;

	memcpy(text, diag->message, sizeof(text));
	va_start(args, fmt);
	length = vsnprintf(diag->message, sizeof(diag->message), fmt, args);
	va_end(args);
	if (length >= 0 && (size_t)length < sizeof(diag->message))
		snprintf(diag->message + length, sizeof(diag->message) - (size_t)length, "%s", text);
	return -1;
}

int diag_fail_memory(struct nntflite_diag *diag)
{
	if (diag->message[0] == '\0')
		diag->errnum = ENOMEM;
	return diag_fail(diag, "out of memory");
}

enum nnhal_status diag_status(const struct nntflite_diag *diag)
{
	switch (diag->errnum) {
	case ENOMEM:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	case EMFILE:
	case ENFILE:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	default:
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
}

/* @c, or '?' for a byte that a terminal could take for a command. */
static char clean(char c)
{
	unsigned char byte = (unsigned char)c;

	/* Bytes from 0x80 on are UTF-8 or harmless; C1 controls need 0xc2. */
	return byte < 0x20 || byte == 0x7f || byte == 0xc2 ? '?' : c;
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
		out[i] = clean(text.data[i]);
	out[length] = '\0';
	if (length < text.length && length >= 3)
		memcpy(out + length - 3, "...", 3);
	return out;
}
