/* SPDX-License-Identifier: MIT */
/*
 * The rings and doorbells of a queue that belongs to the process (struct transport_queue).
 *
 * Memory ordering. Each request has four ordering points:
 *
 *   [A] argument block, entry  before  doorbell          (process to device)
 *   [B] doorbell               before  reads of the device
 *   [C] outputs, result block  before  status word       (device to process)
 *   [D] status word            before  reads of results, reuse of entry and block
 *
 * [A] is queue_ring_doorbell(): the entry must be in memory before the doorbell arrives.
 * The device provides [B] and [C]. It fetches entries only after a doorbell, and it writes
 * the status word with the phase bit last (Documentation/hardware/queues.rst). [D] is
 * barrier_after_status(): until the process has seen the phase bit, it must not read what
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
 */
#ifndef NNHAL_QUEUE_RING_H
#define NNHAL_QUEUE_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include <drm/nnpu_rings.h>

#include "base/base.h"
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

hot_inline void queue_ring_doorbell(struct transport_queue *q, uint32_t offset, uint32_t value)
{
	if (unlikely(!q->doorbell)) {
		q->ring(q, offset, value);
		return;
	}
	barrier_before_doorbell();
	q->doorbell[offset / sizeof(*q->doorbell)] = htole32(value);
}

/*
 * Is completion number @count, counted since creation, in the ring? @status: out: its
 * status word. The phase bit is 1 in the first pass over the ring and is inverted in each
 * further pass.
 */
hot_inline bool queue_is_completed(const struct nnpu_cqe *cqe, uint32_t count, uint32_t *status)
{
	/* The device writes the word with one store; each call reads it with one load. */
	*status = le16toh(__atomic_load_n(&cqe->status, __ATOMIC_RELAXED));
	return (*status ^ count / TRANSPORT_CQ_ENTRIES) & NNPU_CQE_PHASE;
}

/* A pause between two reads of the ring. It may take long in a virtual machine. */
static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

#endif /* NNHAL_QUEUE_RING_H */
