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
#define MAX_SUBGRAPHS		(1u << 10)
#define MAX_SIGNATURES		(1u << 10)
#define MAX_KEY			4096u

/* Of an operator whose code has not been read yet. */
#define UNKNOWN_CODE		INT32_MIN

/* Slots of the tables, in the order of the schema; a union takes two. */
enum {
	MODEL_VERSION, MODEL_OPERATOR_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS,
	MODEL_METADATA_BUFFER, MODEL_METADATA, MODEL_SIGNATURES,
};
enum { CODE_DEPRECATED, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { SUBGRAPH_TENSORS, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS, SUBGRAPH_OPERATORS, SUBGRAPH_NAME };
enum {
	TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, TENSOR_QUANTIZATION,
	TENSOR_IS_VARIABLE, TENSOR_SPARSITY, TENSOR_SIGNATURE, TENSOR_HAS_RANK,
};
enum {
	QUANT_MIN, QUANT_MAX, QUANT_SCALE, QUANT_ZERO_POINT, QUANT_DETAILS_TYPE, QUANT_DETAILS,
	QUANT_DIMENSION,
};
enum {
	OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE,
	OPERATOR_OPTIONS, OPERATOR_CUSTOM_OPTIONS, OPERATOR_CUSTOM_FORMAT,
	OPERATOR_MUTATING_INPUTS, OPERATOR_INTERMEDIATES, OPERATOR_LARGE_OFFSET,
	OPERATOR_LARGE_SIZE, OPERATOR_OPTIONS_2_TYPE, OPERATOR_OPTIONS_2,
};
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };
enum {
	SIGNATURE_INPUTS, SIGNATURE_OUTPUTS, SIGNATURE_KEY, SIGNATURE_DEPRECATED,
	SIGNATURE_SUBGRAPH,
};
enum { NAMED_NAME, NAMED_TENSOR };

#define SCHEMA_VERSION		3

