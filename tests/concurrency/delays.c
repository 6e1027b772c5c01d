// SPDX-License-Identifier: MIT
/*
 * Delays between any two steps of library and device model.
 *
 * Compiled with -fsanitize-coverage=trace-pc, each basic block begins with a call of the
 * function here. Now and then it puts the thread to sleep, or lets others go first: also
 * between two accesses without a lock, where no other tool stops a thread on purpose.
 *
 * NNPU_DELAYS_SEED  which calls (default 1)
 * NNPU_DELAYS_RATE  one call in so many on average (default 20000)
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NOT_TRACED	__attribute__((no_sanitize_coverage))

static atomic_uint num_threads;
static uint32_t seed = 1, rate = 20000;
static __thread uint32_t state;

NOT_TRACED static uint32_t next(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

__attribute__((constructor)) NOT_TRACED static void read_environment(void)
{
	const char *text = getenv("NNPU_DELAYS_SEED");

	if (text)
		seed = (uint32_t)strtoul(text, NULL, 0);
	text = getenv("NNPU_DELAYS_RATE");
	if (text && strtoul(text, NULL, 0))
		rate = (uint32_t)strtoul(text, NULL, 0);
}

void __sanitizer_cov_trace_pc(void);

NOT_TRACED void __sanitizer_cov_trace_pc(void)
{
	struct timespec moment = { 0 };
	uint32_t value;

	if (!state)
		state = (seed + atomic_fetch_add(&num_threads, 1)) * 2654435761u | 1;
	value = next();
	if (value % rate)
		return;
	value = next();
	/* Mostly short, sometimes longer than any test looks. */
	moment.tv_nsec = value % 16 ? value % 200000 : value % 30000000;
	if (value % 3)
		nanosleep(&moment, NULL);
	else
		sched_yield();
}
