// SPDX-License-Identifier: MIT
/*
 * Bound requests: a request that is checked once and run any number of times.
 *
 * A bound request is a request of the library's own, with references of what it names. The first
 * run after a change resolves its arguments; the following ones copy what they were resolved to.
 * Pools are bound for each run like those of any request: memory objects keep their slots between
 * runs unless others need them, so no bound request can lock others out.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "buffer/buffer_private.h"
#include "device/device_private.h"
#include "execution/arguments.h"
#include "execution/bound_request.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "memory/binding.h"

static uint64_t new_stamp(struct nnhal_device *device)
{
	return STAMP_FIRST + atomic_fetch_add_explicit(&device->num_stamps, 1,
						       memory_order_relaxed);
}

static uint32_t num_args(const struct nnhal_prepared_model *model)
{
	return model->rules.num_inputs + model->rules.num_outputs;
}

/* Copy one argument. Caller holds the lock, or nobody else knows @bound. */
static void copy_argument(struct nnhal_bound_request *bound, uint32_t i,
			  const struct nnhal_request_argument *from)
{
	bound->args[i] = *from;
	bound->args[i].dimensions = bound->dims[i];
	/* Without dimensions the pointer may be NULL, which memcpy() does not take. */
	if (from->num_dimensions)
		memcpy(bound->dims[i], from->dimensions,
		       from->num_dimensions * sizeof(*from->dimensions));
}

/* Can an argument be copied? A rank that no device takes cannot. */
static enum nnhal_status check_rank(const struct nnhal_prepared_model *model, uint32_t i,
				    const struct nnhal_request_argument *arg,
				    struct nnhal_diag *diag)
{
	const struct request_rules *rules = &model->rules;
	bool is_input = i < rules->num_inputs;
	uint32_t number = is_input ? i : i - rules->num_inputs;
	const struct arg_info *info = is_input ? &rules->inputs[number] : &rules->outputs[number];
	const char *kind = is_input ? "input" : "output";

	if (arg->num_dimensions && !arg->dimensions) {
		diag_set(diag, "%s %u: NULL pointer for %u dimensions", kind, number,
			 arg->num_dimensions);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (arg->num_dimensions <= NNHAL_MAX_RANK)
		return NNHAL_STATUS_NONE;
	diag_set(diag, "%s %u: rank %u, the device supports at most %u", kind, number,
		 arg->num_dimensions, NNHAL_MAX_RANK);
	return info->rank_known && info->rank != arg->num_dimensions
	       ? NNHAL_STATUS_INVALID_ARGUMENT : NNHAL_STATUS_GENERAL_FAILURE;
}

static enum nnhal_status copy_arguments(struct nnhal_bound_request *bound,
					const struct nnhal_request *request,
					struct nnhal_diag *diag)
{
	const struct nnhal_prepared_model *model = bound->model;
	struct nnhal_request_argument arg;
	enum nnhal_status status;
	uint32_t i;

	for (i = 0; i < num_args(model); i++) {
		arg = i < model->rules.num_inputs ? request->inputs[i] :
		      request->outputs[i - model->rules.num_inputs];
		status = check_rank(model, i, &arg, diag);
		if (status)
			return status;
		copy_argument(bound, i, &arg);
	}
	return NNHAL_STATUS_NONE;
}

/* Copy the pools, and hold what they name. What they may be is checked with the rest. */
static void copy_pools(struct nnhal_bound_request *bound, const struct nnhal_request *request)
{
	struct nnhal_request_pool *pool;
	uint32_t i;

	for (i = 0; i < bound->request.num_pools; i++) {
		pool = &bound->pools[i];
		*pool = request->pools[i];
		if (pool->memory)
			nnhal_memory_ref(pool->memory);
		else if (pool->token)
			bound->buffers[i] = buffer_find(bound->model->device, pool->token);
		if (bound->buffers[i])
			bound->has_buffers = true;
	}
}

/* Room for a request with these counts, which are the model's. False: no memory. */
static bool make_arrays(struct nnhal_bound_request *bound, uint32_t num_pools)
{
	size_t n = num_args(bound->model);

	bound->args = calloc(n, sizeof(*bound->args));
	bound->dims = calloc(n, sizeof(*bound->dims));
	bound->resolved = calloc(n, sizeof(*bound->resolved));
	bound->pools = calloc((size_t)num_pools + 1, sizeof(*bound->pools));
	bound->buffers = calloc((size_t)num_pools + 1, sizeof(struct nnhal_buffer *));
	return bound->args && bound->dims && bound->resolved && bound->pools && bound->buffers;
}

static void bound_free(struct nnhal_bound_request *bound)
{
	uint32_t i;

	for (i = 0; bound->pools && bound->buffers && i < bound->request.num_pools; i++) {
		nnhal_memory_unref(bound->pools[i].memory);
		buffer_put(bound->buffers[i]);
	}
	if (device_is_own(bound->model->device))
		pthread_mutex_destroy(&bound->lock);
	nnhal_prepared_model_unref(bound->model);
	free(bound->buffers);
	free(bound->pools);
	free(bound->resolved);
	free(bound->dims);
	free(bound->args);
	free(bound);
}

/* Give the memory objects slots, so that a run finds them there unless others need them. */
static enum nnhal_status warm_up(struct nnhal_bound_request *bound, struct nnhal_diag *diag)
{
	struct nnhal_device *device = bound->model->device;
	const struct nnhal_request_argument *arg;
	const struct binding *binding;
	uint32_t i, pool;
	int err;

