// SPDX-License-Identifier: MIT
/*
 * Which operands tensors become: scales per channel of what is fed, a bias that two operators
 * read, sizes that the caller wishes, float16 scalars, options of the custom operator.
 */
#include <string.h>

#include <nntflite/session.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

static uint8_t file[MW_MAX_SIZE];
static struct nnhal_device *device;
static struct nntflite_file *opened;	/* it has to outlive its model */

static enum nnhal_status make(const struct mw_model *m, const struct nntflite_shape *wish,
			      struct nntflite_model **model, struct nntflite_diag *diag)
{
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	enum nnhal_status status;

	options.shapes = wish;
	options.num_shapes = wish ? 1 : 0;
	*model = NULL;
	status = nntflite_file_open_memory(file, mw_write(m, file), &opened, diag);
	if (status == NNHAL_STATUS_NONE)
		status = nntflite_model_create(opened, &options, model, diag);
	return status;
}

static void unmake(struct nntflite_model *model)
{
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
	opened = NULL;
}

static void refuse(const struct mw_model *m, const char *message, const char *what)
{
	struct nntflite_model *model;
	struct nntflite_diag diag = { .message = "" };
	enum nnhal_status status = make(m, NULL, &model, &diag);

	if (!ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !strcmp(diag.message, message),
		"%s: \"%s\"", what, message))
		tap_note("status %d, '%s'", status, diag.message);
	unmake(model);
}

/* One operator that reads tensors 0 to @num_inputs - 1, all fed, and writes the next one. */
static struct mw_model one_operator(int32_t code, uint32_t num_inputs)
{
	struct mw_model m = { .num_tensors = num_inputs + 1, .num_operators = 1,
			      .num_inputs = num_inputs, .num_outputs = 1 };
	uint32_t i;

	m.operators[0] = (struct mw_operator){ .code = code, .num_inputs = num_inputs,
					       .num_outputs = 1, .no_options = true };
	for (i = 0; i < num_inputs; i++)
		m.operators[0].inputs[i] = m.inputs[i] = (int32_t)i;
	m.operators[0].outputs[0] = m.outputs[0] = (int32_t)num_inputs;
	return m;
}

/* Gives output 0 of a model whose inputs are bytes. */
static bool run(const struct mw_model *m, const void *const *inputs, void *output, size_t size)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct nntflite_session *session = NULL;
	struct nntflite_model *model;
	struct nntflite_diag diag = { .message = "" };
	bool done = false;
	uint32_t i;

	if (make(m, NULL, &model, &diag) ||
	    nntflite_session_create(model, device, NULL, &session, &diag))
		goto out;
	for (i = 0; i < m->num_inputs; i++)
		if (nntflite_session_set_input(session, i, inputs[i],
					       nntflite_model_input(model, i)->bytes, &diag))
			goto out;
	done = !nntflite_session_run(session, NULL, NULL, &diag) &&
	       !nntflite_session_output(session, 0, &value) && value.bytes == size;
	if (done)
		memcpy(output, value.data, size);
out:
	if (!done)
		tap_note("%s", diag.message);
	nntflite_session_destroy(session);
	unmake(model);
	return done;
}

static struct mw_tensor per_channel(void)
{
	return (struct mw_tensor){ .name = "weights", .type = TFLITE_INT8, .rank = 2, .dims = { 2, 3 },
				   .scales = { 0.5f, 0.25f, 2 }, .num_scales = 3, .quantized_dim = 1 };
}

