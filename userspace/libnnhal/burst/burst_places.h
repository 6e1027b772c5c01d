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

/* Wake threads that wait for a result or for room. */
static inline void burst_wake(struct nnhal_burst *b)
{
	if (unlikely(b->num_waiters))
		pthread_cond_broadcast(&b->cond);
}

/* Append a request to the list of results, for nnhal_burst_wait(). */
static inline void burst_add_result(struct nnhal_burst *b, struct burst_request *r)
{
	r->next = NULL;
	*b->results_tail = r;
	b->results_tail = &r->next;
	atomic_store_explicit(&r->state, REQUEST_DONE, memory_order_relaxed);
	atomic_store_explicit(&b->has_results, REQUEST_DONE, memory_order_relaxed);
	burst_wake(b);
}

/* Take the oldest result; the list is not empty. */
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

/* Free the place of a request, for which nobody waits. */
hot_inline void burst_put_quietly(struct nnhal_burst *b, struct burst_request *r)
{
	atomic_store_explicit(&r->state, REQUEST_FREE, memory_order_relaxed);
	b->free |= r->bit;
	if (unlikely(atomic_load_explicit(&b->is_untidy, memory_order_relaxed)))
		burst_cache_tidy(b);
}

/* Free the place of a request. */
static inline void burst_put_request(struct nnhal_burst *b, struct burst_request *r)
{
	burst_put_quietly(b, r);
	burst_wake(b);
}

#endif /* NNHAL_BURST_PLACES_H */
