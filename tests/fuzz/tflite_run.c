// SPDX-License-Identifier: MIT
/*
 * Running a model on the in-process device, for the fuzzer of .tflite files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nnhal/ext.h>

#include "tflite_run.h"

/* A model with more in its operands would take the time of thousands of others. */
#define MAX_BYTES	(UINT64_C(1) << 20)
#define MAX_OPERATIONS	64u
/* Room for an output whose size the device finds. */
#define OPEN_OUTPUT	4096u
/* The device ends what takes longer. */
#define DEADLINE_NS	UINT64_C(50000000)

struct tflite_counts counts;

void check(bool good, const char *what, const char *text)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, text);
	abort();
}

struct nnhal_device *fuzz_device(void)
{
	static struct nnhal_device *device;
	struct nnhal_diag diag = { "" };

	if (!device)
		check(!nnhal_device_open("sim", &device, &diag), "no device", diag.message);
	return device;
}

/* Bytes of an operand, no element more than 8; an unknown size counts as 1. */
static uint64_t operand_bytes(const struct nnhal_operand *operand)
{
	uint64_t bytes = 8;
	uint32_t i;

	for (i = 0; i < operand->num_dimensions && bytes <= MAX_BYTES; i++)
		bytes *= operand->dimensions[i] ? operand->dimensions[i] : 1;
	return bytes;
}

static bool is_small(const struct nnhal_subgraph *graph)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < graph->num_operands && bytes <= MAX_BYTES; i++)
		bytes += operand_bytes(&graph->operands[i]);
	return bytes <= MAX_BYTES && graph->num_operations <= MAX_OPERATIONS;
}

/* The next argument; one of open size gets OPEN_OUTPUT bytes. Returns the end. */
static uint32_t place(struct nnhal_request_argument *argument, uint32_t at, size_t bytes)
{
	uint32_t length = bytes ? (uint32_t)bytes : OPEN_OUTPUT;

	*argument = (struct nnhal_request_argument){ .location = { 0, at, length } };
	return at + (length + 63) / 64 * 64;
}

static uint32_t place_inputs(const struct nntflite_model *model, uint32_t at,
			     struct nnhal_request_argument *arguments)
{
	uint32_t i, n = nntflite_model_num_inputs(model);

	for (i = 0; i < n; i++)
		at = place(&arguments[i], at, nntflite_model_input(model, i)->bytes);
	for (i = 0; i < nntflite_model_num_variables(model); i++)
		at = place(&arguments[n + i], at, nntflite_model_variable(model, i)->bytes);
	return at;
}

static uint32_t place_outputs(const struct nntflite_model *model, uint32_t at,
			      struct nnhal_request_argument *arguments)
{
	uint32_t i, n = nntflite_model_num_outputs(model);

	for (i = 0; i < n; i++)
		at = place(&arguments[i], at, nntflite_model_output(model, i)->bytes);
	for (i = 0; i < nntflite_model_num_variables(model); i++)
		if (nntflite_model_variable(model, i)->output != NNTFLITE_NONE)
			at = place(&arguments[n++], at, nntflite_model_variable(model, i)->bytes);
	return at;
}

