// SPDX-License-Identifier: MIT
/*
 * QUANTIZED_16BIT_LSTM: cells and gates in 16 bits.
 *
 * Inputs: 0 input [batch, size], 1 to 4 weights [cells, size] and 5 to 8 recurrent weights
 * [cells, cells] of the gates input, forget, cell and output, 9 to 12 their biases
 * [cells], 13 cell state [batch, cells], 14 output state [batch, cells].
 * Outputs: 0 cell state, 1 output.
 */
#include "lstm_fixed.h"
#include "ops.h"

/* Quantization that the operation demands. */
#define VALUE_SCALE	(1.0f / 128)
#define VALUE_ZERO	128
#define CELL_SCALE	(1.0f / 2048)

enum { GATE_IN, GATE_FORGET, GATE_CELL, GATE_OUT, GATES };

int quantized_16bit_lstm_check(const struct op_call *c)
{
	static const unsigned int values[] = { 0, 14, 16 }, cells[] = { 13, 15 };

	if (op_check_operands(c))
		return -1;
	for (unsigned int i = 0; i < 3; i++) {
		if (op_check_type(c, values[i], TYPE_BIT(TENSOR_QUANT8_ASYMM)) ||
		    op_check_rank(c, values[i], 2, 2) ||
		    op_check_quant(c, values[i], VALUE_SCALE, VALUE_ZERO))
			return -1;
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (op_check_type(c, cells[i], TYPE_BIT(TENSOR_QUANT16_SYMM)) ||
		    op_check_rank(c, cells[i], 2, 2) || op_check_quant(c, cells[i], CELL_SCALE, 0))
			return -1;
	}
	/* All weights have one quantization. */
	for (unsigned int i = 1; i < 9; i++) {
		if (op_check_type(c, i, TYPE_BIT(TENSOR_QUANT8_ASYMM)) ||
		    op_check_rank(c, i, 2, 2) || op_check_same_quant(c, i, 1))
			return -1;
	}
	for (unsigned int i = 9; i < 13; i++) {
		float product = c->in[0]->scale * c->in[1]->scale;

		if (op_check_list(c, i))
			return -1;
		if (!(fabsf(product - c->in[i]->scale) <=
		      1e-5f * fminf(product, c->in[i]->scale)))
			return op_fail(c, NNPU_REASON_SCALE, i);
		if (c->in[i]->zero_point)
			return op_fail(c, NNPU_REASON_ZERO_POINT, i);
	}
	return 0;
}

int quantized_16bit_lstm_infer(const struct op_call *c)
{
	uint32_t batch, size, cells;

	for (unsigned int i = 0; i < 9; i++) {
		if (op_check_rank(c, i, 2, 2))
			return -1;
	}
	batch = c->in[0]->dims[0];
	size = c->in[0]->dims[1];
	cells = c->in[1]->dims[0];
	for (unsigned int g = 0; g < GATES; g++) {
		if (recurrent_shape(c, 1 + g, 2, (uint32_t[]){ cells, size }) ||
		    recurrent_shape(c, 5 + g, 2, (uint32_t[]){ cells, cells }) ||
		    recurrent_shape(c, 9 + g, 1, &cells))
			return -1;
	}
	if (recurrent_shape(c, 13, 2, (uint32_t[]){ batch, cells }) ||
	    recurrent_shape(c, 14, 2, (uint32_t[]){ batch, cells }))
		return -1;
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ batch, cells });
	tensor_set_shape(c->out[1], 2, (uint32_t[]){ batch, cells });
	return 0;
}

/* Element @k of the input and then the output state of a batch. */
static int32_t value(const struct op_call *c, uint32_t batch, uint32_t k)
{
	const struct tensor *in = c->in[0], *state = c->in[14];
	uint32_t size = in->dims[1];

	if (k < size)
		return ((const uint8_t *)in->data)[(size_t)batch * size + k] - VALUE_ZERO;
	return ((const uint8_t *)state->data)[(size_t)batch * state->dims[1] + k - size] -
	       VALUE_ZERO;
}

/*
 * Gate @g of cell @i of a batch in Q3.12: the recurrent weights and then the weights,
 * one by one, with the input and then the output state.
 */
static int16_t gate(struct op_pace *pace, const struct op_call *c, unsigned int g,
		    uint32_t batch, uint32_t i, struct qfactor f)
{
	const struct tensor *w = c->in[1 + g], *r = c->in[5 + g];
	uint32_t size = w->dims[1], cells = w->dims[0];
	const uint8_t *wx = (const uint8_t *)w->data + (size_t)i * size;
	const uint8_t *wh = (const uint8_t *)r->data + (size_t)i * cells;
	int32_t acc = op_list_at(c, 9 + g, i);

	for (uint32_t j = 0; j < cells && !op_pace_row(pace, j, 2); j++)
		acc = q_add(acc, value(c, batch, j) * (wh[j] - r->zero_point));
	for (uint32_t j = 0; j < size && !op_pace_row(pace, j, 2); j++)
		acc = q_add(acc, value(c, batch, cells + j) * (wx[j] - w->zero_point));
	return fixed_limit(q_scale(acc, f));
}

int quantized_16bit_lstm_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	uint32_t batches = c->in[0]->dims[0], cells = c->in[1]->dims[0];
	float product = c->in[0]->scale * c->in[1]->scale;
	struct qfactor f = qfactor_from((double)product * 4096);

	for (uint32_t b = 0; b < batches; b++) {
		for (uint32_t i = 0; i < cells; i++) {
			size_t at = (size_t)b * cells + i;
			int32_t in = fixed_logistic(gate(&pace, c, GATE_IN, b, i, f));
			int32_t forget = fixed_logistic(gate(&pace, c, GATE_FORGET, b, i, f));
			int32_t cell = fixed_tanh(gate(&pace, c, GATE_CELL, b, i, f), 3);
			int32_t out = fixed_logistic(gate(&pace, c, GATE_OUT, b, i, f));
			int32_t old = ((const int16_t *)c->in[13]->data)[at];
			int16_t state;

			/* Four integer bits in the cell, none in the gates. */
			state = fixed_limit(q_shift_right(fixed_product(in, cell), 4) +
					    fixed_product(forget, old));
			out = fixed_product(out, fixed_tanh(fixed_limit(state * 2), 3));
			((int16_t *)c->out[0]->data)[at] = state;
			((uint8_t *)c->out[1]->data)[at] =
				(uint8_t)(q_clamp(q_shift_right(out, 8), -128, 127) + VALUE_ZERO);
			if (op_pace(&pace, (c->in[0]->dims[1] % OP_PACE_RUN +
					    cells % OP_PACE_RUN) * 8 + 256))
				return OP_ABORTED;
		}
	}
	return 0;
}
