// SPDX-License-Identifier: MIT
/*
 * The device model against XNNPACK, layer for layer, on one thread.
 *
 * usage: bench_models [--layers] [--seconds N] [--json FILE] MODEL:INPUT[:INPUT]...
 *        bench_models --variants
 *
 * Runs each .tflite model on the in-process device and, in turns with it and on the same CPU, the same
 * layers with XNNPACK, and the model on devices with one thread and two, and prints the medians. If NNPU_ISA
 * chooses kernels of the device, XNNPACK has no more instruction sets than these. A line behind
 * each model has the multiply-accumulates of a second, on one thread, against the peak of the
 * CPU's instruction sets, which is measured first. The outputs of the device are compared with those
 * of its plain kernels: byte for byte, or for a float model, whose sums may be fused, with a limit.
 * Both numbers of threads give the same bytes. With --layers the least time of each operation is
 * printed first: of the device and of XNNPACK in microseconds, the difference, and the shapes of
 * input, filter and output. What memory they take, bench_memory says.
 *
 * A model that XNNPACK has no operators for in part, or with several inputs or outputs, is not run as a
 * whole by it: the operations that it has are timed one by one, on both sides in turns, and the sums
 * are compared. Two lines say which part of the model they are and what is left out.
 *
 * --variants prints what NNPU_ISA may choose on this CPU, a line each.
 *
 * INPUT is one sample, as it is; for models with float inputs, signed bytes if the file has too few for
 * floats.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "ops/kernels.h"
#include "bench_parts.h"
#include "one_cpu.h"
#include "output_difference.h"
#include "peak.h"
#include "reference_isa.h"
#include "reference_layers.h"
#include "userspace/tools/common/clock.h"
#include "userspace/tools/common/file.h"
#include "userspace/tools/common/json.h"
#include "userspace/tools/common/samples.h"
#include "userspace/tools/nnrun/open_device.h"
#include "userspace/tools/nnrun/operation_work.h"

/* Executions of one side in a row. */
#define BLOCK	5

struct samples {
	uint64_t *ns;
	size_t count, max;
};

/* A model on the in-process device. */
struct on_device {
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
	struct nnhal_memory *memory;
	uint8_t *input, *output;
	struct nnhal_request_argument args[2];
	struct nnhal_request_pool pool;
	struct nnhal_request request;
	struct nnhal_ext_profile times;
	struct nnhal_diag diag;
	struct nnhal_execute_options options;
};

struct measured {
	double device_ms, xnnpack_ms;
	double two_ms;			/* on two threads */
	double median_gain;		/* median of one thread / of two, in turns */
	double gain;			/* the same of the least times */
	double least_ratio;		/* least time of the device / of XNNPACK */
	uint64_t macs;
	bool is_float;
	bool identical;
	double largest_difference;
	bool is_whole;			/* else only this is filled in: */
	struct parts parts;
};

static int add_sample(struct samples *s, uint64_t ns, struct error *err)
{
	if (s->count == s->max) {
		size_t max = s->max ? s->max * 2 : 256;
		uint64_t *bigger = realloc(s->ns, max * sizeof(*bigger));

		if (!bigger)
			return fail(err, "out of memory");
		s->ns = bigger;
		s->max = max;
	}
	s->ns[s->count++] = ns;
	return 0;
}

static double median_ms(struct samples *s)
{
	if (!s->count)
		return 0;
	samples_sort(s->ns, s->count);
	return (double)samples_percentile(s->ns, s->count, 50) / 1e6;
}

/* The device. */

static void device_close(struct on_device *d)
{
	nnhal_prepared_model_unref(d->prepared);
	nnhal_memory_unref(d->memory);
	nnhal_device_unref(d->device);
	memset(d, 0, sizeof(*d));
}

