/* SPDX-License-Identifier: MIT */
/*
 * Going on after an operator that cannot be mapped (struct map_model, @judge).
 *
 * What such an operator has added is taken back, and its results become inputs of the
 * model, so that the operators behind it, and the device, can be asked.
 */
#ifndef NNTFLITE_MAP_JUDGE_H
#define NNTFLITE_MAP_JUDGE_H

#include "map_model.h"
#include "mapper.h"

/* How far the model was before an operator. */
struct mark {
	uint32_t num_operands;
	uint32_t num_operations;
	int now[MAX_RESOURCES];		/* values of resources, if there are any */
};

void judge_mark(const struct mapper *m, struct mark *mark);

/*
 * The operator m->op could not be mapped, for the reason in m->diag: note it, and go back to
 * the mark. 0, or -1 without memory.
 */
int judge_refuse(struct mapper *m, const struct mark *mark);

/*
 * Make tensor @index an input of the model: as what it is, or, if the HAL has no words for
 * it, as a float tensor. 0, or -1 without memory.
 */
int judge_input(struct mapper *m, uint32_t index);

/* The lists of inputs and outputs, with those that were added. 0 or -1. */
int judge_finish(struct mapper *m);

#endif /* NNTFLITE_MAP_JUDGE_H */
