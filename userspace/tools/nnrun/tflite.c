// SPDX-License-Identifier: MIT
/*
 * TensorFlow Lite model files as plain C structures.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite.h"

/*
 * Vectors of a FlatBuffer may overlap: a small file can name the same long list
 * of tensors for each of many operators. These limits keep the work in proportion.
 */
#define MAX_TENSORS		(1u << 18)
#define MAX_OPERATORS		(1u << 17)
#define MAX_REFERENCES		(1u << 21)

/* Slots of the tables, in the order of the schema; a union takes two. */
enum { MODEL_VERSION, MODEL_OPERATOR_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_DEPRECATED, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { SUBGRAPH_TENSORS, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS, SUBGRAPH_OPERATORS };
enum {
	TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANTIZATION,
	TENSOR_IS_VARIABLE, TENSOR_SPARSITY,
};
enum {
	QUANT_MIN, QUANT_MAX, QUANT_SCALE, QUANT_ZERO_POINT, QUANT_DETAILS_TYPE, QUANT_DETAILS,
	QUANT_DIMENSION,
};
enum {
	OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE,
	OPERATOR_OPTIONS,
};
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };

#define SCHEMA_VERSION		3

size_t tflite_type_size(int type)
{
	switch (type) {
	case TFLITE_FLOAT32:
	case TFLITE_INT32:
		return 4;
	case TFLITE_FLOAT16:
	case TFLITE_INT16:
		return 2;
	case TFLITE_UINT8:
	case TFLITE_INT8:
	case TFLITE_BOOL:
		return 1;
	case TFLITE_INT64:
		return 8;
	default:
		return 0;
	}
}

bool tflite_elements(const struct tflite_tensor *tensor, uint64_t *count)
{
	uint64_t n = 1;
	uint32_t i;

	for (i = 0; i < tensor->rank; i++) {
		if (tensor->dims[i] <= 0)
			return false;
		n *= (uint64_t)tensor->dims[i];
		if (n > UINT64_C(1) << 31)
			return false;
	}
	*count = n;
	return true;
}

/* Find the constant data of a tensor: in its buffer, or behind the FlatBuffer. */
static int read_buffer(struct tflite_model *model, const struct fb_vector *buffers,
		       struct tflite_tensor *tensor, uint32_t index, struct error *err)
{
	struct fb_table table;
	struct fb_vector data;
	uint64_t offset, size;

	if (tensor->buffer >= buffers->count) {
		/* Old converters omit the buffers if there is no constant. */
		if (tensor->buffer == 0)
			return 0;
		return fail(err, "tensor %" PRIu32 " '%s': buffer %" PRIu32
			    " of %" PRIu32 " does not exist", index, TEXT(tensor->name),
			    tensor->buffer, buffers->count);
	}
	table = fb_vector_table(&model->reader, buffers, tensor->buffer);
	data = fb_vector(&table, BUFFER_DATA, 1);
	offset = fb_u64(&table, BUFFER_OFFSET, 0);
	size = fb_u64(&table, BUFFER_SIZE, 0);
	if (fb_failed(&model->reader))
		return -1;
	if (data.count) {
		tensor->data = data.data;
		tensor->bytes = data.count;
	} else if (offset > 1 && size > 0) {
		if (offset > model->reader.size || size > model->reader.size - offset)
			return fail(err, "tensor %" PRIu32 " '%s': data at offset %" PRIu64
				    ", %" PRIu64 " bytes, is beyond the end of the file",
				    index, TEXT(tensor->name), offset, size);
		tensor->data = model->reader.data + offset;
		tensor->bytes = size;
	}
	return 0;
}

