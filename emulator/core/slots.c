// SPDX-License-Identifier: MIT
/*
 * Contexts and their slots.
 *
 * Valid slot entries are cached until INVALIDATE_SLOTS, with the page table nodes that have
 * been read. Engines and loaders publish cached objects without a lock. They go only while
 * nobody holds the slots of the context.
 */
#include <sched.h>

#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "loads.h"
#include "memory_accounting.h"
#include "slots.h"
#include "ops/op.h"

/* Up to so many bytes an access is copied in one go while the slots are held. */
#define SMALL_ACCESS	4096u

/* Longest piece of a transfer between two looks at abort requests, bytes. */
#define DMA_CHUNK		(256u << 10)

#define SLOT_FLAGS	(NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE)

/* An entry of the cache. Who reads the slot first fills it, others do without it meanwhile. */
enum slot_state { SLOT_UNREAD, SLOT_FILLING, SLOT_CACHED };

/* The tables of a context lie behind it. */
static uint64_t programs_bytes(const struct nnpu_device *dev)
{
	return tensor_round_up((dev->props.max_programs + 1) * sizeof(struct program *));
}

static uint64_t lanes_bytes(const struct nnpu_device *dev)
{
	return tensor_round_up((dev->props.num_queues + 1) * NNPU_QUEUE_PRIORITY_NUM *
			       sizeof(struct lane));
}

uint64_t ctx_bytes(const struct nnpu_device *dev, uint32_t num_slots)
{
	return tensor_round_up(sizeof(struct nnpu_ctx)) + programs_bytes(dev) + lanes_bytes(dev) +
	       num_slots * sizeof(struct slot_map);
}

struct nnpu_ctx *ctx_create(struct nnpu_device *dev, uint32_t id, uint64_t slot_table,
			    uint32_t num_slots, uint64_t mem_limit)
{
	struct nnpu_ctx *ctx;
	uint8_t *tables;

	cleaner_make_room(dev, mem_size(ctx_bytes(dev, num_slots)));
	ctx = mem_alloc(dev, ctx_bytes(dev, num_slots));
	if (!ctx)
		return NULL;
	tables = (uint8_t *)ctx + tensor_round_up(sizeof(*ctx));
	ctx->dev = dev;
	ctx->id = id;
	ctx->slot_table = slot_table;
	ctx->num_slots = num_slots;
	ctx->mem_limit = mem_limit;
	ctx->sched.weight = NNPU_CTX_WEIGHT_DEFAULT;
	ctx->programs = (struct program **)tables;
	ctx->lanes = (struct lane *)(tables + programs_bytes(dev));
	ctx->slots = (struct slot_map *)(tables + programs_bytes(dev) + lanes_bytes(dev));
	return ctx;
}

/*
 * Holding. A thread stores whose slots it holds, then loads whether they are closed. The
 * control thread stores that they are closed, then loads who holds them. Both store and
 * load with sequential consistency, so at least one of them sees the other. Neither waits
 * long: slots are held for the arguments of a job and its small inputs, or for its small
 * outputs, and are closed while some memory is freed.
 */
void slots_hold_now(struct slots_holder *holder, struct nnpu_ctx *ctx)
{
	atomic_store(&holder->ctx, ctx);
	while (__builtin_expect(atomic_load(&ctx->closed), false)) {
		slots_release(holder);
		while (atomic_load(&ctx->closed))
			sched_yield();
		atomic_store(&holder->ctx, ctx);
	}
}

static void slots_close(struct nnpu_ctx *ctx)
{
	struct nnpu_device *dev = ctx->dev;
	unsigned int i;

	atomic_store(&ctx->closed, true);
	for (i = 0; i < atomic_load(&dev->num_workers); i++)
		while (atomic_load(&dev->engines[i].slots.ctx) == ctx)
			sched_yield();
	for (i = 0; i < atomic_load(&dev->num_loaders); i++)
		while (atomic_load(&dev->loaders[i].slots.ctx) == ctx)
			sched_yield();
}

