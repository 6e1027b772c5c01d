// SPDX-License-Identifier: MIT
/*
 * Compilations, executions, bursts, events and descriptors: each argument NULL, out of range, each state, and
 * objects freed in any order.
 */
#include <errno.h>
#include <math.h>
#include <nnhal/fence.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndk_parts.h"

enum {
	NONE = ANEURALNETWORKS_NO_ERROR, UNEXPECTED = ANEURALNETWORKS_UNEXPECTED_NULL,
	DATA = ANEURALNETWORKS_BAD_DATA, STATE = ANEURALNETWORKS_BAD_STATE,
	OP = ANEURALNETWORKS_OP_FAILED, SIZE = ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE,
};

static const float a[4] = { 1, 2, 3, 4 }, b[4] = { 10, 20, 30, 40 };
static float sum[8];

static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *e = NULL;

	if (ANeuralNetworksExecution_create(c, &e) ||
	    ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof(a)) ||
	    ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof(b)) ||
	    ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16))
		ok(false, "an execution with its arguments");
	memset(sum, 0, sizeof(sum));
	return e;
}

static bool added(const char *what)
{
	return ok(sum[0] == 11 && sum[3] == 44 && !sum[4], "%s: the sums", what);
}

static void test_compilation(void)
{
	ANeuralNetworksModel *model = add_model();
	const ANeuralNetworksDevice *device = reference_device(), *twice[2] = { device, device };
	const ANeuralNetworksDevice *with_null[2] = { device, NULL };
	const uint8_t token[32] = { 1 };
	ANeuralNetworksCompilation *c = NULL, *any = NULL;
	ANeuralNetworksExecution *e;
	ANeuralNetworksBurst *burst;
	uint32_t number = 0;

	is(ANeuralNetworksCompilation_create(model, &c), STATE, "compile an unfinished model");
	is(ANeuralNetworksCompilation_createForDevices(model, &device, 1, &c), STATE,
	   "the same for a device");
	is(ANeuralNetworksCompilation_createForDevices(model, with_null, 2, &c), UNEXPECTED,
	   "a device NULL comes before the state");
	is(ANeuralNetworksCompilation_createForDevices(model, twice, 2, &c), STATE,
	   "a device twice comes after it");
	ANeuralNetworksModel_finish(model);
	is(ANeuralNetworksCompilation_create(NULL, &c), UNEXPECTED, "create: model NULL");
	is(ANeuralNetworksCompilation_create(model, NULL), UNEXPECTED, "create: out NULL");
	is(ANeuralNetworksCompilation_createForDevices(NULL, &device, 1, &c), UNEXPECTED,
	   "createForDevices: model NULL");
	is(ANeuralNetworksCompilation_createForDevices(model, NULL, 1, &c), UNEXPECTED,
	   "createForDevices: devices NULL");
	is(ANeuralNetworksCompilation_createForDevices(model, &device, 1, NULL), UNEXPECTED,
	   "createForDevices: out NULL");
	is(ANeuralNetworksCompilation_createForDevices(model, with_null, 2, &c), UNEXPECTED,
	   "createForDevices: a device NULL");
	is(ANeuralNetworksCompilation_createForDevices(model, twice, 2, &c), DATA,
	   "createForDevices: a device twice");
	is(ANeuralNetworksCompilation_createForDevices(model, &device, 0, &c), DATA,
	   "createForDevices: no device");
	ANeuralNetworksCompilation_createForDevices(model, &device, 1, &c);
	ANeuralNetworksCompilation_create(model, &any);
	is(ANeuralNetworksCompilation_setPreference(NULL, 0), UNEXPECTED, "preference: NULL");
	is(ANeuralNetworksCompilation_setPreference(c, -1), DATA, "preference -1");
	is(ANeuralNetworksCompilation_setPreference(c, 3), DATA, "preference 3");
	is(ANeuralNetworksCompilation_setPreference(c, 2), NONE, "preference 2");
	is(ANeuralNetworksCompilation_setPriority(NULL, 90), UNEXPECTED, "priority: NULL");
	is(ANeuralNetworksCompilation_setPriority(c, 91), DATA, "priority 91");
	is(ANeuralNetworksCompilation_setPriority(c, 110), NONE, "priority 110");
	is(ANeuralNetworksCompilation_setTimeout(NULL, 1), UNEXPECTED, "timeout: NULL");
	is(ANeuralNetworksCompilation_setTimeout(any, 1), DATA, "timeout without a device");
	is(ANeuralNetworksCompilation_setTimeout(c, UINT64_MAX), NONE, "the longest timeout");
	is(ANeuralNetworksCompilation_setCaching(NULL, "/tmp", token), UNEXPECTED, "cache: NULL");
	is(ANeuralNetworksCompilation_setCaching(c, NULL, token), UNEXPECTED, "cache: folder NULL");
	is(ANeuralNetworksCompilation_setCaching(c, "/tmp", NULL), UNEXPECTED, "cache: token NULL");
	is(ANeuralNetworksCompilation_setCaching(c, "/nowhere", token), NONE, "a folder not there");
	is(ANeuralNetworksExecution_create(c, &e), STATE, "execution of an unfinished compilation");
	is(ANeuralNetworksBurst_create(c, &burst), STATE, "burst of an unfinished compilation");
	is(ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(c, 0, &number), STATE,
	   "padding of an unfinished compilation");
	is(ANeuralNetworksCompilation_finish(NULL), UNEXPECTED, "finish NULL");
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish");
	is(ANeuralNetworksCompilation_finish(c), STATE, "finish again");
	is(ANeuralNetworksCompilation_setPreference(c, 9), STATE, "preference after finish");
	is(ANeuralNetworksCompilation_setPriority(c, 9), STATE, "priority after finish");
	is(ANeuralNetworksCompilation_setTimeout(c, 1), STATE, "timeout after finish");
	is(ANeuralNetworksCompilation_setCaching(c, "/tmp", token), STATE, "cache after finish");
	is(ANeuralNetworksCompilation_finish(any), NONE, "finish without a device");
	is(ANeuralNetworksCompilation_setTimeout(any, 1), STATE, "its timeout after that");
	is(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(NULL, 0, &number),
	   UNEXPECTED, "alignment: NULL");
	is(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 0, NULL), UNEXPECTED,
	   "alignment: out NULL");
	is(ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(c, 2, &number), DATA,
	   "alignment of an input that is not there");
	is(ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(c, 1, &number), DATA,
	   "padding of an output that is not there");
	ok(!ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(c, 0, &number) &&
	   number && !(number & (number - 1)), "an alignment is a power of two");
	ANeuralNetworksCompilation_free(NULL);
	ANeuralNetworksCompilation_free(any);
	ANeuralNetworksModel_free(model);
	e = execution(c);
	is(ANeuralNetworksExecution_compute(e), NONE, "compute when the model is freed");
	added("compute");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksExecution_free(e);
}