static int device_open(struct on_device *d, const char *spec, const struct nntflite_model *model,
		       const void *input, struct error *err)
{
	const struct nntflite_io *in = nntflite_model_input(model, 0);
	const struct nntflite_io *out = nntflite_model_output(model, 0);
	size_t out_offset = (in->bytes + 63) / 64 * 64;
	const char *advice;

	memset(d, 0, sizeof(*d));
	d->device = open_device(spec, err, &advice);
	if (!d->device)
		return -1;
	d->prepared = prepare_model(d->device, model, err);
	if (!d->prepared)
		return -1;
	if (nnhal_memory_create(out_offset + out->bytes, &d->memory, &d->diag))
		return fail(err, "no memory for operands: %s", d->diag.message);
	d->input = nnhal_memory_map(d->memory, &d->diag);
	if (!d->input)
		return fail(err, "no memory for operands: %s", d->diag.message);
	d->output = d->input + out_offset;
	memcpy(d->input, input, in->bytes);
	d->args[0].location.length = (uint32_t)in->bytes;
	d->args[1].location.offset = (uint32_t)out_offset;
	d->args[1].location.length = (uint32_t)out->bytes;
	d->pool.memory = d->memory;
	d->request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = 1,
		.num_outputs = 1,
		.num_pools = 1,
		.inputs = &d->args[0],
		.outputs = &d->args[1],
		.pools = &d->pool,
	};
	d->options = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	d->options.measure = NNHAL_MEASURE_YES;
	d->times = (struct nnhal_ext_profile)NNHAL_EXT_PROFILE_INIT;
	d->options.profile = &d->times;
	d->options.diag = &d->diag;
	return 0;
}

/* One execution; its time on the device. */
static int device_run(struct on_device *d, uint64_t *ns, struct error *err)
{
	struct nnhal_timing timing;
	enum nnhal_status status;

	status = nnhal_prepared_model_execute_synchronously(d->prepared, &d->request, &d->options,
							    NULL, NULL, &timing);
	if (status != NNHAL_STATUS_NONE)
		return fail_status(err, "execution failed", status, &d->diag);
	*ns = d->times.exec_ns;
	return 0;
}

/* Output of the plain kernels, to be freed. */
static void *plain_output(const struct nntflite_model *model, const void *input, struct error *err)
{
	size_t bytes = nntflite_model_output(model, 0)->bytes;
	void *output = malloc(bytes);
	struct on_device d;
	uint64_t ns;
	int ret;

	kernels_use_plain(true);
	ret = device_open(&d, "sim", model, input, err) || device_run(&d, &ns, err);
	if (!ret && output)
		memcpy(output, d.output, bytes);
	else if (!ret)
		ret = fail(err, "out of memory");
	device_close(&d);
	kernels_use_plain(false);
	if (ret) {
		free(output);
		return NULL;
	}
	return output;
}

/* One model. */

/* @count executions. */
static int sample_device(struct on_device *d, unsigned int count, struct samples *s, struct error *err)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (device_run(d, &ns, err) || add_sample(s, ns, err))
			return -1;
	}
	return 0;
}

static int sample_xnnpack(struct layers *layers, unsigned int count, struct samples *s, struct error *err)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t start = now_ns();

		if (layers_run(layers))
			return fail(err, "XNNPACK fails");
		if (add_sample(s, now_ns() - start, err))
			return -1;
	}
	return 0;
}

/* A device, and in turns with it @other or, if that is NULL, XNNPACK. */
static int take_turns(struct on_device *d, struct on_device *other, struct layers *layers, double seconds,
		      struct samples *first, struct samples *second, struct error *err)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);

	while (first->count < 10 * BLOCK || now_ns() < end) {
		if (sample_device(d, BLOCK, first, err))
			return -1;
		if (other ? sample_device(other, BLOCK, second, err) :
			    sample_xnnpack(layers, BLOCK, second, err))
			return -1;
	}
	return 0;
}

/* Layers. */

/* The least time of each operation, of both sides in turns. */
static int time_layers(struct on_device *d, struct layers *layers, uint32_t count,
		       double seconds, uint64_t *device, uint64_t *xnnpack, uint64_t *ns,
		       struct error *err)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9), total;

	memset(device, 0xff, count * sizeof(*device));
	memset(xnnpack, 0xff, count * sizeof(*xnnpack));
	for (uint32_t round = 0; round < 50 || now_ns() < end; round++) {
		if (device_run(d, &total, err))
			return -1;
		for (uint32_t i = 0; i < d->times.num_entries; i++) {
			const struct nnhal_ext_profile_entry *e = &d->times.entries[i];

			if (e->operation < count && e->exec_ns < device[e->operation])
				device[e->operation] = e->exec_ns;
		}
		if (layers_time(layers, ns))
			return fail(err, "XNNPACK fails");
		for (uint32_t i = 0; i < count; i++)
			xnnpack[i] = ns[i] < xnnpack[i] ? ns[i] : xnnpack[i];
	}
	return 0;
}

static void print_shape(const struct nnhal_operand *o)
{
	printf(" ");
	for (uint32_t i = 0; i < o->num_dimensions; i++)
		printf("%s%" PRIu32, i ? "x" : "", o->dimensions[i]);
}