static void slots_open(struct nnpu_ctx *ctx)
{
	atomic_store(&ctx->closed, false);
}

/* Empty the cache. Nobody holds the slots. */
static void slot_drop(struct slot_map *slot, struct gone_pieces *gone)
{
	/* In the common case nothing is written: the host has no page for slots that were not used. */
	if (atomic_load_explicit(&slot->state, memory_order_relaxed) == SLOT_UNREAD)
		return;
	mem_map_drop(&slot->mem, gone);
	atomic_store_explicit(&slot->state, SLOT_UNREAD, memory_order_relaxed);
}

void ctx_invalidate(struct nnpu_ctx *ctx, uint32_t first, uint32_t count)
{
	struct gone_pieces gone = { 0 };
	uint32_t i;

	slots_close(ctx);
	for (i = first; i < first + count; i++)
		slot_drop(&ctx->slots[i], &gone);
	slots_open(ctx);
	/* Nobody can find it any more. */
	pthread_mutex_lock(&ctx->dev->lock);
	ctx->cached -= gone.bytes;
	ctx_mem_uncharge(ctx, gone.bytes);
	gone_pieces_leave(ctx->dev, &gone);
	pthread_mutex_unlock(&ctx->dev->lock);
}

static void ctx_free(struct nnpu_device *dev, struct leaving *l)
{
	struct nnpu_ctx *ctx = (struct nnpu_ctx *)l;
	struct gone_pieces gone = { 0 };
	uint32_t i;

	for (i = 0; i < ctx->num_slots; i++)
		slot_drop(&ctx->slots[i], &gone);
	gone_pieces_free(dev, &gone);
	mem_free(dev, ctx, mem_size(ctx_bytes(dev, ctx->num_slots)));
}

void ctx_leave(struct nnpu_ctx *ctx)
{
	ctx_mem_uncharge(ctx, ctx->cached);
	ctx->leaving.leaving.bytes = ctx->cached;
	ctx_leave_group(ctx);
	ctx->leaving.leaving.free = ctx_free;
	dev_leave_object(ctx->dev, &ctx->leaving, mem_size(ctx_bytes(ctx->dev, ctx->num_slots)));
}

/* Read entry @index of the table; SUCCESS if it is good. */
static unsigned int slot_read(struct nnpu_ctx *ctx, uint32_t index, struct slot_map *slot)
{
	uint64_t addr = ctx->slot_table + (uint64_t)index * sizeof(struct nnpu_slot_entry);
	struct nnpu_slot_entry entry;
	__le32 flags;

	/* Software writes the flags last. Read first, they vouch for the other fields. */
	if (dev_dma_read(ctx->dev, addr + offsetof(struct nnpu_slot_entry, flags), &flags,
			 sizeof(flags)))
		return NNPU_STATUS_DMA_ERROR;
	atomic_thread_fence(memory_order_acquire);
	if (dev_dma_read(ctx->dev, addr, &entry, sizeof(entry)))
		return NNPU_STATUS_DMA_ERROR;
	slot->flags = le32toh(flags);
	if (entry.flags != flags || !(slot->flags & NNPU_SLOT_VALID) ||
	    (slot->flags & ~SLOT_FLAGS) || le32toh(entry.kind) != NNPU_SLOT_KIND_HOST ||
	    !mem_map_init(&slot->mem, &entry.mem))
		return NNPU_STATUS_INVALID_SLOT;
	return NNPU_STATUS_SUCCESS;
}

/* Read a slot that is not cached, and cache it unless another thread is at it. The slots are held. */
static __attribute__((noinline)) unsigned int slot_load(struct nnpu_ctx *ctx, uint32_t index,
							struct slot_map *read,
							struct slot_map **found)
{
	struct slot_map *slot = &ctx->slots[index];
	unsigned int state = SLOT_UNREAD, status;

