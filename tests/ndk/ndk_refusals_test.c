// SPDX-License-Identifier: MIT
/*
 * Each parameter of each function, bad in turn: the call fails, a pointer that it returns is NULL, and NNHAL_DEBUG
 * shows one line with the call, the result and a reason. The parameters are those of the header, so that one of a new
 * function without an entry here fails.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndk_parts.h"
#include "ndk_shown.h"

#define PARAMETER(function, parameter, returned) { #function, #parameter, returned, 0 },

static struct {
	const char *function;
	const char *parameter;
	bool returned;		/* a pointer */
	unsigned int seen;
} parameters[] = {
#include "ndk_parameters.inc"
};

static const unsigned int num_parameters = sizeof(parameters) / sizeof(parameters[0]);

/* What a call finds where it returns a pointer. */
static char left_over;
static void *out = &left_over;

/* A parameter is done with. Has the function one in which it returns a pointer, but this one? */
static bool see(const char *function, const char *parameter)
{
	bool returns = false, known = false;

	for (unsigned int i = 0; i < num_parameters; i++) {
		bool same = !strcmp(parameters[i].parameter, parameter);

		if (strcmp(parameters[i].function, function))
			continue;
		known |= same;
		parameters[i].seen += same;
		returns |= parameters[i].returned && !same;
	}
	if (!known)
		ok(false, "%s has a parameter %s", function, parameter);
	return returns;
}

static void judge(const char *function, const char *parameter, int result)
{
	bool returns = see(function, parameter);

	ok(result && (!returns || !out), "%s: %s is bad: result %d%s", function, parameter, result,
	   returns && out ? ", and a pointer that is none" : "");
	one_line(function, parameter);
	out = &left_over;
}

/* The call has one bad parameter. */
#define BAD(function, parameter, ...) \
	judge("ANeuralNetworks" #function, #parameter, ANeuralNetworks##function(__VA_ARGS__))
/* Any value of this one is good. */
#define ANY(function, parameter) see("ANeuralNetworks" #function, #parameter)

static const float a[4] = { 1, 2, 3, 4 };
static const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 1 };
static const uint32_t high[3] = { 0, 1, 99 };

/* Where functions return what is no pointer to an object. */
static union {
	uint32_t u32;
	int32_t i32;
	int64_t i64;
	uint64_t u64;
	bool flag;
	uint32_t dimensions[8];
} number;

static ANeuralNetworksMemory *file_memory(void)
{
	ANeuralNetworksMemory *memory = NULL;
	int fd = memfd_create("refusals", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 64) ||
	    ANeuralNetworksMemory_createFromFd(64, PROT_READ | PROT_WRITE, fd, 0, &memory))
		ok(false, "a file as memory");
	close(fd);
	return memory;
}

static void bad_devices(ANeuralNetworksDevice *device)
{
	BAD(_getDeviceCount, numDevices, NULL);
	BAD(_getDevice, devIndex, 999, (void *)&out);
	BAD(_getDevice, device, 0, NULL);
	BAD(Device_getName, device, NULL, (void *)&out);
	BAD(Device_getName, name, device, NULL);
	BAD(Device_getType, device, NULL, &number.i32);
	BAD(Device_getType, type, device, NULL);
	BAD(Device_getVersion, device, NULL, (void *)&out);
	BAD(Device_getVersion, version, device, NULL);
	BAD(Device_getFeatureLevel, device, NULL, &number.i64);
	BAD(Device_getFeatureLevel, featureLevel, device, NULL);
	BAD(Device_wait, device, NULL);
	BAD(Device_getExtensionSupport, device, NULL, "a", &number.flag);
	BAD(Device_getExtensionSupport, extensionName, device, NULL, &number.flag);
	BAD(Device_getExtensionSupport, isExtensionSupported, device, "a", NULL);
}

