// SPDX-License-Identifier: MIT
/*
 * Waiting for requests on a queue of the process itself, and the ends of both.
 *
 * How long it is worth looking at the completion ring before sleeping is learned from
 * the waits so far. One thread sleeps in the driver for all. When the queue has ended,
 * by itself or with the device, every request in flight gets a status; nobody waits
 * for what cannot come.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "burst/burst_internal.h"
#include "burst/burst_ring.h"
#include "transport/transport.h"

/* Of waits that are not worth looking, one in so many looks all the same. */
#define SPIN_PROBE	16
/* Looks at the ring between two pauses: those of a virtual machine may take long. */
#define LOOKS		16
/* What suits the device: beyond this a sleep costs little in comparison. */
#define SPIN_DEFAULT_US	250
/* A caller that wants more gets this. */
#define SPIN_MOST_US	100000

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

void burst_spin_init(struct burst_spin *spin, uint32_t spin_us, uint64_t start,
		     uint64_t start_ns)
{
	uint64_t now;

	/* Long enough for the quotient to be of use. */
	do {
		now = monotonic_ns();
	} while (now - start_ns < 20000);
	spin->per_us = (cycles() - start) * 1000 / (now - start_ns);
	if (!spin->per_us)
		spin->per_us = 1;
	if (spin_us == UINT32_MAX)
		spin_us = SPIN_DEFAULT_US;
	else if (spin_us > SPIN_MOST_US)
		spin_us = SPIN_MOST_US;
	spin->max = spin_us * spin->per_us;
	atomic_init(&spin->sleep_cost, spin->max / 4);
	atomic_init(&spin->num_long, 0);
	atomic_init(&spin->average, spin->max / 4);
	atomic_init(&spin->limit, spin->max);
}

/*
 * A wait took @waited: moving average over about eight. It is worth looking twice as long
 * as that, and as long again as a sleep costs. Waits that on average take longer than the
 * caller allows are not worth it: sleep at once, until the average, which goes on being
 * taken, says otherwise. One of those in SPIN_PROBE looks all the same, since what sleeps
 * take says little of what the device takes: if that is enough, @looked, it counts alone.
 */
static void spin_learn(struct burst_spin *spin, uint64_t waited, bool looked)
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

/*
 * Looking has been in vain, and then a sleep took @slept. Some of that it would have taken
 * anyway: a moving average, within limits, is near enough to what a sleep costs. Caller
 * holds the lock.
 */
static void spin_learn_sleep(struct burst_spin *spin, uint64_t slept)
{
	uint64_t cost = atomic_load_explicit(&spin->sleep_cost, memory_order_relaxed);
	uint64_t most = spin->max / 2;

	spin_learn(spin, spin_limit(spin) + (slept > cost ? slept - cost : 0), false);
	cost += (uint64_t)((int64_t)((slept < most ? slept : most) - cost) / 8);
	atomic_store_explicit(&spin->sleep_cost, cost, memory_order_relaxed);
}

const char *burst_state_text(enum transport_queue_state state)
{
	switch (state) {
	case TRANSPORT_QUEUE_STOPPED:
		return "the device stopped the queue";
	case TRANSPORT_QUEUE_HUNG:
		return "a job made no progress";
	case TRANSPORT_QUEUE_LOST:
		return "the device was reset";
	case TRANSPORT_QUEUE_GONE:
		return "the device is gone";
	default:
		return "the queue was destroyed";
	}
}

/* The queue has ended: so do all requests in flight. Caller holds the lock. */
static void queue_ended(struct nnhal_burst *b, enum transport_queue_state state)
{
	uint32_t i;

	/* What completed before counts. */
	burst_reap(b);
	b->state = state;
	for (i = 0; i < b->num_requests; i++) {
		struct burst_request *r = &b->requests[i];

		if (atomic_load_explicit(&r->state, memory_order_relaxed) != REQUEST_RUNNING)
			continue;
		r->flags |= REQUEST_PRESET;
		r->preset = status_from_fence_error(state == TRANSPORT_QUEUE_HUNG ? ETIME : EIO,
						    r->flags & REQUEST_DEADLINE);
		burst_complete(b, r);
	}
	burst_wake(b);
}

enum nnhal_status burst_ended_status(const struct nnhal_burst *b, struct nnhal_diag *diag)
{
	diag_set(diag, "submitting the execution: %s", burst_state_text(b->state));
	return b->state == TRANSPORT_QUEUE_GONE ? NNHAL_STATUS_DEVICE_UNAVAILABLE
						: NNHAL_STATUS_DEAD_OBJECT;
}

bool burst_look(struct nnhal_burst *b, uint32_t number, const _Atomic unsigned char *flag,
		uint64_t limit)
{
	uint64_t start = cycles();
	uint32_t status, count;
	unsigned int i;

	do {
		for (i = 0; i < LOOKS; i++) {
			count = atomic_load_explicit(&b->cq_count, memory_order_relaxed) +
				number - 1;
			if (is_completed(entry_of(b, count), count, &status) ||
			    atomic_load_explicit(flag, memory_order_relaxed) == REQUEST_DONE) {
				spin_learn(&b->spin, cycles() - start, true);
				return true;
			}
		}
		pause_cpu();
	} while (cycles() - start < limit);
	return false;
}

/*
 * When a sleep has to end: the clock is read about twice a second, since that is a
 * system call on machines without a good one.
 */
static uint64_t slice_end(struct nnhal_burst *b, uint64_t now)
{
	if (!b->slice_until || now - b->slice_cycles > 500000 * b->spin.per_us) {
		b->slice_until = monotonic_ns() + BURST_SLICE_NS;
		b->slice_cycles = now;
	}
	return b->slice_until;
}

void burst_doze(struct nnhal_burst *b, uint64_t until_ns)
{
	enum transport_queue_state state = TRANSPORT_QUEUE_READY;
	uint64_t start = cycles(), slice;
	uint32_t head;
	int err;

	if (!b->num_running || b->sleeping) {
		burst_sleep(b, until_ns);
		return;
	}
	b->sleeping = true;
	b->num_sleeps++;
	slice = slice_end(b, start);
	head = atomic_load_explicit(&b->cq_count, memory_order_relaxed) % BURST_CQ_ENTRIES;
	pthread_mutex_unlock(&b->lock);
	err = b->transport->ops->queue_wait(b->transport, b->queue, head,
					    until_ns < slice ? until_ns : slice, &state);
	pthread_mutex_lock(&b->lock);
	b->sleeping = false;
	if (err == -ETIME)
		b->slice_until = 0;
	spin_learn_sleep(&b->spin, cycles() - start);
	if (err && err != -ETIME)
		state = err == -ENODEV && b->transport->ops->health(b->transport) != -ESTALE
			? TRANSPORT_QUEUE_GONE : TRANSPORT_QUEUE_LOST;
	if (state != TRANSPORT_QUEUE_READY)
		queue_ended(b, state);
	burst_wake(b);
}

uint64_t burst_look_limit(const struct burst_spin *spin, uint64_t until_ns)
{
	uint64_t now = monotonic_ns(), left;

	left = until_ns > now ? (until_ns - now) / 1000 * spin->per_us : 0;
	return left < spin_limit(spin) ? left : spin_limit(spin);
}
