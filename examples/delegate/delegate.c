// SPDX-License-Identifier: MIT
/*
 * delegate: run a .tflite file through the NNAPI, as TensorFlow Lite's delegate does.
 *
 * Usage: delegate [--device NAME] [--run WAY] [--stateful] MODEL.tflite --input FILE... --output FILE...
 *
 * libnntflite reads the file; everything else goes through NeuralNetworks.h. There is one raw file for
 * each input and output of the model, in its order. If the input files hold several samples, they run one
 * after the other. WAY is compute (the default), async, burst or fenced. Without NAME the library
 * chooses the device. Variables begin anew with each sample, unless --stateful.
 */
#include <android/NeuralNetworks.h>
#include <nnhal/memory.h>
#include <nntflite/nntflite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal_graph.h"

#define MAX_FILES	64

/* What an output of unknown size gets at first; it grows as the NNAPI says. */
#define FIRST_GUESS	4096u

enum way { WAY_COMPUTE, WAY_ASYNC, WAY_BURST, WAY_FENCED, NUM_WAYS };

static const char *const way_names[NUM_WAYS] = { "compute", "async", "burst", "fenced" };

struct options {
	const char *device;
	enum way way;
	bool stateful;
	const char *model;
	const char *inputs[MAX_FILES], *outputs[MAX_FILES];
	uint32_t num_inputs, num_outputs;
};

/**
 * struct argument - an input or output of the compiled model
 * @data: its value
 * @bytes: bytes of @data
 * @open: an output whose size only the device knows
 */
struct argument {
	uint8_t *data;
	size_t bytes;
	bool open;
};

/* A compiled model and its arguments: of the file first, then variables. */
struct network {
	const struct nnhal_model *hal;
	struct graph graph;
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksBurst *burst;
	struct argument *inputs, *outputs;
};

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "delegate: %s: %s\n", what, why);
	exit(1);
}

static void check(int result, const char *what)
{
	static const char *const names[] = {
		"no error", "out of memory", "incomplete", "unexpected null", "bad data",
		"operation failed", "bad state", "unmappable", "output of insufficient size",
		"unavailable device", "missed deadline", "missed deadline", "resources exhausted",
		"resources exhausted", "dead object",
	};

	if (result)
		die(what, result > 0 && result < (int)(sizeof(names) / sizeof(names[0])) ?
		    names[result] : "unknown result");
}

static void *allocate(size_t bytes)
{
	void *memory = calloc(bytes ? bytes : 1, 1);

	if (!memory)
		die("memory", "there is none");
	return memory;
}

/* ---- the model ---- */

static ANeuralNetworksDevice *find_device(const char *wanted)
{
	ANeuralNetworksDevice *device;
	const char *name = "";

	for (uint32_t i = 0; !ANeuralNetworks_getDevice(i, &device); i++) {
		check(ANeuralNetworksDevice_getName(device, &name), "name of a device");
		if (!strcmp(name, wanted))
			return device;
	}
	die(wanted, "no device of this name");
}

/* A delegate leaves operations that a device does not have to others. There are no others here. */
static void check_support(const struct network *n, const ANeuralNetworksDevice *device)
{
	const ANeuralNetworksDevice *const devices[1] = { device };
	uint32_t i, count = n->hal->main.num_operations;
	bool *supported = allocate(count * sizeof(*supported));
	char text[64];

	check(ANeuralNetworksModel_getSupportedOperationsForDevices(n->graph.model, devices, 1,
								    supported),
	      "supported operations");
	for (i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "operation %u of type %u", i,
			 n->hal->main.operations[i].type);
		if (!supported[i])
			die(text, "the device does not have it");
	}
	free(supported);
}

