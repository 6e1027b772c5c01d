// SPDX-License-Identifier: MIT
/*
 * Lines for who sets NNHAL_DEBUG, in the form of those of libnnhal.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ndk_log.h"
#include "ndk.h"

#define LINE_SIZE	512

void ndk_log(uint32_t tag, const char *fmt, ...)
{
	const char *setting = secure_getenv("NNHAL_DEBUG");
	int saved = errno, length;
	char line[LINE_SIZE];
	uint32_t tags = 0;
	ssize_t written;
	va_list ap;

	if (!setting)
		return;
	/* libnnhal tells of words that it does not know. */
	nnhal_log_parse(setting, &tags, NULL);
	if (!(tags & tag))
		return;
	length = snprintf(line, sizeof(line), "nnapi: %s: ", nnhal_log_tag_name(tag));
	va_start(ap, fmt);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length, fmt, ap);
	va_end(ap);
	if (length > LINE_SIZE - 2)
		length = LINE_SIZE - 2;
	line[length++] = '\n';
	/* One write() for each line, so that lines of several threads do not mix. */
	written = write(STDERR_FILENO, line, (size_t)length);
	(void)written;
	errno = saved;
}

const char *ndk_result_name(int result)
{
	static const char *const names[] = {
		"NO_ERROR", "OUT_OF_MEMORY", "INCOMPLETE", "UNEXPECTED_NULL", "BAD_DATA",
		"OP_FAILED", "BAD_STATE", "UNMAPPABLE", "OUTPUT_INSUFFICIENT_SIZE",
		"UNAVAILABLE_DEVICE", "MISSED_DEADLINE_TRANSIENT", "MISSED_DEADLINE_PERSISTENT",
		"RESOURCE_EXHAUSTED_TRANSIENT", "RESOURCE_EXHAUSTED_PERSISTENT", "DEAD_OBJECT",
	};

	return result >= 0 && (size_t)result < sizeof(names) / sizeof(names[0]) ? names[result] :
										  "unknown result";
}
