// SPDX-License-Identifier: MIT
/*
 * Shapes that operators compute: operators that move elements. Small integer tensors, of
 * which other shapes are made, are moved here too.
 */
#include <string.h>

#include "infer.h"

/* A constant size from values; -1 for what is none. */
static int64_t size_of(int64_t value)
{
	return value >= 0 && value <= INT32_MAX ? value : -1;
}

/* The shape that the values of a tensor are; false if they are not known. */
static bool shape_from(const struct extent *values, struct extent *out)
{
	uint32_t i;

	if (values->num_values == 0 || values->num_values > TFLITE_MAX_RANK)
		return false;
	*out = (struct extent){ .rank = (int32_t)values->num_values };
	for (i = 0; i < values->num_values; i++)
		out->dims[i] = size_of(values->values[i]);
	return true;
}

static void keep_values(const struct extent *in, struct extent *out)
{
	out->num_values = in->num_values;
	memcpy(out->values, in->values, sizeof(out->values));
}

/* The target of RESHAPE: a tensor, else the options. */
static bool reshape_target(struct inference *inf, int64_t *dims, int32_t *rank)
{
	struct fb_vector list = fb_vector(&inf->options, 0, 4);
	const struct extent *shape = infer_input(inf, 1);
	uint32_t i;

	if (shape->num_values) {
		*rank = (int32_t)shape->num_values;
		memcpy(dims, shape->values, sizeof(shape->values));
		return true;
	}
	if (inf->op->inputs.count > 1 || list.count == 0 || list.count > TFLITE_MAX_RANK)
		return false;
	*rank = (int32_t)list.count;
	for (i = 0; i < list.count; i++)
		dims[i] = fb_vector_i32(&list, i);
	return true;
}

static void reshape(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0);
	int64_t known = 1, elements = extent_elements(in);
	struct extent out = { .rank = 0 };
	int32_t i, open = -1;

	if (!reshape_target(inf, out.dims, &out.rank))
		return;
	for (i = 0; i < out.rank; i++) {
		if (out.dims[i] == -1 && open < 0)
			open = i;
		else if (out.dims[i] < 0 || out.dims[i] > INT32_MAX ||
			 __builtin_mul_overflow(known, out.dims[i], &known))
			return;
	}
	if (open >= 0)
		out.dims[open] = elements < 0 || known == 0 ? -1 : elements / known;
	keep_values(in, &out);
	infer_set(inf, 0, &out);
}

static void squeeze(struct inference *inf)
{
	struct fb_vector list = fb_vector(&inf->options, 0, 4);
	const struct extent *in = infer_input(inf, 0);
	bool gone[TFLITE_MAX_RANK] = { false };
	struct extent out = { .rank = 0 };
	uint32_t i;
	int32_t d;

	/* Operators may share a list: a long one must not be looked through again and again. */
	if (in->rank < 0 || list.count > TFLITE_MAX_RANK)
		return;
	for (i = 0; i < list.count; i++) {
		d = infer_axis(fb_vector_i32(&list, i), in->rank);
		if (d < 0)
			return;
		gone[d] = true;
	}
	for (d = 0; d < in->rank; d++) {
		if (list.count == 0 && in->dims[d] < 0)
			return;
		if (list.count ? !gone[d] : in->dims[d] != 1)
			out.dims[out.rank++] = in->dims[d];
	}
	keep_values(in, &out);
	infer_set(inf, 0, &out);
}

static void expand_dims(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *axis = infer_input(inf, 1);
	struct extent out = { .rank = in->rank + 1 };
	int32_t at, d;

	if (in->rank < 0 || in->rank == TFLITE_MAX_RANK || axis->num_values != 1)
		return;
	at = infer_axis(axis->values[0], out.rank);
	if (at < 0)
		return;
	for (d = 0; d < out.rank; d++)
		out.dims[d] = d == at ? 1 : in->dims[d - (d > at)];
	keep_values(in, &out);
	infer_set(inf, 0, &out);
}

