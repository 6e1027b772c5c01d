// SPDX-License-Identifier: MIT
/*
 * QUANTIZED_LSTM: an LSTM layer in integer arithmetic. Peepholes, projection and
 * normalization may be omitted.
 *
 * Inputs: 0 input [batch, size], 1 to 4 weights [cells, size] and 5 to 8 recurrent weights
 * [cells, outputs] of the gates input, forget, cell and output, 9 to 11 peephole weights
 * [cells] of input, forget and output, 12 to 15 biases [cells], 16 projection weights
 * [outputs, cells] and 17 bias [outputs], 18 output state [batch, outputs], 19 cell state
 * [batch, cells], 20 to 23 normalization [cells], 24 and 25 limits of cells and projection,
 * 26 to 29 scales of the gates before normalization, 30 and 31 zero point and scale of
 * what is projected. Without weights of the input gate that is 1 - forget (CIFG).
 * Outputs: 0 output state, 1 cell state, 2 output.
 */
#include <string.h>

#include "lstm_fixed.h"
#include "nd_copy.h"
#include "ops.h"

enum { GATE_IN, GATE_FORGET, GATE_CELL, GATE_OUT, GATES };

/* Positions of operands. */
enum {
	AT_WEIGHTS = 1, AT_RECURRENT = 5, AT_PEEPHOLE = 9, AT_BIAS = 12, AT_PROJECTION = 16,
	AT_PROJECTION_BIAS = 17, AT_OUTPUTS = 18, AT_CELLS = 19, AT_NORM = 20, AT_CELL_LIMIT = 24,
	AT_PROJECTION_LIMIT = 25, AT_GATE_SCALE = 26, AT_HIDDEN_ZERO = 30, AT_HIDDEN_SCALE = 31,
};

/* Fraction bits of a normalized gate. */
#define NORM_BITS	10

struct quantized_lstm {
	bool cifg, norm;
	uint32_t batch, size, cells, outputs;
	int cell_exponent;		/* scale of the cells is a power of two */
	float gate_scale[GATES], hidden_scale, cell_limit, projection_limit;
	int32_t hidden_zero;
	/* Scratch memory for one batch. */
	int16_t *gates;			/* by gate, then by cell */
	int8_t *hidden;
	struct op_pace pace;
};

static int check_given(const struct op_call *c, unsigned int i, bool wanted)
{
	return op_has_input(c, i) == wanted ? 0 : op_fail(c, NNPU_REASON_OMITTED, i);
}

/* Types of inputs [@first, @last], and ranks of those that are there. */
static int check_range(const struct op_call *c, unsigned int first, unsigned int last,
		       uint32_t types)
{
	for (unsigned int i = first; i <= last; i++) {
		if (op_check_type(c, i, types) || (op_has_input(c, i) && op_check_rank(c, i, 1, 2)))
			return -1;
	}
	return 0;
}

/* Operands are present or omitted in groups. */
static int check_parts(const struct op_call *c)
{
	bool cifg = !op_has_input(c, AT_WEIGHTS), norm = op_has_input(c, AT_NORM + GATE_FORGET);
	bool peephole = op_has_input(c, AT_PEEPHOLE + 2);

	if (check_given(c, AT_RECURRENT, !cifg) || check_given(c, AT_BIAS, !cifg) ||
	    check_given(c, AT_PEEPHOLE, peephole && !cifg) ||
	    check_given(c, AT_PEEPHOLE + 1, peephole))
		return -1;
	if (op_has_input(c, AT_PROJECTION_BIAS) && !op_has_input(c, AT_PROJECTION))
		return op_fail(c, NNPU_REASON_OMITTED, AT_PROJECTION);
	for (unsigned int g = 0; g < GATES; g++) {
		if (check_given(c, AT_NORM + g, norm && !(g == GATE_IN && cifg)))
			return -1;
	}
	return 0;
}

