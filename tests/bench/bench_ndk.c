// SPDX-License-Identifier: MIT
/*
 * What the C API of the NNAPI costs above libnnhal: the instructions of an execution in a burst, and the
 * time of compute() beside that of a synchronous execution. Both do one ADD of one float, with
 * arguments in shared memory.
 *
 *   bench_ndk [--device SPEC] [--json FILE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <android/NeuralNetworks.h>

#include "userspace/tools/common/clock.h"
#include "userspace/tools/nnbench/nnbench.h"
#include "userspace/tools/nnbench/nnbench_steps.h"

#define WARM_UP		300
#define ROUNDS		21
#define EXECUTIONS	500

/* The same model and memory, through the NNAPI. */
struct ndk {
	ANeuralNetworksModel *model;
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksMemory *memory;
	ANeuralNetworksBurst *burst;
};

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_ndk: %s failed\n", what);
	exit(1);
}

/* The NNAPI's device of a specification of libnnhal's. */
static ANeuralNetworksDevice *find_device(const char *spec)
{
	bool in_process = !strncmp(spec, "sim", 3);
	ANeuralNetworksDevice *device;
	const char *name;

	for (uint32_t i = 0; !ANeuralNetworks_getDevice(i, &device); i++)
		if (!ANeuralNetworksDevice_getName(device, &name) &&
		    in_process == !strcmp(name, "nnapi-reference"))
			return device;
	must(false, "a device of the NNAPI");
	return NULL;
}

static void make_model(struct ndk *n)
{
	static const uint32_t one[1] = { 1 }, inputs[3] = { 0, 1, 2 }, outputs[1] = { 3 };
	const ANeuralNetworksOperandType type = {
		.type = ANEURALNETWORKS_TENSOR_FLOAT32, .dimensionCount = 1, .dimensions = one,
	};
	const ANeuralNetworksOperandType number = { .type = ANEURALNETWORKS_INT32 };
	const int32_t activation = ANEURALNETWORKS_FUSED_NONE;

	must(!ANeuralNetworksModel_create(&n->model) &&
	     !ANeuralNetworksModel_addOperand(n->model, &type) &&
	     !ANeuralNetworksModel_addOperand(n->model, &type) &&
	     !ANeuralNetworksModel_addOperand(n->model, &number) &&
	     !ANeuralNetworksModel_addOperand(n->model, &type) &&
	     !ANeuralNetworksModel_setOperandValue(n->model, 2, &activation,
						   sizeof(activation)) &&
	     !ANeuralNetworksModel_addOperation(n->model, ANEURALNETWORKS_ADD, 3, inputs, 1,
						outputs) &&
	     !ANeuralNetworksModel_identifyInputsAndOutputs(n->model, 2, inputs, 1, outputs) &&
	     !ANeuralNetworksModel_finish(n->model), "a model");
}

static void ndk_init(struct ndk *n, const struct bench *b)
{
	const ANeuralNetworksDevice *device = find_device(b->device_spec);

	make_model(n);
	must(!ANeuralNetworksCompilation_createForDevices(n->model, &device, 1, &n->compilation) &&
	     !ANeuralNetworksCompilation_finish(n->compilation) &&
	     !ANeuralNetworksMemory_createFromFd(4096, 3, nnhal_memory_fd(b->memory), 0,
						 &n->memory) &&
	     !ANeuralNetworksBurst_create(n->compilation, &n->burst), "a compilation");
}

static void ndk_free(struct ndk *n)
{
	ANeuralNetworksBurst_free(n->burst);
	ANeuralNetworksMemory_free(n->memory);
	ANeuralNetworksCompilation_free(n->compilation);
	ANeuralNetworksModel_free(n->model);
}

/* As request_init() has the places. */
static ANeuralNetworksExecution *make_execution(const struct ndk *n, bool reusable)
{
	ANeuralNetworksExecution *e;

	must(!ANeuralNetworksExecution_create(n->compilation, &e) &&
	     (!reusable || !ANeuralNetworksExecution_setReusable(e, true)) &&
	     !ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, n->memory, 0, 4) &&
	     !ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, n->memory, 64, 4) &&
	     !ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, n->memory, 128, 4),
	     "an execution");
	return e;
}

/* ---- instructions ---- */

enum ndk_way {
	WAY_NNHAL,
	WAY_NDK,		/* a new execution each time, which is not counted itself */
	WAY_NDK_REUSED,
	WAY_NDK_LIFE,		/* a new execution, from its creation to its end */
	NUM_WAYS,
};

struct child {
	const char *device;
	enum ndk_way way;
};

static __attribute__((noinline)) int live(const struct ndk *n)
{
	ANeuralNetworksExecution *e = make_execution(n, false);
	int result = ANeuralNetworksExecution_burstCompute(e, n->burst);

	ANeuralNetworksExecution_free(e);
	return result;
}

/* One call, and before it whatever is not counted. */
static int call(struct ndk *n, enum ndk_way way, struct nnhal_burst *burst, struct add_request *r,
		ANeuralNetworksExecution *reused, bool counted)
{
	ANeuralNetworksExecution *e = reused;
	int result;

	if (way == WAY_NDK)
		e = make_execution(n, false);
	if (counted)
		steps_next();
	if (way == WAY_NNHAL)
		return (int)nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL);
	if (way == WAY_NDK_LIFE)
		return live(n);
	result = ANeuralNetworksExecution_burstCompute(e, n->burst);
	if (way == WAY_NDK)
		ANeuralNetworksExecution_free(e);
	return result;
}

