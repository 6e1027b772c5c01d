// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware queues for user queues: who gets one, who gives his back, and the
 * watch over those that run.
 *
 * There may be more queues than hardware queues. A queue gets one when its
 * doorbell is rung and keeps it while it is busy or nobody else wants it. Who has
 * to make room: an idle queue, else the one that has been there longest, after
 * the job it runs; what it had left to do brings it back in its turn.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"
#include "nnpu_userq.h"

/* A busy queue keeps its hardware queue this long when others wait. */
#define NNPU_USERQ_QUANTUM_MS	10
/* Between two looks for room. */
#define NNPU_USERQ_RETRY_MS	1

/* Vector of a hardware queue: one of its own if there are enough. */
static unsigned int nnpu_userq_vector(struct nnpu_device *ndev, u16 qid)
{
	if (ndev->num_irqs <= NNPU_IRQ_USER)
		return ndev->num_irqs - 1;
	return NNPU_IRQ_USER + (qid - NNPU_QID_USER) % (ndev->num_irqs - NNPU_IRQ_USER);
}

/**
 * nnpu_userq_irq - an interrupt that may be for user queues
 * @ndev: device
 * @vector: vector
 *
 * Interrupt context.
 */
void nnpu_userq_irq(struct nnpu_device *ndev, unsigned int vector)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	unsigned int i;

	spin_lock(&uqs->irq_lock);
	for (i = 0; i < uqs->num_hw; i++)
		if (uqs->by_qid[i] && nnpu_userq_vector(ndev, NNPU_QID_USER + i) == vector)
			nnpu_userq_wake(uqs->by_qid[i]);
	spin_unlock(&uqs->irq_lock);
}

static void nnpu_userq_set_by_qid(struct nnpu_device *ndev, u16 qid, struct nnpu_userq *uq)
{
	struct nnpu_userqs *uqs = &ndev->userqs;

	spin_lock_irq(&uqs->irq_lock);
	uqs->by_qid[qid - NNPU_QID_USER] = uq;
	spin_unlock_irq(&uqs->irq_lock);
}

/**
 * nnpu_userq_want - a queue wants a hardware queue
 * @uq: parked queue; nnpu_userqs.lock is held
 */
void nnpu_userq_want(struct nnpu_userq *uq)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;

	lockdep_assert_held(&uqs->lock);
	uq->state = NNPU_USERQ_WANTED;
	list_add_tail(&uq->sched_node, &uqs->wanted);
	mod_delayed_work(uqs->wq, &uqs->work, 0);
}

/**
 * nnpu_userq_kick_watch - have the active queues looked at
 * @ndev: device, inside a nnpu_device_enter() section
 * @now: at once, not after the usual period
 */
void nnpu_userq_kick_watch(struct nnpu_device *ndev, bool now)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	u32 period = nnpu_watchdog_period_ms(nnpu_param_hang_timeout_ms());

	if (now)
		mod_delayed_work(uqs->wq, &uqs->watch, 0);
	else
		queue_delayed_work(uqs->wq, &uqs->watch, msecs_to_jiffies(period));
}

/**
 * nnpu_userq_leave_hw - destroy the hardware queue of a queue that has ended
 * @uq: queue; nnpu_userqs.hw_lock is held
 *
 * When this returns the device does not use the rings.
 */
void nnpu_userq_leave_hw(struct nnpu_userq *uq)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_sqe_queue sqe = { .opcode = NNPU_ADMIN_DESTROY_QUEUE };
	u16 qid;

	lockdep_assert_held(&uqs->hw_lock);
	/* A reset takes it away under the other lock. */
	mutex_lock(&uqs->lock);
	qid = uq->qid;
	uq->qid = 0;
	mutex_unlock(&uqs->lock);
	if (!qid)
		return;
	sqe.qid = cpu_to_le16(qid);
	nnpu_command_revoke(ndev, uq->ctx, &sqe);
	nnpu_userq_set_by_qid(ndev, qid, NULL);
	nnpu_power_put_queue(ndev);
	mutex_lock(&uqs->lock);
	/* The job that was aborted counts as well. */
	nnpu_userq_account(uq, qid);
	/* Somebody may be waiting for it. */
	if (!list_empty(&uqs->wanted))
		mod_delayed_work(uqs->wq, &uqs->work, 0);
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_arm - ask for an interrupt at completions beyond an index
 * @uq: queue
 * @head: index below nnpu_userq.cq_entries
 *
 * A queue on its way to or from a hardware queue wakes its waiters when it has
 * arrived; they arm again.
 */
