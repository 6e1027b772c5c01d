/* SPDX-License-Identifier: MIT */
/*
 * The extension org.nnpu.tflite: TensorFlow Lite's built-in operators that the HAL does not have,
 * or not with these types.
 *
 * Operation N is BuiltinOperator N of schema version 3, type T is TensorType T. Operands: the
 * operator's input tensors in TensorFlow Lite's order, then the fields of its options table in
 * the order of the schema, as scalars; outputs in TensorFlow Lite's order. Documentation/
 * operations/tflite.rst says what each operation computes.
 *
 * This folder has one file for each family of operations, with their check(), infer() and
 * execute(), and the table of all in tflite_extension.c. The signature in the table has checked
 * numbers, types and ranks of the operands before check() is called. Each operation checks what
 * depends on another operand: equal types, quantization, values.
 */
#ifndef NNPU_EMU_TFLITE_OPS_H
#define NNPU_EMU_TFLITE_OPS_H

#include "ops/extension.h"
#include "ops/ops.h"
#include "ops/shape.h"

/* TensorType of the schema: those that the device has. */
enum tflite_type {
	TFLITE_FLOAT32 = 0,
	TFLITE_FLOAT16 = 1,
	TFLITE_INT32 = 2,
	TFLITE_UINT8 = 3,
	TFLITE_INT64 = 4,
	TFLITE_BOOL = 6,
	TFLITE_INT16 = 7,
	TFLITE_COMPLEX64 = 8,
	TFLITE_INT8 = 9,
	TFLITE_FLOAT64 = 10,
	TFLITE_UINT64 = 12,
	TFLITE_UINT32 = 15,
	TFLITE_UINT16 = 16,
	TFLITE_NO_TYPE = 255,		/* a scalar, or a type that TensorFlow Lite does not have */
};

/* Codes of the extension's own types in struct tensor. */
#define TFLITE_CODE(number)	((enum nnpu_type)EXTENSION_CODE(tflite_extension_index, number))

#define TFLITE_TENSOR_INT64	TFLITE_CODE(TFLITE_INT64)
#define TFLITE_TENSOR_COMPLEX64	TFLITE_CODE(TFLITE_COMPLEX64)
#define TFLITE_TENSOR_FLOAT64	TFLITE_CODE(TFLITE_FLOAT64)
#define TFLITE_TENSOR_UINT64	TFLITE_CODE(TFLITE_UINT64)
#define TFLITE_TENSOR_UINT32	TFLITE_CODE(TFLITE_UINT32)
#define TFLITE_TENSOR_UINT16	TFLITE_CODE(TFLITE_UINT16)

enum tflite_type tflite_type_of(const struct tensor *t);

/* Number of an operation of the extension: the BuiltinOperator. */
static inline unsigned int tflite_operator(uint32_t opcode)
{
	return opcode & (EXTENSION_MAX - 1);
}

/*
 * check(): operands @i and @as have the same type; and, if it is a quantized one, the same scale
 * and zero point.
 */
int tflite_check_alike(const struct op_call *c, unsigned int i, unsigned int as);

/* check() of operations that only move data: output 0 is like input @i. */
static inline int tflite_check_moved(const struct op_call *c, unsigned int i)
{
	return tflite_check_alike(c, op_output(c, 0), i);
}

/* Is the tensor quantized by its type? With scale 1 and zero point 0 it holds plain integers. */
static inline bool tflite_is_quantized(const struct tensor *t)
{
	enum tflite_type type = tflite_type_of(t);

	return type == TFLITE_UINT8 || type == TFLITE_INT8 || type == TFLITE_INT16;
}

/*
 * Element @k of input @i, an integer tensor of any type (unsigned 64-bit ones as two's
 * complement), whose data is there.
 */
int64_t tflite_int_at(const struct op_call *c, unsigned int i, size_t k);

/*
 * May the elements of input @i be read in infer()? While a program is loaded only if they are few:
 * loads are not charged for time.
 */
bool tflite_values_known(const struct op_call *c, unsigned int i);

/*
 * Read a shape, the elements of input @i, a tensor of integers of rank 1: 0 with *@rank and @dims;
 * 1 if it is not known yet; -1 with error. No element stands for a scalar, whose shape is [1].
 */
int tflite_get_shape(const struct op_call *c, unsigned int i, unsigned int *rank, uint32_t *dims);

/*
 * Read an axis, the only element of input @i, a scalar or a tensor of integers: as op_get_axis(),
 * negative ones count from @rank.
 */
int tflite_get_axis(const struct op_call *c, unsigned int i, unsigned int rank, unsigned int *axis);

/*
 * Broadcast @dims, of rank *@rank, with the shape of input @i, dimensions aligned at the last
 * one. 0 or -1 with error, the input being the one that does not fit.
 */
int tflite_broadcast(const struct op_call *c, unsigned int i, unsigned int *rank, uint32_t *dims);

/*
 * Element strides of @t as if it had the @rank and @dims that it broadcasts to: 0 along the
 * dimensions that repeat.
 */
void tflite_broadcast_strides(const struct tensor *t, unsigned int rank, const uint32_t *dims,
			      ptrdiff_t *strides);

/* The functions of the operations. */

