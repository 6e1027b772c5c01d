/* SPDX-License-Identifier: MIT */
/*
 * What the three files of executions on a queue of the process share.
 *
 *   burst_ring.c     the hot path: submit, complete, take the result
 *   burst_request.c  requests that are new
 *   burst_wait.c     looking, sleeping, and the end of the queue
 *
 * The caller holds burst.lock for all but what is inline.
 */
#ifndef NNHAL_BURST_RING_H
#define NNHAL_BURST_RING_H

#include <endian.h>
#include <stdatomic.h>

#include "base/monotonic.h"
#include "burst/burst_internal.h"

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

hot_inline const struct nnpu_cqe *entry_of(const struct nnhal_burst *b, uint32_t count)
{
	return &b->cq[count % BURST_CQ_ENTRIES];
}

/*
 * Is completion number @count, ever, in the ring? Its status word; the phase bit is 1
 * in the first pass over the ring and changes with each.
 */
hot_inline bool is_completed(const struct nnpu_cqe *cqe, uint32_t count, uint32_t *status)
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

/* ---- burst_ring.c ---- */

/* Take all completions that are there. */
void burst_reap(struct nnhal_burst *b);

/* ---- burst_request.c ---- */

/* Does the model alone say what shapes an execution comes to? */
bool burst_shapes_known(const struct nnhal_burst *b);
/* Argument block of a request, its result block if there is one, and the entry for them. */
void burst_request_init(struct nnhal_burst *b, uint32_t number, uint64_t block_size);
/* Are the dimensions the same as last time? The ranks are. Pure: the hot path counts on it. */
bool burst_same_dims(const struct nnhal_burst *b, const struct burst_request *r,
		     const struct nnhal_request *request) __attribute__((pure));
/*
 * Check a request that is not the last one and write its argument block. @late: the
 * deadline has passed, so checking is all.
 */
cold_path enum nnhal_status burst_rebuild(struct nnhal_burst *b, struct burst_request *r,
					  const struct nnhal_request *request, bool late,
					  struct nnhal_diag *diag);

/* ---- burst_wait.c ---- */

/* Compare the two clocks, both of which were read at the same time before. */
void burst_spin_init(struct burst_spin *spin, uint32_t spin_us, uint64_t start,
		     uint64_t start_ns);
/* How the queue has ended, and what a request gets that comes afterwards. */
cold_path const char *burst_state_text(enum transport_queue_state state);
cold_path enum nnhal_status burst_ended_status(const struct nnhal_burst *b,
					       struct nnhal_diag *diag);
/*
 * Look for @number completions, or for @flag to become REQUEST_DONE, without the lock and
 * for a bounded time: true if either was seen. The two loads decide nothing: see
 * burst_ring.c. Of several only the last one is looked at: the device is about to write
 * those before it.
 */
bool burst_look(struct nnhal_burst *b, uint32_t number, const _Atomic unsigned char *flag,
		uint64_t limit);
/* How long to look, but no longer than until @until_ns. */
cold_path uint64_t burst_look_limit(const struct burst_spin *spin, uint64_t until_ns);
/*
 * Sleep until there may be a completion. One thread does so in the driver, for all;
 * others follow it, and one of them takes its place when it has got its result. With
 * nothing on the device it is another thread that is waited for. The lock is dropped
 * meanwhile.
 */
cold_path void burst_doze(struct nnhal_burst *b, uint64_t until_ns);

#endif /* NNHAL_BURST_RING_H */
