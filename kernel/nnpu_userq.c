// SPDX-License-Identifier: GPL-2.0-only
/*
 * User queues: rings and a doorbell page that a process uses by itself.
 *
 * This file has the begin and the end of a queue. The device does not know a queue until
 * its doorbell is rung; then the queue gets a hardware queue. The driver never reads the
 * rings. The device checks every entry against the slots and programs of the context.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_genl.h"
#include "nnpu_userq.h"

/**
 * nnpu_userq_use - keep the context and the rings of a queue for a change of its hardware queue
 * @uq: queue; the caller has a reference, or holds nnpu_userqs.lock and found it in a list there
 *
 * The number of the queue is a user until the file gives the queue up, after the end. So a queue
 * that has not ended has a user.
 *
 * Return: false if the file has given the queue up and nothing changes its hardware queue.
 */
bool nnpu_userq_use(struct nnpu_userq *uq)
{
	return refcount_inc_not_zero(&uq->users);
}

/**
 * nnpu_userq_unuse - undo nnpu_userq_use()
 * @uq: queue
 *
 * The last user drops the context and the rings. May wait for the device.
 */
void nnpu_userq_unuse(struct nnpu_userq *uq)
{
	if (!refcount_dec_and_test(&uq->users))
		return;
	drm_gem_object_put(uq->ring);
	nnpu_ctx_put_deferred(uq->ctx);
	nnpu_userq_put(uq);
}

static void nnpu_userq_free_work(struct work_struct *work)
{
	struct nnpu_userq *uq = container_of(work, struct nnpu_userq, free_work);
	struct nnpu_device *ndev = uq->ndev;

	kfree(uq);
	drm_dev_put(&ndev->drm);
}

static void nnpu_userq_free(struct nnpu_userq *uq)
{
	mmdrop(uq->mm);
	__free_page(uq->dummy);
	mutex_destroy(&uq->map_lock);
	atomic_dec(&uq->ndev->stats.queues);
	nnpu_release_queue_last(&uq->free_work);
}

static void nnpu_userq_release_work(struct work_struct *work)
{
	nnpu_userq_free(container_of(work, struct nnpu_userq, release_work));
}

static void nnpu_userq_release(struct kref *ref)
{
	nnpu_userq_free(container_of(ref, struct nnpu_userq, ref));
}

static void nnpu_userq_release_deferred(struct kref *ref)
{
	struct nnpu_userq *uq = container_of(ref, struct nnpu_userq, ref);

	nnpu_release_queue(&uq->ndev->release, &uq->release_work);
}

/**
 * nnpu_userq_alloc - allocate a queue
 * @ctx: context
 * @args: checked arguments of QUEUE_CREATE
 *
 * Return: a parked queue that nobody else knows, with a user; or NULL.
 */
struct nnpu_userq *nnpu_userq_alloc(struct nnpu_ctx *ctx,
				    const struct drm_nnpu_queue_create *args)
{
	struct nnpu_userq *uq = kzalloc(sizeof(*uq), GFP_KERNEL_ACCOUNT);

	if (!uq)
		return NULL;
	uq->dummy = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!uq->dummy) {
		kfree(uq);
		return NULL;
	}
	/* The reference of the users. */
	kref_init(&uq->ref);
	refcount_set(&uq->users, 1);
	uq->ctx = nnpu_ctx_get(ctx);
	uq->ndev = ctx->ndev;
	uq->priority = args->priority;
	uq->sq_entries = args->sq_entries;
	uq->cq_entries = args->cq_entries;
	init_waitqueue_head(&uq->wait);
	INIT_LIST_HEAD(&uq->node);
	INIT_LIST_HEAD(&uq->sched_node);
	INIT_LIST_HEAD(&uq->zap_node);
	INIT_WORK(&uq->release_work, nnpu_userq_release_work);
	INIT_WORK(&uq->free_work, nnpu_userq_free_work);
	/* The descriptor may be open longer than the file and its context. */
	drm_dev_get(&ctx->ndev->drm);
	nnpu_release_expect();
	mutex_init(&uq->map_lock);
	/* Keep the identity of the address space only, not its pages. */
	uq->mm = current->mm;
	mmgrab(uq->mm);
	atomic_inc(&ctx->ndev->stats.queues);
	return uq;
}

/**
 * nnpu_userq_put - drop a reference
 * @uq: queue
 *
 * May wait for the device.
 */
void nnpu_userq_put(struct nnpu_userq *uq)
{
	kref_put(&uq->ref, nnpu_userq_release);
}

