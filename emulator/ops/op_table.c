// SPDX-License-Identifier: MIT
/*
 * The operations of the device, and names for numbers.
 */
#include <stdlib.h>

#include "ops.h"

/* A row: number of inputs, of outputs, then what else the operation has. */
#define OP(op_, functions, min_in, max_in, min_out, max_out, ...) \
	[NNPU_OP_##op_] = { \
		.op = NNPU_OP_##op_, \
		.name = #op_, \
		.min_inputs = (min_in), \
		.max_inputs = (max_in), \
		.min_outputs = (min_out), \
		.max_outputs = (max_out), \
		.check = functions##_check, \
		.infer = functions##_infer, \
		.execute = functions##_execute, \
		__VA_ARGS__ \
	}

/* Prepared objects are one allocation each. */
#define PREPARED(functions)	.prepare = functions##_prepare, .free_prepared = free
#define SCRATCH(functions)	.scratch = functions##_scratch
#define WIDEN			.widen = true
#define OPTIONAL(mask)		.optional = (mask)

/* Rows without a name are operations that the device does not have. */
static const struct op_desc op_table[NNPU_NUM_OPERATIONS] = {
	OP(ABS, unary, 1, 1, 1, 1, WIDEN),
	OP(ADD, elementwise, 3, 3, 1, 1, PREPARED(elementwise), WIDEN),
	OP(ARGMAX, argmax, 2, 2, 1, 1, WIDEN),
	OP(ARGMIN, argmax, 2, 2, 1, 1, WIDEN),
	OP(AVERAGE_POOL_2D, pool2d, 7, 11, 1, 1, WIDEN),
	OP(AXIS_ALIGNED_BBOX_TRANSFORM, bbox_transform, 4, 4, 1, 1),
	OP(BATCH_TO_SPACE_ND, space, 2, 3, 1, 1),
	OP(BIDIRECTIONAL_SEQUENCE_LSTM, lstm, 61, 61, 1, 6, SCRATCH(lstm), WIDEN,
	   OPTIONAL(0x1fe0ff863c471e22ull)),
	OP(BIDIRECTIONAL_SEQUENCE_RNN, rnn, 15, 15, 1, 4, SCRATCH(rnn), WIDEN,
	   OPTIONAL(7 << 9)),
	OP(BOX_WITH_NMS_LIMIT, box_nms, 9, 9, 4, 4, SCRATCH(box_nms)),
	OP(CAST, cast, 1, 1, 1, 1),
	OP(CHANNEL_SHUFFLE, channel_shuffle, 3, 3, 1, 1),
	OP(CONCATENATION, concatenation, 2, OP_INPUTS_UNLIMITED, 1, 1),
	OP(CONV_2D, conv2d, 7, 13, 1, 1, PREPARED(conv2d), SCRATCH(conv2d), WIDEN),
	OP(DEPTHWISE_CONV_2D, depthwise_conv2d, 8, 14, 1, 1, PREPARED(depthwise_conv2d), WIDEN),
	OP(DEPTH_TO_SPACE, space, 2, 3, 1, 1),
	OP(DEQUANTIZE, dequantize, 1, 1, 1, 1, WIDEN),
	OP(DETECTION_POSTPROCESSING, detection, 14, 14, 4, 4, SCRATCH(detection)),
	OP(DIV, elementwise, 3, 3, 1, 1, PREPARED(elementwise), WIDEN),
	OP(ELU, activation, 2, 2, 1, 1, PREPARED(activation), WIDEN),
	OP(EMBEDDING_LOOKUP, embedding_lookup, 2, 2, 1, 1),
	OP(EQUAL, compare, 2, 2, 1, 1, WIDEN),
	OP(EXP, unary, 1, 1, 1, 1, WIDEN),
	OP(EXPAND_DIMS, expand_dims, 2, 2, 1, 1),
	OP(FILL, fill, 2, 2, 1, 1),
	OP(FLOOR, unary, 1, 1, 1, 1, WIDEN),
	OP(FULLY_CONNECTED, fully_connected, 4, 4, 1, 1, PREPARED(fully_connected),
	   SCRATCH(fully_connected), WIDEN),
	OP(GATHER, gather, 3, 3, 1, 1),
	OP(GENERATE_PROPOSALS, proposals, 11, 11, 3, 3, SCRATCH(proposals)),
	OP(GREATER, compare, 2, 2, 1, 1, WIDEN),
	OP(GREATER_EQUAL, compare, 2, 2, 1, 1, WIDEN),
	OP(GROUPED_CONV_2D, grouped_conv2d, 9, 12, 1, 1, WIDEN),
	OP(HARD_SWISH, activation, 1, 1, 1, 1, PREPARED(activation), WIDEN),
	OP(HASHTABLE_LOOKUP, hashtable_lookup, 3, 3, 2, 2),
	OP(HEATMAP_MAX_KEYPOINT, heatmap, 3, 3, 2, 2),
	OP(INSTANCE_NORMALIZATION, instance_normalization, 5, 5, 1, 1, WIDEN),
	OP(L2_NORMALIZATION, l2_normalization, 1, 2, 1, 1, WIDEN),
	OP(L2_POOL_2D, pool2d, 7, 11, 1, 1, WIDEN),
	OP(LESS, compare, 2, 2, 1, 1, WIDEN),
	OP(LESS_EQUAL, compare, 2, 2, 1, 1, WIDEN),
	OP(LOCAL_RESPONSE_NORMALIZATION, lrn, 5, 6, 1, 1, WIDEN),
	OP(LOG, unary, 1, 1, 1, 1, WIDEN),
	OP(LOGICAL_AND, logical, 2, 2, 1, 1),
	OP(LOGICAL_NOT, unary, 1, 1, 1, 1),
	OP(LOGICAL_OR, logical, 2, 2, 1, 1),
	OP(LOGISTIC, activation, 1, 1, 1, 1, PREPARED(activation), WIDEN),
	OP(LOG_SOFTMAX, log_softmax, 3, 3, 1, 1, WIDEN),
	OP(LSH_PROJECTION, lsh_projection, 4, 4, 1, 1, SCRATCH(lsh_projection), OPTIONAL(1 << 2)),
	OP(LSTM, lstm, 23, 27, 4, 4, SCRATCH(lstm), WIDEN,
	   OPTIONAL(0x7831e22ull)),
	OP(MAXIMUM, extreme, 2, 2, 1, 1, WIDEN),
	OP(MAX_POOL_2D, pool2d, 7, 11, 1, 1, WIDEN),
	OP(MEAN, reduce, 3, 3, 1, 1, WIDEN),
	OP(MINIMUM, extreme, 2, 2, 1, 1, WIDEN),
	OP(MUL, elementwise, 3, 3, 1, 1, PREPARED(elementwise), WIDEN),
	OP(NEG, unary, 1, 1, 1, 1, WIDEN),
	OP(NOT_EQUAL, compare, 2, 2, 1, 1, WIDEN),
	OP(PAD, pad, 2, 2, 1, 1),
	OP(PAD_V2, pad, 3, 3, 1, 1),
	OP(POW, power, 2, 2, 1, 1, WIDEN),
	OP(PRELU, prelu, 2, 2, 1, 1, WIDEN),
	OP(QUANTIZE, quantize, 1, 1, 1, 1, WIDEN),
	OP(QUANTIZED_16BIT_LSTM, quantized_lstm16, 15, 15, 2, 2),
	OP(QUANTIZED_LSTM, qlstm, 32, 32, 3, 3, SCRATCH(qlstm),
	   OPTIONAL(0xf31e22)),
	OP(RANDOM_MULTINOMIAL, random_multinomial, 3, 3, 1, 1, SCRATCH(random_multinomial)),
	OP(RANK, rank, 1, 1, 1, 1),
	OP(REDUCE_ALL, reduce, 3, 3, 1, 1),
	OP(REDUCE_ANY, reduce, 3, 3, 1, 1),
	OP(REDUCE_MAX, reduce, 3, 3, 1, 1, WIDEN),
	OP(REDUCE_MIN, reduce, 3, 3, 1, 1, WIDEN),
	OP(REDUCE_PROD, reduce, 3, 3, 1, 1, WIDEN),
	OP(REDUCE_SUM, reduce, 3, 3, 1, 1, WIDEN),
	OP(RELU, activation, 1, 1, 1, 1, PREPARED(activation), WIDEN),
	OP(RELU1, activation, 1, 1, 1, 1, PREPARED(activation), WIDEN),
	OP(RELU6, activation, 1, 1, 1, 1, PREPARED(activation), WIDEN),
	OP(RESHAPE, reshape, 2, 2, 1, 1),
	OP(RESIZE_BILINEAR, resize, 3, 6, 1, 1, WIDEN),
	OP(RESIZE_NEAREST_NEIGHBOR, resize, 4, 6, 1, 1, WIDEN),
	OP(RNN, rnn, 6, 6, 2, 2, SCRATCH(rnn), WIDEN),
	OP(ROI_ALIGN, roi, 10, 10, 1, 1, WIDEN),
	OP(ROI_POOLING, roi, 8, 8, 1, 1, WIDEN),
	OP(RSQRT, unary, 1, 1, 1, 1, WIDEN),
	OP(SELECT, select, 3, 3, 1, 1),
	OP(SIN, unary, 1, 1, 1, 1, WIDEN),
	OP(SLICE, slice, 3, 3, 1, 1),
	OP(SOFTMAX, softmax, 2, 3, 1, 1, PREPARED(softmax), WIDEN),
	OP(SPACE_TO_BATCH_ND, space, 3, 4, 1, 1),
	OP(SPACE_TO_DEPTH, space, 2, 3, 1, 1),
	OP(SPLIT, split, 3, 3, 1, OP_OUTPUTS_UNLIMITED),
	OP(SQRT, unary, 1, 1, 1, 1, WIDEN),
	OP(SQUEEZE, squeeze, 2, 2, 1, 1, OPTIONAL(1 << 1)),
	OP(STRIDED_SLICE, strided_slice, 7, 7, 1, 1),
	OP(SUB, elementwise, 3, 3, 1, 1, PREPARED(elementwise), WIDEN),
	OP(SVDF, svdf, 7, 7, 2, 2, WIDEN, OPTIONAL(1 << 3)),
	OP(TANH, activation, 1, 1, 1, 1, PREPARED(activation), WIDEN),
	OP(TILE, tile, 2, 2, 1, 1),
	OP(TOPK_V2, topk, 2, 2, 2, 2, SCRATCH(topk), WIDEN),
	OP(TRANSPOSE, transpose, 2, 2, 1, 1, OPTIONAL(1 << 1)),
	OP(TRANSPOSE_CONV_2D, transpose_conv2d, 9, 11, 1, 1, WIDEN),
	OP(UNIDIRECTIONAL_SEQUENCE_LSTM, lstm, 28, 28, 1, 3, SCRATCH(lstm), WIDEN,
	   OPTIONAL(0xf031e22ull)),
	OP(UNIDIRECTIONAL_SEQUENCE_RNN, rnn, 7, 7, 1, 2, SCRATCH(rnn), WIDEN),
};

