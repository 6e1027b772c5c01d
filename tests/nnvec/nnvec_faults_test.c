// SPDX-License-Identifier: MIT
/*
 * Does nnvec notice errors of a device or library? Cases run on the in-process device.
 * Functions of the library are wrapped (ld --wrap) and corrupt the results.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "tests/tap.h"
#include "userspace/tools/nnvec/run_case.h"
#include "wrapped.h"

static enum fault {
	FAULT_NONE,
	/* executions */
	STATUS, NO_SHAPES, SHAPES_OF_FAILURE, OTHER_SIZE, OTHER_RANK, NOT_SUFFICIENT,
	DEVICE_TIME, VALUE, NOT_WRITTEN, INPUT_CHANGED, BEHIND_INPUT, BEHIND_OUTPUT, SUCCESS,
	SUFFICIENT, OTHER_TOO_SMALL, LAST_BYTE, UNASKED_TIME, LOST,
	/* asynchronous executions */
	TWO_CALLBACKS, OTHER_LAUNCH,
	/* models */
	NOT_PREPARED, PREPARE_LOST, NOT_SUPPORTED, NOT_SUPPORTED_OPEN,
} fault;

static uint8_t *bytes_at(const struct nnhal_request *request, const struct nnhal_data_location *at)
{
	return (uint8_t *)nnhal_memory_map(request->pools[at->pool_index].memory, NULL) +
	       at->offset;
}

/* What outputs held before an execution. */
static uint8_t before[4096];

static void spoil_memory(const struct nnhal_request *request)
{
	uint8_t *in = bytes_at(request, &request->inputs[0].location);
	uint8_t *out = bytes_at(request, &request->outputs[0].location);
	uint32_t in_size = request->inputs[0].location.length;
	uint32_t out_size = request->outputs[0].location.length;

	if (fault == VALUE)
		out[3] ^= 0x40;
	if (fault == NOT_WRITTEN)
		memcpy(out, before, out_size);
	if (fault == INPUT_CHANGED)
		in[0] ^= 1;
	if (fault == BEHIND_INPUT)
		in[in_size]++;
	if (fault == BEHIND_OUTPUT)
		out[out_size + 15]++;
	if (fault == LAST_BYTE)
		out[out_size]++;
}

static enum nnhal_status spoil(const struct nnhal_request *request, enum nnhal_status status,
			       struct nnhal_output_shape *shapes, uint32_t *num_shapes,
			       struct nnhal_timing *timing)
{
	spoil_memory(request);
	switch (fault) {
	case STATUS:
		*num_shapes = 0;
		*timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
		return NNHAL_STATUS_GENERAL_FAILURE;
	case SHAPES_OF_FAILURE:
		return NNHAL_STATUS_GENERAL_FAILURE;
	case LOST:
		*num_shapes = 0;
		*timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
		return NNHAL_STATUS_DEAD_OBJECT;
	case SUCCESS:
		return NNHAL_STATUS_NONE;
	case NO_SHAPES:
		*num_shapes = 0;
		break;
	case OTHER_SIZE:
		shapes[0].dimensions[0]++;
		break;
	case OTHER_RANK:
		shapes[0].num_dimensions++;
		break;
	case NOT_SUFFICIENT:
		shapes[0].is_sufficient = false;
		break;
	case SUFFICIENT:
		shapes[0].is_sufficient = true;
		break;
	case OTHER_TOO_SMALL:
		shapes[1].is_sufficient = false;
		break;
	case DEVICE_TIME:
		timing->time_on_device = timing->time_in_driver + 1;
		break;
	case UNASKED_TIME:
		timing->time_in_driver = 1;
		break;
	default:
		break;
	}
	return status;
}

enum nnhal_status
__wrap_nnhal_prepared_model_execute_synchronously(struct nnhal_prepared_model *model,
						  const struct nnhal_request *request,
						  const struct nnhal_execute_options *options,
						  struct nnhal_output_shape *shapes,
						  uint32_t *num_shapes,
						  struct nnhal_timing *timing)
{
	enum nnhal_status status;

	memcpy(before, bytes_at(request, &request->outputs[0].location),
	       request->outputs[0].location.length);
	status = __real_nnhal_prepared_model_execute_synchronously(model, request, options, shapes,
								   num_shapes, timing);
	return spoil(request, status, shapes, num_shapes, timing);
}

