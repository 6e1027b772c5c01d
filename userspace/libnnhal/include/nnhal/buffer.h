/* SPDX-License-Identifier: MIT */
/*
 * Buffers of a device: IDevice.allocate and IBuffer of the HAL, its memory domains.
 *
 * A buffer holds one operand in memory of the device. nnhal_device_allocate() makes it for
 * roles: inputs and outputs of prepared models. A request names it by a token, in the place of
 * a memory object; the argument has offset and length 0, which means the whole buffer. The device
 * writes and reads it in place, so what one execution leaves there the next one finds without a
 * copy. nnhal_buffer_copy_from() and nnhal_buffer_copy_to() have the device copy from and to
 * memory objects of any kind.
 *
 * A new buffer is uninitialised. A copy to it and an execution with it as output that succeed
 * initialise it and set its shape. A copy to it that fails, for whatever reason, and an execution
 * with it as output that fails leave it uninitialised. A request that is refused since it breaks a
 * rule changes nothing. A copy from an uninitialised buffer and an execution with one as input give
 * GENERAL_FAILURE.
 *
 * Roles and description together may leave dimensions open. Such a buffer takes a new shape each
 * time something is written to it. Its memory is made when it is needed and replaced when it is
 * too small: an execution whose output does not fit is run again by the library with larger memory.
 * A burst runs nothing again: the execution ends with GENERAL_FAILURE, and the next one has
 * the memory that the output needs.
 *
 * A token is good for requests to models of the device that gave it, in the process that opened the
 * device. Any number of executions and copies may read a buffer at once. Who writes it while others
 * read or write it gets any content, or an error; nobody waits for anybody.
 *
 * All functions may be called from any thread. A child of fork() must not use the buffers of its
 * parent: calls return DEVICE_UNAVAILABLE there. It may release its references.
 */
#ifndef NNHAL_BUFFER_H
#define NNHAL_BUFFER_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_buffer;
struct nnhal_device;
struct nnhal_memory;
struct nnhal_prepared_model;

/**
 * struct nnhal_buffer_desc - BufferDesc: what is known of the operand beside its roles
 * @size: sizeof(struct nnhal_buffer_desc)
 * @num_dimensions: entries of @dimensions; 0: nothing is known; always 0 for a scalar
 * @dimensions: sizes, 0 = not known; not used after the call
 */
struct nnhal_buffer_desc {
	size_t size;
	uint32_t num_dimensions;
	const uint32_t *dimensions;
};

/* Nothing is known. */
#define NNHAL_BUFFER_DESC_INIT	{ sizeof(struct nnhal_buffer_desc), 0, NULL }

/**
 * struct nnhal_buffer_role - BufferRole: one use of a buffer
 * @model_index: index into the models of the call
 * @io_index: number of the input or output of that model
 * @frequency: how likely it is that a request of that model uses the buffer in this role: above 0,
 *	at most 1. A hint without effect
 */
struct nnhal_buffer_role {
	uint32_t model_index;
	uint32_t io_index;
	float frequency;
};

/**
 * nnhal_device_allocate() - allocate: make a buffer
 * @device: device
 * @desc: dimensions; they and those of all roles must agree where both are known
 * @models: @num_models models that were prepared by @device. The buffer keeps no reference of
 *	them
 * @num_models: not 0
 * @input_roles: inputs for which it may be used
 * @num_input_roles: entries of @input_roles
 * @output_roles: outputs for which it may be used
 * @num_output_roles: entries of @output_roles; not 0 unless there are input roles
 * @buffer: out: buffer with one reference, NULL after an error
 * @token: out: its token, at least 65536; 0 after an error
 * @diag: filled in after an error; names the role at fault; may be NULL
 *
 * All roles must have the same operand type, scale, zeroPoint and extraParams. A role may
 * occur once, also if two indexes name the same model. Two buffers never have the same token. The
 * token names nothing any more when the last reference of the buffer is released.
 *
 * Return: NONE; INVALID_ARGUMENT (no role, a model of another device, an index or a frequency
 * out of range, roles that differ); DEVICE_UNAVAILABLE, DEAD_OBJECT; GENERAL_FAILURE: the device
 * cannot copy, the operand is of a type whose size is not known, of a rank above NNHAL_MAX_RANK
 * or above 4 GiB, or a shortage of resources, because the HAL has no other status for it here.
 */
enum nnhal_status nnhal_device_allocate(struct nnhal_device *device,
					const struct nnhal_buffer_desc *desc,
					struct nnhal_prepared_model *const *models,
					uint32_t num_models,
					const struct nnhal_buffer_role *input_roles,
					uint32_t num_input_roles,
					const struct nnhal_buffer_role *output_roles,
					uint32_t num_output_roles, struct nnhal_buffer **buffer,
					uint32_t *token, struct nnhal_diag *diag);

