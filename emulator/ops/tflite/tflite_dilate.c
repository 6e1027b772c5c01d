// SPDX-License-Identifier: MIT
/*
 * DILATE of org.nnpu.tflite: elements that are not adjacent any more.
 *
 * Inputs: 0 tensor, 1 for each dimension the distance of its elements, 2 what is between them, one
 * element.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

enum { AT_DISTANCES = 1, AT_PADDING };

int tflite_dilate_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0) || tflite_check_alike(c, AT_PADDING, 0) ? -1 : 0;
}

/* Entry @d of the distances, at least 1; -1 with error. */
static int64_t distance(const struct op_call *c, unsigned int d)
{
	int64_t v = tflite_int_at(c, AT_DISTANCES, d);

	return v < 1 || v > INT32_MAX ? op_fail(c, NNPU_REASON_VALUE, AT_DISTANCES) : v;
}

int tflite_dilate_infer(const struct op_call *c)
{
	const struct tensor *in = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];

	if (op_check_rank(c, AT_DISTANCES, 1, 1))
		return -1;
	if (c->in[AT_DISTANCES]->dims[0] != in->rank)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_DISTANCES);
	if (tensor_elements(c->in[AT_PADDING]) != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_PADDING);
	if (!tflite_values_known(c, AT_DISTANCES))
		return 1;
	for (unsigned int d = 0; d < in->rank; d++) {
		int64_t by = distance(c, d), size;

		if (by < 0)
			return -1;
		/* Below 2^31 * 2^32. */
		size = in->dims[d] ? ((int64_t)in->dims[d] - 1) * by + 1 : 0;
		if (size > UINT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, AT_DISTANCES);
		dims[d] = (uint32_t)size;
	}
	tensor_set_shape(c->out[0], in->rank, dims);
	return 0;
}

int tflite_dilate_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *in = c->in[0], *out = c->out[0];
	size_t size = type_size(in->type);
	ptrdiff_t from[NNPU_MAX_RANK], to[NNPU_MAX_RANK];
	struct nd_dim dims[NNPU_MAX_RANK];

	if (nd_fill(&pace, out->data, size, tensor_elements(out), c->in[AT_PADDING]->data))
		return OP_ABORTED;
	nd_strides(in, from);
	nd_strides(out, to);
	for (unsigned int d = 0; d < in->rank; d++) {
		int64_t by = distance(c, d);

		if (by < 0)
			return -1;
		/* A single element has no distance, which might be any number. */
		by = in->dims[d] > 1 ? by : 1;
		dims[d] = (struct nd_dim){ in->dims[d], from[d], to[d] * (ptrdiff_t)by };
	}
	return nd_copy(&pace, in->data, out->data, size, dims, in->rank);
}
