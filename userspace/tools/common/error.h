/* SPDX-License-Identifier: MIT */
/*
 * Error texts, and a way to print text from files safely.
 */
#ifndef TOOLS_ERROR_H
#define TOOLS_ERROR_H

#include <stddef.h>

/* Why a function failed: one line for people, without newline. */
struct error {
	char text[640];
	int errnum;		/* errno value behind it, or 0 */
};

/* Fill in the text and return -1. A text that is there already stays. */
int fail(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As fail(), with ": " and the text of an errno value appended. */
int fail_errno(struct error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Text from a file. It has no terminating NUL and may hold any bytes. */
struct text {
	const char *data;
	size_t length;
};

/*
 * Copy a text for printing: NUL-terminated, shortened with "..." to fit, bytes a
 * terminal could take for a command replaced by '?'. Returns @out.
 */
const char *text_print(struct text text, char *out, size_t size);

/* The same, in a buffer that lasts until the end of the enclosing block. */
#define TEXT(t)		text_print((t), (char[80]) { 0 }, 80)

#endif /* TOOLS_ERROR_H */