	for (i = 0; i < num_args(bound->model); i++) {
		arg = &bound->args[i];
		pool = arg->location.pool_index;
		if (arg->has_no_value || bound->buffers[pool])
			continue;
		err = memory_bind(bound->pools[pool].memory, device->table, true, &binding);
		if (err)
			return args_bind_status(device, pool, 0, err, diag);
		binding_unpin(binding);
	}
	return NNHAL_STATUS_NONE;
}

/* Check the copy, or the request that it is of, as a run would. */
static enum nnhal_status examine(struct nnhal_bound_request *bound,
				 const struct nnhal_request *request, struct nnhal_diag *diag)
{
	struct request_rules rules = bound->model->rules;
	uint32_t num_pools = bound->request.num_pools;
	struct resolved_pool *pools = calloc((size_t)num_pools + 1, sizeof(*pools));
	enum nnhal_status status;

	if (!pools) {
		diag_set(diag, "no memory for a bound request");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	rules.buffers = bound->buffers;
	status = examine_request(request, num_pools, &rules, pools, bound->resolved, diag);
	free(pools);
	return status;
}

static enum nnhal_status check(struct nnhal_bound_request *bound, struct nnhal_diag *diag)
{
	enum nnhal_status status = examine(bound, &bound->request, diag);

	/* A buffer may get content before the first run. */
	if (status == NNHAL_STATUS_GENERAL_FAILURE && bound->has_buffers)
		status = NNHAL_STATUS_NONE;
	bound->is_resolved = !status && !bound->has_buffers;
	return status;
}

static enum nnhal_status create(struct nnhal_prepared_model *model,
				const struct nnhal_request *request, struct nnhal_diag *diag,
				struct nnhal_bound_request **result)
{
	const struct nnhal_request head = *request;
	struct nnhal_bound_request *bound;
	enum nnhal_status status;

	if (!request_counts_match(&head, &model->rules, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	bound = calloc(1, sizeof(*bound));
	if (!bound) {
		diag_set(diag, "no memory for a bound request");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	atomic_init(&bound->refs, 1);
	atomic_init(&bound->stamp, new_stamp(model->device));
	pthread_mutex_init(&bound->lock, NULL);
	bound->model = nnhal_prepared_model_ref(model);
	if (!make_arrays(bound, head.num_pools)) {
		bound_free(bound);
		diag_set(diag, "no memory for a bound request");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	bound->request = head;
	bound->request.inputs = bound->args;
	bound->request.outputs = bound->args + model->rules.num_inputs;
	bound->request.pools = bound->pools;
	copy_pools(bound, &head);
	status = copy_arguments(bound, &head, diag);
	/* The rank is told only if the request breaks no rule. */
	if (status == NNHAL_STATUS_GENERAL_FAILURE &&
	    examine(bound, &head, diag) == NNHAL_STATUS_INVALID_ARGUMENT)
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	if (!status)
		status = check(bound, diag);
	if (!status)
		status = warm_up(bound, diag);
	if (status)
		bound_free(bound);
	else
		*result = bound;
	return status;
}

enum nnhal_status nnhal_bound_request_create(struct nnhal_prepared_model *model,
					     const struct nnhal_request *request,
					     const struct nnhal_bound_options *options,
					     struct nnhal_bound_request **bound)
{
	static const struct nnhal_bound_options defaults = NNHAL_BOUND_OPTIONS_INIT;
	struct nnhal_bound_options read;

	if (bound)
		*bound = NULL;
	if (!options_read(&read, options, &defaults, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(read.diag);
	if (request && !layout_is_known(request->hal_version, "request", read.diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!model || !request || !bound || (request->num_pools && !request->pools)) {
		diag_set(read.diag, "NULL pointer for model, request, pools or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(model->device, read.diag))
		return request_status(NNHAL_STATUS_DEVICE_UNAVAILABLE, request);
	return request_status(create(model, request, read.diag, bound), request);
}

/* Argument @i, inputs before outputs. */
static enum nnhal_status set_argument(struct nnhal_bound_request *bound, uint32_t i,
				      const struct nnhal_request_argument *from)
{
	const struct nnhal_request_argument arg = *from;
	enum nnhal_status status;

	if (!device_is_own(bound->model->device))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	status = check_rank(bound->model, i, &arg, NULL);
	if (status)
		return status;
	pthread_mutex_lock(&bound->lock);
	copy_argument(bound, i, &arg);
	bound->is_resolved = false;
	bound->is_good_fenced = false;
	atomic_store_explicit(&bound->stamp, STAMP_UNCHECKED, memory_order_relaxed);
	pthread_mutex_unlock(&bound->lock);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status
nnhal_bound_request_set_input(struct nnhal_bound_request *bound, uint32_t index,
			      const struct nnhal_request_argument *argument)
{
	if (!bound || !argument || index >= bound->model->rules.num_inputs)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return set_argument(bound, index, argument);
}

enum nnhal_status
nnhal_bound_request_set_output(struct nnhal_bound_request *bound, uint32_t index,
			       const struct nnhal_request_argument *argument)
{
	if (!bound || !argument || index >= bound->model->rules.num_outputs)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return set_argument(bound, bound->model->rules.num_inputs + index, argument);
}

/* Caller holds the lock. */
static enum nnhal_status resolve_anew(struct nnhal_bound_request *bound,
				      const struct request_rules *rules,
				      struct resolved_pool *pools, struct resolved_arg *args,
				      struct nnhal_diag *diag)
{
	struct request_rules own = *rules;
	enum nnhal_status status;

	own.buffers = bound->buffers;
	status = resolve_request(&bound->request, bound->request.num_pools, &own, pools, args,
				 diag);
	if (status || bound->has_buffers)
		return status;
	memcpy(bound->resolved, args, num_args(bound->model) * sizeof(*args));
	bound->is_good_fenced = !rules->allow_unspecified_output || bound->is_good_fenced;
	bound->is_resolved = true;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status bound_resolve(struct nnhal_bound_request *bound,
				const struct request_rules *rules, struct resolved_pool *pools,
				struct resolved_arg *args, uint64_t *stamp,
				struct nnhal_diag *diag)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t i;

	pthread_mutex_lock(&bound->lock);
	if (bound->is_resolved && (rules->allow_unspecified_output || bound->is_good_fenced)) {
		for (i = 0; i < bound->request.num_pools; i++)
			pools[i] = (struct resolved_pool){ .memory = bound->pools[i].memory };
		memcpy(args, bound->resolved, num_args(bound->model) * sizeof(*args));
	} else {
		status = resolve_anew(bound, rules, pools, args, diag);
	}
	if (bound->is_resolved && bound_stamp(bound) == STAMP_UNCHECKED)
		atomic_store_explicit(&bound->stamp, new_stamp(bound->model->device),
				      memory_order_relaxed);
	if (stamp)
		*stamp = bound_stamp(bound);
	pthread_mutex_unlock(&bound->lock);
	return status;
}

struct nnhal_bound_request *nnhal_bound_request_ref(struct nnhal_bound_request *bound)
{
	atomic_fetch_add_explicit(&bound->refs, 1, memory_order_relaxed);
	return bound;
}

void nnhal_bound_request_unref(struct nnhal_bound_request *bound)
{
	if (bound && atomic_fetch_sub_explicit(&bound->refs, 1, memory_order_acq_rel) == 1)
		bound_free(bound);
}
