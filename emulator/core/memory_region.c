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
};

_Static_assert(sizeof(struct region_run) <= TENSOR_ALIGN, "has room");

size_t region_step(size_t bytes)
{
	return tensor_round_up(bytes ? bytes : 1) + REGION_GAP;
}

uint64_t region_run_size(size_t bytes)
{
	return mem_size(TENSOR_ALIGN + region_step(bytes));
}

void *region_take(struct mem_region *r, size_t bytes)
{
	size_t step = region_step(bytes);
	uint8_t *p = r->at;

	if (!p)
		return NULL;
	/* So that it can be told from a piece of whole pages. */
	if (!((uintptr_t)p & (NNPU_PAGE_SIZE - 1)))
		p += TENSOR_ALIGN;
	if (p > r->end || step > (size_t)(r->end - p))
		return NULL;
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	r->at = p + step;
	return p;
}

void *region_add(struct mem_region *r, void *memory, size_t bytes)
{
	struct region_run *run = memory;
	struct mem_region before = *r;
	void *p;

	run->next = r->runs;
	run->size = region_run_size(bytes);
	r->runs = run;
	r->at = (uint8_t *)memory + TENSOR_ALIGN;
	r->end = (uint8_t *)memory + run->size;
	ASAN_POISON_MEMORY_REGION(r->at, run->size - TENSOR_ALIGN);
	p = region_take(r, bytes);
	/* The next pieces go where there is more room. */
	if (before.end - before.at > r->end - r->at) {
		r->at = before.at;
		r->end = before.end;
	}
	return p;
}

void region_give(struct mem_region *r, void *piece, size_t bytes)
{
	size_t step = region_step(bytes);

	ASAN_POISON_MEMORY_REGION(piece, step);
	if ((uint8_t *)piece + step == r->at)
		r->at = piece;
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
