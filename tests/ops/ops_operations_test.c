// SPDX-License-Identifier: MIT
/*
 * Operations on values small enough to compute by hand.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <float16.h>

#include "../difference.h"
#include "../tap.h"
#include "fixedpoint.h"
#include "ops_fixture.h"
#include "quant.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define F16	NNPU_TYPE_TENSOR_FLOAT16
#define I32	NNPU_TYPE_TENSOR_INT32
#define U8	NNPU_TYPE_TENSOR_QUANT8_ASYMM
#define S8	NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED

/* Run and compare output 0 with the values that follow. */
#define EXPECT_RESULT(f, what, rank_and_dims, ...) do { \
	int ret_ = fixture_run(f); \
	if (ret_) \
		tap_note("%s, operand %u", reason_text(fixture_reason(f)), \
			 fixture_bad_operand(f)); \
	ok(!ret_ && fixture_is(f, rank_and_dims, __VA_ARGS__), "%s", what); \
} while (0)

static bool factor_is(double real, int32_t mult, int32_t shift)
{
	struct qfactor f = qfactor_from(real);

	if (f.mult != mult || f.shift != shift)
		tap_note("factor of %g is %d, %d", real, f.mult, f.shift);
	return f.mult == mult && f.shift == shift;
}

static void test_factors(void)
{
	ok(factor_is(0.5, 1 << 30, 0) && factor_is(1.0, 1 << 30, 1) &&
	   factor_is(0.75, 3 << 29, 0) && factor_is(0.25, 1 << 30, -1) &&
	   factor_is(96.0, 3 << 29, 7), "factors of exact fractions");
	ok(factor_is(ldexp(1, -32), 1 << 30, -31) && factor_is(ldexp(0.99, -32), 0, 0) &&
	   factor_is(0.0, 0, 0), "factors below 2^-32 are zero");
	ok(factor_is(1.0 - ldexp(1, -40), 1 << 30, 1), "a fraction that rounds up to one");
	ok(factor_is(INFINITY, INT32_MAX, 62) && factor_is(NAN, 0, 0) &&
	   factor_is(ldexp(1, 100), INT32_MAX, 62) && factor_is(-1.0, 0, 0) &&
	   factor_is(DBL_TRUE_MIN, 0, 0), "factors that are no use");
}

/* Of fractions with all kinds of last bits, near powers of 2 and near halves of a unit of the result, too. */
static void test_factors_of_fractions(void)
{
	static const double steps[] = { 0, 0x1p-52, 0x1p-32, 0x1p-31, 0x1p-30, 1 - 0x1p-32, 1 - 0x1p-53 };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < 100000; i++) {
		double fraction = (1 + (i * 2654435761u) * 0x1p-32 + steps[i % (sizeof(steps) / sizeof(*steps))]) / 2;
		int exponent = (int)(i / 7 % 110) - 40, shift;
		int64_t mult = (int64_t)round(frexp(ldexp(fraction, exponent), &shift) * 0x1p31);

		if (mult == 1ll << 31) {
			mult /= 2;
			shift++;
		}
		if (shift < -31)
			wrong += !factor_is(ldexp(fraction, exponent), 0, 0);
		else if (shift > 62)
			wrong += !factor_is(ldexp(fraction, exponent), INT32_MAX, 62);
		else
			wrong += !factor_is(ldexp(fraction, exponent), (int32_t)mult, shift);
	}
	ok(!wrong, "factors of fractions are rounded, halves up: %u differ", wrong);
}

static void test_rounding(void)
{
	/* 3 / 2 and -3 / 2: halves go up in the multiplication, away from zero in the shift. */
	ok(q_mul_high(3, 1 << 30) == 2 && q_mul_high(-3, 1 << 30) == -1 &&
	   q_mul_high(1, 1 << 30) == 1 && q_mul_high(-1, 1 << 30) == 0,
	   "products round halves up");
	ok(q_shift_right(3, 1) == 2 && q_shift_right(-3, 1) == -2 && q_shift_right(-5, 2) == -1 &&
	   q_shift_right(-6, 2) == -2 && q_shift_right(6, 2) == 2 && q_shift_right(5, 2) == 1,
	   "shifts round halves away from zero");
	ok(q_shift_right(INT32_MIN, 31) == -1 && q_shift_right(INT32_MAX, 31) == 1 &&
	   q_shift_right(INT32_MIN, 0) == INT32_MIN && q_shift_right(1 << 29, 31) == 0,
	   "shifts at the ends of the range");
	ok(q_shift_left(1, 40) == INT32_MAX && q_shift_left(-1, 40) == INT32_MIN &&
	   q_shift_left(-3, 4) == -48 && q_shift_left(0, 62) == 0 &&
	   q_shift_left(1 << 30, 1) == INT32_MAX, "left shifts saturate");
	/* 5 * 0.3 = 1.5 after two roundings: 5 * 0.6 = 3.0000000001 -> 3, 3 / 2 -> 2. */
	ok(q_scale(5, qfactor_from(0.3)) == 2 && q_scale(-5, qfactor_from(0.3)) == -2,
	   "two roundings");
	ok(q_scale(7, qfactor_from(3.0)) == 21 &&
	   q_scale(INT32_MAX, qfactor_from(8.0)) == 1 << 30,
	   "factors above one");
}