	status = slot_read(ctx, index, read);
	if (status)
		return status;
	*found = read;
	if (!atomic_compare_exchange_strong(&slot->state, &state, SLOT_FILLING))
		return NNPU_STATUS_SUCCESS;
	slot->flags = read->flags;
	slot->mem = read->mem;
	mem_map_keep(&slot->mem, ctx);
	atomic_store_explicit(&slot->state, SLOT_CACHED, memory_order_release);
	*found = slot;
	return NNPU_STATUS_SUCCESS;
}

/* The slot, from the cache or from memory: then it may be in @read. The slots are held. */
static inline unsigned int slot_get(struct nnpu_ctx *ctx, uint32_t index, struct slot_map *read,
				    struct slot_map **found)
{
	if (index >= ctx->num_slots)
		return NNPU_STATUS_INVALID_SLOT;
	*found = &ctx->slots[index];
	if (atomic_load_explicit(&(*found)->state, memory_order_acquire) == SLOT_CACHED)
		return NNPU_STATUS_SUCCESS;
	return slot_load(ctx, index, read, found);
}

static inline unsigned int slot_allows(const struct slot_map *slot, uint64_t offset, uint64_t len,
				enum dma_dir dir)
{
	if (len > slot->mem.size || offset > slot->mem.size - len)
		return NNPU_STATUS_SLOT_BOUNDS;
	if (!(slot->flags & (dir == DMA_READ ? NNPU_SLOT_READ : NNPU_SLOT_WRITE)))
		return NNPU_STATUS_SLOT_RIGHTS;
	return NNPU_STATUS_SUCCESS;
}

/* The same if it allows the access. */
static inline unsigned int slot_find(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset,
				     uint64_t len, enum dma_dir dir, struct slot_map *read,
				     struct slot_map **map)
{
	unsigned int status = slot_get(ctx, slot, read, map);

	return status ? status : slot_allows(*map, offset, len, dir);
}

unsigned int slot_check(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, uint64_t len,
			enum dma_dir dir)
{
	struct slot_map read, *map;

	return slot_find(ctx, slot, offset, len, dir, &read, &map);
}

/* Inline: a job of a few bytes makes five such accesses. */
static inline __attribute__((always_inline)) unsigned int
copy(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, void *buf, size_t len, enum dma_dir dir)
{
	struct slot_map read, *map;
	unsigned int status = slot_find(ctx, slot, offset, len, dir, &read, &map);

	if (status)
		return status;
	return mem_map_access(ctx->dev, &map->mem, offset, buf, len, dir, ctx);
}

unsigned int slot_copy(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, void *buf,
		       size_t len, enum dma_dir dir)
{
	return copy(ctx, slot, offset, buf, len, dir);
}

static unsigned int access_pieces(struct nnpu_ctx *ctx, struct slots_holder *holder, uint32_t slot,
				  uint64_t offset, uint8_t *p, uint64_t len, enum dma_dir dir,
				  struct job_progress *progress)
{
	unsigned int status;

	slots_release(holder);
	/* Piece by piece, so that INVALIDATE_SLOTS and aborts do not wait for all of it. */
	do {
		size_t piece = len < DMA_CHUNK ? len : DMA_CHUNK;
		struct slot_map read, *map;

		if (progress && op_progress(progress))
			return job_end_status(progress);
		slots_hold(holder, ctx);
		status = slot_find(ctx, slot, offset, len, dir, &read, &map);
		if (!status)
			status = mem_map_access(ctx->dev, &map->mem, offset, p, piece, dir,
						ctx);
		slots_release(holder);
		offset += piece;
		p += piece;
		len -= piece;
	} while (len && !status);
	return status;
}

unsigned int slot_access(struct nnpu_ctx *ctx, struct slots_holder *holder, uint32_t slot,
			 uint64_t offset, void *buf, uint64_t len, enum dma_dir dir,
			 struct job_progress *progress)
{
	if (len > SMALL_ACCESS)
		return access_pieces(ctx, holder, slot, offset, buf, len, dir, progress);
	slots_hold(holder, ctx);
	return copy(ctx, slot, offset, buf, len, dir);
}
