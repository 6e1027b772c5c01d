/* SPDX-License-Identifier: MIT */
/*
 * Allocations of device memory, after it has been reserved (memory_accounting.h).
 *
 * A piece has whole pages. Its size is what it takes of the host, and what is charged:
 * mem_size() of the bytes that somebody needs. The host has the pages back as soon as the piece is
 * free. Pieces of less than a page share runs of pages: see memory_region.h.
 *
 * Where pages of the host are larger, pieces may share one, and the host has it back when all of
 * them are free: what it gives may be as many times what is charged as its pages are larger.
 *
 * Allocating takes a lock for a few instructions, and no system call. Freeing may take long.
 */
#ifndef NNPU_EMU_DEVICE_MEMORY_H
#define NNPU_EMU_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page_runs.h"
#include "program_load.h"

struct job_progress;
struct nnpu_device;

static inline uint64_t mem_round_page(uint64_t bytes)
{
	return (bytes + NNPU_PAGE_SIZE - 1) & ~(uint64_t)(NNPU_PAGE_SIZE - 1);
}

/* The size of a piece with room for @bytes. */
static inline uint64_t mem_size(uint64_t bytes)
{
	return mem_round_page(bytes ? bytes : 1);
}

/* What malloc(@bytes) takes, of less than a page: the C library has a part of its own. */
static inline uint64_t heap_size(uint64_t bytes)
{
	return (bytes + 31) & ~15ull;
}

/* Reserve the addresses. False with a text in @error. */
bool mem_init(struct nnpu_device *dev, char *error, size_t size);
void mem_fini(struct nnpu_device *dev);

/* Room for @bytes, clear, at the beginning of a page. NULL: the host has no memory. */
void *mem_alloc(struct nnpu_device *dev, size_t bytes);

/*
 * The same for a piece that may grow to *@room bytes in its place: its owner reserves what it takes
 * more and counts it. That may be none.
 */
void *mem_alloc_growing(struct nnpu_device *dev, size_t bytes, size_t *room);

/*
 * Fault in the pages of a part of a piece that is about to be written, with one call: a fault for
 * each page takes twice as long. If the host cannot do that now, the writes fault them in.
 */
void mem_touch(void *p, size_t bytes);

/*
 * A piece for @bytes with the contents of @p of @size, which stays. It may take long: the work
 * counts as that of @progress, but it has no points. NULL: there is none.
 */
void *mem_copy(struct nnpu_device *dev, void *p, size_t size, size_t bytes,
	       struct job_progress *progress);

/*
 * What a piece of @size costs the device at least while it is there, however little of it is
 * left: a client may not have many that are cut to less.
 */
size_t mem_least(const struct nnpu_device *dev, const void *p, size_t size);

/*
 * Whole pages at the end of a piece are no longer used, but for a struct leaving at their
 * beginning. mem_free_end() gives them back, and may take long. The piece itself is freed after
 * that: whoever has it next may have these pages, too.
 */
void mem_cut(void *end, size_t bytes);
void mem_free_end(struct nnpu_device *dev, void *end, size_t bytes);

/* @size is what is left of the piece. NULL is nothing. */
void mem_free(struct nnpu_device *dev, void *p, size_t size);

#endif /* NNPU_EMU_DEVICE_MEMORY_H */
