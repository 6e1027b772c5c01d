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

static uint32_t tags_wanted(void)
{
	const char *setting = secure_getenv("NNHAL_DEBUG");
	uint32_t tags = 0;

	/* libnnhal tells of words that it does not know. */
	if (setting)
		nnhal_log_parse(setting, &tags, NULL);
	return tags;
}

bool ndk_log_is_on(void)
{
	return tags_wanted();
}

void ndk_log(uint32_t tag, const char *fmt, ...)
{
	uint32_t tags = tags_wanted();
	int saved = errno, length;
	char line[LINE_SIZE];
	ssize_t written;
	va_list ap;

	if (tag == NNHAL_LOG_ERROR ? !tags : !(tags & tag))
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
