// SPDX-License-Identifier: MIT
/*
 * What is said of models that are refused: by the numbers of the program, and of what only a device refuses when the
 * model is compiled, and when it is executed.
 */
#include "ndk_parts.h"
#include "ndk_shown.h"

static const float a[4] = { 1, 2, 3, 4 };

static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c, float *sum)
{
	ANeuralNetworksExecution *e = NULL;

	ANeuralNetworksExecution_create(c, &e);
	for (int i = 0; i < 2; i++)
		ANeuralNetworksExecution_setInput(e, i, NULL, a, 16);
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16);
	return e;
}

/* ADD of operands 1 and 2, activation 3, to 4; nobody reads 0. In the operation they have other numbers. */
static ANeuralNetworksModel *add_later(const ANeuralNetworksOperandType *second, int32_t activation, int *result)
{
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_addOperand(m, second);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_setOperandValue(m, 3, &activation, sizeof(activation));
	ANeuralNetworksModel_setOperandValue(m, 0, a, sizeof(a));
	*result = ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, (uint32_t[]){ 1, 2, 3 }, 1,
						    (uint32_t[]){ 4 });
	return m;
}

static void test_added(void)
{
	const ANeuralNetworksOperandType ints = { ANEURALNETWORKS_TENSOR_INT32, 1, four, 0, 0 };
	ANeuralNetworksModel *m;
	int result;

	m = add_later(&ints, 0, &result);
	ok(result == ANEURALNETWORKS_BAD_DATA, "ADD of floats and integers");
	says("ANeuralNetworksModel_addOperation", "operand 2 is TENSOR_INT32", "it names the program's operand");
	ANeuralNetworksModel_free(m);
	m = add_later(&floats, 0, &result);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, (uint32_t[]){ 1 }, 1, (uint32_t[]){ 4 });
	is(ANeuralNetworksModel_finish(m), ANEURALNETWORKS_BAD_DATA, "an operand without a value");
	says("ANeuralNetworksModel_finish", "operand 2", "it names the operand");
	ANeuralNetworksModel_free(m);
}

/* Operations in the wrong order: RELU of the sum comes first, so that a device gets ADD as number 0. */
static void test_order(const ANeuralNetworksDevice *device)
{
	static const int32_t wrong = 9;
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c = NULL;

	ANeuralNetworksModel_create(&m);
	for (int i = 0; i < 4; i++)
		ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	ANeuralNetworksModel_setOperandValue(m, 4, &wrong, sizeof(wrong));
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_RELU, 1, (uint32_t[]){ 2 }, 1, (uint32_t[]){ 3 });
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, (uint32_t[]){ 0, 1, 4 }, 1, (uint32_t[]){ 2 });
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){ 0, 1 }, 1, (uint32_t[]){ 3 });
	is(ANeuralNetworksModel_finish(m), 0, "a model that begins with its last operation");
	ANeuralNetworksCompilation_createForDevices(m, &device, 1, &c);
	is(ANeuralNetworksCompilation_finish(c), ANEURALNETWORKS_BAD_DATA, "activation 9");
	says("ANeuralNetworksCompilation_finish", "operation 1 (ADD) input 2 (operand 4)",
	     "it names the program's operation");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* What only a device refuses: the compilation says it, and each way to execute. */
static void test_deferred(void)
{
	ANeuralNetworksModel *m;
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e = NULL;
	ANeuralNetworksEvent *event = NULL;
	uint32_t rank;
	float sum[4];
	int result;

	m = add_later(&floats, 9, &result);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){ 1, 2 }, 1, (uint32_t[]){ 4 });
	/* Operand 0 has a value that nobody reads. */
	is(ANeuralNetworksModel_finish(m), 0, "finish");
	ANeuralNetworksCompilation_create(m, &c);
	is(ANeuralNetworksCompilation_finish(c), 0, "a compilation without a list of devices");
	says_only("nnapi: error: no device runs the model: BAD_DATA: ", "it says that no device takes the model");
	e = execution(c, sum);
	is(ANeuralNetworksExecution_compute(e), ANEURALNETWORKS_OP_FAILED, "compute");
	says("ANeuralNetworksExecution_compute", "input 2 (operand 3)", "it says why");
	ANeuralNetworksExecution_free(e);
	e = execution(c, sum);
	ANeuralNetworksExecution_startCompute(e, &event);
	is(ANeuralNetworksEvent_wait(event), ANEURALNETWORKS_OP_FAILED, "wait for a start");
	says("ANeuralNetworksEvent_wait", "input 2 (operand 3)", "it says why");
	ANeuralNetworksEvent_free(event);
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank), ANEURALNETWORKS_OP_FAILED, "the rank");
	says("ANeuralNetworksExecution_getOutputOperandRank", "input 2 (operand 3)", "it says why");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* GATHER names no limit of ranks; devices have one, and the compilation names it. */
static void test_rank(const ANeuralNetworksDevice *device)
{
	static const uint32_t in[5] = { 1, 1, 4, 1, 1 }, indices[5] = { 2, 3, 1, 1, 1 };
	static const uint32_t out[9] = { 1, 1, 2, 3, 1, 1, 1, 1, 1 };
	const ANeuralNetworksOperandType types[3] = {
		{ ANEURALNETWORKS_TENSOR_FLOAT32, 5, in, 0, 0 }, { ANEURALNETWORKS_TENSOR_INT32, 5, indices, 0, 0 },
		{ ANEURALNETWORKS_TENSOR_FLOAT32, 9, out, 0, 0 },
	};
	static const int32_t axis = 2;
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &types[0]);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	ANeuralNetworksModel_addOperand(m, &types[1]);
	ANeuralNetworksModel_addOperand(m, &types[2]);
	ANeuralNetworksModel_setOperandValue(m, 1, &axis, sizeof(axis));
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_GATHER, 3, (uint32_t[]){ 0, 1, 2 }, 1,
					     (uint32_t[]){ 3 }), 0, "GATHER to rank 9");
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){ 0, 2 }, 1, (uint32_t[]){ 3 });
	is(ANeuralNetworksModel_finish(m), 0, "finish of the model");
	ANeuralNetworksCompilation_createForDevices(m, &device, 1, &c);
	is(ANeuralNetworksCompilation_finish(c), ANEURALNETWORKS_BAD_DATA, "finish of the compilation");
	says("ANeuralNetworksCompilation_finish", "operand 3: rank", "it names the operand");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* Without the variable nothing is shown. */
static void test_silence(void)
{
	char line[256];
	unsigned int total;

	unsetenv("NNHAL_DEBUG");
	is(ANeuralNetworksModel_create(NULL), ANEURALNETWORKS_UNEXPECTED_NULL, "a failure that nobody wants to hear of");
	look("", line, sizeof(line), &total);
	ok(!total, "nothing is shown");
}

int main(void)
{
	begin_to_show();
	test_added();
	test_order(reference_device());
	test_deferred();
	test_rank(reference_device());
	test_silence();
	return tap_done();
}