const struct op_desc *op_find(uint32_t opcode)
{
	if (opcode >= NNPU_NUM_OPERATIONS || !op_table[opcode].name)
		return NULL;
	return &op_table[opcode];
}

static const struct {
	uint8_t size;
	bool scalar;
} types[NNPU_NUM_TYPES] = {
	[NNPU_TYPE_FLOAT32] = { 4, true },
	[NNPU_TYPE_INT32] = { 4, true },
	[NNPU_TYPE_UINT32] = { 4, true },
	[NNPU_TYPE_TENSOR_FLOAT32] = { 4, false },
	[NNPU_TYPE_TENSOR_INT32] = { 4, false },
	[NNPU_TYPE_TENSOR_QUANT8_ASYMM] = { 1, false },
	[NNPU_TYPE_BOOL] = { 1, true },
	[NNPU_TYPE_TENSOR_QUANT16_SYMM] = { 2, false },
	[NNPU_TYPE_TENSOR_FLOAT16] = { 2, false },
	[NNPU_TYPE_TENSOR_BOOL8] = { 1, false },
	[NNPU_TYPE_FLOAT16] = { 2, true },
	[NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL] = { 1, false },
	[NNPU_TYPE_TENSOR_QUANT16_ASYMM] = { 2, false },
	[NNPU_TYPE_TENSOR_QUANT8_SYMM] = { 1, false },
	[NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED] = { 1, false },
};