/* The scale of the cells must be a power of two, 2^-15 to 2^-9. Allow for rounding. */
static int check_cell_scale(const struct op_call *c, int *exponent)
{
	double log = log2(c->in[AT_CELLS]->scale);

	*exponent = (int)round(log);
	if (!(fabs(log - *exponent) < 1e-3) || *exponent > -9 || *exponent < -15)
		return op_fail(c, NNPU_REASON_SCALE, AT_CELLS);
	return 0;
}

int quantized_lstm_check(const struct op_call *c)
{
	uint32_t byte = TYPE_BIT(TENSOR_QUANT8_ASYMM_SIGNED);
	uint32_t word = TYPE_BIT(TENSOR_QUANT16_SYMM);
	unsigned int out = op_output(c, 0);
	int exponent;

	if (op_check_operands(c) || op_check_type(c, 0, byte) || op_check_rank(c, 0, 2, 2) ||
	    check_range(c, AT_WEIGHTS, AT_RECURRENT + 3, TYPE_BIT(TENSOR_QUANT8_SYMM)) ||
	    check_range(c, AT_PEEPHOLE, AT_PEEPHOLE + 2, word) ||
	    check_range(c, AT_BIAS, AT_BIAS + 3, TYPE_BIT(TENSOR_INT32)) ||
	    check_range(c, AT_PROJECTION, AT_PROJECTION, TYPE_BIT(TENSOR_QUANT8_SYMM)) ||
	    check_range(c, AT_PROJECTION_BIAS, AT_PROJECTION_BIAS, TYPE_BIT(TENSOR_INT32)) ||
	    op_check_type(c, AT_OUTPUTS, byte) || op_check_type(c, AT_CELLS, word) ||
	    op_check_rank(c, AT_OUTPUTS, 2, 2) || op_check_rank(c, AT_CELLS, 2, 2) ||
	    check_range(c, AT_NORM, AT_NORM + 3, word) || check_parts(c) ||
	    check_cell_scale(c, &exponent))
		return -1;
	for (unsigned int i = AT_CELL_LIMIT; i <= AT_HIDDEN_SCALE; i++) {
		if (op_check_type(c, i, i == AT_HIDDEN_ZERO ? TYPE_BIT(INT32) : TYPE_BIT(FLOAT32)))
			return -1;
	}
	return op_check_type(c, out, byte) || op_check_type(c, out + 1, word) ||
	       op_check_type(c, out + 2, byte) ||
	       op_check_same_quant(c, out, AT_OUTPUTS) ||
	       op_check_same_quant(c, out + 1, AT_CELLS) ||
	       op_check_same_quant(c, out + 2, AT_OUTPUTS) ||
	       op_check_rank(c, out, 2, 2) || op_check_rank(c, out + 1, 2, 2) ||
	       op_check_rank(c, out + 2, 2, 2) ? -1 : 0;
}

static int read_scalars(const struct op_call *c, struct quantized_lstm *q)
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

static int check_shapes(const struct op_call *c, const struct quantized_lstm *q)
{
	for (unsigned int g = 0; g < GATES; g++) {
		if (recurrent_shape(c, AT_WEIGHTS + g, 2, (uint32_t[]){ q->cells, q->size }) ||
		    recurrent_shape(c, AT_RECURRENT + g, 2,
				    (uint32_t[]){ q->cells, q->outputs }) ||
		    (g < 3 && recurrent_shape(c, AT_PEEPHOLE + g, 1, &q->cells)) ||
		    recurrent_shape(c, AT_BIAS + g, 1, &q->cells) ||
		    recurrent_shape(c, AT_NORM + g, 1, &q->cells))
			return -1;
	}
	return recurrent_shape(c, AT_PROJECTION, 2, (uint32_t[]){ q->outputs, q->cells }) ||
	       recurrent_shape(c, AT_PROJECTION_BIAS, 1, &q->outputs) ||
	       recurrent_shape(c, AT_OUTPUTS, 2, (uint32_t[]){ q->batch, q->outputs }) ||
	       recurrent_shape(c, AT_CELLS, 2, (uint32_t[]){ q->batch, q->cells }) ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct quantized_lstm *q)
{
	int ret;

	*q = (struct quantized_lstm){
		.cifg = !op_has_input(c, AT_WEIGHTS), .norm = op_has_input(c, AT_NORM + 1),
	};
	if (op_check_rank(c, 0, 2, 2) || op_check_rank(c, AT_WEIGHTS + 1, 2, 2) ||
	    op_check_rank(c, AT_RECURRENT + 1, 2, 2) || check_cell_scale(c, &q->cell_exponent))
		return -1;
	ret = read_scalars(c, q);
	if (ret)
		return ret;
	q->batch = c->in[0]->dims[0];
	q->size = c->in[0]->dims[1];
	q->cells = c->in[AT_WEIGHTS + 1]->dims[0];
	q->outputs = c->in[AT_RECURRENT + 1]->dims[1];
	if (q->cells == 0 || q->outputs == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_WEIGHTS + 1);
	if (!op_has_input(c, AT_PROJECTION) && q->outputs != q->cells)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_RECURRENT + 1);
	return check_shapes(c, q);
}