size_t tflite_type_size(int type)
{
	switch (type) {
	case TFLITE_FLOAT32:
	case TFLITE_INT32:
	case TFLITE_UINT32:
		return 4;
	case TFLITE_FLOAT16:
	case TFLITE_INT16:
	case TFLITE_UINT16:
		return 2;
	case TFLITE_UINT8:
	case TFLITE_INT8:
	case TFLITE_BOOL:
		return 1;
	case TFLITE_INT64:
	case TFLITE_UINT64:
	case TFLITE_FLOAT64:
	case TFLITE_COMPLEX64:
		return 8;
	case TFLITE_COMPLEX128:
		return 16;
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

/* Files above 2 GiB have data behind the FlatBuffer. An offset of 0 or 1 stands for none. */
static int read_behind(const struct tflite_model *model, uint64_t offset, uint64_t size,
		       const uint8_t **data, struct nntflite_diag *diag)
{
	if (offset <= 1 || size == 0)
		return 0;
	if (offset > model->reader.size || size > model->reader.size - offset)
		return diag_fail(diag, "data at offset %" PRIu64 ", %" PRIu64
				 " bytes, is beyond the end of the file", offset, size);
	*data = model->reader.data + offset;
	return 0;
}

/* Find the constant data of a tensor: in its buffer, or behind the FlatBuffer. */
static int read_buffer(struct tflite_model *model, const struct fb_vector *buffers,
		       struct tflite_tensor *tensor, struct nntflite_diag *diag)
{
	struct fb_table table;
	struct fb_vector data;
	uint64_t offset, size;

	if (tensor->buffer >= buffers->count) {
		/* Old converters omit the buffers if there is no constant. */
		if (tensor->buffer == 0)
			return 0;
		return diag_fail(diag, "buffer %" PRIu32 " of %" PRIu32 " does not exist",
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
		return 0;
	}
	if (read_behind(model, offset, size, &tensor->data, diag))
		return -1;
	tensor->bytes = tensor->data ? size : 0;
	return 0;
}

static int read_shape(const struct fb_table *table, struct tflite_tensor *tensor,
		      struct nntflite_diag *diag)
{
	struct fb_vector shape = fb_vector(table, TENSOR_SHAPE, 4);
	struct fb_vector signature = fb_vector(table, TENSOR_SIGNATURE, 4);
	uint32_t i;

	if (shape.count > TFLITE_MAX_RANK)
		return diag_fail(diag, "rank %" PRIu32 ", at most %d is supported", shape.count,
				 TFLITE_MAX_RANK);
	tensor->rank = shape.count;
	tensor->has_rank = shape.count || fb_u8(table, TENSOR_HAS_RANK, 0);
	for (i = 0; i < shape.count; i++) {
		tensor->dims[i] = fb_vector_i32(&shape, i);
		tensor->signature[i] = tensor->dims[i];
		if (signature.count == shape.count)
			tensor->signature[i] = fb_vector_i32(&signature, i);
	}
	return 0;
}

static int read_tensor(struct tflite_model *model, struct tflite_subgraph *subgraph,
		       const struct fb_vector *tensors, const struct fb_vector *buffers,
		       uint32_t index, struct nntflite_diag *diag)
{
	struct tflite_tensor *tensor = &subgraph->tensors[index];
	struct fb_table table = fb_vector_table(&model->reader, tensors, index);
	struct fb_table quant;

	tensor->name = fb_string(&table, TENSOR_NAME);
	tensor->type = fb_i8(&table, TENSOR_TYPE, 0);
	tensor->buffer = fb_u32(&table, TENSOR_BUFFER, 0);
	tensor->is_variable = fb_u8(&table, TENSOR_IS_VARIABLE, 0);
	tensor->sparsity = fb_subtable(&table, TENSOR_SPARSITY);
	quant = fb_subtable(&table, TENSOR_QUANTIZATION);
	tensor->scales = fb_vector(&quant, QUANT_SCALE, 4);
	tensor->zero_points = fb_vector(&quant, QUANT_ZERO_POINT, 8);
	tensor->quantized_dim = fb_i32(&quant, QUANT_DIMENSION, 0);
	tensor->custom_quantization = fb_u8(&quant, QUANT_DETAILS_TYPE, 0) != 0;
	if (read_shape(&table, tensor, diag) || fb_failed(&model->reader))
		return -1;
	if (read_buffer(model, buffers, tensor, diag))
		return -1;
	/* What computes with numbers of four bits computes with the same ones in eight. */
	if (tensor->type == TFLITE_INT4 && tensor->data) {
		tensor->type = TFLITE_INT8;
		tensor->is_packed = true;
	}
	return 0;
}

/* Check a list of tensor indexes; @omitted says whether -1 is allowed. */
static int check_indexes(const struct tflite_subgraph *subgraph, const struct fb_vector *list,
			 bool omitted, const char *what, struct nntflite_diag *diag)
{
	uint32_t i;

	for (i = 0; i < list->count; i++) {
		int32_t index = fb_vector_i32(list, i);

		if (index == -1 && omitted)
			continue;
		if (index < 0 || (uint32_t)index >= subgraph->num_tensors)
			return diag_fail(diag, "%s %" PRIu32 ": tensor %" PRId32 " of %" PRIu32
					 " does not exist", what, i, index,
					 subgraph->num_tensors);
	}
	return 0;
}

/* How much the file has asked for so far. */
struct work {
	uint32_t tensors;
	uint32_t operators;
	uint32_t references;
};

static int read_code(struct tflite_model *model, const struct fb_table *table,
		     const struct fb_vector *codes, struct tflite_operator *op,
		     struct nntflite_diag *diag)
{
	uint32_t code_index = fb_u32(table, OPERATOR_CODE, 0);
	int32_t builtin, deprecated;
	struct fb_table code;

	if (code_index >= codes->count)
		return diag_fail(diag, "operator code %" PRIu32 " of %" PRIu32 " does not exist",
				 code_index, codes->count);
	code = fb_vector_table(&model->reader, codes, code_index);
	deprecated = fb_i8(&code, CODE_DEPRECATED, 0);
	builtin = fb_i32(&code, CODE_BUILTIN, 0);
	op->version = fb_i32(&code, CODE_VERSION, 1);
	op->custom_name = fb_string(&code, CODE_CUSTOM);
	if (fb_failed(&model->reader))
		return -1;
	/* Newer files have a wider field for the code. The larger number counts. */
	op->code = builtin > deprecated ? builtin : deprecated;
	return 0;
}

static int count_references(struct tflite_subgraph *subgraph, const struct tflite_operator *op,
			    struct work *work, struct nntflite_diag *diag)
{
	uint64_t count = (uint64_t)op->inputs.count + op->outputs.count + op->intermediates.count;

	if (count > MAX_REFERENCES - work->references)
		return diag_fail(diag, "more than %u references to tensors in the model",
				 MAX_REFERENCES);
	work->references += (uint32_t)count;
	subgraph->num_references += (uint32_t)count;
	return 0;
}

/* The lists of inputs and outputs of a subgraph or a signature. */
static int count_lists(const struct fb_vector *inputs, const struct fb_vector *outputs,
		       struct work *work, const char *what, uint32_t index,
		       struct nntflite_diag *diag)
{
	uint64_t count = (uint64_t)inputs->count + outputs->count;

	if (count > MAX_REFERENCES - work->references)
		return diag_fail(diag, "%s %" PRIu32 ": %" PRIu32 " inputs and %" PRIu32 " outputs,"
				 " more than %u references to tensors in the model", what, index,
				 inputs->count, outputs->count, MAX_REFERENCES);
	work->references += (uint32_t)count;
	return 0;
}

/* Options of a custom operator, in the place of those in the table. */
static int read_large_options(const struct tflite_model *model, const struct fb_table *table,
			      struct tflite_operator *op, struct nntflite_diag *diag)
{
	uint64_t offset = fb_u64(table, OPERATOR_LARGE_OFFSET, 0);
	uint64_t size = fb_u64(table, OPERATOR_LARGE_SIZE, 0);
	const uint8_t *data = NULL;

	if (op->custom_options.count)
		return 0;
	if (read_behind(model, offset, size, &data, diag))
		return -1;
	if (data && size > UINT32_MAX)
		return diag_fail(diag, "options of %" PRIu64 " bytes", size);
	if (data)
		op->custom_options = (struct fb_vector){ .data = data, .count = (uint32_t)size };
	return 0;
}

static int read_operator(struct tflite_model *model, struct tflite_subgraph *subgraph,
			 const struct fb_vector *operators, const struct fb_vector *codes,
			 uint32_t index, struct work *work, struct nntflite_diag *diag)
{
	struct tflite_operator *op = &subgraph->operators[index];
	struct fb_table table = fb_vector_table(&model->reader, operators, index);

	op->code = UNKNOWN_CODE;
	op->inputs = fb_vector(&table, OPERATOR_INPUTS, 4);
	op->outputs = fb_vector(&table, OPERATOR_OUTPUTS, 4);
	op->intermediates = fb_vector(&table, OPERATOR_INTERMEDIATES, 4);
	op->options_type = fb_u8(&table, OPERATOR_OPTIONS_TYPE, 0);
	op->options = fb_subtable(&table, OPERATOR_OPTIONS);
	op->options_2_type = fb_u8(&table, OPERATOR_OPTIONS_2_TYPE, 0);
	op->options_2 = fb_subtable(&table, OPERATOR_OPTIONS_2);
	op->custom_options = fb_vector(&table, OPERATOR_CUSTOM_OPTIONS, 1);
	if (fb_failed(&model->reader) || read_large_options(model, &table, op, diag) ||
	    read_code(model, &table, codes, op, diag) ||
	    count_references(subgraph, op, work, diag) ||
	    check_indexes(subgraph, &op->inputs, true, "input", diag) ||
	    check_indexes(subgraph, &op->intermediates, true, "intermediate", diag))
		return -1;
	return check_indexes(subgraph, &op->outputs, false, "output", diag);
}

/* In front of a message: "subgraph 2, ", if there is need to say so. */
static const char *place_text(const struct nntflite_diag *diag, char *text, size_t size)
{
	text[0] = '\0';
	if (diag->subgraph != 0)
		snprintf(text, size, "subgraph %" PRIu32 ", ", diag->subgraph);
	return text;
}

static int name_tensor(const struct tflite_subgraph *subgraph, uint32_t index,
		       struct nntflite_diag *diag)
{
	char place[32];

	diag->tensor = index;
	return diag_prefix(diag, "%stensor %" PRIu32 " '%s': ", place_text(diag, place, sizeof(place)),
			   index, TEXT(subgraph->tensors[index].name));
}

static int name_operator(const struct tflite_subgraph *subgraph, uint32_t index,
			 struct nntflite_diag *diag)
{
	const struct tflite_operator *op = &subgraph->operators[index];
	char place[32], name[80];

	diag->op = index;
	place_text(diag, place, sizeof(place));
	if (op->code == UNKNOWN_CODE)
		return diag_prefix(diag, "%soperator %" PRIu32 ": ", place, index);
	return diag_prefix(diag, "%soperator %" PRIu32 " (%s): ", place, index,
			   tflite_operator_name(op, name, sizeof(name)));
}

static int make_lists(struct tflite_subgraph *subgraph, uint32_t tensors, uint32_t operators,
		      struct work *work, struct nntflite_diag *diag)
{
	if (tensors > MAX_TENSORS - work->tensors)
		return diag_fail(diag, "%" PRIu32 " tensors, at most %u are supported",
				 work->tensors + tensors, MAX_TENSORS);
	if (operators > MAX_OPERATORS - work->operators)
		return diag_fail(diag, "%" PRIu32 " operators, at most %u are supported",
				 work->operators + operators, MAX_OPERATORS);
	work->tensors += tensors;
	work->operators += operators;
	subgraph->tensors = calloc(tensors ? tensors : 1, sizeof(*subgraph->tensors));
	subgraph->operators = calloc(operators ? operators : 1, sizeof(*subgraph->operators));
	if (!subgraph->tensors || !subgraph->operators)
		return diag_fail_memory(diag);
	subgraph->num_tensors = tensors;
	subgraph->num_operators = operators;
	return 0;
}

static int read_subgraph(struct tflite_model *model, const struct fb_table *root,
			 const struct fb_table *table, uint32_t index, struct work *work,
			 struct nntflite_diag *diag)
{
	struct tflite_subgraph *subgraph = &model->subgraphs[index];
	struct fb_vector buffers = fb_vector(root, MODEL_BUFFERS, 4);
	struct fb_vector codes = fb_vector(root, MODEL_OPERATOR_CODES, 4);
	struct fb_vector tensors = fb_vector(table, SUBGRAPH_TENSORS, 4);
	struct fb_vector operators = fb_vector(table, SUBGRAPH_OPERATORS, 4);
	uint32_t i;

	subgraph->name = fb_string(table, SUBGRAPH_NAME);
	subgraph->inputs = fb_vector(table, SUBGRAPH_INPUTS, 4);
	subgraph->outputs = fb_vector(table, SUBGRAPH_OUTPUTS, 4);
	model->num_buffers = buffers.count;
	if (fb_failed(&model->reader) ||
	    count_lists(&subgraph->inputs, &subgraph->outputs, work, "subgraph", index, diag) ||
	    make_lists(subgraph, tensors.count, operators.count, work, diag))
		return -1;
	for (i = 0; i < tensors.count; i++)
		if (read_tensor(model, subgraph, &tensors, &buffers, i, diag))
			return name_tensor(subgraph, i, diag);
	if (check_indexes(subgraph, &subgraph->inputs, false, "model input", diag) ||
	    check_indexes(subgraph, &subgraph->outputs, false, "model output", diag))
		return -1;
	for (i = 0; i < operators.count; i++)
		if (read_operator(model, subgraph, &operators, &codes, i, work, diag))
			return name_operator(subgraph, i, diag);
	return 0;
}

static int read_subgraphs(struct tflite_model *model, const struct fb_table *root,
			  struct work *work, struct nntflite_diag *diag)
{
	struct fb_vector subgraphs = fb_vector(root, MODEL_SUBGRAPHS, 4);
	uint32_t i;

	if (fb_failed(&model->reader))
		return -1;
	if (subgraphs.count == 0)
		return diag_fail(diag, "the model has no subgraph");
	if (subgraphs.count > MAX_SUBGRAPHS)
		return diag_fail(diag, "%" PRIu32 " subgraphs, at most %u are supported",
				 subgraphs.count, MAX_SUBGRAPHS);
	model->subgraphs = calloc(subgraphs.count, sizeof(*model->subgraphs));
	if (!model->subgraphs)
		return diag_fail_memory(diag);
	model->num_subgraphs = subgraphs.count;
	for (i = 0; i < subgraphs.count; i++) {
		struct fb_table table = fb_vector_table(&model->reader, &subgraphs, i);

		diag->subgraph = i;
		if (fb_failed(&model->reader) ||
		    read_subgraph(model, root, &table, i, work, diag))
			return -1;
	}
	diag->subgraph = NNTFLITE_NONE;
	if (model->subgraphs[0].outputs.count == 0)
		return diag_fail(diag, "the model has no outputs");
	return 0;
}

/* The tensors that a signature names. */
static int read_named(struct tflite_model *model, const struct fb_vector *list,
		      uint32_t subgraph, struct tflite_named **named, struct nntflite_diag *diag)
{
	const struct tflite_subgraph *s = &model->subgraphs[subgraph];
	uint32_t i;

	/* Each is an input or output, none twice: no need for more. */
	if (list->count > s->inputs.count && list->count > s->outputs.count)
		return diag_fail(diag, "a signature names %" PRIu32 " tensors, its subgraph has"
				 " fewer inputs and outputs", list->count);
	*named = calloc(list->count ? list->count : 1, sizeof(**named));
	if (!*named)
		return diag_fail_memory(diag);
	for (i = 0; i < list->count; i++) {
		struct fb_table table = fb_vector_table(&model->reader, list, i);

		(*named)[i].name = fb_string(&table, NAMED_NAME);
		(*named)[i].tensor = fb_u32(&table, NAMED_TENSOR, 0);
		if (fb_failed(&model->reader))
			return -1;
		if ((*named)[i].tensor >= s->num_tensors)
			return diag_fail(diag, "a signature names tensor %" PRIu32 " of %" PRIu32,
					 (*named)[i].tensor, s->num_tensors);
	}
	return 0;
}

static int read_signature(struct tflite_model *model, const struct fb_table *table,
			  uint32_t index, struct work *work, struct nntflite_diag *diag)
{
	struct tflite_signature *signature = &model->signatures[index];
	struct fb_vector inputs = fb_vector(table, SIGNATURE_INPUTS, 4);
	struct fb_vector outputs = fb_vector(table, SIGNATURE_OUTPUTS, 4);

	signature->key = fb_string(table, SIGNATURE_KEY);
	signature->subgraph = fb_u32(table, SIGNATURE_SUBGRAPH, 0);
	if (fb_failed(&model->reader))
		return -1;
	if (signature->key.length > MAX_KEY)
		return diag_fail(diag, "signature %" PRIu32 ": a key of %zu bytes, at most %u are"
				 " supported", index, signature->key.length, MAX_KEY);
	if (count_lists(&inputs, &outputs, work, "signature", index, diag))
		return -1;
	if (signature->subgraph >= model->num_subgraphs)
		return diag_fail(diag, "signature '%s': subgraph %" PRIu32 " of %" PRIu32
				 " does not exist", TEXT(signature->key), signature->subgraph,
				 model->num_subgraphs);
	if (read_named(model, &inputs, signature->subgraph, &signature->inputs, diag) ||
	    read_named(model, &outputs, signature->subgraph, &signature->outputs, diag))
		return -1;
	signature->num_inputs = inputs.count;
	signature->num_outputs = outputs.count;
	return 0;
}

static int read_signatures(struct tflite_model *model, const struct fb_table *root,
			   struct work *work, struct nntflite_diag *diag)
{
	struct fb_vector list = fb_vector(root, MODEL_SIGNATURES, 4);
	uint32_t i;

	if (fb_failed(&model->reader))
		return -1;
	if (list.count > MAX_SIGNATURES)
		return diag_fail(diag, "%" PRIu32 " signatures, at most %u are supported",
				 list.count, MAX_SIGNATURES);
	model->signatures = calloc(list.count ? list.count : 1, sizeof(*model->signatures));
	if (!model->signatures)
		return diag_fail_memory(diag);
	model->num_signatures = list.count;
	for (i = 0; i < list.count; i++) {
		struct fb_table table = fb_vector_table(&model->reader, &list, i);

		if (fb_failed(&model->reader) ||
		    read_signature(model, &table, i, work, diag))
			return -1;
	}
	return 0;
}

int tflite_parse(struct tflite_model *model, const uint8_t *data, size_t size,
		 struct nntflite_diag *diag)
{
	struct work work = { 0, 0, 0 };
	struct fb_table root;
	uint32_t version;
	int ret = -1;

	memset(model, 0, sizeof(*model));
	root = fb_root(&model->reader, data, size, "TFL3", diag);
	version = fb_u32(&root, MODEL_VERSION, 0);
	model->description = fb_string(&root, MODEL_DESCRIPTION);
	if (!fb_failed(&model->reader)) {
		if (version != SCHEMA_VERSION)
			diag_fail(diag, "schema version %" PRIu32 ", only %d is supported", version,
				  SCHEMA_VERSION);
		else if (!read_subgraphs(model, &root, &work, diag))
			ret = read_signatures(model, &root, &work, diag);
	}
	model->reader.diag = NULL;
	return ret;
}

void tflite_free(struct tflite_model *model)
{
	uint32_t i;

	for (i = 0; i < model->num_subgraphs; i++) {
		free(model->subgraphs[i].tensors);
		free(model->subgraphs[i].operators);
	}
	for (i = 0; i < model->num_signatures; i++) {
		free(model->signatures[i].inputs);
		free(model->signatures[i].outputs);
	}
	free(model->subgraphs);
	free(model->signatures);
	memset(model, 0, sizeof(*model));
}
