// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/engine.h"
#include "pace_watch.h"

bool __real_op_progress(struct job_progress *p);
bool __wrap_op_progress(struct job_progress *p);

static struct {
	atomic_bool next;		/* look for the thread */
	clockid_t clock;		/* of the thread */
	pthread_t thread;
	uint64_t last, gap, told;
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
	if (now - watch.last > watch.gap && !watch.told)
		watch.gap = now - watch.last;
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

void pace_watch_next(void)
{
	atomic_store(&watch.next, true);
}

/* The time of the thread, once it stands still. */
static uint64_t idle_time(void)
{
	uint64_t before, now = read_clock(watch.clock);

	do {
		before = now;
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		now = read_clock(watch.clock);
	} while (now != before);
	return now;
}

void pace_watch_begin(void)
{
	if (atomic_load(&watch.next)) {
		printf("Bail out! no thread to watch\n");
		exit(1);
	}
	watch.last = idle_time();
	watch.gap = 0;
	watch.told = 0;
	watch.points = 0;
}

struct pace pace_watch_end(void)
{
	uint64_t end = idle_time(), told = watch.told;

	note(end);
	return (struct pace){
		.gap_ns = watch.gap, .end_ns = told ? end - told : 0, .points = watch.points,
	};
}
