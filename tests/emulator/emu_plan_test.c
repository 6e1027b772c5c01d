// SPDX-License-Identifier: MIT
/*
 * The memory plan: tensors that live at the same time share no bytes, and few programs need more
 * than what lives at once.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory_plan.h"
#include "core/program_load.h"
#include "ops/pace.h"
#include "tap.h"

#define MAX_ITEMS	600u
#define ROUNDS		300u

static uint32_t random_state = 1;

static uint32_t pick(uint32_t max)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % (max + 1);
}

static int by_tensor(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;

	return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

static uint64_t plan(struct plan_item *items, uint32_t count)
{
	struct op_pace pace = { 0 };
	uint64_t total = plan_place(items, count, &pace);

	qsort(items, count, sizeof(*items), by_tensor);
	return total;
}

/* The most that lives at once. */
static uint64_t least(const struct plan_item *items, uint32_t count)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t live = 0;

		for (uint32_t j = 0; j < count; j++)
			if (items[j].first <= items[i].first && items[i].first <= items[j].last)
				live += tensor_round_up(items[j].size);
		most = live > most ? live : most;
	}
	return most;
}

/* Is each item within the memory, and apart from those that live while it does? */
static bool is_sound(const struct plan_item *items, uint32_t count, uint64_t total)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct plan_item *x = &items[i];

		if (x->offset % TENSOR_ALIGN || x->offset + x->size > total)
			return false;
		for (uint32_t j = 0; j < i; j++) {
			const struct plan_item *y = &items[j];

			if (x->first <= y->last && y->first <= x->last &&
			    x->offset < y->offset + y->size && y->offset < x->offset + x->size)
				return false;
		}
	}
	return true;
}

/* The first layers of a network for images: what is largest is not what to place first. */
static void test_network(void)
{
	struct plan_item items[] = {
		{ .size = 27648, .first = 0, .last = 0, .tensor = 0 },
		{ .size = 18432, .first = 0, .last = 1, .tensor = 1 },
		{ .size = 18432, .first = 1, .last = 2, .tensor = 2 },
		{ .size = 36864, .first = 2, .last = 3, .tensor = 3 },
		{ .size = 9216, .first = 3, .last = 4, .tensor = 4 },
		{ .size = 18432, .first = 4, .last = 5, .tensor = 5 },
	};
	uint64_t total = plan(items, 6);

	ok(total == 55296 && is_sound(items, 6, total), "a network takes what lives at once: %llu",
	   (unsigned long long)total);
}

static void test_random(uint32_t count)
{
	static struct plan_item items[MAX_ITEMS];
	uint32_t bad = 0, exact = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t total;

		for (uint32_t i = 0; i < count; i++) {
			items[i] = (struct plan_item) {
				.size = 1 + pick(pick(1) ? 100000 : 1000), .first = i / 2,
				.tensor = i,
			};
			items[i].last = items[i].first + pick(pick(3) ? 2 : 20);
		}
		total = plan(items, count);
		bad += !is_sound(items, count, total) || total < least(items, count);
		exact += total == least(items, count);
		if (count == MAX_ITEMS && round == 2)
			break;
	}
	ok(!bad, "plans of %u random items are sound; %u of them need what lives at once", count,
	   exact);
}

/* Items that stay where they are, with gaps between them, and others beside them. */
static void test_beside(uint32_t fixed, uint32_t count)
{
	static struct plan_item items[MAX_ITEMS], before[MAX_ITEMS];
	uint32_t bad = 0, inside = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct op_pace pace = { 0 };
		uint64_t base = 0, total;

		for (uint32_t i = 0; i < count; i++) {
			items[i] = (struct plan_item) {
				.size = 1 + pick(5000), .first = i < fixed ? 0 : pick(20), .tensor = i,
			};
			items[i].last = items[i].first + pick(10);
			if (i >= fixed)
				continue;
			items[i].offset = base + tensor_round_up(pick(5000));
			base = items[i].offset + tensor_round_up(items[i].size);
		}
		memcpy(before, items, fixed * sizeof(*items));
		total = plan_place_beside(items, fixed, count, base, &pace);
		bad += total < base || !is_sound(items, count, total);
		for (uint32_t i = 0; i < fixed; i++)
			bad += items[i].tensor != i || items[i].offset != before[i].offset;
		inside += total == base;
	}
	ok(!bad, "%u items beside %u are sound; %u times they need nothing more", count - fixed, fixed,
	   inside);
}

int main(void)
{
	test_network();
	test_beside(20, 22);
	test_beside(10, 60);
	test_random(5);
	test_random(40);
	/* More than are placed twice. */
	test_random(MAX_ITEMS);
	return tap_done();
}