static void transpose(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *order = infer_input(inf, 1);
	struct extent out = { .rank = in->rank };
	int32_t d;

	if (in->rank < 1 || order->num_values != (uint32_t)in->rank)
		return;
	for (d = 0; d < in->rank; d++) {
		int32_t from = infer_axis(order->values[d], in->rank);

		if (from < 0)
			return;
		out.dims[d] = in->dims[from];
	}
	infer_set(inf, 0, &out);
}

static void concatenation(struct inference *inf)
{
	struct extent out = *infer_input(inf, 0);
	int32_t axis = infer_axis(fb_i32(&inf->options, 0, 0), out.rank);
	bool values = out.rank == 1 && out.num_values;
	uint32_t i, k;

	if (out.rank < 1 || axis < 0)
		return;
	for (i = 1; i < inf->op->inputs.count; i++) {
		const struct extent *in = infer_input(inf, i);

		if (in->rank != out.rank)
			return;
		if (out.dims[axis] < 0 || in->dims[axis] < 0 ||
		    out.dims[axis] > INT32_MAX - in->dims[axis])
			out.dims[axis] = -1;
		else
			out.dims[axis] += in->dims[axis];
		values = values && in->num_values &&
			 out.num_values + in->num_values <= INFER_MAX_VALUES;
		for (k = 0; values && k < in->num_values; k++)
			out.values[out.num_values++] = in->values[k];
	}
	if (!values)
		out.num_values = 0;
	infer_set(inf, 0, &out);
}

static void pack(struct inference *inf)
{
	uint32_t i, count = inf->op->inputs.count;
	const struct extent *in = infer_input(inf, 0);
	struct extent out = { .rank = in->rank + 1 };
	int32_t axis, d;

	if (in->rank < 0 || in->rank == TFLITE_MAX_RANK)
		return;
	axis = infer_axis(fb_i32(&inf->options, 1, 0), out.rank);
	if (axis < 0)
		return;
	for (d = 0; d < out.rank; d++)
		out.dims[d] = d == axis ? count : in->dims[d - (d > axis)];
	if (in->rank == 0 && count <= INFER_MAX_VALUES) {
		out.num_values = count;
		for (i = 0; i < count; i++) {
			in = infer_input(inf, i);
			if (in->num_values != 1) {
				out.num_values = 0;
				break;
			}
			out.values[i] = in->values[0];
		}
	}
	infer_set(inf, 0, &out);
}

static void unpack(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0);
	int32_t axis = infer_axis(fb_i32(&inf->options, 1, 0), in->rank);
	uint32_t i;
	int32_t d;

	if (in->rank < 1 || axis < 0)
		return;
	for (i = 0; i < inf->op->outputs.count; i++) {
		struct extent out = { .rank = 0 };

		for (d = 0; d < in->rank; d++)
			if (d != axis)
				out.dims[out.rank++] = in->dims[d];
		if (in->rank == 1 && i < in->num_values) {
			out.num_values = 1;
			out.values[0] = in->values[i];
		}
		infer_set(inf, i, &out);
	}
}

static void split(struct inference *inf)
{
	const struct extent *axis = infer_input(inf, 0);
	struct extent out = *infer_input(inf, 1);
	uint32_t i, count = inf->op->outputs.count;
	int32_t at;

	at = axis->num_values == 1 ? infer_axis(axis->values[0], out.rank) : -1;
	if (out.rank < 1 || at < 0)
		return;
	out.num_values = 0;
	if (out.dims[at] >= 0)
		out.dims[at] /= count;
	for (i = 0; i < count; i++)
		infer_set(inf, i, &out);
}

static void split_v(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *sizes = infer_input(inf, 1);
	const struct extent *axis = infer_input(inf, 2);
	int64_t rest;
	uint32_t i;
	int32_t at;

	at = axis->num_values == 1 ? infer_axis(axis->values[0], in->rank) : -1;
	if (in->rank < 1 || at < 0)
		return;
	rest = in->dims[at];
	for (i = 0; i < sizes->num_values && rest >= 0; i++)
		if (sizes->values[i] > 0)
			rest -= sizes->values[i];
	for (i = 0; i < inf->op->outputs.count; i++) {
		struct extent out = *in;

		out.num_values = 0;
		out.dims[at] = i < sizes->num_values ? size_of(sizes->values[i]) : -1;
		if (i < sizes->num_values && sizes->values[i] == -1 && rest >= 0)
			out.dims[at] = rest;
		infer_set(inf, i, &out);
	}
}

