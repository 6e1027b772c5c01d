// SPDX-License-Identifier: MIT
/*
 * Execution objects: a prepared model keeps idle ones, so that a run whose memory is bound
 * already allocates nothing.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "device/device_private.h"
#include "execution/execution_pool.h"
#include "memory/arena.h"
#include "memory/binding.h"
#include "transport/transport.h"

/* At most so many idle executions are kept. */
#define MAX_IDLE	16

uint32_t execution_block_size(const struct nnhal_prepared_model *model)
{
	return (uint32_t)(sizeof(struct nnpu_args_header) +
			  execution_num_args(model) * sizeof(struct nnpu_arg));
}

static void free_memory(struct execution *e)
{
	free(e->pools);
	free(e->bindings);
	free(e->resolved);
	last_request_fini(&e->last);
	free(e->shapes);
	free(e);
}

static void release_device_parts(struct execution *e)
{
	struct nnhal_device *device = e->model->device;

	arena_put(&device->arena, e->result);
	arena_put(&device->arena, e->profile);
	if (e->fence)
		device->transport->ops->fence_destroy(device->transport, e->fence);
}

static void execution_free(struct execution *e)
{
	release_device_parts(e);
	free_memory(e);
}

/* The job may still write there. */
static void leave_results(struct execution *e)
{
	free(e->result);
	free(e->profile);
	e->result = NULL;
	e->profile = NULL;
}

/* The argument block: its records are written for each run. */
static void init_args(struct execution *e)
{
	struct nnpu_args_header *header = (struct nnpu_args_header *)
		((uint8_t *)e->result->map + execution_block_size(e->model));

	*header = (struct nnpu_args_header){
		.num_inputs = htole16((uint16_t)e->model->rules.num_inputs),
		.num_outputs = htole16((uint16_t)e->model->rules.num_outputs),
	};
	e->args = (struct nnpu_arg *)(header + 1);
}

static int execution_create(struct nnhal_prepared_model *model, struct execution **result)
{
	struct transport *t = model->device->transport;
	size_t n = (size_t)execution_num_args(model) + 1;
	struct execution *e = calloc(1, sizeof(*e));
	int err = -ENOMEM;

	if (!e)
		return err;
	e->model = model;
	e->resolved = calloc(n, sizeof(*e->resolved));
	e->shapes = calloc(n, sizeof(*e->shapes));
	if (e->resolved && e->shapes && last_request_init(&e->last, (uint32_t)n - 1))
		err = arena_get(&model->device->arena, 2 * (uint64_t)execution_block_size(model),
				&e->result);
	if (!err)
		init_args(e);
	if (!err)
		err = t->ops->fence_create(t, &e->fence);
	if (err) {
		execution_free(e);
		return err;
	}
	*result = e;
	return 0;
}

int execution_get(struct nnhal_prepared_model *model, struct execution **result)
{
	struct execution *e;
	int err;

	pthread_mutex_lock(&model->lock);
	e = model->idle;
	if (e) {
		model->idle = e->next;
		model->num_idle--;
	}
	pthread_mutex_unlock(&model->lock);
	err = e ? 0 : execution_create(model, &e);
	if (err)
		return err;
	e->num_pools = 0;
	e->preset = NNHAL_STATUS_NONE;
	e->num_repeats = 0;
	e->wait_for = NULL;
	e->num_wait_for = 0;
	e->duration_ns = 0;
	e->is_fenced = false;
	e->is_abandoned = false;
	e->lost_error = 0;
	e->callback = NULL;
	*result = e;
	return 0;
}

static void release_pools(struct execution *e)
{
	uint32_t i;

	for (i = 0; i < e->num_pools; i++) {
		if (e->bindings[i] && e->is_abandoned)
			binding_abandon(e->bindings[i]);
		else if (e->bindings[i])
			binding_unpin(e->bindings[i]);
		if (e->pools[i].buffer)
			resolved_pool_put(&e->pools[i]);
		else
			nnhal_memory_unref(e->pools[i].memory);
	}
	e->num_pools = 0;
	if (e->is_abandoned)
		leave_results(e);
}

void execution_put(struct execution *e)
{
	struct nnhal_prepared_model *model = e->model;

	release_pools(e);
	if (e->is_abandoned) {
		execution_free(e);
		return;
	}
	pthread_mutex_lock(&model->lock);
	if (model->num_idle < MAX_IDLE) {
		e->next = model->idle;
		model->idle = e;
		model->num_idle++;
		e = NULL;
	}
	pthread_mutex_unlock(&model->lock);
	if (e)
		execution_free(e);
}

void execution_detach(struct execution *e)
{
	release_pools(e);
	release_device_parts(e);
}

void execution_free_left(struct execution *e)
{
	free_memory(e);
}

void executions_free(struct nnhal_prepared_model *model)
{
	struct execution *e;

	while ((e = model->idle)) {
		model->idle = e->next;
		execution_free(e);
	}
}

void executions_free_copy(struct nnhal_prepared_model *model)
{
	struct execution *e;

	while ((e = model->idle)) {
		model->idle = e->next;
		free(e->result);
		free(e->profile);
		free_memory(e);
	}
}
