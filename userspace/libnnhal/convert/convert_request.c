// SPDX-License-Identifier: MIT
/*
 * Requests in the forms of the HAL's versions.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "convert/converted.h"
#include "memory/memory_private.h"

/* The arrays of a converted request. */
enum { DIMENSIONS, ARGUMENTS, POOLS };

static enum nnhal_status no_memory(struct nnhal_diag *diag)
{
	diag_set(diag, "no memory for a converted request");
	return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* Sum of the ranks of @count arguments, added to @total. False: a NULL pointer. */
static bool add_ranks(const char *what, const struct nnhal_request_argument *arguments,
		      uint32_t count, uint64_t *total, struct nnhal_diag *diag)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (arguments[i].num_dimensions && !arguments[i].dimensions) {
			diag_set(diag, "%s %u: NULL pointer for %u dimensions", what, i,
				 arguments[i].num_dimensions);
			return false;
		}
		*total += arguments[i].num_dimensions;
	}
	return true;
}

/* Private dimensions; @room is where they go. */
static void copy_dimensions(struct nnhal_request_argument *arguments, uint32_t count,
				 uint32_t *room)
{
	uint32_t i, n;

	for (i = 0; i < count; i++) {
		n = arguments[i].num_dimensions;
		if (n)
			memcpy(room, arguments[i].dimensions, n * sizeof(*room));
		arguments[i].dimensions = n ? room : NULL;
		room += n;
	}
}

/* A copy of @request that nothing was checked of but pointers. */
static enum nnhal_status copy_request(const struct nnhal_request *request,
				      struct converted **converted, struct nnhal_diag *diag)
{
	struct nnhal_request r = *request;
	struct nnhal_request_argument *arguments;
	struct nnhal_request_pool *pools;
	uint64_t dimensions = 0;
	struct converted *c;
	uint32_t i;