/**
 * nnpu_userq_next - the next queue of a walk that drops the lock now and then
 * @uqs: queues; its lock is held
 * @last: queue that was looked at last, or NULL
 * @from: number from which on to look, if @last has ended or is NULL
 *
 * A queue that has ended is in the list no more. The list, in the order of the numbers, is then
 * gone through from its head.
 *
 * Return: the queue, or NULL.
 */
struct nnpu_userq *nnpu_userq_next(struct nnpu_userqs *uqs, struct nnpu_userq *last,
				   unsigned long from)
{
	struct nnpu_userq *uq;

	if (last && !list_empty(&last->node)) {
		uq = list_next_entry(last, node);
		return list_entry_is_head(uq, &uqs->all, node) ? NULL : uq;
	}
	list_for_each_entry(uq, &uqs->all, node)
		if (uq->number >= from)
			return uq;
	return NULL;
}

/* For callers that hold nnpu_userqs.hw_lock. */
static void nnpu_userq_put_deferred(struct nnpu_userq *uq)
{
	kref_put(&uq->ref, nnpu_userq_release_deferred);
}

/**
 * nnpu_userq_tryget - take a reference, for nnpu_table_get()
 * @object: queue
 *
 * Return: false if the queue is on its way out.
 */
bool nnpu_userq_tryget(void *object)
{
	struct nnpu_userq *uq = object;

	return kref_get_unless_zero(&uq->ref);
}

/**
 * nnpu_userq_publish - let device resets find the queue
 * @uq: queue
 *
 * Return: 0, or -ENODEV if the context was lost or the device is dead.
 */
int nnpu_userq_publish(struct nnpu_userq *uq)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	int ret = 0;

	mutex_lock(&uqs->lock);
	/*
	 * A reset marks the contexts lost before it ends the queues: it finds the queue in
	 * the list, or the mark is seen here. Unplug sets dead before it ends the queues.
	 */
	if (nnpu_ctx_is_lost(uq->ctx) || READ_ONCE(uq->ndev->dead)) {
		ret = -ENODEV;
	} else {
		uq->number = ++uqs->last_number;
		list_add_tail(&uq->node, &uqs->all);
		atomic_inc(&uq->ctx->tally->queues);
		nnpu_netlink_changed(NNPU_NETLINK_QUEUES);
	}
	mutex_unlock(&uqs->lock);
	return ret;
}

/**
 * nnpu_userq_end_locked - end a queue
 * @uq: queue; the caller is a user of it
 * @end: one of the states of the end
 * @reason: NNPU_STATUS_* with NNPU_USERQ_STOPPED, else 0
 *
 * The caller holds nnpu_userqs.hw_lock. When this returns the device does not use the rings
 * any more. Nobody sees the end before that: a process that sees it may free its memory. A
 * queue that had ended before keeps its state.
 */
void nnpu_userq_end_locked(struct nnpu_userq *uq, enum nnpu_userq_state end, u32 reason)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	bool ended;

	lockdep_assert_held(&uqs->hw_lock);
	mutex_lock(&uqs->lock);
	ended = nnpu_userq_state_ended(uq->state);
	/* What others see of a queue whose context is just being destroyed is no reason. */
	if (READ_ONCE(uq->ctx->destroyed)) {
		end = NNPU_USERQ_DESTROYED;
		reason = 0;
	}
	if (!ended) {
		uq->end = end;
		uq->reason = reason;
		if (uq->qid)
			nnpu_userq_state_set(uq, NNPU_USERQ_LEAVING);
	}
	mutex_unlock(&uqs->lock);
	if (ended)
		return;
	nnpu_userq_state_zap(uq);
	nnpu_userq_hw_leave(uq);
	mutex_lock(&uqs->lock);
	/* If DESTROY_QUEUE ended in a reset, nnpu_userq_lose_all() has published the end. */
	if (!nnpu_userq_state_ended(uq->state))
		nnpu_userq_state_set(uq, end);
	mutex_unlock(&uqs->lock);
	nnpu_userq_wake(uq);
}

/**
 * nnpu_userq_end - end a queue
 * @uq: queue
 * @end: one of the states of the end
 * @reason: NNPU_STATUS_* with NNPU_USERQ_STOPPED, else 0
 *
 * As nnpu_userq_end_locked(), for callers without the lock. Does not wait for it if the queue has
 * ended: other clients' changes hold it. Several callers may meet here. The first one with the
 * lock ends the queue; the others return when the queue has ended.
 */
