/* SPDX-License-Identifier: MIT */
/*
 * The submission ring, the completion ring and the doorbells of a queue that belongs to
 * the process. The caller holds burst.lock.
 *
 * Memory ordering. Four hand-overs take place, in this order, per request:
 *
 *   [A] argument block, entry  ->  doorbell           (process to device)
 *   [B] doorbell               ->  reads by the device
 *   [C] outputs, result block  ->  status word        (device to process)
 *   [D] status word            ->  reads of results, reuse of entry and block
 *
 * A is ring_doorbell(): the entry must be in memory before the doorbell arrives. B and
 * C are the device's: it fetches entries only after a doorbell, and writes the status
 * word with its phase bit last (Documentation/hardware/queues.rst). D is pop_completion():
 * nothing that depends on the completion may be read, nor anything the device read be
 * written, before the phase bit has been seen.
 *
 * As message passing: writes W(args) W(sqe) W(db) in order by A, R(db) R(sqe) R(args)
 * ... W(outputs) W(status) in order by the device, R(status) R(outputs) W(args') W(sqe')
 * in order by D. Were the outcome "status seen, outputs old" or "the device reads args'
 * for the request before" possible, there would be a cycle args -> db -> sqe -> outputs
 * -> status -> args' in which each edge is kept by A, the device, or D; there is none.
 * No store-to-load order is needed anywhere: arming and the race with a completion
 * that has just come is the device's (NNPU_DB_CQ_ARM behind the ring's tail raises the
 * interrupt at once), so the wait needs no full barrier either.
 *
 * Between threads of the process everything is ordered by burst.lock, except for the
 * look at the ring without it in burst_look(): that one decides nothing, it only ends the
 * wait, and what follows takes the lock and looks again.
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
#include "transport/transport.h"

/*
 * [A] Make what was written to memory visible to the device before the store to the
 * doorbell; pairs with the device's read of the ring after the doorbell.
 *
 * The doorbell is device memory, the rings are normal cacheable memory. arm64: stores
 * of the two kinds may overtake each other; DMB OSH orders them for the outer shareable
 * domain, where devices are. Not DMB OSHST, as in writel() of the kernel: the process
 * may have read the outputs, result block and completion of a request before, and the
 * doorbell gives the device leave to write there again. x86: stores to write-back
 * memory become visible in program order after the loads before them, and a store to
 * uncached memory does not overtake them, so the compiler is all that has to be held
 * back. Other machines: the strongest barrier there is.
 */
static inline void barrier_before_doorbell(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ __volatile__("" : : : "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb osh" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * [D] After the phase bit was seen: hold back what reads the results, and what writes
 * to memory the device has read for this request. Pairs with the device's write of the
 * status word after everything else.
 *
 * arm64: DMB OSHLD orders the load before it with loads and stores after it, also
 * against a device. x86: loads are not reordered with later loads and stores. The
 * fence says the same to the compiler and to in-process devices.
 */
static inline void barrier_after_status(void)
{
#if defined(__aarch64__)
	__asm__ __volatile__("dmb oshld" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

hot_inline void burst_ring_doorbell(struct transport_queue *q, uint32_t offset, uint32_t value)
{
	if (unlikely(!q->doorbell)) {
		q->ring(q, offset, value);
		return;
	}
	barrier_before_doorbell();
	q->doorbell[offset / sizeof(*q->doorbell)] = htole32(value);
}

/* Tell the device of entries that it does not know of yet. Caller holds the lock. */
hot_inline void burst_announce(struct nnhal_burst *b)
{
	if (b->sq_rung == b->sq_tail)
		return;
	b->sq_rung = b->sq_tail;
	burst_ring_doorbell(b->queue, NNPU_DB_SQ_TAIL, b->sq_tail);
}

hot_inline const struct nnpu_cqe *burst_cq_entry(const struct nnhal_burst *b, uint32_t count)
{
	return &b->cq[count % BURST_CQ_ENTRIES];
}

/*
 * Is completion number @count, ever, in the ring? Its status word; the phase bit is 1
 * in the first pass over the ring and changes with each.
 */
hot_inline bool burst_is_completed(const struct nnpu_cqe *cqe, uint32_t count, uint32_t *status)
{
	/* Written by the device in one piece; read in one piece, again each time. */
	*status = le16toh(__atomic_load_n(&cqe->status, __ATOMIC_RELAXED));
	return (*status ^ count / BURST_CQ_ENTRIES) & NNPU_CQE_PHASE;
}

/* A request that was on the device has ended. */
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

/* Cold parts of what follows. */
cold_path void burst_note_failure(struct burst_request *r, const struct nnpu_cqe *cqe);
cold_path void burst_tell_room(struct nnhal_burst *b, uint32_t count);
cold_path void burst_accept_completion(struct nnhal_burst *b, const struct nnpu_cqe *cqe,
				       uint32_t status);
/* Take all completions that are there. */
void burst_reap(struct nnhal_burst *b);

/* What the device said of a request. */
hot_inline void burst_note_completion(struct burst_request *r, const struct nnpu_cqe *cqe,
				uint32_t status)
{
	r->status = status >> NNPU_CQE_STATUS_SHIFT;
	r->exec_ns = le64toh(cqe->result);
	if (unlikely(r->status))
		burst_note_failure(r, cqe);
}

/* The request that a completion is of. NULL: nobody waits for it, the device's mistake. */
hot_inline struct burst_request *burst_request_of(struct nnhal_burst *b, const struct nnpu_cqe *cqe)
{
	uint32_t cid = le16toh(cqe->cid);
	struct burst_request *r = &b->requests[cid];

	if (unlikely(cid >= b->num_requests ||
		     atomic_load_explicit(&r->state, memory_order_relaxed) != REQUEST_RUNNING))
		return NULL;
	return r;
}

/* Take one completion from the ring: false if there is none. Caller holds the lock. */
hot_inline bool burst_pop_completion(struct nnhal_burst *b, const struct nnpu_cqe **cqe,
			       uint32_t *status)
{
	uint32_t count = atomic_load_explicit(&b->cq_count, memory_order_relaxed);

	*cqe = burst_cq_entry(b, count);
	if (!burst_is_completed(*cqe, count, status))
		return false;
	barrier_after_status();
	/* The in-process device published with it; see [C]. */
	tsan_acquire(&(*cqe)->status);
	count++;
	atomic_store_explicit(&b->cq_count, count, memory_order_relaxed);
	if (unlikely(count == b->cq_tell))
		burst_tell_room(b, count);
	return true;
}

/*
 * Take one completion: is it of the caller's own execution, which is on the device? The
 * state of that is not changed. Caller holds the lock.
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
 * Write an entry to the ring: what differs from request to request, all of which follows
 * from the number. The rest is the same in all places, since burst_ring_init(). When
 * requests go round as the ring does, the entry is there already, and the line stays in the
 * device's cache as well as in this one.
 */
hot_inline void write_entry(struct nnpu_sqe *place, const struct nnpu_sqe_execute *from)
{
	struct nnpu_sqe_execute *to = (void *)place;

	if (likely(to->cid == from->cid))
		return;
	to->cid = from->cid;
	to->args = from->args;
	to->result_off = from->result_off;
}

#endif /* NNHAL_BURST_RING_H */
