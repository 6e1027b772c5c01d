/* SPDX-License-Identifier: MIT */
/*
 * What NNHAL_DEBUG shows of failures.
 */
#ifndef TESTS_NDK_SHOWN_H
#define TESTS_NDK_SHOWN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

static int shown = -1;		/* a file instead of standard error */

/* With a tag that has no lines but those of errors. */
static inline void begin_to_show(void)
{
	shown = memfd_create("shown", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	setenv("NNHAL_DEBUG", "cpuexe", 1);
	if (shown < 0 || dup2(shown, STDERR_FILENO) < 0)
		ok(false, "standard error is a file");
}

/* The lines since the last look; how many say that @function failed with a reason. */
static inline unsigned int look(const char *function, char *line, size_t size, unsigned int *total)
{
	char text[4096], start[128], *at, *end;
	ssize_t length = pread(shown, text, sizeof(text) - 1, 0);
	unsigned int count = 0;

	*total = 0;
	line[0] = '\0';
	if (length < 0 || ftruncate(shown, 0) || lseek(shown, 0, SEEK_SET))
		ok(false, "what is shown can be read");
	text[length > 0 ? length : 0] = '\0';
	snprintf(start, sizeof(start), "nnapi: error: %s: ", function);
	for (at = text; (end = strchr(at, '\n')); at = end + 1) {
		const char *reason;

		*end = '\0';
		if (strncmp(at, "nnapi: error: ", 14))
			continue;
		++*total;
		reason = strncmp(at, start, strlen(start)) ? NULL : strstr(at + strlen(start), ": ");
		count += reason && strlen(reason) > 6 && !strstr(at, "unknown result");
		snprintf(line, size, "%.200s", at);
	}
	return count;
}

/* Was there one line, and does it say why the function failed? Other functions of the library add none. */
static inline bool one_line(const char *function, const char *what)
{
	char line[256];
	unsigned int total, count = look(function, line, sizeof(line), &total);

	return ok(count == 1 && total == 1, "%s: %s: %u lines: %s", function, what, total, line);
}

/* The one line of a failure has these words. */
static inline void says(const char *function, const char *words, const char *what)
{
	unsigned int total;
	char line[256];

	look(function, line, sizeof(line), &total);
	ok(total == 1 && strstr(line, words), "%s: %u lines: %s", what, total, line);
}

/* Nothing failed, and this line says what will. */
static inline void says_only(const char *start, const char *what)
{
	unsigned int total;
	char line[256];

	look("", line, sizeof(line), &total);
	ok(total == 1 && !strncmp(line, start, strlen(start)), "%s: %u lines: %s", what, total, line);
}

#endif /* TESTS_NDK_SHOWN_H */
