// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of the kernel queue: it looks at the queue while jobs are in flight. It takes
 * the completions first, since an interrupt may have been lost. Then it judges the jobs that run,
 * each by the engine it is on, and climbs the ladder (nnpu_ladder.c). It never blames a job for
 * waiting: whether the device still has a job that has been waiting for long, it asks the device.
 * All steps run on one ordered workqueue.
 */
#include <linux/dma-fence.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_job.h"
#include "nnpu_ladder.h"
#include "nnpu_queue_watch.h"
#include "nnpu_reset.h"
#include "nnpu_trace.h"

static bool nnpu_queue_watch_is_inflight(struct nnpu_queue *queue, u16 cid)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&queue->qp.lock, flags);
	ret = nnpu_cids_find(&queue->qp.cids, cid);
	spin_unlock_irqrestore(&queue->qp.lock, flags);
	return ret;
}

static struct nnpu_queue *nnpu_queue_watch_queue(struct nnpu_ladder *l)
{
	return &l->ndev->queue;
}

static int nnpu_queue_watch_exec(struct nnpu_ladder *l, const void *sqe,
				 struct nnpu_admin_result *result)
{
	return nnpu_admin_exec(l->ndev, NNPU_ADMIN_PLACE_RECOVERY, sqe, result);
}

static bool nnpu_queue_watch_left(struct nnpu_ladder *l)
{
	struct nnpu_queue *queue = nnpu_queue_watch_queue(l);

	nnpu_queue_process(queue);
	return !nnpu_queue_watch_is_inflight(queue, l->cid);
}

/* RESET_QUEUE, of the entries of @ctx or of all. */
static int nnpu_queue_watch_reset(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const char *why,
				  u16 cid, int error)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_RESET_QUEUE,
		.flags = ctx ? NNPU_QUEUE_CMD_CONTEXT : 0,
		.ctx = cpu_to_le32(ctx ? ctx->id : 0),
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
	};
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_admin_result result;
	bool gone;
	int ret;

	nnpu_queue_hold(queue, ctx);
	ret = nnpu_admin_exec(ndev, NNPU_ADMIN_PLACE_RECOVERY, &sqe, &result);
	/* The context has been destroyed, and all its jobs have ended. */
	gone = !ret && ctx && result.status == NNPU_STATUS_INVALID_CTX &&
	       READ_ONCE(ctx->destroyed);
	if (!ret && result.status && !gone)
		ret = -EIO;
	trace_nnpu_reset(ndev, "queue", why, cid, ret);
	nnpu_event_reset(ndev, NNPU_RESET_SCOPE_QUEUE, ctx, cid, why, ret);
	if (gone) {
		nnpu_queue_process(queue);
	} else if (!ret) {
		/* Take the completions that the device wrote before the reset. */
		nnpu_queue_process(queue);
		nnpu_queue_resume(queue, ctx, cid, error);
		atomic64_inc(&ndev->stats.queue_resets);
	}
	nnpu_queue_go_on(queue, ctx);
	return ret;
}

static int nnpu_queue_watch_reset_queue(struct nnpu_ladder *l)
{
	return nnpu_queue_watch_reset(l->ndev, l->ctx, l->why, l->cid, l->error);
}

static void nnpu_queue_watch_reset_device(struct nnpu_ladder *l)
{
	nnpu_reset_device(l->ndev, l->why, l->cid, l->error);
}

static const struct nnpu_ladder_ops nnpu_queue_watch_ops = {
	.exec = nnpu_queue_watch_exec,
	.job_left = nnpu_queue_watch_left,
	.reset_queue = nnpu_queue_watch_reset_queue,
	.reset_device = nnpu_queue_watch_reset_device,
};

/*
 * A job in flight, its id pinned, so that no command for it meets another job.
 *
 * Return: a reference of its context, or NULL if the job is not in flight.
 */
static struct nnpu_ctx *nnpu_queue_watch_pin(struct nnpu_queue *queue, u16 cid, int error)
{
	struct nnpu_ctx *ctx = NULL;
	struct nnpu_job *job;

	spin_lock_irq(&queue->qp.lock);
	job = nnpu_cids_find(&queue->qp.cids, cid);
	if (job) {
		/* If it is aborted. */
		if (error)
			job->cancel_error = error;
		ctx = nnpu_ctx_get(job->ctx);
		nnpu_cids_pin(&queue->qp.cids, cid);
	}
	spin_unlock_irq(&queue->qp.lock);
	return ctx;
}

