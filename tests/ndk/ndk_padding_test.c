// SPDX-License-Identifier: MIT
/*
 * Padding: which lengths of arguments each of the four setters takes, with and without it, and that nothing
 * behind an argument is read or written.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "ndk.h"
#include "ndk_parts.h"

enum { NONE = ANEURALNETWORKS_NO_ERROR, DATA = ANEURALNETWORKS_BAD_DATA, BYTES = 16, ROOM = 64 };

static ANeuralNetworksMemory *memory;
static uint8_t *in_memory, *by_pointer;

enum setter { INPUT, OUTPUT, INPUT_FROM_MEMORY, OUTPUT_FROM_MEMORY };

static int set(ANeuralNetworksExecution *e, enum setter setter, int32_t index, size_t offset, size_t length)
{
	switch (setter) {
	case INPUT:
		return ANeuralNetworksExecution_setInput(e, index, NULL, by_pointer + offset, length);
	case OUTPUT:
		return ANeuralNetworksExecution_setOutput(e, index, NULL, by_pointer + offset, length);
	case INPUT_FROM_MEMORY:
		return ANeuralNetworksExecution_setInputFromMemory(e, index, NULL, memory, offset, length);
	default:
		return ANeuralNetworksExecution_setOutputFromMemory(e, index, NULL, memory, offset, length);
	}
}

/* What a length is for one setter of a fresh execution. */
static int result_of(ANeuralNetworksCompilation *c, enum setter setter, const bool *enabled, unsigned int calls,
		     size_t length)
{
	ANeuralNetworksExecution *e = NULL;
	int result = ANeuralNetworksExecution_create(c, &e);

	for (unsigned int i = 0; i < calls && !result; i++)
		result = ANeuralNetworksExecution_enableInputAndOutputPadding(e, enabled[i]);
	if (!result)
		result = set(e, setter, 0, 0, length);
	ANeuralNetworksExecution_free(e);
	return result;
}

static void test_lengths(ANeuralNetworksCompilation *c)
{
	static const bool on[1] = { true }, off[1] = { false }, on_off[2] = { true, false };
	static const char *const names[] = { "setInput", "setOutput", "setInputFromMemory", "setOutputFromMemory" };

	for (enum setter s = INPUT; s <= OUTPUT_FROM_MEMORY; s++) {
		bool from_memory = s == INPUT_FROM_MEMORY || s == OUTPUT_FROM_MEMORY;

		printf("# %s\n", names[s]);
		is(result_of(c, s, on, 1, BYTES - 1), DATA, "padding, a byte too few");
		is(result_of(c, s, on, 1, BYTES), NONE, "padding, the exact length");
		is(result_of(c, s, on, 1, BYTES + 1), NONE, "padding, a byte more");
		is(result_of(c, s, on, 1, ROOM), NONE, "padding, the next multiple of 64");
		is(result_of(c, s, on, 1, (size_t)UINT32_MAX + 1), DATA, "padding, more than 32 bits");
		if (from_memory)
			is(result_of(c, s, on, 1, 2 * ROOM + 1), DATA, "padding beyond the memory");
		is(result_of(c, s, NULL, 0, BYTES + 1), DATA, "nothing said, a byte more");
		is(result_of(c, s, off, 1, BYTES + 1), DATA, "no padding, a byte more");
		is(result_of(c, s, on_off, 2, BYTES + 1), DATA, "padding and then none, a byte more");
		is(result_of(c, s, on_off, 2, BYTES), NONE, "padding and then none, the exact length");
	}
}

static bool is_untouched(const uint8_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (from[i] != 0xee)
			return false;
	return true;
}

