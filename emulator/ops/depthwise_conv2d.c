// SPDX-License-Identifier: MIT
/*
 * DEPTHWISE_CONV_2D.
 *
 * Inputs: 0 image, 1 filter [1, height, width, out channels], 2 bias, then the
 * window scalars with the depth multiplier. Output channel i reads input channel
 * i / multiplier.
 */
#include "conv.h"
#include "kernels.h"
#include "ops.h"

#include <stdlib.h>
#include <string.h>

static const struct window_form form = { .first = 3, .extra = 1, .dilation = true };

struct depthwise {
	struct conv cv;
	uint32_t multiplier;
};

/* Filter of a quantized call without zero point, taps by channels. */
struct depthwise_weights {
	size_t elements;
	int16_t weights[];
};

int depthwise_conv2d_check(const struct op_call *c)
{
	struct window w;

	if (op_check_operands(c) || op_check_weights(c, 3) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4) ||
	    op_check_rank(c, 2, 1, 1) || op_check_rank(c, op_output(c, 0), 4, 4) ||
	    window_check(c, form))
		return -1;
	return window_read(c, form, &w) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct depthwise *d, struct window *w)
{
	const struct tensor *filter = c->in[1];
	struct conv *cv = &d->cv;
	int ret = window_read(c, form, w);

	if (ret)
		return ret;
	cv->in = image_of(c->in[0], w->nchw);
	cv->activation = w->activation;
	d->multiplier = (uint32_t)w->extra[0];
	if (cv->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if ((uint64_t)cv->in.c * d->multiplier != filter->dims[3])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, w->extra_operand);
	if (c->in[2]->dims[0] != filter->dims[3])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (window_place(c, w, WINDOW_Y, cv->in.y, filter->dims[1], &cv->y) ||
	    window_place(c, w, WINDOW_X, cv->in.x, filter->dims[2], &cv->x))
		return -1;
	return 0;
}

int depthwise_conv2d_infer(const struct op_call *c)
{
	struct depthwise d;
	struct window w;
	int ret = geometry(c, &d, &w);

	if (ret)
		return ret;
	image_set_shape(c, w.nchw, d.cv.in.n, d.cv.y.out, d.cv.x.out, c->in[1]->dims[3]);
	return 0;
}

int depthwise_conv2d_prepare(struct op_call *c, size_t *bytes)
{
	const struct tensor *filter = c->in[1];
	struct depthwise_weights *p;
	size_t elements, size;

	if (!type_is_quant8(c->in[0]->type) || !tensor_is_const(filter) ||
	    !filter->shape_known)
		return 0;
	elements = tensor_elements(filter);
	if (__builtin_mul_overflow(elements, sizeof(p->weights[0]), &size) ||
	    __builtin_add_overflow(size, sizeof(*p), &size))
		return 0;
	p = malloc(size);
	if (!p)
		return 0;	/* execution does without */
	p->elements = elements;
	kernels_get()->widen(filter->data, qbyte_of(filter), elements, p->weights);
	c->prepared = p;
	*bytes += size;
	return 0;
}

