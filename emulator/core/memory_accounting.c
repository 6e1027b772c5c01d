// SPDX-License-Identifier: MIT
/*
 * Accounting of device memory: what programs and arenas take from the device and from
 * the limit of their context.
 */
#include "device_state.h"
#include "engine.h"
#include "memory_accounting.h"

/* dev->lock held. */
static bool dev_fits(const struct nnpu_device *dev, uint64_t bytes)
{
	return bytes <= dev->props.memory_size - dev->mem_used;
}

/* dev->lock held. */
static bool ctx_fits(const struct nnpu_ctx *ctx, uint64_t bytes)
{
	return !ctx->mem_limit ||
	       (ctx->mem_used <= ctx->mem_limit && bytes <= ctx->mem_limit - ctx->mem_used);
}

bool dev_mem_reserve(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes)
{
	unsigned int i;
	bool ok;

	pthread_mutex_lock(&dev->lock);
	ok = !ctx || ctx_fits(ctx, bytes);
	/* What idle workers keep for their next job goes first. This drops the lock. */
	for (i = 0; ok && !dev_fits(dev, bytes) && i < atomic_load(&dev->num_workers); i++)
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	ok = dev_fits(dev, bytes) && (!ctx || ctx_fits(ctx, bytes));
	if (ok) {
		dev->mem_used += bytes;
		if (dev->mem_used > dev->mem_peak)
			dev->mem_peak = dev->mem_used;
		if (ctx)
			ctx->mem_used += bytes;
	}
	pthread_mutex_unlock(&dev->lock);
	return ok;
}

void dev_mem_release(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes)
{
	pthread_mutex_lock(&dev->lock);
	dev->mem_used -= bytes;
	if (ctx)
		ctx->mem_used -= bytes;
	pthread_mutex_unlock(&dev->lock);
}

bool ctx_mem_reserve(struct nnpu_ctx *ctx, uint64_t bytes)
{
	bool ok;

	pthread_mutex_lock(&ctx->dev->lock);
	ok = ctx_fits(ctx, bytes);
	if (ok)
		ctx->mem_used += bytes;
	pthread_mutex_unlock(&ctx->dev->lock);
	return ok;
}

void ctx_mem_release(struct nnpu_ctx *ctx, uint64_t bytes)
{
	pthread_mutex_lock(&ctx->dev->lock);
	ctx->mem_used -= bytes;
	pthread_mutex_unlock(&ctx->dev->lock);
}
