// SPDX-License-Identifier: MIT
/*
 * Recurrent operations and normalizations stay within what follows from the classes of the steps of
 * their formulas (Documentation/operations/arithmetic.rst, class composed).
 */
#include "composed.h"

#include <string.h>

/* Functions of one operand. */

static struct exact sigma(struct exact x)
{
	struct exact falling = { -x.v, x.bound };

	return over(given(1), plus(given(1), function(expl, falling)));
}

static struct exact hyperbolic(struct exact x)
{
	return function(tanhl, x);
}

/* Layers of an LSTM. */

enum { IN, FORGET, CELL, OUT, GATES };

enum { SIZE = 20, CELLS = 12, OUTPUTS = 7, STEPS = 3, BATCH = 2 };

struct layer {
	bool cifg, peephole, projection, norm;
	float *weights[GATES], *recurrent[GATES], *peepholes[3], *bias[GATES], *norms[GATES];
	float *project, *project_bias;
	float *output_state, *cell_state;
	uint32_t outputs;
};

/* Limits of cells and of the projection. Some values reach them. */
#define CELL_LIMIT	0.9f
#define OUTPUT_LIMIT	1.2f

static void make_layer(struct layer *l)
{
	unsigned int g;

	l->outputs = l->projection ? OUTPUTS : CELLS;
	for (g = 0; g < GATES; g++) {
		l->weights[g] = numbers(CELLS * SIZE, -1, 1);
		l->recurrent[g] = numbers(CELLS * l->outputs, -1, 1);
		l->bias[g] = numbers(CELLS, -1, 1);
		l->norms[g] = numbers(CELLS, 0.5f, 2);
	}
	for (g = 0; g < 3; g++)
		l->peepholes[g] = numbers(CELLS, -1, 1);
	l->project = numbers((size_t)OUTPUTS * CELLS, -1, 1);
	l->project_bias = numbers(OUTPUTS, -1, 1);
	l->output_state = numbers((size_t)BATCH * l->outputs, -1, 1);
	l->cell_state = numbers(BATCH * CELLS, -0.5f, 0.5f);
}

static void free_layer(struct layer *l)
{
	unsigned int g;

	for (g = 0; g < GATES; g++) {
		free(l->weights[g]);
		free(l->recurrent[g]);
		free(l->bias[g]);
		free(l->norms[g]);
	}
	for (g = 0; g < 3; g++)
		free(l->peepholes[g]);
	free(l->project);
	free(l->project_bias);
	free(l->output_state);
	free(l->cell_state);
}

/* Mean 0 and variance 1, times weights, plus bias. */
static void normalize(struct exact *v, const float *weights, const float *bias)
{
	struct terms all = { 0 }, squares = { 0 };
	struct exact middle, deviation;
	unsigned int i;

	for (i = 0; i < CELLS; i++)
		add_term(&all, v[i]);
	middle = mean(&all);
	for (i = 0; i < CELLS; i++) {
		v[i] = minus(v[i], middle);
		add_product(&squares, v[i], v[i]);
	}
	deviation = function(sqrtl, plus(mean(&squares), given(1e-8f)));
	for (i = 0; i < CELLS; i++)
		v[i] = plus(times(over(v[i], deviation), given(weights[i])), given(bias[i]));
}

/* Gate @g before its function. */
static void gate(const struct layer *l, unsigned int g, const float *x, const struct exact *h,
		 const struct exact *c, const float *peephole, struct exact *v)
{
	unsigned int i, k;

	for (i = 0; i < CELLS; i++) {
		struct terms s = { 0 };

		if (!l->norm)
			add_term(&s, given(l->bias[g][i]));
		for (k = 0; k < SIZE; k++)
			add_product(&s, given(l->weights[g][i * SIZE + k]), given(x[k]));
		for (k = 0; k < l->outputs; k++)
			add_product(&s, given(l->recurrent[g][i * l->outputs + k]), h[k]);
		if (l->peephole && peephole)
			add_product(&s, given(peephole[i]), c[i]);
		v[i] = sum(&s);
	}
	if (l->norm)
		normalize(v, l->norms[g], l->bias[g]);
}

