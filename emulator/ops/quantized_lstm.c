// SPDX-License-Identifier: MIT
/*
 * QUANTIZED_LSTM: an LSTM layer in integer arithmetic. Peepholes, projection and
 * normalization may be omitted.
 *
 * Inputs: 0 to 23 as in lstm_integer.h, input 0 [batch, size]; 24 and 25 limits of cells
 * and projection, 26 to 29 scales of the gates before normalization, 30 and 31 zero point and
 * scale of what is projected.
 * Outputs: 0 output state, 1 cell state, 2 output.
 */
#include <math.h>

#include "lstm_integer.h"
#include "nd_copy.h"
#include "ops.h"

enum {
	AT_CELL_LIMIT = INTEGER_LSTM_NEXT, AT_PROJECTION_LIMIT, AT_GATE_SCALE,
	AT_HIDDEN_ZERO = AT_GATE_SCALE + GATES, AT_HIDDEN_SCALE,
};

int quantized_lstm_check(const struct op_call *c)
{
	uint32_t byte = TYPE_BIT(TENSOR_QUANT8_ASYMM_SIGNED);
	unsigned int out = op_output(c, 0);

	if (op_check_operands(c) || op_check_type(c, 0, byte) || op_check_rank(c, 0, 2, 2) ||
	    integer_lstm_check_types(c) || integer_lstm_check(c))
		return -1;
	for (unsigned int i = AT_CELL_LIMIT; i <= AT_HIDDEN_SCALE; i++) {
		if (op_check_type(c, i, i == AT_HIDDEN_ZERO ? TYPE_BIT(INT32) : TYPE_BIT(FLOAT32)))
			return -1;
	}
	return op_check_type(c, out, byte) ||
	       op_check_type(c, out + 1, TYPE_BIT(TENSOR_QUANT16_SYMM)) ||
	       op_check_type(c, out + 2, byte) ||
	       op_check_same_quant(c, out, AT_OUTPUTS) ||
	       op_check_same_quant(c, out + 1, AT_CELLS) ||
	       op_check_same_quant(c, out + 2, AT_OUTPUTS) ||
	       op_check_rank(c, out, 2, 2) || op_check_rank(c, out + 1, 2, 2) ||
	       op_check_rank(c, out + 2, 2, 2) ? -1 : 0;
}

static int read_scalars(const struct op_call *c, struct integer_lstm *q)
{
	if (op_get_f32(c, AT_CELL_LIMIT, &q->cell_limit) ||
	    op_get_f32(c, AT_PROJECTION_LIMIT, &q->projection_limit) ||
	    op_get_i32(c, AT_HIDDEN_ZERO, &q->hidden_zero) ||
	    op_get_f32(c, AT_HIDDEN_SCALE, &q->hidden_scale))
		return 1;
	for (unsigned int g = 0; g < GATES; g++) {
		if (op_get_f32(c, AT_GATE_SCALE + g, &q->gate_scale[g]))
			return 1;
		if (!(q->gate_scale[g] > 0 && isfinite(q->gate_scale[g])) &&
		    !(g == GATE_IN && q->cifg))
			return op_fail(c, NNPU_REASON_VALUE, AT_GATE_SCALE + g);
	}
	if (q->hidden_zero < INT8_MIN || q->hidden_zero > INT8_MAX)
		return op_fail(c, NNPU_REASON_VALUE, AT_HIDDEN_ZERO);
	if (!(q->hidden_scale > 0 && isfinite(q->hidden_scale)))
		return op_fail(c, NNPU_REASON_VALUE, AT_HIDDEN_SCALE);
	return 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct integer_lstm *q)
{
	int ret;

	*q = (struct integer_lstm){ .cifg = !op_has_input(c, AT_WEIGHTS) };
	if (op_check_rank(c, 0, 2, 2))
		return -1;
	ret = read_scalars(c, q);
	if (ret)
		return ret;
	q->hidden_factor = ldexp(1, -30) / q->hidden_scale;
	q->batch = c->in[0]->dims[0];
	q->size = c->in[0]->dims[1];
	return integer_lstm_geometry(c, q);
}

int quantized_lstm_infer(const struct op_call *c)
{
	struct integer_lstm q;
	int ret = geometry(c, &q);

	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ q.batch, q.outputs });
	tensor_set_shape(c->out[1], 2, (uint32_t[]){ q.batch, q.cells });
	tensor_set_shape(c->out[2], 2, (uint32_t[]){ q.batch, q.outputs });
	return 0;
}

size_t quantized_lstm_scratch(const struct op_call *c)
{
	return integer_lstm_scratch(c);
}

int quantized_lstm_execute(const struct op_call *c)
{
	const int8_t *x = c->in[0]->data, *outputs = c->in[AT_OUTPUTS]->data;
	const int16_t *cells = c->in[AT_CELLS]->data;
	int16_t *new_cells = c->out[1]->data;
	int8_t *new_outputs = c->out[2]->data;
	struct op_call own = *c;
	struct integer_lstm q;

	if (geometry(c, &q))
		return -1;
	integer_lstm_take(&own, &q);
	for (size_t b = 0; b < q.batch; b++) {
		const struct integer_lstm_step s = {
			.x = x + b * q.size,
			.outputs = outputs + b * q.outputs,
			.cells = cells + b * q.cells,
			.new_outputs = new_outputs + b * q.outputs,
			.new_cells = new_cells + b * q.cells,
		};

		if (integer_lstm_run(c, &q, &s))
			return OP_ABORTED;
	}
	return nd_move(&q.pace, new_outputs, c->out[0]->data, c->out[0]->bytes);
}
