// SPDX-License-Identifier: MIT
/*
 * Resilient prepared models.
 */
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "resilient/resilient_private.h"

struct nnhal_resilient_model *resilient_model_ref(struct nnhal_resilient_model *model)
{
	atomic_fetch_add_explicit(&model->refs, 1, memory_order_relaxed);
	return model;
}

void nnhal_resilient_model_unref(struct nnhal_resilient_model *model)
{
	if (!model || atomic_fetch_sub_explicit(&model->refs, 1, memory_order_acq_rel) != 1)
		return;
	nnhal_prepared_model_unref(model->current);
	nnhal_device_unref(model->current_device);
	resilient_lock_destroy(model->device, &model->lock);
	nnhal_resilient_device_unref(model->device);
	nnhal_converted_free(model->copy);
	free(model);
}

/* All of a model but its version, unchecked: preparing it does that. */
static enum nnhal_status copy_model(const struct nnhal_model *model, struct nnhal_model **copy,
				    struct nnhal_diag *diag)
{
	const struct nnhal_model_1_3 form = {
		.base = {
			.main = model->main, .operand_values = model->operand_values,
			.operand_values_size = model->operand_values_size,
			.num_pools = model->num_pools, .pools = model->pools,
			.relax_computation_float32_to_float16 =
				model->relax_computation_float32_to_float16,
			.num_extensions = model->num_extensions, .extensions = model->extensions,
		},
		.num_referenced = model->num_referenced, .referenced = model->referenced,
	};
	enum nnhal_status status;

	status = nnhal_model_from_1_3(&form, NNHAL_CONVERT_UNVALIDATED, copy, diag);
	if (!status)
		(*copy)->hal_version = model->hal_version;
	return status;
}

static enum nnhal_status prepare_on(struct nnhal_device *device, const struct nnhal_model *model,
				    const struct nnhal_prepare_options *options,
				    struct nnhal_prepared_model **prepared)
{
	enum nnhal_status status = nnhal_device_prepare_model_sync(device, model, options, prepared);

	return !status && !*prepared ? NNHAL_STATUS_GENERAL_FAILURE : status;
}

/* Prepare on @device, of which it takes the reference also after an error. */
static enum nnhal_status prepare_again(struct nnhal_resilient_model *m, struct nnhal_device *device,
				       const struct nnhal_prepare_options *options,
				       struct resilient_old *old)
{
	struct nnhal_prepared_model *fresh;
	enum nnhal_status status = prepare_on(device, m->copy, options, &fresh);

	if (status) {
		nnhal_device_unref(device);
		return status;
	}
	old->model = m->current;
	old->device = m->current_device;
	m->current = fresh;
	m->current_device = device;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status
nnhal_resilient_device_prepare_model(struct nnhal_resilient_device *device,
				     const struct nnhal_model *model,
				     const struct nnhal_prepare_options *options,
				     struct nnhal_resilient_model **model_out)
{
	static const struct nnhal_prepare_options defaults = NNHAL_PREPARE_OPTIONS_INIT;
	struct resilient_old none = { .model = NULL };
	struct nnhal_device *current, *next;
	struct nnhal_prepare_options read;
	struct nnhal_resilient_model *m;
	enum nnhal_status status;

	if (model_out)
		*model_out = NULL;
	if (!device || !model || !model_out ||
	    !options_read(&read, options, &defaults, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(read.diag);
	if (!resilient_is_usable(device, read.diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (!layout_is_known(model->hal_version, "model", read.diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	atomic_init(&m->refs, 1);
	m->device = resilient_device_ref(device);
	m->preference = read.preference;
	m->priority = read.priority;
	pthread_mutex_init(&m->lock, NULL);
	status = copy_model(model, &m->copy, read.diag);
	if (!status) {
		current = nnhal_resilient_device_get(device);
		status = prepare_again(m, nnhal_device_ref(current), options, &none);
		if (resilient_is_lost(current, status) &&
		    !nnhal_resilient_device_recover(device, current, &next, NULL))
			status = prepare_again(m, next, options, &none);
		nnhal_device_unref(current);
	}
	if (status) {
		nnhal_resilient_model_unref(m);
		return status;
	}
	*model_out = m;
	return NNHAL_STATUS_NONE;
}

struct nnhal_prepared_model *resilient_model_get_on(struct nnhal_resilient_model *model,
						    struct nnhal_device **device)
{
	struct nnhal_prepared_model *current;

	resilient_lock(model->device, &model->lock);
	current = nnhal_prepared_model_ref(model->current);
	*device = nnhal_device_ref(model->current_device);
	resilient_unlock(model->device, &model->lock);
	return current;
}

struct nnhal_prepared_model *nnhal_resilient_model_get(struct nnhal_resilient_model *model)
{
	struct nnhal_device *device;
	struct nnhal_prepared_model *current = resilient_model_get_on(model, &device);

	nnhal_device_unref(device);
	return current;
}

enum nnhal_status resilient_model_recover(struct nnhal_resilient_model *model,
					  const struct nnhal_device *failing)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct resilient_old old = { .model = NULL };
	struct nnhal_device *next;

	options.preference = model->preference;
	options.priority = model->priority;
	pthread_mutex_lock(&model->lock);
	if (model->current_device == failing) {
		status = nnhal_resilient_device_recover(model->device, failing, &next, NULL);
		if (!status)
			status = prepare_again(model, next, &options, &old);
	}
	pthread_mutex_unlock(&model->lock);
	resilient_release(&old);
	return status;
}

static enum nnhal_status execute_once(struct nnhal_resilient_model *model,
				      struct nnhal_prepared_model *current,
				      struct nnhal_device *device,
				      const struct nnhal_request *request,
				      const struct nnhal_execute_options *options,
				      struct nnhal_output_shape *output_shapes,
				      uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	struct nnhal_request_pool *pools = NULL;
	struct nnhal_request translated;
	enum nnhal_status status;

	status = resilient_translate(model->device, device, request, &translated, &pools);
	if (!status)
		status = nnhal_prepared_model_execute_synchronously(current, &translated, options,
								    output_shapes,
								    num_output_shapes, timing);
	free(pools);
	return status;
}

enum nnhal_status nnhal_resilient_model_execute(struct nnhal_resilient_model *model,
						const struct nnhal_request *request,
						const struct nnhal_execute_options *options,
						struct nnhal_output_shape *output_shapes,
						uint32_t *num_output_shapes,
						struct nnhal_timing *timing)
{
	struct nnhal_prepared_model *current;
	struct nnhal_device *device;
	enum nnhal_status status;
	unsigned int attempt;
	bool again = true;

	if (num_output_shapes)
		*num_output_shapes = 0;
	if (timing)
		*timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	if (!model || !request)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!resilient_is_own(model->device))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	for (attempt = 0; again; attempt++) {
		current = resilient_model_get_on(model, &device);
		status = execute_once(model, current, device, request, options, output_shapes,
				      num_output_shapes, timing);
		again = !attempt && resilient_is_lost(device, status) &&
			!resilient_model_recover(model, device);
		nnhal_prepared_model_unref(current);
		nnhal_device_unref(device);
	}
	return status;
}
