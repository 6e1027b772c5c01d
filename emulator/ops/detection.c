// SPDX-License-Identifier: MIT
/*
 * DETECTION_POSTPROCESSING: decode boxes relative to anchors and keep the best ones.
 *
 * Inputs: 0 scores [batches, anchors, classes], class 0 being the background, 1 boxes
 * [batches, anchors, 4 or more] as y, x, height, width, 2 anchors [anchors, 4] of that
 * form, 3 to 6 scales of y, x, height and width, 7 regular (by class) or fast, 8 number of
 * boxes per batch, 9 classes per box (fast), 10 boxes per class (regular), 11 score threshold,
 * 12 IoU threshold, 13 whether labels count the background.
 * Outputs: 0 scores [batches, boxes], 1 boxes [batches, boxes, 4] as y1, x1, y2, x2,
 * 2 labels, 3 number of boxes of each batch. Unused elements are 0.
 */
#include "bbox.h"
#include "nd_copy.h"
#include "ops.h"

struct detection {
	uint32_t batches, anchors, classes, encoding;
	float scale[4], least_score, overlap;
	bool regular, with_background;
	int32_t boxes, classes_per_box, boxes_per_class;
	/* Scratch: boxes by anchor, scores by anchor and class, picked anchors. */
	struct bbox *decoded;
	float *scores, *best;
	uint32_t *picked, *candidates;
	struct op_pace pace;
};

