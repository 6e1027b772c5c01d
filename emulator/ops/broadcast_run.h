/* SPDX-License-Identifier: MIT */
/*
 * Rows of pairs of elements.
 */
#ifndef NNPU_EMU_BROADCAST_RUN_H
#define NNPU_EMU_BROADCAST_RUN_H

#include <stddef.h>

/*
 * @rows of @n outputs, which follow one another, from elements of inputs a and b. Within a row these have
 * strides of 1, or of 0 if one value is for all; that is so for one of the two at most, unless @n is 1.
 * From a row to the next, inputs are @next_a and @next_b elements apart.
 */
struct broadcast_run {
	const void *a, *b;
	size_t sa, sb;
	void *out;
	size_t n;
	size_t rows, next_a, next_b;
};

#endif /* NNPU_EMU_BROADCAST_RUN_H */
