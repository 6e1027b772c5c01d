// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of the kernel queue: it looks at the queue while jobs are in flight. It takes
 * the completions first, since an interrupt may have been lost, then judges progress, and
 * then climbs the ladder (nnpu_ladder.c). All steps run on one ordered workqueue, with the
 * scheduler stopped.
 */
#include <linux/dma-fence.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_ladder.h"
#include "nnpu_queue_watch.h"
#include "nnpu_reset.h"
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

static struct nnpu_queue *nnpu_queue_watch_queue(struct nnpu_ladder *l)
{
	return &l->ndev->queue;
}

static int nnpu_queue_watch_exec(struct nnpu_ladder *l, const void *sqe,
				 struct nnpu_admin_result *result)
{
	return nnpu_admin_exec(l->ndev, sqe, result);
}

/* Without a job at fault: have all jobs left but those with an unknown status? */
static bool nnpu_queue_watch_left(struct nnpu_ladder *l)
{
	struct nnpu_queue *queue = nnpu_queue_watch_queue(l);
	unsigned int suspects;

	nnpu_queue_process(queue);
	if (l->cid == NNPU_CID_NONE)
		return nnpu_queue_count(queue, &suspects) == suspects;
	return !nnpu_queue_watch_is_inflight(queue, l->cid);
}

static int nnpu_queue_watch_reset_queue(struct nnpu_ladder *l)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_RESET_QUEUE,
		.qid = cpu_to_le16(l->qid),
	};
	struct nnpu_queue *queue = nnpu_queue_watch_queue(l);
	u16 running = nnpu_queue_watch_running(l->ndev);
	struct nnpu_admin_result result;
	int ret;

	ret = nnpu_admin_exec(l->ndev, &sqe, &result);
	if (!ret && result.status)
		ret = -EIO;
	trace_nnpu_reset(l->ndev, "queue", l->why, l->cid, ret);
	if (ret)
		return ret;
	/* Take the completions that the device wrote before the reset. */
	nnpu_queue_process(queue);
	nnpu_queue_resume(queue, l->cid, l->error, running);
	atomic64_inc(&l->ndev->stats.queue_resets);
	return 0;
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

static void nnpu_queue_watch_ladder(struct nnpu_device *ndev, struct nnpu_ladder *l,
				    const char *why, int error)
{
	*l = (struct nnpu_ladder) {
		.ops = &nnpu_queue_watch_ops,
		.ndev = ndev,
		.watchdog = &ndev->queue.watchdog,
		.why = why,
		.qid = NNPU_QID_KERNEL,
		.cid = NNPU_CID_NONE,
		.error = error,
	};
}

/* A job that is aborted ends with this error. */
static void nnpu_queue_watch_cancel(struct nnpu_queue *queue, u16 cid, int error)
{
	struct nnpu_job *job;

	spin_lock_irq(&queue->qp.lock);
	job = nnpu_cids_find(&queue->qp.cids, cid);
	if (job)
		job->cancel_error = error;
	spin_unlock_irq(&queue->qp.lock);
}

static void nnpu_queue_watch_hang(struct nnpu_device *ndev)
{
	struct nnpu_ladder l;

	nnpu_sched_pause(&ndev->sched);
	nnpu_queue_watch_ladder(ndev, &l, "hang", -ETIME);
	l.cid = nnpu_queue_watch_running(ndev);
	if (l.cid == NNPU_CID_NONE)
		l.cid = nnpu_queue_watch_oldest(&ndev->queue);
	nnpu_queue_watch_cancel(&ndev->queue, l.cid, l.error);
	nnpu_ladder_climb(&l, NNPU_LADDER_ABORT);
	nnpu_sched_unpause(&ndev->sched);
}

static void nnpu_queue_watch_stopped(struct nnpu_device *ndev)
{
	struct nnpu_ladder l;

	nnpu_sched_pause(&ndev->sched);
	nnpu_queue_watch_ladder(ndev, &l, "queue stopped", -EIO);
	/* The oldest job is the one that may have begun. */
	l.cid = nnpu_queue_watch_oldest(&ndev->queue);
	drm_warn(&ndev->drm, "queue reset: %s, error %#x\n", l.why,
		 nnpu_read_queue(ndev, NNPU_QID_KERNEL, NNPU_QREG_ERROR));
	nnpu_ladder_climb(&l, NNPU_LADDER_QUEUE);
	nnpu_sched_unpause(&ndev->sched);
}

static void nnpu_queue_watch_suspects(struct nnpu_device *ndev)
{
	struct nnpu_ladder l;

	nnpu_sched_pause(&ndev->sched);
	nnpu_queue_watch_ladder(ndev, &l, "unknown status", -EIO);
	/* The other jobs end first: then the reset costs no other job. */
	nnpu_ladder_wait(&l);
	drm_warn(&ndev->drm, "queue reset: %s\n", l.why);
	nnpu_ladder_climb(&l, NNPU_LADDER_QUEUE);
	nnpu_sched_unpause(&ndev->sched);
}

static void nnpu_queue_watch(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_watchdog_sample sample;
	unsigned int found, suspects;

	/* This also counts completions whose interrupt is still to come. */
	found = nnpu_queue_process(queue);
	if (found)
		atomic64_add(found, &ndev->stats.lost_irqs);
	nnpu_admin_process(ndev);

	nnpu_ladder_sample(ndev, NNPU_QID_KERNEL, &sample);
	spin_lock_irq(&queue->qp.lock);
	sample.inflight = queue->qp.cids.used;
	sample.completed = queue->completed;
	spin_unlock_irq(&queue->qp.lock);
	switch (nnpu_watchdog_look(&queue->watchdog, &sample, nnpu_param_hang_timeout_ms())) {
	case NNPU_VERDICT_IDLE:
		return;
	case NNPU_VERDICT_PROGRESS:
	case NNPU_VERDICT_WAIT:
		nnpu_queue_count(queue, &suspects);
		if (suspects)
			nnpu_queue_watch_suspects(ndev);
		break;
	case NNPU_VERDICT_HANG:
		nnpu_queue_watch_hang(ndev);
		break;
	case NNPU_VERDICT_STOPPED:
		nnpu_queue_watch_stopped(ndev);
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
	bool cookie = dma_fence_begin_signalling();
	int idx;

	if (nnpu_device_enter(ndev, &idx)) {
		nnpu_queue_watch(ndev);
		nnpu_device_exit(idx);
	}
	dma_fence_end_signalling(cookie);
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
