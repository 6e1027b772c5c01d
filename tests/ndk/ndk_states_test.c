// SPDX-License-Identifier: MIT
/*
 * Models of libneuralnetworks: NULL for each pointer, calls in the wrong state, which error comes first.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "ndk_parts.h"

static const float values[4] = { 1, 2, 3, 4 };
static const ANeuralNetworksSymmPerChannelQuantParams channels = { 0, 4, values };

static void test_null(void)
{
	ANeuralNetworksModel *m = add_operands();
	ANeuralNetworksModel *const none = NULL;
	ANeuralNetworksDevice *device = reference_device();
	const ANeuralNetworksDevice *list[2] = { device, NULL };
	ANeuralNetworksMemory *memory = (ANeuralNetworksMemory *)m;
	bool supported[1];
	int32_t type;
	int null = ANEURALNETWORKS_UNEXPECTED_NULL;

	is(ANeuralNetworksModel_create(NULL), null, "create to NULL");
	ANeuralNetworksModel_free(NULL);
	ANeuralNetworksMemory_free(NULL);
	is(ANeuralNetworksModel_finish(none), null, "finish of NULL");
	is(ANeuralNetworksModel_addOperand(none, &floats), null, "addOperand to NULL");
	is(ANeuralNetworksModel_addOperand(m, NULL), null, "addOperand of NULL");
	is(ANeuralNetworksModel_setOperandValue(none, 0, values, 16), null, "value in NULL");
	is(ANeuralNetworksModel_setOperandValue(m, 0, NULL, 16), null, "NULL value with a length");
	is(ANeuralNetworksModel_setOperandValueFromMemory(none, 0, memory, 0, 16), null,
	   "value of memory in NULL");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, NULL, 0, 16), null,
	   "value of memory NULL");
	is(ANeuralNetworksModel_setOperandValueFromModel(none, 0, m), null, "model in NULL");
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 0, NULL), null, "model NULL");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(none, 0, &channels), null,
	   "channels of NULL");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, NULL), null,
	   "channels NULL");
	is(ANeuralNetworksModel_setOperandExtensionData(none, 0, values, 4), null, "data in NULL");
	is(ANeuralNetworksModel_setOperandExtensionData(m, 0, NULL, 4), null, "data NULL");
	is(ANeuralNetworksModel_addOperation(none, 0, 3, add_inputs, 1, add_output), null,
	   "addOperation to NULL");
	is(ANeuralNetworksModel_addOperation(m, 0, 0, NULL, 1, add_output), null, "no inputs");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, add_inputs, 0, NULL), null, "no outputs");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(none, 2, add_inputs, 1, add_output), null,
	   "identify in NULL");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 0, NULL, 1, add_output), null,
	   "identify no inputs");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add_inputs, 0, NULL), null,
	   "identify no outputs");
	is(ANeuralNetworksModel_relaxComputationFloat32toFloat16(none, true), null, "relax NULL");
	is(ANeuralNetworksModel_getExtensionOperandType(none, "a", 0, &type), null,
	   "operand type in NULL");
	is(ANeuralNetworksModel_getExtensionOperandType(m, NULL, 0, &type), null,
	   "operand type of NULL");
	is(ANeuralNetworksModel_getExtensionOperandType(m, "a", 0, NULL), null,
	   "operand type to NULL");
	is(ANeuralNetworksModel_getExtensionOperationType(none, "a", 0, &type), null,
	   "operation type in NULL");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(none, list, 1, supported), null,
	   "support of NULL");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, NULL, 1, supported), null,
	   "support without devices");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 1, NULL), null,
	   "support to NULL");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 2, supported), null,
	   "NULL in the list comes before an unfinished model");
	is(ANeuralNetworksMemory_createFromFd(4, PROT_READ, 0, 0, NULL), null, "memory to NULL");
	/* None of all that has changed the model. */
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output),
	   ANEURALNETWORKS_NO_ERROR, "ADD after all errors");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add_inputs, 1, add_output),
	   ANEURALNETWORKS_NO_ERROR, "inputs and outputs after all errors");
	is(ANeuralNetworksModel_finish(m), ANEURALNETWORKS_NO_ERROR, "finish after all errors");
	ANeuralNetworksModel_free(m);
}

/* Each call that changes a model, with arguments that are wrong besides: the state comes first. */
static void test_closed(ANeuralNetworksModel *m, const char *how)
{
	int state = ANEURALNETWORKS_BAD_STATE;
	ANeuralNetworksOperandType bad = { 77, 0, NULL, 0.0f, 0 };
	int32_t type;

	printf("# %s\n", how);
	is(ANeuralNetworksModel_finish(m), state, "second finish");
	is(ANeuralNetworksModel_addOperand(m, &bad), state, "addOperand");
	is(ANeuralNetworksModel_setOperandValue(m, 99, values, 16), state, "setOperandValue");
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 99, m), state, "value of a model");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 99, &channels), state,
	   "channels");
	is(ANeuralNetworksModel_setOperandExtensionData(m, 99, values, 4), state, "data");
	is(ANeuralNetworksModel_addOperation(m, 999, 3, add_inputs, 1, add_output), state,
	   "addOperation");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 3, add_inputs, 1, add_output), state,
	   "identifyInputsAndOutputs");
	is(ANeuralNetworksModel_relaxComputationFloat32toFloat16(m, true), state, "relax");
	is(ANeuralNetworksModel_getExtensionOperandType(m, "com.nobody", 0, &type), state,
	   "operand type");
	is(ANeuralNetworksModel_getExtensionOperationType(m, "com.nobody", 0, &type), state,
	   "operation type");
}

