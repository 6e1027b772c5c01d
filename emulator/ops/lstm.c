// SPDX-License-Identifier: MIT
/*
 * LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM.
 *
 * A layer has four gates: input, forget, cell and output. Its operands are weights
 * [cells, size] of the gates, recurrent weights [cells, outputs], peephole weights
 * [cells] of input, forget and output, biases [cells], projection weights
 * [outputs, cells] and bias [outputs], then states: outputs [batch, outputs] and cells
 * [batch, cells]; elsewhere weights [cells] that normalize the gates, and weights for an
 * auxiliary sequence. Without weights of the input gate that is 1 - forget (CIFG);
 * peepholes, projection, normalization and the auxiliary sequence may be omitted.
 *
 * LSTM: 0 input [batch, size], 1 to 19 the layer, 20 activation, 21 and 22 limits of cells
 * and projection, optionally 23 to 26 normalization; outputs: 0 scratch buffer, 1 output
 * state, 2 cell state, 3 output.
 * UNIDIRECTIONAL_SEQUENCE_LSTM: the same for a sequence, 23 whether time is its first
 * dimension, 24 to 27 normalization; outputs: 0 sequence, optionally the two last states.
 * BIDIRECTIONAL_SEQUENCE_LSTM: 0 sequence, 1 to 17 forward layer, 18 to 34 backward layer,
 * 35 to 38 states of both, 39 auxiliary sequence, 40 to 47 weights for it, 48 activation,
 * 49 and 50 limits, 51 whether outputs are joined, 52 time major, 53 to 60 normalization;
 * outputs: 0 and 1 the sequences, or 0 the joined one, optionally followed by the last
 * states. Without weights of its own, the auxiliary sequence is what the backward layer
 * reads.
 */
#include <math.h>
#include <string.h>

#include "nd_copy.h"
#include "ops.h"
#include "recurrent.h"

enum { GATE_IN, GATE_FORGET, GATE_CELL, GATE_OUT, GATES };

/* Added to variances of normalized gates. */
#define NORM_EPSILON	1e-8f

/* Positions of the operands of a layer, relative to its first one. */
enum {
	LAYER_WEIGHTS = 0, LAYER_RECURRENT = 4, LAYER_PEEPHOLE = 8, LAYER_BIAS = 11,
	LAYER_PROJECTION = 15, LAYER_PROJECTION_BIAS = 16,
};

struct layer {
	/* Positions. */
	unsigned int first, state, norm, aux, input;
	bool has_norm, has_aux;
	/* What the operands say. */
	bool cifg, peephole, projection;
	uint32_t size, aux_size, cells, outputs;
};

struct lstm {
	struct sequence seq;
	struct layer layers[2];
	unsigned int num_layers;
	unsigned int activation_at;	/* position; the limits follow */
	int32_t activation;
	float cell_limit, projection_limit;
	bool merged;
	unsigned int sequences;		/* outputs that are sequences */
};

static bool is_bidirectional(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_BIDIRECTIONAL_SEQUENCE_LSTM;
}

static bool is_sequence(const struct op_call *c)
{
	return c->desc->op != NNPU_OP_LSTM;
}

/* Positions of the operands. */
static void locate(const struct op_call *c, struct lstm *l)
{
	*l = (struct lstm){ .num_layers = 1, .sequences = 1, .activation_at = 20 };
	l->layers[0].first = 1;
	l->layers[0].state = 18;
	l->layers[0].norm = is_sequence(c) ? 24 : 23;
	l->layers[0].has_norm = c->num_inputs > l->layers[0].norm;
	if (!is_bidirectional(c))
		return;
	l->num_layers = 2;
	l->activation_at = 48;
	l->layers[0] = (struct layer){ .first = 1, .state = 35, .norm = 53, .aux = 40 };
	l->layers[1] = (struct layer){ .first = 18, .state = 37, .norm = 57, .aux = 44 };
	for (unsigned int i = 0; i < 2; i++) {
		l->layers[i].has_norm = true;
		l->layers[i].has_aux = true;
	}
	/* An auxiliary sequence without weights: the backward layer's input. */
	if (op_has_input(c, 39) && !op_has_input(c, 41))
		l->layers[1].input = 39;
}

/* Operand @i is there if @wanted, and only then. */
static int check_given(const struct op_call *c, unsigned int i, bool wanted)
{
	return op_has_input(c, i) == wanted ? 0 : op_fail(c, NNPU_REASON_OMITTED, i);
}

