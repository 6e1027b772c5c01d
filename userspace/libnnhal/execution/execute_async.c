// SPDX-License-Identifier: MIT
/*
 * Asynchronous executions.
 *
 * A launch submits the job and leaves its end to the device's thread or to a completion queue.
 */
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "base/status.h"
#include "device/async.h"
#include "device/completion_queue.h"
#include "device/device_private.h"
#include "execution/execution.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"

/* Have the job completed by whoever is to do it. */
static void add_job(struct execution *e)
{
	if (e->job.queue)
		completion_queue_add(e->job.queue, &e->job);
	else
		async_add(e->model->device->async, &e->job);
}

/* The run is over; what is left of it is memory of its own, for execution_free_left(). */
static void execution_leave(struct execution *e)
{
	struct nnhal_prepared_model *model = e->model;

	execution_detach(e);
	nnhal_prepared_model_unref(model);
}

/* So many shapes of outputs are copied for the callback; more go with the execution's own memory. */
#define FEW_SHAPES	16

/*
 * Tell the caller, after the references were dropped: who was told of the end may close the device,
 * and closing waits for the thread that calls back.
 */
static void call_back(struct execution *e, const struct outcome *out)
{
	struct nnhal_output_shape few[FEW_SHAPES];
	nnhal_execution_callback callback = e->callback;
	void *context = e->context;

	if (out->num_shapes > FEW_SHAPES) {
		execution_leave(e);
		callback(context, out->status, e->shapes, out->num_shapes, &out->timing);
		execution_free_left(e);
		return;
	}
	memcpy(few, e->shapes, out->num_shapes * sizeof(*few));
	execution_done(e);
	callback(context, out->status, out->num_shapes ? few : NULL, out->num_shapes, &out->timing);
}

/* On the waiter thread, or on that of who asks the completion queue. */
static bool complete(struct async_job *job, int error)
{
	struct execution *e = (struct execution *)job;
	struct outcome out;

	error = execution_take_result(e, error);
	if (execution_has_to_run_again(e, error)) {
		e->preset = execution_submit(e);
		if (!e->preset) {
			add_job(e);
			return false;
		}
	}
	out = execution_end(e, error);
	call_back(e, &out);
	return true;
}

static enum nnhal_status launch(struct execution *e)
{
	struct nnhal_device *device = e->model->device;
	enum nnhal_status status;

	e->job.queue = e->options.completions;
	e->job.transport = device->transport;
	e->job.async = device->async;
	if (!e->job.queue && async_start(device->async)) {
		diag_set(e->options.diag, "cannot start a thread");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (!e->preset) {
		status = execution_submit(e);
		if (status)
			return status;
	}
	e->job.fence = e->preset ? NULL : e->fence;
	e->job.complete = complete;
	add_job(e);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status execution_start(struct nnhal_prepared_model *model,
				  const struct nnhal_request *request,
				  struct nnhal_bound_request *bound,
				  const struct nnhal_execute_options *options,
				  nnhal_execution_callback callback, void *context)
{
	struct nnhal_completion_queue *queue = execution_completions(options);
	enum nnhal_status status;
	struct execution *e;

	if (queue && model && !completion_queue_is_of(queue, model->device)) {
		diag_set(options->diag, "the completion queue is one of another device");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = execution_begin(model, request, bound, options, NULL, &e);
	if (status)
		return status;
	e->callback = callback;
	e->context = context;
	status = launch(e);
	if (status)
		execution_fail(e, status);
	return status;
}

static enum nnhal_status start(struct nnhal_prepared_model *model,
			       const struct nnhal_request *request,
			       struct nnhal_bound_request *bound,
			       const struct nnhal_execute_options *options,
			       nnhal_execution_callback callback, void *context)
{
	static const struct outcome failed = OUTCOME_FAILED;
	enum nnhal_status status;

	status = execution_start(model, request, bound, options, callback, context);
	if (!status)
		return NNHAL_STATUS_NONE;
	status = request_status(status, request);
	callback(context, status, NULL, 0, &failed.timing);
	return status;
}

enum nnhal_status nnhal_prepared_model_execute(struct nnhal_prepared_model *model,
					       const struct nnhal_request *request,
					       const struct nnhal_execute_options *options,
					       nnhal_execution_callback callback, void *context)
{
	if (!callback)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return start(model, request, NULL, options, callback, context);
}

enum nnhal_status nnhal_bound_request_execute(struct nnhal_bound_request *bound,
					      const struct nnhal_execute_options *options,
					      nnhal_execution_callback callback, void *context)
{
	static const struct outcome failed = OUTCOME_FAILED;

	if (!callback)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (bound)
		return start(bound->model, &bound->request, bound, options, callback, context);
	callback(context, NNHAL_STATUS_INVALID_ARGUMENT, NULL, 0, &failed.timing);
	return NNHAL_STATUS_INVALID_ARGUMENT;
}
