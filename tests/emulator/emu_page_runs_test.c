// SPDX-License-Identifier: MIT
/*
 * Runs of pages: whatever was taken and freed before, a run has a slot as long as there is memory
 * for it, and no two of them share a page.
 */
#include <stdlib.h>
#include <string.h>

#include "core/page_runs.h"
#include "sanitized.h"
#include "tap.h"
#include "xorshift.h"

#define PAGE	4096u
#define PAGES	5000u
#define STEPS	200000u

static struct page_runs runs;
/* Live runs, and who has a page of the range. */
static struct { uint8_t *p; uint32_t pages; } live[PAGES];
static uint32_t num_live, live_pages;
static uint8_t *owned;
static unsigned int shared, outside, refused, taken;

static void mark(const uint8_t *p, uint32_t pages, uint8_t owner)
{
	uint64_t first = (uint64_t)(p - runs.base) / PAGE, i;

	for (i = first; i < first + pages; i++) {
		shared += owned[i] == owner;
		owned[i] = owner;
	}
}

static void take(uint32_t pages)
{
	uint8_t *p = runs_take(&runs, pages);

	if (!p) {
		refused++;
		return;
	}
	if (!runs_have(&runs, p) || !runs_have(&runs, p + (uint64_t)pages * PAGE - 1) ||
	    ((uintptr_t)p - (uintptr_t)runs.base) % PAGE) {
		outside++;
		return;
	}
	taken++;
	mark(p, pages, 1);
	live[num_live].p = p;
	live[num_live++].pages = pages;
	live_pages += pages;
}

static void put(uint32_t i)
{
	mark(live[i].p, live[i].pages, 0);
	runs_put(&runs, live[i].p);
	live_pages -= live[i].pages;
	live[i] = live[--num_live];
}

/* A run of any size that fits, small ones more often. */
static uint32_t any_size(void)
{
	uint32_t most = PAGES - live_pages, size = 1 + next_random() % (1u << next_random() % 13);

	return size < most ? size : most;
}

/* All memory in runs of one size; every other goes, then larger ones come. */
static void fill_and_thin(uint32_t pages)
{
	uint32_t i;

	while (live_pages + pages <= PAGES && !refused)
		take(pages);
	for (i = num_live; i-- > 0;)
		if (i % 2)
			put(i);
}

/* Bytes of page tables that the process has. */
static long long page_tables(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	long long kib = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPTE: %lld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

/* If all addresses were used, page tables of the host have what emulator/README.md states. */
static void test_page_tables(void)
{
	const long long limit = (long long)runs.num_classes * PAGES * PAGE / 256;
	long long tables;
	uint64_t at;

	tables = page_tables();
	for (at = 0; at < runs.bytes; at += 1u << 21)
		runs.base[at] = 1;
	tables = page_tables() - tables;
	/* The ends of the range lie within one, and tables are in tables. */
	ok(tables > limit / 2 && tables <= limit + 4 * PAGE,
	   "page tables of the host: %lld bytes, at most %lld", tables, limit);
}

/* Runs that grow have slots of their own: with none left, others are taken as before. */
static void test_growing(void)
{
	uint64_t room = 0, slots = runs.span / PAGE >> RUNS_GROWING, n;
	uint8_t *p;

	for (n = 0; (p = runs_take_growing(&runs, &room)); n++) {
		if (!runs_have(&runs, p) || !runs_have(&runs, p + room * PAGE - 1))
			outside++;
		else
			mark(p, (uint32_t)room, 1);
	}
	ok(n == slots && room == (1u << RUNS_GROWING) - RUNS_GUARD && !shared && !outside,
	   "%llu runs of %llu pages that grow: %u pages had two owners, %u outside",
	   (unsigned long long)n, (unsigned long long)room, shared, outside);
	take(1u << RUNS_GROWING);
	take(PAGES / 2);
	ok(!refused && !shared, "others are taken beside them: %u refused", refused);
	while (num_live)
		put(num_live - 1);
	p = runs.base + (runs.num_classes - 1) * runs.span;
	mark(p, (uint32_t)room, 0);
	runs_put(&runs, p);
	ok(runs_take_growing(&runs, &room) == p, "one that was freed is taken again");
}

int main(void)
{
	unsigned int step, pages;

	if (!runs_init(&runs, (uint64_t)PAGES * PAGE)) {
		printf("Bail out! no addresses\n");
		return 1;
	}
	owned = calloc(1, runs.bytes / PAGE);
	for (step = 0; step < STEPS; step++) {
		if (live_pages < PAGES && next_random() % 100 < 55)
			take(any_size());
		else if (num_live)
			put(next_random() % num_live);
	}
	ok(!refused, "runs of any size: %u were taken, %u refused", taken, refused);
	while (num_live)
		put(num_live - 1);
	for (pages = 1; pages <= PAGES; pages += 1 + pages / 8)
		fill_and_thin(pages);
	ok(!refused, "larger ones between those that stay: %u", refused);
	while (num_live)
		put(num_live - 1);
	take(PAGES);
	ok(num_live == 1 && !refused, "all of it in one run");
	put(0);
	ok(!shared && !outside, "no page had two owners: %u, %u outside", shared, outside);
	test_growing();
	for (pages = 0; pages < PAGES && runs_take(&runs, 1); pages++)
		;
	ok(pages == PAGES, "all of it page by page: %u", pages);
	ok(MEM_WATCHED || !runs_take(&runs, 1), "no more");
	ok(!runs_take(&runs, 4 * PAGES), "nor what is larger than all of it");
	/* Sanitizers have page tables, too. */
	if (!SANITIZED)
		test_page_tables();
	free(owned);
	runs_fini(&runs);
	return tap_done();
}