/* An activation that does not exist is a matter of the execution, unless the device was chosen. */
static void test_refusal(void)
{
	const ANeuralNetworksDevice *device = reference_device();
	const int32_t wrong = 999;
	ANeuralNetworksModel *model = NULL;
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e;
	ANeuralNetworksBurst *burst = NULL;
	ANeuralNetworksEvent *event = NULL;
	ANeuralNetworksMemoryDesc *desc = NULL;
	ANeuralNetworksMemory *memory = NULL;

	ANeuralNetworksModel_create(&model);
	ANeuralNetworksModel_addOperand(model, &floats);
	ANeuralNetworksModel_addOperand(model, &floats);
	ANeuralNetworksModel_addOperand(model, &int_scalar);
	ANeuralNetworksModel_addOperand(model, &floats);
	ANeuralNetworksModel_setOperandValue(model, 2, &wrong, sizeof(wrong));
	ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output);
	ANeuralNetworksModel_identifyInputsAndOutputs(model, 2, add_inputs, 1, add_output);
	is(ANeuralNetworksModel_finish(model), NONE, "activation 999: finish");
	c = compiled(model, false);
	e = execution(c);
	is(ANeuralNetworksExecution_compute(e), OP, "activation 999: compute");
	ANeuralNetworksExecution_free(e);
	e = execution(c);
	is(ANeuralNetworksExecution_startCompute(e, &event), NONE, "activation 999: start");
	is(ANeuralNetworksEvent_wait(event), OP, "activation 999: wait");
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksExecution_free(e);
	e = execution(c);
	is(ANeuralNetworksBurst_create(c, &burst), NONE, "activation 999: burst");
	is(ANeuralNetworksExecution_burstCompute(e, burst), OP, "activation 999: burstCompute");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksBurst_free(burst);
	e = execution(c);
	event = NULL;
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event), OP,
	   "activation 999: fenced");
	ok(!event, "no event");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemoryDesc_create(&desc);
	is(ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f), NONE, "activation 999: a role");
	is(ANeuralNetworksMemoryDesc_finish(desc), NONE, "activation 999: a descriptor");
	is(ANeuralNetworksMemory_createFromDesc(desc, &memory), NONE,
	   "activation 999: memory of no device");
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksMemoryDesc_free(desc);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_createForDevices(model, &device, 1, &c);
	is(ANeuralNetworksCompilation_finish(c), DATA, "activation 999 for a device: finish");
	is(ANeuralNetworksExecution_create(c, &e), STATE, "execution of a failed compilation");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(model);
}

