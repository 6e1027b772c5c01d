// SPDX-License-Identifier: MIT
/*
 * SVDF: a layer whose filters are products of a feature filter and a time filter.
 *
 * Inputs: 0 input [batch, size], 1 feature filters [filters, size], 2 time filters
 * [filters, memory], 3 bias [units] (may be omitted), 4 state [batch, memory * filters],
 * 5 rank, filters per unit, 6 activation.
 * Outputs: 0 state, 1 output [batch, units].
 */
#include <string.h>

#include "kernels.h"
#include "nd_copy.h"
#include "ops.h"
#include "recurrent.h"

struct svdf {
	uint32_t batch, size, filters, memory, rank, units;
	int32_t activation;
};

int svdf_check(const struct op_call *c)
{
	int32_t code;

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT) ||
	    op_check_rank(c, 0, 2, 2) || recurrent_check_types(c, 1, 4) ||
	    op_check_type(c, 5, TYPE_BIT(INT32)) || op_check_type(c, 6, TYPE_BIT(INT32)) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_same_type(c, op_output(c, 1), 0) ||
	    op_check_rank(c, op_output(c, 0), 2, 2) || op_check_rank(c, op_output(c, 1), 2, 2))
		return -1;
	return recurrent_activation(c, 6, &code) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct svdf *s)
{
	uint32_t state;
	int32_t rank;
	int ret;

	if (op_check_rank(c, 0, 2, 2) || op_check_rank(c, 1, 2, 2) || op_check_rank(c, 2, 2, 2))
		return -1;
	if (op_get_i32(c, 5, &rank))
		return 1;
	ret = recurrent_activation(c, 6, &s->activation);
	if (ret)
		return ret;
	s->batch = c->in[0]->dims[0];
	s->size = c->in[0]->dims[1];
	s->filters = c->in[1]->dims[0];
	s->memory = c->in[2]->dims[1];
	if (rank < 1 || s->filters % (uint32_t)rank)
		return op_fail(c, NNPU_REASON_VALUE, 5);
	s->rank = (uint32_t)rank;
	s->units = s->filters / s->rank;
	if (c->in[1]->dims[1] != s->size)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[2]->dims[0] != s->filters)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (s->memory == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	if (__builtin_mul_overflow(s->memory, s->filters, &state))
		return op_fail(c, NNPU_REASON_OVERFLOW, 2);
	return recurrent_shape(c, 3, 1, &s->units) ||
	       recurrent_shape(c, 4, 2, (uint32_t[]){ s->batch, state }) ? -1 : 0;
}

int svdf_infer(const struct op_call *c)
{
	struct svdf s;
	int ret = geometry(c, &s);

	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 2, c->in[4]->dims);
	tensor_set_shape(c->out[1], 2, (uint32_t[]){ s.batch, s.units });
	return 0;
}

int svdf_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	const float *bias;
	struct svdf s;

	if (geometry(c, &s))
		return -1;
	bias = float_data(c, 3);
	for (uint32_t b = 0; b < s.batch; b++) {
		float newest[ROW_PRODUCTS], *out = (float *)c->out[1]->data + (size_t)b * s.units;
		const float *in = (const float *)c->in[0]->data + (size_t)b * s.size;
		size_t at = (size_t)b * s.filters * s.memory;

		for (uint32_t u = 0; u < s.units; u++) {
			float sum = bias ? bias[u] : 0.0f;

			for (uint32_t f = u * s.rank; f < (u + 1) * s.rank; f++) {
				const float *old = (const float *)c->in[4]->data + at +
						   (size_t)f * s.memory;
				const float *time = (const float *)c->in[2]->data +
						    (size_t)f * s.memory;
				float *state = (float *)c->out[0]->data + at +
					       (size_t)f * s.memory;
				uint32_t left = s.filters - f;
				float part = 0.0f;

				if (f % ROW_PRODUCTS == 0) {
					memset(newest, 0, sizeof(newest));
					recurrent_product(&pace, (const float *)c->in[1]->data +
							  (size_t)f * s.size, in,
							  left < ROW_PRODUCTS ? left : ROW_PRODUCTS,
							  s.size, newest);
				}
				/* The newest value takes the last place, then all move up. */
				recurrent_product(&pace, time, old, 1, s.memory - 1, &part);
				sum += part + time[s.memory - 1] * newest[f % ROW_PRODUCTS];
				state[s.memory - 1] = 0.0f;
				if (s.memory > 1) {
					nd_move(&pace, old + 1, state,
						(s.memory - 2) * sizeof(*state));
					state[s.memory - 2] = newest[f % ROW_PRODUCTS];
				}
				if (op_pace(&pace, 16))
					return OP_ABORTED;
			}
			out[u] = sum;
		}
		recurrent_apply(&pace, s.activation, out, s.units, out);
	}
	return pace.ended ? OP_ABORTED : 0;
}
