// SPDX-License-Identifier: MIT
/*
 * Models that no device takes whole: where they are cut, and that the steps compute in all ways what the whole
 * would.
 */
#include <dirent.h>
#include <nnhal/fence.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndk_cut.h"

static const uint32_t last[1] = { OUT }, sum_too[2] = { OUT, SUM };
static const ANeuralNetworksDevice *devices[2];

static void test_supported(void)
{
	/* In the order in which they were added: SUB, MUL, RELU, ADD. */
	static const bool adds[4] = { true, false, true, true }, all[4] = { true, true, true, true };
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	bool supported[4];

	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, devices, 1, supported), NONE,
	   "ask the device without MUL");
	ok(!memcmp(supported, adds, sizeof(adds)), "it has all but MUL");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, devices, 2, supported), NONE,
	   "ask both");
	ok(!memcmp(supported, all, sizeof(all)), "together they have all");
	ANeuralNetworksCompilation_free(compiled_for(m, &devices[0], 1, DATA));
	ANeuralNetworksCompilation_free(compiled_for(m, &devices[1], 1, DATA));
	ANeuralNetworksModel_free(m);
}

static void test_plan(void)
{
	const ANeuralNetworksDevice *reference[3] = { reference_device(), devices[0], devices[1] };
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, NONE);
	const struct ndk_plan *p = c->plan;

	ok(p && !c->prepared && p->num_steps == 3, "three steps");
	ok(p && p->steps[0].device == devices[0] && p->steps[1].device == devices[1] &&
	   p->steps[2].device == devices[0], "the MUL is with the device that has it");
	/* Between steps: the sum, the product, and what RELU gives, which stays on its device. */
	ok(p && p->num_values == 6 && p->values[3].on_device + p->values[4].on_device +
	   p->values[5].on_device == 1, "one of three values stays on a device");
	ANeuralNetworksCompilation_free(c);
	c = compiled_for(m, &reference[0], 2, NONE);
	ok(c->plan && c->plan->num_steps == 3 && c->plan->steps[1].device == reference[0],
	   "nnapi-reference has only what the other one lacks, though it comes first");
	ANeuralNetworksCompilation_free(c);
	c = NULL;
	ANeuralNetworksCompilation_create(m, &c);
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish without a list");
	ok(c->plan && c->plan->num_steps == 3 && c->plan->steps[1].device == devices[1],
	   "hardware is preferred where no device was chosen");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* Operations in a row, each with what the one before wrote; 1 and 2 are of other devices. */
static void test_turns(void)
{
	static const uint32_t owners[6] = { 0, 1, 0, 1, 0, 1 };
	uint32_t inputs[6] = { 0, 0, 1, 2, 3, 4 }, outputs[6] = { 1, 2, 3, 4, 5, 6 };
	struct nnhal_operation ops[6] = { 0 };
	struct nnhal_subgraph main = { .num_operands = 7, .num_operations = 6, .operations = ops };
	uint32_t step_of[6], count, i;

	for (i = 0; i < 6; i++)
		ops[i] = (struct nnhal_operation){ .num_inputs = 1, .inputs = &inputs[i],
						   .num_outputs = 1, .outputs = &outputs[i] };
	/* Two chains, 0 2 4 of device 0 and 1 3 5 of device 1: no more than two steps. */
	count = ndk_cut(&main, owners, 2, step_of);
	ok(count == 2 && step_of[0] == step_of[4] && step_of[1] == step_of[5] &&
	   step_of[0] != step_of[1], "independent chains take a step each: %u", count);
	/* One chain, and an operation of device 1 that must not begin it. */
	inputs[1] = 1;
	inputs[2] = 2;
	inputs[3] = 0;
	inputs[4] = 3;
	inputs[5] = 5;
	count = ndk_cut(&main, owners, 2, step_of);
	ok(count == 4 && step_of[3] == step_of[1], "an operation that can wait does: %u steps",
	   count);
}