static void slice(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *begin = infer_input(inf, 1);
	const struct extent *size = infer_input(inf, 2);
	struct extent out = { .rank = in->rank };
	uint32_t i;
	int32_t d;

	if (in->rank < 0)
		return;
	for (d = 0; d < in->rank; d++) {
		bool known = (uint32_t)d < size->num_values;

		out.dims[d] = known ? size_of(size->values[d]) : -1;
		if (known && size->values[d] == -1 && (uint32_t)d < begin->num_values &&
		    in->dims[d] >= 0)
			out.dims[d] = size_of(in->dims[d] - begin->values[d]);
	}
	if (in->rank == 1 && in->num_values && begin->num_values == 1 && begin->values[0] >= 0 &&
	    out.dims[0] > 0 && begin->values[0] + out.dims[0] <= in->num_values) {
		out.num_values = (uint32_t)out.dims[0];
		for (i = 0; i < out.num_values; i++)
			out.values[i] = in->values[begin->values[0] + i];
	}
	infer_set(inf, 0, &out);
}

/* One dimension of a strided slice: its first index and number of elements. */
static bool stride_of(int64_t n, int64_t begin, int64_t end, int64_t stride, bool no_begin,
		      bool no_end, int64_t *first, int64_t *count)
{
	int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? n : n - 1;

	if (n < 0 || stride == 0)
		return false;
	begin = no_begin ? (stride > 0 ? 0 : n - 1) : begin < 0 ? begin + n : begin;
	end = no_end ? (stride > 0 ? n : -1) : end < 0 ? end + n : end;
	begin = begin < low ? low : begin > high ? high : begin;
	end = end < low ? low : end > high ? high : end;
	*first = begin;
	*count = stride > 0 ? (end - begin + stride - 1) / stride :
			      (begin - end - stride - 1) / -stride;
	if (*count < 0)
		*count = 0;
	return true;
}

static void strided_slice(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *begin = infer_input(inf, 1);
	const struct extent *end = infer_input(inf, 2), *stride = infer_input(inf, 3);
	const struct fb_table *o = &inf->options;
	int32_t begin_mask = fb_i32(o, 0, 0), end_mask = fb_i32(o, 1, 0);
	int32_t shrink = fb_i32(o, 4, 0);
	struct extent out = { .rank = 0 };
	int64_t first = 0, count = 0, step = 1;
	uint32_t i;
	int32_t d;

	/* The ellipsis and new axes are left to the device, and so is an offset. */
	if (in->rank < 0 || fb_i32(o, 2, 0) || fb_i32(o, 3, 0) || fb_u8(o, 5, 0))
		return;
	for (d = 0; d < in->rank; d++) {
		uint32_t at = (uint32_t)d;
		bool known;

		if (stride->num_values && at >= stride->num_values) {
			out.dims[out.rank++] = in->dims[d];
			continue;
		}
		known = at < stride->num_values && at < begin->num_values;
		if (shrink >> d & 1) {
			if (known) {
				first = begin->values[d] < 0 ? begin->values[d] + in->dims[d] :
							       begin->values[d];
				count = 1;
				step = 1;
			}
			continue;
		}
		step = known ? stride->values[d] : 0;
		if (!known || step > INT32_MAX || step < -INT32_MAX ||
		    (at >= end->num_values && !(end_mask >> d & 1)) ||
		    !stride_of(in->dims[d], begin->values[d], end->values[d], step,
			       begin_mask >> d & 1, end_mask >> d & 1, &first, &count))
			out.dims[out.rank++] = -1;
		else
			out.dims[out.rank++] = count;
	}
	if (in->rank == 1 && in->num_values && begin->num_values == 1 && first >= 0 &&
	    count > 0 && count <= INFER_MAX_VALUES && (out.rank == 0 || out.dims[0] == count)) {
		int64_t last = first + (count - 1) * step;

		if (first < in->num_values && last >= 0 && last < in->num_values) {
			out.num_values = (uint32_t)count;
			for (i = 0; i < out.num_values; i++)
				out.values[i] = in->values[first + i * step];
		}
	}
	infer_set(inf, 0, &out);
}

