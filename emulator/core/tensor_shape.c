// SPDX-License-Identifier: MIT
/*
 * Shapes of tensors: their size, what an operation makes of them, and whether two agree.
 */
#include "tensor_shape.h"

/* What to count for the shape of a tensor. */
#define SHAPE_UNITS	32

bool tensor_settle(struct tensor *t, uint64_t max_bytes)
{
	uint64_t bytes = type_size(t->type);
	bool known = t->rank_known, empty = false;
	unsigned int i;

	t->shape_known = known;
	t->bytes = 0;
	for (i = 0; known && i < t->rank; i++)
		empty |= !t->dims[i];
	if (empty)
		return true;
	for (i = 0; known && i < t->rank; i++) {
		if (t->dims[i] > max_bytes / bytes)
			return false;
		bytes *= t->dims[i];
	}
	if (bytes > max_bytes)
		return false;
	if (known)
		t->bytes = bytes;
	return true;
}

bool shapes_compatible(const struct tensor *a, const struct tensor *b)
{
	unsigned int i;

	if (!a->rank_known || !b->rank_known)
		return true;
	if (a->rank != b->rank)
		return false;
	for (i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i] && (a->dims[i] || a->shape_known) &&
		    (b->dims[i] || b->shape_known))
			return false;
	return true;
}

int shapes_infer(const struct op_call *call, struct tensor *saved, uint64_t max_bytes,
		 struct op_pace *pace)
{
	unsigned int i, d;
	int ret;

	for (i = 0; i < call->num_outputs; i++) {
		saved[i] = *call->out[i];
		op_pace(pace, SHAPE_UNITS);
	}
	ret = call->desc->infer(call);
	if (ret) {
		for (i = 0; i < call->num_outputs; i++)
			*call->out[i] = saved[i];
		return ret;
	}
	for (i = 0; i < call->num_outputs; i++) {
		struct tensor *t = call->out[i];

		op_pace(pace, SHAPE_UNITS);
		t->rank_known = true;
		for (d = t->rank; d < NNPU_MAX_RANK; d++)
			t->dims[d] = 0;
		if (!tensor_settle(t, max_bytes))
			return op_fail(call, NNPU_REASON_OVERFLOW, call->num_inputs + i);
	}
	return 0;
}
