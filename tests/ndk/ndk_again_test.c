// SPDX-License-Identifier: MIT
/*
 * Executions that nnapi-reference runs again after devices have failed, and what is told of it.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/ndk_log.h"
#include "device/device_private.h"
#include "execute/ndk_rerun.h"
#include "ndk_cut.h"
#include "nnpu_hw.h"
#include "transport/transport.h"

static const uint32_t last[1] = { OUT };
static const ANeuralNetworksDevice *devices[2];

/* The next job of a device fails, or the device does. */
static void inject(const ANeuralNetworksDevice *device, uint32_t kind)
{
	int result;
	struct nnhal_device *open = ndk_device_open(device, &result);

	if (!open || !transport_sim_inject(open->transport, kind, 1)) {
		printf("Bail out! no fault injection\n");
		exit(1);
	}
	nnhal_device_unref(open);
}

enum way { COMPUTE, ASYNC, BURST, FENCED, NUM_WAYS };

static const char *const ways[NUM_WAYS] = { "compute", "async", "burst", "fenced" };

static int run(ANeuralNetworksExecution *e, enum way way, ANeuralNetworksBurst *burst)
{
	ANeuralNetworksEvent *event = NULL;
	int result = OP;

	switch (way) {
	case COMPUTE:
		return ANeuralNetworksExecution_compute(e);
	case BURST:
		return ANeuralNetworksExecution_burstCompute(e, burst);
	case ASYNC:
		result = ANeuralNetworksExecution_startCompute(e, &event);
		break;
	default:
		result = ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0,
									       &event);
	}
	if (!result)
		result = ANeuralNetworksEvent_wait(event);
	ANeuralNetworksEvent_free(event);
	return result;
}

/*
 * One of the devices fails in each way. A fenced execution fails if its last step is launched by then; if not, it may
 * run again.
 */
static void test_fault(ANeuralNetworksCompilation *c, const ANeuralNetworksDevice *faulty,
		       bool again, const char *what)
{
	for (enum way way = 0; way < NUM_WAYS; way++) {
		bool expected = again;
		uint64_t before = ndk_counters()->reruns, count;
		ANeuralNetworksBurst *burst = NULL;
		ANeuralNetworksExecution *e;
		float out[4];
		int result;

		ANeuralNetworksBurst_create(c, &burst);
		e = cut_execution(c, out);
		inject(faulty, NNPU_INJECT_DMA_ERROR);
		result = run(e, way, burst);
		count = ndk_counters()->reruns - before;
		if (way == FENCED && result == OP)
			expected = false;
		ok(expected ? !result && is_cut_result(out) : result == OP,
		   "%s, %s: result %d", what, ways[way], result);
		ok(count == expected, "%s, %s: it ran again %u times", what, ways[way],
		   (unsigned int)count);
		ANeuralNetworksExecution_free(e);
		ANeuralNetworksBurst_free(burst);
	}
}

static ANeuralNetworksCompilation *compiled_for_any(ANeuralNetworksModel *m)
{
	ANeuralNetworksCompilation *c = NULL;

	ANeuralNetworksCompilation_create(m, &c);
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish without a list");
	return c;
}

static void test_faults(void)
{
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *any = compiled_for_any(m);
	const ANeuralNetworksDevice *with_reference[2] = { devices[0], reference_device() };
	ANeuralNetworksCompilation *chosen = compiled_for(m, with_reference, 2, NONE);
	int result;

	ok(any->plan && any->plan->num_steps == 3, "the model is in steps");
	test_fault(any, devices[0], true, "the first step");
	test_fault(any, devices[1], true, "the second step");
	test_fault(chosen, devices[0], false, "devices of the caller, nnapi-reference among them");
	ok(!chosen->again, "nothing was prepared for that");
	for (result = 0; result <= ANEURALNETWORKS_DEAD_OBJECT; result++) {
		ANeuralNetworksExecution *e = NULL;
		bool expected = result == OP || result == ANEURALNETWORKS_UNAVAILABLE_DEVICE ||
				result == ANEURALNETWORKS_DEAD_OBJECT ||
				result == ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT ||
				result == ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT;

		ANeuralNetworksExecution_create(any, &e);
		ok(ndk_may_rerun(e, result) == expected, "%s is %s reason to run again",
		   ndk_result_name(result), expected ? "a" : "no");
		ANeuralNetworksExecution_free(e);
	}
	ANeuralNetworksCompilation_free(any);
	ANeuralNetworksCompilation_free(chosen);
	ANeuralNetworksModel_free(m);
}

