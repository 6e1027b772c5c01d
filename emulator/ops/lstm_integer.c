// SPDX-License-Identifier: MIT
/*
 * A step of an LSTM layer in integer arithmetic.
 */
#include "lstm_integer.h"

#include "kernels.h"
#include "lstm_fixed.h"
#include "nd_copy.h"

/* Fraction bits of a normalized gate. */
#define NORM_BITS	10

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

int integer_lstm_check_types(const struct op_call *c)
{
	uint32_t weight = TYPE_BIT(TENSOR_QUANT8_SYMM), word = TYPE_BIT(TENSOR_QUANT16_SYMM);

	return check_range(c, AT_WEIGHTS, AT_RECURRENT + 3, weight) ||
	       check_range(c, AT_PEEPHOLE, AT_PEEPHOLE + 2, word) ||
	       check_range(c, AT_BIAS, AT_BIAS + 3, TYPE_BIT(TENSOR_INT32)) ||
	       check_range(c, AT_PROJECTION, AT_PROJECTION, weight) ||
	       check_range(c, AT_PROJECTION_BIAS, AT_PROJECTION_BIAS, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_type(c, AT_OUTPUTS, TYPE_BIT(TENSOR_QUANT8_ASYMM_SIGNED)) ||
	       op_check_type(c, AT_CELLS, word) || op_check_rank(c, AT_OUTPUTS, 2, 2) ||
	       op_check_rank(c, AT_CELLS, 2, 2) ||
	       check_range(c, AT_NORM, AT_NORM + 3, word) ? -1 : 0;
}

int integer_lstm_check(const struct op_call *c)
{
	int exponent;

	return check_parts(c) || check_cell_scale(c, &exponent) ? -1 : 0;
}

static int check_shapes(const struct op_call *c, const struct integer_lstm *q)
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

int integer_lstm_geometry(const struct op_call *c, struct integer_lstm *q)
{
	q->cifg = !op_has_input(c, AT_WEIGHTS);
	q->norm = op_has_input(c, AT_NORM + 1);
	if (op_check_rank(c, AT_WEIGHTS + 1, 2, 2) || op_check_rank(c, AT_RECURRENT + 1, 2, 2) ||
	    check_cell_scale(c, &q->cell_exponent))
		return -1;
	q->cells = c->in[AT_WEIGHTS + 1]->dims[0];
	q->outputs = c->in[AT_RECURRENT + 1]->dims[1];
	if (q->cells == 0 || q->outputs == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_WEIGHTS + 1);
	if (!op_has_input(c, AT_PROJECTION) && q->outputs != q->cells)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_RECURRENT + 1);
	return check_shapes(c, q);
}

size_t integer_lstm_scratch(const struct op_call *c)
{
	size_t cells = c->in[AT_WEIGHTS + 1]->dims[0];

	return scratch_add(scratch_add(0, cells, GATES * sizeof(int16_t)), cells, 1);
}

void integer_lstm_take(struct op_call *own, struct integer_lstm *q)
{
	q->gates = scratch_take(own, (size_t)q->cells * GATES * sizeof(*q->gates));
	q->hidden = scratch_take(own, q->cells);
	q->pace.progress = own->progress;
}

/* Row @i of a matrix times a vector without its zero point, plus @acc. */
static int32_t row_product(struct op_pace *pace, const struct tensor *m, uint32_t i,
			   const int8_t *x, int32_t zero, int32_t acc)
{
	const struct row_kernels *k = kernels_rows();
	size_t size = m->dims[1], n;
	const int8_t *w = (const int8_t *)m->data + i * size;

	for (size_t at = 0; at < size; at += n) {
		n = size - at < OP_PACE_RUN ? size - at : OP_PACE_RUN;
		acc = q_add(acc, k->dot_bytes(w + at, x + at, n, zero));
		if (n == OP_PACE_RUN && op_pace(pace, n))
			break;
	}
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
static void normalize(const struct op_call *c, struct integer_lstm *q, unsigned int g)
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

/* The peephole weight of cell @i, 0 for none. */
static int32_t peephole_at(const struct integer_lstm *q, const struct integer_lstm_step *s,
			   const struct tensor *peep, size_t i)
{
	if (q->flat_peepholes) {
		i += s->first_cell;
		if (i >= q->flat_peepholes || i % q->outputs >= q->cells)
			return 0;
		i %= q->outputs;
	}
	return ((const int16_t *)peep->data)[i];
}

/* Gate @g of all cells of a batch in Q3.12; @cell is what its peephole looks at. */
static void sum_gate(const struct op_call *c, struct integer_lstm *q, unsigned int g,
		     const struct integer_lstm_step *s, const int16_t *cell)
{
	static const int8_t peepholes[GATES] = { 0, 1, -1, 2 };
	const struct tensor *w = c->in[AT_WEIGHTS + g], *r = c->in[AT_RECURRENT + g];
	const struct tensor *in = c->in[0], *out = c->in[AT_OUTPUTS], *peep = NULL;
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
		int32_t v = row_product(&q->pace, w, i, s->x, in->zero_point, bias);
		int32_t recurrent = row_product(&q->pace, r, i, s->outputs, out->zero_point, 0);

		v = fixed_limit(q_scale(v, fx));
		v = fixed_limit(q_add(v, q_scale(recurrent, fh)));
		if (peep)
			v = fixed_limit(q_add(v, q_scale(peephole_at(q, s, peep, i) * cell[i],
							 fp)));
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

static void next_cells(const struct op_call *c, struct integer_lstm *q,
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
static int project(const struct op_call *c, struct integer_lstm *q, int8_t *to)
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

int integer_lstm_run(const struct op_call *c, struct integer_lstm *q,
		     const struct integer_lstm_step *s)
{
	struct qfactor f = qfactor_from(q->hidden_factor);

	for (unsigned int g = q->cifg ? GATE_FORGET : GATE_IN; g < GATE_OUT; g++) {
		sum_gate(c, q, g, s, s->cells);
		if (op_pace(&q->pace, 64))
			return OP_ABORTED;
	}
	next_cells(c, q, s->cells, s->new_cells);
	sum_gate(c, q, GATE_OUT, s, s->new_cells);
	for (uint32_t i = 0; i < q->cells && !op_pace_row(&q->pace, i, 32); i++) {
		int32_t out = fixed_logistic(q->gates[GATE_OUT * (size_t)q->cells + i]);
		int32_t v = out * fixed_tanh(s->new_cells[i], 15 + q->cell_exponent);

		q->hidden[i] = (int8_t)q_clamp(q_add(q_scale(v, f), q->hidden_zero), INT8_MIN,
					       INT8_MAX);
	}
	if (project(c, q, s->new_outputs) || op_pace(&q->pace, q->cells % OP_PACE_RUN * 100))
		return OP_ABORTED;
	return 0;
}
