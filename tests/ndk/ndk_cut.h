/* SPDX-License-Identifier: MIT */
/*
 * Devices that lack operations, and a model that none of them takes whole.
 */
#ifndef TESTS_NDK_CUT_H
#define TESTS_NDK_CUT_H

#include "compile/ndk_compilation.h"
#include "ndk_parts.h"

enum {
	NONE = ANEURALNETWORKS_NO_ERROR, UNEXPECTED = ANEURALNETWORKS_UNEXPECTED_NULL,
	DATA = ANEURALNETWORKS_BAD_DATA, STATE = ANEURALNETWORKS_BAD_STATE,
	OP = ANEURALNETWORKS_OP_FAILED, SIZE = ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE,
};

/* Operands of the model, in this order. */
enum { A, B, ACTIVATION, SUM, POSITIVE, PRODUCT, OUT, NUM_CUT_OPERANDS };

static const float cut_a[4] = { 1, 2, 3, 4 }, cut_b[4] = { 10, 20, 30, 40 };

/* ADD, RELU and SUB of one device around the MUL of another: three steps. */
static inline ANeuralNetworksModel *cut_model(const ANeuralNetworksOperandType *type,
					      const uint32_t *outputs, uint32_t num_outputs)
{
	static const uint32_t add[3] = { A, B, ACTIVATION }, mul[3] = { SUM, B, ACTIVATION };
	static const uint32_t sub[3] = { PRODUCT, POSITIVE, ACTIVATION };
	static const uint32_t sum = SUM, positive = POSITIVE, product = PRODUCT, out = OUT;
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	ANeuralNetworksModel *m = NULL;
	bool good = !ANeuralNetworksModel_create(&m);

	for (uint32_t i = 0; good && i < NUM_CUT_OPERANDS; i++)
		good = !ANeuralNetworksModel_addOperand(m, i == ACTIVATION ? &int_scalar :
							   i == SUM || i == POSITIVE ||
							   i == PRODUCT ? type : &floats);
	if (!good || ANeuralNetworksModel_setOperandValue(m, ACTIVATION, &none, sizeof(none)) ||
	    /* Not in the order in which they run. */
	    ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_SUB, 3, sub, 1, &out) ||
	    ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, 3, mul, 1, &product) ||
	    ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_RELU, 1, &sum, 1, &positive) ||
	    ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add, 1, &sum) ||
	    ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add, num_outputs, outputs) ||
	    ANeuralNetworksModel_finish(m)) {
		printf("Bail out! no model to cut\n");
		exit(1);
	}
	return m;
}

/* What it computes: (a + b) * b - (a + b). */
static inline bool is_cut_result(const float *out)
{
	for (uint32_t i = 0; i < 4; i++)
		if (out[i] != (cut_a[i] + cut_b[i]) * cut_b[i] - (cut_a[i] + cut_b[i]))
			return false;
	return true;
}

/* Devices without MUL, and with nothing but that. @more: further words of the spec. */
static inline void add_cut_devices(const ANeuralNetworksDevice **devices, const char *more)
{
	char spec[NNHAL_NAME_SIZE];

	snprintf(spec, sizeof(spec), "sim:refuse=ADD,refuse=SUB,refuse=RELU%s", more);
	devices[1] = ndk_device_add("multiplies", spec);
	snprintf(spec, sizeof(spec), "sim:refuse=MUL%s", more);
	devices[0] = ndk_device_add("adds", spec);
	if (!devices[0] || !devices[1]) {
		printf("Bail out! no devices\n");
		exit(1);
	}
}

static inline ANeuralNetworksExecution *cut_execution(ANeuralNetworksCompilation *c, float *out)
{
	ANeuralNetworksExecution *e = NULL;

	if (ANeuralNetworksExecution_create(c, &e) ||
	    ANeuralNetworksExecution_setInput(e, 0, NULL, cut_a, sizeof(cut_a)) ||
	    ANeuralNetworksExecution_setInput(e, 1, NULL, cut_b, sizeof(cut_b)) ||
	    ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 16))
		ok(false, "an execution with its arguments");
	memset(out, 0, 16);
	return e;
}

static inline ANeuralNetworksCompilation *compiled_for(ANeuralNetworksModel *m,
						       const ANeuralNetworksDevice **devices,
						       uint32_t count, int expected)
{
	ANeuralNetworksCompilation *c = NULL;

	ANeuralNetworksCompilation_createForDevices(m, devices, count, &c);
	is(ANeuralNetworksCompilation_finish(c), expected, "finish");
	return c;
}

#endif /* TESTS_NDK_CUT_H */
