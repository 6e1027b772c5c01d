/* SPDX-License-Identifier: MIT */
/*
 * Operations on pairs of elements with broadcasting: dimensions are aligned at the last
 * one, and those of size 1 are repeated.
 */
#ifndef NNPU_EMU_BROADCAST_H
#define NNPU_EMU_BROADCAST_H

#include "broadcast_run.h"
#include "shape.h"

/* Compute outputs; a and b are inputs 0 and 1. */
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
