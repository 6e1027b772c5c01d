// SPDX-License-Identifier: MIT
/*
 * Arguments of executions, and the request that they make.
 */
#include <nnhal/util.h>
#include <string.h>

#include "execute/ndk_execution.h"

/* What an argument is, by the model and the type that was given. */
struct shape {
	const struct nnhal_operand *operand;
	const uint32_t *dimensions;
	uint32_t num_dimensions;
	bool open;
};

static bool has_size(uint32_t type)
{
	return !nnhal_is_extension_operand_type(type) && type != NNHAL_OPERAND_OEM &&
	       type != NNHAL_OPERAND_TENSOR_OEM_BYTE;
}

/* A type may say more than the model, but never less or something else. */
static bool type_agrees(const struct nnhal_operand *operand,
			const ANeuralNetworksOperandType *type)
{
	uint32_t i;

	if ((uint32_t)type->type != operand->type || type->scale != operand->scale ||
	    type->zeroPoint != operand->zero_point ||
	    !type->dimensionCount != !type->dimensions || type->dimensionCount > NNHAL_MAX_RANK)
		return false;
	if (nnhal_operand_type_is_scalar(operand->type))
		return !type->dimensionCount;
	if (operand->num_dimensions && type->dimensionCount != operand->num_dimensions)
		return false;
	for (i = 0; i < operand->num_dimensions; i++)
		if (operand->dimensions[i] && type->dimensions[i] != operand->dimensions[i])
			return false;
	return true;
}

static int get_shape(const ANeuralNetworksExecution *e, bool output, int32_t index,
		     const ANeuralNetworksOperandType *type, struct shape *shape)
{
	const struct nnhal_operand *operand = index < 0 ? NULL :
		ndk_argument_operand(e->compilation, output, (uint32_t)index);

	if (!operand || (type && !type_agrees(operand, type)))
		return ANEURALNETWORKS_BAD_DATA;
	*shape = (struct shape){
		.operand = operand,
		.dimensions = type ? type->dimensions : operand->dimensions,
		.num_dimensions = type ? type->dimensionCount : operand->num_dimensions,
	};
	shape->open = !nnhal_operand_type_is_scalar(operand->type) &&
		      nnhal_tensor_has_unspecified_dimensions(operand->type, shape->dimensions,
							      shape->num_dimensions);
	return ANEURALNETWORKS_NO_ERROR;
}

/* A length that is right: that of the shape; any for an output of open shape. */
static bool length_is_right(const struct shape *shape, bool output, size_t length)
{
	uint32_t size;

	if (length > UINT32_MAX || (shape->open && !output))
		return false;
	if (!has_size(shape->operand->type))
		return true;
	if (nnhal_size_of_data(shape->operand->type, shape->dimensions, shape->num_dimensions,
			       &size))
		return false;
	return shape->open || size == length;
}

/* The argument of an index, with its shape, if it may be set. */
static int find_argument(ANeuralNetworksExecution *e, bool output, int32_t index,
			 const ANeuralNetworksOperandType *type, struct ndk_argument **argument,
			 struct shape *shape)
{
	int result;

	if (ndk_execution_state(e) != STATE_PREPARED)
		return ANEURALNETWORKS_BAD_STATE;
	result = get_shape(e, output, index, type, shape);
	if (result)
		return result;
	*argument = &e->arguments[(uint32_t)index + (output ? e->num_inputs : 0)];
	return (*argument)->is_set ? ANEURALNETWORKS_BAD_STATE : ANEURALNETWORKS_NO_ERROR;
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
static int set(ANeuralNetworksExecution *e, struct ndk_argument *a,
	       const ANeuralNetworksOperandType *type, const struct shape *shape, uint32_t offset,
	       uint32_t length)
{
	struct nnhal_request_argument *to = in_request(e, a);

	if (type && shape->num_dimensions) {
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
	struct ndk_argument *a;
	struct shape shape;
	enum nnhal_status status;
	int result;

	if (!e || (!buffer && length))
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_argument(e, output, index, type, &a, &shape);
	if (result)
		return result;
	if (!buffer)
		return omit(e, a);
	if (!length_is_right(&shape, output, length))
		return ANEURALNETWORKS_BAD_DATA;
	/* An output of open shape may have no room at all; then its first byte is not used. */
	status = nnhal_memory_from_pointer(buffer, length ? length : 1,
					   output ? NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE :
						    NNHAL_MEMORY_READ, &a->hal, NULL);
	return status ? ndk_result(status) : set(e, a, type, &shape, 0, (uint32_t)length);
}

/* Where in memory an argument is; a whole one is named by offset and length 0. The length is set. */
static int find_place(const ANeuralNetworksMemory *memory, const struct shape *shape, bool output,
		      size_t offset, size_t *length)
{
	uint64_t size = memory->buffer ? 0 : nnhal_memory_size(memory->memory);
	uint32_t bytes = 0;

	if (memory->whole) {
		if (offset || *length)
			return ANEURALNETWORKS_BAD_DATA;
		if (memory->buffer)
			return ANEURALNETWORKS_NO_ERROR;
		/* An image: as many of its bytes as the operand has. */
		if (!shape->open && has_size(shape->operand->type))
			nnhal_size_of_data(shape->operand->type, shape->dimensions,
					   shape->num_dimensions, &bytes);
		*length = bytes ? bytes : size;
	}
	if (offset > size || size - offset < *length || offset > UINT32_MAX ||
	    !length_is_right(shape, output, *length))
		return ANEURALNETWORKS_BAD_DATA;
	return ANEURALNETWORKS_NO_ERROR;
}

static int set_memory(ANeuralNetworksExecution *e, bool output, int32_t index,
		      const ANeuralNetworksOperandType *type, const ANeuralNetworksMemory *memory,
		      size_t offset, size_t length)
{
	struct ndk_argument *a;
	struct shape shape;
	int result;

	if (!e || !memory)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_argument(e, output, index, type, &a, &shape);
	if (result)
		return result;
	if (!ndk_memory_has_role(memory, e->compilation, output, (uint32_t)index))
		return ANEURALNETWORKS_BAD_DATA;
	result = find_place(memory, &shape, output, offset, &length);
	if (result)
		return result;
	a->memory = ndk_memory_ref(memory);
	return set(e, a, type, &shape, (uint32_t)offset, (uint32_t)length);
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
