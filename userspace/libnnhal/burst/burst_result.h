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
 * Outcome of a request that has ended; @shapes may be NULL. The lock may be dropped
 * meanwhile.
 */
cold_path void burst_conclude(struct nnhal_burst *b, struct burst_request *r,
			      struct nnhal_output_shape *shapes, struct nnhal_diag *diag,
			      struct outcome *out);

/*
 * The usual case: the request succeeded and nothing else has to be done. False: the caller
 * must call burst_conclude().
 */
hot_inline bool burst_conclude_quickly(struct nnhal_burst *b, const struct burst_request *r,
				       struct nnhal_output_shape *shapes)
{
	if (unlikely(r->status | (r->flags & ~REQUEST_USUAL)))
		return false;
	return !shapes || args_read_shapes(r->results, b->num_outputs, shapes);
}

/*
 * The next result: the oldest one in the list, else one from the ring. Measured requests
 * always go through the list, together with all that have completed: their end is now, not
 * the time when somebody asks for the result. NULL: there is none at present.
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

/* Status of a wait without a result: a timeout, or there was nothing to wait for. */
static inline enum nnhal_status burst_no_result_status(const struct nnhal_burst *b)
{
	return b->num_submitted ? NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT
				: NNHAL_STATUS_INVALID_ARGUMENT;
}

#endif /* NNHAL_BURST_RESULT_H */
