// SPDX-License-Identifier: MIT
/*
 * The builtin operators of the schema, and how each is mapped.
 *
 * A row says for which types of the deciding tensor an operation of the HAL serves, and
 * which function maps it. For all other types, and for operators that the HAL does not
 * have, the operation of the same number of the extension org.nnpu.tflite serves, if the
 * row has its fields. left_out.c says why an operator without a row has none, stablehlo.c
 * which operators have the row of another one.
 */
#include "map_table.h"
#include "map_ops.h"

#define T(name)		(1u << TFLITE_##name)
#define FLOATS		(T(FLOAT32) | T(FLOAT16))
#define QUANT8		(T(UINT8) | T(INT8))
#define HAL(name)	.hal = NNHAL_OPERATION_##name
#define INPUTS(a, b)	.min_inputs = (a), .max_inputs = (b)
#define OUTPUTS(a, b)	.min_outputs = (a), .max_outputs = (b)
#define OPTIONS(name)	TFLITE_##name##_OPTIONS
#define MANY		OP_ROW_MANY
#define STABLEHLO(name, a, b, function, text)				\
	[TFLITE_STABLEHLO_##name] = {					\
		.map = function, INPUTS(a, b), OUTPUTS(1, 1),		\
		.options_2 = TFLITE_STABLEHLO_##name##_OPTIONS_2,	\
		.needs_options = true, .how = text,			\
	}

