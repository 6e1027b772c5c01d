// SPDX-License-Identifier: MIT
/*
 * RELU, RELU1, RELU6, LOGISTIC, TANH, ELU and HARD_SWISH.
 *
 * Input: 0 tensor; ELU: 1 alpha. An 8-bit tensor has at most 256 values: execution looks the
 * results up in a table, which prepare() fills.
 */
#include <float.h>
#include <math.h>

#include "fixedpoint.h"
#include "kernels.h"
#include "ops.h"
#include "parallel.h"
#include "quant.h"

/* Integer bits of the argument of LOGISTIC and TANH. */
#define ARGUMENT_BITS	4

struct byte_table {
	uint8_t value[256];
};

static bool is_relu(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_RELU || c->desc->op == NNPU_OP_RELU1 ||
	       c->desc->op == NNPU_OP_RELU6;
}

static enum activation relu_kind(const struct op_call *c)
{
	if (c->desc->op == NNPU_OP_RELU1)
		return ACTIVATION_RELU1;
	return c->desc->op == NNPU_OP_RELU6 ? ACTIVATION_RELU6 : ACTIVATION_RELU;
}

static unsigned int max_rank(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_ELU || c->desc->op == NNPU_OP_HARD_SWISH ? NNPU_MAX_RANK :
									      OP_MAX_RANK;
}

int activation_check(const struct op_call *c)
{
	bool elu = c->desc->op == NNPU_OP_ELU;
	enum nnpu_type type = c->in[0]->type;

	if (op_check_operands(c) ||
	    op_check_type(c, 0, elu ? TYPES_FLOAT : TYPES_FLOAT | TYPES_QUANT8) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_rank(c, 0, 1, max_rank(c)) ||
	    op_check_rank(c, op_output(c, 0), 1, max_rank(c)) ||
	    (elu && op_check_float_scalar(c, 1)))
		return -1;
	if (!type_is_quant8(type) || c->desc->op == NNPU_OP_HARD_SWISH)
		return 0;
	if (is_relu(c))
		return op_check_same_quant(c, op_output(c, 0), 0);
	if (c->desc->op == NNPU_OP_LOGISTIC)
		return op_check_quant(c, op_output(c, 0), 1.0f / 256, q_type_min(type));
	return op_check_quant(c, op_output(c, 0), 1.0f / 128, q_type_min(type) + 128);
}

int activation_infer(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, max_rank(c)) ? -1 : op_infer_same_shape(c);
}

/* LOGISTIC or TANH of the real value of a byte, as the output's byte. */
static uint8_t curve_value(const struct op_call *c, uint8_t raw, struct qfactor f, int32_t radius)
{
	enum nnpu_type type = c->in[0]->type;
	int32_t min = q_type_min(type), max = q_type_max(type);
	int32_t v = qbyte_value(raw, qbyte_of(c->in[0]));

	if (v <= -radius)
		return (uint8_t)min;
	if (v >= radius)
		return (uint8_t)max;
	v = q_scale(v, f);
	if (c->desc->op == NNPU_OP_LOGISTIC)
		v = q_shift_right(fp_logistic_q4(v), 23);
	else
		v = q_shift_right(fp_tanh_q4(v), 24);
	return (uint8_t)q_clamp(v + c->out[0]->zero_point, min, max);
}

static double hard_swish(double x)
{
	double gate = x + 3;

	gate = gate < 0 ? 0 : gate > 6 ? 6 : gate;
	return x * gate / 6;
}

static void fill_table(const struct op_call *c, struct byte_table *t)
{
	if (is_relu(c)) {
		struct qrange r = qrange_of(relu_kind(c), c->out[0]);
		struct qbyte b = qbyte_of(c->in[0]);

		for (int i = 0; i < 256; i++)
			t->value[i] = (uint8_t)q_clamp(qbyte_value((uint8_t)i, b) +
						       c->in[0]->zero_point, r.min, r.max);
	} else if (c->desc->op == NNPU_OP_HARD_SWISH) {
		for (int i = 0; i < 256; i++)
			t->value[i] = q_from_real(c->out[0],
						  hard_swish(q_real(c->in[0], (uint8_t)i)));
	} else {
		struct qfactor f = qfactor_from((double)c->in[0]->scale *
						(1 << (31 - ARGUMENT_BITS)));
		int32_t radius = fp_input_radius(ARGUMENT_BITS, f.shift);

		/* Even with very large steps, the value 0 is computed and not saturated. */
		radius = radius < 1 ? 1 : radius;
		for (int i = 0; i < 256; i++)
			t->value[i] = curve_value(c, (uint8_t)i, f, radius);
	}
}

int activation_prepare(struct op_call *c, size_t *bytes)
{
	struct byte_table *t;

	if (!type_is_quant8(c->in[0]->type))
		return 0;
	t = op_take(c->progress, sizeof(*t), bytes);
	if (!t)
		return 0;	/* execute() computes the values itself */
	fill_table(c, t);
	c->prepared = t;
	return 0;
}

static void apply_float(const struct op_call *c, const float *in, float *out, size_t n)
{
	struct frange r;
	float alpha = 0.0f;

	if (c->desc->op == NNPU_OP_ELU)
		op_get_f32(c, 1, &alpha);

	if (c->desc->op == NNPU_OP_LOGISTIC) {
		kernels_rows()->logistic(in, n, out);
	} else if (c->desc->op == NNPU_OP_TANH) {
		kernels_rows()->tanh(in, n, out);
	} else if (c->desc->op == NNPU_OP_ELU) {
		for (size_t i = 0; i < n; i++)
			out[i] = fmaxf(in[i], 0.0f) + fminf(alpha * expm1f(in[i]), 0.0f);
	} else if (c->desc->op == NNPU_OP_HARD_SWISH) {
		for (size_t i = 0; i < n; i++)
			out[i] = (float)hard_swish(in[i]);
	} else {
		r = frange_of(relu_kind(c));
		kernels_rows()->function(ROW_LIMIT, in, n, r.min, r.max, out);
	}
}

/* A call. Its parts share it: PIECE elements each. */
struct activation_call {
	const struct op_call *c;
	const struct byte_table *table;	/* NULL: floats */
	size_t total;
};

#define PIECE	1024u

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct activation_call *call = work;
	const struct byte_table *table = call->table;
	const struct op_call *c = call->c;
	size_t last = end < (call->total - 1) / PIECE + 1 ? end * PIECE : call->total;

	for (size_t at = first * PIECE, n; at < last; at += n) {
		n = last - at < OP_PACE_UNITS / 16 ? last - at : OP_PACE_UNITS / 16;
		if (table) {
			const uint8_t *in = (const uint8_t *)c->in[0]->data + at;
			uint8_t *out = (uint8_t *)c->out[0]->data + at;

			for (size_t i = 0; i < n; i++)
				out[i] = table->value[in[i]];
		} else {
			apply_float(c, (const float *)c->in[0]->data + at,
				    (float *)c->out[0]->data + at, n);
		}
		if (op_pace(pace, n * 8))
			return OP_ABORTED;
	}
	return 0;
}

int activation_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct activation_call call = {
		.c = c, .table = c->prepared, .total = tensor_elements(c->out[0]),
	};
	struct op_parts parts = { .units = PIECE * 4, .compute = execute_part, .work = &call };
	struct byte_table own;

	if (type_is_quant8(c->in[0]->type) && !call.table) {
		fill_table(c, &own);
		call.table = &own;
	}
	parts.items = (call.total - 1) / PIECE + 1;
	return op_run_parts(c, &parts, &pace);
}
