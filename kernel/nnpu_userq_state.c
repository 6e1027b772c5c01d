// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of a user queue: one variable, changed in one function. The function also does
 * what the new state requires: it moves the queue between lists, and schedules the lending of
 * hardware queues. To zap the doorbell page is left to the caller, which may be on the way to a
 * fence signal.
 */
#include <linux/mm.h>

#include <drm/nnpu_accel.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_genl.h"
#include "nnpu_quota.h"
#include "nnpu_userq.h"

/**
 * struct nnpu_userq_state_info - a state outside of the driver
 * @name: for debugfs
 * @uapi: DRM_NNPU_QUEUE_STATE_*
 */
struct nnpu_userq_state_info {
	const char *name;
	u32 uapi;
};

static const struct nnpu_userq_state_info nnpu_userq_state_infos[] = {
	[NNPU_USERQ_PARKED] = { "parked", DRM_NNPU_QUEUE_STATE_READY },
	[NNPU_USERQ_WANTED] = { "wanted", DRM_NNPU_QUEUE_STATE_READY },
	[NNPU_USERQ_ACTIVE] = { "active", DRM_NNPU_QUEUE_STATE_READY },
	[NNPU_USERQ_LEAVING] = { "leaving", DRM_NNPU_QUEUE_STATE_READY },
	[NNPU_USERQ_STOPPED] = { "stopped", DRM_NNPU_QUEUE_STATE_STOPPED },
	[NNPU_USERQ_HUNG] = { "hung", DRM_NNPU_QUEUE_STATE_HUNG },
	[NNPU_USERQ_LOST] = { "lost", DRM_NNPU_QUEUE_STATE_LOST },
	[NNPU_USERQ_GONE] = { "gone", DRM_NNPU_QUEUE_STATE_GONE },
	[NNPU_USERQ_DESTROYED] = { "destroyed", DRM_NNPU_QUEUE_STATE_DESTROYED },
};

/**
 * nnpu_userq_state_zap - zap the doorbell page of a queue that is not ACTIVE any more
 * @uq: queue; nnpu_userqs.lock is not held
 *
 * When this returns no CPU can write to the doorbell page without a new fault, and no fault
 * leads there. Takes locks of the memory management: never on the way to a fence signal.
 */
void nnpu_userq_state_zap(struct nnpu_userq *uq)
{
	mutex_lock(&uq->map_lock);
	if (uq->mapping && uq->mappings)
		unmap_mapping_range(uq->mapping, 0, PAGE_SIZE, 1);
	mutex_unlock(&uq->map_lock);
}

/**
 * nnpu_userq_state_set - change the state of a queue
 * @uq: queue that has not ended; nnpu_userqs.lock is held
 * @state: new state
 *
 * After ACTIVE the caller sees to it that nnpu_userq_state_zap() is called before another
 * queue gets the hardware queue.
 */
void nnpu_userq_state_set(struct nnpu_userq *uq, enum nnpu_userq_state state)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	struct nnpu_quota_user *user = uq->ctx->hold->user;
	enum nnpu_userq_state before = uq->state;

	lockdep_assert_held(&uqs->lock);
	if (WARN_ON_ONCE(nnpu_userq_state_ended(before)))
		return;
	/* nnpu_userq_file.c looks without the lock. */
	WRITE_ONCE(uq->state, state);
	switch (state) {
	case NNPU_USERQ_PARKED:
		list_del_init(&uq->sched_node);
		break;
	case NNPU_USERQ_WANTED:
		list_add_tail(&uq->sched_node, &user->wanted);
		if (list_empty(&user->wanting_node))
			list_add_tail(&user->wanting_node, &uqs->wanting);
		nnpu_userq_state_kick_lend(uqs);
		break;
	case NNPU_USERQ_ACTIVE:
		/* A queue that was to leave but stays keeps its place. */
		if (before == NNPU_USERQ_WANTED)
			list_move_tail(&uq->sched_node, &uqs->active);
		break;
	case NNPU_USERQ_LEAVING:
		break;
	case NNPU_USERQ_STOPPED:
	case NNPU_USERQ_HUNG:
	case NNPU_USERQ_LOST:
	case NNPU_USERQ_GONE:
	case NNPU_USERQ_DESTROYED:
		/* A queue that failed to begin was never in the list. */
		if (!list_empty(&uq->node)) {
			atomic_dec(&uq->ctx->tally->queues);
			nnpu_netlink_changed(NNPU_NETLINK_QUEUES);
		}
		list_del_init(&uq->node);
		list_del_init(&uq->sched_node);
		if (state == NNPU_USERQ_STOPPED || state == NNPU_USERQ_HUNG)
			nnpu_event_queue(uq);
		break;
	}
	if (before == NNPU_USERQ_WANTED && list_empty(&user->wanted))
		list_del_init(&user->wanting_node);
}

/**
 * nnpu_userq_state_kick_lend - schedule the lending of hardware queues
 * @uqs: user queues
 */
void nnpu_userq_state_kick_lend(struct nnpu_userqs *uqs)
{
	mod_delayed_work(uqs->wq, &uqs->work, 0);
}

/**
 * nnpu_userq_state_uapi - a state as user space sees it
 * @state: state
 *
 * Return: DRM_NNPU_QUEUE_STATE_*.
 */
u32 nnpu_userq_state_uapi(enum nnpu_userq_state state)
{
	return nnpu_userq_state_infos[state].uapi;
}

/**
 * nnpu_userq_state_name - a state as text
 * @state: state
 *
 * Return: its name.
 */
const char *nnpu_userq_state_name(enum nnpu_userq_state state)
{
	return nnpu_userq_state_infos[state].name;
}
