/* SPDX-License-Identifier: MIT */
/*
 * Why calls fail: a line each, for who sets NNHAL_DEBUG.
 *
 * What finds a failure says so with ndk_why(), wherever it is; the function that the program has called tells it
 * with TELL(), once. No result code but NO_ERROR goes another way: tests/ndk/check_reasons looks.
 */
#ifndef NDK_WHY_H
#define NDK_WHY_H

#include <nnhal/nnhal.h>

/* Note why a call fails, of this thread; a later failure takes the place of an earlier one. Returns @result. */
void ndk_keep_why(int result, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
/* An expression, and no function: the compiler sees that the result is a failure. */
#define ndk_why(result, ...)	({ const int why_ = (result); ndk_keep_why(why_, __VA_ARGS__); why_; })

/* What was noted last, if it was noted for this result; else "". It stays until the next failure of the thread. */
const char *ndk_reason(int result);

/* The result code of a status; if that is an error, @what has failed, as @diag says. NULL or empty: it says nothing. */
int ndk_why_status(enum nnhal_status status, const struct nnhal_diag *diag, const char *what);

/* One of @count arguments is NULL: @names has their names, as they were written. Returns UNEXPECTED_NULL. */
int ndk_why_null(const char *names, const void *const *arguments, unsigned int count) __attribute__((cold));

/* Write the line for a call that fails. Returns @result. */
int ndk_tell(const char *function, int result) __attribute__((cold));

/* In functions of the NNAPI: what they return. */
#define TELL(result)		ndk_told(__func__, (result))
#define REFUSE(result, ...)	ndk_tell(__func__, ndk_why((result), __VA_ARGS__))
#define WHY_NULL(...) \
	ndk_why_null(#__VA_ARGS__, (const void *const[]){ __VA_ARGS__ }, \
		     sizeof((const void *const[]){ __VA_ARGS__ }) / sizeof(void *))
#define REFUSE_NULL(...)	ndk_tell(__func__, WHY_NULL(__VA_ARGS__))

static inline int ndk_told(const char *function, int result)
{
	return result ? ndk_tell(function, result) : result;
}

#endif /* NDK_WHY_H */
