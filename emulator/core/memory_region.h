/* SPDX-License-Identifier: MIT */
/*
 * Regions: pieces of any size that are freed together. They lie one behind the other in runs of
 * pages (device_memory.h), which the caller charges. The run added last grows page by page in its
 * place, so that few pages are left in part. The last piece of a run may be given back.
 */
#ifndef NNPU_EMU_MEMORY_REGION_H
#define NNPU_EMU_MEMORY_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page_runs.h"

struct nnpu_device;
struct region_run;

/* With AddressSanitizer, nobody may touch what is between two pieces. */
#define REGION_GAP	(64u * MEM_WATCHED)

struct mem_region {
	struct region_run *runs;	/* the one added last first */
};

/* Tables and small constants begin at a multiple of this, what commands keep at one of TENSOR_ALIGN. */
#define REGION_ALIGN	16u

/* The next multiple of @align, a power of 2. */
static inline uint64_t region_round_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* What a piece of the latter takes of a run. */
size_t region_step(size_t bytes);

/* A piece, clear if nothing was given back. NULL: it takes more pages. */
void *region_take(struct mem_region *r, size_t bytes, size_t align);

/* Pages for a piece that region_take() has none for. */
struct region_pages {
	uint64_t bytes;			/* to be charged */
	bool grows;			/* a run does; else a run has to be added */
};

struct region_pages region_pages_for(const struct mem_region *r, size_t bytes, size_t align);

/* The piece, when they are charged. NULL: the host has no memory; they are to be released. */
void *region_extend(struct nnpu_device *dev, struct mem_region *r, struct region_pages pages,
		    size_t bytes, size_t align);

/* Give a piece of TENSOR_ALIGN back. It is free now if it is the last one of its run. */
void region_give(struct mem_region *r, void *piece, size_t bytes);

/* A piece of REGION_ALIGN, all that is left in pages that are there: *@bytes. NULL: there is nothing. */
void *region_take_rest(struct mem_region *r, size_t *bytes);

/*
 * May a piece of REGION_ALIGN, the last one of its run, be cut to @bytes, and all pages behind them leave? See
 * mem_least().
 */
bool region_may_shrink(const struct nnpu_device *dev, const struct mem_region *r, const void *piece,
		       size_t bytes);
/*
 * Cut it. Returns the bytes of the pages that leave: as many as may. The run grows no more.
 * dev->lock held.
 */
uint64_t region_shrink(struct nnpu_device *dev, struct mem_region *r, void *piece, size_t bytes);

/* All pieces of @from belong to @r now. */
void region_join(struct mem_region *r, struct mem_region *from);

/* Free all pieces. The region may be in one of them. */
void region_free(struct nnpu_device *dev, struct mem_region *r);
/* The same, by the cleaner. dev->lock held. */
void region_leave(struct nnpu_device *dev, struct mem_region *r);

#endif /* NNPU_EMU_MEMORY_REGION_H */
