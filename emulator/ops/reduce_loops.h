/* SPDX-License-Identifier: MIT */
/*
 * What reductions of the HAL and of org.nnpu.tflite share: which dimensions are reduced, the shape
 * that is left, and loops over either kind of dimensions.
 */
#ifndef NNPU_EMU_REDUCE_LOOPS_H
#define NNPU_EMU_REDUCE_LOOPS_H

#include "nd_copy.h"
#include "ops.h"

/* Loops over some dimensions of a tensor. Those without a gap between them are one. */
struct loops {
	struct nd_dim dims[NNPU_MAX_RANK];
	unsigned int rank;
	size_t total;
};

/* The dimensions that input 1 lists, one bit of @mask each. 0; 1 if not known; -1 with error. */
int reduced_dims(const struct op_call *c, unsigned int *mask);

/* The shape of output 0: those of @mask are left out, or have size 1 if @keep. */
void reduce_set_shape(const struct op_call *c, unsigned int mask, bool keep);

/* Loops over the dimensions that are not in @mask, and over those that are. */
void loops_over(const struct tensor *t, unsigned int mask, struct loops *kept, struct loops *reduced);

/*
 * What the jumps of the loops count for, with each of their steps, as op_pace() counts: those of the innermost loop
 * whose steps are at least a line of the cache apart. @size: bytes of an element.
 */
size_t loops_jump_units(const struct loops *l, size_t size);

/* Go on to the next element of the loops: update offset and indices. */
static inline void loops_step(const struct loops *l, size_t *index, ptrdiff_t *at)
{
	for (unsigned int d = l->rank; d-- > 0;) {
		*at += l->dims[d].in;
		if (++index[d] < l->dims[d].n)
			return;
		*at -= l->dims[d].in * (ptrdiff_t)l->dims[d].n;
		index[d] = 0;
	}
}

#endif /* NNPU_EMU_REDUCE_LOOPS_H */
