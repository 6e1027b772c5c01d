// SPDX-License-Identifier: MIT
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM and LSTM of org.nnpu.tflite: an LSTM layer with inputs and outputs
 * of 8 bits and cells of 16.
 *
 * Inputs: 0 to 23 as in lstm_integer.h, input 0 a sequence, for LSTM one step; 24 activation, not
 * used; 25 and 26 limits of cells and projection; 27 whether time is the first dimension, for LSTM
 * the kind of the kernel; the others in front of the last ten are for other types and not used;
 * the last ten: scale and zero point of the operator's intermediate tensors, the four gates
 * before normalization, and what is projected.
 * Outputs: 0 sequence or step, 1 output state, 2 cell state.
 */
#include <math.h>

#include "ops/lstm_integer.h"
#include "ops/nd_copy.h"
#include "ops/recurrent.h"
#include "tflite_ops.h"

enum {
	AT_ACTIVATION = INTEGER_LSTM_NEXT, AT_CELL_LIMIT, AT_PROJECTION_LIMIT, AT_TIME_MAJOR,
	AT_KERNEL = AT_TIME_MAJOR,
};

/* Gates, then what is projected. */
#define HIDDEN		GATES
#define INTERMEDIATES	(GATES + 1)

/* Positions of the scale and the zero point of an intermediate tensor. */
static unsigned int at_scale(const struct op_call *c, unsigned int i)
{
	return c->num_inputs - 2 * INTERMEDIATES + 2 * i;
}

static unsigned int at_zero(const struct op_call *c, unsigned int i)
{
	return at_scale(c, i) + 1;
}

/* It is what tells LSTM from UNIDIRECTIONAL_SEQUENCE_LSTM. */
static bool is_sequence(const struct op_call *c)
{
	return c->in[AT_TIME_MAJOR]->type == NNPU_TYPE_BOOL;
}

/* The kernel of LSTM is the full one, 0. 0, 1 or -1. */
static int check_kernel(const struct op_call *c)
{
	int32_t kernel;

	if (op_get_i32(c, AT_KERNEL, &kernel))
		return 1;
	return kernel ? op_fail(c, NNPU_REASON_VALUE, AT_KERNEL) : 0;
}

int tflite_lstm_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	if (integer_lstm_check(c) || (!is_sequence(c) && check_kernel(c) < 0))
		return -1;
	for (unsigned int i = AT_WEIGHTS; i <= AT_PROJECTION; i++) {
		if (op_has_input(c, i) && c->in[i]->zero_point)
			return op_fail(c, NNPU_REASON_ZERO_POINT, i);
	}
	return op_check_same_quant(c, out + 1, AT_OUTPUTS) ||
	       op_check_same_quant(c, out + 2, AT_CELLS) ? -1 : 0;
}

/* A scale that an operand gives. 0; 1 if not known; -1 with error. */
static int read_scale(const struct op_call *c, unsigned int i, float *scale)
{
	if (op_get_f32(c, at_scale(c, i), scale))
		return 1;
	if (!(*scale > 0 && isfinite(*scale)))
		return op_fail(c, NNPU_REASON_VALUE, at_scale(c, i));
	return 0;
}

