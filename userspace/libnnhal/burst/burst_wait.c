// SPDX-License-Identifier: MIT
/*
 * Spinning and sleeping until a completion is there, and the end of a queue.
 *
 * One thread at a time sleeps in the driver, for all. When the queue has ended, by itself
 * or with the device, every request in flight gets a status, so nobody waits for ever.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "burst/burst_ring.h"
#include "base/spin.h"
#include "burst/burst_wait.h"
#include "transport/transport.h"

/* Longest single sleep: bounds what a lost wake-up could cost. */
#define SLICE_NS	UINT64_C(1000000000)

void burst_sleep(struct nnhal_burst *b, uint64_t until_ns)
{
	uint64_t slice = monotonic_ns() + SLICE_NS;
	struct timespec until;

	if (slice < until_ns)
		until_ns = slice;
	until.tv_sec = (time_t)(until_ns / 1000000000u);
	until.tv_nsec = (long)(until_ns % 1000000000u);
	b->num_waiters++;
	pthread_cond_timedwait(&b->cond, &b->lock, &until);
	b->num_waiters--;
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

/* The queue has ended: end all requests in flight. Caller holds the lock. */
static void queue_ended(struct nnhal_burst *b, enum transport_queue_state state)
{
	uint32_t i;

	/* Requests that completed before the end keep their result. */
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
		for (i = 0; i < BURST_LOOKS; i++) {
			count = atomic_load_explicit(&b->cq_count, memory_order_relaxed) +
				number - 1;
			if (queue_is_completed(burst_cq_entry(b, count), count, &status) ||
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
 * When a sleep has to end. The clock is read about twice a second only, because that is a
 * system call with some clock sources.
 */
static uint64_t slice_end(struct nnhal_burst *b, uint64_t now)
{
	if (!b->slice_until || now - b->slice_cycles > 500000 * b->spin.per_us) {
		b->slice_until = monotonic_ns() + SLICE_NS;
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
	head = atomic_load_explicit(&b->cq_count, memory_order_relaxed) % TRANSPORT_CQ_ENTRIES;
	pthread_mutex_unlock(&b->lock);
	err = b->transport->ops->queue_wait(b->transport, b->queue, head,
					    until_ns < slice ? until_ns : slice, &state);
	/* Nobody can wait for it any more: what it would still write to is used again. */
	if (err && err != -ETIME)
		b->transport->ops->queue_stop(b->transport, b->queue);
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
