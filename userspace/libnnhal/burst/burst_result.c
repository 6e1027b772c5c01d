// SPDX-License-Identifier: MIT
/*
 * Results that need more than the usual case: errors, times, bounce buffers.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "buffer/buffer_private.h"
#include "burst/burst_private.h"
#include "burst/burst_request.h"
#include "burst/burst_result.h"
#include "burst/burst_wait.h"
#include "execution/arguments.h"
#include "execution/buffers.h"
#include "transport/transport.h"

/* Copy outputs from bounce buffers. Caller holds the lock, which is dropped meanwhile. */
static void copy_outputs(struct nnhal_burst *b, struct burst_request *r, struct nnhal_diag *diag,
			 struct outcome *out)
{
	pthread_mutex_unlock(&b->lock);
	out->status = args_copy_outputs(b->transport, &b->model->rules, r->resolved, r->pools, r->bindings,
					r->shapes, diag);
	pthread_mutex_lock(&b->lock);
	if (out->status)
		out->num_shapes = 0;
}

/*
 * Do the outputs fit their buffers? One that does not for want of memory finds it there the next
 * time. @out has the status of the device.
 */
static void check_buffers(struct nnhal_burst *b, struct burst_request *r, struct nnhal_diag *diag,
			  struct outcome *out)
{
	const struct request_rules *rules = &b->model->rules;
	struct nnhal_memory *storage;
	struct resolved_pool *pool;
	uint32_t i;

	if (out->status && buffers_can_grow(rules, r->resolved, r->pools, r->shapes))
		for (i = 0; i < b->num_outputs; i++) {
			pool = &r->pools[r->resolved[rules->num_inputs + i].pool];
			if (r->shapes[i].is_sufficient ||
			    buffer_grow(pool, &r->shapes[i], &storage))
				continue;
			buffer_reserve(pool->buffer, storage);
			nnhal_memory_unref(storage);
		}
	out->status = buffers_check(rules, r->resolved, r->pools, r->shapes, out->status, diag);
}

/* Status and times of a request, and its shapes in r->shapes. */
static void judge(struct nnhal_burst *b, struct burst_request *r, struct nnhal_diag *diag,
		  struct outcome *out)
{
	if (r->flags & REQUEST_PRESET) {
		out->status = r->preset;
		if (b->state != TRANSPORT_QUEUE_READY)
			diag_set(diag, "the device did not finish the execution: %s",
				 burst_state_text(b->state));
		return;
	}
	if (r->status != NNPU_STATUS_SUCCESS) {
		/* The driver aborts jobs that hang. */
		out->status = r->status == NNPU_STATUS_ABORTED
			      ? status_from_fence_error(ETIME, r->flags & REQUEST_DEADLINE)
			      : status_from_device(r->status);
		args_explain(b->model, r->status, r->reason, r->error, diag);
		if (out->status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE)
			return;
	}
	if (!args_read_shapes(r->results, b->num_outputs, r->shapes)) {
		out->status = NNHAL_STATUS_GENERAL_FAILURE;
		return;
	}
	if (r->flags & REQUEST_BUFFERS) {
		check_buffers(b, r, diag, out);
		if (out->status == NNHAL_STATUS_GENERAL_FAILURE)
			return;
	}
	out->num_shapes = b->num_outputs;
	if (out->status)
		return;
	if (r->flags & REQUEST_BOUNCE)
		copy_outputs(b, r, diag, out);
	if (!out->status && (r->flags & REQUEST_MEASURE))
		timing_of(&out->timing, r->start_ns,
			  r->flags & REQUEST_SUBMITTED ? r->end_ns : monotonic_ns(), r->exec_ns);
}

void burst_conclude(struct nnhal_burst *b, struct burst_request *r,
		    struct nnhal_output_shape *shapes, struct nnhal_diag *diag,
		    struct outcome *out)
{
	/* Not RUNNING any more, for threads that look while the lock is dropped. */
	atomic_store_explicit(&r->state, REQUEST_DONE, memory_order_relaxed);
	*out = (struct outcome){ NNHAL_STATUS_NONE, 0, { NNHAL_NO_TIMING, NNHAL_NO_TIMING } };
	judge(b, r, diag, out);
	burst_end_buffers(b, r, r->shapes, out->status);
	outcome_for_version(out, r->hal_version);
	/* None after a failure, nor for a caller of an older version. */
	if (shapes && out->num_shapes)
		memcpy(shapes, r->shapes, out->num_shapes * sizeof(*shapes));
}
