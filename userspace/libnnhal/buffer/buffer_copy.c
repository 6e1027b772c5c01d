// SPDX-License-Identifier: MIT
/*
 * Copies between buffers and memory objects: COPY jobs of the device.
 *
 * Memory that the device cannot reach is copied through a bounce buffer, as for executions.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/status.h"
#include "base/tsan.h"
#include "buffer/buffer_private.h"
#include "device/device_private.h"
#include "memory/binding.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

/* One copy of the first @size bytes. */
struct copy {
	struct nnhal_device *device;
	struct nnhal_memory *from, *to;
	uint32_t size;
	const struct binding *from_binding, *to_binding;	/* NULL: not bound */
	bool is_abandoned;		/* the job may still run */
	struct nnhal_diag *diag;
};

/* The HAL has no other statuses for copies. */
static enum nnhal_status copy_status(enum nnhal_status status)
{
	switch (status) {
	case NNHAL_STATUS_NONE:
	case NNHAL_STATUS_DEVICE_UNAVAILABLE:
	case NNHAL_STATUS_DEAD_OBJECT:
		return status;
	default:
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
}

static enum nnhal_status fail(struct copy *c, const char *what, int err)
{
	diag_set(c->diag, "%s: %s", what, errno_text(-err));
	return copy_status(device_status_from_error(c->device, err));
}

static enum nnhal_status copy_bind(struct copy *c)
{
	struct bind_table *table = c->device->table;
	int err = memory_bind(c->from, table, true, &c->from_binding);

	if (!err)
		err = memory_bind(c->to, table, true, &c->to_binding);
	return err ? fail(c, "memory of a copy cannot be bound", err) : NNHAL_STATUS_NONE;
}

static void release(struct copy *c, const struct binding *binding)
{
	if (binding && c->is_abandoned)
		binding_abandon(binding);
	else if (binding)
		binding_unpin(binding);
}

static enum nnhal_status run_job(struct copy *c, struct transport_fence *fence)
{
	struct transport *t = c->device->transport;
	struct nnpu_arg args[2] = {
		{ .slot = htole32(c->from_binding->slot), .length = htole64(c->size),
		  .offset = htole64(c->from_binding->delta) },
		{ .slot = htole32(c->to_binding->slot), .length = htole64(c->size),
		  .offset = htole64(c->to_binding->delta) },
	};
	struct transport_job job = {
		.is_copy = true, .priority = NNHAL_PRIORITY_MEDIUM, .args = args,
		.num_inputs = 1, .num_outputs = 1, .result_slot = NNPU_SLOT_NONE,
		.fence = fence,
	};
	uint32_t first;
	int err = t->ops->submit(t, &job);

	if (err)
		return fail(c, "submitting a copy", err);
	err = t->ops->wait(t, &fence, 1, -1, &first);
	if (err) {
		c->is_abandoned = err != -ENODEV;
		return fail(c, "waiting for a copy", err);
	}
	err = t->ops->fence_error(t, fence);
	if (!err)
		return NNHAL_STATUS_NONE;
	diag_set(c->diag, "the device did not finish a copy: %s", errno_text(-err));
	return NNHAL_STATUS_GENERAL_FAILURE;
}

static enum nnhal_status run_bound(struct copy *c)
{
	struct transport *t = c->device->transport;
	struct transport_fence *fence;
	enum nnhal_status status;
	int err = 0;

	if (c->from_binding->has_bounce) {
		/* As in args_copy_inputs(): others may copy the same bytes there. */
		tsan_racy_writes_begin();
		err = memory_read(c->from, 0, c->from_binding->bounce.map, c->size);
		tsan_racy_writes_end();
		if (!err)
			err = transport_give(t, &c->from_binding->bounce, 0, c->size);
	} else if (c->from_binding->needs_cpu) {
		err = memory_check_file(c->from, c->size);
	}
	if (err)
		return fail(c, "memory cannot be read", err);
	err = t->ops->fence_create(t, &fence);
	if (err)
		return fail(c, "fence of a copy", err);
	status = run_job(c, fence);
	t->ops->fence_destroy(t, fence);
	if (!status && c->to_binding->needs_cpu && !c->to_binding->has_bounce) {
		err = memory_check_file(c->to, c->size);
		if (err)
			return fail(c, "memory cannot be written", err);
	}
	if (!status && c->to_binding->has_bounce) {
		err = transport_take(t, &c->to_binding->bounce, 0, c->size);
		tsan_racy_reads_begin();
		if (!err)
			err = memory_write(c->to, 0, c->to_binding->bounce.map, c->size);
		tsan_racy_reads_end();
		if (err)
			return fail(c, "memory cannot be written", err);
	}
	return status;
}

static enum nnhal_status run(struct copy *c)
{
	enum nnhal_status status = copy_bind(c);