static void test_states(void)
{
	ANeuralNetworksModel *m = add_model(), *other = add_operands();
	const ANeuralNetworksDevice *list[2] = { reference_device(), reference_device() };
	bool supported[2] = { true, true };

	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 1, supported),
	   ANEURALNETWORKS_BAD_STATE, "support of an unfinished model");
	is(ANeuralNetworksModel_setOperandValueFromModel(other, 0, m), ANEURALNETWORKS_BAD_STATE,
	   "an unfinished model as a value");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add_inputs, 1, add_output),
	   ANEURALNETWORKS_BAD_STATE, "inputs and outputs twice");
	is(ANeuralNetworksModel_setOperandValue(m, 2, values, 4), ANEURALNETWORKS_BAD_STATE,
	   "a value twice");
	is(ANeuralNetworksModel_setOperandValue(m, 0, values, 16), ANEURALNETWORKS_BAD_STATE,
	   "a value for an input");
	is(ANeuralNetworksModel_finish(m), ANEURALNETWORKS_NO_ERROR, "finish");
	test_closed(m, "a finished model");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 0, supported),
	   ANEURALNETWORKS_BAD_DATA, "an empty list of devices");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 2, supported),
	   ANEURALNETWORKS_BAD_DATA, "a device twice");
	is(ANeuralNetworksModel_finish(other), ANEURALNETWORKS_BAD_DATA, "finish of half a model");
	test_closed(other, "a model whose finish has failed");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(other, list, 1, supported),
	   ANEURALNETWORKS_BAD_STATE, "support of a model whose finish has failed");
	ANeuralNetworksModel_free(m);
	ANeuralNetworksModel_free(other);
}

static void test_memory(void)
{
	char path[] = "/tmp/ndk-states-XXXXXX";
	int fd = mkstemp(path), bad = ANEURALNETWORKS_BAD_DATA;
	ANeuralNetworksModel *m = add_operands();
	ANeuralNetworksMemory *memory;

	if (!ok(fd >= 0 && !ftruncate(fd, 200), "a file of 200 bytes"))
		return;
	unlink(path);
	is(ANeuralNetworksMemory_createFromFd(4, PROT_READ, -1, 0, &memory), bad, "descriptor -1");
	is(ANeuralNetworksMemory_createFromFd(0, PROT_READ, fd, 0, &memory), bad, "size 0");
	is(ANeuralNetworksMemory_createFromFd(201, PROT_READ, fd, 0, &memory), bad,
	   "more than the file has");
	is(ANeuralNetworksMemory_createFromFd(4, PROT_NONE, fd, 0, &memory), bad, "no access");
	is(ANeuralNetworksMemory_createFromFd(4, PROT_EXEC, fd, 0, &memory), bad, "PROT_EXEC");
	if (!is(ANeuralNetworksMemory_createFromFd(150, PROT_READ, fd, 20, &memory),
		ANEURALNETWORKS_NO_ERROR, "150 bytes at offset 20"))
		return;
	close(fd);
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, -1, memory, 0, 16), bad, "index -1");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 4, memory, 0, 16), bad, "index 4");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, memory, 0, 15), bad, "length 15");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, memory, 135, 16), bad,
	   "the end is beyond the memory");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, memory, 151, 16), bad,
	   "the offset is beyond the memory");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, memory, SIZE_MAX, 16), bad,
	   "offset + length overflows");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, memory, 134, 16),
	   ANEURALNETWORKS_NO_ERROR, "the last 16 bytes");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 0, memory, 0, 16),
	   ANEURALNETWORKS_BAD_STATE, "a second value");
	/* In this order: the model keeps what it needs. */
	ANeuralNetworksMemory_free(memory);
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output),
	   ANEURALNETWORKS_NO_ERROR, "ADD of a constant in memory that was freed");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &add_inputs[1], 1, add_output),
	   ANEURALNETWORKS_NO_ERROR, "inputs and outputs");
	is(ANeuralNetworksModel_finish(m), ANEURALNETWORKS_NO_ERROR, "finish");
	is(ANeuralNetworksModel_setOperandValueFromMemory(m, 99, memory, 0, 16),
	   ANEURALNETWORKS_BAD_STATE, "value of memory in a finished model");
	ANeuralNetworksModel_free(m);
}

int main(void)
{
	test_null();
	test_states();
	test_memory();
	return tap_done();
}
