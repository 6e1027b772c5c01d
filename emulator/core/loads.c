// SPDX-License-Identifier: MIT
/*
 * Loads and loaders.
 */
#include <endian.h>
#include <stdlib.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "device_threads.h"
#include "injected.h"
#include "interrupts.h"
#include "loads.h"
#include "program_load.h"
#include "queue.h"

/* How long a loader keeps the turn while others wait, ns. */
#define SLICE_NS	5000000u

/* The turn. */

static void give_turn(struct nnpu_device *dev)
{
	struct load_worker *next = dev->first_turn;

	dev->loading = next;
	if (!next)
		return;
	dev->first_turn = next->next;
	if (!dev->first_turn)
		dev->last_turn = NULL;
	next->waits = false;
	atomic_fetch_sub(&dev->turns_wanted, 1);
	pthread_cond_signal(&next->wake);
}

/* Take a loader that is to end from those that wait. */
static void turn_remove(struct nnpu_device *dev, struct load_worker *w)
{
	struct load_worker **p = &dev->first_turn, *prev = NULL;

	for (; *p != w; p = &(*p)->next)
		prev = *p;
	*p = w->next;
	if (dev->last_turn == w)
		dev->last_turn = prev;
	w->waits = false;
	atomic_fetch_sub(&dev->turns_wanted, 1);
}

static void wait_turn(struct load_worker *w)
{
	struct nnpu_device *dev = w->dev;

	w->next = NULL;
	if (dev->last_turn)
		dev->last_turn->next = w;
	else
		dev->first_turn = w;
	dev->last_turn = w;
	w->waits = true;
	atomic_fetch_add(&dev->turns_wanted, 1);
	while (w->waits && !job_is_to_end(&w->progress))
		pthread_cond_wait(&w->wake, &dev->lock);
	if (w->waits)
		turn_remove(dev, w);
	w->slice_end = 0;
}

static void take_turn(struct load_worker *w)
{
	w->slice_end = 0;
	if (w->dev->loading)
		wait_turn(w);
	else
		w->dev->loading = w;
}

/* At a point, if others wait; no lock held. */
static void loader_point(struct job_progress *progress)
{
	struct load_worker *w = (struct load_worker *)((char *)progress -
						       offsetof(struct load_worker, progress));
	struct nnpu_device *dev = w->dev;
	uint64_t now = dev_now(dev);

	if (!dev->props.load_turns)
		return;
	/* The slice begins when another load waits. */
	if (!w->slice_end)
		w->slice_end = now + SLICE_NS;
	if (now < w->slice_end)
		return;
	slots_release(&w->slots);
	pthread_mutex_lock(&dev->lock);
	if (dev->loading == w && dev->first_turn && !job_is_to_end(progress)) {
		give_turn(dev);
		wait_turn(w);
	}
	pthread_mutex_unlock(&dev->lock);
}

/* Loads. */

/* Take a load out of its context. */
static void load_remove(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct load *load)
{
	struct load **p = &ctx->first_load, *prev = NULL;

	for (; *p != load; p = &(*p)->next)
		prev = *p;
	*p = load->next;
	if (ctx->last_load == load)
		ctx->last_load = prev;
	dev->num_loads--;
	dev->queues[0].begun--;
}

/* Complete a load and have it freed. What it gave belongs to the context from now on. */
static void load_end(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct load *load,
		     struct load_outcome *out, struct irqs *irqs)
{
	struct nnpu_queue *q = &dev->queues[0];

	load_remove(dev, ctx, load);
	if (load->saved)
		program_put(load->saved);
	if (out->program) {
		ctx->programs[le32toh(load->sqe.program)] = out->program;
		dev->num_programs++;
	}
	if (load->bad_status)
		out->v.status = 0x7abc;
	dev_log(dev, NNPU_LOG_TRACE, "admin 0x%02x ctx %u: %s", load->sqe.opcode, ctx->id,
		status_name(out->v.status));
	queue_complete(dev, q, le16toh(load->sqe.cid), &out->v, out->result, true, irqs);
	dev_leave_object(dev, &load->leaving, heap_size(sizeof(*load)));
}