static void test_half(void)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < 65536; i++) {
		float v = half_to_float((uint16_t)i);
		bool nan = (i & 0x7fff) > 0x7c00;

		wrong += nan ? !isnan(v) : float_to_half(v) != i;
	}
	ok(wrong == 0, "every half precision number goes to single precision and back");
	ok(half_to_float(0x3c00) == 1.0f && half_to_float(0x0001) == ldexpf(1, -24) &&
	   half_to_float(0xfbff) == -65504.0f && isinf(half_to_float(0x7c00)),
	   "half precision numbers");
	ok(float_to_half(1.0f + ldexpf(1, -11)) == 0x3c00 &&
	   float_to_half(1.0f + ldexpf(3, -11)) == 0x3c02 &&
	   float_to_half(1.0f + ldexpf(1, -11) + ldexpf(1, -20)) == 0x3c01 &&
	   float_to_half(ldexpf(1, -25)) == 0 && float_to_half(ldexpf(3, -25)) == 2 &&
	   float_to_half(ldexpf(2047, -25)) == 0x0400, "halves round to even");
	ok(float_to_half(65519.99f) == 0x7bff && float_to_half(65520.0f) == 0x7c00 &&
	   float_to_half(-1e30f) == 0xfc00 && float_to_half(NAN) == 0x7e00,
	   "the end of the range of half precision");
}

static void test_widening(void)
{
	struct fixture f;

	/* 2048 + 1 is no half precision number, 2048 + 2 is. */
	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, F16, 0, 0, DIMS(2), (uint16_t[]){ 0x6800, 0x3c00 });
	fixture_input(&f, F16, 0, 0, DIMS(1), (uint16_t[]){ 0x3c00 });
	fixture_i32(&f, 0);
	fixture_output(&f, F16, 0, 0);
	EXPECT_RESULT(&f, "ADD: half precision", DIMS(2), (uint16_t[]){ 0x6800, 0x4000 });
	fixture_end(&f);

	/* The sum of the products is rounded once: 2048 + 1 + 1. */
	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, F16, 0, 0, DIMS(1, 3), (uint16_t[]){ 0x6800, 0x3c00, 0x3c00 });
	fixture_const(&f, F16, 0, 0, DIMS(1, 3), (uint16_t[]){ 0x3c00, 0x3c00, 0x3c00 });
	fixture_const(&f, F16, 0, 0, DIMS(1), (uint16_t[]){ 0 });
	fixture_i32(&f, 0);
	fixture_output(&f, F16, 0, 0);
	EXPECT_RESULT(&f, "FULLY_CONNECTED: half precision", DIMS(1, 1), (uint16_t[]){ 0x6801 });
	fixture_end(&f);
}

static double from_q31(int32_t v)
{
	return ldexp(v, -31);
}

