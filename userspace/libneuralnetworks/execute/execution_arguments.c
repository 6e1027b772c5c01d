// SPDX-License-Identifier: MIT
/*
 * Arguments of executions, and the request that they make.
 */
#include <string.h>

#include "base/ndk_why.h"
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
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the execution was started");
	u->shape = index < 0 ? NULL : ndk_argument_shape(e->compilation, output, (uint32_t)index);
	if (!u->shape)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %d: the model has %u", output ? "output" : "input",
			       index,
			       output ? e->num_arguments - e->num_inputs : e->num_inputs);
	if (type) {
		int result = ndk_shape_refine(e->compilation->model, u->shape, output, (uint32_t)index, type,
					      &u->refined);

		if (result)
			return result;
		u->shape = &u->refined;
	}
	u->argument = &e->arguments[(uint32_t)index + (output ? e->num_inputs : 0)];
	if (u->argument->is_set)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "%s %d is set", output ? "output" : "input", index);
	return ANEURALNETWORKS_NO_ERROR;
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

static int set_pointer(ANeuralNetworksExecution *execution, bool output, int32_t index,
		       const ANeuralNetworksOperandType *type, void *buffer, size_t length)
{
	enum nnhal_status status;
	struct nnhal_diag diag;
	struct unset u;
	char text[64];
	int result;

	if (!execution || (!buffer && length))
		return WHY_NULL(execution, buffer);
	result = find_unset(execution, output, index, type, &u);
	if (result)
		return result;
	if (!buffer)
		return omit(execution, u.argument);
	if (!ndk_shape_has_length(u.shape, output, execution->said.padded, length))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %d: %zu bytes, %s", output ? "output" : "input", index,
			       length,
			       ndk_shape_text(u.shape, text, sizeof(text)));
	length = ndk_shape_used(u.shape, length);
	/* An output of open shape may have no room at all; then its first byte is not used. */
	status = nnhal_memory_from_pointer(buffer, length ? length : 1,
					   output ? NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE :
						    NNHAL_MEMORY_READ, &u.argument->hal, &diag);
	return status ? ndk_why_status(status, &diag, "the memory of the argument") :
			set(execution, &u, 0, (uint32_t)length);
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
static int find_place(const ANeuralNetworksMemory *memory, const struct ndk_shape *shape, bool output, uint32_t index,
		      bool padded, size_t offset, size_t *length)
{
	const char *what = output ? "output" : "input";
	uint64_t size;
	char text[64];

	if (memory->whole && (offset || *length))
		return ndk_why(ANEURALNETWORKS_BAD_DATA,
			       "%s %u: offset %zu and length %zu in memory that is only a whole argument", what,
			       index, offset, *length);
	/* It has a shape of its own, with which a type may not disagree. */
	if (memory->num_roles && !agrees(memory, shape))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: its shape is not that of the memory", what, index);
	if (memory->buffer)
		return ANEURALNETWORKS_NO_ERROR;
	if (ndk_memory_is_shared(memory)) {
		*length = nnhal_memory_size(memory->memory);
		return ANEURALNETWORKS_NO_ERROR;
	}
	size = nnhal_memory_size(memory->memory);
	/* An image: as many of its bytes as the operand has. */
	if (memory->whole)
		*length = shape->has_size && !shape->is_open ? shape->size : size;
	if (offset > size || size - offset < *length || offset > UINT32_MAX)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: offset %zu and length %zu in memory of %llu bytes",
			       what, index, offset, *length, (unsigned long long)size);
	if (!ndk_shape_has_length(shape, output, padded, *length))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: %zu bytes, %s", what, index, *length,
			       ndk_shape_text(shape, text, sizeof(text)));
	*length = ndk_shape_used(shape, *length);
	return ANEURALNETWORKS_NO_ERROR;
}

static int set_memory(ANeuralNetworksExecution *execution, bool output, int32_t index,
		      const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory,
		      size_t offset, size_t length)
{
	struct unset u;
	int result;

	if (!execution || !memory)
		return WHY_NULL(execution, memory);
	result = find_unset(execution, output, index, type, &u);
	if (result)
		return result;
	if (!ndk_memory_has_role(memory, execution->compilation, output, (uint32_t)index))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %d is no role of the memory",
			       output ? "output" : "input", index);
	result = find_place(memory, u.shape, output, (uint32_t)index, execution->said.padded, offset, &length);
	if (result)
		return result;
	u.argument->memory = ndk_memory_ref(memory);
	if (ndk_memory_is_shared(memory)) {
		execution->num_shared++;
		u.refined = *u.shape;
		u.refined.dimensions = memory->dimensions;
		u.refined.num_dimensions = memory->rank;
		u.shape = &u.refined;
	}
	return set(execution, &u, (uint32_t)offset, (uint32_t)length);
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
				      const ANeuralNetworksOperandType *type, const void *buffer,
				      size_t length)
{
	/* An input is only read. */
	return TELL(set_pointer(execution, false, index, type, (void *)buffer, length));
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
				       const ANeuralNetworksOperandType *type, void *buffer,
				       size_t length)
{
	return TELL(set_pointer(execution, true, index, type, buffer, length));
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
						const ANeuralNetworksOperandType *type,
						const ANeuralNetworksMemory *memory,
						size_t offset, size_t length)
{
	return TELL(set_memory(execution, false, index, type, memory, offset, length));
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution,
						 int32_t index,
						 const ANeuralNetworksOperandType *type,
						 const ANeuralNetworksMemory *memory,
						 size_t offset, size_t length)
{
	return TELL(set_memory(execution, true, index, type, memory, offset, length));
}
