/* SPDX-License-Identifier: MIT */
/*
 * Elements of the types of TensorFlow Lite, for the element by element operations of
 * org.nnpu.tflite.
 */
#ifndef NNPU_EMU_TFLITE_ELEM_H
#define NNPU_EMU_TFLITE_ELEM_H

#include "ops/quant.h"
#include "tflite_ops.h"

/* BuiltinOperator: those whose functions serve several operations. */
enum tflite_op {
	TFLITE_OP_ADD = 0,
	TFLITE_OP_DEQUANTIZE = 6,
	TFLITE_OP_FLOOR = 8,
	TFLITE_OP_LOGISTIC = 14,
	TFLITE_OP_MUL = 18,
	TFLITE_OP_RELU = 19,
	TFLITE_OP_RELU_N1_TO_1 = 20,
	TFLITE_OP_RELU6 = 21,
	TFLITE_OP_SOFTMAX = 25,
	TFLITE_OP_TANH = 28,
	TFLITE_OP_MEAN = 40,
	TFLITE_OP_SUB = 41,
	TFLITE_OP_DIV = 42,
	TFLITE_OP_EXP = 47,
	TFLITE_OP_LOG_SOFTMAX = 50,
	TFLITE_OP_CAST = 53,
	TFLITE_OP_MAXIMUM = 55,
	TFLITE_OP_ARG_MAX = 56,
	TFLITE_OP_MINIMUM = 57,
	TFLITE_OP_LESS = 58,
	TFLITE_OP_NEG = 59,
	TFLITE_OP_GREATER = 61,
	TFLITE_OP_GREATER_EQUAL = 62,
	TFLITE_OP_LESS_EQUAL = 63,
	TFLITE_OP_SIN = 66,
	TFLITE_OP_EQUAL = 71,
	TFLITE_OP_NOT_EQUAL = 72,
	TFLITE_OP_LOG = 73,
	TFLITE_OP_SUM = 74,
	TFLITE_OP_SQRT = 75,
	TFLITE_OP_RSQRT = 76,
	TFLITE_OP_POW = 78,
	TFLITE_OP_ARG_MIN = 79,
	TFLITE_OP_REDUCE_PROD = 81,
	TFLITE_OP_REDUCE_MAX = 82,
	TFLITE_OP_REDUCE_MIN = 89,
	TFLITE_OP_FLOOR_DIV = 90,
	TFLITE_OP_REDUCE_ANY = 91,
	TFLITE_OP_SQUARE = 92,
	TFLITE_OP_FLOOR_MOD = 95,
	TFLITE_OP_LEAKY_RELU = 98,
	TFLITE_OP_SQUARED_DIFFERENCE = 99,
	TFLITE_OP_ABS = 101,
	TFLITE_OP_CEIL = 104,
	TFLITE_OP_COS = 108,
	TFLITE_OP_ELU = 111,
	TFLITE_OP_QUANTIZE = 114,
	TFLITE_OP_ROUND = 116,
	TFLITE_OP_HARD_SWISH = 117,
	TFLITE_OP_REDUCE_ALL = 140,
	TFLITE_OP_GELU = 150,
	TFLITE_OP_RELU_0_TO_1 = 152,
	TFLITE_OP_ATAN2 = 156,
	TFLITE_OP_SIGN = 158,
	TFLITE_OP_BITWISE_XOR = 160,
	TFLITE_OP_RIGHT_SHIFT = 161,
};

static inline enum tflite_op tflite_op_of(const struct op_call *c)
{
	return (enum tflite_op)c->desc->op;
}

/* Smallest and largest value of an integer type of up to 32 bits, and of 64 bits. */
int64_t elem_min(enum tflite_type e);
int64_t elem_max(enum tflite_type e);

/* Element @i of a tensor of BOOL, INT8, UINT8, INT16 or INT32. */
static inline int32_t elem_int(enum tflite_type e, const void *data, size_t i)
{
	switch (e) {
	case TFLITE_INT8:
		return ((const int8_t *)data)[i];
	case TFLITE_INT16:
		return ((const int16_t *)data)[i];
	case TFLITE_INT32:
		return ((const int32_t *)data)[i];
	default:
		return ((const uint8_t *)data)[i];
	}
}

/* Store @v, which the type holds, as element @i of a tensor of INT8, UINT8 or INT16. */
static inline void elem_put(enum tflite_type e, void *data, size_t i, int32_t v)
{
	if (e == TFLITE_INT16)
		((int16_t *)data)[i] = (int16_t)v;
	else
		((uint8_t *)data)[i] = (uint8_t)v;
}

/* @v limited to the range of the type. */
static inline int32_t elem_clamp(enum tflite_type e, int32_t v)
{
	return q_clamp(v, (int32_t)elem_min(e), (int32_t)elem_max(e));
}

/* Range of a quantized output after a fused activation, and of an integer one. */
struct qrange elem_qrange(enum activation a, const struct tensor *out);
void elem_range(enum activation a, enum tflite_type e, int64_t *min, int64_t *max);

/* A factor that was computed in single precision. */
static inline struct qfactor elem_factor(float real)
{
	return qfactor_from((double)real);
}

/*
 * Call @fn for runs of all elements: input 0 and output 0 have the same shape.
 * 0 or OP_ABORTED.
 */
typedef void (*elem_fn)(const void *state, const void *in, void *out, size_t n);
int elem_map(const struct op_call *c, elem_fn fn, const void *state);

/* Input 0 and output 0 have the same type, ranks are those that tensors have. */
int elem_check_same(const struct op_call *c);
/* The same for inputs 0 and 1 and output 0. */
int elem_check_pair(const struct op_call *c);

#endif /* NNPU_EMU_TFLITE_ELEM_H */
