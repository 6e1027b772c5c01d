// SPDX-License-Identifier: MIT
/*
 * ROI_ALIGN and ROI_POOLING: regions of images, resized to one size.
 *
 * Inputs: 0 images, 1 regions [n, 4] as x1, y1, x2, y2, 2 batch of each region, 3 height
 * and 4 width of the output, 5 and 6 how much smaller the images are than what the
 * regions refer to, in height and width; ROI_ALIGN: 7 and 8 sampling points per output
 * in height and width, 0 for as many as there are elements; then the layout flag.
 */
#include <float.h>
#include <math.h>

#include "ops.h"
#include "quant.h"
#include "window.h"

/* Scale of regions in TENSOR_QUANT16_ASYMM. */
#define REGION_SCALE	0.125f

struct roi {
	struct image in, out;
	bool nchw;
	int32_t size[2];		/* by enum window_axis */
	float ratio[2];
	int32_t points[2];
	struct op_pace pace;
};

/* A region in elements of the image. */
struct region {
	uint32_t batch;
	float first[2], last[2];
};

static bool is_align(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_ROI_ALIGN;
}

int roi_check(const struct op_call *c)
{
	bool quant = type_is_quant8(c->in[0]->type);

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT | TYPES_QUANT8) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    (!is_align(c) && op_check_same_quant(c, op_output(c, 0), 0)) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, op_output(c, 0), 4, 4) ||
	    op_check_type(c, 1, quant ? TYPE_BIT(TENSOR_QUANT16_ASYMM) : type_bit(c->in[0]->type)) ||
	    op_check_rank(c, 1, 2, 2) || op_check_list(c, 2))
		return -1;
	if (quant && op_check_quant(c, 1, REGION_SCALE, 0))
		return -1;
	for (unsigned int i = 3; i < c->num_inputs - 1; i++) {
		bool real = i == 5 || i == 6;

		if (real ? op_check_float_scalar(c, i) : op_check_type(c, i, TYPE_BIT(INT32)))
			return -1;
	}
	return op_check_type(c, c->num_inputs - 1, TYPE_BIT(BOOL));
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct roi *r)
{
	*r = (struct roi){ 0 };
	if (op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 2, 2) || op_check_rank(c, 2, 1, 1))
		return -1;
	for (unsigned int i = 0; i < 2; i++) {
		if (op_get_i32(c, 3 + i, &r->size[i]) || op_get_f32(c, 5 + i, &r->ratio[i]) ||
		    (is_align(c) && op_get_i32(c, 7 + i, &r->points[i])))
			return 1;
		if (r->size[i] < 1)
			return op_fail(c, NNPU_REASON_VALUE, 3 + i);
		if (!(r->ratio[i] > 0 && isfinite(r->ratio[i])))
			return op_fail(c, NNPU_REASON_VALUE, 5 + i);
		if (r->points[i] < 0)
			return op_fail(c, NNPU_REASON_VALUE, 7 + i);
	}
	if (op_get_bool(c, c->num_inputs - 1, &r->nchw))
		return 1;
	r->in = image_of(c->in[0], r->nchw);
	if (r->in.y == 0 || r->in.x == 0 || r->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (c->in[1]->dims[1] != 4)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (c->in[2]->dims[0] != c->in[1]->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	return 0;
}

int roi_infer(const struct op_call *c)
{
	struct roi r;
	int ret = geometry(c, &r);

	if (ret)
		return ret;
	image_set_shape(c, r.nchw, c->in[1]->dims[0], (uint32_t)r.size[WINDOW_Y],
			(uint32_t)r.size[WINDOW_X], r.in.c);
	return 0;
}

/* 0, or -1 with error for a region that is not inside of its image. */
static int read_region(const struct op_call *c, const struct roi *r, uint32_t i,
		       struct region *g)
{
	uint32_t sizes[2] = { [WINDOW_Y] = r->in.y, [WINDOW_X] = r->in.x };
	int32_t batch = op_list_at(c, 2, i);

	if (batch < 0 || (uint32_t)batch >= r->in.n)
		return op_fail(c, NNPU_REASON_VALUE, 2);
	g->batch = (uint32_t)batch;
	for (unsigned int axis = 0; axis < 2; axis++) {
		size_t at = 4 * (size_t)i + (axis == WINDOW_X ? 0 : 1);
		float first = (float)tensor_number(c->in[1], at);
		float last = (float)tensor_number(c->in[1], at + 2);

		if (c->in[1]->type == NNPU_TYPE_TENSOR_QUANT16_ASYMM) {
			first *= REGION_SCALE;
			last *= REGION_SCALE;
		}
		g->first[axis] = first / r->ratio[axis];
		g->last[axis] = last / r->ratio[axis];
		/* Written so that a NaN is refused. */
		if (!(g->first[axis] >= 0 && g->first[axis] <= g->last[axis] &&
		      g->last[axis] <= (float)sizes[axis]))
			return op_fail(c, NNPU_REASON_VALUE, 1);
	}
	return 0;
}

/* Two neighbours of a sampling point and the weight of the second. */
struct between {
	uint32_t low, high;
	float weight;
};

static struct between neighbours(float at, uint32_t size)
{
	uint32_t low = (uint32_t)at;

	if (low >= size - 1)
		return (struct between){ size - 1, size - 1, 0.0f };
	return (struct between){ low, low + 1, at - (float)low };
}

/* Sampling points of the outputs of a region along an axis. */
struct sampling {
	float start, step, bin;
	int64_t points;
};

static struct sampling sample_axis(const struct roi *r, const struct region *g,
				   enum window_axis axis)
{
	float size = g->last[axis] - g->first[axis];
	struct sampling s = { .start = g->first[axis], .points = r->points[axis] };

	size = size < 1.0f ? 1.0f : size;
	s.step = size / (float)r->size[axis];
	if (s.points == 0)
		s.points = (int64_t)ceilf(s.step);
	s.bin = s.step / (float)s.points;
	return s;
}

static void store(const struct op_call *c, size_t at, double v)
{
	if (c->out[0]->type == NNPU_TYPE_TENSOR_FLOAT32)
		((float *)c->out[0]->data)[at] = (float)v;
	else
		((uint8_t *)c->out[0]->data)[at] = q_from_real(c->out[0], v);
}

/* The real value of an element. */
static double load(const struct tensor *t, size_t at)
{
	double v = tensor_number(t, at);

	return t->type == NNPU_TYPE_TENSOR_FLOAT32 ? v : (v - t->zero_point) * t->scale;
}

/* One output: the mean of its sampling points. @in, @out: offsets of the channel. */
static int align_element(const struct op_call *c, struct roi *r, const struct sampling *s,
			 uint32_t oy, uint32_t ox, size_t in, size_t out)
{
	const struct sampling *sy = &s[WINDOW_Y], *sx = &s[WINDOW_X];
	const struct tensor *t = c->in[0];
	double sum = 0;

	for (int64_t py = 0; py < sy->points; py++) {
		float y = sy->start + sy->step * (float)oy + sy->bin * ((float)py + 0.5f);
		struct between by = neighbours(y, r->in.y);

		for (int64_t px = 0; px < sx->points; px++) {
			float x = sx->start + sx->step * (float)ox + sx->bin * ((float)px + 0.5f);
			struct between bx = neighbours(x, r->in.x);
			size_t rows[2] = { in + by.low * r->in.y_stride,
					   in + by.high * r->in.y_stride };
			size_t cols[2] = { bx.low * r->in.x_stride, bx.high * r->in.x_stride };
			double wy = by.weight, wx = bx.weight;

			sum += (1 - wy) * ((1 - wx) * load(t, rows[0] + cols[0]) +
					   wx * load(t, rows[0] + cols[1])) +
			       wy * ((1 - wx) * load(t, rows[1] + cols[0]) +
				     wx * load(t, rows[1] + cols[1]));
			if (op_pace(&r->pace, 32))
				return OP_ABORTED;
		}
	}
	store(c, out, sum / ((double)sy->points * (double)sx->points));
	return 0;
}

/* Range [*first, *last) of elements of an image that output @o of a region covers. */
static void pool_span(const struct region *g, enum window_axis axis, uint32_t o, int32_t outputs,
		      uint32_t size, uint32_t *first, uint32_t *last)
{
	float start = roundf(g->first[axis]), end = roundf(g->last[axis]);
	float length = end - start + 1.0f, step, low, high;

	length = length < 1.0f ? 1.0f : length;
	step = length / (float)outputs;
	low = start + floorf(step * (float)o);
	high = start + ceilf(step * (float)(o + 1));
	*first = low >= (float)size ? size : (uint32_t)low;
	*last = high >= (float)size ? size : (uint32_t)high;
}

/* One output: the largest element, 0 where there is none. */
static int pool_element(const struct op_call *c, struct roi *r, const struct region *g,
			uint32_t oy, uint32_t ox, size_t in, size_t out)
{
	const struct tensor *t = c->in[0];
	uint32_t y, y_last, x_first, x_last;
	double max = -INFINITY;

	pool_span(g, WINDOW_Y, oy, r->size[WINDOW_Y], r->in.y, &y, &y_last);
	pool_span(g, WINDOW_X, ox, r->size[WINDOW_X], r->in.x, &x_first, &x_last);
	if (y >= y_last || x_first >= x_last)
		max = t->zero_point;
	for (; y < y_last; y++) {
		for (uint32_t x = x_first; x < x_last; x++) {
			double v = tensor_number(t, in + y * r->in.y_stride +
						 x * r->in.x_stride);

			max = v > max ? v : max;
			if (op_pace_row(&r->pace, x, 4))
				return OP_ABORTED;
		}
		if (op_pace(&r->pace, (x_last - x_first) % OP_PACE_RUN * 4 + 8))
			return OP_ABORTED;
	}
	if (t->type == NNPU_TYPE_TENSOR_FLOAT32)
		((float *)c->out[0]->data)[out] = (float)max;
	else
		((uint8_t *)c->out[0]->data)[out] = (uint8_t)(int32_t)max;
	return 0;
}

static int execute_region(const struct op_call *c, struct roi *r, const struct region *g,
			  uint32_t i)
{
	struct sampling s[2] = { sample_axis(r, g, WINDOW_Y), sample_axis(r, g, WINDOW_X) };

	for (size_t k = 0; k < (size_t)r->out.y * r->out.x * r->out.c; k++) {
		uint32_t channel = (uint32_t)(k % r->out.c);
		uint32_t ox = (uint32_t)(k / r->out.c % r->out.x);
		uint32_t oy = (uint32_t)(k / r->out.c / r->out.x);
		size_t in = g->batch * r->in.n_stride + channel * r->in.c_stride;
		size_t out = i * r->out.n_stride + oy * r->out.y_stride + ox * r->out.x_stride +
			     channel * r->out.c_stride;

		if (is_align(c) ? align_element(c, r, s, oy, ox, in, out) :
				  pool_element(c, r, g, oy, ox, in, out))
			return OP_ABORTED;
		if (op_pace(&r->pace, 16))
			return OP_ABORTED;
	}
	return 0;
}

int roi_execute(const struct op_call *c)
{
	struct region g;
	struct roi r;

	if (geometry(c, &r))
		return -1;
	r.pace.progress = c->progress;
	r.out = image_of(c->out[0], r.nchw);
	for (uint32_t i = 0; i < r.out.n; i++) {
		if (read_region(c, &r, i, &g))
			return -1;
		if (execute_region(c, &r, &g, i))
			return OP_ABORTED;
	}
	return 0;
}
