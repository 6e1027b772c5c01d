// SPDX-License-Identifier: MIT
/*
 * Boxes of object detection, and AXIS_ALIGNED_BBOX_TRANSFORM.
 *
 * Inputs: 0 boxes [n, 4] as x1, y1, x2, y2, 1 changes for each class [n, classes * 4],
 * 2 batch of each box, 3 size of the image of each batch [batches, 2], height first.
 */
#include "bbox.h"
#include "ops.h"

struct bbox bbox_at(const struct tensor *t, size_t i)
{
	return (struct bbox){ real_at(t, 4 * i), real_at(t, 4 * i + 1), real_at(t, 4 * i + 2),
			      real_at(t, 4 * i + 3) };
}

void bbox_put(const struct tensor *t, size_t i, struct bbox b)
{
	real_put(t, 4 * i, b.x1);
	real_put(t, 4 * i + 1, b.y1);
	real_put(t, 4 * i + 2, b.x2);
	real_put(t, 4 * i + 3, b.y2);
}

static float clip(float v, float max)
{
	return fminf(fmaxf(v, 0.0f), max);
}

struct bbox bbox_transform(struct bbox b, const float *d, float height, float width)
{
	float w = b.x2 - b.x1, h = b.y2 - b.y1;
	float x = (b.x1 + b.x2) / 2 + d[0] * w, y = (b.y1 + b.y2) / 2 + d[1] * h;

	w *= real_exp(d[2]);
	h *= real_exp(d[3]);
	return (struct bbox){ clip(x - w / 2, width), clip(y - h / 2, height),
			      clip(x + w / 2, width), clip(y + h / 2, height) };
}

static float area(struct bbox b)
{
	return (b.x2 - b.x1) * (b.y2 - b.y1);
}

float bbox_overlap(struct bbox a, struct bbox b)
{
	float w = fmaxf(fminf(a.x2, b.x2) - fmaxf(a.x1, b.x1), 0.0f);
	float h = fmaxf(fminf(a.y2, b.y2) - fmaxf(a.y1, b.y1), 0.0f);
	float both = w * h, either = area(a) + area(b) - both;

	return either > 0.0f ? both / either : 0.0f;
}

/* Does index @a come after @b in the order of scores? */
static bool behind(const float *scores, uint32_t a, uint32_t b)
{
	return scores[a] < scores[b] || (!(scores[a] > scores[b]) && a > b);
}

/* Sift the element at @i down in a heap whose top is the last in order. */
static void sift(const float *scores, uint32_t *heap, uint32_t n, uint32_t i)
{
	for (;;) {
		uint64_t child = 2 * (uint64_t)i + 1;
		uint32_t moved = heap[i];

		if (child >= n)
			return;
		if (child + 1 < n && behind(scores, heap[child + 1], heap[child]))
			child++;
		if (!behind(scores, heap[child], moved))
			return;
		heap[i] = heap[child];
		heap[child] = moved;
		i = (uint32_t)child;
	}
}

bool bbox_sort(struct op_pace *pace, const float *scores, uint32_t *picked, uint32_t count,
	       uint32_t limit)
{
	uint32_t kept = count < limit ? count : limit;

	for (uint32_t i = kept / 2; i-- > 0;) {
		sift(scores, picked, kept, i);
		if (op_pace(pace, 64))
			return false;
	}
	for (uint32_t i = kept; kept && i < count; i++) {
		if (behind(scores, picked[0], picked[i])) {
			uint32_t swap = picked[0];

			picked[0] = picked[i];
			picked[i] = swap;
			sift(scores, picked, kept, 0);
		}
		if (op_pace(pace, 64))
			return false;
	}
	for (uint32_t n = kept; n > 1; n--) {
		uint32_t last = picked[0];

		picked[0] = picked[n - 1];
		picked[n - 1] = last;
		sift(scores, picked, n - 1, 0);
		if (op_pace(pace, 256))
			return false;
	}
	return true;
}

