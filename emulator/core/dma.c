// SPDX-License-Identifier: MIT
/*
 * Bus access, and memory behind page tables.
 */
#include <endian.h>
#include <string.h>

#include "device_memory.h"
#include "device_state.h"
#include "dma.h"
#include "memory_accounting.h"
#include "slots.h"

#define NODE_BYTES(entries)	((entries) * sizeof(uint64_t))
#define NODE_SIZE		mem_size(NODE_BYTES(NNPU_TABLE_ENTRIES))
#define LEAF_SHIFT		(NNPU_PAGE_SHIFT + NNPU_TABLE_SHIFT)

/* Nodes of slots with more nodes than this are not cached. */
#define MAX_INDEXED_LEAVES	4096u

/* Wait while the device is paused. The device does not stop, and the range does not wrap around. */
static bool can_access(struct nnpu_device *dev, uint64_t addr, size_t len)
{
	dev_await_resume(dev);
	return !atomic_load_explicit(&dev->stop, memory_order_relaxed) && addr + len >= addr;
}

/* The caller's bytes are only read with DMA_WRITE. */
static int transfer(struct nnpu_device *dev, uint64_t addr, void *buf, size_t len,
		    enum dma_dir dir)
{
	unsigned int pauses;
	int ret;

	/*
	 * A pause may have come between the look and the access, which the bus refuses then. It may
	 * have ended before the thread looks again.
	 */
	do {
		pauses = atomic_load(&dev->pauses);
		if (!can_access(dev, addr, len))
			return -1;
		ret = dir == DMA_READ ? dev->ops->dma_read(dev->bus, addr, buf, len) :
					dev->ops->dma_write(dev->bus, addr, buf, len);
	} while (ret && (dev_is_paused(dev) || atomic_load(&dev->pauses) != pauses));
	return ret;
}

int dev_dma_read(struct nnpu_device *dev, uint64_t addr, void *buf, size_t len)
{
	return transfer(dev, addr, buf, len, DMA_READ);
}

int dev_dma_write(struct nnpu_device *dev, uint64_t addr, const void *buf, size_t len)
{
	return transfer(dev, addr, (void *)(uintptr_t)buf, len, DMA_WRITE);
}

int dev_dma_publish(struct nnpu_device *dev, uint64_t addr, const void *buf, size_t len)
{
	/* dev->lock is held: the device is not paused, see dev_await_resume_locked(). */
	if (atomic_load_explicit(&dev->stop, memory_order_relaxed) || addr + len < addr)
		return -1;
	return dev->ops->dma_publish(dev->bus, addr, buf, len);
}

bool mem_map_init(struct mem_map *map, const struct nnpu_mem *mem)
{
	uint64_t size = le64toh(mem->size);
	uint32_t levels = le32toh(mem->levels);

	*map = (struct mem_map){ .addr = le64toh(mem->addr), .size = size, .levels = levels };
	if (mem->reserved || levels > NNPU_TABLE_MAX_LEVELS || !size)
		return false;
	if (levels)
		return size <= 1ull << (NNPU_PAGE_SHIFT + NNPU_TABLE_SHIFT * levels);
	return true;
}

static uint64_t index_size(const struct mem_map *map)
{
	return mem_size(map->num_leaves * sizeof(*map->leaves));
}

static void piece_goes(void *piece, uint64_t size, struct gone_pieces *gone)
{
	struct gone_piece *p = piece;

	p->next = gone->first;
	p->size = size;
	gone->first = p;
	gone->bytes += size;
}

void mem_map_drop(struct mem_map *map, struct gone_pieces *gone)
{
	uint32_t i;

	if (!map->leaves)
		return;
	for (i = 0; i < map->num_leaves; i++) {
		uint64_t *node = atomic_load_explicit(&map->leaves[i].node, memory_order_relaxed);

		if (node)
			piece_goes(node, NODE_SIZE, gone);
	}
	if (map->leaves != &map->only)
		piece_goes(map->leaves, index_size(map), gone);
	map->leaves = NULL;
}

static void pieces_free(struct nnpu_device *dev, struct leaving *first)
{
	struct gone_piece *p = (struct gone_piece *)first, *next;

	for (; p; p = next) {
		next = p->next;
		mem_free(dev, p, p->size);
	}
}

void gone_pieces_free(struct nnpu_device *dev, struct gone_pieces *gone)
{
	pieces_free(dev, (struct leaving *)gone->first);
}

void gone_pieces_leave(struct nnpu_device *dev, struct gone_pieces *gone)
{
	if (!gone->first)
		return;
	gone->first->leaving.free = pieces_free;
	gone->first->leaving.bytes = gone->bytes;
	dev_leave(dev, &gone->first->leaving);
}

/* Read level 1 node number @index: the addresses of up to 512 pages. */
static int read_leaf(struct nnpu_device *dev, const struct mem_map *map, uint64_t index,
		     uint64_t *node)
{
	uint64_t pages = ((map->size - 1) >> NNPU_PAGE_SHIFT) + 1;
	uint64_t count = pages - (index << NNPU_TABLE_SHIFT);
	uint64_t addr = map->addr;
	unsigned int level;

	for (level = map->levels; level > 1; level--) {
		unsigned int shift = NNPU_TABLE_SHIFT * (level - 2);
		uint64_t entry = (index >> shift) & (NNPU_TABLE_ENTRIES - 1);

		if (!page_aligned(addr) ||
		    dev_dma_read(dev, addr + NODE_BYTES(entry), &addr, sizeof(addr)))
			return -1;
		addr = le64toh(addr);
	}
	if (count > NNPU_TABLE_ENTRIES)
		count = NNPU_TABLE_ENTRIES;
	if (!page_aligned(addr))
		return -1;
	return dev_dma_read(dev, addr, node, NODE_BYTES(count));
}

