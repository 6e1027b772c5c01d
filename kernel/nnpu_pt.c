// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of the device: radix trees of 4 KiB nodes over the DMA addresses
 * of a scatter/gather table. Memory that is contiguous for the device needs none.
 *
 * User space decides how large they get. So the nodes are memory that is charged to its
 * memory cgroup, which memory of dma_alloc_coherent() is not. A node is written once, before it
 * is mapped for the device.
 */
#include <linux/dma-mapping.h>
#include <linux/error-injection.h>
#include <linux/math.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "nnpu_pt.h"

/**
 * struct nnpu_pt_walk - walks the device pages of a scatter/gather table
 * @sg: segment
 * @nents: segments left, @sg included
 * @skip: bytes of @sg that were walked
 */
struct nnpu_pt_walk {
	struct scatterlist *sg;
	unsigned int nents;
	u64 skip;
};

static int nnpu_pt_walk_start(struct nnpu_pt_walk *w, struct sg_table *sgt, u64 offset)
{
	w->sg = sgt->sgl;
	w->nents = sgt->nents;
	w->skip = offset;
	while (w->nents && w->skip >= sg_dma_len(w->sg)) {
		w->skip -= sg_dma_len(w->sg);
		w->sg = sg_next(w->sg);
		w->nents--;
	}
	return w->nents ? 0 : -EINVAL;
}

/* Segments of other dma-buf exporters need not consist of device pages. */
static int nnpu_pt_walk_page(struct nnpu_pt_walk *w, dma_addr_t *addr)
{
	if (!w->nents)
		return -EINVAL;
	*addr = sg_dma_address(w->sg) + w->skip;
	if (!IS_ALIGNED(*addr, NNPU_PAGE_SIZE) || sg_dma_len(w->sg) - w->skip < NNPU_PAGE_SIZE)
		return -EINVAL;
	w->skip += NNPU_PAGE_SIZE;
	if (w->skip == sg_dma_len(w->sg)) {
		w->skip = 0;
		w->sg = sg_next(w->sg);
		w->nents--;
	}
	return 0;
}

/* 0 and the first address if the pages are contiguous, 1 if not. */
static int nnpu_pt_contiguous(struct sg_table *sgt, u64 offset, u64 pages, u64 *first)
{
	struct nnpu_pt_walk walk;
	dma_addr_t addr, next = 0;
	u64 i;
	int ret;

	ret = nnpu_pt_walk_start(&walk, sgt, offset);
	if (ret)
		return ret;
	for (i = 0; i < pages; i++) {
		ret = nnpu_pt_walk_page(&walk, &addr);
		if (ret)
			return ret;
		if (!i)
			*first = addr;
		else if (addr != next)
			return 1;
		next = addr + NNPU_PAGE_SIZE;
	}
	return 0;
}

static int nnpu_pt_alloc_nodes(struct nnpu_pt *pt, u32 count)
{
	pt->nodes = kvcalloc(count, sizeof(*pt->nodes), GFP_KERNEL_ACCOUNT);
	if (!pt->nodes)
		return -ENOMEM;
	for (pt->num_nodes = 0; pt->num_nodes < count; pt->num_nodes++) {
		struct nnpu_pt_node *node = &pt->nodes[pt->num_nodes];

		/* A power of two: aligned to its size. */
		node->cpu = kzalloc(NNPU_PAGE_SIZE, GFP_KERNEL_ACCOUNT);
		if (!node->cpu)
			return -ENOMEM;
		node->dma = DMA_MAPPING_ERROR;
	}
	return 0;
}

/* Nodes that are filled. */
static int nnpu_pt_map_nodes(struct nnpu_pt *pt, u64 first, u64 count)
{
	u64 i;

	for (i = first; i < first + count; i++) {
		struct nnpu_pt_node *node = &pt->nodes[i];

		node->dma = dma_map_single(pt->dev, node->cpu, NNPU_PAGE_SIZE, DMA_TO_DEVICE);
		if (dma_mapping_error(pt->dev, node->dma)) {
			node->dma = DMA_MAPPING_ERROR;
			return -ENOMEM;
		}
	}
	return 0;
}

