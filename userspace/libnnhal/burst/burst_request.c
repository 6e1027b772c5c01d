// SPDX-License-Identifier: MIT
/*
 * Requests that differ from the last one in their place: check them, bind their memory and
 * write the argument block again.
 */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "burst/burst_cache.h"
#include "burst/burst_private.h"
#include "burst/burst_request.h"
#include "execution/arguments.h"
#include "execution/buffers.h"
#include "execution/validate_request.h"
#include "memory/binding.h"

/* Argument @i of a request, inputs before outputs. */
static const struct nnhal_request_argument *argument(const struct request_rules *rules,
						     const struct nnhal_request *request,
						     uint32_t i)
{
	return i < rules->num_inputs ? &request->inputs[i]
				     : &request->outputs[i - rules->num_inputs];
}

bool burst_same_dims(const struct nnhal_burst *b, const struct burst_request *r,
		     const struct nnhal_request *request)
{
	const struct nnhal_request_argument *a;
	uint32_t i, d;

	for (i = 0; i < burst_num_args(b); i++) {
		a = argument(&b->model->rules, request, i);
		if (a->num_dimensions && !a->dimensions)
			return false;
		for (d = 0; d < a->num_dimensions; d++)
			if (a->dimensions[d] != r->seen_dims[i][d])
				return false;
	}
	return true;
}

static bool make_room(struct burst_request *r, uint32_t num_pools)
{
	struct cached_memory **cached;

	if (num_pools <= r->max_pools)
		return true;
	cached = realloc(r->cached, num_pools * sizeof(*cached));
	if (!cached)
		return false;
	r->cached = cached;
	return args_make_room(&r->pools, &r->bindings, &r->max_pools, num_pools);
}

/* The burst keeps memory objects bound, buffers for one request only. */
static int bind_pool(struct nnhal_burst *b, struct burst_request *r, uint32_t pool)
{
	struct nnhal_memory *memory = r->pools[pool].memory;
	int err;

	if (r->pools[pool].buffer) {
		do {
			err = memory_bind_once(memory, b->model->device->table, false,
					       &r->bindings[pool]);
		} while (err == -ENOSPC && burst_cache_make_room(b));
		return err;
	}
	err = burst_cache_get(b, memory, &r->cached[pool]);
	if (!err)
		r->bindings[pool] = r->cached[pool]->binding;
	return err;
}

/* Bind the pools that arguments name. */
static enum nnhal_status bind_pools(struct nnhal_burst *b, struct burst_request *r,
				    struct nnhal_diag *diag)
{
	uint32_t i, pool, own;
	int err;

	for (i = 0; i < burst_num_args(b); i++) {
		pool = r->resolved[i].pool;
		if (r->resolved[i].omitted || r->bindings[pool])
			continue;
		err = bind_pool(b, r, pool);
		if (err) {
			own = args_count_bindings(r->resolved, i, r->bindings);
			return args_bind_status(b->model->device, pool, own, err, diag);
		}
		if (r->bindings[pool]->needs_cpu)
			r->flags |= REQUEST_BOUNCE;
	}
	return NNHAL_STATUS_NONE;
}

/* Remember the request with a copy of its dimensions: the caller may change them. */
static void see(struct nnhal_burst *b, struct burst_request *r,
		const struct nnhal_request *request)
{
	const struct nnhal_request_argument *a;
	uint32_t i;

	for (i = 0; i < burst_num_args(b); i++) {
		a = argument(&b->model->rules, request, i);
		r->seen[i] = *a;
		if (!a->num_dimensions)
			continue;
		/* A valid request's rank is within the limit. */
		memcpy(r->seen_dims[i], a->dimensions,
		       a->num_dimensions * sizeof(*a->dimensions));
		r->flags |= REQUEST_DIMS;
	}
	memcpy(r->seen_head, request, sizeof(r->seen_head));
	r->origin = request;
	r->flags &= ~REQUEST_STALE;
}

bool burst_shapes_known(const struct nnhal_burst *b)
{
	const struct request_rules *rules = &b->model->rules;
	const struct arg_info *info;
	uint32_t i, size;

	for (i = 0; i < rules->num_outputs; i++) {
		info = &rules->outputs[i];
		if (!info->rank_known || info->rank > NNHAL_MAX_RANK ||
		    !arg_size(info, info->dims, info->rank, &size) || !size)
			return false;
	}
	return true;
}

/* Output records of a request that the library fills in, not the device. */
static struct nnpu_arg *known_records(const struct nnhal_burst *b, const struct burst_request *r)
{
	return b->known + (r - b->requests) * b->num_outputs;
}

/* Fill in the output records: the model's shapes, and whether each buffer is large enough. */
static void tell_shapes(const struct nnhal_burst *b, const struct burst_request *r)
{
	const struct request_rules *rules = &b->model->rules;
	struct nnpu_arg *record = known_records(b, r);
	const struct resolved_arg *a = r->resolved + rules->num_inputs;
	const struct arg_info *info = rules->outputs;
	uint32_t d, size;

	for (; info < rules->outputs + rules->num_outputs; info++, a++, record++) {
		record->rank = (uint8_t)info->rank;
		for (d = 0; d < info->rank; d++)
			record->dims[d] = htole32(info->dims[d]);
		record->flags = 0;
		if (!a->omitted && (!arg_size(info, info->dims, info->rank, &size) ||
				    size > a->length))
			record->flags = htole16(NNPU_ARG_INSUFFICIENT);
	}
}