static int show_layers(struct on_device *d, struct layers *layers,
		       const struct nntflite_model *model,
		       double seconds, struct error *err)
{
	const struct nnhal_subgraph *b = &nntflite_model_get_hal(model)->main;
	uint32_t count = b->num_operations;
	uint64_t *times = calloc(3 * (size_t)count, sizeof(*times));
	struct nnhal_ext_profile_entry *entries = calloc(count, sizeof(*entries));
	int ret = -1;

	d->times.entries = entries;
	d->times.max_entries = count;
	if (!times || !entries)
		fail(err, "out of memory");
	else
		ret = time_layers(d, layers, count, seconds, times, times + count,
				  times + 2 * count, err);
	for (uint32_t i = 0; !ret && i < count; i++) {
		const struct nnhal_operation *op = &b->operations[i];
		/* A constant may be computed when the model is prepared. */
		uint64_t device = times[i] == UINT64_MAX ? 0 : times[i];

		printf("%4" PRIu32 "  %-18s %9.2f %9.2f %9.2f ", i,
		       nnhal_operation_type_name(op->type), (double)device / 1e3,
		       (double)times[count + i] / 1e3,
		       ((double)device - (double)times[count + i]) / 1e3);
		print_shape(&b->operands[op->inputs[0]]);
		if (op->num_inputs > 1)
			print_shape(&b->operands[op->inputs[1]]);
		print_shape(&b->operands[op->outputs[0]]);
		printf("\n");
	}
	d->times.max_entries = 0;
	d->times.entries = NULL;
	free(entries);
	free(times);
	return ret;
}

/* One thread of the device and one of XNNPACK, both on one CPU. */
static int compare_with_xnnpack(const struct nntflite_model *model, struct layers *layers,
				const void *input, double seconds, bool by_layer, struct on_device *d,
				struct measured *m, struct error *err)
{
	struct samples device = { 0 }, xnnpack = { 0 };
	cpu_set_t before;
	int ret;

	if (one_cpu_enter(&before, err))
		return -1;
	ret = device_open(d, "sim", model, input, err);
	if (!ret && by_layer)
		ret = show_layers(d, layers, model, seconds, err);
	if (!ret)
		ret = take_turns(d, NULL, layers, seconds / 2, &device, &xnnpack, err);
	one_cpu_leave(&before);
	m->device_ms = median_ms(&device);
	m->xnnpack_ms = median_ms(&xnnpack);
	/* The samples are sorted. */
	if (device.count && xnnpack.count)
		m->least_ratio = (double)device.ns[0] / (double)xnnpack.ns[0];
	free(device.ns);
	free(xnnpack.ns);
	return ret;
}

/* @two: to be opened with two threads. */
static int compare_threads(const struct nntflite_model *model, const void *input, double seconds,
			   struct on_device *two, struct measured *m, struct error *err)
{
	struct samples one_thread = { 0 }, two_threads = { 0 };
	struct on_device one = { 0 };
	int ret = device_open(&one, "sim", model, input, err) ||
		  device_open(two, "sim:threads=2", model, input, err) ||
		  take_turns(&one, two, NULL, seconds / 2, &one_thread, &two_threads, err) ? -1 : 0;

	m->two_ms = median_ms(&two_threads);
	if (two_threads.count) {
		m->median_gain = median_ms(&one_thread) / m->two_ms;
		/* The samples are sorted. A busy machine takes away what the second thread needs. */
		m->gain = (double)one_thread.ns[0] / (double)two_threads.ns[0];
	}
	free(one_thread.ns);
	free(two_threads.ns);
	device_close(&one);
	return ret;
}

/* With all operations as XNNPACK's. */
static int measure_with(const struct nntflite_model *model, struct layers *layers,
			const void *input, double seconds, bool by_layer, struct measured *m,
			struct error *err)
{
	const struct nntflite_io *io = nntflite_model_output(model, 0);
	struct on_device d[2] = { 0 };
	void *expected = NULL;
	size_t bytes;
	int ret = -1;

