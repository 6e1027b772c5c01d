// SPDX-License-Identifier: MIT
/*
 * Outputs of a run that are in buffers.
 */
#include <errno.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "buffer/buffer_private.h"
#include "execution/buffers.h"
#include "execution/validate_request.h"

/* The buffer of output @i, or NULL. */
static struct nnhal_buffer *buffer_of(const struct request_rules *rules,
				      const struct resolved_arg *args,
				      const struct resolved_pool *pools, uint32_t i)
{
	const struct resolved_arg *a = &args[rules->num_inputs + i];

	return a->omitted ? NULL : pools[a->pool].buffer;
}

static struct shape shape_of(const struct nnhal_output_shape *from)
{
	struct shape shape = { .rank = from->num_dimensions };

	memcpy(shape.dims, from->dimensions, from->num_dimensions * sizeof(*shape.dims));
	return shape;
}

/* Could the content of a buffer have this shape? 0 stands for what is not known. */
static bool may_have(const struct buffer_layout *layout, const struct nnhal_output_shape *shape)
{
	uint32_t dims[NNHAL_MAX_RANK], rank;

	return nnhal_combine_dimensions(layout->shape.dims, layout->shape.rank,
					shape->dimensions, shape->num_dimensions, dims, &rank);
}

/* An output that was computed has this shape. Does it fit the buffer and the memory? */
static bool fits(const struct nnhal_buffer *b, const struct resolved_arg *a,
		 const struct nnhal_output_shape *from)
{
	const struct shape shape = shape_of(from);
	uint32_t size;

	return layout_takes(&b->layout, shape.dims, shape.rank) &&
	       layout_size(&b->layout, &shape, &size) && size <= a->length;
}

enum nnhal_status buffers_check(const struct request_rules *rules,
				const struct resolved_arg *args,
				const struct resolved_pool *pools,
				struct nnhal_output_shape *shapes, enum nnhal_status status,
				struct nnhal_diag *diag)
{
	const struct nnhal_buffer *b;
	bool good, callers = false;
	uint32_t i;

	for (i = 0; i < rules->num_outputs; i++)
		callers |= !shapes[i].is_sufficient && !buffer_of(rules, args, pools, i);
	for (i = 0; i < rules->num_outputs; i++) {
		b = buffer_of(rules, args, pools, i);
		if (!b)
			continue;
		good = status ? callers && (shapes[i].is_sufficient || !b->layout.is_fixed) &&
				may_have(&b->layout, &shapes[i])
			      : fits(b, &args[rules->num_inputs + i], &shapes[i]);
		if (!good) {
			diag_set(diag, "output %u does not fit its buffer", i);
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
		shapes[i].is_sufficient = true;
	}
	return status;
}

void buffers_settle(const struct request_rules *rules, const struct resolved_arg *args,
		    const struct resolved_pool *pools,
		    const struct nnhal_output_shape *shapes, enum nnhal_status status)
{
	const struct resolved_pool *pool;
	struct nnhal_buffer *b;
	struct shape shape;
	uint32_t i;

	for (i = 0; i < rules->num_outputs; i++) {
		b = buffer_of(rules, args, pools, i);
		if (!b)
			continue;
		pool = &pools[args[rules->num_inputs + i].pool];
		if (!status)
			shape = shape_of(&shapes[i]);
		if (pool->writer)
			buffer_end(b, status ? NULL : pool->memory, status ? NULL : &shape,
				   pool->writer);
		else if (status)
			buffer_reset(b);
		else
			buffer_set(b, pool->memory, &shape);
	}
}

void buffers_abandon(const struct request_rules *rules, const struct resolved_arg *args,
		     const struct resolved_pool *pools)
{
	const struct resolved_pool *pool;
	uint32_t i;

	for (i = 0; i < rules->num_outputs; i++) {
		if (!buffer_of(rules, args, pools, i))
			continue;
		pool = &pools[args[rules->num_inputs + i].pool];
		buffer_abandon(pool->buffer, pool->memory, pool->writer);
	}
}

bool buffers_can_grow(const struct request_rules *rules, const struct resolved_arg *args,
		      const struct resolved_pool *pools,
		      const struct nnhal_output_shape *shapes)
{
	const struct nnhal_buffer *b;
	struct shape shape;
	bool found = false;
	uint32_t i, size;

	for (i = 0; i < rules->num_outputs; i++) {
		if (shapes[i].is_sufficient)
			continue;
		b = buffer_of(rules, args, pools, i);
		if (!b || b->layout.is_fixed)
			return false;
		shape = shape_of(&shapes[i]);
		if (!layout_takes(&b->layout, shape.dims, shape.rank) ||
		    !layout_size(&b->layout, &shape, &size) ||
		    size <= args[rules->num_inputs + i].length)
			return false;
		found = true;
	}
	return found;
}

int buffer_grow(const struct resolved_pool *pool, const struct nnhal_output_shape *from,
		struct nnhal_memory **storage)
{
	const struct shape shape = shape_of(from);
	uint32_t size;

	if (!layout_size(&pool->buffer->layout, &shape, &size))
		return -EFBIG;
	return buffer_room(pool->buffer, size, storage);
}
