/* SPDX-License-Identifier: MIT */
/*
 * How long a thread of the device works between two points. A program with this is linked so that
 * calls of op_progress() come here first (--wrap, build.mk).
 *
 * Time is that of the thread, so that the load of the machine does not count. From the doorbell to
 * the first point and from the last one to the end count like the time between two.
 */
#ifndef TESTS_EMULATOR_PACE_WATCH_H
#define TESTS_EMULATOR_PACE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Sanitizers make everything slower. */
#if defined(__SANITIZE_ADDRESS__)
#define SLOWER		10
#else
#define SLOWER		1
#endif

/*
 * How often something is tried that took too long: what the host takes from its guest is in no
 * clock. A missing point is missing each time.
 */
#define PACE_TRIES	5

struct pace {
	uint64_t gap_ns;	/* longest time without a point */
	uint64_t end_ns;	/* from the point that said so to the end; 0: none did */
	unsigned int points;
};

/* From now on watch the thread that comes to a point next. */
void pace_watch_next(void);

/* It does nothing now, and is about to get work. */
void pace_watch_begin(void);

/* It has completed its work: how it was. */
struct pace pace_watch_end(void);

#endif /* TESTS_EMULATOR_PACE_WATCH_H */
