// SPDX-License-Identifier: MIT
/*
 * Sums of quantized numbers by each variant of the kernels: of every two bytes, with random scales, zero
 * points and limits, against a loop as kernels.h and quant.h define them. Most scales are such that
 * near_sum.h is used; some have simple ratios, so that many sums lie between two results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "kernels.h"
#include "near_sum.h"

#define ROUNDS	60

enum { PAIRS = 256 * 256, LEFT_SHIFT = 20 };

static uint8_t a[PAIRS], b[PAIRS], expected[PAIRS], y[PAIRS];

/* As elementwise.c makes it of scales. */
static struct qsum pick_sum(void)
{
	static const double simple[] = { 0.25, 0.5, 1, 1.5, 2, 3 };
	bool is_signed = pick(0, 1), is_simple = pick(0, 4) == 0, wide = pick(0, 4) == 0;
	double scale[3], unit;
	struct qsum s = { .left_shift = LEFT_SHIFT, .subtract = pick(0, 1) };
	int32_t min = is_signed ? -128 : 0, max = min + 255;

	for (int i = 0; i < 3; i++)
		scale[i] = is_simple ? simple[pick(0, 5)] :
			   (float)exp((double)pick(-1000, 1000) * (wide ? 0.005 : 0.0012));
	unit = 2 * (scale[0] > scale[1] ? scale[0] : scale[1]);
	for (int i = 0; i < 2; i++) {
		s.byte[i].flip = is_signed ? 0x80 : 0;
		s.byte[i].bias = (int16_t)(pick(0, 2) ? pick(100, 156) : pick(0, 255));
		s.factor[i] = qfactor_from(scale[i] / unit);
	}
	s.out = qfactor_from(unit / ((double)(1 << LEFT_SHIFT) * scale[2]));
	s.zero_point = pick(min, max);
	s.range.min = pick(0, 2) ? min : pick(min, max);
	s.range.max = pick(0, 2) ? max : pick(s.range.min, max);
	return s;
}

static int32_t term_of(const struct qsum *s, int i, uint8_t byte)
{
	return q_scale(qbyte_value(byte, s->byte[i]) * (1 << LEFT_SHIFT), s->factor[i]);
}

static void sum_pairs(const struct qsum *s)
{
	int32_t terms[2][256];

	for (int i = 0; i < 2; i++) {
		for (int byte = 0; byte < 256; byte++)
			terms[i][byte] = term_of(s, i, (uint8_t)byte);
	}
	for (size_t i = 0; i < PAIRS; i++) {
		int32_t x = terms[0][a[i]], z = terms[1][b[i]];

		expected[i] = (uint8_t)q_clamp(q_add(q_scale(s->subtract ? x - z : x + z, s->out),
						     s->zero_point), s->range.min, s->range.max);
	}
}

/* Every pair once, in any order. */
static void shuffle_pairs(void)
{
	for (size_t i = 0; i < PAIRS; i++) {
		a[i] = (uint8_t)i;
		b[i] = (uint8_t)(i >> 8);
	}
	for (size_t i = PAIRS - 1; i; i--) {
		size_t k = next_random() % (i + 1);
		uint8_t x = a[i], z = b[i];

		a[i] = a[k];
		b[i] = b[k];
		a[k] = x;
		b[k] = z;
	}
}

int main(void)
{
	unsigned int bad[8] = { 0 }, near = 0, other = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct qsum s = pick_sum();
		struct near_sum unused;

		if (near_sum_of(&s, &unused))
			near++;
		else
			other++;
		shuffle_pairs();
		sum_pairs(&s);
		for (unsigned int v = 0; kernels_name(v); v++) {
			const struct kernels *k = kernels_variant(v);
			/* Now and then, what is left of the last group, and nothing behind it. */
			size_t n = PAIRS - (size_t)(pick(0, 1) ? pick(0, 100) : 0);

			if (!k || !k->qsum)
				continue;
			memset(y, 0xa5, sizeof(y));
			k->qsum(a, b, n, &s, y);
			bad[v] += memcmp(y, expected, n) != 0;
			for (size_t i = n; i < PAIRS; i++)
				bad[v] += y[i] != 0xa5;
		}
	}
	for (unsigned int v = 0; kernels_name(v); v++) {
		if (!kernels_variant(v))
			tap_skip("kernels: this CPU cannot run %s", kernels_name(v));
		else if (kernels_variant(v)->qsum)
			ok(!bad[v], "sums of all pairs of bytes, %s: %u of %d differ",
			   kernels_name(v), bad[v], ROUNDS);
	}
	ok(near > ROUNDS / 2 && other, "sums that are computed with one rounding, and others");
	return tap_done();
}