static void test_fixed_point(void)
{
	double worst[4] = { 0 };

	for (int64_t i = -(1ll << 30); i <= 0; i += 99991) {
		double x = ldexp((double)i, -26);

		worst[0] = larger_difference(worst[0],
					     fabs(from_q31(fp_exp_q5((int32_t)i)) - exp(x)));
	}
	for (int64_t i = 0; i < 1ll << 31; i += 99991)
		worst[1] = larger_difference(worst[1],
					     fabs(from_q31(fp_reciprocal_of_one_plus((int32_t)i)) -
						  1 / (1 + ldexp((double)i, -31))));
	for (int64_t i = -(1ll << 30); i <= 1ll << 30; i += 99991) {
		double x = ldexp((double)i, -27);

		worst[2] = larger_difference(worst[2],
					     fabs(from_q31(fp_logistic_q4((int32_t)i)) -
						  1 / (1 + exp(-x))));
		worst[3] = larger_difference(worst[3],
					     fabs(from_q31(fp_tanh_q4((int32_t)i)) - tanh(x)));
	}
	tap_note("largest errors: exp %g, reciprocal %g, logistic %g, tanh %g", worst[0], worst[1],
		 worst[2], worst[3]);
	/*
	 * The limits are little more than the errors of the arithmetic that
	 * Documentation/operations/ defines: 2.3e-7, 3.2e-9, 6.9e-8 and 1.4e-7.
	 */
	ok(is_within(worst[0], 3e-7), "fixed-point exponential");
	ok(is_within(worst[1], 5e-9), "fixed-point reciprocal");
	ok(is_within(worst[2], 1e-7), "fixed-point logistic function");
	ok(is_within(worst[3], 2e-7), "fixed-point hyperbolic tangent");
	ok(fp_exp_q5(0) == INT32_MAX && fp_logistic_q4(0) == 1 << 30 && fp_tanh_q4(0) == 0,
	   "fixed-point functions at zero");
}

static void test_add(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, F32, 0, 0, DIMS(2, 1, 2), (float[]){ 1, 2, 3, 4 });
	fixture_input(&f, F32, 0, 0, DIMS(3, 1), (float[]){ 10, -20, 30 });
	fixture_i32(&f, 1);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "ADD: float, broadcast both ways, RELU", DIMS(2, 3, 2),
		      (float[]){ 11, 12, 0, 0, 31, 32, 13, 14, 0, 0, 33, 34 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, U8, 1.0f, 0, DIMS(3), (uint8_t[]){ 1, 2, 255 });
	fixture_input(&f, U8, 2.0f, 0, DIMS(3), (uint8_t[]){ 3, 4, 255 });
	fixture_i32(&f, 0);
	fixture_output(&f, U8, 1.0f, 10);
	EXPECT_RESULT(&f, "ADD: quantized, three scales", DIMS(3), (uint8_t[]){ 17, 20, 255 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, S8, 0.5f, -1, DIMS(4), (int8_t[]){ -128, -1, 0, 127 });
	fixture_input(&f, S8, 0.5f, 1, DIMS(1), (int8_t[]){ 3 });
	fixture_i32(&f, 3);
	fixture_output(&f, S8, 0.5f, 0);
	EXPECT_RESULT(&f, "ADD: signed, RELU6", DIMS(4), (int8_t[]){ 0, 2, 3, 12 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, I32, 0, 0, DIMS(3), (int32_t[]){ 1, INT32_MAX, INT32_MIN });
	fixture_input(&f, I32, 0, 0, DIMS(3), (int32_t[]){ 2, 1, -1 });
	fixture_i32(&f, 0);
	fixture_output(&f, I32, 0, 0);
	EXPECT_RESULT(&f, "ADD: integers wrap around", DIMS(3),
		      (int32_t[]){ 3, INT32_MIN, INT32_MAX });
	fixture_end(&f);
}

static void test_mul(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_MUL);
	fixture_input(&f, F32, 0, 0, DIMS(1, 4), (float[]){ -3, 0.5f, 2, 1e30f });
	fixture_input(&f, F32, 0, 0, DIMS(1), (float[]){ 1e10f });
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "MUL: float results stay finite", DIMS(1, 4),
		      (float[]){ -3e10f, 5e9f, 2e10f, FLT_MAX });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_MUL);
	fixture_input(&f, U8, 0.5f, 10, DIMS(3), (uint8_t[]){ 10, 12, 4 });
	fixture_input(&f, U8, 0.25f, 0, DIMS(3), (uint8_t[]){ 9, 6, 8 });
	fixture_i32(&f, 0);
	fixture_output(&f, U8, 0.5f, 100);
	/* 12 - 10 = 2, times 6 = 12, times 0.125 / 0.5 = 3; -6 * 8 / 4 = -12. */
	EXPECT_RESULT(&f, "MUL: quantized", DIMS(3), (uint8_t[]){ 100, 103, 88 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_MUL);
	fixture_input(&f, I32, 0, 0, DIMS(2), (int32_t[]){ -3, 65536 });
	fixture_input(&f, I32, 0, 0, DIMS(2), (int32_t[]){ 5, 65537 });
	fixture_i32(&f, 0);
	fixture_output(&f, I32, 0, 0);
	EXPECT_RESULT(&f, "MUL: integers wrap around", DIMS(2), (int32_t[]){ -15, 65536 });
	fixture_end(&f);
}