int detection_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT) ||
	    op_check_same_type(c, 1, 0) || op_check_same_type(c, 2, 0))
		return -1;
	for (unsigned int i = 3; i < 14; i++) {
		bool flag = i == 7 || i == 13, number = i >= 8 && i <= 10;

		if (flag ? op_check_type(c, i, TYPE_BIT(BOOL)) :
		    number ? op_check_type(c, i, TYPE_BIT(INT32)) :
			     op_check_float_scalar(c, i))
			return -1;
	}
	return op_check_same_type(c, out, 0) || op_check_same_type(c, out + 1, 0) ||
	       op_check_type(c, out + 2, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_type(c, out + 3, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_rank(c, 0, 3, 3) || op_check_rank(c, 1, 3, 3) ||
	       op_check_rank(c, 2, 2, 2) || op_check_rank(c, out, 2, 2) ||
	       op_check_rank(c, out + 1, 3, 3) || op_check_rank(c, out + 2, 2, 2) ||
	       op_check_rank(c, out + 3, 1, 1) ? -1 : 0;
}

static int read_scalars(const struct op_call *c, struct detection *d)
{
	int32_t *numbers[] = { &d->boxes, &d->classes_per_box, &d->boxes_per_class };

	for (unsigned int i = 0; i < 4; i++) {
		if (op_get_f32(c, 3 + i, &d->scale[i]))
			return 1;
		if (!(d->scale[i] > 0 && isfinite(d->scale[i])))
			return op_fail(c, NNPU_REASON_VALUE, 3 + i);
	}
	for (unsigned int i = 0; i < 3; i++) {
		bool used = i == 0 || (i == 1) != d->regular;

		if (op_get_i32(c, 8 + i, numbers[i]))
			return 1;
		if (used && *numbers[i] < 1)
			return op_fail(c, NNPU_REASON_VALUE, 8 + i);
	}
	return op_get_f32(c, 11, &d->least_score) || op_get_f32(c, 12, &d->overlap) ||
	       op_get_bool(c, 13, &d->with_background) ? 1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int read_operands(const struct op_call *c, struct detection *d)
{
	*d = (struct detection){ 0 };
	if (op_check_rank(c, 0, 3, 3) || op_check_rank(c, 1, 3, 3) || op_check_rank(c, 2, 2, 2))
		return -1;
	d->batches = c->in[0]->dims[0];
	d->anchors = c->in[0]->dims[1];
	d->classes = c->in[0]->dims[2];
	d->encoding = c->in[1]->dims[2];
	if (d->classes == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (c->in[1]->dims[0] != d->batches || c->in[1]->dims[1] != d->anchors)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (d->encoding < 4)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (c->in[2]->dims[0] != d->anchors || c->in[2]->dims[1] != 4)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if ((uint64_t)d->anchors * d->classes > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	if (op_get_bool(c, 7, &d->regular))
		return 1;
	return read_scalars(c, d);
}

int detection_infer(const struct op_call *c)
{
	struct detection d;
	uint32_t boxes;
	int ret = read_operands(c, &d);

	if (ret)
		return ret;
	boxes = (uint32_t)d.boxes;
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ d.batches, boxes });
	tensor_set_shape(c->out[1], 3, (uint32_t[]){ d.batches, boxes, 4 });
	tensor_set_shape(c->out[2], 2, (uint32_t[]){ d.batches, boxes });
	tensor_set_shape(c->out[3], 1, &d.batches);
	return 0;
}

size_t detection_scratch(const struct op_call *c)
{
	size_t anchors = c->in[0]->dims[1], cells = tensor_elements_of(c->in[0], 1, 3);
	size_t total = scratch_add(0, anchors, sizeof(struct bbox));

	total = scratch_add(total, cells, sizeof(float));
	total = scratch_add(total, anchors, sizeof(float));
	total = scratch_add(total, cells, sizeof(uint32_t));
	return scratch_add(total, anchors, sizeof(uint32_t));
}

static void take_work(const struct op_call *c, struct detection *d)
{
	struct op_call own = *c;
	size_t cells = (size_t)d->anchors * d->classes;

	d->decoded = scratch_take(&own, d->anchors * sizeof(struct bbox));
	d->scores = scratch_take(&own, cells * sizeof(float));
	d->best = scratch_take(&own, d->anchors * sizeof(float));
	d->picked = scratch_take(&own, cells * sizeof(uint32_t));
	d->candidates = scratch_take(&own, d->anchors * sizeof(uint32_t));
}

/* Decode boxes and scores of batch @n. */
static bool decode(const struct op_call *c, struct detection *d, uint32_t n)
{
	for (uint32_t i = 0; i < d->anchors; i++) {
		size_t at = ((size_t)n * d->anchors + i) * d->encoding;
		float v[4], a[4], y, x, h, w;

		for (unsigned int j = 0; j < 4; j++) {
			v[j] = real_at(c->in[1], at + j) / d->scale[j];
			a[j] = real_at(c->in[2], 4 * (size_t)i + j);
		}
		y = v[0] * a[2] + a[0];
		x = v[1] * a[3] + a[1];
		h = real_exp(v[2]) * a[2] / 2;
		w = real_exp(v[3]) * a[3] / 2;
		d->decoded[i] = (struct bbox){ x - w, y - h, x + w, y + h };
		at = (size_t)i * d->classes;
		for (uint32_t k = 0; k < d->classes && !op_pace_row(&d->pace, k, 4); k++)
			d->scores[at + k] = real_at(c->in[0],
						    (size_t)n * d->anchors * d->classes + at + k);
		if (op_pace(&d->pace, d->classes % OP_PACE_RUN * 4 + 100))
			return false;
	}
	return true;
}

/* Write result @at of batch @n: class @k of anchor @i. */
static void put(const struct op_call *c, const struct detection *d, uint32_t n, uint32_t at,
		uint32_t i, uint32_t k)
{
	size_t out = (size_t)n * (uint32_t)d->boxes + at;
	struct bbox b = d->decoded[i];

	real_put(c->out[0], out, d->scores[(size_t)i * d->classes + k]);
	/* Outputs have y first. */
	bbox_put(c->out[1], out, (struct bbox){ b.y1, b.x1, b.y2, b.x2 });
	((int32_t *)c->out[2]->data)[out] = (int32_t)(d->with_background ? k : k - 1);
}

/* Pick anchors by their score in d->best, without those that overlap a better one. */
static int64_t pick(struct detection *d, uint32_t limit)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->anchors; i++) {
		if (d->best[i] > d->least_score)
			d->candidates[count++] = i;
		if (op_pace_row(&d->pace, i, 2))
			return -1;
	}
	return bbox_pick(&d->pace, d->decoded, d->best, d->candidates, count, d->overlap, limit);
}

