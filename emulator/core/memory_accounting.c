// SPDX-License-Identifier: MIT
/*
 * Accounting of device memory: what programs and arenas take from the device and from
 * the limit of their context.
 */
#include <string.h>
#include <time.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "memory_accounting.h"
#include "program_load.h"
#include "ops/op.h"

/* Between two points of a wait, ns. */
#define WAIT_NS		1000000
#define NS_PER_S	1000000000
/* What a job of a context without a limit of its own may owe its group: to charge costs. */
#define GROUP_CREDIT	65536u
/* Of what operations keep in a program, what shares its pages. */
#define KEPT_PIECE	(16 * NNPU_PAGE_SIZE)
/* What a context caches is at most this part of its limit or of the device, and at most so much. */
#define CACHE_PART	64
#define CACHE_MAX	(8u << 20)

/* dev->lock held. */
static bool dev_fits(const struct nnpu_device *dev, uint64_t bytes)
{
	return bytes <= dev->props.memory_size - dev->mem_used;
}

/*
 * A group may take more while it has no more than is left afterwards. So one group gets at
 * most half of the memory, the next one half of the rest. What engines keep counts as free.
 */
static bool group_fits(const struct nnpu_ctx *ctx, uint64_t bytes)
{
	const struct nnpu_device *dev = ctx->dev;
	uint64_t left;

	/* Contexts with a limit are charged before the device has the memory. */
	if (!ctx->group || dev->mem_charged >= dev->props.memory_size)
		return !ctx->group;
	left = dev->props.memory_size - dev->mem_charged;
	return bytes <= left / 2 && ctx->group->mem_used <= left - 2 * bytes;
}

/* dev->lock held. */
static bool ctx_fits(const struct nnpu_ctx *ctx, uint64_t bytes)
{
	if (ctx->mem_limit &&
	    (ctx->mem_used > ctx->mem_limit || bytes > ctx->mem_limit - ctx->mem_used))
		return false;
	return group_fits(ctx, bytes);
}

static void ctx_charge(struct nnpu_ctx *ctx, uint64_t bytes)
{
	ctx->mem_used += bytes;
	ctx->dev->mem_charged += bytes;
	if (ctx->group)
		ctx->group->mem_used += bytes;
}

void ctx_mem_uncharge(struct nnpu_ctx *ctx, uint64_t bytes)
{
	ctx->mem_used -= bytes;
	ctx->dev->mem_charged -= bytes;
	if (ctx->group)
		ctx->group->mem_used -= bytes;
}

void ctx_join_group(struct nnpu_ctx *ctx, uint32_t id)
{
	struct ctx_group *g, *unused = NULL, *end = ctx->dev->groups + ctx->dev->props.max_contexts;

	if (!id)
		return;
	for (g = ctx->dev->groups; g < end && !(g->contexts && g->id == id); g++)
		if (!g->contexts && !unused)
			unused = g;
	/* There are as many as contexts. */
	if (g == end) {
		g = unused;
		g->id = id;
		memset(g->sched, 0, sizeof(g->sched));
	}
	g->contexts++;
	ctx->group = g;
}

void ctx_leave_group(struct nnpu_ctx *ctx)
{
	if (ctx->group)
		ctx->group->contexts--;
	ctx->group = NULL;
}

uint64_t ctx_mem_credit(const struct nnpu_ctx *ctx)
{
	if (ctx->mem_limit)
		return 0;
	return ctx->group ? GROUP_CREDIT : UINT64_MAX;
}

/* A point of a wait. False: the wait is to end. dev->lock held, dropped inside. */
static bool wait_point(struct nnpu_device *dev, struct job_progress *progress)
{
	bool ends;

	pthread_mutex_unlock(&dev->lock);
	ends = op_progress(progress);
	pthread_mutex_lock(&dev->lock);
	return !ends;
}

/* Until memory has left, for so long at most. dev->lock held, dropped inside. */
static void wait_left(struct nnpu_device *dev)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	pthread_cond_timedwait(&dev->left, &dev->lock, &until);
}

/* What fits is not free yet: wait for it. dev->lock held, dropped inside. */
static bool await_free(struct nnpu_device *dev, uint64_t bytes, struct job_progress *progress)
{
	while (dev_fits(dev, bytes) && !dev_fits(dev, bytes + dev->mem_leaving)) {
		wait_left(dev);
		if (!wait_point(dev, progress))
			return false;
	}
	return true;
}

void mem_answer(struct nnpu_engine *e)
{
	if (!e->asked)
		return;
	e->asked = 0;
	e->dev->mem_asked--;
	sched_contend(e->dev);
	pthread_cond_broadcast(&e->dev->left);
}

/* Has a worker not answered that was asked up to @ticket? Later ones do not delay this. */
static bool answer_missing(const struct nnpu_device *dev, uint64_t ticket)
{
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_workers); i++)
		if (dev->engines[i].asked && dev->engines[i].asked <= ticket)
			return true;
	return false;
}

/*
 * Have the busy workers give back what their jobs do not use, the caller's own included. Each
 * of them does so at its next point, or where it waits. dev->lock held, dropped inside.
 */