static int read_tensor(struct tflite_model *model, const struct fb_vector *tensors,
		       const struct fb_vector *buffers, uint32_t index, struct error *err)
{
	struct tflite_tensor *tensor = &model->tensors[index];
	struct fb_table table = fb_vector_table(&model->reader, tensors, index);
	struct fb_vector shape = fb_vector(&table, TENSOR_SHAPE, 4);
	struct fb_table quant, sparsity;
	uint32_t i;

	tensor->name = fb_string(&table, TENSOR_NAME);
	tensor->type = fb_i8(&table, TENSOR_TYPE, 0);
	tensor->buffer = fb_u32(&table, TENSOR_BUFFER, 0);
	tensor->is_variable = fb_u8(&table, TENSOR_IS_VARIABLE, 0);
	sparsity = fb_subtable(&table, TENSOR_SPARSITY);
	tensor->is_sparse = sparsity.present;
	quant = fb_subtable(&table, TENSOR_QUANTIZATION);
	tensor->scales = fb_vector(&quant, QUANT_SCALE, 4);
	tensor->zero_points = fb_vector(&quant, QUANT_ZERO_POINT, 8);
	tensor->quantized_dim = fb_i32(&quant, QUANT_DIMENSION, 0);
	tensor->custom_quantization = fb_u8(&quant, QUANT_DETAILS_TYPE, 0) != 0;
	if (fb_failed(&model->reader))
		return -1;

	if (shape.count > TFLITE_MAX_RANK)
		return fail(err, "tensor %" PRIu32 " '%s': rank %" PRIu32
			    ", at most %d is supported", index, TEXT(tensor->name), shape.count,
			    TFLITE_MAX_RANK);
	tensor->rank = shape.count;
	for (i = 0; i < shape.count; i++)
		tensor->dims[i] = fb_vector_i32(&shape, i);
	return read_buffer(model, buffers, tensor, index, err);
}

/* Check a list of tensor indexes; @omitted says whether -1 is allowed. */
static int check_indexes(const struct tflite_model *model, const struct fb_vector *list,
			 bool omitted, const char *what, struct error *err)
{
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		int32_t index = fb_vector_i32(list, i);

		if (index == -1 && omitted)
			continue;
		if (index < 0 || (uint32_t)index >= model->num_tensors)
			return fail(err, "%s %" PRIu32 ": tensor %" PRId32 " of %" PRIu32
				    " does not exist", what, i, index, model->num_tensors);
	}
	return 0;
}

static int read_operator(struct tflite_model *model, const struct fb_vector *operators,
			 const struct fb_vector *codes, uint32_t index, uint32_t *references,
			 struct error *err)
{
	struct tflite_operator *op = &model->operators[index];
	struct fb_table table = fb_vector_table(&model->reader, operators, index);
	uint32_t code_index = fb_u32(&table, OPERATOR_CODE, 0);
	struct fb_table code;
	int32_t builtin, deprecated;
	char what[64];

	op->inputs = fb_vector(&table, OPERATOR_INPUTS, 4);
	op->outputs = fb_vector(&table, OPERATOR_OUTPUTS, 4);
	op->options_type = fb_u8(&table, OPERATOR_OPTIONS_TYPE, 0);
	op->options = fb_subtable(&table, OPERATOR_OPTIONS);
	if (fb_failed(&model->reader))
		return -1;
	if (code_index >= codes->count)
		return fail(err, "operator %" PRIu32 ": operator code %" PRIu32 " of %" PRIu32
			    " does not exist", index, code_index, codes->count);
	code = fb_vector_table(&model->reader, codes, code_index);
	deprecated = fb_i8(&code, CODE_DEPRECATED, 0);
	builtin = fb_i32(&code, CODE_BUILTIN, 0);
	op->custom_name = fb_string(&code, CODE_CUSTOM);
	if (fb_failed(&model->reader))
		return -1;
	/* Newer files have a wider field for the code. The larger number counts. */
	op->code = builtin > deprecated ? builtin : deprecated;

