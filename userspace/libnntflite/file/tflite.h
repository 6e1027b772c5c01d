/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite model files (schema version 3) as plain C structures.
 *
 * The structures refer to the bytes of the file, which must stay where they are
 * as long as the model is used. Reading a file copies nothing and takes time and
 * memory in proportion to its size, whatever it holds.
 */
#ifndef NNTFLITE_FILE_TFLITE_H
#define NNTFLITE_FILE_TFLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/nntflite_diag.h"
#include "flatbuf.h"
#include "schema.h"

/* Largest rank of a tensor. */
#define TFLITE_MAX_RANK		NNTFLITE_MAX_RANK

/**
 * struct tflite_tensor - one tensor of a subgraph
 * @name: name, may be empty
 * @type: enum tflite_type or another number
 * @rank: number of dimensions, 0 for a scalar
 * @dims: sizes, slowest first, as the file has them
 * @signature: sizes, -1 for those that may differ from @dims; those of @dims if the file
 *	has no such list
 * @has_rank: @rank is known. Without it a tensor of rank 0 may have any shape
 * @buffer: index of its buffer
 * @data: constant data, NULL for a tensor that is computed or fed
 * @bytes: bytes of constant data, as the file has them
 * @scales: quantization scales, 32-bit floats
 * @zero_points: quantization zero points, 64-bit integers
 * @quantized_dim: dimension several scales belong to
 * @custom_quantization: quantized in a way only the file's author knows
 * @is_variable: keeps its value from one inference to the next
 * @is_packed: two elements in a byte of @data: a constant of type int4, of which @type says int8
 * @sparsity: how sparse data is laid out, absent for dense data
 */
struct tflite_tensor {
	struct text name;
	int type;
	uint32_t rank;
	int32_t dims[TFLITE_MAX_RANK];
	int32_t signature[TFLITE_MAX_RANK];
	bool has_rank;
	uint32_t buffer;
	const uint8_t *data;
	size_t bytes;
	struct fb_vector scales;
	struct fb_vector zero_points;
	int32_t quantized_dim;
	bool custom_quantization;
	bool is_variable;
	bool is_packed;
	struct fb_table sparsity;
};

/**
 * struct tflite_operator - one operator of a subgraph
 * @code: BuiltinOperator
 * @version: version of the operator
 * @custom_name: name of a custom operator
 * @inputs: 32-bit tensor indexes, checked: -1 (omitted) or below num_tensors
 * @outputs: 32-bit tensor indexes, checked: below num_tensors
 * @intermediates: 32-bit tensor indexes, checked like @inputs: tensors that hold no value,
 *	only quantization parameters
 * @options_type: BuiltinOptions
 * @options: options, absent if there are none
 * @options_2_type: BuiltinOptions2
 * @options_2: the options of operators for which there was no number left in BuiltinOptions
 * @custom_options: options of a custom operator, bytes
 */
struct tflite_operator {
	int32_t code;
	int32_t version;
	struct text custom_name;
	struct fb_vector inputs;
	struct fb_vector outputs;
	struct fb_vector intermediates;
	uint8_t options_type;
	struct fb_table options;
	uint8_t options_2_type;
	struct fb_table options_2;
	struct fb_vector custom_options;
};

/**
 * struct tflite_subgraph - one subgraph
 * @name: name, may be empty
 * @num_references: inputs and outputs of all operators
 * @tensors: tensors
 * @operators: operators in execution order
 * @inputs: indexes of the input tensors, checked
 * @outputs: indexes of the output tensors, checked
 */
struct tflite_subgraph {
	struct text name;
	uint32_t num_tensors;
	uint32_t num_operators;
	uint32_t num_references;
	struct tflite_tensor *tensors;
	struct tflite_operator *operators;
	struct fb_vector inputs;
	struct fb_vector outputs;
};

/* A tensor that a signature names. */
struct tflite_named {
	struct text name;
	uint32_t tensor;
};

/**
 * struct tflite_signature - one signature
 * @key: its name
 * @subgraph: its subgraph, checked
 * @inputs: names of inputs, tensors checked
 * @outputs: names of outputs, tensors checked
 */
struct tflite_signature {
	struct text key;
	uint32_t subgraph;
	uint32_t num_inputs;
	uint32_t num_outputs;
	struct tflite_named *inputs;
	struct tflite_named *outputs;
};

/**
 * struct tflite_model - a model file
 * @reader: the file
 * @description: description, may be empty
 * @num_subgraphs: subgraphs in the file; the first is the main one
 * @num_buffers: buffers in the file
 * @num_signatures: signatures
 * @subgraphs: subgraphs
 * @signatures: signatures
 */
struct tflite_model {
	struct fb_reader reader;
	struct text description;
	uint32_t num_subgraphs;
	uint32_t num_buffers;
	uint32_t num_signatures;
	struct tflite_subgraph *subgraphs;
	struct tflite_signature *signatures;
};

/**
 * tflite_parse() - understand the bytes of a model file
 * @model: filled in; to be released with tflite_free(), also after an error
 * @data: bytes of the file
 * @size: number of bytes
 * @diag: says what is wrong
 *
 * Return: 0 or -1.
 */
int tflite_parse(struct tflite_model *model, const uint8_t *data, size_t size,
		 struct nntflite_diag *diag);
void tflite_free(struct tflite_model *model);

/**
 * tflite_elements() - number of elements of a tensor
 * @tensor: tensor
 * @count: out
 *
 * Return: true; false if a dimension is not positive or the product is above 2^31.
 */
bool tflite_elements(const struct tflite_tensor *tensor, uint64_t *count);

/* Bytes per element, 0 for types of no fixed size. */
size_t tflite_type_size(int type);
const char *tflite_type_name(int type);
/* Name of a builtin operator; "operator" and the number for unknown ones. */
const char *tflite_builtin_name(int32_t code, char *buffer, size_t size);

/* Name of an operator, custom ones included; returns @buffer. */
const char *tflite_operator_name(const struct tflite_operator *op, char *buffer, size_t size);

#endif /* NNTFLITE_FILE_TFLITE_H */
