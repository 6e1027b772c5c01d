/* SPDX-License-Identifier: MIT */
/*
 * The submission ring, the completion ring and the doorbells of a queue that belongs to
 * the process. The caller holds burst.lock.
 *
 * Memory ordering. Each request has four ordering points:
 *
 *   [A] argument block, entry  before  doorbell          (process to device)
 *   [B] doorbell               before  reads of the device
 *   [C] outputs, result block  before  status word       (device to process)
 *   [D] status word            before  reads of results, reuse of entry and block
 *
 * [A] is burst_ring_doorbell(): the entry must be in memory before the doorbell arrives.
 * The device provides [B] and [C]. It fetches entries only after a doorbell, and it writes
 * the status word with the phase bit last (Documentation/hardware/queues.rst). [D] is
 * burst_pop_completion(): until the process has seen the phase bit, it must not read what
 * depends on the completion, and must not write what the device may still read.
 *
 * As message passing: [A] orders W(args) W(sqe) W(db). The device orders R(db) R(sqe)
 * R(args) ... W(outputs) W(status). [D] orders R(status) R(outputs) W(args') W(sqe'). The
 * outcomes "status seen, outputs old" and "the device reads args' for the previous request"
 * both need the cycle args -> db -> sqe -> outputs -> status -> args'. [A], the device or
 * [D] keeps each edge of it, so neither outcome is possible.
 *
 * Nothing needs a store ordered before a later load. The device resolves the race between
 * arming and a completion that has just arrived: if NNPU_DB_CQ_ARM is behind the tail of
 * the ring, it raises the interrupt at once. The wait therefore needs no full barrier.
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
#include "transport/transport.h"

/*
 * [A] Order all earlier accesses before the store to the doorbell. Pairs with the
 * device, which reads the ring after the doorbell.
 *
 * The doorbell is device memory, the rings are normal cacheable memory.
 *
 * arm64: stores to the two kinds of memory may be reordered. DMB OSH orders them for the
 * outer shareable domain, which includes devices. DMB OSHST, as in the kernel's writel(),
 * is not enough. The process may have read outputs, result block and completion of an
 * earlier request, and after the doorbell the device may write there again.
 *
 * x86: stores to write-back memory become visible in program order and after earlier
 * loads, and a store to uncached memory does not overtake them. A compiler barrier is
 * enough. Other architectures: a full fence.
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
 * [D] Order the load of the status word before reads of the results, and before writes to
 * memory that the device has read for this request. Pairs with the device, which writes the
 * status word after everything else.
 *
 * arm64: DMB OSHLD orders earlier loads before later loads and stores, also as seen by
 * devices. x86: loads are not reordered with later loads and stores; the fence stops the
 * compiler and synchronises with an in-process device.
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

/* Ring the doorbell if there are entries that the device does not know of. */
hot_inline void burst_announce(struct nnhal_burst *b)
{
	if (b->sq_rung == b->sq_tail)
		return;
	b->sq_rung = b->sq_tail;
	burst_ring_doorbell(b->queue, NNPU_DB_SQ_TAIL, b->sq_tail);
}

hot_inline const struct nnpu_cqe *burst_cq_entry(const struct nnhal_burst *b, uint32_t count)
{
	return &b->cq[count % TRANSPORT_CQ_ENTRIES];
}

/*
 * Is completion number @count, counted since creation, in the ring? @status: out: its
 * status word. The phase bit is 1 in the first pass over the ring and is inverted in each
 * further pass.
 */
hot_inline bool burst_is_completed(const struct nnpu_cqe *cqe, uint32_t count, uint32_t *status)
{
	/* The device writes the word with one store; each call reads it with one load. */
	*status = le16toh(__atomic_load_n(&cqe->status, __ATOMIC_RELAXED));
	return (*status ^ count / TRANSPORT_CQ_ENTRIES) & NNPU_CQE_PHASE;
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
	if (!burst_is_completed(*cqe, count, status))
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
