// SPDX-License-Identifier: MIT
/*
 * Arguments of executions, and the request that they make.
 */
#include <string.h>

#include "execute/ndk_execution.h"

/* An argument that may be set, and its shape: the model's, or that of the type that was given. */
struct unset {
	struct ndk_argument *argument;
	const struct ndk_shape *shape;
	struct ndk_shape refined;
};

static int find_unset(ANeuralNetworksExecution *e, bool output, int32_t index,
		      const ANeuralNetworksOperandType *type, struct unset *u)
{
	if (ndk_execution_state(e) != STATE_PREPARED)
		return ANEURALNETWORKS_BAD_STATE;
	u->shape = index < 0 ? NULL : ndk_argument_shape(e->compilation, output, (uint32_t)index);
	if (!u->shape)
		return ANEURALNETWORKS_BAD_DATA;
	if (type) {
		if (!ndk_shape_refine(e->compilation->model, u->shape, type, &u->refined))
			return ANEURALNETWORKS_BAD_DATA;
		u->shape = &u->refined;
	}
	u->argument = &e->arguments[(uint32_t)index + (output ? e->num_inputs : 0)];
	return u->argument->is_set ? ANEURALNETWORKS_BAD_STATE : ANEURALNETWORKS_NO_ERROR;
}

static struct nnhal_request_argument *in_request(ANeuralNetworksExecution *e,
						 const struct ndk_argument *a)
{
	return &e->hal_arguments[a - e->arguments];
}

static int omit(ANeuralNetworksExecution *e, struct ndk_argument *a)
{
	in_request(e, a)->has_no_value = true;
	a->is_set = true;
	e->num_set++;
	return ANEURALNETWORKS_NO_ERROR;
}

/* The pool of an argument; arguments in the same memory that are set one after the other share it. */
static uint32_t pool_of(ANeuralNetworksExecution *e, const struct ndk_argument *a)
{
	struct nnhal_request_pool pool = { .memory = a->hal };
	uint32_t number = e->request.num_pools;

	if (a->memory) {
		pool.memory = a->memory->memory;
		pool.token = a->memory->token;
	}
	if (number && pool.memory && e->pools[number - 1].memory == pool.memory)
		return number - 1;
	e->pools[number] = pool;
	e->request.num_pools = number + 1;
	return number;
}

/* An argument that has its memory becomes one of the request. */
static int set(ANeuralNetworksExecution *e, const struct unset *u, uint32_t offset, uint32_t length)
{
	const struct ndk_shape *shape = u->shape;
	struct ndk_argument *a = u->argument;
	struct nnhal_request_argument *to = in_request(e, a);

	if (shape == &u->refined && shape->num_dimensions) {
		memcpy(a->dimensions, shape->dimensions,
		       shape->num_dimensions * sizeof(*a->dimensions));
		to->num_dimensions = shape->num_dimensions;
		to->dimensions = a->dimensions;
	}
	to->location = (struct nnhal_data_location){ pool_of(e, a), offset, length };
	a->is_set = true;
	e->num_set++;
	return ANEURALNETWORKS_NO_ERROR;
}

static int set_pointer(ANeuralNetworksExecution *e, bool output, int32_t index,
		       const ANeuralNetworksOperandType *type, void *buffer, size_t length)
{
	enum nnhal_status status;
	struct unset u;
	int result;

	if (!e || (!buffer && length))
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_unset(e, output, index, type, &u);
	if (result)
		return result;
	if (!buffer)
		return omit(e, u.argument);
	if (!ndk_shape_has_length(u.shape, output, e->said.padded, length))
		return ANEURALNETWORKS_BAD_DATA;
	length = ndk_shape_used(u.shape, length);
	/* An output of open shape may have no room at all; then its first byte is not used. */
	status = nnhal_memory_from_pointer(buffer, length ? length : 1,
					   output ? NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE :
						    NNHAL_MEMORY_READ, &u.argument->hal, NULL);
	return status ? ndk_result(status) : set(e, &u, 0, (uint32_t)length);
}

/* Is the shape of an argument that of memory of a descriptor, as far as both are known? */
static bool agrees(const ANeuralNetworksMemory *memory, const struct ndk_shape *shape)
{
	uint32_t i;

	if (!shape->num_dimensions || !memory->rank)
		return true;
	for (i = 0; i < shape->num_dimensions && i < memory->rank; i++)
		if (shape->dimensions[i] && memory->dimensions[i] &&
		    shape->dimensions[i] != memory->dimensions[i])
			return false;
	return shape->num_dimensions == memory->rank;
}

/* Where in memory is an argument? A whole one is named by offset and length 0, and gets its length. */
static bool is_place(const ANeuralNetworksMemory *memory, const struct ndk_shape *shape, bool output,
		     bool padded, size_t offset, size_t *length)
{
	uint64_t size;

	if (memory->whole && (offset || *length))
		return false;
	/* It has a shape of its own, with which a type may not disagree. */
	if (memory->num_roles && !agrees(memory, shape))
		return false;
	if (memory->buffer)
		return true;
	if (ndk_memory_is_shared(memory)) {
		*length = nnhal_memory_size(memory->memory);
		return true;
	}
	size = nnhal_memory_size(memory->memory);
	/* An image: as many of its bytes as the operand has. */
	if (memory->whole)
		*length = shape->has_size && !shape->is_open ? shape->size : size;
	if (offset > size || size - offset < *length || offset > UINT32_MAX ||
	    !ndk_shape_has_length(shape, output, padded, *length))
		return false;
	*length = ndk_shape_used(shape, *length);
	return true;
}

static int set_memory(ANeuralNetworksExecution *e, bool output, int32_t index,
		      const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory,
		      size_t offset, size_t length)
{
	struct unset u;
	int result;

	if (!e || !memory)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_unset(e, output, index, type, &u);
	if (result)
		return result;
	if (!ndk_memory_has_role(memory, e->compilation, output, (uint32_t)index) ||
	    !is_place(memory, u.shape, output, e->said.padded, offset, &length))
		return ANEURALNETWORKS_BAD_DATA;
	u.argument->memory = ndk_memory_ref(memory);
	if (ndk_memory_is_shared(memory)) {
		e->num_shared++;
		u.refined = *u.shape;
		u.refined.dimensions = memory->dimensions;
		u.refined.num_dimensions = memory->rank;
		u.shape = &u.refined;
	}
	return set(e, &u, (uint32_t)offset, (uint32_t)length);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
				      const ANeuralNetworksOperandType *type, const void *buffer,
				      size_t length)
{
	/* An input is only read. */
	return set_pointer(execution, false, index, type, (void *)buffer, length);
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
				       const ANeuralNetworksOperandType *type, void *buffer,
				       size_t length)
{
	return set_pointer(execution, true, index, type, buffer, length);
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
						const ANeuralNetworksOperandType *type,
						const ANeuralNetworksMemory *memory,
						size_t offset, size_t length)
{
	return set_memory(execution, false, index, type, memory, offset, length);
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution,
						 int32_t index,
						 const ANeuralNetworksOperandType *type,
						 const ANeuralNetworksMemory *memory,
						 size_t offset, size_t length)
{
	return set_memory(execution, true, index, type, memory, offset, length);
}