/* Operands of a layer are present or omitted in groups. */
static int check_parts(const struct op_call *c, struct layer *y)
{
	unsigned int first = y->first, bias = first + LAYER_BIAS, peep = first + LAYER_PEEPHOLE;
	bool norm = y->has_norm && op_has_input(c, y->norm + GATE_FORGET);
	bool aux = y->has_aux && op_has_input(c, y->aux + GATE_FORGET);

	y->cifg = !op_has_input(c, first);
	y->peephole = op_has_input(c, peep + 2);
	y->projection = op_has_input(c, first + LAYER_PROJECTION);
	if (check_given(c, first + LAYER_RECURRENT, !y->cifg) ||
	    check_given(c, bias, !y->cifg) ||
	    check_given(c, peep, y->peephole && !y->cifg) ||
	    check_given(c, peep + 1, y->peephole))
		return -1;
	if (op_has_input(c, first + LAYER_PROJECTION_BIAS) && !y->projection)
		return op_fail(c, NNPU_REASON_OMITTED, first + LAYER_PROJECTION);
	for (unsigned int g = 0; g < GATES; g++) {
		if (y->has_norm && check_given(c, y->norm + g, norm && !(g == 0 && y->cifg)))
			return -1;
		if (y->has_aux && check_given(c, y->aux + g, aux && !(g == 0 && y->cifg)))
			return -1;
	}
	if (aux && !op_has_input(c, 39))
		return op_fail(c, NNPU_REASON_OMITTED, 39);
	y->has_norm = norm;
	y->has_aux = aux;
	return 0;
}

static int check_output_count(const struct op_call *c, bool merged)
{
	unsigned int sequences = merged ? 1 : 2;

	if (c->num_outputs != sequences && c->num_outputs != sequences + 4)
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	return 0;
}

/* Scalars behind the activation, and which positions are flags. */
static int check_scalars(const struct op_call *c, unsigned int activation)
{
	int32_t code;
	bool merged;

	if (op_check_type(c, activation, TYPE_BIT(INT32)) ||
	    op_check_float_scalar(c, activation + 1) || op_check_float_scalar(c, activation + 2))
		return -1;
	if (recurrent_activation(c, activation, &code) < 0)
		return -1;
	if (is_sequence(c) && op_check_type(c, activation + 3, TYPE_BIT(BOOL)))
		return -1;
	if (!is_bidirectional(c))
		return 0;
	if (op_check_type(c, activation + 4, TYPE_BIT(BOOL)))
		return -1;
	return op_get_bool(c, activation + 3, &merged) ? 0 : check_output_count(c, merged);
}

int lstm_check(const struct op_call *c)
{
	unsigned int rank = is_sequence(c) ? 3 : 2;
	struct lstm l;

	if (op_check_operands(c))
		return -1;
	locate(c, &l);
	if (op_check_type(c, 0, TYPES_FLOAT) || op_check_rank(c, 0, rank, rank) ||
	    recurrent_check_types(c, 1, l.activation_at - 1) ||
	    check_scalars(c, l.activation_at))
		return -1;
	for (unsigned int i = 0; i < l.num_layers; i++) {
		struct layer *y = &l.layers[i];

		if (y->has_norm && recurrent_check_types(c, y->norm, y->norm + GATES - 1))
			return -1;
		if (check_parts(c, y))
			return -1;
	}
	for (unsigned int i = 0; i < c->num_outputs; i++) {
		if (op_check_same_type(c, op_output(c, i), 0) ||
		    op_check_rank(c, op_output(c, i), 2, 3))
			return -1;
	}
	return 0;
}

/* Shapes of the operands of gate @g of a layer. */
static int check_gate(const struct op_call *c, const struct layer *y, unsigned int g)
{
	static const int8_t peephole[GATES] = { 0, 1, -1, 2 };

	return recurrent_shape(c, y->first + LAYER_WEIGHTS + g, 2,
			       (uint32_t[]){ y->cells, y->size }) ||
	       recurrent_shape(c, y->first + LAYER_RECURRENT + g, 2,
			       (uint32_t[]){ y->cells, y->outputs }) ||
	       recurrent_shape(c, y->first + LAYER_BIAS + g, 1, &y->cells) ||
	       (peephole[g] >= 0 &&
		recurrent_shape(c, y->first + LAYER_PEEPHOLE + (unsigned int)peephole[g], 1,
				&y->cells)) ||
	       (y->has_norm && recurrent_shape(c, y->norm + g, 1, &y->cells)) ||
	       (y->has_aux && recurrent_shape(c, y->aux + g, 2,
					      (uint32_t[]){ y->cells, y->aux_size })) ? -1 : 0;
}

