// SPDX-License-Identifier: MIT
/*
 * NON_MAX_SUPPRESSION_V4 and V5 of org.nnpu.tflite.
 *
 * Inputs: 0 boxes [n, 4], 1 scores [n], then tensors of one element: 2 size of the output, 3
 * threshold of overlaps, 4 threshold of scores, V5: 5 sigma.
 * Outputs: indices [size], V5: scores [size], number of them [1]. What is behind them is 0.
 */
#include <math.h>
#include <string.h>

#include "ops/nd_copy.h"
#include "tflite_ops.h"

enum { AT_BOXES, AT_SCORES, AT_SIZE, AT_OVERLAP, AT_SCORE, AT_SIGMA };

/* A box that may be selected; it has been compared with the first @compared selected ones. */
struct candidate {
	float score;
	uint32_t index, compared;
};

struct suppression {
	const struct op_call *c;
	struct candidate *heap;		/* the best one first; scratch memory */
	size_t num_candidates, num_selected, max_selected;
	float overlap, score, scale;
	int32_t *selected;
	float *scores;			/* NULL: none wanted */
	struct op_pace pace;
};

static bool is_soft(const struct op_call *c)
{
	return c->num_inputs > AT_SIGMA;
}

int tflite_nms_check(const struct op_call *c)
{
	(void)c;
	return 0;
}

int tflite_nms_infer(const struct op_call *c)
{
	int64_t size;

	if (op_check_rank(c, AT_BOXES, 2, 2) || op_check_rank(c, AT_SCORES, 1, 1))
		return -1;
	if (c->in[AT_BOXES]->dims[1] != 4)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_BOXES);
	if (c->in[AT_BOXES]->dims[0] > INT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, AT_BOXES);
	if (c->in[AT_SCORES]->dims[0] != c->in[AT_BOXES]->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_SCORES);
	for (unsigned int i = AT_SIZE; i < c->num_inputs; i++) {
		if (tensor_elements(c->in[i]) != 1)
			return op_fail(c, NNPU_REASON_DIMENSION, i);
	}
	if (!tflite_values_known(c, AT_SIZE))
		return 1;
	size = tflite_int_at(c, AT_SIZE, 0);
	if (size < 0)
		return op_fail(c, NNPU_REASON_VALUE, AT_SIZE);
	for (unsigned int i = 0; i + 1 < c->num_outputs; i++)
		tensor_set_shape(c->out[i], 1, (uint32_t[]){ (uint32_t)size });
	tensor_set_shape(c->out[c->num_outputs - 1], 1, (uint32_t[]){ 1 });
	return 0;
}

size_t tflite_nms_scratch(const struct op_call *c)
{
	return scratch_add(0, c->in[AT_BOXES]->dims[0], sizeof(struct candidate));
}

/* The higher score comes first, of equal ones the lower index. */
static bool before(const struct candidate *a, const struct candidate *b)
{
	return a->score != b->score ? a->score > b->score : a->index < b->index;
}

static void push(struct suppression *s, struct candidate v)
{
	size_t at = s->num_candidates++;

	for (size_t up; at && before(&v, &s->heap[up = (at - 1) / 2]); at = up)
		s->heap[at] = s->heap[up];
	s->heap[at] = v;
}

static struct candidate pop(struct suppression *s)
{
	struct candidate first = s->heap[0], v = s->heap[--s->num_candidates];
	size_t at = 0, down;

	while ((down = 2 * at + 1) < s->num_candidates) {
		if (down + 1 < s->num_candidates && before(&s->heap[down + 1], &s->heap[down]))
			down++;
		if (!before(&s->heap[down], &v))
			break;
		s->heap[at] = s->heap[down];
		at = down;
	}
	s->heap[at] = v;
	return first;
}

/* Two corners of a box in any order. */
static void corners(const float *box, float *low, float *high)
{
	for (unsigned int i = 0; i < 2; i++) {
		low[i] = box[i] < box[i + 2] ? box[i] : box[i + 2];
		high[i] = box[i] < box[i + 2] ? box[i + 2] : box[i];
	}
}

