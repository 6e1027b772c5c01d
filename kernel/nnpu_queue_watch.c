// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of the kernel queue and what it does.
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
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_job.h"
#include "nnpu_queue_watch.h"
#include "nnpu_reset.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

static u16 nnpu_queue_watch_oldest(struct nnpu_queue *queue)
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

static bool nnpu_queue_watch_is_inflight(struct nnpu_queue *queue, u16 cid)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&queue->qp.lock, flags);
	ret = nnpu_cids_find(&queue->qp.cids, cid);
	spin_unlock_irqrestore(&queue->qp.lock, flags);
	return ret;
}

/* The job the device says it runs, if it is one of ours. */
static u16 nnpu_queue_watch_running(struct nnpu_device *ndev)
{
	u32 current_job = nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_CURRENT);
	u16 cid = current_job & NNPU_QREG_CURRENT_CID;

	if (!(current_job & NNPU_QREG_CURRENT_RUNNING) ||
	    !nnpu_queue_watch_is_inflight(&ndev->queue, cid))
		return NNPU_CID_NONE;
	return cid;
}

/* Take completions until @cid is not in flight; all but suspects for NONE. */
static bool nnpu_queue_watch_drain(struct nnpu_device *ndev, u16 cid)
{
	unsigned long end = jiffies + msecs_to_jiffies(nnpu_param_abort_timeout_ms());
	struct nnpu_queue *queue = &ndev->queue;

	for (;;) {
		bool last = time_after(jiffies, end), done;

		nnpu_queue_process(queue);
		if (cid == NNPU_CID_NONE)
			done = READ_ONCE(queue->qp.cids.used) <= READ_ONCE(queue->suspects);
		else
			done = !nnpu_queue_watch_is_inflight(queue, cid);
		if (done || last)
			return done;
		usleep_range(500, 1000);
	}
}

/* 0: the job is gone; -EAGAIN: it is still there; -ETIMEDOUT: no answer. */
static int nnpu_queue_watch_abort(struct nnpu_device *ndev, u16 cid)
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
	ret = nnpu_admin_exec(ndev, &sqe, &result);
	if (ret)
		return ret;
	if (result.status || !result.value)
		return nnpu_queue_watch_is_inflight(queue, cid) ? -EAGAIN : 0;
	return nnpu_queue_watch_drain(ndev, cid) ? 0 : -EAGAIN;
}

static int nnpu_queue_watch_reset(struct nnpu_device *ndev, const char *why, u16 guilty_cid,
				  int guilty_error)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_RESET_QUEUE,
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
	};
	struct nnpu_queue *queue = &ndev->queue;
	u16 running = nnpu_queue_watch_running(ndev);
	struct nnpu_admin_result result;
	int ret;

	ret = nnpu_admin_exec(ndev, &sqe, &result);
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
static void nnpu_queue_watch_hang(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;
	u16 cid;
	int ret;

	nnpu_sched_pause(&ndev->sched);
	cid = nnpu_queue_watch_running(ndev);
	if (cid == NNPU_CID_NONE)
		cid = nnpu_queue_watch_oldest(queue);
	atomic64_inc(&ndev->stats.hangs);
	drm_warn(&ndev->drm, "job %#x makes no progress, aborting it\n", cid);
	nnpu_dump_hang(ndev);
	ret = nnpu_queue_watch_abort(ndev, cid);
	if (ret == -EAGAIN)
		ret = nnpu_queue_watch_reset(ndev, "hang", cid, -ETIME);
	nnpu_watchdog_rearm(&queue->watchdog);
	if (ret)
		nnpu_reset_device(ndev, "hang", cid, -ETIME);
	nnpu_sched_unpause(&ndev->sched);
}

/* The queue cannot go on: steps 2 and 3. */
static void nnpu_queue_watch_restart(struct nnpu_device *ndev, const char *why, bool stopped)
{
	struct nnpu_queue *queue = &ndev->queue;
	u16 guilty = NNPU_CID_NONE;

	nnpu_sched_pause(&ndev->sched);
	if (stopped) {
		/* The oldest job is the one that may have begun. */
		guilty = nnpu_queue_watch_oldest(queue);
		drm_warn(&ndev->drm, "queue reset: %s, error %#x\n", why,
			 nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_ERROR));
	} else {
		/* Let the others end first: then the reset costs nobody else. */
		nnpu_queue_watch_drain(ndev, NNPU_CID_NONE);
		drm_warn(&ndev->drm, "queue reset: %s\n", why);
	}
	nnpu_watchdog_rearm(&queue->watchdog);
	if (nnpu_queue_watch_reset(ndev, why, guilty, -EIO))
		nnpu_reset_device(ndev, why, guilty, -EIO);
	nnpu_sched_unpause(&ndev->sched);
}

static void nnpu_queue_watch_sample(struct nnpu_device *ndev, struct nnpu_watchdog_sample *s)
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

static void nnpu_queue_watch(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_watchdog_sample sample;
	unsigned int found;

	/* An interrupt that is on its way counts as lost: close enough. */
	found = nnpu_queue_process(queue);
	if (found)
		atomic64_add(found, &ndev->stats.lost_irqs);
	nnpu_admin_process(ndev);

	nnpu_queue_watch_sample(ndev, &sample);
	switch (nnpu_watchdog_look(&queue->watchdog, &sample, nnpu_param_hang_timeout_ms())) {
	case NNPU_VERDICT_IDLE:
		return;
	case NNPU_VERDICT_PROGRESS:
	case NNPU_VERDICT_WAIT:
		if (READ_ONCE(queue->suspects))
			nnpu_queue_watch_restart(ndev, "unknown status", false);
		break;
	case NNPU_VERDICT_HANG:
		nnpu_queue_watch_hang(ndev);
		break;
	case NNPU_VERDICT_STOPPED:
		nnpu_queue_watch_restart(ndev, "queue stopped", true);
		break;
	case NNPU_VERDICT_FATAL:
		nnpu_reset_device(ndev, "fatal error", nnpu_queue_watch_oldest(queue), -EIO);
		break;
	case NNPU_VERDICT_GONE:
		nnpu_reset_device(ndev, "device removed", NNPU_CID_NONE, 0);
		break;
	}
	nnpu_queue_kick_watchdog(queue, false);
}

static void nnpu_queue_watch_work(struct work_struct *work)
{
	struct nnpu_queue *queue = container_of(to_delayed_work(work), struct nnpu_queue,
						watchdog_work);
	struct nnpu_device *ndev = queue->qp.ndev;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	nnpu_queue_watch(ndev);
	nnpu_device_exit(idx);
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
