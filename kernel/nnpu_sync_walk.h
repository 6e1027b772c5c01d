/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SYNC_WALK_H_
#define _NNPU_SYNC_WALK_H_

#include <linux/sizes.h>
#include <linux/types.h>

struct sg_table;

/* Bytes between two looks at the scheduler, and at whether to go on. */
#define NNPU_SYNC_STEP		SZ_1M

/**
 * struct nnpu_sync_walk - what happens to a part of a buffer
 * @piece: no piece goes over a multiple of it; a power of 2, NNPU_SYNC_STEP at most
 * @sync: synchronises a piece
 * @stop: nobody needs the rest any more. NULL: all of it is needed
 */
struct nnpu_sync_walk {
	u64 piece;
	void (*sync)(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length);
	bool (*stop)(const struct nnpu_sync_walk *walk);
};

int nnpu_sync_walk(const struct nnpu_sync_walk *walk, struct sg_table *sgt, u64 offset,
		   u64 length);

/**
 * nnpu_sync_is_coherent - does the device see what the CPU sees?
 * @bounces: the device sees copies
 * @needs_sync: dma_need_sync() of a page
 * @by_iommu: the kernel's own IOMMU layer (dma-iommu) maps for the device
 * @snoops: dev_is_dma_coherent()
 *
 * dma_need_sync() may answer true for no reason behind that layer: always with
 * CONFIG_DMA_API_DEBUG, else once some memory of the device was bounced. What the layer itself
 * goes by is @snoops: of coherent devices it bounces for those that are not trusted only, and then
 * @bounces is true.
 *
 * Return: true: nothing ever has to be synchronised.
 */
static inline bool nnpu_sync_is_coherent(bool bounces, bool needs_sync, bool by_iommu,
					 bool snoops)
{
	return !bounces && (!needs_sync || (by_iommu && snoops));
}

#endif /* _NNPU_SYNC_WALK_H_ */