void nnpu_userq_end(struct nnpu_userq *uq, enum nnpu_userq_state end, u32 reason)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	bool ended;

	/* The file may give the queue up while this waits for the lock, or for the device. */
	if (!nnpu_userq_use(uq))
		return;
	mutex_lock(&uqs->lock);
	ended = nnpu_userq_state_ended(uq->state);
	mutex_unlock(&uqs->lock);
	if (!ended) {
		mutex_lock(&uqs->hw_lock);
		nnpu_userq_end_locked(uq, end, reason);
		mutex_unlock(&uqs->hw_lock);
	}
	nnpu_userq_unuse(uq);
}

/* The device does not have the queue any more. nnpu_userqs.lock is held. */
static void nnpu_userq_lose(struct nnpu_userq *uq, enum nnpu_userq_state end)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;

	if (uq->qid) {
		nnpu_userq_hw_account_lost(uq, uq->qid);
		nnpu_userq_hw_set(uq->ndev, uq->qid, NULL);
		nnpu_power_put_queue(uq->ndev);
		kref_get(&uq->ref);
		list_add_tail(&uq->zap_node, &uqs->zaps);
	}
	uq->qid = 0;
	/* A queue that was about to end for another reason ends for that reason. */
	nnpu_userq_state_set(uq, nnpu_userq_state_ended(uq->end) ? uq->end : end);
	nnpu_userq_wake(uq);
}

/**
 * nnpu_userq_lose_all - end all queues when the device has lost them
 * @ndev: device, reset or stopped: it accesses no memory and has no queues
 * @end: one of the states of the end
 * @spare_kept: but those without hardware queue of contexts that system sleep has saved
 *
 * Takes nnpu_userqs.lock only: work items of nnpu_device.reset_wq call it while others wait
 * for the reset with nnpu_userqs.hw_lock held. When it returns the processes may free their
 * rings. Their doorbell pages lead to absent queues until nnpu_userq_zap_lost(), which comes
 * before any of these hardware queues is given to a queue again.
 */
void nnpu_userq_lose_all(struct nnpu_device *ndev, enum nnpu_userq_state end, bool spare_kept)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq *uq, *tmp;

	mutex_lock(&uqs->lock);
	/* Also those that are just getting a hardware queue. */
	spin_lock_irq(&uqs->irq_lock);
	memset(uqs->by_qid, 0, sizeof(uqs->by_qid));
	spin_unlock_irq(&uqs->irq_lock);
	list_for_each_entry_safe(uq, tmp, &uqs->all, node)
		if (!spare_kept || uq->qid || !nnpu_ctx_is_kept(uq->ctx))
			nnpu_userq_lose(uq, end);
	if (!list_empty(&uqs->zaps))
		nnpu_userq_state_kick_lend(uqs);
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_lose_ctx - end the queues of a context that the device has destroyed
 * @ctx: context
 * @end: one of the states of the end
 *
 * As nnpu_userq_lose_all(). nnpu_userqs.hw_lock is not needed: its holder finds out.
 */
