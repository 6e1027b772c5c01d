/* SPDX-License-Identifier: MIT */
/*
 * Test Anything Protocol for test programs.
 *
 * ok() prints one line per check and may be called from one thread only. main()
 * ends with return tap_done(). It prints the plan, so a program that ends in another
 * way has none and counts as failed, whatever its exit status (scripts/ktap.py).
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Exit status of a program that cannot run here (as in kselftest). */
#define TAP_SKIP_ALL	4

static unsigned int tap_count;
static unsigned int tap_failures;

/* Whoever kills a program that hangs sees what it said last. */
__attribute__((constructor))
static void tap_flush_lines(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline void tap_result(bool passed, const char *fmt, va_list ap)
{
	printf("%sok %u - ", passed ? "" : "not ", ++tap_count);
	vprintf(fmt, ap);
	printf("\n");
	if (!passed)
		tap_failures++;
}

/* One check. Returns @condition. */
__attribute__((format(printf, 2, 3)))
static inline bool ok(bool condition, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_result(condition, fmt, ap);
	va_end(ap);
	return condition;
}

/* A check that cannot be made here; the text says which and why. */
__attribute__((format(printf, 1, 2)))
static inline void tap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("ok %u # SKIP ", ++tap_count);
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

/* A line for people. */
__attribute__((format(printf, 1, 2)))
static inline void tap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

/* The whole program cannot run here. */
__attribute__((format(printf, 1, 2), noreturn))
static inline void tap_skip_all(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("1..0 # SKIP ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	exit(TAP_SKIP_ALL);
}

/* Print the plan; the exit status of the program. A program without a check fails. */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failures || !tap_count ? 1 : 0;
}

#endif /* TESTS_TAP_H */