/* Read node @index to @scratch, unless that has it (*@held). Cache it if there is room. */
static const uint64_t *load_leaf(struct nnpu_device *dev, struct mem_map *map, uint64_t index,
				 uint64_t *scratch, uint64_t *held, struct nnpu_ctx *ctx)
{
	uint64_t *node, *other = NULL;

	if (*held != index) {
		*held = UINT64_MAX;
		memset(scratch, 0, NODE_BYTES(NNPU_TABLE_ENTRIES));
		if (read_leaf(dev, map, index, scratch))
			return NULL;
		*held = index;
	}
	if (!ctx || !map->leaves || !ctx_cache_reserve(ctx, NODE_SIZE))
		return scratch;
	node = mem_alloc(dev, NODE_BYTES(NNPU_TABLE_ENTRIES));
	if (node) {
		memcpy(node, scratch, NODE_BYTES(NNPU_TABLE_ENTRIES));
		if (atomic_compare_exchange_strong(&map->leaves[index].node, &other, node))
			return node;
		mem_free(dev, node, NODE_SIZE);
	}
	/* No memory, or another thread was first. */
	ctx_cache_release(ctx, NODE_SIZE);
	return other ? other : scratch;
}

static const uint64_t *kept_leaf(const struct mem_map *map, uint64_t index)
{
	if (!map->leaves)
		return NULL;
	return atomic_load_explicit(&map->leaves[index].node, memory_order_acquire);
}

/* An access within one page whose node is cached. False: it is not of this kind. */
static bool access_page(struct nnpu_device *dev, const struct mem_map *map, uint64_t offset,
			void *buf, size_t len, enum dma_dir dir, unsigned int *status)
{
	uint64_t in_page = offset & (NNPU_PAGE_SIZE - 1), addr;
	const uint64_t *leaf = kept_leaf(map, offset >> LEAF_SHIFT);

	if (!leaf || len > NNPU_PAGE_SIZE - in_page)
		return false;
	addr = le64toh(leaf[offset >> NNPU_PAGE_SHIFT & (NNPU_TABLE_ENTRIES - 1)]);
	*status = !page_aligned(addr) || transfer(dev, addr + in_page, buf, len, dir) ?
		  NNPU_STATUS_DMA_ERROR : NNPU_STATUS_SUCCESS;
	return true;
}

static unsigned int access_table(struct nnpu_device *dev, struct mem_map *map, uint64_t offset,
				 uint8_t *buf, size_t len, enum dma_dir dir,
				 struct nnpu_ctx *ctx)
{
	/* Not cleared here: most accesses find the node in the cache. */
	uint64_t scratch[NNPU_TABLE_ENTRIES];
	uint64_t held = UINT64_MAX;

	while (len) {
		uint64_t index = offset >> LEAF_SHIFT;
		const uint64_t *leaf = kept_leaf(map, index);
		unsigned int page = (offset >> NNPU_PAGE_SHIFT) & (NNPU_TABLE_ENTRIES - 1);
		uint64_t in_page = offset & (NNPU_PAGE_SIZE - 1);
		size_t run = NNPU_PAGE_SIZE - in_page;
		uint64_t addr;

		if (!leaf)
			leaf = load_leaf(dev, map, index, scratch, &held, ctx);
		if (!leaf)
			return NNPU_STATUS_DMA_ERROR;
		addr = le64toh(leaf[page]);
		if (!page_aligned(addr))
			return NNPU_STATUS_DMA_ERROR;
		/* Pages that follow each other in memory make one transfer. */
		while (run < len && ++page < NNPU_TABLE_ENTRIES &&
		       le64toh(leaf[page]) == addr + in_page + run)
			run += NNPU_PAGE_SIZE;
		if (run > len)
			run = len;
		if (transfer(dev, addr + in_page, buf, run, dir))
			return NNPU_STATUS_DMA_ERROR;
		offset += run;
		buf += run;
		len -= run;
	}
	return NNPU_STATUS_SUCCESS;
}

unsigned int mem_map_access(struct nnpu_device *dev, struct mem_map *map, uint64_t offset,
			    void *buf, size_t len, enum dma_dir dir, struct nnpu_ctx *ctx)
{
	unsigned int status;

	if (!len)
		return NNPU_STATUS_SUCCESS;
	if (map->levels && access_page(dev, map, offset, buf, len, dir, &status))
		return status;
	if (map->levels)
		return access_table(dev, map, offset, buf, len, dir, ctx);
	if (!page_aligned(map->addr) || map->addr + map->size < map->addr ||
	    transfer(dev, map->addr + offset, buf, len, dir))
		return NNPU_STATUS_DMA_ERROR;
	return NNPU_STATUS_SUCCESS;
}

void mem_map_keep(struct mem_map *map, struct nnpu_ctx *ctx)
{
	uint64_t leaves = ((map->size - 1) >> LEAF_SHIFT) + 1;

	if (!map->levels || leaves > MAX_INDEXED_LEAVES)
		return;
	map->num_leaves = (uint32_t)leaves;
	if (leaves == 1) {
		map->leaves = &map->only;
		return;
	}
	if (!ctx_cache_reserve(ctx, index_size(map)))
		return;
	map->leaves = mem_alloc(ctx->dev, leaves * sizeof(*map->leaves));
	if (!map->leaves)
		ctx_cache_release(ctx, index_size(map));
}