static void bad_memory(void)
{
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemory *memory = file_memory(), *small = NULL;
	int fd = memfd_create("refusals", MFD_CLOEXEC);
	AHardwareBuffer *buffer = NULL;
	const AHardwareBuffer_Desc blob = { .width = 64, .height = 1, .layers = 1,
		.format = AHARDWAREBUFFER_FORMAT_BLOB, .usage = AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN };

	if (ftruncate(fd, 32) || AHardwareBuffer_allocate(&blob, &buffer) ||
	    ANeuralNetworksMemory_createFromFd(32, PROT_READ, fd, 0, &small))
		ok(false, "a file and a buffer");
	BAD(Memory_createFromFd, size, 33, PROT_READ, fd, 0, (void *)&out);
	BAD(Memory_createFromFd, size, 0, PROT_READ, fd, 0, (void *)&out);
	BAD(Memory_createFromFd, protect, 16, PROT_EXEC, fd, 0, (void *)&out);
	BAD(Memory_createFromFd, protect, 16, PROT_NONE, fd, 0, (void *)&out);
	BAD(Memory_createFromFd, fd, 16, PROT_READ, -1, 0, (void *)&out);
	BAD(Memory_createFromFd, fd, 16, PROT_READ, 9999, 0, (void *)&out);
	BAD(Memory_createFromFd, offset, 16, PROT_READ, fd, 17, (void *)&out);
	BAD(Memory_createFromFd, memory, 16, PROT_READ, fd, 0, NULL);
	BAD(Memory_createFromAHardwareBuffer, ahwb, NULL, (void *)&out);
	BAD(Memory_createFromAHardwareBuffer, memory, buffer, NULL);
	ANeuralNetworksMemoryDesc_create(&desc);
	BAD(Memory_createFromDesc, desc, NULL, (void *)&out);
	BAD(Memory_createFromDesc, desc, desc, (void *)&out);
	BAD(Memory_createFromDesc, memory, desc, NULL);
	BAD(Memory_copy, src, NULL, memory);
	BAD(Memory_copy, src, small, memory);
	BAD(Memory_copy, dst, memory, NULL);
	BAD(Memory_copy, dst, memory, small);
	ANeuralNetworksMemoryDesc_free(desc);
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksMemory_free(small);
	AHardwareBuffer_release(buffer);
	close(fd);
}

static void bad_descriptors(ANeuralNetworksCompilation *c, ANeuralNetworksCompilation *unfinished)
{
	static const uint32_t three[1] = { 3 };
	ANeuralNetworksMemoryDesc *desc = NULL;

	BAD(MemoryDesc_create, desc, NULL);
	ANeuralNetworksMemoryDesc_create(&desc);
	BAD(MemoryDesc_finish, desc, NULL);
	BAD(MemoryDesc_finish, desc, desc);
	BAD(MemoryDesc_addInputRole, desc, NULL, c, 0, 1.0f);
	BAD(MemoryDesc_addInputRole, compilation, desc, NULL, 0, 1.0f);
	BAD(MemoryDesc_addInputRole, compilation, desc, unfinished, 0, 1.0f);
	BAD(MemoryDesc_addInputRole, index, desc, c, 2, 1.0f);
	BAD(MemoryDesc_addInputRole, frequency, desc, c, 0, 0.0f);
	BAD(MemoryDesc_addInputRole, frequency, desc, c, 0, NAN);
	BAD(MemoryDesc_addOutputRole, desc, NULL, c, 0, 1.0f);
	BAD(MemoryDesc_addOutputRole, compilation, desc, NULL, 0, 1.0f);
	BAD(MemoryDesc_addOutputRole, compilation, desc, unfinished, 0, 1.0f);
	BAD(MemoryDesc_addOutputRole, index, desc, c, 1, 1.0f);
	BAD(MemoryDesc_addOutputRole, frequency, desc, c, 0, 2.0f);
	BAD(MemoryDesc_setDimensions, desc, NULL, 1, three);
	BAD(MemoryDesc_setDimensions, rank, desc, 99, three);
	BAD(MemoryDesc_setDimensions, dimensions, desc, 1, NULL);
	ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f);
	/* The same role twice; a shape that is not the role's. */
	BAD(MemoryDesc_addInputRole, index, desc, c, 0, 1.0f);
	BAD(MemoryDesc_setDimensions, dimensions, desc, 1, three);
	ANeuralNetworksMemoryDesc_finish(desc);
	BAD(MemoryDesc_finish, desc, desc);
	BAD(MemoryDesc_addInputRole, desc, desc, c, 1, 1.0f);
	BAD(MemoryDesc_setDimensions, desc, desc, 1, four);
	ANeuralNetworksMemoryDesc_free(desc);
}

