/* SPDX-License-Identifier: MIT */
/*
 * Executions with large operands in a fuzzer: they take at most 1/LARGE_SHARE of its time, and
 * run_device_fuzzer fails if none succeeded.
 */
#ifndef TESTS_FUZZ_LARGE_SHARE_H
#define TESTS_FUZZ_LARGE_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LARGE_SHARE	2

static uint64_t large_begin, large_ns, large_tried, large_done;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void tell_large(void)
{
	fprintf(stderr, "large: %llu of %llu executions had an operand of 64 MiB or more\n",
		(unsigned long long)large_done, (unsigned long long)large_tried);
}

static void large_setup(void)
{
	large_begin = now_ns();
	atexit(tell_large);
}

/* The first one always, so that an input that was kept does the same again. */
static bool large_may_run(void)
{
	return large_ns * LARGE_SHARE <= now_ns() - large_begin;
}

#endif /* TESTS_FUZZ_LARGE_SHARE_H */
