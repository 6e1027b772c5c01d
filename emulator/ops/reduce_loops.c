// SPDX-License-Identifier: MIT
/*
 * Dimensions of reductions.
 */
#include "reduce_loops.h"

int reduced_dims(const struct op_call *c, unsigned int *mask)
{
	struct op_pace pace = { .progress = c->progress };
	unsigned int axis;

	*mask = 0;
	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (!op_list_known(c, 1))
		return 1;
	for (uint32_t i = 0; i < c->in[1]->dims[0] && !op_pace_row(&pace, i, 4); i++) {
		if (op_list_axis(c, 1, i, c->in[0]->rank, &axis))
			return -1;
		*mask |= 1u << axis;
	}
	return 0;
}

void reduce_set_shape(const struct op_call *c, unsigned int mask, bool keep)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = 0;

	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		if (!(mask >> i & 1))
			dims[rank++] = c->in[0]->dims[i];
		else if (keep)
			dims[rank++] = 1;
	}
	if (rank == 0)
		dims[rank++] = 1;
	tensor_set_shape(c->out[0], rank, dims);
}

/* A dimension is inside of the others. */
static void add_loop(struct loops *l, size_t n, ptrdiff_t stride)
{
	struct nd_dim *d = &l->dims[l->rank];

	l->total *= n;
	if (l->rank && d[-1].in == stride * (ptrdiff_t)n) {
		d[-1].n *= n;
		d[-1].in = stride;
		return;
	}
	d->n = n;
	d->in = stride;
	l->rank++;
}

/* Only what is needed is written: to clear all of it takes longer than a small sum. */
void loops_over(const struct tensor *t, unsigned int mask, struct loops *kept, struct loops *reduced)
{
	ptrdiff_t strides[NNPU_MAX_RANK];

	nd_strides(t, strides);
	kept->rank = reduced->rank = 0;
	kept->total = reduced->total = 1;
	for (unsigned int i = 0; i < t->rank; i++)
		if (t->dims[i] != 1)
			add_loop(mask >> i & 1 ? reduced : kept, t->dims[i], strides[i]);
}

size_t loops_jump_units(const struct loops *l, size_t size)
{
	size_t steps = 1;

	for (unsigned int d = l->rank; l->total && d-- > 0; steps *= l->dims[d].n)
		if ((size_t)l->dims[d].in * size >= OP_PACE_LINE)
			return (OP_PACE_RUN_APART - 1) / steps + 1;
	return 0;
}
