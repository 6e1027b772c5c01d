// SPDX-License-Identifier: MIT
/*
 * QUANTIZE: real / scale in single precision, rounded to nearest with halves away
 * from zero, plus the zero point, limited to the type. A NaN becomes the zero
 * point.
 */
#include <math.h>

#include "ops.h"
#include "quant.h"

int quantize_check(const struct op_call *c)
{
	if (op_check_operands(c) ||
	    op_check_type(c, 0, TYPES_FLOAT) ||
	    op_check_type(c, op_output(c, 0), TYPES_QUANT8) ||
	    op_check_rank(c, 0, 1, NNPU_MAX_RANK))
		return -1;
	return 0;
}

int quantize_infer(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, NNPU_MAX_RANK) ? -1 : op_infer_same_shape(c);
}

static uint8_t quantize(float real, const struct tensor *t)
{
	float steps = roundf(real / t->scale);

	if (isnan(steps))
		steps = 0.0f;
	/* Far outside of the range of 8 bits, whatever the zero point is. */
	steps = f_clamp(steps, -1024.0f, 1024.0f);
	return (uint8_t)q_clamp((int32_t)steps + t->zero_point, q_type_min(t->type),
				q_type_max(t->type));
}

int quantize_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->out[0]);
	const float *in = c->in[0]->data;
	uint8_t *out = c->out[0]->data;

	for (size_t i = 0; i < total; i++) {
		out[i] = quantize(in[i], c->out[0]);
		if (op_pace(&pace, 4))
			return OP_ABORTED;
	}
	return 0;
}