static void bad_operands(ANeuralNetworksModel *m, ANeuralNetworksModel *finished)
{
	static const uint32_t channels_of[2] = { 2, 4 };
	const ANeuralNetworksOperandType zero_point = { ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, four, 1, 300 };
	const ANeuralNetworksOperandType per_channel = {
		ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 2, channels_of, 0, 0 };
	const ANeuralNetworksOperandType no_dimensions = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, NULL, 0, 0 };
	const ANeuralNetworksSymmPerChannelQuantParams channels = { 1, 4, a }, no_scales = { 1, 4, NULL },
		of_rows = { 0, 4, a };
	ANeuralNetworksMemory *memory = file_memory();

	BAD(Model_create, model, NULL);
	BAD(Model_addOperand, model, NULL, &floats);
	BAD(Model_addOperand, model, finished, &floats);
	BAD(Model_addOperand, type, m, NULL);
	BAD(Model_addOperand, type, m, &zero_point);
	BAD(Model_addOperand, type, m, &no_dimensions);
	BAD(Model_setOperandValue, model, NULL, 0, a, 16);
	BAD(Model_setOperandValue, model, finished, 0, a, 16);
	BAD(Model_setOperandValue, index, m, -1, a, 16);
	BAD(Model_setOperandValue, index, m, 7, a, 16);
	BAD(Model_setOperandValue, index, m, 2, a, 4);
	BAD(Model_setOperandValue, buffer, m, 0, NULL, 16);
	BAD(Model_setOperandValue, length, m, 0, a, 15);
	BAD(Model_setOperandValueFromMemory, model, NULL, 0, memory, 0, 16);
	BAD(Model_setOperandValueFromMemory, model, finished, 0, memory, 0, 16);
	BAD(Model_setOperandValueFromMemory, index, m, 9, memory, 0, 16);
	BAD(Model_setOperandValueFromMemory, memory, m, 0, NULL, 0, 16);
	BAD(Model_setOperandValueFromMemory, offset, m, 0, memory, 49, 16);
	BAD(Model_setOperandValueFromMemory, offset, m, 0, memory, SIZE_MAX, 16);
	BAD(Model_setOperandValueFromMemory, length, m, 0, memory, 0, 12);
	BAD(Model_setOperandValueFromModel, model, NULL, 0, finished);
	BAD(Model_setOperandValueFromModel, model, finished, 0, finished);
	BAD(Model_setOperandValueFromModel, index, m, 0, finished);
	BAD(Model_setOperandValueFromModel, index, m, 77, finished);
	BAD(Model_setOperandValueFromModel, value, m, 0, NULL);
	BAD(Model_setOperandValueFromModel, value, m, 0, m);
	ANeuralNetworksModel_addOperand(m, &per_channel);
	BAD(Model_setOperandSymmPerChannelQuantParams, model, NULL, 4, &channels);
	BAD(Model_setOperandSymmPerChannelQuantParams, model, finished, 4, &channels);
	BAD(Model_setOperandSymmPerChannelQuantParams, index, m, 0, &channels);
	BAD(Model_setOperandSymmPerChannelQuantParams, index, m, 5, &channels);
	BAD(Model_setOperandSymmPerChannelQuantParams, channelQuant, m, 4, NULL);
	BAD(Model_setOperandSymmPerChannelQuantParams, channelQuant, m, 4, &no_scales);
	BAD(Model_setOperandSymmPerChannelQuantParams, channelQuant, m, 4, &of_rows);
	BAD(Model_setOperandExtensionData, model, NULL, 0, a, 4);
	BAD(Model_setOperandExtensionData, model, finished, 0, a, 4);
	BAD(Model_setOperandExtensionData, index, m, 0, a, 4);
	BAD(Model_setOperandExtensionData, data, m, 0, NULL, 4);
	BAD(Model_setOperandExtensionData, length, m, 0, a, 0);
	BAD(Model_getExtensionOperandType, model, NULL, "org.nnpu.tflite", 0, &number.i32);
	BAD(Model_getExtensionOperandType, extensionName, m, NULL, 0, &number.i32);
	BAD(Model_getExtensionOperandType, extensionName, m, "com.nobody", 0, &number.i32);
	ANY(Model_getExtensionOperandType, operandCodeWithinExtension);
	BAD(Model_getExtensionOperandType, type, m, "org.nnpu.tflite", 0, NULL);
	BAD(Model_getExtensionOperationType, model, finished, "org.nnpu.tflite", 0, &number.i32);
	BAD(Model_getExtensionOperationType, extensionName, m, "com.nobody", 0, &number.i32);
	ANY(Model_getExtensionOperationType, operationCodeWithinExtension);
	BAD(Model_getExtensionOperationType, type, m, "org.nnpu.tflite", 0, NULL);
	ANeuralNetworksMemory_free(memory);
}

