// SPDX-License-Identifier: MIT
/*
 * Models that XNNPACK has no operators for in part.
 *
 * The device computes the model with every tensor as an output. These values are the inputs of
 * XNNPACK's operators, and what its results are compared with. Then the operations that both
 * have are timed one by one, both sides in turns on one CPU.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xnnpack.h>

#include "ops/kernels.h"
#include "bench_parts.h"
#include "one_cpu.h"
#include "operand_bytes.h"
#include "output_difference.h"
#include "reference_layers.h"
#include "userspace/tools/common/clock.h"
#include "userspace/tools/common/samples.h"
#include "userspace/tools/nnrun/open_device.h"
#include "userspace/tools/nnrun/operation_work.h"

/* Rounds of both sides. */
#define MIN_ROUNDS	30
#define MAX_ROUNDS	2000

/* Outputs whose size depends on values get more room this often. */
#define MAX_GROWTH	32

/* Of XNNPACK's result, of the largest value; bytes may be a step off. */
#define FLOAT_DIFFERENCE	1e-4
/* A HAL model on the in-process device, and the values of its operands. */
struct run {
	struct nnhal_model hal;
	struct nnhal_operand *operands;
	struct nnhal_output_shape *shapes;	/* by output */
	uint32_t *outputs;
	void **values;				/* by operand; NULL for a temporary one */
	size_t *sizes;
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
	struct nnhal_memory *memory;
	struct nnhal_request_argument *args;
	size_t *offsets;
	struct nnhal_ext_profile times;
};

static void run_close(struct run *r)
{
	nnhal_prepared_model_unref(r->prepared);
	nnhal_memory_unref(r->memory);
	nnhal_device_unref(r->device);
	for (uint32_t i = 0; r->values && i < r->hal.main.num_operands; i++)
		free(r->values[i]);
	free(r->operands);
	free(r->shapes);
	free(r->outputs);
	free(r->values);
	free(r->sizes);
	free(r->args);
	free(r->offsets);
	free(r->times.entries);
}

static int set_value(struct run *r, uint32_t i, const void *from, size_t bytes, struct error *err)
{
	uint8_t *value = calloc(1, bytes + XNN_EXTRA_BYTES);

	if (!value)
		return fail(err, "out of memory");
	if (bytes && from)
		memcpy(value, from, bytes);
	free(r->values[i]);
	r->values[i] = value;
	r->sizes[i] = bytes;
	return 0;
}

/* Constants, inputs, and variables as they are before the first inference. */
static int set_known_values(struct run *r, const struct nntflite_model *model,
			    void *const *inputs, struct error *err)
{
	uint32_t own = nntflite_model_num_inputs(model);
	struct nnhal_diag diag = { "" };
	const uint8_t *pool = NULL;

	if (r->hal.num_pools) {
		pool = nnhal_memory_map(r->hal.pools[0], &diag);
		if (!pool)
			return fail(err, "constants: %s", diag.message);
	}
	for (uint32_t i = 0; i < r->hal.main.num_operands; i++) {
		const struct nnhal_operand *o = &r->operands[i];
		const uint8_t *from = NULL;

		if (o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY)
			from = (const uint8_t *)r->hal.operand_values + o->location.offset;
		else if (o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE)
			from = pool + o->location.offset;
		if (from && set_value(r, i, from, o->location.length, err))
			return -1;
	}
	for (uint32_t i = 0; i < r->hal.main.num_inputs; i++) {
		uint32_t k = r->hal.main.input_indexes[i];
		const void *from = i < own ? inputs[i] : nntflite_model_variable(model, i - own)->initial;

		if (set_value(r, k, from, operand_bytes(&r->operands[k]), err))
			return -1;
	}
	return 0;
}