void nnpu_userq_arm(struct nnpu_userq *uq, u32 head)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	int idx;

	mutex_lock(&uqs->lock);
	switch (uq->state) {
	case NNPU_USERQ_ACTIVE:
		if (!nnpu_device_enter(ndev, &idx))
			break;
		writel(head, ndev->doorbells + ((size_t)uq->qid << ndev->limits.db_shift) +
		       NNPU_DB_CQ_ARM);
		nnpu_device_exit(idx);
		break;
	case NNPU_USERQ_PARKED:
		/* All its completions are written. */
		if (uq->resume ? le16_to_cpu(uq->saved.cq_tail) != head : head) {
			nnpu_userq_wake(uq);
			break;
		}
		uq->saved.arm_head = cpu_to_le16(head);
		uq->saved.flags |= cpu_to_le16(NNPU_QUEUE_STATE_ARMED);
		break;
	default:
		break;
	}
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_check_stopped - has the device stopped the queue?
 * @uq: queue
 *
 * Return: true if so: the watch is about to end the queue and wake its waiters.
 */
bool nnpu_userq_check_stopped(struct nnpu_userq *uq)
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
		nnpu_userq_kick_watch(ndev, true);
	nnpu_device_exit(idx);
	return stopped;
}

static int nnpu_userq_create_hw(struct nnpu_userq *uq, u16 qid)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_sqe_create_queue sqe = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_ARMED_IRQ,
		.ctx = cpu_to_le32(uq->ctx->id),
		.qid = cpu_to_le16(qid),
		.vector = cpu_to_le16(nnpu_userq_vector(ndev, qid)),
		.sq_entries = cpu_to_le32(uq->sq_entries),
		.cq_entries = cpu_to_le32(uq->cq_entries),
		.sq_addr = cpu_to_le64(uq->sq_dma),
		.cq_addr = cpu_to_le64(uq->cq_dma),
	};
	struct nnpu_admin_result result;
	int ret;

	if (ndev->features & NNPU_FEATURE_PRIORITY)
		sqe.priority = cpu_to_le32(uq->priority);
	if (uq->resume) {
		sqe.flags |= NNPU_QUEUE_RESUME;
		sqe.state = uq->saved;
	}
	ret = nnpu_command_exec(ndev, uq->ctx, &sqe, &result);
	if (!ret && result.status) {
		drm_err(&ndev->drm, "queue %u cannot be created: %s (%#x)\n", qid,
			nnpu_status_text(result.status), result.status);
		ret = -EIO;
	}
	return ret;
}

/* Give a hardware queue that is free to a queue that waits. hw_lock is held. */
static void nnpu_userq_start(struct nnpu_userq *uq, u16 qid)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	int ret;

	/* Awake before anybody rings. */
	nnpu_power_get_queue(ndev);
	/* The first interrupt may come before the answer. */
	nnpu_userq_set_by_qid(ndev, qid, uq);
	mutex_lock(&uqs->lock);
	uq->busy = nnpu_read_queue(ndev, qid, NNPU_QREG_BUSY);
	mutex_unlock(&uqs->lock);
	ret = nnpu_userq_create_hw(uq, qid);
	mutex_lock(&uqs->lock);
	if (uq->state == NNPU_USERQ_ENDED) {
		/* A reset came between: the device has forgotten the queue. */
		mutex_unlock(&uqs->lock);
		nnpu_userq_set_by_qid(ndev, qid, NULL);
		nnpu_power_put_queue(ndev);
		return;
	}
	if (!ret) {
		uq->state = NNPU_USERQ_ACTIVE;
		uq->qid = qid;
		uq->active_since = jiffies;
		uq->idle_since = jiffies;
		nnpu_watchdog_rearm(&uq->watchdog);
		list_move_tail(&uq->sched_node, &uqs->active);
	}
	mutex_unlock(&uqs->lock);
	trace_nnpu_userq(uq, "start", qid, ret);
	if (ret) {
		nnpu_userq_set_by_qid(ndev, qid, NULL);
		nnpu_power_put_queue(ndev);
		nnpu_userq_end_locked(uq, ret == -EIO ? DRM_NNPU_QUEUE_STATE_STOPPED :
				      DRM_NNPU_QUEUE_STATE_LOST,
				      ret == -EIO ? NNPU_STATUS_INTERNAL : 0);
		return;
	}
	nnpu_userq_wake(uq);
	nnpu_userq_kick_watch(ndev, false);
}

/*
 * Take the hardware queue of an active queue back. hw_lock is held.
 *
 * Return: 0; -EBUSY: it has work (@idle) or a job to finish first.
 */
