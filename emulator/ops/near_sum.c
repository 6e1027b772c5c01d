// SPDX-License-Identifier: MIT
#include <math.h>

#include "near_sum.h"

/* Bits behind the point; with fewer, too much would be unsure, or results not fit 16 bits. */
#define MOST_DOWN	24u
#define LEAST_DOWN	16u

/* The share of numbers that may be unsure. */
#define UNSURE		(1.0 / 1024)

bool near_sum_of(const struct qsum *s, struct near_sum *near)
{
	double out = ldexp(s->out.mult, s->out.shift - 31), steps[2], reach, one, error;
	int32_t min, max, bias[2], most[2];

	near->is_signed = s->byte[0].flip != 0;
	if (s->byte[0].flip != s->byte[1].flip)
		return false;
	min = near->is_signed ? INT8_MIN : 0;
	max = near->is_signed ? INT8_MAX : UINT8_MAX;
	if (s->range.min < min || s->range.max > max)
		return false;
	reach = fabs((double)s->zero_point) + 2;
	for (unsigned int i = 0; i < 2; i++) {
		/* Of a byte as it is. */
		bias[i] = s->byte[i].bias + (near->is_signed ? min : 0);
		most[i] = bias[i] - min > max - bias[i] ? bias[i] - min : max - bias[i];
		/* Of the output, for one of the input. */
		steps[i] = ldexp(s->factor[i].mult, s->factor[i].shift + s->left_shift - 31) * out;
		reach += steps[i] * most[i];
	}
	near->down = MOST_DOWN;
	while (near->down >= LEAST_DOWN && ldexp(reach, (int)near->down) >= 0x1p31)
		near->down--;
	if (near->down < LEAST_DOWN)
		return false;
	one = ldexp(1, (int)near->down);
	near->a = (int32_t)(steps[0] * one + 0.5);
	near->b = (int32_t)(steps[1] * one + 0.5);
	/*
	 * What factors were rounded by; each term of the other sum is rounded to a whole and a half
	 * at most, its product with the last factor to another half before the last shift; and some
	 * bits for what else was rounded here.
	 */
	error = fabs(steps[0] * one - near->a) * most[0] + fabs(steps[1] * one - near->b) * most[1];
	error = ceil(error + (3 * out + ldexp(0.5, s->out.shift)) * one) + 4;
	if (2 * error > UNSURE * one)
		return false;
	if (s->subtract)
		near->b = -near->b;
	near->add = (int32_t)(uint32_t)(int64_t)((s->zero_point + 0.5) * one + error -
						 (double)bias[0] * near->a - (double)bias[1] * near->b);
	near->unsure = (uint32_t)(2 * error);
	return true;
}