static void run_compute(ANeuralNetworksCompilation *c, const char *what)
{
	ANeuralNetworksEvent *event = NULL;
	ANeuralNetworksBurst *burst = NULL;
	ANeuralNetworksExecution *e;
	uint32_t rank = 0, way;
	float out[4];
	int result;

	ANeuralNetworksBurst_create(c, &burst);
	for (way = 0; way < 4; way++) {
		e = cut_execution(c, out);
		ANeuralNetworksExecution_setReusable(e, true);
		for (int again = 0; again < 2; again++) {
			memset(out, 0, sizeof(out));
			if (way == 0)
				result = ANeuralNetworksExecution_compute(e);
			else if (way == 1)
				result = ANeuralNetworksExecution_startCompute(e, &event);
			else if (way == 2)
				result = ANeuralNetworksExecution_burstCompute(e, burst);
			else
				result = ANeuralNetworksExecution_startComputeWithDependencies(
					e, NULL, 0, 0, &event);
			if (!result && event)
				result = ANeuralNetworksEvent_wait(event);
			ANeuralNetworksEvent_free(event);
			event = NULL;
			ok(!result && is_cut_result(out), "%s, way %u, time %d: result %d", what,
			   way, again + 1, result);
			is(ANeuralNetworksExecution_getOutputOperandRank(e, 0, &rank), NONE,
			   "rank of the output");
			ok(rank == 1, "it is 1");
		}
		ANeuralNetworksExecution_free(e);
	}
	ANeuralNetworksBurst_free(burst);
}

static void test_ways(void)
{
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, NONE), *any = NULL;
	ANeuralNetworksExecution *e;
	ANeuralNetworksEvent *event = NULL, *second = NULL;
	const ANeuralNetworksEvent *dependency;
	float out[4], other[4];
	uint64_t duration = 0;

	run_compute(c, "two devices");
	ANeuralNetworksCompilation_create(m, &any);
	ANeuralNetworksCompilation_finish(any);
	run_compute(any, "no list");
	ANeuralNetworksCompilation_free(any);
	/* The execution is gone before its steps have ended. */
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_startCompute(e, &event), NONE, "start");
	ANeuralNetworksExecution_free(e);
	is(ANeuralNetworksEvent_wait(event), NONE, "wait after the execution is gone");
	ok(is_cut_result(out), "it has computed");
	ANeuralNetworksEvent_free(event);
	/* One behind the other. */
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &event), NONE,
	   "the first of two");
	ANeuralNetworksExecution_free(e);
	e = cut_execution(c, other);
	dependency = event;
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, &dependency, 1, 0, &second),
	   NONE, "the second of two");
	is(ANeuralNetworksEvent_wait(second), NONE, "wait for the second");
	ok(is_cut_result(out) && is_cut_result(other), "both have computed");
	ANeuralNetworksEvent_free(event);
	ANeuralNetworksEvent_free(second);
	ANeuralNetworksExecution_free(e);
	/* What needs one device. */
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_setMeasureTiming(e, true), DATA, "times");
	is(ANeuralNetworksExecution_setTimeout(e, 1), DATA, "a timeout");
	is(ANeuralNetworksExecution_setLoopTimeout(e, 1000000), NONE, "a timeout of loops");
	is(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 1, &event), DATA,
	   "a duration");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	is(ANeuralNetworksExecution_getDuration(e, 0, &duration), NONE, "duration");
	ok(duration == UINT64_MAX, "it is not known");
	ANeuralNetworksExecution_free(e);
	e = NULL;
	ANeuralNetworksExecution_create(c, &e);
	is(ANeuralNetworksExecution_compute(e), DATA, "compute without arguments");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* A step reads what another one writes to an output of the model. */
