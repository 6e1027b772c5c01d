/* SPDX-License-Identifier: MIT */
/*
 * Shapes of tensors, at load time and while a job runs.
 */
#ifndef NNPU_EMU_TENSOR_SHAPE_H
#define NNPU_EMU_TENSOR_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "ops/pace.h"

/*
 * Set shape_known and bytes from rank and dims, where a dimension of 0 is empty. False:
 * more than @max_bytes.
 */
bool tensor_settle(struct tensor *t, uint64_t max_bytes);

/* Are two shapes equal in all dimensions that both know? */
bool shapes_compatible(const struct tensor *a, const struct tensor *b);

/*
 * Ask the operation for the shapes of its outputs; @saved gets what they were before. It has
 * points where there are many outputs, and goes on when the job or load is to end.
 * 0; 1 if it needs a value that is not there; -1 with call->error.
 */
int shapes_infer(const struct op_call *call, struct tensor *saved, uint64_t max_bytes,
		 struct op_pace *pace);

#endif /* NNPU_EMU_TENSOR_SHAPE_H */
