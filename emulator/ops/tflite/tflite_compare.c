// SPDX-License-Identifier: MIT
/*
 * EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER and GREATER_EQUAL with broadcasting.
 *
 * Inputs: 0 and 1 the operands. INT8 and UINT8 are brought to real values, in fixed point.
 */
#include "ops/broadcast.h"
#include "tflite_elem.h"

#define LEFT_SHIFT	8

struct compare {
	enum tflite_op op;
	int32_t values[2][256];		/* of each byte */
};

int tflite_compare_check(const struct op_call *c)
{
	return op_check_same_type(c, 1, 0) || op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, 1, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int tflite_compare_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

/* @test says it of x and y. */
#define LOOP(test) do { \
	for (size_t i = 0; i < r->n; i++) { \
		const __typeof__(LEFT(0)) x = LEFT(i * r->sa); \
		const __typeof__(RIGHT(0)) y = RIGHT(i * r->sb); \
\
		out[i] = test; \
	} \
} while (0)

#define BODY(type) do { \
	const struct compare *s = state; \
	const type *a = r->a, *b = r->b; \
	uint8_t *out = r->out; \
	switch (s->op) { \
	case TFLITE_OP_EQUAL: \
		LOOP(x == y); \
		break; \
	case TFLITE_OP_NOT_EQUAL: \
		LOOP(x != y); \
		break; \
	case TFLITE_OP_LESS: \
		LOOP(x < y); \
		break; \
	case TFLITE_OP_LESS_EQUAL: \
		LOOP(x <= y); \
		break; \
	case TFLITE_OP_GREATER: \
		LOOP(x > y); \
		break; \
	default: \
		LOOP(x >= y); \
		break; \
	} \
} while (0)

#define LEFT(i)		a[i]
#define RIGHT(i)	b[i]

static void run_f32(const void *state, const struct broadcast_run *r)
{
	BODY(float);
}

static void run_i16(const void *state, const struct broadcast_run *r)
{
	BODY(int16_t);
}

static void run_i32(const void *state, const struct broadcast_run *r)
{
	BODY(int32_t);
}

static void run_i64(const void *state, const struct broadcast_run *r)
{
	BODY(int64_t);
}

#undef LEFT
#undef RIGHT
#define LEFT(i)		s->values[0][a[i]]
#define RIGHT(i)	s->values[1][b[i]]

static void run_bytes(const void *state, const struct broadcast_run *r)
{
	BODY(uint8_t);
}

/* Value of each byte of operand @i. */
static void fill_values(const struct op_call *c, unsigned int i, int32_t *values)
{
	const struct tensor *t = c->in[i];
	struct qfactor f = elem_factor(t->scale);
	enum tflite_type type = tflite_type_of(t);

	for (int k = 0; k < 256; k++) {
		int32_t q = type == TFLITE_INT8 ? (int8_t)k : k;

		values[k] = type == TFLITE_BOOL ? k != 0 :
			    q_scale((q - t->zero_point) * (1 << LEFT_SHIFT), f);
	}
}

int tflite_compare_execute(const struct op_call *c)
{
	struct compare s = { .op = tflite_op_of(c) };

	switch (tflite_type_of(c->in[0])) {
	case TFLITE_FLOAT32:
		return op_broadcast(c, run_f32, &s);
	case TFLITE_INT16:
		return op_broadcast(c, run_i16, &s);
	case TFLITE_INT32:
		return op_broadcast(c, run_i32, &s);
	case TFLITE_INT64:
		return op_broadcast(c, run_i64, &s);
	default:
		fill_values(c, 0, s.values[0]);
		fill_values(c, 1, s.values[1]);
		return op_broadcast(c, run_bytes, &s);
	}
}
