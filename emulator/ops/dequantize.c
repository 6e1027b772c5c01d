// SPDX-License-Identifier: MIT
/*
 * DEQUANTIZE: (q - zero point) * scale, each step in single precision.
 */
#include "ops.h"
#include "quant.h"

/* Elements between two looks at op_pace(). Each may have a scale of its own. */
#define RUN	(OP_PACE_UNITS / 64)

int dequantize_check(const struct op_call *c)
{
	if (op_check_operands(c) ||
	    op_check_type(c, 0, TYPES_QUANT8 | TYPE_BIT(TENSOR_QUANT8_SYMM) |
			  TYPE_BIT(TENSOR_QUANT8_SYMM_PER_CHANNEL)) ||
	    op_check_type(c, op_output(c, 0), TYPES_FLOAT) ||
	    op_check_rank(c, 0, 1, OP_MAX_RANK) ||
	    op_check_rank(c, op_output(c, 0), 1, OP_MAX_RANK))
		return -1;
	return 0;
}

int dequantize_infer(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, OP_MAX_RANK) ? -1 : op_infer_same_shape(c);
}

/* Each element has the scale of its channel. The first is of channel @channel; the last is followed by 0. */
static void decode_channels(const uint8_t *in, size_t n, const struct qbyte *b,
			    const float *scales, size_t channels, size_t channel, float *to)
{
	for (size_t run; n; n -= run, in += run, to += run, channel = 0) {
		const float *scale = scales + channel;

		run = channels - channel < n ? channels - channel : n;
		for (size_t i = 0; i < run; i++)
			to[i] = scale[i] * (float)qbyte_value(in[i], *b);
	}
}

void dequantize_decode(const struct tensor *from, size_t at, size_t n, float *to)
{
	bool per_channel = tensor_is_per_channel(from);
	const uint8_t *in = (const uint8_t *)from->data + at;
	struct qbyte b = qbyte_of(from);
	size_t inner = SIZE_MAX;
	float scale = tensor_scale(from);

	if (per_channel)
		inner = tensor_elements_of(from, from->channel_dim + 1, from->rank);
	/* As filters of depthwise convolutions have them. Runs of one element would be slow. */
	if (inner == 1) {
		size_t channels = from->dims[from->channel_dim];

		decode_channels(in, n, &b, from->channel_scales, channels, at % channels, to);
		return;
	}
	/* Runs with one scale. */
	for (size_t end = at + n, run; at < end; at += run, in += run, to += run) {
		if (per_channel)
			scale = from->channel_scales[at / inner % from->dims[from->channel_dim]];
		run = inner - at % inner < end - at ? inner - at % inner : end - at;
		for (size_t i = 0; i < run; i++)
			to[i] = scale * (float)qbyte_value(in[i], b);
	}
}

int dequantize_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->in[0]);

	for (size_t at = 0, n; at < total; at += n) {
		n = total - at < RUN ? total - at : RUN;
		dequantize_decode(c->in[0], at, n, (float *)c->out[0]->data + at);
		if (op_pace(&pace, n * 16))
			return OP_ABORTED;
	}
	return 0;
}