static void nnpu_queue_watch_unpin(struct nnpu_queue *queue, u16 cid, struct nnpu_ctx *ctx)
{
	nnpu_queue_unpin(queue, cid);
	nnpu_ctx_put_deferred(ctx);
}

/* The job makes no progress, or the device says that it has it although it completed. */
static void nnpu_queue_watch_climb(struct nnpu_device *ndev, struct nnpu_watchdog *watchdog,
				   const char *why, u16 cid, int error)
{
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_ladder ladder = {
		.ops = &nnpu_queue_watch_ops,
		.ndev = ndev,
		.watchdog = watchdog,
		.why = why,
		.qid = NNPU_QID_KERNEL,
		.cid = cid,
		.error = error,
	};

	ladder.ctx = nnpu_queue_watch_pin(queue, cid, error);
	if (!ladder.ctx)
		return;
	nnpu_ladder_climb(&ladder, NNPU_LADDER_ABORT);
	nnpu_queue_watch_unpin(queue, cid, ladder.ctx);
}

/* The driver, not a job, is at fault, or the device. Any job may be the one that had begun. */
static void nnpu_queue_watch_stopped(struct nnpu_device *ndev)
{
	drm_warn(&ndev->drm, "queue reset: queue stopped, error %#x\n",
		 nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_ERROR));
	nnpu_dump_hang(ndev);
	if (nnpu_queue_watch_reset(ndev, NULL, "queue stopped", NNPU_CID_NONE, -EIO))
		nnpu_reset_device(ndev, "queue stopped", NNPU_CID_NONE, -EIO);
}

/* The device does not have the job, and its completion was lost or makes no sense. */
static void nnpu_queue_watch_lost(struct nnpu_device *ndev, u16 cid)
{
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_job *job;
	LIST_HEAD(ended);

	spin_lock_irq(&queue->qp.lock);
	job = nnpu_cids_find(&queue->qp.cids, cid);
	if (job)
		nnpu_queue_remove(queue, job, -EIO, &ended);
	spin_unlock_irq(&queue->qp.lock);
	if (!list_empty(&ended)) {
		drm_warn(&ndev->drm, "job %#x has no valid completion\n", cid);
		atomic64_inc(&ndev->stats.lost_jobs);
	}
	nnpu_queue_end_jobs(&ended);
}

/* Ask the device whether it has a job, and end the job if not. */
static void nnpu_queue_watch_ask(struct nnpu_device *ndev, u16 cid)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT,
		.flags = NNPU_QUEUE_CMD_PROBE,
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
		.target_cid = cpu_to_le16(cid),
	};
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_admin_result result;
	bool suspect = false;
	struct nnpu_ctx *ctx;
	struct nnpu_job *job;
	int ret;

	ctx = nnpu_queue_watch_pin(queue, cid, 0);
	if (!ctx)
		return;
	/* A device that cannot be asked has all jobs, unless it says that it has none. */
	result.value = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE) !=
		       NNPU_QSTATE_IDLE;
	ret = 0;
	if (ndev->features & NNPU_FEATURE_ABORT) {
		ret = nnpu_admin_exec(ndev, NNPU_ADMIN_PLACE_RECOVERY, &sqe, &result);
		if (!ret && result.status)
			ret = -EIO;
	}
	/* A completion that came before the answer counts. */
	nnpu_queue_process(queue);
	spin_lock_irq(&queue->qp.lock);
	job = nnpu_cids_find(&queue->qp.cids, cid);
	if (job) {
		job->asked = ktime_to_ms(ktime_get());
		suspect = job->suspect;
	}
	spin_unlock_irq(&queue->qp.lock);
	if (!ret && !result.value)
		nnpu_queue_watch_lost(ndev, cid);
	nnpu_queue_watch_unpin(queue, cid, ctx);
	if (ret)
		nnpu_reset_device(ndev, "no answer about a job", cid, -EIO);
	else if (result.value && suspect)
		nnpu_queue_watch_climb(ndev, NULL, "unknown status", cid, -EIO);
}

