// SPDX-License-Identifier: GPL-2.0-only
/*
 * When things go wrong: the watchdog and what it does.
 *
 * The watchdog looks at the kernel queue while jobs are in flight. It first
 * takes what completions there are, since an interrupt may have been lost, then
 * judges progress, and then takes the smallest step that helps:
 *
 *   1. ABORT of the job that hangs; the jobs behind it go on.
 *   2. RESET_QUEUE; jobs that had not begun are given to the device again.
 *   3. Reset of the device; all contexts are lost.
 *   4. If that fails, the device is dead: DMA is cut off, everything ends with
 *      -ENODEV.
 *
 * Steps run on one ordered workqueue, with the scheduler stopped.
 */
#include <linux/delay.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_job.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

static u16 nnpu_recovery_oldest(struct nnpu_queue *queue)
{
	struct nnpu_job *job;
	unsigned long flags;
	u16 cid = NNPU_CID_NONE;

	spin_lock_irqsave(&queue->qp.lock, flags);
	job = list_first_entry_or_null(&queue->inflight, struct nnpu_job, node);
	if (job)
		cid = job->cid;
	spin_unlock_irqrestore(&queue->qp.lock, flags);
	return cid;
}

static bool nnpu_recovery_is_inflight(struct nnpu_queue *queue, u16 cid)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&queue->qp.lock, flags);
	ret = nnpu_cids_find(&queue->qp.cids, cid);
	spin_unlock_irqrestore(&queue->qp.lock, flags);
	return ret;
}

/* The job the device says it runs, if it is one of ours. */
static u16 nnpu_recovery_running(struct nnpu_device *ndev)
{
	u32 current_job = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_CURRENT);
	u16 cid = current_job & NNPU_QREG_CURRENT_CID;

	if (!(current_job & NNPU_QREG_CURRENT_RUNNING) ||
	    !nnpu_recovery_is_inflight(&ndev->queue, cid))
		return NNPU_CID_NONE;
	return cid;
}

static void nnpu_recovery_device_reset(struct nnpu_device *ndev, const char *why, u16 guilty_cid,
				       int guilty_error)
{
	struct nnpu_queue *queue = &ndev->queue;
	int ret;

	nnpu_sched_pause(&ndev->sched);
	nnpu_dump_hang(ndev);
	/* Those who wait for an answer hold reset_sem. */
	nnpu_admin_stop(ndev);
	down_write(&ndev->reset_sem);
	if (ndev->dead)
		goto out;
	drm_warn(&ndev->drm, "device reset: %s, fault %u info %#x\n", why,
		 nnpu_read(ndev, NNPU_REG_FAULT_STATUS), nnpu_read(ndev, NNPU_REG_FAULT_INFO));
	nnpu_queue_stop(queue);
	ret = nnpu_device_hw_reset(ndev);
	if (ret) {
		/* Nothing may be released while it can write to memory. */
		ndev->bus->stop_dma(ndev);
		guilty_error = -ENODEV;
	}
	nnpu_ctx_lose_all(ndev);
	/*
	 * Not earlier: who sees his queue ended frees the rings. Nor later: no process
	 * may ring the device when it runs again.
	 */
	nnpu_userq_lose_all(ndev, DRM_NNPU_QUEUE_STATE_LOST);
	nnpu_queue_abandon(queue, guilty_cid, guilty_error, ret ? -ENODEV : -ECANCELED);
	if (!ret)
		ret = nnpu_device_start(ndev);
	if (ret) {
		nnpu_device_cut_off(ndev);
		drm_err(&ndev->drm, "device does not come back, giving up: %d\n", ret);
	}
	atomic64_inc(&ndev->stats.device_resets);
	trace_nnpu_reset(ndev, "device", why, guilty_cid, ret);
	nnpu_watchdog_rearm(&queue->watchdog);
	/* Which sets the performance level as well: it is lost. */
	nnpu_userq_kick_watch(ndev, true);
out:
	atomic64_inc(&ndev->reset_count);
	up_write(&ndev->reset_sem);
	nnpu_sched_unpause(&ndev->sched);
}

/* Take completions until @cid is not in flight; all but suspects for NONE. */
static bool nnpu_recovery_drain(struct nnpu_device *ndev, u16 cid)
{
	unsigned long end = jiffies + msecs_to_jiffies(nnpu_param_abort_timeout_ms());
	struct nnpu_queue *queue = &ndev->queue;

	for (;;) {
		bool last = time_after(jiffies, end), done;

		nnpu_queue_process(queue);
		if (cid == NNPU_CID_NONE)
			done = READ_ONCE(queue->qp.cids.used) <= READ_ONCE(queue->suspects);
		else
			done = !nnpu_recovery_is_inflight(queue, cid);
		if (done || last)
			return done;
		usleep_range(500, 1000);
	}
}

