// SPDX-License-Identifier: MIT
/*
 * GENERATE_PROPOSALS: region proposals from scores and box deltas at every pixel.
 *
 * Inputs: 0 scores [batches, height, width, anchors], 1 changes [batches, height, width,
 * anchors * 4], 2 anchors [anchors, 4] as x1, y1, x2, y2, 3 image sizes [batches, 2],
 * height first, 4 and 5 pixels of the image per pixel of the scores in height and width,
 * 6 number of boxes per batch before non-maximum suppression and 7 after it (0 or less:
 * any), 8 IoU threshold, 9 minimum size, 10 layout flag.
 * Outputs: 0 scores, 1 boxes, 2 batches.
 */
#include "bbox.h"
#include "ops.h"
#include "window.h"

struct proposals {
	struct image score, change;
	uint32_t anchors, cells;	/* cells: boxes of a batch */
	float stride_y, stride_x, overlap, least_size;
	uint32_t looked_at, limit;
	/* Of one batch, by cell. */
	float *scores;
	struct bbox *boxes;
	uint32_t *picked;
	struct op_pace pace;
};

#define CELL_BYTES	(sizeof(float) + sizeof(struct bbox) + sizeof(uint32_t))

int proposals_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);
	static const uint8_t kinds[] = { 1, 1, 0, 0, 1, 1 };

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT | TYPES_QUANT8) ||
	    op_check_same_type(c, 1, 0))
		return -1;
	/* Quantized anchors have a type of their own: QUANT16_SYMM with the scale of boxes. */
	if (type_is_quant8(c->in[0]->type)) {
		if (op_check_type(c, 2, TYPE_BIT(TENSOR_QUANT16_SYMM)) ||
		    op_check_quant(c, 2, BBOX_SCALE, 0))
			return -1;
	} else if (op_check_same_type(c, 2, 0)) {
		return -1;
	}
	for (unsigned int i = 0; i < sizeof(kinds); i++) {
		if (kinds[i] ? bbox_check_scalar(c, i + 4, 0) :
			       op_check_type(c, i + 4, TYPE_BIT(INT32)))
			return -1;
	}
	return bbox_check_type(c, 3, 0) || op_check_type(c, 10, TYPE_BIT(BOOL)) ||
	       op_check_same_type(c, out, 0) || op_check_same_quant(c, out, 0) ||
	       bbox_check_type(c, out + 1, 0) ||
	       op_check_type(c, out + 2, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4) ||
	       op_check_rank(c, 2, 2, 2) || op_check_rank(c, 3, 2, 2) ||
	       op_check_rank(c, out, 1, 1) || op_check_rank(c, out + 1, 2, 2) ||
	       op_check_rank(c, out + 2, 1, 1) ? -1 : 0;
}

static int read_scalars(const struct op_call *c, struct proposals *p)
{
	int32_t looked_at, limit;

	if (op_get_f32(c, 4, &p->stride_y) || op_get_f32(c, 5, &p->stride_x) ||
	    op_get_i32(c, 6, &looked_at) || op_get_i32(c, 7, &limit) ||
	    op_get_f32(c, 8, &p->overlap) || op_get_f32(c, 9, &p->least_size))
		return 1;
	for (unsigned int i = 4; i < 6; i++) {
		float v = i == 4 ? p->stride_y : p->stride_x;

		if (!(v > 0 && isfinite(v)))
			return op_fail(c, NNPU_REASON_VALUE, i);
	}
	p->looked_at = looked_at > 0 ? (uint32_t)looked_at : UINT32_MAX;
	p->limit = limit > 0 ? (uint32_t)limit : UINT32_MAX;
	return 0;
}

/* 0; 1 if an operand is not known before the job runs; -1 with error. */
static int read_operands(const struct op_call *c, struct proposals *p)
{
	bool nchw;
	int ret;

	*p = (struct proposals){ 0 };
	if (op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4) ||
	    op_check_rank(c, 2, 2, 2) || op_check_rank(c, 3, 2, 2))
		return -1;
	ret = read_scalars(c, p);
	if (ret)
		return ret;
	if (op_get_bool(c, 10, &nchw))
		return 1;
	p->score = image_of(c->in[0], nchw);
	p->change = image_of(c->in[1], nchw);
	p->anchors = c->in[2]->dims[0];
	if (p->score.c != p->anchors || c->in[2]->dims[1] != 4)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (p->change.n != p->score.n || p->change.y != p->score.y ||
	    p->change.x != p->score.x || p->change.c != (uint64_t)p->anchors * 4)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[3]->dims[0] != p->score.n || c->in[3]->dims[1] != 2)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 3);
	/* Shapes of known size: no product overflows, but cells are numbered in 32 bits. */
	if (p->score.n_stride > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	p->cells = (uint32_t)p->score.n_stride;
	for (unsigned int i = 0; i < 4; i++) {
		if (!tensor_data_known(c->in[i]))
			return 1;
	}
	return 0;
}

