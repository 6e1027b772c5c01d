// SPDX-License-Identifier: MIT
/*
 * ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM, FLOOR_DIV, FLOOR_MOD, POW, SQUARED_DIFFERENCE, ATAN2,
 * BITWISE_XOR and RIGHT_SHIFT with broadcasting.
 *
 * Inputs: 0 and 1 the operands; ADD, SUB, MUL, DIV: 2 fused activation; ADD, SUB: 3 whether
 * INT16 operands whose scales are powers of two are shifted instead of scaled.
 *
 * Integers wrap around. The plain forms are here, the quantized ones in tflite_binary_quant.c.
 */
#include <math.h>

#include "ops/broadcast.h"
#include "ops/kernels.h"
#include "tflite_binary.h"

struct binary {
	enum tflite_op op;
	enum row_arithmetic what;	/* of run_arithmetic() */
	int64_t min, max;		/* fused activation */
	struct frange range;
};

static bool has_activation(enum tflite_op op)
{
	return op == TFLITE_OP_ADD || op == TFLITE_OP_SUB || op == TFLITE_OP_MUL ||
	       op == TFLITE_OP_DIV;
}

int tflite_binary_check(const struct op_call *c)
{
	enum activation a;

	if (elem_check_pair(c))
		return -1;
	if (has_activation(tflite_op_of(c)) && op_get_activation(c, 2, &a) < 0)
		return -1;
	return binary_is_quant(c) ? binary_quant_check(c) : 0;
}

int tflite_binary_infer(const struct op_call *c)
{
	return op_infer_broadcast(c);
}

#define LOOP(type, expr) do { \
	const type *a = r->a, *b = r->b; \
	type *out = r->out; \
	for (size_t i = 0; i < r->n; i++) { \
		type x = a[i * r->sa], y = b[i * r->sb]; \
		out[i] = (type)(expr); \
	} \
} while (0)

/* The same with a fused activation. */
#define LIMITED(type, expr) do { \
	type min = (type)s->min, max = (type)s->max; \
	const type *a = r->a, *b = r->b; \
	type *out = r->out; \
	for (size_t i = 0; i < r->n; i++) { \
		type x = a[i * r->sa], y = b[i * r->sb]; \
		type v = (type)(expr); \
		v = v < min ? min : v; \
		out[i] = v > max ? max : v; \
	} \
} while (0)

/* Quotients and remainders of signed integers. The smallest one divided by -1 wraps around. */
static int64_t quotient(int64_t x, int64_t y)
{
	return y == -1 ? (int64_t)-(uint64_t)x : x / y;
}

static int64_t remainder_of(int64_t x, int64_t y)
{
	return y == -1 ? 0 : x % y;
}

static int64_t floor_quotient(int64_t x, int64_t y)
{
	int64_t q = quotient(x, y);

	return remainder_of(x, y) && (x < 0) != (y < 0) ? q - 1 : q;
}

static int64_t floor_remainder(int64_t x, int64_t y)
{
	int64_t m = remainder_of(x, y);

	return m && (y < 0) != (m < 0) ? m + y : m;
}

/* x to the power y >= 0, limited to 32 bits. */
static int32_t int_power(int32_t x, int32_t y)
{
	double v = pow(x, y);

	return v >= INT32_MAX ? INT32_MAX : v <= INT32_MIN ? INT32_MIN : (int32_t)v;
}

static float floor_remainder_f(float x, float y)
{
	float m = fmodf(x, y);

	return m != 0 && (y < 0) != (m < 0) ? m + y : m;
}