/* A whole model on a device that is lost, with memory of that device as arguments and without. */
static void test_lost(void)
{
	ANeuralNetworksModel *m = finished_model();
	ANeuralNetworksCompilation *c;
	ANeuralNetworksExecution *e;
	uint64_t on_device, on_reference;
	float out[4];

	for (enum way way = 0; way < NUM_WAYS; way++) {
		ANeuralNetworksBurst *burst = NULL;
		int result;

		c = compiled_for_any(m);
		ok(!c->plan && c->prepared && !c->on_reference, "%s: a device that is not "
		   "nnapi-reference has the whole", ways[way]);
		ANeuralNetworksBurst_create(c, &burst);
		inject(devices[0], NNPU_INJECT_FATAL);
		/* The last one finds the device lost before it launches anything. */
		for (int time = 0; time < 2; time++) {
			on_device = ndk_counters()->on_device;
			e = cut_execution(c, out);
			result = run(e, way, burst);
			ok(way == FENCED && !time ? result : !result && out[0] == 11 && out[3] == 44,
			   "%s, time %d: result %d", ways[way], time + 1, result);
			ok(ndk_counters()->on_device == on_device + 1, "it was counted");
			ANeuralNetworksExecution_free(e);
		}
		ANeuralNetworksBurst_free(burst);
		ANeuralNetworksCompilation_free(c);
	}
	on_reference = ndk_counters()->on_reference;
	c = compiled(m, true);
	ok(c->on_reference, "nnapi-reference, chosen");
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(ndk_counters()->on_reference == on_reference + 1, "it was counted");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

static ANeuralNetworksMemory *described(ANeuralNetworksCompilation *c, bool output)
{
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemory *memory = NULL;

	ANeuralNetworksMemoryDesc_create(&desc);
	is(output ? ANeuralNetworksMemoryDesc_addOutputRole(desc, c, 0, 1.0f) :
		    ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f), NONE, "a role");
	ANeuralNetworksMemoryDesc_finish(desc);
	is(ANeuralNetworksMemory_createFromDesc(desc, &memory), NONE, "memory of a descriptor");
	ANeuralNetworksMemoryDesc_free(desc);
	return memory;
}

/* What is in memory of the device is copied; what has no content does not run anywhere. */
static void test_buffers(void)
{
	ANeuralNetworksModel *m = finished_model();
	ANeuralNetworksCompilation *c = compiled_for_any(m);
	ANeuralNetworksMemory *in = described(c, false), *out = described(c, true), *file = NULL;
	ANeuralNetworksExecution *e = NULL;
	int fd = memfd_create("values", MFD_CLOEXEC);
	float *values;
	uint64_t before;

	values = ftruncate(fd, 16) ? MAP_FAILED :
		 mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (values == MAP_FAILED) {
		ok(false, "memory");
		return;
	}
	memcpy(values, cut_a, sizeof(cut_a));
	ANeuralNetworksMemory_createFromFd(16, PROT_READ | PROT_WRITE, fd, 0, &file);
	for (int time = 0; time < 2; time++) {
		before = ndk_counters()->reruns;
		ANeuralNetworksExecution_create(c, &e);
		ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, in, 0, 0);
		ANeuralNetworksExecution_setInput(e, 1, NULL, cut_b, sizeof(cut_b));
		ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, out, 0, 0);
		if (time)
			is(ANeuralNetworksMemory_copy(file, in), NONE, "give the input a content");
		if (time)
			inject(devices[0], NNPU_INJECT_DMA_ERROR);
		is(ANeuralNetworksExecution_compute(e), time ? NONE : OP,
		   time ? "compute with a content" : "compute without a content");
		ok(ndk_counters()->reruns == before + (uint64_t)time, "it ran again %d times", time);
		ANeuralNetworksExecution_free(e);
	}
	is(ANeuralNetworksMemory_copy(out, file), NONE, "the output has a content");
	ok(values[0] == 11 && values[3] == 44, "the sums");
	munmap(values, 16);
	close(fd);
	ANeuralNetworksMemory_free(in);
	ANeuralNetworksMemory_free(out);
	ANeuralNetworksMemory_free(file);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* Standard error of what follows, in a file. */
static int redirect(int *saved)
{
	int fd = memfd_create("stderr", MFD_CLOEXEC);

	*saved = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	return fd;
}

static void test_log(void)
{
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *c;
	ANeuralNetworksExecution *e;
	char text[8192];
	float out[4];
	ssize_t n;

	for (int on = 0; on < 2; on++) {
		int saved, fd = redirect(&saved);

		if (on)
			setenv("NNHAL_DEBUG", "compilation,execution", 1);
		c = compiled_for_any(m);
		e = cut_execution(c, out);
		inject(devices[1], NNPU_INJECT_DMA_ERROR);
		ANeuralNetworksExecution_compute(e);
		ANeuralNetworksExecution_free(e);
		ANeuralNetworksCompilation_free(c);
		unsetenv("NNHAL_DEBUG");
		dup2(saved, STDERR_FILENO);
		close(saved);
		n = pread(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		close(fd);
		if (!on) {
			ok(!n, "without NNHAL_DEBUG nothing is printed: \"%.40s\"", text);
			continue;
		}
		ok(strstr(text, "adds does not take the whole model: BAD_DATA") != NULL,
		   "a refusal is printed");
		ok(strstr(text, "step 2 of 3: multiplies") != NULL, "the steps are printed");
		ok(strstr(text, "nnapi: execution: OP_FAILED on a step") != NULL,
		   "the failure is printed");
		ok(strstr(text, "again on nnapi-reference: NO_ERROR") != NULL,
		   "and that it ran again");
	}
	ANeuralNetworksModel_free(m);
}

int main(void)
{
	add_cut_devices(devices, ",faults");
	test_faults();
	test_buffers();
	test_lost();
	test_log();
	return tap_done();
}
