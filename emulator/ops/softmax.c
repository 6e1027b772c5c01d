// SPDX-License-Identifier: MIT
/*
 * SOFTMAX along one axis.
 *
 * Inputs: 0 tensor, 1 beta, 2 axis (optional, the last one).
 */
#include <float.h>
#include <math.h>

#include "fixedpoint.h"
#include "kernels.h"
#include "ops.h"
#include "parallel.h"
#include "quant.h"

/* Integer bits of the exponent's argument and of the sum of exponentials. */
#define DIFF_BITS	5
#define SUM_BITS	12

/* e^(-beta * scale * i) in Q0.31, 0 where that is too small to count. */
struct softmax_table {
	int32_t exp[256];
};

/* Of so many elements the exponentials are computed in each job, without a table. */
#define FEW		64u

int softmax_check(const struct op_call *c)
{
	enum nnpu_type type = c->in[0]->type;
	float beta;

	if (op_check_operands(c) ||
	    op_check_type(c, 0, TYPES_FLOAT | TYPES_QUANT8) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_rank(c, 0, 1, OP_MAX_RANK) ||
	    op_check_rank(c, op_output(c, 0), 1, OP_MAX_RANK) ||
	    op_check_float_scalar(c, 1) ||
	    (c->num_inputs > 2 && op_check_type(c, 2, TYPE_BIT(INT32))))
		return -1;
	if (type_is_quant8(type) &&
	    op_check_quant(c, op_output(c, 0), 1.0f / 256, q_type_min(type)))
		return -1;
	if (!op_get_f32(c, 1, &beta) && !(beta > 0 && isfinite(beta)))
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int parameters(const struct op_call *c, float *beta, struct rows *rows)
{
	int ret = op_get_f32(c, 1, beta);

	if (ret)
		return ret;
	if (!(*beta > 0 && isfinite(*beta)))
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return op_get_rows(c, 2, rows);
}

int softmax_infer(const struct op_call *c)
{
	struct rows rows;
	float beta;
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = parameters(c, &beta, &rows);
	if (ret)
		return ret;
	return op_infer_same_shape(c);
}

/* How bytes become arguments of the exponential. */
struct softmax_scale {
	struct qfactor factor;
	int32_t radius;
};

static struct softmax_scale softmax_scale_of(const struct op_call *c, float beta)
{
	double real = (double)beta * c->in[0]->scale * (1 << (31 - DIFF_BITS));
	struct softmax_scale s = { .factor = qfactor_from(real < INT32_MAX ? real : INT32_MAX) };

	s.radius = fp_input_radius(DIFF_BITS, s.factor.shift);
	return s;
}

static int32_t exponential(const struct softmax_scale *s, int i)
{
	return i <= s->radius ? fp_exp_q5(q_scale(-i, s->factor)) : 0;
}

static void fill_table(const struct op_call *c, float beta, struct softmax_table *table)
{
	struct softmax_scale s = softmax_scale_of(c, beta);

	for (int i = 0; i < 256; i++)
		table->exp[i] = exponential(&s, i);
}

int softmax_prepare(struct op_call *c, size_t *bytes)
{
	struct softmax_table *table;
	float beta;

	if (!type_is_quant8(c->in[0]->type) || op_get_f32(c, 1, &beta) ||
	    (c->in[0]->shape_known && c->in[0]->bytes <= FEW))
		return 0;
	table = op_take(c->progress, sizeof(*table), bytes);
	if (!table)
		return 0;	/* execute() fills the table itself then */
	fill_table(c, beta, table);
	c->prepared = table;
	return 0;
}

/* The largest of a row; values are offset so that both 8-bit types are bytes in order. */
static uint8_t largest_byte(struct op_pace *pace, uint8_t flip, const uint8_t *in, size_t size,
			    size_t stride)
{
	uint8_t max = 0;

	if (stride == 1) {
		for (size_t at = 0, n; at < size; at += n) {
			n = size - at < OP_PACE_RUN ? size - at : OP_PACE_RUN;
			for (size_t i = at; i < at + n; i++)
				max = (in[i] ^ flip) > max ? in[i] ^ flip : max;
			if (n == OP_PACE_RUN && op_pace(pace, n))
				break;
		}
		return max;
	}
	for (size_t i = 0; i < size && !op_pace_strided(pace, i, stride, 1); i++) {
		uint8_t v = in[i * stride] ^ flip;

		max = v > max ? v : max;
	}
	return max;
}

/* How exponentials of a row become outputs: see below. */
struct quotient {
	int32_t scale, exponent;
};

/* @wide: sum of the exponentials, shifted. */
static struct quotient quotient_of(uint64_t wide)
{
	/* The largest element contributes 1.0. The sum reaches 2^32 with 8192 such elements. */
	uint32_t sum = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
	/* It is 0 if the job ends before the largest one was added. */
	int32_t headroom = __builtin_clz(sum | 1);

	return (struct quotient){
		.scale = fp_reciprocal_of_one_plus((int32_t)((sum << headroom) & INT32_MAX)),
		.exponent = SUM_BITS - headroom + 31 - 8,
	};
}

static uint8_t output_of(struct quotient q, int32_t e, uint8_t flip)
{
	int32_t v = q.exponent > 31 ? 0 : q_shift_right(q_mul_high(e, q.scale), q.exponent);

	return (uint8_t)q_clamp(v, 0, 255) ^ flip;
}

static void short_quant_row(struct op_pace *pace, const struct softmax_table *table, uint8_t flip,
			    const uint8_t *in, uint8_t *out, size_t size, size_t stride)
{
	uint8_t max = largest_byte(pace, flip, in, size, stride);
	struct quotient q;
	uint64_t wide = 0;

	for (size_t i = 0; i < size && !op_pace_strided(pace, i, stride, 2); i++)
		wide += (uint32_t)q_shift_right(table->exp[max - (in[i * stride] ^ flip)],
						SUM_BITS);
	q = quotient_of(wide);
	for (size_t i = 0; i < size && !op_pace_strided(pace, i, stride, 4); i++)
		out[i * stride] = output_of(q, table->exp[max - (in[i * stride] ^ flip)], flip);
}

/* The same for up to FEW elements, without a table. */
static void few_quant_row(struct op_pace *pace, const struct softmax_scale *s, uint8_t flip,
			  const uint8_t *in, uint8_t *out, size_t size, size_t stride)
{
	uint8_t max = largest_byte(pace, flip, in, size, stride);
	struct quotient q;
	uint64_t wide = 0;
	int32_t e[FEW];

	for (size_t i = 0; i < size; i++) {
		e[i] = exponential(s, max - (in[i * stride] ^ flip));
		wide += (uint32_t)q_shift_right(e[i], SUM_BITS);
	}
	q = quotient_of(wide);
	for (size_t i = 0; i < size; i++)
		out[i * stride] = output_of(q, e[i], flip);
}

/* From so many elements on, each value of a byte is computed once. */
#define MANY		512u

/*
 * The same for a long row: how often there is each difference to the largest element, and what the output is
 * for each. Neighbours are often equal and would wait for one counter: they have different ones.
 */
static void long_quant_row(struct op_pace *pace, const struct softmax_table *table, uint8_t flip,
			   const uint8_t *in, uint8_t *out, size_t size, size_t stride)
{
	uint8_t max = largest_byte(pace, flip, in, size, stride), outputs[256];
	size_t counts[2][256] = { 0 };
	uint64_t wide = 0;
	struct quotient q;

	for (size_t i = 0; i < size && !op_pace_strided(pace, i, stride, 1); i++)
		counts[i % 2][max - (in[i * stride] ^ flip)]++;
	for (unsigned int i = 0; i < 256; i++)
		wide += (counts[0][i] + counts[1][i]) *
			(uint64_t)(uint32_t)q_shift_right(table->exp[i], SUM_BITS);
	q = quotient_of(wide);
	for (unsigned int i = 0; i < 256; i++)
		outputs[i] = counts[0][i] | counts[1][i] ? output_of(q, table->exp[i], flip) : 0;
	for (size_t i = 0; i < size && !op_pace_strided(pace, i, stride, 1); i++)
		out[i * stride] = outputs[max - (in[i * stride] ^ flip)];
	op_pace(pace, 1024);
}

static void quant_row(struct op_pace *pace, const struct softmax_table *table, uint8_t flip,
		      const uint8_t *in, uint8_t *out, size_t size, size_t stride)
{
	if (size < MANY)
		short_quant_row(pace, table, flip, in, out, size, stride);
	else
		long_quant_row(pace, table, flip, in, out, size, stride);
}

/* A row of floats; its elements are @stride apart. */
struct float_row {
	const float *in;
	float *out;
	size_t size, stride;
	float beta;
};

/* Elements that are taken out of a row, to be computed side by side. A multiple of ROW_SUMS. */
#define PIECE	256u

/* Elements of a row that is computed at once. */
#define SHORT	4096u

static float largest(struct op_pace *pace, const struct row_kernels *k, const struct float_row *r)
{
	size_t apart = r->stride * sizeof(float);
	float max = -FLT_MAX;

	if (r->stride == 1) {
		for (size_t at = 0, n; at < r->size; at += n) {
			n = r->size - at < OP_PACE_RUN ? r->size - at : OP_PACE_RUN;
			max = k->largest(r->in + at, n, max);
			if (n == OP_PACE_RUN && op_pace(pace, n))
				break;
		}
		return max;
	}
	for (size_t i = 0; i < r->size && !op_pace_strided(pace, i, apart, 1); i++)
		max = r->in[i * r->stride] > max ? r->in[i * r->stride] : max;
	return max;
}

/* The exponentials as outputs; returns their sum. */
static float exponentials(struct op_pace *pace, const struct row_kernels *k,
			  const struct float_row *r, float max)
{
	float sums[ROW_SUMS] = { 0 };

	for (size_t at = 0, n; at < r->size && !pace->ended; at += n) {
		float piece[PIECE];

		n = r->size - at < PIECE ? r->size - at : PIECE;
		if (r->stride == 1) {
			k->exps(r->in + at, n, max, r->beta, r->out + at, sums);
		} else {
			for (size_t i = 0; i < n; i++)
				piece[i] = r->in[(at + i) * r->stride];
			k->exps(piece, n, max, r->beta, piece, sums);
			for (size_t i = 0; i < n; i++)
				r->out[(at + i) * r->stride] = piece[i];
		}
		op_pace_strided(pace, at + n - 1, r->stride * sizeof(float), 4);
	}
	return row_total(sums);
}

static void float_row(struct op_pace *pace, const struct row_kernels *k, const struct float_row *r)
{
	float sum = exponentials(pace, k, r, largest(pace, k, r));
	size_t apart = r->stride * sizeof(float);

	if (r->stride == 1) {
		for (size_t at = 0, n; at < r->size && !pace->ended; at += n) {
			n = r->size - at < OP_PACE_RUN ? r->size - at : OP_PACE_RUN;
			k->fdivide(r->out + at, n, sum);
			if (n == OP_PACE_RUN)
				op_pace(pace, n);
		}
		return;
	}
	for (size_t i = 0; i < r->size && !op_pace_strided(pace, i, apart, 2); i++)
		r->out[i * r->stride] /= sum;
}

/* A call. Its parts share it: rows. */
struct softmax_call {
	const struct op_call *c;
	const struct softmax_table *table;	/* NULL: floats */
	const struct row_kernels *k;
	struct rows rows;
	float beta;
};

static uint8_t flip_of(const struct tensor *t)
{
	return t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : 0x80;
}

/* Are these rows of floats, each short and one behind the other? */
static bool is_short(const struct softmax_call *s)
{
	return !s->table && s->rows.inner == 1 && s->rows.size <= SHORT;
}

/* Some of them. */
static void short_rows(const struct softmax_call *s, size_t first, size_t count)
{
	size_t at = first * s->rows.size;

	s->k->softmax((const float *)s->c->in[0]->data + at, count, s->rows.size, s->beta,
		      (float *)s->c->out[0]->data + at);
}

static int short_part(const struct softmax_call *s, size_t first, size_t end, struct op_pace *pace)
{
	size_t units = s->rows.size * 6 + 64, most = OP_PACE_UNITS / 4 / units;

	for (size_t i = first, count; i < end; i += count) {
		count = end - i < most ? end - i : most;
		short_rows(s, i, count);
		if (op_pace(pace, count * units))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct softmax_call *s = work;
	const struct tensor *in = s->c->in[0], *out = s->c->out[0];
	uint8_t flip = flip_of(in);

	if (is_short(s))
		return short_part(s, first, end, pace);
	for (size_t i = first; i < end; i++) {
		size_t at = row_start(&s->rows, i);

		if (s->table)
			quant_row(pace, s->table, flip, (const uint8_t *)in->data + at,
				  (uint8_t *)out->data + at, s->rows.size, s->rows.inner);
		else
			float_row(pace, s->k, &(struct float_row){
				  .in = (const float *)in->data + at,
				  .out = (float *)out->data + at,
				  .size = s->rows.size, .stride = s->rows.inner, .beta = s->beta,
			});
		if (op_pace(pace, op_pace_rest(s->rows.size, s->rows.inner * type_size(in->type),
					       s->table ? 11 : 6) + 8))
			return OP_ABORTED;
	}
	return 0;
}

/* All rows, by threads if there are some. */
static int execute_parts(const struct softmax_call *s, struct op_pace *pace)
{
	struct op_parts parts = {
		.compute = execute_part, .work = s, .items = s->rows.outer * s->rows.inner,
	};

	if (__builtin_mul_overflow(s->rows.size, (size_t)4, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(s->c, &parts, pace);
}

/* Up to FEW elements in all: they take too little time for a point. */
static void execute_few(const struct softmax_call *s)
{
	struct op_pace pace = { .progress = s->c->progress };
	const struct tensor *in = s->c->in[0], *out = s->c->out[0];
	struct softmax_scale scale = softmax_scale_of(s->c, s->beta);

	for (size_t i = 0; i < s->rows.outer * s->rows.inner; i++) {
		size_t at = row_start(&s->rows, i);

		few_quant_row(&pace, &scale, flip_of(in), (const uint8_t *)in->data + at,
			      (uint8_t *)out->data + at, s->rows.size, s->rows.inner);
	}
}

static __attribute__((noinline)) int execute_quant(struct softmax_call *s)
{
	struct op_pace pace = { .progress = s->c->progress };
	struct softmax_table own;

	s->table = s->c->prepared;
	if (!s->table && s->c->in[0]->bytes <= FEW) {
		execute_few(s);
		return 0;
	}
	/* Beta was not known when the program was loaded, or there was no memory. */
	if (!s->table) {
		fill_table(s->c, s->beta, &own);
		s->table = &own;
	}
	return execute_parts(s, &pace);
}

/* Elements that take too little time for a point, or for another thread. */
#define FEW_FLOATS	1024u

int softmax_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct softmax_call call = { .c = c, .k = kernels_rows() };

	if (parameters(c, &call.beta, &call.rows))
		return -1;
	if (type_is_quant8(c->in[0]->type))
		return execute_quant(&call);
	if (c->out[0]->bytes <= FEW_FLOATS * sizeof(float) && is_short(&call)) {
		short_rows(&call, 0, call.rows.outer);
		return 0;
	}
	return execute_parts(&call, &pace);
}
