// SPDX-License-Identifier: MIT
/*
 * Operations on boxes: what they compute stays within what follows from the classes of the steps of
 * their formulas, and they decide as the exact values do where those are not too near to the limit
 * (Documentation/operations/arithmetic.rst, classes composed and decision).
 */
#include "composed.h"

#include <string.h>

#define I32	NNPU_TYPE_TENSOR_INT32

struct box {
	struct exact x1, y1, x2, y2;
};

/* A decision is near to its limit: either one conforms, and these operands tell nothing. */
static bool near;

static bool is_above(struct exact a, struct exact b)
{
	/* Values that are given may be equal. */
	if (fabsl(a.v - b.v) <= a.bound + b.bound && a.bound + b.bound > 0)
		near = true;
	return a.v > b.v;
}

static struct exact larger(struct exact a, struct exact b)
{
	return a.v > b.v ? (struct exact){ a.v, fmaxl(a.bound, b.bound) } :
			   (struct exact){ b.v, fmaxl(a.bound, b.bound) };
}

static struct exact smaller(struct exact a, struct exact b)
{
	return a.v < b.v ? (struct exact){ a.v, fmaxl(a.bound, b.bound) } :
			   (struct exact){ b.v, fmaxl(a.bound, b.bound) };
}

static struct box box_of(const float *b)
{
	return (struct box){ given(b[0]), given(b[1]), given(b[2]), given(b[3]) };
}

static void put_box(struct exact *e, struct box b)
{
	memcpy(e, &b, sizeof(b));
}

static struct exact area(struct box b)
{
	return times(minus(b.x2, b.x1), minus(b.y2, b.y1));
}

static struct exact overlap(struct box a, struct box b)
{
	struct exact w = larger(minus(smaller(a.x2, b.x2), larger(a.x1, b.x1)), given(0));
	struct exact h = larger(minus(smaller(a.y2, b.y2), larger(a.y1, b.y1)), given(0));
	struct exact both = times(w, h);

	return over(both, minus(plus(area(a), area(b)), both));
}

/* A box with center and size changed, within the image. */
static struct box changed(struct box b, const float *d, float height, float width)
{
	struct exact w = minus(b.x2, b.x1), h = minus(b.y2, b.y1), two = given(2);
	struct exact x = plus(over(plus(b.x1, b.x2), two), times(given(d[0]), w));
	struct exact y = plus(over(plus(b.y1, b.y2), two), times(given(d[1]), h));

	w = over(times(w, function(expl, given(d[2]))), two);
	h = over(times(h, function(expl, given(d[3]))), two);
	return (struct box){
		limited(minus(x, w), 0, width), limited(minus(y, h), 0, height),
		limited(plus(x, w), 0, width), limited(plus(y, h), 0, height),
	};
}

static const void *output(const struct fixture *f, unsigned int i)
{
	return f->graph.tensors[f->num_inputs + i].data;
}

static size_t elements(const struct fixture *f, unsigned int i)
{
	return f->graph.tensors[f->num_inputs + i].bytes / 4;
}

static void random_box(float *b, float place, float size)
{
	b[0] = between(0, place);
	b[1] = between(0, place);
	b[2] = b[0] + between(size / 2, size);
	b[3] = b[1] + between(size / 2, size);
}

/* AXIS_ALIGNED_BBOX_TRANSFORM. */

static void test_transform(void)
{
	enum { BOXES = 200, CLASSES = 3, CHANGES = CLASSES * 4 };
	static const float image[] = { 300, 500 };
	float boxes[BOXES * 4], *d = numbers(BOXES * CHANGES, -1, 1);
	struct exact *e = exacts(BOXES * CHANGES);
	static const int32_t batches[BOXES];
	struct fixture f;
	unsigned int i, k;

	for (i = 0; i < BOXES; i++) {
		random_box(boxes + i * 4, 250, 100);
		for (k = 0; k < CLASSES; k++)
			put_box(e + (i * CLASSES + k) * 4,
				changed(box_of(boxes + i * 4), d + i * CHANGES + k * 4, image[0],
					image[1]));
	}
	fixture_init(&f, NNPU_OP_AXIS_ALIGNED_BBOX_TRANSFORM);
	fixture_input(&f, F32, 0, 0, DIMS(BOXES, 4), boxes);
	fixture_input(&f, F32, 0, 0, DIMS(BOXES, CHANGES), d);
	fixture_input(&f, I32, 0, 0, DIMS(BOXES), batches);
	fixture_input(&f, F32, 0, 0, DIMS(1, 2), image);
	fixture_output(&f, F32, 0, 0);
	model("AXIS_ALIGNED_BBOX_TRANSFORM", &f, e, BOXES * CHANGES);
	free(d);
	free(e);
}

