// SPDX-License-Identifier: MIT
/*
 * Operations on single elements and on pairs of them: what they refuse, and results
 * small enough to compute by hand.
 */
#include <math.h>

#include "refusals.h"

static const float zeros[64];

static struct fixture *pair(struct fixture *f, enum nnpu_operation op, enum nnpu_type type,
			    enum nnpu_type out)
{
	float scale = type == U8 || type == S8 ? 1 : 0;

	fixture_init(f, op);
	fixture_input(f, type, scale, 0, DIMS(2, 3), zeros);
	fixture_input(f, type, scale, 0, DIMS(3), zeros);
	fixture_output(f, out, out == U8 || out == S8 ? 1 : 0, 0);
	return f;
}

static void sub(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SUB);
	fixture_input(f, U8, 0.5f, 4, DIMS(2, 3), zeros);
	fixture_input(f, U8, 0.25f, 0, DIMS(3), zeros);
	fixture_i32(f, 0);
	fixture_output(f, U8, 1, 10);
}

static void divide(struct fixture *f)
{
	fixture_init(f, NNPU_OP_DIV);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_input(f, F32, 0, 0, DIMS(3), zeros);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
}

static void maximum(struct fixture *f)
{
	pair(f, NNPU_OP_MAXIMUM, U8, U8);
}

static void power(struct fixture *f)
{
	pair(f, NNPU_OP_POW, F32, F32);
}

static void prelu(struct fixture *f)
{
	pair(f, NNPU_OP_PRELU, S8, S8);
}

static void less(struct fixture *f)
{
	pair(f, NNPU_OP_LESS, F32, B8);
}

static void both(struct fixture *f)
{
	pair(f, NNPU_OP_LOGICAL_AND, B8, B8);
}

static void invert(struct fixture *f)
{
	fixture_init(f, NNPU_OP_LOGICAL_NOT);
	fixture_input(f, B8, 0, 0, DIMS(3), zeros);
	fixture_output(f, B8, 0, 0);
}

static void negate(struct fixture *f)
{
	fixture_init(f, NNPU_OP_NEG);
	fixture_input(f, I32, 0, 0, DIMS(3), zeros);
	fixture_output(f, I32, 0, 0);
}

static void root(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SQRT);
	fixture_input(f, F32, 0, 0, DIMS(3), zeros);
	fixture_output(f, F32, 0, 0);
}

static void elu(struct fixture *f)
{
	fixture_init(f, NNPU_OP_ELU);
	fixture_input(f, F32, 0, 0, DIMS(3), zeros);
	fixture_f32(f, 2);
	fixture_output(f, F32, 0, 0);
}

static void swish(struct fixture *f)
{
	fixture_init(f, NNPU_OP_HARD_SWISH);
	fixture_input(f, U8, 0.5f, 10, DIMS(3), zeros);
	fixture_output(f, U8, 0.25f, 2);
}

static void (*const legal[])(struct fixture *f) = {
	sub, divide, maximum, power, prelu, less, both, invert, negate, root, elu, swish,
};

static const struct change changes[] = {
	I(sub, TYPE, 1, S8, 0, R(TYPE), 1),
	I(sub, TYPE, 3, S8, 0, R(TYPE), 3),
	I(sub, VALUE, 2, 4, 0, R(VALUE), 2),
	I(sub, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 1),
	I(divide, TYPE, 0, U8, 0, R(TYPE), 0),
	I(divide, VALUE, 2, -1, 0, R(VALUE), 2),
	I(divide, RANK, 1, 5, 0, R(RANK), 1),
	I(maximum, TYPE, 0, B8, 0, R(TYPE), 0),
	I(maximum, TYPE, 1, I32, 0, R(TYPE), 1),
	I(maximum, TYPE, 2, F32, 0, R(TYPE), 2),
	I(maximum, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 1),
	I(maximum, OMIT, 1, 0, 0, R(OMITTED), 1),
	I(power, TYPE, 0, I32, 0, R(TYPE), 0),
	I(prelu, TYPE, 0, I32, 0, R(TYPE), 0),
	I(prelu, TYPE, 2, U8, 0, R(TYPE), 2),
	I(less, TYPE, 1, F16, 0, R(TYPE), 1),
	I(less, TYPE, 2, U8, 0, R(TYPE), 2),
	I(less, DIM, 0, 4, 1, R(SHAPE_MISMATCH), 1),
	I(both, TYPE, 0, U8, 0, R(TYPE), 0),
	I(invert, TYPE, 0, I32, 0, R(TYPE), 0),
	I(negate, TYPE, 0, U8, 0, R(TYPE), 0),
	I(negate, TYPE, 1, F32, 0, R(TYPE), 1),
	I(root, TYPE, 0, I32, 0, R(TYPE), 0),
	I(root, NO_OUTPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(elu, TYPE, 0, U8, 0, R(TYPE), 0),
	I(elu, TYPE, 1, NNPU_TYPE_FLOAT16, 0, R(TYPE), 1),
	I(elu, DROP_INPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(swish, TYPE, 1, S8, 0, R(TYPE), 1),
};

static void test_integers(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_DIV);
	fixture_input(&f, I32, 0, 0, DIMS(7), (int32_t[]){ 5, -5, 5, -6, INT32_MIN, 7, 1 });
	fixture_input(&f, I32, 0, 0, DIMS(7), (int32_t[]){ 2, 2, -2, 2, -1, INT32_MIN, 0 });
	fixture_i32(&f, 0);
	fixture_output(&f, I32, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(7), (int32_t[]){ 2, -3, -3, -3, INT32_MIN,
								    -1, 0 }),
	   "DIV: integers are rounded to minus infinity");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_SUB);
	fixture_input(&f, I32, 0, 0, DIMS(2), (int32_t[]){ INT32_MIN, 5 });
	fixture_input(&f, I32, 0, 0, DIMS(1), (int32_t[]){ 1 });
	fixture_i32(&f, 0);
	fixture_output(&f, I32, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (int32_t[]){ INT32_MAX, 4 }),
	   "SUB: integers wrap around");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_ABS);
	fixture_input(&f, I32, 0, 0, DIMS(3), (int32_t[]){ INT32_MIN, -5, 5 });
	fixture_output(&f, I32, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (int32_t[]){ INT32_MIN, 5, 5 }),
	   "ABS: integers");
	fixture_end(&f);
}