static void test_channels(void)
{
	static const int8_t numbers[6] = { 1, 2, 3, -4, -5, -6 };
	static const float expected[6] = { 0.5f, 0.5f, 6, -2, -1.25f, -12 };
	const void *in[] = { numbers };
	struct mw_model m = one_operator(TFLITE_DEQUANTIZE, 1);
	struct mw_tensor *t = m.tensors;
	float got[6] = { 0 };

	t[0] = per_channel();
	t[1] = (struct mw_tensor){ .name = "out", .rank = 2, .dims = { 2, 3 } };
	ok(run(&m, in, got, sizeof(got)) && !memcmp(got, expected, sizeof(got)),
	   "DEQUANTIZE of what is fed, with a scale per column");
	t[0].num_scales = 2;
	refuse(&m, "tensor 0 'weights': 2 quantization scales for 3 channels", "a scale too few");
	t[0].num_scales = 3;
	t[0].zero_point = 7;
	refuse(&m, "tensor 0 'weights': zero point 7 is not 0, as that of int8 weights has to be",
	       "a zero point");
	t[0] = per_channel();
	t[0].quantized_dim = 2;
	refuse(&m, "tensor 0 'weights': rank 2 is too small for a filter", "no such dimension");
	t[0].quantized_dim = -1;
	refuse(&m, "tensor 0 'weights': quantized along dimension -1", "no dimension");
	t[0] = per_channel();
	t[0].scales[1] = 0;
	refuse(&m, "tensor 0 'weights': quantization scale 0 is not a positive number", "a scale of 0");

	m = one_operator(TFLITE_RELU, 1);
	t[0] = per_channel();
	t[1] = (struct mw_tensor){ .name = "out", .type = TFLITE_INT8, .rank = 2, .dims = { 2, 3 },
				   .scales = { 1 }, .num_scales = 1 };
	refuse(&m, "operator 0 (RELU): tensor 0 'weights': 3 quantization scales, where only one for"
	       " the whole tensor is supported", "RELU of scales per channel");
	m = one_operator(TFLITE_QUANTIZE, 1);
	t[0] = (struct mw_tensor){ .name = "in", .rank = 2, .dims = { 2, 3 } };
	t[1] = per_channel();
	refuse(&m, "operator 0 (QUANTIZE): tensor 1 'weights': 3 quantization scales, where only one"
	       " for the whole tensor is supported", "a result with scales per channel");
}

/* Two products of one input and one bias that is fed; their weights have other scales. */
static void test_shared_bias(void)
{
	static const int8_t x[2] = { 10, 20 }, weights[2] = { 1, 1 };
	static const int32_t bias[1] = { 8 };
	const void *in[] = { x, bias };
	/* 15 * 0.5 and 8 steps of 0.5 * 0.5; 15 * 0.125 and 8 steps of 0.5 * 0.125. */
	static const int8_t expected[2] = { 19, 5 };
	struct mw_model m = { .num_tensors = 6, .num_operators = 2, .num_inputs = 2, .inputs = { 0, 1 },
			      .num_outputs = 2, .outputs = { 4, 5 } };
	int8_t got[2] = { 0 };
	uint32_t i;

	m.tensors[0] = (struct mw_tensor){ .name = "x", .type = TFLITE_INT8, .rank = 2, .dims = { 1, 2 },
					   .scales = { 0.5f }, .num_scales = 1 };
	m.tensors[1] = (struct mw_tensor){ .name = "bias", .type = TFLITE_INT32, .rank = 1,
					   .dims = { 1 } };
	for (i = 0; i < 2; i++) {
		m.tensors[2 + i] = (struct mw_tensor){
			.name = i ? "v" : "w", .type = TFLITE_INT8, .rank = 2, .dims = { 1, 2 },
			.data = weights, .data_size = sizeof(weights),
			.scales = { i ? 0.125f : 0.5f }, .num_scales = 1,
		};
		m.tensors[4 + i] = (struct mw_tensor){
			.name = "y", .type = TFLITE_INT8, .rank = 2, .dims = { 1, 1 },
			.scales = { 0.5f }, .num_scales = 1,
		};
		m.operators[i] = (struct mw_operator){
			.code = TFLITE_FULLY_CONNECTED, .num_inputs = 3,
			.inputs = { 0, 2 + (int32_t)i, 1 }, .num_outputs = 1,
			.outputs = { 4 + (int32_t)i }, .options_type = TFLITE_FULLY_CONNECTED_OPTIONS,
		};
	}
	for (i = 0; i < 2; i++) {
		m.outputs[0] = 4 + (int32_t)i;
		m.outputs[1] = 5 - (int32_t)i;
		if (!ok(run(&m, in, &got[i], 1) && got[i] == expected[i],
			"product %u of two that share a bias", i))
			tap_note("%d, expected %d", got[i], expected[i]);
	}
}