/* BOX_WITH_NMS_LIMIT. */

enum { HARD, LINEAR, GAUSSIAN };

#define NMS_BOXES	40u
#define NMS_OVERLAP	0.3f
#define NMS_SIGMA	0.5f
#define NMS_LEAST	0.2f
#define NMS_LIMIT	15u

struct scored {
	uint32_t box;
	struct exact score;
};

static struct exact gaussian(struct exact o)
{
	struct exact square = times(o, o), power_of;

	power_of = over((struct exact){ -square.v, square.bound }, given(NMS_SIGMA));
	return function(expl, power_of);
}

/* What a better box leaves of a score. */
static struct exact lowered(unsigned int kernel, struct exact score, struct exact o)
{
	if (kernel == GAUSSIAN)
		return times(score, gaussian(o));
	if (!is_above(given(NMS_OVERLAP), o))
		return kernel == HARD ? given(0) : times(score, minus(given(1), o));
	return score;
}

/* Returns how many stay, in order. */
static uint32_t suppress(unsigned int kernel, const float *boxes, struct scored *s, uint32_t n)
{
	uint32_t i, k, best;

	for (i = 0; i < n; i++) {
		struct scored swap = s[i];

		for (best = i, k = i + 1; k < n; k++)
			if (is_above(s[k].score, s[best].score))
				best = k;
		s[i] = s[best];
		s[best] = swap;
		for (k = i + 1; k < n;) {
			struct exact o = overlap(box_of(boxes + s[i].box * 4),
						 box_of(boxes + s[k].box * 4));

			s[k].score = lowered(kernel, s[k].score, o);
			if (is_above(given(NMS_LEAST), s[k].score))
				s[k] = s[--n];
			else
				k++;
		}
	}
	return n;
}

/* The best of one class, in the order in which they were taken. */
static uint32_t keep(struct scored *s, uint32_t n)
{
	uint32_t i, worst;

	for (; n > NMS_LIMIT; n--) {
		for (worst = 0, i = 1; i < n; i++)
			if (is_above(s[worst].score, s[i].score))
				worst = i;
		memmove(s + worst, s + worst + 1, (n - worst - 1) * sizeof(*s));
	}
	return n;
}

static void run_nms(struct fixture *f, unsigned int kernel, const float *scores, const float *boxes)
{
	static const int32_t batches[NMS_BOXES];
	float both[NMS_BOXES * 8] = { 0 }, classes[NMS_BOXES * 2] = { 0 };
	uint32_t i;

	for (i = 0; i < NMS_BOXES; i++) {
		memcpy(both + i * 8 + 4, boxes + i * 4, 16);
		classes[i * 2 + 1] = scores[i];
	}
	fixture_init(f, NNPU_OP_BOX_WITH_NMS_LIMIT);
	fixture_input(f, F32, 0, 0, DIMS(NMS_BOXES, 2), classes);
	fixture_input(f, F32, 0, 0, DIMS(NMS_BOXES, 8), both);
	fixture_input(f, I32, 0, 0, DIMS(NMS_BOXES), batches);
	fixture_f32(f, 0.1f);
	fixture_i32(f, NMS_LIMIT);
	fixture_i32(f, (int32_t)kernel);
	fixture_f32(f, NMS_OVERLAP);
	fixture_f32(f, NMS_SIGMA);
	fixture_f32(f, NMS_LEAST);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, I32, 0, 0);
	fixture_output(f, I32, 0, 0);
}

