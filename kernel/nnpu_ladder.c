// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ladder of recovery: what a watchdog does with a queue that does not go on. Each step
 * is taken only if the one before did not help:
 *
 *   1. ABORT of the job that hangs; the jobs behind it go on.
 *   2. The queue. RESET_QUEUE for the kernel queue, of the entries of the job's context only: jobs
 *      that had not begun are given to the device again. DESTROY_QUEUE for a user queue,
 *      which ends.
 *   3. Reset of the device; all contexts are lost.
 *   4. If that fails, the device is dead: it is cut off from memory, everything ends
 *      with -ENODEV.
 *
 * Steps 3 and 4 are in nnpu_reset.c.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_event.h"
#include "nnpu_ladder.h"
#include "nnpu_watchdog.h"

/**
 * nnpu_ladder_wait - wait until the job has left the device
 * @l: queue and job
 *
 * Waits for module parameter abort_timeout_ms at most.
 *
 * Return: true if the job has left the device.
 */
bool nnpu_ladder_wait(struct nnpu_ladder *l)
{
	unsigned long end = jiffies + msecs_to_jiffies(nnpu_param_abort_timeout_ms());

	for (;;) {
		bool last = time_after(jiffies, end);

		if (l->ops->job_left(l))
			return true;
		if (last)
			return false;
		usleep_range(500, 1000);
	}
}

/**
 * nnpu_ladder_abort - step 1: ask the device to abort the job
 * @l: queue and job
 *
 * Return: 0 if the job has left the device; -EINPROGRESS if it is about to: it has module
 * parameter abort_timeout_ms for that; -EAGAIN if it will not; -EIO, -ENODEV or -ETIMEDOUT if
 * the device did not answer. All but -EINPROGRESS are for nnpu_ladder_go_on().
 */
int nnpu_ladder_abort(struct nnpu_ladder *l)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT,
		.qid = cpu_to_le16(l->qid),
		.target_cid = cpu_to_le16(l->cid),
	};
	struct nnpu_device *ndev = l->ndev;
	struct nnpu_admin_result result;
	int ret;

	atomic64_inc(&ndev->stats.hangs);
	drm_warn(&ndev->drm, "job %#x of queue %u: %s, aborting it\n", l->cid, l->qid, l->why);
	nnpu_event_hang(ndev, l->ctx, l->qid, l->cid, l->why);
	nnpu_dump_hang(ndev);
	if (!(ndev->features & NNPU_FEATURE_ABORT))
		return -EAGAIN;
	ret = l->ops->exec(l, &sqe, &result);
	if (ret)
		return ret;
	if (l->ops->job_left(l))
		return 0;
	/* A device that has aborted nothing needs no time for it. */
	return result.status || !result.value ? -EAGAIN : -EINPROGRESS;
}

/**
 * nnpu_ladder_go_on - the steps that follow an ABORT
 * @l: queue and job
 * @ret: -EAGAIN: the job is still there; 0: it has left the device; else an error of the
 *	device
 */
void nnpu_ladder_go_on(struct nnpu_ladder *l, int ret)
{
	if (ret == -EAGAIN)
		ret = l->ops->reset_queue(l);
	if (l->watchdog)
		nnpu_watchdog_rearm(l->watchdog);
	if (ret && l->ops->reset_device)
		l->ops->reset_device(l);
}

/**
 * nnpu_ladder_climb - take one step after the other until one helps
 * @l: queue and job
 * @first: first step
 *
 * Waits for a job that is aborted.
 */
void nnpu_ladder_climb(struct nnpu_ladder *l, enum nnpu_ladder_step first)
{
	int ret = first == NNPU_LADDER_ABORT ? nnpu_ladder_abort(l) : -EAGAIN;

	if (ret == -EINPROGRESS)
		ret = nnpu_ladder_wait(l) ? 0 : -EAGAIN;
	nnpu_ladder_go_on(l, ret);
}
