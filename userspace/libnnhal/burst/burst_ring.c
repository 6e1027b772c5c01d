// SPDX-License-Identifier: MIT
/*
 * The rare parts of the rings: failed requests, completions that another thread waits for.
 */
#include <endian.h>
#include <stdatomic.h>

#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "burst/burst_ring.h"

/* Take reason and error of a request that failed from its completion. */
void burst_note_failure(struct burst_request *r, const struct nnpu_cqe *cqe)
{
	r->reason = le16toh(cqe->reason);
	r->error = le32toh(cqe->error);
}

/*
 * Tell the device that entries of the completion ring are free again. That need not be done
 * for each completion: at most num_requests more can arrive before the next time.
 */
void burst_tell_room(struct nnhal_burst *b, uint32_t count)
{
	b->cq_tell = count + TRANSPORT_CQ_ENTRIES / 2;
	queue_ring_doorbell(b->queue, NNPU_DB_CQ_HEAD, count % TRANSPORT_CQ_ENTRIES);
}

/* A completion that the caller does not wait for, of any request or of none. */
void burst_accept_completion(struct nnhal_burst *b, const struct nnpu_cqe *cqe, uint32_t status)
{
	struct burst_request *r = burst_request_of(b, cqe);

	if (!r)
		return;
	burst_note_completion(r, cqe, status);
	burst_complete(b, r);
	burst_wake(b);
}

void burst_reap(struct nnhal_burst *b)
{
	const struct nnpu_cqe *cqe;
	uint32_t status;

	while (burst_pop_completion(b, &cqe, &status))
		burst_accept_completion(b, cqe, status);
}
