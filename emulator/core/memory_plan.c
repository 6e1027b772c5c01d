// SPDX-License-Identifier: MIT
/*
 * The memory plan places tensors in the arena. Two tensors may share bytes if their lives,
 * from the first to the last command that uses them, do not overlap.
 *
 * Each block of a program has a part of the arena behind the parts of all blocks that can
 * enter it. So blocks that cannot run at the same time share memory, blocks that can do
 * not, and each tensor has one address however its block is entered.
 */
#include <stdlib.h>

#include "memory_plan.h"
#include "program_load.h"

/* Up to so many tensors each is compared with all others: quadratic time. */
#define EXHAUSTIVE_MAX	2048u

static int by_size(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

static int by_first(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

static bool same_time(const struct plan_item *a, const struct plan_item *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/*
 * Best fit, largest first: each tensor goes into the smallest gap that is free during its
 * life. @order has the tensors placed so far, by offset.
 */
static uint64_t place_by_size(struct plan_item *items, uint32_t count, uint32_t *order)
{
	uint64_t total = 0;
	uint32_t i, j;

	qsort(items, count, sizeof(*items), by_size);
	for (i = 0; i < count; i++) {
		uint64_t end = 0, best = UINT64_MAX, best_gap = UINT64_MAX;
		uint64_t size = tensor_round_up(items[i].size);

		for (j = 0; j < i; j++) {
			const struct plan_item *other = &items[order[j]];

			if (!same_time(&items[i], other))
				continue;
			if (other->offset >= end + size && other->offset - end < best_gap) {
				best = end;
				best_gap = other->offset - end;
			}
			if (other->offset + tensor_round_up(other->size) > end)
				end = other->offset + tensor_round_up(other->size);
		}
		items[i].offset = best == UINT64_MAX ? end : best;
		if (items[i].offset + size > total)
			total = items[i].offset + size;
		for (j = i; j && items[order[j - 1]].offset > items[i].offset; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	return total;
}

static unsigned int size_class(uint64_t size)
{
	unsigned int class = 6;

	while (class < 63 && 1ull << class < size)
		class++;
	return class;
}

/* For very many tensors: a free list per power of two, linear time. */
static uint64_t place_by_class(struct plan_item *items, uint32_t count, uint32_t *next,
			       uint32_t *ending, uint32_t last)
{
	uint32_t free_heads[64];
	uint64_t total = 0;
	uint32_t i, now = 0, done;

	qsort(items, count, sizeof(*items), by_first);
	memset(free_heads, 0xff, sizeof(free_heads));
	memset(ending, 0xff, (last + 1) * sizeof(*ending));
	for (i = 0; i < count; i++) {
		unsigned int class = size_class(items[i].size);
		uint32_t head;

		/* Free the tensors whose last use is before this one. */
		for (; now < items[i].first; now++) {
			for (done = ending[now]; done != UINT32_MAX; done = head) {
				unsigned int done_class = size_class(items[done].size);

				head = next[done];
				next[done] = free_heads[done_class];
				free_heads[done_class] = done;
			}
		}
		head = free_heads[class];
		if (head != UINT32_MAX) {
			items[i].offset = items[head].offset;
			free_heads[class] = next[head];
		} else {
			items[i].offset = total;
			total += 1ull << class;
		}
		next[i] = ending[items[i].last];
		ending[items[i].last] = i;
	}
	return total;
}

uint64_t plan_place(struct plan_item *items, uint32_t count)
{
	uint32_t i, last = 0, *memory;
	uint64_t total = 0;

	if (count <= EXHAUSTIVE_MAX) {
		uint32_t order[EXHAUSTIVE_MAX];

		return place_by_size(items, count, order);
	}
	for (i = 0; i < count; i++)
		if (items[i].last > last)
			last = items[i].last;
	memory = malloc(((size_t)count + last + 1) * sizeof(*memory));
	if (memory) {
		total = place_by_class(items, count, memory, memory + count, last);
		free(memory);
		return total;
	}
	/* No memory for the lists: nothing is shared. */
	for (i = 0; i < count; i++) {
		items[i].offset = total;
		total += tensor_round_up(items[i].size);
	}
	return total;
}

/* The items of block @b. Their lives are counted from its first command. */
static uint32_t block_items(const struct program *p, const struct program_block *b,
			    struct plan_item *items)
{
	uint32_t i, n = 0;

	for (i = 0; b == p->blocks && i < p->num_inputs; i++)
		items[n++] = (struct plan_item) {
			.tensor = p->inputs[i], .last = p->last_use[p->inputs[i]],
			.size = p->tensors[p->inputs[i]].bytes,
		};
	for (i = b->first; i < b->end; i++) {
		const struct program_cmd *cmd = &p->cmds[i];
		const uint32_t *out = p->operands + cmd->operands + cmd->num_inputs;
		unsigned int o;

		for (o = 0; o < cmd->num_outputs; o++)
			if (p->roles[out[o]] != ROLE_BLOCK_OUTPUT)
				items[n++] = (struct plan_item) {
					.tensor = out[o], .first = i - b->first,
					.last = p->last_use[out[o]] - b->first,
					.size = p->tensors[out[o]].bytes,
				};
		if (cmd->scratch)
			items[n++] = (struct plan_item) {
				.tensor = p->num_tensors + i, .first = i - b->first,
				.last = i - b->first, .size = cmd->scratch,
			};
	}
	return n;
}

/* Move the blocks that block @b enters behind @end. */
static void push_blocks(struct program *p, const struct program_block *b, uint64_t end)
{
	uint32_t i, k;

	for (i = b->first; i < b->end; i++)
		for (k = 0; cmd_is_control(&p->cmds[i]) && k < 2; k++) {
			struct program_block *entered = &p->blocks[p->cmds[i].target[k]];

			if (entered->base < end)
				entered->base = end;
		}
}

int plan_program(struct program *p)
{
	size_t max = (size_t)p->num_inputs + p->num_operands + p->num_cmds + 1;
	struct plan_item *items = malloc(max * sizeof(*items));
	uint32_t i, k, n;

	if (!items)
		return -1;
	p->arena_size = 0;
	/* In the program, too, a block comes after those that enter it. */
	for (i = 0; i < p->num_blocks; i++) {
		struct program_block *b = &p->blocks[i];
		uint64_t end;

		n = block_items(p, b, items);
		end = b->base + plan_place(items, n);
		for (k = 0; k < n; k++)
			p->offsets[items[k].tensor] = b->base + items[k].offset;
		push_blocks(p, b, end);
		if (p->arena_size < end)
			p->arena_size = end;
	}
	free(items);
	return 0;
}
