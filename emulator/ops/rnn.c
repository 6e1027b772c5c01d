// SPDX-License-Identifier: MIT
/*
 * RNN, UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN.
 *
 * A layer has weights [units, size], recurrent weights [units, units], a bias [units] and
 * a state [batch, units], which is also its output.
 *
 * RNN: 0 input [batch, size], 1 to 4 the layer, 5 activation; outputs: 0 state, 1 output.
 * UNIDIRECTIONAL_SEQUENCE_RNN: 0 sequence, 1 to 4 the layer, 5 activation, 6 whether time
 * is the first dimension (INT32); outputs: 0 sequence, optionally 1 last state.
 * BIDIRECTIONAL_SEQUENCE_RNN: 0 sequence, 1 to 4 forward layer, 5 to 8 backward layer,
 * 9 auxiliary sequence, 10 and 11 weights for it, 12 activation, 13 time major,
 * 14 whether outputs are joined (BOOL); outputs: 0 and 1 the sequences, or 0 the joined
 * one, optionally followed by the last states. Without weights of its own, the
 * auxiliary sequence is what the backward layer reads.
 */
#include <string.h>

#include "nd_copy.h"
#include "ops.h"
#include "recurrent.h"

struct layer {
	unsigned int first;		/* position of the weights */
	unsigned int aux_weights;	/* position, 0 if there are none */
	unsigned int input;		/* position of the sequence it reads */
	uint32_t units;
};

struct rnn {
	struct sequence seq;
	struct layer layers[2];
	unsigned int num_layers;
	unsigned int aux;		/* position of what the auxiliary weights are for */
	int32_t activation;
	bool merged;
};

static bool is_bidirectional(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_BIDIRECTIONAL_SEQUENCE_RNN;
}

static bool is_sequence(const struct op_call *c)
{
	return c->desc->op != NNPU_OP_RNN;
}

static int check_outputs(const struct op_call *c)
{
	for (unsigned int i = 0; i < c->num_outputs; i++) {
		if (op_check_same_type(c, op_output(c, i), 0) ||
		    op_check_rank(c, op_output(c, i), 2, 3))
			return -1;
	}
	return 0;
}

/* Sequences and states that a BIDIRECTIONAL_SEQUENCE_RNN gives. */
static int check_output_count(const struct op_call *c, bool merged)
{
	unsigned int sequences = merged ? 1 : 2;

	if (c->num_outputs != sequences && c->num_outputs != sequences + 2)
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	return 0;
}

int rnn_check(const struct op_call *c)
{
	unsigned int activation = is_bidirectional(c) ? 12 : 5;
	unsigned int rank = is_sequence(c) ? 3 : 2;
	int32_t code;
	bool merged;

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT) ||
	    op_check_rank(c, 0, rank, rank) || recurrent_check_types(c, 1, activation - 1) ||
	    op_check_type(c, activation, TYPE_BIT(INT32)) || check_outputs(c))
		return -1;
	if (recurrent_activation(c, activation, &code) < 0)
		return -1;
	if (c->desc->op == NNPU_OP_UNIDIRECTIONAL_SEQUENCE_RNN)
		return op_check_type(c, 6, TYPE_BIT(INT32));
	if (!is_bidirectional(c))
		return 0;
	if (op_check_type(c, 13, TYPE_BIT(BOOL)) || op_check_type(c, 14, TYPE_BIT(BOOL)))
		return -1;
	/* Weights for an auxiliary sequence come in pairs, and with the sequence. */
	if (op_has_input(c, 10) != op_has_input(c, 11))
		return op_fail(c, NNPU_REASON_OMITTED, op_has_input(c, 10) ? 11 : 10);
	if (op_has_input(c, 10) && !op_has_input(c, 9))
		return op_fail(c, NNPU_REASON_OMITTED, 9);
	return op_get_bool(c, 14, &merged) ? 0 : check_output_count(c, merged);
}