	memcpy(layers_input(layers, &bytes), input, nntflite_model_input(model, 0)->bytes);
	expected = plain_output(model, input, err);
	if (expected && !compare_threads(model, input, seconds, &d[1], m, err))
		ret = compare_with_xnnpack(model, layers, input, seconds, by_layer, &d[0], m, err);
	if (!ret) {
		const void *other = layers_output(layers, &bytes);

		m->identical = !memcmp(d[0].output, d[1].output, bytes) &&
			       is_plain_output(io->type, d[0].output, expected, io->bytes);
		m->largest_difference = output_difference(io->type, d[0].output, other, io->bytes);
		if (isnan(m->largest_difference))
			ret = fail(err, "an output of the device or of XNNPACK is no number");
	}
	device_close(&d[0]);
	device_close(&d[1]);
	free(expected);
	return ret;
}

/* Multiply-accumulates of the model, and of which kind they are. */
static int count_macs(const struct nntflite_model *model, struct measured *m, struct error *err)
{
	const struct nnhal_model *hal = nntflite_model_get_hal(model);
	struct operation_work *work = calloc(hal->main.num_operations + 1, sizeof(*work));

	if (!work || operation_work_of(hal, work)) {
		free(work);
		return fail(err, "out of memory");
	}
	m->macs = 0;
	for (uint32_t i = 0; i < hal->main.num_operations; i++)
		m->macs += work[i].macs;
	m->is_float = nntflite_model_input(model, 0)->type == NNHAL_OPERAND_TENSOR_FLOAT32;
	free(work);
	return 0;
}

/* Read the sample of an input. A float input gets its values from signed bytes. */
static void *read_sample(const char *path, const struct nntflite_io *io, struct error *err)
{
	bool is_float = io->type == NNHAL_OPERAND_TENSOR_FLOAT32;
	size_t wanted = is_float ? io->elements : io->bytes, size;
	int fd = open_input(path, err);
	uint8_t *data = NULL;
	float *numbers;

	if (fd < 0)
		return NULL;
	if (read_rest(fd, path, NULL, 0, NNTFLITE_MAX_FILE, &data, &size, NULL, err)) {
		close(fd);
		return NULL;
	}
	close(fd);
	if (size < wanted) {
		fail(err, "%s: %zu bytes, a sample has %zu", path, size, wanted);
		free(data);
		return NULL;
	}
	if (!is_float || size >= io->bytes)
		return data;
	numbers = malloc(io->bytes);
	for (size_t i = 0; numbers && i < io->elements; i++)
		numbers[i] = (float)(int8_t)data[i];
	free(data);
	if (!numbers)
		fail(err, "out of memory");
	return numbers;
}

/* Most inputs of a model. */
#define MAX_INPUTS	8

/* @paths: "INPUT:INPUT", which is taken apart. */
static int read_inputs(const struct nntflite_model *model, char *paths, void **inputs,
		       struct error *err)
{
	uint32_t count = nntflite_model_num_inputs(model);

	if (count > MAX_INPUTS)
		return fail(err, "%" PRIu32 " inputs, at most %d can be read", count, MAX_INPUTS);
	for (uint32_t i = 0; i < count; i++) {
		char *colon = paths ? strchr(paths, ':') : NULL;

		if (!paths)
			return fail(err, "a file is missing: there are %" PRIu32 " inputs", count);
		if (colon)
			*colon++ = '\0';
		inputs[i] = read_sample(paths, nntflite_model_input(model, i), err);
		if (!inputs[i])
			return -1;
		paths = colon;
	}
	if (paths)
		return fail(err, "%s: there are only %" PRIu32 " inputs", paths, count);
	return 0;
}

/* A model of which XNNPACK has all, with one input and one output; or else NULL. */
static struct layers *whole_model(const struct nntflite_model *model)
{
	const struct nnhal_subgraph *b = &nntflite_model_get_hal(model)->main;
	struct error ignored = { "", 0 };

	if (b->num_inputs != 1 || b->num_outputs != 1 || !nntflite_model_output(model, 0)->bytes)
		return NULL;
	return layers_create(model, &ignored);
}

