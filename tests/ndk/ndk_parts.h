/* SPDX-License-Identifier: MIT */
/*
 * Operand types and models that the tests of libneuralnetworks share.
 */
#ifndef TESTS_NDK_PARTS_H
#define TESTS_NDK_PARTS_H

#include <android/NeuralNetworks.h>
#include <string.h>

#include "tap.h"

static const uint32_t four[1] = { 4 };
static const ANeuralNetworksOperandType floats = {
	ANEURALNETWORKS_TENSOR_FLOAT32, 1, four, 0.0f, 0
};
static const ANeuralNetworksOperandType int_scalar = {
	ANEURALNETWORKS_INT32, 0, NULL, 0.0f, 0
};

/* A result by its name in the message. */
static inline bool is(int got, int expected, const char *what)
{
	return ok(got == expected, "%s: result %d, expected %d", what, got, expected);
}

/* Operands 0, 1: inputs; 2: activation, with a value; 3: output. Nothing else. */
static inline ANeuralNetworksModel *add_operands(void)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	ANeuralNetworksModel *model = NULL;

	if (ANeuralNetworksModel_create(&model) ||
	    ANeuralNetworksModel_addOperand(model, &floats) ||
	    ANeuralNetworksModel_addOperand(model, &floats) ||
	    ANeuralNetworksModel_addOperand(model, &int_scalar) ||
	    ANeuralNetworksModel_addOperand(model, &floats) ||
	    ANeuralNetworksModel_setOperandValue(model, 2, &none, sizeof(none))) {
		printf("Bail out! no operands\n");
		exit(1);
	}
	return model;
}

static const uint32_t add_inputs[3] = { 0, 1, 2 };
static const uint32_t add_output[1] = { 3 };

/* The same with ADD, inputs and outputs, not finished. */
static inline ANeuralNetworksModel *add_model(void)
{
	ANeuralNetworksModel *model = add_operands();

	if (ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, add_inputs, 1,
					      add_output) ||
	    ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, add_inputs, 1, add_output)) {
		printf("Bail out! no model\n");
		exit(1);
	}
	return model;
}

/* The in-process device, which every build of the tests has. */
static inline ANeuralNetworksDevice *reference_device(void)
{
	ANeuralNetworksDevice *device = NULL;
	const char *name;
	uint32_t i;

	for (i = 0; !ANeuralNetworks_getDevice(i, &device); i++)
		if (!ANeuralNetworksDevice_getName(device, &name) &&
		    !strcmp(name, "nnapi-reference"))
			return device;
	printf("Bail out! no device nnapi-reference\n");
	exit(1);
}

static inline ANeuralNetworksModel *finished_model(void)
{
	ANeuralNetworksModel *model = add_model();

	is(ANeuralNetworksModel_finish(model), ANEURALNETWORKS_NO_ERROR, "finish a model");
	return model;
}

/* For the in-process device if @chosen, finished. */
static inline ANeuralNetworksCompilation *compiled(ANeuralNetworksModel *model, bool chosen)
{
	const ANeuralNetworksDevice *device = reference_device();
	ANeuralNetworksCompilation *c = NULL;

	is(chosen ? ANeuralNetworksCompilation_createForDevices(model, &device, 1, &c) :
		    ANeuralNetworksCompilation_create(model, &c), ANEURALNETWORKS_NO_ERROR,
	   "create a compilation");
	is(ANeuralNetworksCompilation_finish(c), ANEURALNETWORKS_NO_ERROR,
	   "finish a compilation");
	return c;
}

#endif /* TESTS_NDK_PARTS_H */
