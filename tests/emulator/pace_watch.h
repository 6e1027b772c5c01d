/* SPDX-License-Identifier: MIT */
/*
 * How long a thread of the device works between two points. A program with this is linked so that
 * calls of op_progress() and of what computes come here first (--wrap, build.mk).
 *
 * Time is that of the thread, so that the load of the machine does not count. From the doorbell to
 * the first point and from the last one to the end count like the time between two.
 */
#ifndef TESTS_EMULATOR_PACE_WATCH_H
#define TESTS_EMULATOR_PACE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct job_progress;
struct op_call;
struct op_pace;
struct tensor;

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
	uint64_t op_gap_ns;	/* the same between points since it computes */
	uint64_t end_ns;	/* from the point that said so to the end; 0: none did */
	uint64_t abort_ns;	/* from pace_watch_abort() to the end, or 0 */
	uint64_t busy_ns;	/* all of it */
	unsigned int points;
};

/* From now on watch the thread that comes to a point next. */
void pace_watch_next(void);

/* It does nothing now, and is about to get work. */
void pace_watch_begin(void);

/* How long it has worked since then, and computed: in an operation, or on the shapes of one. */
uint64_t pace_watch_ran(void);
uint64_t pace_watch_computed(void);

/* An abort is about to be requested. */
void pace_watch_abort(void);

/* It has completed its work: how it was. */
struct pace pace_watch_end(void);

/* What the linker puts in front of functions of the device. */
bool __real_op_progress(struct job_progress *p);
bool __wrap_op_progress(struct job_progress *p);
int __real_op_execute(const struct op_call *c);
int __wrap_op_execute(const struct op_call *c);
int __real_shapes_infer(const struct op_call *c, struct tensor *saved, uint64_t max_bytes,
			struct op_pace *pace);
int __wrap_shapes_infer(const struct op_call *c, struct tensor *saved, uint64_t max_bytes,
			struct op_pace *pace);

#endif /* TESTS_EMULATOR_PACE_WATCH_H */
