// SPDX-License-Identifier: MIT
/*
 * Types and shapes of arguments: what a type may say besides the model and memory of a descriptor, and when a shape is
 * found to be wrong.
 */
#include "ndk.h"
#include "ndk_parts.h"

enum { NONE = ANEURALNETWORKS_NO_ERROR, DATA = ANEURALNETWORKS_BAD_DATA };

static const uint32_t one[1] = { 1 }, two[1] = { 2 }, open_vector[1] = { 0 };

static ANeuralNetworksOperandType float_type(uint32_t rank, const uint32_t *dimensions)
{
	return (ANeuralNetworksOperandType){ ANEURALNETWORKS_TENSOR_FLOAT32, rank, dimensions, 0, 0 };
}

/* RELU of operands of two types, compiled for the reference device. */
static ANeuralNetworksCompilation *relu(const ANeuralNetworksOperandType *in, const ANeuralNetworksOperandType *out)
{
	static const uint32_t zero[1] = { 0 };
	ANeuralNetworksCompilation *c;
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, in);
	ANeuralNetworksModel_addOperand(m, out);
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_RELU, 1, zero, 1, one), NONE, "RELU");
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, zero, 1, one);
	is(ANeuralNetworksModel_finish(m), NONE, "finish");
	c = compiled(m, true);
	ANeuralNetworksModel_free(m);
	return c;
}

static int set_input(ANeuralNetworksCompilation *c, const ANeuralNetworksOperandType *type, size_t length)
{
	static const uint8_t bytes[64];
	ANeuralNetworksExecution *e = NULL;
	int result;

	ANeuralNetworksExecution_create(c, &e);
	result = ANeuralNetworksExecution_setInput(e, 0, type, bytes, length);
	ANeuralNetworksExecution_free(e);
	return result;
}

/* Programs give a quantization of their own with the shape: the model's counts. */
static void test_quantization(void)
{
	static const uint32_t open[2] = { 0, 3 }, known[2] = { 2, 3 };
	const ANeuralNetworksOperandType in = { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 2, open, 0.0625f, 128 };
	ANeuralNetworksOperandType t = { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 2, known, 0.3f, 128 };
	ANeuralNetworksCompilation *c = relu(&in, &in);
	const uint8_t bytes[6] = { 200, 3, 130, 128, 255, 0 }, positive[6] = { 200, 128, 130, 128, 255, 128 };
	ANeuralNetworksExecution *e = NULL;
	uint8_t out[6] = { 0 };

	is(set_input(c, &t, 6), NONE, "another scale than the model's");
	t.zeroPoint = 7;
	is(set_input(c, &t, 6), NONE, "another zero point, too");
	t.zeroPoint = 256;
	is(set_input(c, &t, 6), DATA, "a zero point that the type cannot have");
	t.zeroPoint = 7;
	t.scale = -1;
	is(set_input(c, &t, 6), DATA, "a scale that the type cannot have");
	t.scale = 0;
	is(set_input(c, &t, 6), DATA, "no scale");
	t.scale = 0.3f;
	t.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
	is(set_input(c, &t, 6), DATA, "another type");
	t.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_setInput(e, 0, &t, bytes, 6);
	is(ANeuralNetworksExecution_setOutput(e, 0, &t, out, 6), NONE, "another quantization of the output");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(!memcmp(out, positive, 6), "by the quantization of the model");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
}

/* Memory of one element for the input or output of a compilation; @shared: it has a role of another device, too. */
static ANeuralNetworksMemory *described(ANeuralNetworksCompilation *c, bool output, bool shared)
{
	ANeuralNetworksCompilation *far = NULL;
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemory *memory = NULL;
	const ANeuralNetworksOperandType known = float_type(1, one);

	ANeuralNetworksMemoryDesc_create(&desc);
	if (output)
		ANeuralNetworksMemoryDesc_addOutputRole(desc, c, 0, 1.0f);
	else
		ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f);
	/* A role of another device makes it memory of none. */
	if (shared) {
		const ANeuralNetworksDevice *device = ndk_device_add("another", "sim:refuse=MUL");
		ANeuralNetworksModel *m = NULL;

		ANeuralNetworksModel_create(&m);
		ANeuralNetworksModel_addOperand(m, &known);
		ANeuralNetworksModel_addOperand(m, &known);
		ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_RELU, 1, &(uint32_t){ 0 }, 1, one);
		ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &(uint32_t){ 0 }, 1, one);
		ANeuralNetworksModel_finish(m);
		ANeuralNetworksCompilation_createForDevices(m, &device, 1, &far);
		is(ANeuralNetworksCompilation_finish(far), NONE, "a compilation for another device");
		ANeuralNetworksMemoryDesc_addInputRole(desc, far, 0, 1.0f);
		ANeuralNetworksModel_free(m);
	}
	ANeuralNetworksMemoryDesc_setDimensions(desc, 1, one);
	ANeuralNetworksMemoryDesc_finish(desc);
	is(ANeuralNetworksMemory_createFromDesc(desc, &memory), NONE, "memory of a descriptor");
	ok(memory && !memory->buffer == shared, "it is memory of %s", shared ? "no single device" : "a device");
	ANeuralNetworksMemoryDesc_free(desc);
	ANeuralNetworksCompilation_free(far);
	return memory;
}

