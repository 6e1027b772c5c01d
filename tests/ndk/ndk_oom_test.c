// SPDX-License-Identifier: MIT
/*
 * Fail allocation 1, 2, 3, ... of a call of the NNAPI. The call then says that there is no memory, and the same call
 * again succeeds, unless it was one that is made only once. The sanitizers find what it leaves
 * behind.
 */
#include <nnhal/fence.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failing_allocations.h"
#include "ndk_cut.h"

#include <android/hardware_buffer.h>

static const float a[64], b[4] = { 1, 2, 3, 4 };
static float sum[4];

/* What a call needs. Each step makes what those before it do not have. */
enum step {
	NOTHING,
	OPERANDS,		/* a model with operands */
	OPERATION,		/* with its operation, but no inputs and outputs */
	GRAPH,			/* with all, not finished */
	MODEL,			/* finished */
	COMPILATION,		/* not finished */
	COMPILED,
	EXECUTION,		/* with its arguments */
	ENDED,			/* a reusable one that has run, with an event */
	DESC,			/* a finished descriptor */
	CUT_MODEL,		/* a model that two devices have to share */
	CUT,			/* and a compilation for both */
	CUT_EXECUTION,		/* and an execution with its arguments */
};

struct things {
	ANeuralNetworksModel *model, *sub;
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksExecution *execution;
	ANeuralNetworksBurst *burst;
	ANeuralNetworksEvent *event;
	ANeuralNetworksMemory *memory, *made;
	ANeuralNetworksMemoryDesc *desc;
	AHardwareBuffer *buffer;
	int fd, fence[2];
};

static void set_up_model(struct things *t, enum step step)
{
	if (step == NOTHING)
		return;
	t->model = add_operands();
	if (step >= OPERATION)
		ANeuralNetworksModel_addOperation(t->model, ANEURALNETWORKS_ADD, 3, add_inputs, 1,
						  add_output);
	if (step >= GRAPH)
		ANeuralNetworksModel_identifyInputsAndOutputs(t->model, 2, add_inputs, 1,
							      add_output);
	if (step >= MODEL)
		ANeuralNetworksModel_finish(t->model);
}

static void set_up_execution(struct things *t, enum step step)
{
	ANeuralNetworksExecution_create(t->compilation, &t->execution);
	ANeuralNetworksExecution_setInput(t->execution, 0, NULL, a, 16);
	ANeuralNetworksExecution_setInput(t->execution, 1, NULL, b, 16);
	ANeuralNetworksExecution_setOutput(t->execution, 0, NULL, sum, 16);
	ANeuralNetworksBurst_create(t->compilation, &t->burst);
	if (step < ENDED)
		return;
	ANeuralNetworksExecution_setReusable(t->execution, true);
	ANeuralNetworksExecution_startCompute(t->execution, &t->event);
	ANeuralNetworksEvent_wait(t->event);
}

static const struct ANeuralNetworksDevice *cut_devices[2];

static void set_up_cut(struct things *t, enum step step)
{
	static const uint32_t outputs[1] = { OUT };

	t->model = cut_model(&floats, outputs, 1);
	if (step < CUT)
		return;
	ANeuralNetworksCompilation_createForDevices(t->model, cut_devices, 2, &t->compilation);
	ANeuralNetworksCompilation_finish(t->compilation);
	if (step < CUT_EXECUTION)
		return;
	t->execution = cut_execution(t->compilation, sum);
	ANeuralNetworksBurst_create(t->compilation, &t->burst);
}

static void set_up(struct things *t, enum step step)
{
	const ANeuralNetworksDevice *device = reference_device();
	const AHardwareBuffer_Desc blob = {
		.width = 64, .height = 1, .layers = 1, .format = AHARDWAREBUFFER_FORMAT_BLOB,
		.usage = AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN,
	};

	memset(t, 0, sizeof(*t));
	t->fd = memfd_create("oom", 0);
	if (t->fd < 0 || ftruncate(t->fd, 64) || nnhal_fence_create(&t->fence[0], &t->fence[1]))
		exit(1);
	ANeuralNetworksMemory_createFromFd(64, PROT_READ | PROT_WRITE, t->fd, 0, &t->memory);
	AHardwareBuffer_allocate(&blob, &t->buffer);
	t->sub = add_model();
	ANeuralNetworksModel_finish(t->sub);
	if (step >= CUT_MODEL) {
		set_up_cut(t, step);
		return;
	}
	set_up_model(t, step);
	if (step >= COMPILATION)
		ANeuralNetworksCompilation_createForDevices(t->model, &device, 1, &t->compilation);
	if (step >= COMPILED)
		ANeuralNetworksCompilation_finish(t->compilation);
	if (step >= EXECUTION)
		set_up_execution(t, step);
	if (step >= DESC) {
		ANeuralNetworksMemoryDesc_create(&t->desc);
		ANeuralNetworksMemoryDesc_addInputRole(t->desc, t->compilation, 0, 1.0f);
		ANeuralNetworksMemoryDesc_finish(t->desc);
	}
}

