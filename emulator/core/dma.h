/* SPDX-License-Identifier: MIT */
/*
 * Bus access, and memory behind page tables (struct nnpu_mem).
 */
#ifndef NNPU_EMU_DMA_H
#define NNPU_EMU_DMA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleaner.h"
#include "nnpu_hw.h"

struct nnpu_ctx;
struct nnpu_device;

enum dma_dir { DMA_READ, DMA_WRITE };

static inline bool page_aligned(uint64_t addr)
{
	return !(addr & (NNPU_PAGE_SIZE - 1));
}

/* 0, or -1 on a bus error. All fail at once when the device stops. */
int dev_dma_read(struct nnpu_device *dev, uint64_t addr, void *buf, size_t len);
int dev_dma_write(struct nnpu_device *dev, uint64_t addr, const void *buf, size_t len);
int dev_dma_publish(struct nnpu_device *dev, uint64_t addr, const void *buf, size_t len);

/* A level 1 page table node that has been read, or NULL. The first reader publishes it. */
struct kept_leaf {
	_Atomic(uint64_t *) node;
};

/* The memory a valid struct nnpu_mem describes. */
struct mem_map {
	uint64_t addr;
	uint64_t size;
	uint32_t levels;
	/* Cached level 1 nodes, one per 2 MiB. NULL: nodes are not cached. */
	uint32_t num_leaves;
	struct kept_leaf *leaves;
	struct kept_leaf only;		/* if there is one */
};

/* False: @mem is malformed. */
bool mem_map_init(struct mem_map *map, const struct nnpu_mem *mem);

/*
 * Cache level 1 nodes, at the cost of the context; @map stays where it is. It has to be charged for them: if its limit
 * or device memory leaves no room, nodes are not cached.
 */
void mem_map_keep(struct mem_map *map, struct nnpu_ctx *ctx);
/* Pieces of caches that go, for one turn of the cleaner: they are many. */
struct gone_piece {
	struct leaving leaving;		/* of the first one, for all */
	struct gone_piece *next;
	uint64_t size;
};

struct gone_pieces {
	struct gone_piece *first;
	uint64_t bytes;
};

/* Empty the cache: its pieces go to @gone, and are charged until they leave. */
void mem_map_drop(struct mem_map *map, struct gone_pieces *gone);
/* Free them. */
void gone_pieces_free(struct nnpu_device *dev, struct gone_pieces *gone);
/* The same, by the cleaner. dev->lock held. */
void gone_pieces_leave(struct nnpu_device *dev, struct gone_pieces *gone);

/*
 * Copy between @buf and the memory. The range must lie inside the map. @ctx is charged for
 * nodes that are cached; NULL: none may be. Returns a status.
 */
unsigned int mem_map_access(struct nnpu_device *dev, struct mem_map *map, uint64_t offset,
			    void *buf, size_t len, enum dma_dir dir, struct nnpu_ctx *ctx);

#endif /* NNPU_EMU_DMA_H */
