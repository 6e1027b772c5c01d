// SPDX-License-Identifier: MIT
/*
 * The extension org.nnpu.tflite: its types, and a row for each of its operations, ascending.
 *
 *	OP(number, name, functions, IN(...), OUT(...), more fields of struct op_desc),
 *
 * IN and OUT hold a pattern for each operand: ANY(types), RANK(types, least, greatest),
 * REPEATED(types) for operands of which there are one or more, OPTIONAL(types) for those that may
 * be omitted; INT, BOOL and REAL for scalars.
 */
#include "tflite_ops.h"

static const struct extension_type types[] = {
	[TFLITE_INT64] = { .name = "TENSOR_INT64", .byte_size = 8, .is_tensor = true },
	[TFLITE_COMPLEX64] = { .name = "TENSOR_COMPLEX64", .byte_size = 8, .is_tensor = true },
	[TFLITE_FLOAT64] = { .name = "TENSOR_FLOAT64", .byte_size = 8, .is_tensor = true },
	[TFLITE_UINT64] = { .name = "TENSOR_UINT64", .byte_size = 8, .is_tensor = true },
	[TFLITE_UINT32] = { .name = "TENSOR_UINT32", .byte_size = 4, .is_tensor = true },
	[TFLITE_UINT16] = { .name = "TENSOR_UINT16", .byte_size = 2, .is_tensor = true },
};

_Static_assert(sizeof(types) / sizeof(types[0]) <= EXTENSION_MAX_TYPES, "EXTENSION_TYPE()");

/* Sets of types, under the names of TensorType. */
#define F32	SIG_TYPE(TENSOR_FLOAT32)
#define F16	SIG_TYPE(TENSOR_FLOAT16)
#define I32	SIG_TYPE(TENSOR_INT32)
#define U8	SIG_TYPE(TENSOR_QUANT8_ASYMM)
#define I64	EXTENSION_TYPE(TFLITE_INT64)
#define B8	SIG_TYPE(TENSOR_BOOL8)
#define I16	SIG_TYPE(TENSOR_QUANT16_SYMM)
#define C64	EXTENSION_TYPE(TFLITE_COMPLEX64)
#define I8	SIG_TYPE(TENSOR_QUANT8_ASYMM_SIGNED)
#define F64	EXTENSION_TYPE(TFLITE_FLOAT64)
#define U64	EXTENSION_TYPE(TFLITE_UINT64)
#define U32	EXTENSION_TYPE(TFLITE_UINT32)
#define U16	EXTENSION_TYPE(TFLITE_UINT16)

#define INDEX	(I32 | I64)
#define QUANT8	(I8 | U8)
#define QUANT	(I8 | U8 | I16)
#define PADDINGS	(INDEX | I8 | I16)
#define SUMMABLE	(F32 | I32 | I64 | I8 | U8 | B8)
#define ALL	(F32 | F16 | I32 | U8 | I64 | B8 | I16 | C64 | I8 | F64 | U64 | U32 | U16)

/* Patterns of operands. */
#define ANY(set)		{ .types = (set) }
#define RANK(set, min, max)	{ .types = (set), .min_rank = (min), .max_rank = (max) }
#define OPTIONAL(set)		{ .types = (set), .flags = EXTENSION_OPTIONAL }
#define REPEATED(set)		{ .types = (set), .flags = EXTENSION_REPEATED }
#define INT			{ .types = SIG_TYPE(INT32) }
#define BOOL			{ .types = SIG_TYPE(BOOL) }
#define REAL			{ .types = SIG_TYPE(FLOAT32) }

#define LIST(...)	((const struct extension_operand[]){ __VA_ARGS__ })
#define LENGTH(...)	(sizeof(LIST(__VA_ARGS__)) / sizeof(struct extension_operand))
#define IN(...)		.in = LIST(__VA_ARGS__), .num_in = LENGTH(__VA_ARGS__)
#define OUT(...)	.out = LIST(__VA_ARGS__), .num_out = LENGTH(__VA_ARGS__)

#define OP(number, name_, functions, in_, out_, ...) \
	[number] = { \
		.signature = { in_, out_ }, \
		.desc = { \
			.op = (enum nnpu_operation)(number), .name = #name_, \
			.check = tflite_##functions##_check, \
			.infer = tflite_##functions##_infer, \
			.execute = tflite_##functions##_execute, ##__VA_ARGS__ \
		}, \
	}