static int check_layer(const struct op_call *c, const struct rnn *r, struct layer *l)
{
	const struct tensor *weights = c->in[l->first];
	uint32_t size = c->in[l->input]->dims[c->in[l->input]->rank - 1u];

	if (op_check_rank(c, l->first, 2, 2))
		return -1;
	l->units = weights->dims[0];
	if (weights->dims[1] != size)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, l->first);
	if (recurrent_shape(c, l->first + 1, 2, (uint32_t[]){ l->units, l->units }) ||
	    recurrent_shape(c, l->first + 2, 1, &l->units) ||
	    recurrent_shape(c, l->first + 3, 2, (uint32_t[]){ r->seq.batch, l->units }))
		return -1;
	if (!l->aux_weights)
		return 0;
	return recurrent_shape(c, l->aux_weights, 2,
			       (uint32_t[]){ l->units, c->in[r->aux]->dims[2] });
}

/* Checks for BIDIRECTIONAL_SEQUENCE_RNN. */
static int read_bidirectional(const struct op_call *c, struct rnn *r, bool *time_major)
{
	const struct tensor *in = c->in[0], *aux = c->in[9];

	if (op_get_bool(c, 13, time_major) || op_get_bool(c, 14, &r->merged))
		return 1;
	if (check_output_count(c, r->merged))
		return -1;
	r->num_layers = 2;
	r->layers[1].first = 5;
	r->aux = 9;
	if (!op_has_input(c, 9))
		return 0;
	if (aux->rank != 3)
		return op_fail(c, NNPU_REASON_RANK, 9);
	if (aux->dims[0] != in->dims[0] || aux->dims[1] != in->dims[1])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 9);
	if (op_has_input(c, 10)) {
		r->layers[0].aux_weights = 10;
		r->layers[1].aux_weights = 11;
	} else {
		r->layers[1].input = 9;
	}
	return 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct rnn *r)
{
	bool time_major = true;
	int32_t v;
	int ret = 0;

	*r = (struct rnn){ .num_layers = 1, .layers[0].first = 1 };
	if (op_check_rank(c, 0, is_sequence(c) ? 3 : 2, is_sequence(c) ? 3 : 2))
		return -1;
	if (is_bidirectional(c)) {
		ret = read_bidirectional(c, r, &time_major);
	} else if (is_sequence(c)) {
		ret = op_get_i32(c, 6, &v);
		if (!ret && (v < 0 || v > 1))
			ret = op_fail(c, NNPU_REASON_VALUE, 6);
		time_major = !ret && v;
	}
	if (!ret)
		ret = recurrent_activation(c, is_bidirectional(c) ? 12 : 5, &r->activation);
	if (ret)
		return ret;
	if (is_sequence(c))
		r->seq = sequence_of(c->in[0], time_major);
	else
		r->seq = (struct sequence){ 1, c->in[0]->dims[0], c->in[0]->dims[1], true };
	for (unsigned int i = 0; i < r->num_layers; i++) {
		if (check_layer(c, r, &r->layers[i]))
			return -1;
	}
	return 0;
}

int rnn_infer(const struct op_call *c)
{
	struct rnn r;
	unsigned int next = 0;
	uint32_t joined;
	int ret = geometry(c, &r);

	if (ret)
		return ret;
	if (!is_sequence(c)) {
		tensor_set_shape(c->out[0], 2, (uint32_t[]){ r.seq.batch, r.layers[0].units });
		tensor_set_shape(c->out[1], 2, (uint32_t[]){ r.seq.batch, r.layers[0].units });
		return 0;
	}
	if (r.merged) {
		if (__builtin_add_overflow(r.layers[0].units, r.layers[1].units, &joined))
			return op_fail(c, NNPU_REASON_OVERFLOW, 5);
		sequence_set_shape(c, next++, &r.seq, joined);
	} else {
		for (unsigned int i = 0; i < r.num_layers; i++)
			sequence_set_shape(c, next++, &r.seq, r.layers[i].units);
	}
	for (unsigned int i = 0; next < c->num_outputs; i++, next++)
		tensor_set_shape(c->out[next], 2,
				 (uint32_t[]){ r.seq.batch, r.layers[i].units });
	return 0;
}

