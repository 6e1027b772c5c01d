/* SPDX-License-Identifier: MIT */
/*
 * The peak of the instruction sets of this CPU: multiply-accumulates of one thread that only
 * multiplies what registers hold.
 */
#ifndef TESTS_BENCH_PEAK_H
#define TESTS_BENCH_PEAK_H

#include <stdbool.h>

struct peak {
	const char *name;		/* instruction set and instructions */
	bool is_float;			/* single precision; else bytes, or bytes widened to 16 bits */
	double gmacs;			/* 10^9 a second; 0: not measured */
};

/* Peak @i of those this program knows, measured by the first call. NULL after the last. */
const struct peak *peak_of(unsigned int i);

/* The highest one of its kind that this CPU has, or NULL. */
const struct peak *peak_best(bool is_float);

/*
 * The highest one with the instruction set of a variant of the kernels, which kernels_name() names,
 * or NULL.
 */
const struct peak *peak_of_isa(const char *isa, bool is_float);

/*
 * What a second thread of this machine is worth: how much more two threads multiply than one, if
 * they have nothing to do with each other. 2 for two cores of their own, little for two threads of a
 * core. 0: not measured.
 */
double peak_of_two(void);

#endif /* TESTS_BENCH_PEAK_H */