/* @wide is the unsigned type in which sums and products wrap around. */
#define DEFINE_SIGNED(name, type, wide) \
static void name(const void *state, const struct broadcast_run *r) \
{ \
	const struct binary *s = state; \
	switch (s->op) { \
	case TFLITE_OP_ADD: \
		LIMITED(type, (wide)x + (wide)y); \
		break; \
	case TFLITE_OP_SUB: \
		LIMITED(type, (wide)x - (wide)y); \
		break; \
	case TFLITE_OP_MUL: \
		LIMITED(type, (wide)x * (wide)y); \
		break; \
	case TFLITE_OP_DIV: \
		LIMITED(type, quotient(x, y)); \
		break; \
	case TFLITE_OP_MINIMUM: \
		LOOP(type, x < y ? x : y); \
		break; \
	case TFLITE_OP_MAXIMUM: \
		LOOP(type, x > y ? x : y); \
		break; \
	case TFLITE_OP_FLOOR_DIV: \
		LOOP(type, floor_quotient(x, y)); \
		break; \
	case TFLITE_OP_FLOOR_MOD: \
		LOOP(type, floor_remainder(x, y)); \
		break; \
	case TFLITE_OP_POW: \
		LOOP(type, int_power((int32_t)x, (int32_t)y)); \
		break; \
	case TFLITE_OP_SQUARED_DIFFERENCE: \
		LOOP(type, ((wide)x - (wide)y) * ((wide)x - (wide)y)); \
		break; \
	case TFLITE_OP_BITWISE_XOR: \
		LOOP(type, x ^ y); \
		break; \
	default: \
		LOOP(type, x >> (y < 0 ? 0 : y >= BITS(type) ? BITS(type) - 1 : y)); \
		break; \
	} \
}

#define DEFINE_UNSIGNED(name, type) \
static void name(const void *state, const struct broadcast_run *r) \
{ \
	const struct binary *s = state; \
	switch (s->op) { \
	case TFLITE_OP_MUL: \
		LIMITED(type, x * (uint32_t)y); \
		break; \
	case TFLITE_OP_MINIMUM: \
		LOOP(type, x < y ? x : y); \
		break; \
	case TFLITE_OP_MAXIMUM: \
		LOOP(type, x > y ? x : y); \
		break; \
	case TFLITE_OP_BITWISE_XOR: \
		LOOP(type, x ^ y); \
		break; \
	default: \
		LOOP(type, x >> (y >= BITS(type) ? BITS(type) - 1 : y)); \
		break; \
	} \
}

#define BITS(type)	((type)(8 * sizeof(type)))

DEFINE_SIGNED(run_i8, int8_t, uint32_t)
DEFINE_SIGNED(run_i16, int16_t, uint32_t)
DEFINE_SIGNED(run_i32, int32_t, uint32_t)
DEFINE_SIGNED(run_i64, int64_t, uint64_t)
DEFINE_UNSIGNED(run_u8, uint8_t)
DEFINE_UNSIGNED(run_u16, uint16_t)
DEFINE_UNSIGNED(run_u32, uint32_t)

static void run_f32(const void *state, const struct broadcast_run *r)
{
	const struct binary *s = state;

	switch (s->op) {
	case TFLITE_OP_MINIMUM:
		LOOP(float, x < y ? x : y);
		break;
	case TFLITE_OP_MAXIMUM:
		LOOP(float, x > y ? x : y);
		break;
	case TFLITE_OP_FLOOR_DIV:
		LOOP(float, floor((double)x / y));
		break;
	case TFLITE_OP_FLOOR_MOD:
		LOOP(float, floor_remainder_f(x, y));
		break;
	case TFLITE_OP_POW:
		LOOP(float, powf(x, y));
		break;
	default:
		LOOP(float, atan2f(x, y));
		break;
	}
}

/* Is it arithmetic that row_kernels.h has? */
static bool row_arithmetic_of(enum tflite_op op, enum row_arithmetic *what)
{
	switch (op) {
	case TFLITE_OP_ADD:
		*what = ROW_ADD;
		return true;
	case TFLITE_OP_SUB:
		*what = ROW_SUB;
		return true;
	case TFLITE_OP_MUL:
		*what = ROW_MUL;
		return true;
	case TFLITE_OP_DIV:
		*what = ROW_DIV;
		return true;
	case TFLITE_OP_SQUARED_DIFFERENCE:
		*what = ROW_SQUARE;
		return true;
	default:
		return false;
	}
}

static void run_arithmetic(const void *state, const struct broadcast_run *r)
{
	const struct binary *s = state;

	kernels_rows()->arithmetic(s->what, r, s->range.min, s->range.max);
}

