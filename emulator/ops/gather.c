// SPDX-License-Identifier: MIT
/*
 * GATHER, EMBEDDING_LOOKUP and HASHTABLE_LOOKUP.
 *
 * GATHER: 0 tensor, 1 axis, 2 indices of any rank, whose dimensions replace the axis.
 * EMBEDDING_LOOKUP: 0 rows to take, 1 values.
 * HASHTABLE_LOOKUP: 0 keys to look up, 1 keys of the rows, ascending, 2 values;
 * outputs: 0 the rows found, zeros otherwise, 1 whether each was found.
 */
#include "nd_copy.h"
#include "ops.h"

#include <string.h>

#define TYPES	(TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8)

int gather_check(const struct op_call *c)
{
	return op_check_moved(c, TYPES, NNPU_MAX_RANK) ||
	       op_check_type(c, 1, TYPE_BIT(INT32)) ||
	       op_check_type(c, 2, TYPE_BIT(TENSOR_INT32)) ||
	       op_check_rank(c, 2, 1, NNPU_MAX_RANK) ? -1 : 0;
}

int gather_infer(const struct op_call *c)
{
	const struct tensor *in = c->in[0], *indices = c->in[2];
	uint32_t dims[2 * NNPU_MAX_RANK];
	unsigned int axis;
	int ret = op_get_axis(c, 1, in->rank, true, &axis);

	if (ret)
		return ret;
	if (in->rank + indices->rank - 1u > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, 2);
	memcpy(dims, in->dims, axis * sizeof(*dims));
	memcpy(dims + axis, indices->dims, indices->rank * sizeof(*dims));
	memcpy(dims + axis + indices->rank, in->dims + axis + 1,
	       (in->rank - axis - 1) * sizeof(*dims));
	tensor_set_shape(c->out[0], in->rank + indices->rank - 1u, dims);
	return 0;
}

/*
 * Copy rows of @bytes bytes, chosen by the indices of operand @operand, from each of @outer
 * blocks of @rows rows.
 */
static int copy_rows(const struct op_call *c, unsigned int operand, const struct tensor *values,
		     size_t outer, uint32_t rows, size_t bytes)
{
	struct op_pace pace = { .progress = c->progress };
	size_t count = tensor_elements(c->in[operand]);
	char *out = c->out[0]->data;

	for (size_t i = 0; i < count; i++) {
		int32_t v = op_list_at(c, operand, i);

		if (v < 0 || (uint32_t)v >= rows)
			return op_fail(c, NNPU_REASON_VALUE, operand);
		if (op_pace_row(&pace, i, 2))
			return OP_ABORTED;
	}
	for (size_t o = 0; o < outer; o++) {
		const char *in = (const char *)values->data + o * rows * bytes;

		for (size_t i = 0; i < count; i++, out += bytes) {
			int32_t v = op_list_at(c, operand, i);

			if (nd_move(&pace, in + (size_t)v * bytes, out, bytes))
				return OP_ABORTED;
		}
	}
	return 0;
}

int gather_execute(const struct op_call *c)
{
	const struct tensor *in = c->in[0];
	unsigned int axis;

	if (op_get_axis(c, 1, in->rank, true, &axis))
		return -1;
	return copy_rows(c, 2, in, tensor_elements_of(in, 0, axis), in->dims[axis],
			 tensor_elements_of(in, axis + 1, in->rank) * type_size(in->type));
}

int embedding_lookup_check(const struct op_call *c)
{
	return op_check_operands(c) || op_check_list(c, 0) || op_check_type(c, 1, TYPES) ||
	       op_check_rank(c, 1, 2, NNPU_MAX_RANK) ||
	       op_check_same_type(c, op_output(c, 0), 1) ||
	       op_check_same_quant(c, op_output(c, 0), 1) ||
	       op_check_rank(c, op_output(c, 0), 2, NNPU_MAX_RANK) ? -1 : 0;
}

/* Output 0 has the shape of the values, with one row per lookup. */
static void rows_shape(const struct op_call *c, const struct tensor *values)
{
	uint32_t dims[NNPU_MAX_RANK];

	memcpy(dims, values->dims, sizeof(dims));
	dims[0] = c->in[0]->dims[0];
	tensor_set_shape(c->out[0], values->rank, dims);
}

static size_t row_bytes(const struct tensor *values)
{
	return tensor_elements_of(values, 1, values->rank) * type_size(values->type);
}

int embedding_lookup_infer(const struct op_call *c)
{
	if (op_check_rank(c, 0, 1, 1) || op_check_rank(c, 1, 2, NNPU_MAX_RANK))
		return -1;
	rows_shape(c, c->in[1]);
	return 0;
}

int embedding_lookup_execute(const struct op_call *c)
{
	return copy_rows(c, 0, c->in[1], 1, c->in[1]->dims[0], row_bytes(c->in[1]));
}

int hashtable_lookup_check(const struct op_call *c)
{
	return op_check_operands(c) || op_check_list(c, 0) || op_check_list(c, 1) ||
	       op_check_type(c, 2, TYPE_BIT(TENSOR_FLOAT32) | TYPE_BIT(TENSOR_INT32) |
			     TYPE_BIT(TENSOR_QUANT8_ASYMM)) ||
	       op_check_rank(c, 2, 1, NNPU_MAX_RANK) ||
	       op_check_same_type(c, op_output(c, 0), 2) ||
	       op_check_same_quant(c, op_output(c, 0), 2) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ||
	       op_check_type(c, op_output(c, 1), TYPE_BIT(TENSOR_QUANT8_ASYMM)) ||
	       op_check_rank(c, op_output(c, 1), 1, 1) ||
	       op_check_quant(c, op_output(c, 1), 1.0f, 0) ? -1 : 0;
}

int hashtable_lookup_infer(const struct op_call *c)
{
	if (op_check_rank(c, 0, 1, 1) || op_check_rank(c, 1, 1, 1) ||
	    op_check_rank(c, 2, 1, NNPU_MAX_RANK))
		return -1;
	if (c->in[1]->dims[0] != c->in[2]->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	rows_shape(c, c->in[2]);
	tensor_set_shape(c->out[1], 1, c->in[0]->dims);
	return 0;
}

/* The row with this key, or -1. */
static int64_t find_key(const struct op_call *c, int32_t key)
{
	int64_t low = 0, high = (int64_t)c->in[1]->dims[0] - 1;

	while (low <= high) {
		int64_t middle = (low + high) / 2;
		int32_t v = op_list_at(c, 1, (size_t)middle);

		if (v == key)
			return middle;
		if (v < key)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

int hashtable_lookup_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t bytes = row_bytes(c->in[2]);
	char *out = c->out[0]->data;
	uint8_t *hits = c->out[1]->data, zero = 0;

	for (uint32_t i = 0; i < c->in[0]->dims[0]; i++) {
		int64_t row = find_key(c, op_list_at(c, 0, i));

		hits[i] = row >= 0;
		if (row >= 0 ?
		    nd_move(&pace, (const char *)c->in[2]->data + (size_t)row * bytes,
			    out + i * bytes, bytes) :
		    nd_fill(&pace, out + i * bytes, 1, bytes, &zero))
			return OP_ABORTED;
		if (op_pace(&pace, 32))
			return OP_ABORTED;
	}
	return 0;
}
