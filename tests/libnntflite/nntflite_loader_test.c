// SPDX-License-Identifier: MIT
/*
 * The .tflite loader against damaged files, and the mapping of each operator.
 *
 * Damaged files: every truncation and every single-bit error of the models in
 * examples/digits, and many errors at once. The loader may refuse a file or take
 * it; what it takes must be a valid HAL model. The sanitizers see the rest.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/tools/common/file.h"
#include "userspace/libnntflite/file/schema.h"

#include <unistd.h>

#define MAX_MODEL	65536

enum outcome { REFUSED, TAKEN, WRONG };

static char reason[700];

/*
 * Is a model refused for operands that do not fit their operation? That is the file's doing;
 * all else that a model must obey is up to the loader.
 */
static bool is_about_operands(const char *message)
{
	return !strncmp(message, "operation ", 10) &&
	       (strstr(message, ", expected ") || strstr(message, "no form of it"));
}

/* Load a file from memory of exactly its size, so that one byte beyond is noticed. */
static enum outcome load(const uint8_t *data, size_t size)
{
	struct nnhal_diag why = { "" };
	struct nntflite_diag diag;
	enum outcome outcome = REFUSED;
	struct nntflite_file *file = NULL;
	struct nntflite_model *model = NULL;
	uint8_t *copy = malloc(size ? size : 1);

