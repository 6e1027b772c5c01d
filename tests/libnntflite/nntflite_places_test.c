// SPDX-License-Identifier: MIT
/*
 * Which subgraph, operator and tensor a refusal names, in struct nntflite_diag and in words.
 */
#include <stdio.h>
#include <string.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

#define NONE	NNTFLITE_NONE

static uint8_t file[MW_MAX_SIZE];
static const float zeros[8];

/* in - RELU - mid - TANH - out, each of shape [1, 8] */
static struct mw_model chain(void)
{
	static const char *const names[] = { "in", "mid", "out" };
	struct mw_model m = { .num_tensors = 3, .num_operators = 2, .num_inputs = 1,
			      .num_outputs = 1, .outputs = { 2 } };
	int i;

	for (i = 0; i < 3; i++)
		m.tensors[i] = (struct mw_tensor){ .name = names[i], .rank = 2, .dims = { 1, 8 } };
	for (i = 0; i < 2; i++)
		m.operators[i] = (struct mw_operator){
			.code = i ? TFLITE_TANH : TFLITE_RELU, .num_inputs = 1, .inputs = { i },
			.num_outputs = 1, .outputs = { i + 1 }, .no_options = true,
		};
	return m;
}

/* The file is refused by opening it or by making a model of it. */
static void refused(const struct mw_model *m, uint32_t subgraph, uint32_t op, uint32_t tensor,
		    const char *message, const char *what)
{
	struct nntflite_model *model = NULL;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	size_t size = mw_write(m, file);
	enum nnhal_status status = nntflite_file_open_memory(file, size, &opened, &diag);

	if (status == NNHAL_STATUS_NONE)
		status = nntflite_model_create(opened, NULL, &model, &diag);
	if (!ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !model &&
		!strncmp(diag.message, message, strlen(message)), "%s: \"%s\"", what, message))
		tap_note("status %d, '%s'", status, diag.message);
	if (!ok(diag.subgraph == subgraph && diag.op == op && diag.tensor == tensor,
		"%s: subgraph %d, operator %d, tensor %d", what, (int)subgraph, (int)op, (int)tensor))
		tap_note("subgraph %d, operator %d, tensor %d", (int)diag.subgraph, (int)diag.op,
			 (int)diag.tensor);
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
}

/* The first @size bytes of a file. */
static void cut(size_t size, const char *message)
{
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;

	if (!ok(nntflite_file_open_memory(file, size, &opened, &diag) ==
		NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, message),
		"%zu bytes: \"%s\"", size, message))
		tap_note("'%s'", diag.message);
	nntflite_file_close(opened);
}

/* Faults that are seen when the file is opened. */
static void test_open(void)
{
	struct mw_model m = chain();

	mw_write(&m, file);
	cut(0, "the file is empty");
	cut(7, "malformed file: end of the file inside the header");
	cut(200, ": the file ends before");

	m.version = 4;
	refused(&m, NONE, NONE, NONE, "schema version 4", "another schema");
	m = chain();
	m.tensors[1].rank = 9;
	refused(&m, 0, NONE, 1, "tensor 1 'mid': rank 9, at most 8", "a rank too high");
	m = chain();
	m.operators[1].inputs[0] = 5;
	refused(&m, 0, 1, NONE, "operator 1 (TANH): input 0: tensor 5 of 3", "a tensor too many");
	m = chain();
	m.operators[1].outside = 1 << 30;
	refused(&m, 0, 1, NONE, "operator 1: data at offset 1073741824, 4 bytes, is beyond the end of"
		" the file", "options out of the file");
	m = chain();
	m.outputs[0] = 3;
	refused(&m, 0, NONE, NONE, "model output 0: tensor 3 of 3", "an output too many");
}

