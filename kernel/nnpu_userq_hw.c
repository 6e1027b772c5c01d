// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware queues of user queues: CREATE_QUEUE, SUSPEND_QUEUE, DESTROY_QUEUE, the arming
 * of interrupts, and the device time that a queue has used.
 */
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"
#include "nnpu_userq.h"

/* Vector of a hardware queue: one of its own if there are enough. */
static unsigned int nnpu_userq_hw_vector(struct nnpu_device *ndev, u16 qid)
{
	if (ndev->num_irqs <= NNPU_IRQ_USER)
		return ndev->num_irqs - 1;
	return NNPU_IRQ_USER + (qid - NNPU_QID_USER) % (ndev->num_irqs - NNPU_IRQ_USER);
}

/**
 * nnpu_userq_hw_irq - an interrupt that may be for user queues
 * @ndev: device
 * @vector: vector
 *
 * Interrupt context.
 */
void nnpu_userq_hw_irq(struct nnpu_device *ndev, unsigned int vector)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	unsigned int i;

	spin_lock(&uqs->irq_lock);
	for (i = 0; i < uqs->num_hw; i++)
		if (uqs->by_qid[i] && nnpu_userq_hw_vector(ndev, NNPU_QID_USER + i) == vector)
			nnpu_userq_wake(uqs->by_qid[i]);
	spin_unlock(&uqs->irq_lock);
}

/**
 * nnpu_userq_hw_set - say whose hardware queue it is
 * @ndev: device
 * @qid: hardware queue
 * @uq: queue that gets its interrupts; NULL: the hardware queue is free
 */
void nnpu_userq_hw_set(struct nnpu_device *ndev, u16 qid, struct nnpu_userq *uq)
{
	struct nnpu_userqs *uqs = &ndev->userqs;

	spin_lock_irq(&uqs->irq_lock);
	uqs->by_qid[qid - NNPU_QID_USER] = uq;
	spin_unlock_irq(&uqs->irq_lock);
}

/**
 * nnpu_userq_hw_leave - destroy the hardware queue of a queue that is about to end
 * @uq: queue, LEAVING or without hardware queue; nnpu_userqs.hw_lock is held
 *
 * When this returns the device does not use the rings.
 */
void nnpu_userq_hw_leave(struct nnpu_userq *uq)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_sqe_queue sqe = { .opcode = NNPU_ADMIN_DESTROY_QUEUE };
	u16 qid;

	lockdep_assert_held(&uqs->hw_lock);
	/* A reset takes the hardware queue away under nnpu_userqs.lock only. */
	mutex_lock(&uqs->lock);
	qid = uq->qid;
	mutex_unlock(&uqs->lock);
	if (!qid)
		return;
	sqe.qid = cpu_to_le16(qid);
	nnpu_command_revoke(ndev, uq->ctx, &sqe);
	mutex_lock(&uqs->lock);
	if (uq->qid) {
		/* With the time of the job that was aborted. */
		nnpu_userq_hw_account(uq, qid);
		uq->qid = 0;
		nnpu_userq_hw_set(ndev, qid, NULL);
		nnpu_power_put_queue(ndev);
	}
	/* Another queue may wait for it. */
	if (!list_empty(&uqs->wanting))
		nnpu_userq_state_kick_lend(uqs);
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_hw_arm - ask for an interrupt at completions beyond an index
 * @uq: queue
 * @head: index below nnpu_userq.cq_entries
 *
 * A queue that gets or gives back a hardware queue wakes its waiters afterwards; they arm
 * again.
 */