static void tear_down(struct things *t)
{
	ANeuralNetworksEvent_free(t->event);
	ANeuralNetworksExecution_free(t->execution);
	ANeuralNetworksBurst_free(t->burst);
	ANeuralNetworksMemory_free(t->made);
	ANeuralNetworksMemory_free(t->memory);
	ANeuralNetworksMemoryDesc_free(t->desc);
	ANeuralNetworksCompilation_free(t->compilation);
	ANeuralNetworksModel_free(t->model);
	ANeuralNetworksModel_free(t->sub);
	AHardwareBuffer_release(t->buffer);
	close(t->fd);
	close(t->fence[0]);
	close(t->fence[1]);
}

/* ---- the calls ---- */

static const ANeuralNetworksOperandType model_type = { .type = ANEURALNETWORKS_MODEL };

static int count_devices(struct things *t)
{
	uint32_t count;

	(void)t;
	return ANeuralNetworks_getDeviceCount(&count);
}

static int create_model(struct things *t)
{
	return ANeuralNetworksModel_create(&t->model);
}

static int add_operand(struct things *t)
{
	return ANeuralNetworksModel_addOperand(t->model, &floats);
}

static int add_operation(struct things *t)
{
	return ANeuralNetworksModel_addOperation(t->model, ANEURALNETWORKS_ADD, 3, add_inputs, 1,
						 add_output);
}

static int set_value(struct things *t)
{
	return ANeuralNetworksModel_setOperandValue(t->model, 0, b, 16);
}

static int set_value_from_memory(struct things *t)
{
	return ANeuralNetworksModel_setOperandValueFromMemory(t->model, 0, t->memory, 0, 16);
}

static int set_value_from_model(struct things *t)
{
	int result = ANeuralNetworksModel_addOperand(t->model, &model_type);

	return result ? result : ANeuralNetworksModel_setOperandValueFromModel(t->model, 4, t->sub);
}

/* Above 128 bytes it is memory of the program. */
static int set_large_value(struct things *t)
{
	static const uint32_t dims[1] = { 64 };
	ANeuralNetworksOperandType large = floats;
	int result;

	large.dimensions = dims;
	result = ANeuralNetworksModel_addOperand(t->model, &large);
	return result ? result : ANeuralNetworksModel_setOperandValue(t->model, 4, a, sizeof(a));
}

static const float scales[4] = { 1, 1, 1, 1 };
static const ANeuralNetworksSymmPerChannelQuantParams params = { 0, 4, scales };

static int set_channels(struct things *t)
{
	ANeuralNetworksOperandType type = floats;
	int result;

	type.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	result = ANeuralNetworksModel_addOperand(t->model, &type);
	return result ? result :
	       ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(t->model, 4, &params);
}

static int get_extension_type(struct things *t)
{
	int32_t type;

	return ANeuralNetworksModel_getExtensionOperandType(t->model, "org.nnpu.tflite", 0, &type);
}

static int set_extension_data(struct things *t)
{
	ANeuralNetworksOperandType type = floats;

	int result;

	result = ANeuralNetworksModel_getExtensionOperandType(t->model, "org.nnpu.tflite", 0,
							      &type.type);
	if (!result)
		result = ANeuralNetworksModel_addOperand(t->model, &type);
	return result ? result :
	       ANeuralNetworksModel_setOperandExtensionData(t->model, 4, b, 4);
}

static int identify(struct things *t)
{
	return ANeuralNetworksModel_identifyInputsAndOutputs(t->model, 2, add_inputs, 1,
							     add_output);
}