/* Rows of families. */
#define BINARY(number, name, set, ...) \
	OP(number, name, binary, IN(ANY(set), ANY(set), ##__VA_ARGS__), OUT(ANY(set)))
#define COMPARE(number, name, set) \
	OP(number, name, compare, IN(ANY(set), ANY(set)), OUT(ANY(B8)))
#define UNARY(number, name, set) \
	OP(number, name, unary, IN(ANY(set)), OUT(ANY(set)), PREPARED(unary))
#define ACTIVATION(number, name, set, ...) \
	OP(number, name, activation, IN(ANY(set), ##__VA_ARGS__), OUT(ANY(set)), \
	   PREPARED(activation))
#define REDUCE(number, name, set) \
	OP(number, name, reduce, IN(ANY(set), RANK(I32, 1, 1), BOOL), OUT(ANY(set)))
#define ARG(number, name) \
	OP(number, name, arg, IN(ANY(F32 | QUANT8 | I32 | B8), ANY(INDEX), INT), OUT(ANY(INDEX)))

#define SCRATCH(functions)	.scratch = tflite_##functions##_scratch
#define PREPARED(functions)	.prepare = tflite_##functions##_prepare
#define KEEPS_BYTES		.keeps_bytes = true

/* Data, weights and biases of convolutions. */
#define W8	(I8 | SIG_TYPE(TENSOR_QUANT8_SYMM))
#define WEIGHTS	(F32 | U8 | W8 | SIG_TYPE(TENSOR_QUANT8_SYMM_PER_CHANNEL))
#define DATA	(F32 | U8 | I8 | I16)
#define BIAS	(F32 | I32 | I64)

/* Inputs 1 to 23 of the LSTM operations, and what follows the options. */
#define LSTM_LAYER \
	OPTIONAL(W8), RANK(W8, 2, 2), RANK(W8, 2, 2), RANK(W8, 2, 2), \
	OPTIONAL(W8), RANK(W8, 2, 2), RANK(W8, 2, 2), RANK(W8, 2, 2), \
	OPTIONAL(I16), OPTIONAL(I16), OPTIONAL(I16), \
	OPTIONAL(I32), RANK(I32, 1, 1), RANK(I32, 1, 1), RANK(I32, 1, 1), \
	OPTIONAL(W8), OPTIONAL(I32), RANK(I8, 2, 2), RANK(I16, 2, 2), \
	OPTIONAL(I16), OPTIONAL(I16), OPTIONAL(I16), OPTIONAL(I16)
#define LSTM_INTERMEDIATES \
	REAL, INT, REAL, INT, REAL, INT, REAL, INT, REAL, INT

/* Operations that share their infer(). */
#define OP_SEGMENT(number, how, execute_) \
	[number] = { \
		.signature = { IN(ANY(F32 | I32), ANY(I32), ANY(I32)), OUT(ANY(F32 | I32)) }, \
		.desc = { \
			.op = (enum nnpu_operation)(number), \
			.name = "UNSORTED_SEGMENT_" #how, .check = tflite_unsorted_segment_check, \
			.infer = tflite_unsorted_segment_infer, \
			.execute = tflite_unsorted_segment_##execute_##_execute, \
		}, \
	}

static const struct extension_operation operations[] = {
	BINARY(0, ADD, F32 | I32 | I64 | QUANT, INT, BOOL),
	OP(1, AVERAGE_POOL_2D, average_pool,
	   IN(RANK(I16, 4, 4), INT, INT, INT, INT, INT, INT), OUT(RANK(I16, 4, 4))),
	OP(2, CONCATENATION, concatenation, IN(REPEATED(ALL), INT, INT), OUT(ANY(ALL))),
	OP(3, CONV_2D, conv_2d,
	   IN(RANK(DATA, 4, 4), RANK(WEIGHTS, 4, 4), OPTIONAL(BIAS),
	      INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(DATA, 4, 4)), SCRATCH(conv_2d)),
	OP(4, DEPTHWISE_CONV_2D, depthwise,
	   IN(RANK(DATA, 4, 4), RANK(WEIGHTS, 4, 4), OPTIONAL(BIAS),
	      INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(DATA, 4, 4)), SCRATCH(depthwise)),
	OP(6, DEQUANTIZE, dequantize, IN(ANY(QUANT | F16)), OUT(ANY(F32))),
	OP(9, FULLY_CONNECTED, fully_connected,
	   IN(ANY(DATA), RANK(WEIGHTS, 2, 2), OPTIONAL(BIAS), INT, INT, BOOL, BOOL, INT),
	   OUT(ANY(DATA)), SCRATCH(fully_connected), PREPARED(fully_connected),
	   .native_weights = true, .unprepare = conv_unprepare),
	OP(14, LOGISTIC, logistic, IN(ANY(I16)), OUT(ANY(I16)), PREPARED(logistic)),
	OP(16, LSTM, lstm,
	   IN(RANK(I8, 2, 2), LSTM_LAYER, INT, REAL, REAL, INT, BOOL, LSTM_INTERMEDIATES),
	   OUT(RANK(I8, 2, 2), RANK(I8, 2, 2), RANK(I16, 2, 2)), SCRATCH(lstm)),
	OP(17, MAX_POOL_2D, max_pool,
	   IN(RANK(I16, 4, 4), INT, INT, INT, INT, INT, INT), OUT(RANK(I16, 4, 4))),
	BINARY(18, MUL, F32 | I32 | I64 | QUANT | U32 | C64, INT),
	ACTIVATION(19, RELU, F32 | QUANT),
	ACTIVATION(20, RELU_N1_TO_1, F32 | QUANT8),
	ACTIVATION(21, RELU6, F32 | QUANT),
	OP(22, RESHAPE, reshape, IN(ANY(ALL), ANY(INDEX)), OUT(ANY(ALL)), KEEPS_BYTES),
	OP(23, RESIZE_BILINEAR, resize_bilinear,
	   IN(RANK(F32 | QUANT, 4, 4), RANK(I32, 1, 1), BOOL, BOOL), OUT(RANK(F32 | QUANT, 4, 4))),
	OP(25, SOFTMAX, softmax, IN(ANY(I16), REAL), OUT(ANY(I16))),
	OP(27, SVDF, svdf,
	   IN(RANK(I8, 2, 2), RANK(W8, 2, 2), RANK(I16, 2, 2), OPTIONAL(I32), RANK(I16, 2, 2),
	      INT, INT, BOOL),
	   OUT(RANK(I8, 2, 2), RANK(I16, 2, 2))),
	OP(28, TANH, logistic, IN(ANY(I16)), OUT(ANY(I16)), PREPARED(logistic)),
	OP(33, EMBEDDING_LOOKUP_SPARSE, embedding_sparse,
	   IN(RANK(I32, 1, 1), RANK(I32, 2, 2), RANK(I32, 1, 1), RANK(F32, 1, 1),
	      RANK(F32, 2, 8), INT),
	   OUT(ANY(F32))),
	OP(34, PAD, pad, IN(ANY(ALL), ANY(PADDINGS)), OUT(ANY(ALL))),
	OP(36, GATHER, gather, IN(ANY(ALL), ANY(INDEX | I16), INT, INT), OUT(ANY(ALL))),
	OP(37, BATCH_TO_SPACE_ND, batch_to_space,
	   IN(RANK(ALL, 2, 8), RANK(INDEX, 1, 1), RANK(INDEX, 2, 2)), OUT(RANK(ALL, 2, 8))),
	OP(38, SPACE_TO_BATCH_ND, space_to_batch,
	   IN(RANK(ALL, 2, 8), RANK(INDEX, 1, 1), RANK(INDEX, 2, 2)), OUT(RANK(ALL, 2, 8))),
	OP(39, TRANSPOSE, transpose, IN(ANY(ALL), ANY(I32)), OUT(ANY(ALL))),
	REDUCE(40, MEAN, F32 | I32 | I64 | QUANT),
	BINARY(41, SUB, F32 | I32 | I64 | QUANT, INT, BOOL),
	BINARY(42, DIV, F32 | I32 | U8, INT),
	OP(43, SQUEEZE, squeeze, IN(ANY(ALL), OPTIONAL(I32)), OUT(ANY(ALL)), KEEPS_BYTES),
	OP(44, UNIDIRECTIONAL_SEQUENCE_LSTM, lstm,
	   IN(RANK(I8, 3, 3), LSTM_LAYER, INT, REAL, REAL, BOOL, BOOL, BOOL, LSTM_INTERMEDIATES),
	   OUT(RANK(I8, 3, 3), RANK(I8, 2, 2), RANK(I16, 2, 2)), SCRATCH(lstm)),
	OP(45, STRIDED_SLICE, strided_slice,
	   IN(ANY(ALL), ANY(INDEX), ANY(INDEX), ANY(INDEX), INT, INT, INT, INT, INT, BOOL),
	   OUT(ANY(ALL))),
	UNARY(47, EXP, F32 | I8 | I16),
	OP(48, TOPK_V2, topk,
	   IN(ANY(F32 | INDEX | QUANT), ANY(INDEX)), OUT(ANY(F32 | INDEX | QUANT), ANY(I32)),
	   SCRATCH(topk)),
	OP(49, SPLIT, split, IN(ANY(I32), ANY(ALL), INT), OUT(REPEATED(ALL))),
	OP(50, LOG_SOFTMAX, log_softmax, IN(ANY(QUANT8)), OUT(ANY(QUANT8))),
	OP(53, CAST, cast, IN(ANY(ALL), INT, INT), OUT(ANY(ALL))),
	OP(54, PRELU, prelu, IN(ANY(F32 | QUANT8), ANY(F32 | QUANT8)), OUT(ANY(F32 | QUANT8))),
	BINARY(55, MAXIMUM, F32 | I32 | I64 | QUANT),
	ARG(56, ARG_MAX),
	BINARY(57, MINIMUM, F32 | I32 | I64 | QUANT),
	COMPARE(58, LESS, F32 | I32 | I64 | QUANT),
	UNARY(59, NEG, F32 | I32 | I64),
	OP(60, PADV2, pad, IN(ANY(ALL), ANY(PADDINGS), ANY(ALL)), OUT(ANY(ALL))),
	COMPARE(61, GREATER, F32 | I32 | I64 | QUANT),
	COMPARE(62, GREATER_EQUAL, F32 | I32 | I64 | QUANT),
	COMPARE(63, LESS_EQUAL, F32 | I32 | I64 | QUANT),
	OP(64, SELECT, select, IN(ANY(B8), ANY(ALL), ANY(ALL)), OUT(ANY(ALL))),
	OP(65, SLICE, slice, IN(ANY(ALL), ANY(INDEX), ANY(INDEX)), OUT(ANY(ALL))),
	UNARY(66, SIN, F32),
	OP(67, TRANSPOSE_CONV, transpose_conv,
	   IN(RANK(I32, 1, 1), RANK(WEIGHTS, 4, 4), RANK(DATA, 4, 4), OPTIONAL(BIAS),
	      INT, INT, INT, INT, INT),
	   OUT(RANK(DATA, 4, 4)), SCRATCH(transpose_conv)),
	OP(68, SPARSE_TO_DENSE, sparse_to_dense,
	   IN(ANY(INDEX), ANY(INDEX), ANY(ALL), ANY(ALL), BOOL), OUT(ANY(ALL))),
	OP(69, TILE, tile, IN(ANY(ALL), ANY(INDEX)), OUT(ANY(ALL))),
	OP(70, EXPAND_DIMS, expand_dims, IN(ANY(ALL), ANY(INDEX)), OUT(ANY(ALL)), KEEPS_BYTES),
	COMPARE(71, EQUAL, F32 | I32 | I64 | QUANT | B8),
	COMPARE(72, NOT_EQUAL, F32 | I32 | I64 | QUANT | B8),
	UNARY(73, LOG, F32 | I8 | I16),
	REDUCE(74, SUM, F32 | I32 | I64 | QUANT),
	UNARY(75, SQRT, F32 | I8 | I16),
	UNARY(76, RSQRT, F32 | I8 | I16),
	OP(77, SHAPE, shape, IN(ANY(ALL), INT), OUT(RANK(INDEX, 1, 1))),
	BINARY(78, POW, F32 | I32),
	ARG(79, ARG_MIN),
	OP(80, FAKE_QUANT, fake_quant, IN(ANY(F32), REAL, REAL, INT, BOOL), OUT(ANY(F32))),
	REDUCE(81, REDUCE_PROD, F32 | I32 | I64 | QUANT),
	REDUCE(82, REDUCE_MAX, F32 | I32 | I64 | QUANT),
	OP(83, PACK, pack, IN(REPEATED(ALL), INT, INT), OUT(ANY(ALL))),
	OP(85, ONE_HOT, one_hot, IN(ANY(INDEX), ANY(I32), ANY(ALL), ANY(ALL), INT), OUT(ANY(ALL))),
	OP(88, UNPACK, unpack, IN(ANY(ALL), INT, INT), OUT(REPEATED(ALL))),
	REDUCE(89, REDUCE_MIN, F32 | I32 | I64 | QUANT),
	BINARY(90, FLOOR_DIV, F32 | I8 | I16 | I32),
	REDUCE(91, REDUCE_ANY, B8),
	UNARY(92, SQUARE, F32),
	OP(93, ZEROS_LIKE, zeros_like, IN(ANY(F32 | F16 | I32 | I64)),
	   OUT(ANY(F32 | F16 | I32 | I64))),
	OP(94, FILL, fill, IN(ANY(INDEX), ANY(ALL)), OUT(ANY(ALL))),
	BINARY(95, FLOOR_MOD, F32 | I8 | I16 | I32 | I64),
	OP(96, RANGE, range, IN(ANY(F32 | INDEX), ANY(F32 | INDEX), ANY(F32 | INDEX)),
	   OUT(RANK(F32 | INDEX, 1, 1))),
	OP(97, RESIZE_NEAREST_NEIGHBOR, resize_nearest,
	   IN(RANK(ALL, 4, 4), RANK(I32, 1, 1), BOOL, BOOL), OUT(RANK(ALL, 4, 4))),
	ACTIVATION(98, LEAKY_RELU, F32 | QUANT, REAL),
	BINARY(99, SQUARED_DIFFERENCE, F32 | I32 | I8),
	OP(100, MIRROR_PAD, mirror_pad, IN(ANY(ALL), ANY(INDEX), INT), OUT(ANY(ALL))),
	UNARY(101, ABS, F32 | I32 | I8 | I16),
	OP(102, SPLIT_V, split_v, IN(ANY(ALL), ANY(INDEX), ANY(I32), INT), OUT(REPEATED(ALL))),
	OP(103, UNIQUE, unique, IN(ANY(F32 | INDEX | I8 | U8 | I16), INT),
	   OUT(ANY(F32 | INDEX | I8 | U8 | I16), ANY(INDEX)), SCRATCH(unique)),
	UNARY(104, CEIL, F32),
	OP(105, REVERSE_V2, reverse, IN(ANY(ALL), ANY(I32)), OUT(ANY(ALL))),
	OP(106, ADD_N, add_n, IN(REPEATED(F32 | I32)), OUT(ANY(F32 | I32))),
	OP(107, GATHER_ND, gather_nd, IN(ANY(ALL), ANY(INDEX | I16)), OUT(ANY(ALL))),
	UNARY(108, COS, F32),
	OP(109, WHERE, where, IN(ANY(F32 | INDEX | I8 | U8 | U32 | B8)), OUT(RANK(I64, 2, 2))),
	OP(110, RANK, rank, IN(ANY(ALL)), OUT(RANK(I32, 1, 1))),
	ACTIVATION(111, ELU, F32 | I8),
	OP(112, REVERSE_SEQUENCE, reverse_sequence, IN(ANY(ALL), ANY(INDEX), INT, INT),
	   OUT(ANY(ALL))),
	OP(113, MATRIX_DIAG, matrix_diag, IN(ANY(ALL)), OUT(ANY(ALL))),
	OP(114, QUANTIZE, quantize, IN(ANY(F32 | I32 | QUANT)), OUT(ANY(I32 | QUANT))),
	OP(115, MATRIX_SET_DIAG, matrix_set_diag, IN(ANY(ALL), ANY(ALL)), OUT(ANY(ALL))),
	UNARY(116, ROUND, F32),
	ACTIVATION(117, HARD_SWISH, F32 | QUANT8),
	OP(120, NON_MAX_SUPPRESSION_V4, nms,
	   IN(RANK(F32, 2, 2), RANK(F32, 1, 1), ANY(I32), ANY(F32), ANY(F32)),
	   OUT(RANK(I32, 1, 1), RANK(I32, 1, 1)), SCRATCH(nms)),
	OP(121, NON_MAX_SUPPRESSION_V5, nms,
	   IN(RANK(F32, 2, 2), RANK(F32, 1, 1), ANY(I32), ANY(F32), ANY(F32), ANY(F32)),
	   OUT(RANK(I32, 1, 1), RANK(F32, 1, 1), RANK(I32, 1, 1)), SCRATCH(nms)),
	OP(122, SCATTER_ND, scatter_nd, IN(ANY(I32), ANY(SUMMABLE), ANY(I32)), OUT(ANY(SUMMABLE))),
	OP(123, SELECT_V2, select_v2, IN(ANY(B8), ANY(ALL), ANY(ALL)), OUT(ANY(ALL))),
	OP(125, SEGMENT_SUM, segment_sum, IN(ANY(F32 | I32), ANY(I32)), OUT(ANY(F32 | I32))),
	OP(126, BATCH_MATMUL, batch_matmul,
	   IN(RANK(F32 | I8 | I16, 2, 8), RANK(F32 | I8 | I16, 2, 8), BOOL, BOOL, BOOL),
	   OUT(RANK(F32 | I8 | I16 | I32, 2, 8)), SCRATCH(batch_matmul)),
	OP(128, CUMSUM, cumsum, IN(ANY(F32 | I32 | I64), ANY(I32), BOOL, BOOL),
	   OUT(ANY(F32 | I32 | I64))),
	OP(130, BROADCAST_TO, broadcast_to, IN(ANY(ALL), ANY(INDEX)), OUT(ANY(ALL))),
	OP(131, RFFT2D, rfft2d,
	   IN(RANK(F32, 2, 8), RANK(I32, 1, 1)), OUT(RANK(C64, 2, 8)), SCRATCH(rfft2d)),
	OP(132, CONV_3D, conv_3d,
	   IN(RANK(F32, 5, 5), RANK(F32, 5, 5), OPTIONAL(F32),
	      INT, INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(F32, 5, 5))),
	OP(133, IMAG, imag, IN(ANY(C64)), OUT(ANY(F32))),
	OP(134, REAL, real, IN(ANY(C64)), OUT(ANY(F32))),
	OP(135, COMPLEX_ABS, complex_abs, IN(ANY(C64)), OUT(ANY(F32))),
	REDUCE(140, REDUCE_ALL, B8),
	OP(141, CONV_3D_TRANSPOSE, conv_3d_transpose,
	   IN(RANK(I32, 1, 1), RANK(F32, 5, 5), RANK(F32, 5, 5), OPTIONAL(F32),
	      INT, INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(F32, 5, 5))),
	OP(145, BROADCAST_ARGS, broadcast_args, IN(ANY(INDEX), ANY(INDEX)), OUT(ANY(INDEX))),
	OP(147, BUCKETIZE, bucketize, IN(ANY(F32 | F64 | I32 | I64), RANK(F32, 1, 1)),
	   OUT(ANY(I32))),
	ACTIVATION(150, GELU, F32 | QUANT8, BOOL),
	OP(151, DYNAMIC_UPDATE_SLICE, dynamic_update_slice,
	   IN(ANY(ALL), ANY(ALL), ANY(INDEX)), OUT(ANY(ALL))),
	ACTIVATION(152, RELU_0_TO_1, F32 | QUANT8),
	OP_SEGMENT(153, PROD, prod),
	OP_SEGMENT(154, MAX, max),
	OP_SEGMENT(155, SUM, sum),
	BINARY(156, ATAN2, F32 | F64),
	OP_SEGMENT(157, MIN, min),
	UNARY(158, SIGN, F32 | F64 | I32),
	OP(159, BITCAST, bitcast, IN(ANY(ALL)), OUT(ANY(ALL)), KEEPS_BYTES),
	BINARY(160, BITWISE_XOR, QUANT | U16 | I32 | U32),
	BINARY(161, RIGHT_SHIFT, QUANT | U16 | I32 | U32),
	OP(203, DILATE, dilate, IN(ANY(ALL), RANK(I32, 1, 1), ANY(ALL)), OUT(ANY(ALL))),
};

_Static_assert(sizeof(operations) / sizeof(operations[0]) <= EXTENSION_MAX, "codes");

const struct extension tflite_extension = {
	.name = "org.nnpu.tflite",
	.types = types, .num_types = sizeof(types) / sizeof(types[0]),
	.operations = operations, .num_operations = sizeof(operations) / sizeof(operations[0]),
};
