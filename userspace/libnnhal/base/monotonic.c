// SPDX-License-Identifier: MIT
/*
 * The clock of deadlines and timings.
 */
#include <time.h>

#include "base/monotonic.h"

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
