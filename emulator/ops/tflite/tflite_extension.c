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
			.name = #name_, .check = tflite_##functions##_check, \
			.infer = tflite_##functions##_infer, \
			.execute = tflite_##functions##_execute, ##__VA_ARGS__ \
		}, \
	}

#define SCRATCH(functions)	.scratch = tflite_##functions##_scratch
#define PREPARED(functions)	.prepare = tflite_##functions##_prepare

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

static const struct extension_operation operations[] = {
	OP(1, AVERAGE_POOL_2D, average_pool,
	   IN(RANK(I16, 4, 4), INT, INT, INT, INT, INT, INT), OUT(RANK(I16, 4, 4))),
	OP(3, CONV_2D, conv_2d,
	   IN(RANK(DATA, 4, 4), RANK(WEIGHTS, 4, 4), OPTIONAL(BIAS),
	      INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(DATA, 4, 4)), SCRATCH(conv_2d)),
	OP(4, DEPTHWISE_CONV_2D, depthwise,
	   IN(RANK(DATA, 4, 4), RANK(WEIGHTS, 4, 4), OPTIONAL(BIAS),
	      INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(DATA, 4, 4)), SCRATCH(depthwise)),
	OP(9, FULLY_CONNECTED, fully_connected,
	   IN(ANY(DATA), RANK(WEIGHTS, 2, 2), OPTIONAL(BIAS), INT, INT, BOOL, BOOL, INT),
	   OUT(ANY(DATA)), SCRATCH(fully_connected), PREPARED(fully_connected),
	   .native_weights = true),
	OP(16, LSTM, lstm,
	   IN(RANK(I8, 2, 2), LSTM_LAYER, INT, REAL, REAL, INT, BOOL, LSTM_INTERMEDIATES),
	   OUT(RANK(I8, 2, 2), RANK(I8, 2, 2), RANK(I16, 2, 2)), SCRATCH(lstm)),
	OP(17, MAX_POOL_2D, max_pool,
	   IN(RANK(I16, 4, 4), INT, INT, INT, INT, INT, INT), OUT(RANK(I16, 4, 4))),
	OP(23, RESIZE_BILINEAR, resize_bilinear,
	   IN(RANK(I8 | I16, 4, 4), RANK(I32, 1, 1), BOOL, BOOL), OUT(RANK(I8 | I16, 4, 4))),
	OP(27, SVDF, svdf,
	   IN(RANK(I8, 2, 2), RANK(W8, 2, 2), RANK(I16, 2, 2), OPTIONAL(I32), RANK(I16, 2, 2),
	      INT, INT, BOOL),
	   OUT(RANK(I8, 2, 2), RANK(I16, 2, 2))),
	OP(33, EMBEDDING_LOOKUP_SPARSE, embedding_sparse,
	   IN(RANK(I32, 1, 1), RANK(I32, 2, 2), RANK(I32, 1, 1), RANK(F32, 1, 1),
	      RANK(F32, 2, 8), INT),
	   OUT(ANY(F32))),
	OP(44, UNIDIRECTIONAL_SEQUENCE_LSTM, lstm,
	   IN(RANK(I8, 3, 3), LSTM_LAYER, INT, REAL, REAL, BOOL, BOOL, BOOL, LSTM_INTERMEDIATES),
	   OUT(RANK(I8, 3, 3), RANK(I8, 2, 2), RANK(I16, 2, 2)), SCRATCH(lstm)),
	OP(67, TRANSPOSE_CONV, transpose_conv,
	   IN(RANK(I32, 1, 1), RANK(WEIGHTS, 4, 4), RANK(DATA, 4, 4), OPTIONAL(BIAS),
	      INT, INT, INT, INT, INT),
	   OUT(RANK(DATA, 4, 4)), SCRATCH(transpose_conv)),
	OP(77, SHAPE, shape, IN(ANY(ALL), INT), OUT(RANK(INDEX, 1, 1))),
	OP(97, RESIZE_NEAREST_NEIGHBOR, resize_nearest,
	   IN(RANK(ALL, 4, 4), RANK(I32, 1, 1), BOOL, BOOL), OUT(RANK(ALL, 4, 4))),
	OP(110, RANK, rank, IN(ANY(ALL)), OUT(RANK(I32, 1, 1))),
	OP(120, NON_MAX_SUPPRESSION_V4, nms,
	   IN(RANK(F32, 2, 2), RANK(F32, 1, 1), ANY(I32), ANY(F32), ANY(F32)),
	   OUT(RANK(I32, 1, 1), RANK(I32, 1, 1)), SCRATCH(nms)),
	OP(121, NON_MAX_SUPPRESSION_V5, nms,
	   IN(RANK(F32, 2, 2), RANK(F32, 1, 1), ANY(I32), ANY(F32), ANY(F32), ANY(F32)),
	   OUT(RANK(I32, 1, 1), RANK(F32, 1, 1), RANK(I32, 1, 1)), SCRATCH(nms)),
	OP(126, BATCH_MATMUL, batch_matmul,
	   IN(RANK(F32 | I8 | I16, 2, 8), RANK(F32 | I8 | I16, 2, 8), BOOL, BOOL, BOOL),
	   OUT(RANK(F32 | I8 | I16 | I32, 2, 8)), SCRATCH(batch_matmul)),
	OP(131, RFFT2D, rfft2d,
	   IN(RANK(F32, 2, 8), RANK(I32, 1, 1)), OUT(RANK(C64, 2, 8)), SCRATCH(rfft2d)),
	OP(132, CONV_3D, conv_3d,
	   IN(RANK(F32, 5, 5), RANK(F32, 5, 5), OPTIONAL(F32),
	      INT, INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(F32, 5, 5))),
	OP(133, IMAG, imag, IN(ANY(C64)), OUT(ANY(F32))),
	OP(134, REAL, real, IN(ANY(C64)), OUT(ANY(F32))),
	OP(135, COMPLEX_ABS, complex_abs, IN(ANY(C64)), OUT(ANY(F32))),
	OP(141, CONV_3D_TRANSPOSE, conv_3d_transpose,
	   IN(RANK(I32, 1, 1), RANK(F32, 5, 5), RANK(F32, 5, 5), OPTIONAL(F32),
	      INT, INT, INT, INT, INT, INT, INT, INT),
	   OUT(RANK(F32, 5, 5))),
	OP(203, DILATE, dilate, IN(ANY(ALL), RANK(I32, 1, 1), ANY(ALL)), OUT(ANY(ALL))),
};

_Static_assert(sizeof(operations) / sizeof(operations[0]) <= EXTENSION_MAX, "codes");

const struct extension tflite_extension = {
	.name = "org.nnpu.tflite",
	.types = types, .num_types = sizeof(types) / sizeof(types[0]),
	.operations = operations, .num_operations = sizeof(operations) / sizeof(operations[0]),
};