static void test_outputs(void)
{
	ANeuralNetworksModel *m = cut_model(&floats, sum_too, 2);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, NONE);
	ANeuralNetworksExecution *e;
	ANeuralNetworksMemory *memory = NULL;
	float out[4], sum[4] = { 0 }, *mapped;
	int fd;

	e = cut_execution(c, out);
	ANeuralNetworksExecution_setOutput(e, 1, NULL, sum, sizeof(sum));
	is(ANeuralNetworksExecution_compute(e), NONE, "with the sum as an output");
	ok(is_cut_result(out) && sum[0] == 11 && sum[3] == 44, "both outputs");
	ANeuralNetworksExecution_free(e);
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_setOutput(e, 1, NULL, NULL, 0), NONE, "omit the sum");
	is(ANeuralNetworksExecution_compute(e), NONE, "compute without it");
	ok(is_cut_result(out), "the other output has its value");
	ANeuralNetworksExecution_free(e);
	fd = memfd_create("sum", MFD_CLOEXEC);
	mapped = ftruncate(fd, 4096) ? MAP_FAILED :
		 mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	ANeuralNetworksMemory_createFromFd(4096, PROT_READ | PROT_WRITE, fd, 0, &memory);
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_setOutputFromMemory(e, 1, NULL, memory, 20, 16), NONE,
	   "the sum to memory");
	ANeuralNetworksMemory_free(memory);
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(is_cut_result(out) && mapped != MAP_FAILED && mapped[5] == 11 && mapped[8] == 44,
	   "both outputs, one in memory");
	ANeuralNetworksExecution_free(e);
	munmap(mapped, 4096);
	close(fd);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* Values of unknown size do not pass between devices: nothing is cut. */
static void test_open_shapes(void)
{
	static const uint32_t unknown[1] = { 0 };
	const ANeuralNetworksOperandType open = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, unknown, 0, 0 };
	const ANeuralNetworksDevice *all[3] = { devices[0], devices[1], reference_device() };
	ANeuralNetworksModel *m = cut_model(&open, last, 1);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, OP);
	ANeuralNetworksExecution *e;
	float out[4];

	is(ANeuralNetworksExecution_create(c, &e), STATE, "the compilation is dead");
	ANeuralNetworksCompilation_free(c);
	c = compiled_for(m, all, 3, NONE);
	ok(!c->plan && c->prepared, "whole by the one of the list that takes it");
	ANeuralNetworksCompilation_free(c);
	c = NULL;
	ANeuralNetworksCompilation_create(m, &c);
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish without a list");
	ok(!c->plan && c->prepared, "whole by nnapi-reference");
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(is_cut_result(out), "the output");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* A product of constants: a step of its own, without an input. */
static void test_constants(void)
{
	static const float values[4] = { 1, 2, 3, 4 };
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	static const uint32_t mul[3] = { 1, 1, 2 }, add[3] = { 0, 3, 2 }, product[1] = { 3 }, out[1] = { 4 };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	for (uint32_t i = 0; i < 5; i++)
		ANeuralNetworksModel_addOperand(m, i == 2 ? &int_scalar : &floats);
	ANeuralNetworksModel_setOperandValue(m, 1, values, sizeof(values));
	ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof(none));
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, 3, mul, 1, product);
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add, 1, out);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, add, 1, out);
	is(ANeuralNetworksModel_finish(m), NONE, "a product of constants");
	ANeuralNetworksCompilation_free(compiled_for(m, devices, 2, OP));
	ANeuralNetworksModel_free(m);
}

/* Operations of two devices in turn, @count of them. */
static ANeuralNetworksModel *chain(uint32_t count)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	ANeuralNetworksModel *m = NULL;
	uint32_t inputs[3] = { 0, 0, 1 }, output = 2, i;

	ANeuralNetworksModel_create(&m);
	for (i = 0; i < count + 2; i++)
		ANeuralNetworksModel_addOperand(m, i == 1 ? &int_scalar : &floats);
	ANeuralNetworksModel_setOperandValue(m, 1, &none, sizeof(none));
	for (i = 0; i < count; i++) {
		ANeuralNetworksModel_addOperation(m, i & 1 ? ANEURALNETWORKS_MUL : ANEURALNETWORKS_ADD,
						  3, inputs, 1, &output);
		inputs[0] = inputs[1] = output++;
	}
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &(uint32_t){ 0 }, 1, inputs);
	is(ANeuralNetworksModel_finish(m), NONE, "a chain");
	return m;
}

