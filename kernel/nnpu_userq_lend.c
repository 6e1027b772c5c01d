// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lending of hardware queues: which user queue gets one, and which gives its own back.
 *
 * There may be more user queues than hardware queues. A user queue gets a hardware queue
 * when its doorbell is rung, and keeps it until another needs it or it is idle for
 * queue_idle_ms. If another needs one, an idle queue gives its own back. If none is idle,
 * the one that has been active longest does so after the job that it runs; if work is left
 * in its ring, it waits for a hardware queue again.
 */
#include <linux/jiffies.h>

#include "nnpu_device.h"
#include "nnpu_userq.h"

/* A busy queue keeps its hardware queue this long when others wait. */
#define NNPU_USERQ_QUANTUM_MS	10
/* Time between two attempts to free a hardware queue. */
#define NNPU_USERQ_RETRY_MS	1

/* Give a free hardware queue to a queue that waits. hw_lock is held. */
static void nnpu_userq_lend_to(struct nnpu_userq *uq, u16 qid)
{
	int ret = nnpu_userq_hw_start(uq, qid);

	if (ret)
		nnpu_userq_end_locked(uq, ret == -EIO ? NNPU_USERQ_STOPPED : NNPU_USERQ_LOST,
				      ret == -EIO ? NNPU_STATUS_INTERNAL : 0);
	else
		nnpu_userq_watch_kick(uq->ndev, false);
}

/* hw_lock is held. */
static u16 nnpu_userq_lend_free_qid(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	unsigned int i;

	for (i = 0; i < uqs->num_hw; i++)
		if (!READ_ONCE(uqs->by_qid[i]))
			return NNPU_QID_USER + i;
	return 0;
}

/* The queue that has to give its hardware queue back, with a reference, or NULL. */
static struct nnpu_userq *nnpu_userq_lend_pick_victim(struct nnpu_device *ndev, bool *idle)
{
	unsigned long quantum = msecs_to_jiffies(NNPU_USERQ_QUANTUM_MS);
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq *uq, *victim = NULL;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->active, sched_node) {
		/* A queue that is leaving comes first: the device fetches none of its jobs. */
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
 * Free a hardware queue. hw_lock is held.
 *
 * Return: 0, or -EBUSY: try again later.
 */
static int nnpu_userq_lend_make_room(struct nnpu_device *ndev)
{
	struct nnpu_userq *victim;
	bool idle = false;
	int ret;

	victim = nnpu_userq_lend_pick_victim(ndev, &idle);
	if (!victim)
		return -EBUSY;
	ret = nnpu_userq_hw_suspend(victim, idle);
	if (ret == -EBUSY && idle) {
		/* Its process rang meanwhile. Another may be idle: this one goes last. */
		mutex_lock(&ndev->userqs.lock);
		if (victim->state == NNPU_USERQ_ACTIVE)
			list_move_tail(&victim->sched_node, &ndev->userqs.active);
		mutex_unlock(&ndev->userqs.lock);
	}
	if (ret == -EIO)
		nnpu_userq_watch_kick(ndev, true);
	nnpu_userq_put(victim);
	return ret ? -EBUSY : 0;
}

static struct nnpu_userq *nnpu_userq_lend_first_wanted(struct nnpu_userqs *uqs)
{
	struct nnpu_userq *uq;

	mutex_lock(&uqs->lock);
	uq = list_first_entry_or_null(&uqs->wanted, struct nnpu_userq, sched_node);
	if (uq)
		kref_get(&uq->ref);
	mutex_unlock(&uqs->lock);
	return uq;
}

/* A queue that is leaving must be suspended even if no queue waits any more. */
static bool nnpu_userq_lend_any_leaving(struct nnpu_userqs *uqs)
{
	struct nnpu_userq *uq;
	bool ret = false;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->active, sched_node)
		ret |= uq->state == NNPU_USERQ_LEAVING;
	mutex_unlock(&uqs->lock);
	return ret;
}

/* nnpu_userqs.work: give hardware queues to those that wait. */
static void nnpu_userq_lend_work(struct work_struct *work)
{
	struct nnpu_userqs *uqs = container_of(to_delayed_work(work), struct nnpu_userqs, work);
	struct nnpu_device *ndev = container_of(uqs, struct nnpu_device, userqs);
	struct nnpu_userq *uq;
	bool again = false;
	int idx;

	/* After a reset, also if the device is dead. */
	nnpu_userq_zap_lost(ndev);
	if (!nnpu_device_enter(ndev, &idx))
		return;
	mutex_lock(&uqs->hw_lock);
	while (!again) {
		u16 qid = nnpu_userq_lend_free_qid(ndev);

		/* In this order: a reset lists the zaps before it frees hardware queues. */
		nnpu_userq_zap_lost(ndev);
		uq = nnpu_userq_lend_first_wanted(uqs);
		if (uq && qid)
			nnpu_userq_lend_to(uq, qid);
		else if (uq || nnpu_userq_lend_any_leaving(uqs))
			again = nnpu_userq_lend_make_room(ndev);
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

/**
 * nnpu_userq_lend_init - prepare the lending of hardware queues
 * @ndev: device
 */
void nnpu_userq_lend_init(struct nnpu_device *ndev)
{
	INIT_DELAYED_WORK(&ndev->userqs.work, nnpu_userq_lend_work);
}