OP_FUNCTIONS(tflite_bitcast);
OP_FUNCTIONS(tflite_broadcast_args);
OP_FUNCTIONS(tflite_broadcast_to);
OP_FUNCTIONS(tflite_concatenation);
OP_FUNCTIONS(tflite_dynamic_update_slice);
OP_FUNCTIONS(tflite_expand_dims);
OP_FUNCTIONS(tflite_fill);
OP_FUNCTIONS(tflite_gather);
OP_FUNCTIONS(tflite_gather_nd);
OP_FUNCTIONS(tflite_matrix_diag);
OP_FUNCTIONS(tflite_matrix_set_diag);
OP_FUNCTIONS(tflite_mirror_pad);
OP_FUNCTIONS(tflite_one_hot);
OP_FUNCTIONS(tflite_pack);
OP_FUNCTIONS(tflite_pad);
OP_FUNCTIONS(tflite_range);
OP_FUNCTIONS(tflite_rank);
OP_FUNCTIONS(tflite_reshape);
OP_FUNCTIONS(tflite_reverse);
OP_FUNCTIONS(tflite_reverse_sequence);
OP_FUNCTIONS(tflite_scatter_nd);
OP_FUNCTIONS(tflite_segment_sum);
OP_FUNCTIONS(tflite_select);
OP_FUNCTIONS(tflite_select_v2);
OP_FUNCTIONS(tflite_shape);
OP_FUNCTIONS(tflite_slice);
OP_FUNCTIONS(tflite_sparse_to_dense);
OP_FUNCTIONS(tflite_split);
OP_FUNCTIONS(tflite_split_v);
OP_FUNCTIONS(tflite_squeeze);
OP_FUNCTIONS(tflite_strided_slice);
OP_FUNCTIONS(tflite_tile);
OP_FUNCTIONS(tflite_transpose);
OP_FUNCTIONS_SCRATCH(tflite_unique);
OP_FUNCTIONS(tflite_unpack);
OP_FUNCTIONS(tflite_where);
OP_FUNCTIONS(tflite_zeros_like);
int tflite_unsorted_segment_check(const struct op_call *c);
int tflite_unsorted_segment_infer(const struct op_call *c);
int tflite_unsorted_segment_max_execute(const struct op_call *c);
int tflite_unsorted_segment_min_execute(const struct op_call *c);
int tflite_unsorted_segment_prod_execute(const struct op_call *c);
int tflite_unsorted_segment_sum_execute(const struct op_call *c);

/* tflite_batch_matmul.c */
OP_FUNCTIONS_SCRATCH(tflite_batch_matmul);

/* tflite_lstm.c */
OP_FUNCTIONS_SCRATCH(tflite_lstm);

/* tflite_conv.c, tflite_fully_connected.c, tflite_transpose_conv.c */
OP_FUNCTIONS_SCRATCH(tflite_conv_2d);
OP_FUNCTIONS_SCRATCH(tflite_depthwise);
OP_FUNCTIONS_PACKED(tflite_fully_connected);
OP_FUNCTIONS_SCRATCH(tflite_transpose_conv);

/* tflite_pool.c, tflite_resize.c, tflite_conv3d.c */
OP_FUNCTIONS(tflite_average_pool);
OP_FUNCTIONS(tflite_max_pool);
OP_FUNCTIONS(tflite_resize_bilinear);
OP_FUNCTIONS(tflite_resize_nearest);
OP_FUNCTIONS(tflite_conv_3d);
OP_FUNCTIONS(tflite_conv_3d_transpose);

/* tflite_space.c */
OP_FUNCTIONS(tflite_batch_to_space);
OP_FUNCTIONS(tflite_space_to_batch);

/* tflite_dilate.c */
OP_FUNCTIONS(tflite_dilate);

/* tflite_svdf.c, tflite_nms.c, tflite_embedding.c, tflite_rfft2d.c, tflite_complex.c */
OP_FUNCTIONS(tflite_svdf);
OP_FUNCTIONS_SCRATCH(tflite_nms);
OP_FUNCTIONS(tflite_embedding_sparse);
OP_FUNCTIONS_SCRATCH(tflite_rfft2d);
OP_FUNCTIONS(tflite_imag);
OP_FUNCTIONS(tflite_real);
OP_FUNCTIONS(tflite_complex_abs);

/* tflite_activation.c, tflite_binary.c, tflite_compare.c, tflite_convert.c, ... */
OP_FUNCTIONS_PREPARED(tflite_activation);
OP_FUNCTIONS(tflite_add_n);
OP_FUNCTIONS(tflite_arg);
OP_FUNCTIONS(tflite_binary);
OP_FUNCTIONS(tflite_bucketize);
OP_FUNCTIONS(tflite_cast);
OP_FUNCTIONS(tflite_compare);
OP_FUNCTIONS(tflite_cumsum);
OP_FUNCTIONS(tflite_dequantize);
OP_FUNCTIONS(tflite_fake_quant);
OP_FUNCTIONS(tflite_log_softmax);
OP_FUNCTIONS_PREPARED(tflite_logistic);
OP_FUNCTIONS(tflite_prelu);
OP_FUNCTIONS(tflite_quantize);
OP_FUNCTIONS(tflite_reduce);
OP_FUNCTIONS(tflite_softmax);
OP_FUNCTIONS_SCRATCH(tflite_topk);
OP_FUNCTIONS_PREPARED(tflite_unary);

#endif /* NNPU_EMU_TFLITE_OPS_H */