static int read_scalars(const struct op_call *c, struct integer_lstm *q, bool *time_major)
{
	int ret;

	*time_major = true;
	ret = is_sequence(c) ? op_get_bool(c, AT_TIME_MAJOR, time_major) : check_kernel(c);
	if (ret)
		return ret;
	if (op_get_f32(c, AT_CELL_LIMIT, &q->cell_limit) ||
	    op_get_f32(c, AT_PROJECTION_LIMIT, &q->projection_limit) ||
	    op_get_i32(c, at_zero(c, HIDDEN), &q->hidden_zero))
		return 1;
	if (q->hidden_zero < INT8_MIN || q->hidden_zero > INT8_MAX)
		return op_fail(c, NNPU_REASON_VALUE, at_zero(c, HIDDEN));
	/* TensorFlow Lite subtracts it where a zero point is added, and the other way round. */
	q->hidden_zero = -q->hidden_zero;
	for (unsigned int g = 0; g < GATES; g++) {
		/* Without normalization gates are Q3.12 at once. */
		q->gate_scale[g] = 1.0f / 4096;
		if (!q->norm || (g == GATE_IN && q->cifg))
			continue;
		ret = read_scale(c, g, &q->gate_scale[g]);
		if (ret)
			return ret;
	}
	ret = read_scale(c, HIDDEN, &q->hidden_scale);
	if (ret)
		return ret;
	q->hidden_factor = (float)(ldexp(1, -30) / q->hidden_scale);
	return 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct integer_lstm *q, struct sequence *seq)
{
	unsigned int rank = is_sequence(c) ? 3 : 2;
	const struct tensor *in = c->in[0];
	bool time_major;
	int ret;

	*q = (struct integer_lstm){
		.cifg = !op_has_input(c, AT_WEIGHTS), .norm = op_has_input(c, AT_NORM + 1),
	};
	if (op_check_rank(c, 0, rank, rank))
		return -1;
	ret = read_scalars(c, q, &time_major);
	if (ret)
		return ret;
	if (is_sequence(c))
		*seq = sequence_of(in, time_major);
	else
		*seq = (struct sequence){ 1, in->dims[0], in->dims[1], true };
	q->batch = seq->batch;
	q->size = seq->size;
	if (integer_lstm_geometry(c, q))
		return -1;
	/* Without time in front batches run one by one. */
	if (q->outputs != q->cells)
		q->flat_peepholes = (size_t)q->outputs * (time_major ? q->batch : 1);
	return 0;
}

int tflite_lstm_infer(const struct op_call *c)
{
	struct integer_lstm q;
	struct sequence seq;
	int ret = geometry(c, &q, &seq);

	if (ret)
		return ret;
	if (is_sequence(c))
		sequence_set_shape(c, 0, &seq, q.outputs);
	else
		tensor_set_shape(c->out[0], 2, (uint32_t[]){ q.batch, q.outputs });
	tensor_set_shape(c->out[1], 2, (uint32_t[]){ q.batch, q.outputs });
	tensor_set_shape(c->out[2], 2, (uint32_t[]){ q.batch, q.cells });
	return 0;
}

size_t tflite_lstm_scratch(const struct op_call *c)
{
	return integer_lstm_scratch(c);
}

/* The states are updated in place. */
static int run_batch(const struct op_call *c, struct integer_lstm *q, const struct sequence *seq,
		     uint32_t b)
{
	int8_t *state = (int8_t *)c->out[1]->data + (size_t)b * q->outputs;
	int16_t *cells = (int16_t *)c->out[2]->data + (size_t)b * q->cells;
	struct integer_lstm_step s = {
		.outputs = state, .cells = cells, .new_outputs = state, .new_cells = cells,
		.first_cell = seq->time_major ? (size_t)b * q->cells : 0,
	};

	for (uint32_t t = 0; t < seq->time; t++) {
		int8_t *to = (int8_t *)c->out[0]->data + sequence_at(seq, t, b, q->outputs);

		s.x = (const int8_t *)c->in[0]->data + sequence_at(seq, t, b, q->size);
		if (integer_lstm_run(c, q, &s) || nd_move(&q->pace, state, to, q->outputs))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_lstm_execute(const struct op_call *c)
{
	struct op_call own = *c;
	struct integer_lstm q;
	struct sequence seq;

	if (geometry(c, &q, &seq))
		return -1;
	integer_lstm_take(&own, &q);
	if (nd_move(&q.pace, c->in[AT_OUTPUTS]->data, c->out[1]->data, c->out[1]->bytes) ||
	    nd_move(&q.pace, c->in[AT_CELLS]->data, c->out[2]->data, c->out[2]->bytes))
		return OP_ABORTED;
	for (uint32_t b = 0; b < seq.batch; b++) {
		if (run_batch(c, &q, &seq, b) || op_pace(&q.pace, 16))
			return OP_ABORTED;
	}
	return 0;
}
