// SPDX-License-Identifier: MIT
/*
 * What recurrent operations share.
 */
#include "recurrent.h"

#include <math.h>

#include "quant.h"

int recurrent_activation(const struct op_call *c, unsigned int i, int32_t *code)
{
	if (op_get_i32(c, i, code))
		return 1;
	if ((*code < ACTIVATION_NONE || *code > ACTIVATION_RELU6) && *code != RECURRENT_TANH &&
	    *code != RECURRENT_SIGMOID)
		return op_fail(c, NNPU_REASON_VALUE, i);
	return 0;
}

float recurrent_logistic(float v)
{
	return 1.0f / (1.0f + expf(-v));
}

float recurrent_apply(int32_t code, float v)
{
	struct frange r;

	if (code == ACTIVATION_NONE)
		return v;
	if (code == RECURRENT_TANH)
		return tanhf(v);
	if (code == RECURRENT_SIGMOID)
		return recurrent_logistic(v);
	r = frange_of((enum activation)code);
	return f_clamp(v, r.min, r.max);
}

void recurrent_product(struct op_pace *pace, const float *m, const float *x, uint32_t rows,
		       uint32_t cols, float *y)
{
	for (uint32_t i = 0; i < rows && !op_pace(pace, cols % OP_PACE_RUN + 4); i++, m += cols) {
		float sum = 0.0f;

		for (uint32_t j = 0; j < cols && !op_pace_row(pace, j, 1); j++)
			sum += m[j] * x[j];
		y[i] += sum;
	}
}

int recurrent_check_types(const struct op_call *c, unsigned int first, unsigned int last)
{
	for (unsigned int i = first; i <= last; i++) {
		if (op_check_same_type(c, i, 0) ||
		    (tensor_has_value(c->in[i]) && op_check_rank(c, i, 1, 3)))
			return -1;
	}
	return 0;
}

int recurrent_shape(const struct op_call *c, unsigned int i, unsigned int rank,
		    const uint32_t *dims)
{
	const struct tensor *t = c->in[i];

	if (!tensor_has_value(t))
		return 0;
	if (t->rank != rank)
		return op_fail(c, NNPU_REASON_RANK, i);
	for (unsigned int d = 0; d < rank; d++) {
		if (t->dims[d] != dims[d])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, i);
	}
	return 0;
}

void sequence_set_shape(const struct op_call *c, unsigned int i, const struct sequence *s,
			uint32_t size)
{
	uint32_t dims[3] = { s->time, s->batch, size };

	if (!s->time_major) {
		dims[0] = s->batch;
		dims[1] = s->time;
	}
	tensor_set_shape(c->out[i], 3, dims);
}