void nnpu_userq_lose_ctx(struct nnpu_ctx *ctx, enum nnpu_userq_state end)
{
	struct nnpu_userqs *uqs = &ctx->ndev->userqs;
	struct nnpu_userq *uq, *tmp;

	mutex_lock(&uqs->lock);
	list_for_each_entry_safe(uq, tmp, &uqs->all, node)
		if (uq->ctx == ctx)
			nnpu_userq_lose(uq, end);
	/* To zap, and since others may wait for the hardware queues. */
	if (!list_empty(&uqs->zaps))
		nnpu_userq_state_kick_lend(uqs);
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_zap_lost - zap the doorbell pages of queues that the device has lost
 * @ndev: device
 *
 * Not on the way to a fence signal: takes locks of the memory management.
 */
void nnpu_userq_zap_lost(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq *uq;

	mutex_lock(&uqs->lock);
	while ((uq = list_first_entry_or_null(&uqs->zaps, struct nnpu_userq, zap_node))) {
		list_del_init(&uq->zap_node);
		mutex_unlock(&uqs->lock);
		nnpu_userq_state_zap(uq);
		nnpu_userq_put_deferred(uq);
		mutex_lock(&uqs->lock);
	}
	mutex_unlock(&uqs->lock);
}

static void nnpu_userq_close_hidden(struct nnpu_table *userqs, struct nnpu_userq *uq)
{
	nnpu_userq_end(uq, NNPU_USERQ_DESTROYED, 0);
	nnpu_table_free(userqs, uq->id);
	/* The number's use. */
	nnpu_userq_unuse(uq);
}

/**
 * nnpu_userq_close - end a queue and take its number back
 * @userqs: table of its file
 * @id: any number
 *
 * An open descriptor keeps neither the context nor the rings.
 *
 * Return: false if there is no such queue.
 */
bool nnpu_userq_close(struct nnpu_table *userqs, u32 id)
{
	struct nnpu_userq *uq = nnpu_table_hide(userqs, id);

	if (uq)
		nnpu_userq_close_hidden(userqs, uq);
	return uq;
}

/**
 * nnpu_userq_close_all - end all queues of a context that is given up
 * @userqs: table of its file
 * @ctx: context
 */
void nnpu_userq_close_all(struct nnpu_table *userqs, const struct nnpu_ctx *ctx)
{
	u32 id;

	for (id = userqs->limit.min; nnpu_table_next(userqs, &id); id++) {
		struct nnpu_userq *uq = nnpu_table_get(userqs, id, nnpu_userq_tryget);

		if (!uq)
			continue;
		/* QUEUE_DESTROY may be faster, and another queue may have the number then. */
		if (uq->ctx == ctx && nnpu_table_hide_object(userqs, id, uq))
			nnpu_userq_close_hidden(userqs, uq);
		nnpu_userq_put(uq);
	}
}

/**
 * nnpu_userq_init - prepare for user queues
 * @ndev: device; its limits are known
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_userq_init(struct nnpu_device *ndev)
{
	u64 needed = NNPU_FEATURE_USER_QUEUES | NNPU_FEATURE_SUSPEND;
	struct nnpu_userqs *uqs = &ndev->userqs;
	u64 pages = ndev->doorbells_size >> ndev->limits.db_shift;

	mutex_init(&uqs->hw_lock);
	mutex_init(&uqs->lock);
	spin_lock_init(&uqs->irq_lock);
	INIT_LIST_HEAD(&uqs->all);
	INIT_LIST_HEAD(&uqs->wanting);
	INIT_LIST_HEAD(&uqs->active);
	INIT_LIST_HEAD(&uqs->zaps);

	/*
	 * A CPU page must not contain the doorbells of two queues. A process that rings by
	 * itself does not have the driver synchronise memory.
	 */
	if (nnpu_param_user_queues() && ndev->coherent && (ndev->features & needed) == needed &&
	    BIT(ndev->limits.db_shift) >= PAGE_SIZE && pages > NNPU_QID_USER)
		uqs->num_hw = min3((u32)pages - NNPU_QID_USER,
				   ndev->limits.max_queues + 1 - NNPU_QID_USER,
				   (u32)NNPU_USERQ_HW_MAX);
	if (BIT(ndev->limits.db_shift) < PAGE_SIZE)
		drm_info(&ndev->drm,
			 "no user queues: a doorbell page has %lu bytes, one of the CPU %lu\n",
			 BIT(ndev->limits.db_shift), PAGE_SIZE);
	if (!uqs->num_hw)
		ndev->features &= ~(u64)NNPU_FEATURE_USER_QUEUES;

	uqs->state_mem = dma_alloc_coherent(ndev->drm.dev, sizeof(*uqs->state_mem),
					    &uqs->state_dma, GFP_KERNEL);
	if (!uqs->state_mem)
		return -ENOMEM;
	uqs->wq = alloc_ordered_workqueue("nnpu-userq", 0);
	if (!uqs->wq) {
		dma_free_coherent(ndev->drm.dev, sizeof(*uqs->state_mem), uqs->state_mem,
				  uqs->state_dma);
		return -ENOMEM;
	}
	return 0;
}

/**
 * nnpu_userq_unplug - end all queues at unplug
 * @ndev: device, unplugged: no ioctl and no work item begins to use it any more
 */
void nnpu_userq_unplug(struct nnpu_device *ndev)
{
	cancel_delayed_work_sync(&ndev->userqs.work);
	cancel_delayed_work_sync(&ndev->userqs.watch);
	nnpu_userq_lose_all(ndev, NNPU_USERQ_GONE, false);
	nnpu_userq_zap_lost(ndev);
}

/**
 * nnpu_userq_fini - undo nnpu_userq_init()
 * @ndev: device; it does not access memory any more
 */
void nnpu_userq_fini(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;

	/* Page faults find that the queue has ended, and queue no work. */
	destroy_workqueue(uqs->wq);
	uqs->wq = NULL;
	dma_free_coherent(ndev->drm.dev, sizeof(*uqs->state_mem), uqs->state_mem,
			  uqs->state_dma);
	uqs->state_mem = NULL;
}
