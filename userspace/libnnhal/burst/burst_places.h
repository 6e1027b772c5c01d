/* SPDX-License-Identifier: MIT */
/*
 * Places of requests, and the list of results. The caller holds burst.lock.
 */
#ifndef NNHAL_BURST_PLACES_H
#define NNHAL_BURST_PLACES_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "burst/burst_cache.h"
#include "burst/burst_private.h"

/* Wake those who wait for a result or for room. Caller holds the lock. */
static inline void burst_wake(struct nnhal_burst *b)
{
	if (unlikely(b->num_waiters))
		pthread_cond_broadcast(&b->cond);
}

/* A request with a result, for nnhal_burst_wait(). Caller holds the lock. */
static inline void burst_add_result(struct nnhal_burst *b, struct burst_request *r)
{
	r->next = NULL;
	*b->results_tail = r;
	b->results_tail = &r->next;
	atomic_store_explicit(&r->state, REQUEST_DONE, memory_order_relaxed);
	atomic_store_explicit(&b->has_results, REQUEST_DONE, memory_order_relaxed);
	burst_wake(b);
}

/* The oldest of them; there is one. Caller holds the lock. */
static inline struct burst_request *burst_take_result(struct nnhal_burst *b)
{
	struct burst_request *r = b->results;

	b->results = r->next;
	if (!b->results) {
		b->results_tail = &b->results;
		atomic_store_explicit(&b->has_results, REQUEST_FREE, memory_order_relaxed);
	}
	return r;
}

/* Give a request back. Caller holds the lock. */
hot_inline void burst_put_request(struct nnhal_burst *b, struct burst_request *r)
{
	atomic_store_explicit(&r->state, REQUEST_FREE, memory_order_relaxed);
	b->free |= r->bit;
	if (unlikely(b->is_untidy))
		burst_cache_tidy(b);
	burst_wake(b);
}

#endif /* NNHAL_BURST_PLACES_H */
