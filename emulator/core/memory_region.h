/* SPDX-License-Identifier: MIT */
/*
 * Regions: pieces of any size that are freed together. They lie one behind the other in runs of
 * pages (device_memory.h), which the caller charges. The last piece of a run may be given back.
 */
#ifndef NNPU_EMU_MEMORY_REGION_H
#define NNPU_EMU_MEMORY_REGION_H

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

/* What a piece takes of a run. */
size_t region_step(size_t bytes);

/* A piece, clear if nothing was given back. NULL: a run has to be added. */
void *region_take(struct mem_region *r, size_t bytes);
/* The size of a run for such a piece. */
uint64_t region_run_size(size_t bytes);
/* The same with a run of mem_alloc() of that size, which belongs to the region now. */
void *region_add(struct mem_region *r, void *run, size_t bytes);

/* Give a piece back. It is free now if it is the last one of its run. */
void region_give(struct mem_region *r, void *piece, size_t bytes);

/* All pieces of @from belong to @r now. */
void region_join(struct mem_region *r, struct mem_region *from);

/* Free all pieces. The region may be in one of them. */
void region_free(struct nnpu_device *dev, struct mem_region *r);
/* The same, by the cleaner. dev->lock held. */
void region_leave(struct nnpu_device *dev, struct mem_region *r);

#endif /* NNPU_EMU_MEMORY_REGION_H */
