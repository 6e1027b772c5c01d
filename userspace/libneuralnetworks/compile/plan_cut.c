// SPDX-License-Identifier: MIT
/*
 * Cutting a model into steps.
 *
 * Devices take turns in a fixed order. An operation runs in the first turn of its device in which its inputs
 * are there, and so each turn runs all that it can; turns without operations are left out. With two
 * devices no way to cut has fewer steps, if the right one begins; all are tried as the first one.
 * Time is in proportion to the model, for each device that begins.
 */
#include <stdlib.h>
#include <string.h>

#include "compile/ndk_plan.h"

struct turns {
	const struct nnhal_subgraph *main;
	const uint32_t *owners;
	uint32_t num_owners;
	uint64_t *of_operation;
	uint64_t *of_operand;		/* turn that writes it, + 1; 0: none does */
	uint64_t last;
};

static void take_turns(struct turns *t, uint32_t beginner)
{
	const struct nnhal_subgraph *main = t->main;
	uint32_t i, k;

	memset(t->of_operand, 0, main->num_operands * sizeof(*t->of_operand));
	t->last = 0;
	for (i = 0; i < main->num_operations; i++) {
		const struct nnhal_operation *op = &main->operations[i];
		uint64_t turn = 0, whose;

		for (k = 0; k < op->num_inputs; k++)
			if (t->of_operand[op->inputs[k]] > turn + 1)
				turn = t->of_operand[op->inputs[k]] - 1;
		whose = (beginner + turn) % t->num_owners;
		turn += (t->owners[i] + t->num_owners - whose) % t->num_owners;
		t->of_operation[i] = turn;
		for (k = 0; k < op->num_outputs; k++)
			t->of_operand[op->outputs[k]] = turn + 1;
		if (turn > t->last)
			t->last = turn;
	}
}

/* Number the turns that have operations; two of one device without others between them are one step. */
static uint32_t number_steps(const struct turns *t, uint32_t beginner, uint32_t *step_of)
{
	uint32_t *step = calloc(t->last + 1, sizeof(*step));
	uint32_t i, count = 0, previous = NDK_NONE, whose;
	uint64_t turn;

	if (!step)
		return 0;
	for (i = 0; i < t->main->num_operations; i++)
		step[t->of_operation[i]] = 1;
	for (turn = 0; turn <= t->last; turn++) {
		if (!step[turn])
			continue;
		whose = (uint32_t)((beginner + turn) % t->num_owners);
		count += whose != previous;
		previous = whose;
		step[turn] = count - 1;
	}
	for (i = 0; step_of && i < t->main->num_operations; i++)
		step_of[i] = step[t->of_operation[i]];
	free(step);
	return count;
}

uint32_t ndk_cut(const struct nnhal_subgraph *main, const uint32_t *owners, uint32_t num_owners,
		 uint32_t *step_of)
{
	struct turns t = { .main = main, .owners = owners, .num_owners = num_owners };
	uint32_t beginner, best = 0, fewest = UINT32_MAX, count = 0;

	t.of_operation = calloc((size_t)main->num_operations + main->num_operands,
				sizeof(*t.of_operation));
	if (!t.of_operation)
		return 0;
	t.of_operand = t.of_operation + main->num_operations;
	for (beginner = 0; beginner < num_owners; beginner++) {
		take_turns(&t, beginner);
		count = number_steps(&t, beginner, NULL);
		if (!count)
			break;
		if (count < fewest) {
			fewest = count;
			best = beginner;
		}
	}
	if (count) {
		take_turns(&t, best);
		count = number_steps(&t, best, step_of);
	}
	free(t.of_operation);
	return count;
}
