// SPDX-License-Identifier: MIT
/*
 * A model of the HAL as one of the NNAPI, call by call.
 */
#include <nnhal/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal_graph.h"

struct builder {
	struct graph *graph;
	const struct nnhal_model *hal;
	const struct graph_pool *pools;
	bool *begun;			/* a subgraph that refers to itself has no model */
};

static int subgraph_model(struct builder *b, uint32_t index);

static int failed(struct builder *b, int result, const char *what, uint32_t index)
{
	if (result && !b->graph->error[0])
		snprintf(b->graph->error, sizeof(b->graph->error), "%s %u: result %d", what, index,
			 result);
	return result;
}

/* The name of an extension, by the prefix of a type; NULL if the model has no such prefix. */
static const char *extension_of(const struct nnhal_model *hal, uint32_t type)
{
	for (uint32_t i = 0; i < hal->num_extensions; i++)
		if (hal->extensions[i].prefix == type >> 16)
			return hal->extensions[i].name;
	return NULL;
}

static int operand_type(struct builder *b, ANeuralNetworksModel *model, uint32_t type,
			int32_t *number)
{
	const char *extension = extension_of(b->hal, type);

	*number = (int32_t)type;
	if (!nnhal_is_extension_operand_type(type))
		return ANEURALNETWORKS_NO_ERROR;
	if (!extension)
		return ANEURALNETWORKS_BAD_DATA;
	return ANeuralNetworksModel_getExtensionOperandType(model, extension, (uint16_t)type,
							    number);
}

static int operation_type(struct builder *b, ANeuralNetworksModel *model, uint32_t type,
			  ANeuralNetworksOperationType *number)
{
	const char *extension = extension_of(b->hal, type);

	*number = (int32_t)type;
	if (!nnhal_is_extension_operation_type(type))
		return ANEURALNETWORKS_NO_ERROR;
	if (!extension)
		return ANEURALNETWORKS_BAD_DATA;
	return ANeuralNetworksModel_getExtensionOperationType(model, extension, (uint16_t)type,
							      number);
}

static int add_operand(struct builder *b, ANeuralNetworksModel *model,
		       const struct nnhal_operand *from, uint32_t index)
{
	ANeuralNetworksOperandType type = {
		.dimensionCount = from->num_dimensions,
		.dimensions = from->num_dimensions ? from->dimensions : NULL,
		.scale = from->scale, .zeroPoint = from->zero_point,
	};
	ANeuralNetworksSymmPerChannelQuantParams channels = {
		.channelDim = from->extra_params.channel_quant.channel_dim,
		.scaleCount = from->extra_params.channel_quant.num_scales,
		.scales = from->extra_params.channel_quant.scales,
	};
	int result = operand_type(b, model, from->type, &type.type);

	if (!result)
		result = ANeuralNetworksModel_addOperand(model, &type);
	if (!result && from->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		result = ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
			model, (int32_t)index, &channels);
	else if (!result && from->extra_params.kind == NNHAL_EXTRA_PARAMS_EXTENSION)
		result = ANeuralNetworksModel_setOperandExtensionData(
			model, (int32_t)index, from->extra_params.extension,
			from->extra_params.extension_size);
	return failed(b, result, "operand", index);
}

/* A constant in a pool: as memory where the caller has it as such. */
static int set_from_pool(ANeuralNetworksModel *model, int32_t index,
			 const struct graph_pool *pool, const struct nnhal_data_location *at)
{
	if (pool->memory)
		return ANeuralNetworksModel_setOperandValueFromMemory(model, index, pool->memory,
								      at->offset, at->length);
	return ANeuralNetworksModel_setOperandValue(model, index, pool->bytes + at->offset,
						    at->length);
}

