// SPDX-License-Identifier: MIT
/*
 * SELECT: elements of one tensor or another.
 *
 * Inputs: 0 choice, 1 elements where it is true, 2 elements where it is false, all of
 * one shape. Quantized elements are converted to the output's scale and zero point.
 */
#include "ops.h"
#include "quant.h"

#include <string.h>

int select_check(const struct op_call *c)
{
	for (unsigned int i = 0; i < c->num_inputs; i++) {
		if (op_check_rank(c, i, 1, NNPU_MAX_RANK))
			return -1;
	}
	return op_check_operands(c) || op_check_type(c, 0, TYPE_BIT(TENSOR_BOOL8)) ||
	       op_check_type(c, 1, TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8) ||
	       op_check_same_type(c, 2, 1) || op_check_same_type(c, op_output(c, 0), 1) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int select_infer(const struct op_call *c)
{
	for (unsigned int i = 1; i < 3; i++) {
		if (c->in[i]->rank != c->in[0]->rank ||
		    memcmp(c->in[i]->dims, c->in[0]->dims,
			   c->in[0]->rank * sizeof(c->in[0]->dims[0])))
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
	}
	return op_infer_same_shape(c);
}

int select_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->out[0]), size = type_size(c->out[0]->type);
	const uint8_t *choice = c->in[0]->data;
	bool quant = type_is_quant8(c->out[0]->type);
	uint8_t tables[2][256];

	if (quant) {
		q_requantize_table(c->in[1], c->out[0], tables[0]);
		q_requantize_table(c->in[2], c->out[0], tables[1]);
	}
	for (size_t i = 0; i < total; i++) {
		const struct tensor *t = c->in[choice[i] ? 1 : 2];

		if (quant)
			((uint8_t *)c->out[0]->data)[i] =
				tables[choice[i] ? 0 : 1][((const uint8_t *)t->data)[i]];
		else
			memcpy((char *)c->out[0]->data + i * size,
			       (const char *)t->data + i * size, size);
		if (op_pace(&pace, 2))
			return OP_ABORTED;
	}
	return 0;
}