/* A model that would take more steps than are worth it; one as long is cut. */
static void test_chains(void)
{
	ANeuralNetworksModel *m = chain(NDK_MAX_STEPS + 1);
	ANeuralNetworksCompilation *c;

	ANeuralNetworksCompilation_free(compiled_for(m, devices, 2, OP));
	ANeuralNetworksModel_free(m);
	m = chain(NDK_MAX_STEPS);
	c = compiled_for(m, devices, 2, NONE);
	ok(c->plan && c->plan->num_steps == NDK_MAX_STEPS, "as many steps as there can be");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

static const uint32_t one[1] = { 1 };
static const ANeuralNetworksOperandType truth = { ANEURALNETWORKS_TENSOR_BOOL8, 1, one, 0, 0 };
static const ANeuralNetworksOperandType count_type = { ANEURALNETWORKS_TENSOR_INT32, 1, one, 0, 0 };
static const ANeuralNetworksOperandType subgraph = { ANEURALNETWORKS_MODEL, 0, NULL, 0, 0 };

/* Inputs are a count and a vector: is the count below 2, or both for the next time, the vector doubled. */
static ANeuralNetworksModel *loop_part(bool body)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE, two = 2, step = 1;
	static const uint32_t inputs[2] = { 0, 1 }, less[2] = { 0, 2 }, add[3] = { 0, 2, 3 };
	static const uint32_t twice[3] = { 1, 1, 3 }, outputs[2] = { 4, 5 };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &count_type);
	ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_addOperand(m, &count_type);
	ANeuralNetworksModel_setOperandValue(m, 2, body ? &step : &two, sizeof(two));
	if (body) {
		ANeuralNetworksModel_addOperand(m, &int_scalar);
		ANeuralNetworksModel_setOperandValue(m, 3, &none, sizeof(none));
		ANeuralNetworksModel_addOperand(m, &count_type);
		ANeuralNetworksModel_addOperand(m, &floats);
		ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add, 1, &outputs[0]);
		ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, twice, 1, &outputs[1]);
		ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, inputs, 2, outputs);
	} else {
		ANeuralNetworksModel_addOperand(m, &truth);
		ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_LESS, 2, less, 1, &add[2]);
		ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, inputs, 1, &add[2]);
	}
	is(ANeuralNetworksModel_finish(m), NONE, body ? "a body" : "a condition");
	return m;
}

/*
 * IF or WHILE of one device, and what it gives times the second input by another. IF: either branch adds both
 * inputs. WHILE: the first one is doubled twice.
 */
