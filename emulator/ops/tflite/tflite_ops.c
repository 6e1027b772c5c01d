// SPDX-License-Identifier: MIT
/*
 * What the operations of org.nnpu.tflite share: types, values of integer tensors, shapes.
 */
#include "tflite_ops.h"

#include <string.h>

/* Longest list that is looked at while a program is loaded. */
#define LOAD_VALUES_MAX		64u

enum tflite_type tflite_type_of(const struct tensor *t)
{
	switch ((uint32_t)t->type) {
	case NNPU_TYPE_TENSOR_FLOAT32:
		return TFLITE_FLOAT32;
	case NNPU_TYPE_TENSOR_FLOAT16:
		return TFLITE_FLOAT16;
	case NNPU_TYPE_TENSOR_INT32:
		return TFLITE_INT32;
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
		return TFLITE_UINT8;
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED:
		return TFLITE_INT8;
	case NNPU_TYPE_TENSOR_QUANT16_SYMM:
		return TFLITE_INT16;
	case NNPU_TYPE_TENSOR_BOOL8:
		return TFLITE_BOOL;
	case TFLITE_TENSOR_INT64:
	case TFLITE_TENSOR_COMPLEX64:
	case TFLITE_TENSOR_FLOAT64:
	case TFLITE_TENSOR_UINT64:
	case TFLITE_TENSOR_UINT32:
	case TFLITE_TENSOR_UINT16:
		return (enum tflite_type)(t->type & (EXTENSION_MAX - 1));
	default:
		return TFLITE_NO_TYPE;
	}
}

int tflite_check_alike(const struct op_call *c, unsigned int i, unsigned int as)
{
	if (op_check_same_type(c, i, as))
		return -1;
	return tflite_is_quantized(op_operand(c, as)) ? op_check_same_quant(c, i, as) : 0;
}

int64_t tflite_int_at(const struct op_call *c, unsigned int i, size_t k)
{
	const void *data = c->in[i]->data;

	switch ((uint32_t)c->in[i]->type) {
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
	case NNPU_TYPE_TENSOR_BOOL8:
		return ((const uint8_t *)data)[k];
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED:
		return ((const int8_t *)data)[k];
	case NNPU_TYPE_TENSOR_QUANT16_SYMM:
		return ((const int16_t *)data)[k];
	case TFLITE_TENSOR_UINT16:
		return ((const uint16_t *)data)[k];
	case TFLITE_TENSOR_UINT32:
		return ((const uint32_t *)data)[k];
	case TFLITE_TENSOR_INT64:
	case TFLITE_TENSOR_UINT64:
		return ((const int64_t *)data)[k];
	default:
		return ((const int32_t *)data)[k];
	}
}

bool tflite_values_known(const struct op_call *c, unsigned int i)
{
	const struct tensor *t = c->in[i];

	return tensor_data_known(t) && !(c->loading && tensor_elements(t) > LOAD_VALUES_MAX);
}

int tflite_get_shape(const struct op_call *c, unsigned int i, unsigned int *rank, uint32_t *dims)
{
	uint32_t n = c->in[i]->dims[0];

	if (op_check_rank(c, i, 1, 1))
		return -1;
	if (n > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, i);
	if (!tensor_data_known(c->in[i]))
		return 1;
	dims[0] = 1;
	for (uint32_t k = 0; k < n; k++) {
		int64_t v = tflite_int_at(c, i, k);

		if (v < 0 || v > INT32_MAX)
			return op_fail(c, NNPU_REASON_VALUE, i);
		dims[k] = (uint32_t)v;
	}
	*rank = n ? n : 1;
	return 0;
}

int tflite_get_axis(const struct op_call *c, unsigned int i, unsigned int rank, unsigned int *axis)
{
	int64_t v;

	if (tensor_elements(c->in[i]) != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, i);
	if (!tensor_data_known(c->in[i]))
		return 1;
	v = tflite_int_at(c, i, 0);
	if (v < -(int64_t)rank || v >= (int64_t)rank)
		return op_fail(c, NNPU_REASON_VALUE, i);
	*axis = (unsigned int)(v < 0 ? v + rank : v);
	return 0;
}

int tflite_broadcast(const struct op_call *c, unsigned int i, unsigned int *rank, uint32_t *dims)
{
	const struct tensor *t = c->in[i];

	if (t->rank > *rank) {
		unsigned int more = t->rank - *rank;

		memmove(dims + more, dims, *rank * sizeof(*dims));
		for (unsigned int d = 0; d < more; d++)
			dims[d] = 1;
		*rank = t->rank;
	}
	for (unsigned int d = 1; d <= t->rank; d++) {
		uint32_t *to = &dims[*rank - d], n = t->dims[t->rank - d];

		if (n != 1 && *to != 1 && n != *to)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
		if (*to == 1)
			*to = n;
	}
	return 0;
}

void tflite_broadcast_strides(const struct tensor *t, unsigned int rank, const uint32_t *dims,
			      ptrdiff_t *strides)
{
	ptrdiff_t stride = 1;

	for (unsigned int d = 1; d <= rank; d++) {
		uint32_t n = d <= t->rank ? t->dims[t->rank - d] : 1;

		strides[rank - d] = n == 1 && dims[rank - d] != 1 ? 0 : stride;
		stride *= n;
	}
}