static void test_conv2d(void)
{
	static const float scales[] = { 0.25f, 0.5f };
	struct fixture f;

	fixture_init(&f, NNPU_OP_CONV_2D);
	fixture_input(&f, F32, 0, 0, DIMS(1, 3, 3, 1), (float[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9 });
	fixture_const(&f, F32, 0, 0, DIMS(1, 2, 2, 1), (float[]){ 1, 10, 100, 1000 });
	fixture_const(&f, F32, 0, 0, DIMS(1), (float[]){ 0.5f });
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "CONV_2D: float, SAME pads at the end first", DIMS(1, 3, 3, 1),
		      (float[]){ 5421.5f, 6532.5f, 603.5f, 8754.5f, 9865.5f, 906.5f, 87.5f, 98.5f,
				 9.5f });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_CONV_2D);
	fixture_input(&f, S8, 0.5f, 2, DIMS(1, 1, 2, 2), (int8_t[]){ 4, 6, 2, -2 });
	fixture_const(&f, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0, DIMS(2, 1, 1, 2),
		      (int8_t[]){ 1, 2, 3, -4 });
	fixture_channel_scales(&f, 0, scales);
	fixture_const(&f, I32, 0, 0, DIMS(2), (int32_t[]){ 6, -4 });
	fixture_i32(&f, 0);
	fixture_i32(&f, 0);
	fixture_i32(&f, 0);
	fixture_i32(&f, 0);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	fixture_output(&f, S8, 1.0f, -1);
	/*
	 * Pixel 0: x = 2, 4. Channel 0: 6 + 2 + 8 = 16, times 0.125 = 2, minus 1.
	 * Channel 1: -4 + 6 - 16 = -14, times 0.25 = -3.5: -14 / 2 = -7 and then
	 * -7 / 2 away from zero = -4, minus 1. Pixel 1: x = 0, -4. 6 - 8 = -2, times
	 * 0.125 = -0.25 -> 0; -4 + 16 = 12, times 0.25 = 3.
	 */
	EXPECT_RESULT(&f, "CONV_2D: one scale per channel, explicit padding", DIMS(1, 1, 2, 2),
		      (int8_t[]){ 1, -5, -1, 2 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_CONV_2D);
	fixture_input(&f, U8, 1.0f, 100, DIMS(1, 1, 3, 3),
		      (uint8_t[]){ 101, 102, 103, 104, 105, 106, 107, 108, 109 });
	fixture_const(&f, U8, 1.0f, 128, DIMS(1, 2, 2, 1), (uint8_t[]){ 129, 128, 128, 130 });
	fixture_const(&f, I32, 1.0f, 0, DIMS(1), (int32_t[]){ 1000 });
	fixture_i32(&f, 2);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	fixture_bool(&f, true);
	fixture_i32(&f, 2);
	fixture_i32(&f, 2);
	fixture_output(&f, U8, 8.0f, 0);
	/* 1000 + 1 * 1 + 9 * 2 = 1019; half of it 509.5 -> 510, a quarter of that 127.5 -> 128. */
	EXPECT_RESULT(&f, "CONV_2D: channels first, dilation, unsigned filter", DIMS(1, 1, 1, 1),
		      (uint8_t[]){ 128 });
	fixture_end(&f);
}

static void test_depthwise(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_DEPTHWISE_CONV_2D);
	fixture_input(&f, F32, 0, 0, DIMS(1, 2, 1, 2), (float[]){ 1, 2, 3, 4 });
	fixture_const(&f, F32, 0, 0, DIMS(1, 2, 1, 4), (float[]){ 1, 2, 3, 4, 10, 20, 30, 40 });
	fixture_const(&f, F32, 0, 0, DIMS(4), (float[]){ 0, 100, -1000, 0 });
	fixture_i32(&f, 2);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 2);
	fixture_i32(&f, 1);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "DEPTHWISE_CONV_2D: float, multiplier 2", DIMS(1, 1, 1, 4),
		      (float[]){ 31, 162, 0, 168 });
	fixture_end(&f);
}