static int check_layer(const struct op_call *c, const struct lstm *l, struct layer *y)
{
	const struct tensor *input = c->in[y->input], *weights = c->in[y->first + 1];
	const struct tensor *recurrent = c->in[y->first + LAYER_RECURRENT + 1];

	if (check_parts(c, y) || op_check_rank(c, y->first + 1, 2, 2) ||
	    op_check_rank(c, y->first + LAYER_RECURRENT + 1, 2, 2))
		return -1;
	y->size = input->dims[input->rank - 1u];
	y->aux_size = y->has_aux ? c->in[39]->dims[2] : 0;
	y->cells = weights->dims[0];
	y->outputs = recurrent->dims[1];
	if (y->cells == 0 || y->outputs == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, y->first + 1);
	if (!y->projection && y->outputs != y->cells)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, y->first + LAYER_RECURRENT + 1);
	for (unsigned int g = 0; g < GATES; g++) {
		if (check_gate(c, y, g))
			return -1;
	}
	return recurrent_shape(c, y->first + LAYER_PROJECTION, 2,
			       (uint32_t[]){ y->outputs, y->cells }) ||
	       recurrent_shape(c, y->first + LAYER_PROJECTION_BIAS, 1, &y->outputs) ||
	       recurrent_shape(c, y->state, 2, (uint32_t[]){ l->seq.batch, y->outputs }) ||
	       recurrent_shape(c, y->state + 1, 2, (uint32_t[]){ l->seq.batch, y->cells }) ?
	       -1 : 0;
}

static int read_scalars(const struct op_call *c, struct lstm *l, bool *time_major)
{
	unsigned int at = l->activation_at;
	int ret = recurrent_activation(c, at, &l->activation);

	*time_major = true;
	if (ret)
		return ret;
	if (op_get_f32(c, at + 1, &l->cell_limit) || op_get_f32(c, at + 2, &l->projection_limit))
		return 1;
	if (!is_bidirectional(c))
		return is_sequence(c) ? op_get_bool(c, at + 3, time_major) : 0;
	if (op_get_bool(c, at + 3, &l->merged) || op_get_bool(c, at + 4, time_major))
		return 1;
	l->sequences = l->merged ? 1 : 2;
	return check_output_count(c, l->merged);
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct lstm *l)
{
	unsigned int rank = is_sequence(c) ? 3 : 2;
	const struct tensor *in = c->in[0];
	bool time_major;
	int ret;

	locate(c, l);
	if (op_check_rank(c, 0, rank, rank))
		return -1;
	ret = read_scalars(c, l, &time_major);
	if (ret)
		return ret;
	if (is_sequence(c))
		l->seq = sequence_of(in, time_major);
	else
		l->seq = (struct sequence){ 1, in->dims[0], in->dims[1], true };
	if (is_bidirectional(c) && op_has_input(c, 39)) {
		if (op_check_rank(c, 39, 3, 3))
			return -1;
		if (c->in[39]->dims[0] != in->dims[0] || c->in[39]->dims[1] != in->dims[1])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 39);
	}
	for (unsigned int i = 0; i < l->num_layers; i++) {
		if (check_layer(c, l, &l->layers[i]))
			return -1;
	}
	return 0;
}

static void set_matrix(const struct op_call *c, unsigned int i, uint32_t rows, uint32_t cols)
{
	tensor_set_shape(c->out[i], 2, (uint32_t[]){ rows, cols });
}

int lstm_infer(const struct op_call *c)
{
	struct lstm l;
	struct layer *y = l.layers;
	unsigned int next = 0;
	uint32_t joined, gates;
	int ret = geometry(c, &l);

	if (ret)
		return ret;
	if (!is_sequence(c)) {
		if (__builtin_mul_overflow(y->cells, y->cifg ? 3u : 4u, &gates))
			return op_fail(c, NNPU_REASON_OVERFLOW, 2);
		set_matrix(c, 0, l.seq.batch, gates);
		set_matrix(c, 1, l.seq.batch, y->outputs);
		set_matrix(c, 2, l.seq.batch, y->cells);
		set_matrix(c, 3, l.seq.batch, y->outputs);
		return 0;
	}
	if (l.merged) {
		if (__builtin_add_overflow(y[0].outputs, y[1].outputs, &joined))
			return op_fail(c, NNPU_REASON_OVERFLOW, 18);
		sequence_set_shape(c, next++, &l.seq, joined);
	} else {
		for (unsigned int i = 0; i < l.num_layers; i++)
			sequence_set_shape(c, next++, &l.seq, y[i].outputs);
	}
	for (unsigned int i = 0; next < c->num_outputs; i++, next += 2) {
		set_matrix(c, next, l.seq.batch, y[i].outputs);
		set_matrix(c, next + 1, l.seq.batch, y[i].cells);
	}
	return 0;
}

