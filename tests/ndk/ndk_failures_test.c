// SPDX-License-Identifier: MIT
/*
 * What programs learn when the device, the system or the memory fails: a function of libnnhal returns a status
 * without being called, or a call of the system fails. The program is linked with --wrap for these
 * functions of libnnhal.
 */
#include <dirent.h>
#include <errno.h>
#include <nnhal/fence.h>
#include <nnhal/nnhal.h>
#include <nnhal/fenced.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/ndk_log.h"
#include "ndk_cut.h"

enum { UNAVAILABLE = ANEURALNETWORKS_UNAVAILABLE_DEVICE };

/* ---- functions of libnnhal that fail ---- */

static const char *failing;		/* the function, or NULL */
static enum nnhal_status forced;
static unsigned int times, skipped;	/* it fails so often, after so many calls that do not */
static const char *then;		/* and then this one does, once, or NULL */
static unsigned int then_skipped;

static void fail(const char *function, enum nnhal_status status)
{
	failing = function;
	forced = status;
	times = 1;
	skipped = 0;
	then = NULL;
}

static bool fails(const char *function)
{
	if (!failing || strcmp(failing, function) || (skipped && skipped--))
		return false;
	if (--times)
		return true;
	failing = then;
	then = NULL;
	times = 1;
	skipped = then_skipped;
	return true;
}

/* The functions have the parameters of libnnhal's; the last step is what a failure does besides. */
#define WRAP(type, name, parameters, arguments, failure) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		if (!fails(#name)) \
			return __real_##name arguments; \
		failure; \
	}

WRAP(enum nnhal_status, nnhal_prepared_model_execute_synchronously,
	(struct nnhal_prepared_model *model, const struct nnhal_request *request,
	 const struct nnhal_execute_options *options, struct nnhal_output_shape *shapes,
	 uint32_t *num_shapes, struct nnhal_timing *timing),
	(model, request, options, shapes, num_shapes, timing), *num_shapes = 0; return forced)

WRAP(enum nnhal_status, nnhal_burst_execute,
	(struct nnhal_burst *burst, const struct nnhal_request *request,
	 const struct nnhal_execute_options *options, struct nnhal_output_shape *shapes,
	 uint32_t *num_shapes, struct nnhal_timing *timing),
	(burst, request, options, shapes, num_shapes, timing), *num_shapes = 0; return forced)

static enum nnhal_status call_back(nnhal_execution_callback callback, void *context)
{
	static const struct nnhal_timing none = { NNHAL_NO_TIMING, NNHAL_NO_TIMING };

	callback(context, forced, NULL, 0, &none);
	return forced;
}

WRAP(enum nnhal_status, nnhal_prepared_model_execute,
	(struct nnhal_prepared_model *model, const struct nnhal_request *request,
	 const struct nnhal_execute_options *options, nnhal_execution_callback callback, void *context),
	(model, request, options, callback, context), return call_back(callback, context))

WRAP(enum nnhal_status, nnhal_prepared_model_execute_fenced,
	(struct nnhal_prepared_model *model, const struct nnhal_request *request, const int *wait_for,
	 uint32_t num_wait_for, const struct nnhal_fenced_options *options, int *fence,
	 struct nnhal_fenced_callback **callback),
	(model, request, wait_for, num_wait_for, options, fence, callback), return forced)

WRAP(enum nnhal_status, nnhal_burst_create,
	(struct nnhal_prepared_model *model, const struct nnhal_burst_options *options,
	 struct nnhal_burst **burst),
	(model, options, burst), return forced)

WRAP(enum nnhal_status, nnhal_device_prepare_model_sync,
	(struct nnhal_device *device, const struct nnhal_model *model,
	 const struct nnhal_prepare_options *options, struct nnhal_prepared_model **prepared),
	(device, model, options, prepared), return forced)

WRAP(enum nnhal_status, nnhal_enumerate_devices,
	(struct nnhal_device_info *infos, uint32_t max, uint32_t *count, struct nnhal_diag *diag),
	(infos, max, count, diag), *count = 0; return forced)

