// SPDX-License-Identifier: MIT
/*
 * Arithmetic of quantized operations.
 */
#include "quant.h"

#include <float.h>
#include <math.h>

struct qfactor qfactor_from(double real)
{
	return real > 0 ? qfactor_of_positive(real) : (struct qfactor){ 0, 0 };
}

/* zero_point + real / scale, limited far outside of the range of 8 bits. */
static int32_t quantize_bound(float real, const struct tensor *t)
{
	float steps;

	/* As most bounds are: a division and a rounding less for a small operation. */
	if (real == 0.0f)
		return t->zero_point;
	steps = roundf(real / t->scale);
	if (steps > 65536.0f)
		steps = 65536.0f;
	if (steps < -65536.0f)
		steps = -65536.0f;
	return t->zero_point + (int32_t)steps;
}

struct qrange qrange_of(enum activation a, const struct tensor *out)
{
	struct qrange r = { q_type_min(out->type), q_type_max(out->type) };
	struct frange f = frange_of(a);
	int32_t v;

	if (a != ACTIVATION_NONE) {
		v = quantize_bound(f.min, out);
		r.min = v > r.min ? v : r.min;
	}
	if (a == ACTIVATION_RELU1 || a == ACTIVATION_RELU6) {
		v = quantize_bound(f.max, out);
		r.max = v < r.max ? v : r.max;
	}
	return r;
}

const struct frange franges[] = {
	[ACTIVATION_NONE] = { -FLT_MAX, FLT_MAX },
	[ACTIVATION_RELU] = { 0.0f, FLT_MAX },
	[ACTIVATION_RELU1] = { -1.0f, 1.0f },
	[ACTIVATION_RELU6] = { 0.0f, 6.0f },
	[ACTIVATION_UNLIMITED] = { -INFINITY, INFINITY },
};

uint8_t q_from_real(const struct tensor *t, double real)
{
	double steps = round(real / t->scale);

	if (isnan(steps))
		steps = 0;
	/* Far outside of the range of 8 bits, whatever the zero point is. */
	steps = steps < -1024 ? -1024 : steps > 1024 ? 1024 : steps;
	return (uint8_t)q_clamp((int32_t)steps + t->zero_point, q_type_min(t->type),
				q_type_max(t->type));
}

void q_requantize_table(const struct tensor *in, const struct tensor *out, uint8_t *table)
{
	bool same = in->scale == out->scale && in->zero_point == out->zero_point;

	for (int i = 0; i < 256; i++)
		table[i] = same ? (uint8_t)i : q_from_real(out, q_real(in, (uint8_t)i));
}

/* The scale of the bias must be that of the accumulator, up to rounding. */
static int check_bias_scale(const struct op_call *c)
{
	const struct tensor *bias = c->in[2];
	double product, diff;

	if (bias->zero_point != 0)
		return op_fail(c, NNPU_REASON_ZERO_POINT, 2);
	if (tensor_is_per_channel(c->in[1])) {
		if (bias->scale != 0.0f)
			return op_fail(c, NNPU_REASON_SCALE, 2);
		return 0;
	}
	product = c->in[0]->scale * c->in[1]->scale;
	diff = fabs(product - bias->scale);
	if (!(diff <= 1e-6 * fmin(product, bias->scale)))
		return op_fail(c, NNPU_REASON_SCALE, 2);
	return 0;
}

int op_check_weights(const struct op_call *c, int channel_dim)
{
	uint32_t filter;

	if (op_check_type(c, 0, TYPES_FLOAT | TYPES_QUANT8) ||
	    op_check_same_type(c, op_output(c, 0), 0))
		return -1;
	if (!type_is_quant8(c->in[0]->type))
		return op_check_same_type(c, 1, 0) || op_check_same_type(c, 2, 0) ? -1 : 0;

	filter = type_bit(c->in[0]->type);
	if (channel_dim >= 0)
		filter |= TYPE_BIT(TENSOR_QUANT8_SYMM_PER_CHANNEL);
	if (op_check_type(c, 1, filter) ||
	    op_check_type(c, 2, TYPE_BIT(TENSOR_INT32)))
		return -1;
	if (tensor_is_per_channel(c->in[1]) && c->in[1]->channel_dim != channel_dim)
		return op_fail(c, NNPU_REASON_CHANNEL_QUANT, 1);
	return check_bias_scale(c);
}

struct qfactor qfactor_of_channel(const struct op_call *c, uint32_t i)
{
	const struct tensor *in = c->in[0], *filter = c->in[1], *out = c->out[0];
	float product;

	if (tensor_is_per_channel(filter))
		return qfactor_from((double)in->scale * filter->channel_scales[i] / out->scale);
	product = in->scale * filter->scale;
	return qfactor_from((double)product / out->scale);
}