/* Faults that are seen when a model is made. */
static void test_create(void)
{
	static const int64_t low[] = { 0, -1879048192 }, high[] = { 0, 0 };
	static const int64_t between[] = { 0, 268435456 };
	struct mw_model m = chain();

	m.operators[1].code = TFLITE_SKIP_GRAM;
	refused(&m, 0, 1, 2, "operator 1 (SKIP_GRAM): this operator is not supported: it works on"
		" strings, and the HAL has no tensors of them (it computes tensor 2 'out')",
		"an operator that is not supported");
	m = chain();
	m.num_inputs = 0;
	m.tensors[0].data = zeros;
	m.tensors[0].data_size = sizeof(zeros);
	refused(&m, 0, NONE, NONE, "the model has no inputs, and", "a model of constants");
	m = chain();
	m.operators[1].num_outputs = 0;
	refused(&m, 0, 1, 1, "operator 1 (TANH): 0 outputs, expected 1 to 1 (it reads tensor 1 'mid')",
		"an operator without outputs");
	m = chain();
	m.operators[1].num_outputs = 0;
	m.operators[1].num_inputs = 0;
	refused(&m, 0, 1, NONE, "operator 1 (TANH): 0 inputs, expected 1 to 1",
		"an operator without tensors");
	m = chain();
	m.operators[1].inputs[0] = 2;
	refused(&m, 0, 1, 2, "operator 1 (TANH): tensor 2 'out': read before", "a tensor at fault");
	m = chain();
	m.tensors[0].dims[1] = -1;
	refused(&m, 0, NONE, 0, "tensor 0 'in': dimension 1 is -1", "an input without a shape");
	m = chain();
	m.num_inputs = 2;
	refused(&m, 0, NONE, 0, "tensor 0 'in': listed twice", "an input twice");
	m = chain();
	m.operators[1] = (struct mw_operator){
		.code = TFLITE_RESHAPE, .num_inputs = 1, .inputs = { 1 }, .num_outputs = 1,
		.outputs = { 2 }, .options_type = TFLITE_RESHAPE_OPTIONS,
	};
	m.tensors[2].dims[0] = -1;
	refused(&m, 0, 1, 2, "operator 1 (RESHAPE): tensor 2 'out': neither the file nor",
		"a new shape that is nowhere");
	/* Spread out far, and cut off to what it was. */
	m = chain();
	m.operators[1] = (struct mw_operator){
		.code = TFLITE_STABLEHLO_PAD, .num_inputs = 2, .inputs = { 1, 1 }, .num_outputs = 1,
		.outputs = { 2 }, .options_2 = true,
		.options_type = TFLITE_STABLEHLO_PAD_OPTIONS_2,
		.options = { { MW_LIST64, 0, 2, 0, low }, { MW_LIST64, 1, 2, 0, high },
			     { MW_LIST64, 2, 2, 0, between } },
	};
	refused(&m, 0, 1, 2, "operator 1 (STABLEHLO_PAD): an intermediate result takes more than",
		"a result that is not in the file");
	/* The list of sizes begins where the file has ended. */
	m = chain();
	m.operators[1] = (struct mw_operator){
		.code = TFLITE_RESHAPE, .num_inputs = 1, .inputs = { 1 }, .num_outputs = 1,
		.outputs = { 2 }, .options_type = TFLITE_RESHAPE_OPTIONS,
		.options = { { MW_I32, 0, 0x7ffffff0, 0, NULL } },
	};
	refused(&m, 0, 1, 2, "operator 1 (RESHAPE): malformed file: ", "options out of the file");
}

/* More zero points than scales: which belong to what? */
static void test_zero_points(void)
{
	static const int8_t weights[8];
	struct mw_model m = chain();
	uint32_t i;

	for (i = 0; i < 3; i++) {
		m.tensors[i] = (struct mw_tensor){ .name = "t", .type = TFLITE_INT8, .rank = 4,
			.dims = { 1, 1, 1, 8 }, .num_scales = 1, .scales = { 1 } };
	}
	m.tensors[1].data = weights;
	m.tensors[1].data_size = sizeof(weights);
	m.tensors[1].more_zero_points = 1;
	m.tensors[2].dims[3] = 1;
	m.num_operators = 1;
	m.operators[0] = (struct mw_operator){ .code = TFLITE_CONV_2D, .num_inputs = 2,
		.inputs = { 0, 1 }, .num_outputs = 1, .outputs = { 2 },
		.options_type = TFLITE_CONV_2D_OPTIONS,
		.options = { { MW_I32, 1, 1, 0, NULL }, { MW_I32, 2, 1, 0, NULL } } };
	refused(&m, 0, 0, 1, "operator 0 (CONV_2D): tensor 1 't': 2 quantization zero points for 1 scales",
		"more zero points than scales");
}

/* The model is made; its validation or the device refuse it. */
static void unprepared(const struct mw_model *m, struct nnhal_device *device, uint32_t op,
		       uint32_t tensor, const char *message, const char *what)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared = NULL;
	struct nntflite_model *model = NULL;
	struct nntflite_file *opened = NULL;
	struct nnhal_diag why = { "" };
	struct nntflite_diag diag;
	size_t size = mw_write(m, file);

	options.diag = &why;
	if (ok(!nntflite_file_open_memory(file, size, &opened, &diag) &&
	       !nntflite_model_create(opened, NULL, &model, &diag), "%s: a model", what)) {
		ok(nnhal_device_prepare_model_sync(device, nntflite_model_get_hal(model), &options,
						   &prepared) == NNHAL_STATUS_INVALID_ARGUMENT &&
		   !nntflite_model_explain(model, &why, &diag), "%s: refused", what);
		if (!ok(!strncmp(diag.message, message, strlen(message)) && diag.subgraph == 0 &&
			diag.op == op && diag.tensor == tensor &&
			strstr(diag.message, why.message), "%s: \"%s\"", what, message))
			tap_note("'%s', operator %d, tensor %d", diag.message, (int)diag.op,
				 (int)diag.tensor);
	}
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
}

static void test_explain(void)
{
	struct nnhal_device *device = NULL;
	struct nnhal_diag why = { "device: gone" };
	struct nntflite_diag diag;
	struct mw_model m = chain();

	if (!ok(!nnhal_device_open("sim", &device, &why), "the device"))
		return;
	m.tensors[2].dims[1] = 9;
	unprepared(&m, device, 1, 2, "operator 1 (TANH): tensor 2 'out': ", "a wrong shape");
	m = chain();
	m.tensors[1].type = TFLITE_INT32;
	unprepared(&m, device, 0, 1, "operator 0 (RELU): tensor 1 'mid': ", "a wrong type");
	nnhal_device_unref(device);
	ok(nntflite_model_explain(NULL, &why, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   diag.message[0], "no model");
}

int main(void)
{
	test_open();
	test_create();
	test_zero_points();
	test_explain();
	return tap_done();
}