WRAP(enum nnhal_status, nnhal_device_open,
	(const char *spec, struct nnhal_device **device, struct nnhal_diag *diag),
	(spec, device, diag), return forced)

WRAP(enum nnhal_status, nnhal_device_get_supported_extensions,
	(struct nnhal_device *device, const struct nnhal_extension **extensions, uint32_t *count),
	(device, extensions, count), return forced)

WRAP(enum nnhal_status, nnhal_device_get_supported_operations,
	(struct nnhal_device *device, const struct nnhal_model *model, bool *supported,
	 uint32_t num_supported, struct nnhal_diag *diag),
	(device, model, supported, num_supported, diag), return forced)

WRAP(enum nnhal_status, nnhal_memory_copy,
	(struct nnhal_memory *source, struct nnhal_memory *target, struct nnhal_diag *diag),
	(source, target, diag), return forced)

WRAP(void *, nnhal_memory_map, (struct nnhal_memory *memory, struct nnhal_diag *diag),
	(memory, diag), return NULL)

WRAP(enum nnhal_status, nnhal_memory_from_pointer,
	(void *pointer, uint64_t size, uint32_t access, struct nnhal_memory **memory,
	 struct nnhal_diag *diag),
	(pointer, size, access, memory, diag), return forced)

/* ---- tests ---- */

static const float a[4] = { 1, 2, 3, 4 }, b[4] = { 10, 20, 30, 40 };
static float sum[4];

static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *e = NULL;

	if (ANeuralNetworksExecution_create(c, &e) ||
	    ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof(a)) ||
	    ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof(b)) ||
	    ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof(sum)))
		ok(false, "an execution with its arguments");
	memset(sum, 0, sizeof(sum));
	return e;
}

static const struct {
	enum nnhal_status status;
	int result;
	const char *name;
} statuses[] = {
	{ NNHAL_STATUS_DEVICE_UNAVAILABLE, UNAVAILABLE, "DEVICE_UNAVAILABLE" },
	{ NNHAL_STATUS_GENERAL_FAILURE, OP, "GENERAL_FAILURE" },
	{ NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE,
	  "OUTPUT_INSUFFICIENT_SIZE" },
	{ NNHAL_STATUS_INVALID_ARGUMENT, DATA, "INVALID_ARGUMENT" },
	{ NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT,
	  "MISSED_DEADLINE_TRANSIENT" },
	{ NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT,
	  "MISSED_DEADLINE_PERSISTENT" },
	{ NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT,
	  "RESOURCE_EXHAUSTED_TRANSIENT" },
	{ NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT,
	  "RESOURCE_EXHAUSTED_PERSISTENT" },
	{ NNHAL_STATUS_DEAD_OBJECT, ANEURALNETWORKS_DEAD_OBJECT, "DEAD_OBJECT" },
	{ NNHAL_STATUS_NO_DEVICE, UNAVAILABLE, "NO_DEVICE" },
	{ NNHAL_STATUS_NO_PERMISSION, UNAVAILABLE, "NO_PERMISSION" },
	{ NNHAL_STATUS_NO_DRIVER, UNAVAILABLE, "NO_DRIVER" },
};

/* Each status of a device that the caller chose, each way to execute. */
static void test_statuses(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksEvent *event = NULL, *none = NULL;
	ANeuralNetworksBurst *burst = NULL;
	uint32_t rank = 0;
	uint64_t time = 0;

	ANeuralNetworksBurst_create(c, &burst);
	for (unsigned int i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		enum nnhal_status status = statuses[i].status;
		int result = statuses[i].result;
		ANeuralNetworksExecution *e[4];

		printf("# %s\n", statuses[i].name);
		for (unsigned int k = 0; k < 4; k++)
			e[k] = execution(c);
		fail("nnhal_prepared_model_execute_synchronously", status);
		is(ANeuralNetworksExecution_compute(e[0]), result, "compute");
		fail("nnhal_burst_execute", status);
		is(ANeuralNetworksExecution_burstCompute(e[1], burst), result, "burstCompute");
		fail("nnhal_prepared_model_execute", status);
		is(ANeuralNetworksExecution_startCompute(e[2], &event), NONE, "startCompute");
		is(ANeuralNetworksEvent_wait(event), result, "wait");
		ANeuralNetworksEvent_free(event);
		fail("nnhal_prepared_model_execute_fenced", status);
		is(ANeuralNetworksExecution_startComputeWithDependencies(e[3], NULL, 0, 0, &none),
		   result, "startComputeWithDependencies");
		ok(!none, "no event");
		for (unsigned int k = 0; k < 4; k++) {
			/* Shapes are there after a success, or where an output was too small. */
			is(ANeuralNetworksExecution_getOutputOperandRank(e[k], 0, &rank), result,
			   "the rank says the same");
			ok(!ANeuralNetworksExecution_getDuration(e[k], 0, &time) &&
			   time == UINT64_MAX, "no time");
			is(ANeuralNetworksExecution_compute(e[k]), STATE, "no second start");
			ANeuralNetworksExecution_free(e[k]);
		}
	}
	ANeuralNetworksBurst_free(burst);
}