/* Numbers that are small as integers, as indexes and as floats. */
static void fill(uint8_t *bytes, uint32_t count)
{
	static const uint32_t words[] = { 0, 1, 0x3f800000, 2, 0xbf000000, 3, 0x01010101, 0 };
	uint32_t i;

	for (i = 0; i + 4 <= count; i += 4)
		memcpy(bytes + i, &words[i / 4 % 8], 4);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void execute(struct nnhal_prepared_model *prepared, const struct nntflite_model *model)
{
	const struct nnhal_subgraph *graph = &nntflite_model_get_hal(model)->main;
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_request_argument *in = calloc(graph->num_inputs + 1, sizeof(*in));
	struct nnhal_request_argument *out = calloc(graph->num_outputs + 1, sizeof(*out));
	struct nnhal_request_pool pool = { .memory = NULL };
	struct nnhal_diag diag = { "" };
	struct nnhal_request request = {
		.hal_version = NNHAL_HAL_1_3, .num_inputs = graph->num_inputs, .inputs = in,
		.num_outputs = graph->num_outputs, .outputs = out, .num_pools = 1, .pools = &pool,
	};
	uint32_t fed, end;
	enum nnhal_status status;

	check(in && out, "no memory", "arguments");
	fed = place_inputs(model, 0, in);
	end = place_outputs(model, fed, out);
	check(!nnhal_memory_create(end + 64, &pool.memory, &diag), "no memory", diag.message);
	fill(nnhal_memory_map(pool.memory, &diag), fed);
	options.diag = &diag;
	options.has_deadline = true;
	options.deadline_ns = now_ns() + DEADLINE_NS;
	status = nnhal_prepared_model_execute_synchronously(prepared, &request, &options, NULL, NULL,
							    NULL);
	counts.executed += !status;
	counts.failed += !!status;
	check(!status || diag.message[0], "an execution ended without a reason",
	      nnhal_status_name(status));
	if (status == NNHAL_STATUS_GENERAL_FAILURE)
		check_explained(model, &diag);
	/* Whatever a file asks for, the device goes on. */
	check(status != NNHAL_STATUS_DEVICE_UNAVAILABLE && status != NNHAL_STATUS_DEAD_OBJECT,
	      "the device is gone", diag.message);
	nnhal_memory_unref(pool.memory);
	free(in);
	free(out);
}

void check_explained(const struct nntflite_model *model, const struct nnhal_diag *why)
{
	const char *reason = strstr(why->message, ": ");
	struct nntflite_diag diag;

	/* Operations of the extension before it are given their names. */
	check(!nntflite_model_explain(model, why, &diag) &&
	      strstr(diag.message, reason ? reason : why->message), "not explained", why->message);
	/* That of the subgraph, or of who runs it. */
	check(diag.op != NNTFLITE_NONE || strstr(diag.message, "operator ") ||
	      !strstr(why->message, "operation "), "names no operator", diag.message);
	check(diag.subgraph != NNTFLITE_NONE, "names no subgraph", diag.message);
	check(diag.tensor != NNTFLITE_NONE, "names no tensor", diag.message);
}

/* What a device does not take it names, operation by operation. */
static void check_unsupported(const struct nntflite_model *model, const struct nnhal_diag *diag)
{
	const struct nnhal_model *hal = nntflite_model_get_hal(model);
	uint32_t i, refused = 0, count = hal->main.num_operations;
	struct nnhal_ext_operation_support *support = calloc(count + 1, sizeof(*support));
	struct nnhal_diag why = { "" };
	struct nntflite_origin origin;

	check(support, "no memory", "verdicts");
	support->size = sizeof(*support);
	if (nnhal_ext_get_operation_support(fuzz_device(), hal, support, count, &why)) {
		check_explained(model, diag);
		free(support);
		return;
	}
	for (i = 0; i < count; i++) {
		if (support[i].supported)
			continue;
		refused++;
		check(support[i].reason[0], "an operation is refused without a reason",
		      diag->message);
		check(!nntflite_model_origin(model, i, &origin) && origin.op != NNTFLITE_NONE &&
		      origin.name[0], "an operation of no operator is refused", support[i].reason);
	}
	check(refused, "a model is refused, but no operation", diag->message);
	free(support);
}

void run_model(const struct nntflite_model *model)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	const struct nnhal_model *hal = nntflite_model_get_hal(model);
	struct nnhal_prepared_model *prepared = NULL;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	bool small = is_small(&hal->main);
	uint32_t i;

	for (i = 0; i < hal->num_referenced && small; i++)
		small = is_small(&hal->referenced[i]);
	if (!small) {
		counts.large++;
		return;
	}
	options.diag = &diag;
	status = nnhal_device_prepare_model_sync(fuzz_device(), hal, &options, &prepared);
	if (status == NNHAL_STATUS_NONE) {
		execute(prepared, model);
		nnhal_prepared_model_unref(prepared);
		return;
	}
	counts.unsupported++;
	check(diag.message[0], "a model is refused without a reason", nnhal_status_name(status));
	if (status == NNHAL_STATUS_INVALID_ARGUMENT)
		check_unsupported(model, &diag);
}
