/* SPDX-License-Identifier: MIT */
/*
 * From a request to an entry in the submission ring. The caller holds burst.lock.
 */
#ifndef NNHAL_BURST_BEGIN_H
#define NNHAL_BURST_BEGIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/monotonic.h"
#include "burst/burst_owner.h"
#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "burst/burst_request.h"
#include "burst/burst_ring.h"

/* What a call has to do besides writing the entry. */
#define REQUEST_SLOW	(REQUEST_BOUNCE | REQUEST_LOOPS | REQUEST_DEADLINE | REQUEST_TIMED)

/* Cold paths of burst_begin(). */
cold_path enum nnhal_status burst_begin_slowly(struct nnhal_burst *b, struct burst_request *r,
					       uint64_t deadline_ns, uint64_t loop_timeout_ns,
					       struct nnhal_diag *diag);
cold_path void burst_set_late(struct burst_request *r, struct nnhal_diag *diag);
__attribute__((noinline)) struct burst_request *
burst_choose_place(struct nnhal_burst *b, const struct nnhal_request *request,
		   bool is_submitted, bool block, uint64_t until_ns, struct nnhal_diag *diag,
		   enum nnhal_status *status);

/*
 * Did a place see the arguments of a bound request last time? Stamps are of one device; those of
 * another device mean nothing here, so the model counts, too.
 */
hot_inline bool burst_has_seen(const struct nnhal_burst *b, const struct burst_request *r,
			       const struct nnhal_bound_request *bound)
{
	return r->stamp == bound_stamp(bound) && bound->model == b->model;
}

/*
 * @bound: the bound request whose copy @request is, or NULL.
 *
 * Take a place for the request and put the request on the ring. Executions may use all
 * places, submissions all but one, so that results which nobody takes never block an
 * execution. @flags: REQUEST_* of the call. @more: the caller rings the doorbell.
 * @alone: no other thread can wait for anything. The lock
 * may be dropped meanwhile.
 *
 * Return: NONE: @result is RUNNING, or has REQUEST_PRESET if the deadline had passed. With
 * any other status the request was refused.
 */
hot_inline enum nnhal_status burst_begin(struct nnhal_burst *b,
					 const struct nnhal_request *request,
					 struct nnhal_bound_request *bound, uint32_t flags,
					 uint64_t deadline_ns, uint64_t loop_timeout_ns,
					 bool block, bool more, bool alone,
					 struct nnhal_diag *diag,
					 struct burst_request **result)
{
	bool late = (flags & REQUEST_DEADLINE) && deadline_passed(true, deadline_ns);
	bool is_submitted = flags & REQUEST_SUBMITTED;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct transport_queue *q = b->queue;
	struct burst_request *r;
	struct nnpu_sqe *place;
	uint32_t tail;
	bool same;

	/*
	 * Prefer the place that saw this request last time, if it is free: its argument block
	 * is still right. Most callers submit their requests in a fixed order, so the first
	 * guess is the place that followed the previous one last time.
	 */
	r = *b->guess;
	same = bound ? burst_has_seen(b, r, bound) : r->origin == request;
	if (unlikely(!same || !(b->free & r->bit) ||
		     (is_submitted && b->num_submitted >= b->depth))) {
		burst_need_lock(b);
		r = burst_choose_place(b, request, is_submitted, block,
				       flags & REQUEST_DEADLINE ? deadline_ns : UINT64_MAX, diag,
				       &status);
		if (unlikely(!r))
			return status;
		/* It may have passed while there was no room. */
		if (flags & REQUEST_DEADLINE)
			late = deadline_passed(true, deadline_ns);
		same = bound && burst_has_seen(b, r, bound);
	}
	b->guess = &r->follower;
	b->free ^= r->bit;
	if (is_submitted)
		b->num_submitted++;
	/* Nothing but @request itself tells whether it is the same; a stamp is enough. */
	same = bound ? same && !(r->flags & REQUEST_STALE) : burst_is_same(b, r, request);
	if (unlikely(!same)) {
		burst_need_lock(b);
		status = burst_rebuild(b, r, request, bound, late, diag);
		if (status)
			goto fail;
	}
	r->flags = (r->flags & REQUEST_KEPT) | flags;
	*result = r;
	if (unlikely(late)) {
		burst_set_late(r, diag);
		return NNHAL_STATUS_NONE;
	}
	if (unlikely((r->flags & REQUEST_SLOW) | b->state)) {
		burst_need_lock(b);
		status = burst_begin_slowly(b, r, deadline_ns, loop_timeout_ns, diag);
		if (status)
			goto fail;
	}
	r->last_used = ++b->clock;
	atomic_store_explicit(&r->state, REQUEST_RUNNING, memory_order_relaxed);
	/*
	 * This place of the ring is free: the ring has more places than there are requests,
	 * and the device has fetched the entry of each completed request, [D].
	 */
	place = &b->sq[b->sq_tail];
	tail = (b->sq_tail + 1) % TRANSPORT_SQ_ENTRIES;
	b->sq_tail = tail;
	burst_write_entry(place, &r->sqe);
	if (!more) {
		b->sq_rung = tail;
		queue_ring_doorbell(q, NNPU_DB_SQ_TAIL, tail);
	}
	b->num_running++;
	/* A waiter that sleeps on cond because nothing was running can wait for this one. */
	if (!alone && unlikely(b->num_waiters) && b->num_running == 1)
		burst_wake(b);
	return NNHAL_STATUS_NONE;
fail:
	burst_end_buffers(b, r, NULL, status);
	if (is_submitted)
		b->num_submitted--;
	burst_put_request(b, r);
	return status;
}

#endif /* NNHAL_BURST_BEGIN_H */
