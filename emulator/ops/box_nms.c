// SPDX-License-Identifier: MIT
/*
 * BOX_WITH_NMS_LIMIT: non-maximum suppression of overlapping boxes.
 *
 * Inputs: 0 scores [n, classes], class 0 being the background, 1 boxes for each class
 * [n, classes * 4], 2 batch of each box, ascending in runs, 3 score threshold, 4 number
 * of results per batch (negative: any), 5 kernel that lowers scores of boxes that overlap
 * a better one (0 hard, 1 linear, 2 gaussian), 6 IoU threshold, 7 sigma of the gaussian,
 * 8 threshold for lowered scores.
 * Outputs: 0 scores, 1 boxes, 2 classes, 3 batches.
 */
#include "bbox.h"
#include "ops.h"

enum nms_kernel { NMS_HARD, NMS_LINEAR, NMS_GAUSSIAN };

struct nms {
	float least_score, overlap, sigma, least_lowered;
	int32_t limit, kernel;
	uint32_t boxes, classes;
	float *scores;			/* by box and class; they are lowered */
	uint32_t *picked;		/* box * classes + class */
	struct op_pace pace;
};

int box_nms_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT | TYPES_QUANT8) ||
	    bbox_check_type(c, 1, 0) || op_check_list(c, 2) || bbox_check_scalar(c, 3, 0) ||
	    op_check_type(c, 4, TYPE_BIT(INT32)) || op_check_type(c, 5, TYPE_BIT(INT32)))
		return -1;
	for (unsigned int i = 6; i < 9; i++) {
		if (bbox_check_scalar(c, i, 0))
			return -1;
	}
	return op_check_same_type(c, out, 0) || op_check_same_quant(c, out, 0) ||
	       bbox_check_type(c, out + 1, 0) ||
	       op_check_type(c, out + 2, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_type(c, out + 3, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_rank(c, 0, 2, 2) || op_check_rank(c, 1, 2, 2) ||
	       op_check_rank(c, out, 1, 1) || op_check_rank(c, out + 1, 2, 2) ||
	       op_check_rank(c, out + 2, 1, 1) || op_check_rank(c, out + 3, 1, 1) ? -1 : 0;
}

/* 0; 1 if an operand is not known before the job runs; -1 with error. */
static int read_operands(const struct op_call *c, struct nms *n)
{
	*n = (struct nms){ 0 };
	if (op_check_rank(c, 0, 2, 2) || op_check_rank(c, 1, 2, 2) || op_check_rank(c, 2, 1, 1))
		return -1;
	n->boxes = c->in[0]->dims[0];
	n->classes = c->in[0]->dims[1];
	if (c->in[1]->dims[0] != n->boxes || c->in[1]->dims[1] != (uint64_t)n->classes * 4)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[2]->dims[0] != n->boxes)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	/* Picked boxes are numbered in 32 bits. */
	if ((uint64_t)n->boxes * n->classes > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	if (op_get_f32(c, 3, &n->least_score) || op_get_i32(c, 4, &n->limit) ||
	    op_get_i32(c, 5, &n->kernel) || op_get_f32(c, 6, &n->overlap) ||
	    op_get_f32(c, 7, &n->sigma) || op_get_f32(c, 8, &n->least_lowered))
		return 1;
	if (n->kernel < NMS_HARD || n->kernel > NMS_GAUSSIAN)
		return op_fail(c, NNPU_REASON_VALUE, 5);
	for (unsigned int i = 0; i < 3; i++) {
		if (!tensor_data_known(c->in[i]))
			return 1;
	}
	return 0;
}

/* The factor by which a better box that overlaps this much lowers a score. */
static float lower(const struct nms *n, float overlap)
{
	switch (n->kernel) {
	case NMS_HARD:
		return overlap < n->overlap ? 1.0f : 0.0f;
	case NMS_LINEAR:
		return overlap < n->overlap ? 1.0f : 1.0f - overlap;
	default:
		return real_exp(-overlap * overlap / n->sigma);
	}
}

/*
 * Sort @count picked boxes of a class by score. Each box lowers the scores of those behind
 * it; boxes below the threshold are dropped. Returns how many are left, or -1 for an
 * abort.
 */
static int64_t suppress(const struct op_call *c, struct nms *n, uint32_t *picked, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t best = i, swap;
		struct bbox b;

		for (uint32_t j = i + 1; j < count; j++) {
			if (n->scores[picked[j]] > n->scores[picked[best]])
				best = j;
			if (op_pace_row(&n->pace, j, 4))
				return -1;
		}
		swap = picked[i];
		picked[i] = picked[best];
		picked[best] = swap;
		b = bbox_at(c->in[1], picked[i]);
		for (uint32_t j = i + 1; j < count;) {
			float *score = &n->scores[picked[j]];

			*score *= lower(n, bbox_overlap(b, bbox_at(c->in[1], picked[j])));
			if (*score < n->least_lowered)
				picked[j] = picked[--count];
			else
				j++;
			if (op_pace(&n->pace, 64))
				return -1;
		}
	}
	return count;
}

/* Does picked box @a come behind @b, when those with the best scores are kept? */
static bool behind(const struct nms *n, uint32_t a, uint32_t b)
{
	float x = n->scores[a], y = n->scores[b];

	return x < y || (x == y && a > b);
}

