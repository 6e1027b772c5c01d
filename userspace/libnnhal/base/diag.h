/* SPDX-License-Identifier: MIT */
/*
 * Messages for people.
 */
#ifndef NNHAL_DIAG_H
#define NNHAL_DIAG_H

#include <nnhal/types.h>

/* Set the message, unless there is one already. @diag may be NULL. */
void diag_set(struct nnhal_diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void diag_clear(struct nnhal_diag *diag);
/* Text of an errno, > 0; a constant string. */
const char *errno_text(int err);

#endif /* NNHAL_DIAG_H */
