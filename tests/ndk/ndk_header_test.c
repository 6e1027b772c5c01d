// SPDX-License-Identifier: MIT
/*
 * Numbers and layouts of the headers of the NNAPI. Operations and types have those of the HAL, which the
 * device's list has, too. Programs are built with headers of their own, so all other
 * numbers stand here once more.
 */
#include <android/NeuralNetworks.h>
#include <android/sharedmem.h>
#include <drm/nnpu_program.h>

#include "tap.h"

#define ANEURALNETWORKS_SUBGRAPH	ANEURALNETWORKS_MODEL

static void test_hal_numbers(void)
{
	unsigned int operations = 0, types = 0;

#define X(name, number) \
	_Static_assert((int)ANEURALNETWORKS_##name == (number), #name); \
	operations++;
	NNPU_OPERATION_LIST(X)
#undef X
	ok(operations == 102, "%u operations have the numbers of the device", operations);
#define X(name, number) \
	_Static_assert((int)ANEURALNETWORKS_##name == (number), #name); \
	types++;
	NNPU_TYPE_LIST(X)
#undef X
	ok(types == 16, "%u types have the numbers of the device", types);
}

struct number {
	const char *name;
	long long value, expected;
};

#define N(name, expected)	{ #name, name, expected }

static const struct number numbers[] = {
	N(ANEURALNETWORKS_NO_ERROR, 0),
	N(ANEURALNETWORKS_OUT_OF_MEMORY, 1),
	N(ANEURALNETWORKS_INCOMPLETE, 2),
	N(ANEURALNETWORKS_UNEXPECTED_NULL, 3),
	N(ANEURALNETWORKS_BAD_DATA, 4),
	N(ANEURALNETWORKS_OP_FAILED, 5),
	N(ANEURALNETWORKS_BAD_STATE, 6),
	N(ANEURALNETWORKS_UNMAPPABLE, 7),
	N(ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE, 8),
	N(ANEURALNETWORKS_UNAVAILABLE_DEVICE, 9),
	N(ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT, 10),
	N(ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT, 11),
	N(ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT, 12),
	N(ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT, 13),
	N(ANEURALNETWORKS_DEAD_OBJECT, 14),
	N(ANEURALNETWORKS_OEM_SCALAR, 10000),
	N(ANEURALNETWORKS_TENSOR_OEM_BYTE, 10001),
	N(ANEURALNETWORKS_OEM_OPERATION, 10000),
	N(ANEURALNETWORKS_FUSED_NONE, 0),
	N(ANEURALNETWORKS_FUSED_RELU, 1),
	N(ANEURALNETWORKS_FUSED_RELU1, 2),
	N(ANEURALNETWORKS_FUSED_RELU6, 3),
	N(ANEURALNETWORKS_PADDING_SAME, 1),
	N(ANEURALNETWORKS_PADDING_VALID, 2),
	N(ANEURALNETWORKS_PREFER_LOW_POWER, 0),
	N(ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, 1),
	N(ANEURALNETWORKS_PREFER_SUSTAINED_SPEED, 2),
	N(ANEURALNETWORKS_DEVICE_UNKNOWN, 0),
	N(ANEURALNETWORKS_DEVICE_OTHER, 1),
	N(ANEURALNETWORKS_DEVICE_CPU, 2),
	N(ANEURALNETWORKS_DEVICE_GPU, 3),
	N(ANEURALNETWORKS_DEVICE_ACCELERATOR, 4),
	N(ANEURALNETWORKS_FEATURE_LEVEL_1, 27),
	N(ANEURALNETWORKS_FEATURE_LEVEL_2, 28),
	N(ANEURALNETWORKS_FEATURE_LEVEL_3, 29),
	N(ANEURALNETWORKS_FEATURE_LEVEL_4, 30),
	N(ANEURALNETWORKS_FEATURE_LEVEL_5, 31),
	N(ANEURALNETWORKS_DURATION_ON_HARDWARE, 0),
	N(ANEURALNETWORKS_DURATION_IN_DRIVER, 1),
	N(ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE, 2),
	N(ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER, 3),
	N(ANEURALNETWORKS_PRIORITY_LOW, 90),
	N(ANEURALNETWORKS_PRIORITY_MEDIUM, 100),
	N(ANEURALNETWORKS_PRIORITY_HIGH, 110),
	N(ANEURALNETWORKS_PRIORITY_DEFAULT, 100),
	N(ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES, 128),
	N(ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN, 32),
	N(AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM, 1),
	N(AHARDWAREBUFFER_FORMAT_R8G8B8_UNORM, 3),
	N(AHARDWAREBUFFER_FORMAT_BLOB, 33),
	N(AHARDWAREBUFFER_USAGE_CPU_READ_RARELY, 2),
	N(AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN, 3),
	N(AHARDWAREBUFFER_USAGE_CPU_WRITE_RARELY, 32),
	N(AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN, 48),
	N(AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER, 16777216),
};

static void test_numbers(void)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].value != numbers[i].expected && ++wrong)
			printf("# %s is %lld, expected %lld\n", numbers[i].name, numbers[i].value,
			       numbers[i].expected);
	ok(!wrong, "%u other numbers", i);
}

#define AT(type, member, offset)	(offsetof(type, member) == (offset))

static void test_layouts(void)
{
	const size_t pointer = sizeof(void *);

	ok(AT(ANeuralNetworksOperandType, type, 0) &&
	   AT(ANeuralNetworksOperandType, dimensionCount, 4) &&
	   AT(ANeuralNetworksOperandType, dimensions, 8) &&
	   AT(ANeuralNetworksOperandType, scale, 8 + pointer) &&
	   AT(ANeuralNetworksOperandType, zeroPoint, 12 + pointer) &&
	   sizeof(ANeuralNetworksOperandType) == 16 + pointer, "layout of an operand type");
	ok(AT(ANeuralNetworksSymmPerChannelQuantParams, channelDim, 0) &&
	   AT(ANeuralNetworksSymmPerChannelQuantParams, scaleCount, 4) &&
	   AT(ANeuralNetworksSymmPerChannelQuantParams, scales, 8) &&
	   sizeof(ANeuralNetworksSymmPerChannelQuantParams) == 8 + pointer,
	   "layout of the scales of channels");
	ok(AT(AHardwareBuffer_Desc, width, 0) && AT(AHardwareBuffer_Desc, height, 4) &&
	   AT(AHardwareBuffer_Desc, layers, 8) && AT(AHardwareBuffer_Desc, format, 12) &&
	   AT(AHardwareBuffer_Desc, usage, 16) && AT(AHardwareBuffer_Desc, stride, 24) &&
	   AT(AHardwareBuffer_Desc, rfu0, 28) && AT(AHardwareBuffer_Desc, rfu1, 32) &&
	   sizeof(AHardwareBuffer_Desc) == 40, "layout of a description of a buffer");
	ok(AT(ARect, left, 0) && AT(ARect, top, 4) && AT(ARect, right, 8) &&
	   AT(ARect, bottom, 12), "layout of a rectangle");
	ok(sizeof(ANeuralNetworksOperationType) == 4 && sizeof(OperandCode) == 4 &&
	   sizeof(ResultCode) == 4, "types and codes have 32 bits");
}

int main(void)
{
	test_hal_numbers();
	test_numbers();
	test_layouts();
	return tap_done();
}
