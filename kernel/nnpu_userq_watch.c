// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watchdog of user queues: it looks for hangs, stopped queues and idle queues.
 */
#include <linux/bitfield.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_ladder.h"
#include "nnpu_trace.h"
#include "nnpu_userq.h"

/* Time between two looks at a job that is being aborted. */
#define NNPU_USERQ_ABORT_POLL_MS	1

/**
 * nnpu_userq_watch_kick - schedule the watchdog
 * @ndev: device, inside a nnpu_device_enter() section
 * @now: run it at once, not after its period
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
 * Return: true if so. The watchdog then ends the queue and wakes its waiters.
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
	nnpu_device_exit(ndev, idx);
	return stopped;
}

/**
 * struct nnpu_userq_watch_hang - a user queue on the ladder
 * @ladder: recovery
 * @uq: queue
 */
struct nnpu_userq_watch_hang {
	struct nnpu_ladder ladder;
	struct nnpu_userq *uq;
};

static struct nnpu_userq *nnpu_userq_watch_queue(struct nnpu_ladder *l)
{
	return container_of(l, struct nnpu_userq_watch_hang, ladder)->uq;
}

static int nnpu_userq_watch_exec(struct nnpu_ladder *l, const void *sqe,
				 struct nnpu_admin_result *result)
{
	return nnpu_command_exec(l->ndev, nnpu_userq_watch_queue(l)->ctx, sqe, result);
}

/* The engine that runs a job of a queue; @s is zero if none does. */
static void nnpu_userq_watch_sample(struct nnpu_device *ndev, u16 qid,
				    struct nnpu_watchdog_sample *s)
{
	u32 i, running = NNPU_EREG_CURRENT_RUNNING | FIELD_PREP(NNPU_EREG_CURRENT_QID, qid);

	for (i = 0; i < ndev->limits.num_engines; i++) {
		nnpu_read_engine(ndev, i, s);
		if ((s->current_job & ~NNPU_EREG_CURRENT_CID) == running)
			return;
	}
	*s = (struct nnpu_watchdog_sample) { };
}

static bool nnpu_userq_watch_left(struct nnpu_ladder *l)
{
	const struct nnpu_userq *uq = nnpu_userq_watch_queue(l);
	struct nnpu_watchdog_sample now;

	nnpu_userq_watch_sample(l->ndev, l->qid, &now);
	return now.current_job != uq->abort_job.current_job ||
	       now.progress != uq->abort_job.progress;
}

static int nnpu_userq_watch_reset_queue(struct nnpu_ladder *l)
{
	atomic64_inc(&l->ndev->stats.queue_resets);
	trace_nnpu_reset(l->ndev, "user queue", l->why, l->cid, 0);
	nnpu_event_reset(l->ndev, NNPU_RESET_SCOPE_USER_QUEUE, l->ctx, l->cid, l->why, 0);
	nnpu_userq_end_locked(nnpu_userq_watch_queue(l), NNPU_USERQ_HUNG, 0);
	return 0;
}

static const struct nnpu_ladder_ops nnpu_userq_watch_ops = {
	.exec = nnpu_userq_watch_exec,
	.job_left = nnpu_userq_watch_left,
	.reset_queue = nnpu_userq_watch_reset_queue,
};

static struct nnpu_userq_watch_hang nnpu_userq_watch_ladder(struct nnpu_userq *uq, u16 qid)
{
	return (struct nnpu_userq_watch_hang) {
		.ladder = {
			.ops = &nnpu_userq_watch_ops,
			.ndev = uq->ndev,
			.ctx = uq->ctx,
			.watchdog = &uq->watchdog,
			.why = "hang",
			.qid = qid,
			.cid = uq->abort_job.current_job & NNPU_EREG_CURRENT_CID,
			.error = -ETIME,
		},
		.uq = uq,
	};
}

/*
 * hw_lock is held. The job gets its time to leave in nnpu_userq_watch_aborting(): other
 * queues come and go meanwhile.
 */
static void nnpu_userq_watch_hang(struct nnpu_userq *uq, u16 qid,
				  const struct nnpu_watchdog_sample *s)
{
	struct nnpu_userq_watch_hang hang;
	int ret;

	uq->abort_job = *s;
	hang = nnpu_userq_watch_ladder(uq, qid);
	nnpu_ctx_count(uq->ctx, NNPU_COUNT_TIMEDOUT, 1);
	ret = nnpu_ladder_abort(&hang.ladder);
	if (ret == -EINPROGRESS) {
		uq->aborting = true;
		uq->abort_since = jiffies;
	} else {
		nnpu_ladder_go_on(&hang.ladder, ret);
	}
}

