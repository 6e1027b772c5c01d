// SPDX-License-Identifier: MIT
/*
 * The operations of the device, and names for numbers.
 */

#include "extension.h"
#include "ops.h"
#include "shape.h"

/* A row: the prefix of the functions, then optional fields. */
#define OP(op_, functions, ...) \
	[NNPU_OP_##op_] = { \
		.op = NNPU_OP_##op_, \
		.name = #op_, \
		.check = functions##_check, \
		.infer = functions##_infer, \
		.execute = functions##_execute, \
		__VA_ARGS__ \
	}

#define PREPARED(functions)	.prepare = functions##_prepare
#define SCRATCH(functions)	.scratch = functions##_scratch
#define WIDEN			.widen = true
#define KEEPS_BYTES		.keeps_bytes = true
#define NATIVE			.native_weights = true, .unprepare = conv_unprepare

/* Rows without a name are operations that the device does not have. */
static const struct op_desc op_table[NNPU_NUM_OPERATIONS] = {
	OP(ABS, unary, WIDEN),
	OP(ADD, elementwise, WIDEN),
	OP(ARGMAX, argmax, WIDEN),
	OP(ARGMIN, argmax, WIDEN),
	OP(AVERAGE_POOL_2D, pool2d, WIDEN),
	OP(AXIS_ALIGNED_BBOX_TRANSFORM, bbox_transform),
	OP(BATCH_TO_SPACE_ND, space),
	OP(BIDIRECTIONAL_SEQUENCE_LSTM, lstm, SCRATCH(lstm), WIDEN),
	OP(BIDIRECTIONAL_SEQUENCE_RNN, rnn, SCRATCH(rnn), WIDEN),
	OP(BOX_WITH_NMS_LIMIT, box_nms, SCRATCH(box_nms)),
	OP(CAST, cast, .decode = cast_decode),
	OP(CHANNEL_SHUFFLE, channel_shuffle),
	OP(CONCATENATION, concatenation),
	OP(CONV_2D, conv2d, PREPARED(conv2d), SCRATCH(conv2d), WIDEN, NATIVE),
	OP(DEPTHWISE_CONV_2D, depthwise_conv2d, PREPARED(depthwise_conv2d), WIDEN,
	   .unprepare = depthwise_conv2d_unprepare),
	OP(DEPTH_TO_SPACE, space),
	OP(DEQUANTIZE, dequantize, WIDEN, .decode = dequantize_decode),
	OP(DETECTION_POSTPROCESSING, detection, SCRATCH(detection)),
	OP(DIV, elementwise, WIDEN),
	OP(ELU, activation, PREPARED(activation), WIDEN),
	OP(EMBEDDING_LOOKUP, embedding_lookup),
	OP(EQUAL, compare, WIDEN),
	OP(EXP, unary, WIDEN),
	OP(EXPAND_DIMS, expand_dims, KEEPS_BYTES),
	OP(FILL, fill),
	OP(FLOOR, unary, WIDEN),
	OP(FULLY_CONNECTED, fully_connected, PREPARED(fully_connected),
	   SCRATCH(fully_connected), WIDEN, NATIVE),
	OP(GATHER, gather),
	OP(GENERATE_PROPOSALS, proposals, SCRATCH(proposals)),
	OP(GREATER, compare, WIDEN),
	OP(GREATER_EQUAL, compare, WIDEN),
	OP(GROUPED_CONV_2D, grouped_conv2d, WIDEN),
	OP(HARD_SWISH, activation, PREPARED(activation), WIDEN),
	OP(HASHTABLE_LOOKUP, hashtable_lookup),
	OP(HEATMAP_MAX_KEYPOINT, heatmap),
	OP(INSTANCE_NORMALIZATION, instance_normalization, WIDEN),
	OP(L2_NORMALIZATION, l2_normalization, WIDEN),
	OP(L2_POOL_2D, pool2d, WIDEN),
	OP(LESS, compare, WIDEN),
	OP(LESS_EQUAL, compare, WIDEN),
	OP(LOCAL_RESPONSE_NORMALIZATION, lrn, WIDEN),
	OP(LOG, unary, WIDEN),
	OP(LOGICAL_AND, logical),
	OP(LOGICAL_NOT, unary),
	OP(LOGICAL_OR, logical),
	OP(LOGISTIC, activation, PREPARED(activation), WIDEN),
	OP(LOG_SOFTMAX, log_softmax, WIDEN),
	OP(LSH_PROJECTION, lsh_projection, SCRATCH(lsh_projection)),
	OP(LSTM, lstm, SCRATCH(lstm), WIDEN),
	OP(MAXIMUM, extreme, WIDEN),
	OP(MAX_POOL_2D, pool2d, WIDEN),
	OP(MEAN, reduce, WIDEN),
	OP(MINIMUM, extreme, WIDEN),
	OP(MUL, elementwise, WIDEN),
	OP(NEG, unary, WIDEN),
	OP(NOT_EQUAL, compare, WIDEN),
	OP(PAD, pad),
	OP(PAD_V2, pad),
	OP(POW, power, WIDEN),
	OP(PRELU, prelu, WIDEN),
	OP(QUANTIZE, quantize, WIDEN),
	OP(QUANTIZED_16BIT_LSTM, quantized_16bit_lstm),
	OP(QUANTIZED_LSTM, quantized_lstm, SCRATCH(quantized_lstm)),
	OP(RANDOM_MULTINOMIAL, random_multinomial, SCRATCH(random_multinomial)),
	OP(RANK, rank),
	OP(REDUCE_ALL, reduce),
	OP(REDUCE_ANY, reduce),
	OP(REDUCE_MAX, reduce, WIDEN),
	OP(REDUCE_MIN, reduce, WIDEN),
	OP(REDUCE_PROD, reduce, WIDEN),
	OP(REDUCE_SUM, reduce, WIDEN),
	OP(RELU, activation, PREPARED(activation), WIDEN),
	OP(RELU1, activation, PREPARED(activation), WIDEN),
	OP(RELU6, activation, PREPARED(activation), WIDEN),
	OP(RESHAPE, reshape, KEEPS_BYTES),
	OP(RESIZE_BILINEAR, resize, WIDEN),
	OP(RESIZE_NEAREST_NEIGHBOR, resize, WIDEN),
	OP(RNN, rnn, SCRATCH(rnn), WIDEN),
	OP(ROI_ALIGN, roi, WIDEN),
	OP(ROI_POOLING, roi, WIDEN),
	OP(RSQRT, unary, WIDEN),
	OP(SELECT, select),
	OP(SIN, unary, WIDEN),
	OP(SLICE, slice),
	OP(SOFTMAX, softmax, PREPARED(softmax), WIDEN),
	OP(SPACE_TO_BATCH_ND, space),
	OP(SPACE_TO_DEPTH, space),
	OP(SPLIT, split),
	OP(SQRT, unary, WIDEN),
	OP(SQUEEZE, squeeze, KEEPS_BYTES),
	OP(STRIDED_SLICE, strided_slice),
	OP(SUB, elementwise, WIDEN),
	OP(SVDF, svdf, WIDEN),
	OP(TANH, activation, PREPARED(activation), WIDEN),
	OP(TILE, tile),
	OP(TOPK_V2, topk, SCRATCH(topk), WIDEN),
	OP(TRANSPOSE, transpose),
	OP(TRANSPOSE_CONV_2D, transpose_conv2d, WIDEN),
	OP(UNIDIRECTIONAL_SEQUENCE_LSTM, lstm, SCRATCH(lstm), WIDEN),
	OP(UNIDIRECTIONAL_SEQUENCE_RNN, rnn, SCRATCH(rnn), WIDEN),
};

