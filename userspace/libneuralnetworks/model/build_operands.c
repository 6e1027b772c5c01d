// SPDX-License-Identifier: MIT
/*
 * Operands of a model and their values.
 */
#include <stdlib.h>
#include <string.h>

#include "model/ndk_model.h"

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model,
				    const ANeuralNetworksOperandType *type)
{
	struct nnhal_operand operand, *grown;
	uint32_t *dimensions;
	size_t size;
	int result;

	if (!model || !type)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (model->finished)
		return ANEURALNETWORKS_BAD_STATE;
	if (!type->dimensionCount != !type->dimensions || model->num_operands == INT32_MAX)
		return ANEURALNETWORKS_BAD_DATA;
	operand = (struct nnhal_operand){
		.type = (uint32_t)type->type, .num_dimensions = type->dimensionCount,
		.dimensions = type->dimensions, .scale = type->scale,
		.zero_point = type->zeroPoint,
	};
	result = ndk_check_operand(model, &operand);
	if (result)
		return result;
	grown = ndk_grow(model->operands, model->num_operands, sizeof(*grown));
	if (!grown)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	model->operands = grown;
	if (operand.num_dimensions) {
		size = operand.num_dimensions * sizeof(*dimensions);
		dimensions = ndk_model_alloc(model, operand.num_dimensions, sizeof(*dimensions));
		if (!dimensions)
			return ANEURALNETWORKS_OUT_OF_MEMORY;
		memcpy(dimensions, type->dimensions, size);
		operand.dimensions = dimensions;
	}
	model->operands[model->num_operands++] = operand;
	return ANEURALNETWORKS_NO_ERROR;
}

/* The operand @index of a model that can be changed. */
static int find_operand(ANeuralNetworksModel *model, int32_t index,
			struct nnhal_operand **operand)
{
	if (model->finished)
		return ANEURALNETWORKS_BAD_STATE;
	if (index < 0 || (uint32_t)index >= model->num_operands)
		return ANEURALNETWORKS_BAD_DATA;
	*operand = &model->operands[index];
	return ANEURALNETWORKS_NO_ERROR;
}

/* The operand, if it has no value yet. */
static int find_unset(ANeuralNetworksModel *model, int32_t index,
		      struct nnhal_operand **operand)
{
	int result = find_operand(model, index, operand);

	if (!result && (*operand)->lifetime != NNHAL_LIFETIME_TEMPORARY_VARIABLE)
		return ANEURALNETWORKS_BAD_STATE;
	return result;
}

/* A constant of @length bytes: its shape is known, and has that size. OEM types have any size. */
static int check_constant(const struct nnhal_operand *operand, size_t length)
{
	uint32_t size;

	if (operand->type == NNHAL_OPERAND_SUBGRAPH || length > UINT32_MAX)
		return ANEURALNETWORKS_BAD_DATA;
	if (operand->type == NNHAL_OPERAND_OEM || operand->type == NNHAL_OPERAND_TENSOR_OEM_BYTE ||
	    nnhal_is_extension_operand_type(operand->type))
		return ANEURALNETWORKS_NO_ERROR;
	if (nnhal_size_of_data(operand->type, operand->dimensions, operand->num_dimensions,
			       &size) ||
	    !size || size != length)
		return ANEURALNETWORKS_BAD_DATA;
	return ANEURALNETWORKS_NO_ERROR;
}

static int set_reference(ANeuralNetworksModel *model, struct nnhal_operand *operand,
			 struct nnhal_memory *memory, uint32_t offset, uint32_t length)
{
	struct nnhal_memory **grown;

	/*
	 * Constants come from one file as a rule, one after the other. A search through all pools would
	 * take time in the square of the model; that one is listed twice does no harm.
	 */
	if (!model->num_pools || model->pools[model->num_pools - 1] != memory) {
		grown = ndk_grow(model->pools, model->num_pools, sizeof(*grown));
		if (!grown)
			return ANEURALNETWORKS_OUT_OF_MEMORY;
		model->pools = grown;
		model->pools[model->num_pools++] = nnhal_memory_ref(memory);
	}
	operand->lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	operand->location = (struct nnhal_data_location){ model->num_pools - 1, offset, length };
	return ANEURALNETWORKS_NO_ERROR;
}

