// SPDX-License-Identifier: MIT
/*
 * Messages for people, and the clock.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "internal.h"

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

const char *errno_text(int err)
{
	const char *text = strerrordesc_np(err);

	return text ? text : "unknown error";
}

uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool deadline_passed(bool has_deadline, uint64_t deadline_ns)
{
	/* At or above INT64_MAX a time point is "never". */
	return has_deadline && deadline_ns < INT64_MAX && monotonic_ns() >= deadline_ns;
}
