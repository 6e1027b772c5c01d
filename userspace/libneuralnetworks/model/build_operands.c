// SPDX-License-Identifier: MIT
/*
 * Operands of a model and their values.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "model/ndk_model.h"

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model,
				    const ANeuralNetworksOperandType *type)
{
	struct nnhal_operand operand, *grown;
	uint32_t *dimensions;
	size_t size;
	int result;

	if (!model || !type)
		return REFUSE_NULL(model, type);
	if (model->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is finished");
	if (!type->dimensionCount != !type->dimensions || model->num_operands == INT32_MAX)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "operand %u: %u dimensions, and %s list of them",
			      model->num_operands,
			      type->dimensionCount, type->dimensions ? "a" : "no");
	operand = (struct nnhal_operand){
		.type = (uint32_t)type->type, .num_dimensions = type->dimensionCount,
		.dimensions = type->dimensions, .scale = type->scale,
		.zero_point = type->zeroPoint,
	};
	result = ndk_check_operand(model, &operand, model->num_operands);
	if (result)
		return TELL(result);
	grown = ndk_grow(model->operands, model->num_operands, sizeof(*grown));
	if (!grown)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	model->operands = grown;
	if (operand.num_dimensions) {
		size = operand.num_dimensions * sizeof(*dimensions);
		dimensions = ndk_model_alloc(model, operand.num_dimensions, sizeof(*dimensions));
		if (!dimensions)
			return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
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
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the model is finished");
	if (index < 0 || (uint32_t)index >= model->num_operands)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "operand %d: the model has %u", index,
			       model->num_operands);
	*operand = &model->operands[index];
	return ANEURALNETWORKS_NO_ERROR;
}

/* The operand, if it has no value yet. */
static int find_unset(ANeuralNetworksModel *model, int32_t index,
		      struct nnhal_operand **operand)
{
	int result = find_operand(model, index, operand);

	if (!result && (*operand)->lifetime != NNHAL_LIFETIME_TEMPORARY_VARIABLE)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "operand %d has a value, or is an input or output",
			       index);
	return result;
}

/* A constant of @length bytes: its shape is known, and has that size. OEM types have any size. */
static int check_constant(const struct nnhal_operand *operand, int32_t index, size_t length)
{
	uint32_t size;

	if (operand->type == NNHAL_OPERAND_SUBGRAPH || length > UINT32_MAX)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "operand %d: %zu bytes for a %s", index, length,
			       nnhal_operand_type_name(operand->type));
	if (operand->type == NNHAL_OPERAND_OEM || operand->type == NNHAL_OPERAND_TENSOR_OEM_BYTE ||
	    nnhal_is_extension_operand_type(operand->type))
		return ANEURALNETWORKS_NO_ERROR;
	if (nnhal_size_of_data(operand->type, operand->dimensions, operand->num_dimensions,
			       &size) || !size)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "operand %d: the shape of a value has to be known", index);
	if (size != length)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "operand %d: %zu bytes, its type takes %u", index, length,
			       size);
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
			return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
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
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "values of more than 2 GiB that are copied");
	/* A value of an OEM type may have no bytes; there has to be a place for it all the same. */
	if (offset + length > room || !model->values) {
		room = 2 * (offset + length) + 8;
		grown = realloc(model->values, room);
		if (!grown)
			return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
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
	struct nnhal_diag diag;
	int result;

	if (!model || (!buffer && length))
		return REFUSE_NULL(model, buffer);
	result = find_unset(model, index, &operand);
	if (result)
		return TELL(result);
	if (!buffer) {
		if (operand->type == NNHAL_OPERAND_SUBGRAPH)
			return REFUSE(ANEURALNETWORKS_BAD_DATA,
				      "operand %d is of type MODEL, which setOperandValueFromModel() sets", index);
		operand->lifetime = NNHAL_LIFETIME_NO_VALUE;
		return ANEURALNETWORKS_NO_ERROR;
	}
	result = check_constant(operand, index, length);
	if (result)
		return TELL(result);
	if (length <= ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES)
		return TELL(set_copy(model, operand, buffer, (uint32_t)length));
	status = nnhal_memory_from_pointer((void *)buffer, length, NNHAL_MEMORY_READ, &memory,
					   &diag);
	if (status)
		return TELL(ndk_why_status(status, &diag, "the memory of the value"));
	result = set_reference(model, operand, memory, 0, (uint32_t)length);
	nnhal_memory_unref(memory);
	return TELL(result);
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
						   const ANeuralNetworksMemory *memory,
						   size_t offset, size_t length)
{
	struct nnhal_operand *operand;
	uint64_t size;
	int result;

	if (!model || !memory)
		return REFUSE_NULL(model, memory);
	result = find_unset(model, index, &operand);
	if (!result)
		result = check_constant(operand, index, length);
	if (result)
		return TELL(result);
	if (memory->whole)
		return REFUSE(ANEURALNETWORKS_BAD_DATA,
			      "operand %d: a value cannot be in memory that is only a whole argument", index);
	size = nnhal_memory_size(memory->memory);
	if (offset > size || size - offset < length || offset > UINT32_MAX)
		return REFUSE(ANEURALNETWORKS_BAD_DATA,
			      "operand %d: offset %zu and length %zu in memory of %llu bytes", index, offset,
			      length, (unsigned long long)size);
	return TELL(set_reference(model, operand, memory->memory, (uint32_t)offset, (uint32_t)length));
}

