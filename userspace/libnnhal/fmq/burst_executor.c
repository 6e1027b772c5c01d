// SPDX-License-Identifier: MIT
/*
 * The executor of a burst server that was given a prepared model: a device burst, and the
 * memory objects behind the client's slots.
 *
 * The device burst keeps memory objects bound to slots of the device. A slot of the client
 * therefore costs one search here and one in the cache of the device burst.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/burst.h>

#include "base/diag.h"
#include "execution/prepared_model_private.h"
#include "fmq/burst_executor.h"
#include "memory/memory_private.h"

struct cache_entry {
	int32_t slot;
	struct nnhal_memory *memory;
};

struct model_executor {
	struct nnhal_burst *burst;
	/* Ascending slots. */
	struct cache_entry cache[NNHAL_BURST_MAX_SLOTS];
	uint32_t num_cached;
	atomic_bool is_changing;	/* entries move; a child of fork() cannot tell which are there */
	uint32_t max_pools;
	struct nnhal_request_pool pools[];
};

/* First entry that is not below @slot. */
static uint32_t cache_position(const struct model_executor *e, int32_t slot)
{
	uint32_t low = 0, high = e->num_cached, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (e->cache[mid].slot < slot)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct nnhal_memory *cache_find(const struct model_executor *e, int32_t slot)
{
	uint32_t i = cache_position(e, slot);

	return i < e->num_cached && e->cache[i].slot == slot ? e->cache[i].memory : NULL;
}

static bool is_cache_entry_present(void *context, int32_t slot)
{
	return cache_find(context, slot);
}

static enum nnhal_status add_cache_entry(void *context, int32_t slot,
					 struct nnhal_memory *memory)
{
	struct model_executor *e = context;
	uint32_t i = cache_position(e, slot);

	if (e->num_cached == NNHAL_BURST_MAX_SLOTS)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	atomic_store(&e->is_changing, true);
	memmove(&e->cache[i + 1], &e->cache[i], (e->num_cached - i) * sizeof(e->cache[0]));
	e->cache[i].slot = slot;
	e->cache[i].memory = nnhal_memory_ref(memory);
	e->num_cached++;
	atomic_store(&e->is_changing, false);
	return NNHAL_STATUS_NONE;
}

static void remove_cache_entry(void *context, int32_t slot)
{
	struct model_executor *e = context;
	uint32_t i = cache_position(e, slot);
	struct nnhal_memory *memory;

	if (i == e->num_cached || e->cache[i].slot != slot)
		return;
	memory = e->cache[i].memory;
	atomic_store(&e->is_changing, true);
	e->num_cached--;
	memmove(&e->cache[i], &e->cache[i + 1], (e->num_cached - i) * sizeof(e->cache[0]));
	atomic_store(&e->is_changing, false);
	nnhal_burst_free_memory(e->burst, memory);
	nnhal_memory_unref(memory);
}

static enum nnhal_status execute(void *context, const struct nnhal_request *request,
				 const int32_t *slots, int32_t measure,
				 struct nnhal_output_shape *output_shapes,
				 uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct model_executor *e = context;
	struct nnhal_request own = *request;
	uint32_t i;

	if (own.num_pools > e->max_pools)
		return NNHAL_STATUS_GENERAL_FAILURE;
	for (i = 0; i < own.num_pools; i++) {
		e->pools[i].memory = cache_find(e, slots[i]);
		/* The client freed the slot after it had sent the request. */
		if (!e->pools[i].memory)
			return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	own.pools = e->pools;
	options.measure = measure;
	return nnhal_burst_execute(e->burst, &own, &options, output_shapes, num_output_shapes,
				   timing);
}

const struct nnhal_burst_executor model_executor_ops = {
	.size = sizeof(struct nnhal_burst_executor),
	.add_cache_entry = add_cache_entry,
	.remove_cache_entry = remove_cache_entry,
	.is_cache_entry_present = is_cache_entry_present,
	.execute = execute,
};

enum nnhal_status model_executor_create(struct nnhal_prepared_model *model, uint32_t max_pools,
					struct nnhal_diag *diag, struct model_executor **executor)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct model_executor *e;
	enum nnhal_status status;

	*executor = NULL;
	e = calloc(1, sizeof(*e) + max_pools * sizeof(e->pools[0]));
	if (!e) {
		diag_set(diag, "no memory for the burst");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	e->max_pools = max_pools;
	/* The client sends one request at a time. */
	options.depth = 1;
	options.diag = diag;
	status = nnhal_burst_create(model, &options, &e->burst);
	if (status) {
		free(e);
		return status;
	}
	*executor = e;
	return NNHAL_STATUS_NONE;
}

void model_executor_destroy(struct model_executor *e)
{
	if (!e)
		return;
	nnhal_burst_unref(e->burst);
	/* The server has removed them all, but in a child of fork(). */
	if (!atomic_load(&e->is_changing))
		while (e->num_cached)
			nnhal_memory_unref(e->cache[--e->num_cached].memory);
	free(e);
}
