/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PT_H_
#define _NNPU_PT_H_

#include <linux/types.h>

#include "nnpu_hw.h"

struct device;
struct sg_table;

/**
 * struct nnpu_pt_node - one 4 KiB node of a page table
 * @cpu: NNPU_TABLE_ENTRIES addresses
 * @dma: DMA address, or DMA_MAPPING_ERROR before it is mapped
 */
struct nnpu_pt_node {
	__le64 *cpu;
	dma_addr_t dma;
};

/**
 * struct nnpu_pt - memory as the device addresses it
 * @dev: device
 * @addr: contiguous memory (levels 0) or the root node
 * @size: bytes, 0 = not initialised
 * @levels: depth of the table
 * @nodes: all nodes, leaves first, the root last
 * @num_nodes: entries of @nodes
 *
 * The DMA mapping of the pages themselves belongs to the buffer.
 */
struct nnpu_pt {
	struct device *dev;
	u64 addr;
	u64 size;
	u32 levels;
	struct nnpu_pt_node *nodes;
	u32 num_nodes;
};

int nnpu_pt_init(struct nnpu_pt *pt, struct device *dev, struct sg_table *sgt, u64 offset,
		 u64 size);
void nnpu_pt_fini(struct nnpu_pt *pt);
void nnpu_pt_to_mem(const struct nnpu_pt *pt, struct nnpu_mem *mem);

#endif /* _NNPU_PT_H_ */
