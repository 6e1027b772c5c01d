// SPDX-License-Identifier: MIT
/*
 * SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks along the dimensions behind the first one become
 * batches, and back.
 *
 * Inputs: 0 tensor, 1 sizes of a block, 2 paddings or crops, before and behind each dimension.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* SPACE_TO_BATCH_ND writes batches, BATCH_TO_SPACE_ND reads them. */
struct blocks {
	unsigned int count;			/* dimensions that are cut into blocks */
	int64_t size[NNPU_MAX_RANK];
	int64_t before[NNPU_MAX_RANK];
	int64_t behind[NNPU_MAX_RANK];
	int64_t batches;			/* elements of a block */
};

/* 0; 1 if a value is not known; -1 with error. */
static int read_blocks(const struct op_call *c, struct blocks *b)
{
	const struct tensor *sizes = c->in[1], *edges = c->in[2];

	if (op_check_rank(c, 1, 1, 1) || op_check_rank(c, 2, 2, 2))
		return -1;
	b->count = sizes->dims[0];
	if (b->count >= c->in[0]->rank)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (edges->dims[0] != b->count || edges->dims[1] != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	if (!tensor_data_known(sizes) || !tensor_data_known(edges))
		return 1;
	b->batches = 1;
	for (unsigned int i = 0; i < b->count; i++) {
		b->size[i] = tflite_int_at(c, 1, i);
		b->before[i] = tflite_int_at(c, 2, 2 * i);
		b->behind[i] = tflite_int_at(c, 2, 2 * i + 1);
		if (b->size[i] < 1 || b->size[i] > INT32_MAX)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (b->before[i] < 0 || b->before[i] > INT32_MAX ||
		    b->behind[i] < 0 || b->behind[i] > INT32_MAX)
			return op_fail(c, NNPU_REASON_VALUE, 2);
		b->batches *= b->size[i];
		if (b->batches > INT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	}
	return 0;
}

static int set_shape(const struct op_call *c, int64_t *dims)
{
	uint32_t out[NNPU_MAX_RANK];

	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		if (dims[i] > UINT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
		out[i] = (uint32_t)dims[i];
	}
	tensor_set_shape(c->out[0], c->in[0]->rank, out);
	return 0;
}

static void input_dims(const struct op_call *c, int64_t *dims)
{
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		dims[i] = c->in[0]->dims[i];
}

int tflite_space_to_batch_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_space_to_batch_infer(const struct op_call *c)
{
	int64_t dims[NNPU_MAX_RANK];
	struct blocks b;
	int ret = read_blocks(c, &b);

	if (ret)
		return ret;
	input_dims(c, dims);
	dims[0] *= b.batches;
	for (unsigned int i = 0; i < b.count; i++) {
		dims[i + 1] += b.before[i] + b.behind[i];
		if (dims[i + 1] % b.size[i])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
		dims[i + 1] /= b.size[i];
	}
	return set_shape(c, dims);
}

int tflite_batch_to_space_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_batch_to_space_infer(const struct op_call *c)
{
	int64_t dims[NNPU_MAX_RANK];
	struct blocks b;
	int ret = read_blocks(c, &b);

	if (ret)
		return ret;
	input_dims(c, dims);
	if (dims[0] % b.batches)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	dims[0] /= b.batches;
	for (unsigned int i = 0; i < b.count; i++) {
		dims[i + 1] = dims[i + 1] * b.size[i] - b.before[i] - b.behind[i];
		if (dims[i + 1] < 0)
			return op_fail(c, NNPU_REASON_VALUE, 2);
	}
	return set_shape(c, dims);
}

/*
 * The elements of batch @batch of a block: those of the wide tensor whose place along each dimension is
 * @offset of a block, and those of the deep one beside them. Of the wide tensor and its edges only what is
 * inside is there. Returns false if nothing is; otherwise the loops, and where they begin.
 */
static bool batch_loops(const struct blocks *b, const struct tensor *wide, const struct tensor *deep,
			int64_t batch, struct nd_dim *loops, int64_t *wide_at, int64_t *deep_at)
{
	ptrdiff_t wide_strides[NNPU_MAX_RANK], deep_strides[NNPU_MAX_RANK];
	int64_t rest = batch;

	nd_strides(wide, wide_strides);
	nd_strides(deep, deep_strides);
	loops[0] = (struct nd_dim){ wide->dims[0], wide_strides[0], deep_strides[0] };
	*wide_at = 0;
	*deep_at = batch * wide->dims[0] * deep_strides[0];
	for (unsigned int i = b->count; i-- > 0;) {
		int64_t size = b->size[i], first, end;
		int64_t low = b->before[i] - rest % size;	/* block * size at the first element */
		int64_t high = low + wide->dims[i + 1];

		rest /= size;
		first = low > 0 ? (low + size - 1) / size : 0;
		end = high > 0 ? (high + size - 1) / size : 0;
		end = end < deep->dims[i + 1] ? end : deep->dims[i + 1];
		if (first >= end)
			return false;
		loops[i + 1] = (struct nd_dim){ (size_t)(end - first), wide_strides[i + 1] * size,
						deep_strides[i + 1] };
		*wide_at += (first * size - low) * wide_strides[i + 1];
		*deep_at += first * deep_strides[i + 1];
	}
	for (unsigned int i = b->count + 1; i < wide->rank; i++)
		loops[i] = (struct nd_dim){ wide->dims[i], wide_strides[i], deep_strides[i] };
	return true;
}

/* Copy between both tensors; one of them is the input. */
static int move_blocks(const struct op_call *c, const struct blocks *b, struct op_pace *pace,
		       bool wide_is_in)
{
	const struct tensor *in = c->in[0], *out = c->out[0];
	const struct tensor *wide = wide_is_in ? in : out, *deep = wide_is_in ? out : in;
	int64_t size = (int64_t)type_size(in->type), wide_at, deep_at;
	struct nd_dim loops[NNPU_MAX_RANK];

	for (int64_t batch = 0; batch < b->batches; batch++) {
		if (op_pace(pace, 64))
			return OP_ABORTED;
		if (!batch_loops(b, wide, deep, batch, loops, &wide_at, &deep_at))
			continue;
		for (unsigned int i = 0; !wide_is_in && i < wide->rank; i++) {
			ptrdiff_t swap = loops[i].in;

			loops[i].in = loops[i].out;
			loops[i].out = swap;
		}
		if (nd_copy(pace, (const char *)in->data + (wide_is_in ? wide_at : deep_at) * size,
			    (char *)out->data + (wide_is_in ? deep_at : wide_at) * size,
			    (size_t)size, loops, wide->rank))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_space_to_batch_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	size_t size = type_size(out->type);
	uint64_t value = 0;
	struct blocks b;

	if (read_blocks(c, &b))
		return -1;
	if (size == 1)
		memset(&value, (uint8_t)out->zero_point, 1);
	if (nd_fill(&pace, out->data, size, tensor_elements(out), &value))
		return OP_ABORTED;
	return c->in[0]->bytes ? move_blocks(c, &b, &pace, true) : 0;
}

int tflite_batch_to_space_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct blocks b;

	if (read_blocks(c, &b))
		return -1;
	return move_blocks(c, &b, &pace, false);
}
