// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lending of hardware queues: which user queue gets one, and which gives its own back.
 *
 * There may be more user queues than hardware queues. A user queue gets a hardware queue
 * when its doorbell is rung, and keeps it until another needs it or it is idle for
 * queue_idle_ms. nnpu_userq_share.c says which one gives its own back: an idle one, or one of
 * the user with most of them at work, after the job that it runs; if work is left in its ring,
 * it waits for a hardware queue again. The users whose queues wait have turns.
 */
#include <linux/jiffies.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_quota.h"
#include "nnpu_sleep.h"
#include "nnpu_userq.h"

/* A busy queue keeps its hardware queue this long when others wait. */
#define NNPU_USERQ_QUANTUM_MS	10
/* Steps until the watchdog, on the same workqueue, gets its turn. */
#define NNPU_USERQ_STEPS	4
/* Time between two attempts to free a hardware queue. */
#define NNPU_USERQ_RETRY_MS	1

/**
 * struct nnpu_userq_lend - one step
 * @wanted: queue that gets a hardware queue, in use; NULL: none
 * @victim: queue that is to give its own back, in use; NULL: none
 * @idle: only if @victim has no work
 */
struct nnpu_userq_lend {
	struct nnpu_userq *wanted;
	struct nnpu_userq *victim;
	bool idle;
};

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

static bool nnpu_userq_lend_is_ripe(const struct nnpu_userq *uq)
{
	return time_after(jiffies, uq->since + msecs_to_jiffies(NNPU_USERQ_QUANTUM_MS));
}

/* The queues that have a hardware queue, in the order of the list; how many. */
static unsigned int nnpu_userq_lend_sample(struct nnpu_device *ndev,
					   struct nnpu_userq_share *shares)
{
	struct nnpu_userq *uq;
	unsigned int num = 0;

	list_for_each_entry(uq, &ndev->userqs.active, sched_node) {
		bool leaving = uq->state == NNPU_USERQ_LEAVING;

		shares[num++] = (struct nnpu_userq_share) {
			.user = uq->ctx->hold->user,
			.busy = leaving || nnpu_read_queue(ndev, uq->qid, NNPU_QREG_STATE) !=
				NNPU_QSTATE_IDLE,
			.leaving = leaving,
			.ripe = nnpu_userq_lend_is_ripe(uq),
		};
	}
	nnpu_userq_share_count(shares, num);
	return num;
}

static struct nnpu_userq *nnpu_userq_lend_get_active(struct nnpu_userqs *uqs, unsigned int index)
{
	struct nnpu_userq *uq;

	list_for_each_entry(uq, &uqs->active, sched_node)
		if (!index--) {
			nnpu_userq_use(uq);
			return uq;
		}
	return NULL;
}

/* What can be done for the users that want something. nnpu_userqs.lock is held. */
static void nnpu_userq_lend_look(struct nnpu_device *ndev, struct nnpu_userq_lend *step)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	struct nnpu_userq_share *shares = uqs->shares;
	struct nnpu_quota_user *user, *served = NULL;
	int choice, victim = -1;
	unsigned int num, i;

	num = nnpu_userq_lend_sample(ndev, shares);
	list_for_each_entry(user, &uqs->wanting, wanting_node) {
		choice = nnpu_userq_share_choose(shares, num, uqs->num_hw, user);
		if (choice == NNPU_USERQ_SHARE_FREE) {
			step->wanted = list_first_entry(&user->wanted, struct nnpu_userq,
							sched_node);
			nnpu_userq_use(step->wanted);
			list_move_tail(&user->wanting_node, &uqs->wanting);
			return;
		}
		/*
		 * A user that gets an idle one does not wait behind users that wait for a job to
		 * end.
		 */
		if (choice >= 0 && (victim < 0 || (shares[victim].busy && !shares[choice].busy))) {
			victim = choice;
			served = user;
		}
	}
	if (victim >= 0) {
		step->victim = nnpu_userq_lend_get_active(uqs, victim);
		step->idle = !shares[victim].busy;
		list_move_tail(&served->wanting_node, &uqs->wanting);
		return;
	}
	/* A queue that is leaving must be suspended even if no queue waits any more. */
	for (i = 0; i < num; i++)
		if (shares[i].leaving) {
			step->victim = nnpu_userq_lend_get_active(uqs, i);
			return;
		}
}

/*
 * Take the hardware queue of a queue back. hw_lock is held.
 *
 * Return: 0; -EBUSY: it is idle no more, or leaves after the job that it runs.
 */
