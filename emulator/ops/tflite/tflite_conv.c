// SPDX-License-Identifier: MIT
/*
 * CONV_2D and DEPTHWISE_CONV_2D of org.nnpu.tflite.
 *
 * CONV_2D: 0 image, 1 filter [out channels, height, width, channels], 2 bias (may be omitted),
 * 3 padding, 4 stride x, 5 stride y, 6 activation, 7 dilation x, 8 dilation y, 9 type of the bias.
 * The channels of the filter divide those of the image: so many are the groups. Output channels
 * of a group read the input channels of that group.
 * DEPTHWISE_CONV_2D: 0 image, 1 filter [1, height, width, out channels], 2 bias (may be omitted),
 * 3 padding, 4 stride x, 5 stride y, 6 depth multiplier, 7 activation, 8 dilation x, 9 dilation y.
 */
#include "ops/conv.h"
#include "tflite_conv.h"

#include <string.h>

/* Channels of a depthwise convolution that are computed together. */
#define COLS	64u

struct conv2d {
	struct tflite_conv sums;
	struct conv cv;
	uint32_t groups, multiplier;
};

static const struct tflite_window conv_window = {
	.padding = 3, .stride = 4, .activation = 6, .dilation = 7,
};

static const struct tflite_window depthwise_window = {
	.padding = 3, .stride = 4, .activation = 7, .dilation = 8,
};

#define BIAS_TYPE	9
#define MULTIPLIER	6

int tflite_conv_2d_check(const struct op_call *c)
{
	struct window w;

	return tflite_conv_check(c, 0, 1, 2, 0) || tflite_window_read(c, &conv_window, &w) < 0 ?
	       -1 : 0;
}

int tflite_depthwise_check(const struct op_call *c)
{
	struct window w;

	return tflite_conv_check(c, 0, 1, 2, 3) ||
	       tflite_window_read(c, &depthwise_window, &w) < 0 ? -1 : 0;
}

/* What both have in common, with the channels of the output known. */
static int place(const struct op_call *c, struct conv2d *k, const struct window *w,
		 unsigned int bias_type)
{
	const struct tensor *filter = c->in[1];
	int ret;

	k->sums.activation = w->activation;
	k->cv.activation = w->activation;
	ret = tflite_conv_operands(c, &k->sums, 0, 1, 2, bias_type);
	if (ret)
		return ret;
	return window_place(c, w, WINDOW_Y, k->cv.in.y, filter->dims[1], &k->cv.y) ||
	       window_place(c, w, WINDOW_X, k->cv.in.x, filter->dims[2], &k->cv.x) ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int conv_geometry(const struct op_call *c, struct conv2d *k)
{
	const struct tensor *filter = c->in[1];
	struct window w;
	int ret;

	memset(k, 0, sizeof(*k));
	if (op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4))
		return -1;
	ret = tflite_window_read(c, &conv_window, &w);
	if (ret)
		return ret;
	k->cv.in = image_of(c->in[0], false);
	if (k->cv.in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] == 0 || filter->dims[3] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	k->sums.channels = filter->dims[0];
	k->groups = k->cv.in.c / filter->dims[3];
	if (k->cv.in.c % filter->dims[3] || filter->dims[0] % k->groups)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	return place(c, k, &w, BIAS_TYPE);
}

static int depthwise_geometry(const struct op_call *c, struct conv2d *k)
{
	const struct tensor *filter = c->in[1];
	int32_t multiplier;
	struct window w;
	int ret;

	memset(k, 0, sizeof(*k));
	if (op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4))
		return -1;
	ret = tflite_window_read(c, &depthwise_window, &w);
	if (ret)
		return ret;
	if (op_get_i32(c, MULTIPLIER, &multiplier))
		return 1;
	k->cv.in = image_of(c->in[0], false);
	if (k->cv.in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (multiplier < 1 || (uint64_t)k->cv.in.c * (uint32_t)multiplier != filter->dims[3])
		return op_fail(c, NNPU_REASON_VALUE, MULTIPLIER);
	k->sums.channels = filter->dims[3];
	k->multiplier = (uint32_t)multiplier;
	return place(c, k, &w, 0);
}

static int set_shape(const struct op_call *c, const struct conv2d *k)
{
	image_set_shape(c, false, k->cv.in.n, k->cv.y.out, k->cv.x.out, k->sums.channels);
	return 0;
}

int tflite_conv_2d_infer(const struct op_call *c)
{
	struct conv2d k;
	int ret = conv_geometry(c, &k);

	return ret ? ret : set_shape(c, &k);
}

int tflite_depthwise_infer(const struct op_call *c)
{
	struct conv2d k;
	int ret = depthwise_geometry(c, &k);

	return ret ? ret : set_shape(c, &k);
}

size_t tflite_conv_2d_scratch(const struct op_call *c)
{
	return tflite_conv_scratch(c->in[1]->dims[0]);
}

size_t tflite_depthwise_scratch(const struct op_call *c)
{
	return tflite_conv_scratch(c->in[1]->dims[3]);
}