static void compile(struct network *n, const struct nnhal_model *hal, const struct options *o)
{
	struct graph_pool *pools = allocate(hal->num_pools * sizeof(*pools));
	const ANeuralNetworksDevice *device = o->device ? find_device(o->device) : NULL;
	int result;

	n->hal = hal;
	/* Constants stay in the file: the model refers to them. */
	for (uint32_t i = 0; i < hal->num_pools; i++)
		pools[i].bytes = nnhal_memory_map(hal->pools[i], NULL);
	result = graph_build(&n->graph, hal, pools);
	if (result)
		die("model", n->graph.error);
	free(pools);
	if (device) {
		check_support(n, device);
		check(ANeuralNetworksCompilation_createForDevices(n->graph.model, &device, 1,
								  &n->compilation), "compilation");
	} else {
		check(ANeuralNetworksCompilation_create(n->graph.model, &n->compilation),
		      "compilation");
	}
	check(ANeuralNetworksCompilation_finish(n->compilation), "compile");
	if (o->way == WAY_BURST)
		check(ANeuralNetworksBurst_create(n->compilation, &n->burst), "burst");
	n->inputs = allocate(hal->main.num_inputs * sizeof(*n->inputs));
	n->outputs = allocate(hal->main.num_outputs * sizeof(*n->outputs));
}

static void set_size(struct argument *a, size_t bytes)
{
	a->open = !bytes;
	a->bytes = bytes ? bytes : FIRST_GUESS;
	free(a->data);
	a->data = allocate(a->bytes);
}

static void network_free(struct network *n)
{
	for (uint32_t i = 0; i < n->hal->main.num_inputs; i++)
		free(n->inputs[i].data);
	for (uint32_t i = 0; i < n->hal->main.num_outputs; i++)
		free(n->outputs[i].data);
	free(n->inputs);
	free(n->outputs);
	ANeuralNetworksBurst_free(n->burst);
	ANeuralNetworksCompilation_free(n->compilation);
	graph_free(&n->graph);
}

/* ---- executions ---- */

static int wait_for(int result, ANeuralNetworksEvent *event)
{
	if (!result)
		result = ANeuralNetworksEvent_wait(event);
	ANeuralNetworksEvent_free(event);
	return result;
}

static int start(struct network *n, ANeuralNetworksExecution *e, enum way how)
{
	ANeuralNetworksEvent *event = NULL;
	int result;

	switch (how) {
	case WAY_ASYNC:
		result = ANeuralNetworksExecution_startCompute(e, &event);
		return wait_for(result, event);
	case WAY_FENCED:
		result = ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0,
									       &event);
		return wait_for(result, event);
	case WAY_BURST:
		return ANeuralNetworksExecution_burstCompute(e, n->burst);
	default:
		return ANeuralNetworksExecution_compute(e);
	}
}

static size_t element_size(uint32_t type)
{
	static const uint32_t one[1] = { 1 };
	uint32_t size = 0;

	nnhal_size_of_data(type, one, 1, &size);
	return size;
}

/* The bytes that an output of unknown size has, or would have had. */
static size_t bytes_needed(const struct network *n, ANeuralNetworksExecution *e, uint32_t i)
{
	const struct nnhal_subgraph *sg = &n->hal->main;
	size_t bytes = element_size(sg->operands[sg->output_indexes[i]].type);
	uint32_t rank = 0, dims[NNHAL_MAX_RANK] = { 0 };

	ANeuralNetworksExecution_getOutputOperandRank(e, (int32_t)i, &rank);
	if (rank > NNHAL_MAX_RANK)
		die("output", "too many dimensions");
	ANeuralNetworksExecution_getOutputOperandDimensions(e, (int32_t)i, dims);
	for (uint32_t d = 0; d < rank; d++)
		bytes *= dims[d];
	return bytes;
}

/* One execution. Outputs that were too small are larger after OUTPUT_INSUFFICIENT_SIZE. */
static int run_once(struct network *n, enum way how, size_t *bytes)
{
	ANeuralNetworksExecution *e = NULL;
	uint32_t i;
	int result;

	check(ANeuralNetworksExecution_create(n->compilation, &e), "execution");
	for (i = 0; i < n->hal->main.num_inputs; i++)
		check(ANeuralNetworksExecution_setInput(e, (int32_t)i, NULL, n->inputs[i].data,
							n->inputs[i].bytes), "input");
	for (i = 0; i < n->hal->main.num_outputs; i++)
		check(ANeuralNetworksExecution_setOutput(e, (int32_t)i, NULL, n->outputs[i].data,
							 n->outputs[i].bytes), "output");
	result = start(n, e, how);
	for (i = 0; i < n->hal->main.num_outputs; i++) {
		struct argument *a = &n->outputs[i];

		bytes[i] = a->bytes;
		if (!a->open || (result && result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE))
			continue;
		bytes[i] = bytes_needed(n, e, i);
		if (result && bytes[i] > a->bytes) {
			set_size(a, bytes[i]);
			a->open = true;
		}
	}
	ANeuralNetworksExecution_free(e);
	return result;
}

