// SPDX-License-Identifier: MIT
/*
 * Resilient bursts.
 */
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "resilient/resilient_private.h"

struct nnhal_resilient_burst {
	atomic_uint refs;
	struct nnhal_resilient_model *model;
	struct nnhal_burst_options options;
	pthread_mutex_t lock;
	struct nnhal_burst *current;
	struct nnhal_device *current_device;
};

/* With the lock, or before others know the burst. */
static enum nnhal_status create_burst(struct nnhal_resilient_burst *b, struct resilient_old *old)
{
	struct nnhal_burst *fresh = NULL;
	struct nnhal_prepared_model *model;
	struct nnhal_device *device;
	enum nnhal_status status;

	model = resilient_model_get_on(b->model, &device);
	status = nnhal_burst_create(model, &b->options, &fresh);
	nnhal_prepared_model_unref(model);
	if (!status && !fresh)
		status = NNHAL_STATUS_GENERAL_FAILURE;
	if (status) {
		if (resilient_is_lost(device, status))
			status = NNHAL_STATUS_DEAD_OBJECT;
		nnhal_device_unref(device);
		return status;
	}
	old->burst = b->current;
	old->device = b->current_device;
	b->current = fresh;
	b->current_device = device;
	return NNHAL_STATUS_NONE;
}

/* Make it again, if @failing is still its device. */
static enum nnhal_status recover(struct nnhal_resilient_burst *b, const struct nnhal_device *failing)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct resilient_old old = { .burst = NULL };

	pthread_mutex_lock(&b->lock);
	if (b->current_device == failing) {
		/* A queue can also end alone. */
		if (nnhal_device_get_status(b->current_device) != NNHAL_DEVICE_AVAILABLE)
			status = resilient_model_recover(b->model, failing);
		if (!status)
			status = create_burst(b, &old);
	}
	pthread_mutex_unlock(&b->lock);
	resilient_release(&old);
	return status;
}

/* The model has found the loss before: do not waste a request on the old queue. */
static void follow_model(struct nnhal_resilient_burst *b)
{
	struct resilient_old old = { .burst = NULL };
	struct nnhal_device *device;

	nnhal_prepared_model_unref(resilient_model_get_on(b->model, &device));
	pthread_mutex_lock(&b->lock);
	if (b->current_device != device)
		/* If not, the execution gives the status. */
		(void)create_burst(b, &old);
	pthread_mutex_unlock(&b->lock);
	resilient_release(&old);
	nnhal_device_unref(device);
}

enum nnhal_status nnhal_resilient_burst_create(struct nnhal_resilient_model *model,
					       const struct nnhal_burst_options *options,
					       struct nnhal_resilient_burst **burst)
{
	static const struct nnhal_burst_options defaults = NNHAL_BURST_OPTIONS_INIT;
	struct resilient_old none = { .burst = NULL };
	struct nnhal_burst_options read;
	struct nnhal_resilient_burst *b;
	struct nnhal_device *device;
	enum nnhal_status status;

	if (burst)
		*burst = NULL;
	if (!model || !burst ||
	    !options_read(&read, options, &defaults, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(read.diag);
	if (!resilient_is_usable(model->device, read.diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	atomic_init(&b->refs, 1);
	b->model = resilient_model_ref(model);
	b->options = read;
	pthread_mutex_init(&b->lock, NULL);
	nnhal_prepared_model_unref(resilient_model_get_on(model, &device));
	status = create_burst(b, &none);
	if (status == NNHAL_STATUS_DEAD_OBJECT && !resilient_model_recover(model, device))
		status = create_burst(b, &none);
	nnhal_device_unref(device);
	if (status) {
		nnhal_resilient_burst_unref(b);
		return status;
	}
	/* The caller's structure need not live as long as the burst. */
	b->options.diag = NULL;
	*burst = b;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status execute_once(struct nnhal_resilient_burst *burst,
				      struct nnhal_burst *current, struct nnhal_device *device,
				      const struct nnhal_request *request,
				      const struct nnhal_execute_options *options,
				      struct nnhal_output_shape *output_shapes,
				      uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	struct nnhal_request_pool *pools = NULL;
	struct nnhal_request translated;
	enum nnhal_status status;

	status = resilient_translate(burst->model->device, device, request, &translated, &pools);
	if (!status)
		status = nnhal_burst_execute(current, &translated, options, output_shapes,
					     num_output_shapes, timing);
	free(pools);
	return status;
}

enum nnhal_status nnhal_resilient_burst_execute(struct nnhal_resilient_burst *burst,
						const struct nnhal_request *request,
						const struct nnhal_execute_options *options,
						struct nnhal_output_shape *output_shapes,
						uint32_t *num_output_shapes,
						struct nnhal_timing *timing)
{
	struct nnhal_burst *current;
	struct nnhal_device *device;
	enum nnhal_status status;
	unsigned int attempt;
	bool again = true;

	if (num_output_shapes)
		*num_output_shapes = 0;
	if (timing)
		*timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	if (!burst || !request)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!resilient_is_own(burst->model->device))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	follow_model(burst);
	for (attempt = 0; again; attempt++) {
		pthread_mutex_lock(&burst->lock);
		current = nnhal_burst_ref(burst->current);
		device = nnhal_device_ref(burst->current_device);
		pthread_mutex_unlock(&burst->lock);
		status = execute_once(burst, current, device, request, options, output_shapes,
				      num_output_shapes, timing);
		again = !attempt && resilient_is_lost(device, status) && !recover(burst, device);
		nnhal_burst_unref(current);
		nnhal_device_unref(device);
	}
	return status;
}

void nnhal_resilient_burst_unref(struct nnhal_resilient_burst *burst)
{
	if (!burst || atomic_fetch_sub_explicit(&burst->refs, 1, memory_order_acq_rel) != 1)
		return;
	nnhal_burst_unref(burst->current);
	nnhal_device_unref(burst->current_device);
	resilient_lock_destroy(burst->model->device, &burst->lock);
	nnhal_resilient_model_unref(burst->model);
	free(burst);
}
