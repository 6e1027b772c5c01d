// SPDX-License-Identifier: MIT
/*
 * Messages for people.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"

void diag_clear(struct nnhal_diag *diag)
{
	if (diag)
		diag->message[0] = '\0';
}

void diag_set(struct nnhal_diag *diag, const char *fmt, ...)
{
	va_list ap;

	if (!diag || diag->message[0])
		return;
	va_start(ap, fmt);
	vsnprintf(diag->message, sizeof(diag->message), fmt, ap);
	va_end(ap);
}

/* glibc has the constant strings since 2.32; musl has no others, and its strerror() returns them. */
const char *errno_text(int err)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(err);
#elif defined(__GLIBC__)
	const char *text = NULL;
#else
	const char *text = strerror(err);
#endif
	return text ? text : "unknown error";
}
