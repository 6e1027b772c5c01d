// SPDX-License-Identifier: MIT
/*
 * Shapes of arguments.
 */
#include <nnhal/util.h>

#include "compile/argument_shape.h"
#include "model/ndk_model.h"

/* Bytes of an argument of known shape; UINT64_MAX: too many. */
static uint64_t size_of(const struct ndk_shape *shape)
{
	uint64_t bytes = shape->extension;
	uint32_t size;

	if (!shape->extension)
		return nnhal_size_of_data(shape->operand->type, shape->dimensions, shape->num_dimensions,
					  &size) ? UINT64_MAX : size;
	for (uint32_t i = 0; i < shape->num_dimensions && bytes <= UINT32_MAX; i++)
		bytes *= shape->dimensions[i];
	return bytes <= UINT32_MAX ? bytes : UINT64_MAX;
}

static void set_dimensions(struct ndk_shape *shape, const uint32_t *dimensions, uint32_t num_dimensions)
{
	shape->dimensions = dimensions;
	shape->num_dimensions = num_dimensions;
	shape->is_open = !shape->is_scalar &&
			 nnhal_tensor_has_unspecified_dimensions(shape->operand->type, dimensions,
								 num_dimensions);
	if (shape->has_size)
		shape->size = size_of(shape);
}

void ndk_shape_of_operand(const struct nnhal_operand *operand, const struct nnhal_operand_type_info *info,
			  struct ndk_shape *shape)
{
	uint32_t type = operand->type;
	bool is_extension = nnhal_is_extension_operand_type(type);

	*shape = (struct ndk_shape){
		.operand = operand,
		.extension = info ? info->element_size : 0,
		.is_scalar = info ? !info->is_tensor : nnhal_operand_type_is_scalar(type),
	};
	shape->has_size = is_extension ? shape->extension :
			  type != NNHAL_OPERAND_OEM && type != NNHAL_OPERAND_TENSOR_OEM_BYTE;
	set_dimensions(shape, operand->dimensions, operand->num_dimensions);
}

/* Programs give another quantization as well; it only has to be one that the type can have. */
static bool is_type(const ANeuralNetworksModel *model, const struct nnhal_operand *operand,
		    const ANeuralNetworksOperandType *type)
{
	struct nnhal_operand given = *operand;

	if (type->scale == operand->scale && type->zeroPoint == operand->zero_point)
		return true;
	given.scale = type->scale;
	given.zero_point = type->zeroPoint;
	return ndk_check_operand(model, &given) == ANEURALNETWORKS_NO_ERROR;
}

static bool type_agrees(const struct nnhal_operand *operand,
			const ANeuralNetworksOperandType *type)
{
	uint32_t i;

	if ((uint32_t)type->type != operand->type || !type->dimensionCount != !type->dimensions || type->dimensionCount > NNHAL_MAX_RANK)
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

bool ndk_shape_refine(const ANeuralNetworksModel *model, const struct ndk_shape *of_model,
		      const ANeuralNetworksOperandType *type, struct ndk_shape *shape)
{
	if (!type_agrees(of_model->operand, type) || !is_type(model, of_model->operand, type))
		return false;
	*shape = *of_model;
	set_dimensions(shape, type->dimensions, type->dimensionCount);
	return true;
}
