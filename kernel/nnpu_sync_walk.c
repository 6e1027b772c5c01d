// SPDX-License-Identifier: GPL-2.0-only
/* A part of a buffer, piece by piece, by DMA addresses. */
#include <linux/minmax.h>
#include <linux/scatterlist.h>

#include "nnpu_sync_walk.h"

/**
 * nnpu_sync_walk_begin - begin to synchronise a part of a buffer
 * @walk: how; the caller has set @piece and @sync
 * @sgt: buffer, mapped for the device until the last step
 * @offset: first byte
 * @length: bytes
 */
void nnpu_sync_walk_begin(struct nnpu_sync_walk *walk, struct sg_table *sgt, u64 offset,
			  u64 length)
{
	walk->sg = sgt->sgl;
	walk->entries = sgt->nents;
	walk->offset = offset;
	walk->left = length;
}

/**
 * nnpu_sync_walk_step - synchronise the next NNPU_SYNC_STEP bytes
 * @walk: walk
 *
 * Return: true if there are more.
 */
bool nnpu_sync_walk_step(struct nnpu_sync_walk *walk)
{
	u64 room = NNPU_SYNC_STEP;

	while (walk->left && walk->entries) {
		u64 len = sg_dma_len(walk->sg);
		dma_addr_t dma;
		u64 n;

		if (walk->offset >= len) {
			walk->offset -= len;
			walk->sg = sg_next(walk->sg);
			walk->entries--;
			continue;
		}
		if (!room)
			return true;
		dma = sg_dma_address(walk->sg) + walk->offset;
		n = min3(walk->left, len - walk->offset, walk->piece - (dma & (walk->piece - 1)));
		n = min(n, room);
		walk->sync(walk, dma, n);
		walk->offset += n;
		walk->left -= n;
		room -= n;
	}
	return false;
}