/* Calls back from within the call, which the HAL allows for a launch that fails. */
enum nnhal_status
__wrap_nnhal_prepared_model_execute(struct nnhal_prepared_model *model,
				    const struct nnhal_request *request,
				    const struct nnhal_execute_options *options,
				    nnhal_execution_callback callback, void *context)
{
	struct nnhal_output_shape shapes[8];
	struct nnhal_timing timing;
	enum nnhal_status status;
	uint32_t num_shapes;

	if (fault == FAULT_NONE)
		return __real_nnhal_prepared_model_execute(model, request, options, callback,
							   context);
	status = __real_nnhal_prepared_model_execute_synchronously(model, request, options, shapes,
								   &num_shapes, &timing);
	status = spoil(request, status, shapes, &num_shapes, &timing);
	callback(context, status, shapes, num_shapes, &timing);
	if (fault == TWO_CALLBACKS)
		callback(context, status, shapes, num_shapes, &timing);
	return fault == OTHER_LAUNCH ? NNHAL_STATUS_INVALID_ARGUMENT : NNHAL_STATUS_NONE;
}

enum nnhal_status
__wrap_nnhal_device_prepare_model_sync(struct nnhal_device *device,
				       const struct nnhal_model *model,
				       const struct nnhal_prepare_options *options,
				       struct nnhal_prepared_model **prepared)
{
	if (fault < NOT_PREPARED)
		return __real_nnhal_device_prepare_model_sync(device, model, options, prepared);
	*prepared = NULL;
	return fault == PREPARE_LOST ? NNHAL_STATUS_DEVICE_UNAVAILABLE :
				       NNHAL_STATUS_INVALID_ARGUMENT;
}

enum nnhal_status
__wrap_nnhal_ext_get_operation_support(struct nnhal_device *device,
				       const struct nnhal_model *model,
				       struct nnhal_ext_operation_support *support,
				       uint32_t num_support, struct nnhal_diag *diag)
{
	enum nnhal_status status;

	status = __real_nnhal_ext_get_operation_support(device, model, support, num_support, diag);
	if (fault == NOT_SUPPORTED ||
	    (fault == NOT_SUPPORTED_OPEN && !model->main.operands[0].num_dimensions)) {
		support[0].supported = false;
		snprintf(support[0].reason, sizeof(support[0].reason), "the test says so");
	}
	return status;
}

/* ---- the test ---- */

static struct runner runner;

static const struct variation *variation_of(const char *name)
{
	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		if (!strcmp(variations[v].name, name))
			return &variations[v];
	}
	exit(1);
}

static enum verdict run(const struct nntc_case *nc, const char *variation, enum fault f,
			char *text)
{
	enum verdict verdict;

	fault = f;
	verdict = runner_run(&runner, nc, variation_of(variation), text);
	runner_end_case(&runner);
	fault = FAULT_NONE;
	return verdict;
}

static void expect(const struct nntc_case *nc, const char *variation, enum fault f,
		   enum verdict expected, const char *words)
{
	char text[REASON_TEXT];
	enum verdict verdict = run(nc, variation, f, text);

	if (!ok(verdict == expected && strstr(text, words), "%s, %s: %s%s", nc->name, variation,
		expected == VERDICT_PASSED ? "passes" : "", words))
		tap_note("verdict %d: %s", verdict, text);
}

static void fails(const struct nntc_case *nc, const char *variation, enum fault f,
		  const char *words)
{
	expect(nc, variation, f, VERDICT_FAILED, words);
}

static void test_executions(const struct nntc_case *nc)
{
	expect(nc, "given", FAULT_NONE, VERDICT_PASSED, "");
	fails(nc, "given", STATUS, "GENERAL_FAILURE, expected NONE");
	fails(nc, "given", SHAPES_OF_FAILURE, "GENERAL_FAILURE with 2 output shapes");
	fails(nc, "given", NO_SHAPES, "0 output shapes, expected 2");
	fails(nc, "given", OTHER_SIZE, "output 0: shape [3, 2], expected [2, 2]");
	fails(nc, "given", OTHER_RANK, "output 0: shape [2, 2, 0], expected [2, 2]");
	fails(nc, "given", NOT_SUFFICIENT, "output 0: not sufficient");
	fails(nc, "given", DEVICE_TIME, "us on the device, but");
	fails(nc, "given", VALUE, "output 0: 1 of 4 elements differ, the first is 0");
	fails(nc, "given", NOT_WRITTEN, "output 0: 4 of 4 elements differ");
	fails(nc, "given", INPUT_CHANGED, "input 0 was changed");
	fails(nc, "given", BEHIND_INPUT, "something was written behind input 0");
	fails(nc, "given", BEHIND_OUTPUT, "something was written behind output 0");
	fails(nc, "memfd-pools", BEHIND_OUTPUT, "something was written behind output 0");
}

