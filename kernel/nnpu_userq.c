// SPDX-License-Identifier: GPL-2.0-only
/*
 * User queues: rings and a doorbell page that a process uses by itself.
 *
 * What is here: how a queue begins, how it ends, and who waits for it. A queue is
 * memory until its doorbell is rung; then it gets a hardware queue
 * (nnpu_userq_hw.c). The driver never reads the rings: they are between the
 * process and the device, which checks every entry against the context's own
 * slots and programs. Nothing the kernel relies on is in them.
 */
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_gem.h"
#include "nnpu_userq.h"

/* A waiter arms again this often, should an interrupt be lost. */
#define NNPU_USERQ_SLICE_MS	250

static void nnpu_userq_release(struct kref *ref)
{
	struct nnpu_userq *uq = container_of(ref, struct nnpu_userq, ref);
	struct nnpu_ctx *ctx = uq->ctx;

	drm_gem_object_put(uq->ring);
	mmdrop(uq->mm);
	__free_page(uq->dummy);
	atomic_dec(&uq->ndev->stats.queues);
	kfree(uq);
	nnpu_ctx_put(ctx);
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

static bool nnpu_userq_tryget(void *object)
{
	struct nnpu_userq *uq = object;

	return kref_get_unless_zero(&uq->ref);
}

/* Caller holds nnpu_userqs.lock. The doorbell leads nowhere afterwards. */
static void nnpu_userq_mark_ended(struct nnpu_userq *uq, u32 end, u32 reason)
{
	uq->state = NNPU_USERQ_ENDED;
	uq->end = end;
	uq->reason = reason;
	list_del_init(&uq->node);
	list_del_init(&uq->sched_node);
	nnpu_userq_zap(uq);
}

/**
 * nnpu_userq_end_locked - a queue is over
 * @uq: queue
 * @end: DRM_NNPU_QUEUE_STATE_*
 * @reason: NNPU_STATUS_* with DRM_NNPU_QUEUE_STATE_STOPPED, else 0
 *
 * Caller holds nnpu_userqs.hw_lock. When this returns the device does not use the
 * rings any more. A queue that has ended before keeps its first reason.
 */
void nnpu_userq_end_locked(struct nnpu_userq *uq, u32 end, u32 reason)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	bool ended;

	lockdep_assert_held(&uqs->hw_lock);
	mutex_lock(&uqs->lock);
	ended = uq->state == NNPU_USERQ_ENDED;
	if (!ended)
		nnpu_userq_mark_ended(uq, end, reason);
	mutex_unlock(&uqs->lock);
	if (ended)
		return;
	nnpu_userq_leave_hw(uq);
	nnpu_userq_wake(uq);
}

/**
 * nnpu_userq_end - a queue is over
 * @uq: queue
 * @end: DRM_NNPU_QUEUE_STATE_*
 * @reason: NNPU_STATUS_* with DRM_NNPU_QUEUE_STATE_STOPPED, else 0
 *
 * As nnpu_userq_end_locked(), for callers without the lock.
 */
void nnpu_userq_end(struct nnpu_userq *uq, u32 end, u32 reason)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;

	mutex_lock(&uqs->hw_lock);
	nnpu_userq_end_locked(uq, end, reason);
	mutex_unlock(&uqs->hw_lock);
}

/**
 * nnpu_userq_account - charge a context for what a queue used of the device
 * @uq: queue; nnpu_userqs.lock is held
 * @qid: hardware queue it has, or had a moment ago and nobody else has had since
 *
 * The register wraps after more than an hour: nnpu_userq_watch() is quicker.
 */