static int finish_model(struct things *t)
{
	return ANeuralNetworksModel_finish(t->model);
}

static int get_supported(struct things *t)
{
	const ANeuralNetworksDevice *device = reference_device();
	bool supported[1];

	return ANeuralNetworksModel_getSupportedOperationsForDevices(t->model, &device, 1,
								     supported);
}

static int create_compilation(struct things *t)
{
	return ANeuralNetworksCompilation_create(t->model, &t->compilation);
}

static int create_compilation_for_devices(struct things *t)
{
	const ANeuralNetworksDevice *device = reference_device();

	return ANeuralNetworksCompilation_createForDevices(t->model, &device, 1, &t->compilation);
}

static int set_caching(struct things *t)
{
	static const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];

	return ANeuralNetworksCompilation_setCaching(t->compilation, "/nowhere", token);
}

static int finish_compilation(struct things *t)
{
	return ANeuralNetworksCompilation_finish(t->compilation);
}

/* With the devices that there are. A model that no device takes would be finished as well. */
static int finish_any(struct things *t)
{
	int result = ANeuralNetworksCompilation_create(t->model, &t->compilation);

	if (!result)
		result = ANeuralNetworksCompilation_finish(t->compilation);
	return result || t->compilation->prepared || t->compilation->plan ? result : OP;
}

/* What devices support they do not say without memory, and the HAL no more than GENERAL_FAILURE. */
static int finish_cut(struct things *t)
{
	int result = ANeuralNetworksCompilation_createForDevices(t->model, cut_devices, 2,
								 &t->compilation);

	if (!result)
		result = ANeuralNetworksCompilation_finish(t->compilation);
	return result == OP ? ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT : result;
}

/* A condition that is a constant, branches with constants of their own, and one in memory. */
static int finish_if(struct things *t)
{
	static const uint32_t one[1] = { 1 }, inputs[5] = { 0, 1, 2, 3, 4 }, output[1] = { 5 };
	ANeuralNetworksOperandType condition = floats;
	const bool yes = true;
	int result = ANeuralNetworksModel_create(&t->model);

	condition.type = ANEURALNETWORKS_TENSOR_BOOL8;
	condition.dimensions = one;
	if (!result)
		result = ANeuralNetworksModel_addOperand(t->model, &condition);
	for (uint32_t i = 1; !result && i < 6; i++)
		result = ANeuralNetworksModel_addOperand(t->model, i < 3 ? &model_type : &floats);
	if (!result)
		result = ANeuralNetworksModel_setOperandValue(t->model, 0, &yes, sizeof(yes));
	for (int32_t i = 1; !result && i < 3; i++)
		result = ANeuralNetworksModel_setOperandValueFromModel(t->model, i, t->sub);
	if (!result)
		result = ANeuralNetworksModel_setOperandValueFromMemory(t->model, 4, t->memory, 0, 16);
	if (!result)
		result = ANeuralNetworksModel_addOperation(t->model, ANEURALNETWORKS_IF, 5, inputs, 1,
							   output);
	if (!result)
		result = ANeuralNetworksModel_identifyInputsAndOutputs(t->model, 1, &inputs[3], 1,
								       output);
	return result ? result : ANeuralNetworksModel_finish(t->model);
}

static int create_execution(struct things *t)
{
	return ANeuralNetworksExecution_create(t->compilation, &t->execution);
}

static int create_burst(struct things *t)
{
	return ANeuralNetworksBurst_create(t->compilation, &t->burst);
}

static int compute(struct things *t)
{
	return ANeuralNetworksExecution_compute(t->execution);
}

static int compute_burst(struct things *t)
{
	return ANeuralNetworksExecution_burstCompute(t->execution, t->burst);
}

static int start(struct things *t)
{
	int result = ANeuralNetworksExecution_startCompute(t->execution, &t->event);

	return result ? result : ANeuralNetworksEvent_wait(t->event);
}

static int start_fenced(struct things *t)
{
	int result = ANeuralNetworksExecution_startComputeWithDependencies(t->execution, NULL, 0, 0,
									   &t->event);

	return result ? result : ANeuralNetworksEvent_wait(t->event);
}

static int create_from_fd(struct things *t)
{
	return ANeuralNetworksMemory_createFromFd(64, PROT_READ, t->fd, 0, &t->made);
}