/* One step of one batch. */
static void step(const struct layer *l, const float *x, struct exact *h, struct exact *c)
{
	struct exact v[GATES][CELLS], hidden[CELLS];
	unsigned int i, k;

	if (!l->cifg)
		gate(l, IN, x, h, c, l->peepholes[0], v[IN]);
	gate(l, FORGET, x, h, c, l->peepholes[1], v[FORGET]);
	gate(l, CELL, x, h, c, NULL, v[CELL]);
	for (i = 0; i < CELLS; i++) {
		struct exact forget = sigma(v[FORGET][i]);
		struct exact in = l->cifg ? minus(given(1), forget) : sigma(v[IN][i]);

		c[i] = limited(plus(times(forget, c[i]), times(in, hyperbolic(v[CELL][i]))),
			       -(long double)CELL_LIMIT, CELL_LIMIT);
	}
	gate(l, OUT, x, h, c, l->peepholes[2], v[OUT]);
	for (i = 0; i < CELLS; i++)
		hidden[i] = times(sigma(v[OUT][i]), hyperbolic(c[i]));
	if (!l->projection) {
		memcpy(h, hidden, sizeof(hidden));
		return;
	}
	for (k = 0; k < OUTPUTS; k++) {
		struct terms s = { 0 };

		add_term(&s, given(l->project_bias[k]));
		for (i = 0; i < CELLS; i++)
			add_product(&s, given(l->project[k * CELLS + i]), hidden[i]);
		h[k] = limited(sum(&s), -(long double)OUTPUT_LIMIT, OUTPUT_LIMIT);
	}
}

/* The outputs of a sequence, time first. @backward: through it from its end. */
static struct exact *sequence(const struct layer *l, const float *x, unsigned int steps,
			      bool backward)
{
	struct exact *out = exacts((size_t)steps * BATCH * l->outputs), h[CELLS], c[CELLS];
	unsigned int b, t, i;

	for (b = 0; b < BATCH; b++) {
		for (i = 0; i < l->outputs; i++)
			h[i] = given(l->output_state[b * l->outputs + i]);
		for (i = 0; i < CELLS; i++)
			c[i] = given(l->cell_state[b * CELLS + i]);
		for (t = 0; t < steps; t++) {
			unsigned int at = (backward ? steps - 1 - t : t) * BATCH + b;

			step(l, x + (size_t)at * SIZE, h, c);
			memcpy(out + (size_t)at * l->outputs, h, l->outputs * sizeof(*h));
		}
	}
	return out;
}

static void omit(struct fixture *f)
{
	fixture_const(f, F32, 0, 0, DIMS(1), (float[]){ 0 })->kind = NNPU_TENSOR_NO_VALUE;
}

static void vector_or_none(struct fixture *f, bool there, uint32_t n, const float *v)
{
	if (there)
		fixture_const(f, F32, 0, 0, DIMS(n), v);
	else
		omit(f);
}

static void matrix_or_none(struct fixture *f, bool there, uint32_t rows, uint32_t cols,
			   const float *v)
{
	if (there)
		fixture_const(f, F32, 0, 0, DIMS(rows, cols), v);
	else
		omit(f);
}

static void put_layer(struct fixture *f, const struct layer *l)
{
	unsigned int g;

	for (g = 0; g < GATES; g++)
		matrix_or_none(f, g || !l->cifg, CELLS, SIZE, l->weights[g]);
	for (g = 0; g < GATES; g++)
		matrix_or_none(f, g || !l->cifg, CELLS, l->outputs, l->recurrent[g]);
	for (g = 0; g < 3; g++)
		vector_or_none(f, l->peephole && (g || !l->cifg), CELLS, l->peepholes[g]);
	for (g = 0; g < GATES; g++)
		vector_or_none(f, g || !l->cifg, CELLS, l->bias[g]);
	matrix_or_none(f, l->projection, OUTPUTS, CELLS, l->project);
	vector_or_none(f, l->projection, OUTPUTS, l->project_bias);
}

static void put_states(struct fixture *f, const struct layer *l)
{
	fixture_input(f, F32, 0, 0, DIMS(BATCH, l->outputs), l->output_state);
	fixture_input(f, F32, 0, 0, DIMS(BATCH, CELLS), l->cell_state);
}

static void put_norms(struct fixture *f, const struct layer *l)
{
	unsigned int g;

	for (g = 0; g < GATES; g++)
		vector_or_none(f, l->norm && (g || !l->cifg), CELLS, l->norms[g]);
}

/* TANH and the limits. */
static void put_scalars(struct fixture *f)
{
	fixture_i32(f, 4);
	fixture_f32(f, CELL_LIMIT);
	fixture_f32(f, OUTPUT_LIMIT);
}