static int set_described(ANeuralNetworksCompilation *c, bool output, const ANeuralNetworksOperandType *type,
			 const ANeuralNetworksMemory *memory)
{
	ANeuralNetworksExecution *e = NULL;
	int result;

	ANeuralNetworksExecution_create(c, &e);
	result = output ? ANeuralNetworksExecution_setOutputFromMemory(e, 0, type, memory, 0, 0) :
			  ANeuralNetworksExecution_setInputFromMemory(e, 0, type, memory, 0, 0);
	ANeuralNetworksExecution_free(e);
	return result;
}

/* A type may not disagree with the shape of described memory, whoever has that. */
static void test_described(void)
{
	static const uint32_t rank2[2] = { 1, 1 };
	const ANeuralNetworksOperandType open = float_type(1, open_vector), unranked = float_type(0, NULL);
	const ANeuralNetworksOperandType of_one = float_type(1, one), of_two = float_type(1, two),
		of_rank2 = float_type(2, rank2);
	ANeuralNetworksCompilation *c = relu(&open, &open), *any = relu(&unranked, &unranked);

	for (unsigned int i = 0; i < 4; i++) {
		bool output = i & 1, shared = i & 2;
		ANeuralNetworksMemory *memory = described(c, output, shared);

		is(set_described(c, output, NULL, memory), NONE, "no type");
		is(set_described(c, output, &of_one, memory), NONE, "a type of the shape of the memory");
		is(set_described(c, output, &of_two, memory), DATA, "a type of another shape");
		ANeuralNetworksMemory_free(memory);
		memory = described(any, output, shared);
		is(set_described(any, output, &of_rank2, memory), DATA, "a type of another rank");
		is(set_described(any, output, &of_one, memory), NONE, "a type of its rank");
		ANeuralNetworksMemory_free(memory);
	}
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_free(any);
}

/* One execution of RELU with a known input of [2, 2]. */
static int run_relu(const ANeuralNetworksOperandType *out, const uint32_t *given, size_t bytes, unsigned int way)
{
	static const uint32_t open[2] = { 0, 0 }, known[2] = { 2, 2 };
	static const float x[4] = { 1, 2, 3, 4 };
	const ANeuralNetworksOperandType in = float_type(2, open), type = float_type(2, known);
	const ANeuralNetworksOperandType of_output = float_type(2, given);
	ANeuralNetworksCompilation *c = relu(&in, out);
	ANeuralNetworksExecution *e = NULL;
	ANeuralNetworksBurst *burst = NULL;
	ANeuralNetworksEvent *event = NULL;
	float y[64];
	int result;

	ANeuralNetworksBurst_create(c, &burst);
	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_setInput(e, 0, &type, x, sizeof(x));
	is(ANeuralNetworksExecution_setOutput(e, 0, given ? &of_output : NULL, y, bytes), NONE, "setOutput");
	if (way == 0) {
		result = ANeuralNetworksExecution_compute(e);
	} else if (way == 1) {
		result = ANeuralNetworksExecution_burstCompute(e, burst);
	} else {
		ANeuralNetworksExecution_startCompute(e, &event);
		result = ANeuralNetworksEvent_wait(event);
	}
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksBurst_free(burst);
	ANeuralNetworksCompilation_free(c);
	return result;
}

/* Only computing tells that the shape which the model or the type gives an output is not the real one. */
static void test_contradictions(void)
{
	static const uint32_t columns[2] = { 0, 3 }, open[2] = { 0, 0 }, wide[2] = { 2, 3 }, right[2] = { 2, 2 };
	const ANeuralNetworksOperandType three = float_type(2, columns), any = float_type(0, NULL),
		of_rank = float_type(2, open);
	int failed = ANEURALNETWORKS_OP_FAILED;

	for (unsigned int way = 0; way < 3; way++) {
		is(run_relu(&three, NULL, 24, way), failed, "the model has 3 columns, 2 are right");
		is(run_relu(&three, NULL, 12, way), failed, "the same, and too little room");
		is(run_relu(&three, NULL, 48, way), failed, "the same, and more room");
		is(run_relu(&any, wide, 24, way), failed, "the type has 3 columns, the model no rank");
		is(run_relu(&any, columns, 24, way), failed, "the same, with open rows");
		is(run_relu(&of_rank, wide, 24, way), failed, "the type has 3 columns, the model a rank");
		is(run_relu(&of_rank, right, 16, way), NONE, "the right shape");
		is(run_relu(&of_rank, NULL, 12, way), ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE, "too little room only");
	}
}

int main(void)
{
	test_quantization();
	test_described();
	test_contradictions();
	return tap_done();
}