/* Has the job that is being aborted left, or is its time over? hw_lock is held. */
static void nnpu_userq_watch_aborting(struct nnpu_userq *uq, u16 qid)
{
	unsigned long end = uq->abort_since + msecs_to_jiffies(nnpu_param_abort_timeout_ms());
	struct nnpu_userq_watch_hang hang = nnpu_userq_watch_ladder(uq, qid);
	/* First: the job may leave between the two looks. */
	bool over = time_after(jiffies, end);
	bool left = nnpu_userq_watch_left(&hang.ladder);

	if (!left && !over)
		return;
	uq->aborting = false;
	nnpu_ladder_go_on(&hang.ladder, left ? 0 : -EAGAIN);
}

/* Look at one queue, which had the hardware queue a moment ago. hw_lock is held. */
static void nnpu_userq_watch_look(struct nnpu_userq *uq, u16 qid)
{
	unsigned long idle = msecs_to_jiffies(nnpu_param_queue_idle_ms());
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_watchdog_sample s;
	enum nnpu_verdict verdict;
	u32 status, state, busy;

	/* A queue that is leaving may still run its last job. */
	if (uq->state != NNPU_USERQ_ACTIVE && uq->state != NNPU_USERQ_LEAVING)
		return;
	nnpu_userq_watch_sample(ndev, qid, &s);
	busy = nnpu_read_queue(ndev, qid, NNPU_QREG_BUSY);
	state = nnpu_read_queue(ndev, qid, NNPU_QREG_STATE);
	/* Last: a device that was reset meanwhile has no queues. */
	status = nnpu_read(ndev, NNPU_REG_STATUS);
	verdict = nnpu_watchdog_queue(status, state);
	if (verdict == NNPU_VERDICT_PROGRESS)
		verdict = nnpu_watchdog_look(&uq->watchdog, &s, qid, ktime_to_ms(ktime_get()),
					     nnpu_param_hang_timeout_ms());
	if (busy != uq->idle_busy || state != NNPU_QSTATE_IDLE) {
		uq->idle_busy = busy;
		uq->idle_since = jiffies;
	}
	if (uq->aborting && verdict <= NNPU_VERDICT_HANG) {
		nnpu_userq_watch_aborting(uq, qid);
		return;
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
		nnpu_userq_watch_hang(uq, qid, &s);
		break;
	case NNPU_VERDICT_STOPPED:
		nnpu_userq_end_locked(uq, NNPU_USERQ_STOPPED,
				      nnpu_read_queue(ndev, qid, NNPU_QREG_ERROR));
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
	bool any, aborting = false;
	struct nnpu_userq *uq;
	unsigned int i;
	int idx;
	u16 qid;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	for (i = 0; i < uqs->num_hw; i++) {
		/* For each by itself: the end of another queue waits for one look at most. */
		mutex_lock(&uqs->hw_lock);
		mutex_lock(&uqs->lock);
		uq = uqs->by_qid[i];
		qid = uq ? uq->qid : 0;
		if (qid) {
			nnpu_userq_use(uq);
			nnpu_userq_hw_account(uq, qid);
		}
		mutex_unlock(&uqs->lock);
		if (qid) {
			nnpu_userq_watch_look(uq, qid);
			aborting |= uq->aborting;
		}
		mutex_unlock(&uqs->hw_lock);
		if (qid)
			nnpu_userq_unuse(uq);
	}
	mutex_lock(&uqs->hw_lock);
	nnpu_power_update(ndev);
	mutex_lock(&uqs->lock);
	any = !list_empty(&uqs->active);
	mutex_unlock(&uqs->lock);
	mutex_unlock(&uqs->hw_lock);
	if (any && aborting)
		queue_delayed_work(uqs->wq, &uqs->watch,
				   msecs_to_jiffies(NNPU_USERQ_ABORT_POLL_MS));
	else if (any)
		nnpu_userq_watch_kick(ndev, false);
	nnpu_device_exit(ndev, idx);
}

/**
 * nnpu_userq_watch_init - prepare the watchdog
 * @ndev: device
 */
void nnpu_userq_watch_init(struct nnpu_device *ndev)
{
	INIT_DELAYED_WORK(&ndev->userqs.watch, nnpu_userq_watch_work);
}
