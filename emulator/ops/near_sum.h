/* SPDX-License-Identifier: MIT */
/*
 * Sums of quantized numbers with one rounding.
 *
 * A sum of kernels.h is rounded five times. All of these but the last one are far below a step of the output, so
 * the result is nearly always that of
 *
 *	(a * byte of a + b * byte of b + add) >> down
 *
 * The bits that are shifted out tell how far it is from a result that is one more or less: if they are
 * below @unsure, which is twice what both sums may differ by, it takes the sum of kernels.h itself.
 * That is one of a thousand, or fewer.
 */
#ifndef NNPU_EMU_NEAR_SUM_H
#define NNPU_EMU_NEAR_SUM_H

#include "kernels.h"

struct near_sum {
	bool is_signed;			/* bytes of the inputs and of the output */
	int32_t a, b, add;
	unsigned int down;
	uint32_t unsure;
};

/* Is this sum within 32 bits, and rarely unsure? */
bool near_sum_of(const struct qsum *s, struct near_sum *near);

/* With fewer elements it is not worth it. */
#define NEAR_SUM_MIN	512u

/*
 * Scales with a simple ratio have sums of which many lie between two results, so are unsure all. So
 * many groups of elements may be summed again at first, and an eighth of them.
 */
#define NEAR_SUM_AGAIN	4u

#endif /* NNPU_EMU_NEAR_SUM_H */
