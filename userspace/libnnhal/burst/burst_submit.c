// SPDX-License-Identifier: MIT
/*
 * Bursts without a queue of the process: the same calls, through SUBMIT of the driver.
 *
 * A submission is an asynchronous execution whose callback appends the result to the
 * burst's list. It holds the burst, so that the caller may release the burst meanwhile, also
 * from a callback.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "burst/burst_result.h"
#include "burst/burst_submit.h"
#include "burst/burst_wait.h"
#include "execution/arguments.h"
#include "execution/execution.h"

enum nnhal_status burst_read_options(struct nnhal_execute_options *to,
				     const struct nnhal_execute_options *from)
{
	enum nnhal_status status = execute_options_read(to, from);

	if (!status && (to->profile || to->work || to->completions)) {
		diag_set(to->diag, "a burst has no profile and results of its own");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return status;
}

void burst_submit_execute(struct nnhal_burst *b, const struct nnhal_request *request,
			  struct nnhal_bound_request *bound,
			  const struct nnhal_execute_options *options,
			  struct nnhal_output_shape *shapes, struct outcome *out)
{
	struct nnhal_execute_options read;
	enum nnhal_status status = burst_read_options(&read, options);

	if (!status && bound && bound->model != b->model) {
		diag_set(read.diag, "the request is bound to another model");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (status) {
		out->status = request_status(status, request);
		return;
	}
	execution_run(b->model, request, bound, &read, shapes, out);
}

/* On the device's waiter thread. */
static void on_executed(void *context, enum nnhal_status status,
			const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			const struct nnhal_timing *timing)
{
	struct burst_request *r = context;
	struct nnhal_burst *b = r->burst;

	pthread_mutex_lock(&b->lock);
	r->outcome = (struct outcome){ status, num_shapes, *timing };
	if (num_shapes)
		memcpy(r->shapes, shapes, num_shapes * sizeof(*shapes));
	burst_add_result(b, r);
	pthread_mutex_unlock(&b->lock);
	burst_release(b);
}

enum nnhal_status burst_submit_submit(struct nnhal_burst *b,
				      const struct nnhal_request *request,
				      struct nnhal_bound_request *bound,
				      const struct nnhal_execute_options *options, uint64_t tag,
				      uint32_t flags)
{
	struct nnhal_execute_options o;
	enum nnhal_status status = burst_read_options(&o, options);
	struct nnhal_diag *diag = o.diag;
	struct burst_request *r;

	if (!status && bound && bound->model != b->model) {
		diag_set(diag, "the request is bound to another model");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (status)
		return request_status(status, request);
	pthread_mutex_lock(&b->lock);
	while (b->num_submitted >= b->depth) {
		if (flags & NNHAL_BURST_NONBLOCK || b->never_waits) {
			pthread_mutex_unlock(&b->lock);
			diag_set(diag, "%u requests in flight", b->depth);
			return request_status(NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, request);
		}
		if (deadline_passed(o.has_deadline, o.deadline_ns)) {
			pthread_mutex_unlock(&b->lock);
			diag_set(diag, "the deadline has passed: no room for the request");
			return request_status(NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, request);
		}
		burst_sleep(b, o.has_deadline ? o.deadline_ns : UINT64_MAX);
	}
	r = &b->requests[__builtin_ctzll(b->free)];
	b->free &= ~r->bit;
	b->num_submitted++;
	atomic_store_explicit(&r->state, REQUEST_RUNNING, memory_order_relaxed);
	pthread_mutex_unlock(&b->lock);

	r->tag = tag;
	/* The caller's diag must not be written after this call. */
	diag_clear(&r->diag);
	o.diag = &r->diag;
	atomic_fetch_add_explicit(&b->holds, 1, memory_order_relaxed);
	status = execution_start(b->model, request, bound, &o, on_executed, r);
	if (!status)
		return status;
	if (r->diag.message[0])
		diag_set(diag, "%s", r->diag.message);
	pthread_mutex_lock(&b->lock);
	b->num_submitted--;
	burst_put_request(b, r);
	pthread_mutex_unlock(&b->lock);
	burst_release(b);
	return request_status(status, request);
}

/* Hand out the oldest result. Caller holds the lock. */
static void take_result(struct nnhal_burst *b, struct nnhal_burst_result *result, size_t size)
{
	struct burst_request *r = burst_take_result(b);

	result->tag = r->tag;
	result->status = r->outcome.status;
	result->num_output_shapes = r->outcome.num_shapes;
	result->timing = r->outcome.timing;
	if (result->output_shapes && r->outcome.num_shapes)
		memcpy(result->output_shapes, r->shapes,
		       r->outcome.num_shapes * sizeof(*r->shapes));
	result_clear_surplus(result, size, sizeof(*result));
	b->num_submitted--;
	burst_put_request(b, r);
}

enum nnhal_status burst_submit_wait(struct nnhal_burst *b, struct nnhal_burst_result *results,
				    uint32_t min, uint32_t max, uint64_t until_ns,
				    uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t n = 0;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		while (n < max && b->results)
			take_result(b, result_entry(results, n++), results->size);
		if (n >= min || !b->num_submitted || monotonic_ns() >= until_ns)
			break;
		burst_sleep(b, until_ns);
	}
	if (!n)
		status = burst_no_result_status(b);
	pthread_mutex_unlock(&b->lock);
	*count = n;
	return status;
}