size_t rnn_scratch(const struct op_call *c)
{
	size_t total = scratch_add(0, c->in[1]->dims[0], sizeof(float));

	return is_bidirectional(c) ? scratch_add(total, c->in[5]->dims[0], sizeof(float)) : total;
}

/*
 * One batch through a layer. @state is what it starts with; outputs go to @out, @step
 * apart in time and with offsets of @batch_at.
 */
static int run_batch(const struct op_call *c, const struct rnn *r, const struct layer *l,
		     bool backward, uint32_t batch, const float *state, float *sum,
		     const struct tensor *out, uint32_t width, uint32_t column,
		     struct op_pace *pace)
{
	const struct tensor *input = c->in[l->input];
	uint32_t size = input->dims[input->rank - 1u];
	const float *bias = c->in[l->first + 2]->data;

	for (uint32_t i = 0; i < r->seq.time; i++) {
		uint32_t t = backward ? r->seq.time - 1 - i : i;
		float *to = (float *)out->data + sequence_at(&r->seq, t, batch, width) + column;
		uint32_t aux_size;

		nd_move(pace, bias, sum, l->units * sizeof(*sum));
		recurrent_product(pace, c->in[l->first]->data, (const float *)input->data +
				  sequence_at(&r->seq, t, batch, size), l->units, size, sum);
		if (l->aux_weights) {
			aux_size = c->in[r->aux]->dims[2];
			recurrent_product(pace, c->in[l->aux_weights]->data,
					  (const float *)c->in[r->aux]->data +
					  sequence_at(&r->seq, t, batch, aux_size),
					  l->units, aux_size, sum);
		}
		recurrent_product(pace, c->in[l->first + 1]->data, state, l->units, l->units, sum);
		recurrent_apply(pace, r->activation, sum, l->units, to);
		state = to;
		if (op_pace(pace, 16))
			return OP_ABORTED;
	}
	return 0;
}

/* Copy the last state of a batch from the sequence. If that is empty, copy the first state. */
static void keep_state(struct op_pace *pace, const struct rnn *r, const struct layer *l, bool backward, uint32_t batch,
		       const float *first, const struct tensor *out, uint32_t width,
		       uint32_t column, const struct tensor *to)
{
	const float *last = first;

	if (r->seq.time)
		last = (const float *)out->data + column +
		       sequence_at(&r->seq, backward ? 0 : r->seq.time - 1, batch, width);
	nd_move(pace, last, (float *)to->data + (size_t)batch * l->units,
		l->units * sizeof(*last));
}

static int run_layer(const struct op_call *c, const struct rnn *r, unsigned int number,
		     float *sum, struct op_pace *pace)
{
	const struct layer *l = &r->layers[number];
	const struct tensor *out = c->out[r->merged ? 0 : number];
	const struct tensor *state = NULL;
	uint32_t width = r->merged ? r->layers[0].units + r->layers[1].units : l->units;
	uint32_t column = r->merged && number ? r->layers[0].units : 0;
	unsigned int sequences = r->merged ? 1 : r->num_layers;

	if (!is_sequence(c)) {
		out = c->out[1];
		state = c->out[0];
	} else if (c->num_outputs > sequences) {
		state = c->out[sequences + number];
	}
	if (l->units == 0)
		return 0;
	for (uint32_t b = 0; b < r->seq.batch; b++) {
		const float *first = (const float *)c->in[l->first + 3]->data +
				     (size_t)b * l->units;

		if (run_batch(c, r, l, number, b, first, sum, out, width, column, pace))
			return OP_ABORTED;
		if (state)
			keep_state(pace, r, l, number, b, first, out, width, column, state);
	}
	return 0;
}

int rnn_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct op_call own = *c;
	struct rnn r;

	if (geometry(c, &r))
		return -1;
	for (unsigned int i = 0; i < r.num_layers; i++) {
		float *sum = scratch_take(&own, r.layers[i].units * sizeof(*sum));

		if (run_layer(c, &r, i, sum, &pace))
			return OP_ABORTED;
	}
	return 0;
}