static void test_arguments(ANeuralNetworksCompilation *c)
{
	const uint32_t three[1] = { 3 }, open[1] = { 0 };
	ANeuralNetworksOperandType type = floats;
	ANeuralNetworksMemory *memory = NULL;
	ANeuralNetworksExecution *e = NULL;
	int fd = memfd_create("arguments", 0);

	if (ftruncate(fd, 64))
		ok(false, "a file");
	ANeuralNetworksMemory_createFromFd(64, PROT_READ | PROT_WRITE, fd, 0, &memory);
	close(fd);
	is(ANeuralNetworksExecution_create(NULL, &e), UNEXPECTED, "execution: NULL");
	is(ANeuralNetworksExecution_create(c, NULL), UNEXPECTED, "execution: out NULL");
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInput(NULL, 0, NULL, a, 16), UNEXPECTED, "setInput: NULL");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, NULL, 16), UNEXPECTED,
	   "setInput: buffer NULL");
	is(ANeuralNetworksExecution_setInput(e, -1, NULL, a, 16), DATA, "setInput -1");
	is(ANeuralNetworksExecution_setInput(e, 2, NULL, a, 16), DATA, "setInput 2");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 15), DATA, "setInput: length 15");
	is(ANeuralNetworksExecution_setOutput(e, 1, NULL, sum, 16), DATA, "setOutput 1");
	is(ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 17), DATA, "setOutput: length 17");
	is(ANeuralNetworksExecution_setOutput(e, 0, NULL, NULL, 16), UNEXPECTED,
	   "setOutput: buffer NULL");
	type.dimensions = three;
	is(ANeuralNetworksExecution_setInput(e, 0, &type, a, 12), DATA, "another size");
	type.dimensions = open;
	is(ANeuralNetworksExecution_setInput(e, 0, &type, a, 16), DATA, "less than the model says");
	type = int_scalar;
	is(ANeuralNetworksExecution_setInput(e, 0, &type, a, 16), DATA, "another type");
	type = floats;
	type.scale = 1.0f;
	is(ANeuralNetworksExecution_setInput(e, 0, &type, a, 16), DATA, "another scale");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, NULL, 0, 16), UNEXPECTED,
	   "setInputFromMemory: NULL");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 49, 16), DATA,
	   "beyond the memory");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 65, 0), DATA,
	   "behind the memory");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, SIZE_MAX, 16), DATA,
	   "an offset that overflows");
	is(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, NULL, 0, 16), UNEXPECTED,
	   "setOutputFromMemory: NULL");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 3, 16), NONE,
	   "an odd offset");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 16), STATE, "an input twice");
	is(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true), STATE,
	   "padding after an argument");
	is(ANeuralNetworksExecution_compute(e), DATA, "compute with arguments that are not set");
	is(ANeuralNetworksExecution_setInput(e, 1, NULL, b, 16), NONE, "it has not started");
	is(ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16), NONE, "and takes the rest");
	ANeuralNetworksMemory_free(memory);
	is(ANeuralNetworksExecution_compute(e), NONE, "compute when the memory is freed");
	ok(sum[0] == 10 && sum[3] == 40, "zeros from the memory were added");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksExecution_free(NULL);
}

