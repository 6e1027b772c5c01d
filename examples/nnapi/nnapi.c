// SPDX-License-Identifier: MIT
/*
 * nnapi: add two vectors through the C API of the NNAPI, on the device that the library chooses.
 *
 * Usage: nnapi
 */
#include <android/NeuralNetworks.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int result, const char *what)
{
	if (result == ANEURALNETWORKS_NO_ERROR)
		return;
	fprintf(stderr, "nnapi: %s: result %d\n", what, result);
	exit(1);
}

/* Operand 3 = ADD(operand 0, operand 1, activation in operand 2). */
static ANeuralNetworksModel *add_model(void)
{
	static const uint32_t shape[] = { 4 }, inputs[] = { 0, 1, 2 }, outputs[] = { 3 };
	static const int32_t activation = ANEURALNETWORKS_FUSED_NONE;
	const ANeuralNetworksOperandType vector = {
		.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = shape,
	};
	const ANeuralNetworksOperandType scalar = { .type = ANEURALNETWORKS_INT32 };
	ANeuralNetworksModel *model;

	check(ANeuralNetworksModel_create(&model), "create a model");
	check(ANeuralNetworksModel_addOperand(model, &vector), "operand 0");
	check(ANeuralNetworksModel_addOperand(model, &vector), "operand 1");
	check(ANeuralNetworksModel_addOperand(model, &scalar), "operand 2");
	check(ANeuralNetworksModel_addOperand(model, &vector), "operand 3");
	check(ANeuralNetworksModel_setOperandValue(model, 2, &activation, sizeof(activation)),
	      "activation");
	check(ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, inputs, 1, outputs),
	      "ADD");
	check(ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, inputs, 1, outputs),
	      "inputs and outputs");
	check(ANeuralNetworksModel_finish(model), "finish the model");
	return model;
}

int main(void)
{
	const float a[] = { 1, 2, 3, 4 }, b[] = { 10, 20, 30, 40 };
	ANeuralNetworksModel *model = add_model();
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksExecution *execution;
	float sum[4] = { 0 };
	int wrong = 0;

	check(ANeuralNetworksCompilation_create(model, &compilation), "create a compilation");
	check(ANeuralNetworksCompilation_finish(compilation), "compile");
	check(ANeuralNetworksExecution_create(compilation, &execution), "create an execution");
	check(ANeuralNetworksExecution_setInput(execution, 0, NULL, a, sizeof(a)), "input 0");
	check(ANeuralNetworksExecution_setInput(execution, 1, NULL, b, sizeof(b)), "input 1");
	check(ANeuralNetworksExecution_setOutput(execution, 0, NULL, sum, sizeof(sum)), "output");
	check(ANeuralNetworksExecution_compute(execution), "compute");
	for (int i = 0; i < 4; i++) {
		printf("%g + %g = %g\n", a[i], b[i], sum[i]);
		wrong += sum[i] != a[i] + b[i];
	}
	ANeuralNetworksExecution_free(execution);
	ANeuralNetworksCompilation_free(compilation);
	ANeuralNetworksModel_free(model);
	return wrong ? 1 : 0;
}