static int measure(const char *path, char *input_paths, double seconds,
		   bool by_layer, struct measured *m, struct error *err)
{
	struct nntflite_file *tflite = NULL;
	struct nntflite_model *model = NULL;
	void *inputs[MAX_INPUTS] = { NULL };
	struct layers *layers = NULL;
	struct nntflite_diag diag;
	uint8_t *file = NULL;
	int ret = -1, fd;
	size_t size;

	memset(m, 0, sizeof(*m));
	fd = open_input(path, err);
	if (fd < 0)
		return -1;
	if (read_rest(fd, path, NULL, 0, NNTFLITE_MAX_FILE, &file, &size, NULL, err)) {
		close(fd);
		return -1;
	}
	close(fd);
	if (nntflite_file_open_memory(file, size, &tflite, &diag) ||
	    nntflite_model_create(tflite, NULL, &model, &diag)) {
		fail(err, "%s: %s", path, diag.message);
	} else if (!read_inputs(model, input_paths, inputs, err)) {
		layers = whole_model(model);
		m->is_whole = layers;
		if (!layers)
			ret = parts_measure(model, inputs, seconds, by_layer, &m->parts, err);
		else if (!count_macs(model, m, err))
			ret = measure_with(model, layers, inputs[0], seconds, by_layer, m, err);
	}
	if (layers)
		layers_destroy(layers);
	for (int i = 0; i < MAX_INPUTS; i++)
		free(inputs[i]);
	nntflite_model_destroy(model);
	nntflite_file_close(tflite);
	free(file);
	return ret;
}

/* The instruction set of the kernels that ran. */
static const char *kernels_in_use(void)
{
	for (unsigned int i = 0; kernels_name(i); i++)
		if (kernels_variant(i) == kernels_get())
			return kernels_name(i);
	return NULL;
}

static void print_parts(const char *name, const struct parts *p, struct json *json)
{
	const char *left_out = p->left_out[0] ? p->left_out : "nothing";

	json_object(json, name);
	json_bool(json, "whole", false);
	json_u64(json, "operations", p->operations);
	json_u64(json, "compared_operations", p->compared);
	json_real(json, "compared_time", p->time_share, 4);
	if (!isnan(p->macs_share))
		json_real(json, "compared_macs", p->macs_share, 4);
	json_string(json, "left_out", left_out);
	json_bool(json, "identical", p->identical);
	if (p->xnnpack_ms > 0) {
		json_real(json, "device_ms", p->device_ms, 6);
		json_real(json, "xnnpack_ms", p->xnnpack_ms, 6);
		json_real(json, "ratio", p->device_ms / p->xnnpack_ms, 4);
		json_real(json, "least_ratio", p->device_least_ms / p->xnnpack_least_ms, 4);
		json_real(json, "largest_difference", p->largest_difference, 9);
		json_real(json, "largest_steps", p->largest_steps, 1);
		printf("%-32s %9.4f %9.4f %7.2f   %-9s %10.3g\n", name, p->device_ms, p->xnnpack_ms,
		       p->device_ms / p->xnnpack_ms, p->identical ? "the same" : "DIFFER",
		       p->largest_difference);
		printf("    sums of operations; ratio of the least times: %.2f; bytes off by %g; ",
		       p->device_least_ms / p->xnnpack_least_ms, p->largest_steps);
	} else {
		printf("%-32s %9s %9s %7s   %-9s\n    XNNPACK has none of its operations; ", name, "-", "-",
		       "-", p->identical ? "the same" : "DIFFER");
	}
	printf("compared: %" PRIu32 " of %" PRIu32 " operations, %.1f %% of the device's time", p->compared,
	       p->operations, 100 * p->time_share);
	if (!isnan(p->macs_share))
		printf(", %.1f %% of the multiply-accumulates of CONV and FULLY_CONNECTED", 100 * p->macs_share);
	printf("\n    left out: %s\n", left_out);
	json_end(json);
}

static void print(const char *name, const struct measured *m, struct json *json)
{
	double gmacs = (double)m->macs / m->device_ms / 1e6;
	const struct peak *peak = peak_of_isa(kernels_in_use(), m->is_float);

	printf("%-32s %9.3f %9.3f %7.2f   %-9s %10.3g\n", name, m->device_ms, m->xnnpack_ms,
	       m->device_ms / m->xnnpack_ms, m->identical ? "the same" : "DIFFER",
	       m->largest_difference);
	printf("    ratio of the least times: %.2f; two threads: %.3f ms, %.2f times one, by the least "
	       "times %.2f;", m->least_ratio, m->two_ms, m->median_gain, m->gain);
	if (peak)
		printf(" roofline: %.2f GMAC/s of %.1f (%s), %.1f %%\n", gmacs, peak->gmacs, peak->name,
		       100 * gmacs / peak->gmacs);
	else
		printf(" %.2f GMAC/s; the peak of this CPU was not measured\n", gmacs);
	json_object(json, name);
	json_bool(json, "whole", true);
	json_real(json, "two_threads_ms", m->two_ms, 6);
	json_real(json, "two_threads_gain", m->median_gain, 4);
	json_real(json, "two_threads_least_gain", m->gain, 4);
	json_real(json, "gmacs", gmacs, 4);
	if (peak) {
		json_string(json, "peak", peak->name);
		json_real(json, "peak_gmacs", peak->gmacs, 4);
	}
	json_real(json, "device_ms", m->device_ms, 6);
	json_real(json, "xnnpack_ms", m->xnnpack_ms, 6);
	json_real(json, "ratio", m->device_ms / m->xnnpack_ms, 4);
	json_real(json, "least_ratio", m->least_ratio, 4);
	json_bool(json, "identical", m->identical);
	json_real(json, "largest_difference", m->largest_difference, 9);
	json_end(json);
}

