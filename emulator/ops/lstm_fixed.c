// SPDX-License-Identifier: MIT
/*
 * 16-bit fixed-point functions of quantized LSTM operations.
 */
#include "lstm_fixed.h"

/* e^x for x in [-1/4, 0): the Taylor series of fourth order around -1/8. */
static int16_t exp_quarter(int16_t x)
{
	const int16_t exp_minus_eighth = 28918, third = 10923;
	int16_t y = (int16_t)(x + (1 << 12));
	int16_t y2 = fixed_product(y, y);
	int16_t y3 = fixed_product(y2, y);
	int16_t y4 = fixed_product(y2, y2);
	int16_t tail = fixed_product(fixed_limit(q_shift_right(y4, 2) + y3), third);

	tail = (int16_t)q_shift_right(fixed_limit(tail + y2), 1);
	return fixed_limit(exp_minus_eighth +
			   fixed_product(exp_minus_eighth, fixed_limit(y + tail)));
}

/* e^x for x <= 0: the part below a quarter by the series, the rest as a product. */
static int16_t exp_negative(int16_t x, int integer_bits)
{
	static const int16_t powers[] = { 25520, 19875, 12055, 4435, 600, 11, 0, 0, 0 };
	int fraction_bits = 15 - integer_bits;
	int32_t quarter = 1 << (fraction_bits - 2);
	int32_t low = (x & (quarter - 1)) - quarter;
	int16_t result = exp_quarter((int16_t)(low * (1 << integer_bits)));
	int32_t rest = low - x;

	for (int i = 0; i < integer_bits + 2; i++) {
		if (rest & (1 << (fraction_bits - 2 + i)))
			result = fixed_product(result, powers[i]);
	}
	return x == 0 ? INT16_MAX : result;
}

/* 2 / (1 + x) for x in [0, 1) in Q2.13, by Newton's iteration. */
static int16_t newton(int16_t x)
{
	const int16_t c48_17 = 23130, c32_17 = -15420;
	int16_t half = (int16_t)((x + INT16_MAX + 1) / 2);
	int16_t y = fixed_limit(c48_17 + fixed_product(half, c32_17));

	for (int i = 0; i < 3; i++) {
		int16_t error = fixed_limit((1 << 13) - fixed_product(half, y));

		y = fixed_limit(y + fixed_limit(fixed_product(y, error) * 4));
	}
	return y;
}

int16_t fixed_logistic(int16_t v)
{
	int16_t r;

	if (v == 0)
		return 1 << 14;
	r = fixed_limit(newton(exp_negative(v > 0 ? (int16_t)-v : v, 3)) * 2);
	return v > 0 ? r : (int16_t)(INT16_MAX - r);
}

int16_t fixed_tanh(int16_t v, int integer_bits)
{
	int16_t r;

	if (v == 0)
		return 0;
	/* The double of a number is the same bits with one more in front of the point. */
	r = newton(exp_negative(v > 0 ? (int16_t)-v : v, integer_bits + 1));
	r = fixed_limit((r - (1 << 13)) * 4);
	return v > 0 ? r : (int16_t)-r;
}