static int nnpu_userq_suspend(struct nnpu_userq *uq, bool idle)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_sqe_suspend_queue sqe = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE,
		.flags = idle ? NNPU_SUSPEND_IDLE : 0,
		.state_addr = cpu_to_le64(uqs->state_dma),
	};
	struct nnpu_admin_result result;
	int ret;
	u16 qid;

	mutex_lock(&uqs->lock);
	if (uq->state == NNPU_USERQ_ENDED) {
		mutex_unlock(&uqs->lock);
		return 0;
	}
	/* Before the device is asked: no doorbell rings for who comes after. */
	uq->state = NNPU_USERQ_LEAVING;
	nnpu_userq_zap(uq);
	qid = uq->qid;
	mutex_unlock(&uqs->lock);
	/* Doorbells that are on their way arrive first: a read passes no write. */
	nnpu_read_queue(ndev, qid, NNPU_QREG_STATE);

	sqe.qid = cpu_to_le16(qid);
	ret = nnpu_command_exec(ndev, uq->ctx, &sqe, &result);
	if (!ret && result.status)
		ret = result.status == NNPU_STATUS_BUSY ? -EBUSY : -EIO;
	if (!ret)
		nnpu_userq_set_by_qid(ndev, qid, NULL);

	mutex_lock(&uqs->lock);
	if (uq->state == NNPU_USERQ_ENDED) {
		ret = 0;
	} else if (!ret) {
		nnpu_userq_account(uq, qid);
		uq->qid = 0;
		nnpu_power_put_queue(ndev);
		uq->saved = *uqs->state_mem;
		uq->resume = true;
		uq->state = NNPU_USERQ_PARKED;
		list_del_init(&uq->sched_node);
		if (uq->saved.sq_head != uq->saved.sq_tail)
			nnpu_userq_want(uq);
	} else if (ret != -EBUSY || idle) {
		/* It stays. A stopped one is the watch's business. */
		uq->state = NNPU_USERQ_ACTIVE;
	}
	mutex_unlock(&uqs->lock);
	trace_nnpu_userq(uq, idle ? "park" : "suspend", qid, ret);
	nnpu_userq_wake(uq);
	return ret;
}

/* hw_lock is held. */
static u16 nnpu_userq_free_qid(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	unsigned int i;

	for (i = 0; i < uqs->num_hw; i++)
		if (!READ_ONCE(uqs->by_qid[i]))
			return NNPU_QID_USER + i;
	return 0;
}

/* The first queue that has to go, with a reference; NULL: none may go yet. */
static struct nnpu_userq *nnpu_userq_pick_victim(struct nnpu_device *ndev, bool *idle)
{
	unsigned long quantum = msecs_to_jiffies(NNPU_USERQ_QUANTUM_MS);
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq *uq, *victim = NULL;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->active, sched_node) {
		/* One that is on its way out comes first: the device holds it. */
		if (uq->state == NNPU_USERQ_LEAVING) {
			victim = uq;
			*idle = false;
			break;
		}
		if (*idle && victim)
			continue;
		if (nnpu_read_queue(ndev, uq->qid, NNPU_QREG_STATE) == NNPU_QSTATE_IDLE) {
			victim = uq;
			*idle = true;
		} else if (!victim && time_after(jiffies, uq->active_since + quantum)) {
			victim = uq;
		}
	}
	if (victim)
		kref_get(&victim->ref);
	mutex_unlock(&uqs->lock);
	return victim;
}

/*
 * Make a hardware queue free. hw_lock is held.
 *
 * Return: 0, or -EBUSY: try again a little later.
 */
static int nnpu_userq_make_room(struct nnpu_device *ndev)
{
	struct nnpu_userq *victim;
	bool idle = false;
	int ret;

	victim = nnpu_userq_pick_victim(ndev, &idle);
	if (!victim)
		return -EBUSY;
	ret = nnpu_userq_suspend(victim, idle);
	if (ret == -EBUSY && idle) {
		/* It was rung meanwhile: others may be idle, it is last now. */
		mutex_lock(&ndev->userqs.lock);
		if (victim->state == NNPU_USERQ_ACTIVE)
			list_move_tail(&victim->sched_node, &ndev->userqs.active);
		mutex_unlock(&ndev->userqs.lock);
	}
	if (ret == -EIO)
		nnpu_userq_kick_watch(ndev, true);
	nnpu_userq_put(victim);
	return ret ? -EBUSY : 0;
}