/* Both inputs and the output padded to 64 bytes; the output begins where the padding of an input ends. */
static void test_compute(ANeuralNetworksCompilation *c, bool from_memory)
{
	static const float a[4] = { 1, 2, 3, 4 };
	uint8_t *bytes = from_memory ? in_memory : by_pointer;
	ANeuralNetworksExecution *e = NULL;
	float sum[4];

	memset(bytes, 0xee, 2 * ROOM);
	memcpy(bytes, a, sizeof(a));
	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_enableInputAndOutputPadding(e, true);
	is(set(e, from_memory ? INPUT_FROM_MEMORY : INPUT, 0, 0, ROOM), NONE, "an input");
	is(set(e, from_memory ? INPUT_FROM_MEMORY : INPUT, 1, 0, ROOM - 1), NONE, "the other one");
	is(set(e, from_memory ? OUTPUT_FROM_MEMORY : OUTPUT, 0, ROOM, ROOM), NONE, "the output");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	memcpy(sum, bytes + ROOM, sizeof(sum));
	ok(sum[0] == 2 && sum[1] == 4 && sum[2] == 6 && sum[3] == 8, "the sums");
	ok(is_untouched(bytes + BYTES, ROOM - BYTES) && is_untouched(bytes + ROOM + BYTES, ROOM - BYTES),
	   "nothing was written behind inputs and output");
	ANeuralNetworksExecution_free(e);
}

/* An execution that is made of what an earlier one has left has no padding. */
static void test_next(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *e = NULL;

	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_enableInputAndOutputPadding(e, true);
	ANeuralNetworksExecution_free(e);
	is(result_of(c, INPUT, NULL, 0, ROOM), DATA, "the next execution has no padding");
}

/* FIBONACCI of a scalar of an extension, whose size only the device knows. */
static void test_extension(void)
{
	static const uint32_t five[1] = { 5 };
	const ANeuralNetworksOperandType out = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, five, 0, 0 };
	const ANeuralNetworksDevice *device = ndk_device_add("examples", "sim:examples");
	ANeuralNetworksOperandType in = { 0, 0, NULL, 0, 0 };
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e = NULL;
	uint32_t count;
	int32_t type = 0;
	float result[16] = { 0 };
	int64_t n[2] = { 5, -1 };

	ANeuralNetworks_getDeviceCount(&count);
	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_getExtensionOperandType(m, "com.example.fibonacci", 0, &in.type);
	ANeuralNetworksModel_getExtensionOperationType(m, "com.example.fibonacci", 0, &type);
	ANeuralNetworksModel_addOperand(m, &in);
	ANeuralNetworksModel_addOperand(m, &out);
	is(ANeuralNetworksModel_addOperation(m, type, 1, &(uint32_t){ 0 }, 1, &(uint32_t){ 1 }), NONE, "FIBONACCI");
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &(uint32_t){ 0 }, 1, &(uint32_t){ 1 });
	ANeuralNetworksModel_finish(m);
	ANeuralNetworksCompilation_createForDevices(m, &device, 1, &c);
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish of a compilation with an extension");
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, n, 16), DATA, "16 bytes for a scalar of 8, without padding");
	is(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true), NONE, "padding");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, n, 7), DATA, "7 bytes with it");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, n, 16), NONE, "16 bytes with it");
	is(ANeuralNetworksExecution_setOutput(e, 0, NULL, result, ROOM), NONE, "64 bytes for 5 floats");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(result[0] == 1 && result[4] == 5 && !result[5], "the numbers of Fibonacci");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

int main(void)
{
	ANeuralNetworksModel *m = finished_model();
	ANeuralNetworksCompilation *c = compiled(m, true);
	int fd = memfd_create("padding", MFD_CLOEXEC);

	by_pointer = malloc(2 * ROOM);
	if (!by_pointer || fd < 0 || ftruncate(fd, 2 * ROOM) ||
	    ANeuralNetworksMemory_createFromFd(2 * ROOM, PROT_READ | PROT_WRITE, fd, 0, &memory)) {
		printf("Bail out! no memory\n");
		return 1;
	}
	in_memory = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	test_lengths(c);
	test_compute(c, false);
	test_compute(c, true);
	test_next(c);
	test_extension();
	munmap(in_memory, 2 * ROOM);
	free(by_pointer);
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
	return tap_done();
}
