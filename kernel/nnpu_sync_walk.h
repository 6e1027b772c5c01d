/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SYNC_WALK_H_
#define _NNPU_SYNC_WALK_H_

#include <linux/sizes.h>
#include <linux/types.h>

struct scatterlist;
struct sg_table;

/* Bytes of one call of nnpu_sync_walk_step(). */
#define NNPU_SYNC_STEP		SZ_1M

/**
 * struct nnpu_sync_walk - what happens to a part of a buffer
 * @piece: no piece goes over a multiple of it; a power of 2, NNPU_SYNC_STEP at most
 * @sync: synchronises a piece
 * @sg: entry of the table that is next
 * @entries: entries from @sg on
 * @offset: the next byte, from the start of @sg on
 * @left: bytes to go
 */
struct nnpu_sync_walk {
	u64 piece;
	void (*sync)(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length);
	struct scatterlist *sg;
	unsigned int entries;
	u64 offset;
	u64 left;
};

void nnpu_sync_walk_begin(struct nnpu_sync_walk *walk, struct sg_table *sgt, u64 offset,
			  u64 length);
bool nnpu_sync_walk_step(struct nnpu_sync_walk *walk);

#endif /* _NNPU_SYNC_WALK_H_ */
