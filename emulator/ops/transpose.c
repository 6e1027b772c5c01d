// SPDX-License-Identifier: MIT
/*
 * TRANSPOSE and CHANNEL_SHUFFLE.
 *
 * TRANSPOSE: 0 tensor, 1 permutation (may be omitted: the dimensions in reverse).
 * CHANNEL_SHUFFLE: 0 tensor, 1 number of groups, 2 axis.
 */
#include "nd_copy.h"
#include "ops.h"

#define TYPES	(TYPES_FLOAT | TYPES_QUANT8)

int transpose_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES, OP_MAX_RANK) || op_check_list(c, 1) ? -1 : 0;
}

/* 0; 1 if the permutation is not known before the job runs; -1 with error. */
static int permutation(const struct op_call *c, unsigned int *perm)
{
	unsigned int rank = c->in[0]->rank, seen = 0;

	if (!tensor_has_value(c->in[1])) {
		for (unsigned int i = 0; i < rank; i++)
			perm[i] = rank - 1 - i;
		return 0;
	}
	if (c->in[1]->dims[0] != rank)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (!tensor_data_known(c->in[1]))
		return 1;
	for (unsigned int i = 0; i < rank; i++) {
		int32_t v = op_list_at(c, 1, i);

		if (v < 0 || v >= (int32_t)rank || seen & 1u << v)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		seen |= 1u << v;
		perm[i] = (unsigned int)v;
	}
	return 0;
}

int transpose_infer(const struct op_call *c)
{
	unsigned int perm[NNPU_MAX_RANK];
	uint32_t dims[NNPU_MAX_RANK];
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = permutation(c, perm);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		dims[i] = c->in[0]->dims[perm[i]];
	tensor_set_shape(c->out[0], c->in[0]->rank, dims);
	return 0;
}

int transpose_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	ptrdiff_t in[NNPU_MAX_RANK], out[NNPU_MAX_RANK];
	unsigned int perm[NNPU_MAX_RANK];
	struct nd_dim dims[NNPU_MAX_RANK];

	if (permutation(c, perm))
		return -1;
	nd_strides(c->in[0], in);
	nd_strides(c->out[0], out);
	for (unsigned int i = 0; i < c->out[0]->rank; i++)
		dims[i] = (struct nd_dim){ c->out[0]->dims[i], in[perm[i]], out[i] };
	return nd_copy(&pace, c->in[0]->data, c->out[0]->data, type_size(c->out[0]->type), dims,
		       c->out[0]->rank);
}

int channel_shuffle_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES, OP_MAX_RANK) ||
	       op_check_type(c, 1, TYPE_BIT(INT32)) ||
	       op_check_type(c, 2, TYPE_BIT(INT32)) ? -1 : 0;
}

static int shuffle_parameters(const struct op_call *c, unsigned int *axis, uint32_t *groups)
{
	int32_t v;
	int ret = op_get_axis(c, 2, c->in[0]->rank, true, axis);

	if (ret)
		return ret;
	if (op_get_i32(c, 1, &v))
		return 1;
	if (v < 1 || c->in[0]->dims[*axis] % (uint32_t)v)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	*groups = (uint32_t)v;
	return 0;
}

int channel_shuffle_infer(const struct op_call *c)
{
	unsigned int axis;
	uint32_t groups;
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = shuffle_parameters(c, &axis, &groups);
	return ret ? ret : op_infer_same_shape(c);
}

int channel_shuffle_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	ptrdiff_t inner, per_group, whole;
	unsigned int axis;
	uint32_t groups;

	if (shuffle_parameters(c, &axis, &groups))
		return -1;
	inner = (ptrdiff_t)tensor_elements_of(t, axis + 1, t->rank);
	per_group = t->dims[axis] / groups;
	whole = inner * t->dims[axis];
	/* Channel (group, i) goes to (i, group). */
	return nd_copy(&pace, t->data, c->out[0]->data, type_size(t->type), (struct nd_dim[]){
			{ tensor_elements_of(t, 0, axis), whole, whole },
			{ (size_t)per_group, inner, inner * groups },
			{ groups, inner * per_group, inner },
			{ (size_t)inner, 1, 1 },
		}, 4);
}
