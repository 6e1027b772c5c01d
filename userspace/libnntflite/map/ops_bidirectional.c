// SPDX-License-Identifier: MIT
/*
 * Operators that go through a sequence in both directions. The HAL has their inputs in the order of
 * the file, and the outputs of both directions before the states.
 */
#include "map_ops.h"

/* Slots of the options tables, in the order of the schema. */
enum { LSTM_ACTIVATION, LSTM_CELL_CLIP, LSTM_PROJ_CLIP, LSTM_MERGE, LSTM_TIME_MAJOR };
enum { RNN_TIME_MAJOR, RNN_ACTIVATION, RNN_MERGE };

/* Inputs. */
enum { LSTM_STATES = 35, LSTM_AUX = 39, LSTM_INPUTS = 48, LSTM_NORMALIZATION = 8 };
enum { RNN_FORWARD_STATE = 4, RNN_BACKWARD_STATE = 8, RNN_AUX = 9, RNN_INPUTS = 12 };

/* The outputs of the file, one or two of them, and the new states. */
static int finish(struct mapper *m, uint32_t type, const struct inputs *in, bool merge,
		  const uint32_t *states, uint32_t num_states)
{
	uint32_t i, count = 0;
	int outputs[6];

	if (in->failed)
		return -1;
	if (m->op->outputs.count != (merge ? 1 : 2))
		return map_fail(m, "%u outputs, expected %d: the directions are %smerged",
				m->op->outputs.count, merge ? 1 : 2, merge ? "" : "not ");
	for (i = 0; i < m->op->outputs.count; i++, count++) {
		outputs[count] = output_operand(m, i);
		if (outputs[count] < 0)
			return -1;
	}
	for (i = 0; i < num_states; i++, count++) {
		outputs[count] = variable_update(m, states[i]);
		if (outputs[count] < 0)
			return -1;
	}
	return add_operation_outputs(m, type, in->list, in->count, outputs, count);
}

/* Inputs [from, to); those that the file leaves out are omitted. */
static void put_inputs(struct mapper *m, struct inputs *in, uint32_t from, uint32_t to)
{
	uint32_t pos;

	for (pos = from; pos < to && !in->failed; pos++)
		put(in, optional_operand(m, pos, real_type(m)));
}

int map_bidirectional_lstm(struct mapper *m, uint32_t type)
{
	static const uint32_t states[] = {
		LSTM_STATES, LSTM_STATES + 1, LSTM_STATES + 2, LSTM_STATES + 3,
	};
	const struct fb_table *o = &m->options;
	bool merge = fb_u8(o, LSTM_MERGE, 0);
	struct inputs in = { .count = 0 };
	uint32_t i;

	put_inputs(m, &in, 0, LSTM_STATES);
	for (i = 0; i < 4 && !in.failed; i++)
		put(&in, variable_operand(m, states[i]));
	put_inputs(m, &in, LSTM_AUX, LSTM_INPUTS);
	put_int32(m, &in, fb_i8(o, LSTM_ACTIVATION, 0));
	put_real(m, &in, fb_f32(o, LSTM_CELL_CLIP, 0));
	put_real(m, &in, fb_f32(o, LSTM_PROJ_CLIP, 0));
	put_bool(m, &in, merge);
	put_bool(m, &in, fb_u8(o, LSTM_TIME_MAJOR, 1));
	for (i = 0; i < LSTM_NORMALIZATION && !in.failed; i++)
		put(&in, hal_add_no_value(m->g, real_type(m), m->diag));
	return finish(m, type, &in, merge, states, 4);
}

int map_bidirectional_rnn(struct mapper *m, uint32_t type)
{
	static const uint32_t states[] = { RNN_FORWARD_STATE, RNN_BACKWARD_STATE };
	const struct fb_table *o = &m->options;
	bool merge = fb_u8(o, RNN_MERGE, 0);
	struct inputs in = { .count = 0 };

	put_inputs(m, &in, 0, RNN_FORWARD_STATE);
	if (!in.failed)
		put(&in, variable_operand(m, RNN_FORWARD_STATE));
	put_inputs(m, &in, RNN_FORWARD_STATE + 1, RNN_BACKWARD_STATE);
	if (!in.failed)
		put(&in, variable_operand(m, RNN_BACKWARD_STATE));
	put_inputs(m, &in, RNN_AUX, RNN_INPUTS);
	put_int32(m, &in, fb_i8(o, RNN_ACTIVATION, 0));
	put_bool(m, &in, fb_u8(o, RNN_TIME_MAJOR, 0));
	put_bool(m, &in, merge);
	return finish(m, type, &in, merge, states, 2);
}
