// SPDX-License-Identifier: MIT
/*
 * Memory of descriptors that no single device has: roles of several devices, and of models in steps.
 */
#include <errno.h>
#include <nnhal/fence.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/ndk_memory.h"
#include "ndk_cut.h"

static const struct ANeuralNetworksDevice *devices[2];
static float *values;			/* of @file */
static ANeuralNetworksMemory *file;

/* For output 0 of @writer and input 0 of @reader, if there are any, and of @other. */
static ANeuralNetworksMemory *shared_by(ANeuralNetworksCompilation *writer,
					ANeuralNetworksCompilation *reader,
					ANeuralNetworksCompilation *other)
{
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemory *memory = NULL;

	ANeuralNetworksMemoryDesc_create(&desc);
	if (writer)
		is(ANeuralNetworksMemoryDesc_addOutputRole(desc, writer, 0, 1.0f), NONE, "an output role");
	if (reader)
		is(ANeuralNetworksMemoryDesc_addInputRole(desc, reader, 0, 1.0f), NONE, "an input role");
	if (other)
		is(ANeuralNetworksMemoryDesc_addInputRole(desc, other, 0, 1.0f), NONE, "another role");
	ANeuralNetworksMemoryDesc_finish(desc);
	is(ANeuralNetworksMemory_createFromDesc(desc, &memory), NONE, "memory");
	ok(memory && ndk_memory_is_shared(memory), "no single device has it");
	ANeuralNetworksMemoryDesc_free(desc);
	return memory;
}

static ANeuralNetworksMemory *shared(ANeuralNetworksCompilation *writer,
				     ANeuralNetworksCompilation *reader)
{
	return shared_by(writer, reader, NULL);
}

/* Input 0 and output from memory where there is any. */
static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c, ANeuralNetworksMemory *in,
					   ANeuralNetworksMemory *out, float *sum)
{
	ANeuralNetworksExecution *e = NULL;

	ANeuralNetworksExecution_create(c, &e);
	if ((in ? ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, in, 0, 0) :
		  ANeuralNetworksExecution_setInput(e, 0, NULL, cut_a, sizeof(cut_a))) ||
	    ANeuralNetworksExecution_setInput(e, 1, NULL, cut_b, sizeof(cut_b)) ||
	    (out ? ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, out, 0, 0) :
		   ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16)))
		ok(false, "arguments");
	return e;
}

static int compute(ANeuralNetworksCompilation *c, ANeuralNetworksMemory *in, ANeuralNetworksMemory *out,
		   float *sum)
{
	ANeuralNetworksExecution *e = execution(c, in, out, sum);
	int result = ANeuralNetworksExecution_compute(e);

	ANeuralNetworksExecution_free(e);
	return result;
}

/* One device writes, another one reads. */
static void test_two_devices(ANeuralNetworksCompilation *first, ANeuralNetworksCompilation *second)
{
	ANeuralNetworksMemory *memory = shared(first, second), *empty = shared_by(NULL, first, second);
	ANeuralNetworksExecution *e = NULL;
	float sum[4] = { 0 };

	is(compute(second, memory, NULL, sum), OP, "an input without a content");
	is(compute(first, NULL, memory, NULL), NONE, "write");
	is(compute(second, memory, NULL, sum), NONE, "read");
	ok(sum[0] == 21 && sum[3] == 84, "the sum of the sum");
	is(compute(first, empty, memory, NULL), OP, "an execution that fails");
	is(compute(second, memory, NULL, sum), OP, "it has taken the content away");
	is(ANeuralNetworksMemory_copy(memory, file), DATA, "copy without a content");
	memcpy(values, cut_b, sizeof(cut_b));
	is(ANeuralNetworksMemory_copy(file, memory), NONE, "copy to it");
	is(compute(second, memory, NULL, sum), NONE, "read the copy");
	ok(sum[0] == 20 && sum[3] == 80, "the sum");
	is(ANeuralNetworksMemory_copy(memory, empty), NONE, "copy from one to the other");
	is(ANeuralNetworksMemory_copy(memory, memory), NONE, "copy to itself");
	memset(values, 0, 16);
	is(ANeuralNetworksMemory_copy(empty, file), NONE, "copy to a file");
	ok(values[0] == 10 && values[3] == 40, "the values");

	/* Roles, places and types. */
	ANeuralNetworksExecution_create(first, &e);
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0), DATA,
	   "an input that is no role");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, empty, 0, 16), DATA, "a length");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, empty, 4, 0), DATA, "an offset");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, &floats, empty, 0, 0), NONE, "its own type");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksMemory_free(empty);
}

static void test_sizes(ANeuralNetworksCompilation *first, ANeuralNetworksCompilation *second)
{
	ANeuralNetworksMemory *memory = shared(first, second), *small = NULL;
	int fd = memfd_create("small", MFD_CLOEXEC);
	float sum[4];

	if (ftruncate(fd, 12)) {
		ok(false, "a file");
		return;
	}
	ANeuralNetworksMemory_createFromFd(12, PROT_READ | PROT_WRITE, fd, 0, &small);
	is(ANeuralNetworksMemory_copy(file, memory), NONE, "a content");
	is(ANeuralNetworksMemory_copy(small, memory), DATA, "a copy of another size");
	is(compute(second, memory, NULL, sum), OP, "it has taken the content away");
	ANeuralNetworksMemory_free(small);
	ANeuralNetworksMemory_free(memory);
	close(fd);
}