static void test_fully_connected(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, F32, 0, 0, DIMS(2, 1, 2), (float[]){ 1, 2, 3, 4 });
	fixture_const(&f, F32, 0, 0, DIMS(3, 2), (float[]){ 1, 0, 0, 1, 1, -1 });
	fixture_const(&f, F32, 0, 0, DIMS(3), (float[]){ 0, 1, 0 });
	fixture_i32(&f, 2);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "FULLY_CONNECTED: float, input of rank 3, RELU1", DIMS(2, 3),
		      (float[]){ 1, 1, -1, 1, 1, -1 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, S8, 0.5f, 0, DIMS(1, 3), (int8_t[]){ 10, -20, 30 });
	fixture_const(&f, S8, 0.5f, 0, DIMS(2, 3), (int8_t[]){ 1, 1, 1, -4, 0, 4 });
	fixture_const(&f, I32, 0.25f, 0, DIMS(2), (int32_t[]){ 4, 0 });
	fixture_i32(&f, 0);
	fixture_output(&f, S8, 1.0f, 5);
	EXPECT_RESULT(&f, "FULLY_CONNECTED: signed", DIMS(1, 2), (int8_t[]){ 11, 25 });
	fixture_end(&f);
}

static void test_pools(void)
{
	struct fixture f;

	for (int max = 0; max < 2; max++) {
		fixture_init(&f, max ? NNPU_OP_MAX_POOL_2D : NNPU_OP_AVERAGE_POOL_2D);
		fixture_input(&f, S8, 1.0f, 7, DIMS(1, 2, 3, 1),
			      (int8_t[]){ 1, -2, -3, -4, 0, -4 });
		fixture_i32(&f, 1);
		fixture_i32(&f, 2);
		fixture_i32(&f, 2);
		fixture_i32(&f, 2);
		fixture_i32(&f, 2);
		fixture_i32(&f, 0);
		fixture_output(&f, S8, 1.0f, 7);
		/* Averages: -5 / 4 = -1.25, and of two inside: -7 / 2 = -3.5 -> -4. */
		EXPECT_RESULT(&f, max ? "MAX_POOL_2D: signed, padding takes no part" :
			      "AVERAGE_POOL_2D: signed, divides by what is inside",
			      DIMS(1, 1, 2, 1), max ? (int8_t[]){ 1, -3 } : (int8_t[]){ -1, -4 });
		fixture_end(&f);
	}

	fixture_init(&f, NNPU_OP_AVERAGE_POOL_2D);
	fixture_input(&f, F32, 0, 0, DIMS(1, 1, 2, 2), (float[]){ 1, 2, 3, 5 });
	for (int i = 0; i < 4; i++)
		fixture_i32(&f, 0);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 2);
	fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	fixture_bool(&f, true);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "AVERAGE_POOL_2D: float, channels first", DIMS(1, 1, 2, 1),
		      (float[]){ 1.5f, 4 });
	fixture_end(&f);
}

static void test_reshape(void)
{
	struct fixture f;

	for (int unfixed = 0; unfixed < 2; unfixed++) {
		fixture_init(&f, NNPU_OP_RESHAPE);
		fixture_input(&f, U8, 1, 3, DIMS(2, 3), (uint8_t[]){ 1, 2, 3, 4, 5, 6 });
		fixture_const(&f, I32, 0, 0, DIMS(3), (int32_t[]){ 1, -1, 2 });
		fixture_output(&f, U8, 1, 3);
		if (unfixed)
			fixture_unfix(&f);
		EXPECT_RESULT(&f, unfixed ? "RESHAPE: shape as input" : "RESHAPE: -1 is filled in",
			      DIMS(1, 3, 2), (uint8_t[]){ 1, 2, 3, 4, 5, 6 });
		fixture_end(&f);
	}
}

/* Elements far below the others change nothing, however long they make the row, along either axis. */
static void long_softmax(enum nnpu_type type, uint8_t *values)
{
	enum { SOME = 300, MORE = 1000 };
	uint8_t flip = type == U8 ? 0 : 0x80, expected[SOME];
	uint32_t wrong = 0, shapes[][2] = { { 1, SOME }, { 1, MORE }, { MORE, 1 } };

	for (unsigned int i = 0; i < MORE; i++)
		values[i] = (uint8_t)(i < SOME ? 180 + i * i % 71 : 0) ^ flip;
	/* Once, at an odd place, and at an even one. */
	values[1] = 251 ^ flip;
	values[8] = 252 ^ flip;
	for (unsigned int i = 0; i < 3; i++) {
		struct fixture f;

		fixture_init(&f, NNPU_OP_SOFTMAX);
		fixture_input(&f, type, 0.3f, 7, 2, shapes[i], values);
		fixture_f32(&f, 1.0f);
		fixture_i32(&f, i == 2 ? 0 : 1);
		fixture_output(&f, type, 1.0f / 256, type == U8 ? 0 : -128);
		if (fixture_run(&f))
			wrong++;
		else if (!i)
			memcpy(expected, fixture_result(&f)->data, SOME);
		else
			wrong += !!memcmp(expected, fixture_result(&f)->data, SOME);
		fixture_end(&f);
	}
	ok(!wrong && memchr(expected, 2 ^ flip, SOME), "SOFTMAX: long rows, %s",
	   type == U8 ? "unsigned" : "signed");
}

