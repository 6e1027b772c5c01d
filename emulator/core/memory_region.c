// SPDX-License-Identifier: MIT
/*
 * Regions: pieces of any size that are freed together.
 */
#include "cleaner.h"
#include "device_memory.h"
#include "memory_region.h"

/* At the beginning of a run. */
struct region_run {
	struct region_run *next;
	uint64_t size;
	uint64_t room;			/* what it may grow to */
	uint8_t *at;			/* the end of the last piece; none begins at a page */
};

/* A piece goes to one of so many runs, those added last: a region may have very many. */
#define RUNS_TRIED	8u

/* What a piece takes. */
static size_t step_of(size_t bytes, size_t align)
{
	return region_round_up(bytes ? bytes : 1, align) + REGION_GAP;
}

size_t region_step(size_t bytes)
{
	return step_of(bytes, TENSOR_ALIGN);
}

static uint8_t *run_end(const struct region_run *run)
{
	return (uint8_t *)run + run->size;
}

/* Where the next piece begins. */
static uint8_t *next_piece(const struct region_run *run, size_t align)
{
	uint64_t at = region_round_up((uint64_t)(run->at - (uint8_t *)run), align);

	/* So that it can be told from a piece of whole pages. */
	return (uint8_t *)run + (at & (NNPU_PAGE_SIZE - 1) ? at : at + align);
}

static void *run_take(struct region_run *run, size_t bytes, size_t align)
{
	size_t step = step_of(bytes, align);
	uint8_t *p = next_piece(run, align);

	if (p > run_end(run) || step > (size_t)(run_end(run) - p))
		return NULL;
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	run->at = p + step;
	return p;
}

void *region_take(struct mem_region *r, size_t bytes, size_t align)
{
	struct region_run *run = r->runs;
	unsigned int i;
	void *p;

	for (i = 0; run && i < RUNS_TRIED; i++, run = run->next) {
		p = run_take(run, bytes, align);
		if (p)
			return p;
	}
	return NULL;
}

struct region_pages region_pages_for(const struct mem_region *r, size_t bytes, size_t align)
{
	const struct region_run *run = r->runs;
	uint64_t size;

	if (run) {
		size = mem_size((uint64_t)(next_piece(run, align) - (uint8_t *)run) +
				step_of(bytes, align));
		if (size <= run->room)
			return (struct region_pages) { size - run->size, true };
	}
	return (struct region_pages) {
		mem_size(region_round_up(sizeof(*run), align) + step_of(bytes, align)), false,
	};
}

void *region_extend(struct nnpu_device *dev, struct mem_region *r, struct region_pages pages,
		    size_t bytes, size_t align)
{
	struct region_run *run = r->runs;
	size_t room;

	if (pages.grows) {
		run->size += pages.bytes;
		return run_take(run, bytes, align);
	}
	run = mem_alloc_growing(dev, pages.bytes, &room);
	if (!run)
		return NULL;
	*run = (struct region_run) {
		.next = r->runs, .size = pages.bytes, .room = room,
		.at = (uint8_t *)(run + 1),
	};
	r->runs = run;
	ASAN_POISON_MEMORY_REGION(run->at, run->size - sizeof(*run));
	return run_take(run, bytes, align);
}

void region_give(struct mem_region *r, void *piece, size_t bytes)
{
	size_t step = region_step(bytes);
	struct region_run *run = r->runs;
	unsigned int i;

	ASAN_POISON_MEMORY_REGION(piece, step);
	for (i = 0; run && i < RUNS_TRIED; i++, run = run->next)
		if ((uint8_t *)piece + step == run->at)
			run->at = piece;
}

void *region_take_rest(struct mem_region *r, size_t *bytes)
{
	struct region_run *run = r->runs, *best = NULL;
	unsigned int i;

	*bytes = 0;
	for (i = 0; run && i < RUNS_TRIED; i++, run = run->next) {
		uint64_t before = (uint64_t)(next_piece(run, REGION_ALIGN) - (uint8_t *)run);

		if (run->size < before + step_of(*bytes + 1, REGION_ALIGN))
			continue;
		*bytes = run->size - before - REGION_GAP;
		best = run;
	}
	return best ? run_take(best, *bytes, REGION_ALIGN) : NULL;
}

/* The run of a piece. */
static struct region_run *run_of(const struct mem_region *r, const void *piece)
{
	struct region_run *run = r->runs;

	while ((uintptr_t)piece - (uintptr_t)run >= run->size)
		run = run->next;
	return run;
}

/* Bytes of a run whose last piece is cut to @bytes. */
static uint64_t shrunk_size(const struct region_run *run, const void *piece, size_t bytes)
{
	uint64_t before = (uint64_t)((const uint8_t *)piece - (const uint8_t *)run);

	return mem_size(before + (bytes ? step_of(bytes, REGION_ALIGN) : 0));
}

bool region_may_shrink(const struct nnpu_device *dev, const struct mem_region *r, const void *piece,
		       size_t bytes)
{
	const struct region_run *run = run_of(r, piece);

	return mem_least(dev, run, run->size) <= shrunk_size(run, piece, bytes);
}

uint64_t region_shrink(struct nnpu_device *dev, struct mem_region *r, void *piece, size_t bytes)
{
	struct region_run *run = run_of(r, piece);
	uint64_t left = shrunk_size(run, piece, bytes), least = mem_least(dev, run, run->size), leaves;

	if (left < least)
		left = least;
	leaves = run->size - left;
	ASAN_POISON_MEMORY_REGION((uint8_t *)piece + bytes,
				  (size_t)(run_end(run) - (uint8_t *)piece) - bytes);
	run->at = (uint8_t *)piece + (bytes ? step_of(bytes, REGION_ALIGN) : 0);
	run->size = left;
	/* The pages behind it may not be free yet. */
	run->room = left;
	if (leaves)
		dev_leave_end(dev, (uint8_t *)run + left, leaves);
	return leaves;
}

void region_join(struct mem_region *r, struct mem_region *from)
{
	struct region_run *run, *next;

	for (run = from->runs; run; run = next) {
		next = run->next;
		run->next = r->runs;
		r->runs = run;
	}
	*from = (struct mem_region) { 0 };
}

void region_free(struct nnpu_device *dev, struct mem_region *r)
{
	struct region_run *run, *next;

	for (run = r->runs; run; run = next) {
		next = run->next;
		mem_free(dev, run, run->size);
	}
}

void region_leave(struct nnpu_device *dev, struct mem_region *r)
{
	struct region_run *run, *next;

	for (run = r->runs; run; run = next) {
		next = run->next;
		dev_leave_memory(dev, run, run->size);
	}
	*r = (struct mem_region) { 0 };
}
