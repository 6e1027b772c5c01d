// SPDX-License-Identifier: MIT
/*
 * SOFTMAX along one axis.
 *
 * Inputs: 0 tensor, 1 beta, 2 axis (optional, the last one).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fixedpoint.h"
#include "ops.h"
#include "quant.h"

/* Integer bits of the exponent's argument and of the sum of exponentials. */
#define DIFF_BITS	5
#define SUM_BITS	12

/* e^(-beta * scale * i) in Q0.31, 0 where that is too small to count. */
struct softmax_table {
	int32_t exp[256];
};

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

static void fill_table(const struct op_call *c, float beta, struct softmax_table *table)
{
	double real = (double)beta * c->in[0]->scale * (1 << (31 - DIFF_BITS));
	struct qfactor f = qfactor_from(real < INT32_MAX ? real : INT32_MAX);
	int32_t radius = fp_input_radius(DIFF_BITS, f.shift);

	for (int i = 0; i < 256; i++)
		table->exp[i] = i <= radius ? fp_exp_q5(q_scale(-i, f)) : 0;
}

int softmax_prepare(struct op_call *c, size_t *bytes)
{
	struct softmax_table *table;
	float beta;

	if (!type_is_quant8(c->in[0]->type) || op_get_f32(c, 1, &beta))
		return 0;
	table = op_take(c->progress, sizeof(*table), bytes);
	if (!table)
		return 0;	/* execute() fills the table itself then */
	fill_table(c, beta, table);
	c->prepared = table;
	return 0;
}

/* One row; values are offset so that both 8-bit types are bytes in order. */
static void quant_row(struct op_pace *pace, const struct softmax_table *table, uint8_t flip,
		      const uint8_t *in, uint8_t *out, size_t size, size_t stride)
{
	int32_t scale, exponent, headroom;
	uint64_t wide = 0;
	uint32_t sum;
	uint8_t max = 0;

	for (size_t i = 0; i < size && !op_pace_row(pace, i, 1); i++) {
		uint8_t v = in[i * stride] ^ flip;

		max = v > max ? v : max;
	}
	for (size_t i = 0; i < size && !op_pace_row(pace, i, 2); i++)
		wide += (uint32_t)q_shift_right(table->exp[max - (in[i * stride] ^ flip)],
						SUM_BITS);
	/* The largest element contributes 1.0. The sum reaches 2^32 with 8192 such elements. */
	sum = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
	headroom = __builtin_clz(sum);
	scale = fp_reciprocal_of_one_plus((int32_t)((sum << headroom) & INT32_MAX));
	exponent = SUM_BITS - headroom + 31 - 8;
	for (size_t i = 0; i < size && !op_pace_row(pace, i, 4); i++) {
		int32_t e = table->exp[max - (in[i * stride] ^ flip)];
		int32_t v = exponent > 31 ? 0 : q_shift_right(q_mul_high(e, scale), exponent);

		out[i * stride] = (uint8_t)q_clamp(v, 0, 255) ^ flip;
	}
}

static void float_row(struct op_pace *pace, float beta, const float *in, float *out, size_t size,
		      size_t stride)
{
	float max = -FLT_MAX, sum = 0.0f;

	for (size_t i = 0; i < size && !op_pace_row(pace, i, 1); i++)
		max = in[i * stride] > max ? in[i * stride] : max;
	for (size_t i = 0; i < size && !op_pace_row(pace, i, 8); i++) {
		float e = expf((in[i * stride] - max) * beta);

		out[i * stride] = e;
		sum += e;
	}
	for (size_t i = 0; i < size && !op_pace_row(pace, i, 2); i++)
		out[i * stride] /= sum;
}

int softmax_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	bool quant = type_is_quant8(c->in[0]->type);
	const struct softmax_table *table = c->prepared;
	struct softmax_table own;
	struct rows rows;
	float beta;

	if (parameters(c, &beta, &rows))
		return -1;
	if (quant && !table) {
		fill_table(c, beta, &own);
		table = &own;
	}
	for (size_t i = 0; i < rows.outer * rows.inner && rows.size; i++) {
		size_t at = row_start(&rows, i);

		if (quant)
			quant_row(&pace, table, c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : 0x80,
				  (const uint8_t *)c->in[0]->data + at,
				  (uint8_t *)c->out[0]->data + at, rows.size, rows.inner);
		else
			float_row(&pace, beta, (const float *)c->in[0]->data + at,
				  (float *)c->out[0]->data + at, rows.size, rows.inner);
		if (op_pace(&pace, rows.size % OP_PACE_RUN * 11 + 8))
			return OP_ABORTED;
	}
	return 0;
}