	if ((r.num_inputs && !r.inputs) || (r.num_outputs && !r.outputs) ||
	    (r.num_pools && !r.pools)) {
		diag_set(diag, "NULL pointer for inputs, outputs or pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return no_memory(diag);
	arguments = calloc((size_t)r.num_inputs + r.num_outputs + 1, sizeof(*arguments));
	pools = calloc((size_t)r.num_pools + 1, sizeof(*pools));
	c->pools = calloc((size_t)r.num_pools + 1, sizeof(*c->pools));
	c->arrays[ARGUMENTS] = arguments;
	c->arrays[POOLS] = pools;
	if (!arguments || !pools || !c->pools) {
		converted_destroy(c);
		return no_memory(diag);
	}
	if (r.num_inputs)
		memcpy(arguments, r.inputs, r.num_inputs * sizeof(*arguments));
	if (r.num_outputs)
		memcpy(arguments + r.num_inputs, r.outputs, r.num_outputs * sizeof(*arguments));
	r.inputs = arguments;
	r.outputs = arguments + r.num_inputs;
	if (!add_ranks("input", r.inputs, r.num_inputs, &dimensions, diag) ||
	    !add_ranks("output", r.outputs, r.num_outputs, &dimensions, diag)) {
		converted_destroy(c);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (dimensions < SIZE_MAX / sizeof(uint32_t))
		c->arrays[DIMENSIONS] = calloc(dimensions + 1, sizeof(uint32_t));
	if (!c->arrays[DIMENSIONS]) {
		converted_destroy(c);
		return no_memory(diag);
	}
	copy_dimensions(arguments, r.num_inputs + r.num_outputs, c->arrays[DIMENSIONS]);
	for (i = 0; i < r.num_pools; i++) {
		pools[i] = r.pools[i];
		c->pools[i] = pools[i].memory ? nnhal_memory_ref(pools[i].memory) : NULL;
	}
	c->num_pools = r.num_pools;
	r.pools = pools;
	c->form.request = r;
	*converted = c;
	return NNHAL_STATUS_NONE;
}

static bool check_pool(const struct nnhal_request_pool *pool, uint32_t i, uint32_t version,
		       struct nnhal_diag *diag)
{
	if (!pool->memory == !pool->token) {
		diag_set(diag, "pool %u: expected either memory or a token", i);
		return false;
	}
	if (pool->token && version < NNHAL_HAL_1_3) {
		diag_set(diag, "pool %u: HAL %s has no tokens", i, hal_version_text(version));
		return false;
	}
	if (!pool->memory)
		return true;
	if (pool->memory->kind > NNHAL_MEMORY_HARDWARE_BUFFER) {
		diag_set(diag, "pool %u: no version of the HAL has memory of kind %u", i,
			 pool->memory->kind);
		return false;
	}
	if (version < NNHAL_HAL_1_2 && pool->memory->kind > NNHAL_MEMORY_MMAP_FD) {
		diag_set(diag, "pool %u: HAL %s has no memory of this kind", i,
			 hal_version_text(version));
		return false;
	}
	return true;
}

static bool check_argument(const struct nnhal_request *r, const char *what, uint32_t i,
			   const struct nnhal_request_argument *arg, struct nnhal_diag *diag)
{
	const struct nnhal_data_location *l = &arg->location;
	const struct nnhal_request_pool *pool;

	if (arg->has_no_value) {
		if (!l->pool_index && !l->offset && !l->length && !arg->num_dimensions)
			return true;
		diag_set(diag, "%s %u: has no value, but a location or dimensions", what, i);
		return false;
	}
	if (l->pool_index >= r->num_pools) {
		diag_set(diag, "%s %u: pool %u, but there are %u", what, i, l->pool_index,
			 r->num_pools);
		return false;
	}
	pool = &r->pools[l->pool_index];
	if (!pool->memory) {
		if (!l->offset && !l->length)
			return true;
		diag_set(diag, "%s %u: offset %u and length %u in a buffer, expected 0", what, i,
			 l->offset, l->length);
		return false;
	}
	if ((uint64_t)l->offset + l->length > pool->memory->size) {
		diag_set(diag, "%s %u: offset %u and length %u in pool %u of %llu bytes", what, i,
			 l->offset, l->length, l->pool_index,
			 (unsigned long long)pool->memory->size);
		return false;
	}
	return true;
}

static bool check_request(const struct nnhal_request *r, uint32_t version,
			  struct nnhal_diag *diag)
{
	uint32_t i;

	for (i = 0; i < r->num_pools; i++)
		if (!check_pool(&r->pools[i], i, version, diag))
			return false;
	for (i = 0; i < r->num_inputs; i++)
		if (!check_argument(r, "input", i, &r->inputs[i], diag))
			return false;
	for (i = 0; i < r->num_outputs; i++)
		if (!check_argument(r, "output", i, &r->outputs[i], diag))
			return false;
	return true;
}

/* A copy that @version can express. */
static enum nnhal_status request_copy(const struct nnhal_request *request, uint32_t version,
				      uint32_t flags, struct converted **converted,
				      struct nnhal_diag *diag)
{
	enum nnhal_status status = copy_request(request, converted, diag);

	if (status || (flags & NNHAL_CONVERT_UNVALIDATED) ||
	    check_request(&(*converted)->form.request, version, diag))
		return status;
	converted_destroy(*converted);
	return NNHAL_STATUS_INVALID_ARGUMENT;
}

/* 1.0, 1.1 or 1.2? */
static bool is_old(uint32_t hal_version, struct nnhal_diag *diag)
{
	if (hal_version >= NNHAL_HAL_1_0 && hal_version <= NNHAL_HAL_1_2)
		return true;
	diag_set(diag, "hal_version %u is not 1.0, 1.1 or 1.2", hal_version);
	return false;
}

enum nnhal_status nnhal_request_to_1_0(const struct nnhal_request *request, uint32_t hal_version,
				       uint32_t flags, struct nnhal_request_1_0 **converted,
				       struct nnhal_diag *diag)
{
	struct nnhal_request r;
	enum nnhal_status status;
	struct converted *c;
	uint32_t i;

	if (!conversion_begin(request, converted, flags, diag) || !is_old(hal_version, diag) ||
	    !layout_is_known(request->hal_version, "request", diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = request_copy(request, hal_version, flags, &c, diag);
	if (status)
		return status;
	r = c->form.request;
	for (i = 0; i < r.num_pools; i++)
		if (!r.pools[i].memory) {
			diag_set(diag, "pool %u: HAL %s has no tokens", i,
				 hal_version_text(hal_version));
			converted_destroy(c);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	c->form.request_1_0 = (struct nnhal_request_1_0){
		.num_inputs = r.num_inputs, .inputs = r.inputs,
		.num_outputs = r.num_outputs, .outputs = r.outputs,
		.num_pools = r.num_pools, .pools = c->pools,
	};
	*converted = &c->form.request_1_0;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_request_to_1_3(const struct nnhal_request *request, uint32_t flags,
				       struct nnhal_request_1_3 **converted,
				       struct nnhal_diag *diag)
{
	struct nnhal_request r;
	enum nnhal_status status;
	struct converted *c;

	if (!conversion_begin(request, converted, flags, diag) ||
	    !layout_is_known(request->hal_version, "request", diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = request_copy(request, NNHAL_HAL_1_3, flags, &c, diag);
	if (status)
		return status;
	r = c->form.request;
	c->form.request_1_3 = (struct nnhal_request_1_3){
		.num_inputs = r.num_inputs, .inputs = r.inputs,
		.num_outputs = r.num_outputs, .outputs = r.outputs,
		.num_pools = r.num_pools, .pools = r.pools,
	};
	*converted = &c->form.request_1_3;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_request_from_1_0(const struct nnhal_request_1_0 *from,
					 uint32_t hal_version, uint32_t flags,
					 struct nnhal_request **request, struct nnhal_diag *diag)
{
	struct nnhal_request_pool *pools;
	struct nnhal_request_1_0 old;
	struct nnhal_request r;
	enum nnhal_status status;
	struct converted *c;
	uint32_t i;

	if (!conversion_begin(from, request, flags, diag) || !is_old(hal_version, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	old = *from;
	if (old.num_pools && !old.pools) {
		diag_set(diag, "NULL pointer for inputs, outputs or pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	pools = calloc((size_t)old.num_pools + 1, sizeof(*pools));
	if (!pools)
		return no_memory(diag);
	for (i = 0; i < old.num_pools; i++)
		pools[i].memory = old.pools[i];
	r = (struct nnhal_request){
		.hal_version = hal_version,
		.num_inputs = old.num_inputs, .inputs = old.inputs,
		.num_outputs = old.num_outputs, .outputs = old.outputs,
		.num_pools = old.num_pools, .pools = pools,
	};
	status = request_copy(&r, hal_version, flags, &c, diag);
	free(pools);
	if (!status)
		*request = &c->form.request;
	return status;
}

enum nnhal_status nnhal_request_from_1_3(const struct nnhal_request_1_3 *from, uint32_t flags,
					 struct nnhal_request **request, struct nnhal_diag *diag)
{
	struct nnhal_request r;
	enum nnhal_status status;
	struct converted *c;

	if (!conversion_begin(from, request, flags, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	r = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = from->num_inputs, .inputs = from->inputs,
		.num_outputs = from->num_outputs, .outputs = from->outputs,
		.num_pools = from->num_pools, .pools = from->pools,
	};
	status = request_copy(&r, NNHAL_HAL_1_3, flags, &c, diag);
	if (!status)
		*request = &c->form.request;
	return status;
}

bool nnhal_request_complies_with(const struct nnhal_request *request, uint32_t hal_version,
				 struct nnhal_diag *diag)
{
	uint32_t version = hal_version_of(hal_version);
	struct converted *c;

	diag_clear(diag);
	if (!request || !version) {
		diag_set(diag, "no request, or hal_version %u, which is not known", hal_version);
		return false;
	}
	if (!layout_is_known(request->hal_version, "request", diag) ||
	    request_copy(request, version, 0, &c, diag))
		return false;
	converted_destroy(c);
	return true;
}