	if (size)
		memcpy(copy, data, size);
	if (nntflite_file_open_memory(copy, size, &file, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_model_create(file, NULL, &model, &diag) == NNHAL_STATUS_NONE) {
		outcome = TAKEN;
		if (!nnhal_validate_model(nntflite_model_get_hal(model), &why)) {
			outcome = is_about_operands(why.message) ? REFUSED : WRONG;
			snprintf(diag.message, sizeof(diag.message), "%s", why.message);
		}
	} else if (diag.message[0] == '\0' || model) {
		outcome = WRONG;
	}
	nntflite_model_destroy(model);
	nntflite_file_close(file);
	free(copy);
	snprintf(reason, sizeof(reason), "%s", diag.message);
	return outcome;
}

static size_t read_model(const char *path, uint8_t *data)
{
	struct error err = { "", 0 };
	uint8_t *file = NULL;
	size_t size = 0;
	int fd = open_input(path, &err);

	if (fd < 0 || read_rest(fd, path, NULL, 0, MAX_MODEL, &file, &size, NULL, &err)) {
		tap_note("%s", err.text);
		return 0;
	}
	close(fd);
	memcpy(data, file, size);
	free(file);
	return size;
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Put a number of an interesting size over a place in the file. */
static void damage(uint8_t *data, size_t size, uint32_t *state)
{
	static const uint32_t values[] = {
		0, 1, 2, 4, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
		0xfffffffe, 0xffffffff, 0x10000, 0x01000000,
	};
	uint32_t value = values[next_random(state) % (sizeof(values) / sizeof(values[0]))];
	size_t at = next_random(state) % (size - 4);
	uint32_t bytes = 1u << next_random(state) % 3;

	if (next_random(state) % 4 == 0)
		value = next_random(state);
	memcpy(data + at, &value, bytes);
}

static void test_damaged(const char *name, const char *path)
{
	static uint8_t data[MAX_MODEL], copy[MAX_MODEL];
	size_t size = read_model(path, data);
	unsigned int count[3] = { 0 };
	uint32_t state = 2463534242u;
	size_t i, bit;

	if (!ok(size > 0, "%s can be read", name))
		return;
	if (!ok(load(data, size) == TAKEN, "%s is taken", name))
		tap_note("%s", reason);

	for (i = 0; i < size; i++)
		count[load(data, i)]++;
	ok(count[WRONG] == 0 && count[TAKEN] + count[REFUSED] == size,
	   "%s cut off at each of %zu places: %u refused, %u taken", name, size, count[REFUSED],
	   count[TAKEN]);

	memset(count, 0, sizeof(count));
	for (i = 0; i < size; i++) {
		for (bit = 0; bit < 8; bit++) {
			enum outcome outcome;

			/* Weights are data: one bit each is enough of them. */
			if (bit != 0 && i % 7 != 0 && i > size / 2)
				continue;
			data[i] ^= 1u << bit;
			outcome = load(data, size);
			if (outcome == WRONG && count[WRONG] == 0)
				tap_note("byte %zu bit %zu: %s", i, bit, reason);
			count[outcome]++;
			data[i] ^= 1u << bit;
		}
	}
	ok(count[WRONG] == 0, "%s with one wrong bit: %u refused, %u taken as valid", name,
	   count[REFUSED], count[TAKEN]);

	memset(count, 0, sizeof(count));
	for (i = 0; i < 20000; i++) {
		enum outcome outcome;
		uint32_t errors = 1 + next_random(&state) % 4;

		memcpy(copy, data, size);
		while (errors--)
			damage(copy, size, &state);
		outcome = load(copy, size);
		if (outcome == WRONG && count[WRONG] == 0)
			tap_note("mutation %zu: %s", i, reason);
		count[outcome]++;
	}
	ok(count[WRONG] == 0, "%s with several errors: %u refused, %u taken as valid", name,
	   count[REFUSED], count[TAKEN]);
}

/* ---- single operators ---- */

static const float ones[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
static const int32_t int_ones[16] = { 1 };
static const int8_t bytes[64] = { 1, -2, 3 };

static struct mw_tensor float_tensor(const char *name, uint32_t rank, const int32_t *dims)
{
	struct mw_tensor tensor = { .name = name, .type = TFLITE_FLOAT32, .rank = rank };

	memcpy(tensor.dims, dims, rank * sizeof(*dims));
	return tensor;
}

static struct mw_tensor int8_tensor(const char *name, uint32_t rank, const int32_t *dims)
{
	struct mw_tensor tensor = float_tensor(name, rank, dims);

	tensor.type = TFLITE_INT8;
	tensor.num_scales = 1;
	tensor.scales[0] = 0.5f;
	return tensor;
}

#define DIMS(...)	((const int32_t[]){ __VA_ARGS__ })

/* A model of one operator: tensors 0 to n - 2 are inputs, the last one the output. */
static struct mw_model one_operator(int32_t code, uint8_t options_type)
{
	struct mw_model model = {
		.num_operators = 1, .num_inputs = 1, .num_outputs = 1,
	};

	model.operators[0].code = code;
	model.operators[0].options_type = options_type;
	model.operators[0].num_outputs = 1;
	return model;
}

static void add_tensor(struct mw_model *model, struct mw_tensor tensor, bool output)
{
	struct mw_operator *op = &model->operators[0];
	uint32_t index = model->num_tensors++;

	model->tensors[index] = tensor;
	if (output)
		op->outputs[0] = (int32_t)index;
	else
		op->inputs[op->num_inputs++] = (int32_t)index;
	model->outputs[0] = op->outputs[0];
}

static uint8_t file[MW_MAX_SIZE];

/* Map a model; *@hal stays valid until unmap(). */
struct mapped {
	struct nntflite_file *file;
	struct nntflite_model *model;
	const struct nnhal_subgraph *hal;
	bool valid;
};

static void map(const struct mw_model *model, struct mapped *m)
{
	struct nnhal_diag why = { "" };
	struct nntflite_diag diag;
	size_t size = mw_write(model, file);

	memset(m, 0, sizeof(*m));
	if (nntflite_file_open_memory(file, size, &m->file, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_model_create(m->file, NULL, &m->model, &diag) == NNHAL_STATUS_NONE) {
		m->hal = &nntflite_model_get_hal(m->model)->main;
		m->valid = nnhal_validate_model(nntflite_model_get_hal(m->model), &why);
		if (!m->valid)
			snprintf(diag.message, sizeof(diag.message), "%s", why.message);
	}
	snprintf(reason, sizeof(reason), "%s", diag.message);
}

static void unmap(struct mapped *m)
{
	nntflite_model_destroy(m->model);
	nntflite_file_close(m->file);
}

/* Check the types of the operations, comma-separated names. */
static void expect(const struct mw_model *model, const char *operations, const char *what)
{
	char got[256] = "";
	struct mapped m;
	uint32_t i;

	map(model, &m);
	for (i = 0; m.valid && i < m.hal->num_operations; i++) {
		size_t used = strlen(got);

		snprintf(got + used, sizeof(got) - used, "%s%s", i ? "," : "",
			 nnhal_operation_type_name(m.hal->operations[i].type));
	}
	if (!ok(strcmp(got, operations) == 0, "%s maps to %s", what, operations))
		tap_note("got '%s': %s", got, reason);
	unmap(&m);
}

/* The model is refused with a text that has @words in it. */
static void refuse(const struct mw_model *model, const char *words, const char *what)
{
	struct mapped m;

	map(model, &m);
	if (!ok(!m.valid && strstr(reason, words), "%s is refused: \"%s\"", what, words))
		tap_note("got '%s'", m.valid ? "a valid model" : reason);
	unmap(&m);
}

static struct mw_model conv_model(bool depthwise)
{
	struct mw_model model = depthwise ?
		one_operator(TFLITE_DEPTHWISE_CONV_2D, TFLITE_DEPTHWISE_CONV_2D_OPTIONS) :
		one_operator(TFLITE_CONV_2D, TFLITE_CONV_2D_OPTIONS);
	struct mw_tensor filter = int8_tensor("filter", 4, depthwise ? DIMS(1, 1, 1, 2) :
								       DIMS(2, 1, 1, 2));
	struct mw_tensor bias = { .name = "bias", .type = TFLITE_INT32, .rank = 1, .dims = { 2 } };

	add_tensor(&model, int8_tensor("in", 4, DIMS(1, 4, 4, 2)), false);
	filter.data = bytes;
	filter.data_size = depthwise ? 2 : 4;
	add_tensor(&model, filter, false);
	bias.data = int_ones;
	bias.data_size = 8;
	add_tensor(&model, bias, false);
	add_tensor(&model, int8_tensor("out", 4, DIMS(1, 4, 4, 2)), true);
	model.operators[0].options[0] = (struct mw_option){ MW_I32, 1, 1, 0, NULL };
	model.operators[0].options[1] = (struct mw_option){ MW_I32, 2, 1, 0, NULL };
	return model;
}

static void test_convolution(void)
{
	struct mw_model model = conv_model(false);
	const struct nnhal_operand *operand;
	struct mapped m;

	map(&model, &m);
	if (ok(m.valid, "int8 CONV_2D is mapped")) {
		const struct nnhal_operation *op = &m.hal->operations[0];

		operand = &m.hal->operands[op->inputs[1]];
		ok(op->num_inputs == 7, "CONV_2D without dilation has 7 inputs");
		ok(operand->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
		   operand->extra_params.channel_quant.num_scales == 2 &&
		   operand->extra_params.channel_quant.channel_dim == 0,
		   "a filter with one scale becomes per-channel along dimension 0");
		operand = &m.hal->operands[op->inputs[2]];
		ok(operand->type == NNHAL_OPERAND_TENSOR_INT32 && operand->scale == 0,
		   "the bias of a per-channel filter has scale 0");
	} else {
		tap_note("%s", reason);
	}
	unmap(&m);

	model.operators[0].options[2] = (struct mw_option){ MW_I32, 4, 2, 0, NULL };
	map(&model, &m);
	ok(m.valid && m.hal->operations[0].num_inputs == 10,
	   "CONV_2D with dilation has 10 inputs");
	unmap(&m);

	model = conv_model(false);
	model.operators[0].inputs[2] = -1;
	map(&model, &m);
	ok(m.valid && m.hal->operands[m.hal->operations[0].inputs[2]].lifetime ==
	   NNHAL_LIFETIME_CONSTANT_COPY, "an omitted bias becomes zeros");
	unmap(&m);

	model = conv_model(true);
	map(&model, &m);
	operand = m.valid ? &m.hal->operands[m.hal->operations[0].inputs[1]] : NULL;
	ok(m.valid && m.hal->operations[0].num_inputs == 8 &&
	   operand->extra_params.channel_quant.channel_dim == 3,
	   "DEPTHWISE_CONV_2D has 8 inputs and channels along dimension 3");
	unmap(&m);

	model = conv_model(false);
	model.tensors[1].num_scales = 3;
	model.tensors[1].scales[1] = 1;
	model.tensors[1].scales[2] = 1;
	refuse(&model, "3 quantization scales for 2 channels", "a filter with a scale too many");
	model = conv_model(false);
	model.tensors[1].num_scales = 2;
	model.tensors[1].scales[1] = 1;
	model.tensors[1].quantized_dim = 3;
	refuse(&model, "quantized along dimension 3", "a filter quantized along its inputs");
	model = conv_model(false);
	model.tensors[1].zero_point = 1;
	refuse(&model, "is not 0, as that of int8 weights has to be", "a filter with a zero point");
	model = conv_model(false);
	model.tensors[1].data_size = 3;
	refuse(&model, "3 bytes of data, its shape takes 4", "a filter with data missing");
	model = conv_model(false);
	model.tensors[2].dims[0] = 1;
	model.tensors[2].data_size = 4;
	refuse(&model, "a bias of 1 elements for 2", "a short bias");
	model = conv_model(false);
	model.operators[0].options[2] = (struct mw_option){ MW_I8, 3, 4, 0, NULL };
	refuse(&model, "fused activation TANH", "fused TANH");
	model.operators[0].options[2] = (struct mw_option){ MW_I8, 0, 2, 0, NULL };
	refuse(&model, "unknown padding 2", "an unknown padding");
	model = conv_model(false);
	model.operators[0].no_options = true;
	refuse(&model, "options are missing", "CONV_2D without options");
	model = conv_model(false);
	model.operators[0].options_type = TFLITE_POOL_2D_OPTIONS;
	refuse(&model, "options of type 5", "CONV_2D with the options of a pool");
	model = conv_model(false);
	model.tensors[0].dims[3] = 4;
	model.tensors[1].dims[3] = 2;
	expect(&model, "GROUPED_CONV_2D", "CONV_2D with a filter for half the channels");
}

static struct mw_model product_model(void)
{
	struct mw_model model = one_operator(TFLITE_FULLY_CONNECTED,
					     TFLITE_FULLY_CONNECTED_OPTIONS);
	struct mw_tensor weights = int8_tensor("weights", 2, DIMS(3, 4));

	add_tensor(&model, int8_tensor("in", 2, DIMS(2, 4)), false);
	weights.data = bytes;
	weights.data_size = 12;
	add_tensor(&model, weights, false);
	add_tensor(&model, int8_tensor("out", 2, DIMS(2, 3)), true);
	return model;
}

static void test_fully_connected(void)
{
	struct mw_model model = product_model();
	const struct nnhal_operand *operand;
	struct mapped m;

	map(&model, &m);
	if (ok(m.valid, "int8 FULLY_CONNECTED is mapped")) {
		const struct nnhal_operation *op = &m.hal->operations[0];

		operand = &m.hal->operands[op->inputs[1]];
		ok(operand->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED,
		   "its weights are TENSOR_QUANT8_ASYMM_SIGNED");
		operand = &m.hal->operands[op->inputs[2]];
		ok(operand->scale == 0.25f, "its bias has the product of the scales");
	}
	unmap(&m);

	model.tensors[2].rank = 3;
	memcpy(model.tensors[2].dims, DIMS(2, 1, 3), 12);
	expect(&model, "FULLY_CONNECTED,RESHAPE", "FULLY_CONNECTED with an output of rank 3");
	model = product_model();
	model.tensors[0].rank = 1;
	model.tensors[0].dims[0] = 4;
	memcpy(model.tensors[2].dims, DIMS(1, 3), 8);
	expect(&model, "RESHAPE,FULLY_CONNECTED", "FULLY_CONNECTED with an input of rank 1");
	model.tensors[0].data = bytes;
	model.tensors[0].data_size = 4;
	model.tensors[1].data = NULL;
	model.num_inputs = 1;
	model.inputs[0] = 1;
	expect(&model, "RESHAPE,FULLY_CONNECTED", "and with a constant one, and weights that are fed,");
	model = product_model();
	model.tensors[1].num_scales = 3;
	model.tensors[1].scales[1] = 1;
	model.tensors[1].scales[2] = 1;
	expect(&model, "RESHAPE,CONV_2D,RESHAPE", "FULLY_CONNECTED with a scale per output");
	model = product_model();
	model.tensors[2].dims[1] = 4;
	refuse(&model, "output of 8 elements", "an output that does not fit");
	model = product_model();
	model.tensors[0].dims[1] = 3;
	refuse(&model, "does not fit weights of 4 columns", "an input that does not fit");
	model = product_model();
	model.operators[0].options[0] = (struct mw_option){ MW_I8, 1, 1, 0, NULL };
	refuse(&model, "shuffled weights", "shuffled weights");
}

static void test_hybrid(void)
{
	struct mw_model model = conv_model(false);
	struct mapped m;
	const struct nnhal_operand *operand;

	model.tensors[0] = float_tensor("in", 4, DIMS(1, 4, 4, 2));
	model.tensors[3] = float_tensor("out", 4, DIMS(1, 4, 4, 2));
	model.operators[0].inputs[2] = -1;
	expect(&model, "DEQUANTIZE,CONV_2D", "float CONV_2D with an int8 filter");
	map(&model, &m);
	operand = m.valid ? &m.hal->operands[m.hal->operations[0].inputs[0]] : NULL;
	ok(m.valid && operand->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM,
	   "the filter with one scale is TENSOR_QUANT8_SYMM");
	unmap(&m);
	model.tensors[1].num_scales = 2;
	model.tensors[1].scales[1] = 1;
	expect(&model, "DEQUANTIZE,CONV_2D", "the same with a scale per channel");
}

static void test_simple_operators(void)
{
	static const struct {
		int32_t code;
		const char *name;
	} unary[] = {
		{ TFLITE_RELU, "RELU" }, { TFLITE_RELU6, "RELU6" },
		{ TFLITE_RELU_N1_TO_1, "RELU1" }, { TFLITE_LOGISTIC, "LOGISTIC" },
		{ TFLITE_TANH, "TANH" },
	};
	struct mw_model model;
	size_t i;

	for (i = 0; i < sizeof(unary) / sizeof(unary[0]); i++) {
		model = one_operator(unary[i].code, 0);
		model.operators[0].no_options = true;
		add_tensor(&model, float_tensor("in", 2, DIMS(1, 8)), false);
		add_tensor(&model, float_tensor("out", 2, DIMS(1, 8)), true);
		expect(&model, unary[i].name, unary[i].name);
	}

	model = one_operator(TFLITE_SOFTMAX, TFLITE_SOFTMAX_OPTIONS);
	model.operators[0].options[0] = (struct mw_option){ MW_F32, 0, 0, 1, NULL };
	add_tensor(&model, float_tensor("in", 2, DIMS(1, 8)), false);
	add_tensor(&model, float_tensor("out", 2, DIMS(1, 8)), true);
	expect(&model, "SOFTMAX", "SOFTMAX");

	model = one_operator(TFLITE_MAX_POOL_2D, TFLITE_POOL_2D_OPTIONS);
	add_tensor(&model, float_tensor("in", 4, DIMS(1, 4, 4, 1)), false);
	add_tensor(&model, float_tensor("out", 4, DIMS(1, 2, 2, 1)), true);
	expect(&model, "MAX_POOL_2D", "MAX_POOL_2D");
	model.operators[0].code = TFLITE_AVERAGE_POOL_2D;
	expect(&model, "AVERAGE_POOL_2D", "AVERAGE_POOL_2D");

	model = one_operator(TFLITE_ADD, TFLITE_ADD_OPTIONS);
	add_tensor(&model, float_tensor("in", 2, DIMS(1, 8)), false);
	add_tensor(&model, float_tensor("constant", 0, DIMS(0)), false);
	model.tensors[1].data = ones;
	model.tensors[1].data_size = 4;
	add_tensor(&model, float_tensor("out", 2, DIMS(1, 8)), true);
	expect(&model, "ADD", "ADD of a scalar constant");
	model.operators[0].code = TFLITE_MUL;
	model.operators[0].options_type = TFLITE_MUL_OPTIONS;
	expect(&model, "MUL", "MUL of a scalar constant");
}

static void test_quantize(void)
{
	struct mw_model model = one_operator(TFLITE_QUANTIZE, 0);

	model.operators[0].no_options = true;
	add_tensor(&model, float_tensor("in", 2, DIMS(1, 8)), false);
	add_tensor(&model, int8_tensor("out", 2, DIMS(1, 8)), true);
	expect(&model, "QUANTIZE", "QUANTIZE");
	model.tensors[1].type = TFLITE_INT16;
	model.tensors[1].zero_point = 0;
	expect(&model, "extension operation", "QUANTIZE to int16");
	model.tensors[1] = int8_tensor("out", 2, DIMS(1, 8));
	model.tensors[0] = int8_tensor("in", 2, DIMS(1, 8));
	model.tensors[0].type = TFLITE_UINT8;
	model.tensors[0].zero_point = 128;
	expect(&model, "extension operation", "QUANTIZE from uint8 to int8");

	model.operators[0].code = TFLITE_DEQUANTIZE;
	model.tensors[1] = float_tensor("out", 2, DIMS(1, 8));
	expect(&model, "DEQUANTIZE", "DEQUANTIZE");
	model.tensors[0].type = TFLITE_FLOAT16;
	model.tensors[0].num_scales = 0;
	expect(&model, "CAST", "DEQUANTIZE of float16");
}

static void test_reshape_and_concatenation(void)
{
	static const int32_t shape[2] = { -1, 2 };
	struct mw_model model = one_operator(TFLITE_RESHAPE, TFLITE_RESHAPE_OPTIONS);
	struct mapped m;

	add_tensor(&model, float_tensor("in", 2, DIMS(1, 8)), false);
	add_tensor(&model, float_tensor("out", 2, DIMS(4, 2)), true);
	model.operators[0].options[0] = (struct mw_option){ MW_LIST, 0, 2, 0, shape };
	expect(&model, "RESHAPE", "RESHAPE with the shape in its options");
	model.operators[0].no_options = true;
	expect(&model, "RESHAPE", "RESHAPE with the shape of its output");
	model.tensors[2] = (struct mw_tensor){
		.name = "shape", .type = TFLITE_INT32, .rank = 1, .dims = { 2 },
		.data = shape, .data_size = 8,
	};
	model.num_tensors = 3;
	model.operators[0].inputs[1] = 2;
	model.operators[0].num_inputs = 2;
	map(&model, &m);
	ok(m.valid && m.hal->operands[m.hal->operations[0].inputs[1]].lifetime ==
	   NNHAL_LIFETIME_CONSTANT_REFERENCE, "RESHAPE with the shape in a tensor");
	unmap(&m);
	model.tensors[2].type = TFLITE_FLOAT32;
	refuse(&model, "shape of type float32", "a shape of floats");

	model = one_operator(TFLITE_CONCATENATION, TFLITE_CONCATENATION_OPTIONS);
	add_tensor(&model, float_tensor("a", 2, DIMS(1, 8)), false);
	add_tensor(&model, float_tensor("b", 2, DIMS(1, 8)), false);
	add_tensor(&model, float_tensor("out", 2, DIMS(1, 16)), true);
	model.inputs[1] = 1;
	model.num_inputs = 2;
	model.operators[0].options[0] = (struct mw_option){ MW_I32, 0, -1, 0, NULL };
	map(&model, &m);
	ok(m.valid && m.hal->operations[0].num_inputs == 3 && nntflite_model_num_inputs(m.model) == 2,
	   "CONCATENATION of two inputs along axis -1");
	unmap(&m);
	model.operators[0].options[1] = (struct mw_option){ MW_I8, 1, 3, 0, NULL };
	expect(&model, "CONCATENATION,RELU6", "CONCATENATION with a fused activation");
	model.operators[0].options[0].value = 2;
	refuse(&model, "axis 2 of tensors of rank 2", "an axis beyond the rank");
}

/* A model of one RELU, to be spoiled. */
static struct mw_model relu_model(void)
{
	struct mw_model model = one_operator(TFLITE_RELU, 0);

	model.operators[0].no_options = true;
	add_tensor(&model, float_tensor("in", 2, DIMS(1, 8)), false);
	add_tensor(&model, float_tensor("out", 2, DIMS(1, 8)), true);
	return model;
}

static void test_operators_refused(void)
{
	struct mw_model model = relu_model();

	model.operators[0].code = TFLITE_WHILE;
	model.num_subgraphs = 3;
	refuse(&model, "operator 0 (WHILE): its options are missing", "a loop without subgraphs");
	model = relu_model();
	model.operators[0].code = TFLITE_CUSTOM;
	model.operators[0].custom_name = "My\x1b[Op";
	refuse(&model, "custom operator 'My?[Op'", "a custom operator");
	model = relu_model();
	model.operators[0].code = TFLITE_SKIP_GRAM;
	refuse(&model, "operator 0 (SKIP_GRAM): this operator is not supported: it works on strings,"
	       " and the HAL has no tensors of them (it computes tensor 1 'out')",
	       "an operator without mapping");
	model = relu_model();
	model.operators[0].code = 4711;
	refuse(&model, "operator number 4711", "an operator of the future");
	model = relu_model();
	model.operators[0].num_outputs = 0;
	refuse(&model, "0 outputs, expected 1", "an operator without output");
	model = relu_model();
	model.operators[0].num_inputs = 2;
	refuse(&model, "2 inputs, expected 1 to 1", "an operator with an input too many");
	model = relu_model();
	model.operators[0].inputs[0] = -1;
	refuse(&model, "input 0 is missing", "an omitted input");
	model = relu_model();
	model.operators[0].inputs[0] = 7;
	refuse(&model, "tensor 7 of 2 does not exist", "a tensor index out of range");
	model = relu_model();
	model.operators[0].inputs[0] = 1;
	refuse(&model, "read before an operator computes it", "a cycle");
}

static void test_tensors_refused(void)
{
	struct mw_model model = relu_model();

	model.version = 2;
	refuse(&model, "schema version 2", "an old schema");
	model = relu_model();
	model.num_operators = 0;
	refuse(&model, "output of the model, but no operator computes it", "a model without operators");
	model.outputs[0] = 0;
	expect(&model, "RESHAPE", "a model without operators that gives its input");
	model = relu_model();
	model.num_inputs = 0;
	refuse(&model, "read before an operator computes it", "a model without inputs");
	model = relu_model();
	model.num_outputs = 0;
	refuse(&model, "no outputs", "a model without outputs");
	model = relu_model();
	model.outputs[0] = 0;
	expect(&model, "RELU,RESHAPE", "an input as output");
	model = relu_model();
	model.inputs[1] = 0;
	model.num_inputs = 2;
	refuse(&model, "listed twice as input", "an input listed twice");
	model = relu_model();
	model.outputs[1] = 1;
	model.num_outputs = 2;
	expect(&model, "RELU,RESHAPE", "an output listed twice");
	model = relu_model();
	model.tensors[2] = float_tensor("none", 2, DIMS(0, 8));
	model.num_tensors = 3;
	model.operators[0].inputs[0] = 2;
	expect(&model, "extension operation,RELU", "a constant without elements");
	model = relu_model();
	model.tensors[1].data = ones;
	model.tensors[1].data_size = 32;
	refuse(&model, "written, but it is a constant", "a constant as output");
	model = relu_model();
	model.tensors[0].dims[1] = 0;
	refuse(&model, "dimension 1 is 0", "a dimension of 0");
	model = relu_model();
	model.tensors[0].dims[1] = -1;
	refuse(&model, "dimension 1 is -1", "a negative dimension");
	model = relu_model();
	model.tensors[0].rank = 4;
	memcpy(model.tensors[0].dims, DIMS(65536, 65536, 65536, 65536), 16);
	refuse(&model, "more than 2^31 bytes", "a tensor larger than memory");
	model = relu_model();
	model.tensors[0].rank = 9;
	refuse(&model, "rank 9", "a rank too high");
	model = relu_model();
	model.tensors[0].type = 5;
	refuse(&model, "type string has no counterpart", "strings");
	model = relu_model();
	model.tensors[0].variable = true;
	expect(&model, "RELU", "a variable that is an input of the model");
	model = relu_model();
	model.tensors[0].type = TFLITE_UINT8;
	model.tensors[1].type = TFLITE_UINT8;
	expect(&model, "RELU", "uint8 without a scale, which stands for itself,");
	model.tensors[0] = int8_tensor("in", 2, DIMS(1, 8));
	model.tensors[0].scales[0] = -1;
	refuse(&model, "scale -1 is not a positive number", "a negative scale");
	model.tensors[0].scales[0] = 1;
	model.tensors[0].zero_point = 200;
	refuse(&model, "zero point 200 is outside the range of int8", "a zero point out of range");
	model.tensors[0].zero_point = 0;
	model.tensors[0].custom_quantization = true;
	refuse(&model, "custom quantization", "custom quantization");
}

/* Tensors of rank 0 are [1] in the HAL, and the results have the rank that the file means. */
static void test_scalars(void)
{
	static const int32_t two[] = { 2 };
	struct mw_model model = one_operator(TFLITE_PACK, TFLITE_PACK_OPTIONS);
	struct mw_tensor index = { .name = "index", .type = TFLITE_INT32, .data = two,
				   .data_size = 4 };
	struct mapped m;
	uint32_t i;

	add_tensor(&model, float_tensor("a", 0, DIMS(1)), false);
	add_tensor(&model, float_tensor("b", 0, DIMS(1)), false);
	add_tensor(&model, float_tensor("out", 1, DIMS(2)), true);
	model.inputs[1] = 1;
	model.num_inputs = 2;
	expect(&model, "CONCATENATION", "PACK of scalars");
	for (i = 0; i < 3; i++)
		model.tensors[i].type = TFLITE_INT32;
	map(&model, &m);
	ok(m.valid && m.hal->operations[0].type >> 16 &&
	   (m.hal->operations[0].type & 0xffff) == TFLITE_CONCATENATION,
	   "PACK of int32 scalars is CONCATENATION of the extension");
	unmap(&m);

	model = one_operator(TFLITE_GATHER, TFLITE_GATHER_OPTIONS);
	add_tensor(&model, float_tensor("in", 2, DIMS(3, 4)), false);
	add_tensor(&model, index, false);
	add_tensor(&model, float_tensor("out", 1, DIMS(4)), true);
	expect(&model, "GATHER,SQUEEZE", "GATHER with a scalar index");
	model.tensors[0] = float_tensor("in", 1, DIMS(3));
	model.tensors[2] = float_tensor("out", 1, DIMS(1));
	map(&model, &m);
	ok(m.valid && m.hal->num_operations == 1, "GATHER of one element");
	unmap(&m);
}

/* A state is an input and an output of the HAL model, behind those of the file. */
static void test_variables(void)
{
	struct mw_model model = one_operator(TFLITE_SVDF, TFLITE_SVDF_OPTIONS);
	const struct nntflite_variable *v;
	static const float weights[6];
	struct mapped m;
	uint32_t i;

	add_tensor(&model, float_tensor("in", 2, DIMS(1, 3)), false);
	for (i = 0; i < 2; i++) {
		struct mw_tensor filter = float_tensor("filter", 2, i ? DIMS(2, 2) : DIMS(2, 3));

		filter.data = weights;
		filter.data_size = i ? 16 : 24;
		add_tensor(&model, filter, false);
	}
	add_tensor(&model, float_tensor("state", 2, DIMS(1, 4)), false);
	model.tensors[3].variable = true;
	add_tensor(&model, float_tensor("out", 2, DIMS(1, 2)), true);
	/* Without a bias. */
	model.operators[0].inputs[3] = -1;
	model.operators[0].inputs[4] = 3;
	model.operators[0].num_inputs = 5;
	model.operators[0].options[0] = (struct mw_option){ MW_I32, 0, 1, 0, NULL };
	map(&model, &m);
	if (!ok(m.valid && m.hal->num_inputs == 2 && m.hal->num_outputs == 2 &&
		nntflite_model_num_inputs(m.model) == 1 &&
		nntflite_model_num_outputs(m.model) == 1 &&
		nntflite_model_num_variables(m.model) == 1, "SVDF has a variable"))
		tap_note("%s", reason);
	v = m.valid ? nntflite_model_variable(m.model, 0) : NULL;
	ok(v && v->bytes == 16 && v->rank == 2 && v->input == 1 && v->output == 1 &&
	   !v->initial && !strcmp(v->name, "state"), "what the variable is");
	unmap(&m);
	model.tensors[3].variable = false;
	refuse(&model, "input 4 is no variable", "a state that is no variable");
}

/* A small file may name the same long list, or the same long key, for each of its signatures. */
static void test_signatures(void)
{
	struct nntflite_file_info info = NNTFLITE_FILE_INFO_INIT;
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	struct mw_model model = product_model();
	struct nntflite_model *made = NULL;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	char key[5001];
	size_t size;

	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	model.num_signatures = 2;
	model.signature_key = "serve";
	model.signature_inputs = 1;
	size = mw_write(&model, file);
	ok(nntflite_file_open_memory(file, size, &opened, &diag) == NNHAL_STATUS_NONE &&
	   nntflite_file_get_info(opened, &info) == NNHAL_STATUS_NONE &&
	   info.num_signatures == 2 && strcmp(nntflite_file_signature(opened, 1), "serve") == 0,
	   "a file with two signatures");
	options.signature = "serve";
	ok(nntflite_model_create(opened, &options, &made, &diag) == NNHAL_STATUS_NONE &&
	   strcmp(nntflite_model_input(made, 0)->name, "x") == 0 &&
	   strcmp(nntflite_model_output(made, 0)->name, "out") == 0,
	   "an input has the name of the signature, an output that it does not name its own");
	nntflite_model_destroy(made);
	nntflite_file_close(opened);
	model.signature_key = key;
	refuse(&model, "signature 0: a key of 5000 bytes", "a long key");
	model.signature_key = "serve";
	model.padded_inputs = 6000;
	model.signature_inputs = 6000;
	model.num_signatures = 1024;
	refuse(&model, "references to tensors", "a list of 6000 names in each of 1024 signatures");
}

int main(void)
{
	test_convolution();
	test_fully_connected();
	test_hybrid();
	test_simple_operators();
	test_quantize();
	test_reshape_and_concatenation();
	test_operators_refused();
	test_tensors_refused();
	test_scalars();
	test_variables();
	test_signatures();
	test_damaged("digits_int8.tflite", "examples/digits/digits_int8.tflite");
	test_damaged("digits_float.tflite", "examples/digits/digits_float.tflite");
	return tap_done();
}
