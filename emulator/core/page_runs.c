// SPDX-License-Identifier: MIT
/*
 * Runs of pages in one reserved range of addresses.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnpu_hw.h"
#include "page_runs.h"

#define FULL	UINT64_MAX

/* The smallest k with 2^k >= @n. */
static unsigned int log2_up(uint64_t n)
{
	return n > 1 ? 64 - (unsigned int)__builtin_clzll(n - 1) : 0;
}

static unsigned int class_of(uint64_t pages)
{
	return log2_up(pages + RUNS_GUARD);
}

static bool is_growing(const struct page_runs *r, unsigned int k)
{
	return k + 1 == r->num_classes;
}

/* Of pages of a slot. */
static unsigned int slot_log2(const struct page_runs *r, unsigned int k)
{
	return is_growing(r, k) ? RUNS_GROWING : k;
}

/* Of bytes of a slot. */
static unsigned int slot_shift(const struct page_runs *r, unsigned int k)
{
	return slot_log2(r, k) + NNPU_PAGE_SHIFT;
}

static uint64_t slot_bytes(const struct page_runs *r, unsigned int k)
{
	return 1ull << slot_shift(r, k);
}

/*
 * Runs of a class that there can be at once: they have more than half of their slots' pages. Of those
 * that grow there are as many as have addresses.
 */
static uint64_t class_slots(const struct page_runs *r, uint64_t pages, unsigned int k)
{
	if (is_growing(r, k))
		return r->span >> (RUNS_GROWING + NNPU_PAGE_SHIFT);
	return k ? pages >> (k - 1) : pages;
}

static uint64_t level_words(uint64_t slots)
{
	return (slots + 63) / 64;
}

static unsigned int class_levels(uint64_t slots)
{
	unsigned int n = 1;

	while ((slots = level_words(slots)) > 1)
		n++;
	return n;
}

static uint64_t class_words(uint64_t slots)
{
	uint64_t words = 0;

	do {
		slots = level_words(slots);
		words += slots;
	} while (slots > 1);
	return words;
}

/* Returns the words behind it. What is behind the last slot counts as taken. */
static uint64_t *class_init(struct run_class *c, uint64_t slots, uint64_t *words)
{
	unsigned int l;

	c->levels = class_levels(slots);
	for (l = 0; l < c->levels; l++) {
		c->level[l] = words;
		words += level_words(slots);
		if (slots % 64)
			words[-1] = FULL << slots % 64;
		slots = level_words(slots);
	}
	return words;
}