int quantized_lstm_infer(const struct op_call *c)
{
	struct quantized_lstm q;
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
	size_t cells = c->in[AT_WEIGHTS + 1]->dims[0];

	return scratch_add(scratch_add(0, cells, GATES * sizeof(int16_t)), cells, 1);
}

/* Row @i of a matrix times a vector without its zero point, plus @acc. */
static int32_t row_product(struct op_pace *pace, const struct tensor *m, uint32_t i,
			   const int8_t *x, int32_t zero, int32_t acc)
{
	const int8_t *w = (const int8_t *)m->data + (size_t)i * m->dims[1];

	for (uint32_t j = 0; j < m->dims[1] && !op_pace_row(pace, j, 2); j++)
		acc = q_add(acc, w[j] * (x[j] - zero));
	return acc;
}

/*
 * 1 / sqrt(v) as a factor: @v is moved into [1/4, 1) by powers of four, then five steps of
 * Newton's iteration from 1 in Q3.28.
 */
static struct qfactor inverse_root(uint32_t v)
{
	const int32_t half_three = 3 << 27, half_root_2 = 1518500250;
	int32_t x = 1 << 28, half;
	int shift = 11, pairs;

	if (v <= 1)
		return (struct qfactor){ INT32_MAX, 0 };
	for (; v >= 1u << 29; v /= 4)
		shift++;
	pairs = (__builtin_clz(v) - 1) / 2 - 1;
	v <<= 2 * pairs;
	shift -= pairs;
	half = q_shift_right((int32_t)(v >> 1), 1);
	for (int i = 0; i < 5; i++) {
		int32_t cube = q_shift_left(q_mul_high(q_mul_high(x, x), x), 6);

		x = q_shift_left(q_mul_high(half_three, x) - q_mul_high(half, cube), 3);
	}
	x = q_mul_high(x, half_root_2);
	if (shift < 0)
		return (struct qfactor){ q_shift_left(x, -shift), 0 };
	return (struct qfactor){ x, -shift };
}

/*
 * Normalize to mean 0 and variance 1, with 10 fraction bits, then multiply by the weights
 * and add the bias. The result is Q3.12. The variance is an integer.
 */