/* The child process. */
static void execute(void *context)
{
	const struct child *child = context;
	struct bench b = { .device_spec = child->device };
	ANeuralNetworksExecution *reused;
	struct nnhal_burst *burst;
	struct add_request r;
	struct ndk n;

	must(!prepare(&b), "libnnhal's model");
	ndk_init(&n, &b);
	request_init(&b, &r, 0);
	burst = open_burst(&b, 1, 1000000, 0);
	must(burst, "a burst");
	reused = make_execution(&n, true);
	for (int i = 0; i < WARM_UP + STEPS_CALLS; i++) {
		b.data[32] = 0;
		must(!call(&n, child->way, burst, &r, reused, i >= WARM_UP) && b.data[32] == 3,
		     "an execution");
	}
	ANeuralNetworksExecution_free(reused);
	nnhal_burst_unref(burst);
	ndk_free(&n);
	unprepare(&b);
}

static uint64_t count(const char *device, enum ndk_way way)
{
	const uintptr_t entries[NUM_WAYS] = {
		[WAY_NNHAL] = (uintptr_t)nnhal_burst_execute,
		[WAY_NDK] = (uintptr_t)ANeuralNetworksExecution_burstCompute,
		[WAY_NDK_REUSED] = (uintptr_t)ANeuralNetworksExecution_burstCompute,
		[WAY_NDK_LIFE] = (uintptr_t)live,
	};
	struct child child = { device, way };
	struct steps *steps = calloc(1, sizeof(*steps));
	uint64_t instructions;

	must(steps && !steps_count(execute, &child, entries[way], steps), "counting instructions");
	instructions = steps->smallest;
	free(steps);
	return instructions;
}

/* ---- times ---- */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

/* Nanoseconds of one execution, in turns, so that what else the machine does meets all of them. */
static void measure(const char *device, double ns[3])
{
	double rounds[3][ROUNDS];
	struct bench b = { .device_spec = device };
	ANeuralNetworksExecution *reused;
	struct add_request r;
	struct ndk n;

	must(!prepare(&b), "libnnhal's model");
	ndk_init(&n, &b);
	request_init(&b, &r, 0);
	reused = make_execution(&n, true);
	for (unsigned int i = 0; i < 3 * ROUNDS; i++) {
		uint64_t start = now_ns();

		for (unsigned int k = 0; k < EXECUTIONS; k++) {
			ANeuralNetworksExecution *e = reused;
			bool good;

			if (i % 3 == WAY_NNHAL) {
				good = !nnhal_prepared_model_execute_synchronously(
					b.model, &r.request, NULL, NULL, NULL, NULL);
			} else {
				if (i % 3 == WAY_NDK)
					e = make_execution(&n, false);
				good = !ANeuralNetworksExecution_compute(e);
				if (i % 3 == WAY_NDK)
					ANeuralNetworksExecution_free(e);
			}
			must(good && b.data[32] == 3, "an execution");
		}
		rounds[i % 3][i / 3] = (double)(now_ns() - start) / EXECUTIONS;
	}
	for (unsigned int i = 0; i < 3; i++)
		ns[i] = median(rounds[i]);
	ANeuralNetworksExecution_free(reused);
	ndk_free(&n);
	unprepare(&b);
}

int main(int argc, char **argv)
{
	const char *device = "sim", *json = NULL;
	uint64_t counts[NUM_WAYS];
	double ns[3];
	FILE *f;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--device"))
			device = argv[i + 1];
		else if (!strcmp(argv[i], "--json"))
			json = argv[i + 1];
	}
	for (enum ndk_way way = WAY_NNHAL; way < NUM_WAYS; way++)
		counts[way] = count(device, way);
	measure(device, ns);
	printf("instructions in a burst: libnnhal %llu, NNAPI %llu, made and freed as well %llu, reusable %llu\n",
	       (unsigned long long)counts[WAY_NNHAL], (unsigned long long)counts[WAY_NDK],
	       (unsigned long long)counts[WAY_NDK_LIFE],
	       (unsigned long long)counts[WAY_NDK_REUSED]);
	printf("execution, ns: libnnhal %.0f, compute() of a reusable one %.0f, of a new one %.0f\n",
	       ns[WAY_NNHAL], ns[WAY_NDK_REUSED], ns[WAY_NDK]);
	f = fopen(json ? json : "/dev/null", "w");
	must(f, "the JSON file");
	fprintf(f, "{ \"nnhal_burst_instructions\": %llu, \"burst_instructions\": %llu, "
		"\"reused_burst_instructions\": %llu, \"life_instructions\": %llu, "
		"\"nnhal_execute_ns\": %.1f, "
		"\"compute_ns\": %.1f, \"new_compute_ns\": %.1f }\n",
		(unsigned long long)counts[WAY_NNHAL], (unsigned long long)counts[WAY_NDK],
		(unsigned long long)counts[WAY_NDK_REUSED],
		(unsigned long long)counts[WAY_NDK_LIFE], ns[WAY_NNHAL], ns[WAY_NDK_REUSED],
		ns[WAY_NDK]);
	must(!(ferror(f) | fclose(f)), "writing the JSON file");
	return 0;
}