int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
						  const ANeuralNetworksModel *value)
{
	struct nnhal_operand *operand;
	ANeuralNetworksModel **grown;
	int result;

	if (!model || !value)
		return REFUSE_NULL(model, value);
	if (model->finished || !value->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is finished, or the other one is not");
	if (!value->valid)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "operand %d: the other model is not valid", index);
	result = find_unset(model, index, &operand);
	if (result)
		return TELL(result);
	if (operand->type != NNHAL_OPERAND_SUBGRAPH)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "operand %d is %s, expected MODEL", index,
			      nnhal_operand_type_name(operand->type));
	grown = ndk_grow(model->models, model->num_models, sizeof(*grown));
	if (!grown)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
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
		return REFUSE_NULL(model, channelQuant);
	result = find_operand(model, index, &operand);
	if (result)
		return TELL(result);
	if (!channelQuant->scales)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "operand %d: channelQuant->scales is NULL", index);
	if (operand->type != NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "operand %d is %s, expected TENSOR_QUANT8_SYMM_PER_CHANNEL",
			      index,
			      nnhal_operand_type_name(operand->type));
	changed = *operand;
	changed.extra_params = (struct nnhal_extra_params){
		.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT,
		.channel_quant = {
			.scales = channelQuant->scales, .num_scales = channelQuant->scaleCount,
			.channel_dim = channelQuant->channelDim,
		},
	};
	result = ndk_check_operand(model, &changed, (uint32_t)index);
	if (result)
		return TELL(result);
	scales = ndk_model_alloc(model, channelQuant->scaleCount, sizeof(*scales));
	if (!scales)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
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
		return REFUSE_NULL(model, data);
	result = find_operand(model, index, &operand);
	if (result)
		return TELL(result);
	if (!nnhal_is_extension_operand_type(operand->type) || (data && !length))
		return REFUSE(ANEURALNETWORKS_BAD_DATA,
			      "operand %d: its type is of no extension, or there is data of no bytes", index);
	if (!data) {
		operand->extra_params = (struct nnhal_extra_params){ 0 };
		return ANEURALNETWORKS_NO_ERROR;
	}
	copy = ndk_model_alloc(model, length, 1);
	if (!copy)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	memcpy(copy, data, length);
	operand->extra_params = (struct nnhal_extra_params){
		.kind = NNHAL_EXTRA_PARAMS_EXTENSION, .extension = copy, .extension_size = length,
	};
	return ANEURALNETWORKS_NO_ERROR;
}