/* After the start everything is BAD_STATE, however it was started. */
static void started(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst, const char *how)
{
	ANeuralNetworksEvent *event = NULL;

	ok(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 16) == STATE &&
	   ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16) == STATE &&
	   ANeuralNetworksExecution_setMeasureTiming(e, true) == STATE &&
	   ANeuralNetworksExecution_setTimeout(e, 1) == STATE &&
	   ANeuralNetworksExecution_setLoopTimeout(e, 1) == STATE &&
	   ANeuralNetworksExecution_setReusable(e, true) == STATE &&
	   ANeuralNetworksExecution_enableInputAndOutputPadding(e, true) == STATE,
	   "%s: no setter after the start", how);
	ok(ANeuralNetworksExecution_compute(e) == STATE &&
	   ANeuralNetworksExecution_startCompute(e, &event) == STATE && !event &&
	   ANeuralNetworksExecution_burstCompute(e, burst) == STATE &&
	   ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event) == STATE &&
	   !event, "%s: no second start", how);
}

static void test_starts(ANeuralNetworksCompilation *c, ANeuralNetworksCompilation *other)
{
	const ANeuralNetworksEvent *with_null[2] = { NULL, NULL };
	ANeuralNetworksEvent *event = NULL, *second = NULL;
	ANeuralNetworksBurst *burst = NULL, *foreign = NULL;
	ANeuralNetworksExecution *e;
	uint32_t rank = 9, dims[2] = { 0 };
	uint64_t time = 0;
	int fd = 7;

	is(ANeuralNetworksBurst_create(NULL, &burst), UNEXPECTED, "burst: NULL");
	is(ANeuralNetworksBurst_create(c, NULL), UNEXPECTED, "burst: out NULL");
	ANeuralNetworksBurst_create(c, &burst);
	ANeuralNetworksBurst_create(other, &foreign);

	e = execution(c);
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank), STATE, "rank too early");
	is(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, dims), STATE,
	   "dimensions too early");
	is(ANeuralNetworksExecution_getDuration(e, 0, &time), STATE, "duration too early");
	is(ANeuralNetworksExecution_compute(NULL), UNEXPECTED, "compute: NULL");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	added("compute");
	started(e, burst, "compute");
	is(ANeuralNetworksExecution_getOutputOperandRank(NULL, 0, &rank), UNEXPECTED, "rank: NULL");
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, NULL), UNEXPECTED,
	   "rank: out NULL");
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 1, &rank), DATA, "rank of output 1");
	is(ANeuralNetworksExecution_getOutputOperandDimensions(e, -1, dims), DATA,
	   "dimensions of output -1");
	is(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, NULL), UNEXPECTED,
	   "dimensions: out NULL");
	ok(!ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank) && rank == 1 &&
	   !ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, dims) && dims[0] == 4,
	   "the shape of the output");
	is(ANeuralNetworksExecution_getDuration(NULL, 0, &time), UNEXPECTED, "duration: NULL");
	is(ANeuralNetworksExecution_getDuration(e, 0, NULL), UNEXPECTED, "duration: out NULL");
	is(ANeuralNetworksExecution_getDuration(e, 4, &time), DATA, "duration 4");
	for (int32_t code = 0; code < 4; code++)
		ok(!ANeuralNetworksExecution_getDuration(e, code, &time) && time == UINT64_MAX,
		   "duration %d was not measured", code);
	ANeuralNetworksExecution_free(e);

	e = execution(c);
	is(ANeuralNetworksExecution_startCompute(NULL, &event), UNEXPECTED, "startCompute: NULL");
	is(ANeuralNetworksExecution_startCompute(e, NULL), UNEXPECTED, "startCompute: out NULL");
	is(ANeuralNetworksExecution_startCompute(e, &event), NONE, "startCompute");
	started(e, burst, "startCompute");
	is(ANeuralNetworksEvent_wait(NULL), UNEXPECTED, "wait: NULL");
	is(ANeuralNetworksEvent_wait(event), NONE, "wait");
	is(ANeuralNetworksEvent_wait(event), NONE, "wait again");
	added("startCompute");
	is(ANeuralNetworksEvent_getSyncFenceFd(event, &fd), DATA, "the fence of such an event");
	ok(fd == -1, "is none");
	is(ANeuralNetworksEvent_getSyncFenceFd(NULL, &fd), UNEXPECTED, "fence: NULL");
	is(ANeuralNetworksEvent_getSyncFenceFd(event, NULL), UNEXPECTED, "fence: out NULL");
	ANeuralNetworksExecution_free(e);

	e = execution(c);
	is(ANeuralNetworksExecution_burstCompute(NULL, burst), UNEXPECTED, "burstCompute: NULL");
	is(ANeuralNetworksExecution_burstCompute(e, NULL), UNEXPECTED, "burstCompute: burst NULL");
	is(ANeuralNetworksExecution_burstCompute(e, foreign), DATA, "another compilation's burst");
	is(ANeuralNetworksExecution_burstCompute(e, burst), NONE, "burstCompute");
	added("burstCompute");
	started(e, burst, "burstCompute");
	ANeuralNetworksExecution_free(e);

	e = execution(c);
	is(ANeuralNetworksExecution_startComputeWithDependencies(NULL, NULL, 0, 0, &second),
	   UNEXPECTED, "fenced: NULL");
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, NULL), UNEXPECTED,
	   "fenced: out NULL");
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 1, 0, &second),
	   UNEXPECTED, "fenced: list NULL");
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, with_null, 1, 0, &second),
	   UNEXPECTED, "fenced: event NULL");
	with_null[0] = event;
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, with_null, 1, 0, &second), NONE,
	   "fenced, after an event without a fence");
	started(e, burst, "fenced");
	is(ANeuralNetworksEvent_wait(second), NONE, "wait for the fenced one");
	added("fenced");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksEvent_free(second);
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksEvent_free(NULL);
	event = (ANeuralNetworksEvent *)&fd;
	is(ANeuralNetworksEvent_createFromSyncFenceFd(-1, &event), DATA, "no fence");
	is(ANeuralNetworksEvent_createFromSyncFenceFd(-1, NULL), UNEXPECTED, "event to NULL");

	e = execution(other);
	is(ANeuralNetworksExecution_setMeasureTiming(e, true), DATA, "timing without a device");
	is(ANeuralNetworksExecution_setTimeout(e, 1), DATA, "timeout without a device");
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 1, &event), DATA,
	   "duration without a device");
	ANeuralNetworksExecution_free(e);

	e = execution(c);
	is(ANeuralNetworksExecution_setReusable(NULL, true), UNEXPECTED, "reusable: NULL");
	is(ANeuralNetworksExecution_setReusable(e, true), NONE, "reusable");
	is(ANeuralNetworksExecution_setTimeout(e, UINT64_MAX), NONE, "the longest timeout");
	for (int i = 0; i < 3; i++)
		is(ANeuralNetworksExecution_compute(e), NONE, "compute again");
	added("compute again");
	ANeuralNetworksBurst_free(foreign);
	ANeuralNetworksBurst_free(burst);
	ANeuralNetworksBurst_free(NULL);
	ANeuralNetworksExecution_free(e);
}

