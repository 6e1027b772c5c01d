/* SPDX-License-Identifier: MIT */
/*
 * Filling in struct nntflite_diag, and text from files.
 */
#ifndef NNTFLITE_BASE_NNTFLITE_DIAG_H
#define NNTFLITE_BASE_NNTFLITE_DIAG_H

#include <nntflite/nntflite.h>

/* Empty it. @diag may not be NULL. */
void diag_init(struct nntflite_diag *diag);

/* Fill in the message and return -1. A message that is there already stays. */
int diag_fail(struct nntflite_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As diag_fail(), with ": " and the text of an errno value appended. */
int diag_fail_errno(struct nntflite_diag *diag, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put text in front of the message. Returns -1. */
int diag_prefix(struct nntflite_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The status for a failure: that of a lack of memory is told from the others. */
int diag_fail_memory(struct nntflite_diag *diag);
enum nnhal_status diag_status(const struct nntflite_diag *diag);

/* Text from a file. It has no terminating NUL and may hold any bytes. */
struct text {
	const char *data;
	size_t length;
};

/*
 * Copy a text for printing: NUL-terminated, shortened with "..." to fit, bytes that a
 * terminal could take for a command replaced by '?'. Returns @out.
 */
const char *text_print(struct text text, char *out, size_t size);

/* The same, in a buffer that lasts until the end of the enclosing block. */
#define TEXT(t)		text_print((t), (char[80]) { 0 }, 80)

#endif /* NNTFLITE_BASE_NNTFLITE_DIAG_H */