/* @bytes, an entry for each output, says how many there are. */
static void run(struct network *n, enum way how, size_t *bytes)
{
	int result = run_once(n, how, bytes);

	/* One output may have hidden that a later one is too small as well. */
	for (uint32_t i = 0; result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE &&
			     i < n->hal->main.num_outputs; i++)
		result = run_once(n, how, bytes);
	check(result, "run");
}

/* ---- variables ---- */

/* The values before the first sample, each of the size of its input. */
static void initial_values(const struct nntflite_model *model, const struct options *o,
			   uint8_t **values)
{
	const struct nnhal_model *hal = nntflite_model_get_initializer(model);
	uint32_t i, count = nntflite_model_num_variables(model);
	struct network n = { .hal = hal };
	size_t *bytes = NULL;

	if (hal) {
		compile(&n, hal, o);
		set_size(&n.inputs[0], 1);
		bytes = allocate(hal->main.num_outputs * sizeof(*bytes));
	}
	for (i = 0; i < count; i++) {
		const struct nntflite_variable *v = nntflite_model_variable(model, i);

		values[i] = allocate(v->bytes);
		if (v->initial)
			memcpy(values[i], v->initial, v->bytes);
		if (v->initializer != NNTFLITE_NONE)
			set_size(&n.outputs[v->initializer], v->bytes);
	}
	if (!hal)
		return;
	run(&n, o->way, bytes);
	for (i = 0; i < count; i++) {
		const struct nntflite_variable *v = nntflite_model_variable(model, i);

		if (v->initializer != NNTFLITE_NONE)
			memcpy(values[i], n.outputs[v->initializer].data, v->bytes);
	}
	free(bytes);
	network_free(&n);
}

static void reset_variables(struct network *n, const struct nntflite_model *model,
			    uint8_t *const *values)
{
	for (uint32_t i = 0; i < nntflite_model_num_variables(model); i++) {
		const struct nntflite_variable *v = nntflite_model_variable(model, i);

		memcpy(n->inputs[v->input].data, values[i], v->bytes);
	}
}

/* What one sample has written the next one reads. */
static void keep_variables(struct network *n, const struct nntflite_model *model)
{
	for (uint32_t i = 0; i < nntflite_model_num_variables(model); i++) {
		const struct nntflite_variable *v = nntflite_model_variable(model, i);

		if (v->output != NNTFLITE_NONE)
			memcpy(n->inputs[v->input].data, n->outputs[v->output].data, v->bytes);
	}
}

/* ---- files ---- */

static FILE *open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file)
		die(path, "cannot be opened");
	return file;
}

/* The next sample of all files. false: there is none. */
static bool read_sample(const struct network *n, const struct options *o, FILE **files)
{
	bool more = false;

	for (uint32_t i = 0; i < o->num_inputs; i++) {
		const struct argument *a = &n->inputs[i];
		size_t got = fread(a->data, 1, a->bytes, files[i]);

		if (i && (got == a->bytes) != more)
			die(o->inputs[i], "has another number of samples");
		if (got && got != a->bytes)
			die(o->inputs[i], "is no multiple of the input");
		more = got == a->bytes;
	}
	return more;
}