static struct nnpu_userq *nnpu_userq_first_wanted(struct nnpu_userqs *uqs)
{
	struct nnpu_userq *uq;

	mutex_lock(&uqs->lock);
	uq = list_first_entry_or_null(&uqs->wanted, struct nnpu_userq, sched_node);
	if (uq)
		kref_get(&uq->ref);
	mutex_unlock(&uqs->lock);
	return uq;
}

/* A queue the device holds back must get out, even if nobody waits any more. */
static bool nnpu_userq_any_leaving(struct nnpu_userqs *uqs)
{
	struct nnpu_userq *uq;
	bool ret = false;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->active, sched_node)
		ret |= uq->state == NNPU_USERQ_LEAVING;
	mutex_unlock(&uqs->lock);
	return ret;
}

/**
 * nnpu_userq_work - give hardware queues to those that wait
 * @work: nnpu_userqs.work
 */
void nnpu_userq_work(struct work_struct *work)
{
	struct nnpu_userqs *uqs = container_of(to_delayed_work(work), struct nnpu_userqs, work);
	struct nnpu_device *ndev = container_of(uqs, struct nnpu_device, userqs);
	struct nnpu_userq *uq;
	bool again = false;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	mutex_lock(&uqs->hw_lock);
	while (!again) {
		u16 qid = nnpu_userq_free_qid(ndev);

		uq = nnpu_userq_first_wanted(uqs);
		if (uq && qid)
			nnpu_userq_start(uq, qid);
		else if (uq || nnpu_userq_any_leaving(uqs))
			again = nnpu_userq_make_room(ndev);
		else
			break;
		if (uq)
			nnpu_userq_put(uq);
	}
	mutex_unlock(&uqs->hw_lock);
	if (again)
		queue_delayed_work(uqs->wq, &uqs->work, msecs_to_jiffies(NNPU_USERQ_RETRY_MS));
	nnpu_device_exit(idx);
}

/* Has the job that hangs gone after an ABORT? hw_lock is held. */
static bool nnpu_userq_abort(struct nnpu_userq *uq, u16 cid)
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
static void nnpu_userq_hang(struct nnpu_userq *uq, u16 cid)
{
	struct nnpu_device *ndev = uq->ndev;

	atomic64_inc(&ndev->stats.hangs);
	atomic64_inc(&uq->ctx->jobs_timedout);
	drm_warn(&ndev->drm, "job %#x of queue %u makes no progress, aborting it\n", cid, uq->qid);
	nnpu_dump_hang(ndev);
	nnpu_watchdog_rearm(&uq->watchdog);
	if (nnpu_userq_abort(uq, cid))
		return;
	atomic64_inc(&ndev->stats.queue_resets);
	trace_nnpu_reset(ndev, "user queue", "hang", cid, 0);
	nnpu_userq_end_locked(uq, DRM_NNPU_QUEUE_STATE_HUNG, 0);
}

/* One look at one queue. hw_lock is held. */
static void nnpu_userq_look(struct nnpu_userq *uq)
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
			nnpu_userq_suspend(uq, true);
		break;
	case NNPU_VERDICT_PROGRESS:
	case NNPU_VERDICT_WAIT:
		break;
	case NNPU_VERDICT_HANG:
		nnpu_userq_hang(uq, current_job & NNPU_QREG_CURRENT_CID);
		break;
	case NNPU_VERDICT_STOPPED:
		nnpu_userq_end_locked(uq, DRM_NNPU_QUEUE_STATE_STOPPED,
				      nnpu_read_queue(ndev, uq->qid, NNPU_QREG_ERROR));
		break;
	case NNPU_VERDICT_FATAL:
	case NNPU_VERDICT_GONE:
		nnpu_queue_kick_watchdog(&ndev->queue, true);
		break;
	}
}

/**
 * nnpu_userq_watch - look for hangs, stopped and idle queues
 * @work: nnpu_userqs.watch
 *
 * Runs while queues have hardware queues, and once more for the performance level
 * when the last one has gone.
 */
void nnpu_userq_watch(struct work_struct *work)
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
			nnpu_userq_account(uq, uq->qid);
		mutex_unlock(&uqs->lock);
		if (!uq)
			continue;
		nnpu_userq_look(uq);
		nnpu_userq_put(uq);
	}
	nnpu_power_update(ndev);
	mutex_lock(&uqs->lock);
	any = !list_empty(&uqs->active);
	mutex_unlock(&uqs->lock);
	mutex_unlock(&uqs->hw_lock);
	if (any)
		nnpu_userq_kick_watch(ndev, false);
	nnpu_device_exit(idx);
}