static void bad_operations(ANeuralNetworksModel *m, ANeuralNetworksModel *finished, const ANeuralNetworksDevice *device)
{
	const ANeuralNetworksDevice *const twice[2] = { device, device };
	const ANeuralNetworksDevice *const with_null[2] = { device, NULL };
	bool supported[1];

	BAD(Model_addOperation, model, NULL, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output);
	BAD(Model_addOperation, model, finished, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output);
	BAD(Model_addOperation, type, m, 999, 3, add_inputs, 1, add_output);
	BAD(Model_addOperation, type, m, ANEURALNETWORKS_CONV_2D, 3, add_inputs, 1, add_output);
	BAD(Model_addOperation, inputCount, m, ANEURALNETWORKS_ADD, 2, add_inputs, 1, add_output);
	BAD(Model_addOperation, inputs, m, ANEURALNETWORKS_ADD, 3, NULL, 1, add_output);
	BAD(Model_addOperation, inputs, m, ANEURALNETWORKS_ADD, 3, high, 1, add_output);
	BAD(Model_addOperation, outputCount, m, ANEURALNETWORKS_ADD, 3, add_inputs, 0, add_output);
	BAD(Model_addOperation, outputs, m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, NULL);
	BAD(Model_addOperation, outputs, m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, &add_inputs[2]);
	BAD(Model_identifyInputsAndOutputs, model, NULL, 2, add_inputs, 1, add_output);
	BAD(Model_identifyInputsAndOutputs, model, finished, 2, add_inputs, 1, add_output);
	BAD(Model_identifyInputsAndOutputs, inputCount, m, 3, add_inputs, 1, add_output);
	BAD(Model_identifyInputsAndOutputs, inputs, m, 2, NULL, 1, add_output);
	BAD(Model_identifyInputsAndOutputs, inputs, m, 3, high, 1, add_output);
	BAD(Model_identifyInputsAndOutputs, outputCount, m, 2, add_inputs, 3, high);
	BAD(Model_identifyInputsAndOutputs, outputs, m, 2, add_inputs, 1, NULL);
	BAD(Model_identifyInputsAndOutputs, outputs, m, 2, add_inputs, 1, add_inputs);
	BAD(Model_relaxComputationFloat32toFloat16, model, NULL, true);
	BAD(Model_relaxComputationFloat32toFloat16, model, finished, true);
	ANY(Model_relaxComputationFloat32toFloat16, allow);
	BAD(Model_getSupportedOperationsForDevices, model, NULL, &device, 1, supported);
	BAD(Model_getSupportedOperationsForDevices, model, m, &device, 1, supported);
	BAD(Model_getSupportedOperationsForDevices, devices, finished, NULL, 1, supported);
	BAD(Model_getSupportedOperationsForDevices, devices, finished, with_null, 2, supported);
	BAD(Model_getSupportedOperationsForDevices, devices, finished, twice, 2, supported);
	BAD(Model_getSupportedOperationsForDevices, numDevices, finished, &device, 0, supported);
	BAD(Model_getSupportedOperationsForDevices, supportedOps, finished, &device, 1, NULL);
	BAD(Model_finish, model, NULL);
	BAD(Model_finish, model, m);
	BAD(Model_finish, model, finished);
}