int64_t bbox_pick(struct op_pace *pace, const struct bbox *boxes, const float *scores,
		  uint32_t *picked, uint32_t count, float overlap, uint32_t limit)
{
	uint32_t kept = 0;

	if (!bbox_sort(pace, scores, picked, count, count))
		return -1;
	for (uint32_t i = 0; i < count && kept < limit; i++) {
		bool good = true;

		for (uint32_t j = 0; good && j < kept; j++) {
			good = bbox_overlap(boxes[picked[i]], boxes[picked[j]]) < overlap;
			if (op_pace(pace, 16))
				return -1;
		}
		if (good)
			picked[kept++] = picked[i];
	}
	return kept;
}

int bbox_check_type(const struct op_call *c, unsigned int i, unsigned int values)
{
	enum nnpu_type type = c->in[values]->type;
	struct tensor *t = op_operand(c, i);

	if (!type_is_quant8(type))
		return op_check_type(c, i, type_bit(type));
	if (op_check_type(c, i, TYPE_BIT(TENSOR_QUANT16_ASYMM)))
		return -1;
	if (t->scale != BBOX_SCALE)
		return op_fail(c, NNPU_REASON_SCALE, i);
	return t->zero_point ? op_fail(c, NNPU_REASON_ZERO_POINT, i) : 0;
}

int bbox_check_scalar(const struct op_call *c, unsigned int i, unsigned int values)
{
	bool half = c->in[values]->type == NNPU_TYPE_TENSOR_FLOAT16;

	return op_check_type(c, i, half ? TYPE_BIT(FLOAT16) : TYPE_BIT(FLOAT32));
}

int bbox_transform_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	return op_check_operands(c) || op_check_type(c, 1, TYPES_FLOAT | TYPES_QUANT8) ||
	       bbox_check_type(c, 0, 1) || bbox_check_type(c, 3, 1) ||
	       bbox_check_type(c, out, 1) || op_check_list(c, 2) ||
	       op_check_rank(c, 0, 2, 2) || op_check_rank(c, 1, 2, 2) ||
	       op_check_rank(c, 3, 2, 2) || op_check_rank(c, out, 2, 2) ? -1 : 0;
}

int bbox_transform_infer(const struct op_call *c)
{
	const struct tensor *boxes = c->in[0], *changes = c->in[1], *images = c->in[3];

	if (op_check_rank(c, 0, 2, 2) || op_check_rank(c, 1, 2, 2) ||
	    op_check_rank(c, 2, 1, 1) || op_check_rank(c, 3, 2, 2))
		return -1;
	if (boxes->dims[1] != 4)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (changes->dims[1] % 4)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (changes->dims[0] != boxes->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[2]->dims[0] != boxes->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (images->dims[1] != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 3);
	tensor_set_shape(c->out[0], 2, changes->dims);
	return 0;
}

int bbox_transform_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	uint32_t classes = c->in[1]->dims[1] / 4;

	for (uint32_t i = 0; i < c->in[0]->dims[0]; i++) {
		struct bbox b = bbox_at(c->in[0], i);
		int32_t batch = op_list_at(c, 2, i);
		float height, width;

		if (batch < 0 || (uint32_t)batch >= c->in[3]->dims[0])
			return op_fail(c, NNPU_REASON_VALUE, 2);
		if (!(b.x1 <= b.x2 && b.y1 <= b.y2))
			return op_fail(c, NNPU_REASON_VALUE, 0);
		if (op_pace(&pace, 32))
			return OP_ABORTED;
		height = real_at(c->in[3], 2 * (size_t)batch);
		width = real_at(c->in[3], 2 * (size_t)batch + 1);
		for (uint32_t k = 0; k < classes; k++) {
			size_t at = (size_t)i * classes + k;
			float d[4];

			for (unsigned int j = 0; j < 4; j++)
				d[j] = real_at(c->in[1], at * 4 + j);
			bbox_put(c->out[0], at, bbox_transform(b, d, height, width));
			if (op_pace(&pace, 100))
				return OP_ABORTED;
		}
	}
	return 0;
}