/* The sum of one output, over the taps that lie inside of the image. */
static int conv_sum(struct conv2d *k, struct conv_pixel p, uint32_t channel,
		    union tflite_sum *sum)
{
	const struct conv *cv = &k->cv;
	uint32_t depth = cv->in.c / k->groups, group = channel / (cv->out.c / k->groups);
	bool adjacent = k->groups == 1 && cv->x.dilation == 1;
	uint32_t y, y_last, x_first, x_last;

	window_taps(&cv->y, p.y, &y, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	for (; y < y_last; y++) {
		uint32_t taps = adjacent ? x_last - x_first : 1;

		for (uint32_t x = x_first; x < x_last; x += taps) {
			size_t in = p.n * cv->in.n_stride +
				    window_index(&cv->y, p.y, y) * cv->in.y_stride +
				    window_index(&cv->x, p.x, x) * cv->in.x_stride +
				    (size_t)group * depth;
			size_t filter = (((size_t)channel * cv->y.taps + y) * cv->x.taps + x) *
					depth;

			if (tflite_conv_add(&k->sums, sum, in, filter, (size_t)taps * depth))
				return OP_ABORTED;
		}
		if (op_pace(&k->sums.pace, 8))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_conv_2d_execute(const struct op_call *c)
{
	struct conv_pixel p = { 0, 0, 0 };
	struct conv2d k;
	size_t at = 0;

	if (conv_geometry(c, &k))
		return -1;
	k.cv.out = image_of(c->out[0], false);
	/* Weights of bytes with one scale have a product of scales of their own. */
	if (tflite_conv_start(c, &k.sums, c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM))
		return OP_ABORTED;
	for (; p.n < k.cv.out.n; conv_pixel_next(&k.cv, &p)) {
		for (uint32_t channel = 0; channel < k.cv.out.c; channel++, at++) {
			union tflite_sum sum = { .whole = 0 };

			if (conv_sum(&k, p, channel, &sum) || op_pace(&k.sums.pace, 16))
				return OP_ABORTED;
			tflite_conv_store(&k.sums, sum, channel, at);
		}
	}
	return 0;
}

/* Products of one tap, channels [col, col + n): inputs from @x, weights from @w on. */
static void add_tap(const struct conv2d *k, size_t x, size_t w, uint32_t col, unsigned int n,
		    union tflite_sum *sums)
{
	const struct tflite_conv *t = &k->sums;
	uint32_t multiplier = k->multiplier;

	if (t->in->type == NNPU_TYPE_TENSOR_FLOAT32) {
		const float *in = (const float *)t->in->data + x;
		const float *weights = (const float *)t->filter->data + w;

		for (unsigned int i = 0; i < n; i++)
			sums[i].real += in[(col + i) / multiplier] * weights[i];
	} else if (t->in->type == NNPU_TYPE_TENSOR_QUANT16_SYMM) {
		const int16_t *in = (const int16_t *)t->in->data + x;
		const int8_t *weights = (const int8_t *)t->filter->data + w;

		for (unsigned int i = 0; i < n; i++)
			sums[i].whole += in[(col + i) / multiplier] * weights[i];
	} else {
		const uint8_t *in = (const uint8_t *)t->in->data + x;
		const uint8_t *weights = (const uint8_t *)t->filter->data + w;

		for (unsigned int i = 0; i < n; i++)
			sums[i].whole += qbyte_value(in[(col + i) / multiplier], t->in_byte) *
					 qbyte_value(weights[i], t->filter_byte);
	}
}

static int depthwise_sums(struct conv2d *k, struct conv_pixel p, uint32_t col, unsigned int n,
			  union tflite_sum *sums)
{
	const struct conv *cv = &k->cv;
	uint32_t y, y_last, x_first, x_last;

	window_taps(&cv->y, p.y, &y, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	for (; y < y_last; y++) {
		for (uint32_t x = x_first; x < x_last; x++) {
			size_t in = p.n * cv->in.n_stride +
				    window_index(&cv->y, p.y, y) * cv->in.y_stride +
				    window_index(&cv->x, p.x, x) * cv->in.x_stride;

			add_tap(k, in, ((size_t)y * cv->x.taps + x) * cv->out.c + col, col, n,
				sums);
			if (op_pace(&k->sums.pace, n + 8))
				return OP_ABORTED;
		}
		if (op_pace(&k->sums.pace, 8))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_depthwise_execute(const struct op_call *c)
{
	struct conv_pixel p = { 0, 0, 0 };
	struct conv2d k;
	size_t at = 0;

	if (depthwise_geometry(c, &k))
		return -1;
	k.cv.out = image_of(c->out[0], false);
	if (tflite_conv_start(c, &k.sums, c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM))
		return OP_ABORTED;
	for (; p.n < k.cv.out.n; conv_pixel_next(&k.cv, &p)) {
		for (uint32_t col = 0, n; col < k.cv.out.c; col += n) {
			union tflite_sum sums[COLS] = { 0 };

			n = k.cv.out.c - col < COLS ? k.cv.out.c - col : COLS;
			if (depthwise_sums(&k, p, col, n, sums) || op_pace(&k.sums.pace, n * 8))
				return OP_ABORTED;
			for (uint32_t i = 0; i < n; i++)
				tflite_conv_store(&k.sums, sums[i], col + i, at++);
		}
	}
	return 0;
}
