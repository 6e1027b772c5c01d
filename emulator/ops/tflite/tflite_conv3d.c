// SPDX-License-Identifier: MIT
/*
 * CONV_3D and CONV_3D_TRANSPOSE of org.nnpu.tflite, of floats.
 *
 * CONV_3D: 0 volume [batch, depth, height, width, channels], 1 filter [depth, height, width,
 * channels, out channels], 2 bias (may be omitted), then from 3 on the scalars.
 * CONV_3D_TRANSPOSE: 0 shape of the output, 1 filter [depth, height, width, out channels,
 * channels], 2 volume, 3 bias (may be omitted), then from 4 on the scalars.
 * Scalars: padding, strides of depth, width and height, activation, dilations of depth, width and
 * height.
 */
#include <string.h>

#include "tflite_conv.h"

/* Output channels that are computed together. */
#define COLS	64u

enum axis { DEPTH, HEIGHT, WIDTH, AXES };

struct volume {
	struct window_span axis[AXES];
	uint32_t batch, in_channels, out_channels;
	const float *in, *filter, *bias;
	struct frange range;
	struct op_pace pace;
};

struct scalars {
	bool same;
	int32_t stride[AXES], dilation[AXES];
	enum activation activation;
};

/* Read the scalars from position @first on: 0, 1 or -1. */
static int read_scalars(const struct op_call *c, unsigned int first, struct scalars *s)
{
	static const enum axis order[AXES] = { DEPTH, WIDTH, HEIGHT };
	int32_t padding;

	if (op_get_i32(c, first, &padding))
		return 1;
	if (padding != TFLITE_SAME && padding != TFLITE_VALID)
		return op_fail(c, NNPU_REASON_VALUE, first);
	s->same = padding == TFLITE_SAME;
	for (unsigned int i = 0; i < AXES; i++) {
		unsigned int stride = first + 1 + i, dilation = first + 5 + i;

		if (op_get_i32(c, stride, &s->stride[order[i]]) ||
		    op_get_i32(c, dilation, &s->dilation[order[i]]))
			return 1;
		if (s->stride[order[i]] < 1)
			return op_fail(c, NNPU_REASON_VALUE, stride);
		if (s->dilation[order[i]] < 1)
			return op_fail(c, NNPU_REASON_VALUE, dilation);
	}
	return op_get_activation(c, first + 4, &s->activation);
}

int tflite_conv_3d_check(const struct op_call *c)
{
	struct scalars s;

	return read_scalars(c, 3, &s) < 0 ? -1 : 0;
}

int tflite_conv_3d_transpose_check(const struct op_call *c)
{
	struct scalars s;

	return read_scalars(c, 4, &s) < 0 ? -1 : 0;
}

/* Shape of the bias at position @i. */
static int check_bias(const struct op_call *c, unsigned int i, uint32_t channels)
{
	if (!op_has_input(c, i))
		return 0;
	if (op_check_rank(c, i, 1, 1))
		return -1;
	return c->in[i]->dims[0] == channels ? 0 : op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
}

/* Inputs @in and @filter; the filter's channels of the input are dimension @channel_dim. */
static int check_shapes(const struct op_call *c, struct volume *v, unsigned int in,
			unsigned int filter, unsigned int channel_dim)
{
	if (op_check_rank(c, in, 5, 5) || op_check_rank(c, filter, 5, 5))
		return -1;
	v->batch = c->in[in]->dims[0];
	v->in_channels = c->in[in]->dims[4];
	v->out_channels = c->in[filter]->dims[7 - channel_dim];
	if (v->in_channels == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, in);
	if (tensor_elements(c->in[filter]) == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, filter);
	if (c->in[filter]->dims[channel_dim] != v->in_channels)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, filter);
	return check_bias(c, filter + (in > filter ? 2u : 1u), v->out_channels);
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct volume *v)
{
	struct scalars s;
	int ret = read_scalars(c, 3, &s);

	memset(v, 0, sizeof(*v));
	if (ret)
		return ret;
	if (check_shapes(c, v, 0, 1, 3))
		return -1;
	v->range = frange_of(s.activation);
	for (unsigned int a = 0; a < AXES; a++) {
		struct window w = {
			.same = s.same, .stride = { s.stride[a] }, .dilation = { s.dilation[a] },
		};

		if (window_place(c, &w, WINDOW_Y, c->in[0]->dims[1 + a], c->in[1]->dims[a],
				 &v->axis[a]))
			return -1;
	}
	return 0;
}