static void test_softmax(void)
{
	uint8_t *many = malloc(20000), *none = calloc(20000, 1);
	struct fixture f;

	fixture_init(&f, NNPU_OP_SOFTMAX);
	fixture_input(&f, U8, 1.0f, 0, DIMS(2, 2), (uint8_t[]){ 10, 10, 0, 255 });
	fixture_f32(&f, 1.0f);
	fixture_output(&f, U8, 1.0f / 256, 0);
	EXPECT_RESULT(&f, "SOFTMAX: equal and far apart", DIMS(2, 2),
		      (uint8_t[]){ 128, 128, 0, 255 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_SOFTMAX);
	/* e^0 : e^-1 along the first axis is 0.731 : 0.269, times 256 = 187.2 : 68.8. */
	fixture_input(&f, S8, 0.5f, 3, DIMS(2, 2), (int8_t[]){ -128, 5, -126, 3 });
	fixture_f32(&f, 1.0f);
	fixture_i32(&f, -2);
	fixture_output(&f, S8, 1.0f / 256, -128);
	EXPECT_RESULT(&f, "SOFTMAX: signed, along the first axis", DIMS(2, 2),
		      (int8_t[]){ 69 - 128, 187 - 128, 187 - 128, 69 - 128 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_SOFTMAX);
	fixture_input(&f, F32, 0, 0, DIMS(1, 2), (float[]){ 1000, 1000 });
	fixture_f32(&f, 2.0f);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "SOFTMAX: float does not overflow", DIMS(1, 2), (float[]){ 0.5f, 0.5f });
	fixture_end(&f);

	/* More equal elements than the sum has room for: each share rounds to zero. */
	memset(many, 200, 20000);
	fixture_init(&f, NNPU_OP_SOFTMAX);
	fixture_input(&f, U8, 0.1f, 0, DIMS(1, 20000), many);
	fixture_f32(&f, 1.0f);
	fixture_output(&f, U8, 1.0f / 256, 0);
	EXPECT_RESULT(&f, "SOFTMAX: 20000 equal elements", DIMS(1, 20000), none);
	fixture_end(&f);

	long_softmax(U8, many);
	long_softmax(S8, many);
	free(many);
	free(none);
}

/* More elements than lie between two points, and a point inside of the channels. */
static void test_last_channels(void)
{
	static const float scales[] = { 0.5f, 2.0f, 0.25f };
	enum { ROWS = 6000, CHANNELS = 3 };
	int8_t *in = malloc(ROWS * CHANNELS);
	float *expected = malloc(ROWS * CHANNELS * sizeof(*expected));
	struct fixture f;

	for (int i = 0; i < ROWS * CHANNELS; i++) {
		in[i] = (int8_t)(i * 7 % 255 - 127);
		expected[i] = scales[i % CHANNELS] * (float)in[i];
	}
	fixture_init(&f, NNPU_OP_DEQUANTIZE);
	fixture_const(&f, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0, DIMS(1, ROWS, CHANNELS), in);
	fixture_channel_scales(&f, 2, scales);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "DEQUANTIZE: one scale per last channel", DIMS(1, ROWS, CHANNELS), expected);
	fixture_end(&f);
	free(expected);
	free(in);
}

static void test_conversions(void)
{
	static const float scales[] = { 0.5f, 2.0f };
	struct fixture f;

	fixture_init(&f, NNPU_OP_DEQUANTIZE);
	fixture_input(&f, U8, 0.5f, 128, DIMS(3), (uint8_t[]){ 0, 128, 255 });
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "DEQUANTIZE: unsigned", DIMS(3), (float[]){ -64, 0, 63.5f });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_DEQUANTIZE);
	fixture_const(&f, NNPU_TYPE_TENSOR_QUANT8_SYMM, 0.25f, 0, DIMS(2), (int8_t[]){ -128, 3 });
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "DEQUANTIZE: symmetric", DIMS(2), (float[]){ -32, 0.75f });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_DEQUANTIZE);
	fixture_const(&f, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0, DIMS(2, 2, 2),
		      (int8_t[]){ 1, 2, 3, 4, -5, -6, -7, -8 });
	fixture_channel_scales(&f, 1, scales);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "DEQUANTIZE: one scale per channel", DIMS(2, 2, 2),
		      (float[]){ 0.5f, 1, 6, 8, -2.5f, -3, -14, -16 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_QUANTIZE);
	fixture_input(&f, F32, 0, 0, DIMS(7), (float[]){ 0.25f, -0.25f, 1e30f, -INFINITY, NAN,
							 0.24f, 0.75f });
	fixture_output(&f, S8, 0.5f, 10);
	EXPECT_RESULT(&f, "QUANTIZE: halves away from zero, limits, NaN", DIMS(7),
		      (int8_t[]){ 11, 9, 127, -128, 10, 10, 12 });
	fixture_end(&f);
}