/**
 * nnhal_buffer_copy_to() - IBuffer.copyTo: copy the content of a buffer to memory
 * @buffer: buffer
 * @memory: memory object of any kind; its size is exactly that of the content
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; INVALID_ARGUMENT (another size, memory that cannot be written, or the buffer's own
 * memory); GENERAL_FAILURE (the buffer is uninitialised, or the copy failed; then the content of
 * @memory is not defined); DEVICE_UNAVAILABLE, DEAD_OBJECT.
 */
enum nnhal_status nnhal_buffer_copy_to(struct nnhal_buffer *buffer, struct nnhal_memory *memory,
				       struct nnhal_diag *diag);

/**
 * nnhal_buffer_copy_from() - IBuffer.copyFrom: set the content of a buffer
 * @buffer: buffer
 * @memory: memory object of any kind; its size is exactly that of the shape
 * @dimensions: the shape: all dimensions, none of them 0
 * @num_dimensions: entries of @dimensions. 0: the shape that the buffer was made with, if that is
 *	known; always 0 for a scalar
 * @diag: filled in after an error; may be NULL
 *
 * The buffer is uninitialised after any status but NONE.
 *
 * Return: NONE; INVALID_ARGUMENT (dimensions that contradict the buffer or leave its shape open,
 * another size, memory that cannot be read, or the buffer's own memory); GENERAL_FAILURE (the copy
 * failed, or a shortage of resources); DEVICE_UNAVAILABLE, DEAD_OBJECT.
 */
enum nnhal_status nnhal_buffer_copy_from(struct nnhal_buffer *buffer, struct nnhal_memory *memory,
					 const uint32_t *dimensions, uint32_t num_dimensions,
					 struct nnhal_diag *diag);

/**
 * nnhal_buffer_reset() - take the content of a buffer away
 * @buffer: buffer
 *
 * It is uninitialised then, as after a copy to it that fails; it keeps its memory. The HAL has no such
 * call.
 *
 * Return: NONE; INVALID_ARGUMENT (NULL); DEVICE_UNAVAILABLE (in a child of fork()).
 */
enum nnhal_status nnhal_buffer_reset(struct nnhal_buffer *buffer);

/**
 * struct nnhal_buffer_state - the present state of a buffer
 * @size: in: sizeof(struct nnhal_buffer_state)
 * @is_initialized: it has content
 * @num_dimensions: rank of the content, else of what is known of the buffer
 * @dimensions: sizes. Initialised: those of the content, 0 = empty. Else those that are known, 0 =
 *	not known
 * @content_size: bytes of the content, 0 without any
 */
struct nnhal_buffer_state {
	size_t size;
	bool is_initialized;
	uint32_t num_dimensions;
	uint32_t dimensions[NNHAL_MAX_RANK];
	uint64_t content_size;
};

#define NNHAL_BUFFER_STATE_INIT	{ sizeof(struct nnhal_buffer_state), false, 0, { 0 }, 0 }

/**
 * nnhal_buffer_get_state() - is a buffer initialised, and what is its shape?
 * @buffer: buffer
 * @state: in: size; out: everything else
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, or a structure of another version);
 * DEVICE_UNAVAILABLE (in a child of fork()).
 */
enum nnhal_status nnhal_buffer_get_state(struct nnhal_buffer *buffer,
					 struct nnhal_buffer_state *state);

/**
 * nnhal_buffer_export() - the memory of a buffer as a file descriptor
 * @buffer: buffer
 * @fd: out: descriptor (close-on-exec), which the caller closes; -1 after an error
 * @diag: filled in after an error; may be NULL
 *
 * It is a dma-buf, for other devices and processes; on the in-process device a memfd. The operand
 * begins at its first byte. What others write there changes the content, never the state. The
 * memory may be replaced by what is written to the buffer later, if dimensions of the buffer are
 * open, or if a write failed whose job may still go on; the descriptor then has the former content.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer); GENERAL_FAILURE (there is no memory until the
 * next write: its size is not known yet, or the last write may still go on);
 * RESOURCE_EXHAUSTED_PERSISTENT (no descriptor is left); DEVICE_UNAVAILABLE.
 */
enum nnhal_status nnhal_buffer_export(struct nnhal_buffer *buffer, int *fd,
				      struct nnhal_diag *diag);

/** nnhal_buffer_ref() - take a reference; returns @buffer */
struct nnhal_buffer *nnhal_buffer_ref(struct nnhal_buffer *buffer);

/**
 * nnhal_buffer_unref() - release a reference; NULL is allowed
 *
 * With the last release the token becomes invalid. The memory lives on until executions that use it
 * have ended.
 */
void nnhal_buffer_unref(struct nnhal_buffer *buffer);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_BUFFER_H */
