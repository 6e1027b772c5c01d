// SPDX-License-Identifier: MIT
/*
 * Accounting of device memory: what programs and arenas take from the device and from
 * the limit of their context.
 */
#include "device_state.h"
#include "engine.h"
#include "memory_accounting.h"

static bool mem_fits(const struct nnpu_device *dev, uint64_t bytes)
{
	return bytes <= dev->props.memory_size - dev->mem_used;
}

bool dev_mem_reserve(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes)
{
	bool ok = true;
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	if (ctx && ctx->mem_limit &&
	    (ctx->mem_used > ctx->mem_limit || bytes > ctx->mem_limit - ctx->mem_used))
		ok = false;
	/* What idle engines keep for their next job goes first. */
	for (i = 0; ok && !mem_fits(dev, bytes) && i < dev->props.num_engines; i++)
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	if (ok && !mem_fits(dev, bytes))
		ok = false;
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
