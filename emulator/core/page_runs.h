/* SPDX-License-Identifier: MIT */
/*
 * Runs of pages in one reserved range of addresses.
 *
 * Run sizes have classes: class k has slots of 2^k pages, as many as there can be runs at once that
 * fit into no smaller slot, given how much memory all runs have together. So there is always a
 * free slot, whatever was taken and freed before. A run keeps its slot when its end is cut: then
 * the pages that are left do not answer for it, and a class may be short of slots. Runs that grow
 * have a class of their own, which may be short of them, too: a new run has to do then.
 *
 * Pages are those of the device. Where those of the host are larger, one of them may have several runs
 * of a small class, and goes back to the host when none of them is left.
 *
 * The range is a single mapping. The lowest free slot is taken first, so that page
 * tables of the host stay few.
 */
#ifndef NNPU_EMU_PAGE_RUNS_H
#define NNPU_EMU_PAGE_RUNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNS_CLASSES	32u
/* Slots of runs that grow: 2^k pages. */
#define RUNS_GROWING	5u
/* 64 ^ 6 slots are more than a class has. */
#define RUNS_LEVELS	6u

#if defined(__SANITIZE_ADDRESS__)
#define MEM_WATCHED	1u
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEM_WATCHED	1u
#endif
#endif
#ifdef MEM_WATCHED
#include <sanitizer/asan_interface.h>
#else
#define MEM_WATCHED	0u
#define ASAN_POISON_MEMORY_REGION(p, bytes)	((void)(p), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(p, bytes)	((void)(p), (void)(bytes))
#endif

/* With AddressSanitizer a slot has a page more than its run: nobody may touch it. */
#define RUNS_GUARD	MEM_WATCHED

/*
 * Slots that are taken. A bit of level 0 stands for a slot, one of a higher level for a word of
 * the level below that has no free slot.
 */
struct run_class {
	uint64_t *level[RUNS_LEVELS];
	unsigned int levels;
	uint64_t top;			/* slots from here on never were taken */
};

struct page_runs {
	/*
	 * For the bits; innermost, held for a few instructions. Where pages of the host are larger,
	 * also while one of them is given back.
	 */
	pthread_mutex_t lock;
	uint8_t *base;
	uint64_t host_page;		/* size; at least NNPU_PAGE_SIZE */
	uint64_t bytes;			/* of addresses */
	uint64_t span;			/* of them, for a class */
	unsigned int num_classes;	/* the last one is that of runs that grow */
	struct run_class classes[RUNS_CLASSES];
	uint64_t *bits;
	uint64_t bits_bytes;
};

/*
 * Reserve addresses for runs of @memory bytes in all. False: the process has too few; @r->bytes
 * says how many it would be.
 */
bool runs_init(struct page_runs *r, uint64_t memory);
void runs_fini(struct page_runs *r);

/* A slot for @pages. NULL: there is none. What the pages hold is clear if runs_clear() was called. */
void *runs_take(struct page_runs *r, uint64_t pages);
/* The same for a run that grows, to *@room pages at most. */
void *runs_take_growing(struct page_runs *r, uint64_t *room);
/* Free the slot of a run. */
void runs_put(struct page_runs *r, const void *run);

/* Is it in the range? */
static inline bool runs_have(const struct page_runs *r, const void *p)
{
	return (uintptr_t)p - (uintptr_t)r->base < r->bytes;
}

/* Pages of the smallest run that takes a slot as large as this one's. */
uint64_t runs_least(const struct page_runs *r, const void *run);

/*
 * Clear the pages of a run up to its end; before runs_put(), if they are all. The host has them back, at
 * the latest when it can have the whole page of its own. It may take long.
 */
void runs_clear(const struct page_runs *r, void *pages, uint64_t bytes);

#endif /* NNPU_EMU_PAGE_RUNS_H */
