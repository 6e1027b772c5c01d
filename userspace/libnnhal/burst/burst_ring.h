/* SPDX-License-Identifier: MIT */
/*
 * The submission ring, the completion ring and the doorbells of a queue that belongs to
 * the process. The caller holds burst.lock. transport/queue_ring.h has the memory ordering.
 *
 * burst.lock orders all accesses between threads of the process, with one exception:
 * burst_look() reads the ring without the lock. It only decides when to stop spinning. Its
 * callers take the lock and read the ring again.
 */
#ifndef NNHAL_BURST_RING_H
#define NNHAL_BURST_RING_H

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/monotonic.h"
#include "base/tsan.h"
#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "transport/queue_ring.h"
#include "transport/transport.h"

/* Ring the doorbell if there are entries that the device does not know of. */
hot_inline void burst_announce(struct nnhal_burst *b)
{
	if (b->sq_rung == b->sq_tail)
		return;
	b->sq_rung = b->sq_tail;
	queue_ring_doorbell(b->queue, NNPU_DB_SQ_TAIL, b->sq_tail);
}

hot_inline const struct nnpu_cqe *burst_cq_entry(const struct nnhal_burst *b, uint32_t count)
{
	return &b->cq[count % TRANSPORT_CQ_ENTRIES];
}

/* A request that was RUNNING has ended: move it to the results, or wake its waiter. */
static inline void burst_complete(struct nnhal_burst *b, struct burst_request *r)
{
	b->num_running--;
	if (likely(r->flags & REQUEST_SUBMITTED)) {
		if (unlikely(r->flags & REQUEST_MEASURE))
			r->end_ns = monotonic_ns();
		burst_add_result(b, r);
	} else {
		atomic_store_explicit(&r->state, REQUEST_DONE, memory_order_relaxed);
	}
}

/* Cold paths of the functions below. */
cold_path void burst_note_failure(struct burst_request *r, const struct nnpu_cqe *cqe);
cold_path void burst_tell_room(struct nnhal_burst *b, uint32_t count);
cold_path void burst_accept_completion(struct nnhal_burst *b, const struct nnpu_cqe *cqe,
				       uint32_t status);
/* Take all completions that are there. */
void burst_reap(struct nnhal_burst *b);

/* Take status and time of a request from its completion. */
hot_inline void burst_note_completion(struct burst_request *r, const struct nnpu_cqe *cqe,
				      uint32_t status)
{
	r->status = status >> NNPU_CQE_STATUS_SHIFT;
	r->exec_ns = le64toh(cqe->result);
	if (unlikely(r->status))
		burst_note_failure(r, cqe);
}

/* The request of a completion. NULL: none is running under that id, a fault of the device. */
hot_inline struct burst_request *burst_request_of(struct nnhal_burst *b, const struct nnpu_cqe *cqe)
{
	uint32_t cid = le16toh(cqe->cid);
	struct burst_request *r = &b->requests[cid];

	if (unlikely(cid >= b->num_requests ||
		     atomic_load_explicit(&r->state, memory_order_relaxed) != REQUEST_RUNNING))
		return NULL;
	return r;
}

/* Take one completion from the ring. False: there is none. */
hot_inline bool burst_pop_completion(struct nnhal_burst *b, const struct nnpu_cqe **cqe,
				     uint32_t *status)
{
	uint32_t count = atomic_load_explicit(&b->cq_count, memory_order_relaxed);

	*cqe = burst_cq_entry(b, count);
	if (!queue_is_completed(*cqe, count, status))
		return false;
	barrier_after_status();
	/* The in-process device releases with this word; see [C]. */
	tsan_acquire(&(*cqe)->status);
	count++;
	atomic_store_explicit(&b->cq_count, count, memory_order_relaxed);
	if (unlikely(count == b->cq_tell))
		burst_tell_room(b, count);
	return true;
}

/*
 * Take one completion from the ring. True: it belongs to @own, the execution of the caller,
 * which is running; @own->state is not changed. A completion of another request is passed on.
 */
hot_inline bool burst_reap_own(struct nnhal_burst *b, struct burst_request *own)
{
	const struct nnpu_cqe *cqe;
	uint32_t status;

	if (unlikely(!burst_pop_completion(b, &cqe, &status)))
		return false;
	if (unlikely(cqe->cid != own->sqe.cid)) {
		burst_accept_completion(b, cqe, status);
		return false;
	}
	b->num_running--;
	burst_note_completion(own, cqe, status);
	return true;
}

/*
 * Write an entry to the ring. Entries differ only in fields that depend on the number of the
 * request; create_queue() has written the other fields to every place of the ring. If the
 * same request used this place in the last pass, the entry is there already. Then nothing is
 * written, and the cache line stays shared with the device.
 */
hot_inline void burst_write_entry(struct nnpu_sqe *place, const struct nnpu_sqe_execute *from)
{
	struct nnpu_sqe_execute *to = (void *)place;

	if (likely(to->cid == from->cid))
		return;
	to->cid = from->cid;
	to->args = from->args;
	to->result_off = from->result_off;
}

#endif /* NNHAL_BURST_RING_H */