static void test_activations(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_RELU6);
	fixture_input(&f, F32, 0, 0, DIMS(4), (float[]){ -1, 3, 7, INFINITY });
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "RELU6: float", DIMS(4), (float[]){ 0, 3, 6, 6 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RELU1);
	fixture_input(&f, U8, 0.1f, 100, DIMS(4), (uint8_t[]){ 0, 95, 108, 255 });
	fixture_output(&f, U8, 0.1f, 100);
	EXPECT_RESULT(&f, "RELU1: unsigned", DIMS(4), (uint8_t[]){ 90, 95, 108, 110 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RELU);
	fixture_input(&f, S8, 0.1f, -5, DIMS(3), (int8_t[]){ -128, -5, 127 });
	fixture_output(&f, S8, 0.1f, -5);
	EXPECT_RESULT(&f, "RELU: signed", DIMS(3), (int8_t[]){ -5, -5, 127 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_LOGISTIC);
	/* 256 / (1 + e^-x): x = 0 -> 128, 1 -> 187.15, -1 -> 68.85, 64 -> 256. */
	fixture_input(&f, S8, 0.5f, 0, DIMS(5), (int8_t[]){ 0, 2, -2, 127, -128 });
	fixture_output(&f, S8, 1.0f / 256, -128);
	EXPECT_RESULT(&f, "LOGISTIC: signed", DIMS(5), (int8_t[]){ 0, 59, -59, 127, -128 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_TANH);
	/* 128 tanh(x): x = 1 -> 97.48, -1 -> -97.48. */
	fixture_input(&f, U8, 0.25f, 128, DIMS(5), (uint8_t[]){ 128, 132, 124, 255, 0 });
	fixture_output(&f, U8, 1.0f / 128, 128);
	EXPECT_RESULT(&f, "TANH: unsigned", DIMS(5), (uint8_t[]){ 128, 225, 31, 255, 0 });
	fixture_end(&f);

	/* Steps beyond the range of the fixed-point functions: only zero is not at an end. */
	fixture_init(&f, NNPU_OP_TANH);
	fixture_input(&f, U8, 12.78f, 3, DIMS(4), (uint8_t[]){ 3, 4, 2, 255 });
	fixture_output(&f, U8, 1.0f / 128, 128);
	EXPECT_RESULT(&f, "TANH: zero among large steps", DIMS(4), (uint8_t[]){ 128, 255, 0, 255 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_LOGISTIC);
	fixture_input(&f, S8, 8.0f, 0, DIMS(3), (int8_t[]){ 0, 1, -1 });
	fixture_output(&f, S8, 1.0f / 256, -128);
	EXPECT_RESULT(&f, "LOGISTIC: zero among large steps", DIMS(3), (int8_t[]){ 0, 127, -128 });
	fixture_end(&f);
}

static void test_concatenation(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_CONCATENATION);
	fixture_input(&f, U8, 0.5f, 0, DIMS(2, 1), (uint8_t[]){ 10, 20 });
	fixture_input(&f, U8, 1.0f, 5, DIMS(2, 2), (uint8_t[]){ 5, 6, 0, 255 });
	fixture_i32(&f, 1);
	fixture_output(&f, U8, 0.5f, 0);
	EXPECT_RESULT(&f, "CONCATENATION: requantizes", DIMS(2, 3),
		      (uint8_t[]){ 10, 0, 2, 20, 0, 255 });
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_CONCATENATION);
	fixture_input(&f, NNPU_TYPE_TENSOR_FLOAT16, 0, 0, DIMS(1, 2), (uint16_t[]){ 1, 2 });
	fixture_input(&f, NNPU_TYPE_TENSOR_FLOAT16, 0, 0, DIMS(2, 2), (uint16_t[]){ 3, 4, 5, 6 });
	fixture_i32(&f, 0);
	fixture_output(&f, NNPU_TYPE_TENSOR_FLOAT16, 0, 0);
	EXPECT_RESULT(&f, "CONCATENATION: copies", DIMS(3, 2), (uint16_t[]){ 1, 2, 3, 4, 5, 6 });
	fixture_end(&f);
}

static void test_zero_batch(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_CONV_2D);
	fixture_input(&f, U8, 1, 0, DIMS(0, 2, 2, 1), "");
	fixture_const(&f, U8, 1, 0, DIMS(1, 1, 1, 1), "x");
	fixture_const(&f, I32, 1, 0, DIMS(1), (int32_t[]){ 0 });
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	fixture_output(&f, U8, 2, 0);
	EXPECT_RESULT(&f, "CONV_2D: no images", DIMS(0, 2, 2, 1), "");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, F32, 0, 0, DIMS(0, 4), "");
	fixture_const(&f, F32, 0, 0, DIMS(1, 4), (float[]){ 1, 2, 3, 4 });
	fixture_const(&f, F32, 0, 0, DIMS(1), (float[]){ 1 });
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "FULLY_CONNECTED: no rows", DIMS(0, 1), "");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_AVERAGE_POOL_2D);
	fixture_input(&f, F32, 0, 0, DIMS(0, 4, 4, 3), "");
	fixture_i32(&f, 2);
	for (int i = 0; i < 4; i++)
		fixture_i32(&f, 2);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "AVERAGE_POOL_2D: no images", DIMS(0, 2, 2, 3), "");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, F32, 0, 0, DIMS(0, 2), "");
	fixture_input(&f, F32, 0, 0, DIMS(1, 2), (float[]){ 1, 2 });
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	EXPECT_RESULT(&f, "ADD: nothing and something", DIMS(0, 2), "");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_SOFTMAX);
	fixture_input(&f, U8, 1, 0, DIMS(0, 2), "");
	fixture_f32(&f, 1);
	fixture_output(&f, U8, 1.0f / 256, 0);
	EXPECT_RESULT(&f, "SOFTMAX: no rows", DIMS(0, 2), "");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_CONCATENATION);
	fixture_input(&f, U8, 1, 0, DIMS(0, 2), "");
	fixture_input(&f, U8, 1, 0, DIMS(2, 2), "abcd");
	fixture_i32(&f, 0);
	fixture_output(&f, U8, 1, 0);
	EXPECT_RESULT(&f, "CONCATENATION: nothing and something", DIMS(2, 2), "abcd");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RESHAPE);
	fixture_input(&f, U8, 1, 0, DIMS(0, 4), "");
	fixture_const(&f, I32, 0, 0, DIMS(2), (int32_t[]){ -1, 2 });
	fixture_output(&f, U8, 1, 0);
	EXPECT_RESULT(&f, "RESHAPE: nothing", DIMS(0, 2), "");
	fixture_end(&f);
}

