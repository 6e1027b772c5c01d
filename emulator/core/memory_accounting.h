/* SPDX-License-Identifier: MIT */
/*
 * Accounting of device memory. dev->lock must not be held.
 */
#ifndef NNPU_EMU_MEMORY_ACCOUNTING_H
#define NNPU_EMU_MEMORY_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

struct job_progress;
struct nnpu_ctx;
struct nnpu_device;
struct nnpu_engine;

/*
 * False: the device, or the context if there is one (it may be NULL), has too little, or
 * @progress says that the job or load is to end. It may have to wait until busy workers come
 * to a point and give back what their jobs do not use, and until memory that leaves is free;
 * the wait has points.
 */
bool dev_mem_reserve(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes,
		     struct job_progress *progress);
void dev_mem_release(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes);

/* What the worker does not use has been given back: tell who asked. dev->lock held. */
void mem_answer(struct nnpu_engine *e);

/*
 * A job may go on that has not been charged for less than so many bytes of its memory. If only the
 * group limits the context, it may owe it a little; without a group and a limit, everything.
 */
uint64_t ctx_mem_credit(const struct nnpu_ctx *ctx);

/* The same of the context alone: for memory the device has reserved for an engine. */
bool ctx_mem_reserve(struct nnpu_ctx *ctx, uint64_t bytes);
void ctx_mem_release(struct nnpu_ctx *ctx, uint64_t bytes);

/*
 * For what the context caches, and can do without: it never waits and takes nothing from anyone.
 * All of it is at most a small part of the limit of the context.
 */
bool ctx_cache_reserve(struct nnpu_ctx *ctx, uint64_t bytes);
void ctx_cache_release(struct nnpu_ctx *ctx, uint64_t bytes);

/* dev->lock held. */
void ctx_mem_uncharge(struct nnpu_ctx *ctx, uint64_t bytes);
void ctx_join_group(struct nnpu_ctx *ctx, uint32_t id);
void ctx_leave_group(struct nnpu_ctx *ctx);

#endif /* NNPU_EMU_MEMORY_ACCOUNTING_H */
