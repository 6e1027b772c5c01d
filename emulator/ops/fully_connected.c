// SPDX-License-Identifier: MIT
/*
 * FULLY_CONNECTED.
 *
 * Inputs: 0 tensor of rank 2 to 4, taken as rows of the input size; 1 weights
 * [units, input size]; 2 bias [units]; 3 fused activation.
 */
#include "conv.h"
#include "ops.h"
#include "quant.h"

int fully_connected_check(const struct op_call *c)
{
	enum activation a;

	if (op_check_operands(c) || op_check_weights(c, -1) ||
	    op_check_rank(c, 0, 2, OP_MAX_RANK) || op_check_rank(c, 1, 2, 2) ||
	    op_check_rank(c, 2, 1, 1) || op_check_rank(c, op_output(c, 0), 2, 2) ||
	    op_check_type(c, 3, TYPE_BIT(INT32)))
		return -1;
	return op_get_activation(c, 3, &a) < 0 ? -1 : 0;
}

int fully_connected_infer(const struct op_call *c)
{
	const struct tensor *weights = c->in[1];
	size_t elements = tensor_elements(c->in[0]);
	uint32_t units = weights->dims[0], size = weights->dims[1];

	if (units == 0 || size == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (elements % size)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	if (c->in[2]->dims[0] != units)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (elements / size > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ (uint32_t)(elements / size), units });
	return 0;
}

int fully_connected_prepare(struct op_call *c, size_t *bytes)
{
	const struct tensor *weights = c->in[1];

	if (!tensor_is_const(weights) || !weights->shape_known ||
	    conv_is_few(c, weights->dims[0], weights->dims[1]))
		return 0;
	return conv_prepare(c, weights->dims[0], weights->dims[1], bytes);
}

size_t fully_connected_scratch(const struct op_call *c)
{
	uint32_t units = c->in[1]->dims[0], size = c->in[1]->dims[1];

	return !c->prepared && conv_is_few(c, units, size) ? 0 : conv_scratch(c, units, size);
}

int fully_connected_execute(const struct op_call *c)
{
	uint32_t units = c->in[1]->dims[0], size = c->in[1]->dims[1];
	struct op_pace pace = { .progress = c->progress };
	enum activation a;
	struct conv cv;

	if (op_get_activation(c, 3, &a))
		return -1;
	if (conv_row(c, a, &pace))
		return pace.ended ? OP_ABORTED : 0;
	if (!c->prepared && c->out[0]->bytes && conv_is_few(c, units, size)) {
		conv_few(c, a, &pace);
		return pace.ended ? OP_ABORTED : 0;
	}
	conv_of_rows(&cv, c->out[0]->dims[0], size, units);
	cv.activation = a;
	return conv_execute(c, &cv);
}