static void pad(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *amounts = infer_input(inf, 1);
	const struct tflite_tensor *tensor;
	struct extent out = { .rank = in->rank };
	int32_t d;

	/* More values than are followed: from the constant itself. */
	if (in->rank < 1 || inf->op->inputs.count < 2 || fb_vector_i32(&inf->op->inputs, 1) < 0)
		return;
	tensor = &inf->sub->tensors[fb_vector_i32(&inf->op->inputs, 1)];
	for (d = 0; d < in->rank; d++) {
		int64_t before = -1, after = -1;

		if (2u * (uint32_t)d + 1 < amounts->num_values) {
			before = amounts->values[2 * d];
			after = amounts->values[2 * d + 1];
		} else if (tensor->data && !tensor->sparsity.present &&
			   tensor->type == TFLITE_INT32 && tensor->bytes == (size_t)in->rank * 8) {
			struct fb_vector pair = { .data = tensor->data + 8 * (size_t)d, .count = 2 };

			before = fb_vector_i32(&pair, 0);
			after = fb_vector_i32(&pair, 1);
		}
		out.dims[d] = before < 0 || after < 0 || in->dims[d] < 0 ? -1 :
			      size_of(in->dims[d] + before + after);
	}
	infer_set(inf, 0, &out);
}

static void tile(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *times = infer_input(inf, 1);
	struct extent out = { .rank = in->rank };
	int32_t d;

	if (in->rank < 1)
		return;
	for (d = 0; d < in->rank; d++) {
		out.dims[d] = -1;
		if ((uint32_t)d < times->num_values && in->dims[d] >= 0 &&
		    !__builtin_mul_overflow(in->dims[d], times->values[d], &out.dims[d]))
			out.dims[d] = size_of(out.dims[d]);
	}
	infer_set(inf, 0, &out);
}

static void gather(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *indices = infer_input(inf, 1);
	int32_t axis = infer_axis(fb_i32(&inf->options, 0, 0), in->rank);
	int32_t batch = fb_i32(&inf->options, 1, 0), d;
	struct extent out = { .rank = 0 };
	uint32_t i;

	if (in->rank < 1 || indices->rank < 0 || axis < 0 || batch < 0 || batch > axis ||
	    batch > indices->rank || in->rank - 1 + indices->rank - batch > TFLITE_MAX_RANK)
		return;
	for (d = 0; d < axis; d++)
		out.dims[out.rank++] = in->dims[d];
	for (d = batch; d < indices->rank; d++)
		out.dims[out.rank++] = indices->dims[d];
	for (d = axis + 1; d < in->rank; d++)
		out.dims[out.rank++] = in->dims[d];
	if (in->rank == 1 && in->num_values && indices->num_values) {
		out.num_values = indices->num_values;
		for (i = 0; i < indices->num_values; i++) {
			int64_t at = indices->values[i];

			if (at < 0 || at >= in->num_values) {
				out.num_values = 0;
				break;
			}
			out.values[i] = in->values[at];
		}
	}
	infer_set(inf, 0, &out);
}

static void shape(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0);
	struct extent out = { .rank = 1 };
	int32_t d;

	if (in->rank < 0)
		return;
	out.dims[0] = in->rank;
	out.num_values = (uint32_t)in->rank;
	for (d = 0; d < in->rank; d++) {
		out.values[d] = in->dims[d];
		if (in->dims[d] < 0)
			out.num_values = 0;
	}
	infer_set(inf, 0, &out);
}

static void rank(struct inference *inf)
{
	struct extent out = { .rank = 0, .num_values = 1 };

	if (infer_input(inf, 0)->rank < 0)
		return;
	out.values[0] = infer_input(inf, 0)->rank;
	infer_set(inf, 0, &out);
}

static void from_shape(struct inference *inf, uint32_t input)
{
	struct extent out;

	if (shape_from(infer_input(inf, input), &out))
		infer_set(inf, 0, &out);
}