/* A compilation keeps what an execution took for the next one, which must know nothing of it. */
static void test_one_after_another(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *e = execution(c);
	ANeuralNetworksEvent *event = NULL;
	ANeuralNetworksBurst *burst = NULL;
	uint32_t rank = 0;
	uint64_t time = 0;

	ANeuralNetworksBurst_create(c, &burst);
	ANeuralNetworksExecution_setReusable(e, true);
	ANeuralNetworksExecution_setMeasureTiming(e, true);
	ANeuralNetworksExecution_setLoopTimeout(e, 1);
	/* The device sees it too late. */
	ANeuralNetworksExecution_setTimeout(e, 1);
	ok(ANeuralNetworksExecution_burstCompute(e, burst), "an execution with a timeout of 1 ns");
	ANeuralNetworksExecution_free(e);

	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_compute(e), DATA, "the next one: no argument is set");
	is(ANeuralNetworksExecution_enableInputAndOutputPadding(e, true), NONE,
	   "padding before its arguments");
	ANeuralNetworksExecution_setInput(e, 0, NULL, b, sizeof(b));
	ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof(b));
	is(ANeuralNetworksExecution_compute(e), DATA, "without an output");
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16);
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank), STATE, "it has no result");
	is(ANeuralNetworksExecution_compute(e), NONE, "it has no timeout");
	ok(sum[0] == 20 && sum[3] == 80, "the arguments are its own");
	is(ANeuralNetworksExecution_compute(e), STATE, "it is not reusable");
	ok(!ANeuralNetworksExecution_getDuration(e, 1, &time) && time == UINT64_MAX,
	   "it is not measured");
	ANeuralNetworksExecution_free(e);

	e = execution(c);
	ANeuralNetworksExecution_startCompute(e, &event);
	/* Perhaps it still runs. */
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank), STATE,
	   "the run of the one before is not that of the next one");
	is(ANeuralNetworksEvent_wait(event), NONE, "the one that was freed ends");
	added("an execution that was freed");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, NULL, 0), NONE, "an omitted input");
	ANeuralNetworksExecution_setInput(e, 1, NULL, a, sizeof(a));
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16);
	ok(ANeuralNetworksExecution_compute(e), "ADD needs it");
	is(ANeuralNetworksEvent_wait(event), NONE, "the event is not about this failure");
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksExecution_free(e);
	e = execution(c);
	is(ANeuralNetworksExecution_compute(e), NONE, "the next one has the input");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksBurst_free(burst);
}