/* Nothing is bound yet. */
static void hold_buffers(struct burst_request *r, uint32_t num_pools)
{
	uint32_t i;

	for (i = 0; i < num_pools; i++) {
		r->bindings[i] = NULL;
		if (!r->pools[i].buffer)
			continue;
		r->num_held = num_pools;
		r->flags |= REQUEST_BUFFERS;
	}
}

void burst_end_buffers(struct nnhal_burst *b, struct burst_request *r,
		       const struct nnhal_output_shape *shapes, enum nnhal_status status)
{
	uint32_t i;

	if (!r->num_held)
		return;
	buffers_settle(&b->model->rules, r->resolved, r->pools, shapes, status);
	for (i = 0; i < r->num_held; i++) {
		if (!r->pools[i].buffer)
			continue;
		if (r->bindings[i])
			binding_unpin(r->bindings[i]);
		resolved_pool_put(&r->pools[i]);
	}
	r->num_held = 0;
}

enum nnhal_status burst_rebuild(struct nnhal_burst *b, struct burst_request *r,
				const struct nnhal_request *request,
				struct nnhal_bound_request *bound, bool late,
				struct nnhal_diag *diag)
{
	const struct request_rules *rules = &b->model->rules;
	uint32_t num_pools = request->num_pools;
	uint64_t stamp = STAMP_NONE;
	enum nnhal_status status;

	burst_cache_leave(r);
	/* Until see() is done, seen_head and num_pools are of different requests. */
	burst_forget_request(r);
	r->stamp = STAMP_NONE;
	atomic_store_explicit(&r->state, REQUEST_PREPARING, memory_order_relaxed);
	if (bound && bound->model != b->model) {
		diag_set(diag, "the request is bound to another model");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!layout_is_known(request->hal_version, "request", diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (num_pools && !request->pools) {
		diag_set(diag, "NULL pointer for model, request or pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!make_room(r, num_pools)) {
		diag_set(diag, "no memory for an execution");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = bound ? bound_resolve(bound, rules, r->pools, r->resolved, &stamp, diag) :
			 resolve_request(request, num_pools, rules, r->pools, r->resolved, diag);
	if (status)
		return status;
	r->hal_version = hal_version_of(request->hal_version);
	r->flags = (r->flags & REQUEST_TIMED) | REQUEST_STALE | (bound ? REQUEST_BOUND : 0) |
		   (r->hal_version == NNHAL_HAL_1_3 ? 0 : REQUEST_VERSION) |
		   (b->model->has_loops ? REQUEST_LOOPS : 0);
	hold_buffers(r, num_pools);
	if (late)
		return NNHAL_STATUS_NONE;
	if (num_pools)
		memset(r->cached, 0, num_pools * sizeof(*r->cached));
	r->num_pools = num_pools;
	status = bind_pools(b, r, diag);
	if (status)
		return status;
	args_build(r->args, r->resolved, burst_num_args(b), r->bindings);
	if (b->known)
		tell_shapes(b, r);
	if (r->flags & (REQUEST_BUFFERS | REQUEST_BOUND))
		r->origin = request;
	else
		see(b, r, request);
	if (!(r->flags & REQUEST_BUFFERS) && bound) {
		r->stamp = stamp;
		r->flags &= ~REQUEST_STALE;
	}
	return NNHAL_STATUS_NONE;
}

void burst_request_init(struct nnhal_burst *b, uint32_t number, uint64_t block_size)
{
	struct burst_request *r = &b->requests[number];
	const struct request_rules *rules = &b->model->rules;
	uint64_t args = number * block_size, result = b->num_requests * block_size + args;
	struct nnpu_args_header *header =
		(struct nnpu_args_header *)((uint8_t *)b->blocks.map + args);

	header->num_inputs = htole16((uint16_t)rules->num_inputs);
	header->num_outputs = htole16((uint16_t)rules->num_outputs);
	r->args = (struct nnpu_arg *)(header + 1);
	/* ctx is 0: the queue belongs to a context. */
	r->sqe = (struct nnpu_sqe_execute){
		.opcode = NNPU_IO_EXECUTE,
		.cid = htole16((uint16_t)number),
		.program = htole32(b->model->program),
		.args_slot = htole32(b->blocks.slot),
		.args = htole64(args),
		.args_len = htole32((uint32_t)block_size),
	};
	if (b->known) {
		r->results = known_records(b, r);
		r->sqe.result_slot = htole32(NNPU_SLOT_NONE);
		return;
	}
	r->results = (const struct nnpu_arg *)((uint8_t *)b->blocks.map + result +
					       sizeof(*header)) + rules->num_inputs;
	r->sqe.result_slot = htole32(b->blocks.slot);
	r->sqe.result_off = htole64(result);
}