static void test_nms(unsigned int kernel, const char *name)
{
	struct scored s[NMS_BOXES];
	struct exact e[NMS_BOXES];
	float *scores, boxes[NMS_BOXES * 4];
	uint32_t i, n, left, wrong = 0;
	struct fixture f;

	do {
		near = false;
		scores = numbers(NMS_BOXES, 0, 1);
		for (n = 0, i = 0; i < NMS_BOXES; i++) {
			random_box(boxes + i * 4, 60, 30);
			if (scores[i] > 0.1f)
				s[n++] = (struct scored){ i, given(scores[i]) };
		}
		left = suppress(kernel, boxes, s, n);
		n = keep(s, left);
		if (near)
			free(scores);
	} while (near);
	run_nms(&f, kernel, scores, boxes);
	for (i = 0; i < n; i++)
		e[i] = s[i].score;
	if (result(&f)) {
		ok(elements(&f, 0) == n && n > 3 && left < NMS_BOXES,
		   "BOX_WITH_NMS_LIMIT, %s: %zu of %u boxes", name, elements(&f, 0), NMS_BOXES);
		for (i = 0; elements(&f, 0) == n && i < n; i++)
			wrong += memcmp((const float *)output(&f, 1) + i * 4, boxes + s[i].box * 4, 16) != 0;
		ok(!wrong, "... these, in this order: %u others", wrong);
		if (elements(&f, 0) == n)
			within("... their scores", output(&f, 0), e, n);
	}
	fixture_end(&f);
	free(scores);
}

/* Indexes of @n given scores, the best first. */
static void sort(const float *scores, uint32_t *order, uint32_t n)
{
	uint32_t i, k, swap;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			if (scores[order[k]] > scores[order[i]]) {
				swap = order[i];
				order[i] = order[k];
				order[k] = swap;
			}
}

/* Drop boxes that overlap a better one by the threshold. Returns how many stay. */
static uint32_t pick(const struct box *boxes, uint32_t *order, uint32_t n, float threshold,
		     uint32_t limit)
{
	uint32_t i, k, kept = 0;

	for (i = 0; i < n && kept < limit; i++) {
		for (k = 0; k < kept; k++)
			if (!is_above(given(threshold), overlap(boxes[order[i]], boxes[order[k]])))
				break;
		if (k == kept)
			order[kept++] = order[i];
	}
	return kept;
}

/* GENERATE_PROPOSALS. */

static void test_proposals(void)
{
	enum { SIDE = 6, ANCHORS = 3, CELLS = SIDE * SIDE * ANCHORS, LOOKED_AT = 80, LIMIT = 30 };
	static const float anchors[ANCHORS * 4] = { -8, -8, 24, 24, -4, -16, 12, 32, 0, 0, 9, 9 };
	static const float image[] = { 90, 100 }, stride = 15.3f, least = 8, threshold = 0.4f;
	float *scores = NULL, *d = NULL;
	uint32_t order[CELLS], i, kept, n;
	struct box boxes[CELLS];
	struct exact e[LIMIT * 4], scored[LIMIT];
	struct fixture f;

	do {
		free(scores);
		free(d);
		near = false;
		scores = numbers(CELLS, 0, 1);
		d = numbers(CELLS * 4, -0.5f, 0.5f);
		sort(scores, order, CELLS);
		for (kept = 0, i = 0; i < LOOKED_AT; i++) {
			uint32_t c = order[i], a = c % ANCHORS;
			struct exact x = times(given((float)(c / ANCHORS % SIDE)), given(stride));
			struct exact y = times(given((float)(c / ANCHORS / SIDE)), given(stride));
			struct box b = box_of(anchors + a * 4), *moved = &boxes[c];
			struct exact w, h;

			b = (struct box){ plus(b.x1, x), plus(b.y1, y), plus(b.x2, x), plus(b.y2, y) };
			*moved = changed(b, d + c * 4, image[0], image[1]);
			w = minus(moved->x2, moved->x1);
			h = minus(moved->y2, moved->y1);
			if (is_above(w, given(least)) && is_above(h, given(least)) &&
			    is_above(given(image[1]), plus(moved->x1, over(w, given(2)))) &&
			    is_above(given(image[0]), plus(moved->y1, over(h, given(2)))))
				order[kept++] = c;
		}
		n = pick(boxes, order, kept, threshold, LIMIT);
	} while (near);
	for (i = 0; i < n; i++) {
		scored[i] = given(scores[order[i]]);
		put_box(e + i * 4, boxes[order[i]]);
	}
	fixture_init(&f, NNPU_OP_GENERATE_PROPOSALS);
	fixture_input(&f, F32, 0, 0, DIMS(1, SIDE, SIDE, ANCHORS), scores);
	fixture_input(&f, F32, 0, 0, DIMS(1, SIDE, SIDE, ANCHORS * 4), d);
	fixture_input(&f, F32, 0, 0, DIMS(ANCHORS, 4), anchors);
	fixture_input(&f, F32, 0, 0, DIMS(1, 2), image);
	fixture_f32(&f, stride);
	fixture_f32(&f, stride);
	fixture_i32(&f, LOOKED_AT);
	fixture_i32(&f, LIMIT);
	fixture_f32(&f, threshold);
	fixture_f32(&f, least);
	fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, I32, 0, 0);
	if (result(&f) && ok(elements(&f, 0) == n && n > 3 && kept < LOOKED_AT && n < kept,
			     "GENERATE_PROPOSALS: %zu boxes of %u, of which %u are large enough",
			     elements(&f, 0), LOOKED_AT, kept)) {
		within("... their scores", output(&f, 0), scored, n);
		within("... the boxes", output(&f, 1), e, n * 4);
	}
	fixture_end(&f);
	free(scores);
	free(d);
}