static int set_value(struct builder *b, ANeuralNetworksModel *model,
		     const struct nnhal_operand *from, uint32_t operand)
{
	const struct nnhal_data_location *at = &from->location;
	const uint8_t *values = b->hal->operand_values;
	int32_t index = (int32_t)operand;
	int result = ANEURALNETWORKS_NO_ERROR;

	switch (from->lifetime) {
	case NNHAL_LIFETIME_CONSTANT_COPY:
		result = ANeuralNetworksModel_setOperandValue(model, index, values + at->offset,
							      at->length);
		break;
	case NNHAL_LIFETIME_CONSTANT_REFERENCE:
		result = set_from_pool(model, index, &b->pools[at->pool_index], at);
		break;
	case NNHAL_LIFETIME_NO_VALUE:
		result = ANeuralNetworksModel_setOperandValue(model, index, NULL, 0);
		break;
	case NNHAL_LIFETIME_SUBGRAPH:
		result = subgraph_model(b, at->offset);
		if (!result)
			result = ANeuralNetworksModel_setOperandValueFromModel(
				model, index, b->graph->referenced[at->offset]);
		break;
	}
	return failed(b, result, "value of operand", operand);
}

/* A model of a subgraph, finished. */
static int build_model(struct builder *b, const struct nnhal_subgraph *from,
		       ANeuralNetworksModel **model)
{
	ANeuralNetworksOperationType type;
	int result = ANeuralNetworksModel_create(model);
	uint32_t i;

	for (i = 0; i < from->num_operands && !result; i++) {
		result = add_operand(b, *model, &from->operands[i], i);
		if (!result)
			result = set_value(b, *model, &from->operands[i], i);
	}
	for (i = 0; i < from->num_operations && !result; i++) {
		const struct nnhal_operation *o = &from->operations[i];

		result = operation_type(b, *model, o->type, &type);
		if (!result)
			result = ANeuralNetworksModel_addOperation(*model, type, o->num_inputs,
								   o->inputs, o->num_outputs,
								   o->outputs);
		failed(b, result, "operation", i);
	}
	if (!result)
		result = ANeuralNetworksModel_identifyInputsAndOutputs(
			*model, from->num_inputs, from->input_indexes, from->num_outputs,
			from->output_indexes);
	if (!result && b->hal->relax_computation_float32_to_float16)
		result = ANeuralNetworksModel_relaxComputationFloat32toFloat16(*model, true);
	if (!result)
		result = ANeuralNetworksModel_finish(*model);
	return failed(b, result, "model with operations:", from->num_operations);
}

/* Have the model of a subgraph that an operand refers to. */
static int subgraph_model(struct builder *b, uint32_t index)
{
	struct graph *graph = b->graph;

	if (index >= graph->num_referenced)
		return ANEURALNETWORKS_BAD_DATA;
	if (b->begun[index])
		return graph->referenced[index] ? ANEURALNETWORKS_NO_ERROR :
						  ANEURALNETWORKS_BAD_DATA;
	b->begun[index] = true;
	return build_model(b, &b->hal->referenced[index], &graph->referenced[index]);
}

int graph_build(struct graph *graph, const struct nnhal_model *hal,
		const struct graph_pool *pools)
{
	struct builder b = { .graph = graph, .hal = hal, .pools = pools };
	int result = ANEURALNETWORKS_OUT_OF_MEMORY;

	memset(graph, 0, sizeof(*graph));
	graph->referenced = calloc((size_t)hal->num_referenced + 1, sizeof(*graph->referenced));
	b.begun = calloc((size_t)hal->num_referenced + 1, sizeof(*b.begun));
	if (graph->referenced && b.begun) {
		graph->num_referenced = hal->num_referenced;
		result = build_model(&b, &hal->main, &graph->model);
	}
	free(b.begun);
	return result;
}

void graph_free(struct graph *graph)
{
	ANeuralNetworksModel_free(graph->model);
	for (uint32_t i = 0; i < graph->num_referenced; i++)
		ANeuralNetworksModel_free(graph->referenced[i]);
	free(graph->referenced);
	memset(graph, 0, sizeof(*graph));
}