static int create_from_buffer(struct things *t)
{
	return ANeuralNetworksMemory_createFromAHardwareBuffer(t->buffer, &t->made);
}

static int create_desc(struct things *t)
{
	return ANeuralNetworksMemoryDesc_create(&t->desc);
}

static int add_role(struct things *t)
{
	int result = t->desc ? 0 : ANeuralNetworksMemoryDesc_create(&t->desc);

	return result ? result :
	       ANeuralNetworksMemoryDesc_addInputRole(t->desc, t->compilation, 0, 1.0f);
}

/* Of memory of a device that cannot be had the HAL says no more than GENERAL_FAILURE. */
static int with_device_memory(int result)
{
	return result == OP ? ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT : result;
}

static int create_from_desc(struct things *t)
{
	return with_device_memory(ANeuralNetworksMemory_createFromDesc(t->desc, &t->made));
}

/* Values between steps are in such memory. */
static int compute_steps(struct things *t)
{
	return with_device_memory(compute(t));
}

static int compute_steps_burst(struct things *t)
{
	return with_device_memory(compute_burst(t));
}

static int start_steps(struct things *t)
{
	return with_device_memory(start(t));
}

static int start_steps_fenced(struct things *t)
{
	return with_device_memory(start_fenced(t));
}

/* The output of a model in steps to memory of a descriptor, which the devices share. */
static int compute_to_shared(struct things *t)
{
	int result = ANeuralNetworksMemoryDesc_create(&t->desc);

	if (!result)
		result = ANeuralNetworksMemoryDesc_addOutputRole(t->desc, t->compilation, 0, 1.0f);
	if (!result)
		result = ANeuralNetworksMemoryDesc_finish(t->desc);
	if (!result)
		result = ANeuralNetworksMemory_createFromDesc(t->desc, &t->made);
	if (!result)
		result = ANeuralNetworksExecution_create(t->compilation, &t->execution);
	if (!result)
		result = ANeuralNetworksExecution_setInput(t->execution, 0, NULL, a, 16);
	if (!result)
		result = ANeuralNetworksExecution_setInput(t->execution, 1, NULL, b, 16);
	if (!result)
		result = ANeuralNetworksExecution_setOutputFromMemory(t->execution, 0, NULL, t->made,
								      0, 0);
	return result ? result : compute_steps(t);
}

static int create_event(struct things *t)
{
	return ANeuralNetworksEvent_createFromSyncFenceFd(t->fence[0], &t->event);
}

struct call {
	const char *name;
	enum step step;
	int (*call)(struct things *t);
};

static const struct call calls[] = {
	{ "Model_create", NOTHING, create_model },
	{ "Model_addOperand", OPERANDS, add_operand },
	{ "Model_addOperation", OPERANDS, add_operation },
	{ "Model_setOperandValue", OPERANDS, set_value },
	{ "Model_setOperandValueFromMemory", OPERANDS, set_value_from_memory },
	{ "Model_getExtensionOperandType", OPERANDS, get_extension_type },
	{ "Model_identifyInputsAndOutputs", OPERATION, identify },
	{ "Model_getSupportedOperationsForDevices", MODEL, get_supported },
	{ "Compilation_create", MODEL, create_compilation },
	{ "Compilation_createForDevices", MODEL, create_compilation_for_devices },
	{ "Compilation_setCaching", COMPILATION, set_caching },
	{ "Execution_create", COMPILED, create_execution },
	{ "Burst_create", COMPILED, create_burst },
	{ "Memory_createFromFd", NOTHING, create_from_fd },
	{ "Memory_createFromAHardwareBuffer", NOTHING, create_from_buffer },
	{ "MemoryDesc_create", NOTHING, create_desc },
	{ "MemoryDesc_addInputRole", COMPILED, add_role },
	{ "Memory_createFromDesc", DESC, create_from_desc },
	{ "Event_createFromSyncFenceFd", NOTHING, create_event },
	{ "Burst_create of steps", CUT, create_burst },
};

