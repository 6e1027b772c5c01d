// SPDX-License-Identifier: MIT
/*
 * Rules for operands and operations when they are added.
 *
 * The rules are libnnhal's, whose validation takes whole models. So this file makes the smallest model that
 * contains the operand or the operation. What is not known yet, such as who writes an
 * operand, is left to the validation of the whole model.
 */
#include <stdlib.h>

#include "model/ndk_model.h"

int ndk_check_flat(const struct ndk_flat *flat)
{
	switch (nnhal_check_model(&flat->hal, NULL)) {
	case NNHAL_STATUS_NONE:
		return ANEURALNETWORKS_NO_ERROR;
	case NNHAL_STATUS_INVALID_ARGUMENT:
		return ANEURALNETWORKS_BAD_DATA;
	default:
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	}
}

/* Validate one operation; @operands: of its inputs, then of its outputs, then one to spare. */
static int check_alone(const ANeuralNetworksModel *model, struct nnhal_operand *operands,
		       uint32_t type, uint32_t num_inputs, uint32_t num_outputs)
{
	static const struct nnhal_operand spare = {
		.type = NNHAL_OPERAND_INT32, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT,
	};
	uint32_t total = num_inputs + num_outputs, i, count = 0;
	uint32_t *numbers = calloc((size_t)2 * total + 1, sizeof(*numbers));
	uint32_t *inputs = numbers ? numbers + total : NULL;
	struct nnhal_operation operation = {
		.type = type, .num_inputs = num_inputs, .num_outputs = num_outputs,
		.inputs = numbers, .outputs = numbers ? numbers + num_inputs : NULL,
	};
	struct nnhal_subgraph main = {
		.num_operands = total + 1, .operands = operands,
		.num_operations = 1, .operations = &operation,
		.num_outputs = num_outputs, .output_indexes = operation.outputs,
	};
	struct ndk_flat flat;
	int result;

	if (!numbers)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	for (i = 0; i < total; i++) {
		struct nnhal_operand *op = &operands[i];

		numbers[i] = i;
		op->number_of_consumers = i < num_inputs;
		if (i < num_inputs && (op->lifetime == NNHAL_LIFETIME_SUBGRAPH ||
				       op->lifetime == NNHAL_LIFETIME_NO_VALUE))
			continue;
		op->location = (struct nnhal_data_location){ 0 };
		op->lifetime = i < num_inputs ? NNHAL_LIFETIME_SUBGRAPH_INPUT :
						NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
		if (i < num_inputs)
			inputs[count++] = i;
	}
	/* A model has an input, also if each operand of the operation is omitted. */
	operands[total] = spare;
	inputs[count++] = total;
	main.input_indexes = inputs;
	main.num_inputs = count;
	result = ndk_flatten(&flat, model, &main);
	if (!result) {
		result = ndk_check_flat(&flat);
		ndk_flat_fini(&flat);
	}
	free(numbers);
	return result;
}

int ndk_check_operand(const ANeuralNetworksModel *model, const struct nnhal_operand *operand)
{
	struct nnhal_operand operands[3] = { *operand, *operand };

	/* An operand that is given its channels or its model later has the rules of a plain one. */
	if (operand->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
	    operand->extra_params.kind == NNHAL_EXTRA_PARAMS_NONE)
		operands[0].type = operands[1].type = NNHAL_OPERAND_TENSOR_BOOL8;
	if (operand->type == NNHAL_OPERAND_SUBGRAPH)
		operands[0].type = operands[1].type = NNHAL_OPERAND_BOOL;
	/* The maker's operation takes any operands. */
	return check_alone(model, operands, NNHAL_OPERATION_OEM_OPERATION, 1, 1);
}

int ndk_check_operation(const ANeuralNetworksModel *model,
			const struct nnhal_operation *operation)
{
	uint64_t total = (uint64_t)operation->num_inputs + operation->num_outputs;
	struct nnhal_operand *operands;
	uint32_t i, index;
	int result;

	if (total > INT32_MAX)
		return ANEURALNETWORKS_BAD_DATA;
	for (i = 0; i < total; i++) {
		index = i < operation->num_inputs ? operation->inputs[i] :
						    operation->outputs[i - operation->num_inputs];
		if (index >= model->num_operands)
			return ANEURALNETWORKS_BAD_DATA;
	}
	operands = calloc(total + 1, sizeof(*operands));
	if (!operands)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	for (i = 0; i < total; i++) {
		index = i < operation->num_inputs ? operation->inputs[i] :
						    operation->outputs[i - operation->num_inputs];
		operands[i] = model->operands[index];
	}
	result = check_alone(model, operands, operation->type, operation->num_inputs,
			     operation->num_outputs);
	free(operands);
	return result;
}
