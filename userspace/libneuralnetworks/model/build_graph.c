// SPDX-License-Identifier: MIT
/*
 * Operations, inputs and outputs of a model; its end; what devices say about it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "model/ndk_model.h"

static const uint32_t *copy_indexes(ANeuralNetworksModel *model, const uint32_t *indexes,
				    uint32_t count)
{
	uint32_t *copy = ndk_model_alloc(model, count, sizeof(*copy));

	if (copy)
		memcpy(copy, indexes, count * sizeof(*copy));
	return copy;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model,
				      ANeuralNetworksOperationType type, uint32_t inputCount,
				      const uint32_t *inputs, uint32_t outputCount,
				      const uint32_t *outputs)
{
	struct nnhal_operation operation = {
		.type = (uint32_t)type, .num_inputs = inputCount, .inputs = inputs,
		.num_outputs = outputCount, .outputs = outputs,
	};
	struct nnhal_operation *grown;
	int result;

	if (!model || !inputs || !outputs)
		return REFUSE_NULL(model, inputs, outputs);
	if (model->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is finished");
	result = ndk_check_operation(model, &operation);
	if (result)
		return TELL(result);
	grown = ndk_grow(model->operations, model->num_operations, sizeof(*grown));
	if (!grown)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	model->operations = grown;
	operation.inputs = copy_indexes(model, inputs, inputCount);
	operation.outputs = copy_indexes(model, outputs, outputCount);
	if (!operation.inputs || !operation.outputs)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	model->operations[model->num_operations++] = operation;
	return ANEURALNETWORKS_NO_ERROR;
}

/* Mark the operands of a list; a list that names one twice, or one with a value, is refused. */
static int mark(uint8_t *marks, const ANeuralNetworksModel *model, const uint32_t *indexes,
		uint32_t count, const char *what)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (indexes[i] >= model->num_operands)
			return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u is operand %u, the model has %u", what, i,
				       indexes[i], model->num_operands);
		if (marks[indexes[i]]++)
			return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u is operand %u, which the lists name twice",
				       what, i, indexes[i]);
		if (model->operands[indexes[i]].lifetime != NNHAL_LIFETIME_TEMPORARY_VARIABLE)
			return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u is operand %u, which has a value", what, i,
				       indexes[i]);
	}
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model,
						  uint32_t inputCount, const uint32_t *inputs,
						  uint32_t outputCount, const uint32_t *outputs)
{
	uint8_t *marks;
	int result;
	uint32_t i;

	if (!model || !inputs || !outputs)
		return REFUSE_NULL(model, inputs, outputs);
	if (model->finished || model->identified)
		return REFUSE(ANEURALNETWORKS_BAD_STATE,
			      "the model is finished, or its inputs and outputs are identified");
	marks = calloc((size_t)model->num_operands + 1, 1);
	if (!marks)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	result = mark(marks, model, inputs, inputCount, "input");
	if (!result)
		result = mark(marks, model, outputs, outputCount, "output");
	free(marks);
	if (result)
		return TELL(result);
	model->inputs = (uint32_t *)copy_indexes(model, inputs, inputCount);
	model->outputs = (uint32_t *)copy_indexes(model, outputs, outputCount);
	if (!model->inputs || !model->outputs)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	model->num_inputs = inputCount;
	model->num_outputs = outputCount;
	for (i = 0; i < inputCount; i++)
		model->operands[inputs[i]].lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	for (i = 0; i < outputCount; i++)
		model->operands[outputs[i]].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	model->identified = true;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow)
{
	if (!model)
		return REFUSE_NULL(model);
	if (model->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is finished");
	model->relaxed = allow;
	return ANEURALNETWORKS_NO_ERROR;
}

static int make_flat(ANeuralNetworksModel *model)
{
	struct nnhal_subgraph main;
	uint32_t i, k;
	int result;

	if (!model->num_operations)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "the model has no operation");
	result = ndk_sort_operations(model);
	if (result)
		return result;
	for (i = 0; i < model->num_operations; i++)
		for (k = 0; k < model->operations[i].num_inputs; k++)
			model->operands[model->operations[i].inputs[k]].number_of_consumers++;
	main = (struct nnhal_subgraph){
		.num_operands = model->num_operands, .operands = model->operands,
		.num_operations = model->num_operations, .operations = model->operations,
		.num_inputs = model->num_inputs, .input_indexes = model->inputs,
		.num_outputs = model->num_outputs, .output_indexes = model->outputs,
	};
	result = ndk_flatten(&model->flat, model, &main);
	if (result)
		return result;
	result = ndk_check_flat(model, &model->flat);
	if (result)
		ndk_flat_fini(&model->flat);
	return result;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model)
{
	int result;

	if (!model)
		return REFUSE_NULL(model);
	if (model->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is finished");
	model->finished = true;
	result = make_flat(model);
	model->valid = !result;
	return TELL(result);
}

/* Ask one device, and add what it supports. */
static int ask_device(const ANeuralNetworksModel *model, const ANeuralNetworksDevice *device,
		      bool *answer, bool *sum)
{
	uint32_t i;
	int result;

	if (ndk_device_supports(device, &model->flat.hal, answer, &result))
		for (i = 0; i < model->num_operations; i++)
			sum[model->order[i]] |= answer[i];
	return result;
}

int ANeuralNetworksModel_getSupportedOperationsForDevices(
	const ANeuralNetworksModel *model, const ANeuralNetworksDevice *const *devices,
	uint32_t numDevices, bool *supportedOps)
{
	bool *answer, *sum;
	uint32_t i;
	int result;

	if (!model || !devices || !supportedOps)
		return REFUSE_NULL(model, devices, supportedOps);
	result = ndk_check_devices(devices, numDevices);
	if (result == ANEURALNETWORKS_UNEXPECTED_NULL)
		return TELL(result);
	if (!model->valid)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is not finished, or its finish failed");
	if (result)
		return TELL(result);
	answer = calloc(model->num_operations, 2 * sizeof(*answer));
	if (!answer)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	sum = answer + model->num_operations;
	for (i = 0; !result && i < numDevices; i++)
		result = ask_device(model, devices[i], answer, sum);
	if (!result)
		memcpy(supportedOps, sum, model->num_operations * sizeof(*sum));
	free(answer);
	return TELL(result);
}