/* These change their objects also where they fail. */
static const struct call final_calls[] = {
	{ "Model_setOperandValueFromModel", OPERANDS, set_value_from_model },
	{ "Model_setOperandValue, large", OPERANDS, set_large_value },
	{ "Model_setOperandSymmPerChannelQuantParams", OPERANDS, set_channels },
	{ "Model_setOperandExtensionData", OPERANDS, set_extension_data },
	{ "Model_finish", GRAPH, finish_model },
	{ "Model_finish, IF", NOTHING, finish_if },
	{ "Compilation_finish", COMPILATION, finish_compilation },
	{ "Compilation_finish, any device", MODEL, finish_any },
	{ "Compilation_finish, two devices", CUT_MODEL, finish_cut },
	{ "Execution_compute", EXECUTION, compute },
	{ "Execution_burstCompute", EXECUTION, compute_burst },
	{ "Execution_startCompute", EXECUTION, start },
	{ "Execution_startComputeWithDependencies", EXECUTION, start_fenced },
	{ "Execution_compute again", ENDED, compute },
	{ "Execution_compute, steps", CUT_EXECUTION, compute_steps },
	{ "Execution_compute, memory that devices share", CUT, compute_to_shared },
	{ "Execution_burstCompute, steps", CUT_EXECUTION, compute_steps_burst },
	{ "Execution_startCompute, steps", CUT_EXECUTION, start_steps },
	{ "Execution_startComputeWithDependencies, steps", CUT_EXECUTION,
	  start_steps_fenced },
};

static bool says_no_memory(int result)
{
	return result == ANEURALNETWORKS_OUT_OF_MEMORY ||
	       result == ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* Failures that calls were told of, of all calls. */
static unsigned int told;

static void test_call(const struct call *c, bool again)
{
	unsigned int n, wrong = 0, refused = 0, spoilt = 0;
	struct things t;
	int result = 0;

	for (n = 1; ; n++) {
		set_up(&t, c->step);
		alloc_failed = false;
		alloc_countdown = n;
		result = c->call(&t);
		alloc_countdown = 0;
		/* Some can do without, as a cache can. */
		refused += result != 0;
		if (alloc_failed && result && !says_no_memory(result)) {
			printf("# %s: without allocation %u: result %d\n", c->name, n, result);
			wrong++;
		}
		if (alloc_failed && result && again) {
			result = c->call(&t);
			if (result)
				printf("# %s: after failure %u: result %d\n", c->name, n, result);
			spoilt += result != 0;
		}
		tear_down(&t);
		if (!alloc_failed)
			break;
	}
	told += refused;
	ok(!wrong && !spoilt && !result && (refused || n == 1),
	   "%s: %u allocations, %u of them needed, results as they should be", c->name, n - 1,
	   refused);
}

/* The list of devices appears on first use. */
static void test_first_use(void)
{
	unsigned int n, wrong = 0;
	struct things t = { 0 };
	int result;

	for (n = 1; ; n++) {
		alloc_failed = false;
		alloc_countdown = n;
		result = count_devices(&t);
		alloc_countdown = 0;
		wrong += result && !says_no_memory(result);
		if (!alloc_failed)
			break;
	}
	ok(!wrong && !result, "the first list of devices: %u allocations", n - 1);
	reference_device();
}

/* A device that is opened by the first call that needs it. */
static void test_open(void)
{
	const ANeuralNetworksDevice *device = ndk_device_add("opened late", "sim");
	ANeuralNetworksModel *model = add_model();
	unsigned int n, wrong = 0, refused = 0;
	bool supported[1];
	int result;

	ANeuralNetworksModel_finish(model);
	for (n = 1; ; n++) {
		alloc_failed = false;
		text_countdown = n;
		result = ANeuralNetworksModel_getSupportedOperationsForDevices(model, &device, 1,
									       supported);
		text_countdown = 0;
		refused += result == ANEURALNETWORKS_OUT_OF_MEMORY;
		wrong += alloc_failed != (result == ANEURALNETWORKS_OUT_OF_MEMORY);
		if (!alloc_failed)
			break;
	}
	ok(!wrong && !result && refused, "a device that is opened late: %u texts", n - 1);
	ANeuralNetworksModel_free(model);
}

int main(void)
{
	test_first_use();
	test_open();
	add_cut_devices(cut_devices, "");
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		test_call(&calls[i], true);
	for (unsigned int i = 0; i < sizeof(final_calls) / sizeof(final_calls[0]); i++)
		test_call(&final_calls[i], false);
	/* A single call may need none. */
	ok(told, "allocations failed: %u", told);
	return tap_done();
}