/* As many bytes, but of another shape: buffers of devices do not take that either. */
static void test_shapes(ANeuralNetworksCompilation *first, ANeuralNetworksCompilation *second)
{
	static const uint32_t square_dims[2] = { 2, 2 };
	const ANeuralNetworksOperandType square = { ANEURALNETWORKS_TENSOR_FLOAT32, 2, square_dims, 0, 0 };
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	const ANeuralNetworksDevice *reference = reference_device();
	ANeuralNetworksMemory *line = shared(first, second), *other = NULL, *buffer = NULL;
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c[2];

	ANeuralNetworksModel_create(&m);
	for (uint32_t i = 0; i < 4; i++)
		ANeuralNetworksModel_addOperand(m, i == 2 ? &int_scalar : &square);
	ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof(none));
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add_inputs, 1, add_output);
	is(ANeuralNetworksModel_finish(m), NONE, "a model of squares");
	c[0] = compiled_for(m, &devices[0], 1, NONE);
	c[1] = compiled_for(m, &reference, 1, NONE);
	other = shared(c[0], c[1]);
	ANeuralNetworksMemoryDesc_create(&desc);
	ANeuralNetworksMemoryDesc_addInputRole(desc, c[0], 0, 1.0f);
	ANeuralNetworksMemoryDesc_finish(desc);
	is(ANeuralNetworksMemory_createFromDesc(desc, &buffer), NONE, "a buffer of a device");
	is(ANeuralNetworksMemory_copy(file, line), NONE, "a content");
	is(ANeuralNetworksMemory_copy(line, other), DATA, "a line to a square");
	is(ANeuralNetworksMemory_copy(line, buffer), DATA, "a line to a square in a buffer");
	is(ANeuralNetworksMemory_copy(file, buffer), NONE, "a content of the buffer");
	is(ANeuralNetworksMemory_copy(buffer, line), DATA, "a square in a buffer to a line");
	is(ANeuralNetworksMemory_copy(line, file), DATA, "the line has no content any more");
	is(ANeuralNetworksMemory_copy(buffer, other), NONE, "a buffer to shared memory");
	memset(values, 0, 16);
	is(ANeuralNetworksMemory_copy(other, buffer), NONE, "and back");
	is(ANeuralNetworksMemory_copy(buffer, file), NONE, "to the file");
	ok(values[3] != 0, "the values");
	ANeuralNetworksMemory_free(line);
	ANeuralNetworksMemory_free(other);
	ANeuralNetworksMemory_free(buffer);
	ANeuralNetworksMemoryDesc_free(desc);
	ANeuralNetworksCompilation_free(c[0]);
	ANeuralNetworksCompilation_free(c[1]);
	ANeuralNetworksModel_free(m);
}

/* A model whose shapes are open takes that of the memory. */
static void test_open_shapes(ANeuralNetworksCompilation *other)
{
	static const uint32_t unknown[1] = { 0 }, five[1] = { 5 };
	const ANeuralNetworksOperandType open = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, unknown, 0, 0 };
	const ANeuralNetworksOperandType longer = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, five, 0, 0 };
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	const ANeuralNetworksDevice *device = devices[0];
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemory *memory;
	ANeuralNetworksModel *m = NULL;
	ANeuralNetworksCompilation *c;
	ANeuralNetworksExecution *e = NULL;
	float sum[4] = { 0 };

	ANeuralNetworksModel_create(&m);
	for (uint32_t i = 0; i < 4; i++)
		ANeuralNetworksModel_addOperand(m, i == 2 ? &int_scalar : i == 1 ? &floats : &open);
	ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof(none));
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add_inputs, 1, add_output);
	is(ANeuralNetworksModel_finish(m), NONE, "a model of open shapes");
	c = compiled_for(m, &device, 1, NONE);
	memory = shared(other, c);
	is(ANeuralNetworksMemory_copy(file, memory), NONE, "a content");
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, &longer, memory, 0, 0), DATA,
	   "a type that is not that of the memory");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0), NONE, "no type");
	ANeuralNetworksExecution_setInput(e, 1, NULL, cut_b, sizeof(cut_b));
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof(sum));
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(sum[0] == values[0] + 10 && sum[3] == values[3] + 40, "the sum");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(memory);

	/* Nobody knows how large: only that may be refused. */
	ANeuralNetworksMemoryDesc_create(&desc);
	ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f);
	ANeuralNetworksMemoryDesc_addOutputRole(desc, c, 0, 1.0f);
	ANeuralNetworksCompilation_free(c);
	device = reference_device();
	c = compiled_for(m, &device, 1, NONE);
	ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f);
	ANeuralNetworksMemoryDesc_finish(desc);
	memory = NULL;
	is(ANeuralNetworksMemory_createFromDesc(desc, &memory), OP, "memory of an open shape");
	ok(!memory, "the out-parameter was left alone");
	ANeuralNetworksMemoryDesc_free(desc);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

