// SPDX-License-Identifier: MIT
/*
 * TILE.
 *
 * Inputs: 0 tensor, 1 number of repetitions along each dimension.
 */
#include "nd_copy.h"
#include "ops.h"

int tile_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8,
			      NNPU_MAX_RANK) ||
	       op_check_list(c, 1) ? -1 : 0;
}

int tile_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];

	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (c->in[1]->dims[0] != t->rank)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (unsigned int i = 0; i < t->rank; i++) {
		int32_t v = op_list_at(c, 1, i);

		if (v < 0)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (__builtin_mul_overflow(t->dims[i], (uint32_t)v, &dims[i]))
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	}
	tensor_set_shape(c->out[0], t->rank, dims);
	return 0;
}

/* Two loops for each dimension. The one over repetitions has stride 0 in the input. */
int tile_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0], *out = c->out[0];
	ptrdiff_t strides[NNPU_MAX_RANK], out_strides[NNPU_MAX_RANK];
	struct nd_dim dims[2 * NNPU_MAX_RANK];
	unsigned int n = 0;

	nd_strides(in, strides);
	nd_strides(out, out_strides);
	for (unsigned int i = 0; i < in->rank; i++) {
		size_t repeat = out->dims[i] / in->dims[i];

		if (repeat > 1)
			dims[n++] = (struct nd_dim){ repeat, 0, out_strides[i] * in->dims[i] };
		dims[n++] = (struct nd_dim){ in->dims[i], strides[i], out_strides[i] };
	}
	return nd_copy(&pace, in->data, out->data, type_size(in->type), dims, n);
}