/* A grouped convolution by the channels that the caller wishes, and a multiplier by them. */
static void test_wished_channels(void)
{
	static const float weights[4] = { 1, 2, 3, 4 };
	struct nntflite_shape wish = { "x", 4, { 1, 2, 2, 4 } };
	struct mw_model m = one_operator(TFLITE_CONV_2D, 2);
	struct nntflite_diag diag = { .message = "" };
	struct nntflite_model *model;
	const struct nnhal_subgraph *hal;
	int32_t number = -1;

	m.num_inputs = 1;
	m.operators[0].no_options = false;
	m.operators[0].options_type = TFLITE_CONV_2D_OPTIONS;
	m.operators[0].options[0] = (struct mw_option){ MW_I32, 1, 1, 0, NULL };
	m.operators[0].options[1] = (struct mw_option){ MW_I32, 2, 1, 0, NULL };
	m.tensors[0] = (struct mw_tensor){ .name = "x", .rank = 4, .dims = { 1, 2, 2, 1 } };
	m.tensors[1] = (struct mw_tensor){ .name = "w", .rank = 4, .dims = { 2, 1, 1, 2 },
					   .data = weights, .data_size = sizeof(weights) };
	m.tensors[2] = (struct mw_tensor){ .name = "y", .rank = 4, .dims = { 1, 2, 2, 2 } };
	if (ok(make(&m, &wish, &model, &diag) == NNHAL_STATUS_NONE, "CONV_2D with wished channels")) {
		hal = &nntflite_model_get_hal(model)->main;
		ok(hal->operations[0].type == NNHAL_OPERATION_GROUPED_CONV_2D, "it has two groups");
	} else {
		tap_note("%s", diag.message);
	}
	unmake(model);

	m.operators[0].code = TFLITE_DEPTHWISE_CONV_2D;
	m.operators[0].options_type = TFLITE_DEPTHWISE_CONV_2D_OPTIONS;
	m.tensors[1].dims[0] = 1;
	m.tensors[1].dims[3] = 4;
	wish.dims[3] = 2;
	if (ok(make(&m, &wish, &model, &diag) == NNHAL_STATUS_NONE,
	       "DEPTHWISE_CONV_2D with wished channels")) {
		hal = &nntflite_model_get_hal(model)->main;
		memcpy(&number, (const uint8_t *)nntflite_model_get_hal(model)->operand_values +
		       hal->operands[hal->operations[0].inputs[6]].location.offset, 4);
		ok(number == 2, "its multiplier is 2: %d", number);
	} else {
		tap_note("%s", diag.message);
	}
	unmake(model);
}

/* Scalars beside a float16 are float16; 0, 1 and the least number above 0. */
static void test_halves(void)
{
	static const struct { float real; uint16_t bits; } cases[] = {
		{ 0, 0 }, { 1, 0x3c00 }, { -0.5f, 0xb800 }, { 0x1p-24f, 1 }, { 65504, 0x7bff },
	};
	struct mw_model m = one_operator(TFLITE_SOFTMAX, 1);
	struct nntflite_diag diag = { .message = "" };
	const struct nnhal_operand *beta;
	const struct nnhal_model *hal;
	struct nntflite_model *model;
	size_t i;

	m.tensors[0] = (struct mw_tensor){ .name = "x", .type = TFLITE_FLOAT16, .rank = 2,
					   .dims = { 1, 4 } };
	m.tensors[1] = m.tensors[0];
	m.tensors[1].name = "y";
	m.operators[0].no_options = false;
	m.operators[0].options_type = TFLITE_SOFTMAX_OPTIONS;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint16_t bits = 0xffff;

		m.operators[0].options[0] = (struct mw_option){ MW_F32, 0, 0, cases[i].real, NULL };
		if (make(&m, NULL, &model, &diag) == NNHAL_STATUS_NONE) {
			hal = nntflite_model_get_hal(model);
			beta = &hal->main.operands[hal->main.operations[0].inputs[1]];
			if (beta->type == NNHAL_OPERAND_FLOAT16 && beta->location.length == 2)
				memcpy(&bits, (const uint8_t *)hal->operand_values +
				       beta->location.offset, 2);
		} else {
			tap_note("%s", diag.message);
		}
		ok(bits == cases[i].bits, "%g is the float16 %#x: %#x", (double)cases[i].real,
		   cases[i].bits, bits);
		unmake(model);
	}
}

