/* SPDX-License-Identifier: MIT */
/*
 * The memory plan: tensors that do not live at the same time share memory.
 */
#ifndef NNPU_EMU_MEMORY_PLAN_H
#define NNPU_EMU_MEMORY_PLAN_H

#include <stdint.h>

struct op_pace;
struct program;

/* A place in memory for a tensor that lives from command @first to command @last. */
struct plan_item {
	uint64_t size;
	uint64_t live;			/* plan_place() uses it */
	uint64_t offset;
	uint32_t first;
	uint32_t last;
	uint32_t tensor;		/* or number of tensors + command, for its scratch memory */
};

/*
 * Sets the offsets. Returns the bytes needed. When @pace says that the caller is to end, the
 * offsets are of no use.
 */
uint64_t plan_place(struct plan_item *items, uint32_t count, struct op_pace *pace);

/*
 * The same beside the first @fixed items, which stay where they are, in the order of their offsets. What
 * finds no room between them is placed from @base on, behind all of them. Returns the end of all, at
 * least @base.
 */
uint64_t plan_place_beside(struct plan_item *items, uint32_t fixed, uint32_t count, uint64_t base,
			   struct op_pace *pace);

/*
 * Plan the arena of a program whose shapes are all known. 0, or -1: no memory, or @pace says
 * that the caller is to end.
 */
int plan_program(struct program *p, struct op_pace *pace);

#endif /* NNPU_EMU_MEMORY_PLAN_H */