void nnpu_userq_account(struct nnpu_userq *uq, u16 qid)
{
	struct nnpu_device *ndev = uq->ndev;
	u32 busy;
	int idx;

	lockdep_assert_held(&ndev->userqs.lock);
	if (!nnpu_device_enter(ndev, &idx))
		return;
	busy = nnpu_read_queue(ndev, qid, NNPU_QREG_BUSY);
	/* A device that was pulled out reads as all ones. */
	if (busy != U32_MAX || nnpu_read(ndev, NNPU_REG_ID) == NNPU_ID_MAGIC) {
		atomic64_add((u64)(busy - uq->busy) * NSEC_PER_USEC, &uq->ctx->engine_ns);
		uq->busy = busy;
	}
	nnpu_device_exit(idx);
}

/**
 * nnpu_userq_account_all - bring nnpu_ctx.engine_ns up to date
 * @ctx: context
 */
void nnpu_userq_account_all(struct nnpu_ctx *ctx)
{
	struct nnpu_userqs *uqs = &ctx->ndev->userqs;
	struct nnpu_userq *uq;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->all, node)
		if (uq->ctx == ctx && uq->qid)
			nnpu_userq_account(uq, uq->qid);
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_lose_all - all queues end because of the device
 * @ndev: device, reset or stopped: it accesses no memory, and has no queues
 * @end: DRM_NNPU_QUEUE_STATE_*
 *
 * Takes nnpu_userqs.lock only: works of nnpu_device.reset_wq call it while others
 * wait for the reset with nnpu_userqs.hw_lock held. Afterwards no doorbell reaches
 * the device, and the rings belong to their processes alone.
 */
void nnpu_userq_lose_all(struct nnpu_device *ndev, u32 end)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq *uq, *tmp;

	mutex_lock(&uqs->lock);
	spin_lock_irq(&uqs->irq_lock);
	memset(uqs->by_qid, 0, sizeof(uqs->by_qid));
	spin_unlock_irq(&uqs->irq_lock);
	list_for_each_entry_safe(uq, tmp, &uqs->all, node) {
		if (uq->qid) {
			nnpu_userq_account(uq, uq->qid);
			nnpu_power_put_queue(ndev);
		}
		uq->qid = 0;
		nnpu_userq_mark_ended(uq, end, 0);
		nnpu_userq_wake(uq);
	}
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_close_all - the file of a context is closed
 * @ctx: context
 */
