// SPDX-License-Identifier: MIT
/*
 * HEATMAP_MAX_KEYPOINT: value and place of the maximum of heat maps.
 *
 * Inputs: 0 maps [boxes, size, size, keypoints], 1 boxes [boxes, 4] as x1, y1, x2, y2,
 * 2 layout flag.
 * Outputs: 0 the largest value [boxes, keypoints], 1 its place in the image
 * [boxes, keypoints, 2] as x, y.
 *
 * Both are refined: a quadratic function is fitted to the largest element and its
 * neighbours, and its maximum is taken.
 */
#include "bbox.h"
#include "ops.h"
#include "window.h"

int heatmap_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	return op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT | TYPES_QUANT8) ||
	       bbox_check_type(c, 1, 0) || op_check_type(c, 2, TYPE_BIT(BOOL)) ||
	       op_check_same_type(c, out, 0) || bbox_check_type(c, out + 1, 0) ||
	       op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 2, 2) ||
	       op_check_rank(c, out, 2, 2) || op_check_rank(c, out + 1, 3, 3) ? -1 : 0;
}

/* 0; 1 if the layout is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct image *m)
{
	bool nchw;

	if (op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 2, 2))
		return -1;
	if (op_get_bool(c, 2, &nchw))
		return 1;
	*m = image_of(c->in[0], nchw);
	if (m->y != m->x || m->y < 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (c->in[1]->dims[0] != m->n || c->in[1]->dims[1] != 4)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	return 0;
}

int heatmap_infer(const struct op_call *c)
{
	struct image m;
	int ret = geometry(c, &m);

	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ m.n, m.c });
	tensor_set_shape(c->out[1], 3, (uint32_t[]){ m.n, m.c, 2 });
	return 0;
}

/* The neighbour of element @i, mirrored at the edges. */
static uint32_t neighbour(uint32_t i, int step, uint32_t size)
{
	if (step < 0)
		return i > 0 ? i - 1 : 1;
	if (step > 0)
		return i + 1 < size ? i + 1 : size - 2;
	return i;
}

/*
 * The maximum of the quadratic function through @g. Sets x and y, relative to the middle
 * and limited to 1.5. Returns the value.
 */
static float quadratic_maximum(float g[3][3], float *x, float *y)
{
	/* First derivatives with the other sign, and second derivatives. */
	float bx = -(g[1][2] - g[1][0]) / 2.0f, by = -(g[2][1] - g[0][1]) / 2.0f;
	float axx = g[1][0] - 2.0f * g[1][1] + g[1][2];
	float axy = (g[2][2] - g[2][0] - g[0][2] + g[0][0]) / 4.0f;
	float ayy = g[0][1] - 2.0f * g[1][1] + g[2][1];
	float straight = axx * ayy, crossed = axy * axy, det = straight - crossed, far;

	*x = 0.0f;
	*y = 0.0f;
	/* If the neighbourhood is flat or a saddle, the middle is the result. */
	if (!(fabsf(det) >= 1e-4f * fmaxf(fabsf(straight), fabsf(crossed)) && det != 0.0f))
		return g[1][1];
	*x = (ayy * bx - axy * by) / det;
	*y = (axx * by - axy * bx) / det;
	far = fmaxf(fabsf(*x), fabsf(*y));
	if (far > 1.5f) {
		*x *= 1.5f / far;
		*y *= 1.5f / far;
	}
	return g[1][1] - bx * *x - by * *y +
	       ((axx * *x + axy * *y) * *x + (axy * *x + ayy * *y) * *y) / 2.0f;
}

/* One map. @at: element offset of its keypoint; @out: index of its outputs. */
static void find_maximum(struct op_pace *pace, const struct op_call *c, const struct image *m,
			 size_t at, struct bbox box, size_t out)
{
	float best = -INFINITY, g[3][3], dx, dy;
	uint32_t by = 0, bx = 0;

	for (uint32_t y = 0; y < m->y && !op_pace(pace, m->x % OP_PACE_RUN * 4 + 8); y++) {
		for (uint32_t x = 0; x < m->x && !op_pace_row(pace, x, 4); x++) {
			float v = real_at(c->in[0], at + y * m->y_stride + x * m->x_stride);

			if (v > best) {
				best = v;
				by = y;
				bx = x;
			}
		}
	}
	for (int i = -1; i <= 1; i++) {
		for (int j = -1; j <= 1; j++)
			g[i + 1][j + 1] = real_at(c->in[0],
						  at + neighbour(by, i, m->y) * m->y_stride +
						  neighbour(bx, j, m->x) * m->x_stride);
	}
	real_put(c->out[0], out, quadratic_maximum(g, &dx, &dy));
	real_put(c->out[1], 2 * out, ((float)bx + dx + 0.5f) / (float)m->x * (box.x2 - box.x1) +
				     box.x1);
	real_put(c->out[1], 2 * out + 1, ((float)by + dy + 0.5f) / (float)m->y *
					 (box.y2 - box.y1) + box.y1);
}

int heatmap_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct image m;

	if (geometry(c, &m))
		return -1;
	for (uint32_t n = 0; n < m.n; n++) {
		struct bbox box = bbox_at(c->in[1], n);

		if (!(box.x1 <= box.x2 && box.y1 <= box.y2))
			return op_fail(c, NNPU_REASON_VALUE, 1);
		for (uint32_t k = 0; k < m.c; k++) {
			find_maximum(&pace, c, &m, n * m.n_stride + k * m.c_stride, box,
				     (size_t)n * m.c + k);
			if (op_pace(&pace, 64))
				return OP_ABORTED;
		}
	}
	return 0;
}