	if (!status)
		status = run_bound(c);
	release(c, c->from_binding);
	release(c, c->to_binding);
	return status;
}

/* May memory be one side of a copy, with the memory of the buffer on the other one? */
static enum nnhal_status check_memory(const struct nnhal_memory *memory,
				      const struct nnhal_memory *storage, uint32_t access,
				      uint32_t size, struct nnhal_diag *diag)
{
	if (!(memory->access & access)) {
		diag_set(diag, "the memory is %s", access == NNHAL_MEMORY_READ ? "write-only"
									       : "read-only");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (memory->size != size) {
		diag_set(diag, "memory of %llu bytes, the content takes %u",
			 (unsigned long long)memory->size, size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (memory->dev == storage->dev && memory->ino == storage->ino) {
		diag_set(diag, "the memory is that of the buffer");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_buffer_copy_to(struct nnhal_buffer *buffer, struct nnhal_memory *memory,
				       struct nnhal_diag *diag)
{
	struct copy c = { .to = memory, .diag = diag };
	enum nnhal_status status;
	struct shape shape;

	diag_clear(diag);
	if (!buffer || !memory) {
		diag_set(diag, "NULL pointer for buffer or memory");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(buffer->device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	c.device = buffer->device;
	if (!buffer_read(buffer, false, &c.from, &shape)) {
		diag_set(diag, "the buffer is uninitialised");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	/* A shape that was set has a size. */
	layout_size(&buffer->layout, &shape, &c.size);
	status = check_memory(memory, c.from, NNHAL_MEMORY_WRITE, c.size, diag);
	if (!status)
		status = run(&c);
	nnhal_memory_unref(c.from);
	return status;
}

/* The shape that a copy gives to a buffer. */
static enum nnhal_status find_shape(const struct buffer_layout *layout, const uint32_t *dims,
				    uint32_t rank, struct shape *shape, struct nnhal_diag *diag)
{
	uint32_t d;

	*shape = layout->shape;
	if (!rank && layout->is_fixed)
		return NNHAL_STATUS_NONE;
	if (!rank || !dims || rank > NNHAL_MAX_RANK) {
		diag_set(diag, rank ? "rank %u, or a NULL pointer for the dimensions"
				    : "%u dimensions, but the shape is not known", rank);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	shape->rank = rank;
	memcpy(shape->dims, dims, rank * sizeof(*dims));
	for (d = 0; d < rank; d++)
		if (!shape->dims[d]) {
			diag_set(diag, "dimension %u is 0", d);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	if (!layout_takes(layout, shape->dims, rank)) {
		diag_set(diag, "the dimensions contradict those of the buffer");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status copy_from(struct nnhal_buffer *b, struct nnhal_memory *memory,
				   const struct shape *shape, struct nnhal_diag *diag)
{
	struct copy c = { .device = b->device, .from = memory, .diag = diag };
	enum nnhal_status status;
	int err;

	if (!layout_size(&b->layout, shape, &c.size) || c.size != memory->size) {
		diag_set(diag, "memory of %llu bytes, its shape takes %u",
			 (unsigned long long)memory->size, c.size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	err = buffer_room(b, c.size, &c.to);
	if (err)
		return fail(&c, "memory of the buffer", err);
	status = check_memory(memory, c.to, NNHAL_MEMORY_READ, c.size, diag);
	if (!status)
		status = run(&c);
	if (!status)
		buffer_set(b, c.to, shape);
	else if (c.is_abandoned)
		buffer_abandon(b, c.to, NULL);
	nnhal_memory_unref(c.to);
	return status;
}

enum nnhal_status nnhal_buffer_copy_from(struct nnhal_buffer *buffer, struct nnhal_memory *memory,
					 const uint32_t *dimensions, uint32_t num_dimensions,
					 struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct shape shape;

	diag_clear(diag);
	if (!buffer) {
		diag_set(diag, "NULL pointer for the buffer");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(buffer->device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (!memory) {
		diag_set(diag, "NULL pointer for the memory");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	} else {
		status = find_shape(&buffer->layout, dimensions, num_dimensions, &shape, diag);
	}
	if (!status)
		status = copy_from(buffer, memory, &shape, diag);
	if (status)
		buffer_reset(buffer);
	return status;
}