static void test_abort(void)
{
	size_t n = 1 << 22;
	float *data = calloc(n, sizeof(*data));
	struct fixture f;

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, F32, 0, 0, DIMS((uint32_t)n), data);
	fixture_input(&f, F32, 0, 0, DIMS((uint32_t)n), data);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	graph_progress.count = 0;
	graph_progress.abort_after = 0;
	ok(fixture_run(&f) == 0 && graph_progress.count > 2, "long work reports progress");
	graph_progress.count = 0;
	graph_progress.abort_after = 2;
	ok(fixture_run(&f) == OP_ABORTED && graph_progress.count == 2, "long work can be ended");
	graph_progress.abort_after = 0;
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, F32, 0, 0, DIMS(4, 1 << 20), data);
	fixture_const(&f, F32, 0, 0, DIMS(2, 1 << 20), data);
	fixture_const(&f, F32, 0, 0, DIMS(2), data);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	graph_progress.count = 0;
	graph_progress.abort_after = 2;
	ok(fixture_run(&f) == OP_ABORTED, "one long row can be ended");
	graph_progress.abort_after = 0;
	fixture_end(&f);
	free(data);
}

int main(void)
{
	test_factors();
	test_factors_of_fractions();
	test_rounding();
	test_fixed_point();
	test_half();
	test_widening();
	test_add();
	test_mul();
	test_conv2d();
	test_depthwise();
	test_fully_connected();
	test_pools();
	test_reshape();
	test_softmax();
	test_conversions();
	test_last_channels();
	test_activations();
	test_concatenation();
	test_zero_batch();
	test_abort();
	return tap_done();
}