/* Keep the @limit best of @count boxes, in their present order. */
static bool keep_best(struct nms *n, uint32_t *picked, uint32_t count, uint32_t limit)
{
	/* Drop the worst one until @limit are left. */
	for (; count > limit; count--) {
		uint32_t worst = 0;

		for (uint32_t i = 1; i < count; i++) {
			if (behind(n, picked[i], picked[worst]))
				worst = i;
			if (op_pace_row(&n->pace, i, 4))
				return false;
		}
		for (uint32_t i = worst; i + 1 < count && !op_pace_row(&n->pace, i, 1); i++)
			picked[i] = picked[i + 1];
		if (op_pace(&n->pace, count % OP_PACE_RUN * 4 + 16))
			return false;
	}
	return true;
}

/* Pick boxes of the batch [first, end). Returns how many, or -1 for an abort. */
static int64_t pick_batch(const struct op_call *c, struct nms *n, uint32_t first, uint32_t end,
			  uint32_t *picked)
{
	uint32_t total = 0;

	for (uint32_t k = 1; k < n->classes; k++) {
		uint32_t count = 0;
		int64_t left;

		for (uint32_t i = first; i < end; i++) {
			uint32_t at = i * n->classes + k;

			if (n->scores[at] > n->least_score)
				picked[total + count++] = at;
			if (op_pace_row(&n->pace, i - first, 8))
				return -1;
		}
		left = suppress(c, n, picked + total, count);
		if (left < 0 || op_pace(&n->pace, (end - first) % OP_PACE_RUN * 8 + 16))
			return -1;
		total += (uint32_t)left;
	}
	if (n->limit >= 0 && total > (uint32_t)n->limit) {
		if (!keep_best(n, picked, total, (uint32_t)n->limit))
			return -1;
		total = (uint32_t)n->limit;
	}
	return total;
}

/* Pick boxes of all batches. Returns how many, or -1 for an abort. */
static int64_t pick(const struct op_call *c, struct nms *n)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < n->boxes * n->classes; i++) {
		n->scores[i] = real_at(c->in[0], i);
		if (op_pace_row(&n->pace, i, 8))
			return -1;
	}
	for (uint32_t first = 0, end; first < n->boxes; first = end) {
		int64_t count;

		for (end = first + 1; end < n->boxes; end++) {
			if (op_list_at(c, 2, end) != op_list_at(c, 2, first))
				break;
			if (op_pace_row(&n->pace, end, 4))
				return -1;
		}
		if (op_pace(&n->pace, (end - first) % OP_PACE_RUN * 4 + 16))
			return -1;
		count = pick_batch(c, n, first, end, n->picked + total);
		if (count < 0)
			return -1;
		total += (uint32_t)count;
	}
	return total;
}

int box_nms_infer(const struct op_call *c)
{
	int64_t count = 0;
	struct nms n;
	size_t cells, bytes;
	int ret = read_operands(c, &n);

	if (ret)
		return ret;
	if (c->loading)
		return 1;
	cells = (size_t)n.boxes * n.classes;
	if (cells) {
		bytes = cells * (sizeof(*n.scores) + sizeof(*n.picked));
		n.scores = op_take(c->progress, bytes, NULL);
		if (!n.scores)
			return OP_NO_MEMORY;
		n.picked = (uint32_t *)(n.scores + cells);
		n.pace.progress = c->progress;
		count = pick(c, &n);
		op_give(c->progress, n.scores, bytes);
	}
	/* After an abort execute() is not called. */
	count = count < 0 ? 0 : count;
	tensor_set_shape(c->out[0], 1, (uint32_t[]){ (uint32_t)count });
	tensor_set_shape(c->out[1], 2, (uint32_t[]){ (uint32_t)count, 4 });
	tensor_set_shape(c->out[2], 1, (uint32_t[]){ (uint32_t)count });
	tensor_set_shape(c->out[3], 1, (uint32_t[]){ (uint32_t)count });
	return 0;
}

size_t box_nms_scratch(const struct op_call *c)
{
	return scratch_add(0, tensor_elements(c->in[0]), sizeof(float) + sizeof(uint32_t));
}

int box_nms_execute(const struct op_call *c)
{
	size_t cells;
	int64_t count;
	struct nms n;

	if (read_operands(c, &n))
		return -1;
	cells = (size_t)n.boxes * n.classes;
	n.scores = c->scratch;
	n.picked = (uint32_t *)(n.scores + cells);
	n.pace.progress = c->progress;
	count = cells ? pick(c, &n) : 0;
	if (count < 0 || (uint64_t)count != c->out[0]->dims[0])
		return OP_ABORTED;
	for (uint32_t i = 0; i < (uint32_t)count; i++) {
		uint32_t box = n.picked[i] / n.classes;

		real_put(c->out[0], i, n.scores[n.picked[i]]);
		bbox_put(c->out[1], i, bbox_at(c->in[1], n.picked[i]));
		((int32_t *)c->out[2]->data)[i] = (int32_t)(n.picked[i] % n.classes);
		((int32_t *)c->out[3]->data)[i] = op_list_at(c, 2, box);
		if (op_pace(&n.pace, 64))
			return OP_ABORTED;
	}
	return 0;
}