int tflite_conv_3d_infer(const struct op_call *c)
{
	struct volume v;
	int ret = geometry(c, &v);

	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 5, (uint32_t[]){ v.batch, v.axis[DEPTH].out,
						     v.axis[HEIGHT].out, v.axis[WIDTH].out,
						     v.out_channels });
	return 0;
}

/* Products of the channels of one tap, output channels [col, col + n). */
static int add_tap(struct volume *v, const float *x, const float *w, unsigned int n, float *acc)
{
	for (uint32_t i = 0; i < v->in_channels; i++, w += v->out_channels) {
		for (unsigned int k = 0; k < n; k++)
			acc[k] += x[i] * w[k];
		if (op_pace(&v->pace, n / 2 + 4))
			return OP_ABORTED;
	}
	return 0;
}

/* Output channels [col, col + n) at a position. */
static int sum_at(struct volume *v, uint32_t batch, const uint32_t *at, uint32_t col,
		  unsigned int n, float *acc)
{
	const struct window_span *d = &v->axis[DEPTH], *h = &v->axis[HEIGHT], *w = &v->axis[WIDTH];
	uint32_t first[AXES], last[AXES];

	for (unsigned int a = 0; a < AXES; a++)
		window_taps(&v->axis[a], at[a], &first[a], &last[a]);
	for (uint32_t td = first[DEPTH]; td < last[DEPTH]; td++) {
		for (uint32_t th = first[HEIGHT]; th < last[HEIGHT]; th++) {
			for (uint32_t tw = first[WIDTH]; tw < last[WIDTH]; tw++) {
				size_t in = ((batch * (size_t)d->in +
					      window_index(d, at[DEPTH], td)) * h->in +
					     window_index(h, at[HEIGHT], th)) * w->in +
					    window_index(w, at[WIDTH], tw);
				size_t tap = ((size_t)td * h->taps + th) * w->taps + tw;

				if (add_tap(v, v->in + in * v->in_channels,
					    v->filter + tap * v->in_channels * v->out_channels +
					    col, n, acc))
					return OP_ABORTED;
			}
			if (op_pace(&v->pace, 8))
				return OP_ABORTED;
		}
	}
	return 0;
}

/* Split the number of an output position. Returns the batch. */
static uint32_t position(const uint32_t *sizes, size_t i, uint32_t *at)
{
	for (unsigned int a = AXES; a-- > 0; i /= sizes[a])
		at[a] = (uint32_t)(i % sizes[a]);
	return (uint32_t)i;
}

int tflite_conv_3d_execute(const struct op_call *c)
{
	float *out = c->out[0]->data;
	uint32_t at[AXES];
	struct volume v;

	if (geometry(c, &v))
		return -1;
	v.in = c->in[0]->data;
	v.filter = c->in[1]->data;
	v.bias = op_has_input(c, 2) ? c->in[2]->data : NULL;
	v.pace.progress = c->progress;
	for (size_t i = 0; i < tensor_elements_of(c->out[0], 0, 4); i++) {
		uint32_t batch = position(&c->out[0]->dims[1], i, at);

		for (uint32_t col = 0, n; col < v.out_channels; col += n, out += n) {
			float acc[COLS] = { 0 };

			n = v.out_channels - col < COLS ? v.out_channels - col : COLS;
			if (sum_at(&v, batch, at, col, n, acc) || op_pace(&v.pace, n + 8))
				return OP_ABORTED;
			for (uint32_t k = 0; k < n; k++)
				out[k] = f_clamp(v.bias ? acc[k] + v.bias[col + k] : acc[k],
						 v.range.min, v.range.max);
		}
	}
	return 0;
}

