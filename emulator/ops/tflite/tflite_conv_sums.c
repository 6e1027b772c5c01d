// SPDX-License-Identifier: MIT
/*
 * Sums of products of convolutions, and what their operands are.
 */
#include "tflite_conv.h"

/* Products of a 16-bit integer and a byte of which 32 bits hold the sum. */
#define NARROW_RUN	256u

static bool filter_is_byte(enum nnpu_type t)
{
	return t == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED || t == NNPU_TYPE_TENSOR_QUANT8_SYMM ||
	       t == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;
}

int tflite_conv_check(const struct op_call *c, unsigned int in, unsigned int filter,
		      unsigned int bias, unsigned int channel_dim)
{
	const struct tensor *w = c->in[filter], *b = c->in[bias];
	enum tflite_type type = tflite_type_of(c->in[in]);
	bool bytes = type == TFLITE_INT8 || type == TFLITE_INT16;
	enum tflite_type bias_type;

	if (op_check_same_type(c, op_output(c, 0), in))
		return -1;
	if (bytes ? !filter_is_byte(w->type) : w->type != c->in[in]->type)
		return op_fail(c, NNPU_REASON_TYPE, filter);
	if (bytes && tensor_zero_point(w))
		return op_fail(c, NNPU_REASON_ZERO_POINT, filter);
	if (tensor_is_per_channel(w) && w->channel_dim != channel_dim)
		return op_fail(c, NNPU_REASON_CHANNEL_QUANT, filter);
	if (!tensor_has_value(b))
		return 0;
	bias_type = tflite_type_of(b);
	if (type == TFLITE_FLOAT32 ? bias_type != TFLITE_FLOAT32 :
	    bias_type != TFLITE_INT32 && !(type == TFLITE_INT16 && bias_type == TFLITE_INT64))
		return op_fail(c, NNPU_REASON_TYPE, bias);
	return op_check_rank(c, bias, 1, 1);
}

/* Read an INT32 that is at least @min; 0, 1 or -1. */
static int read_at_least(const struct op_call *c, unsigned int i, int32_t min, int32_t *v)
{
	if (op_get_i32(c, i, v))
		return 1;
	return *v < min ? op_fail(c, NNPU_REASON_VALUE, i) : 0;
}

/* Width, then height. */
static int read_pair(const struct op_call *c, unsigned int i, int32_t *v)
{
	int ret = read_at_least(c, i, 1, &v[WINDOW_X]);

	return ret ? ret : read_at_least(c, i + 1, 1, &v[WINDOW_Y]);
}

int tflite_window_read(const struct op_call *c, const struct tflite_window *at, struct window *w)
{
	int32_t padding;
	int ret = 0;

	*w = (struct window){ .dilation = { 1, 1 } };
	if (op_get_i32(c, at->padding, &padding))
		return 1;
	if (padding != TFLITE_SAME && padding != TFLITE_VALID)
		return op_fail(c, NNPU_REASON_VALUE, at->padding);
	w->same = padding == TFLITE_SAME;
	ret = read_pair(c, at->stride, w->stride);
	if (!ret && at->dilation)
		ret = read_pair(c, at->dilation, w->dilation);
	if (!ret && at->activation)
		ret = op_get_activation(c, at->activation, &w->activation);
	return ret;
}

int tflite_conv_operands(const struct op_call *c, struct tflite_conv *t, unsigned int in,
			 unsigned int filter, unsigned int bias, unsigned int bias_type)
{
	bool has_bias = tensor_has_value(c->in[bias]), wide = true;
	int32_t type = TFLITE_FLOAT32;

	t->in = c->in[in];
	t->filter = c->in[filter];
	t->bias = has_bias ? c->in[bias] : NULL;
	t->out = c->out[0];
	if (has_bias) {
		if (op_check_rank(c, bias, 1, 1))
			return -1;
		if (t->bias->dims[0] != t->channels)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, bias);
		type = tflite_type_of(t->bias);
	} else if (bias_type && op_get_i32(c, bias_type, &type)) {
		return 1;
	}
	if (type == TFLITE_INT32 || type == TFLITE_INT64)
		wide = type == TFLITE_INT64;
	t->wide = wide && t->in->type == NNPU_TYPE_TENSOR_QUANT16_SYMM;
	return 0;
}

size_t tflite_conv_scratch(uint32_t channels)
{
	return scratch_add(0, channels, sizeof(struct qfactor));
}