/* DETECTION_POSTPROCESSING. */

static void test_detection(bool regular)
{
	enum { ANCHORS = 60, BOXES = 12 };
	static const float scales[4] = { 10, 9, 5, 4.7f }, least = 0.3f, threshold = 0.35f;
	float *scores = NULL, *d = NULL, anchors[ANCHORS * 4], classes[ANCHORS * 2] = { 0 };
	struct exact e[BOXES * 4], scored[BOXES];
	uint32_t order[ANCHORS], i, k, above, n;
	struct box boxes[ANCHORS];
	struct fixture f;

	do {
		free(scores);
		free(d);
		near = false;
		scores = numbers(ANCHORS, 0, 1);
		d = numbers(ANCHORS * 4, -3, 3);
		for (i = 0; i < ANCHORS; i++) {
			struct exact v[4], a[4], w, h;

			for (k = 0; k < 4; k++) {
				anchors[i * 4 + k] = k < 2 ? between(0, 2) : between(0.5f, 1);
				a[k] = given(anchors[i * 4 + k]);
				v[k] = over(given(d[i * 4 + k]), given(scales[k]));
			}
			v[0] = plus(times(v[0], a[2]), a[0]);
			v[1] = plus(times(v[1], a[3]), a[1]);
			h = over(times(function(expl, v[2]), a[2]), given(2));
			w = over(times(function(expl, v[3]), a[3]), given(2));
			boxes[i] = (struct box){ minus(v[1], w), minus(v[0], h), plus(v[1], w),
						 plus(v[0], h) };
			classes[i * 2 + 1] = scores[i];
		}
		sort(scores, order, ANCHORS);
		for (above = 0; above < ANCHORS && scores[order[above]] > least; above++)
			;
		n = pick(boxes, order, above, threshold, BOXES);
	} while (near);
	for (i = 0; i < n; i++) {
		struct box b = boxes[order[i]];

		scored[i] = given(scores[order[i]]);
		put_box(e + i * 4, (struct box){ b.y1, b.x1, b.y2, b.x2 });
	}
	fixture_init(&f, NNPU_OP_DETECTION_POSTPROCESSING);
	fixture_input(&f, F32, 0, 0, DIMS(1, ANCHORS, 2), classes);
	fixture_input(&f, F32, 0, 0, DIMS(1, ANCHORS, 4), d);
	fixture_input(&f, F32, 0, 0, DIMS(ANCHORS, 4), anchors);
	for (k = 0; k < 4; k++)
		fixture_f32(&f, scales[k]);
	fixture_bool(&f, regular);
	fixture_i32(&f, BOXES);
	fixture_i32(&f, 1);
	fixture_i32(&f, BOXES);
	fixture_f32(&f, least);
	fixture_f32(&f, threshold);
	fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, I32, 0, 0);
	fixture_output(&f, I32, 0, 0);
	if (result(&f) && ok(*(const uint32_t *)output(&f, 3) == n && n > 3 && n < above,
			     "DETECTION_POSTPROCESSING, %s: %u boxes", regular ? "regular" : "fast",
			     *(const uint32_t *)output(&f, 3))) {
		within("... their scores", output(&f, 0), scored, n);
		within("... the boxes", output(&f, 1), e, n * 4);
	}
	fixture_end(&f);
	free(scores);
	free(d);
}

int main(void)
{
	test_transform();
	test_nms(HARD, "hard");
	test_nms(LINEAR, "linear");
	test_nms(GAUSSIAN, "gaussian");
	test_proposals();
	test_detection(true);
	test_detection(false);
	return tap_done();
}
