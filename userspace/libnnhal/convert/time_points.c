// SPDX-License-Identifier: MIT
/*
 * Durations and time points. "None" has a number of its own, so the largest time is one less.
 */
#include <time.h>

#include <nnhal/nnhal.h>

#include "convert/time_points.h"

#define TIME_MAX	(NNHAL_NO_TIME - 1)

_Static_assert(NNHAL_NO_TIME == NNHAL_NO_TIMING, "both mean none");

uint64_t nnhal_duration_to_us(uint64_t ns)
{
	return ns == NNHAL_NO_TIME ? NNHAL_NO_TIMING : ns / 1000 + !!(ns % 1000);
}

uint64_t nnhal_duration_from_us(uint64_t us)
{
	if (us == NNHAL_NO_TIMING)
		return NNHAL_NO_TIME;
	return us > TIME_MAX / 1000 ? TIME_MAX : us * 1000;
}

uint64_t time_point_move(uint64_t time, uint64_t now_from, uint64_t now_to)
{
	uint64_t distance;

	if (time == NNHAL_NO_TIME)
		return NNHAL_NO_TIME;
	if (time < now_from) {
		distance = now_from - time;
		return now_to > distance ? now_to - distance : 0;
	}
	distance = time - now_from;
	return now_to > TIME_MAX - distance ? TIME_MAX : now_to + distance;
}

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t nnhal_time_point_to_boot_time(uint64_t monotonic_ns)
{
	return time_point_move(monotonic_ns, now(CLOCK_MONOTONIC), now(CLOCK_BOOTTIME));
}

uint64_t nnhal_time_point_from_boot_time(uint64_t boot_ns)
{
	return time_point_move(boot_ns, now(CLOCK_BOOTTIME), now(CLOCK_MONOTONIC));
}
