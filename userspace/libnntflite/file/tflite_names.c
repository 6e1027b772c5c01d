// SPDX-License-Identifier: MIT
/*
 * Names of TensorFlow Lite tensor types and builtin operators.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tflite.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const char *const type_names[] = {
	"float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16",
	"complex64", "int8", "float64", "complex128", "uint64", "resource", "variant",
	"uint32", "uint16", "int4",
};

/* BuiltinOperator of the schema, in numeric order. */
static const char *const builtin_names[] = {
	"ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D",
	"DEPTH_TO_SPACE", "DEQUANTIZE", "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED",
	"HASHTABLE_LOOKUP", "L2_NORMALIZATION", "L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION",
	"LOGISTIC", "LSH_PROJECTION", "LSTM", "MAX_POOL_2D", "MUL", "RELU",
	"RELU_N1_TO_1", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN",
	"SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH", "CONCAT_EMBEDDINGS",
	"SKIP_GRAM", "CALL", "CUSTOM", "EMBEDDING_LOOKUP_SPARSE", "PAD",
	"UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER", "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND",
	"TRANSPOSE",
	"MEAN", "SUB", "DIV", "SQUEEZE", "UNIDIRECTIONAL_SEQUENCE_LSTM",
	"STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN", "EXP", "TOPK_V2", "SPLIT",
	"LOG_SOFTMAX", "DELEGATE", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU",
	"MAXIMUM", "ARG_MAX", "MINIMUM", "LESS", "NEG",
	"PADV2", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "SELECT",
	"SLICE", "SIN", "TRANSPOSE_CONV", "SPARSE_TO_DENSE", "TILE",
	"EXPAND_DIMS", "EQUAL", "NOT_EQUAL", "LOG", "SUM",
	"SQRT", "RSQRT", "SHAPE", "POW", "ARG_MIN",
	"FAKE_QUANT", "REDUCE_PROD", "REDUCE_MAX", "PACK", "LOGICAL_OR",
	"ONE_HOT", "LOGICAL_AND", "LOGICAL_NOT", "UNPACK", "REDUCE_MIN",
	"FLOOR_DIV", "REDUCE_ANY", "SQUARE", "ZEROS_LIKE", "FILL",
	"FLOOR_MOD", "RANGE", "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU", "SQUARED_DIFFERENCE",
	"MIRROR_PAD", "ABS", "SPLIT_V", "UNIQUE", "CEIL",
	"REVERSE_V2", "ADD_N", "GATHER_ND", "COS", "WHERE",
	"RANK", "ELU", "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE",
	"MATRIX_SET_DIAG", "ROUND", "HARD_SWISH", "IF", "WHILE",
	"NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND", "SELECT_V2",
	"DENSIFY",
	"SEGMENT_SUM", "BATCH_MATMUL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM",
	"CALL_ONCE",
	"BROADCAST_TO", "RFFT2D", "CONV_3D", "IMAG", "REAL",
	"COMPLEX_ABS", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE",
	"REDUCE_ALL", "CONV_3D_TRANSPOSE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE",
	"BROADCAST_ARGS", "RANDOM_STANDARD_NORMAL", "BUCKETIZE", "RANDOM_UNIFORM",
	"MULTINOMIAL",
	"GELU", "DYNAMIC_UPDATE_SLICE", "RELU_0_TO_1", "UNSORTED_SEGMENT_PROD",
	"UNSORTED_SEGMENT_MAX",
	"UNSORTED_SEGMENT_SUM", "ATAN2", "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST",
	"BITWISE_XOR", "RIGHT_SHIFT",
	"STABLEHLO_LOGISTIC", "STABLEHLO_ADD", "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY",
	"STABLEHLO_MAXIMUM", "STABLEHLO_RESHAPE", "STABLEHLO_CLAMP", "STABLEHLO_CONCATENATE",
	"STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION", "STABLEHLO_SLICE",
	"STABLEHLO_CUSTOM_CALL", "STABLEHLO_REDUCE", "STABLEHLO_ABS", "STABLEHLO_AND",
	"STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL", "STABLEHLO_FLOOR", "STABLEHLO_LOG",
	"STABLEHLO_MINIMUM", "STABLEHLO_NEGATE", "STABLEHLO_OR", "STABLEHLO_POWER",
	"STABLEHLO_REMAINDER", "STABLEHLO_RSQRT", "STABLEHLO_SELECT", "STABLEHLO_SUBTRACT",
	"STABLEHLO_TANH", "STABLEHLO_SCATTER", "STABLEHLO_COMPARE", "STABLEHLO_CONVERT",
	"STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE", "STABLEHLO_PAD",
	"STABLEHLO_IOTA", "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT",
	"STABLEHLO_WHILE", "STABLEHLO_GATHER", "STABLEHLO_TRANSPOSE", "DILATE",
	"STABLEHLO_RNG_BIT_GENERATOR", "REDUCE_WINDOW", "STABLEHLO_COMPOSITE",
	"STABLEHLO_SHIFT_LEFT", "STABLEHLO_CBRT", "STABLEHLO_CASE",
};

_Static_assert(ARRAY_SIZE(builtin_names) == TFLITE_NUM_BUILTINS, "one name per operator");

const char *tflite_type_name(int type)
{
	if (type < 0 || (size_t)type >= ARRAY_SIZE(type_names))
		return "unknown type";
	return type_names[type];
}

const char *tflite_operator_name(const struct tflite_operator *op, char *buffer, size_t size)
{
	if (op->code == TFLITE_CUSTOM)
		return text_print(op->custom_name, buffer, size);
	if (op->code >= 0 && (size_t)op->code < ARRAY_SIZE(builtin_names))
		snprintf(buffer, size, "%s", builtin_names[op->code]);
	else
		snprintf(buffer, size, "operator number %" PRId32, op->code);
	return buffer;
}

const char *nntflite_operator_name(int32_t code)
{
	return code >= 0 && (size_t)code < ARRAY_SIZE(builtin_names) ? builtin_names[code] : NULL;
}

const char *nntflite_type_name(int type)
{
	return type >= 0 && (size_t)type < ARRAY_SIZE(type_names) ? type_names[type] : NULL;
}