/* With @all, temporary operands become outputs, unless a type of the extension hides their size. */
static int run_open(struct run *r, const struct nntflite_model *model, void *const *inputs,
		    bool all, struct error *err)
{
	const struct nnhal_model *hal = nntflite_model_get_hal(model);
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	const char *advice;
	uint32_t n;

	memset(r, 0, sizeof(*r));
	r->hal = *hal;
	n = hal->main.num_operands;
	r->operands = malloc((n + 1) * sizeof(*r->operands));
	r->shapes = calloc(n + 1, sizeof(*r->shapes));
	r->outputs = calloc(n + 1, sizeof(*r->outputs));
	r->values = calloc(n + 1, sizeof(*r->values));
	r->sizes = calloc(n + 1, sizeof(*r->sizes));
	r->args = calloc(n + 1, sizeof(*r->args));
	r->offsets = calloc(n + 1, sizeof(*r->offsets));
	r->times = (struct nnhal_ext_profile)NNHAL_EXT_PROFILE_INIT;
	r->times.max_entries = hal->main.num_operations;
	r->times.entries = calloc(hal->main.num_operations + 1, sizeof(*r->times.entries));
	if (!r->operands || !r->shapes || !r->outputs || !r->values || !r->sizes || !r->args ||
	    !r->offsets || !r->times.entries)
		return fail(err, "out of memory");
	memcpy(r->operands, hal->main.operands, n * sizeof(*r->operands));
	memcpy(r->outputs, hal->main.output_indexes, hal->main.num_outputs * sizeof(*r->outputs));
	r->hal.main.operands = r->operands;
	r->hal.main.output_indexes = r->outputs;
	for (uint32_t i = 0; all && i < hal->main.num_operations; i++) {
		const struct nnhal_operation *op = &hal->main.operations[i];

		for (uint32_t k = 0; k < op->num_outputs; k++) {
			struct nnhal_operand *o = &r->operands[op->outputs[k]];

			if (o->lifetime != NNHAL_LIFETIME_TEMPORARY_VARIABLE ||
			    !nnhal_element_size(o->type))
				continue;
			o->lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
			r->outputs[r->hal.main.num_outputs++] = op->outputs[k];
		}
	}
	r->device = open_device("sim", err, &advice);
	if (!r->device)
		return -1;
	options.preference = NNHAL_PREFER_SUSTAINED_SPEED;
	options.diag = &diag;
	status = nnhal_device_prepare_model_sync(r->device, &r->hal, &options, &r->prepared);
	if (status != NNHAL_STATUS_NONE)
		return fail_status(err, "cannot prepare the model", status, &diag);
	return set_known_values(r, model, inputs, err);
}

/* Memory for all arguments; outputs of unknown size have what the last try asked for. */
static int make_memory(struct run *r, struct error *err)
{
	const struct nnhal_subgraph *b = &r->hal.main;
	struct nnhal_diag diag = { "" };
	size_t size = 0;
	uint8_t *base;

	for (uint32_t i = 0; i < b->num_inputs + b->num_outputs; i++) {
		uint32_t k = i < b->num_inputs ? b->input_indexes[i] : b->output_indexes[i - b->num_inputs];
		size_t bytes = i < b->num_inputs ? r->sizes[k] : operand_bytes(&r->operands[k]);

		if (!bytes)
			bytes = 64;
		r->offsets[i] = size;
		r->args[i] = (struct nnhal_request_argument){
			.location = { .offset = (uint32_t)size, .length = (uint32_t)bytes },
		};
		size += (bytes + 63) / 64 * 64;
	}
	nnhal_memory_unref(r->memory);
	r->memory = NULL;
	if (nnhal_memory_create(size, &r->memory, &diag))
		return fail(err, "no memory for operands: %s", diag.message);
	base = nnhal_memory_map(r->memory, &diag);
	if (!base)
		return fail(err, "no memory for operands: %s", diag.message);
	for (uint32_t i = 0; i < b->num_inputs; i++)
		memcpy(base + r->offsets[i], r->values[b->input_indexes[i]], r->sizes[b->input_indexes[i]]);
	return 0;
}

