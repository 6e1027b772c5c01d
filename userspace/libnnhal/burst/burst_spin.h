/* SPDX-License-Identifier: MIT */
/*
 * How long it is worth to look for a completion before sleeping.
 */
#ifndef NNHAL_BURST_SPIN_H
#define NNHAL_BURST_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/monotonic.h"
#include "burst/burst_private.h"

/* Of waits that are not worth looking, one in so many looks all the same. */
#define SPIN_PROBE	16

/* A counter that costs no system call on any clock source. */
static inline uint64_t cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return monotonic_ns();
#endif
}

static inline uint64_t spin_limit(const struct burst_spin *spin)
{
	return atomic_load_explicit(&spin->limit, memory_order_relaxed);
}

/* Compare the two clocks, both of which were read at the same time before. */
void burst_spin_init(struct burst_spin *spin, uint32_t spin_us, uint64_t start,
		     uint64_t start_ns);
/*
 * A wait took @waited: moving average over about eight. It is worth looking twice as long
 * as that, and as long again as a sleep costs. Waits that on average take longer than the
 * caller allows are not worth it: sleep at once, until the average, which goes on being
 * taken, says otherwise. One of those in SPIN_PROBE looks all the same, since what sleeps
 * take says little of what the device takes: if that is enough, @looked, it counts alone.
 */
static inline void burst_spin_learn(struct burst_spin *spin, uint64_t waited, bool looked)
{
	uint64_t average = atomic_load_explicit(&spin->average, memory_order_relaxed);
	uint64_t limit;

	/* One long wait (debugger, suspend) must not count for ever. */
	if (waited > 4 * spin->max)
		waited = 4 * spin->max;
	if (unlikely(looked && average > spin->max))
		average = waited;
	average += (uint64_t)((int64_t)(waited - average) / 8);
	limit = 2 * average + atomic_load_explicit(&spin->sleep_cost, memory_order_relaxed);
	if (limit > spin->max)
		limit = spin->max;
	if (unlikely(average > spin->max) &&
	    (atomic_fetch_add_explicit(&spin->num_long, 1, memory_order_relaxed) + 1) % SPIN_PROBE)
		limit = 0;
	atomic_store_explicit(&spin->average, average, memory_order_relaxed);
	atomic_store_explicit(&spin->limit, limit, memory_order_relaxed);
}

/* A look was in vain, and the sleep after it took @slept. Caller holds the lock. */
void burst_spin_learn_sleep(struct burst_spin *spin, uint64_t slept);
/* How long to look, but no longer than until @until_ns. */
cold_path uint64_t burst_look_limit(const struct burst_spin *spin, uint64_t until_ns);

#endif /* NNHAL_BURST_SPIN_H */
