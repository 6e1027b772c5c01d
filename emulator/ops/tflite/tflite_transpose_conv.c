// SPDX-License-Identifier: MIT
/*
 * TRANSPOSE_CONV of org.nnpu.tflite: each input is spread by the filter over the output.
 *
 * Inputs: 0 shape of the output, 1 filter [out channels, height, width, channels], 2 image, 3 bias
 * (may be omitted), 4 padding, 5 stride x, 6 stride y, 7 activation, 8 type of the bias.
 */
#include <string.h>

#include "tflite_conv.h"

enum { AT_SHAPE, AT_FILTER, AT_IMAGE, AT_BIAS, AT_BIAS_TYPE = 8 };

static const struct tflite_window window = { .padding = 4, .stride = 5, .activation = 7 };

struct transposed {
	struct tflite_conv sums;
	struct image in, out;
	int64_t stride[2], pad[2];	/* by enum window_axis */
	uint32_t taps[2];
};

int tflite_transpose_conv_check(const struct op_call *c)
{
	struct window w;

	return tflite_conv_check(c, AT_IMAGE, AT_FILTER, AT_BIAS, 0) ||
	       tflite_window_read(c, &window, &w) < 0 ? -1 : 0;
}

/* The padding in front: that of a convolution of the output with this filter. */
static void place(struct transposed *t, const struct window *w, enum window_axis axis,
		  uint32_t taps, uint32_t out)
{
	int64_t stride = w->stride[axis], steps = ((int64_t)out + stride - 1) / stride;
	int64_t missing = (steps - 1) * stride + taps - out;

	t->stride[axis] = stride;
	t->taps[axis] = taps;
	t->pad[axis] = w->same && missing > 0 ? missing / 2 : 0;
}

/* 0; 1 if a value is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct transposed *t)
{
	const struct tensor *filter = c->in[AT_FILTER];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank;
	struct window w;
	int ret;

	memset(t, 0, sizeof(*t));
	if (op_check_rank(c, AT_FILTER, 4, 4) || op_check_rank(c, AT_IMAGE, 4, 4))
		return -1;
	ret = tflite_get_shape(c, AT_SHAPE, &rank, dims);
	if (!ret)
		ret = tflite_window_read(c, &window, &w);
	if (ret)
		return ret;
	t->in = image_of(c->in[AT_IMAGE], false);
	if (t->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_IMAGE);
	if (tensor_elements(filter) == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_FILTER);
	if (filter->dims[3] != t->in.c)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_FILTER);
	if (rank != 4)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_SHAPE);
	if (dims[0] != t->in.n || dims[3] != filter->dims[0])
		return op_fail(c, NNPU_REASON_VALUE, AT_SHAPE);
	t->out = (struct image){ .n = dims[0], .y = dims[1], .x = dims[2], .c = dims[3] };
	place(t, &w, WINDOW_Y, filter->dims[1], t->out.y);
	place(t, &w, WINDOW_X, filter->dims[2], t->out.x);
	t->sums.channels = t->out.c;
	t->sums.activation = w.activation;
	return tflite_conv_operands(c, &t->sums, AT_IMAGE, AT_FILTER, AT_BIAS, AT_BIAS_TYPE);
}

int tflite_transpose_conv_infer(const struct op_call *c)
{
	struct transposed t;
	int ret = geometry(c, &t);

	if (ret)
		return ret;
	image_set_shape(c, false, t.out.n, t.out.y, t.out.x, t.out.c);
	return 0;
}

size_t tflite_transpose_conv_scratch(const struct op_call *c)
{
	return tflite_conv_scratch(c->in[AT_FILTER]->dims[0]);
}

/*
 * The first tap through which an input reaches output @o, and that input, the last one to reach
 * it. The next taps follow in steps of the stride, with one input less each.
 */
static void spread_from(const struct transposed *t, enum window_axis axis, uint32_t o,
			uint32_t in, int64_t *tap, int64_t *index)
{
	int64_t at = (int64_t)o + t->pad[axis], stride = t->stride[axis];

	*tap = at % stride;
	*index = at / stride;
	if (*index >= in) {
		*tap += (*index - in + 1) * stride;
		*index = (int64_t)in - 1;
	}
}

static int sum_of(struct transposed *t, uint32_t n, uint32_t oy, uint32_t ox, uint32_t channel,
		  union tflite_sum *sum)
{
	int64_t ky, iy, kx0, ix0;

	spread_from(t, WINDOW_Y, oy, t->in.y, &ky, &iy);
	spread_from(t, WINDOW_X, ox, t->in.x, &kx0, &ix0);
	for (; ky < t->taps[WINDOW_Y] && iy >= 0; ky += t->stride[WINDOW_Y], iy--) {
		int64_t kx = kx0, ix = ix0;

		for (; kx < t->taps[WINDOW_X] && ix >= 0; kx += t->stride[WINDOW_X], ix--) {
			size_t in = n * t->in.n_stride + (size_t)iy * t->in.y_stride +
				    (size_t)ix * t->in.x_stride;
			size_t filter = (((size_t)channel * t->taps[WINDOW_Y] + (size_t)ky) *
					 t->taps[WINDOW_X] + (size_t)kx) * t->in.c;

			if (tflite_conv_add(&t->sums, sum, in, filter, t->in.c))
				return OP_ABORTED;
		}
		if (op_pace(&t->sums.pace, 8))
			return OP_ABORTED;
	}
	return op_pace(&t->sums.pace, 32) ? OP_ABORTED : 0;
}

int tflite_transpose_conv_execute(const struct op_call *c)
{
	size_t rows, at = 0;
	struct transposed t;

	if (geometry(c, &t))
		return -1;
	if (tflite_conv_start(c, &t.sums, c->in[AT_IMAGE]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM))
		return OP_ABORTED;
	rows = (size_t)t.out.n * t.out.y;
	for (size_t row = 0; row < rows; row++) {
		for (uint32_t ox = 0; ox < t.out.x; ox++) {
			for (uint32_t channel = 0; channel < t.out.c; channel++, at++) {
				union tflite_sum sum = { .whole = 0 };

				if (sum_of(&t, (uint32_t)(row / t.out.y),
					   (uint32_t)(row % t.out.y), ox, channel, &sum))
					return OP_ABORTED;
				tflite_conv_store(&t.sums, sum, channel, at);
			}
		}
	}
	return 0;
}