/* Inputs of output channels [col, col + n) at @src, channel 0 of a pixel. */
static void load_inputs(const struct kernels *k, const struct depthwise *d, struct qbyte b,
			const uint8_t *src, uint32_t col, unsigned int n, int16_t *dst)
{
	size_t stride = d->cv.in.c_stride;

	if (d->multiplier == 1 && stride == 1) {
		k->widen(src + col, b, n, dst);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		dst[i] = qbyte_value(src[(col + i) / d->multiplier * stride], b);
}

/* One output pixel, channels [col, col + n); @in is its batch. 0 or OP_ABORTED. */
static int quant_pixel(const struct kernels *k, const struct op_call *c,
		       const struct depthwise *d, const uint8_t *in, struct conv_pixel p,
		       uint32_t col, unsigned int n, int32_t *acc, struct op_pace *pace)
{
	const struct depthwise_weights *packed = c->prepared;
	const struct conv *cv = &d->cv;
	struct qbyte in_byte = qbyte_of(c->in[0]), filter_byte = qbyte_of(c->in[1]);
	int16_t inputs[KERNEL_COLS], unpacked[KERNEL_COLS];
	uint32_t y_first, y_last, x_first, x_last;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	memcpy(acc, (const int32_t *)c->in[2]->data + col, n * sizeof(*acc));
	for (uint32_t ty = y_first; ty < y_last; ty++) {
		const uint8_t *row = in + window_index(&cv->y, p.y, ty) * cv->in.y_stride;

		for (uint32_t tx = x_first; tx < x_last; tx++) {
			size_t at = ((size_t)ty * cv->x.taps + tx) * cv->out.c + col;
			const int16_t *weights = unpacked;

			load_inputs(k, d, in_byte,
				    row + window_index(&cv->x, p.x, tx) * cv->in.x_stride,
				    col, n, inputs);
			if (packed)
				weights = packed->weights + at;
			else
				k->widen((const uint8_t *)c->in[1]->data + at, filter_byte, n,
					 unpacked);
			k->mac(inputs, weights, n, acc);
		}
		if (op_pace(pace, (size_t)(x_last - x_first + 2) * (n + 8)))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_quant(const struct op_call *c, const struct depthwise *d)
{
	const struct kernels *k = kernels_get();
	const struct conv *cv = &d->cv;
	size_t pixels = (size_t)cv->out.n * cv->out.y * cv->out.x;
	struct op_pace pace = { .progress = c->progress };
	int32_t acc[KERNEL_COLS];
	uint8_t values[KERNEL_COLS];
	struct qcols q;

	for (uint32_t col = 0; col < cv->out.c; col += KERNEL_COLS) {
		unsigned int n = cv->out.c - col < KERNEL_COLS ? cv->out.c - col : KERNEL_COLS;
		struct conv_pixel p = { 0, 0, 0 };

		conv_quant_cols(c, cv->activation, col, n, &q);
		for (size_t i = 0; i < pixels; i++, conv_pixel_next(cv, &p)) {
			uint8_t *dst = (uint8_t *)c->out[0]->data + conv_pixel_offset(cv, p) +
				       col * cv->out.c_stride;

			if (quant_pixel(k, c, d, (const uint8_t *)c->in[0]->data +
					p.n * cv->in.n_stride, p, col, n, acc, &pace))
				return OP_ABORTED;
			k->requantize(acc, &q, n, values);
			for (unsigned int j = 0; j < n; j++)
				dst[j * cv->out.c_stride] = values[j];
		}
	}
	return 0;
}

/* Channels of a float pixel that are computed together. */
#define FLOAT_COLS	64

static int float_pixel(const struct op_call *c, const struct depthwise *d, const float *in,
		       struct conv_pixel p, uint32_t col, unsigned int n, float *acc,
		       struct op_pace *pace)
{
	const struct conv *cv = &d->cv;
	uint32_t y_first, y_last, x_first, x_last;
	float inputs[FLOAT_COLS];

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	memset(acc, 0, n * sizeof(*acc));
	for (uint32_t ty = y_first; ty < y_last; ty++) {
		const float *row = in + window_index(&cv->y, p.y, ty) * cv->in.y_stride;

		for (uint32_t tx = x_first; tx < x_last; tx++) {
			const float *src = row + window_index(&cv->x, p.x, tx) * cv->in.x_stride;
			const float *weights = (const float *)c->in[1]->data + col +
					       ((size_t)ty * cv->x.taps + tx) * cv->out.c;

			for (unsigned int i = 0; i < n; i++)
				inputs[i] = src[(col + i) / d->multiplier * cv->in.c_stride];
			for (unsigned int i = 0; i < n; i++)
				acc[i] += inputs[i] * weights[i];
		}
		if (op_pace(pace, (size_t)(x_last - x_first + 2) * (n + 8)))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_float(const struct op_call *c, const struct depthwise *d)
{
	const struct conv *cv = &d->cv;
	size_t pixels = (size_t)cv->out.n * cv->out.y * cv->out.x;
	struct frange range = frange_of(cv->activation);
	struct op_pace pace = { .progress = c->progress };
	float acc[FLOAT_COLS];

	for (uint32_t col = 0; col < cv->out.c; col += FLOAT_COLS) {
		unsigned int n = cv->out.c - col < FLOAT_COLS ? cv->out.c - col : FLOAT_COLS;
		const float *bias = (const float *)c->in[2]->data + col;
		struct conv_pixel p = { 0, 0, 0 };

		for (size_t i = 0; i < pixels; i++, conv_pixel_next(cv, &p)) {
			float *dst = (float *)c->out[0]->data + conv_pixel_offset(cv, p) +
				     col * cv->out.c_stride;

			if (float_pixel(c, d, (const float *)c->in[0]->data +
					p.n * cv->in.n_stride, p, col, n, acc, &pace))
				return OP_ABORTED;
			for (unsigned int j = 0; j < n; j++)
				dst[j * cv->out.c_stride] = f_clamp(acc[j] + bias[j], range.min,
								    range.max);
		}
	}
	return 0;
}

int depthwise_conv2d_execute(const struct op_call *c)
{
	struct depthwise d;
	struct window w;

	if (geometry(c, &d, &w))
		return -1;
	if (c->out[0]->bytes == 0)
		return 0;
	d.cv.out = image_of(c->out[0], w.nchw);
	if (type_is_quant8(c->in[0]->type))
		return execute_quant(c, &d);
	return execute_float(c, &d);
}
