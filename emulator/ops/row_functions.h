/* SPDX-License-Identifier: MIT */
/*
 * Functions of the elements of a vector, which is overwritten: row_kernels_loops.h includes them. Every
 * variant does the same steps.
 */
#ifndef NNPU_EMU_ROW_FUNCTIONS_H
#define NNPU_EMU_ROW_FUNCTIONS_H

#include <stdint.h>

#include "row_sums.h"

typedef uint32_t row_bits __attribute__((vector_size(sizeof(row_vector)), aligned(4)));

/* Where @mask has ones, @v becomes @to, a vector or a value. */
#define ROW_SET(v, mask, to) do { \
	row_bits set_mask = (row_bits)(mask); \
	row_vector set_to = (to) - (row_vector){ 0 }; \
	\
	(v) = (row_vector)(((row_bits)set_to & set_mask) | ((row_bits)(v) & ~set_mask)); \
} while (0)

/* 2^k, -126 <= k <= 127. */
#define ROW_POWER_OF_2(k)	((row_vector)(((k) + 127u) << 23))

/* e^x is @p * 2^@n. */
struct row_split {
	row_vector p;
	row_bits n;
};

ROW_INLINE void row_split(const row_vector *x, struct row_split *s)
{
	/* A number that is added to this one is rounded to an integer, which is in the low bits. */
	const float round = 0x1.8p23f;
	/* ln 2 in two parts; the first has so few bits that its product with n is exact. */
	const float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
	row_vector shifted = *x * 0x1.715476p+0f + round, n = shifted - round;
	row_vector r = (*x - n * ln2_high) - n * ln2_low, square = r * r, low, high;

	/*
	 * 1 + r + r^2 P(r), |r| <= ln 2 / 2, where P is the polynomial nearest to what it stands for. Most
	 * steps do not wait for each other: a row may be as short as a vector.
	 */
	low = 0x1.fffffcp-2f + 0x1.555494p-3f * r;
	high = 0x1.55589ap-5f + 0x1.123778p-7f * r + 0x1.6a4efcp-10f * square;
	s->p = square * (low + square * high) + r + 1.0f;
	s->n = (row_bits)shifted - 0x4b400000u;
}

/*
 * e^x, with an error below 2 units in the last place; 0 and infinite beyond the range. A NaN
 * stays one.
 */
ROW_INLINE void row_exp(row_vector *v)
{
	struct row_split s;
	row_bits k, half;

	ROW_SET(*v, *v < -110.0f, -110.0f);
	ROW_SET(*v, *v > 90.0f, 90.0f);
	row_split(v, &s);
	/* Times 2^n in two steps, each of which is in range. The second one may round. */
	k = s.n + 512u;
	half = k / 2u;
	*v = s.p * ROW_POWER_OF_2(half - 256u) * ROW_POWER_OF_2(k - half - 256u);
}

/*
 * The same bits in fewer steps if no element is positive, but 0 for what is smaller than normal numbers
 * are, with which many CPUs are slow.
 */
ROW_INLINE void row_exp_of_negative(row_vector *v)
{
	/* That of the first number whose exponential is at least 2^-126. */
	row_bits small = (row_bits)(*v < -0x1.5d589ep+6f);
	struct row_split s;

	row_split(v, &s);
	*v = (row_vector)((row_bits)(s.p * ROW_POWER_OF_2(s.n)) & ~small);
}

ROW_INLINE void row_logistic(row_vector *v)
{
	*v = -*v;
	row_exp(v);
	*v = 1.0f / (1.0f + *v);
}

/* With an error below 4 units in the last place. */
ROW_INLINE void row_tanh(row_vector *v)
{
	row_vector x = *v, z = x * x, a = x, large, p;

	ROW_SET(a, x < 0.0f, -x);
	large = a + a;
	row_exp(&large);
	large = 1.0f - 2.0f / (large + 1.0f);
	/* x + x^3 P(x^2) up to 0.625, where P is the polynomial nearest to what it stands for. */
	p = 0x1.2c83cp-9f * z - 0x1.116a16p-7f;
	p = p * z + 0x1.64a976p-6f;
	p = p * z - 0x1.ba08c4p-5f;
	p = p * z + 0x1.1110eap-3f;
	p = p * z - 0x1.555556p-2f;
	p = x * z * p + x;
	ROW_SET(large, x < 0.0f, -large);
	ROW_SET(large, a < 0.625f, p);
	*v = large;
}

#endif /* NNPU_EMU_ROW_FUNCTIONS_H */
