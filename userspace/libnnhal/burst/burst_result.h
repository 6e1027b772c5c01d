/* SPDX-License-Identifier: MIT */
/*
 * From a completion to a result. The caller holds burst.lock.
 */
#ifndef NNHAL_BURST_RESULT_H
#define NNHAL_BURST_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "burst/burst_ring.h"
#include "execution/arguments.h"

/*
 * What a request came to that has ended; @shapes may be NULL. Caller holds the lock,
 * which may be dropped meanwhile.
 */
cold_path void burst_conclude(struct nnhal_burst *b, struct burst_request *r,
			      struct nnhal_output_shape *shapes, struct nnhal_diag *diag,
			      struct outcome *out);

/*
 * Success, and nothing else to be done: what nearly all requests come to. Else false,
 * for burst_conclude() to look at it.
 */
hot_inline bool burst_conclude_quickly(struct nnhal_burst *b, const struct burst_request *r,
				 struct nnhal_output_shape *shapes)
{
	if (unlikely(r->status | (r->flags & ~REQUEST_USUAL)))
		return false;
	return !shapes || args_read_shapes(r->results, b->num_outputs, shapes);
}

/*
 * The next result: the oldest in the list, else from the ring. Who wants to know how long
 * it took gets it by way of the list: all that are there have ended now, not when they are
 * asked for. NULL if there is none at present. Caller holds the lock.
 */
hot_inline struct burst_request *burst_next_result(struct nnhal_burst *b)
{
	const struct nnpu_cqe *cqe;
	struct burst_request *r;
	uint32_t status;

	while (likely(!b->results)) {
		if (!burst_pop_completion(b, &cqe, &status))
			return NULL;
		r = burst_request_of(b, cqe);
		if (likely(r && (r->flags & (REQUEST_SUBMITTED | REQUEST_MEASURE)) ==
				REQUEST_SUBMITTED)) {
			burst_note_completion(r, cqe, status);
			b->num_running--;
			return r;
		}
		burst_accept_completion(b, cqe, status);
		burst_reap(b);
	}
	return burst_take_result(b);
}

/* There is none after a wait: it took too long, or there was nothing to wait for. */
static inline enum nnhal_status burst_no_result_status(const struct nnhal_burst *b)
{
	return b->num_submitted ? NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT
				: NNHAL_STATUS_INVALID_ARGUMENT;
}

#endif /* NNHAL_BURST_RESULT_H */
