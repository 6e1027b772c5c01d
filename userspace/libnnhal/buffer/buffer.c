// SPDX-License-Identifier: MIT
/*
 * Buffers: creation and release, memory and state.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/status.h"
#include "buffer/buffer_private.h"
#include "device/device_private.h"
#include "device/tokens.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

bool layout_takes(const struct buffer_layout *layout, const uint32_t *dims, uint32_t rank)
{
	const struct shape *known = &layout->shape;
	uint32_t d;

	if (layout->is_scalar || known->rank ? rank != known->rank
					     : !rank || rank > NNHAL_MAX_RANK)
		return false;
	for (d = 0; d < known->rank; d++)
		if (known->dims[d] && dims[d] != known->dims[d])
			return false;
	return true;
}

bool layout_size(const struct buffer_layout *layout, const struct shape *shape, uint32_t *size)
{
	return tensor_size(layout->element_size, shape->dims, shape->rank, size);
}

/* New zeroed memory, as a memory object like those of callers. 0 or -errno. */
static int storage_create(struct transport *t, uint64_t size, struct nnhal_memory **storage)
{
	struct nnhal_memory_desc desc = { .struct_size = sizeof(desc), .size = size };
	enum transport_memory_type type;
	enum nnhal_status status;
	int err = t->ops->storage_create(t, size, &type, &desc.fd);

	if (err)
		return err;
	desc.kind = type == TRANSPORT_DMABUF ? NNHAL_MEMORY_HARDWARE_BUFFER_BLOB
					     : NNHAL_MEMORY_ASHMEM;
	status = nnhal_memory_import(&desc, storage, NULL);
	close(desc.fd);
	if (!status)
		return 0;
	return status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT ? -EMFILE : -ENOMEM;
}

static void buffer_free(struct nnhal_buffer *b)
{
	/* In a child of fork() the writer of the parent is still there. */
	buffer_writer_put(b->writer);
	nnhal_memory_unref(b->storage);
	nnhal_device_unref(b->device);
	pthread_mutex_destroy(&b->lock);
	free(b->roles);
	free(b);
}

int buffer_create(struct nnhal_device *device, const struct buffer_layout *layout,
		  struct role *roles, uint32_t num_roles, struct nnhal_buffer **result)
{
	struct nnhal_buffer *b = calloc(1, sizeof(*b));
	uint32_t size;
	int err = 0;

	if (!b) {
		free(roles);
		return -ENOMEM;
	}
	atomic_init(&b->entry.holds, 1);
	atomic_init(&b->refs, 1);
	pthread_mutex_init(&b->lock, NULL);
	b->device = nnhal_device_ref(device);
	b->layout = *layout;
	b->roles = roles;
	b->num_roles = num_roles;
	if (layout->is_fixed)
		err = layout_size(layout, &layout->shape, &size)
		      ? storage_create(device->transport, size, &b->storage) : -EFBIG;
	if (!err)
		err = token_add(&device->tokens, &b->entry);
	if (err) {
		buffer_free(b);
		return err;
	}
	*result = b;
	return 0;
}

struct nnhal_buffer *buffer_find(struct nnhal_device *device, uint32_t token)
{
	/* The entry is the first member. */
	return (struct nnhal_buffer *)token_find(&device_root(device)->tokens, token);
}

void buffer_put(struct nnhal_buffer *b)
{
	if (b && atomic_fetch_sub_explicit(&b->entry.holds, 1, memory_order_acq_rel) == 1)
		buffer_free(b);
}

struct nnhal_buffer *nnhal_buffer_ref(struct nnhal_buffer *buffer)
{
	atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
	return buffer;
}

void nnhal_buffer_unref(struct nnhal_buffer *buffer)
{
	if (!buffer || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1)
		return;
	/* In a child of fork() nobody uses the table, and its lock may be taken for ever. */
	if (device_is_own(buffer->device))
		token_remove(&buffer->device->tokens, &buffer->entry);
	buffer_put(buffer);
}

bool roles_have(const struct role *roles, uint32_t num_roles, const struct role *role)
{
	uint32_t i;

	for (i = 0; i < num_roles; i++)
		if (roles[i].model == role->model && roles[i].index == role->index &&
		    roles[i].is_output == role->is_output)
			return true;
	return false;
}

void buffer_writer_put(struct buffer_writer *w)
{
	if (w && atomic_fetch_sub_explicit(&w->holds, 1, memory_order_acq_rel) == 1)
		w->free(w);
}

/* The job that writes it may have ended without anybody knowing. */
static void ask_writer(struct nnhal_buffer *b)
{
	struct buffer_writer *w;

	pthread_mutex_lock(&b->lock);
	w = b->writer;
	if (w)
		atomic_fetch_add_explicit(&w->holds, 1, memory_order_relaxed);
	pthread_mutex_unlock(&b->lock);
	if (!w)
		return;
	w->settle(w);
	buffer_writer_put(w);
}

bool buffer_read(struct nnhal_buffer *b, bool early, struct nnhal_memory **storage,
		 struct shape *shape)
{
	bool initialized;

	ask_writer(b);
	pthread_mutex_lock(&b->lock);
	initialized = b->storage && (b->is_initialized || (early && b->writer));
	if (initialized) {
		*storage = nnhal_memory_ref(b->storage);
		*shape = b->shape;
	}
	pthread_mutex_unlock(&b->lock);
	return initialized;
}