static void range(struct inference *inf)
{
	const struct extent *start = infer_input(inf, 0), *limit = infer_input(inf, 1);
	const struct extent *delta = infer_input(inf, 2);
	struct extent out = { .rank = 1, .dims = { -1 } };

	if (start->num_values == 1 && limit->num_values == 1 && delta->num_values == 1 &&
	    delta->values[0] > 0 && limit->values[0] >= start->values[0] &&
	    delta->values[0] <= INT32_MAX && limit->values[0] <= INT32_MAX &&
	    start->values[0] >= -INT32_MAX)
		out.dims[0] = size_of((limit->values[0] - start->values[0] + delta->values[0] - 1) /
				      delta->values[0]);
	infer_set(inf, 0, &out);
}

/* Blocks of pixels to channels, or back. */
static void blocks(struct inference *inf, bool to_depth)
{
	const struct extent *in = infer_input(inf, 0);
	int64_t n = fb_i32(&inf->options, 0, 0);
	struct extent out = *in;
	int32_t d;

	if (in->rank != 4 || n <= 0)
		return;
	for (d = 1; d < 4; d++)
		if (in->dims[d] < 0)
			return;
	out.dims[1] = to_depth ? in->dims[1] / n : size_of(in->dims[1] * n);
	out.dims[2] = to_depth ? in->dims[2] / n : size_of(in->dims[2] * n);
	if (n > INT16_MAX)
		return;
	out.dims[3] = to_depth ? size_of(in->dims[3] * n * n) : in->dims[3] / (n * n);
	infer_set(inf, 0, &out);
}

static void one_hot(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *depth = infer_input(inf, 1);
	struct extent out = { .rank = in->rank + 1 };
	int32_t axis, d;

	if (in->rank < 0 || in->rank == TFLITE_MAX_RANK)
		return;
	axis = infer_axis(fb_i32(&inf->options, 0, 0), out.rank);
	if (axis < 0)
		return;
	for (d = 0; d < out.rank; d++)
		out.dims[d] = d != axis ? in->dims[d - (d > axis)] :
			      depth->num_values == 1 ? size_of(depth->values[0]) : -1;
	infer_set(inf, 0, &out);
}

bool infer_layout(struct inference *inf, int32_t code)
{
	switch (code) {
	case TFLITE_RESHAPE:
		reshape(inf);
		return true;
	case TFLITE_SQUEEZE:
		squeeze(inf);
		return true;
	case TFLITE_EXPAND_DIMS:
		expand_dims(inf);
		return true;
	case TFLITE_TRANSPOSE:
		transpose(inf);
		return true;
	case TFLITE_CONCATENATION:
		concatenation(inf);
		return true;
	case TFLITE_PACK:
		pack(inf);
		return true;
	case TFLITE_UNPACK:
		unpack(inf);
		return true;
	case TFLITE_SPLIT:
		split(inf);
		return true;
	case TFLITE_SPLIT_V:
		split_v(inf);
		return true;
	case TFLITE_SLICE:
		slice(inf);
		return true;
	case TFLITE_STRIDED_SLICE:
		strided_slice(inf);
		return true;
	case TFLITE_PAD: case TFLITE_PADV2: case TFLITE_MIRROR_PAD:
		pad(inf);
		return true;
	case TFLITE_TILE:
		tile(inf);
		return true;
	case TFLITE_GATHER:
		gather(inf);
		return true;
	case TFLITE_SHAPE:
		shape(inf);
		return true;
	case TFLITE_RANK:
		rank(inf);
		return true;
	case TFLITE_FILL:
		from_shape(inf, 0);
		return true;
	case TFLITE_BROADCAST_TO:
		from_shape(inf, 1);
		return true;
	case TFLITE_SCATTER_ND:
		from_shape(inf, 2);
		return true;
	case TFLITE_RANGE:
		range(inf);
		return true;
	case TFLITE_SPACE_TO_DEPTH: case TFLITE_DEPTH_TO_SPACE:
		blocks(inf, code == TFLITE_SPACE_TO_DEPTH);
		return true;
	case TFLITE_ONE_HOT:
		one_hot(inf);
		return true;
	default:
		return false;
	}
}