static void test_described(ANeuralNetworksCompilation *c)
{
	const uint32_t four_only[1] = { 4 }, five[1] = { 5 };
	ANeuralNetworksMemoryDesc *d = NULL, *second = NULL;
	ANeuralNetworksMemory *memory = NULL, *plain = NULL, *small = NULL;
	ANeuralNetworksExecution *e = NULL;
	int fd = memfd_create("copies", 0);

	if (ftruncate(fd, 64))
		ok(false, "a file");
	ANeuralNetworksMemory_createFromFd(16, PROT_READ | PROT_WRITE, fd, 0, &plain);
	ANeuralNetworksMemory_createFromFd(8, PROT_READ | PROT_WRITE, fd, 0, &small);
	close(fd);
	is(ANeuralNetworksMemoryDesc_create(NULL), UNEXPECTED, "descriptor to NULL");
	ANeuralNetworksMemoryDesc_create(&d);
	is(ANeuralNetworksMemoryDesc_addInputRole(NULL, c, 0, 1.0f), UNEXPECTED, "role: NULL");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, NULL, 0, 1.0f), UNEXPECTED,
	   "role: compilation NULL");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 2, 1.0f), DATA, "role of input 2");
	is(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 1, 1.0f), DATA, "role of output 1");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 0.0f), DATA, "frequency 0");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1.5f), DATA, "frequency 1.5");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, NAN), DATA, "frequency NaN");
	is(ANeuralNetworksMemoryDesc_finish(d), DATA, "finish without a role");
	is(ANeuralNetworksMemory_createFromDesc(d, &memory), STATE, "memory of an unfinished one");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1.0f), NONE, "a role");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 0, 1.0f), DATA, "the same role");
	is(ANeuralNetworksMemoryDesc_addOutputRole(d, c, 0, 0.5f), NONE, "another role");
	is(ANeuralNetworksMemoryDesc_setDimensions(NULL, 0, NULL), UNEXPECTED, "shape: NULL");
	is(ANeuralNetworksMemoryDesc_setDimensions(d, 1, NULL), UNEXPECTED, "shape NULL");
	is(ANeuralNetworksMemoryDesc_setDimensions(d, 0, NULL), NONE, "no shape");
	is(ANeuralNetworksMemoryDesc_setDimensions(d, 1, five), DATA, "another shape");
	is(ANeuralNetworksMemoryDesc_setDimensions(d, 1, four_only), NONE, "the shape");
	is(ANeuralNetworksMemoryDesc_finish(NULL), UNEXPECTED, "finish NULL");
	is(ANeuralNetworksMemoryDesc_finish(d), NONE, "finish");
	is(ANeuralNetworksMemoryDesc_finish(d), STATE, "finish again");
	is(ANeuralNetworksMemoryDesc_addInputRole(d, c, 1, 1.0f), STATE, "a role after that");
	is(ANeuralNetworksMemoryDesc_setDimensions(d, 1, four_only), STATE, "a shape after that");
	is(ANeuralNetworksMemory_createFromDesc(NULL, &memory), UNEXPECTED, "memory: NULL");
	is(ANeuralNetworksMemory_createFromDesc(d, NULL), UNEXPECTED, "memory: out NULL");
	is(ANeuralNetworksMemory_createFromDesc(d, &memory), NONE, "memory");
	ANeuralNetworksMemoryDesc_free(d);
	ANeuralNetworksMemoryDesc_create(&second);
	is(ANeuralNetworksMemoryDesc_setDimensions(second, 1, five), NONE, "a shape first");
	is(ANeuralNetworksMemoryDesc_addInputRole(second, c, 0, 1.0f), DATA,
	   "a role of another shape");
	ANeuralNetworksMemoryDesc_free(second);

	is(ANeuralNetworksMemory_copy(NULL, plain), UNEXPECTED, "copy: NULL");
	is(ANeuralNetworksMemory_copy(plain, NULL), UNEXPECTED, "copy to NULL");
	is(ANeuralNetworksMemory_copy(plain, small), DATA, "copy to another size");
	is(ANeuralNetworksMemory_copy(memory, plain), DATA, "copy of nothing");
	is(ANeuralNetworksMemory_copy(plain, memory), NONE, "copy to described memory");
	is(ANeuralNetworksMemory_copy(memory, plain), NONE, "copy from it");
	is(ANeuralNetworksMemory_copy(small, memory), DATA, "copy of another size to it");
	is(ANeuralNetworksMemory_copy(memory, plain), DATA, "which takes its content away");

	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, memory, 0, 0), DATA,
	   "a role that it does not have");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 16), DATA,
	   "a length for described memory");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0), NONE,
	   "memory without content");
	ANeuralNetworksExecution_setInput(e, 1, NULL, b, 16);
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16);
	is(ANeuralNetworksExecution_compute(e), OP, "is noticed by compute");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksMemory_free(plain);
	ANeuralNetworksMemory_free(small);
}

