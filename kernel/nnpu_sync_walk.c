// SPDX-License-Identifier: GPL-2.0-only
/* A part of a buffer, piece by piece, by DMA addresses. */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>

#include "nnpu_sync_walk.h"

/**
 * nnpu_sync_walk - synchronise a part of a buffer
 * @walk: how
 * @sgt: buffer, mapped for the device
 * @offset: first byte
 * @length: bytes
 *
 * Sleeps: a process chose how much it is, and the same memory may be named many times. Once
 * nnpu_sync_walk.stop is true no more than NNPU_SYNC_STEP bytes follow.
 *
 * Return: 0, or -ECANCELED: stopped.
 */
int nnpu_sync_walk(const struct nnpu_sync_walk *walk, struct sg_table *sgt, u64 offset, u64 length)
{
	u64 left = 0;	/* until the next look */
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 len = sg_dma_len(sg);

		if (!length)
			return 0;
		if (offset >= len) {
			offset -= len;
			continue;
		}
		while (length && offset < len) {
			dma_addr_t dma = sg_dma_address(sg) + offset;
			u64 n = min3(length, len - offset, walk->piece - (dma & (walk->piece - 1)));

			if (!left) {
				cond_resched();
				if (walk->stop && walk->stop(walk))
					return -ECANCELED;
				left = NNPU_SYNC_STEP;
			}
			n = min(n, left);
			walk->sync(walk, dma, n);
			offset += n;
			length -= n;
			left -= n;
		}
		offset = 0;
	}
	return 0;
}
