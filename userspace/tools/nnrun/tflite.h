/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite model files (schema version 3) as plain C structures.
 *
 * The structures refer to the bytes of the file, which must stay where they are
 * as long as the model is used. Reading a file copies nothing and takes time and
 * memory in proportion to its size, whatever it holds.
 */
#ifndef NNRUN_TFLITE_H
#define NNRUN_TFLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/error.h"
#include "../common/flatbuf.h"

/* Largest file that is read. */
#define TFLITE_MAX_FILE		((size_t)1 << 30)

/* Largest rank of a tensor. */
#define TFLITE_MAX_RANK		8

/* TensorType of the schema. */
enum tflite_type {
	TFLITE_FLOAT32 = 0,
	TFLITE_FLOAT16 = 1,
	TFLITE_INT32 = 2,
	TFLITE_UINT8 = 3,
	TFLITE_INT64 = 4,
	TFLITE_BOOL = 6,
	TFLITE_INT16 = 7,
	TFLITE_INT8 = 9,
};

/* BuiltinOperator of the schema: those the code looks at. */
enum tflite_builtin {
	TFLITE_ADD = 0,
	TFLITE_AVERAGE_POOL_2D = 1,
	TFLITE_CONCATENATION = 2,
	TFLITE_CONV_2D = 3,
	TFLITE_DEPTHWISE_CONV_2D = 4,
	TFLITE_DEQUANTIZE = 6,
	TFLITE_FULLY_CONNECTED = 9,
	TFLITE_LOGISTIC = 14,
	TFLITE_MAX_POOL_2D = 17,
	TFLITE_MUL = 18,
	TFLITE_RELU = 19,
	TFLITE_RELU_N1_TO_1 = 20,
	TFLITE_RELU6 = 21,
	TFLITE_RESHAPE = 22,
	TFLITE_SOFTMAX = 25,
	TFLITE_TANH = 28,
	TFLITE_CALL = 31,
	TFLITE_CUSTOM = 32,
	TFLITE_QUANTIZE = 114,
	TFLITE_IF = 118,
	TFLITE_WHILE = 119,
	TFLITE_CALL_ONCE = 129,
};

/* BuiltinOptions of the schema: those the code looks at. */
enum tflite_options {
	TFLITE_NO_OPTIONS = 0,
	TFLITE_CONV_2D_OPTIONS = 1,
	TFLITE_DEPTHWISE_CONV_2D_OPTIONS = 2,
	TFLITE_POOL_2D_OPTIONS = 5,
	TFLITE_FULLY_CONNECTED_OPTIONS = 8,
	TFLITE_SOFTMAX_OPTIONS = 9,
	TFLITE_CONCATENATION_OPTIONS = 10,
	TFLITE_ADD_OPTIONS = 11,
	TFLITE_RESHAPE_OPTIONS = 17,
	TFLITE_MUL_OPTIONS = 21,
};

/**
 * struct tflite_tensor - one tensor of the main subgraph
 * @name: name, may be empty
 * @type: enum tflite_type or another number
 * @rank: number of dimensions, 0 for a scalar
 * @dims: sizes, slowest first, as the file has them
 * @buffer: index of its buffer
 * @data: constant data, NULL for a tensor that is computed or fed
 * @bytes: bytes of constant data, as the file has them
 * @scales: quantization scales, 32-bit floats
 * @zero_points: quantization zero points, 64-bit integers
 * @quantized_dim: dimension several scales belong to
 * @custom_quantization: quantized in a way only the file's author knows
 * @is_variable: keeps its value from one inference to the next
 * @is_sparse: data is in a sparse format
 */
struct tflite_tensor {
	struct text name;
	int type;
	uint32_t rank;
	int32_t dims[TFLITE_MAX_RANK];
	uint32_t buffer;
	const uint8_t *data;
	size_t bytes;
	struct fb_vector scales;
	struct fb_vector zero_points;
	int32_t quantized_dim;
	bool custom_quantization;
	bool is_variable;
	bool is_sparse;
};

/**
 * struct tflite_operator - one operator of the main subgraph
 * @code: BuiltinOperator
 * @custom_name: name of a custom operator
 * @inputs: 32-bit tensor indexes, checked: -1 (omitted) or below num_tensors
 * @outputs: 32-bit tensor indexes, checked: below num_tensors
 * @options_type: BuiltinOptions
 * @options: options, absent if there are none
 */
struct tflite_operator {
	int32_t code;
	struct text custom_name;
	struct fb_vector inputs;
	struct fb_vector outputs;
	uint8_t options_type;
	struct fb_table options;
};

/**
 * struct tflite_model - a model file
 * @reader: the file
 * @description: description, may be empty
 * @num_subgraphs: subgraphs in the file; the first is the main one
 * @num_buffers: buffers in the file
 * @tensors: tensors of the main subgraph
 * @operators: operators in execution order
 * @inputs: indexes of the input tensors, checked
 * @outputs: indexes of the output tensors, checked
 */
struct tflite_model {
	struct fb_reader reader;
	struct text description;
	uint32_t num_subgraphs;
	uint32_t num_buffers;
	uint32_t num_tensors;
	uint32_t num_operators;
	struct tflite_tensor *tensors;
	struct tflite_operator *operators;
	struct fb_vector inputs;
	struct fb_vector outputs;
};

/**
 * tflite_parse() - understand the bytes of a model file
 * @model: filled in; to be released with tflite_free(), also after an error
 * @data: bytes of the file
 * @size: number of bytes
 * @err: says what is wrong
 *
 * Return: 0 or -1.
 */
int tflite_parse(struct tflite_model *model, const uint8_t *data, size_t size,
		 struct error *err);
void tflite_free(struct tflite_model *model);

/**
 * tflite_elements() - number of elements of a tensor
 * @tensor: tensor
 * @count: out
 *
 * Return: true; false if a dimension is not positive or the product is above 2^31.
 */
bool tflite_elements(const struct tflite_tensor *tensor, uint64_t *count);

/* Bytes per element, 0 for types nnrun has no use for. */
size_t tflite_type_size(int type);
const char *tflite_type_name(int type);
/* Name of a builtin operator; "operator" and the number for unknown ones. */
const char *tflite_builtin_name(int32_t code, char *buffer, size_t size);

#define TFLITE_BUILTIN_NAME(code)	tflite_builtin_name((code), (char[32]) { 0 }, 32)

#endif /* NNRUN_TFLITE_H */