/* 0: the job is gone; -EAGAIN: it is still there; -ETIMEDOUT: no answer. */
static int nnpu_recovery_abort(struct nnpu_device *ndev, u16 cid)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT,
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
		.target_cid = cpu_to_le16(cid),
	};
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_admin_result result;
	struct nnpu_job *job;
	int ret;

	if (!(ndev->features & NNPU_FEATURE_ABORT))
		return -EAGAIN;
	spin_lock_irq(&queue->qp.lock);
	job = nnpu_cids_find(&queue->qp.cids, cid);
	if (job)
		job->cancel_error = -ETIME;
	spin_unlock_irq(&queue->qp.lock);
	ret = nnpu_admin_exec_locked(ndev, &sqe, &result);
	if (ret)
		return ret;
	if (result.status || !result.value)
		return nnpu_recovery_is_inflight(queue, cid) ? -EAGAIN : 0;
	return nnpu_recovery_drain(ndev, cid) ? 0 : -EAGAIN;
}

static int nnpu_recovery_queue_reset(struct nnpu_device *ndev, const char *why, u16 guilty_cid,
				     int guilty_error)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_RESET_QUEUE,
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
	};
	struct nnpu_queue *queue = &ndev->queue;
	u16 running = nnpu_recovery_running(ndev);
	struct nnpu_admin_result result;
	int ret;

	ret = nnpu_admin_exec_locked(ndev, &sqe, &result);
	if (!ret && result.status)
		ret = -EIO;
	trace_nnpu_reset(ndev, "queue", why, guilty_cid, ret);
	if (ret)
		return ret;
	/* What the device completed before the reset counts. */
	nnpu_queue_process(queue);
	nnpu_queue_resume(queue, guilty_cid, guilty_error, running);
	atomic64_inc(&ndev->stats.queue_resets);
	return 0;
}

/* A job hangs: steps 1 to 3. */
static void nnpu_recovery_hang(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;
	u16 cid;
	int ret;

	nnpu_sched_pause(&ndev->sched);
	cid = nnpu_recovery_running(ndev);
	if (cid == NNPU_CID_NONE)
		cid = nnpu_recovery_oldest(queue);
	atomic64_inc(&ndev->stats.hangs);
	drm_warn(&ndev->drm, "job %#x makes no progress, aborting it\n", cid);
	nnpu_dump_hang(ndev);
	ret = nnpu_recovery_abort(ndev, cid);
	if (ret == -EAGAIN)
		ret = nnpu_recovery_queue_reset(ndev, "hang", cid, -ETIME);
	nnpu_watchdog_rearm(&queue->watchdog);
	if (ret)
		nnpu_recovery_device_reset(ndev, "hang", cid, -ETIME);
	nnpu_sched_unpause(&ndev->sched);
}

/* The queue cannot go on: steps 2 and 3. */
static void nnpu_recovery_restart_queue(struct nnpu_device *ndev, const char *why, bool stopped)
{
	struct nnpu_queue *queue = &ndev->queue;
	u16 guilty = NNPU_CID_NONE;

	nnpu_sched_pause(&ndev->sched);
	if (stopped) {
		/* The oldest job is the one that may have begun. */
		guilty = nnpu_recovery_oldest(queue);
		drm_warn(&ndev->drm, "queue reset: %s, error %#x\n", why,
			 nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_ERROR));
	} else {
		/* Let the others end first: then the reset costs nobody else. */
		nnpu_recovery_drain(ndev, NNPU_CID_NONE);
		drm_warn(&ndev->drm, "queue reset: %s\n", why);
	}
	nnpu_watchdog_rearm(&queue->watchdog);
	if (nnpu_recovery_queue_reset(ndev, why, guilty, -EIO))
		nnpu_recovery_device_reset(ndev, why, guilty, -EIO);
	nnpu_sched_unpause(&ndev->sched);
}