static enum nnhal_status execute(struct run *r, struct nnhal_diag *diag)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_request_pool pool = { .memory = r->memory };
	struct nnhal_request request = {
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = r->hal.main.num_inputs,
		.num_outputs = r->hal.main.num_outputs,
		.num_pools = 1,
		.inputs = r->args,
		.outputs = r->args + r->hal.main.num_inputs,
		.pools = &pool,
	};
	struct nnhal_timing timing;
	uint32_t count;

	options.measure = NNHAL_MEASURE_YES;
	options.profile = &r->times;
	options.diag = diag;
	return nnhal_prepared_model_execute_synchronously(r->prepared, &request, &options, r->shapes,
							  &count, &timing);
}

static void take_shapes(struct run *r)
{
	for (uint32_t i = 0; i < r->hal.main.num_outputs; i++) {
		struct nnhal_operand *o = &r->operands[r->outputs[i]];

		o->num_dimensions = r->shapes[i].num_dimensions;
		o->dimensions = r->shapes[i].dimensions;
	}
}

/* The first execution, which finds out shapes; and its results. */
static int run_first(struct run *r, struct error *err)
{
	const struct nnhal_subgraph *b = &r->hal.main;
	enum nnhal_status status = NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE;
	struct nnhal_diag diag = { "" };
	const uint8_t *base;

	for (int i = 0; i < MAX_GROWTH && status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE; i++) {
		if (make_memory(r, err))
			return -1;
		status = execute(r, &diag);
		if (status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE || status == NNHAL_STATUS_NONE)
			take_shapes(r);
	}
	if (status != NNHAL_STATUS_NONE)
		return fail_status(err, "execution failed", status, &diag);
	base = nnhal_memory_map(r->memory, &diag);
	if (!base)
		return fail(err, "no memory for operands: %s", diag.message);
	for (uint32_t i = 0; i < b->num_outputs; i++) {
		if (set_value(r, b->output_indexes[i], base + r->offsets[b->num_inputs + i],
			      operand_bytes(&r->operands[b->output_indexes[i]]), err))
			return -1;
	}
	return 0;
}

/* The largest difference: of floats relative to the largest value, of bytes in steps. */
static double difference_of(const struct nnhal_operand *o, const void *a, const void *b, size_t bytes)
{
	double largest = output_difference(o->type, a, b, bytes);

	return o->type == NNHAL_OPERAND_TENSOR_FLOAT32 ? largest / largest_value(b, bytes) : largest;
}

static bool is_float(const struct nnhal_operand *o)
{
	return o->type == NNHAL_OPERAND_TENSOR_FLOAT32;
}

/* Are the outputs of the model those of the plain kernels? */
static int compare_with_plain(const struct nntflite_model *model, void *const *inputs,
			      const struct run *fast, struct parts *parts, struct error *err)
{
	struct run plain;
	int ret;

	kernels_use_plain(true);
	ret = run_open(&plain, model, inputs, false, err) || run_first(&plain, err) ? -1 : 0;
	kernels_use_plain(false);
	parts->identical = !ret;
	for (uint32_t i = 0; !ret && i < plain.hal.main.num_outputs; i++) {
		uint32_t k = plain.outputs[i];

		if (plain.sizes[k] != fast->sizes[k] ||
		    !is_plain_output(plain.operands[k].type, fast->values[k], plain.values[k],
				     plain.sizes[k]))
			parts->identical = false;
	}
	run_close(&plain);
	return ret;
}

static const char *name_of_type(const struct nntflite_model *model, uint32_t operation,
			     struct nntflite_origin *origin)
{
	uint32_t type = nntflite_model_get_hal(model)->main.operations[operation].type;

	if (type <= 0xffff || nntflite_model_origin(model, operation, origin) || !origin->name[0])
		return nnhal_operation_type_name(type);
	return origin->name;
}

/*
 * An operation that both sides compute. RESHAPE moves nothing on the device and would be a copy of
 * XNNPACK's, so it says nothing.
 */
static bool is_compared(const struct layers *l, const struct nnhal_operation *op, uint32_t i)
{
	return layers_has(l, i) && op->type != NNHAL_OPERATION_RESHAPE;
}

/*
 * Let XNNPACK compute each operation from the device's values. An operator that computes something
 * else is no peer.
 */