static void bad_compilations(ANeuralNetworksModel *m, ANeuralNetworksModel *finished,
			     const ANeuralNetworksDevice *device)
{
	const ANeuralNetworksDevice *const twice[2] = { device, device };
	const ANeuralNetworksDevice *const with_null[2] = { device, NULL };
	ANeuralNetworksCompilation *c = NULL, *done = compiled(finished, true);

	BAD(Compilation_create, model, NULL, (void *)&out);
	BAD(Compilation_create, model, m, (void *)&out);
	BAD(Compilation_create, compilation, finished, NULL);
	BAD(Compilation_createForDevices, model, NULL, &device, 1, (void *)&out);
	BAD(Compilation_createForDevices, model, m, &device, 1, (void *)&out);
	BAD(Compilation_createForDevices, devices, finished, NULL, 1, (void *)&out);
	BAD(Compilation_createForDevices, devices, finished, with_null, 2, (void *)&out);
	BAD(Compilation_createForDevices, devices, finished, twice, 2, (void *)&out);
	BAD(Compilation_createForDevices, numDevices, finished, &device, 0, (void *)&out);
	BAD(Compilation_createForDevices, compilation, finished, &device, 1, NULL);
	ANeuralNetworksCompilation_create(finished, &c);
	BAD(Compilation_setPreference, compilation, NULL, 0);
	BAD(Compilation_setPreference, compilation, done, 0);
	BAD(Compilation_setPreference, preference, c, 3);
	BAD(Compilation_setCaching, compilation, NULL, "/tmp", token);
	BAD(Compilation_setCaching, compilation, done, "/tmp", token);
	BAD(Compilation_setCaching, cacheDir, c, NULL, token);
	BAD(Compilation_setCaching, token, c, "/tmp", NULL);
	BAD(Compilation_setPriority, compilation, NULL, 90);
	BAD(Compilation_setPriority, compilation, done, 90);
	BAD(Compilation_setPriority, priority, c, 91);
	BAD(Compilation_setTimeout, compilation, NULL, 1);
	BAD(Compilation_setTimeout, compilation, done, 1);
	BAD(Compilation_setTimeout, compilation, c, 1);
	ANY(Compilation_setTimeout, duration);
	BAD(Compilation_finish, compilation, NULL);
	BAD(Compilation_finish, compilation, done);
	BAD(Compilation_getPreferredMemoryAlignmentForInput, compilation, NULL, 0, &number.u32);
	BAD(Compilation_getPreferredMemoryAlignmentForInput, compilation, c, 0, &number.u32);
	BAD(Compilation_getPreferredMemoryAlignmentForInput, index, done, 2, &number.u32);
	BAD(Compilation_getPreferredMemoryAlignmentForInput, alignment, done, 0, NULL);
	BAD(Compilation_getPreferredMemoryPaddingForInput, compilation, c, 0, &number.u32);
	BAD(Compilation_getPreferredMemoryPaddingForInput, index, done, 2, &number.u32);
	BAD(Compilation_getPreferredMemoryPaddingForInput, padding, done, 0, NULL);
	BAD(Compilation_getPreferredMemoryAlignmentForOutput, compilation, c, 0, &number.u32);
	BAD(Compilation_getPreferredMemoryAlignmentForOutput, index, done, 1, &number.u32);
	BAD(Compilation_getPreferredMemoryAlignmentForOutput, alignment, done, 0, NULL);
	BAD(Compilation_getPreferredMemoryPaddingForOutput, compilation, c, 0, &number.u32);
	BAD(Compilation_getPreferredMemoryPaddingForOutput, index, done, 1, &number.u32);
	BAD(Compilation_getPreferredMemoryPaddingForOutput, padding, done, 0, NULL);
	BAD(Execution_create, compilation, NULL, (void *)&out);
	BAD(Execution_create, compilation, c, (void *)&out);
	BAD(Execution_create, execution, done, NULL);
	BAD(Burst_create, compilation, NULL, (void *)&out);
	BAD(Burst_create, compilation, c, (void *)&out);
	BAD(Burst_create, burst, done, NULL);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_free(done);
}

