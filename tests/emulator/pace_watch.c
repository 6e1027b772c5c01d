// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/tensor_shape.h"
#include "pace_watch.h"

static struct {
	atomic_bool next;		/* look for the thread */
	clockid_t clock;		/* of the thread */
	pthread_t thread;
	uint64_t begin, last, gap, op_gap, told, aborted;
	atomic_ullong computing;	/* since when; 0: not yet */
	unsigned int points;
} watch;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note(uint64_t now)
{
	uint64_t gap = now - watch.last, computing = atomic_load(&watch.computing);

	if (gap > watch.gap && !watch.told)
		watch.gap = gap;
	if (gap > watch.op_gap && !watch.told && computing && computing <= watch.last)
		watch.op_gap = gap;
	watch.last = now;
}

bool __wrap_op_progress(struct job_progress *p)
{
	bool ends = __real_op_progress(p);
	uint64_t now;

	if (atomic_exchange(&watch.next, false)) {
		watch.thread = pthread_self();
		pthread_getcpuclockid(watch.thread, &watch.clock);
	}
	if (pthread_equal(watch.thread, pthread_self())) {
		now = read_clock(CLOCK_THREAD_CPUTIME_ID);
		note(now);
		watch.points++;
		if (ends && !watch.told)
			watch.told = now;
	}
	return ends;
}

static void note_computing(void)
{
	if (pthread_equal(watch.thread, pthread_self()) && !atomic_load(&watch.computing))
		atomic_store(&watch.computing, read_clock(CLOCK_THREAD_CPUTIME_ID));
}

int __wrap_op_execute(const struct op_call *c)
{
	note_computing();
	return __real_op_execute(c);
}

int __wrap_shapes_infer(const struct op_call *c, struct tensor *saved, uint64_t max_bytes,
			struct op_pace *pace)
{
	/* With the values of its inputs it may compute, and for long. */
	if (!c->loading && c->in[0]->data)
		note_computing();
	return __real_shapes_infer(c, saved, max_bytes, pace);
}

void pace_watch_next(void)
{
	atomic_store(&watch.next, true);
}

/*
 * The time of the thread, once the process stands still: others that free memory are in its way
 * while they do.
 */
static uint64_t idle_time(void)
{
	uint64_t before, now = read_clock(CLOCK_PROCESS_CPUTIME_ID);

	do {
		before = now;
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		now = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	} while (now - before > SLOWER * 200000);
	return read_clock(watch.clock);
}

void pace_watch_begin(void)
{
	if (atomic_load(&watch.next)) {
		printf("Bail out! no thread to watch\n");
		exit(1);
	}
	watch.begin = idle_time();
	watch.last = watch.begin;
	watch.gap = 0;
	watch.op_gap = 0;
	watch.told = 0;
	watch.aborted = 0;
	atomic_store(&watch.computing, 0);
	watch.points = 0;
}

uint64_t pace_watch_ran(void)
{
	return read_clock(watch.clock) - watch.begin;
}

uint64_t pace_watch_computed(void)
{
	uint64_t since = atomic_load(&watch.computing);

	return since ? read_clock(watch.clock) - since : 0;
}

void pace_watch_abort(void)
{
	watch.aborted = read_clock(watch.clock);
}

struct pace pace_watch_end(void)
{
	uint64_t end = idle_time(), told = watch.told;

	/* What comes behind the last point is no operation. */
	atomic_store(&watch.computing, 0);
	note(end);
	return (struct pace){
		.gap_ns = watch.gap, .op_gap_ns = watch.op_gap, .end_ns = told ? end - told : 0,
		.abort_ns = watch.aborted ? end - watch.aborted : 0, .points = watch.points,
		.busy_ns = end - watch.begin,
	};
}
