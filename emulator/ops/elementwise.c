// SPDX-License-Identifier: MIT
/*
 * ADD, SUB, MUL and DIV with broadcasting.
 *
 * Inputs: 0 and 1 the terms, 2 fused activation.
 */
#include <string.h>

#include "broadcast.h"
#include "kernels.h"
#include "ops.h"
#include "quant.h"

/* Bits that inputs of a quantized sum are shifted left before they are scaled. */
#define ADD_SHIFT	20

/* Inputs of a quantized sum in units of twice the larger scale, and the way back. */
struct add_factors {
	struct qfactor in[2];
	struct qfactor out;
};

/* Value of each input byte in these units, shifted left. For the second input of SUB it is negated. */
struct add_table {
	int32_t value[2][256];
};

/* Fewer elements are not worth a table. */
#define TABLE_MIN	512u

static bool is_sum(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_ADD || c->desc->op == NNPU_OP_SUB;
}

int elementwise_check(const struct op_call *c)
{
	uint32_t types = TYPES_FLOAT | TYPE_BIT(TENSOR_INT32);
	enum nnpu_type type = c->in[0]->type;
	enum activation a;
	int ret;

	if (c->desc->op != NNPU_OP_DIV)
		types |= TYPES_QUANT8;
	if (op_check_operands(c) || op_check_type(c, 0, types) ||
	    op_check_same_type(c, 1, 0) || op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_rank(c, 0, 1, OP_MAX_RANK) || op_check_rank(c, 1, 1, OP_MAX_RANK) ||
	    op_check_rank(c, op_output(c, 0), 1, OP_MAX_RANK) ||
	    op_check_type(c, 2, TYPE_BIT(INT32)))
		return -1;
	if (c->desc->op == NNPU_OP_MUL && type_is_quant8(type) &&
	    !(c->out[0]->scale > c->in[0]->scale * c->in[1]->scale))
		return op_fail(c, NNPU_REASON_SCALE, op_output(c, 0));
	ret = op_get_activation(c, 2, &a);
	if (ret)
		return ret < 0 ? -1 : 0;
	if (type == NNPU_TYPE_TENSOR_INT32 && a != ACTIVATION_NONE)
		return op_fail(c, NNPU_REASON_VALUE, 2);
	return 0;
}

int elementwise_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

static struct add_factors add_factors_of(const struct op_call *c)
{
	float max = c->in[0]->scale > c->in[1]->scale ? c->in[0]->scale : c->in[1]->scale;
	double unit = 2.0 * max;

	return (struct add_factors){
		.in = { qfactor_from(c->in[0]->scale / unit),
			qfactor_from(c->in[1]->scale / unit) },
		.out = qfactor_from(unit / ((double)(1 << ADD_SHIFT) * c->out[0]->scale)),
	};
}

struct element_op {
	enum nnpu_operation op;
	const struct row_kernels *rows;
	struct frange frange;
	struct qrange qrange;
	struct qbyte byte_a, byte_b;
	struct qfactor factor;
	int32_t zero_point;
	struct add_factors add;
	const struct add_table *table;	/* NULL: terms are computed */
	/* Kernel for terms without broadcasting. NULL: there is none for these operands. */
	void (*sum)(const uint8_t *a, const uint8_t *b, size_t n, const struct qsum *s, uint8_t *y);
	struct qsum qsum;
};

static enum row_arithmetic arithmetic_of(enum nnpu_operation op)
{
	switch (op) {
	case NNPU_OP_ADD:
		return ROW_ADD;
	case NNPU_OP_SUB:
		return ROW_SUB;
	case NNPU_OP_MUL:
		return ROW_MUL;
	default:
		return ROW_DIV;
	}
}

static void run_float(const void *state, const struct broadcast_run *r)
{
	const struct element_op *op = state;

	op->rows->arithmetic(arithmetic_of(op->op), r, op->frange.min, op->frange.max);
}

/* Rounds towards minus infinity. INT32_MIN / -1 wraps around; a division by 0 gives 0. */
static uint32_t floor_divide(int32_t a, int32_t b)
{
	int64_t q;

	if (b == 0)
		return 0;
	q = (int64_t)a / b;
	if ((int64_t)a % b && (a < 0) != (b < 0))
		q--;
	return (uint32_t)q;
}