/* Each value begins at a multiple of 8, so that all types are aligned. */
static int set_copy(ANeuralNetworksModel *model, struct nnhal_operand *operand,
		    const void *value, uint32_t length)
{
	uint64_t offset = ((uint64_t)model->values_size + 7) & ~UINT64_C(7);
	uint64_t room = model->values_room;
	uint8_t *grown;

	if (offset + length > UINT32_MAX / 2)
		return ANEURALNETWORKS_BAD_DATA;
	/* A value of an OEM type may have no bytes; there has to be a place for it all the same. */
	if (offset + length > room || !model->values) {
		room = 2 * (offset + length) + 8;
		grown = realloc(model->values, room);
		if (!grown)
			return ANEURALNETWORKS_OUT_OF_MEMORY;
		model->values = grown;
		model->values_room = (uint32_t)room;
	}
	memset(model->values + model->values_size, 0, offset - model->values_size);
	memcpy(model->values + offset, value, length);
	model->values_size = (uint32_t)(offset + length);
	operand->lifetime = NNHAL_LIFETIME_CONSTANT_COPY;
	operand->location = (struct nnhal_data_location){ 0, (uint32_t)offset, length };
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index,
					 const void *buffer, size_t length)
{
	struct nnhal_operand *operand;
	struct nnhal_memory *memory;
	enum nnhal_status status;
	int result;

	if (!model || (!buffer && length))
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_unset(model, index, &operand);
	if (result)
		return result;
	if (!buffer) {
		if (operand->type == NNHAL_OPERAND_SUBGRAPH)
			return ANEURALNETWORKS_BAD_DATA;
		operand->lifetime = NNHAL_LIFETIME_NO_VALUE;
		return ANEURALNETWORKS_NO_ERROR;
	}
	result = check_constant(operand, length);
	if (result)
		return result;
	if (length <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES)
		return set_copy(model, operand, buffer, (uint32_t)length);
	status = nnhal_memory_from_pointer((void *)buffer, length, NNHAL_MEMORY_READ, &memory,
					   NULL);
	if (status)
		return ndk_result(status);
	result = set_reference(model, operand, memory, 0, (uint32_t)length);
	nnhal_memory_unref(memory);
	return result;
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
						   const ANeuralNetworksMemory *memory,
						   size_t offset, size_t length)
{
	struct nnhal_operand *operand;
	uint64_t size;
	int result;

	if (!model || !memory)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_unset(model, index, &operand);
	if (!result)
		result = check_constant(operand, length);
	if (result)
		return result;
	if (memory->whole)
		return ANEURALNETWORKS_BAD_DATA;
	size = nnhal_memory_size(memory->memory);
	if (offset > size || size - offset < length || offset > UINT32_MAX)
		return ANEURALNETWORKS_BAD_DATA;
	return set_reference(model, operand, memory->memory, (uint32_t)offset, (uint32_t)length);
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
						  const ANeuralNetworksModel *value)
{
	struct nnhal_operand *operand;
	ANeuralNetworksModel **grown;
	int result;

	if (!model || !value)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (model->finished || !value->finished)
		return ANEURALNETWORKS_BAD_STATE;
	if (!value->valid)
		return ANEURALNETWORKS_BAD_DATA;
	result = find_unset(model, index, &operand);
	if (result)
		return result;
	if (operand->type != NNHAL_OPERAND_SUBGRAPH)
		return ANEURALNETWORKS_BAD_DATA;
	grown = ndk_grow(model->models, model->num_models, sizeof(*grown));
	if (!grown)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	model->models = grown;
	/* Nothing of a finished model changes but its count of references. */
	model->models[model->num_models] = ndk_model_ref((ANeuralNetworksModel *)value);
	operand->lifetime = NNHAL_LIFETIME_SUBGRAPH;
	operand->location = (struct nnhal_data_location){ .offset = model->num_models++ };
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
	ANeuralNetworksModel *model, int32_t index,
	const ANeuralNetworksSymmPerChannelQuantParams *channelQuant)
{
	struct nnhal_operand *operand, changed;
	float *scales;
	int result;

	if (!model || !channelQuant)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_operand(model, index, &operand);
	if (result)
		return result;
	if (!channelQuant->scales)
		return ANEURALNETWORKS_BAD_DATA;
	if (operand->type != NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return ANEURALNETWORKS_BAD_DATA;
	changed = *operand;
	changed.extra_params = (struct nnhal_extra_params){
		.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT,
		.channel_quant = {
			.scales = channelQuant->scales, .num_scales = channelQuant->scaleCount,
			.channel_dim = channelQuant->channelDim,
		},
	};
	result = ndk_check_operand(model, &changed);
	if (result)
		return result;
	scales = ndk_model_alloc(model, channelQuant->scaleCount, sizeof(*scales));
	if (!scales)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	memcpy(scales, channelQuant->scales, channelQuant->scaleCount * sizeof(*scales));
	changed.extra_params.channel_quant.scales = scales;
	operand->extra_params = changed.extra_params;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index,
						 const void *data, size_t length)
{
	struct nnhal_operand *operand;
	void *copy = NULL;
	int result;

	if (!model || (!data && length))
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_operand(model, index, &operand);
	if (result)
		return result;
	if (!nnhal_is_extension_operand_type(operand->type) || (data && !length))
		return ANEURALNETWORKS_BAD_DATA;
	if (!data) {
		operand->extra_params = (struct nnhal_extra_params){ 0 };
		return ANEURALNETWORKS_NO_ERROR;
	}
	copy = ndk_model_alloc(model, length, 1);
	if (!copy)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	memcpy(copy, data, length);
	operand->extra_params = (struct nnhal_extra_params){
		.kind = NNHAL_EXTRA_PARAMS_EXTENSION, .extension = copy, .extension_size = length,
	};
	return ANEURALNETWORKS_NO_ERROR;
}