void nnpu_userq_close_all(struct nnpu_ctx *ctx)
{
	u32 id;

	for (id = ctx->userqs.limit.min; id <= ctx->userqs.limit.max; id++) {
		struct nnpu_userq *uq = nnpu_table_hide(&ctx->userqs, id);

		if (!uq)
			continue;
		nnpu_userq_end(uq, DRM_NNPU_QUEUE_STATE_DESTROYED, 0);
		nnpu_table_free(&ctx->userqs, id);
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
	INIT_LIST_HEAD(&uqs->wanted);
	INIT_LIST_HEAD(&uqs->active);
	INIT_DELAYED_WORK(&uqs->work, nnpu_userq_work);
	INIT_DELAYED_WORK(&uqs->watch, nnpu_userq_watch);

	/* A page of the CPU must not hold doorbells of two queues. */
	if (nnpu_param_user_queues() && (ndev->features & needed) == needed &&
	    BIT(ndev->limits.db_shift) >= PAGE_SIZE && pages > NNPU_QID_USER)
		uqs->num_hw = min3((u32)pages - NNPU_QID_USER,
				   ndev->limits.max_queues + 1 - NNPU_QID_USER,
				   (u32)NNPU_USERQ_HW_MAX);
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
 * nnpu_userq_unplug - the device goes
 * @ndev: device, unplugged: no ioctl and no work begins to use it any more
 */
void nnpu_userq_unplug(struct nnpu_device *ndev)
{
	cancel_delayed_work_sync(&ndev->userqs.work);
	cancel_delayed_work_sync(&ndev->userqs.watch);
	nnpu_userq_lose_all(ndev, DRM_NNPU_QUEUE_STATE_GONE);
}

/**
 * nnpu_userq_fini - undo nnpu_userq_init()
 * @ndev: device; it does not access memory any more
 */
void nnpu_userq_fini(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;

	/* Faults on mappings that live on find their queue ended: no new work. */
	destroy_workqueue(uqs->wq);
	uqs->wq = NULL;
	dma_free_coherent(ndev->drm.dev, sizeof(*uqs->state_mem), uqs->state_mem,
			  uqs->state_dma);
	uqs->state_mem = NULL;
}

static struct nnpu_userq *nnpu_userq_alloc(struct nnpu_ctx *ctx,
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
	kref_init(&uq->ref);
	uq->ctx = nnpu_ctx_get(ctx);
	uq->ndev = ctx->ndev;
	uq->priority = args->priority;
	uq->sq_entries = args->sq_entries;
	uq->cq_entries = args->cq_entries;
	init_waitqueue_head(&uq->wait);
	INIT_LIST_HEAD(&uq->node);
	INIT_LIST_HEAD(&uq->sched_node);
	/* No use of the address space itself: only its identity is kept. */
	uq->mm = current->mm;
	mmgrab(uq->mm);
	atomic_inc(&ctx->ndev->stats.queues);
	return uq;
}

/* The rings stay where they are while the buffer lives. */
static int nnpu_userq_map_rings(struct nnpu_userq *uq, const struct drm_nnpu_queue_create *args)
{
	int ret = nnpu_gem_dma_page(uq->ring, args->sq_offset, &uq->sq_dma);

	return ret ?: nnpu_gem_dma_page(uq->ring, args->cq_offset, &uq->cq_dma);
}

/* From here on others see the queue. */
static int nnpu_userq_publish(struct nnpu_userq *uq)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	int ret = 0;

	mutex_lock(&uqs->lock);
	/* A reset marks contexts lost after it has ended the queues. */
	if (nnpu_ctx_is_lost(uq->ctx) || READ_ONCE(uq->ndev->dead))
		ret = -ENODEV;
	else
		list_add_tail(&uq->node, &uqs->all);
	mutex_unlock(&uqs->lock);
	return ret;
}

static int nnpu_userq_create(struct nnpu_ctx *ctx, struct drm_gem_object *ring,
			     struct drm_nnpu_queue_create *args)
{
	struct nnpu_userq *uq;
	struct file *filp;
	int ret, fd;

	uq = nnpu_userq_alloc(ctx, args);
	if (!uq)
		return -ENOMEM;
	drm_gem_object_get(ring);
	uq->ring = ring;
	ret = nnpu_userq_map_rings(uq, args);
	if (ret)
		goto err_put;
	ret = nnpu_table_reserve(&ctx->userqs, &uq->id);
	if (ret)
		goto err_put;
	fd = get_unused_fd_flags(O_CLOEXEC | O_RDWR);
	if (fd < 0) {
		ret = fd;
		goto err_id;
	}
	filp = nnpu_userq_file_create(uq);
	if (IS_ERR(filp)) {
		ret = PTR_ERR(filp);
		goto err_fd;
	}
	ret = nnpu_userq_publish(uq);
	if (ret)
		goto err_file;
	args->queue = uq->id;
	args->fd = fd;
	nnpu_table_set(&ctx->userqs, uq->id, uq);
	fd_install(fd, filp);
	return 0;

err_file:
	/* Its release drops the descriptor's reference. */
	fput(filp);
err_fd:
	put_unused_fd(fd);
err_id:
	nnpu_table_free(&ctx->userqs, uq->id);
err_put:
	nnpu_userq_put(uq);
	return ret;
}

/**
 * nnpu_userq_create_ioctl - DRM_NNPU_QUEUE_CREATE
 * @drm: device
 * @data: struct drm_nnpu_queue_create
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_userq_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_queue_create *args = data;
	struct nnpu_ctx *ctx = file->driver_priv;
	struct drm_gem_object *ring;
	int ret, idx;

	args->queue = 0;
	args->fd = -1;
	if (!ndev->userqs.num_hw)
		return -EOPNOTSUPP;
	ret = nnpu_check_queue(args);
	if (ret)
		return ret;
	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	ring = drm_gem_object_lookup(file, args->ring_handle);
	if (!ring)
		ret = -ENOENT;
	else if (ring->import_attach ||
		 !nnpu_check_range(args->sq_offset, NNPU_PAGE_SIZE, ring->size) ||
		 !nnpu_check_range(args->cq_offset, NNPU_PAGE_SIZE, ring->size))
		ret = -EINVAL;
	else
		ret = nnpu_userq_create(ctx, ring, args);
	if (ring)
		drm_gem_object_put(ring);
	nnpu_device_exit(idx);
	return ret;
}

/**
 * nnpu_userq_destroy_ioctl - DRM_NNPU_QUEUE_DESTROY
 * @drm: device
 * @data: struct drm_nnpu_queue_destroy
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_userq_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_queue_destroy *args = data;
	struct nnpu_ctx *ctx = file->driver_priv;
	struct nnpu_userq *uq;

	if (args->flags)
		return -EINVAL;
	uq = nnpu_table_hide(&ctx->userqs, args->queue);
	if (!uq)
		return -ENOENT;
	nnpu_userq_end(uq, DRM_NNPU_QUEUE_STATE_DESTROYED, 0);
	nnpu_table_free(&ctx->userqs, args->queue);
	nnpu_userq_put(uq);
	return 0;
}

/* Nobody may find the queue half ended: both fields at once. True if it has ended. */
static bool nnpu_userq_get_end(struct nnpu_userq *uq, struct drm_nnpu_queue_wait *args)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	bool ended;

	mutex_lock(&uqs->lock);
	ended = uq->state == NNPU_USERQ_ENDED;
	if (ended) {
		args->state = uq->end;
		args->reason = uq->reason;
	}
	mutex_unlock(&uqs->lock);
	return ended;
}

