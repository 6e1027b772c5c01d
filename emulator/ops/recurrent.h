/* SPDX-License-Identifier: MIT */
/*
 * What recurrent operations share: activation codes, sequences, products of matrices
 * and vectors, shapes of operands that may be omitted.
 */
#ifndef NNPU_EMU_RECURRENT_H
#define NNPU_EMU_RECURRENT_H

#include "shape.h"

/* Activation codes of recurrent operations: the fused ones, and these. */
#define RECURRENT_TANH		4
#define RECURRENT_SIGMOID	6

/* Read an activation code: 0, 1 if not known before the job runs, -1 with error. */
int recurrent_activation(const struct op_call *c, unsigned int i, int32_t *code);

/*
 * y[i] = the activation function of x[i]; @y may be @x. Stops early once @pace says that the job is
 * to end.
 */
void recurrent_apply(struct op_pace *pace, int32_t code, const float *x, uint32_t n, float *y);

/*
 * y[i] += sum of m[i][j] * x[j] for a matrix of @rows rows and @cols columns. Stops early
 * once @pace says that the job is to end.
 */
void recurrent_product(struct op_pace *pace, const float *m, const float *x, uint32_t rows,
		       uint32_t cols, float *y);

/* Inputs [@first, @last] have the type of input 0, and a rank if they are there. */
int recurrent_check_types(const struct op_call *c, unsigned int first, unsigned int last);

/*
 * Input @i, if it is there, has this shape; -1 with error otherwise. All shapes are
 * known.
 */
int recurrent_shape(const struct op_call *c, unsigned int i, unsigned int rank,
		    const uint32_t *dims);

/* A sequence: [time, batch, size] or [batch, time, size]. */
struct sequence {
	uint32_t time, batch, size;
	bool time_major;
};

static inline struct sequence sequence_of(const struct tensor *t, bool time_major)
{
	struct sequence s = { t->dims[0], t->dims[1], t->dims[2], time_major };

	if (!time_major) {
		s.time = t->dims[1];
		s.batch = t->dims[0];
	}
	return s;
}

/* Element offset of a step of a batch in a sequence whose elements have @size values. */
static inline size_t sequence_at(const struct sequence *s, uint32_t time, uint32_t batch,
				 uint32_t size)
{
	if (s->time_major)
		return ((size_t)time * s->batch + batch) * size;
	return ((size_t)batch * s->time + time) * size;
}

/* Shape of output @i: a sequence like @s of elements of @size values. */
void sequence_set_shape(const struct op_call *c, unsigned int i, const struct sequence *s,
			uint32_t size);

/* Data of input @i, NULL if it is omitted. */
static inline const float *float_data(const struct op_call *c, unsigned int i)
{
	return tensor_has_value(c->in[i]) ? c->in[i]->data : NULL;
}

#endif /* NNPU_EMU_RECURRENT_H */