/* A device that fails once: the next execution is not harmed. */
static void test_next(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *e = execution(c);

	ANeuralNetworksExecution_setReusable(e, true);
	fail("nnhal_prepared_model_execute_synchronously", NNHAL_STATUS_GENERAL_FAILURE);
	is(ANeuralNetworksExecution_compute(e), OP, "a failure");
	is(ANeuralNetworksExecution_compute(e), NONE, "and the same execution again");
	ok(sum[0] == 11 && sum[3] == 44, "the sums");
	ANeuralNetworksExecution_free(e);
}

/* What is waited for fails, and has no fence. */
static void test_dependency(ANeuralNetworksCompilation *c)
{
	ANeuralNetworksExecution *first = execution(c), *second = execution(c);
	ANeuralNetworksEvent *event = NULL, *none = NULL;
	const ANeuralNetworksEvent *before[1];

	fail("nnhal_prepared_model_execute", NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT);
	ANeuralNetworksExecution_startCompute(first, &event);
	before[0] = event;
	is(ANeuralNetworksExecution_startComputeWithDependencies(second, before, 1, 0, &none), OP,
	   "after an execution that has failed");
	ok(!none && !sum[0], "no event, and nothing was computed");
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksExecution_free(first);
	ANeuralNetworksExecution_free(second);
}