/* An injected load: it makes no progress, or takes a second more. */
static void load_misbehave(struct load_worker *w, const struct load *load)
{
	struct nnpu_device *dev = w->dev;

	pthread_mutex_lock(&dev->lock);
	while (load->stall && !job_is_to_end(&w->progress))
		pthread_cond_wait(&w->wake, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
	if (load->slow)
		injected_slow(&w->progress);
}

/* Run the first load of the context. dev->lock held, dropped inside. */
static void load_first(struct load_worker *w, struct nnpu_ctx *ctx)
{
	struct nnpu_device *dev = w->dev;
	struct load_outcome out = { .v = VERDICT_SUCCESS };
	struct load *load = ctx->first_load;
	struct irqs irqs = { 0 };

	w->load = load;
	/* The control thread ends the loads of a dying context, not all in one hold. */
	atomic_store(&w->abort, ctx->dying);
	w->progress = (struct job_progress) {
		.dev = dev, .ctx = ctx, .counter = &dev->queues[0].progress, .shared = true,
		.contended = &dev->turns_wanted, .point = loader_point,
		.abort = &w->abort, .stop = &dev->stop,
	};
	take_turn(w);
	pthread_mutex_unlock(&dev->lock);
	if (load->stall || load->slow)
		load_misbehave(w, load);
	if (job_is_to_end(&w->progress))
		verdict_status(&out.v, NNPU_STATUS_ABORTED);
	else
		load_run(w, &out);
	slots_release(&w->slots);
	pthread_mutex_lock(&dev->lock);
	dev_await_resume_locked(dev);
	w->load = NULL;
	load_end(dev, ctx, load, &out, &irqs);
	if (dev->loading == w)
		give_turn(dev);
	irqs_raise_locked(dev, &irqs);
}

void loader_run(struct load_worker *w)
{
	struct nnpu_device *dev = w->dev;

	pthread_mutex_lock(&dev->lock);
	while (w->ctx || !dev->exiting) {
		struct nnpu_ctx *ctx = w->ctx;

		if (!ctx) {
			pthread_cond_wait(&w->wake, &dev->lock);
			continue;
		}
		while (ctx->first_load)
			load_first(w, ctx);
		ctx->loader = NULL;
		w->ctx = NULL;
		w->next = dev->idle_loaders;
		dev->idle_loaders = w;
		dev_job_ended(dev);
	}
	pthread_mutex_unlock(&dev->lock);
}

/* The control thread's part. */

bool loads_have_number(const struct nnpu_ctx *ctx, uint32_t number)
{
	const struct load *load;

	for (load = ctx->first_load; load; load = load->next)
		if (!load->saved && !(load->sqe.flags & NNPU_LOAD_CHECK) &&
		    le32toh(load->sqe.program) == number)
			return true;
	return false;
}

struct load *loads_prepare(struct nnpu_device *dev, const struct nnpu_ctx *ctx,
			   const struct nnpu_sqe_load_program *sqe, bool bad_status)
{
	struct load *load;
	bool has_loader;

	cleaner_make_room(dev, heap_size(sizeof(*load)));
	load = calloc(1, sizeof(*load));
	if (!load)
		return NULL;
	pthread_mutex_lock(&dev->lock);
	/* If the context loses its loader now, that is idle. */
	has_loader = ctx->loader || dev->idle_loaders;
	pthread_mutex_unlock(&dev->lock);
	if (!has_loader && !load_worker_create(dev)) {
		free(load);
		return NULL;
	}
	load->sqe = *sqe;
	load->bad_status = bad_status;
	return load;
}

/* Give a loader to a context that has none. */
static void give_loader(struct nnpu_device *dev, struct nnpu_ctx *ctx)
{
	struct load_worker *w = dev->idle_loaders;

	if (ctx->loader)
		return;
	dev->idle_loaders = w->next;
	w->ctx = ctx;
	ctx->loader = w;
	pthread_cond_signal(&w->wake);
}

unsigned int loads_add(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct load *load)
{
	/* Loaders may leave now. Nobody gets this completion. */
	if (atomic_load(&dev->stop))
		return NNPU_STATUS_ABORTED;
	if (dev->num_loads == dev->queues[0].sq_entries || dev->num_loads == dev->props.max_loads)
		return NNPU_STATUS_NO_RESOURCES;
	if (!load)
		return NNPU_STATUS_NO_MEMORY;
	give_loader(dev, ctx);
	load->stall = dev_inject(dev, NNPU_INJECT_LOAD_STALL);
	load->slow = dev_inject(dev, NNPU_INJECT_LOAD_SLOW);
	if (ctx->last_load)
		ctx->last_load->next = load;
	else
		ctx->first_load = load;
	ctx->last_load = load;
	dev->num_loads++;
	dev->queues[0].begun++;
	return NNPU_STATUS_SUCCESS;
}

static void abort_load(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct load *load,
		       struct irqs *irqs)
{
	struct load_outcome out = { .v = VERDICT_SUCCESS };

	if (ctx->loader->load == load) {
		atomic_store(&ctx->loader->abort, true);
		pthread_cond_signal(&ctx->loader->wake);
		return;
	}
	verdict_status(&out.v, NNPU_STATUS_ABORTED);
	load_end(dev, ctx, load, &out, irqs);
}

bool loads_abort(struct nnpu_device *dev, uint16_t cid, struct irqs *irqs)
{
	unsigned int i;

	dev_await_resume_locked(dev);
	for (i = 0; i < atomic_load(&dev->num_loaders); i++) {
		struct nnpu_ctx *ctx = dev->loaders[i].ctx;
		struct load *load = ctx ? ctx->first_load : NULL;

		while (load && le16toh(load->sqe.cid) != cid)
			load = load->next;
		if (!load)
			continue;
		abort_load(dev, ctx, load, irqs);
		return true;
	}
	return false;
}

void loads_abort_ctx(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct irqs *irqs)
{
	struct load *load, *next;
	unsigned int n = 0;

	dev_await_resume_locked(dev);
	for (load = ctx->first_load; load; load = next) {
		next = load->next;
		abort_load(dev, ctx, load, irqs);
		if (++n % HOLD_MAX)
			continue;
		/* Meanwhile the loader may end the next one. */
		dev_yield(dev, irqs);
		dev_await_resume_locked(dev);
		next = ctx->first_load;
	}
}

bool loads_busy(const struct nnpu_device *dev)
{
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_loaders); i++)
		if (dev->loaders[i].ctx)
			return true;
	return false;
}

bool loads_current(const struct nnpu_device *dev, uint16_t *cid)
{
	if (!dev->loading || !dev->loading->load)
		return false;
	*cid = le16toh(dev->loading->load->sqe.cid);
	return true;
}