/* Per layer: four gates, cells and outputs. */
size_t lstm_scratch(const struct op_call *c)
{
	size_t total = 0;
	struct lstm l;

	locate(c, &l);
	for (unsigned int i = 0; i < l.num_layers; i++) {
		size_t cells = c->in[l.layers[i].first + 1]->dims[0];
		size_t outputs = c->in[l.layers[i].first + LAYER_RECURRENT + 1]->dims[1];

		total = scratch_add(total, cells, (GATES + 1) * sizeof(float));
		total = scratch_add(total, outputs, sizeof(float));
	}
	return total;
}

/* A layer that processes one batch. */
struct worker {
	const struct op_call *c;
	const struct lstm *l;
	const struct layer *y;
	float *gates, *cells, *outputs;
	struct op_pace *pace;
};

/* Mean 0 and variance 1, times weights, plus bias. */
static void normalize(struct op_pace *pace, float *v, uint32_t n, const float *weights,
		      const float *bias)
{
	float mean = 0.0f, variance = 0.0f, factor;

	for (uint32_t i = 0; i < n && !op_pace_row(pace, i, 2); i++)
		mean += v[i];
	mean /= (float)n;
	for (uint32_t i = 0; i < n && !op_pace_row(pace, i, 2); i++)
		variance += (v[i] - mean) * (v[i] - mean);
	factor = 1.0f / sqrtf(variance / (float)n + NORM_EPSILON);
	for (uint32_t i = 0; i < n && !op_pace_row(pace, i, 2); i++)
		v[i] = (v[i] - mean) * factor * weights[i] + bias[i];
}

/* Gate @g before its activation function; @peephole: position of its weights, or 0. */
static float *sum_gate(const struct worker *w, unsigned int g, const float *x, const float *aux,
		       unsigned int peephole)
{
	const struct layer *y = w->y;
	float *gate = w->gates + (size_t)g * y->cells;
	const float *bias = float_data(w->c, y->first + LAYER_BIAS + g);
	const float *peep = peephole ? float_data(w->c, peephole) : NULL;

	if (y->has_norm)
		nd_fill(w->pace, gate, sizeof(*gate), y->cells, &(float){ 0 });
	else
		nd_move(w->pace, bias, gate, y->cells * sizeof(*gate));
	recurrent_product(w->pace, float_data(w->c, y->first + LAYER_WEIGHTS + g), x, y->cells,
			  y->size, gate);
	if (y->has_aux)
		recurrent_product(w->pace, float_data(w->c, y->aux + g), aux, y->cells,
				  y->aux_size, gate);
	recurrent_product(w->pace, float_data(w->c, y->first + LAYER_RECURRENT + g), w->outputs,
			  y->cells, y->outputs, gate);
	for (uint32_t i = 0; peep && i < y->cells && !op_pace_row(w->pace, i, 2); i++)
		gate[i] += peep[i] * w->cells[i];
	if (y->has_norm)
		normalize(w->pace, gate, y->cells, float_data(w->c, y->norm + g), bias);
	return gate;
}

static float limit(float v, float max)
{
	if (!(max > 0.0f))
		return v;
	return fminf(fmaxf(v, -max), max);
}

static void project(const struct worker *w, const float *hidden)
{
	const struct layer *y = w->y;
	const float *bias = float_data(w->c, y->first + LAYER_PROJECTION_BIAS);

	if (!y->projection) {
		nd_move(w->pace, hidden, w->outputs, y->outputs * sizeof(*hidden));
		return;
	}
	for (uint32_t i = 0; i < y->outputs && !op_pace_row(w->pace, i, 1); i++)
		w->outputs[i] = bias ? bias[i] : 0.0f;
	recurrent_product(w->pace, float_data(w->c, y->first + LAYER_PROJECTION), hidden,
			  y->outputs, y->cells, w->outputs);
	for (uint32_t i = 0; i < y->outputs && !op_pace_row(w->pace, i, 2); i++)
		w->outputs[i] = limit(w->outputs[i], w->l->projection_limit);
}

