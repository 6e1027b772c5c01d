// SPDX-License-Identifier: MIT
/*
 * DEQUANTIZE: (q - zero point) * scale, each step in single precision.
 */
#include "ops.h"
#include "quant.h"

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

int dequantize_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0];
	bool per_channel = t->type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	size_t total = tensor_elements(t);
	struct qbyte b = qbyte_of(t);
	size_t inner = total;
	float scale = t->scale;

	if (per_channel)
		inner = tensor_elements_of(t, t->channel_dim + 1, t->rank);
	/* Runs with one scale are cut, so that an abort is seen in time. */
	for (size_t at = 0, n; at < total; at += n) {
		const uint8_t *in = (const uint8_t *)t->data + at;
		float *out = (float *)c->out[0]->data + at;

		if (per_channel)
			scale = t->channel_scales[at / inner % t->dims[t->channel_dim]];
		n = inner - at % inner;
		if (n > OP_PACE_UNITS / 4)
			n = OP_PACE_UNITS / 4;
		for (size_t i = 0; i < n; i++)
			out[i] = scale * (float)qbyte_value(in[i], b);
		if (op_pace(&pace, n + 16))
			return OP_ABORTED;
	}
	return 0;
}
