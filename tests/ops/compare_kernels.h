/* SPDX-License-Identifier: MIT */
/*
 * A variant of the inner loops of kernels.h against the baseline, or against loops term by term. Each call
 * draws one set of inputs and returns how many results differ.
 */
#ifndef TESTS_COMPARE_KERNELS_H
#define TESTS_COMPARE_KERNELS_H

#include "../xorshift.h"
#include "kernels.h"

/* The most that is drawn. */
enum { MAX_ROWS = 14, MAX_PAIRS = 70, CHANNELS = 5 * KERNEL_COLS };

/* Mostly small, now and then large: sizes around the blocks of the kernels. */
static inline int pick_size(int small, int large)
{
	return pick(0, 4) ? pick(1, small) : pick(1, large);
}

/* Of integers: the same bytes. */
unsigned int compare_integers(const struct kernels *base, const struct kernels *k);

/* Of floats: the same sums, with one rounding for each term, or two if @k is the baseline. */
unsigned int compare_floats(const struct kernels *base, const struct kernels *k);

#endif /* TESTS_COMPARE_KERNELS_H */