static void test_quantized(void)
{
	struct fixture f;

	sub(&f);
	memcpy(f.data[0], (uint8_t[]){ 4, 24, 0, 255, 4, 6 }, 6);
	memcpy(f.data[1], (uint8_t[]){ 8, 4, 4 }, 3);
	/* 0 - 2, 10 - 1, -2 - 1; 125.5 - 2, 0 - 1, 1 - 1. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 3), (uint8_t[]){ 8, 19, 7, 134, 9, 10 }),
	   "SUB: quantized");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_MAXIMUM);
	fixture_input(&f, S8, 0.5f, 0, DIMS(3), (int8_t[]){ 4, -10, 127 });
	fixture_input(&f, S8, 1, 1, DIMS(3), (int8_t[]){ 2, -3, -128 });
	fixture_output(&f, S8, 0.25f, 10);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (int8_t[]){ 18, -6, 127 }),
	   "MAXIMUM: three quantizations");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_EQUAL);
	fixture_input(&f, U8, 0.5f, 2, DIMS(3), (uint8_t[]){ 4, 5, 2 });
	fixture_input(&f, U8, 0.25f, 0, DIMS(3), (uint8_t[]){ 4, 4, 0 });
	fixture_output(&f, B8, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (uint8_t[]){ 1, 0, 1 }),
	   "EQUAL: real values are compared");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_EQUAL);
	fixture_input(&f, B8, 0, 0, DIMS(3), (uint8_t[]){ 1, 200, 0 });
	fixture_input(&f, B8, 0, 0, DIMS(1), (uint8_t[]){ 3 });
	fixture_output(&f, B8, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (uint8_t[]){ 1, 1, 0 }),
	   "EQUAL: any byte but 0 is true");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_PRELU);
	fixture_input(&f, U8, 0.5f, 10, DIMS(2), (uint8_t[]){ 14, 6 });
	fixture_input(&f, U8, 0.25f, 0, DIMS(1), (uint8_t[]){ 2 });
	fixture_output(&f, U8, 0.5f, 50);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (uint8_t[]){ 54, 48 }),
	   "PRELU: quantized");
	fixture_end(&f);

	swish(&f);
	memcpy(f.data[0], (uint8_t[]){ 0, 8, 20 }, 3);
	/* -5 gives 0, -1 gives -1/3, 5 gives 5. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (uint8_t[]){ 2, 1, 22 }),
	   "HARD_SWISH: quantized");
	fixture_end(&f);
}

static void test_floats(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_LESS);
	fixture_input(&f, F32, 0, 0, DIMS(3), (float[]){ 1, NAN, -0.0f });
	fixture_input(&f, F32, 0, 0, DIMS(3), (float[]){ 2, 1, 0.0f });
	fixture_output(&f, B8, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (uint8_t[]){ 1, 0, 0 }),
	   "LESS: floats");
	fixture_end(&f);

	elu(&f);
	memcpy(f.data[0], (float[]){ 3, 0, -INFINITY }, 12);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (float[]){ 3, 0, -2 }), "ELU: the ends");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RSQRT);
	fixture_input(&f, F16, 0, 0, DIMS(2), (uint16_t[]){ 0x4400, 0x3400 });
	fixture_output(&f, F16, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (uint16_t[]){ 0x3800, 0x4000 }),
	   "RSQRT: half precision");
	fixture_end(&f);
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_integers();
	test_quantized();
	test_floats();
	return tap_done();
}