/* RELU of a vector of unknown length: sizes that only an execution knows. */
static void test_open_shapes(void)
{
	const uint32_t open[1] = { 0 }, four_long[1] = { 4 }, input[1] = { 0 }, output[1] = { 1 };
	ANeuralNetworksOperandType type = floats;
	ANeuralNetworksModel *model = NULL;
	ANeuralNetworksCompilation *c;
	ANeuralNetworksExecution *e = NULL;
	ANeuralNetworksEvent *event = NULL;
	uint32_t rank = 0, dims[1] = { 0 };

	type.dimensions = open;
	ANeuralNetworksModel_create(&model);
	ANeuralNetworksModel_addOperand(model, &type);
	ANeuralNetworksModel_addOperand(model, &type);
	ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_RELU, 1, input, 1, output);
	ANeuralNetworksModel_identifyInputsAndOutputs(model, 1, input, 1, output);
	is(ANeuralNetworksModel_finish(model), NONE, "open shapes: finish");
	c = compiled(model, true);
	type.dimensions = four_long;

	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, a, 16), DATA, "an input of unknown size");
	is(ANeuralNetworksExecution_setInput(e, 0, &type, a, 16), NONE, "with its size");
	is(ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 8), NONE, "a small output");
	is(ANeuralNetworksExecution_compute(e), SIZE, "compute: it is too small");
	is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank), SIZE, "rank: the same");
	is(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, dims), SIZE,
	   "dimensions: the same");
	ok(rank == 1 && dims[0] == 4, "and yet the shape: [%u]", dims[0]);
	ANeuralNetworksExecution_free(e);

	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_setInput(e, 0, &type, a, 16);
	ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, 16);
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event), DATA,
	   "fenced: an output of unknown size");
	ok(!event, "no event");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(model);
}

