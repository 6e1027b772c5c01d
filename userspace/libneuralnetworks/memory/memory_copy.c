// SPDX-License-Identifier: MIT
/*
 * Copies between memory objects.
 */
#include <nnhal/buffer.h>
#include <string.h>

#include "memory/ndk_memory.h"

/* Of what makes a copy fail, one has a result of its own: memory that cannot be mapped. */
static int copy_mapped(struct nnhal_memory *from, struct nnhal_memory *to)
{
	enum nnhal_status status = nnhal_memory_copy(from, to, NULL);

	if (status == NNHAL_STATUS_GENERAL_FAILURE &&
	    (!nnhal_memory_map(from, NULL) || !nnhal_memory_map(to, NULL)))
		return ANEURALNETWORKS_UNMAPPABLE;
	return ndk_result(status);
}

/* Between two buffers, by memory of the content's size. */
static int copy_buffers(struct nnhal_buffer *from, struct nnhal_buffer *to,
			const struct nnhal_buffer_state *state)
{
	struct nnhal_memory *between;
	enum nnhal_status status;

	status = nnhal_memory_create(state->content_size, &between, NULL);
	if (status)
		return ndk_result(status);
	status = nnhal_buffer_copy_to(from, between, NULL);
	if (!status)
		status = nnhal_buffer_copy_from(to, between, state->dimensions,
						state->num_dimensions, NULL);
	nnhal_memory_unref(between);
	return ndk_result(status);
}

/* Is this the shape of shared memory? */
static bool has_shape(const ANeuralNetworksMemory *memory, const uint32_t *dimensions, uint32_t rank)
{
	return memory->rank == rank &&
	       !memcmp(memory->dimensions, dimensions, rank * sizeof(*dimensions));
}

/* At least one of them is shared memory of a descriptor. @state: of @src, if that is a buffer. */
static int copy_shared(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst,
		       const struct nnhal_buffer_state *state)
{
	bool from = ndk_memory_is_shared(src), to = ndk_memory_is_shared(dst);

	if ((from && to && !has_shape(dst, src->dimensions, src->rank)) ||
	    (src->buffer && !has_shape(dst, state->dimensions, state->num_dimensions)))
		return ANEURALNETWORKS_BAD_DATA;
	if (src->buffer)
		return ndk_result(nnhal_buffer_copy_to(src->buffer, dst->memory, NULL));
	if (dst->buffer)
		return ndk_result(nnhal_buffer_copy_from(dst->buffer, src->memory, src->dimensions,
							 src->rank, NULL));
	return copy_mapped(src->memory, dst->memory);
}

static bool is_image(const ANeuralNetworksMemory *memory)
{
	return memory->whole && !memory->num_roles;
}

static int copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)
{
	struct nnhal_buffer_state state = NNHAL_BUFFER_STATE_INIT;

	if (src->buffer && (nnhal_buffer_get_state(src->buffer, &state) || !state.is_initialized ||
			    !state.content_size))
		return ANEURALNETWORKS_BAD_DATA;
	if (is_image(src) || is_image(dst) ||
	    (ndk_memory_is_shared(src) && !ndk_memory_has_content(src)))
		return ANEURALNETWORKS_BAD_DATA;
	if (src == dst)
		return ANEURALNETWORKS_NO_ERROR;
	if (ndk_memory_is_shared(src) || ndk_memory_is_shared(dst))
		return copy_shared(src, dst, &state);
	if (src->buffer && dst->buffer)
		return copy_buffers(src->buffer, dst->buffer, &state);
	if (src->buffer)
		return ndk_result(nnhal_buffer_copy_to(src->buffer, dst->memory, NULL));
	if (dst->buffer)
		return ndk_result(nnhal_buffer_copy_from(dst->buffer, src->memory, NULL, 0, NULL));
	return copy_mapped(src->memory, dst->memory);
}

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)
{
	/* Programs have constant pointers to memory that is written. */
	ANeuralNetworksMemory *to = (ANeuralNetworksMemory *)dst;
	int result;

	if (!src || !dst)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = copy(src, dst);
	if (result && dst->buffer)
		nnhal_buffer_reset(dst->buffer);
	if (ndk_memory_is_shared(to)) {
		ndk_memory_begin_write(to, NULL);
		ndk_memory_end_write(to, NULL, result);
	}
	return result;
}