static struct qfactor factor_of(const struct tflite_conv *t, uint32_t channel, bool single)
{
	double in = t->in->scale, out = t->out->scale;
	float product;

	if (tensor_is_per_channel(t->filter))
		return qfactor_from(in * t->filter->channel_scales[channel] / out);
	product = t->in->scale * t->filter->scale;
	return qfactor_from((single ? product : in * t->filter->scale) / out);
}

int tflite_conv_start(const struct op_call *c, struct tflite_conv *t, bool single)
{
	bool per_channel = tensor_is_per_channel(t->filter);
	struct qfactor *factors = c->scratch;

	t->pace = (struct op_pace){ .progress = c->progress };
	t->frange = frange_of(t->activation);
	if (t->in->type == NNPU_TYPE_TENSOR_FLOAT32)
		return 0;
	t->in_byte = qbyte_of(t->in);
	t->filter_byte = qbyte_of(t->filter);
	t->qrange = qrange_of(t->activation, t->out);
	t->factors = factors;
	for (uint32_t i = 0; i < t->channels; i++) {
		factors[i] = i && !per_channel ? factors[0] : factor_of(t, i, single);
		if (op_pace(&t->pace, 16))
			return OP_ABORTED;
	}
	return 0;
}

static int32_t dot_bytes(const uint8_t *x, struct qbyte bx, const uint8_t *w, struct qbyte bw,
			 size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (uint32_t)(qbyte_value(x[i], bx) * qbyte_value(w[i], bw));
	return (int32_t)sum;
}

static int32_t dot_words(const int16_t *x, const int8_t *w, size_t n)
{
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * w[i];
	return sum;
}

static float add_floats(float sum, const float *x, const float *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += x[i] * w[i];
	return sum;
}

int tflite_conv_add(struct tflite_conv *t, union tflite_sum *sum, size_t in, size_t filter,
		    size_t n)
{
	size_t run = OP_PACE_RUN;

	if (t->in->type == NNPU_TYPE_TENSOR_QUANT16_SYMM)
		run = NARROW_RUN;
	for (size_t at = 0, len; at < n; at += len) {
		size_t x = in + at, w = filter + at;

		len = n - at < run ? n - at : run;
		if (t->in->type == NNPU_TYPE_TENSOR_FLOAT32)
			sum->real = add_floats(sum->real, (const float *)t->in->data + x,
					       (const float *)t->filter->data + w, len);
		else if (t->in->type == NNPU_TYPE_TENSOR_QUANT16_SYMM)
			sum->whole += dot_words((const int16_t *)t->in->data + x,
						(const int8_t *)t->filter->data + w, len);
		else
			sum->whole += dot_bytes((const uint8_t *)t->in->data + x, t->in_byte,
						(const uint8_t *)t->filter->data + w,
						t->filter_byte, len);
		if (op_pace(&t->pace, len + 8))
			return OP_ABORTED;
	}
	return 0;
}

/* Element @i of a bias of integers, 0 without one. */
static int64_t bias_at(const struct tensor *bias, uint32_t i)
{
	if (!bias)
		return 0;
	if (bias->type == NNPU_TYPE_TENSOR_INT32)
		return ((const int32_t *)bias->data)[i];
	return ((const int64_t *)bias->data)[i];
}

void tflite_conv_store(const struct tflite_conv *t, union tflite_sum sum, uint32_t channel,
		       size_t at)
{
	uint64_t whole;
	int32_t v;

	if (t->in->type == NNPU_TYPE_TENSOR_FLOAT32) {
		if (t->bias)
			sum.real += ((const float *)t->bias->data)[channel];
		((float *)t->out->data)[at] = f_clamp(sum.real, t->frange.min, t->frange.max);
		return;
	}
	whole = (uint64_t)sum.whole + (uint64_t)bias_at(t->bias, channel);
	if (t->wide)
		v = q_scale_wide((int64_t)whole, t->factors[channel]);
	else
		v = q_scale((int32_t)(uint32_t)whole, t->factors[channel]);
	v = q_clamp(q_add(v, t->out->zero_point), t->qrange.min, t->qrange.max);
	if (t->in->type == NNPU_TYPE_TENSOR_QUANT16_SYMM)
		((int16_t *)t->out->data)[at] = (int16_t)v;
	else
		((uint8_t *)t->out->data)[at] = (uint8_t)v;
}
