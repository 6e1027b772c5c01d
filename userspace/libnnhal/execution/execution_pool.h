/* SPDX-License-Identifier: MIT */
/*
 * Execution objects: what one run needs, such as argument records, a result block that the
 * device writes, and a fence.
 */
#ifndef NNHAL_EXECUTION_POOL_H
#define NNHAL_EXECUTION_POOL_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "base/spin.h"
#include "device/async.h"
#include "execution/arguments.h"
#include "execution/last_request.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "memory/arena.h"
#include "memory/binding.h"

struct execution {
	struct async_job job;
	struct execution *next;
	struct nnhal_prepared_model *model;	/* referenced while in use */
	/* The result block, and behind it the argument block. */
	struct arena_chunk *result;
	struct arena_chunk *profile;
	struct transport_fence *fence;
	struct spin spin;			/* of result_wait(); not ready before its first call */
	/* Inputs, then outputs. */
	struct resolved_arg *resolved;
	struct last_request last;		/* that @resolved is of */
	struct nnpu_arg *args;			/* records of the argument block */
	struct nnhal_output_shape *shapes;	/* one per output */
	/* Pools of the request; room for max_pools. */
	struct resolved_pool *pools;
	const struct binding **bindings;	/* NULL: no argument is there */
	uint32_t num_pools;
	uint32_t max_pools;
	bool has_buffers;			/* some pool is one */
	bool needs_cpu;				/* some pool is copied, or looked at */
	/* This run. */
	struct nnhal_execute_options options;
	uint32_t hal_version;
	uint64_t start_ns;
	enum nnhal_status preset;		/* status if no job was submitted */
	/* A fenced run; else 0. The descriptors are used by execution_submit() only. */
	const int *wait_for;
	uint32_t num_wait_for;
	uint64_t duration_ns;
	bool is_fenced;
	uint32_t num_repeats;			/* runs after the first one */
	bool is_abandoned;			/* its job may still run */
	int lost_error;				/* why there is no result; 0: its fence says it */
	nnhal_execution_callback callback;
	void *context;
};

/* Size of an argument block, and of a result block. */
uint32_t execution_block_size(const struct nnhal_prepared_model *model);

/* Inputs and outputs of a model. */
static inline uint32_t execution_num_args(const struct nnhal_prepared_model *model)
{
	return model->rules.num_inputs + model->rules.num_outputs;
}

/*
 * An execution object of a model, an idle one or a new one. 0 or -errno. The caller holds a
 * reference of the model until after execution_put().
 */
int execution_get(struct nnhal_prepared_model *model, struct execution **result);
/*
 * The run is over: drop the references of its pools and keep the object for the next one. If it
 * is abandoned, its place for results is not used again before the device is closed, nor are bounce
 * buffers; the driver keeps the memory of a job until the job ends.
 */
void execution_put(struct execution *e);
/* Likewise, but the object is not kept: its shapes stay until execution_free_left(). */
void execution_detach(struct execution *e);
/* Needs neither model nor device. */
void execution_free_left(struct execution *e);
/* The last reference of the model is gone: free the idle objects. */
void executions_free(struct nnhal_prepared_model *model);
/* The same in a child of fork(). */
void executions_free_copy(struct nnhal_prepared_model *model);

#endif /* NNHAL_EXECUTION_POOL_H */
