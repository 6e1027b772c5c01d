// SPDX-License-Identifier: MIT
/*
 * CONV_2D.
 *
 * Inputs: 0 image, 1 filter [out channels, height, width, in channels], 2 bias,
 * then the window scalars.
 */
#include "conv.h"
#include "kernels.h"
#include "ops.h"
#include "quant.h"

static const struct window_form form = { .first = 3, .dilation = true };

int conv2d_check(const struct op_call *c)
{
	struct window w;

	if (op_check_operands(c) || op_check_weights(c, 0) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4) ||
	    op_check_rank(c, 2, 1, 1) || op_check_rank(c, op_output(c, 0), 4, 4) ||
	    window_check(c, form))
		return -1;
	return window_read(c, form, &w) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int conv2d_geometry(const struct op_call *c, struct conv *cv, struct window *w)
{
	const struct tensor *filter = c->in[1];
	int ret = window_read(c, form, w);

	if (ret)
		return ret;
	cv->in = image_of(c->in[0], w->nchw);
	cv->activation = w->activation;
	if (cv->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (filter->dims[3] != cv->in.c)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[2]->dims[0] != filter->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (window_place(c, w, WINDOW_Y, cv->in.y, filter->dims[1], &cv->y) ||
	    window_place(c, w, WINDOW_X, cv->in.x, filter->dims[2], &cv->x))
		return -1;
	return 0;
}

int conv2d_infer(const struct op_call *c)
{
	struct window w;
	struct conv cv;
	int ret = conv2d_geometry(c, &cv, &w);

	if (ret)
		return ret;
	image_set_shape(c, w.nchw, cv.in.n, cv.y.out, cv.x.out, c->in[1]->dims[0]);
	return 0;
}

int conv2d_prepare(struct op_call *c, size_t *bytes)
{
	const struct tensor *filter = c->in[1];

	if (!tensor_is_const(filter) || !filter->shape_known)
		return 0;
	return conv_prepare(c, filter->dims[0], tensor_elements_of(filter, 1, 4), bytes);
}

size_t conv2d_scratch(const struct op_call *c)
{
	const struct tensor *filter = c->in[1];

	return conv_scratch(c, filter->dims[0], tensor_elements_of(filter, 1, 4));
}

int conv2d_execute(const struct op_call *c)
{
	struct window w;
	struct conv cv;

	if (conv2d_geometry(c, &cv, &w))
		return -1;
	cv.out = image_of(c->out[0], w.nchw);
	return conv_execute(c, &cv);
}

int conv_execute(const struct op_call *c, const struct conv *cv)
{
	if (kernels_plain())
		return conv_plain_execute(c, cv);
	if (type_is_quant8(c->in[0]->type))
		return conv_quant_execute(c, cv);
	return conv_float_execute(c, cv);
}