static void bad_arguments(ANeuralNetworksExecution *e, ANeuralNetworksExecution *ended)
{
	static const uint32_t three[1] = { 3 };
	const ANeuralNetworksOperandType other = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, three, 0, 0 };
	ANeuralNetworksMemory *memory = file_memory();
	float result[4];

	BAD(Execution_setInput, execution, NULL, 0, NULL, a, 16);
	BAD(Execution_setInput, execution, ended, 0, NULL, a, 16);
	BAD(Execution_setInput, index, e, -1, NULL, a, 16);
	BAD(Execution_setInput, index, e, 2, NULL, a, 16);
	BAD(Execution_setInput, type, e, 0, &other, a, 12);
	BAD(Execution_setInput, buffer, e, 0, NULL, NULL, 16);
	BAD(Execution_setInput, length, e, 0, NULL, a, 12);
	BAD(Execution_setInputFromMemory, execution, NULL, 0, NULL, memory, 0, 16);
	BAD(Execution_setInputFromMemory, execution, ended, 0, NULL, memory, 0, 16);
	BAD(Execution_setInputFromMemory, index, e, 2, NULL, memory, 0, 16);
	BAD(Execution_setInputFromMemory, type, e, 0, &other, memory, 0, 12);
	BAD(Execution_setInputFromMemory, memory, e, 0, NULL, NULL, 0, 16);
	BAD(Execution_setInputFromMemory, offset, e, 0, NULL, memory, 50, 16);
	BAD(Execution_setInputFromMemory, length, e, 0, NULL, memory, 0, 20);
	BAD(Execution_setOutput, execution, NULL, 0, NULL, result, 16);
	BAD(Execution_setOutput, execution, ended, 0, NULL, result, 16);
	BAD(Execution_setOutput, index, e, 1, NULL, result, 16);
	BAD(Execution_setOutput, type, e, 0, &other, result, 12);
	BAD(Execution_setOutput, buffer, e, 0, NULL, NULL, 16);
	BAD(Execution_setOutput, length, e, 0, NULL, result, 17);
	BAD(Execution_setOutputFromMemory, execution, NULL, 0, NULL, memory, 0, 16);
	BAD(Execution_setOutputFromMemory, execution, ended, 0, NULL, memory, 0, 16);
	BAD(Execution_setOutputFromMemory, index, e, 1, NULL, memory, 0, 16);
	BAD(Execution_setOutputFromMemory, type, e, 0, &other, memory, 0, 12);
	BAD(Execution_setOutputFromMemory, memory, e, 0, NULL, NULL, 0, 16);
	BAD(Execution_setOutputFromMemory, offset, e, 0, NULL, memory, 65, 16);
	BAD(Execution_setOutputFromMemory, length, e, 0, NULL, memory, 0, 20);
	ANeuralNetworksMemory_free(memory);
}

