// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands: synchronous, with a bounded wait.
 *
 * nnpu_admin_exec() is the one way in for everybody but the recovery itself.
 * When it returns, the device is done with the memory the command named: either
 * the command was answered, or the device was reset, or it was cut off.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_reset.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

#define NNPU_ADMIN_ENTRIES	64
/* How often a waiter looks for itself, should an interrupt be lost. */
#define NNPU_ADMIN_SLICE_MS	50

/**
 * struct nnpu_admin_wait - a command in flight
 * @done: completed by the interrupt handler
 * @cqe: copy of the completion
 * @answered: @cqe is valid; under nnpu_qpair.lock
 */
struct nnpu_admin_wait {
	struct completion done;
	struct nnpu_cqe cqe;
	bool answered;
};

/**
 * nnpu_admin_init - allocate the admin queue
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_admin_init(struct nnpu_device *ndev)
{
	u32 entries = min(NNPU_ADMIN_ENTRIES, ndev->limits.max_entries);

	sema_init(&ndev->admin.room, min(NNPU_ADMIN_DEPTH, entries - 1));
	return nnpu_qpair_alloc(ndev, &ndev->admin.qp, NNPU_QID_ADMIN, entries,
				min(NNPU_ADMIN_DEPTH, entries - 1));
}

/**
 * nnpu_admin_fini - free the admin queue
 * @ndev: device; it does not access memory any more
 */
void nnpu_admin_fini(struct nnpu_device *ndev)
{
	nnpu_qpair_free(&ndev->admin.qp);
}

/**
 * nnpu_admin_process - take completions from the ring
 * @ndev: device
 *
 * Called by the interrupt handler and by waiters.
 */
void nnpu_admin_process(struct nnpu_device *ndev)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	unsigned int budget = qp->cq.size;
	unsigned long flags;
	struct nnpu_cqe cqe;
	void *owner;

	spin_lock_irqsave(&qp->lock, flags);
	while (budget-- && nnpu_qpair_pop(qp, &cqe, &owner)) {
		struct nnpu_admin_wait *wait = owner;

		if (!wait)
			continue;
		wait->cqe = cqe;
		wait->answered = true;
		nnpu_cids_put(&qp->cids, le16_to_cpu(cqe.cid));
		complete(&wait->done);
	}
	nnpu_qpair_pop_done(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
}

/**
 * nnpu_admin_stop - no command will be answered any more
 * @ndev: device, about to be reset
 *
 * Waiters wake up with -ETIMEDOUT and then wait for the reset.
 */
void nnpu_admin_stop(struct nnpu_device *ndev)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&qp->lock, flags);
	qp->live = false;
	for (i = 0; i < qp->cids.size; i++) {
		struct nnpu_admin_wait *wait = qp->cids.owner[i];

		if (!wait)
			continue;
		qp->cids.owner[i] = NULL;
		qp->cids.used--;
		complete(&wait->done);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}

