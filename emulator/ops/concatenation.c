// SPDX-License-Identifier: MIT
/*
 * CONCATENATION along one axis.
 *
 * Inputs: 0 to n - 1 tensors, n axis. A quantized input whose scale or zero point
 * is not the output's is requantized in single precision.
 */
#include <math.h>
#include <string.h>

#include "nd_copy.h"
#include "ops.h"
#include "quant.h"

int concatenation_check(const struct op_call *c)
{
	if (op_check_operands(c) ||
	    op_check_type(c, 0, TYPE_BIT(TENSOR_FLOAT32) | TYPE_BIT(TENSOR_FLOAT16) |
			  TYPES_QUANT8) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_rank(c, op_output(c, 0), 1, OP_MAX_RANK) ||
	    op_check_type(c, c->num_inputs - 1, TYPE_BIT(INT32)))
		return -1;
	for (unsigned int i = 0; i < c->num_inputs - 1; i++) {
		if (op_check_same_type(c, i, 0) || op_check_rank(c, i, 1, OP_MAX_RANK))
			return -1;
	}
	return 0;
}

int concatenation_infer(const struct op_call *c)
{
	const struct tensor *first = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int axis;
	int ret = op_get_axis(c, c->num_inputs - 1, first->rank, false, &axis);

	if (ret)
		return ret;
	memcpy(dims, first->dims, sizeof(dims));
	for (unsigned int i = 1; i < c->num_inputs - 1; i++) {
		const struct tensor *t = c->in[i];

		if (t->rank != first->rank)
			return op_fail(c, NNPU_REASON_RANK, i);
		for (unsigned int d = 0; d < t->rank; d++) {
			if (d != axis && t->dims[d] != first->dims[d])
				return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
		}
		if (__builtin_add_overflow(dims[axis], t->dims[axis], &dims[axis]))
			return op_fail(c, NNPU_REASON_OVERFLOW, i);
	}
	tensor_set_shape(c->out[0], first->rank, dims);
	return 0;
}

/* Fill a table that converts bytes of @in to the quantization of @out. */
static void fill_table(const struct tensor *in, const struct tensor *out, uint8_t *table)
{
	struct qbyte b = qbyte_of(in);
	float scale = in->scale * (1.0f / out->scale);
	/* Both types are unsigned here: a signed one is moved up by 128. */
	float bias = (float)-b.bias * scale;
	int32_t zero_point = qbyte_of(out).bias;

	for (int i = 0; i < 256; i++) {
		float v = roundf((float)(i ^ b.flip) * scale + bias);

		v = f_clamp(isnan(v) ? 0.0f : v, -1024.0f, 1024.0f);
		table[i] = (uint8_t)q_clamp((int32_t)v + zero_point, 0, 255) ^ b.flip;
	}
}

/* nd_move_rows() to the quantization of @out. Apart: a copy needs no room for a table. */
static __attribute__((noinline)) int
convert_rows(struct op_pace *pace, const struct tensor *in, const struct tensor *out, uint8_t *to,
	     size_t out_step, size_t bytes, size_t rows)
{
	const uint8_t *from = in->data;
	uint8_t table[256];

	fill_table(in, out, table);
	if (op_pace(pace, 4 * sizeof(table)))
		return OP_ABORTED;
	for (; bytes && rows; rows--, from += bytes, to += out_step) {
		for (size_t i = 0; i < bytes && !op_pace_row(pace, i, 1); i++)
			to[i] = table[from[i]];
		if (op_pace(pace, bytes % OP_PACE_RUN + 4))
			return OP_ABORTED;
	}
	return 0;
}

/* Bytes of a row: of the dimensions from @axis on. To divide by the number of rows takes as long as to move one. */
static size_t row_bytes(const struct tensor *t, unsigned int axis)
{
	return axis ? tensor_elements_of(t, axis, t->rank) * type_size(t->type) : t->bytes;
}

int concatenation_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *out = c->out[0];
	uint8_t *to = out->data;
	size_t outer, row;
	unsigned int axis;

	if (op_get_axis(c, c->num_inputs - 1, out->rank, false, &axis))
		return -1;
	outer = tensor_elements_of(out, 0, axis);
	row = row_bytes(out, axis);
	for (unsigned int i = 0; i < c->num_inputs - 1; i++) {
		const struct tensor *in = c->in[i];
		size_t part = row_bytes(in, axis);
		int ret;

		if (type_is_quant8(in->type) &&
		    (in->scale != out->scale || in->zero_point != out->zero_point))
			ret = convert_rows(&pace, in, out, to, row, part, outer);
		else
			ret = nd_move_rows(&pace, in->data, (ptrdiff_t)part, to, (ptrdiff_t)row, part,
					   outer);
		if (ret)
			return ret;
		to += part;
	}
	return 0;
}