static int nnpu_userq_wait(struct nnpu_userq *uq, struct drm_nnpu_queue_wait *args)
{
	unsigned long slice = msecs_to_jiffies(NNPU_USERQ_SLICE_MS);

	for (;;) {
		int seen = atomic_read(&uq->events);
		s64 left = args->timeout_ns - ktime_get_ns();
		bool stopped;
		long ret;

		if (nnpu_userq_get_end(uq, args))
			return 0;
		/* After the counter was read: no interrupt falls between. */
		nnpu_userq_arm(uq, args->cq_head);
		/* A stopped queue is not armed; the watch ends it and wakes us. */
		stopped = nnpu_userq_check_stopped(uq);
		if (left <= 0)
			return atomic_read(&uq->events) != seen ? 0 : -ETIME;
		ret = wait_event_interruptible_timeout(uq->wait,
						       atomic_read(&uq->events) != seen,
						       min(slice, nsecs_to_jiffies(left) + 1));
		if (ret < 0)
			return ret;
		/* The device raises the interrupt once, too, when it stops a queue. */
		if (!ret || (!stopped && nnpu_userq_check_stopped(uq)))
			continue;
		nnpu_userq_get_end(uq, args);
		return 0;
	}
}

/**
 * nnpu_userq_wait_ioctl - DRM_NNPU_QUEUE_WAIT
 * @drm: device
 * @data: struct drm_nnpu_queue_wait
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_userq_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_queue_wait *args = data;
	struct nnpu_ctx *ctx = file->driver_priv;
	struct nnpu_userq *uq;
	int ret;

	args->state = DRM_NNPU_QUEUE_STATE_READY;
	args->reason = 0;
	if (args->flags || args->pad)
		return -EINVAL;
	uq = nnpu_table_get(&ctx->userqs, args->queue, nnpu_userq_tryget);
	if (!uq)
		return -ENOENT;
	/* The device would stop the queue for an index like that. */
	ret = args->cq_head < uq->cq_entries ? nnpu_userq_wait(uq, args) : -EINVAL;
	nnpu_userq_put(uq);
	return ret;
}