/* Intersection over union. */
static float overlap_of(const float *a, const float *b)
{
	float low_a[2], high_a[2], low_b[2], high_b[2], area_a, area_b, common = 1.0f;

	corners(a, low_a, high_a);
	corners(b, low_b, high_b);
	area_a = (high_a[0] - low_a[0]) * (high_a[1] - low_a[1]);
	area_b = (high_b[0] - low_b[0]) * (high_b[1] - low_b[1]);
	if (area_a <= 0 || area_b <= 0)
		return 0.0f;
	for (unsigned int i = 0; i < 2; i++) {
		float low = low_a[i] > low_b[i] ? low_a[i] : low_b[i];
		float high = high_a[i] < high_b[i] ? high_a[i] : high_b[i];

		common *= high - low > 0.0f ? high - low : 0.0f;
	}
	return common / (area_a + area_b - common);
}

/* Compare with what has been selected since the last time. True: suppressed. */
static bool compare(struct suppression *s, struct candidate *v)
{
	const float *boxes = s->c->in[AT_BOXES]->data;

	for (size_t i = s->num_selected; i-- > v->compared;) {
		float overlap = overlap_of(boxes + 4 * (size_t)v->index,
					   boxes + 4 * (size_t)s->selected[i]);

		if (overlap >= s->overlap)
			return true;
		if (s->scale != 0.0f)
			v->score *= expf(s->scale * overlap * overlap);
		if (v->score <= s->score || op_pace(&s->pace, 32))
			break;
	}
	v->compared = (uint32_t)s->num_selected;
	return false;
}

static int run(struct suppression *s)
{
	while (s->num_selected < s->max_selected && s->num_candidates) {
		struct candidate v = pop(s);
		float score = v.score;
		bool suppressed = compare(s, &v);

		if (op_pace(&s->pace, 200))
			return OP_ABORTED;
		if (suppressed)
			continue;
		if (v.score == score) {
			s->selected[s->num_selected] = (int32_t)v.index;
			if (s->scores)
				s->scores[s->num_selected] = score;
			s->num_selected++;
		}
		/* One that was selected comes again, and meets itself. */
		if (v.score > s->score)
			push(s, v);
	}
	return 0;
}

static int read_threshold(const struct op_call *c, unsigned int i, float min, float max, float *v)
{
	memcpy(v, c->in[i]->data, sizeof(*v));
	return *v >= min && *v <= max ? 0 : op_fail(c, NNPU_REASON_VALUE, i);
}

int tflite_nms_execute(const struct op_call *c)
{
	const float *scores = c->in[AT_SCORES]->data;
	struct suppression s = {
		.c = c, .heap = c->scratch, .selected = c->out[0]->data,
		.max_selected = c->out[0]->dims[0], .pace = { .progress = c->progress },
	};
	float sigma = 0.0f;

	memcpy(&s.score, c->in[AT_SCORE]->data, sizeof(s.score));
	if (read_threshold(c, AT_OVERLAP, 0.0f, 1.0f, &s.overlap) ||
	    (is_soft(c) && read_threshold(c, AT_SIGMA, 0.0f, HUGE_VALF, &sigma)))
		return -1;
	if (is_soft(c))
		s.scores = c->out[1]->data;
	if (sigma > 0.0f)
		s.scale = (float)(-0.5 / sigma);
	for (unsigned int i = 0; i + 1 < c->num_outputs; i++) {
		if (nd_fill(&s.pace, c->out[i]->data, 1, c->out[i]->bytes, &(uint8_t){ 0 }))
			return OP_ABORTED;
	}
	for (uint32_t i = 0; i < c->in[AT_SCORES]->dims[0]; i++) {
		if (scores[i] > s.score)
			push(&s, (struct candidate){ .score = scores[i], .index = i });
		if (op_pace(&s.pace, 50))
			return OP_ABORTED;
	}
	if (s.max_selected > s.num_candidates)
		s.max_selected = s.num_candidates;
	if (run(&s))
		return OP_ABORTED;
	((int32_t *)c->out[c->num_outputs - 1]->data)[0] = (int32_t)s.num_selected;
	return 0;
}
