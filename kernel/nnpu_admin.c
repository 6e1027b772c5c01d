// SPDX-License-Identifier: GPL-2.0-only
/*
 * The admin queue: synchronous commands, with a bounded wait.
 *
 * A command without answer is the caller's business here. Most callers want
 * nnpu_command_exec(), which resets the device then.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_device.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

#define NNPU_ADMIN_ENTRIES	64
/* A waiter looks at the ring this often, in case an interrupt was lost. */
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
 * nnpu_admin_stop - give up the commands that wait for an answer
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
		struct nnpu_admin_wait *wait = qp->cids.entries[i].owner;

		if (!wait)
			continue;
		qp->cids.entries[i].owner = NULL;
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
		ret = nnpu_cids_get(&qp->cids, 0, qp->cids.size, wait);
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

/* Wait in slices; look at the ring and at the device between them. */
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
 * nnpu_admin_exec - run an admin command, leave recovery to the caller
 * @ndev: device
 * @sqe: 64-byte submission entry; its cid is filled in here
 * @result: gets the completion
 *
 * For callers that hold nnpu_device.reset_sem or run on nnpu_device.reset_wq.
 *
 * Return: 0 if the device answered, whatever the status; -ETIMEDOUT if not, and
 * the device may then still use memory the command names.
 */
int nnpu_admin_exec(struct nnpu_device *ndev, const void *sqe, struct nnpu_admin_result *result)
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
			nnpu_status_opcode_name(head->opcode), le32_to_cpu(head->ctx));
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
			nnpu_status_opcode_name(head->opcode), le32_to_cpu(head->ctx),
			nnpu_status_name(result->status), result->status, result->reason);
	return 0;
}