/* 0; 1 after an error or if outputs differ; 2 if an argument is wrong. */
static int run(int count, char **pairs, double seconds, bool by_layer, struct json *json)
{
	const char *kernels = kernels_in_use(), *reference = reference_use_isa(kernels);
	double two = peak_of_two();
	const struct peak *peak;
	bool bad = false;

	if (!reference) {
		fprintf(stderr, "bench_models: libcpuinfo does not know this CPU\n");
		return 1;
	}
	printf("kernels of the device: %s; XNNPACK has %s\n", kernels, reference);
	json_string(json, "kernels", kernels);
	json_string(json, "xnnpack_has", reference);
	for (unsigned int i = 0; (peak = peak_of(i)); i++)
		if (peak->gmacs > 0)
			printf("peak of one thread: %-24s %9.1f GMAC/s\n", peak->name, peak->gmacs);
		else
			printf("peak of one thread: %-24s this CPU has it not\n", peak->name);
	printf("a second thread that has nothing to do with the first: %.2f times one\n", two);
	json_real(json, "independent_threads_gain", two, 4);
	printf("%-32s %9s %9s %7s   %-9s %10s\n", "", "device ms", "XNNPACK", "ratio",
	       "outputs", "off by");
	for (int i = 0; i < count; i++) {
		char *colon = strchr(pairs[i], ':'), *name;
		struct error err = { "", 0 };
		struct measured m;

		if (!colon) {
			fprintf(stderr, "bench_models: '%s' is not MODEL:INPUT[:INPUT]\n", pairs[i]);
			return 2;
		}
		*colon = '\0';
		name = strrchr(pairs[i], '/');
		name = name ? name + 1 : pairs[i];
		if (measure(pairs[i], colon + 1, seconds, by_layer, &m, &err)) {
			fprintf(stderr, "bench_models: %s: %s\n", name, err.text);
			return 1;
		}
		if (strrchr(name, '.'))
			*strrchr(name, '.') = '\0';
		if (m.is_whole)
			print(name, &m, json);
		else
			print_parts(name, &m.parts, json);
		fflush(stdout);
		if (!(m.is_whole ? m.identical : m.parts.identical)) {
			fprintf(stderr, "bench_models: %s: outputs differ from those of the plain kernels\n",
				name);
			bad = true;
		}
	}
	return bad;
}

static void print_variants(void)
{
	for (unsigned int i = 0; kernels_name(i); i++)
		if (kernels_variant(i))
			printf("%s\n", kernels_name(i));
}

int main(int argc, char **argv)
{
	const char *json_path = "/dev/null";
	bool by_layer = false;
	double seconds = 2;
	struct json json;
	FILE *json_file;
	int first = 1, ret;

	if (argc == 2 && !strcmp(argv[1], "--variants")) {
		print_variants();
		return 0;
	}
	for (; first + 1 < argc && argv[first][0] == '-'; first++) {
		if (!strcmp(argv[first], "--layers"))
			by_layer = true;
		else if (!strcmp(argv[first], "--seconds"))
			seconds = atof(argv[++first]);
		else if (!strcmp(argv[first], "--json"))
			json_path = argv[++first];
		else
			break;
	}
	if (first >= argc || argv[first][0] == '-') {
		fprintf(stderr, "usage: bench_models [--layers] [--seconds N] [--json FILE] MODEL:INPUT[:INPUT]...\n"
				"       bench_models --variants\n");
		return 2;
	}
	json_file = fopen(json_path, "w");
	if (!json_file) {
		perror(json_path);
		return 1;
	}
	json_begin(&json, json_file);
	ret = run(argc - first, argv + first, seconds, by_layer, &json);
	while (json.depth)
		json_end(&json);
	if (ferror(json_file) | fclose(json_file)) {
		perror(json_path);
		return 1;
	}
	return ret;
}