static int nnpu_admin_push(struct nnpu_device *ndev, const void *sqe,
			   struct nnpu_admin_wait *wait, u16 *cid)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	struct nnpu_sqe entry;
	unsigned long flags;
	int ret = -ETIMEDOUT;

	memcpy(&entry, sqe, sizeof(entry));
	spin_lock_irqsave(&qp->lock, flags);
	if (qp->live) {
		ret = nnpu_cids_get(&qp->cids, wait);
		if (ret >= 0) {
			*cid = ret;
			entry.cid = cpu_to_le16(ret);
			ret = nnpu_qpair_push(qp, &entry);
			if (ret)
				nnpu_cids_put(&qp->cids, *cid);
		}
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

/* Wait in slices: look into the ring and at the device in between. */
static void nnpu_admin_wait(struct nnpu_device *ndev, struct nnpu_admin_wait *wait)
{
	unsigned long end = jiffies + msecs_to_jiffies(nnpu_param_admin_timeout_ms());
	unsigned long slice = msecs_to_jiffies(NNPU_ADMIN_SLICE_MS);

	while (!wait_for_completion_timeout(&wait->done, slice)) {
		u32 status = nnpu_read(ndev, NNPU_REG_STATUS);

		nnpu_admin_process(ndev);
		if (completion_done(&wait->done))
			return;
		/* All ones: the device was removed. */
		if (status == U32_MAX || status & NNPU_STATUS_REG_FATAL)
			return;
		if (time_after(jiffies, end))
			return;
	}
}

/**
 * nnpu_admin_exec_locked - run an admin command, leave recovery to the caller
 * @ndev: device
 * @sqe: 64-byte submission entry; its cid is filled in here
 * @result: gets the completion
 *
 * For callers that hold nnpu_device.reset_sem or run on nnpu_device.reset_wq.
 *
 * Return: 0 if the device answered, whatever the status; -ETIMEDOUT if not, and
 * the device may then still use memory the command names.
 */
int nnpu_admin_exec_locked(struct nnpu_device *ndev, const void *sqe,
			   struct nnpu_admin_result *result)
{
	const struct nnpu_sqe *head = sqe;
	struct nnpu_qpair *qp = &ndev->admin.qp;
	struct nnpu_admin_wait wait = { };
	unsigned long flags;
	u16 cid = 0;
	int ret;

	memset(result, 0, sizeof(*result));
	init_completion(&wait.done);
	if (down_timeout(&ndev->admin.room, msecs_to_jiffies(nnpu_param_admin_timeout_ms())))
		return -ETIMEDOUT;
	ret = nnpu_admin_push(ndev, sqe, &wait, &cid);
	if (!ret) {
		nnpu_admin_wait(ndev, &wait);
		/* A late answer finds no owner after this. */
		spin_lock_irqsave(&qp->lock, flags);
		if (nnpu_cids_find(&qp->cids, cid) == &wait)
			nnpu_cids_put(&qp->cids, cid);
		spin_unlock_irqrestore(&qp->lock, flags);
		ret = wait.answered ? 0 : -ETIMEDOUT;
	}
	up(&ndev->admin.room);

	if (ret) {
		atomic64_inc(&ndev->stats.admin_timeouts);
		drm_err(&ndev->drm, "admin command %s for context %u was not answered\n",
			nnpu_admin_name(head->opcode), le32_to_cpu(head->ctx));
		return -ETIMEDOUT;
	}
	result->status = le16_to_cpu(wait.cqe.status) >> NNPU_CQE_STATUS_SHIFT;
	result->reason = le16_to_cpu(wait.cqe.reason);
	result->operand = le16_to_cpu(wait.cqe.operand);
	result->error = le32_to_cpu(wait.cqe.error);
	result->value = le64_to_cpu(wait.cqe.result);
	trace_nnpu_admin(ndev, head->opcode, le32_to_cpu(head->ctx), result->status);
	if (result->status)
		drm_dbg(&ndev->drm, "admin command %s for context %u: %s (%#x), reason %u\n",
			nnpu_admin_name(head->opcode), le32_to_cpu(head->ctx),
			nnpu_status_name(result->status), result->status, result->reason);
	return 0;
}

/**
 * nnpu_admin_exec - run an admin command
 * @ndev: device
 * @ctx: context the command is for, or NULL
 * @sqe: 64-byte submission entry; its cid is filled in here
 * @result: gets the completion
 *
 * Sleeps for at most the admin timeout plus a device reset. When it returns the
 * device does not use memory that the command names any more.
 *
 * Return: 0 if the device answered, with any status the specification has;
 * -ENODEV if the device is gone, was reset, or the context is lost.
 */
int nnpu_admin_exec(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe,
		    struct nnpu_admin_result *result)
{
	u64 generation;
	int ret, idx;

	memset(result, 0, sizeof(*result));
	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	down_read(&ndev->reset_sem);
	generation = atomic64_read(&ndev->reset_count);
	if (READ_ONCE(ndev->dead) || (ctx && nnpu_ctx_is_lost(ctx)))
		ret = -ENODEV;
	else
		ret = nnpu_admin_exec_locked(ndev, sqe, result);
	if (!ret && !nnpu_status_known(result->status)) {
		/* Nobody can say what the command did: both sides start anew. */
		drm_err(&ndev->drm, "admin command ended with unknown status %#x\n",
			result->status);
		atomic64_inc(&ndev->stats.bad_completions);
		ret = -EPROTO;
	}
	up_read(&ndev->reset_sem);
	if (ret == -ETIMEDOUT || ret == -EPROTO) {
		nnpu_reset_sync(ndev, generation);
		ret = -ENODEV;
	}
	nnpu_device_exit(idx);
	return ret;
}

/**
 * nnpu_admin_revoke - take something back that the device has to give up
 * @ndev: device
 * @ctx: context it belongs to
 * @sqe: 64-byte submission entry of the command; its cid is filled in here
 *
 * When this returns the device does not use memory that the command names: a
 * device that is gone does not, and one that refuses is reset.
 */
void nnpu_admin_revoke(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe)
{
	const struct nnpu_sqe *head = sqe;
	struct nnpu_admin_result result;
	u64 generation;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	generation = atomic64_read(&ndev->reset_count);
	if (!nnpu_admin_exec(ndev, ctx, sqe, &result) && result.status) {
		drm_err(&ndev->drm, "admin command %s for context %u was refused: %s (%#x)\n",
			nnpu_admin_name(head->opcode), ctx->id, nnpu_status_text(result.status),
			result.status);
		nnpu_reset_sync(ndev, generation);
	}
	nnpu_device_exit(idx);
}