static void normalize(const struct op_call *c, struct quantized_lstm *q, unsigned int g)
{
	const struct tensor *t = c->in[AT_NORM + g];
	const int16_t *weights = t->data;
	int16_t *gate = q->gates + (size_t)g * q->cells;
	struct qfactor scale = qfactor_from((double)t->scale * 4096), inverse;
	int64_t sum = 0, squares = 0, mean, variance;

	for (uint32_t i = 0; i < q->cells && !op_pace_row(&q->pace, i, 2); i++) {
		sum += gate[i];
		squares += gate[i] * gate[i];
	}
	mean = sum * (1 << NORM_BITS) / q->cells;
	/* Divide before the multiplication, so that the sum of squares does not overflow. */
	variance = (squares * ((1 << 2 * NORM_BITS) / q->cells) - mean * mean) /
		   (1 << 2 * NORM_BITS);
	/* A lower limit, so that values that hardly differ are not amplified. */
	if (variance < 1)
		variance = (int64_t)fmax(1.0, fmin(10000.0 * t->scale, INT32_MAX));
	inverse = inverse_root((uint32_t)variance);
	for (uint32_t i = 0; i < q->cells && !op_pace_row(&q->pace, i, 16); i++) {
		int32_t v = (int32_t)((int64_t)gate[i] * (1 << NORM_BITS) - mean);
		int64_t wide = (int64_t)q_scale(v, inverse) * weights[i] +
			       op_list_at(c, AT_BIAS + g, i);

		wide = (wide + (wide > 0 ? 512 : -512)) / (1 << NORM_BITS);
		wide = wide < INT32_MIN ? INT32_MIN : wide > INT32_MAX ? INT32_MAX : wide;
		gate[i] = fixed_limit(q_scale((int32_t)wide, scale));
	}
}

/* Gate @g of all cells of a batch in Q3.12; @cell is what its peephole looks at. */
static void sum_gate(const struct op_call *c, struct quantized_lstm *q, unsigned int g,
		     uint32_t batch, const int16_t *cell)
{
	static const int8_t peepholes[GATES] = { 0, 1, -1, 2 };
	const struct tensor *w = c->in[AT_WEIGHTS + g], *r = c->in[AT_RECURRENT + g];
	const struct tensor *in = c->in[0], *out = c->in[AT_OUTPUTS], *peep = NULL;
	const int8_t *x = (const int8_t *)in->data + (size_t)batch * q->size;
	const int8_t *h = (const int8_t *)out->data + (size_t)batch * q->outputs;
	int16_t *gate = q->gates + (size_t)g * q->cells;
	struct qfactor fx = qfactor_from(w->scale * in->scale / q->gate_scale[g]);
	struct qfactor fh = qfactor_from(r->scale * out->scale / q->gate_scale[g]);
	struct qfactor fp = { 0, 0 };

	if (peepholes[g] >= 0 && op_has_input(c, AT_PEEPHOLE + (unsigned int)peepholes[g])) {
		peep = c->in[AT_PEEPHOLE + (unsigned int)peepholes[g]];
		fp = qfactor_from(ldexpf(peep->scale, q->cell_exponent) / q->gate_scale[g]);
	}
	for (uint32_t i = 0; i < q->cells; i++) {
		int32_t bias = q->norm ? 0 : op_list_at(c, AT_BIAS + g, i);
		int32_t v = row_product(&q->pace, w, i, x, in->zero_point, bias);
		int32_t recurrent = row_product(&q->pace, r, i, h, out->zero_point, 0);

		v = fixed_limit(q_scale(v, fx));
		v = fixed_limit(q_add(v, q_scale(recurrent, fh)));
		if (peep)
			v = fixed_limit(q_add(v, q_scale(((const int16_t *)peep->data)[i] *
							 cell[i], fp)));
		gate[i] = (int16_t)v;
		if (op_pace(&q->pace, (q->size % OP_PACE_RUN + q->outputs % OP_PACE_RUN) * 2 + 32))
			return;
	}
	if (q->norm)
		normalize(c, q, g);
}

/* A limit in steps of @scale, or 0 for none. */
static int32_t limit_steps(float limit, float scale, int32_t max)
{
	float steps = limit / scale;

	if (!(steps > 0))
		return 0;
	return steps < (float)max ? (int32_t)steps : max;
}