/* Preparing. */
static void test_compilations(ANeuralNetworksModel *model, ANeuralNetworksCompilation *c)
{
	const ANeuralNetworksDevice *device = reference_device();
	ANeuralNetworksBurst *burst = (ANeuralNetworksBurst *)&device;
	ANeuralNetworksCompilation *own = NULL;
	ANeuralNetworksExecution *e = NULL;

	fail("nnhal_burst_create", NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	is(ANeuralNetworksBurst_create(c, &burst), ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT,
	   "a burst without a queue");
	ANeuralNetworksCompilation_createForDevices(model, &device, 1, &own);
	fail("nnhal_device_prepare_model_sync", NNHAL_STATUS_DEAD_OBJECT);
	is(ANeuralNetworksCompilation_finish(own), ANEURALNETWORKS_DEAD_OBJECT,
	   "the device goes away while it prepares");
	is(ANeuralNetworksCompilation_finish(own), STATE, "the compilation is over");
	is(ANeuralNetworksExecution_create(own, &e), STATE, "it executes nothing");
	ANeuralNetworksCompilation_free(own);
}

/* The list of devices. */
static void test_devices(ANeuralNetworksModel *model)
{
	ANeuralNetworksDevice *device = reference_device(), *found = NULL;
	ANeuralNetworksCompilation *c = NULL;
	uint32_t count = 77;
	bool has = true;
	int32_t type = 77;
	ANeuralNetworksModel *other = add_operands();

	fail("nnhal_enumerate_devices", NNHAL_STATUS_NO_PERMISSION);
	is(ANeuralNetworks_getDeviceCount(&count), UNAVAILABLE, "devices cannot be looked for");
	ok(count == 77, "the out-parameter was left alone");
	ANeuralNetworksCompilation_create(model, &c);
	fail("nnhal_enumerate_devices", NNHAL_STATUS_NO_PERMISSION);
	is(ANeuralNetworksCompilation_finish(c), UNAVAILABLE, "nor by finish");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksCompilation_create(model, &c);
	fail("nnhal_enumerate_devices", NNHAL_STATUS_NO_DRIVER);
	is(ANeuralNetworksCompilation_finish(c), UNAVAILABLE, "there is no device");
	ANeuralNetworksCompilation_free(c);
	fail("nnhal_enumerate_devices", NNHAL_STATUS_NO_DEVICE);
	ok(!ANeuralNetworks_getDeviceCount(&count) && !count, "and none is counted");
	is(ANeuralNetworks_getDevice(0, &found), DATA, "nor given");
	is(ANeuralNetworksModel_getExtensionOperandType(other, "org.nnpu.tflite", 0, &type), DATA,
	   "an extension that no device has");
	ok(!ANeuralNetworks_getDeviceCount(&count) && count, "the devices are back");
	is(ANeuralNetworksDevice_wait(device), NONE, "wait");
	fail("nnhal_device_get_supported_extensions", NNHAL_STATUS_DEAD_OBJECT);
	is(ANeuralNetworksDevice_getExtensionSupport(device, "org.nnpu.tflite", &has),
	   ANEURALNETWORKS_DEAD_OBJECT, "extensions of a device that went away");
	ok(has, "the out-parameter was left alone");
	ANeuralNetworksModel_free(other);
}

static void finish_for(ANeuralNetworksModel *model, const ANeuralNetworksDevice *first,
		       const ANeuralNetworksDevice *second, int expected, const char *what)
{
	const ANeuralNetworksDevice *list[2] = { first, second };
	ANeuralNetworksCompilation *c = NULL;

	ANeuralNetworksCompilation_createForDevices(model, list, second ? 2 : 1, &c);
	is(ANeuralNetworksCompilation_finish(c), expected, what);
	ANeuralNetworksCompilation_free(c);
}

/* Devices of a list, of which one is gone, or fails. */
static void test_lists(ANeuralNetworksModel *model)
{
	static const uint32_t last[1] = { OUT };
	const ANeuralNetworksDevice *cut[2], *gone = ndk_device_add("gone", "drm:63");
	const ANeuralNetworksDevice *other = ndk_device_add("other", "sim");
	ANeuralNetworksModel *divided = cut_model(&floats, last, 1);

	add_cut_devices(cut, "");
	finish_for(model, gone, NULL, UNAVAILABLE, "a device that is gone");
	finish_for(model, gone, other, NONE, "it is left out of a list");
	finish_for(divided, gone, cut[0], UNAVAILABLE, "the others do not take the model");
	finish_for(divided, cut[0], cut[1], NONE, "two together do");
	fail("nnhal_device_prepare_model_sync", NNHAL_STATUS_DEAD_OBJECT);
	finish_for(model, other, reference_device(), NONE, "a device that goes away is left out");
	fail("nnhal_device_prepare_model_sync", NNHAL_STATUS_GENERAL_FAILURE);
	finish_for(model, other, reference_device(), OP, "the failure of a device that stays is told");
	fail("nnhal_device_prepare_model_sync", NNHAL_STATUS_DEAD_OBJECT);
	times = 3;
	finish_for(model, other, reference_device(), ANEURALNETWORKS_DEAD_OBJECT, "all go away");
	/* Both refuse the whole before the first step is prepared. */
	fail("nnhal_device_prepare_model_sync", NNHAL_STATUS_INVALID_ARGUMENT);
	skipped = 2;
	finish_for(divided, cut[0], cut[1], OP, "a device that refuses what it said it supports");
	fail("nnhal_device_get_supported_operations", NNHAL_STATUS_GENERAL_FAILURE);
	finish_for(divided, cut[0], cut[1], OP, "a device that does not say what it supports");
	ANeuralNetworksModel_free(divided);
}

/* A fenced execution that cannot be launched, and waits for a fence with an error. */
static void test_failed_fence(ANeuralNetworksModel *model)
{
	ANeuralNetworksEvent *event = NULL, *none = NULL;
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksEvent *before[1];
	ANeuralNetworksExecution *e;
	uint64_t reruns = ndk_counters()->reruns;
	int ends[2];

	ANeuralNetworksCompilation_create(model, &c);
	ANeuralNetworksCompilation_finish(c);
	ok(c->prepared && !c->on_reference, "a device that is not nnapi-reference");
	if (nnhal_fence_create(&ends[0], &ends[1]) || nnhal_fence_signal(ends[1], -EIO)) {
		ok(false, "a fence");
		return;
	}
	ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &event);
	before[0] = event;
	e = execution(c);
	fail("nnhal_prepared_model_execute_fenced", NNHAL_STATUS_DEAD_OBJECT);
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, before, 1, 0, &none), OP,
	   "after a fence that has failed");
	ok(!none && !sum[0] && ndk_counters()->reruns == reruns, "it does not run again");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksEvent_free(event);
	close(ends[0]);
	close(ends[1]);
	ANeuralNetworksCompilation_free(c);
}

