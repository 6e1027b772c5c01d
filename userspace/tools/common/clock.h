/* SPDX-License-Identifier: MIT */
/*
 * The clock that the tools measure with.
 */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S	UINT64_C(1000000000)

/* The monotonic clock, in nanoseconds. */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

#endif /* TOOLS_CLOCK_H */