int buffer_room(struct nnhal_buffer *b, uint32_t size, struct nnhal_memory **storage)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), room = size ? size : 1;
	struct nnhal_memory *found = NULL;

	pthread_mutex_lock(&b->lock);
	if (b->storage && nnhal_memory_size(b->storage) >= room)
		found = nnhal_memory_ref(b->storage);
	pthread_mutex_unlock(&b->lock);
	if (found) {
		*storage = found;
		return 0;
	}
	/* All of the last page is good for outputs whose size is not known. */
	return storage_create(b->device->transport, round_up_u64(room, page), storage);
}

/* Set all there is; @writer is the next one, with a hold, or NULL. Caller holds the lock, which is dropped. */
static void set_locked(struct nnhal_buffer *b, struct nnhal_memory *storage,
		       const struct shape *shape, struct buffer_writer *writer)
{
	struct buffer_writer *last = b->writer;
	struct nnhal_memory *old = NULL;

	b->is_initialized = shape && !writer;
	b->writer = writer;
	if (shape)
		b->shape = *shape;
	if (storage && storage != b->storage) {
		old = b->storage;
		b->storage = nnhal_memory_ref(storage);
	}
	pthread_mutex_unlock(&b->lock);
	/* The last reference ends bindings, which asks the device. */
	nnhal_memory_unref(old);
	buffer_writer_put(last);
}

void buffer_set(struct nnhal_buffer *b, struct nnhal_memory *storage, const struct shape *shape)
{
	pthread_mutex_lock(&b->lock);
	set_locked(b, storage, shape, NULL);
}

void buffer_begin(struct nnhal_buffer *b, struct nnhal_memory *storage,
		  const struct shape *shape, struct buffer_writer *writer)
{
	atomic_fetch_add_explicit(&writer->holds, 1, memory_order_relaxed);
	pthread_mutex_lock(&b->lock);
	set_locked(b, storage, shape, writer);
}

void buffer_end(struct nnhal_buffer *b, struct nnhal_memory *storage,
		const struct shape *shape, struct buffer_writer *writer)
{
	pthread_mutex_lock(&b->lock);
	if (b->writer == writer)
		set_locked(b, storage, shape, NULL);
	else
		pthread_mutex_unlock(&b->lock);
}

void buffer_reset(struct nnhal_buffer *b)
{
	buffer_set(b, NULL, NULL);
}

void buffer_abandon(struct nnhal_buffer *b, struct nnhal_memory *storage,
		    struct buffer_writer *writer)
{
	struct buffer_writer *last = NULL;
	struct nnhal_memory *old = NULL;

	pthread_mutex_lock(&b->lock);
	/* Another write may have begun since @writer did, or ended in other memory. */
	if (!writer || b->writer == writer || (!b->writer && b->storage == storage)) {
		b->is_initialized = false;
		last = b->writer;
		b->writer = NULL;
		if (b->storage == storage) {
			old = b->storage;
			b->storage = NULL;
		}
	}
	pthread_mutex_unlock(&b->lock);
	nnhal_memory_unref(old);
	buffer_writer_put(last);
}

void buffer_reserve(struct nnhal_buffer *b, struct nnhal_memory *storage)
{
	buffer_set(b, storage, NULL);
}

enum nnhal_status nnhal_buffer_reset(struct nnhal_buffer *buffer)
{
	if (!buffer)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!device_is_own(buffer->device))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	buffer_reset(buffer);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_buffer_get_state(struct nnhal_buffer *buffer,
					 struct nnhal_buffer_state *state)
{
	struct nnhal_buffer_state found = { .size = sizeof(found) };
	struct shape shape;
	uint32_t size = 0;

	if (!buffer || !state ||
	    !result_size_is_valid(state, SIZE_UP_TO(struct nnhal_buffer_state, content_size)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!device_is_own(buffer->device))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	ask_writer(buffer);
	pthread_mutex_lock(&buffer->lock);
	found.is_initialized = buffer->is_initialized;
	shape = buffer->is_initialized ? buffer->shape : buffer->layout.shape;
	pthread_mutex_unlock(&buffer->lock);
	found.num_dimensions = shape.rank;
	memcpy(found.dimensions, shape.dims, shape.rank * sizeof(*shape.dims));
	if (found.is_initialized && layout_size(&buffer->layout, &shape, &size))
		found.content_size = size;
	result_give(state, state->size, &found, sizeof(found));
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_buffer_export(struct nnhal_buffer *buffer, int *fd,
				      struct nnhal_diag *diag)
{
	struct nnhal_memory *storage = NULL;
	int err;

	diag_clear(diag);
	if (fd)
		*fd = -1;
	if (!buffer || !fd) {
		diag_set(diag, "NULL pointer for buffer or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(buffer->device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->storage)
		storage = nnhal_memory_ref(buffer->storage);
	pthread_mutex_unlock(&buffer->lock);
	if (!storage) {
		diag_set(diag, "the buffer has no memory until the next write");
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	*fd = fcntl(nnhal_memory_fd(storage), F_DUPFD_CLOEXEC, 0);
	err = errno;
	nnhal_memory_unref(storage);
	if (*fd >= 0)
		return NNHAL_STATUS_NONE;
	diag_set(diag, "descriptor of a buffer: %s", errno_text(err));
	return status_from_errno(err);
}
