// SPDX-License-Identifier: MIT
/*
 * SVDF of org.nnpu.tflite: inputs and outputs of 8 bits, a state of 16.
 *
 * Inputs: 0 input [batch, size], 1 feature filters [filters, size], 2 time filters [filters,
 * memory], 3 bias [units] (may be omitted), 4 state [batch, memory * filters], 5 rank, filters
 * per unit, 6 activation, 7 is for other types and not used.
 * Outputs: 0 output [batch, units], 1 state.
 */
#include "ops/nd_copy.h"
#include "ops/quant.h"
#include "ops/recurrent.h"
#include "tflite_ops.h"

enum { AT_FEATURE = 1, AT_TIME, AT_BIAS, AT_STATE, AT_RANK, AT_ACTIVATION };

struct svdf {
	uint32_t batch, size, filters, memory, rank, units;
	struct qfactor feature, output;
	struct op_pace pace;
};

int tflite_svdf_check(const struct op_call *c)
{
	enum activation a;

	if (op_get_activation(c, AT_ACTIVATION, &a) < 0)
		return -1;
	if (c->in[AT_FEATURE]->zero_point)
		return op_fail(c, NNPU_REASON_ZERO_POINT, AT_FEATURE);
	return op_check_same_quant(c, op_output(c, 1), AT_STATE);
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct svdf *s)
{
	enum activation activation;
	uint32_t state;
	int32_t rank;
	int ret;

	if (op_check_rank(c, 0, 2, 2) || op_check_rank(c, AT_FEATURE, 2, 2) ||
	    op_check_rank(c, AT_TIME, 2, 2))
		return -1;
	if (op_get_i32(c, AT_RANK, &rank))
		return 1;
	ret = op_get_activation(c, AT_ACTIVATION, &activation);
	if (ret)
		return ret;
	*s = (struct svdf){
		.batch = c->in[0]->dims[0], .size = c->in[0]->dims[1],
		.filters = c->in[AT_FEATURE]->dims[0], .memory = c->in[AT_TIME]->dims[1],
	};
	if (rank < 1 || s->filters % (uint32_t)rank)
		return op_fail(c, NNPU_REASON_VALUE, AT_RANK);
	s->rank = (uint32_t)rank;
	s->units = s->filters / s->rank;
	if (c->in[AT_FEATURE]->dims[1] != s->size)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_FEATURE);
	if (c->in[AT_TIME]->dims[0] != s->filters)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_TIME);
	if (s->memory == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_TIME);
	if (__builtin_mul_overflow(s->memory, s->filters, &state))
		return op_fail(c, NNPU_REASON_OVERFLOW, AT_TIME);
	return recurrent_shape(c, AT_BIAS, 1, &s->units) ||
	       recurrent_shape(c, AT_STATE, 2, (uint32_t[]){ s->batch, state }) ? -1 : 0;
}

int tflite_svdf_infer(const struct op_call *c)
{
	struct svdf s;
	int ret = geometry(c, &s);

	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ s.batch, s.units });
	tensor_set_shape(c->out[1], 2, c->in[AT_STATE]->dims);
	return 0;
}

/* The newest value of a filter. */
static int16_t newest(const struct op_call *c, struct svdf *s, uint32_t batch, uint32_t filter)
{
	const int8_t *x = (const int8_t *)c->in[0]->data + (size_t)batch * s->size;
	const int8_t *w = (const int8_t *)c->in[AT_FEATURE]->data + (size_t)filter * s->size;
	int32_t zero = c->in[0]->zero_point;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->size && !op_pace_row(&s->pace, i, 1); i++)
		sum += (uint32_t)(w[i] * (x[i] - zero));
	return (int16_t)q_clamp(q_scale((int32_t)sum, s->feature), INT16_MIN, INT16_MAX);
}

/* Move the state of a filter on, and sum it up. 0 or OP_ABORTED. */
static int run_filter(const struct op_call *c, struct svdf *s, uint32_t batch, uint32_t filter,
		      uint32_t *sum)
{
	size_t at = ((size_t)batch * s->filters + filter) * s->memory;
	const int16_t *old = (const int16_t *)c->in[AT_STATE]->data + at;
	const int16_t *time = (const int16_t *)c->in[AT_TIME]->data + (size_t)filter * s->memory;
	int16_t *state = (int16_t *)c->out[1]->data + at;

	if (nd_move(&s->pace, old + 1, state, (s->memory - 1) * sizeof(*state)))
		return OP_ABORTED;
	state[s->memory - 1] = newest(c, s, batch, filter);
	for (uint32_t i = 0; i < s->memory && !op_pace_row(&s->pace, i, 1); i++)
		*sum += (uint32_t)(time[i] * state[i]);
	return op_pace(&s->pace, (s->size + s->memory) % OP_PACE_RUN + 32) ? OP_ABORTED : 0;
}

int tflite_svdf_execute(const struct op_call *c)
{
	int8_t *out = c->out[0]->data;
	struct svdf s;

	if (geometry(c, &s))
		return -1;
	s.pace.progress = c->progress;
	s.feature = qfactor_from(c->in[0]->scale * c->in[AT_FEATURE]->scale /
				 c->in[AT_STATE]->scale);
	s.output = qfactor_from(c->in[AT_STATE]->scale * c->in[AT_TIME]->scale /
				c->out[0]->scale);
	for (uint32_t b = 0; b < s.batch; b++) {
		for (uint32_t u = 0; u < s.units; u++, out++) {
			uint32_t sum = op_has_input(c, AT_BIAS) ?
				       (uint32_t)op_list_at(c, AT_BIAS, u) : 0;
			int32_t v;

			for (uint32_t f = u * s.rank; f < (u + 1) * s.rank; f++) {
				if (run_filter(c, &s, b, f, &sum))
					return OP_ABORTED;
			}
			v = q_add(q_scale((int32_t)sum, s.output), c->out[0]->zero_point);
			*out = (int8_t)q_clamp(v, INT8_MIN, INT8_MAX);
		}
	}
	return 0;
}