const struct op_row op_table[TFLITE_NUM_BUILTINS] = {
	[TFLITE_ADD] = {
		HAL(ADD), .types = FLOATS | QUANT8 | T(INT32), .map = map_binary,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(ADD),
		.fields = "eb1",
	},
	[TFLITE_AVERAGE_POOL_2D] = {
		HAL(AVERAGE_POOL_2D), .types = FLOATS | QUANT8, .map = map_pool_2d,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(POOL_2D), .needs_options = true,
		.fields = "eiiiie",
	},
	[TFLITE_CONCATENATION] = {
		HAL(CONCATENATION), .types = FLOATS | QUANT8, .map = map_concatenation,
		INPUTS(1, MANY), OUTPUTS(1, 1), .options = OPTIONS(CONCATENATION), .needs_options = true,
		.fields = "ie",
	},
	[TFLITE_CONV_2D] = {
		HAL(CONV_2D), .types = FLOATS | QUANT8, .map = map_conv_2d,
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(CONV_2D), .needs_options = true,
		.fields = "eiiei1i1e",
	},
	[TFLITE_DEPTHWISE_CONV_2D] = {
		HAL(DEPTHWISE_CONV_2D), .types = FLOATS | QUANT8, .map = map_depthwise_conv_2d,
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(DEPTHWISE_CONV_2D), .needs_options = true,
		.fields = "eiiiei1i1",
	},
	[TFLITE_DEPTH_TO_SPACE] = {
		HAL(DEPTH_TO_SPACE), .types = FLOATS | QUANT8, .map = map_blocks,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(DEPTH_TO_SPACE),
	},
	[TFLITE_DEQUANTIZE] = {
		HAL(DEQUANTIZE), .types = FLOATS | QUANT8, .map = map_dequantize,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
		.how = "DEQUANTIZE: uint8, int8; CAST: float16",
	},
	[TFLITE_FLOOR] = {
		HAL(FLOOR), .types = FLOATS, .map = map_elements,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
	},
	[TFLITE_FULLY_CONNECTED] = {
		HAL(FULLY_CONNECTED), .types = FLOATS | QUANT8, .map = map_fully_connected,
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(FULLY_CONNECTED), .needs_options = true,
		.fields = "eebbe",
	},
	[TFLITE_L2_NORMALIZATION] = {
		HAL(L2_NORMALIZATION), .types = FLOATS | QUANT8, .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(L2_NORM),
	},
	[TFLITE_L2_POOL_2D] = {
		HAL(L2_POOL_2D), .types = FLOATS, .map = map_pool_2d,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(POOL_2D),
	},
	[TFLITE_LOGISTIC] = {
		HAL(LOGISTIC), .types = FLOATS | QUANT8, .map = map_elements,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_MAX_POOL_2D] = {
		HAL(MAX_POOL_2D), .types = FLOATS | QUANT8, .map = map_pool_2d,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(POOL_2D), .needs_options = true,
		.fields = "eiiiie",
	},
	[TFLITE_MUL] = {
		HAL(MUL), .types = FLOATS | QUANT8 | T(INT32), .map = map_mul,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(MUL),
		.fields = "e",
	},
	[TFLITE_RELU] = {
		HAL(RELU), .types = FLOATS | QUANT8, .map = map_relu,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RELU_N1_TO_1] = {
		HAL(RELU1), .types = FLOATS | QUANT8, .map = map_relu,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RELU6] = {
		HAL(RELU6), .types = FLOATS | QUANT8, .map = map_relu,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RESHAPE] = {
		HAL(RESHAPE), .types = FLOATS | QUANT8 | T(INT32), .map = map_reshape,
		INPUTS(1, 2), OUTPUTS(1, 1), .options = OPTIONS(RESHAPE),
		.fields = ".",
	},
	[TFLITE_RESIZE_BILINEAR] = {
		HAL(RESIZE_BILINEAR), .types = FLOATS | QUANT8, .map = map_resize,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(RESIZE_BILINEAR),
		.fields = "..bb",
	},
	[TFLITE_SOFTMAX] = {
		HAL(SOFTMAX), .types = FLOATS | QUANT8, .map = map_softmax,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SOFTMAX), .needs_options = true,
		.fields = "f",
	},
	[TFLITE_SPACE_TO_DEPTH] = {
		HAL(SPACE_TO_DEPTH), .types = FLOATS | QUANT8, .map = map_blocks,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SPACE_TO_DEPTH),
	},
	[TFLITE_SVDF] = {
		HAL(SVDF), .types = FLOATS | T(INT8), .map = map_svdf,
		INPUTS(5, 5), OUTPUTS(1, 1), .options = OPTIONS(SVDF), .needs_options = true,
		.how = "SVDF: float32, float16; that of org.nnpu.tflite: int8",
	},
	[TFLITE_TANH] = {
		HAL(TANH), .types = FLOATS | QUANT8, .map = map_elements,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_EMBEDDING_LOOKUP_SPARSE] = {
		INPUTS(5, 5), OUTPUTS(1, 1), .options = OPTIONS(EMBEDDING_LOOKUP_SPARSE),
		.fields = "e",
	},
	[TFLITE_PAD] = {
		HAL(PAD), .types = FLOATS | QUANT8, .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(PAD),
		.fields = "",
	},
	[TFLITE_UNIDIRECTIONAL_SEQUENCE_RNN] = {
		HAL(UNIDIRECTIONAL_SEQUENCE_RNN), .types = FLOATS, .map = map_sequence_rnn,
		INPUTS(5, 5), OUTPUTS(1, 1), .options = OPTIONS(SEQUENCE_RNN),
	},
	[TFLITE_GATHER] = {
		HAL(GATHER), .types = FLOATS | QUANT8 | T(INT32), .map = map_gather,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(GATHER),
		.fields = "ii",
	},
	[TFLITE_BATCH_TO_SPACE_ND] = {
		HAL(BATCH_TO_SPACE_ND), .types = FLOATS | QUANT8, .map = map_batch_to_space,
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(BATCH_TO_SPACE_ND),
		.fields = "",
	},
	[TFLITE_SPACE_TO_BATCH_ND] = {
		HAL(SPACE_TO_BATCH_ND), .types = FLOATS | QUANT8, .map = map_space_to_batch,
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(SPACE_TO_BATCH_ND),
		.fields = "",
	},
	[TFLITE_TRANSPOSE] = {
		HAL(TRANSPOSE), .types = FLOATS | QUANT8, .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(TRANSPOSE),
		.fields = "",
	},
	[TFLITE_MEAN] = {
		HAL(MEAN), .types = FLOATS, .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER),
		.fields = "b",
	},
	[TFLITE_SUB] = {
		HAL(SUB), .types = FLOATS | QUANT8 | T(INT32), .map = map_binary,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(SUB),
		.fields = "eb1",
	},
	[TFLITE_DIV] = {
		HAL(DIV), .types = FLOATS, .map = map_binary,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(DIV),
		.fields = "e",
	},
	[TFLITE_SQUEEZE] = {
		HAL(SQUEEZE), .map = map_squeeze,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SQUEEZE),
		.how = "SQUEEZE; that of org.nnpu.tflite for types and ranks that the HAL lacks",
	},
	[TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM] = {
		HAL(UNIDIRECTIONAL_SEQUENCE_LSTM), .map = map_sequence_lstm,
		INPUTS(20, 24), OUTPUTS(1, 1), .options = OPTIONS(UNIDIRECTIONAL_SEQUENCE_LSTM),
		.how = "UNIDIRECTIONAL_SEQUENCE_LSTM: float32, float16; that of org.nnpu.tflite: int8; no"
		       " diagonal recurrent weights",
	},
	[TFLITE_STRIDED_SLICE] = {
		HAL(STRIDED_SLICE), .types = FLOATS | QUANT8, .map = map_strided_slice,
		INPUTS(4, 4), OUTPUTS(1, 1), .options = OPTIONS(STRIDED_SLICE),
		.fields = "iiiiib",
	},
	[TFLITE_EXP] = {
		HAL(EXP), .types = FLOATS, .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(EXP),
		.fields = "",
	},
	[TFLITE_TOPK_V2] = {
		HAL(TOPK_V2), .types = FLOATS | QUANT8 | T(INT32), .map = map_topk,
		INPUTS(2, 2), OUTPUTS(2, 2), .options = OPTIONS(TOPK_V2),
		.fields = "",
	},
	[TFLITE_SPLIT] = {
		HAL(SPLIT), .map = map_split,
		INPUTS(2, 2), OUTPUTS(1, 1024), .options = OPTIONS(SPLIT),
		.fields = "i",
	},
	[TFLITE_LOG_SOFTMAX] = {
		HAL(LOG_SOFTMAX), .types = FLOATS, .map = map_log_softmax,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(LOG_SOFTMAX),
		.fields = "",
	},
	[TFLITE_CAST] = { INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(CAST), .fields = "xy" },
	[TFLITE_PRELU] = {
		HAL(PRELU), .types = FLOATS | T(UINT8), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_MAXIMUM] = {
		HAL(MAXIMUM), .types = FLOATS | QUANT8 | T(INT32), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(MAXIMUM_MINIMUM),
		.fields = "",
	},
	[TFLITE_ARG_MAX] = {
		HAL(ARGMAX), .types = FLOATS | QUANT8 | T(INT32), .map = map_arg,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(ARG_MAX),
		.fields = "e",
	},
	[TFLITE_MINIMUM] = {
		HAL(MINIMUM), .types = FLOATS | QUANT8 | T(INT32), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(MAXIMUM_MINIMUM),
		.fields = "",
	},
	[TFLITE_LESS] = {
		HAL(LESS), .types = FLOATS | QUANT8 | T(INT32) | T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(LESS),
		.fields = "",
	},
	[TFLITE_NEG] = {
		HAL(NEG), .types = FLOATS | T(INT32), .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(NEG),
		.fields = "",
	},
	[TFLITE_PADV2] = { INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(PADV2), .fields = "" },
	[TFLITE_GREATER] = {
		HAL(GREATER), .types = FLOATS | QUANT8 | T(INT32) | T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(GREATER),
		.fields = "",
	},
	[TFLITE_GREATER_EQUAL] = {
		HAL(GREATER_EQUAL), .types = FLOATS | QUANT8 | T(INT32) | T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(GREATER_EQUAL),
		.fields = "",
	},
	[TFLITE_LESS_EQUAL] = {
		HAL(LESS_EQUAL), .types = FLOATS | QUANT8 | T(INT32) | T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(LESS_EQUAL),
		.fields = "",
	},
	[TFLITE_SELECT] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(SELECT),
		.type_input = 1, .fields = "",
	},
	[TFLITE_SLICE] = {
		HAL(SLICE), .types = FLOATS | QUANT8 | T(INT32), .map = map_as_it_is,
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(SLICE),
		.fields = "",
	},
	[TFLITE_SIN] = {
		HAL(SIN), .types = FLOATS, .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_TRANSPOSE_CONV] = {
		HAL(TRANSPOSE_CONV_2D), .types = FLOATS | QUANT8, .map = map_transpose_conv,
		INPUTS(3, 4), OUTPUTS(1, 1), .options = OPTIONS(TRANSPOSE_CONV),
		.type_input = 2, .fields = "eiiee",
	},
	[TFLITE_SPARSE_TO_DENSE] = {
		INPUTS(4, 4), OUTPUTS(1, 1), .options = OPTIONS(SPARSE_TO_DENSE),
		.fields = "b",
	},
	[TFLITE_TILE] = {
		HAL(TILE), .types = FLOATS | QUANT8 | T(INT32), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(TILE),
		.fields = "",
	},
	[TFLITE_EXPAND_DIMS] = {
		HAL(EXPAND_DIMS), .types = FLOATS | QUANT8 | T(INT32), .map = map_with_scalar,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(EXPAND_DIMS),
		.fields = "",
	},
	[TFLITE_EQUAL] = {
		HAL(EQUAL), .types = FLOATS | QUANT8 | T(INT32) | T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(EQUAL),
		.fields = "",
	},
	[TFLITE_NOT_EQUAL] = {
		HAL(NOT_EQUAL), .types = FLOATS | QUANT8 | T(INT32) | T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(NOT_EQUAL),
		.fields = "",
	},
	[TFLITE_LOG] = {
		HAL(LOG), .types = FLOATS, .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_SUM] = {
		HAL(REDUCE_SUM), .types = FLOATS, .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER),
		.fields = "b",
	},
	[TFLITE_SQRT] = {
		HAL(SQRT), .types = FLOATS, .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RSQRT] = {
		HAL(RSQRT), .types = FLOATS, .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_SHAPE] = {
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SHAPE),
		.fields = "e2",
	},
	[TFLITE_POW] = {
		HAL(POW), .types = FLOATS, .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(POW),
		.fields = "",
	},
	[TFLITE_ARG_MIN] = {
		HAL(ARGMIN), .types = FLOATS | QUANT8 | T(INT32), .map = map_arg,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(ARG_MIN),
		.fields = "e",
	},
	[TFLITE_FAKE_QUANT] = {
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(FAKE_QUANT),
		.fields = "ffib",
	},
	[TFLITE_REDUCE_PROD] = {
		HAL(REDUCE_PROD), .types = FLOATS, .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER),
		.fields = "b",
	},
	[TFLITE_REDUCE_MAX] = {
		HAL(REDUCE_MAX), .types = FLOATS | QUANT8, .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER),
		.fields = "b",
	},
	[TFLITE_PACK] = {
		HAL(CONCATENATION), .map = map_pack,
		INPUTS(1, 1024), OUTPUTS(1, 1), .options = OPTIONS(PACK),
		.fields = "ii",
	},
	[TFLITE_LOGICAL_OR] = {
		HAL(LOGICAL_OR), .types = T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(LOGICAL_OR),
	},
	[TFLITE_ONE_HOT] = {
		INPUTS(4, 4), OUTPUTS(1, 1), .options = OPTIONS(ONE_HOT),
		.fields = "i",
	},
	[TFLITE_LOGICAL_AND] = {
		HAL(LOGICAL_AND), .types = T(BOOL), .map = map_as_it_is,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(LOGICAL_AND),
	},
	[TFLITE_LOGICAL_NOT] = {
		HAL(LOGICAL_NOT), .types = T(BOOL), .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(LOGICAL_NOT),
	},
	[TFLITE_UNPACK] = {
		INPUTS(1, 1), OUTPUTS(1, 1024), .options = OPTIONS(UNPACK),
		.fields = "ii",
	},
	[TFLITE_REDUCE_MIN] = {
		HAL(REDUCE_MIN), .types = FLOATS | QUANT8, .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER),
		.fields = "b",
	},
	[TFLITE_FLOOR_DIV] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(FLOOR_DIV), .fields = "",
	},
	[TFLITE_REDUCE_ANY] = {
		HAL(REDUCE_ANY), .types = T(BOOL), .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER), .fields = "b",
	},
	[TFLITE_SQUARE] = {
		HAL(MUL), .types = FLOATS, .map = map_square,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SQUARE), .fields = "",
	},
	[TFLITE_ZEROS_LIKE] = {
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(ZEROS_LIKE), .fields = "",
	},
	[TFLITE_FILL] = { INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(FILL), .fields = "" },
	[TFLITE_FLOOR_MOD] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(FLOOR_MOD), .fields = "",
	},
	[TFLITE_RANGE] = { INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(RANGE), .fields = "" },
	[TFLITE_RESIZE_NEAREST_NEIGHBOR] = {
		HAL(RESIZE_NEAREST_NEIGHBOR), .types = FLOATS | QUANT8, .map = map_resize,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(RESIZE_NEAREST_NEIGHBOR),
		.fields = "bb",
	},
	[TFLITE_LEAKY_RELU] = {
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(LEAKY_RELU), .fields = "f",
	},
	[TFLITE_SQUARED_DIFFERENCE] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(SQUARED_DIFFERENCE),
		.fields = "",
	},
	[TFLITE_MIRROR_PAD] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(MIRROR_PAD),
		.fields = "e",
	},
	[TFLITE_ABS] = {
		HAL(ABS), .types = FLOATS | T(INT32), .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(ABS),
		.fields = "",
	},
	[TFLITE_SPLIT_V] = {
		INPUTS(3, 3), OUTPUTS(1, 1024), .options = OPTIONS(SPLIT_V),
		.fields = "i",
	},
	[TFLITE_UNIQUE] = {
		INPUTS(1, 1), OUTPUTS(2, 2), .options = OPTIONS(UNIQUE),
		.fields = "e2",
	},
	[TFLITE_CEIL] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_REVERSE_V2] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REVERSE_V2),
		.fields = "",
	},
	[TFLITE_ADD_N] = {
		INPUTS(1, 1024), OUTPUTS(1, 1), .options = OPTIONS(ADD_N),
		.fields = "",
	},
	[TFLITE_GATHER_ND] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(GATHER_ND),
		.fields = "",
	},
	[TFLITE_COS] = { INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(COS), .fields = "" },
	[TFLITE_WHERE] = { INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(WHERE), .fields = "" },
	[TFLITE_RANK] = { INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(RANK), .fields = "" },
	[TFLITE_ELU] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_REVERSE_SEQUENCE] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REVERSE_SEQUENCE),
		.fields = "ii",
	},
	[TFLITE_MATRIX_DIAG] = {
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(MATRIX_DIAG),
		.fields = "",
	},
	[TFLITE_QUANTIZE] = {
		HAL(QUANTIZE), .types = FLOATS, .map = map_quantize,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "", .how = "QUANTIZE: float32 and float16, to uint8 and int8",
	},
	[TFLITE_MATRIX_SET_DIAG] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(MATRIX_SET_DIAG),
		.fields = "",
	},
	[TFLITE_ROUND] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_HARD_SWISH] = {
		HAL(HARD_SWISH), .types = FLOATS, .map = map_unary,
		.any_rank = true, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(HARD_SWISH),
		.fields = "",
	},
	[TFLITE_NON_MAX_SUPPRESSION_V4] = {
		INPUTS(5, 5), OUTPUTS(2, 2), .options = OPTIONS(NON_MAX_SUPPRESSION_V4),
		.fields = "",
	},
	[TFLITE_NON_MAX_SUPPRESSION_V5] = {
		INPUTS(6, 6), OUTPUTS(3, 3), .options = OPTIONS(NON_MAX_SUPPRESSION_V5),
		.fields = "",
	},
	[TFLITE_SCATTER_ND] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(SCATTER_ND),
		.fields = "",
	},
	[TFLITE_SELECT_V2] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(SELECT_V2),
		.fields = "",
	},
	[TFLITE_SEGMENT_SUM] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(SEGMENT_SUM),
		.fields = "",
	},
	[TFLITE_BATCH_MATMUL] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(BATCH_MATMUL),
		.fields = "bbb",
	},
	[TFLITE_CUMSUM] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(CUMSUM),
		.fields = "bb",
	},
	[TFLITE_BROADCAST_TO] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(BROADCAST_TO),
		.fields = "",
	},
	[TFLITE_RFFT2D] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(RFFT2D),
		.fields = "",
	},
	[TFLITE_CONV_3D] = {
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(CONV_3D),
		.fields = "eiiiei1i1i1",
	},
	[TFLITE_IMAG] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_REAL] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_COMPLEX_ABS] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_REDUCE_ALL] = {
		HAL(REDUCE_ALL), .types = T(BOOL), .map = map_reduce,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(REDUCER),
		.fields = "b",
	},
	[TFLITE_CONV_3D_TRANSPOSE] = {
		INPUTS(3, 4), OUTPUTS(1, 1), .options = OPTIONS(CONV_3D),
		.fields = "eiiiei1i1i1",
	},
	[TFLITE_BROADCAST_ARGS] = { INPUTS(2, 2), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_GELU] = { INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(GELU), .fields = "b" },
	[TFLITE_DYNAMIC_UPDATE_SLICE] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(DYNAMIC_UPDATE_SLICE),
		.fields = "",
	},
	[TFLITE_RELU_0_TO_1] = { INPUTS(1, 1), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_UNSORTED_SEGMENT_PROD] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(UNSORTED_SEGMENT_PROD),
		.fields = "",
	},
	[TFLITE_UNSORTED_SEGMENT_MAX] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(UNSORTED_SEGMENT_MAX),
		.fields = "",
	},
	[TFLITE_UNSORTED_SEGMENT_SUM] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(UNSORTED_SEGMENT_SUM),
		.fields = "",
	},
	[TFLITE_ATAN2] = { INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(ATAN2), .fields = "" },
	[TFLITE_UNSORTED_SEGMENT_MIN] = {
		INPUTS(3, 3), OUTPUTS(1, 1), .options = OPTIONS(UNSORTED_SEGMENT_MIN),
		.fields = "",
	},
	[TFLITE_SIGN] = { INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SIGN), .fields = "" },
	[TFLITE_BITCAST] = {
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(BITCAST),
		.fields = "",
	},
	[TFLITE_BITWISE_XOR] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(BITWISE_XOR),
		.fields = "",
	},
	[TFLITE_RIGHT_SHIFT] = {
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(RIGHT_SHIFT),
		.fields = "",
	},
	[TFLITE_CUSTOM] = {
		.map = map_custom, INPUTS(0, MANY), OUTPUTS(0, MANY),
		.how = "TFLite_Detection_PostProcess: DEQUANTIZE, DETECTION_POSTPROCESSING, CAST;"
		       " no other is known",
	},
	[TFLITE_EMBEDDING_LOOKUP] = {
		HAL(EMBEDDING_LOOKUP), .types = FLOATS | QUANT8 | T(INT32), .type_input = 1,
		.map = map_as_it_is, INPUTS(2, 2), OUTPUTS(1, 1),
	},
	[TFLITE_HASHTABLE_LOOKUP] = {
		HAL(HASHTABLE_LOOKUP), .types = T(FLOAT32) | T(INT32) | T(UINT8), .type_input = 2,
		.map = map_hashtable_lookup, INPUTS(3, 3), OUTPUTS(2, 2),
	},
	[TFLITE_LOCAL_RESPONSE_NORMALIZATION] = {
		HAL(LOCAL_RESPONSE_NORMALIZATION), .types = FLOATS,
		.map = map_local_response_normalization, INPUTS(1, 1), OUTPUTS(1, 1),
		.options = OPTIONS(LOCAL_RESPONSE_NORMALIZATION), .needs_options = true,
	},
	[TFLITE_LSH_PROJECTION] = {
		HAL(LSH_PROJECTION), .map = map_lsh_projection, INPUTS(2, 3), OUTPUTS(1, 1),
		.options = OPTIONS(LSH_PROJECTION), .needs_options = true,
	},
	[TFLITE_LSTM] = {
		HAL(LSTM), .map = map_lstm, INPUTS(5, 24), OUTPUTS(1, 4),
		.options = OPTIONS(LSTM), .needs_options = true,
		.how = "LSTM: float32, float16; that of org.nnpu.tflite: int8; the BASIC kernel:"
		       " CONCATENATION, FULLY_CONNECTED, SPLIT, LOGISTIC, TANH, MUL, ADD: float32, float16;"
		       " SLICE, QUANTIZED_16BIT_LSTM: uint8",
	},
	[TFLITE_RNN] = {
		HAL(RNN), .types = FLOATS, .map = map_rnn, INPUTS(5, 5), OUTPUTS(1, 1),
		.options = OPTIONS(RNN),
	},
	[TFLITE_BIDIRECTIONAL_SEQUENCE_RNN] = {
		HAL(BIDIRECTIONAL_SEQUENCE_RNN), .types = FLOATS, .map = map_bidirectional_rnn,
		INPUTS(9, 12), OUTPUTS(1, 2), .options = OPTIONS(BIDIRECTIONAL_SEQUENCE_RNN),
	},
	[TFLITE_BIDIRECTIONAL_SEQUENCE_LSTM] = {
		HAL(BIDIRECTIONAL_SEQUENCE_LSTM), .types = FLOATS, .map = map_bidirectional_lstm,
		INPUTS(39, 48), OUTPUTS(1, 2), .options = OPTIONS(BIDIRECTIONAL_SEQUENCE_LSTM),
	},
	[TFLITE_BUCKETIZE] = {
		.map = map_bucketize, .types = T(FLOAT32) | T(FLOAT64) | T(INT32) | T(INT64),
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(BUCKETIZE), .needs_options = true,
		.how = "BUCKETIZE of org.nnpu.tflite, with the boundaries as an input",
	},
	[TFLITE_DENSIFY] = {
		.map = map_densify, INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(DENSIFY),
		.how = "no operation: the constant is dense",
	},
	[TFLITE_DILATE] = { INPUTS(3, 3), OUTPUTS(1, 1), .fields = "" },
	[TFLITE_CALL] = {
		.map = map_call, INPUTS(0, MANY), OUTPUTS(0, MANY),
		.options = OPTIONS(CALL), .needs_options = true,
		.how = "the subgraph in an IF whose condition is true",
	},
	[TFLITE_IF] = {
		HAL(IF), .map = map_if, INPUTS(1, MANY), OUTPUTS(0, MANY),
		.options = OPTIONS(IF), .needs_options = true,
	},
	[TFLITE_WHILE] = {
		HAL(WHILE), .map = map_while, INPUTS(1, MANY), OUTPUTS(1, MANY),
		.options = OPTIONS(WHILE), .needs_options = true,
	},
	[TFLITE_CALL_ONCE] = {
		.map = map_call_once, INPUTS(0, 0), OUTPUTS(0, 0),
		.options = OPTIONS(CALL_ONCE), .needs_options = true,
		.how = "initial values of variables",
	},
	[TFLITE_VAR_HANDLE] = {
		.map = map_var_handle, INPUTS(0, 0), OUTPUTS(1, 1),
		.options = OPTIONS(VAR_HANDLE), .needs_options = true,
		.how = "input and output of the model",
	},
	[TFLITE_READ_VARIABLE] = {
		.map = map_read_variable, INPUTS(1, 1), OUTPUTS(1, 1),
		.options = OPTIONS(READ_VARIABLE),
		.how = "no operation",
	},
	[TFLITE_ASSIGN_VARIABLE] = {
		.map = map_assign_variable, INPUTS(2, 2), OUTPUTS(0, 0),
		.options = OPTIONS(ASSIGN_VARIABLE),
		.how = "no operation, or a copy",
	},
	STABLEHLO(CONCATENATE, 1, MANY, map_hlo_concatenate,
		  "CONCATENATION of org.nnpu.tflite"),
	STABLEHLO(BROADCAST_IN_DIM, 1, 1, map_hlo_broadcast,
		  "RESHAPE, BROADCAST_TO of org.nnpu.tflite"),
	STABLEHLO(SLICE, 1, 1, map_hlo_slice,
		  "STRIDED_SLICE of org.nnpu.tflite"),
	STABLEHLO(REDUCE, 2, 2, map_hlo_reduce,
		  "SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY or REDUCE_ALL of"
		  " org.nnpu.tflite, and the start value; one input, and a body of one operator"),
	STABLEHLO(COMPARE, 2, 2, map_hlo_compare,
		  "EQUAL, NOT_EQUAL, GREATER_EQUAL, GREATER, LESS_EQUAL or LESS of"
		  " org.nnpu.tflite; no total order"),
	STABLEHLO(DYNAMIC_SLICE, 2, 9, map_hlo_dynamic_slice,
		  "CONCATENATION, MAXIMUM, MINIMUM, SLICE of org.nnpu.tflite"),
	STABLEHLO(PAD, 2, 2, map_hlo_pad,
		  "DILATE, PADV2, STRIDED_SLICE, as far as they are needed, of org.nnpu.tflite"),
	STABLEHLO(IOTA, 0, 0, map_hlo_iota,
		  "RANGE, RESHAPE, BROADCAST_TO of org.nnpu.tflite"),
	STABLEHLO(DOT_GENERAL, 2, 2, map_hlo_dot_general,
		  "BATCH_MATMUL of org.nnpu.tflite; one free and one contracting dimension each"
		  " behind the batches"),
	STABLEHLO(TRANSPOSE, 1, 1, map_hlo_transpose,
		  "TRANSPOSE of org.nnpu.tflite"),
	[TFLITE_STABLEHLO_CLAMP] = {
		.map = map_hlo_clamp, INPUTS(3, 3), OUTPUTS(1, 1),
		.how = "MAXIMUM, MINIMUM of org.nnpu.tflite",
	},
	[TFLITE_STABLEHLO_DYNAMIC_UPDATE_SLICE] = {
		.map = map_hlo_dynamic_update_slice, INPUTS(3, 10), OUTPUTS(1, 1),
		.how = "CONCATENATION, DYNAMIC_UPDATE_SLICE of org.nnpu.tflite",
	},
	[TFLITE_STABLEHLO_WHILE] = {
		HAL(WHILE), .map = map_while, INPUTS(1, MANY), OUTPUTS(1, MANY),
		.options_2 = TFLITE_STABLEHLO_WHILE_OPTIONS_2, .needs_options = true,
	},
	[TFLITE_STABLEHLO_COMPOSITE] = {
		.map = map_call, INPUTS(0, MANY), OUTPUTS(0, MANY),
		.options_2 = TFLITE_STABLEHLO_COMPOSITE_OPTIONS_2, .needs_options = true,
		.how = "its decomposition in an IF whose condition is true",
	},
	[TFLITE_STABLEHLO_CASE] = {
		.map = map_case, INPUTS(1, MANY), OUTPUTS(0, MANY),
		.options_2 = TFLITE_STABLEHLO_CASE_OPTIONS_2, .needs_options = true,
		.how = "EQUAL of org.nnpu.tflite, IF; one branch or two",
	},
};
