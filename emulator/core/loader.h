/* SPDX-License-Identifier: MIT */
/*
 * A program that is being loaded, and the part of loading that is about control flow.
 */
#ifndef NNPU_EMU_LOADER_H
#define NNPU_EMU_LOADER_H

#include "program_load.h"
#include "ops/pace.h"

struct loader {
	struct load_request *request;
	struct nnpu_device *dev;
	const uint8_t *image;
	struct nnpu_program_header header;
	struct program *p;
	struct nnpu_tensor_desc *descs;
	uint32_t block;			/* of the current command */
	uint32_t *owner;		/* by tensor: number of the block that writes it, plus 1 */
	struct tensor **operands;	/* of the current command */
	uint32_t max_operands;
	struct tensor *saved;		/* its outputs as the image declares them */
	uint32_t max_saved;
	struct verdict *v;
	uint64_t work;			/* charged for the tables of the load itself */
	struct op_pace pace;
};

/* Between steps of loading: -1 with the verdict when the load is to end. */
static inline int load_pace(struct loader *l, size_t units)
{
	return op_pace(&l->pace, units) ? verdict_status(l->v, NNPU_STATUS_ABORTED) : 0;
}

/* control_flow.c. Functions that return int: 0, or -1 with the verdict. */

int control_find_blocks(struct loader *l);

/* Load a BRANCH, LOOP or BLOCK. Its operands are in l->operands. */
int control_load(struct loader *l, uint32_t index);

/* The current block ends before command @end. */
int control_end_block(struct loader *l, uint32_t end);

/* Check a BRANCH or LOOP again, once all shapes that loading finds are known. */
int control_recheck(struct loader *l, uint32_t index);

/*
 * Does the command pass only tensors of known shapes to its blocks and back? Then
 * *@scratch is what it needs of scratch memory.
 */
bool control_is_fixed(struct loader *l, const struct program_cmd *cmd, uint64_t *scratch);

#endif /* NNPU_EMU_LOADER_H */
