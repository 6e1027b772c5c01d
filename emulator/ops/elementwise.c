// SPDX-License-Identifier: MIT
/*
 * ADD and MUL with broadcasting.
 *
 * Inputs: 0 and 1 the terms, 2 fused activation. The output is computed run by
 * run: a run is what both inputs walk through with a stride of one or zero.
 */
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "quant.h"

/* Bits that inputs of a quantized ADD are shifted left before they are scaled. */
#define ADD_SHIFT	20

/* Values of each input byte in steps of twice the larger scale, shifted left. */
struct add_table {
	int32_t value[2][256];
	struct qfactor out;
};

static bool is_mul(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_MUL;
}

int elementwise_check(const struct op_call *c)
{
	enum nnpu_type type = c->in[0]->type;
	enum activation a;
	int ret;

	if (op_check_operands(c) ||
	    op_check_type(c, 0, TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8, 0) ||
	    op_check_same_type(c, 1, 0) || op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_rank(c, 0, 1, OP_MAX_RANK) || op_check_rank(c, 1, 1, OP_MAX_RANK) ||
	    op_check_rank(c, op_output(c, 0), 1, OP_MAX_RANK) ||
	    op_check_type(c, 2, TYPE_BIT(INT32), 0))
		return -1;
	if (is_mul(c) && type_is_quant8(type) &&
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

static void fill_add_table(const struct op_call *c, struct add_table *t)
{
	float max = c->in[0]->scale > c->in[1]->scale ? c->in[0]->scale : c->in[1]->scale;
	double unit = 2.0 * max;

	t->out = qfactor_from(unit / ((double)(1 << ADD_SHIFT) * c->out[0]->scale));
	for (int i = 0; i < 2; i++) {
		struct qfactor f = qfactor_from(c->in[i]->scale / unit);
		struct qbyte b = qbyte_of(c->in[i]);

		for (int j = 0; j < 256; j++)
			t->value[i][j] = q_scale(qbyte_value((uint8_t)j, b) * (1 << ADD_SHIFT), f);
	}
}

int elementwise_prepare(struct op_call *c, size_t *bytes)
{
	struct add_table *t;

	if (is_mul(c) || !type_is_quant8(c->in[0]->type))
		return 0;
	t = malloc(sizeof(*t));
	if (!t)
		return 0;	/* execution does without */
	fill_add_table(c, t);
	c->prepared = t;
	*bytes += sizeof(*t);
	return 0;
}

/* What computes @n outputs from inputs with strides @sa and @sb of 0 or 1. */
struct run_args {
	const void *a, *b;
	size_t sa, sb;
	void *out;
	size_t n;
};

struct element_op {
	bool mul;
	enum nnpu_type type;
	struct frange frange;
	struct qrange qrange;
	struct qbyte byte_a, byte_b;
	struct qfactor factor;
	int32_t zero_point;
	const struct add_table *table;
};

static void run_float(const struct element_op *op, const struct run_args *r)
{
	const float *restrict a = r->a, *restrict b = r->b;
	float *restrict out = r->out;
	float min = op->frange.min, max = op->frange.max;

	if (op->mul) {
		for (size_t i = 0; i < r->n; i++)
			out[i] = f_clamp(a[i * r->sa] * b[i * r->sb], min, max);
	} else {
		for (size_t i = 0; i < r->n; i++)
			out[i] = f_clamp(a[i * r->sa] + b[i * r->sb], min, max);
	}
}

static void run_int32(const struct element_op *op, const struct run_args *r)
{
	const uint32_t *restrict a = r->a, *restrict b = r->b;
	uint32_t *restrict out = r->out;

	for (size_t i = 0; i < r->n; i++) {
		uint32_t x = a[i * r->sa], y = b[i * r->sb];

		out[i] = op->mul ? x * y : x + y;
	}
}

static void run_quant(const struct element_op *op, const struct run_args *r)
{
	const uint8_t *restrict a = r->a, *restrict b = r->b;
	uint8_t *restrict out = r->out;

	for (size_t i = 0; i < r->n; i++) {
		uint8_t x = a[i * r->sa], y = b[i * r->sb];
		int32_t v;

		if (op->mul)
			v = qbyte_value(x, op->byte_a) * qbyte_value(y, op->byte_b);
		else
			v = q_add(op->table->value[0][x], op->table->value[1][y]);
		v = q_add(q_scale(v, op->factor), op->zero_point);
		out[i] = (uint8_t)q_clamp(v, op->qrange.min, op->qrange.max);
	}
}

static void run(const struct element_op *op, const struct run_args *r)
{
	if (op->type == NNPU_TYPE_TENSOR_FLOAT32)
		run_float(op, r);
	else if (op->type == NNPU_TYPE_TENSOR_INT32)
		run_int32(op, r);
	else
		run_quant(op, r);
}

/* Element strides of @t under the output's dimensions, 0 where it is broadcast. */
static void broadcast_strides(const struct tensor *t, const struct tensor *out, size_t *strides)
{
	unsigned int missing = out->rank - t->rank;
	size_t stride = 1;

	for (unsigned int i = out->rank; i-- > 0;) {
		uint32_t dim = i < missing ? 1 : t->dims[i - missing];

		strides[i] = dim == 1 && out->dims[i] != 1 ? 0 : stride;
		stride *= dim;
	}
}

/*
 * Number of trailing dimensions that make up one run: as long as both inputs
 * go on with the next element, or both or one stand still.
 */
static unsigned int run_dims(const struct tensor *out, const size_t *sa, const size_t *sb)
{
	unsigned int last = out->rank - 1u, n = 1;
	size_t length = out->dims[last];

	while (n < out->rank) {
		unsigned int d = last - n;

		if (out->dims[d] != 1 &&
		    (sa[d] != sa[last] * length || sb[d] != sb[last] * length))
			break;
		length *= out->dims[d];
		n++;
	}
	return n;
}

static int execute(const struct op_call *c, const struct element_op *op)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	size_t size = type_size(out->type);
	size_t sa[NNPU_MAX_RANK], sb[NNPU_MAX_RANK];
	uint32_t index[NNPU_MAX_RANK] = { 0 };
	unsigned int outer;
	size_t length, total = tensor_elements(out);
	size_t a = 0, b = 0;

	broadcast_strides(c->in[0], out, sa);
	broadcast_strides(c->in[1], out, sb);
	outer = out->rank - run_dims(out, sa, sb);
	length = tensor_elements_of(out, outer, out->rank);

	for (size_t done = 0; done < total; done += length) {
		/* Long runs are cut so that an abort is seen in time. */
		for (size_t at = 0, n; at < length; at += n) {
			n = length - at < OP_PACE_UNITS / 4 ? length - at : OP_PACE_UNITS / 4;
			run(op, &(struct run_args){
				.a = (const char *)c->in[0]->data +
				     (a + at * sa[out->rank - 1]) * size,
				.b = (const char *)c->in[1]->data +
				     (b + at * sb[out->rank - 1]) * size,
				.sa = sa[out->rank - 1],
				.sb = sb[out->rank - 1],
				.out = (char *)out->data + (done + at) * size,
				.n = n,
			});
			if (op_pace(&pace, n * 2 + 16))
				return OP_ABORTED;
		}
		for (unsigned int d = outer; d-- > 0;) {
			a += sa[d];
			b += sb[d];
			if (++index[d] < out->dims[d])
				break;
			a -= sa[d] * out->dims[d];
			b -= sb[d] * out->dims[d];
			index[d] = 0;
		}
	}
	return 0;
}

int elementwise_execute(const struct op_call *c)
{
	const struct tensor *out = c->out[0];
	struct element_op op = { .mul = is_mul(c), .type = out->type };
	struct add_table own;
	enum activation a;

	if (op_get_activation(c, 2, &a))
		return -1;
	if (op.type == NNPU_TYPE_TENSOR_INT32 && a != ACTIVATION_NONE)
		return op_fail(c, NNPU_REASON_VALUE, 2);
	if (out->bytes == 0)
		return 0;
	op.frange = frange_of(a);
	if (type_is_quant8(op.type)) {
		float product = c->in[0]->scale * c->in[1]->scale;

		op.qrange = qrange_of(a, out);
		op.zero_point = out->zero_point;
		op.byte_a = qbyte_of(c->in[0]);
		op.byte_b = qbyte_of(c->in[1]);
		op.table = c->prepared;
		if (!op.mul && !op.table) {
			fill_add_table(c, &own);
			op.table = &own;
		}
		op.factor = op.mul ? qfactor_from((double)product / out->scale) : op.table->out;
	}
	return execute(c, &op);
}