/* A fence of which nobody knows when it signals, and its event. */
struct pending {
	int ends[2];
	ANeuralNetworksEvent *event;
};

static void pending_init(struct pending *p)
{
	p->event = NULL;
	if (ok(!nnhal_fence_create(&p->ends[0], &p->ends[1]) &&
	       !ANeuralNetworksEvent_createFromSyncFenceFd(p->ends[0], &p->event), "a fence"))
		return;
	printf("Bail out! no fence\n");
	exit(1);
}

static void pending_fini(struct pending *p)
{
	ANeuralNetworksEvent_free(p->event);
	close(p->ends[0]);
	close(p->ends[1]);
}

/* Start behind a fence; of the launches, the one after @launched fails. */
static int start_behind(ANeuralNetworksExecution *e, const struct pending *p, unsigned int launched,
			ANeuralNetworksEvent **event)
{
	const ANeuralNetworksEvent *before[1] = { p->event };
	int result;

	fail("nnhal_prepared_model_execute_fenced", NNHAL_STATUS_DEAD_OBJECT);
	skipped = launched;
	result = ANeuralNetworksExecution_startComputeWithDependencies(e, before, 1, 0, event);
	failing = NULL;
	return result;
}

/* What cannot be launched waits for the fence on nnapi-reference, and the caller does not wait at all. */
static void test_again_behind_fence(ANeuralNetworksCompilation *c, unsigned int launched, const char *what,
				    const float expected[4])
{
	static const float nothing[4];

	for (int i = 0; i < 2; i++) {
		uint64_t reruns = ndk_counters()->reruns;
		ANeuralNetworksEvent *event = NULL;
		ANeuralNetworksExecution *e = execution(c);
		struct pending p;

		pending_init(&p);
		memset(sum, 0, sizeof(sum));
		is(start_behind(e, &p, launched, &event), NONE, what);
		ok(ndk_counters()->reruns == reruns + 1, "it runs again");
		ok(!sum[0], "but not yet");
		nnhal_fence_signal(p.ends[1], i ? -EIO : 0);
		is(ANeuralNetworksEvent_wait(event), i ? OP : NONE, i ? "an error of the fence" : "no error");
		ok(memcmp(sum, i ? nothing : expected, sizeof(sum)) == 0, "the result: %g", sum[0]);
		ANeuralNetworksEvent_free(event);
		ANeuralNetworksExecution_free(e);
		pending_fini(&p);
	}
}

