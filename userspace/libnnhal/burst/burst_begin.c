// SPDX-License-Identifier: MIT
/*
 * The rare parts of submitting a request: no room, memory out of reach, deadlines.
 */
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "burst/burst_begin.h"
#include "burst/burst_private.h"
#include "burst/burst_ring.h"
#include "burst/burst_wait.h"
#include "execution/arguments.h"
#include "transport/transport.h"

static bool has_room(const struct nnhal_burst *b, bool is_submitted)
{
	return b->free && !(is_submitted && b->num_submitted >= b->depth);
}

/*
 * Sleep until there may be room. A place becomes free when somebody takes a result or when a
 * request fails before it runs; both wake cond. Only if each request is on the device, none of
 * this comes before a completion: then wait for that, and for the end of the queue.
 */
static void sleep_for_room(struct nnhal_burst *b, uint64_t until_ns)
{
	uint32_t taken = b->num_requests - (uint32_t)__builtin_popcountll(b->free);

	if (taken > b->num_running)
		burst_sleep(b, until_ns);
	else
		burst_doze(b, until_ns);
}

/* Wait for a free place; a status if there will be none in time. Caller holds the lock. */
static cold_path enum nnhal_status wait_for_room(struct nnhal_burst *b, bool is_submitted,
						 bool block, uint64_t until_ns,
						 struct nnhal_diag *diag)
{
	/* Room comes from requests that end, so the device must know of all of them. */
	burst_announce(b);
	for (;;) {
		burst_reap(b);
		if (has_room(b, is_submitted))
			return NNHAL_STATUS_NONE;
		if (b->state != TRANSPORT_QUEUE_READY)
			return burst_ended_status(b, diag);
		if (!block || b->never_waits) {
			diag_set(diag, "%u requests in flight", b->depth);
			return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		}
		if (deadline_passed(true, until_ns)) {
			diag_set(diag, "the deadline has passed: no room for the request");
			return NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
		}
		sleep_for_room(b, until_ns);
	}
}

/* The deadline of this call, or none, into the argument block. */
static void set_deadline(struct nnhal_burst *b, struct burst_request *r,
			 struct nnpu_args_header *header, uint64_t deadline_ns)
{
	uint64_t at = deadline_for_device(r->flags & REQUEST_DEADLINE, deadline_ns), device_ns;
	struct transport *t = b->model->device->transport;

	header->deadline_ns = 0;
	header->flags = 0;
	r->flags &= ~REQUEST_TIMED;
	/* A device that cannot be asked is being reset, and the request is lost. */
	if (!at || !t->limits.has_deadlines || t->ops->device_time(t, at, &device_ns))
		return;
	header->deadline_ns = htole64(device_ns);
	header->flags = htole32(NNPU_ARGS_DEADLINE_ABSOLUTE | NNPU_ARGS_DEADLINE_ABORT);
	r->flags |= REQUEST_TIMED;
}

/*
 * Copy inputs to bounce buffers, set deadline and loop timeout, and check that the queue has not
 * ended. Caller holds the lock, which may be dropped meanwhile.
 */
enum nnhal_status burst_begin_slowly(struct nnhal_burst *b, struct burst_request *r,
				     uint64_t deadline_ns, uint64_t loop_timeout_ns,
				     struct nnhal_diag *diag)
{
	struct nnpu_args_header *header = (struct nnpu_args_header *)r->args - 1;
	enum nnhal_status status = NNHAL_STATUS_NONE;

	set_deadline(b, r, header, deadline_ns);
	header->loop_timeout_ns = htole64(r->flags & REQUEST_LOOPS ? loop_timeout_ns : 0);
	if (r->flags & REQUEST_BOUNCE) {
		/* The cache keeps the memory of a request that is not FREE. */
		atomic_store_explicit(&r->state, REQUEST_PREPARING, memory_order_relaxed);
		pthread_mutex_unlock(&b->lock);
		status = args_copy_inputs(b->transport, &b->model->rules, r->resolved, r->pools, r->bindings,
					  diag);
		pthread_mutex_lock(&b->lock);
	}
	if (!status && b->state != TRANSPORT_QUEUE_READY)
		status = burst_ended_status(b, diag);
	return status;
}

/* The deadline had passed. */
void burst_set_late(struct burst_request *r, struct nnhal_diag *diag)
{
	diag_set(diag, "the deadline has passed");
	r->flags |= REQUEST_PRESET;
	r->preset = NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
}

/* The free place that saw the request last time, else the least recently used one. */
static struct burst_request *find_free(struct nnhal_burst *b, const struct nnhal_request *request)
{
	struct burst_request *r, *oldest = NULL;
	uint64_t free;

	for (free = b->free; free; free &= free - 1) {
		r = &b->requests[__builtin_ctzll(free)];
		if (r->origin == request)
			return r;
		if (!oldest || r->last_used < oldest->last_used)
			oldest = r;
	}
	return oldest;
}

/* The first guess was wrong: choose another place, after waiting for room. */
struct burst_request *
burst_choose_place(struct nnhal_burst *b, const struct nnhal_request *request, bool is_submitted,
		   bool block, uint64_t until_ns, struct nnhal_diag *diag,
		   enum nnhal_status *status)
{
	struct burst_request *r;

	if (!has_room(b, is_submitted)) {
		*status = wait_for_room(b, is_submitted, block, until_ns, diag);
		if (*status)
			return NULL;
	}
	r = find_free(b, request);
	*b->guess = r;
	return r;
}
