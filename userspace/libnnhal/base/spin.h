/* SPDX-License-Identifier: MIT */
/*
 * How long to spin on a completion ring before sleeping.
 */
#ifndef NNHAL_SPIN_H
#define NNHAL_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/monotonic.h"

/*
 * How long to spin before sleeping, in units of the counter. Threads that spin change limit,
 * average and num_long without the lock; a lost update does no harm.
 */
struct spin {
	uint64_t max;			/* limit that the caller sets */
	atomic_uint_least64_t limit;	/* current limit */
	atomic_uint_least64_t average;	/* of recent waits */
	atomic_uint_least64_t sleep_cost;
	atomic_uint num_long;		/* waits for which spinning did not pay */
	uint64_t per_us;
	uint32_t num_short;		/* waits since the last learned one, each as good as none */
};

/* If spinning does not pay, one wait in so many spins all the same. */
#define SPIN_PROBE	16

/* A counter that needs no system call with any clock source. */
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

static inline uint64_t spin_limit(const struct spin *spin)
{
	return atomic_load_explicit(&spin->limit, memory_order_relaxed);
}

/* Calibrates the counter. That takes 20 microseconds, on a machine that stalls up to 50 ms. */
cold_path void spin_init(struct spin *spin, uint32_t spin_us);
/*
 * The end of a wait was seen at once. Only for bursts that one thread uses: it costs no look at the
 * counter, and the next wait that is learned makes up for it.
 */
static inline void spin_note_short(struct spin *spin)
{
	spin->num_short++;
}

/* The average after the waits of spin_note_short(). */
cold_path uint64_t spin_forget(struct spin *spin, uint64_t average);
/*
 * A wait took @waited units of the counter; @looked: spinning saw the end of it. Keep a
 * moving average over about eight waits, and spin for twice the average plus the cost of a
 * sleep. If the average exceeds what the caller allows, spinning does not pay: sleep at once.
 * One wait in SPIN_PROBE still spins, because the time of a sleep says little about the time
 * of the device. If spinning sees the end of that wait, its time replaces the average.
 */
static inline void spin_learn(struct spin *spin, uint64_t waited, bool looked)
{
	uint64_t average = atomic_load_explicit(&spin->average, memory_order_relaxed);
	uint64_t limit;

	if (unlikely(spin->num_short))
		average = spin_forget(spin, average);
	/* One long wait (debugger, suspend) must not dominate the average. */
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

/* Spinning was in vain, and the sleep after it took @slept. Caller holds the lock. */
void spin_learn_sleep(struct spin *spin, uint64_t slept);
/* How long to spin, but not beyond @until_ns. */
cold_path uint64_t spin_limit_until(const struct spin *spin, uint64_t until_ns);

#endif /* NNHAL_SPIN_H */