/* 0; 1 if a value is not known before the job runs; -1 with error. */
static int transposed_geometry(const struct op_call *c, struct volume *v, uint32_t *dims)
{
	unsigned int rank;
	struct scalars s;
	int ret = read_scalars(c, 4, &s);

	memset(v, 0, sizeof(*v));
	if (!ret)
		ret = tflite_get_shape(c, 0, &rank, dims);
	if (ret)
		return ret;
	if (check_shapes(c, v, 2, 1, 4))
		return -1;
	if (rank != 5)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (dims[0] != v->batch || dims[4] != v->out_channels)
		return op_fail(c, NNPU_REASON_VALUE, 0);
	v->range = frange_of(s.activation);
	for (unsigned int a = 0; a < AXES; a++) {
		struct window_span *span = &v->axis[a];
		int64_t out = dims[1 + a], steps = (out + s.stride[a] - 1) / s.stride[a];
		int64_t taps = c->in[1]->dims[a], missing;

		/* The padding in front of a convolution of the output with this filter. */
		missing = (steps - 1) * s.stride[a] + (taps - 1) * s.dilation[a] + 1 - out;
		if (s.same && missing / 2 > INT32_MAX)
			return op_fail(c, NNPU_REASON_OVERFLOW, 1);
		*span = (struct window_span){
			.in = c->in[2]->dims[1 + a], .out = dims[1 + a], .taps = (uint32_t)taps,
			.stride = s.stride[a], .dilation = s.dilation[a],
			.pad = s.same && missing > 0 ? (int32_t)(missing / 2) : 0,
		};
	}
	return 0;
}

int tflite_conv_3d_transpose_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	struct volume v;
	int ret = transposed_geometry(c, &v, dims);

	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 5, dims);
	return 0;
}

/* The input that reaches output @o through tap @tap, or -1. */
static int64_t reached_from(const struct window_span *s, uint32_t o, uint32_t tap)
{
	int64_t at = (int64_t)o + s->pad - (int64_t)tap * s->dilation;

	return at >= 0 && at % s->stride == 0 && at / s->stride < s->in ? at / s->stride : -1;
}

/* All output channels at a position. */
static int spread_at(struct volume *v, uint32_t batch, const uint32_t *at, float *out)
{
	const struct window_span *s = v->axis;
	size_t taps = (size_t)s[DEPTH].taps * s[HEIGHT].taps * s[WIDTH].taps;

	for (size_t tap = 0; tap < taps; tap++) {
		int64_t d = reached_from(&s[DEPTH], at[DEPTH],
					 (uint32_t)(tap / s[WIDTH].taps / s[HEIGHT].taps));
		int64_t h = reached_from(&s[HEIGHT], at[HEIGHT],
					 (uint32_t)(tap / s[WIDTH].taps % s[HEIGHT].taps));
		int64_t w = reached_from(&s[WIDTH], at[WIDTH], (uint32_t)(tap % s[WIDTH].taps));
		const float *x, *f = v->filter + tap * v->out_channels * v->in_channels;

		if (op_pace(&v->pace, 16))
			return OP_ABORTED;
		if (d < 0 || h < 0 || w < 0)
			continue;
		x = v->in + (((batch * (size_t)s[DEPTH].in + (size_t)d) * s[HEIGHT].in +
			      (size_t)h) * s[WIDTH].in + (size_t)w) * v->in_channels;
		for (uint32_t k = 0; k < v->out_channels; k++, f += v->in_channels) {
			for (uint32_t i = 0; i < v->in_channels &&
			     !op_pace_row(&v->pace, i, 1); i++)
				out[k] += x[i] * f[i];
			if (op_pace(&v->pace, v->in_channels % OP_PACE_RUN + 4))
				return OP_ABORTED;
		}
	}
	return 0;
}

int tflite_conv_3d_transpose_execute(const struct op_call *c)
{
	uint32_t at[AXES], dims[NNPU_MAX_RANK];
	float *out = c->out[0]->data;
	struct volume v;

	if (transposed_geometry(c, &v, dims))
		return -1;
	v.in = c->in[2]->data;
	v.filter = c->in[1]->data;
	v.bias = op_has_input(c, 3) ? c->in[3]->data : NULL;
	v.pace.progress = c->progress;
	for (size_t i = 0; i < tensor_elements_of(c->out[0], 0, 4); i++, out += v.out_channels) {
		uint32_t batch = position(&dims[1], i, at);

		for (uint32_t k = 0; k < v.out_channels && !op_pace_row(&v.pace, k, 1); k++)
			out[k] = 0.0f;
		if (spread_at(&v, batch, at, out))
			return OP_ABORTED;
		for (uint32_t k = 0; k < v.out_channels && !op_pace_row(&v.pace, k, 2); k++)
			out[k] = f_clamp(v.bias ? out[k] + v.bias[k] : out[k], v.range.min,
					 v.range.max);
	}
	return 0;
}
