/* SPDX-License-Identifier: MIT */
/*
 * Copies between tensors that differ in strides. Most operations that only move data use
 * them.
 */
#ifndef NNPU_EMU_ND_COPY_H
#define NNPU_EMU_ND_COPY_H

#include <string.h>

#include "shape.h"

#define ND_MAX_RANK	(2 * NNPU_MAX_RANK)

/* One loop: @n steps of @in and @out elements. */
struct nd_dim {
	size_t n;
	ptrdiff_t in, out;
};

/*
 * Copy elements of @size bytes (1, 2, 4 or 8) in nested loops, @dims[0] outermost.
 * Loops may be of any number of steps, 0 included. Returns 0 or OP_ABORTED.
 */
int nd_copy(struct op_pace *pace, const void *in, void *out, size_t size,
	    const struct nd_dim *dims, unsigned int rank);

/* Element strides of a tensor without gaps. */
void nd_strides(const struct tensor *t, ptrdiff_t *strides);

/* Fill @n elements of @size bytes with the one at @value. 0 or OP_ABORTED. */
int nd_fill(struct op_pace *pace, void *out, size_t size, size_t n, const void *value);

/* Bytes that are copied between two looks at op_pace(). */
#define ND_MOVE_BYTES	(1u << 18)

/* nd_move() of more than ND_MOVE_BYTES. */
int nd_move_long(struct op_pace *pace, const void *in, void *out, size_t bytes);

/* Copy @bytes bytes, unless @in is @out. 0 or OP_ABORTED. */
static inline int nd_move(struct op_pace *pace, const void *in, void *out, size_t bytes)
{
	if (in == out || !bytes)
		return 0;
	if (bytes > ND_MOVE_BYTES)
		return nd_move_long(pace, in, out, bytes);
	memcpy(out, in, bytes);
	return op_pace(pace, bytes / 4 + 8) ? OP_ABORTED : 0;
}

/* nd_move_rows() of several rows. */
int nd_move_many(struct op_pace *pace, const void *in, ptrdiff_t in_step, void *out,
		 ptrdiff_t out_step, size_t bytes, size_t rows);

/*
 * Copy @rows rows of @bytes bytes each, which are @in_step and @out_step bytes apart and do not overlap. 0 or
 * OP_ABORTED.
 */
static inline int nd_move_rows(struct op_pace *pace, const void *in, ptrdiff_t in_step, void *out,
			       ptrdiff_t out_step, size_t bytes, size_t rows)
{
	return rows == 1 ? nd_move(pace, in, out, bytes) :
			   nd_move_many(pace, in, in_step, out, out_step, bytes, rows);
}

#endif /* NNPU_EMU_ND_COPY_H */
