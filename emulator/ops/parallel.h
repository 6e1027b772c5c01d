/* SPDX-License-Identifier: MIT */
/*
 * Parts of an operation, which several threads may compute at once.
 */
#ifndef NNPU_EMU_PARALLEL_H
#define NNPU_EMU_PARALLEL_H

#include "op.h"
#include "pace.h"

/* Work of @items parts that do not depend on each other. */
struct op_parts {
	size_t items;
	size_t units;			/* of an item, about what op_pace() counts for it */
	/*
	 * Compute items [first, end). Returns 0 or OP_ABORTED. It writes outputs only, and the same
	 * bytes wherever the ranges begin and end: a range may be given up at a point and be
	 * computed anew, as a whole, by another thread. It takes no memory (op_take()). Its stack
	 * is its scratch memory.
	 */
	int (*compute)(const void *work, size_t first, size_t end, struct op_pace *pace);
	const void *work;		/* not written */
};

/* The threads that a job may have beside its own. Who runs the operation provides it. */
struct op_team {
	/* All items. 0 or OP_ABORTED; @pace is that of the caller. */
	int (*run)(struct op_team *team, const struct op_parts *parts, struct op_pace *pace);
};

/* Compute all items: on one thread if there is no team. Returns 0 or OP_ABORTED. */
static inline int op_run_parts(const struct op_call *c, const struct op_parts *parts,
			       struct op_pace *pace)
{
	if (c->team && parts->items > 1)
		return c->team->run(c->team, parts, pace);
	return parts->compute(parts->work, 0, parts->items, pace);
}

#endif /* NNPU_EMU_PARALLEL_H */