static void *reserve(uint64_t bytes)
{
	void *p;

	if (bytes > SIZE_MAX)
		return NULL;
	p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static uint64_t host_page_size(void)
{
	uint64_t size = (uint64_t)getpagesize();

	return size > NNPU_PAGE_SIZE ? size : NNPU_PAGE_SIZE;
}

bool runs_init(struct page_runs *r, uint64_t memory)
{
	uint64_t host_page = host_page_size(), pages, words = 0, *at;
	unsigned int k;

	/* Each class begins at a page of the host. */
	pages = (memory + host_page - 1) / host_page * (host_page >> NNPU_PAGE_SHIFT);
	*r = (struct page_runs) { .num_classes = class_of(pages) + 2, .host_page = host_page };
	r->span = pages << (NNPU_PAGE_SHIFT + 1);
	r->bytes = r->num_classes * r->span;
	for (k = 0; k < r->num_classes; k++)
		words += class_words(class_slots(r, pages, k));
	r->bits_bytes = words * sizeof(*r->bits);
	r->base = reserve(r->bytes);
	r->bits = r->base ? reserve(r->bits_bytes) : NULL;
	if (!r->bits) {
		if (r->base)
			munmap(r->base, r->bytes);
		r->base = NULL;
		return false;
	}
#ifdef MADV_NOHUGEPAGE
	/* A huge page would take more than the run has. */
	madvise(r->base, r->bytes, MADV_NOHUGEPAGE);
#endif
#ifdef MADV_DONTDUMP
	/* Not everybody who writes a core dump leaves out what was never touched. */
	madvise(r->base, r->bytes, MADV_DONTDUMP);
#endif
	for (k = 0, at = r->bits; k < r->num_classes; k++)
		at = class_init(&r->classes[k], class_slots(r, pages, k), at);
	pthread_mutex_init(&r->lock, NULL);
	return true;
}

void runs_fini(struct page_runs *r)
{
	unsigned int k;

	if (!r->base)
		return;
	/* Of all of it would take memory. */
	for (k = 0; k < r->num_classes; k++)
		ASAN_UNPOISON_MEMORY_REGION(r->base + k * r->span,
					    r->classes[k].top << slot_shift(r, k));
	munmap(r->base, r->bytes);
	munmap(r->bits, r->bits_bytes);
	pthread_mutex_destroy(&r->lock);
	r->base = NULL;
}

/* The lowest free slot. False: there is none. */
static bool class_take(struct run_class *c, uint64_t *slot)
{
	unsigned int l = c->levels;
	uint64_t i = 0;

	while (l--) {
		uint64_t word = c->level[l][i];

		if (word == FULL)
			return false;
		i = i * 64 + (unsigned int)__builtin_ctzll(~word);
	}
	*slot = i;
	if (c->top <= i)
		c->top = i + 1;
	for (l = 0; l < c->levels; l++) {
		uint64_t *word = &c->level[l][i / 64];

		*word |= 1ull << i % 64;
		if (*word != FULL)
			break;
		i /= 64;
	}
	return true;
}

static void class_put(struct run_class *c, uint64_t i)
{
	unsigned int l;

	for (l = 0; l < c->levels; l++) {
		uint64_t *word = &c->level[l][i / 64];
		bool was_full = *word == FULL;

		*word &= ~(1ull << i % 64);
		if (!was_full)
			break;
		i /= 64;
	}
}

static void *take(struct page_runs *r, unsigned int k)
{
	uint64_t slot;
	bool taken;

	pthread_mutex_lock(&r->lock);
	taken = class_take(&r->classes[k], &slot);
	pthread_mutex_unlock(&r->lock);
	if (!taken)
		return NULL;
	return r->base + k * r->span + (slot << slot_shift(r, k));
}

void *runs_take(struct page_runs *r, uint64_t pages)
{
	unsigned int k = class_of(pages);

	return k + 1 < r->num_classes ? take(r, k) : NULL;
}

void *runs_take_growing(struct page_runs *r, uint64_t *room)
{
	*room = (1ull << RUNS_GROWING) - RUNS_GUARD;
	return take(r, r->num_classes - 1);
}

static unsigned int run_class(const struct page_runs *r, const void *run)
{
	return (unsigned int)(((uintptr_t)run - (uintptr_t)r->base) / r->span);
}

/* The page of the host that has @slot goes back if none of its slots is taken. */
static void page_put(struct page_runs *r, unsigned int k, uint64_t slot)
{
	uint64_t slots = r->host_page / slot_bytes(r, k), first = slot / slots * slots, taken;

	/* A power of two, and no more than a word has bits: pages of the host have at most 256 KiB. */
	if (slots > 64)
		return;
	taken = r->classes[k].level[0][first / 64] >> first % 64;
	if (taken << (64 - slots))
		return;
	madvise(r->base + k * r->span + first * slot_bytes(r, k), r->host_page, MADV_DONTNEED);
}

void runs_put(struct page_runs *r, const void *run)
{
	unsigned int k = run_class(r, run);
	uint64_t offset = (uintptr_t)run - (uintptr_t)r->base - k * r->span, slot;

	pthread_mutex_lock(&r->lock);
	slot = offset >> slot_shift(r, k);
	class_put(&r->classes[k], slot);
	/* With the lock, as the next run there may be taken at any time. */
	if (slot_bytes(r, k) < r->host_page)
		page_put(r, k, slot);
	pthread_mutex_unlock(&r->lock);
}

uint64_t runs_least(const struct page_runs *r, const void *run)
{
	unsigned int k = run_class(r, run);

	return k && !is_growing(r, k) ? (1ull << (k - 1)) + 1 - RUNS_GUARD : 1;
}

void runs_clear(const struct page_runs *r, void *pages, uint64_t bytes)
{
	uintptr_t first = (uintptr_t)pages, end = first + bytes, whole;

	/* The kernel takes whole pages of the host, and others have runs in this one. */
	if (slot_bytes(r, run_class(r, pages)) < r->host_page) {
		memset(pages, 0, bytes);
		return;
	}
	/* The page of the host where a run is cut stays; the one where it ends has nobody else. */
	whole = (first + r->host_page - 1) / r->host_page * r->host_page;
	if (whole > end)
		whole = end;
	memset(pages, 0, whole - first);
	/* Not where the process has locked its memory. */
	if (whole < end && madvise((void *)whole, end - whole, MADV_DONTNEED))
		memset((void *)whole, 0, end - whole);
}
