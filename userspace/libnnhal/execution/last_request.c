// SPDX-License-Identifier: MIT
/*
 * Remembering a request, and comparing another one with it.
 */
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "execution/bound_request.h"
#include "execution/execution_pool.h"
#include "execution/last_request.h"
#include "memory/memory_private.h"

bool last_request_init(struct last_request *last, uint32_t num_args)
{
	last->args = calloc((size_t)num_args + 1, sizeof(*last->args));
	return last->args;
}

void last_request_fini(struct last_request *last)
{
	free(last->args);
	free(last->pools);
}

/* The checked copy counts, not what the caller may write meanwhile. */
static bool is_argument(const struct nnhal_request_argument *seen,
			const struct nnhal_request_argument *arg)
{
	return arg->has_no_value == seen->has_no_value && !arg->num_dimensions &&
	       arg->location.pool_index == seen->location.pool_index &&
	       arg->location.offset == seen->location.offset &&
	       arg->location.length == seen->location.length;
}

static bool is_memory(const struct seen_memory *seen, const struct nnhal_memory *memory)
{
	return memory == seen->memory && memory->size == seen->size &&
	       memory->offset == seen->offset && memory->dev == seen->dev &&
	       memory->ino == seen->ino && memory->kind == seen->kind &&
	       memory->access == seen->access;
}

bool last_request_is(const struct last_request *last, const struct nnhal_request *request,
		     uint32_t hal_version, uint32_t num_pools, const struct request_rules *rules,
		     struct resolved_pool *pools)
{
	const struct nnhal_request_argument *seen = last->args;
	uint32_t i;

	if (!last->is_known || num_pools != last->num_pools ||
	    hal_version != last->hal_version ||
	    (last->allowed_unspecified && !rules->allow_unspecified_output) ||
	    request->num_inputs != rules->num_inputs ||
	    request->num_outputs != rules->num_outputs ||
	    (rules->num_inputs && !request->inputs) || (rules->num_outputs && !request->outputs))
		return false;
	for (i = 0; i < rules->num_inputs; i++)
		if (!is_argument(seen++, &request->inputs[i]))
			return false;
	for (i = 0; i < rules->num_outputs; i++)
		if (!is_argument(seen++, &request->outputs[i]))
			return false;
	for (i = 0; i < num_pools; i++) {
		struct nnhal_request_pool pool = request->pools[i];

		if (!pool.memory || pool.token || !is_memory(&last->pools[i], pool.memory))
			return false;
		pools[i] = (struct resolved_pool){ .memory = pool.memory };
	}
	return true;
}

static bool make_room(struct last_request *last, uint32_t num_pools)
{
	struct seen_memory *pools;

	if (num_pools <= last->max_pools)
		return true;
	pools = realloc(last->pools, num_pools * sizeof(*pools));
	if (!pools)
		return false;
	last->pools = pools;
	last->max_pools = num_pools;
	return true;
}

void last_request_set(struct last_request *last, uint32_t hal_version, uint32_t num_pools,
		      const struct request_rules *rules, const struct resolved_pool *pools,
		      const struct resolved_arg *args)
{
	const uint32_t num_args = rules->num_inputs + rules->num_outputs;
	uint32_t i;

	last->is_known = false;
	for (i = 0; i < num_args; i++) {
		if (args[i].has_shape)
			return;
		/* Of what was resolved: the caller may have changed it. */
		last->args[i] = (struct nnhal_request_argument){ .has_no_value = args[i].omitted };
		if (!args[i].omitted)
			last->args[i].location = (struct nnhal_data_location){
				.pool_index = args[i].pool, .offset = args[i].offset,
				.length = args[i].length,
			};
	}
	if (!make_room(last, num_pools))
		return;
	for (i = 0; i < num_pools; i++) {
		const struct nnhal_memory *memory = pools[i].memory;

		if (pools[i].buffer || !memory)
			return;
		last->pools[i] = (struct seen_memory){
			.memory = memory, .size = memory->size, .offset = memory->offset,
			.dev = memory->dev, .ino = memory->ino, .kind = memory->kind,
			.access = memory->access,
		};
	}
	last->allowed_unspecified = rules->allow_unspecified_output;
	last->hal_version = hal_version;
	last->num_pools = num_pools;
	last->is_known = true;
}

enum nnhal_status execution_resolve(struct execution *e, const struct nnhal_request *request,
				    struct nnhal_bound_request *bound, uint32_t num_pools,
				    const struct request_rules *rules)
{
	enum nnhal_status status;

	if (!bound &&
	    last_request_is(&e->last, request, e->hal_version, num_pools, rules, e->pools))
		return NNHAL_STATUS_NONE;
	e->last.is_known = false;
	if (bound)
		return bound_resolve(bound, rules, e->pools, e->resolved, NULL, e->options.diag);
	status = resolve_request(request, num_pools, rules, e->pools, e->resolved,
				 e->options.diag);
	if (!status)
		last_request_set(&e->last, e->hal_version, num_pools, rules, e->pools,
				 e->resolved);
	return status;
}