static void bad_settings(ANeuralNetworksExecution *e, ANeuralNetworksExecution *ended,
			 ANeuralNetworksExecution *anywhere)
{
	BAD(Execution_setMeasureTiming, execution, NULL, true);
	BAD(Execution_setMeasureTiming, execution, ended, true);
	BAD(Execution_setMeasureTiming, execution, anywhere, true);
	ANY(Execution_setMeasureTiming, measure);
	BAD(Execution_setTimeout, execution, NULL, 1);
	BAD(Execution_setTimeout, execution, ended, 1);
	BAD(Execution_setTimeout, execution, anywhere, 1);
	ANY(Execution_setTimeout, duration);
	BAD(Execution_setLoopTimeout, execution, NULL, 1);
	BAD(Execution_setLoopTimeout, execution, ended, 1);
	ANY(Execution_setLoopTimeout, duration);
	BAD(Execution_setReusable, execution, NULL, true);
	BAD(Execution_setReusable, execution, ended, true);
	ANY(Execution_setReusable, reusable);
	BAD(Execution_enableInputAndOutputPadding, execution, NULL, true);
	BAD(Execution_enableInputAndOutputPadding, execution, ended, true);
	ANeuralNetworksExecution_setInput(e, 0, NULL, a, 16);
	BAD(Execution_enableInputAndOutputPadding, execution, e, true);
	ANY(Execution_enableInputAndOutputPadding, enable);
}

static void bad_starts(ANeuralNetworksExecution *e, ANeuralNetworksExecution *ended,
		       ANeuralNetworksExecution *anywhere, ANeuralNetworksCompilation *c)
{
	ANeuralNetworksBurst *burst = NULL, *other = NULL;
	const ANeuralNetworksEvent *none = NULL;

	ANeuralNetworksBurst_create(c, &burst);
	/* An input is not set. */
	BAD(Execution_compute, execution, NULL);
	BAD(Execution_compute, execution, e);
	BAD(Execution_compute, execution, ended);
	BAD(Execution_startCompute, execution, NULL, (void *)&out);
	BAD(Execution_startCompute, execution, e, (void *)&out);
	BAD(Execution_startCompute, execution, ended, (void *)&out);
	BAD(Execution_startCompute, event, e, NULL);
	BAD(Execution_burstCompute, execution, NULL, burst);
	BAD(Execution_burstCompute, execution, e, burst);
	BAD(Execution_burstCompute, execution, ended, burst);
	BAD(Execution_burstCompute, burst, e, other);
	BAD(Execution_burstCompute, burst, anywhere, burst);
	BAD(Execution_startComputeWithDependencies, execution, NULL, NULL, 0, 0, (void *)&out);
	BAD(Execution_startComputeWithDependencies, execution, e, NULL, 0, 0, (void *)&out);
	BAD(Execution_startComputeWithDependencies, execution, ended, NULL, 0, 0, (void *)&out);
	BAD(Execution_startComputeWithDependencies, dependencies, e, &none, 1, 0, (void *)&out);
	BAD(Execution_startComputeWithDependencies, num_dependencies, e, NULL, 1, 0, (void *)&out);
	BAD(Execution_startComputeWithDependencies, duration, anywhere, NULL, 0, 1, (void *)&out);
	BAD(Execution_startComputeWithDependencies, event, e, NULL, 0, 0, NULL);
	ANeuralNetworksBurst_free(burst);
}

