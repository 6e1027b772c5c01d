// SPDX-License-Identifier: MIT
/*
 * The specified exponential function of the box operations: exact up to the rounding, and
 * the same bits on every host.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ops/real.h"
#include "tap.h"

static float of_bits(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static uint32_t bits_of(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Distance of @v from the exact value @exact, in units in the last place of @v. */
static double ulps(float v, long double exact)
{
	float next = nextafterf(v, INFINITY);

	return (double)(fabsl((long double)v - exact) / ((long double)next - v));
}

static void test_special(void)
{
	ok(isnan(real_exp(NAN)), "a NaN stays a NaN");
	ok(real_exp(INFINITY) == INFINITY && real_exp(129.0f) == INFINITY && real_exp(89.0f) == INFINITY,
	   "too large: infinite");
	ok(bits_of(real_exp(-INFINITY)) == 0 && bits_of(real_exp(-129.0f)) == 0 &&
	   bits_of(real_exp(-104.0f)) == 0, "too small: zero");
	ok(real_exp(0.0f) == 1.0f && real_exp(-0.0f) == 1.0f, "e^0 is 1");
	ok(bits_of(real_exp(1.0f)) == 0x402df854, "e");
	ok(bits_of(real_exp(-103.0f)) == 1, "the least number");
	ok(bits_of(real_exp(-87.5f)) == 0x006cb2bc, "a subnormal number");
}

/* Numbers of both signs up to +-128, a few hundred of each binade. */
static void test_sweep(void)
{
	double worst = 0;
	float last;
	uint64_t hash = 0xcbf29ce484222325u;
	bool ordered = true;
	unsigned int n = 0;

	last = -1.0f;
	for (uint32_t at = bits_of(128.0f); at > 16381; at -= 16381) {
		float x = -of_bits(at), v = real_exp(x);

		ordered &= v >= last;
		last = v;
		worst = fmax(worst, v > 0 ? ulps(v, expl(x)) : expl(x) / 0x1p-149L);
		hash = (hash ^ bits_of(v)) * 0x100000001b3u;
		n++;
	}
	for (uint32_t at = 16381; of_bits(at) < 88.7f; at += 16381) {
		float x = of_bits(at), v = real_exp(x);

		ordered &= v >= last;
		last = v;
		worst = fmax(worst, ulps(v, expl(x)));
		hash = (hash ^ bits_of(v)) * 0x100000001b3u;
		n++;
	}
	ok(n > 100000, "%u arguments", n);
	ok(worst < 0.5001, "at most half a unit in the last place off (%.6f)", worst);
	ok(ordered, "a larger argument never gives a smaller result");
	ok(hash == 0xf02fc8f972c77552u, "the bits of all of them, as the steps of the specification give them");
}

int main(void)
{
	test_special();
	test_sweep();
	return tap_done();
}
