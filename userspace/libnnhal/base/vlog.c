// SPDX-License-Identifier: MIT
/*
 * The verbose log: tags, and lines for a caller or for standard error. It is the only part of
 * the library that looks at the environment or writes to a stream, and only when it is asked to.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/vlog.h"

#define SEPARATORS	" ,:"
#define LINE_SIZE	512

static const struct {
	const char *name;
	uint32_t tags;
} settings[] = {
	{ "model", NNHAL_LOG_MODEL },
	{ "compilation", NNHAL_LOG_COMPILATION },
	{ "execution", NNHAL_LOG_EXECUTION },
	{ "cpuexe", NNHAL_LOG_CPUEXE },
	{ "manager", NNHAL_LOG_MANAGER },
	{ "driver", NNHAL_LOG_DRIVER },
	{ "memory", NNHAL_LOG_MEMORY },
	{ "1", NNHAL_LOG_ALL },
	{ "all", NNHAL_LOG_ALL },
};

static uint32_t tags_of(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (strlen(settings[i].name) == length && !memcmp(settings[i].name, word, length))
			return settings[i].tags;
	return 0;
}

bool nnhal_log_parse(const char *setting, uint32_t *tags, struct nnhal_diag *diag)
{
	const char *word = setting ? setting : "";
	uint32_t sum = 0, found;
	bool good = true;
	size_t length;

	diag_clear(diag);
	for (;; word += length) {
		word += strspn(word, SEPARATORS);
		length = strcspn(word, SEPARATORS);
		if (!length)
			break;
		found = tags_of(word, length);
		sum |= found;
		if (found)
			continue;
		good = false;
		diag_set(diag, "\"%.*s\" is no tag of the log", (int)(length < 40 ? length : 40),
			 word);
	}
	if (tags)
		*tags = sum;
	return good;
}

const char *nnhal_log_tag_name(uint32_t tag)
{
	size_t i;

	if (tag == NNHAL_LOG_ERROR)
		return "error";
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (settings[i].tags == tag && tag != NNHAL_LOG_ALL)
			return settings[i].name;
	return "unknown tag";
}

/* One write() for each line, so that lines of several threads do not mix. */
static void write_line(void *context, uint32_t tag, const char *message)
{
	char line[LINE_SIZE + 32];
	int length = snprintf(line, sizeof(line), "nnhal: %s: %s\n", nnhal_log_tag_name(tag),
			      message);
	ssize_t written;

	(void)context;
	if (length >= (int)sizeof(line)) {
		length = sizeof(line) - 1;
		line[length - 1] = '\n';
	}
	/* Nobody to tell that nobody can be told. */
	written = write(STDERR_FILENO, line, (size_t)length);
	(void)written;
}

void vlog_init(struct vlog *log, uint32_t tags, nnhal_log_callback callback, void *context)
{
	const char *setting;
	struct nnhal_diag diag;

	*log = (struct vlog){ .tags = tags, .write = callback, .context = context };
	if (callback)
		return;
	log->tags = 0;
	log->write = write_line;
	setting = secure_getenv("NNHAL_DEBUG");
	if (!setting)
		return;
	if (!nnhal_log_parse(setting, &log->tags, &diag))
		vlog_write(log, NNHAL_LOG_ERROR, "NNHAL_DEBUG: %s", diag.message);
}

void vlog_write(const struct vlog *log, uint32_t tag, const char *fmt, ...)
{
	int saved = errno;
	char message[LINE_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	log->write(log->context, tag, message);
	errno = saved;
}

bool nnhal_check_failed(struct nnhal_diag *diag, const char *condition, const char *fmt, ...)
{
	int saved = errno;
	char words[NNHAL_DIAG_SIZE] = "";
	va_list ap;

	va_start(ap, fmt);
	if (fmt)
		vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	/* The first message stays: it is that of the check that failed. */
	diag_set(diag, "%.100s does not hold%s%.120s", condition ? condition : "a check",
		 words[0] ? ": " : "", words);
	errno = saved;
	return false;
}