static void test_control(bool loop)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE, zero;
	static const bool no;
	/* Inputs; condition or count; two models; activation; value; output; count at the end. */
	static const uint32_t inputs[2] = { 0, 1 }, if_inputs[5] = { 2, 3, 4, 0, 1 };
	static const uint32_t while_inputs[4] = { 3, 4, 2, 0 }, mul[3] = { 6, 1, 5 };
	static const uint32_t while_outputs[2] = { 8, 6 }, out[1] = { 7 };
	ANeuralNetworksModel *m = NULL, *parts[2];
	ANeuralNetworksCompilation *c;
	int i;

	ANeuralNetworksModel_create(&m);
	for (i = 0; i < (loop ? 9 : 8); i++)
		ANeuralNetworksModel_addOperand(m, i == 2 ? loop ? &count_type : &truth :
						   i == 3 || i == 4 ? &subgraph :
						   i == 5 ? &int_scalar : i == 8 ? &count_type :
						   &floats);
	if (loop)
		ANeuralNetworksModel_setOperandValue(m, 2, &zero, sizeof(zero));
	else
		ANeuralNetworksModel_setOperandValue(m, 2, &no, sizeof(no));
	for (i = 0; i < 2; i++) {
		parts[i] = loop ? loop_part(i) : finished_model();
		is(ANeuralNetworksModel_setOperandValueFromModel(m, 3 + i, parts[i]), NONE, "a model");
	}
	ANeuralNetworksModel_setOperandValue(m, 5, &none, sizeof(none));
	is(loop ? ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_WHILE, 4, while_inputs, 2,
						    while_outputs) :
		  ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_IF, 5, if_inputs, 1,
						    &while_outputs[1]), NONE, "the operation");
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, 3, mul, 1, out);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, inputs, 1, out);
	is(ANeuralNetworksModel_finish(m), NONE, loop ? "WHILE" : "IF");
	for (i = 0; i < 2; i++)
		ANeuralNetworksModel_free(parts[i]);
	c = compiled_for(m, devices, 2, NONE);
	ok(c->plan && c->plan->num_steps == 2 && c->plan->steps[0].device == devices[0],
	   "it is whole, on the device without MUL");
	if (c->plan) {
		ANeuralNetworksExecution *e;
		float result[4];

		e = cut_execution(c, result);
		is(ANeuralNetworksExecution_compute(e), NONE, "compute");
		for (i = 0; i < 4; i++)
			ok(result[i] == (loop ? 4 * cut_a[i] : cut_a[i] + cut_b[i]) * cut_b[i],
			   "value %d: %g", i, (double)result[i]);
		ANeuralNetworksExecution_free(e);
	}
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* A step reads an output of the model, and that is in memory that can only be written. */
static void test_write_only(void)
{
	ANeuralNetworksModel *m = cut_model(&floats, sum_too, 2);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, NONE);
	ANeuralNetworksMemory *memory = NULL;
	int fd = memfd_create("sum", MFD_CLOEXEC);
	ANeuralNetworksExecution *e;
	float out[4];

	if (ftruncate(fd, 16)) {
		ok(false, "a file");
		return;
	}
	is(ANeuralNetworksMemory_createFromFd(16, PROT_WRITE, fd, 0, &memory), NONE, "memory to write");
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_setOutputFromMemory(e, 1, NULL, memory, 0, 16), NONE, "the sum");
	is(ANeuralNetworksExecution_compute(e), DATA, "a step cannot read it");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksMemory_free(memory);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
	close(fd);
}

/* No device of the list has the operation. */
static void test_missing(void)
{
	const ANeuralNetworksDevice *list[2] = { devices[0], ndk_device_add("adds too", "sim:refuse=MUL") };
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);

	ANeuralNetworksCompilation_free(compiled_for(m, list, 2, DATA));
	ANeuralNetworksModel_free(m);
}

struct worker {
	ANeuralNetworksCompilation *c;
	bool good;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	ANeuralNetworksBurst *burst = NULL;
	ANeuralNetworksEvent *event;

	w->good = !ANeuralNetworksBurst_create(w->c, &burst);
	for (int i = 0; i < 10; i++) {
		float out[3][4];
		ANeuralNetworksExecution *e[3];

		for (int k = 0; k < 3; k++)
			e[k] = cut_execution(w->c, out[k]);
		w->good &= !ANeuralNetworksExecution_startCompute(e[0], &event);
		w->good &= !ANeuralNetworksExecution_burstCompute(e[1], burst);
		w->good &= !ANeuralNetworksExecution_compute(e[2]);
		w->good &= !ANeuralNetworksEvent_wait(event);
		ANeuralNetworksEvent_free(event);
		for (int k = 0; k < 3; k++) {
			w->good &= is_cut_result(out[k]);
			ANeuralNetworksExecution_free(e[k]);
		}
	}
	ANeuralNetworksBurst_free(burst);
	return NULL;
}