static bool ask_workers(struct nnpu_device *dev, uint64_t bytes, struct job_progress *progress)
{
	uint64_t ticket = ++dev->mem_tickets;
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_workers); i++) {
		struct nnpu_engine *e = &dev->engines[i];

		if (!e->busy || e->asked)
			continue;
		e->asked = ticket;
		dev->mem_asked++;
		/* A job that has given way. */
		pthread_cond_signal(&e->turn);
	}
	sched_contend(dev);
	/* Stalled jobs. */
	pthread_cond_broadcast(&dev->event);
	do {
		if (!wait_point(dev, progress))
			return false;
		if (dev_fits(dev, bytes) || !answer_missing(dev, ticket))
			return true;
		wait_left(dev);
	} while (!dev_fits(dev, bytes));
	return true;
}

bool dev_mem_reserve(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes,
		     struct job_progress *progress)
{
	unsigned int i;
	bool ok;

	pthread_mutex_lock(&dev->lock);
	ok = !ctx || ctx_fits(ctx, bytes);
	/* What idle workers keep for their next job goes first. */
	for (i = 0; ok && !dev_fits(dev, bytes) && i < atomic_load(&dev->num_workers); i++)
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	/* ... then what busy ones have from earlier jobs. */
	if (ok && bytes <= dev->props.memory_size && !dev_fits(dev, bytes))
		ok = ask_workers(dev, bytes, progress);
	ok = ok && await_free(dev, bytes, progress) && dev_fits(dev, bytes) &&
	     (!ctx || ctx_fits(ctx, bytes));
	if (ok) {
		dev->mem_used += bytes;
		if (dev->mem_used > dev->mem_peak)
			dev->mem_peak = dev->mem_used;
		if (ctx)
			ctx_charge(ctx, bytes);
	}
	pthread_mutex_unlock(&dev->lock);
	return ok;
}

void dev_mem_release(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes)
{
	pthread_mutex_lock(&dev->lock);
	dev->mem_used -= bytes;
	if (ctx)
		ctx_mem_uncharge(ctx, bytes);
	pthread_mutex_unlock(&dev->lock);
}

bool ctx_mem_reserve(struct nnpu_ctx *ctx, uint64_t bytes)
{
	bool ok;

	pthread_mutex_lock(&ctx->dev->lock);
	ok = ctx_fits(ctx, bytes);
	if (ok)
		ctx_charge(ctx, bytes);
	pthread_mutex_unlock(&ctx->dev->lock);
	return ok;
}

void ctx_mem_release(struct nnpu_ctx *ctx, uint64_t bytes)
{
	pthread_mutex_lock(&ctx->dev->lock);
	ctx_mem_uncharge(ctx, bytes);
	pthread_mutex_unlock(&ctx->dev->lock);
}

bool ctx_cache_reserve(struct nnpu_ctx *ctx, uint64_t bytes)
{
	struct nnpu_device *dev = ctx->dev;
	uint64_t limit = dev->props.memory_size;
	bool ok;

	if (ctx->mem_limit && ctx->mem_limit < limit)
		limit = ctx->mem_limit;
	limit = limit / CACHE_PART < CACHE_MAX ? limit / CACHE_PART : CACHE_MAX;
	pthread_mutex_lock(&dev->lock);
	ok = bytes <= limit && ctx->cached <= limit - bytes && ctx_fits(ctx, bytes) &&
	     dev_fits(dev, bytes + dev->mem_leaving);
	if (ok) {
		dev->mem_used += bytes;
		if (dev->mem_used > dev->mem_peak)
			dev->mem_peak = dev->mem_used;
		ctx->cached += bytes;
		ctx_charge(ctx, bytes);
	}
	pthread_mutex_unlock(&dev->lock);
	return ok;
}

void ctx_cache_release(struct nnpu_ctx *ctx, uint64_t bytes)
{
	pthread_mutex_lock(&ctx->dev->lock);
	ctx->dev->mem_used -= bytes;
	ctx->cached -= bytes;
	ctx_mem_uncharge(ctx, bytes);
	pthread_mutex_unlock(&ctx->dev->lock);
}

/* A piece of the job's worker, or of the program that a load prepares. */
static void *take_small(struct job_progress *p, size_t bytes, bool kept)
{
	if (p->worker && bytes <= POOL_PIECE)
		return exec_pool_take(p->worker, p->ctx, bytes);
	if (p->kept && kept && bytes <= KEPT_PIECE)
		return program_take(p->kept, p, bytes);
	return NULL;
}

void *op_take(struct job_progress *p, size_t bytes, size_t *taken)
{
	uint64_t size;
	void *memory;

	if (bytes > p->dev->props.memory_size)
		return NULL;
	memory = take_small(p, bytes, taken);
	if (memory)
		return memory;
	size = mem_size(bytes);
	if (!dev_mem_reserve(p->dev, p->ctx, size, p))
		return NULL;
	memory = mem_alloc(p->dev, bytes);
	if (!memory)
		dev_mem_release(p->dev, p->ctx, size);
	else if (taken)
		*taken += size;
	return memory;
}

void op_give(struct job_progress *p, void *memory, size_t bytes)
{
	uint64_t size = mem_size(bytes);

	_Static_assert(sizeof(struct leaving) <= TENSOR_ALIGN, "has room");
	if (!memory || (p->worker && exec_pool_give(p->worker, memory, bytes)))
		return;
	/* Only pieces of regions begin elsewhere. */
	if ((uintptr_t)memory & (NNPU_PAGE_SIZE - 1)) {
		region_give(&p->kept->region, memory, bytes);
		return;
	}
	pthread_mutex_lock(&p->dev->lock);
	ctx_mem_uncharge(p->ctx, size);
	dev_leave_memory(p->dev, memory, size);
	pthread_mutex_unlock(&p->dev->lock);
}