static const float *output(const struct fixture *f, unsigned int i)
{
	return f->graph.tensors[f->num_inputs + i].data;
}

static void test_lstm(const char *name, struct layer *l)
{
	float *x = numbers((size_t)STEPS * BATCH * SIZE, -1, 1);
	struct exact *e;
	char what[96];
	struct fixture f;
	unsigned int i;

	make_layer(l);
	e = sequence(l, x, STEPS, false);
	fixture_init(&f, NNPU_OP_UNIDIRECTIONAL_SEQUENCE_LSTM);
	fixture_input(&f, F32, 0, 0, DIMS(STEPS, BATCH, SIZE), x);
	put_layer(&f, l);
	put_states(&f, l);
	put_scalars(&f);
	fixture_bool(&f, true);
	put_norms(&f, l);
	fixture_output(&f, F32, 0, 0);
	snprintf(what, sizeof(what), "UNIDIRECTIONAL_SEQUENCE_LSTM, %s", name);
	model(what, &f, e, (size_t)STEPS * BATCH * l->outputs);
	free(e);

	e = sequence(l, x, 1, false);
	fixture_init(&f, NNPU_OP_LSTM);
	fixture_input(&f, F32, 0, 0, DIMS(BATCH, SIZE), x);
	put_layer(&f, l);
	put_states(&f, l);
	put_scalars(&f);
	put_norms(&f, l);
	for (i = 0; i < 4; i++)
		fixture_output(&f, F32, 0, 0);
	snprintf(what, sizeof(what), "LSTM, %s", name);
	if (result(&f))
		within(what, output(&f, 3), e, (size_t)BATCH * l->outputs);
	fixture_end(&f);
	free(e);
	free(x);
	free_layer(l);
}

static void test_both_ways(struct layer *forward, struct layer *backward)
{
	float *x = numbers((size_t)STEPS * BATCH * SIZE, -1, 1);
	struct exact *e[2];
	struct fixture f;
	unsigned int i;

	make_layer(forward);
	make_layer(backward);
	e[0] = sequence(forward, x, STEPS, false);
	e[1] = sequence(backward, x, STEPS, true);
	fixture_init(&f, NNPU_OP_BIDIRECTIONAL_SEQUENCE_LSTM);
	fixture_input(&f, F32, 0, 0, DIMS(STEPS, BATCH, SIZE), x);
	put_layer(&f, forward);
	put_layer(&f, backward);
	put_states(&f, forward);
	put_states(&f, backward);
	for (i = 0; i < 9; i++)
		omit(&f);
	put_scalars(&f);
	fixture_bool(&f, false);
	fixture_bool(&f, true);
	put_norms(&f, forward);
	put_norms(&f, backward);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, F32, 0, 0);
	if (result(&f)) {
		within("BIDIRECTIONAL_SEQUENCE_LSTM, forward", output(&f, 0), e[0],
		       (size_t)STEPS * BATCH * forward->outputs);
		within("BIDIRECTIONAL_SEQUENCE_LSTM, backward", output(&f, 1), e[1],
		       (size_t)STEPS * BATCH * backward->outputs);
	}
	fixture_end(&f);
	free(e[0]);
	free(e[1]);
	free(x);
	free_layer(forward);
	free_layer(backward);
}

