/* SPDX-License-Identifier: MIT */
/*
 * Random numbers that are the same in each run: xorshift64 of Marsaglia, "Xorshift RNGs" (2003). For one
 * thread.
 */
#ifndef TESTS_XORSHIFT_H
#define TESTS_XORSHIFT_H

#include <stdint.h>

static inline uint32_t next_random(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

/* Uniform in [@min, @max], but for the small bias of a remainder. */
static inline int pick(int min, int max)
{
	return min + (int)(next_random() % (unsigned int)(max - min + 1));
}

#endif /* TESTS_XORSHIFT_H */