	if (op->inputs.count > MAX_REFERENCES - *references ||
	    op->outputs.count > MAX_REFERENCES - *references - op->inputs.count)
		return fail(err, "operator %" PRIu32 ": more than %u references to tensors in the"
			    " model", index, MAX_REFERENCES);
	*references += op->inputs.count + op->outputs.count;
	snprintf(what, sizeof(what), "operator %" PRIu32 ": input", index);
	if (check_indexes(model, &op->inputs, true, what, err))
		return -1;
	snprintf(what, sizeof(what), "operator %" PRIu32 ": output", index);
	return check_indexes(model, &op->outputs, false, what, err);
}

static int read_subgraph(struct tflite_model *model, const struct fb_table *root,
			 const struct fb_table *subgraph, struct error *err)
{
	struct fb_vector buffers = fb_vector(root, MODEL_BUFFERS, 4);
	struct fb_vector codes = fb_vector(root, MODEL_OPERATOR_CODES, 4);
	struct fb_vector tensors = fb_vector(subgraph, SUBGRAPH_TENSORS, 4);
	struct fb_vector operators = fb_vector(subgraph, SUBGRAPH_OPERATORS, 4);
	uint32_t references = 0;
	uint32_t i;

	model->inputs = fb_vector(subgraph, SUBGRAPH_INPUTS, 4);
	model->outputs = fb_vector(subgraph, SUBGRAPH_OUTPUTS, 4);
	model->num_buffers = buffers.count;
	if (fb_failed(&model->reader))
		return -1;
	if (tensors.count > MAX_TENSORS)
		return fail(err, "%" PRIu32 " tensors, at most %u are supported", tensors.count,
			    MAX_TENSORS);
	if (operators.count > MAX_OPERATORS)
		return fail(err, "%" PRIu32 " operators, at most %u are supported",
			    operators.count, MAX_OPERATORS);
	if (operators.count == 0)
		return fail(err, "the model has no operators");
	if (model->outputs.count == 0)
		return fail(err, "the model has no outputs");

	model->tensors = calloc(tensors.count ? tensors.count : 1, sizeof(*model->tensors));
	model->operators = calloc(operators.count, sizeof(*model->operators));
	if (!model->tensors || !model->operators)
		return fail(err, "out of memory");
	model->num_tensors = tensors.count;
	model->num_operators = operators.count;

	for (i = 0; i < tensors.count; i++)
		if (read_tensor(model, &tensors, &buffers, i, err))
			return -1;
	if (check_indexes(model, &model->inputs, false, "model input", err) ||
	    check_indexes(model, &model->outputs, false, "model output", err))
		return -1;
	for (i = 0; i < operators.count; i++)
		if (read_operator(model, &operators, &codes, i, &references, err))
			return -1;
	return 0;
}

int tflite_parse(struct tflite_model *model, const uint8_t *data, size_t size,
		 struct error *err)
{
	struct fb_table root, subgraph;
	struct fb_vector subgraphs;
	uint32_t version;

	memset(model, 0, sizeof(*model));
	root = fb_root(&model->reader, data, size, "TFL3", err);
	version = fb_u32(&root, MODEL_VERSION, 0);
	model->description = fb_string(&root, MODEL_DESCRIPTION);
	subgraphs = fb_vector(&root, MODEL_SUBGRAPHS, 4);
	if (fb_failed(&model->reader))
		return -1;
	if (version != SCHEMA_VERSION)
		return fail(err, "schema version %" PRIu32 ", only %d is supported", version,
			    SCHEMA_VERSION);
	if (subgraphs.count == 0)
		return fail(err, "the model has no subgraph");
	model->num_subgraphs = subgraphs.count;
	subgraph = fb_vector_table(&model->reader, &subgraphs, 0);
	return read_subgraph(model, &root, &subgraph, err);
}

void tflite_free(struct tflite_model *model)
{
	free(model->tensors);
	free(model->operators);
	model->tensors = NULL;
	model->operators = NULL;
	model->num_tensors = 0;
	model->num_operators = 0;
}
