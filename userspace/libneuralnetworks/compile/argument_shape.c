// SPDX-License-Identifier: MIT
/*
 * Shapes of arguments.
 */
#include <nnhal/util.h>

#include "compile/argument_shape.h"

static bool has_size(uint32_t type)
{
	return !nnhal_is_extension_operand_type(type) && type != NNHAL_OPERAND_OEM &&
	       type != NNHAL_OPERAND_TENSOR_OEM_BYTE;
}

static void set_shape(struct ndk_shape *shape, const struct nnhal_operand *operand,
		      const uint32_t *dimensions, uint32_t num_dimensions)
{
	uint32_t size;

	*shape = (struct ndk_shape){
		.operand = operand,
		.dimensions = dimensions,
		.num_dimensions = num_dimensions,
		.has_size = has_size(operand->type),
	};
	shape->is_open = !nnhal_operand_type_is_scalar(operand->type) &&
			 nnhal_tensor_has_unspecified_dimensions(operand->type, dimensions,
								 num_dimensions);
	if (!shape->has_size)
		return;
	if (nnhal_size_of_data(operand->type, dimensions, num_dimensions, &size))
		shape->size = UINT64_MAX;
	else if (!shape->is_open)
		shape->size = size;
}

void ndk_shape_of_operand(const struct nnhal_operand *operand, struct ndk_shape *shape)
{
	set_shape(shape, operand, operand->dimensions, operand->num_dimensions);
}

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

bool ndk_shape_refine(const struct nnhal_operand *operand, const ANeuralNetworksOperandType *type,
		      struct ndk_shape *shape)
{
	if (!type_agrees(operand, type))
		return false;
	set_shape(shape, operand, type->dimensions, type->dimensionCount);
	return true;
}