static void test_too_small(const struct nntc_case *nc)
{
	static const char *const names[] = { "output-too-small", "output-too-small-unspecified" };

	for (unsigned int i = 0; i < 2; i++) {
		expect(nc, names[i], FAULT_NONE, VERDICT_PASSED, "");
		fails(nc, names[i], SUCCESS, "NONE, expected OUTPUT_INSUFFICIENT_SIZE");
		fails(nc, names[i], STATUS, "GENERAL_FAILURE, expected OUTPUT_INSUFFICIENT_SIZE");
		fails(nc, names[i], SUFFICIENT, "output 0: sufficient, but it is too small");
		fails(nc, names[i], OTHER_TOO_SMALL, "output 1: not sufficient, but");
		fails(nc, names[i], OTHER_SIZE, "output 0: shape [3, 2], expected [2, 2]");
		fails(nc, names[i], LAST_BYTE, "the byte that was too many was written");
	}
}

static void test_async(const struct nntc_case *nc)
{
	expect(nc, "async", FAULT_NONE, VERDICT_PASSED, "");
	fails(nc, "async", TWO_CALLBACKS, "launched with NONE, 2 callbacks");
	fails(nc, "async", OTHER_LAUNCH, "launched with INVALID_ARGUMENT, 1 callbacks");
	fails(nc, "async", UNASKED_TIME, "times of an execution that was not measured");
	fails(nc, "async", VALUE, "output 0: 1 of 4 elements differ");
}

static void test_models(const struct nntc_case *nc)
{
	fails(nc, "given", NOT_PREPARED, "getSupportedOperations promised otherwise");
	expect(nc, "given", NOT_SUPPORTED, VERDICT_SKIPPED, "SPLIT: the test says so");
	ok(runner.unsupported, "which --strict knows");
	expect(nc, "inputs-unranked", NOT_SUPPORTED, VERDICT_SKIPPED, "SPLIT: the test says so");
	fails(nc, "inputs-unranked", NOT_SUPPORTED_OPEN,
	      "not supported in this form: SPLIT: the test says so");
	ok(!runner.lost, "the device is still there");
	fails(nc, "given", LOST, "DEAD_OBJECT, expected NONE");
	ok(runner.lost, "a context that was lost is noticed");
	runner.lost = false;
	fails(nc, "given", PREPARE_LOST, "prepare: DEVICE_UNAVAILABLE");
	ok(runner.lost, "a device that is gone is noticed");
}

/* A case that must be refused. */
static void test_refused(const struct nntc_case *nc)
{
	expect(nc, "given", FAULT_NONE, VERDICT_PASSED, "");
	fails(nc, "given", SUCCESS, "NONE, expected INVALID_ARGUMENT or GENERAL_FAILURE");
	fails(nc, "given", LOST, "DEAD_OBJECT, expected INVALID_ARGUMENT or GENERAL_FAILURE");
	fails(nc, "given", NOT_PREPARED, "getSupportedOperations promised otherwise");
	expect(nc, "given", NOT_SUPPORTED, VERDICT_PASSED, "");
	fails(nc, "given", PREPARE_LOST, "prepare: DEVICE_UNAVAILABLE");
}

/* Run a test on the case of this name. */
static void with_case(const char *path, const char *name, void (*test)(const struct nntc_case *nc))
{
	struct nntc_case nc;
	struct nntc_file f;
	bool found = false;

	if (!nntc_open(&f, path))
		exit(1);
	while (!found && nntc_next(&f, &nc)) {
		found = !strcmp(nc.name, name);
		if (found)
			test(&nc);
		nntc_free(&nc);
	}
	ok(found, "%s has the case %s", path, name);
	nntc_close(&f);
}

int main(void)
{
	struct nnhal_device *device;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	status = nnhal_device_open("sim", &device, &diag);
	if (status == NNHAL_STATUS_NO_DRIVER)
		tap_skip_all("this library has no in-process device: %s", diag.message);
	if (status) {
		printf("Bail out! in-process device: %s\n", diag.message);
		return 1;
	}
	runner_init(&runner, device);
	with_case("tests/nnvec/cases/shapes.nntc", "split", test_executions);
	with_case("tests/nnvec/cases/shapes.nntc", "split", test_too_small);
	with_case("tests/nnvec/cases/shapes.nntc", "split", test_async);
	with_case("tests/nnvec/cases/shapes.nntc", "split", test_models);
	with_case("tests/nnvec/cases/refused.nntc", "strided_slice_stride_0", test_refused);
	runner_free(&runner);
	nnhal_device_unref(device);
	return tap_done();
}
