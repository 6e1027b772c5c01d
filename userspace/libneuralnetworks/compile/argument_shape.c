// SPDX-License-Identifier: MIT
/*
 * Shapes of arguments.
 */
#include <nnhal/util.h>
#include <stdio.h>

#include "base/ndk_why.h"
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
static int check_quantization(const ANeuralNetworksModel *model, const struct nnhal_operand *operand,
			      const ANeuralNetworksOperandType *type)
{
	struct nnhal_operand given = *operand;

	if (type->scale == operand->scale && type->zeroPoint == operand->zero_point)
		return ANEURALNETWORKS_NO_ERROR;
	given.scale = type->scale;
	given.zero_point = type->zeroPoint;
	return ndk_check_operand(model, &given, (uint32_t)(operand - model->flat.hal.main.operands));
}

static int check_dimensions(const struct ndk_shape *of_model, const char *what, uint32_t index,
			    const ANeuralNetworksOperandType *type)
{
	const struct nnhal_operand *operand = of_model->operand;
	uint32_t i, rank = operand->num_dimensions;

	if (!type->dimensionCount != !type->dimensions || type->dimensionCount > NNHAL_MAX_RANK ||
	    (nnhal_operand_type_is_scalar(operand->type) && type->dimensionCount))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: a type of %u dimensions and %s list of them", what,
			       index, type->dimensionCount, type->dimensions ? "a" : "no");
	if (rank && type->dimensionCount != rank)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: a type of rank %u, the model says %u", what, index,
			       type->dimensionCount, rank);
	for (i = 0; i < rank; i++)
		if (operand->dimensions[i] && type->dimensions[i] != operand->dimensions[i])
			return ndk_why(ANEURALNETWORKS_BAD_DATA,
				       "%s %u: dimension %u of the type is %u, the model says %u", what, index, i,
				       type->dimensions[i], operand->dimensions[i]);
	return ANEURALNETWORKS_NO_ERROR;
}

int ndk_shape_refine(const ANeuralNetworksModel *model, const struct ndk_shape *of_model, bool output, uint32_t index,
		     const ANeuralNetworksOperandType *type, struct ndk_shape *shape)
{
	const char *what = output ? "output" : "input";
	int result;

	if ((uint32_t)type->type != of_model->operand->type)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: type %s, the model says %s", what, index,
			       nnhal_operand_type_name((uint32_t)type->type),
			       nnhal_operand_type_name(of_model->operand->type));
	result = check_dimensions(of_model, what, index, type);
	if (!result)
		result = check_quantization(model, of_model->operand, type);
	if (result)
		return result;
	*shape = *of_model;
	set_dimensions(shape, type->dimensions, type->dimensionCount);
	return ANEURALNETWORKS_NO_ERROR;
}

const char *ndk_shape_text(const struct ndk_shape *shape, char *text, size_t size)
{
	if (shape->is_open)
		snprintf(text, size, "and its shape is not known");
	else if (shape->has_size)
		snprintf(text, size, "its shape takes %llu", (unsigned long long)shape->size);
	else
		snprintf(text, size, "a length is at most 32 bits");
	return text;
}