/* A FlexBuffer: a map from the keys to numbers of four bytes. */
struct flex {
	const char *key;
	bool real;
	float value;
};

static uint32_t flex_of(const struct flex *list, uint32_t count, uint8_t *out)
{
	uint32_t i, at = 0, keys[16], vector, values, word;

	for (i = 0; i < count; i++) {
		keys[i] = at;
		memcpy(out + at, list[i].key, strlen(list[i].key) + 1);
		at += (uint32_t)strlen(list[i].key) + 1;
	}
	memcpy(out + at, &count, 4);
	at += 4;
	vector = at;
	for (i = 0; i < count; i++, at += 4) {
		word = at - keys[i];
		memcpy(out + at, &word, 4);
	}
	word = at - vector;
	memcpy(out + at, &word, 4);
	word = 4;
	memcpy(out + at + 4, &word, 4);
	memcpy(out + at + 8, &count, 4);
	at += 12;
	values = at;
	for (i = 0; i < count; i++, at += 4) {
		int32_t whole = (int32_t)list[i].value;

		memcpy(out + at, list[i].real ? (const void *)&list[i].value : &whole, 4);
	}
	for (i = 0; i < count; i++)
		out[at++] = (uint8_t)((list[i].real ? 3 : 1) << 2 | 2);
	out[at] = (uint8_t)(at - values);
	out[at + 1] = 9 << 2 | 2;
	out[at + 2] = 1;
	return at + 3;
}

static void test_detection(void)
{
	struct flex options[] = {
		{ "y_scale", true, 10 }, { "x_scale", true, 10 }, { "h_scale", true, 5 },
		{ "w_scale", true, 5 }, { "max_detections", false, 3 },
		{ "max_classes_per_detection", false, 1 }, { "nms_score_threshold", true, 0 },
		{ "nms_iou_threshold", true, 0.5f }, { "num_classes", false, 2 },
	};
	const uint32_t count = sizeof(options) / sizeof(options[0]);
	static const struct { const char *name; int32_t dims[3]; } tensors[] = {
		{ "deltas", { 1, 6, 4 } }, { "scores", { 1, 6, 4 } }, { "anchors", { 6, 4 } },
		{ "boxes", { 1, 3, 4 } }, { "labels", { 1, 3 } }, { "best", { 1, 3 } },
		{ "number", { 1 } },
	};
	struct mw_model m = { .num_tensors = 7, .num_inputs = 3, .inputs = { 0, 1, 2 },
			      .num_outputs = 4, .outputs = { 3, 4, 5, 6 }, .num_operators = 1 };
	uint8_t bytes[400];
	uint32_t i, k;

	for (i = 0; i < 7; i++) {
		m.tensors[i] = (struct mw_tensor){ .name = tensors[i].name };
		for (k = 0; k < 3 && tensors[i].dims[k]; k++)
			m.tensors[i].dims[k] = tensors[i].dims[k];
		m.tensors[i].rank = k;
	}
	m.operators[0] = (struct mw_operator){
		.code = TFLITE_CUSTOM, .custom_name = "TFLite_Detection_PostProcess",
		.num_inputs = 3, .inputs = { 0, 1, 2 }, .num_outputs = 4, .outputs = { 3, 4, 5, 6 },
		.custom = bytes, .custom_size = flex_of(options, count, bytes),
	};
	refuse(&m, "operator 0 (TFLite_Detection_PostProcess): tensor 1 'scores': 4 scores per box for"
	       " 2 classes, expected as many or one more", "scores of other classes");
	m.operators[0].custom_size = flex_of(options, count - 1, bytes);
	refuse(&m, "operator 0 (TFLite_Detection_PostProcess): its options have no number 'num_classes'"
	       " (it computes tensor 3 'boxes')",
	       "no number of classes");
}

int main(void)
{
	struct nnhal_diag why = { .message = "" };

	if (!ok(nnhal_device_open("sim", &device, &why) == NNHAL_STATUS_NONE, "a device")) {
		tap_note("%s", why.message);
		return tap_done();
	}
	test_channels();
	test_shared_bias();
	test_wished_channels();
	test_halves();
	test_detection();
	nnhal_device_unref(device);
	return tap_done();
}
