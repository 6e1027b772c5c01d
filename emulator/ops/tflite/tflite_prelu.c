// SPDX-License-Identifier: MIT
/*
 * PRELU: negative elements are multiplied by input 1, which is broadcast.
 */
#include "ops/broadcast.h"
#include "tflite_elem.h"

struct prelu {
	int32_t zero_in, zero_alpha, zero_out;
	struct qfactor positive, negative;
};

int tflite_prelu_check(const struct op_call *c)
{
	return elem_check_pair(c);
}

int tflite_prelu_infer(const struct op_call *c)
{
	if (op_infer_broadcast(c))
		return -1;
	/* The output has the shape of input 0. */
	if (c->out[0]->rank != c->in[0]->rank)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	for (unsigned int i = 0; i < c->in[0]->rank; i++)
		if (c->out[0]->dims[i] != c->in[0]->dims[i])
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	return 0;
}

static void run_f32(const void *state, const struct broadcast_run *r)
{
	const float *a = r->a, *b = r->b;
	float *out = r->out;

	(void)state;
	for (size_t i = 0; i < r->n; i++) {
		float x = a[i * r->sa];

		out[i] = x >= 0 ? x : x * b[i * r->sb];
	}
}

static int32_t compute(const struct prelu *s, int32_t x, int32_t alpha)
{
	x -= s->zero_in;
	if (x >= 0)
		x = q_scale(x, s->positive);
	else
		x = q_scale(x * (alpha - s->zero_alpha), s->negative);
	return q_add(x, s->zero_out);
}

#define DEFINE(name, type, min, max) \
static void name(const void *state, const struct broadcast_run *r) \
{ \
	const struct prelu *s = state; \
	const type *a = r->a, *b = r->b; \
	type *out = r->out; \
	for (size_t i = 0; i < r->n; i++) \
		out[i] = (type)q_clamp(compute(s, a[i * r->sa], b[i * r->sb]), min, max); \
}

DEFINE(run_i8, int8_t, INT8_MIN, INT8_MAX)
DEFINE(run_u8, uint8_t, 0, UINT8_MAX)

int tflite_prelu_execute(const struct op_call *c)
{
	const struct tensor *in = c->in[0], *alpha = c->in[1], *out = c->out[0];
	struct prelu s;

	if (tflite_type_of(in) == TFLITE_FLOAT32)
		return op_broadcast(c, run_f32, NULL);
	s = (struct prelu){
		.zero_in = in->zero_point, .zero_alpha = alpha->zero_point,
		.zero_out = out->zero_point,
		.positive = elem_factor(in->scale / out->scale),
		.negative = elem_factor(in->scale * alpha->scale / out->scale),
	};
	return op_broadcast(c, tflite_type_of(in) == TFLITE_INT8 ? run_i8 : run_u8, &s);
}
