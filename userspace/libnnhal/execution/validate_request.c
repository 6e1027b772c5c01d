// SPDX-License-Identifier: MIT
/*
 * Requests: are they valid, and what are the shapes of their arguments?
 *
 * One pass checks the arguments and determines their shapes. Each field of the caller's
 * request is read once, so that the value that is used is the value that was checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "buffer/buffer_private.h"
#include "execution/arguments.h"
#include "execution/buffers.h"
#include "execution/validate_request.h"
#include "memory/memory_private.h"

static bool info_is_scalar(const struct arg_info *info)
{
	return info->rank_known && !info->rank;
}

/* A token: find its buffer. */
static enum nnhal_status find_buffer(const struct request_rules *rules, uint32_t version,
				     uint32_t number, uint32_t token,
				     struct resolved_pool *pool, struct nnhal_diag *diag)
{
	if (version < NNHAL_HAL_1_3) {
		diag_set(diag, "pool %u: tokens do not exist before HAL 1.3", number);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (rules->buffers)
		pool->buffer = buffer_hold(rules->buffers[number]);
	else if (rules->device)
		pool->buffer = buffer_find(rules->device, token);
	if (pool->buffer)
		return NNHAL_STATUS_NONE;
	diag_set(diag, "pool %u: token %u is not that of a buffer", number, token);
	return NNHAL_STATUS_INVALID_ARGUMENT;
}

static enum nnhal_status check_pools(const struct nnhal_request *request, uint32_t version,
				     const struct request_rules *rules,
				     struct resolved_pool *pools, uint32_t num_pools,
				     struct nnhal_diag *diag)
{
	struct nnhal_request_pool pool;
	enum nnhal_status status;
	uint32_t i;

