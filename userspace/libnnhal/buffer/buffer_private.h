/* SPDX-License-Identifier: MIT */
/*
 * Buffers: memory of a device that requests name by a token.
 *
 * A buffer has memory and a shape. Both are set together when a write has succeeded, so they always
 * fit. Who reads takes references of the memory with a copy of the shape; who writes takes memory
 * and sets it at the end. So no job ever has memory taken away, and nobody waits.
 *
 * nnhal_buffer.lock is held for a few assignments only.
 */
#ifndef NNHAL_BUFFER_PRIVATE_H
#define NNHAL_BUFFER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "device/device_private.h"
#include "device/tokens.h"

struct shape {
	uint32_t rank;
	uint32_t dims[NNHAL_MAX_RANK];
};

/* An input or output of a model, which has a number that no other model of the device had. */
struct role {
	uint64_t model;
	uint32_t index;
	bool is_output;
};

/* What never changes. */
struct buffer_layout {
	uint32_t element_size;
	bool is_scalar;
	bool is_fixed;			/* all dimensions are known */
	struct shape shape;		/* 0: not known; rank 0: neither, unless it is a scalar */
};

/*
 * A job that nobody waits for writes a buffer. Who wants to know the state of the buffer asks whether
 * the job has ended; nobody else says so.
 */
struct buffer_writer {
	atomic_uint holds;
	/* If its job has ended, set the state of its buffers, once. No lock of a buffer is held. */
	void (*settle)(struct buffer_writer *writer);
	void (*free)(struct buffer_writer *writer);
};

void buffer_writer_put(struct buffer_writer *writer);

struct nnhal_buffer {
	/*
	 * First member. Its holds: one for all of refs together, one for each use in a request
	 * and each copy.
	 */
	struct token_entry entry;
	atomic_uint refs;
	struct nnhal_device *device;	/* referenced; no sibling */
	struct buffer_layout layout;
	struct role *roles;
	uint32_t num_roles;
	pthread_mutex_t lock;
	struct nnhal_memory *storage;	/* NULL: not yet */
	bool is_initialized;
	struct shape shape;		/* of the content, or of what @writer writes */
	struct buffer_writer *writer;	/* held; NULL: none. Then it is not initialised */
};

/* Does a shape, all of whose dimensions are known, fit what is known? */
bool layout_takes(const struct buffer_layout *layout, const uint32_t *dims, uint32_t rank);
/* Bytes of a shape. False: more than 32 bits. */
bool layout_size(const struct buffer_layout *layout, const struct shape *shape, uint32_t *size);

/*
 * Make a buffer; it takes ownership of @roles, which are in allocated memory, also after an error. 0
 * or -errno.
 */
int buffer_create(struct nnhal_device *device, const struct buffer_layout *layout,
		  struct role *roles, uint32_t num_roles, struct nnhal_buffer **result);
/* The buffer of a token, with a hold; NULL: there is none. @device may be a sibling. */
struct nnhal_buffer *buffer_find(struct nnhal_device *device, uint32_t token);
void buffer_put(struct nnhal_buffer *buffer);
/* One more hold of a buffer that is held; returns @buffer. */
static inline struct nnhal_buffer *buffer_hold(struct nnhal_buffer *buffer)
{
	if (buffer)
		atomic_fetch_add_explicit(&buffer->entry.holds, 1, memory_order_relaxed);
	return buffer;
}
bool roles_have(const struct role *roles, uint32_t num_roles, const struct role *role);
static inline bool buffer_has_role(const struct nnhal_buffer *buffer, const struct role *role)
{
	return roles_have(buffer->roles, buffer->num_roles, role);
}

/*
 * Its memory, with a reference, and the shape of the content. False: it is uninitialised. @early: the
 * content that its writer is about to write is as good.
 */
bool buffer_read(struct nnhal_buffer *buffer, bool early, struct nnhal_memory **storage,
		 struct shape *shape);
/*
 * Memory for @size bytes, with a reference: that of the buffer, or new one if that is too small. @size
 * may be 0: what there is. 0 or -errno.
 */
int buffer_room(struct nnhal_buffer *buffer, uint32_t size, struct nnhal_memory **storage);
/* A write has ended: @storage, of buffer_room(), has content of this shape. */
void buffer_set(struct nnhal_buffer *buffer, struct nnhal_memory *storage,
		const struct shape *shape);
/* A write begins that nobody waits for: @storage, of buffer_room(), gets content of this shape. */
void buffer_begin(struct nnhal_buffer *buffer, struct nnhal_memory *storage,
		  const struct shape *shape, struct buffer_writer *writer);
/* It has ended: buffer_set(), unless others have written since it began. @shape NULL: it has failed. */
void buffer_end(struct nnhal_buffer *buffer, struct nnhal_memory *storage,
		const struct shape *shape, struct buffer_writer *writer);
/* A write has failed. */
void buffer_reset(struct nnhal_buffer *buffer);
/*
 * A write has failed, but may still go on: @storage, of buffer_room(), is not used again. @writer: that of
 * buffer_begin(), in which case nothing happens to what others have written since; NULL: there was none.
 */
void buffer_abandon(struct nnhal_buffer *buffer, struct nnhal_memory *storage,
		    struct buffer_writer *writer);
/* The next write may need that much: take memory of buffer_room(), without content. */
void buffer_reserve(struct nnhal_buffer *buffer, struct nnhal_memory *storage);

#endif /* NNHAL_BUFFER_PRIVATE_H */