/* RANK of a vector: a scalar. */
static void test_scalar_output(void)
{
	const uint32_t input[1] = { 0 }, output[1] = { 1 };
	ANeuralNetworksModel *model = NULL;
	ANeuralNetworksCompilation *c;
	ANeuralNetworksExecution *e = NULL;
	uint32_t rank = 9, dims[1] = { 77 };
	int32_t value = 0;

	ANeuralNetworksModel_create(&model);
	ANeuralNetworksModel_addOperand(model, &floats);
	ANeuralNetworksModel_addOperand(model, &int_scalar);
	ANeuralNetworksModel_addOperation(model, ANEURALNETWORKS_RANK, 1, input, 1, output);
	ANeuralNetworksModel_identifyInputsAndOutputs(model, 1, input, 1, output);
	is(ANeuralNetworksModel_finish(model), NONE, "a scalar output: finish");
	c = compiled(model, true);
	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof(a));
	is(ANeuralNetworksExecution_setOutput(e, 0, NULL, &value, sizeof(value)), NONE, "a scalar");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(value == 1, "a vector has rank %d, expected 1", value);
	ok(!ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank) && !rank,
	   "a scalar has rank 0");
	is(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, dims), DATA,
	   "a scalar has no dimensions");
	ok(dims[0] == 77, "the out-parameter was left alone");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(model);
}

/* What fences and events that failed do to those that wait for them. */
static void test_failed_fences(ANeuralNetworksCompilation *c)
{
	const ANeuralNetworksEvent *before[1];
	ANeuralNetworksEvent *event = NULL, *failed = NULL;
	ANeuralNetworksExecution *e = execution(c);
	int ends[2], no_fence[2];

	if (nnhal_fence_create(&ends[0], &ends[1]) || pipe(no_fence)) {
		ok(false, "a fence and a pipe");
		return;
	}
	is(ANeuralNetworksEvent_createFromSyncFenceFd(no_fence[0], &event), DATA,
	   "a descriptor that is no fence");
	is(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &failed), NONE, "a fence");
	nnhal_fence_signal(ends[1], -EIO);
	is(ANeuralNetworksEvent_wait(failed), OP, "that fails");
	before[0] = failed;
	event = NULL;
	ok(ANeuralNetworksExecution_startComputeWithDependencies(e, before, 1, 0, &event) ||
	   ANeuralNetworksEvent_wait(event), "what waits for it fails");
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksEvent_free(failed);
	ANeuralNetworksExecution_free(e);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(no_fence[i]);
	}
}

static void test_buffers(ANeuralNetworksCompilation *c)
{
	const AHardwareBuffer_Desc image = {
		.width = 2, .height = 2, .layers = 1,
		.format = AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM,
		.usage = AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN,
	};
	ANeuralNetworksMemory *memory = NULL;
	ANeuralNetworksModel *model = add_operands();
	ANeuralNetworksExecution *e = NULL;
	AHardwareBuffer *buffer = NULL;

	AHardwareBuffer_allocate(&image, &buffer);
	is(ANeuralNetworksMemory_createFromAHardwareBuffer(NULL, &memory), UNEXPECTED,
	   "memory of a buffer: NULL");
	is(ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, NULL), UNEXPECTED,
	   "memory of a buffer: out NULL");
	is(ANeuralNetworksMemory_createFromAHardwareBuffer(buffer, &memory), NONE,
	   "memory of an image");
	AHardwareBuffer_release(buffer);
	is(ANeuralNetworksModel_setOperandValueFromMemory(model, 0, memory, 0, 16), DATA,
	   "an image as a constant");
	is(ANeuralNetworksMemory_copy(memory, memory), DATA, "a copy of an image");
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 16), DATA,
	   "a part of an image");
	is(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0), NONE,
	   "a whole image");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksModel_free(model);
}

int main(void)
{
	ANeuralNetworksModel *model;
	ANeuralNetworksCompilation *c, *other;

	test_compilation();
	test_refusal();
	model = finished_model();
	c = compiled(model, true);
	other = compiled(model, false);
	test_arguments(c);
	test_starts(c, other);
	test_one_after_another(c);
	test_described(c);
	test_open_shapes();
	test_scalar_output();
	test_failed_fences(c);
	test_buffers(c);
	ANeuralNetworksModel_free(model);
	ANeuralNetworksCompilation_free(other);
	ANeuralNetworksCompilation_free(c);
	return tap_done();
}