static void test_threads(void)
{
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	ANeuralNetworksCompilation *c = compiled_for(m, devices, 2, NONE);
	struct worker workers[4] = { { c, false }, { c, false }, { c, false }, { c, false } };
	pthread_t threads[4];
	int i, started = 0;

	for (i = 0; i < 4; i++)
		started += !pthread_create(&threads[i], NULL, work, &workers[i]);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	ok(started == 4 && workers[0].good && workers[1].good && workers[2].good && workers[3].good,
	   "four threads, three ways at once");
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

static uint32_t count_files(const char *folder, bool remove)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint32_t count = 0;

	while (dir && (entry = readdir(dir))) {
		count += entry->d_name[0] != '.';
		if (remove && entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	return count;
}

static void compute_cached(ANeuralNetworksModel *m, const char *folder,
			   const ANeuralNetworksDevice **list, uint32_t count)
{
	const uint8_t token[32] = { 7 };
	ANeuralNetworksCompilation *c = NULL;
	ANeuralNetworksExecution *e;
	float out[4];

	ANeuralNetworksCompilation_createForDevices(m, list, count, &c);
	is(ANeuralNetworksCompilation_setCaching(c, folder, token), NONE, "caching");
	is(ANeuralNetworksCompilation_finish(c), NONE, "finish");
	e = cut_execution(c, out);
	is(ANeuralNetworksExecution_compute(e), NONE, "compute");
	ok(is_cut_result(out), "the output");
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
}

/* Steps of other operations have other tokens, also if they are as many. */
static void test_tokens(void)
{
	static const uint32_t steps[4][2] = { { 0, 1 }, { 0, 2 }, { 1, 0 }, { 3, 1 } };
	const uint8_t token[32] = { 7 };
	uint8_t tokens[5][32], again[32];
	uint32_t i, k, same = 0;

	memcpy(tokens[4], token, sizeof(token));
	for (i = 0; i < 4; i++)
		ndk_step_token(token, steps[i], 2, tokens[i]);
	for (i = 0; i < 5; i++)
		for (k = 0; k < i; k++)
			same += !memcmp(tokens[i], tokens[k], sizeof(token));
	ok(!same, "tokens of four steps and of the model differ");
	ndk_step_token(token, steps[2], 2, again);
	ok(!memcmp(again, tokens[2], sizeof(again)), "the token of a step is always the same");
}

static void test_cache(void)
{
	const ANeuralNetworksDevice *other[2] = { devices[0], reference_device() };
	ANeuralNetworksModel *m = cut_model(&floats, last, 1);
	char folder[] = "ndk_cut_XXXXXX";
	uint32_t models = 0, data = 0, files;
	struct nnhal_device *open;
	int result;

	open = ndk_device_open(devices[0], &result);
	nnhal_device_get_number_of_cache_files_needed(open, &models, &data);
	nnhal_device_unref(open);
	if (!mkdtemp(folder)) {
		ok(false, "a folder");
		return;
	}
	compute_cached(m, folder, devices, 2);
	files = count_files(folder, false);
	ok(files == 3 * (models + data), "%u files, %u for each of three steps", files,
	   models + data);
	compute_cached(m, folder, devices, 2);
	ok(count_files(folder, false) == files, "the same files");
	/* Other devices: the third step is the same one, those of the former devices are not mixed up. */
	compute_cached(m, folder, other, 2);
	ok(count_files(folder, true) == files + models + data,
	   "files for the step of another device");
	rmdir(folder);
	ANeuralNetworksModel_free(m);
}

int main(void)
{
	add_cut_devices(devices, "");
	test_supported();
	test_plan();
	test_turns();
	test_ways();
	test_outputs();
	test_open_shapes();
	test_threads();
	test_tokens();
	test_cache();
	test_constants();
	test_chains();
	test_control(false);
	test_control(true);
	test_write_only();
	test_missing();
	return tap_done();
}