static void place_work(struct proposals *p, void *memory)
{
	p->boxes = memory;
	p->scores = (float *)(p->boxes + p->cells);
	p->picked = (uint32_t *)(p->scores + p->cells);
}

/* The box of a cell: its anchor, moved to its pixel and changed. */
static struct bbox cell_box(const struct op_call *c, const struct proposals *p, uint32_t n,
			    uint32_t cell)
{
	uint32_t a = cell % p->anchors;
	uint32_t x = cell / p->anchors % p->score.x, y = cell / p->anchors / p->score.x;
	struct bbox b = bbox_at(c->in[2], a);
	float dx = (float)x * p->stride_x, dy = (float)y * p->stride_y, d[4];

	for (unsigned int i = 0; i < 4; i++)
		d[i] = real_at(c->in[1], n * p->change.n_stride + y * p->change.y_stride +
					 x * p->change.x_stride +
					 (a * 4 + i) * p->change.c_stride);
	b = (struct bbox){ b.x1 + dx, b.y1 + dy, b.x2 + dx, b.y2 + dy };
	return bbox_transform(b, d, real_at(c->in[3], 2 * (size_t)n),
			      real_at(c->in[3], 2 * (size_t)n + 1));
}

static bool large_enough(const struct op_call *c, const struct proposals *p, uint32_t n,
			 struct bbox b)
{
	float w = b.x2 - b.x1, h = b.y2 - b.y1;

	return w > p->least_size && h > p->least_size &&
	       b.x1 + w / 2 < real_at(c->in[3], 2 * (size_t)n + 1) &&
	       b.y1 + h / 2 < real_at(c->in[3], 2 * (size_t)n);
}

/* The boxes of batch @n: how many are picked, or -1 for an abort. */
static int64_t pick_batch(const struct op_call *c, struct proposals *p, uint32_t n)
{
	uint32_t count = p->cells < p->looked_at ? p->cells : p->looked_at, kept = 0;

	for (uint32_t i = 0; i < p->cells; i++) {
		uint32_t a = i % p->anchors;
		uint32_t x = i / p->anchors % p->score.x, y = i / p->anchors / p->score.x;

		p->picked[i] = i;
		p->scores[i] = real_at(c->in[0], n * p->score.n_stride + y * p->score.y_stride +
						 x * p->score.x_stride + a * p->score.c_stride);
		if (op_pace(&p->pace, 16))
			return -1;
	}
	if (!bbox_sort(&p->pace, p->scores, p->picked, p->cells, count))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t cell = p->picked[i];

		p->boxes[cell] = cell_box(c, p, n, cell);
		if (large_enough(c, p, n, p->boxes[cell]))
			p->picked[kept++] = cell;
		if (op_pace(&p->pace, 128))
			return -1;
	}
	return bbox_pick(&p->pace, p->boxes, p->scores, p->picked, kept, p->overlap, p->limit);
}

int proposals_infer(const struct op_call *c)
{
	struct proposals p;
	uint64_t total = 0;
	void *memory;
	int ret = read_operands(c, &p);

	if (ret)
		return ret;
	if (c->loading)
		return 1;
	if (c->in[0]->bytes) {
		memory = op_take(c->progress, p.cells * CELL_BYTES, NULL);
		if (!memory)
			return OP_NO_MEMORY;
		place_work(&p, memory);
		p.pace.progress = c->progress;
		for (uint32_t n = 0; n < p.score.n; n++) {
			int64_t count = pick_batch(c, &p, n);

			/* After an abort execute() is not called. */
			if (count < 0)
				break;
			total += (uint64_t)count;
		}
		op_give(c->progress, memory, p.cells * CELL_BYTES);
	}
	if (total > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	tensor_set_shape(c->out[0], 1, (uint32_t[]){ (uint32_t)total });
	tensor_set_shape(c->out[1], 2, (uint32_t[]){ (uint32_t)total, 4 });
	tensor_set_shape(c->out[2], 1, (uint32_t[]){ (uint32_t)total });
	return 0;
}

size_t proposals_scratch(const struct op_call *c)
{
	return scratch_add(0, tensor_elements_of(c->in[0], 1, 4), CELL_BYTES);
}

int proposals_execute(const struct op_call *c)
{
	struct proposals p;
	uint32_t at = 0;

	if (read_operands(c, &p))
		return -1;
	place_work(&p, c->scratch);
	p.pace.progress = c->progress;
	for (uint32_t n = 0; n < p.score.n; n++) {
		int64_t count = pick_batch(c, &p, n);

		if (count < 0 || (uint64_t)count > c->out[0]->dims[0] - at)
			return OP_ABORTED;
		for (uint32_t i = 0; i < (uint32_t)count; i++, at++) {
			real_put(c->out[0], at, p.scores[p.picked[i]]);
			bbox_put(c->out[1], at, p.boxes[p.picked[i]]);
			((int32_t *)c->out[2]->data)[at] = (int32_t)n;
		}
	}
	return at == c->out[0]->dims[0] ? 0 : OP_ABORTED;
}
