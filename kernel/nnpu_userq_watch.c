// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of user queues: it looks for hangs, stopped queues and idle queues.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_trace.h"
#include "nnpu_userq.h"

/**
 * nnpu_userq_watch_kick - have the active queues looked at
 * @ndev: device, inside a nnpu_device_enter() section
 * @now: at once, not after the usual period
 */
void nnpu_userq_watch_kick(struct nnpu_device *ndev, bool now)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	u32 period = nnpu_watchdog_period_ms(nnpu_param_hang_timeout_ms());

	if (now)
		mod_delayed_work(uqs->wq, &uqs->watch, 0);
	else
		queue_delayed_work(uqs->wq, &uqs->watch, msecs_to_jiffies(period));
}

/**
 * nnpu_userq_watch_stopped - has the device stopped the queue?
 * @uq: queue
 *
 * Return: true if so: the watch is about to end the queue and wake its waiters.
 */
bool nnpu_userq_watch_stopped(struct nnpu_userq *uq)
{
	struct nnpu_device *ndev = uq->ndev;
	bool stopped = false;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return false;
	mutex_lock(&ndev->userqs.lock);
	if (uq->state == NNPU_USERQ_ACTIVE)
		stopped = nnpu_read_queue(ndev, uq->qid, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED;
	mutex_unlock(&ndev->userqs.lock);
	if (stopped)
		nnpu_userq_watch_kick(ndev, true);
	nnpu_device_exit(idx);
	return stopped;
}

/* Has the job that hangs gone after an ABORT? hw_lock is held. */
static bool nnpu_userq_watch_abort(struct nnpu_userq *uq, u16 cid)
{
	unsigned long end = jiffies + msecs_to_jiffies(nnpu_param_abort_timeout_ms());
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT,
		.qid = cpu_to_le16(uq->qid),
		.target_cid = cpu_to_le16(cid),
	};
	struct nnpu_admin_result result;
	u32 before = nnpu_read_queue(ndev, uq->qid, NNPU_QREG_PROGRESS);

	if (!(ndev->features & NNPU_FEATURE_ABORT))
		return false;
	if (nnpu_command_exec(ndev, uq->ctx, &sqe, &result) || result.status)
		return false;
	do {
		u32 now = nnpu_read_queue(ndev, uq->qid, NNPU_QREG_CURRENT);

		if (!(now & NNPU_QREG_CURRENT_RUNNING) || (now & NNPU_QREG_CURRENT_CID) != cid ||
		    nnpu_read_queue(ndev, uq->qid, NNPU_QREG_PROGRESS) != before)
			return true;
		usleep_range(500, 1000);
	} while (time_before(jiffies, end));
	return false;
}

/* A job makes no progress: the job goes, else the queue, else the device. */
static void nnpu_userq_watch_hang(struct nnpu_userq *uq, u16 cid)
{
	struct nnpu_device *ndev = uq->ndev;

	atomic64_inc(&ndev->stats.hangs);
	atomic64_inc(&uq->ctx->jobs_timedout);
	drm_warn(&ndev->drm, "job %#x of queue %u makes no progress, aborting it\n", cid, uq->qid);
	nnpu_dump_hang(ndev);
	nnpu_watchdog_rearm(&uq->watchdog);
	if (nnpu_userq_watch_abort(uq, cid))
		return;
	atomic64_inc(&ndev->stats.queue_resets);
	trace_nnpu_reset(ndev, "user queue", "hang", cid, 0);
	nnpu_userq_end_locked(uq, NNPU_USERQ_HUNG, 0);
}

/* One look at one queue. hw_lock is held. */
static void nnpu_userq_watch_look(struct nnpu_userq *uq)
{
	unsigned long idle = msecs_to_jiffies(nnpu_param_queue_idle_ms());
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_watchdog_sample s = { };
	enum nnpu_verdict verdict;
	u32 current_job;

	/* A queue the device holds for leaving may still run its job. */
	if (uq->state != NNPU_USERQ_ACTIVE && uq->state != NNPU_USERQ_LEAVING)
		return;
	current_job = nnpu_read_queue(ndev, uq->qid, NNPU_QREG_CURRENT);
	s.now_ms = ktime_to_ms(ktime_get());
	s.state = nnpu_read_queue(ndev, uq->qid, NNPU_QREG_STATE);
	s.progress = nnpu_read_queue(ndev, uq->qid, NNPU_QREG_PROGRESS);
	s.current_job = current_job;
	/* Last: a device that is reset has no queues, and that is no fault of theirs. */
	s.status = nnpu_read(ndev, NNPU_REG_STATUS);
	if (!(s.status & (NNPU_STATUS_REG_READY | NNPU_STATUS_REG_FATAL)))
		return;
	/* Waiting for an engine that another queue has is no hang of this one. */
	s.inflight = !!(current_job & NNPU_QREG_CURRENT_RUNNING);
	verdict = nnpu_watchdog_look(&uq->watchdog, &s, nnpu_param_hang_timeout_ms());
	if (s.progress != uq->progress || s.state != NNPU_QSTATE_IDLE) {
		uq->progress = s.progress;
		uq->idle_since = jiffies;
	}
	switch (verdict) {
	case NNPU_VERDICT_IDLE:
		if (uq->state == NNPU_USERQ_ACTIVE && time_after(jiffies, uq->idle_since + idle))
			nnpu_userq_hw_suspend(uq, true);
		break;
	case NNPU_VERDICT_PROGRESS:
	case NNPU_VERDICT_WAIT:
		break;
	case NNPU_VERDICT_HANG:
		nnpu_userq_watch_hang(uq, current_job & NNPU_QREG_CURRENT_CID);
		break;
	case NNPU_VERDICT_STOPPED:
		nnpu_userq_end_locked(uq, NNPU_USERQ_STOPPED,
				      nnpu_read_queue(ndev, uq->qid, NNPU_QREG_ERROR));
		break;
	case NNPU_VERDICT_FATAL:
	case NNPU_VERDICT_GONE:
		nnpu_queue_kick_watchdog(&ndev->queue, true);
		break;
	}
}

/*
 * nnpu_userqs.watch: runs while queues have hardware queues, and once more for the
 * performance level when the last one has gone.
 */
static void nnpu_userq_watch_work(struct work_struct *work)
{
	struct nnpu_userqs *uqs = container_of(to_delayed_work(work), struct nnpu_userqs, watch);
	struct nnpu_device *ndev = container_of(uqs, struct nnpu_device, userqs);
	struct nnpu_userq *uq;
	unsigned int i;
	bool any;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	mutex_lock(&uqs->hw_lock);
	for (i = 0; i < uqs->num_hw; i++) {
		mutex_lock(&uqs->lock);
		uq = uqs->by_qid[i];
		if (uq)
			kref_get(&uq->ref);
		if (uq && uq->qid)
			nnpu_userq_hw_account(uq, uq->qid);
		mutex_unlock(&uqs->lock);
		if (!uq)
			continue;
		nnpu_userq_watch_look(uq);
		nnpu_userq_put(uq);
	}
	nnpu_power_update(ndev);
	mutex_lock(&uqs->lock);
	any = !list_empty(&uqs->active);
	mutex_unlock(&uqs->lock);
	mutex_unlock(&uqs->hw_lock);
	if (any)
		nnpu_userq_watch_kick(ndev, false);
	nnpu_device_exit(idx);
}

/**
 * nnpu_userq_watch_init - prepare the watchdog
 * @ndev: device
 */
void nnpu_userq_watch_init(struct nnpu_device *ndev)
{
	INIT_DELAYED_WORK(&ndev->userqs.watch, nnpu_userq_watch_work);
}
