// SPDX-License-Identifier: MIT
/*
 * Why calls fail.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ndk_log.h"
#include "base/ndk_why.h"
#include "ndk.h"

static __thread struct {
	int result;
	char text[NNHAL_DIAG_SIZE];
} last;

void ndk_keep_why(int result, const char *fmt, ...)
{
	va_list ap;

	last.result = result;
	last.text[0] = '\0';
	/* A text that nobody reads is not made. */
	if (!ndk_log_is_on())
		return;
	va_start(ap, fmt);
	vsnprintf(last.text, sizeof(last.text), fmt, ap);
	va_end(ap);
}

const char *ndk_reason(int result)
{
	return last.result == result ? last.text : "";
}

int ndk_why_status(enum nnhal_status status, const struct nnhal_diag *diag, const char *what)
{
	int result = ndk_result(status);

	if (result)
		ndk_why(result, "%s: %s", what,
			diag && diag->message[0] ? diag->message : nnhal_status_name((int)status));
	return result;
}

int ndk_why_null(const char *names, const void *const *arguments, unsigned int count)
{
	unsigned int i = 0;

	while (i + 1 < count && arguments[i]) {
		names = strchr(names, ',') + 2;
		i++;
	}
	return ndk_why(ANEURALNETWORKS_UNEXPECTED_NULL, "%.*s is NULL", (int)strcspn(names, ","), names);
}

int ndk_tell(const char *function, int result)
{
	const char *reason = ndk_reason(result);

	ndk_log(NNHAL_LOG_ERROR, "%s: %s: %s", function, ndk_result_name(result), reason);
	return result;
}
