// SPDX-License-Identifier: GPL-2.0-only
/*
 * What jobs wait for: their in-fences.
 *
 * In-fences belong to anybody, to other jobs of this driver among them, and may take as long as
 * they like. A job that ends before they have signalled gives everything back at once but this
 * structure and its own fence: that must not signal before the in-fences, as a waiter may rely on
 * what they stand for. The structure refers to fences only, so it outlives job, context and device.
 *
 * The callback of an in-fence runs under the lock of that fence, maybe in a hard interrupt. What
 * follows from the last one takes other locks and signals other fences, maybe of the same lock
 * class, and chains of jobs would recurse. So the callback does no more than to add the structure
 * to a list without locks; one work item, for all devices, does the rest.
 *
 * Lock order: lock of an in-fence, then nothing. nnpu_deps.lock, then nothing.
 */
#include <linux/dma-fence-chain.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "nnpu_deps.h"
#include "nnpu_job.h"
#include "nnpu_quota.h"
#include "nnpu_sched.h"

static void nnpu_deps_work(struct work_struct *work);

/* Those whose last in-fence has signalled, the latest first. */
static LLIST_HEAD(nnpu_deps_fired);
static DECLARE_WORK(nnpu_deps_fired_work, nnpu_deps_work);

/* All in-fences have signalled. Process context, no locks held. Takes over a reference. */
static void nnpu_deps_fire(struct nnpu_deps *deps)
{
	struct nnpu_job *job;

	spin_lock_irq(&deps->lock);
	deps->all_in = true;
	job = deps->job;
	/* The reference of the queue is dropped after nnpu_deps_defer() has cleared @job. */
	if (job)
		refcount_inc(&job->ref);
	spin_unlock_irq(&deps->lock);
	if (job) {
		nnpu_sched_ready(job);
		nnpu_job_put(job);
	}
	/* Nothing sets it after @all_in. */
	if (deps->out) {
		if (deps->error)
			dma_fence_set_error(deps->out, deps->error);
		dma_fence_signal(deps->out);
	}
	nnpu_deps_put(deps);
}

/* In the order in which they have fired. */
static void nnpu_deps_work(struct work_struct *work)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&nnpu_deps_fired));
	struct nnpu_deps *deps, *tmp;
	bool cookie;

	llist_for_each_entry_safe(deps, tmp, list, node) {
		cookie = dma_fence_begin_signalling();
		nnpu_deps_fire(deps);
		dma_fence_end_signalling(cookie);
		cond_resched();
	}
}

static void nnpu_deps_callback(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct nnpu_deps *deps = container_of(cb, struct nnpu_deps_in, cb)->deps;

	if (atomic_dec_and_test(&deps->pending) && llist_add(&deps->node, &nnpu_deps_fired))
		queue_work(nnpu_sched_wq, &nnpu_deps_fired_work);
}

/**
 * nnpu_deps_alloc - allocate room for in-fences
 * @max: how many
 *
 * Return: the structure with one reference, or NULL.
 */
struct nnpu_deps *nnpu_deps_alloc(u32 max)
{
	struct nnpu_deps *deps = kzalloc(struct_size(deps, in, max), GFP_KERNEL_ACCOUNT);

	if (!deps)
		return NULL;
	refcount_set(&deps->ref, 1);
	spin_lock_init(&deps->lock);
	return deps;
}

/**
 * nnpu_deps_add - add an in-fence
 * @deps: in-fences with room for it, not armed
 * @fence: fence; its reference is taken over
 *
 * One that is named several times is waited for once.
 */
void nnpu_deps_add(struct nnpu_deps *deps, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < deps->num; i++)
		if (deps->in[i].fence == fence) {
			dma_fence_put(fence);
			return;
		}
	deps->num++;
	deps->in[i].fence = fence;
	deps->in[i].deps = deps;
}

/**
 * nnpu_deps_get - take a reference
 * @deps: in-fences
 *
 * Return: @deps.
 */
struct nnpu_deps *nnpu_deps_get(struct nnpu_deps *deps)
{
	refcount_inc(&deps->ref);
	return deps;
}

/**
 * nnpu_deps_put - drop a reference
 * @deps: in-fences
 *
 * Any context in which no lock of a fence is held.
 */
void nnpu_deps_put(struct nnpu_deps *deps)
{
	u32 i;

	if (!refcount_dec_and_test(&deps->ref))
		return;
	for (i = 0; i < deps->num; i++)
		dma_fence_put(deps->in[i].fence);
	if (deps->hold)
		nnpu_quota_hold_put(deps->hold);
	dma_fence_put(deps->out);
	kfree(deps);
}

/**
 * nnpu_deps_arm - begin to wait
 * @deps: in-fences with @job; once. The caller has a reference of its own
 *
 * Process context, no locks held but reservations. nnpu_sched_ready() is called when all in-fences
 * have signalled: from here if they have already, which costs no worker its wake-up.
 */
void nnpu_deps_arm(struct nnpu_deps *deps)
{
	int signalled = 1;
	u32 i;

	nnpu_deps_get(deps);
	atomic_set(&deps->pending, deps->num + 1);
	for (i = 0; i < deps->num; i++)
		if (dma_fence_add_callback(deps->in[i].fence, &deps->in[i].cb, nnpu_deps_callback))
			signalled++;
	if (atomic_sub_and_test(signalled, &deps->pending))
		nnpu_deps_fire(deps);
}

/**
 * nnpu_deps_defer - the job has ended: signal its fence when the in-fences have signalled
 * @deps: in-fences of a job, armed now or later; once
 * @out: fence of the job
 * @error: its error
 * @hold: pays for that
 *
 * Any context in which no lock of a fence is held. What stays are @deps and @out. It counts as the
 * context whose job it was: a user cannot have any number of them.
 *
 * Return: false if they have signalled already: the caller signals the fence.
 */
bool nnpu_deps_defer(struct nnpu_deps *deps, struct dma_fence *out, int error,
		     struct nnpu_quota_hold *hold)
{
	unsigned long flags;
	bool deferred;

	spin_lock_irqsave(&deps->lock, flags);
	deps->job = NULL;
	deferred = !deps->all_in;
	if (deferred) {
		deps->out = dma_fence_get(out);
		deps->error = error;
		deps->hold = nnpu_quota_hold_get(hold);
	}
	spin_unlock_irqrestore(&deps->lock, flags);
	return deferred;
}

/**
 * nnpu_deps_error - error of the in-fences
 * @deps: in-fences that have signalled
 *
 * Return: the error of the first one that has one, else 0.
 */
int nnpu_deps_error(const struct nnpu_deps *deps)
{
	u32 i;

	for (i = 0; i < deps->num; i++) {
		/* A link of a timeline has no error of its own; that of the point counts. */
		int status = dma_fence_get_status(dma_fence_chain_contained(deps->in[i].fence));

		if (status < 0)
			return status;
	}
	return 0;
}

/**
 * nnpu_deps_time - when the in-fences had signalled
 * @deps: in-fences that have signalled
 *
 * Return: CLOCK_MONOTONIC of the last one, not later than now, ns.
 */
u64 nnpu_deps_time(const struct nnpu_deps *deps)
{
	u64 time = 0;
	u32 i;

	for (i = 0; i < deps->num; i++)
		time = max_t(u64, time, ktime_to_ns(dma_fence_timestamp(deps->in[i].fence)));
	/* Other drivers may give their fences any time. */
	return min(time, ktime_get_ns());
}
