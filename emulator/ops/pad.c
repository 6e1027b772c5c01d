// SPDX-License-Identifier: MIT
/*
 * PAD and PAD_V2.
 *
 * Inputs: 0 tensor, 1 paddings [rank, 2], elements before and behind each
 * dimension; PAD_V2: 2 the value, a float or, for quantized tensors, a quantized
 * value as INT32. PAD fills up with zeros, for quantized tensors the zero point.
 */
#include <string.h>

#include <float16.h>

#include "nd_copy.h"
#include "ops.h"
#include "quant.h"

int pad_check(const struct op_call *c)
{
	if (op_check_moved(c, TYPES_FLOAT | TYPES_QUANT8, OP_MAX_RANK) ||
	    op_check_type(c, 1, TYPE_BIT(TENSOR_INT32)) || op_check_rank(c, 1, 2, 2))
		return -1;
	if (c->num_inputs < 3)
		return 0;
	if (type_is_quant8(c->in[0]->type))
		return op_check_type(c, 2, TYPE_BIT(INT32));
	return op_check_float_scalar(c, 2);
}

int pad_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0], *pads = c->in[1];
	uint32_t dims[NNPU_MAX_RANK];

	if (op_check_rank(c, 0, 1, OP_MAX_RANK) || op_check_rank(c, 1, 2, 2))
		return -1;
	if (pads->dims[0] != t->rank || pads->dims[1] != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(pads))
		return 1;
	for (unsigned int i = 0; i < t->rank; i++) {
		int32_t before = op_list_at(c, 1, 2 * i), after = op_list_at(c, 1, 2 * i + 1);
		int64_t size = (int64_t)t->dims[i] + before + after;

		if (before < 0 || after < 0)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (size > UINT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
		dims[i] = (uint32_t)size;
	}
	tensor_set_shape(c->out[0], t->rank, dims);
	return 0;
}

/* The element to fill up with. */
static int padding(const struct op_call *c, void *value)
{
	const struct tensor *out = c->out[0];
	int32_t quantized = out->zero_point;
	float real = 0.0f;
	uint16_t half;

	if (!type_is_quant8(out->type)) {
		if (c->num_inputs > 2)
			op_get_f32(c, 2, &real);
		half = float_to_half(real);
		if (out->type == NNPU_TYPE_TENSOR_FLOAT16)
			memcpy(value, &half, sizeof(half));
		else
			memcpy(value, &real, sizeof(real));
		return 0;
	}
	if (c->num_inputs > 2)
		op_get_i32(c, 2, &quantized);
	if (quantized < q_type_min(out->type) || quantized > q_type_max(out->type))
		return op_fail(c, NNPU_REASON_VALUE, 2);
	*(uint8_t *)value = (uint8_t)quantized;
	return 0;
}

int pad_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0], *out = c->out[0];
	ptrdiff_t in_strides[NNPU_MAX_RANK], out_strides[NNPU_MAX_RANK];
	size_t size = type_size(out->type);
	struct nd_dim dims[NNPU_MAX_RANK];
	size_t at = 0;
	uint32_t value;

	if (padding(c, &value))
		return -1;
	if (nd_fill(&pace, out->data, size, tensor_elements(out), &value))
		return OP_ABORTED;
	if (in->bytes == 0)
		return 0;
	nd_strides(in, in_strides);
	nd_strides(out, out_strides);
	for (unsigned int i = 0; i < in->rank; i++) {
		at += (size_t)op_list_at(c, 1, 2 * i) * (size_t)out_strides[i];
		dims[i] = (struct nd_dim){ in->dims[i], in_strides[i], out_strides[i] };
	}
	return nd_copy(&pace, in->data, (char *)out->data + at * size, size, dims, in->rank);
}