static void run_f64(const void *state, const struct broadcast_run *r)
{
	(void)state;
	LOOP(double, atan2(x, y));
}

/* Products of complex numbers, real and imaginary parts one behind the other. */
static void run_c64(const void *state, const struct broadcast_run *r)
{
	const float *a = r->a, *b = r->b;
	float *out = r->out;

	(void)state;
	for (size_t i = 0; i < r->n; i++) {
		const float *x = &a[2 * i * r->sa], *y = &b[2 * i * r->sb];

		out[2 * i] = x[0] * y[0] - x[1] * y[1];
		out[2 * i + 1] = x[0] * y[1] + x[1] * y[0];
	}
}

/* Is there an element of input 1 that the operation refuses, equal to 0 or below? */
static int check_values(const struct op_call *c, bool negative)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->in[1]);
	bool real = tflite_type_of(c->in[1]) == TFLITE_FLOAT32;

	for (size_t i = 0; i < total; i++) {
		int64_t v = real ? ((const float *)c->in[1]->data)[i] != 0 :
			    tflite_int_at(c, 1, i);

		if (negative ? v < 0 : v == 0)
			return op_fail(c, NNPU_REASON_VALUE, 1);
		if (op_pace_row(&pace, i, 2))
			return OP_ABORTED;
	}
	return 0;
}

static int check_divisor(const struct op_call *c)
{
	bool real = tflite_type_of(c->in[1]) == TFLITE_FLOAT32;

	switch (tflite_op_of(c)) {
	case TFLITE_OP_DIV:
	case TFLITE_OP_FLOOR_MOD:
		return real ? 0 : check_values(c, false);
	case TFLITE_OP_FLOOR_DIV:
		return check_values(c, false);
	case TFLITE_OP_POW:
		return real ? 0 : check_values(c, true);
	default:
		return 0;
	}
}

static broadcast_fn kernel(enum tflite_type type)
{
	switch (type) {
	case TFLITE_INT8:
		return run_i8;
	case TFLITE_UINT8:
		return run_u8;
	case TFLITE_INT16:
		return run_i16;
	case TFLITE_UINT16:
		return run_u16;
	case TFLITE_INT32:
		return run_i32;
	case TFLITE_UINT32:
		return run_u32;
	case TFLITE_INT64:
		return run_i64;
	case TFLITE_FLOAT64:
		return run_f64;
	case TFLITE_COMPLEX64:
		return run_c64;
	default:
		return run_f32;
	}
}

/*
 * What an element takes, in units of op_pace(): a remainder of floats one step for each exponent
 * between its operands.
 */
static unsigned int units_of(enum tflite_op op, enum tflite_type type)
{
	switch (op) {
	case TFLITE_OP_FLOOR_MOD:
		return type == TFLITE_FLOAT32 ? 512 : 16;
	case TFLITE_OP_POW:
	case TFLITE_OP_ATAN2:
		return 64;
	case TFLITE_OP_DIV:
		return 16;
	case TFLITE_OP_FLOOR_DIV:
		return type == TFLITE_FLOAT32 ? 4 : 16;
	default:
		return 2;
	}
}

int tflite_binary_execute(const struct op_call *c)
{
	enum tflite_type type = tflite_type_of(c->out[0]);
	enum activation a = ACTIVATION_NONE;
	struct binary s = { .op = tflite_op_of(c) };
	int ret;

	if (has_activation(s.op) && op_get_activation(c, 2, &a))
		return -1;
	if (binary_is_quant(c))
		return binary_quant_execute(c, a);
	ret = check_divisor(c);
	if (ret)
		return ret;
	/* Without an activation, results are limited to finite numbers; those that cannot have one are not. */
	s.range = frange_of(has_activation(s.op) ? a : ACTIVATION_UNLIMITED);
	elem_range(a, type, &s.min, &s.max);
	if (type == TFLITE_FLOAT32 && row_arithmetic_of(s.op, &s.what))
		return op_broadcast_rows(c, run_arithmetic, &s);
	return op_broadcast_slow(c, kernel(type), &s, units_of(s.op, type));
}
