// SPDX-License-Identifier: MIT
/*
 * Runs of pages on a host whose own pages are larger, as those of arm64 may be (host_pages.h). Freeing a run clears it and nothing
 * else, and what is free goes back to the host. Pages smaller than those of this kernel are left out.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/page_runs.h"
#include "host_pages.h"
#include "tap.h"
#include "xorshift.h"

#define PAGE	4096u
#define PAGES	2048u
#define STEPS	20000u

static struct page_runs runs;
static struct { uint8_t *p; uint32_t bytes, owner; } live[PAGES];
static uint32_t num_live, live_bytes;

/* Do words of @p have @owner? */
static bool has(const uint8_t *p, uint32_t bytes, uint32_t owner)
{
	uint32_t i;

	for (i = 0; i < bytes; i += 4)
		if (memcmp(p + i, &owner, 4))
			return false;
	return true;
}

static bool take(uint32_t bytes, uint32_t owner)
{
	uint8_t *p = runs_take(&runs, bytes / PAGE);
	uint32_t i;
	bool clear;

	if (!p)
		return false;
	clear = has(p, bytes, 0);
	for (i = 0; i < bytes; i += 4)
		memcpy(p + i, &owner, 4);
	live[num_live].p = p;
	live[num_live].bytes = bytes;
	live[num_live++].owner = owner;
	live_bytes += bytes;
	return clear;
}

static bool put(uint32_t i)
{
	bool kept = has(live[i].p, live[i].bytes, live[i].owner);

	runs_clear(&runs, live[i].p, live[i].bytes);
	runs_put(&runs, live[i].p);
	live_bytes -= live[i].bytes;
	live[i] = live[--num_live];
	return kept;
}

/* The end of a run goes. Reading it would take pages again. */
static bool cut(uint32_t i)
{
	uint32_t left = (1 + next_random() % (live[i].bytes / PAGE)) * PAGE;
	bool kept = has(live[i].p, live[i].bytes, live[i].owner);

	if (left == live[i].bytes)
		return kept;
	runs_clear(&runs, live[i].p + left, live[i].bytes - left);
	live_bytes -= live[i].bytes - left;
	live[i].bytes = left;
	return kept;
}

/* Bytes of the range that the host gave. */
static uint64_t resident(void)
{
	const uint64_t real = (uint64_t)sysconf(_SC_PAGESIZE), count = runs.bytes / real;
	uint8_t *pages = calloc(1, count);
	uint64_t n = 0, i;

	if (!pages || mincore(runs.base, runs.bytes, pages)) {
		free(pages);
		return UINT64_MAX;
	}
	for (i = 0; i < count; i++)
		n += pages[i] & 1;
	free(pages);
	return n * real;
}

static void test_host(uint32_t page)
{
	unsigned int step, dirty = 0, spoiled = 0;
	uint32_t size;
	uint64_t all;

	if (page < (uint32_t)sysconf(_SC_PAGESIZE)) {
		tap_skip("pages of %u: this kernel has larger ones", page);
		return;
	}
	host_page = page;
	/* No multiple of the host's pages. */
	if (!runs_init(&runs, (uint64_t)PAGES * PAGE + PAGE)) {
		printf("Bail out! no addresses\n");
		exit(1);
	}
	for (step = 1; step <= STEPS; step++) {
		size = (1 + next_random() % (1u << next_random() % 7)) * PAGE;
		if (num_live < PAGES && live_bytes + size <= PAGES * PAGE && next_random() % 100 < 55)
			dirty += !take(size, step);
		else if (num_live)
			spoiled += next_random() % 4 ? !put(next_random() % num_live) :
				   !cut(next_random() % num_live);
	}
	all = resident();
	ok(!dirty, "pages of %u: a run is clear when it is taken: %u were not", page, dirty);
	while (num_live)
		spoiled += !put(num_live - 1);
	ok(!spoiled, "pages of %u: nobody else changes it: %u were changed", page, spoiled);
	ok(all && all != UINT64_MAX && !resident(),
	   "pages of %u: the host has all of it back: %llu bytes, of %llu", page,
	   (unsigned long long)resident(), (unsigned long long)all);
	runs_fini(&runs);
}

int main(void)
{
	test_host(PAGE);
	test_host(4 * PAGE);
	test_host(16 * PAGE);
	return tap_done();
}
