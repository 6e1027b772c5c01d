// SPDX-License-Identifier: MIT
/*
 * Fixed-point functions of SOFTMAX, LOGISTIC and TANH.
 */
#include "fixedpoint.h"

#include "quant.h"

/* Product of two fractions, either may be negative; only (-1)^2 saturates. */
static int32_t mul(int32_t a, int32_t b)
{
	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

/*
 * e^x for x in [-1/4, 0) in Q0.31: the Taylor series of fourth order around -1/8,
 * evaluated as e^(-1/8) * (1 + y + (y^4/4 + y^3)/6 + y^2/2).
 */
static int32_t exp_quarter(int32_t x)
{
	const int32_t exp_minus_eighth = 1895147668;
	const int32_t third = 715827883;
	int32_t y = x + (1 << 28);
	int32_t y2 = mul(y, y);
	int32_t y3 = mul(y2, y);
	int32_t y4 = mul(y2, y2);
	int32_t tail = q_shift_right(mul(q_shift_right(y4, 2) + y3, third) + y2, 1);

	return exp_minus_eighth + mul(exp_minus_eighth, y + tail);
}

/*
 * e^x for x <= 0 with @integer_bits >= 4: the part below a quarter by the
 * series, the rest as a product of e^-(1/4), e^-(1/2), ... e^-16.
 */
static int32_t exp_negative(int32_t x, int integer_bits)
{
	static const int32_t powers[] = {
		1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242,
	};
	int fraction_bits = 31 - integer_bits;
	int32_t quarter = 1 << (fraction_bits - 2);
	int32_t low = (x & (quarter - 1)) - quarter, result;
	uint32_t rest = (uint32_t)(low - x) >> (fraction_bits - 2);

	/* As that of the largest element of each row. */
	if (x == 0)
		return INT32_MAX;
	result = exp_quarter((int32_t)((uint32_t)low << integer_bits));
	for (rest &= (4u << integer_bits) - 1; rest; rest &= rest - 1)
		result = mul(result, powers[__builtin_ctz(rest)]);
	return result;
}

int32_t fp_exp_q5(int32_t x)
{
	return exp_negative(x, 5);
}

/* 2 / (1 + x) in Q2.29: Newton's iteration for the reciprocal of (1 + x) / 2. */
static int32_t newton(int32_t x)
{
	const int32_t c48_17 = 1515870810, c32_17 = -1010580540;	/* Q2.29 */
	int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
	int32_t y = c48_17 + mul(half, c32_17);

	for (int i = 0; i < 3; i++)
		y += q_shift_left(mul(y, (1 << 29) - mul(half, y)), 2);
	return y;
}

int32_t fp_reciprocal_of_one_plus(int32_t x)
{
	/* Half of a Q2.29 number is the same bits as Q1.30. */
	return q_shift_left(newton(x), 1);
}

int32_t fp_logistic_q4(int32_t x)
{
	int32_t r;

	if (x == 0)
		return 1 << 30;
	r = fp_reciprocal_of_one_plus(exp_negative(x > 0 ? -x : x, 4));
	return x > 0 ? r : INT32_MAX - r;
}

int32_t fp_tanh_q4(int32_t x)
{
	int32_t e, r;

	if (x == 0)
		return 0;
	/* Twice a Q4.27 number is the same bits as Q5.26. */
	e = exp_negative(x > 0 ? -x : x, 5);
	r = q_shift_left(newton(e) - (1 << 29), 2);
	return x > 0 ? r : -r;
}

#define MOST_RADIUS	65536

int32_t fp_input_radius(int integer_bits, int left_shift)
{
	int64_t range = (1 << integer_bits) - 1;
	int up = 31 - integer_bits - left_shift;

	if (up > 16)
		return MOST_RADIUS;
	if (up < -31)
		return 0;
	range = up < 0 ? range >> -up : range << up;
	return range > MOST_RADIUS ? MOST_RADIUS : (int32_t)range;
}