void nnpu_userq_hw_arm(struct nnpu_userq *uq, u32 head)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	bool entered;
	int idx;

	entered = nnpu_device_enter(ndev, &idx);
	mutex_lock(&uqs->lock);
	switch (uq->state) {
	case NNPU_USERQ_ACTIVE:
		if (entered)
			writel(head, ndev->doorbells + ((size_t)uq->qid << ndev->limits.db_shift) +
			       NNPU_DB_CQ_ARM);
		break;
	case NNPU_USERQ_PARKED:
		/* It never had a hardware queue: no completion can be beyond any index. */
		if (!uq->resume)
			break;
		/* The device has written all its completions. */
		if (le16_to_cpu(uq->saved.cq_tail) != head) {
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
	if (entered)
		nnpu_device_exit(ndev, idx);
}

static int nnpu_userq_hw_create(struct nnpu_userq *uq, u16 qid)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_sqe_create_queue sqe = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_ARMED_IRQ,
		.ctx = cpu_to_le32(uq->ctx->id),
		.qid = cpu_to_le16(qid),
		.vector = cpu_to_le16(nnpu_userq_hw_vector(ndev, qid)),
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

/**
 * nnpu_userq_hw_start - give a hardware queue that is free to a queue that waits
 * @uq: queue; nnpu_userqs.hw_lock is held
 * @qid: hardware queue
 *
 * Return: 0, also if the queue has ended meanwhile; -EIO if the device refuses; -ENODEV.
 */
int nnpu_userq_hw_start(struct nnpu_userq *uq, u16 qid)
{
	struct nnpu_device *ndev = uq->ndev;
	struct nnpu_userqs *uqs = &ndev->userqs;
	int ret;

	/* Wake the device before the process can ring. */
	nnpu_power_get_queue(ndev);
	/* The first interrupt may come before the answer. */
	nnpu_userq_hw_set(ndev, qid, uq);
	mutex_lock(&uqs->lock);
	uq->busy = nnpu_read_queue(ndev, qid, NNPU_QREG_BUSY);
	mutex_unlock(&uqs->lock);
	ret = nnpu_userq_hw_create(uq, qid);
	mutex_lock(&uqs->lock);
	if (nnpu_userq_state_ended(uq->state)) {
		/* A reset came between: the device has forgotten the queue. */
		mutex_unlock(&uqs->lock);
		nnpu_userq_hw_set(ndev, qid, NULL);
		nnpu_power_put_queue(ndev);
		return 0;
	}
	if (!ret) {
		nnpu_userq_state_set(uq, NNPU_USERQ_ACTIVE);
		uq->qid = qid;
		uq->since = jiffies;
		uq->idle_since = jiffies;
		uq->aborting = false;
		nnpu_watchdog_rearm(&uq->watchdog);
	}
	mutex_unlock(&uqs->lock);
	trace_nnpu_userq(uq, "start", qid, ret);
	if (ret) {
		nnpu_userq_hw_set(ndev, qid, NULL);
		nnpu_power_put_queue(ndev);
		return ret;
	}
	nnpu_userq_wake(uq);
	return 0;
}

/**
 * nnpu_userq_hw_suspend - take the hardware queue of an active queue back
 * @uq: queue; nnpu_userqs.hw_lock is held
 * @idle: only if it has no work
 *
 * Return: 0; -EBUSY if it has work (@idle) or a job to finish first; -EIO if the device
 * refuses; -ENODEV.
 */
int nnpu_userq_hw_suspend(struct nnpu_userq *uq, bool idle)
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
	if (nnpu_userq_state_ended(uq->state)) {
		mutex_unlock(&uqs->lock);
		return 0;
	}
	if (!idle && uq->state != NNPU_USERQ_LEAVING)
		uq->since = jiffies;
	/* First, so that no doorbell of this process reaches the next user queue. */
	nnpu_userq_state_set(uq, NNPU_USERQ_LEAVING);
	qid = uq->qid;
	mutex_unlock(&uqs->lock);
	nnpu_userq_state_zap(uq);
	/* Posted doorbell writes arrive before the answer to this read. */
	nnpu_read_queue(ndev, qid, NNPU_QREG_STATE);

	sqe.qid = cpu_to_le16(qid);
	ret = nnpu_command_exec(ndev, uq->ctx, &sqe, &result);
	if (!ret && result.status)
		ret = result.status == NNPU_STATUS_BUSY ? -EBUSY : -EIO;
	if (!ret)
		nnpu_userq_hw_set(ndev, qid, NULL);

	mutex_lock(&uqs->lock);
	if (nnpu_userq_state_ended(uq->state)) {
		ret = 0;
	} else if (!ret) {
		nnpu_userq_hw_account(uq, qid);
		uq->qid = 0;
		nnpu_power_put_queue(ndev);
		uq->saved = *uqs->state_mem;
		uq->resume = true;
		nnpu_userq_state_set(uq, NNPU_USERQ_PARKED);
		if (uq->saved.sq_head != uq->saved.sq_tail)
			nnpu_userq_state_set(uq, NNPU_USERQ_WANTED);
	} else if (ret != -EBUSY || idle) {
		/* It stays. If the device stopped it, the watchdog ends it. */
		nnpu_userq_state_set(uq, NNPU_USERQ_ACTIVE);
	}
	mutex_unlock(&uqs->lock);
	trace_nnpu_userq(uq, idle ? "park" : "suspend", qid, ret);
	nnpu_userq_wake(uq);
	return ret;
}

static void nnpu_userq_hw_charge(struct nnpu_userq *uq, u16 qid, bool may_restart)
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
		if (may_restart && busy < uq->busy)
			uq->busy = 0;
		nnpu_ctx_count(uq->ctx, NNPU_COUNT_ENGINE_NS,
			       (u64)(busy - uq->busy) * NSEC_PER_USEC);
		uq->busy = busy;
	}
	nnpu_device_exit(ndev, idx);
}

/**
 * nnpu_userq_hw_account - charge the context for the device time of a queue
 * @uq: queue; nnpu_userqs.lock is held
 * @qid: hardware queue that it has, or had last and no other queue had since
 *
 * The register wraps after more than an hour. nnpu_userq_watch_work() calls this more often.
 */
void nnpu_userq_hw_account(struct nnpu_userq *uq, u16 qid)
{
	nnpu_userq_hw_charge(uq, qid, false);
}

/**
 * nnpu_userq_hw_account_lost - charge the context of a queue that the device has lost
 * @uq: queue; nnpu_userqs.lock is held
 * @qid: hardware queue that it had
 *
 * The register restarts with a reset by the reset line, and only with that. What the queue has used
 * since it was charged last, a period of the watchdog at most, is lost then.
 */
void nnpu_userq_hw_account_lost(struct nnpu_userq *uq, u16 qid)
{
	nnpu_userq_hw_charge(uq, qid, true);
}

/**
 * nnpu_userq_hw_account_all - bring the device time of a client up to date
 * @ndev: device
 * @tally: client; NULL: all
 *
 * One look at all queues, however many contexts the file has: a device reset waits for the lock.
 */
void nnpu_userq_hw_account_all(struct nnpu_device *ndev, const struct nnpu_tally *tally)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq *uq;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->all, node)
		if ((!tally || uq->ctx->tally == tally) && uq->qid)
			nnpu_userq_hw_account(uq, uq->qid);
	mutex_unlock(&uqs->lock);
}
