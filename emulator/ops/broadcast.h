/* SPDX-License-Identifier: MIT */
/*
 * Operations on pairs of elements with broadcasting: dimensions are aligned at the last
 * one, and those of size 1 are repeated.
 */
#ifndef NNPU_EMU_BROADCAST_H
#define NNPU_EMU_BROADCAST_H

#include "shape.h"

/*
 * Compute @n outputs from elements of inputs 0 and 1, which have strides of 0 or 1. The same for
 * each of @rows, whose outputs follow one another: from a row to the next, inputs are @next_a and
 * @next_b elements apart.
 */
struct broadcast_run {
	const void *a, *b;
	size_t sa, sb;
	void *out;
	size_t n;
	size_t rows, next_a, next_b;
};

typedef void (*broadcast_fn)(const void *state, const struct broadcast_run *r);

/*
 * Call @fn for all elements of output 0, whose shape is that of op_infer_broadcast(), with one row
 * at a time. Returns 0 or OP_ABORTED.
 */
int op_broadcast(const struct op_call *c, broadcast_fn fn, const void *state);

/* The same if an element takes @units, as op_pace() counts, and not just a nanosecond or two. */
int op_broadcast_slow(const struct op_call *c, broadcast_fn fn, const void *state, unsigned int units);

/* As op_broadcast(), with any number of rows at a time. */
int op_broadcast_rows(const struct op_call *c, broadcast_fn fn, const void *state);

#endif /* NNPU_EMU_BROADCAST_H */
