// SPDX-License-Identifier: MIT
/*
 * Rules for operands and operations when they are added.
 *
 * The rules are libnnhal's, whose validation takes whole models. So this file makes the smallest model that
 * contains the operand or the operation. What is not known yet, such as who writes an
 * operand, is left to the validation of the whole model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "model/ndk_model.h"

/* Operands and the operation of the smallest model, as the program numbers them. */
struct numbers {
	const uint32_t *inputs, *outputs;	/* of the operation; NULL: the operand is @own */
	uint32_t num_inputs;
	uint32_t own;
};

static uint32_t operand_of(const struct numbers *numbers, uint32_t operand)
{
	if (!numbers->inputs)
		return numbers->own;
	return operand < numbers->num_inputs ? numbers->inputs[operand] :
					       numbers->outputs[operand - numbers->num_inputs];
}

/* A reason begins with "operand 2" or "operation 2". */
static bool begins_with(const struct nnhal_diag *diag, const char *what, uint32_t *number, int *length)
{
	size_t size = strlen(what);

	*length = 0;
	return !strncmp(diag->message, what, size) && sscanf(diag->message + size, " %u%n", number, length) == 1 &&
	       (*length += (int)size);
}

int ndk_check_flat(const ANeuralNetworksModel *model, const struct ndk_flat *flat)
{
	struct nnhal_diag diag;

	switch (nnhal_check_model(&flat->hal, &diag)) {
	case NNHAL_STATUS_NONE:
		return ANEURALNETWORKS_NO_ERROR;
	case NNHAL_STATUS_INVALID_ARGUMENT:
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s", ndk_renumber(model, &diag)->message);
	default:
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	}
}

/* The reason with the program's numbers. Those of subgraphs are their own. */
static int why_alone(const ANeuralNetworksModel *model, const struct nnhal_diag *diag, const struct numbers *numbers)
{
	const char *from = diag->message;
	struct nnhal_diag renamed;
	size_t at = 0;
	uint32_t number;
	int length;

	if (!strncmp(from, "subgraph", strlen("subgraph")))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s", from);
	if (begins_with(diag, "operation", &number, &length)) {
		at = (size_t)snprintf(renamed.message, sizeof(renamed.message), "operation %u",
				      model->num_operations);
		from += length;
	}
	while (*from && at + 24 < sizeof(renamed.message)) {
		length = 0;
		if (sscanf(from, "operand %u%n", &number, &length) == 1 && length) {
			at += (size_t)sprintf(renamed.message + at, "operand %u", operand_of(numbers, number));
			from += length;
			continue;
		}
		renamed.message[at++] = *from++;
	}
	renamed.message[at] = '\0';
	return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s", renamed.message);
}

static int check_flat_alone(const ANeuralNetworksModel *model, const struct ndk_flat *flat,
			    const struct numbers *numbers)
{
	struct nnhal_diag diag;

	switch (nnhal_check_model(&flat->hal, &diag)) {
	case NNHAL_STATUS_NONE:
		return ANEURALNETWORKS_NO_ERROR;
	case NNHAL_STATUS_INVALID_ARGUMENT:
		return why_alone(model, &diag, numbers);
	default:
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	}
}

const struct nnhal_diag *ndk_renumber(const ANeuralNetworksModel *model, struct nnhal_diag *diag)
{
	struct nnhal_diag old = *diag;
	uint32_t number;
	int length;

	if (model->order && begins_with(&old, "operation", &number, &length) && number < model->num_operations)
		snprintf(diag->message, sizeof(diag->message), "operation %u%.200s", model->order[number],
			 old.message + length);
	return diag;
}

/* Validate one operation; @operands: of its inputs, then of its outputs, then one to spare. */
static int check_alone(const ANeuralNetworksModel *model, struct nnhal_operand *operands,
		       uint32_t type, uint32_t num_inputs, uint32_t num_outputs, const struct numbers *program)
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
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
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
		result = check_flat_alone(model, &flat, program);
		ndk_flat_fini(&flat);
	}
	free(numbers);
	return result;
}

int ndk_check_operand(const ANeuralNetworksModel *model, const struct nnhal_operand *operand, uint32_t number)
{
	const struct numbers program = { .own = number };
	struct nnhal_operand operands[3] = { *operand, *operand };

	/* An operand that is given its channels or its model later has the rules of a plain one. */
	if (operand->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
	    operand->extra_params.kind == NNHAL_EXTRA_PARAMS_NONE)
		operands[0].type = operands[1].type = NNHAL_OPERAND_TENSOR_BOOL8;
	if (operand->type == NNHAL_OPERAND_SUBGRAPH)
		operands[0].type = operands[1].type = NNHAL_OPERAND_BOOL;
	/* The maker's operation takes any operands. */
	return check_alone(model, operands, NNHAL_OPERATION_OEM_OPERATION, 1, 1, &program);
}

/*
 * Rules of libnnhal that addOperation() does not have in the NNAPI: the rank of paddings, and the parameters of channels,
 * which may come later. The validation of the whole model has them.
 */
static void forgive(uint32_t operation, uint32_t input, struct nnhal_operand *operand)
{
	bool paddings = (input == 1 && (operation == NNHAL_OPERATION_PAD || operation == NNHAL_OPERATION_PAD_V2)) ||
			(input == 2 && operation == NNHAL_OPERATION_SPACE_TO_BATCH_ND);

	if (paddings && operand->type == NNHAL_OPERAND_TENSOR_INT32 && operand->num_dimensions == 1) {
		operand->num_dimensions = 0;
		operand->dimensions = NULL;
	}
	if (operation == NNHAL_OPERATION_DEQUANTIZE && !input &&
	    operand->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
	    operand->extra_params.kind == NNHAL_EXTRA_PARAMS_NONE) {
		operand->type = NNHAL_OPERAND_TENSOR_QUANT8_SYMM;
		operand->scale = 1.0f;
	}
}

int ndk_check_operation(const ANeuralNetworksModel *model,
			const struct nnhal_operation *operation)
{
	uint64_t total = (uint64_t)operation->num_inputs + operation->num_outputs;
	const struct numbers program = {
		.inputs = operation->inputs, .outputs = operation->outputs,
		.num_inputs = operation->num_inputs,
	};
	struct nnhal_operand *operands;
	uint32_t i, index;
	int result;

	if (total > INT32_MAX)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "more than 32 bits of operands");
	for (i = 0; i < total; i++) {
		index = i < operation->num_inputs ? operation->inputs[i] :
						    operation->outputs[i - operation->num_inputs];
		if (index >= model->num_operands)
			return ndk_why(ANEURALNETWORKS_BAD_DATA,
				       "%s %u of the operation is operand %u, the model has %u",
				       i < operation->num_inputs ? "input" : "output",
				       i < operation->num_inputs ? i : i - operation->num_inputs, index,
				       model->num_operands);
	}
	operands = calloc(total + 1, sizeof(*operands));
	if (!operands)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	for (i = 0; i < total; i++) {
		index = i < operation->num_inputs ? operation->inputs[i] :
						    operation->outputs[i - operation->num_inputs];
		operands[i] = model->operands[index];
		if (i < operation->num_inputs)
			forgive(operation->type, i, &operands[i]);
	}
	result = check_alone(model, operands, operation->type, operation->num_inputs,
			     operation->num_outputs, &program);
	free(operands);
	return result;
}