static int compare_results(const struct nntflite_model *model, struct run *r, struct layers *l,
			   struct parts *parts, struct error *err)
{
	const struct nnhal_subgraph *b = &r->hal.main;
	struct nntflite_origin origin;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < b->num_operations; i++) {
		const struct nnhal_operation *op = &b->operations[i];

		if (!is_compared(l, op, i) || layers_is_fixed(l, i))
			continue;
		for (uint32_t k = 0; !ret && k < op->num_outputs; k++) {
			uint32_t o = op->outputs[k];
			void *device = malloc(r->sizes[o] + 1);
			double d;

			if (!device)
				return fail(err, "out of memory");
			memcpy(device, r->values[o], r->sizes[o]);
			memset(r->values[o], 0xa5, r->sizes[o]);
			if (layers_run_one(l, i))
				ret = fail(err, "XNNPACK fails");
			d = difference_of(&r->operands[o], r->values[o], device, r->sizes[o]);
			if (!ret && !is_within(d, is_float(&r->operands[o]) ? FLOAT_DIFFERENCE : 1))
				ret = fail(err, "operation %" PRIu32 " (%s): XNNPACK's result is off by %g",
					   i, name_of_type(model, i, &origin), d);
			if (is_float(&r->operands[o]))
				parts->largest_difference = larger_difference(parts->largest_difference, d);
			else
				parts->largest_steps = larger_difference(parts->largest_steps, d);
			memcpy(r->values[o], device, r->sizes[o]);
			free(device);
		}
	}
	return ret;
}

/* Times of each operation by round: [operation][round]. */
static int take_turns(struct run *r, struct layers *l, double seconds, uint64_t *device,
		      uint64_t *xnnpack, uint64_t *ns, uint32_t *rounds, struct error *err)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	struct nnhal_diag diag = { "" };
	uint32_t n;

	for (n = 0; n < MAX_ROUNDS && (n < MIN_ROUNDS || now_ns() < end); n++) {
		enum nnhal_status status = execute(r, &diag);

		if (status != NNHAL_STATUS_NONE)
			return fail_status(err, "execution failed", status, &diag);
		for (uint32_t i = 0; i < r->times.num_entries; i++) {
			const struct nnhal_ext_profile_entry *e = &r->times.entries[i];

			if (e->operation < r->hal.main.num_operations)
				device[(size_t)e->operation * MAX_ROUNDS + n] = e->exec_ns;
		}
		if (layers_time(l, ns))
			return fail(err, "XNNPACK fails");
		for (uint32_t i = 0; i < r->hal.main.num_operations; i++)
			xnnpack[(size_t)i * MAX_ROUNDS + n] = ns[i];
	}
	*rounds = n;
	return 0;
}

/* Name the types that are left out, the number of each behind it. */
static void name_left_out(const struct nntflite_model *model, const struct layers *l,
			  struct parts *parts)
{
	const struct nnhal_subgraph *b = &nntflite_model_get_hal(model)->main;
	struct nntflite_origin origin, other;
	size_t length = 0;

	parts->left_out[0] = '\0';
	for (uint32_t i = 0; i < b->num_operations; i++) {
		const char *name = name_of_type(model, i, &origin);
		uint32_t count = 0;
		bool named = false;

		if (is_compared(l, &b->operations[i], i))
			continue;
		for (uint32_t k = 0; k < b->num_operations; k++) {
			if (is_compared(l, &b->operations[k], k) ||
			    strcmp(name_of_type(model, k, &other), name))
				continue;
			named |= k < i;
			count++;
		}
		if (!named && length < MAX_LEFT_OUT)
			length += (size_t)snprintf(parts->left_out + length, MAX_LEFT_OUT - length,
						   "%s%s %" PRIu32, length ? ", " : "", name, count);
	}
}

/* The least times of an operation, in microseconds, and the difference; both sides are sorted. */
static void show_operation(const struct nntflite_model *model, uint32_t i, const uint64_t *device,
			   const uint64_t *xnnpack, bool is_fixed)
{
	struct nntflite_origin origin;
	double d = (double)device[0] / 1e3, x = is_fixed ? 0 : (double)xnnpack[0] / 1e3;

	printf("%4" PRIu32 "  %-18s %9.2f %9.2f %9.2f\n", i, name_of_type(model, i, &origin), d, x, d - x);
}

