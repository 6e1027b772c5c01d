// SPDX-License-Identifier: MIT
/*
 * AVERAGE_POOL_2D and MAX_POOL_2D of org.nnpu.tflite, of 16-bit integers.
 *
 * Inputs: 0 image, 1 padding, 2 stride x, 3 stride y, 4 width and 5 height of the window,
 * 6 activation. Elements outside of the image do not count.
 */
#include "tflite_conv.h"

/* Channels of a pixel that are computed together. */
#define COLS	64u

enum { AT_WIDTH = 4, AT_HEIGHT };

static const struct tflite_window window = { .padding = 1, .stride = 2, .activation = 6 };

struct pool {
	struct image in, out;
	struct window_span y, x;
	enum activation activation;
	struct qrange range;
	struct op_pace pace;
};

static int check(const struct op_call *c)
{
	struct window w;

	return tflite_check_moved(c, 0) || tflite_window_read(c, &window, &w) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct pool *p)
{
	int32_t width, height;
	struct window w;
	int ret;

	if (op_check_rank(c, 0, 4, 4))
		return -1;
	ret = tflite_window_read(c, &window, &w);
	if (ret)
		return ret;
	if (op_get_i32(c, AT_WIDTH, &width) || op_get_i32(c, AT_HEIGHT, &height))
		return 1;
	if (width < 1 || height < 1)
		return op_fail(c, NNPU_REASON_VALUE, width < 1 ? AT_WIDTH : AT_HEIGHT);
	*p = (struct pool){ .in = image_of(c->in[0], false), .activation = w.activation };
	if (p->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	return window_place(c, &w, WINDOW_X, p->in.x, (uint32_t)width, &p->x) ||
	       window_place(c, &w, WINDOW_Y, p->in.y, (uint32_t)height, &p->y) ? -1 : 0;
}

static int infer(const struct op_call *c)
{
	struct pool p;
	int ret = geometry(c, &p);

	if (ret)
		return ret;
	image_set_shape(c, false, p.in.n, p.y.out, p.x.out, p.in.c);
	return 0;
}

/* Channels [col, col + n) of an output pixel. 0 or OP_ABORTED. */
static int pool_pixel(const struct op_call *c, struct pool *p, bool max, size_t in, uint32_t oy,
		      uint32_t ox, uint32_t col, unsigned int n, int16_t *out)
{
	uint32_t y, y_last, x_first, x_last;
	int64_t acc[COLS], count;

	window_taps(&p->y, oy, &y, &y_last);
	window_taps(&p->x, ox, &x_first, &x_last);
	count = (int64_t)(y_last - y) * (x_last - x_first);
	for (unsigned int i = 0; i < n; i++)
		acc[i] = max ? INT16_MIN : 0;
	for (; y < y_last; y++) {
		for (uint32_t x = x_first; x < x_last; x++) {
			const int16_t *src = (const int16_t *)c->in[0]->data + in +
					     window_index(&p->y, oy, y) * p->in.y_stride +
					     window_index(&p->x, ox, x) * p->in.x_stride + col;

			for (unsigned int i = 0; i < n; i++)
				acc[i] = !max ? acc[i] + src[i] : src[i] > acc[i] ? src[i] : acc[i];
			if (op_pace(&p->pace, n + 8))
				return OP_ABORTED;
		}
		if (op_pace(&p->pace, 8))
			return OP_ABORTED;
	}
	for (unsigned int i = 0; i < n; i++) {
		int64_t v = acc[i];

		if (!max)
			v = (v > 0 ? v + count / 2 : v - count / 2) / count;
		out[i] = (int16_t)q_clamp((int32_t)v, p->range.min, p->range.max);
	}
	return op_pace(&p->pace, n * 4) ? OP_ABORTED : 0;
}

static int execute(const struct op_call *c, bool max)
{
	int16_t *out = c->out[0]->data;
	struct pool p;

	if (geometry(c, &p))
		return -1;
	p.range = qrange_of(p.activation, c->out[0]);
	p.pace.progress = c->progress;
	for (size_t row = 0; row < (size_t)p.in.n * p.y.out; row++) {
		size_t in = row / p.y.out * p.in.n_stride;
		uint32_t oy = (uint32_t)(row % p.y.out);

		for (uint32_t ox = 0; ox < p.x.out; ox++) {
			for (uint32_t col = 0, n; col < p.in.c; col += n, out += n) {
				n = p.in.c - col < COLS ? p.in.c - col : COLS;
				if (pool_pixel(c, &p, max, in, oy, ox, col, n, out))
					return OP_ABORTED;
			}
		}
	}
	return 0;
}

int tflite_average_pool_check(const struct op_call *c)
{
	return check(c);
}

int tflite_average_pool_infer(const struct op_call *c)
{
	return infer(c);
}

int tflite_average_pool_execute(const struct op_call *c)
{
	return execute(c, false);
}

int tflite_max_pool_check(const struct op_call *c)
{
	return check(c);
}

int tflite_max_pool_infer(const struct op_call *c)
{
	return infer(c);
}

int tflite_max_pool_execute(const struct op_call *c)
{
	return execute(c, true);
}