size_t type_size(uint32_t type)
{
	return type < NNPU_NUM_TYPES ? types[type].size : 0;
}

bool type_is_scalar(uint32_t type)
{
	return type < NNPU_NUM_TYPES && types[type].scalar;
}

#define NAME_CASE(name, num)		case (num): return #name;
#define NAME_CASE3(name, num, text)	case (num): return #name;
#define TEXT_CASE(name, num, text)	case (num): return text;

const char *type_name(uint32_t type)
{
	switch (type) {
	NNPU_TYPE_LIST(NAME_CASE)
	default:
		return "unknown type";
	}
}

const char *op_name(uint32_t opcode)
{
	switch (opcode) {
	NNPU_OPERATION_LIST(NAME_CASE)
	case NNPU_CMD_BRANCH:
		return "BRANCH";
	case NNPU_CMD_LOOP:
		return "LOOP";
	case NNPU_CMD_BLOCK:
		return "BLOCK";
	default:
		return "unknown operation";
	}
}

const char *status_name(uint32_t status)
{
	switch (status) {
	NNPU_STATUS_LIST(NAME_CASE3)
	case NNPU_STATUS_PENDING:
		return "PENDING";
	default:
		return "unknown status";
	}
}

const char *reason_text(uint32_t reason)
{
	switch (reason) {
	NNPU_REASON_LIST(TEXT_CASE)
	default:
		return "unknown reason";
	}
}