static void run_samples(struct network *n, const struct nntflite_model *model,
			const struct options *o, uint8_t *const *values)
{
	size_t *bytes = allocate(n->hal->main.num_outputs * sizeof(*bytes));
	FILE *inputs[MAX_FILES], *outputs[MAX_FILES];
	uint32_t i, samples = 0;

	for (i = 0; i < o->num_inputs; i++)
		inputs[i] = open_file(o->inputs[i], "rb");
	for (i = 0; i < o->num_outputs; i++)
		outputs[i] = open_file(o->outputs[i], "wb");
	reset_variables(n, model, values);
	for (; read_sample(n, o, inputs); samples++) {
		if (!o->stateful)
			reset_variables(n, model, values);
		run(n, o->way, bytes);
		keep_variables(n, model);
		for (i = 0; i < o->num_outputs; i++)
			if (fwrite(n->outputs[i].data, 1, bytes[i], outputs[i]) != bytes[i])
				die(o->outputs[i], "cannot be written");
	}
	if (!samples)
		die(o->inputs[0], "holds no sample");
	for (i = 0; i < o->num_inputs; i++)
		fclose(inputs[i]);
	for (i = 0; i < o->num_outputs; i++)
		if (fclose(outputs[i]))
			die(o->outputs[i], "cannot be written");
	free(bytes);
}

static const char *value_of(int argc, char **argv, int *i)
{
	if (*i + 1 == argc)
		die(argv[*i], "needs a value");
	return argv[++*i];
}

static void parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--device")) {
			o->device = value_of(argc, argv, &i);
		} else if (!strcmp(argv[i], "--run")) {
			const char *name = value_of(argc, argv, &i);

			for (o->way = 0; o->way < NUM_WAYS; o->way++)
				if (!strcmp(way_names[o->way], name))
					break;
			if (o->way == NUM_WAYS)
				die(name, "compute, async, burst or fenced");
		} else if (!strcmp(argv[i], "--stateful")) {
			o->stateful = true;
		} else if (!strcmp(argv[i], "--input") && o->num_inputs < MAX_FILES) {
			o->inputs[o->num_inputs++] = value_of(argc, argv, &i);
		} else if (!strcmp(argv[i], "--output") && o->num_outputs < MAX_FILES) {
			o->outputs[o->num_outputs++] = value_of(argc, argv, &i);
		} else if (argv[i][0] != '-' && !o->model) {
			o->model = argv[i];
		} else {
			die(argv[i], "not expected here");
		}
	}
	if (!o->model)
		die("usage", "delegate [--device NAME] [--run WAY] [--stateful] MODEL.tflite "
		    "--input FILE... --output FILE...");
}

int main(int argc, char **argv)
{
	struct options o = { .way = WAY_COMPUTE };
	struct nntflite_file *file;
	struct nntflite_model *model;
	struct network n = { .hal = NULL };
	struct nntflite_diag why;
	uint8_t **values;
	uint32_t i, variables;

	parse(&o, argc, argv);
	if (nntflite_file_open(o.model, &file, &why) ||
	    nntflite_model_create(file, NULL, &model, &why))
		die(o.model, why.message);
	if (nntflite_model_num_inputs(model) != o.num_inputs ||
	    nntflite_model_num_outputs(model) != o.num_outputs)
		die(o.model, "has another number of inputs or outputs");
	variables = nntflite_model_num_variables(model);
	values = allocate(variables * sizeof(*values));
	initial_values(model, &o, values);
	compile(&n, nntflite_model_get_hal(model), &o);
	for (i = 0; i < o.num_inputs; i++)
		set_size(&n.inputs[i], nntflite_model_input(model, i)->bytes);
	for (i = 0; i < o.num_outputs; i++)
		set_size(&n.outputs[i], nntflite_model_output(model, i)->bytes);
	for (i = 0; i < variables; i++) {
		const struct nntflite_variable *v = nntflite_model_variable(model, i);

		set_size(&n.inputs[v->input], v->bytes);
		if (v->output != NNTFLITE_NONE)
			set_size(&n.outputs[v->output], v->bytes);
	}
	run_samples(&n, model, &o, values);
	for (i = 0; i < variables; i++)
		free(values[i]);
	free(values);
	network_free(&n);
	nntflite_model_destroy(model);
	nntflite_file_close(file);
	return 0;
}