static void add_up(const struct nntflite_model *model, bool by_layer, const struct run *r,
		   const struct layers *l, uint64_t *device, uint64_t *xnnpack, uint32_t rounds,
		   const struct operation_work *work, struct parts *parts)
{
	double all = 0, ours = 0, macs = 0, our_macs = 0;

	for (uint32_t i = 0; i < r->hal.main.num_operations; i++) {
		uint64_t *d = device + (size_t)i * MAX_ROUNDS, *x = xnnpack + (size_t)i * MAX_ROUNDS;
		double median;

		samples_sort(d, rounds);
		samples_sort(x, rounds);
		median = (double)samples_percentile(d, rounds, 50);
		all += median;
		macs += (double)work[i].macs;
		if (!is_compared(l, &r->hal.main.operations[i], i))
			continue;
		if (by_layer)
			show_operation(model, i, d, x, layers_is_fixed(l, i));
		parts->compared++;
		ours += median;
		our_macs += (double)work[i].macs;
		parts->device_least_ms += (double)d[0] / 1e6;
		/* XNNPACK is given what was known before, and its clock need not be read. */
		if (!layers_is_fixed(l, i)) {
			parts->xnnpack_ms += (double)samples_percentile(x, rounds, 50) / 1e6;
			parts->xnnpack_least_ms += (double)x[0] / 1e6;
		}
	}
	parts->operations = r->hal.main.num_operations;
	parts->device_ms = ours / 1e6;
	parts->time_share = all > 0 ? ours / all : 0;
	parts->macs_share = macs > 0 ? our_macs / macs : NAN;
}

static int measure_parts(const struct nntflite_model *model, double seconds, bool by_layer,
			 struct run *traced, struct run *timed, struct parts *parts,
			 struct error *err)
{
	size_t n = nntflite_model_get_hal(model)->main.num_operations;
	uint64_t *times = calloc((2 * n + 1) * MAX_ROUNDS, sizeof(*times));
	struct operation_work *work = calloc(n + 1, sizeof(*work));
	uint64_t *ns = calloc(n + 1, sizeof(*ns));
	struct layers *l = NULL;
	uint32_t rounds = 0;
	int ret = -1;

	if (!times || !work || !ns || operation_work_of(&traced->hal, work))
		fail(err, "out of memory");
	else
		l = layers_create_some(&traced->hal, traced->values, err);
	if (l && !compare_results(model, traced, l, parts, err) &&
	    !take_turns(timed, l, seconds, times, times + n * MAX_ROUNDS, ns, &rounds, err)) {
		add_up(model, by_layer, traced, l, times, times + n * MAX_ROUNDS, rounds, work, parts);
		name_left_out(model, l, parts);
		ret = 0;
	}
	if (l)
		layers_destroy(l);
	free(times);
	free(work);
	free(ns);
	return ret;
}

static int measure_on_this_cpu(const struct nntflite_model *model, void *const *inputs, double seconds,
			       bool by_layer, struct parts *parts, struct error *err)
{
	struct run traced = { 0 }, timed = { 0 };
	int ret = -1;

	if (!run_open(&traced, model, inputs, true, err) && !run_first(&traced, err) &&
	    !run_open(&timed, model, inputs, false, err) && !run_first(&timed, err) &&
	    !compare_with_plain(model, inputs, &timed, parts, err))
		ret = measure_parts(model, seconds, by_layer, &traced, &timed, parts, err);
	run_close(&traced);
	run_close(&timed);
	return ret;
}

int parts_measure(const struct nntflite_model *model, void *const *inputs, double seconds,
		  bool by_layer, struct parts *parts, struct error *err)
{
	cpu_set_t before;
	int ret;

	memset(parts, 0, sizeof(*parts));
	if (one_cpu_enter(&before, err))
		return -1;
	ret = measure_on_this_cpu(model, inputs, seconds, by_layer, parts, err);
	one_cpu_leave(&before);
	return ret;
}