static void bad_results(ANeuralNetworksExecution *e, ANeuralNetworksExecution *ended)
{
	BAD(Execution_getOutputOperandRank, execution, NULL, 0, &number.u32);
	BAD(Execution_getOutputOperandRank, execution, e, 0, &number.u32);
	BAD(Execution_getOutputOperandRank, index, ended, 1, &number.u32);
	BAD(Execution_getOutputOperandRank, rank, ended, 0, NULL);
	BAD(Execution_getOutputOperandDimensions, execution, NULL, 0, number.dimensions);
	BAD(Execution_getOutputOperandDimensions, execution, e, 0, number.dimensions);
	BAD(Execution_getOutputOperandDimensions, index, ended, -1, number.dimensions);
	BAD(Execution_getOutputOperandDimensions, dimensions, ended, 0, NULL);
	BAD(Execution_getDuration, execution, NULL, 0, &number.u64);
	BAD(Execution_getDuration, execution, e, 0, &number.u64);
	BAD(Execution_getDuration, durationCode, ended, 4, &number.u64);
	BAD(Execution_getDuration, duration, ended, 0, NULL);
}

static void bad_events(ANeuralNetworksExecution *e)
{
	ANeuralNetworksEvent *event = NULL;
	int fd = memfd_create("no fence", MFD_CLOEXEC), fence;

	ANeuralNetworksExecution_startCompute(e, &event);
	ANeuralNetworksEvent_wait(event);
	BAD(Event_createFromSyncFenceFd, sync_fence_fd, -1, (void *)&out);
	BAD(Event_createFromSyncFenceFd, sync_fence_fd, 9999, (void *)&out);
	BAD(Event_createFromSyncFenceFd, sync_fence_fd, fd, (void *)&out);
	BAD(Event_createFromSyncFenceFd, event, fd, NULL);
	BAD(Event_getSyncFenceFd, event, NULL, &fence);
	BAD(Event_getSyncFenceFd, event, event, &fence);
	BAD(Event_getSyncFenceFd, sync_fence_fd, event, NULL);
	BAD(Event_wait, event, NULL);
	ANeuralNetworksEvent_free(event);
	close(fd);
}

static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c, float *sum)
{
	ANeuralNetworksExecution *e = NULL;

	ANeuralNetworksExecution_create(c, &e);
	for (int i = 0; sum && i < 2; i++)
		ANeuralNetworksExecution_setInput(e, i, NULL, a, 16);
	if (sum)
		ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16);
	return e;
}

static void test_executions(ANeuralNetworksModel *finished)
{
	ANeuralNetworksCompilation *c = compiled(finished, true), *any = compiled(finished, false);
	ANeuralNetworksExecution *anywhere = execution(any, NULL), *e = execution(c, NULL);
	ANeuralNetworksExecution *ended, *next;
	ANeuralNetworksCompilation *unfinished = NULL;
	float sum[4];

	ended = execution(c, sum);
	is(ANeuralNetworksExecution_compute(ended), 0, "compute");
	bad_arguments(e, ended);
	bad_settings(e, ended, anywhere);
	bad_starts(e, ended, anywhere, c);
	bad_results(e, ended);
	next = execution(c, sum);
	bad_events(next);
	ANeuralNetworksCompilation_create(finished, &unfinished);
	bad_descriptors(c, unfinished);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksExecution_free(ended);
	ANeuralNetworksExecution_free(next);
	ANeuralNetworksExecution_free(anywhere);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_free(any);
	ANeuralNetworksCompilation_free(unfinished);
}

int main(void)
{
	ANeuralNetworksModel *m = add_operands(), *finished = finished_model();
	ANeuralNetworksDevice *device = reference_device();

	begin_to_show();
	bad_devices(device);
	bad_memory();
	bad_operands(m, finished);
	bad_compilations(m, finished, device);
	bad_operations(m, finished, device);
	test_executions(finished);
	for (unsigned int i = 0; i < num_parameters; i++)
		ok(parameters[i].seen, "%s: %s was bad, or any value is good", parameters[i].function,
		   parameters[i].parameter);
	ANeuralNetworksModel_free(m);
	ANeuralNetworksModel_free(finished);
	return tap_done();
}