/* One time step: update cells and outputs. 0 or OP_ABORTED. */
static int step(const struct worker *w, const float *x, const float *aux)
{
	const struct layer *y = w->y;
	unsigned int peephole = y->first + LAYER_PEEPHOLE;
	float *in = NULL, *forget, *cell, *out;
	int32_t activation = w->l->activation;

	if (!y->cifg)
		in = sum_gate(w, GATE_IN, x, aux, peephole);
	forget = sum_gate(w, GATE_FORGET, x, aux, peephole + 1);
	cell = sum_gate(w, GATE_CELL, x, aux, 0);
	recurrent_apply(w->pace, RECURRENT_SIGMOID, forget, y->cells, forget);
	if (in)
		recurrent_apply(w->pace, RECURRENT_SIGMOID, in, y->cells, in);
	recurrent_apply(w->pace, activation, cell, y->cells, cell);
	for (uint32_t i = 0; i < y->cells && !op_pace_row(w->pace, i, 4); i++) {
		float part = in ? in[i] : 1.0f - forget[i];
		float v = forget[i] * w->cells[i] + part * cell[i];

		w->cells[i] = limit(v, w->l->cell_limit);
	}
	/* The output gate looks at the new cells. */
	out = sum_gate(w, GATE_OUT, x, aux, peephole + 2);
	recurrent_apply(w->pace, RECURRENT_SIGMOID, out, y->cells, out);
	recurrent_apply(w->pace, activation, w->cells, y->cells, cell);
	for (uint32_t i = 0; i < y->cells && !op_pace_row(w->pace, i, 2); i++)
		out[i] *= cell[i];
	project(w, out);
	return op_pace(w->pace, y->cells % OP_PACE_RUN * 8) ? OP_ABORTED : 0;
}

static int run_batch(const struct worker *w, uint32_t batch, bool backward, float *out,
		     uint32_t width)
{
	const struct layer *y = w->y;
	const struct sequence *seq = &w->l->seq;
	const float *input = w->c->in[y->input]->data;

	nd_move(w->pace, float_data(w->c, y->state) + (size_t)batch * y->outputs, w->outputs,
		y->outputs * sizeof(float));
	nd_move(w->pace, float_data(w->c, y->state + 1) + (size_t)batch * y->cells, w->cells,
		y->cells * sizeof(float));
	for (uint32_t i = 0; i < seq->time; i++) {
		uint32_t t = backward ? seq->time - 1 - i : i;
		const float *aux = NULL;

		if (y->has_aux)
			aux = float_data(w->c, 39) + sequence_at(seq, t, batch, y->aux_size);
		if (step(w, input + sequence_at(seq, t, batch, y->size), aux))
			return OP_ABORTED;
		nd_move(w->pace, w->outputs, out + sequence_at(seq, t, batch, width),
			y->outputs * sizeof(*out));
	}
	return w->pace->ended ? OP_ABORTED : 0;
}

static void keep(struct op_pace *pace, const struct tensor *t, uint32_t batch,
		 const float *values, uint32_t n)
{
	nd_move(pace, values, (float *)t->data + (size_t)batch * n, n * sizeof(*values));
}

static int run_layer(struct worker *w, unsigned int number)
{
	const struct op_call *c = w->c;
	const struct lstm *l = w->l;
	const struct layer *y = w->y;
	unsigned int out = is_sequence(c) ? (l->merged ? 0 : number) : 3;
	unsigned int state = is_sequence(c) ? l->sequences + 2 * number : 1;
	uint32_t width = l->merged ? l->layers[0].outputs + l->layers[1].outputs : y->outputs;
	float *to = c->out[out]->data;

	if (l->merged && number)
		to += l->layers[0].outputs;
	for (uint32_t b = 0; b < l->seq.batch; b++) {
		if (run_batch(w, b, number, to, width))
			return OP_ABORTED;
		if (state >= c->num_outputs)
			continue;
		keep(w->pace, c->out[state], b, w->outputs, y->outputs);
		keep(w->pace, c->out[state + 1], b, w->cells, y->cells);
	}
	return 0;
}

int lstm_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct op_call own = *c;
	struct lstm l;

	if (geometry(c, &l))
		return -1;
	/* The scratch buffer of the HAL is not used. It is an output, so it is cleared. */
	if (!is_sequence(c) &&
	    nd_fill(&pace, c->out[0]->data, 1, c->out[0]->bytes, &(uint8_t){ 0 }))
		return OP_ABORTED;
	for (unsigned int i = 0; i < l.num_layers; i++) {
		struct worker w = { .c = c, .l = &l, .y = &l.layers[i], .pace = &pace };
		size_t cells = w.y->cells;

		w.gates = scratch_take(&own, cells * (GATES + 1) * sizeof(float));
		w.cells = w.gates + cells * GATES;
		w.outputs = scratch_take(&own, w.y->outputs * sizeof(float));
		if (run_layer(&w, i))
			return OP_ABORTED;
	}
	return 0;
}
