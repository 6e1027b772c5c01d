// SPDX-License-Identifier: MIT
/*
 * RESHAPE.
 *
 * Inputs: 0 tensor, 1 the new shape, one entry of which may be -1: the size that
 * keeps the number of elements.
 */
#include <string.h>

#include "ops.h"
#include "shape.h"

int reshape_check(const struct op_call *c)
{
	if (op_check_operands(c) ||
	    op_check_type(c, 0, TYPE_BIT(TENSOR_FLOAT32) | TYPE_BIT(TENSOR_FLOAT16) |
			  TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8, 0) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_same_quant(c, op_output(c, 0), 0) ||
	    op_check_rank(c, 0, 1, OP_MAX_RANK) ||
	    op_check_type(c, 1, TYPE_BIT(TENSOR_INT32), 0) || op_check_rank(c, 1, 1, 1))
		return -1;
	return 0;
}

int reshape_infer(const struct op_call *c)
{
	size_t elements = tensor_elements(c->in[0]), known = 1;
	uint32_t dims[NNPU_MAX_RANK];
	uint32_t rank = c->in[1]->dims[0];
	int stretch = -1;
	int32_t v;

	if (rank == 0 || rank > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (uint32_t i = 0; i < rank; i++) {
		memcpy(&v, (const char *)c->in[1]->data + i * sizeof(v), sizeof(v));
		if (v < -1 || (v == -1 && stretch >= 0))
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (v == -1) {
			stretch = (int)i;
			continue;
		}
		dims[i] = (uint32_t)v;
		if (__builtin_mul_overflow(known, (size_t)v, &known))
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	}
	if (stretch >= 0) {
		if (known == 0 || elements % known || elements / known > UINT32_MAX)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		dims[stretch] = (uint32_t)(elements / known);
	} else if (known != elements) {
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	}
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int reshape_execute(const struct op_call *c)
{
	if (c->out[0]->bytes)
		memcpy(c->out[0]->data, c->in[0]->data, c->out[0]->bytes);
	return 0;
}