/* Regular mode: non-maximum suppression by class, then the best of all. */
static int64_t detect_regular(const struct op_call *c, struct detection *d, uint32_t n)
{
	uint32_t total = 0;

	for (uint32_t k = 1; k < d->classes; k++) {
		int64_t count;

		for (uint32_t i = 0; i < d->anchors && !op_pace_row(&d->pace, i, 8); i++)
			d->best[i] = d->scores[(size_t)i * d->classes + k];
		count = pick(d, (uint32_t)d->boxes_per_class);
		if (count < 0 || op_pace(&d->pace, d->anchors % OP_PACE_RUN * 10 + 16))
			return -1;
		for (uint32_t i = 0; i < (uint32_t)count && !op_pace_row(&d->pace, i, 4); i++)
			d->picked[total++] = d->candidates[i] * d->classes + k;
	}
	if (!bbox_sort(&d->pace, d->scores, d->picked, total, (uint32_t)d->boxes))
		return -1;
	if (total > (uint32_t)d->boxes)
		total = (uint32_t)d->boxes;
	for (uint32_t i = 0; i < total; i++) {
		put(c, d, n, i, d->picked[i] / d->classes, d->picked[i] % d->classes);
		if (op_pace(&d->pace, 32))
			return -1;
	}
	return total;
}

/* Fast mode: the best classes of each anchor; its best score decides about overlaps. */
static int64_t detect_fast(const struct op_call *c, struct detection *d, uint32_t n)
{
	uint32_t per_box = d->classes - 1, total = 0;
	int64_t count;

	if (per_box > (uint32_t)d->classes_per_box)
		per_box = (uint32_t)d->classes_per_box;
	if (per_box == 0)
		return 0;
	for (uint32_t i = 0; i < d->anchors; i++) {
		const float *scores = d->scores + (size_t)i * d->classes;

		d->best[i] = scores[1];
		for (uint32_t k = 2; k < d->classes && !op_pace_row(&d->pace, k, 2); k++)
			d->best[i] = scores[k] > d->best[i] ? scores[k] : d->best[i];
		if (op_pace(&d->pace, d->classes % OP_PACE_RUN * 2 + 16))
			return -1;
	}
	count = pick(d, (uint32_t)d->boxes);
	if (count < 0)
		return -1;
	for (uint32_t i = 0; i < (uint32_t)count; i++) {
		uint32_t anchor = d->candidates[i];

		for (uint32_t k = 1; k < d->classes; k++) {
			d->picked[k - 1] = anchor * d->classes + k;
			if (op_pace_row(&d->pace, k, 2))
				return -1;
		}
		if (op_pace(&d->pace, d->classes % OP_PACE_RUN * 2 + 16) ||
		    !bbox_sort(&d->pace, d->scores, d->picked, d->classes - 1, per_box))
			return -1;
		for (uint32_t k = 0; k < per_box && total < (uint32_t)d->boxes; k++) {
			put(c, d, n, total++, anchor, d->picked[k] % d->classes);
			if (op_pace(&d->pace, 32))
				return -1;
		}
	}
	return total;
}

int detection_execute(const struct op_call *c)
{
	struct detection d;
	uint8_t zero = 0;

	if (read_operands(c, &d))
		return -1;
	take_work(c, &d);
	d.pace.progress = c->progress;
	for (unsigned int i = 0; i < 3; i++) {
		if (nd_fill(&d.pace, c->out[i]->data, 1, c->out[i]->bytes, &zero))
			return OP_ABORTED;
	}
	for (uint32_t n = 0; n < d.batches; n++) {
		int64_t count = decode(c, &d, n) ? 0 : -1;

		if (!count)
			count = d.regular ? detect_regular(c, &d, n) : detect_fast(c, &d, n);
		if (count < 0)
			return OP_ABORTED;
		((int32_t *)c->out[3]->data)[n] = (int32_t)count;
		/* There may be no anchors. */
		if (op_pace(&d.pace, 64))
			return OP_ABORTED;
	}
	return 0;
}