enum way { COMPUTE, ASYNC, BURST, FENCED, NUM_WAYS };

static int run(ANeuralNetworksExecution *e, enum way way, ANeuralNetworksBurst *burst)
{
	ANeuralNetworksEvent *event = NULL;
	int result;

	if (way == COMPUTE)
		return ANeuralNetworksExecution_compute(e);
	if (way == BURST)
		return ANeuralNetworksExecution_burstCompute(e, burst);
	if (way == ASYNC)
		result = ANeuralNetworksExecution_startCompute(e, &event);
	else
		result = ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0,
									       &event);
	if (!result)
		result = ANeuralNetworksEvent_wait(event);
	ANeuralNetworksEvent_free(event);
	return result;
}

/* A model in steps reads and writes such memory, in all ways and again and again. */
static void test_steps(void)
{
	static const uint32_t last[1] = { OUT };
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, NONE);
	ANeuralNetworksMemory *in = shared(NULL, c), *out = shared(c, NULL);
	ANeuralNetworksBurst *burst = NULL;
	ANeuralNetworksExecution *e;

	ANeuralNetworksBurst_create(c, &burst);
	for (enum way way = 0; way < NUM_WAYS; way++) {
		is(ANeuralNetworksMemory_copy(out, in), way ? NONE : DATA, "the last result");
		e = execution(c, in, out, NULL);
		ANeuralNetworksExecution_setReusable(e, true);
		if (!way)
			is(run(e, way, burst), OP, "without a content");
		memcpy(values, cut_a, sizeof(cut_a));
		is(ANeuralNetworksMemory_copy(file, in), NONE, "an input");
		for (int time = 0; time < 2; time++) {
			is(run(e, way, burst), NONE, "run");
			memset(values, 0, 16);
			is(ANeuralNetworksMemory_copy(out, file), NONE, "the output");
			ok(is_cut_result(values), "it is right: way %u, time %d", way, time);
		}
		ANeuralNetworksExecution_free(e);
	}
	ANeuralNetworksBurst_free(burst);
	ANeuralNetworksMemory_free(in);
	ANeuralNetworksMemory_free(out);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* A fenced execution reads what another one writes, before that has begun; the first may fail. */
static void test_fences(ANeuralNetworksCompilation *first, ANeuralNetworksCompilation *second)
{
	for (int error = 0; error >= -EIO; error -= EIO) {
		ANeuralNetworksMemory *memory = shared(first, second);
		ANeuralNetworksEvent *fence = NULL, *written = NULL, *read = NULL;
		const ANeuralNetworksEvent *before;
		ANeuralNetworksExecution *e[2];
		float sum[4] = { 0 };
		int ends[2];

		e[0] = execution(first, NULL, memory, NULL);
		e[1] = execution(second, memory, NULL, sum);
		if (nnhal_fence_create(&ends[0], &ends[1]))
			exit(1);
		ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &fence);
		before = fence;
		is(ANeuralNetworksExecution_startComputeWithDependencies(e[0], &before, 1, 0,
									 &written), NONE, "write");
		before = written;
		is(ANeuralNetworksExecution_startComputeWithDependencies(e[1], &before, 1, 0, &read),
		   NONE, "read behind it");
		nnhal_fence_signal(ends[1], error);
		is(ANeuralNetworksEvent_wait(read), error ? OP : NONE, "wait for the last");
		ok(error || (sum[0] == 21 && sum[3] == 84), "the sum of the sum");
		/* Whoever looks first at the fence of the first learns what has become of the memory. */
		ANeuralNetworksExecution_free(e[0]);
		ANeuralNetworksEvent_free(written);
		is(compute(second, memory, NULL, sum), error ? OP : NONE, "the content afterwards");
		ANeuralNetworksExecution_free(e[1]);
		ANeuralNetworksEvent_free(read);
		ANeuralNetworksEvent_free(fence);
		ANeuralNetworksMemory_free(memory);
		close(ends[0]);
		close(ends[1]);
	}
}

int main(void)
{
	ANeuralNetworksModel *m = finished_model();
	const ANeuralNetworksDevice *reference = reference_device();
	ANeuralNetworksCompilation *first, *second;
	int fd = memfd_create("values", MFD_CLOEXEC);

	values = ftruncate(fd, 16) ? MAP_FAILED :
		 mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (values == MAP_FAILED)
		return 1;
	ANeuralNetworksMemory_createFromFd(16, PROT_READ | PROT_WRITE, fd, 0, &file);
	add_cut_devices(devices, "");
	first = compiled_for(m, &devices[0], 1, NONE);
	second = compiled_for(m, &reference, 1, NONE);
	test_two_devices(first, second);
	test_sizes(first, second);
	test_shapes(first, second);
	test_open_shapes(second);
	test_steps();
	test_fences(first, second);
	ANeuralNetworksCompilation_free(first);
	ANeuralNetworksCompilation_free(second);
	ANeuralNetworksModel_free(m);
	ANeuralNetworksMemory_free(file);
	munmap(values, 16);
	close(fd);
	return tap_done();
}