static int nnpu_userq_lend_make_room(struct nnpu_device *ndev, struct nnpu_userq *victim,
				     bool idle)
{
	int ret = nnpu_userq_hw_suspend(victim, idle);

	if (ret == -EBUSY) {
		/* The next look sees the others first. */
		mutex_lock(&ndev->userqs.lock);
		if (victim->state == NNPU_USERQ_ACTIVE || victim->state == NNPU_USERQ_LEAVING)
			list_move_tail(&victim->sched_node, &ndev->userqs.active);
		mutex_unlock(&ndev->userqs.lock);
	}
	if (ret == -EIO)
		nnpu_userq_watch_kick(ndev, true);
	return ret;
}

/* nnpu_userqs.work: give hardware queues to those that wait. */
static void nnpu_userq_lend_work(struct work_struct *work)
{
	struct nnpu_userqs *uqs = container_of(to_delayed_work(work), struct nnpu_userqs, work);
	struct nnpu_device *ndev = container_of(uqs, struct nnpu_device, userqs);
	unsigned int steps = NNPU_USERQ_STEPS;
	bool again = false, more = true;
	int idx;

	/* After a reset, also if the device is dead. */
	nnpu_userq_zap_lost(ndev);
	/* What waits now gets its turn from nnpu_userq_lend_go_on(). */
	if (nnpu_sleep_is_active(ndev) || !nnpu_device_enter(ndev, &idx))
		return;
	while (more && steps--) {
		struct nnpu_userq_lend step = { };
		u16 qid;

		mutex_lock(&uqs->hw_lock);
		qid = nnpu_userq_lend_free_qid(ndev);
		/* In this order: a hardware queue is freed and its zap is listed in one go. */
		nnpu_userq_zap_lost(ndev);
		mutex_lock(&uqs->lock);
		nnpu_userq_lend_look(ndev, &step);
		again = !list_empty(&uqs->wanting) || step.victim;
		mutex_unlock(&uqs->lock);
		if (step.wanted) {
			more = qid;
			if (qid)
				nnpu_userq_lend_to(step.wanted, qid);
		} else if (step.victim) {
			more = !nnpu_userq_lend_make_room(ndev, step.victim, step.idle);
		} else {
			more = false;
		}
		mutex_unlock(&uqs->hw_lock);
		/* Not under the lock: it may drop the last reference of the rings. */
		if (step.wanted)
			nnpu_userq_unuse(step.wanted);
		if (step.victim)
			nnpu_userq_unuse(step.victim);
	}
	if (more)
		nnpu_userq_state_kick_lend(uqs);
	else if (again)
		queue_delayed_work(uqs->wq, &uqs->work, msecs_to_jiffies(NNPU_USERQ_RETRY_MS));
	nnpu_device_exit(ndev, idx);
}

/**
 * nnpu_userq_lend_take_back - take the hardware queues back, for system sleep
 * @ndev: device; nnpu_sleep_is_active(), so that nobody gets one
 *
 * A queue that has a job at an engine keeps its hardware queue until that has ended, but takes no
 * other: the caller comes again.
 *
 * Return: number of queues that still have one.
 */
unsigned int nnpu_userq_lend_take_back(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;
	unsigned int left = 0, i;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return 0;
	for (i = 0; i < uqs->num_hw; i++) {
		struct nnpu_userq *uq;

		mutex_lock(&uqs->hw_lock);
		mutex_lock(&uqs->lock);
		uq = nnpu_userq_lend_get_active(uqs, left);
		mutex_unlock(&uqs->lock);
		if (uq && nnpu_userq_hw_suspend(uq, false))
			left++;
		mutex_unlock(&uqs->hw_lock);
		if (!uq)
			break;
		nnpu_userq_unuse(uq);
	}
	nnpu_device_exit(ndev, idx);
	return left;
}

/**
 * nnpu_userq_lend_go_on - after system sleep: serve the queues that wait
 * @ndev: device
 */
void nnpu_userq_lend_go_on(struct nnpu_device *ndev)
{
	struct nnpu_userqs *uqs = &ndev->userqs;

	mutex_lock(&uqs->lock);
	if (!list_empty(&uqs->wanting))
		nnpu_userq_state_kick_lend(uqs);
	mutex_unlock(&uqs->lock);
}

/**
 * nnpu_userq_lend_init - prepare the lending of hardware queues
 * @ndev: device
 */
void nnpu_userq_lend_init(struct nnpu_device *ndev)
{
	INIT_DELAYED_WORK(&ndev->userqs.work, nnpu_userq_lend_work);
}