/*
 * Jobs whose completion made no sense, and those that the device has had for long. All are
 * looked at: many old jobs of one client must not hide that of another.
 */
static void nnpu_queue_watch_old(struct nnpu_queue *queue, struct nnpu_watchdog_ask *ask)
{
	u64 before = ktime_to_ms(ktime_get()) - nnpu_param_hang_timeout_ms();
	struct nnpu_job *job;

	spin_lock_irq(&queue->qp.lock);
	list_for_each_entry(job, &queue->inflight, node) {
		if (job->suspect)
			nnpu_watchdog_ask_add(ask, job->cid, 0);
		else if ((s64)(job->asked - before) <= 0)
			nnpu_watchdog_ask_add(ask, job->cid, job->asked);
	}
	spin_unlock_irq(&queue->qp.lock);
}

static void nnpu_queue_watch_jobs(struct nnpu_device *ndev)
{
	struct nnpu_watchdog_ask ask = { };
	unsigned int i;

	nnpu_queue_watch_old(&ndev->queue, &ask);
	for (i = 0; i < ask.count; i++)
		nnpu_queue_watch_ask(ndev, ask.cids[i]);
}

static void nnpu_queue_watch_engines(struct nnpu_device *ndev)
{
	u32 timeout = nnpu_param_hang_timeout_ms(), i;
	struct nnpu_queue *queue = &ndev->queue;

	for (i = 0; i < ndev->limits.num_engines; i++) {
		struct nnpu_watchdog *wd = &queue->engines[i];
		struct nnpu_watchdog_sample s;

		nnpu_read_engine(ndev, i, &s);
		if (nnpu_watchdog_look(wd, &s, NNPU_QID_KERNEL, ktime_to_ms(ktime_get()),
				       timeout) == NNPU_VERDICT_HANG)
			nnpu_queue_watch_climb(ndev, wd, "hang",
					       s.current_job & NNPU_EREG_CURRENT_CID, -ETIME);
	}
}

static void nnpu_queue_watch(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;
	unsigned int found;
	bool idle;
	u32 state;

	/* This also counts completions whose interrupt is still to come. */
	found = nnpu_queue_process(queue);
	if (found)
		atomic64_add(found, &ndev->stats.lost_irqs);
	nnpu_admin_process(ndev);

	state = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE);
	/* STATUS last: a device that was reset meanwhile has no queues. */
	switch (nnpu_watchdog_queue(nnpu_read(ndev, NNPU_REG_STATUS), state)) {
	case NNPU_VERDICT_STOPPED:
		nnpu_queue_watch_stopped(ndev);
		break;
	case NNPU_VERDICT_FATAL:
		nnpu_reset_device(ndev, "fatal error or not ready", NNPU_CID_NONE, 0);
		break;
	case NNPU_VERDICT_GONE:
		nnpu_reset_device(ndev, "device removed", NNPU_CID_NONE, 0);
		break;
	default:
		nnpu_queue_watch_engines(ndev);
		nnpu_queue_watch_jobs(ndev);
		break;
	}
	spin_lock_irq(&queue->qp.lock);
	idle = !queue->qp.cids.used;
	spin_unlock_irq(&queue->qp.lock);
	if (!idle)
		nnpu_queue_kick_watchdog(queue, false);
}

static void nnpu_queue_watch_work(struct work_struct *work)
{
	struct nnpu_queue *queue = container_of(to_delayed_work(work), struct nnpu_queue,
						watchdog_work);
	struct nnpu_device *ndev = queue->qp.ndev;
	bool cookie;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	cookie = dma_fence_begin_signalling();
	nnpu_queue_watch(ndev);
	dma_fence_end_signalling(cookie);
	nnpu_device_exit(ndev, idx);
}

/**
 * nnpu_queue_watch_init - prepare the watchdog
 * @ndev: device
 */
void nnpu_queue_watch_init(struct nnpu_device *ndev)
{
	INIT_DELAYED_WORK(&ndev->queue.watchdog_work, nnpu_queue_watch_work);
}

/**
 * nnpu_queue_watch_stop - end the watchdog for good
 * @ndev: device, unplugged or not yet registered; its interrupts are free
 */
void nnpu_queue_watch_stop(struct nnpu_device *ndev)
{
	cancel_delayed_work_sync(&ndev->queue.watchdog_work);
}