	for (i = 0; i < num_pools; i++) {
		pool = request->pools[i];
		if (!pool.memory == !pool.token) {
			diag_set(diag, "pool %u: expected either memory or a token", i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
		if (pool.token) {
			status = find_buffer(rules, version, i, pool.token, &pools[i], diag);
			if (status)
				return status;
			continue;
		}
		pools[i].memory = pool.memory;
		if (version < NNHAL_HAL_1_2 && memory_is_of_1_2(pool.memory)) {
			diag_set(diag, "pool %u: memory of this kind does not exist in HAL 1.0 and 1.1",
				 i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNHAL_STATUS_NONE;
}

void resolved_pool_put(struct resolved_pool *pool)
{
	if (!pool->buffer)
		return;
	nnhal_memory_unref(pool->memory);
	buffer_put(pool->buffer);
	*pool = (struct resolved_pool){ .memory = NULL };
}

/* One argument being checked. */
struct checked {
	const char *kind;		/* "input" or "output" */
	uint32_t number;
	bool is_input;
	bool allow_unspecified;
	const struct request_rules *rules;
	struct resolved_pool *pools;
	uint32_t num_pools;
	struct nnhal_diag *diag;
};

#define FAIL(c, fmt, ...) \
	(diag_set((c)->diag, "%s %u: " fmt, (c)->kind, (c)->number, ##__VA_ARGS__), \
	 NNHAL_STATUS_INVALID_ARGUMENT)

static enum nnhal_status resolve_location(const struct checked *c,
					  const struct nnhal_data_location *loc,
					  struct resolved_arg *out)
{
	const struct nnhal_memory *memory;

	memory = c->pools[loc->pool_index].memory;
	if ((uint64_t)loc->offset + loc->length > memory->size)
		return FAIL(c, "offset %u + length %u is beyond the %llu bytes of pool %u",
			    loc->offset, loc->length, (unsigned long long)memory->size,
			    loc->pool_index);
	if (!c->is_input && !(memory->access & NNHAL_MEMORY_WRITE))
		return FAIL(c, "pool %u is read-only", loc->pool_index);
	if (c->is_input && !(memory->access & NNHAL_MEMORY_READ))
		return FAIL(c, "pool %u is write-only", loc->pool_index);
	out->pool = loc->pool_index;
	out->offset = loc->offset;
	out->length = loc->length;
	return NNHAL_STATUS_NONE;
}

/* The shape: of the request, and where that has none, of the model. */
static enum nnhal_status resolve_shape(const struct checked *c, const struct arg_info *info,
				       const uint32_t *dims, uint32_t rank,
				       struct resolved_arg *out)
{
	uint32_t final_rank = rank ? rank : info->rank;
	uint32_t d, dim, model_dim;
	bool known = final_rank || info_is_scalar(info);

	if (rank && !dims)
		return FAIL(c, "NULL pointer for %u dimensions", rank);
	if (rank && info->rank_known && rank != info->rank)
		return FAIL(c, "rank %u, but the model says %u", rank, info->rank);
	out->has_shape = rank;
	out->rank = final_rank;
	for (d = 0; d < final_rank; d++) {
		model_dim = info->rank ? info->dims[d] : 0;
		dim = rank ? dims[d] : model_dim;
		if (!dim && rank && c->is_input)
			return FAIL(c, "dimension %u is 0", d);
		if (dim && model_dim && dim != model_dim)
			return FAIL(c, "dimension %u is %u, but the model says %u", d, dim,
				    model_dim);
		if (!dim)
			dim = model_dim;
		if (!dim)
			known = false;
		if (d < NNHAL_MAX_RANK)
			out->dims[d] = dim;
	}
	if (!known && !(c->allow_unspecified && !c->is_input))
		return FAIL(c, "neither model nor request give all dimensions");
	if (final_rank > NNHAL_MAX_RANK) {
		diag_set(c->diag, "%s %u: rank %u, the device supports at most %u", c->kind,
			 c->number, final_rank, NNHAL_MAX_RANK);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	return NNHAL_STATUS_NONE;
}

bool arg_size(const struct arg_info *info, const uint32_t *dims, uint32_t rank, uint32_t *size)
{
	return info->element_size && tensor_size(info->element_size, dims, rank, size);
}

static enum nnhal_status check_input_length(const struct checked *c,
					    const struct arg_info *info,
					    const struct resolved_arg *arg)
{
	uint32_t size;

	/* The library does not know the element size of such a type. */
	if (!info->element_size)
		return NNHAL_STATUS_NONE;
	if (!arg_size(info, arg->dims, arg->rank, &size))
		return FAIL(c, "size takes more than 32 bits");
	if (arg->length != size)
		return FAIL(c, "length %u, but its shape takes %u bytes", arg->length, size);
	return NNHAL_STATUS_NONE;
}

/* ---- arguments in buffers ---- */

/* Dimensions that the request gives for an input against those of its buffer, or of the content. */
static enum nnhal_status check_dimensions(const struct checked *c,
					  const struct buffer_layout *layout,
					  const struct shape *shape,
					  const struct nnhal_request_argument *arg)
{
	uint32_t d, dim;

	if (arg->num_dimensions && layout->is_scalar)
		return FAIL(c, "rank %u, but the buffer holds a scalar", arg->num_dimensions);
	if (arg->num_dimensions && !arg->dimensions)
		return FAIL(c, "NULL pointer for %u dimensions", arg->num_dimensions);
	if (arg->num_dimensions && shape->rank && arg->num_dimensions != shape->rank)
		return FAIL(c, "rank %u, but the buffer has %u", arg->num_dimensions, shape->rank);
	for (d = 0; d < arg->num_dimensions; d++) {
		dim = arg->dimensions[d];
		if (!dim)
			return FAIL(c, "dimension %u is 0", d);
		if (shape->rank && shape->dims[d] && dim != shape->dims[d])
			return FAIL(c, "dimension %u is %u, but the buffer has %u", d, dim,
				    shape->dims[d]);
	}
	return NNHAL_STATUS_NONE;
}

/* An input has the shape of the buffer's content. */
static enum nnhal_status resolve_buffer_input(const struct checked *c,
					      const struct nnhal_request_argument *arg,
					      const struct arg_info *info,
					      struct resolved_pool *pool,
					      struct resolved_arg *out)
{
	const struct buffer_layout *layout = &pool->buffer->layout;
	enum nnhal_status status;
	uint32_t d;

	if (!pool->memory && !buffer_read(pool->buffer, c->rules->allow_early_input, &pool->memory,
					  &pool->shape)) {
		status = check_dimensions(c, layout, &layout->shape, arg);
		if (status)
			return status;
		diag_set(c->diag, "input %u: its buffer is uninitialised", c->number);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	status = check_dimensions(c, layout, &pool->shape, arg);
	for (d = 0; !status && d < pool->shape.rank; d++)
		if (!pool->shape.dims[d]) {
			diag_set(c->diag, "input %u: its buffer holds an empty tensor", c->number);
			status = NNHAL_STATUS_GENERAL_FAILURE;
		}
	if (!status)
		status = resolve_shape(c, info, pool->shape.dims, pool->shape.rank, out);
	if (!status && !arg_size(info, out->dims, out->rank, &out->length))
		status = FAIL(c, "size takes more than 32 bits");
	return status;
}

/* What is known of an output before it runs. False: the argument contradicts the buffer. */
static bool combine_shapes(const struct buffer_layout *layout, const struct resolved_arg *arg,
			   struct shape *shape)
{
	return nnhal_combine_dimensions(layout->shape.dims, layout->shape.rank, arg->dims,
					arg->rank, shape->dims, &shape->rank);
}

/* Its memory is chosen when everything else is known to be right. */
static enum nnhal_status resolve_buffer_output(const struct checked *c,
					       const struct nnhal_request_argument *arg,
					       const struct arg_info *info,
					       const struct resolved_pool *pool,
					       struct resolved_arg *out)
{
	enum nnhal_status status = resolve_shape(c, info, arg->dimensions, arg->num_dimensions,
						 out);
	struct shape shape;

	/* Of what was resolved: the caller may change the dimensions meanwhile. */
	if (!status && !combine_shapes(&pool->buffer->layout, out, &shape))
		status = FAIL(c, "the dimensions contradict those of the buffer");
	return status;
}

static enum nnhal_status resolve_in_buffer(const struct checked *c,
					   const struct nnhal_request_argument *arg,
					   const struct arg_info *info, struct resolved_arg *out)
{
	const struct nnhal_data_location *loc = &arg->location;
	const struct role role = { c->rules->model, c->number, !c->is_input };
	struct resolved_pool *pool = &c->pools[loc->pool_index];

	if (loc->offset || loc->length)
		return FAIL(c, "offset %u, length %u in a buffer, expected 0", loc->offset,
			    loc->length);
	if (!buffer_has_role(pool->buffer, &role))
		return FAIL(c, "the buffer of pool %u was not allocated for it", loc->pool_index);
	out->pool = loc->pool_index;
	out->offset = 0;
	out->length = 0;
	return c->is_input ? resolve_buffer_input(c, arg, info, pool, out)
			   : resolve_buffer_output(c, arg, info, pool, out);
}

/* Bytes that an output needs; 0: not known before it runs. False: too many. */
static bool output_size(const struct buffer_layout *layout, const struct resolved_arg *arg,
			uint32_t *size)
{
	struct shape shape;
	uint32_t d;

	*size = 0;
	if (!combine_shapes(layout, arg, &shape))
		return false;
	if (!shape.rank && !layout->is_scalar)
		return true;
	for (d = 0; d < shape.rank; d++)
		if (!shape.dims[d])
			return true;
	return layout_size(layout, &shape, size);
}

/* Memory for outputs in buffers. False in @any: there are none. */
static enum nnhal_status choose_storage(struct checked *c, struct resolved_arg *args, bool *any)
{
	struct resolved_pool *pool;
	struct resolved_arg *arg;
	uint64_t room;
	uint32_t size;
	int err;

	*any = false;
	for (c->number = 0; c->number < c->rules->num_outputs; c->number++) {
		arg = &args[c->rules->num_inputs + c->number];
		if (arg->omitted || !c->pools[arg->pool].buffer)
			continue;
		pool = &c->pools[arg->pool];
		*any = true;
		err = output_size(&pool->buffer->layout, arg, &size)
		      ? buffer_room(pool->buffer, size, &pool->memory) : -EFBIG;
		if (err) {
			diag_set(c->diag, "output %u: memory of its buffer: %s", c->number,
				 errno_text(-err));
			return args_memory_status(c->rules->device, 0, err);
		}
		room = nnhal_memory_size(pool->memory);
		arg->length = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
	}
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status resolve_argument(const struct checked *c,
					  const struct nnhal_request_argument *from,
					  const struct arg_info *info,
					  struct resolved_arg *out)
{
	const struct nnhal_request_argument arg = *from;
	enum nnhal_status status;

	out->omitted = arg.has_no_value;
	if (arg.has_no_value) {
		if (arg.location.pool_index || arg.location.offset || arg.location.length)
			return FAIL(c, "hasNoValue with a location");
		if (arg.num_dimensions)
			return FAIL(c, "hasNoValue with dimensions");
		out->has_shape = false;
		return NNHAL_STATUS_NONE;
	}
	if (arg.location.pool_index >= c->num_pools)
		return FAIL(c, "poolIndex %u, but there are %u pools", arg.location.pool_index,
			    c->num_pools);
	if (c->pools[arg.location.pool_index].buffer)
		return resolve_in_buffer(c, &arg, info, out);
	status = resolve_location(c, &arg.location, out);
	if (status)
		return status;
	status = resolve_shape(c, info, arg.dimensions, arg.num_dimensions, out);
	if (status || !c->is_input)
		return status;
	return check_input_length(c, info, out);
}

static bool same_object(const struct nnhal_memory *a, const struct nnhal_memory *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/*
 * Do two arguments share a byte? Two file descriptors of one file count as one, and so do two pools
 * with the token of one buffer.
 */
static bool args_overlap(const struct resolved_pool *pools, const struct resolved_arg *a,
			 const struct resolved_arg *b)
{
	const struct nnhal_memory *ma, *mb;
	uint64_t begin_a, begin_b;

	if (a->omitted || b->omitted)
		return false;
	if (pools[a->pool].buffer && pools[a->pool].buffer == pools[b->pool].buffer)
		return true;
	if (!a->length || !b->length)
		return false;
	ma = pools[a->pool].memory;
	mb = pools[b->pool].memory;
	begin_a = ma->offset + a->offset;
	begin_b = mb->offset + b->offset;
	return same_object(ma, mb) && begin_a < begin_b + b->length &&
	       begin_b < begin_a + a->length;
}

static enum nnhal_status check_constants(const struct checked *c,
					 const struct request_rules *rules,
					 const struct resolved_arg *arg)
{
	const struct nnhal_memory *memory;
	uint64_t begin;
	uint32_t i;

	if (arg->omitted || !arg->length)
		return NNHAL_STATUS_NONE;
	memory = c->pools[arg->pool].memory;
	begin = memory->offset + arg->offset;
	for (i = 0; i < rules->num_constants; i++) {
		const struct const_region *region = &rules->constants[i];

		if (region->dev == memory->dev && region->ino == memory->ino &&
		    begin < region->end && region->begin < begin + arg->length)
			return FAIL(c, "overlaps a CONSTANT_REFERENCE of the model");
	}
	return NNHAL_STATUS_NONE;
}

/* An output shares no byte with an input, another output or a constant. */
static enum nnhal_status check_overlaps(struct checked *c, const struct request_rules *rules,
					const struct resolved_arg *args)
{
	uint32_t total = rules->num_inputs + rules->num_outputs;
	enum nnhal_status status;
	uint32_t i, j;

	for (i = rules->num_inputs; i < total; i++) {
		c->number = i - rules->num_inputs;
		for (j = 0; j < i; j++)
			if (args_overlap(c->pools, &args[i], &args[j]))
				return FAIL(c, "overlaps %s %u",
					    j < rules->num_inputs ? "input" : "output",
					    j < rules->num_inputs ? j : j - rules->num_inputs);
		status = check_constants(c, rules, &args[i]);
		if (status)
			return status;
	}
	return NNHAL_STATUS_NONE;
}

bool request_counts_match(const struct nnhal_request *request, const struct request_rules *rules,
			  struct nnhal_diag *diag)
{
	if (request->num_inputs != rules->num_inputs ||
	    request->num_outputs != rules->num_outputs) {
		diag_set(diag, "%u inputs and %u outputs, the model has %u and %u",
			 request->num_inputs, request->num_outputs, rules->num_inputs,
			 rules->num_outputs);
		return false;
	}
	if ((rules->num_inputs && !request->inputs) || (rules->num_outputs && !request->outputs)) {
		diag_set(diag, "NULL pointer for the arguments");
		return false;
	}
	return true;
}

static enum nnhal_status resolve(const struct nnhal_request *request, uint32_t num_pools,
				 const struct request_rules *rules, struct resolved_pool *pools,
				 struct resolved_arg *args, struct nnhal_diag *diag)
{
	uint32_t version = hal_version_of(request->hal_version);
	struct checked c = {
		.kind = "input", .is_input = true, .rules = rules, .pools = pools,
		.num_pools = num_pools, .diag = diag,
		/* Before 1.2 there is no way to report a shape. */
		.allow_unspecified = rules->allow_unspecified_output && version >= NNHAL_HAL_1_2,
	};
	enum nnhal_status status, deferred = NNHAL_STATUS_NONE;
	bool in_buffers;

	if (!version) {
		diag_set(diag, "hal_version %u is not known", request->hal_version);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!request_counts_match(request, rules, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = check_pools(request, version, rules, pools, num_pools, diag);
	if (status)
		return status;
	/*
	 * A rank above NNHAL_MAX_RANK is legal but cannot be passed to the device; so is a buffer
	 * that is uninitialised. That is reported only if the request breaks no rule.
	 */
	for (c.number = 0; c.number < rules->num_inputs; c.number++) {
		status = resolve_argument(&c, &request->inputs[c.number],
					  &rules->inputs[c.number], &args[c.number]);
		if (status == NNHAL_STATUS_GENERAL_FAILURE)
			deferred = status;
		else if (status)
			return status;
	}
	c.kind = "output";
	c.is_input = false;
	for (c.number = 0; c.number < rules->num_outputs; c.number++) {
		status = resolve_argument(&c, &request->outputs[c.number],
					  &rules->outputs[c.number],
					  &args[rules->num_inputs + c.number]);
		if (status == NNHAL_STATUS_GENERAL_FAILURE)
			deferred = status;
		else if (status)
			return status;
	}
	status = check_overlaps(&c, rules, args);
	if (!status)
		status = deferred;
	if (!status)
		status = choose_storage(&c, args, &in_buffers);
	/* A memory object may be the memory of a buffer. */
	if (!status && in_buffers)
		status = check_overlaps(&c, rules, args);
	return status;
}

enum nnhal_status resolve_request(const struct nnhal_request *request, uint32_t num_pools,
				  const struct request_rules *rules, struct resolved_pool *pools,
				  struct resolved_arg *args, struct nnhal_diag *diag)
{
	enum nnhal_status status;
	uint32_t i;

	if (num_pools)
		memset(pools, 0, num_pools * sizeof(*pools));
	status = resolve(request, num_pools, rules, pools, args, diag);
	/* All arguments are resolved, but it cannot run: that is a run that failed. */
	if (status && status != NNHAL_STATUS_INVALID_ARGUMENT)
		buffers_settle(rules, args, pools, NULL, status);
	for (i = 0; status && i < num_pools; i++)
		resolved_pool_put(&pools[i]);
	return status;
}

enum nnhal_status examine_request(const struct nnhal_request *request, uint32_t num_pools,
				const struct request_rules *rules, struct resolved_pool *pools,
				struct resolved_arg *args, struct nnhal_diag *diag)
{
	enum nnhal_status status;
	uint32_t i;

	if (num_pools)
		memset(pools, 0, num_pools * sizeof(*pools));
	status = resolve(request, num_pools, rules, pools, args, diag);
	for (i = 0; i < num_pools; i++)
		resolved_pool_put(&pools[i]);
	return status;
}

bool nnhal_validate_request(const struct nnhal_request *request,
			    const struct nnhal_model *model, bool allow_unspecified_output,
			    struct nnhal_diag *diag)
{
	struct resolved_pool *pools = NULL;
	struct resolved_arg *args = NULL;
	struct request_rules rules;
	uint32_t num_pools;
	enum nnhal_status status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	void *block = NULL;

	diag_clear(diag);
	if ((request && !layout_is_known(request->hal_version, "request", diag)) ||
	    (model && !layout_is_known(model->hal_version, "model", diag)))
		return false;
	if (!request || !model || (request->num_pools && !request->pools)) {
		diag_set(diag, "NULL pointer for request, model or pools");
		return false;
	}
	num_pools = request->num_pools;
	if (!request_rules_init(&rules, model, NULL, &block)) {
		rules.allow_unspecified_output = allow_unspecified_output;
		pools = calloc((size_t)num_pools + 1, sizeof(*pools));
		args = calloc((size_t)rules.num_inputs + rules.num_outputs + 1, sizeof(*args));
	}
	if (pools && args)
		status = examine_request(request, num_pools, &rules, pools, args, diag);
	else
		diag_set(diag, "no memory to check the request");
	free(args);
	free(pools);
	free(block);
	return status == NNHAL_STATUS_NONE || status == NNHAL_STATUS_GENERAL_FAILURE;
}
