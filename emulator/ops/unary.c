// SPDX-License-Identifier: MIT
/*
 * ABS, NEG, FLOOR, EXP, LOG, SQRT, RSQRT, SIN and LOGICAL_NOT.
 *
 * Input: 0 tensor.
 */
#include <math.h>

#include "kernels.h"
#include "ops.h"
#include "shape.h"

/* Elements between two looks at op_pace(). */
#define RUN	16384

int unary_check(const struct op_call *c)
{
	enum nnpu_operation op = c->desc->op;
	uint32_t types = TYPES_FLOAT;

	if (op == NNPU_OP_LOGICAL_NOT)
		types = TYPE_BIT(TENSOR_BOOL8);
	else if (op == NNPU_OP_ABS || op == NNPU_OP_NEG)
		types |= TYPE_BIT(TENSOR_INT32);
	return op_check_operands(c) || op_check_type(c, 0, types) ||
	       op_check_same_type(c, op_output(c, 0), 0) ||
	       op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int unary_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

/* Of floats; those that row_kernels.h has are there. */
static void run_float(enum nnpu_operation op, const float *in, size_t n, float *out)
{
	const struct row_kernels *k = kernels_rows();

	switch (op) {
	case NNPU_OP_ABS:
		k->function(ROW_ABS, in, n, 0, 0, out);
		break;
	case NNPU_OP_NEG:
		k->function(ROW_NEG, in, n, 0, 0, out);
		break;
	case NNPU_OP_FLOOR:
		for (size_t i = 0; i < n; i++)
			out[i] = floorf(in[i]);
		break;
	case NNPU_OP_EXP:
		for (size_t i = 0; i < n; i++)
			out[i] = expf(in[i]);
		break;
	case NNPU_OP_LOG:
		for (size_t i = 0; i < n; i++)
			out[i] = logf(in[i]);
		break;
	case NNPU_OP_SQRT:
		k->function(ROW_SQRT, in, n, 0, 0, out);
		break;
	case NNPU_OP_RSQRT:
		k->function(ROW_RSQRT, in, n, 0, 0, out);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			out[i] = sinf(in[i]);
	}
}

static void run(const struct op_call *c, size_t first, size_t end)
{
	enum nnpu_operation op = c->desc->op;
	const void *in = c->in[0]->data;
	void *out = c->out[0]->data;

	if (c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32) {
		run_float(op, (const float *)in + first, end - first, (float *)out + first);
	} else if (c->in[0]->type == NNPU_TYPE_TENSOR_INT32) {
		for (size_t i = first; i < end; i++) {
			int32_t v = ((const int32_t *)in)[i];

			/* INT32_MIN has no positive counterpart and stays. */
			((uint32_t *)out)[i] = op == NNPU_OP_ABS && v >= 0 ? (uint32_t)v :
					       -(uint32_t)v;
		}
	} else {
		for (size_t i = first; i < end; i++)
			((uint8_t *)out)[i] = !((const uint8_t *)in)[i];
	}
}

int unary_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->out[0]);

	for (size_t at = 0; at < total; at += RUN) {
		run(c, at, total - at < RUN ? total : at + RUN);
		if (op_pace(&pace, RUN * 8))
			return OP_ABORTED;
	}
	return 0;
}