static void next_cells(const struct op_call *c, struct quantized_lstm *q,
		       const int16_t *old, int16_t *cell)
{
	int32_t limit = limit_steps(q->cell_limit, c->in[AT_CELLS]->scale, INT16_MAX);

	for (uint32_t i = 0; i < q->cells && !op_pace_row(&q->pace, i, 64); i++) {
		int32_t forget = fixed_logistic(q->gates[GATE_FORGET * (size_t)q->cells + i]);
		int32_t in = q->cifg ? INT16_MAX - forget : fixed_logistic(q->gates[i]);
		int32_t new = fixed_tanh(q->gates[GATE_CELL * (size_t)q->cells + i], 3);

		/* 30 fraction bits become those of the cells. */
		cell[i] = fixed_limit(q_shift_right(forget * old[i], 15) +
				      q_shift_right(in * new, 30 + q->cell_exponent));
		if (limit)
			cell[i] = (int16_t)q_clamp(cell[i], -limit, limit);
	}
}

/* Outputs of a batch from its hidden values. */
static int project(const struct op_call *c, struct quantized_lstm *q, int8_t *to)
{
	const struct tensor *w = c->in[AT_PROJECTION], *out = c->in[AT_OUTPUTS];
	int32_t limit = limit_steps(q->projection_limit, out->scale, INT8_MAX);
	struct qfactor f;

	if (!op_has_input(c, AT_PROJECTION))
		return nd_move(&q->pace, q->hidden, to, q->outputs);
	f = qfactor_from(w->scale * q->hidden_scale / out->scale);
	for (uint32_t i = 0; i < q->outputs; i++) {
		int32_t acc = op_has_input(c, AT_PROJECTION_BIAS) ?
			      op_list_at(c, AT_PROJECTION_BIAS, i) : 0;
		int32_t v;

		acc = row_product(&q->pace, w, i, q->hidden, q->hidden_zero, acc);
		v = q_clamp(q_add(q_scale(acc, f), out->zero_point), INT8_MIN, INT8_MAX);
		to[i] = (int8_t)(limit ? q_clamp(v, -limit, limit) : v);
		if (op_pace(&q->pace, q->cells % OP_PACE_RUN + 16))
			return OP_ABORTED;
	}
	return 0;
}

static int run_batch(const struct op_call *c, struct quantized_lstm *q, uint32_t b)
{
	const int16_t *old = (const int16_t *)c->in[AT_CELLS]->data + (size_t)b * q->cells;
	int16_t *cell = (int16_t *)c->out[1]->data + (size_t)b * q->cells;
	int8_t *to = (int8_t *)c->out[2]->data + (size_t)b * q->outputs;
	struct qfactor f = qfactor_from(ldexp(1, -30) / q->hidden_scale);

	for (unsigned int g = q->cifg ? GATE_FORGET : GATE_IN; g < GATE_OUT; g++) {
		sum_gate(c, q, g, b, old);
		if (op_pace(&q->pace, 64))
			return OP_ABORTED;
	}
	next_cells(c, q, old, cell);
	sum_gate(c, q, GATE_OUT, b, cell);
	for (uint32_t i = 0; i < q->cells && !op_pace_row(&q->pace, i, 32); i++) {
		int32_t out = fixed_logistic(q->gates[GATE_OUT * (size_t)q->cells + i]);
		int32_t v = out * fixed_tanh(cell[i], 15 + q->cell_exponent);

		q->hidden[i] = (int8_t)q_clamp(q_add(q_scale(v, f), q->hidden_zero), INT8_MIN,
					       INT8_MAX);
	}
	if (project(c, q, to) || op_pace(&q->pace, q->cells % OP_PACE_RUN * 100))
		return OP_ABORTED;
	return nd_move(&q->pace, to, (int8_t *)c->out[0]->data + (size_t)b * q->outputs,
		       q->outputs);
}

int quantized_lstm_execute(const struct op_call *c)
{
	struct op_call own = *c;
	struct quantized_lstm q;

	if (geometry(c, &q))
		return -1;
	q.gates = scratch_take(&own, (size_t)q.cells * GATES * sizeof(*q.gates));
	q.hidden = scratch_take(&own, q.cells);
	q.pace.progress = c->progress;
	for (uint32_t b = 0; b < q.batch; b++) {
		if (run_batch(c, &q, b))
			return OP_ABORTED;
	}
	return 0;
}
