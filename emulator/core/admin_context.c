// SPDX-License-Identifier: MIT
/*
 * Admin commands about contexts and their slots.
 */
#include "admin_command.h"
#include "device_state.h"
#include "dma.h"
#include "engine.h"
#include "fetch.h"
#include "loads.h"
#include "memory_accounting.h"
#include "program_load.h"
#include "queue.h"
#include "scheduler.h"

void admin_create_ctx(struct admin *a, const struct nnpu_sqe_create_ctx *c)
{
	struct nnpu_device *dev = a->dev;
	uint32_t id = le32toh(c->ctx), num_slots = le32toh(c->num_slots);
	struct nnpu_ctx *ctx;

	if (c->flags || c->reserved1 || !is_zero(c->reserved, sizeof(c->reserved))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	if (!id || id > dev->props.max_contexts) {
		admin_fail(a, NNPU_STATUS_INVALID_CTX);
		return;
	}
	if (dev->contexts[id]) {
		admin_fail(a, NNPU_STATUS_BUSY);
		return;
	}
	if (!page_aligned(le64toh(c->slot_table)) || !num_slots ||
	    num_slots > 1u << dev->props.max_slots_log2 ||
	    le16toh(c->weight) > NNPU_CTX_WEIGHT_MAX ||
	    le16toh(c->sched_class) >= NNPU_CTX_CLASS_NUM) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = ctx_create(dev, id, le64toh(c->slot_table), num_slots, le64toh(c->mem_limit));
	if (!ctx) {
		admin_fail(a, NNPU_STATUS_NO_MEMORY);
		return;
	}
	ctx->time_limit_ns = le64toh(c->time_limit_ns);
	ctx->sched.class = (uint8_t)le16toh(c->sched_class);
	if (c->weight)
		ctx->sched.weight = le16toh(c->weight);
	pthread_mutex_lock(&dev->lock);
	ctx->serial = dev->next_serial++;
	ctx_join_group(ctx, le32toh(c->group));
	sched_add_ctx(ctx);
	dev->contexts[id] = ctx;
	dev->num_contexts++;
	pthread_mutex_unlock(&dev->lock);
}

void admin_destroy_ctx(struct admin *a, const struct nnpu_sqe *c)
{
	struct nnpu_device *dev = a->dev;
	struct program **programs;
	struct nnpu_ctx *ctx;
	struct irqs irqs = { 0 };
	unsigned int i;

	if (c->flags || !is_zero(c->body, sizeof(c->body))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	programs = ctx->programs;

	pthread_mutex_lock(&dev->lock);
	ctx->dying = true;
	/* All of them before the first wait. */
	engines_abort(dev, NULL, ctx);
	loads_abort_ctx(dev, ctx, &irqs);
	for (i = 1; i <= dev->props.num_queues; i++)
		if (dev->queues[i].exists && dev->queues[i].ctx == ctx) {
			admin_quiesce(dev, &dev->queues[i]);
			queue_init(dev, &dev->queues[i]);
		}
	for (i = 1; i <= dev->props.num_queues; i++)
		fetch_drop(dev, ctx, i, &irqs);
	engines_abort(dev, NULL, ctx);
	loads_abort_ctx(dev, ctx, &irqs);
	/* A job releases its context before it leaves its lane. */
	while (ctx->running || ctx->sched.active || ctx->loader)
		dev_await_jobs(dev);
	dev->contexts[ctx->id] = NULL;
	dev->num_contexts--;
	for (i = 1; i <= dev->props.max_programs; i++) {
		if (!programs[i])
			continue;
		program_put(programs[i]);
		dev->num_programs--;
	}
	/* Engines keep memory for their next job, but not for a client that is gone. */
	for (i = 0; i < atomic_load(&dev->num_workers); i++) {
		dev->engines[i].trim = dev->engines[i].busy;
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	}
	ctx_leave(ctx);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

void admin_invalidate(struct admin *a, const struct nnpu_sqe_invalidate *c)
{
	uint32_t first = le32toh(c->first), count = le32toh(c->count);
	struct nnpu_ctx *ctx;

	if (c->flags || !is_zero(c->reserved, sizeof(c->reserved))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx = admin_get_ctx(a, c->ctx);
	if (!ctx)
		return;
	if (!count || (uint64_t)first + count > ctx->num_slots) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	ctx_invalidate(ctx, first, count);
}
