// SPDX-License-Identifier: MIT
/*
 * Copies between memory objects.
 */
#include <nnhal/buffer.h>
#include <string.h>

#include "base/ndk_why.h"
#include "memory/ndk_memory.h"

/* Of what makes a copy fail, one has a result of its own: memory that cannot be mapped. */
static int copy_mapped(struct nnhal_memory *from, struct nnhal_memory *to)
{
	struct nnhal_diag diag;
	enum nnhal_status status = nnhal_memory_copy(from, to, &diag);

	if (status == NNHAL_STATUS_GENERAL_FAILURE &&
	    (!nnhal_memory_map(from, NULL) || !nnhal_memory_map(to, NULL)))
		return ndk_why(ANEURALNETWORKS_UNMAPPABLE, "memory that cannot be mapped");
	return ndk_why_status(status, &diag, "the copy");
}

/* Between two buffers, by memory of the content's size. */
static int copy_buffers(struct nnhal_buffer *from, struct nnhal_buffer *to,
			const struct nnhal_buffer_state *state)
{
	struct nnhal_memory *between;
	enum nnhal_status status;
	struct nnhal_diag diag;

	status = nnhal_memory_create(state->content_size, &between, &diag);
	if (status)
		return ndk_why_status(status, &diag, "memory for the copy");
	status = nnhal_buffer_copy_to(from, between, &diag);
	if (!status)
		status = nnhal_buffer_copy_from(to, between, state->dimensions,
						state->num_dimensions, &diag);
	nnhal_memory_unref(between);
	return ndk_why_status(status, &diag, "the copy");
}

/* Is this the shape of shared memory? */
static bool has_shape(const ANeuralNetworksMemory *memory, const uint32_t *dimensions, uint32_t rank)
{
	return memory->rank == rank &&
	       !memcmp(memory->dimensions, dimensions, rank * sizeof(*dimensions));
}

static int copy_out(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)
{
	struct nnhal_diag diag;

	return ndk_why_status(nnhal_buffer_copy_to(src->buffer, dst->memory, &diag), &diag, "the copy");
}

static int copy_in(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst, const uint32_t *dimensions,
		   uint32_t rank)
{
	struct nnhal_diag diag;

	return ndk_why_status(nnhal_buffer_copy_from(dst->buffer, src->memory, dimensions, rank, &diag), &diag,
			      "the copy");
}

/* At least one of them is shared memory of a descriptor. @state: of @src, if that is a buffer. */
static int copy_shared(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst,
		       const struct nnhal_buffer_state *state)
{
	bool from = ndk_memory_is_shared(src), to = ndk_memory_is_shared(dst);

	if ((from && to && !has_shape(dst, src->dimensions, src->rank)) ||
	    (src->buffer && !has_shape(dst, state->dimensions, state->num_dimensions)))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "the shapes of the two are not the same");
	if (src->buffer)
		return copy_out(src, dst);
	if (dst->buffer)
		return copy_in(src, dst, src->dimensions, src->rank);
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
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "the source has no content");
	if (is_image(src) || is_image(dst) ||
	    (ndk_memory_is_shared(src) && !ndk_memory_has_content(src)))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "an image, or a source without content");
	if (src == dst)
		return ANEURALNETWORKS_NO_ERROR;
	if (ndk_memory_is_shared(src) || ndk_memory_is_shared(dst))
		return copy_shared(src, dst, &state);
	if (src->buffer && dst->buffer)
		return copy_buffers(src->buffer, dst->buffer, &state);
	if (src->buffer)
		return copy_out(src, dst);
	if (dst->buffer)
		return copy_in(src, dst, NULL, 0);
	return copy_mapped(src->memory, dst->memory);
}

int ANeuralNetworksMemory_copy(const ANeuralNetworksMemory *src, const ANeuralNetworksMemory *dst)
{
	/* Programs have constant pointers to memory that is written. */
	ANeuralNetworksMemory *to = (ANeuralNetworksMemory *)dst;
	int result;

	if (!src || !dst)
		return REFUSE_NULL(src, dst);
	result = copy(src, dst);
	if (result && dst->buffer)
		nnhal_buffer_reset(dst->buffer);
	if (ndk_memory_is_shared(to)) {
		ndk_memory_begin_write(to, NULL);
		ndk_memory_end_write(to, NULL, result);
	}
	return TELL(result);
}