/* Layers without a gate's own weights for time: a sequence of RNN steps. */
static void test_sequence_rnn(bool both_ways)
{
	float *x = numbers((size_t)STEPS * BATCH * SIZE, -1, 1);
	struct exact *e[2];
	struct fixture f;
	float *in[2], *again[2], *bias[2], *state[2];
	unsigned int d, b, t, i, k;

	fixture_init(&f, both_ways ? NNPU_OP_BIDIRECTIONAL_SEQUENCE_RNN :
				     NNPU_OP_UNIDIRECTIONAL_SEQUENCE_RNN);
	fixture_input(&f, F32, 0, 0, DIMS(STEPS, BATCH, SIZE), x);
	for (d = 0; d < 2; d++) {
		in[d] = numbers(CELLS * SIZE, -1, 1);
		again[d] = numbers(CELLS * CELLS, -1, 1);
		bias[d] = numbers(CELLS, -1, 1);
		state[d] = numbers(BATCH * CELLS, -1, 1);
		e[d] = exacts(STEPS * BATCH * CELLS);
		for (b = 0; b < BATCH; b++) {
			struct exact h[CELLS], next[CELLS];

			for (i = 0; i < CELLS; i++)
				h[i] = given(state[d][b * CELLS + i]);
			for (t = 0; t < STEPS; t++) {
				unsigned int at = (d ? STEPS - 1 - t : t) * BATCH + b;

				for (i = 0; i < CELLS; i++) {
					struct terms s = { 0 };

					add_term(&s, given(bias[d][i]));
					for (k = 0; k < SIZE; k++)
						add_product(&s, given(in[d][i * SIZE + k]),
							    given(x[at * SIZE + k]));
					for (k = 0; k < CELLS; k++)
						add_product(&s, given(again[d][i * CELLS + k]), h[k]);
					next[i] = hyperbolic(sum(&s));
				}
				memcpy(h, next, sizeof(h));
				memcpy(e[d] + (size_t)at * CELLS, h, sizeof(h));
			}
		}
	}
	for (d = 0; d < (both_ways ? 2 : 1); d++) {
		fixture_const(&f, F32, 0, 0, DIMS(CELLS, SIZE), in[d]);
		fixture_const(&f, F32, 0, 0, DIMS(CELLS, CELLS), again[d]);
		fixture_const(&f, F32, 0, 0, DIMS(CELLS), bias[d]);
		fixture_const(&f, F32, 0, 0, DIMS(BATCH, CELLS), state[d]);
	}
	for (i = 0; both_ways && i < 3; i++)
		omit(&f);
	fixture_i32(&f, 4);
	if (both_ways) {
		fixture_bool(&f, true);
		fixture_bool(&f, false);
	} else {
		fixture_i32(&f, 1);
	}
	fixture_output(&f, F32, 0, 0);
	if (both_ways)
		fixture_output(&f, F32, 0, 0);
	if (result(&f)) {
		within(both_ways ? "BIDIRECTIONAL_SEQUENCE_RNN, forward" :
				   "UNIDIRECTIONAL_SEQUENCE_RNN", output(&f, 0), e[0],
		       STEPS * BATCH * CELLS);
		if (both_ways)
			within("BIDIRECTIONAL_SEQUENCE_RNN, backward", output(&f, 1), e[1],
			       STEPS * BATCH * CELLS);
	}
	fixture_end(&f);
	for (d = 0; d < 2; d++) {
		free(in[d]);
		free(again[d]);
		free(bias[d]);
		free(state[d]);
		free(e[d]);
	}
	free(x);
}

static void test_svdf(uint32_t size, uint32_t memory)
{
	enum { RANK = 2, UNITS = 9, FILTERS = RANK * UNITS };
	float *x = numbers((size_t)BATCH * size, -1, 1), *bias = numbers(UNITS, -1, 1);
	float *features = numbers((size_t)FILTERS * size, -1, 1);
	float *times_of = numbers((size_t)FILTERS * memory, -1, 1);
	float *state = numbers((size_t)BATCH * FILTERS * memory, -1, 1);
	struct exact *next = exacts((size_t)BATCH * FILTERS * memory), e[BATCH * UNITS];
	struct fixture f;
	uint32_t b, u, r, k;

	for (b = 0; b < BATCH; b++)
		for (u = 0; u < UNITS; u++) {
			struct terms s = { 0 };

			add_term(&s, given(bias[u]));
			for (r = u * RANK; r < (u + 1) * RANK; r++) {
				size_t at = ((size_t)b * FILTERS + r) * memory;
				struct terms newest = { 0 };

				for (k = 0; k < size; k++)
					add_product(&newest, given(features[r * size + k]),
						    given(x[b * size + k]));
				for (k = 0; k < memory; k++) {
					struct exact value = k + 1 < memory ?
						given(state[at + k]) : sum(&newest);

					add_product(&s, given(times_of[r * memory + k]), value);
					if (k)
						next[at + k - 1] = value;
				}
			}
			e[b * UNITS + u] = sum(&s);
		}
	/* The first value is gone, and a zero follows the last one. */
	fixture_init(&f, NNPU_OP_SVDF);
	fixture_input(&f, F32, 0, 0, DIMS(BATCH, size), x);
	fixture_const(&f, F32, 0, 0, DIMS(FILTERS, size), features);
	fixture_const(&f, F32, 0, 0, DIMS(FILTERS, memory), times_of);
	fixture_const(&f, F32, 0, 0, DIMS(UNITS), bias);
	fixture_input(&f, F32, 0, 0, DIMS(BATCH, FILTERS * memory), state);
	fixture_i32(&f, RANK);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, F32, 0, 0);
	if (result(&f)) {
		within("SVDF, state", output(&f, 0), next, (size_t)BATCH * FILTERS * memory);
		within("SVDF, output", output(&f, 1), e, BATCH * UNITS);
	}
	fixture_end(&f);
	free(x);
	free(bias);
	free(features);
	free(times_of);
	free(state);
	free(next);
}