const struct op_desc *op_find(uint32_t opcode)
{
	const struct extension_operation *o = extension_find_operation(opcode);

	if (o)
		return &o->desc;
	if (opcode >= NNPU_NUM_OPERATIONS || !op_table[opcode].name)
		return NULL;
	return &op_table[opcode];
}

/* Operations of the HAL take no operands whose type belongs to an extension. */
static int check_base(const struct op_call *c)
{
	if (!op_counts_ok(c->desc, c->num_inputs, c->num_outputs))
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	for (unsigned int i = 0; i < c->num_inputs + c->num_outputs; i++)
		if (type_is_extension(op_operand(c, i)->type))
			return op_fail(c, NNPU_REASON_TYPE, i);
	return 0;
}

int op_check(uint32_t opcode, const struct op_call *c)
{
	const struct extension_operation *o = extension_find_operation(opcode);

	if (o ? extension_check(opcode, o, c) : check_base(c))
		return -1;
	return c->desc->check(c);
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
	const struct extension_type *t;

	if (type < NNPU_NUM_TYPES)
		return types[type].size;
	t = extension_find_type(type);
	return t ? t->byte_size : 0;
}

bool type_is_scalar(uint32_t type)
{
	const struct extension_type *t;

	if (type < NNPU_NUM_TYPES)
		return types[type].scalar;
	t = extension_find_type(type);
	return t && !t->is_tensor;
}

#define NAME_CASE(name, num)		case (num): return #name;
#define NAME_CASE3(name, num, text)	case (num): return #name;
#define TEXT_CASE(name, num, text)	case (num): return text;

const char *type_name(uint32_t type)
{
	const struct extension_type *t = extension_find_type(type);

	if (t)
		return t->name;
	switch (type) {
	NNPU_TYPE_LIST(NAME_CASE)
	default:
		return "unknown type";
	}
}

const char *op_name(uint32_t opcode)
{
	const struct extension_operation *o = extension_find_operation(opcode);

	if (o)
		return o->desc.name;
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