static void run_int32(const void *state, const struct broadcast_run *r)
{
	const uint32_t *restrict a = r->a, *restrict b = r->b;
	uint32_t *restrict out = r->out;
	const struct element_op *op = state;

	for (size_t i = 0; i < r->n; i++) {
		uint32_t x = a[i * r->sa], y = b[i * r->sb];

		if (op->op == NNPU_OP_ADD)
			out[i] = x + y;
		else if (op->op == NNPU_OP_SUB)
			out[i] = x - y;
		else if (op->op == NNPU_OP_MUL)
			out[i] = x * y;
		else
			out[i] = floor_divide((int32_t)x, (int32_t)y);
	}
}

/* Term @i of a sum. */
static int32_t add_term(const struct element_op *op, unsigned int i, uint8_t byte)
{
	struct qbyte b = i ? op->byte_b : op->byte_a;
	int32_t v = q_scale(qbyte_value(byte, b) * (1 << ADD_SHIFT), op->add.in[i]);

	return i && op->op == NNPU_OP_SUB ? -v : v;
}

static void fill_add_table(const struct element_op *op, struct add_table *t)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (int j = 0; j < 256; j++)
			t->value[i][j] = add_term(op, i, (uint8_t)j);
	}
}

static void run_quant(const void *state, const struct broadcast_run *r)
{
	const uint8_t *restrict a = r->a, *restrict b = r->b;
	uint8_t *restrict out = r->out;
	const struct element_op *op = state;
	bool mul = op->op == NNPU_OP_MUL;

	if (op->sum && r->sa == 1 && r->sb == 1) {
		op->sum(a, b, r->n, &op->qsum, out);
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		uint8_t x = a[i * r->sa], y = b[i * r->sb];
		int32_t v;

		if (mul)
			v = qbyte_value(x, op->byte_a) * qbyte_value(y, op->byte_b);
		else if (op->table)
			v = q_add(op->table->value[0][x], op->table->value[1][y]);
		else
			v = q_add(add_term(op, 0, x), add_term(op, 1, y));
		v = q_add(q_scale(v, op->factor), op->zero_point);
		out[i] = (uint8_t)q_clamp(v, op->qrange.min, op->qrange.max);
	}
}

static void choose_sum(struct element_op *op)
{
	op->qsum = (struct qsum){
		.byte = { op->byte_a, op->byte_b },
		.left_shift = ADD_SHIFT,
		.factor = { op->add.in[0], op->add.in[1] },
		.subtract = op->op == NNPU_OP_SUB,
		.out = op->add.out,
		.zero_point = op->zero_point,
		.range = op->qrange,
	};
	if (!kernels_plain() && op->add.in[0].shift <= 0 && op->add.in[1].shift <= 0 &&
	    op->add.out.shift < 0)
		op->sum = kernels_get()->qsum;
}

static int execute_quant(const struct op_call *c, struct element_op *op, enum activation a)
{
	float product = c->in[0]->scale * c->in[1]->scale;
	struct add_table table;

	op->qrange = qrange_of(a, c->out[0]);
	op->zero_point = c->out[0]->zero_point;
	op->byte_a = qbyte_of(c->in[0]);
	op->byte_b = qbyte_of(c->in[1]);
	if (!is_sum(c)) {
		op->factor = qfactor_from((double)product / c->out[0]->scale);
		return op_broadcast(c, run_quant, op);
	}
	op->add = add_factors_of(c);
	op->factor = op->add.out;
	choose_sum(op);
	/* In memory of the program it would stay, for what is filled in a microsecond. */
	if ((!op->sum || c->in[0]->bytes != c->in[1]->bytes) && c->out[0]->bytes >= TABLE_MIN) {
		fill_add_table(op, &table);
		op->table = &table;
	}
	return op_broadcast(c, run_quant, op);
}

int elementwise_execute(const struct op_call *c)
{
	enum nnpu_type type = c->out[0]->type;
	struct element_op op;
	enum activation a;

	if (op_get_activation(c, 2, &a))
		return -1;
	if (type == NNPU_TYPE_TENSOR_INT32 && a != ACTIVATION_NONE)
		return op_fail(c, NNPU_REASON_VALUE, 2);
	if (type_is_quant8(type)) {
		op = (struct element_op){ .op = c->desc->op };
		return execute_quant(c, &op, a);
	}
	/* The rest is not for them: to clear it takes longer than one sum. */
	op.op = c->desc->op;
	if (type == NNPU_TYPE_TENSOR_INT32)
		return op_broadcast(c, run_int32, &op);
	op.rows = kernels_rows();
	op.frange = frange_of(a);
	return op_broadcast_rows(c, run_float, &op);
}
