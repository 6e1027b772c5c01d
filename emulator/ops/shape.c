// SPDX-License-Identifier: MIT
/*
 * Types, ranks, shapes and scalar values of operands.
 */
#include <string.h>

#include <float16.h>

#include "shape.h"

/* Longest list of axes that is looked at while a program is loaded. */
#define LOAD_LIST_MAX	64u

void tensor_set_shape(struct tensor *t, unsigned int rank, const uint32_t *dims)
{
	t->rank_known = true;
	t->rank = (uint8_t)rank;
	if (rank)
		memmove(t->dims, dims, rank * sizeof(*dims));
	memset(t->dims + rank, 0, (NNPU_MAX_RANK - rank) * sizeof(*dims));
}

int op_check_operands(const struct op_call *c)
{
	if (!op_counts_ok(c->desc, c->num_inputs, c->num_outputs))
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	for (unsigned int i = 0; i < c->num_inputs + c->num_outputs; i++) {
		if (tensor_has_value(op_operand(c, i)))
			continue;
		if (i >= c->num_inputs || !signature_may_omit(c->desc->op, i))
			return op_fail(c, NNPU_REASON_OMITTED, i);
	}
	return 0;
}

int op_check_type(const struct op_call *c, unsigned int i, uint32_t types)
{
	unsigned int type = op_operand(c, i)->type;

	if (type >= NNPU_NUM_TYPES || !(types >> type & 1))
		return op_fail(c, NNPU_REASON_TYPE, i);
	return 0;
}

int op_check_same_type(const struct op_call *c, unsigned int i, unsigned int as)
{
	if (op_operand(c, i)->type != op_operand(c, as)->type)
		return op_fail(c, NNPU_REASON_TYPE, i);
	return 0;
}

int op_check_rank(const struct op_call *c, unsigned int i, unsigned int min, unsigned int max)
{
	const struct tensor *t = op_operand(c, i);

	if (t->rank_known && (t->rank < min || t->rank > max))
		return op_fail(c, NNPU_REASON_RANK, i);
	return 0;
}

int op_check_same_quant(const struct op_call *c, unsigned int i, unsigned int as)
{
	const struct tensor *a = op_operand(c, i), *b = op_operand(c, as);

	if (tensor_scale(a) != tensor_scale(b) || tensor_zero_point(a) != tensor_zero_point(b))
		return op_fail(c, NNPU_REASON_QUANT_MISMATCH, i);
	return 0;
}

int op_check_quant(const struct op_call *c, unsigned int i, float scale, int32_t zero_point)
{
	const struct tensor *t = op_operand(c, i);

	if (tensor_scale(t) != scale)
		return op_fail(c, NNPU_REASON_SCALE, i);
	if (tensor_zero_point(t) != zero_point)
		return op_fail(c, NNPU_REASON_ZERO_POINT, i);
	return 0;
}

int op_check_moved(const struct op_call *c, uint32_t types, unsigned int max_rank)
{
	return op_check_operands(c) || op_check_type(c, 0, types) ||
	       op_check_same_type(c, op_output(c, 0), 0) ||
	       op_check_same_quant(c, op_output(c, 0), 0) ||
	       op_check_rank(c, 0, 1, max_rank) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int op_check_list(const struct op_call *c, unsigned int i)
{
	if (op_check_type(c, i, TYPE_BIT(TENSOR_INT32)))
		return -1;
	return tensor_has_value(c->in[i]) ? op_check_rank(c, i, 1, 1) : 0;
}

bool op_list_known(const struct op_call *c, unsigned int i)
{
	const struct tensor *t = c->in[i];

	return tensor_data_known(t) && !(c->loading && t->dims[0] > LOAD_LIST_MAX);
}

int32_t op_list_at(const struct op_call *c, unsigned int i, size_t k)
{
	int32_t v;

	memcpy(&v, (const char *)c->in[i]->data + k * sizeof(v), sizeof(v));
	return v;
}

int op_check_float_scalar(const struct op_call *c, unsigned int i)
{
	return op_check_type(c, i, c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT16 ?
			     TYPE_BIT(FLOAT16) : TYPE_BIT(FLOAT32));
}

int op_get_f32(const struct op_call *c, unsigned int i, float *value)
{
	uint16_t half;

	if (!c->in[i]->data)
		return 1;
	if (c->in[i]->type == NNPU_TYPE_FLOAT16) {
		memcpy(&half, c->in[i]->data, sizeof(half));
		*value = half_to_float(half);
		return 0;
	}
	memcpy(value, c->in[i]->data, sizeof(*value));
	return 0;
}

int op_get_bool(const struct op_call *c, unsigned int i, bool *value)
{
	if (!c->in[i]->data)
		return 1;
	*value = *(const uint8_t *)c->in[i]->data;
	return 0;
}

/* Axis @v of operand @i, not below @min: 0 or -1 with error. */
static int set_axis(const struct op_call *c, unsigned int i, int32_t v, int32_t min,
		    int32_t rank, unsigned int *axis)
{
	if (v < min || v >= rank)
		return op_fail(c, NNPU_REASON_VALUE, i);
	*axis = (unsigned int)(v < 0 ? v + rank : v);
	return 0;
}

int op_get_axis(const struct op_call *c, unsigned int i, unsigned int rank, bool negative,
		unsigned int *axis)
{
	int32_t v;

	if (op_get_i32(c, i, &v))
		return 1;
	return set_axis(c, i, v, negative ? -(int32_t)rank : 0, (int32_t)rank, axis);
}

int op_list_axis(const struct op_call *c, unsigned int i, size_t position, unsigned int rank,
		 unsigned int *axis)
{
	return set_axis(c, i, op_list_at(c, i, position), -(int32_t)rank, (int32_t)rank, axis);
}

int op_get_rows(const struct op_call *c, unsigned int i, struct rows *rows)
{
	const struct tensor *t = c->in[0];
	unsigned int axis = t->rank - 1u;
	int ret;

	if (c->num_inputs > i) {
		ret = op_get_axis(c, i, t->rank, true, &axis);
		if (ret)
			return ret;
	}
	rows->outer = tensor_elements_of(t, 0, axis);
	rows->size = t->dims[axis];
	rows->inner = tensor_elements_of(t, axis + 1, t->rank);
	return 0;
}

int op_infer_same_shape(const struct op_call *c)
{
	tensor_set_shape(c->out[0], c->in[0]->rank, c->in[0]->dims);
	return 0;
}

int op_infer_broadcast(const struct op_call *c)
{
	const struct tensor *a = c->in[0], *b = c->in[1];
	unsigned int rank = a->rank > b->rank ? a->rank : b->rank;
	uint32_t dims[NNPU_MAX_RANK];

	for (unsigned int i = 1; i <= rank; i++) {
		uint32_t da = i <= a->rank ? a->dims[a->rank - i] : 1;
		uint32_t db = i <= b->rank ? b->dims[b->rank - i] : 1;

		if (da != db && da != 1 && db != 1)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		dims[rank - i] = da == 1 ? db : da;
	}
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}
