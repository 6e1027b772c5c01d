/* SPDX-License-Identifier: MIT */
/*
 * Contexts and their slots, through which alone a job reaches memory of its client.
 *
 * An engine or loader holds the slots of a context while it accesses them. INVALIDATE_SLOTS
 * waits until none holds them, and then drops what is cached.
 */
#ifndef NNPU_EMU_SLOTS_H
#define NNPU_EMU_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cleaner.h"
#include "dma.h"
#include "scheduler.h"

struct job_progress;
struct load;
struct load_worker;
struct nnpu_device;
struct nnpu_engine;
struct program;

/* A slot entry: its place in the cache, or what a thread has read for one access. */
struct slot_map {
	atomic_uint state;		/* in the cache: enum slot_state */
	uint32_t flags;
	struct mem_map mem;
};

/* Contexts that take device memory and time as if they were one. dev->lock. */
struct ctx_group {
	uint32_t id;
	unsigned int contexts;		/* 0: not in use */
	uint64_t mem_used;
	struct sched_group sched[NNPU_CTX_CLASS_NUM];
};

struct nnpu_ctx {
	struct leaving_object leaving;
	struct nnpu_device *dev;
	uint32_t id;
	uint64_t serial;		/* never used again; tells engines whose bytes they keep */
	uint64_t slot_table;
	uint32_t num_slots;
	uint64_t mem_limit;		/* 0: none */
	uint64_t time_limit_ns;		/* engine time of a job; 0: none */
	uint64_t mem_used;		/* charged to it; dev->lock */
	struct ctx_group *group;	/* or NULL; dev->lock */
	unsigned int running;		/* jobs that have begun; dev->lock */
	struct sched_ctx sched;		/* dev->lock */
	struct lane *lanes;		/* for entries of kernel queues, see ctx_lane(); dev->lock */
	bool dying;			/* dev->lock */
	struct program **programs;	/* by number; dev->lock */
	struct load *first_load;	/* LOAD_PROGRAMs that have not ended; dev->lock */
	struct load *last_load;
	struct load_worker *loader;	/* at work for the context, or NULL; dev->lock */
	atomic_bool closed;		/* nobody may hold the slots: cached ones go */
	struct slot_map *slots;		/* the cache */
	uint64_t cached;		/* bytes of cached page tables; dev->lock */
};

/* What a context takes, but for cached slots. */
uint64_t ctx_bytes(const struct nnpu_device *dev, uint32_t num_slots);

struct nnpu_ctx *ctx_create(struct nnpu_device *dev, uint32_t id, uint64_t slot_table,
			    uint32_t num_slots, uint64_t mem_limit);

/* Free a context that nobody uses any more. dev->lock held. */
void ctx_leave(struct nnpu_ctx *ctx);

/* The lane for entries of kernel queue @qid. */
static inline struct lane *ctx_lane(struct nnpu_ctx *ctx, unsigned int qid, unsigned int priority)
{
	return &ctx->lanes[qid * NNPU_QUEUE_PRIORITY_NUM + priority];
}

/* Drop the cached entries of slots [first, first + count). */
void ctx_invalidate(struct nnpu_ctx *ctx, uint32_t first, uint32_t count);

/* Whose slots a thread holds: the context, or NULL. The control thread reads it. */
struct slots_holder {
	_Atomic(struct nnpu_ctx *) ctx;
};

/*
 * Hold and release the slots. Holding twice or releasing twice does no harm. In between
 * the slots stay as they are, and INVALIDATE_SLOTS waits.
 */
void slots_hold_now(struct slots_holder *holder, struct nnpu_ctx *ctx);

static inline void slots_hold(struct slots_holder *holder, struct nnpu_ctx *ctx)
{
	if (!atomic_load_explicit(&holder->ctx, memory_order_relaxed))
		slots_hold_now(holder, ctx);
}

static inline void slots_release(struct slots_holder *holder)
{
	/* Release: the accesses come before it. */
	atomic_store_explicit(&holder->ctx, NULL, memory_order_release);
}

/* Check slot number, rights and range. The slots are held. Returns a status. */
unsigned int slot_check(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, uint64_t len,
			enum dma_dir dir);

/* The same, and copy. */
unsigned int slot_copy(struct nnpu_ctx *ctx, uint32_t slot, uint64_t offset, void *buf,
		       size_t len, enum dma_dir dir);

/*
 * Copy between @buf and a slot of any size. Returns a status.
 *
 * A small access holds the slots and leaves them held. A large one goes piece by piece
 * and leaves them released; an abort that @progress (may be NULL) reports ends it with
 * ABORTED.
 */
unsigned int slot_access(struct nnpu_ctx *ctx, struct slots_holder *holder, uint32_t slot,
			 uint64_t offset, void *buf, uint64_t len, enum dma_dir dir,
			 struct job_progress *progress);

#endif /* NNPU_EMU_SLOTS_H */