static int nnpu_pt_fill(struct nnpu_pt *pt, struct sg_table *sgt, u64 offset, u64 pages)
{
	u64 below = DIV_ROUND_UP_ULL(pages, NNPU_TABLE_ENTRIES), first = 0, i;
	struct nnpu_pt_walk walk;
	dma_addr_t addr;
	u32 level;
	int ret;

	ret = nnpu_pt_walk_start(&walk, sgt, offset);
	if (ret)
		return ret;
	for (i = 0; i < pages; i++) {
		ret = nnpu_pt_walk_page(&walk, &addr);
		if (ret)
			return ret;
		pt->nodes[i / NNPU_TABLE_ENTRIES].cpu[i % NNPU_TABLE_ENTRIES] =
			cpu_to_le64(addr);
	}

	/* Each further level points to the nodes of the one below. */
	for (level = 1; level < pt->levels; level++) {
		ret = nnpu_pt_map_nodes(pt, first, below);
		if (ret)
			return ret;
		for (i = 0; i < below; i++)
			pt->nodes[first + below + i / NNPU_TABLE_ENTRIES]
				.cpu[i % NNPU_TABLE_ENTRIES] =
				cpu_to_le64(pt->nodes[first + i].dma);
		first += below;
		below = DIV_ROUND_UP_ULL(below, NNPU_TABLE_ENTRIES);
	}
	ret = nnpu_pt_map_nodes(pt, first, below);
	pt->addr = pt->nodes[pt->num_nodes - 1].dma;
	return ret;
}

/**
 * nnpu_pt_init - describe memory to the device
 * @pt: gets the description
 * @dev: device
 * @sgt: scatter/gather table, mapped for @dev
 * @offset: first byte, multiple of the device page size
 * @size: bytes, multiple of the device page size, not 0
 *
 * Return: 0; -EINVAL if @sgt is too short or does not consist of device pages,
 * -ENOMEM.
 */
int nnpu_pt_init(struct nnpu_pt *pt, struct device *dev, struct sg_table *sgt, u64 offset,
		 u64 size)
{
	u64 pages = size >> NNPU_PAGE_SHIFT, nodes = pages;
	u32 levels = 0, total = 0;
	int ret;

	memset(pt, 0, sizeof(*pt));
	pt->dev = dev;
	pt->size = size;
	ret = nnpu_pt_contiguous(sgt, offset, pages, &pt->addr);
	if (ret <= 0)
		goto out;

	do {
		nodes = DIV_ROUND_UP_ULL(nodes, NNPU_TABLE_ENTRIES);
		total += nodes;
		levels++;
	} while (nodes > 1);
	pt->levels = levels;
	ret = levels > NNPU_TABLE_MAX_LEVELS ? -EINVAL : nnpu_pt_alloc_nodes(pt, total);
	if (!ret)
		ret = nnpu_pt_fill(pt, sgt, offset, pages);
out:
	if (ret)
		nnpu_pt_fini(pt);
	return ret;
}
ALLOW_ERROR_INJECTION(nnpu_pt_init, ERRNO);

/**
 * nnpu_pt_fini - free the nodes
 * @pt: description, initialised or not; the device does not use it
 */
void nnpu_pt_fini(struct nnpu_pt *pt)
{
	u32 i;

	for (i = 0; i < pt->num_nodes; i++) {
		struct nnpu_pt_node *node = &pt->nodes[i];

		if (node->dma != DMA_MAPPING_ERROR)
			dma_unmap_single(pt->dev, node->dma, NNPU_PAGE_SIZE, DMA_TO_DEVICE);
		kfree(node->cpu);
	}
	kvfree(pt->nodes);
	memset(pt, 0, sizeof(*pt));
}

/**
 * nnpu_pt_to_mem - write the description for the device
 * @pt: description
 * @mem: gets the description
 */
void nnpu_pt_to_mem(const struct nnpu_pt *pt, struct nnpu_mem *mem)
{
	mem->addr = cpu_to_le64(pt->addr);
	mem->size = cpu_to_le64(pt->size);
	mem->levels = cpu_to_le32(pt->levels);
	mem->reserved = 0;
}