/* Memory that has to be copied after the fence: nobody waits for that either. */
static void test_copied_behind_fence(ANeuralNetworksCompilation *c)
{
	struct ANeuralNetworksMemory *memories[2] = { NULL, NULL };
	ANeuralNetworksMemoryDesc *desc = NULL;
	int fd = memfd_create("argument", MFD_CLOEXEC);

	ANeuralNetworksMemoryDesc_create(&desc);
	ANeuralNetworksMemoryDesc_addInputRole(desc, c, 0, 1.0f);
	ANeuralNetworksMemoryDesc_finish(desc);
	is(ANeuralNetworksMemory_createFromDesc(desc, &memories[0]), NONE, "memory of the device");
	ANeuralNetworksMemoryDesc_free(desc);
	if (!ftruncate(fd, 16))
		is(ANeuralNetworksMemory_createFromFd(16, PROT_READ, fd, 0, &memories[1]), NONE, "a file");
	for (int i = 0; i < 2; i++) {
		ANeuralNetworksExecution *e = NULL;
		ANeuralNetworksEvent *event = NULL;
		struct pending p;

		pending_init(&p);
		ANeuralNetworksExecution_create(c, &e);
		ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memories[i], 0, i ? 16 : 0);
		ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof(b));
		ANeuralNetworksExecution_setOutput(e, 0, NULL, sum, sizeof(sum));
		is(start_behind(e, &p, 0, &event), ANEURALNETWORKS_DEAD_OBJECT,
		   i ? "a file that can become shorter" : "memory of the device that failed");
		ok(!event, "no event");
		ANeuralNetworksExecution_free(e);
		ANeuralNetworksMemory_free(memories[i]);
		pending_fini(&p);
	}
	close(fd);
}

/* Devices of the caller, and the second step is not launched: the event has the failure when the first one has ended. */
static void test_step_behind_fence(ANeuralNetworksCompilation *c, ANeuralNetworksCompilation *whole)
{
	ANeuralNetworksEvent *event = NULL, *next = NULL;
	const ANeuralNetworksEvent *after[1];
	ANeuralNetworksExecution *e = execution(c), *behind = execution(whole);
	struct pending p;
	int fd = 7;

	pending_init(&p);
	is(start_behind(e, &p, 1, &event), NONE, "the second step is not launched");
	is(ANeuralNetworksEvent_getSyncFenceFd(event, &fd), DATA, "there is no fence to see");
	after[0] = event;
	is(ANeuralNetworksExecution_startComputeWithDependencies(behind, after, 1, 0, &next), OP,
	   "what depends on it fails at once");
	is(ANeuralNetworksExecution_setLoopTimeout(e, 1), STATE, "it has not ended");
	nnhal_fence_signal(p.ends[1], 0);
	is(ANeuralNetworksEvent_wait(event), ANEURALNETWORKS_DEAD_OBJECT, "then it has failed");
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksEvent_free(next);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksExecution_free(behind);
	pending_fini(&p);
}

/* Devices were added, so the first of them has the model, or steps of it. */
static void test_pending_fences(ANeuralNetworksModel *model, ANeuralNetworksCompilation *reference)
{
	static const float sums[4] = { 11, 22, 33, 44 }, products[4] = { 99, 418, 957, 1716 };
	static const uint32_t last[1] = { OUT };
	ANeuralNetworksModel *divided = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *c = NULL;
	const ANeuralNetworksDevice *cut[2];

	ANeuralNetworksCompilation_create(model, &c);
	ANeuralNetworksCompilation_finish(c);
	ok(c->prepared && !c->on_reference, "a device that is not nnapi-reference");
	test_again_behind_fence(c, 0, "the whole model is not launched", sums);
	test_copied_behind_fence(c);
	ANeuralNetworksCompilation_free(c);
	add_cut_devices(cut, "");
	c = compiled_for(divided, cut, 2, NONE);
	test_step_behind_fence(c, reference);
	/* As if the library had chosen them. */
	c->chosen = false;
	free(c->devices);
	is(ndk_devices_by_preference(&c->devices, &c->num_devices), NONE, "all devices");
	test_again_behind_fence(c, 0, "the first step is not launched", products);
	test_again_behind_fence(c, 1, "the second step is not launched", products);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(divided);
}

