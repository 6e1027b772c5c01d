// SPDX-License-Identifier: MIT
/*
 * FILL and RANK.
 *
 * FILL: 0 shape of the output, 1 the value of its elements.
 * RANK: 0 tensor; the output is its number of dimensions.
 */
#include "nd_copy.h"
#include "ops.h"

#include <string.h>

int fill_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	if (op_check_operands(c) || op_check_list(c, 0) ||
	    op_check_type(c, out, TYPES_FLOAT | TYPE_BIT(TENSOR_INT32)) ||
	    op_check_rank(c, out, 1, NNPU_MAX_RANK))
		return -1;
	switch (c->out[0]->type) {
	case NNPU_TYPE_TENSOR_FLOAT16:
		return op_check_type(c, 1, TYPE_BIT(FLOAT16));
	case NNPU_TYPE_TENSOR_FLOAT32:
		return op_check_type(c, 1, TYPE_BIT(FLOAT32));
	default:
		return op_check_type(c, 1, TYPE_BIT(INT32));
	}
}

int fill_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	uint32_t rank;

	if (op_check_rank(c, 0, 1, 1))
		return -1;
	rank = c->in[0]->dims[0];
	if (rank == 0 || rank > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 0);
	if (!tensor_data_known(c->in[0]))
		return 1;
	for (uint32_t i = 0; i < rank; i++) {
		int32_t v = op_list_at(c, 0, i);

		if (v < 0)
			return op_fail(c, NNPU_REASON_VALUE, 0);
		dims[i] = (uint32_t)v;
	}
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

int fill_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };

	return nd_fill(&pace, c->out[0]->data, type_size(c->out[0]->type),
		       tensor_elements(c->out[0]), c->in[1]->data);
}

int rank_check(const struct op_call *c)
{
	if (op_check_operands(c) || op_check_type(c, op_output(c, 0), TYPE_BIT(INT32)))
		return -1;
	if (type_is_scalar(c->in[0]->type))
		return op_fail(c, NNPU_REASON_TYPE, 0);
	return 0;
}

int rank_infer(const struct op_call *c)
{
	tensor_set_shape(c->out[0], 0, NULL);
	return 0;
}

int rank_execute(const struct op_call *c)
{
	int32_t rank = c->in[0]->rank;

	memcpy(c->out[0]->data, &rank, sizeof(rank));
	return 0;
}