static void nnpu_recovery_sample(struct nnpu_device *ndev, struct nnpu_watchdog_sample *s)
{
	struct nnpu_queue *queue = &ndev->queue;

	s->now_ms = ktime_to_ms(ktime_get());
	s->status = nnpu_read(ndev, NNPU_REG_STATUS);
	s->state = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_STATE);
	s->progress = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_PROGRESS);
	s->current_job = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_CURRENT);
	spin_lock_irq(&queue->qp.lock);
	s->inflight = queue->qp.cids.used;
	s->completed = queue->completed;
	spin_unlock_irq(&queue->qp.lock);
}

static void nnpu_recovery_watch(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_watchdog_sample sample;
	unsigned int found;

	/* An interrupt that is on its way counts as lost: close enough. */
	found = nnpu_queue_process(queue);
	if (found)
		atomic64_add(found, &ndev->stats.lost_irqs);
	nnpu_admin_process(ndev);

	nnpu_recovery_sample(ndev, &sample);
	switch (nnpu_watchdog_look(&queue->watchdog, &sample, nnpu_param_hang_timeout_ms())) {
	case NNPU_VERDICT_IDLE:
		return;
	case NNPU_VERDICT_PROGRESS:
	case NNPU_VERDICT_WAIT:
		if (READ_ONCE(queue->suspects))
			nnpu_recovery_restart_queue(ndev, "unknown status", false);
		break;
	case NNPU_VERDICT_HANG:
		nnpu_recovery_hang(ndev);
		break;
	case NNPU_VERDICT_STOPPED:
		nnpu_recovery_restart_queue(ndev, "queue stopped", true);
		break;
	case NNPU_VERDICT_FATAL:
		nnpu_recovery_device_reset(ndev, "fatal error", nnpu_recovery_oldest(queue), -EIO);
		break;
	case NNPU_VERDICT_GONE:
		nnpu_recovery_device_reset(ndev, "device removed", NNPU_CID_NONE, 0);
		break;
	}
	nnpu_queue_kick_watchdog(queue, false);
}

static void nnpu_recovery_watchdog_work(struct work_struct *work)
{
	struct nnpu_queue *queue = container_of(to_delayed_work(work), struct nnpu_queue,
						watchdog_work);
	struct nnpu_device *ndev = queue->qp.ndev;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	nnpu_recovery_watch(ndev);
	nnpu_device_exit(idx);
}

static void nnpu_recovery_reset_work(struct work_struct *work)
{
	struct nnpu_device *ndev = container_of(work, struct nnpu_device, reset_work);
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	if (atomic64_read(&ndev->reset_count) < atomic64_read(&ndev->reset_wanted))
		nnpu_recovery_device_reset(ndev, "admin command failed", NNPU_CID_NONE, 0);
	nnpu_device_exit(idx);
}

/**
 * nnpu_recovery_reset_sync - have the device reset and wait for it
 * @ndev: device; the caller is inside a nnpu_device_enter() section or unplug is
 *	impossible, and holds neither reset_sem nor a spinlock
 * @generation: nnpu_device.reset_count when the caller saw the device fail. If it
 *	was reset since, that is the reset the caller needs, and there is no other
 *
 * Not on nnpu_device.reset_wq. When this returns the device does not access any
 * memory it was told about before.
 */
void nnpu_recovery_reset_sync(struct nnpu_device *ndev, u64 generation)
{
	s64 wanted = generation + 1, old = atomic64_read(&ndev->reset_wanted);

	while (old < wanted && !atomic64_try_cmpxchg(&ndev->reset_wanted, &old, wanted))
		;
	queue_work(ndev->reset_wq, &ndev->reset_work);
	flush_work(&ndev->reset_work);
}

/**
 * nnpu_recovery_init - prepare watchdog and resets
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_recovery_init(struct nnpu_device *ndev)
{
	INIT_DELAYED_WORK(&ndev->queue.watchdog_work, nnpu_recovery_watchdog_work);
	INIT_WORK(&ndev->reset_work, nnpu_recovery_reset_work);
	/* Fences depend on it, and reclaim may depend on fences. */
	ndev->reset_wq = alloc_ordered_workqueue("nnpu-reset", WQ_MEM_RECLAIM);
	return ndev->reset_wq ? 0 : -ENOMEM;
}

/**
 * nnpu_recovery_stop - end watchdog and resets for good
 * @ndev: device, unplugged or not yet registered; its interrupts are free
 */
void nnpu_recovery_stop(struct nnpu_device *ndev)
{
	cancel_delayed_work_sync(&ndev->queue.watchdog_work);
	cancel_work_sync(&ndev->reset_work);
	destroy_workqueue(ndev->reset_wq);
	ndev->reset_wq = NULL;
}