/* Normalizations. */

static void test_local_response(uint32_t n, int32_t radius)
{
	const float bias = 1.3f, alpha = 0.7f, beta = 0.75f;
	float *x = numbers(n, -3, 3), *other = numbers(n, 0, 0);
	struct exact *e = exacts(n);
	struct fixture f;
	int64_t i, k;

	for (i = 0; i < n; i++) {
		struct terms s = { 0 };
		float squares = 0;

		for (k = i - radius; k <= i + radius; k++)
			if (k >= 0 && k < n) {
				add_product(&s, given(x[k]), given(x[k]));
				squares = fmaf(x[k], x[k], squares);
			}
		e[i] = times(given(x[i]), power(plus(given(bias), times(given(alpha), sum(&s))), -beta));
		other[i] = x[i] * exp2f(-beta * log2f(fmaf(alpha, squares, bias)));
	}
	fixture_init(&f, NNPU_OP_LOCAL_RESPONSE_NORMALIZATION);
	fixture_input(&f, F32, 0, 0, DIMS(1, 1, 1, n), x);
	fixture_i32(&f, radius);
	fixture_f32(&f, bias);
	fixture_f32(&f, alpha);
	fixture_f32(&f, beta);
	fixture_output(&f, F32, 0, 0);
	model("LOCAL_RESPONSE_NORMALIZATION", &f, e, n);
	within("... by powers of two", other, e, n);
	free(x);
	free(other);
	free(e);
}

static void test_instance(uint32_t side, float middle)
{
	const float gamma = 1.7f, beta = -0.4f, epsilon = 1e-3f;
	const uint32_t n = side * side;
	float *x = numbers(n, middle - 1, middle + 1), *other = numbers(n, 0, 0), total = 0, spread = 0;
	struct exact *e = exacts(n), m, factor;
	struct terms all = { 0 }, squares = { 0 };
	struct fixture f;
	uint32_t i;

	for (i = 0; i < n; i++) {
		add_term(&all, given(x[i]));
		total += x[i];
	}
	m = mean(&all);
	total *= 1.0f / (float)n;
	for (i = 0; i < n; i++) {
		struct exact d = minus(given(x[i]), m);

		add_product(&squares, d, d);
		spread = fmaf(x[i] - total, x[i] - total, spread);
	}
	factor = over(given(gamma), function(sqrtl, plus(mean(&squares), given(epsilon))));
	spread = gamma * (1.0f / sqrtf(fmaf(spread, 1.0f / (float)n, epsilon)));
	for (i = 0; i < n; i++) {
		e[i] = plus(times(minus(given(x[i]), m), factor), given(beta));
		other[i] = fmaf(x[i] - total, spread, beta);
	}
	fixture_init(&f, NNPU_OP_INSTANCE_NORMALIZATION);
	fixture_input(&f, F32, 0, 0, DIMS(1, side, side, 1), x);
	fixture_f32(&f, gamma);
	fixture_f32(&f, beta);
	fixture_f32(&f, epsilon);
	fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	model("INSTANCE_NORMALIZATION", &f, e, n);
	within("... fused, by reciprocals", other, e, n);
	free(x);
	free(other);
	free(e);
}

int main(void)
{
	struct layer plain = { 0 }, coupled = { .cifg = true, .peephole = true };
	struct layer projected = { .peephole = true, .projection = true };
	struct layer normalized = { .norm = true, .projection = true };
	struct layer all = { .cifg = true, .peephole = true, .projection = true, .norm = true };

	test_lstm("plain", &plain);
	test_lstm("coupled gates and peepholes", &coupled);
	test_lstm("peepholes and projection", &projected);
	test_lstm("normalized gates and projection", &normalized);
	test_lstm("all of it", &all);
	test_both_ways(&plain, &all);
	test_both_ways(&projected, &coupled);
	test_sequence_rnn(false);
	test_sequence_rnn(true);
	test_svdf(10, 1);
	test_svdf(300, 20);
	test_local_response(50, 2);
	test_local_response(1000, 400);
	test_instance(3, 0);
	test_instance(100, 5);
	return tap_done();
}