/* Memory. */
static void test_memory(ANeuralNetworksCompilation *c)
{
	struct ANeuralNetworksMemory *memories[2] = { NULL, NULL };
	ANeuralNetworksExecution *e = NULL;
	int fd = memfd_create("failures", 0);

	if (!ok(!ftruncate(fd, 32), "a file"))
		return;
	for (int i = 0; i < 2; i++)
		ANeuralNetworksMemory_createFromFd(16, PROT_READ | PROT_WRITE, fd, 16 * (size_t)i,
						   &memories[i]);
	close(fd);
	for (unsigned int i = 0; i < 2; i++) {
		fail("nnhal_memory_copy", NNHAL_STATUS_GENERAL_FAILURE);
		then = "nnhal_memory_map";
		then_skipped = i;
		is(ANeuralNetworksMemory_copy(memories[0], memories[1]), ANEURALNETWORKS_UNMAPPABLE,
		   i ? "the copy cannot be mapped" : "the original cannot be mapped");
	}
	fail("nnhal_memory_copy", NNHAL_STATUS_GENERAL_FAILURE);
	is(ANeuralNetworksMemory_copy(memories[0], memories[1]), OP, "the original cannot be read");
	fail("nnhal_memory_copy", NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	is(ANeuralNetworksMemory_copy(memories[0], memories[1]),
	   ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT, "another failure of the copy");
	failing = NULL;
	is(ANeuralNetworksMemory_copy(memories[0], memories[1]), NONE, "a copy");
	for (int i = 0; i < 2; i++)
		ANeuralNetworksMemory_free(memories[i]);
	ANeuralNetworksExecution_create(c, &e);
	fail("nnhal_memory_from_pointer", NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof(a)),
	   ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT, "no memory for an input");
	is(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof(a)), NONE, "it is not set yet");
	ANeuralNetworksExecution_free(e);
}

/* Run something that may open no file any more. */
static void without_files(void (*run)(void *context), void *context)
{
	struct rlimit limit, none;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	run(context);
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct fence_use {
	int descriptor;
	ANeuralNetworksEvent *event, *made;
	int get, create, fd;
};

static void use_fence(void *context)
{
	struct fence_use *use = context;

	use->get = ANeuralNetworksEvent_getSyncFenceFd(use->event, &use->fd);
	use->create = ANeuralNetworksEvent_createFromSyncFenceFd(use->descriptor, &use->made);
}

static void test_descriptors(void)
{
	struct fence_use use = { .fd = 77, .made = (ANeuralNetworksEvent *)&use };
	int ends[2];

	if (nnhal_fence_create(&ends[0], &ends[1]) ||
	    ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &use.event)) {
		ok(false, "a fence");
		return;
	}
	use.descriptor = ends[0];
	without_files(use_fence, &use);
	is(use.get, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT, "a fence without a descriptor for it");
	ok(use.fd == -1, "it is none");
	is(use.create, ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT,
	   "an event without a descriptor for it");
	ok(!use.made, "it is none");
	close(ends[0]);
	is(ANeuralNetworksEvent_createFromSyncFenceFd(ends[0], &use.made), DATA,
	   "a descriptor that is closed");
	close(ends[1]);
	ANeuralNetworksEvent_free(use.event);
}

static unsigned int count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned int count = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !unlinkat(dirfd(dir), entry->d_name, 0))
			count++;
	if (dir)
		closedir(dir);
	return count;
}

/* A folder that takes nothing, for its disk is full: the model is prepared, and no file is left. */
static void test_full_disk(ANeuralNetworksModel *model)
{
	const ANeuralNetworksDevice *device = reference_device();
	const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = { 7 };
	char folder[] = "/tmp/ndk_failures.XXXXXX";
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e;
	struct rlimit limit, none;

	if (!ok(mkdtemp(folder), "a folder"))
		return;
	getrlimit(RLIMIT_FSIZE, &limit);
	none = limit;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	ANeuralNetworksCompilation_createForDevices(model, &device, 1, &c);
	ANeuralNetworksCompilation_setCaching(c, folder, token);
	setrlimit(RLIMIT_FSIZE, &none);
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish with a cache and a full disk");
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(!count_files(folder), "no file is left");
	e = execution(c);
	is(ANeuralNetworksExecution_compute(e), NONE, "it computes");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	rmdir(folder);
}

int main(void)
{
	ANeuralNetworksModel *model = finished_model();
	ANeuralNetworksCompilation *c = compiled(model, true);

	test_statuses(c);
	test_next(c);
	test_dependency(c);
	test_compilations(model, c);
	test_devices(model);
	test_memory(c);
	test_descriptors();
	test_full_disk(model);
	/* These add devices. */
	test_lists(model);
	test_failed_fence(model);
	test_pending_fences(model, c);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(model);
	return tap_done();
}
