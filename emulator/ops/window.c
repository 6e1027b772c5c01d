// SPDX-License-Identifier: MIT
/*
 * Sliding windows of convolutions and poolings.
 */
#include "window.h"

#include <string.h>

/* Padding schemes of the HAL. */
#define PADDING_SAME	1
#define PADDING_VALID	2

/* The positions of the operands, which follow from their count and types. */
struct window_places {
	bool explicit_padding;
	bool layout;
	bool dilation;
	unsigned int strides;		/* position of stride x */
	unsigned int activation;
};

static int window_locate(const struct op_call *c, struct window_form form,
			 struct window_places *p)
{
	unsigned int implicit = form.first + 4u + form.extra;	/* operands, nothing optional */
	unsigned int explicit = implicit + 3;
	unsigned int n = c->num_inputs;
	unsigned int optional;

	/* Three optional operands or explicit padding: the layout flag is a BOOL. */
	if (n == explicit && form.dilation)
		p->explicit_padding = c->in[implicit]->type != NNPU_TYPE_BOOL;
	else
		p->explicit_padding = n >= explicit;

	optional = n - (p->explicit_padding ? explicit : implicit);
	if (n < implicit || optional == 2 || optional > (form.dilation ? 3 : 1))
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	p->layout = optional > 0;
	p->dilation = optional == 3;
	p->strides = form.first + (p->explicit_padding ? 4 : 1);
	p->activation = p->strides + 2 + form.extra;
	return 0;
}

int window_check(const struct op_call *c, struct window_form form)
{
	struct window_places p;

	if (window_locate(c, form, &p))
		return -1;
	for (unsigned int i = form.first; i < c->num_inputs; i++) {
		bool flag = p.layout && i == p.activation + 1;

		if (op_check_type(c, i, flag ? TYPE_BIT(BOOL) : TYPE_BIT(INT32)))
			return -1;
	}
	return 0;
}

/* Read an INT32 that is at least @min; 0, 1 or -1 as window_read(). */
static int read_at_least(const struct op_call *c, unsigned int i, int32_t min, int32_t *v)
{
	if (op_get_i32(c, i, v))
		return 1;
	return *v < min ? op_fail(c, NNPU_REASON_VALUE, i) : 0;
}

static int read_padding(const struct op_call *c, unsigned int first, struct window *w)
{
	static const enum window_axis axis[4] = { WINDOW_X, WINDOW_X, WINDOW_Y, WINDOW_Y };
	int32_t scheme;
	int ret;

	if (!w->explicit_padding) {
		if (op_get_i32(c, first, &scheme))
			return 1;
		if (scheme != PADDING_SAME && scheme != PADDING_VALID)
			return op_fail(c, NNPU_REASON_VALUE, first);
		w->same = scheme == PADDING_SAME;
		return 0;
	}
	for (unsigned int i = 0; i < 4; i++) {
		int32_t *pad = i % 2 ? w->pad_after : w->pad_before;

		ret = read_at_least(c, first + i, 0, &pad[axis[i]]);
		if (ret)
			return ret;
	}
	return 0;
}

/* A pair of scalars, x first, each at least 1. */
static int read_pair(const struct op_call *c, unsigned int first, int32_t *v)
{
	int ret = read_at_least(c, first, 1, &v[WINDOW_X]);

	return ret ? ret : read_at_least(c, first + 1, 1, &v[WINDOW_Y]);
}

int window_read(const struct op_call *c, struct window_form form, struct window *w)
{
	struct window_places p;
	int ret;

	memset(w, 0, sizeof(*w));
	w->dilation[WINDOW_X] = 1;
	w->dilation[WINDOW_Y] = 1;
	if (window_locate(c, form, &p))
		return -1;
	w->explicit_padding = p.explicit_padding;
	w->pad_operand = form.first;
	w->extra_operand = (uint16_t)(p.strides + 2);

	ret = read_padding(c, form.first, w);
	if (!ret)
		ret = read_pair(c, p.strides, w->stride);
	for (unsigned int i = 0; !ret && i < form.extra; i++)
		ret = read_at_least(c, w->extra_operand + i, 1, &w->extra[i]);
	if (!ret)
		ret = op_get_activation(c, p.activation, &w->activation);
	if (!ret && p.layout)
		ret = op_get_bool(c, p.activation + 1, &w->nchw);
	if (!ret && p.dilation)
		ret = read_pair(c, p.activation + 2, w->dilation);
	return ret;
}

int window_place(const struct op_call *c, const struct window *w, enum window_axis axis,
		 uint32_t in, uint32_t taps, struct window_span *span)
{
	/* The bounds of the factors keep every product below 2^63. */
	int64_t size = ((int64_t)taps - 1) * w->dilation[axis] + 1;
	int64_t before = 0, after = 0;
	int64_t stride = w->stride[axis];
	int64_t out, missing;

	if (in == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (taps == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (w->explicit_padding) {
		before = w->pad_before[axis];
		after = w->pad_after[axis];
		if (before >= size || after >= size)
			return op_fail(c, NNPU_REASON_VALUE, w->pad_operand +
				       (axis == WINDOW_Y ? 2u : 0u) + (before >= size ? 0u : 1u));
	} else if (w->same) {
		out = ((int64_t)in + stride - 1) / stride;
		missing = (out - 1) * stride + size - in;
		if (missing > 0) {
			before = missing / 2;
			after = missing - before;
		}
	}
	if (size > before + in + after)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	if (before > INT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 1);
	out = (before + in + after - size) / stride + 1;
	if (out > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);

	span->in = in;
	span->out = (uint32_t)out;
	span->taps = taps;
	span->stride = w->stride[axis];
	span->dilation = w->dilation[axis];
	span->pad = (int32_t)before;
	return 0;
}

struct image image_of(const struct tensor *t, bool nchw)
{
	struct image m = { .n = t->dims[0] };

	if (nchw) {
		m.c = t->dims[1];
		m.y = t->dims[2];
		m.x = t->dims[3];
		m.c_stride = (size_t)m.y * m.x;
		m.y_stride = m.x;
		m.x_stride = 1;
	} else {
		m.y = t->dims[1];
		m.x = t->dims[2];
		m.c = t->dims[3];
		m.c_stride = 1;
		m.y_stride = (size_t)m.x * m.c;
		m.x_stride = m.c;
	}
	m.n_stride = (size_t)m.y * m.x * m.c;
	return m;
}

void image_set_shape(const struct op_call *c, bool nchw, uint32_t n, uint32_t y, uint32_t x,
		     uint32_t channels)
{
	uint32_t dims[4] = { n, y, x, channels };

	if (nchw) {
		dims[1] = channels;
		dims[2] = y;
		dims[3] = x;
	}
	tensor_set_shape(c->out[0], 4, dims);
}
