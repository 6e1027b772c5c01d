// SPDX-License-Identifier: MIT
/*
 * The memory plan places tensors in the arena. Two tensors may share bytes if their lives,
 * from the first to the last command that uses them, do not overlap.
 *
 * Each block of a program has a part of the arena behind the parts of all blocks that can
 * enter it. So blocks that cannot run at the same time share memory, blocks that can do
 * not, and each tensor has one address however its block is entered.
 *
 * RESHAPE and its like write the bytes that they read. Their output is at the place of the input, which
 * lives until both have ended, and nothing is copied. No command changes a tensor that it reads, but
 * for weights that it owns (ROLE_WEIGHTS).
 */
#include <stdlib.h>
#include <string.h>

#include "memory_plan.h"
#include "program_load.h"
#include "ops/pace.h"

/* Up to so many tensors each is compared with all others: quadratic time. */
#define EXHAUSTIVE_MAX	2048u
/* Up to so many are placed twice, in two orders. */
#define TWICE_MAX	512u

static int by_size(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* Those first that live while there is most, and of these the ones that live longest. */
static int by_live(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;

	if (x->live != y->live)
		return x->live < y->live ? 1 : -1;
	if (x->last - x->first != y->last - y->first)
		return x->last - x->first < y->last - y->first ? 1 : -1;
	return by_size(a, b);
}

static bool same_time(const struct plan_item *a, const struct plan_item *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/*
 * Best fit: each tensor, in the order of @compare, goes into the smallest gap that is free during
 * its life. @order has the tensors placed so far, by offset. The first @fixed are placed, below @base.
 */
static uint64_t place_best(struct plan_item *items, uint32_t fixed, uint32_t count, uint64_t base,
			   int (*compare)(const void *a, const void *b), uint32_t *order,
			   struct op_pace *pace)
{
	uint64_t total = base;
	uint32_t i, j;

	qsort(items + fixed, count - fixed, sizeof(*items), compare);
	for (i = 0; i < fixed; i++)
		order[i] = i;
	for (; i < count; i++) {
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
		if (op_pace(pace, 16 + 8 * i))
			break;
	}
	return total;
}

/*
 * The most bytes that live at once while an item does. There is most where some item begins, so only
 * those times count.
 */
static uint64_t measure_live(struct plan_item *items, uint32_t count, struct op_pace *pace)
{
	uint64_t most = 0, live;
	uint32_t i, j;

	for (i = 0; i < count; i++)
		items[i].live = 0;
	for (i = 0; i < count; i++) {
		uint32_t now = items[i].first;

		live = 0;
		for (j = 0; j < count; j++)
			if (items[j].first <= now && now <= items[j].last)
				live += tensor_round_up(items[j].size);
		for (j = 0; j < count; j++)
			if (items[j].first <= now && now <= items[j].last && items[j].live < live)
				items[j].live = live;
		if (live > most)
			most = live;
		if (op_pace(pace, 16 + 4 * count))
			break;
	}
	return most;
}

/*
 * The largest first, or those first that live while there is most: neither is better for all
 * programs. If few tensors are there, the better one for these.
 */
static uint64_t place_exhaustive(struct plan_item *items, uint32_t fixed, uint32_t count,
				 uint64_t base, struct op_pace *pace)
{
	uint32_t order[EXHAUSTIVE_MAX];
	uint64_t least, by_most, total;

	total = place_best(items, fixed, count, base, by_size, order, pace);
	if (count > TWICE_MAX)
		return total;
	least = measure_live(items, count, pace);
	if (total <= (fixed ? base : least) || pace->ended)
		return total;
	by_most = place_best(items, fixed, count, base, by_live, order, pace);
	return by_most <= total ? by_most :
	       place_best(items, fixed, count, base, by_size, order, pace);
}

static unsigned int size_class(uint64_t size)
{
	unsigned int class = 6;

	while (class < 63 && 1ull << class < size)
		class++;
	return class;
}

/* Lists of items, by number of the first one; UINT32_MAX: the end. */
struct plan_lists {
	uint32_t *next;			/* by item; it is in one list at a time */
	uint32_t *starting;		/* by command: items that it is the first for */
	uint32_t *ending;		/* by command: items that it is the last for */
	uint32_t free[64];		/* places that nothing uses now, by size class */
};

/* An item begins to live: it takes a place of its class that is free, or a new one. */
static void begin_item(struct plan_lists *l, struct plan_item *items, uint32_t i,
		       uint64_t *total)
{
	unsigned int class = size_class(items[i].size);
	uint32_t head = l->free[class];

	if (head != UINT32_MAX) {
		items[i].offset = items[head].offset;
		l->free[class] = l->next[head];
	} else {
		items[i].offset = *total;
		*total += 1ull << class;
	}
	l->next[i] = l->ending[items[i].last];
	l->ending[items[i].last] = i;
}

/* For very many tensors: a free list per power of two, linear time. Commands 0 to @last. */
static uint64_t place_by_class(struct plan_lists *l, struct plan_item *items, uint32_t count,
			       uint32_t last, struct op_pace *pace)
{
	uint64_t total = 0;
	uint32_t i, now, next;

	for (i = 0; i < 64; i++)
		l->free[i] = UINT32_MAX;
	for (now = 0; now <= last; now++) {
		l->starting[now] = UINT32_MAX;
		l->ending[now] = UINT32_MAX;
		if (op_pace(pace, 4))
			return 0;
	}
	for (i = count; i-- > 0;) {
		l->next[i] = l->starting[items[i].first];
		l->starting[items[i].first] = i;
		if (op_pace(pace, 16))
			return 0;
	}
	for (now = 0; now <= last; now++) {
		for (i = l->starting[now]; i != UINT32_MAX; i = next) {
			next = l->next[i];
			begin_item(l, items, i, &total);
			if (op_pace(pace, 32))
				return 0;
		}
		/* What ends here is free for the next command. */
		for (i = l->ending[now]; i != UINT32_MAX; i = next) {
			unsigned int class = size_class(items[i].size);

			next = l->next[i];
			l->next[i] = l->free[class];
			l->free[class] = i;
			if (op_pace(pace, 16))
				return 0;
		}
		if (op_pace(pace, 4))
			return 0;
	}
	return total;
}

uint64_t plan_place(struct plan_item *items, uint32_t count, struct op_pace *pace)
{
	uint32_t i, last = 0, *memory;
	struct plan_lists lists;
	uint64_t total = 0;
	size_t bytes;

	if (count <= EXHAUSTIVE_MAX)
		return place_exhaustive(items, 0, count, 0, pace);
	for (i = 0; i < count; i++) {
		if (items[i].last > last)
			last = items[i].last;
		if (op_pace(pace, 4))
			return 0;
	}
	bytes = ((size_t)count + 2 * (last + (size_t)1)) * sizeof(*memory);
	memory = op_take(pace->progress, bytes, NULL);
	if (memory) {
		lists.next = memory;
		lists.starting = memory + count;
		lists.ending = lists.starting + last + 1;
		total = place_by_class(&lists, items, count, last, pace);
		op_give(pace->progress, memory, bytes);
		return total;
	}
	/* No memory for the lists: nothing is shared. */
	for (i = 0; i < count && !op_pace(pace, 8); i++) {
		items[i].offset = total;
		total += tensor_round_up(items[i].size);
	}
	return total;
}

uint64_t plan_place_beside(struct plan_item *items, uint32_t fixed, uint32_t count, uint64_t base,
			   struct op_pace *pace)
{
	uint64_t total;
	uint32_t i;

	if (count <= EXHAUSTIVE_MAX)
		return place_exhaustive(items, fixed, count, base, pace);
	total = base + plan_place(items + fixed, count - fixed, pace);
	for (i = fixed; i < count && !op_pace(pace, 4); i++)
		items[i].offset += base;
	return total;
}

/* Where a tensor, or the scratch memory of a command, is to be: see plan_item.tensor. */
static uint64_t *offset_of(const struct program *p, uint32_t tensor)
{
	return &p->offsets[tensor < p->num_tensors ? p->tensors[tensor].place :
						     p->num_places + (tensor - p->num_tensors)];
}

/* Has the tensor an item of its block, or a place that it shares with one? */
static bool has_place(const struct program *p, uint32_t t)
{
	unsigned int kind = p->tensors[t].kind;

	return p->tensors[t].role == ROLE_NONE &&
	       (kind == NNPU_TENSOR_INPUT || kind == NNPU_TENSOR_TEMPORARY || kind == NNPU_TENSOR_OUTPUT);
}

/* Is the output of a command at the place of its first input? */
static bool shares_place(const struct program *p, const struct program_cmd *cmd)
{
	const uint32_t *operands = p->operands + cmd->operands;
	uint32_t in = operands[0], out;

	if (!cmd->desc || !cmd->desc->keeps_bytes)
		return false;
	out = operands[cmd->num_inputs];
	return has_place(p, in) && has_place(p, out) &&
	       p->tensors[in].bytes == p->tensors[out].bytes;
}

/*
 * The items of block @b. Their lives are counted from its first command. Until they are placed,
 * @offsets has the item of a tensor: what is read was written in the same block, or is an input.
 */
static uint32_t block_items(const struct program *p, const struct program_block *b,
			    struct plan_item *items, struct op_pace *pace)
{
	uint32_t i, n = 0;

	for (i = 0; b == p->blocks && i < p->num_inputs; i++) {
		*offset_of(p, p->inputs[i]) = n;
		items[n++] = (struct plan_item) {
			.tensor = p->inputs[i], .last = *program_last_use(p, p->inputs[i]),
			.size = p->tensors[p->inputs[i]].bytes,
		};
	}
	for (i = b->first; i < b->end; i++) {
		const struct program_cmd *cmd = &p->cmds[i];
		const uint32_t *in = p->operands + cmd->operands, *out = in + cmd->num_inputs;
		bool shares = shares_place(p, cmd);
		unsigned int o;

		for (o = 0; o < cmd->num_outputs; o++) {
			uint32_t last = *program_last_use(p, out[o]) - b->first;

			if (shares) {
				struct plan_item *item = &items[*offset_of(p, *in)];

				item->last = last > item->last ? last : item->last;
				*offset_of(p, out[o]) = *offset_of(p, *in);
			} else if (p->tensors[out[o]].role != ROLE_BLOCK_OUTPUT) {
				*offset_of(p, out[o]) = n;
				items[n++] = (struct plan_item) {
					.tensor = out[o], .first = i - b->first, .last = last,
					.size = tensor_room(p, out[o], &p->tensors[out[o]]),
				};
			}
		}
		if (cmd->scratch)
			items[n++] = (struct plan_item) {
				.tensor = p->num_tensors + i, .first = i - b->first,
				.last = i - b->first, .size = cmd->scratch,
			};
		if (op_pace(pace, 8 + 16 * cmd->num_outputs))
			break;
	}
	return n;
}

/* Outputs at the places of inputs, after these were placed. */
static void place_shared(struct program *p, const struct program_block *b, struct op_pace *pace)
{
	uint32_t i;

	for (i = b->first; i < b->end && !op_pace(pace, 8); i++) {
		const uint32_t *operands = p->operands + p->cmds[i].operands;

		if (shares_place(p, &p->cmds[i]))
			*offset_of(p, operands[p->cmds[i].num_inputs]) = *offset_of(p, operands[0]);
	}
}

/* Move the blocks that block @b enters behind @end. */
static void push_blocks(struct program *p, const struct program_block *b, uint64_t end,
			struct op_pace *pace)
{
	uint32_t i, k;

	for (i = b->first; i < b->end && !op_pace(pace, 8); i++)
		for (k = 0; cmd_is_control(&p->cmds[i]) && k < 2; k++) {
			struct program_block *entered = &p->blocks[p->cmds[i].target[k]];

			if (entered->base < end)
				entered->base = end;
		}
}

/* Items of the block that has most, or a bound of it. */
static size_t max_items(const struct program *p, struct op_pace *pace)
{
	size_t max = 1, n;
	uint32_t i, k;

	for (i = 0; i < p->num_blocks && !op_pace(pace, 4); i++) {
		n = i ? 0 : p->num_inputs;
		for (k = p->blocks[i].first; k < p->blocks[i].end && !op_pace(pace, 4); k++)
			n += p->cmds[k].num_outputs + (p->cmds[k].scratch ? 1u : 0);
		max = n > max ? n : max;
	}
	return max;
}

int plan_program(struct program *p, struct op_pace *pace)
{
	size_t max = max_items(p, pace);
	struct plan_item *items;
	uint32_t i, k, n;

	/* It has not counted all. */
	if (pace->ended)
		return -1;
	items = op_take(pace->progress, max * sizeof(*items), NULL);
	if (!items)
		return -1;
	p->arena_size = 0;
	/* In the program, too, a block comes after those that enter it. */
	for (i = 0; i < p->num_blocks && !op_pace(pace, 64); i++) {
		struct program_block *b = &p->blocks[i];
		uint64_t end;

		n = block_items(p, b, items, pace);
		end = b->base + plan_place(items, n, pace);
		for (k = 0; k < n && !op_pace(pace, 4); k++)
			*offset_of(p, items[k].tensor) = b->base + items[k].offset;
		place_shared(p, b, pace);
		push_blocks(p, b, end, pace);
		if (p->arena_size < end)
			p->arena_size = end;
	}
	op_give(pace->progress, items, max * sizeof(*items));
	return pace->ended ? -1 : 0;
}
