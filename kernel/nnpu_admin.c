// SPDX-License-Identifier: GPL-2.0-only
/*
 * The admin queue: synchronous commands, with a bounded wait. A load of a program may take as
 * long as loads make progress.
 *
 * A command without answer is the caller's business here. Most callers want
 * nnpu_command_exec(), which resets the device then.
 */
#include <linux/completion.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/log2.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

/* A waiter looks at the ring this often, in case an interrupt was lost. */
#define NNPU_ADMIN_SLICE_MS	50
/* A command takes this long at most: 20 ms of engine time, and what a busy host adds. */
#define NNPU_ADMIN_COMMAND_MS	200

/**
 * struct nnpu_admin_wait - a command in flight
 * @done: completed by the interrupt handler
 * @cqe: copy of the completion
 * @answered: @cqe is valid; under nnpu_qpair.lock
 * @stopped: nnpu_admin_stop() ended the wait; under nnpu_qpair.lock
 * @keeps_cid: the waiter frees the id, so that an ABORT of it meets no other command
 */
struct nnpu_admin_wait {
	struct completion done;
	struct nnpu_cqe cqe;
	bool answered;
	bool stopped;
	bool keeps_cid;
};

/**
 * nnpu_admin_max_contexts - contexts whose places a ring has room for
 * @entries: entries of the ring
 *
 * Return: number of contexts.
 */
u32 nnpu_admin_max_contexts(u32 entries)
{
	return (entries - 1 - NNPU_ADMIN_PLACE_CONTEXTS) / NNPU_ADMIN_CTX_PLACES;
}

/**
 * nnpu_admin_init - allocate the admin queue
 * @ndev: device
 *
 * Return: 0 or a negative errno.
 */
int nnpu_admin_init(struct nnpu_device *ndev)
{
	u32 places = nnpu_admin_place(ndev->limits.max_contexts + 1);

	init_waitqueue_head(&ndev->admin.room);
	return nnpu_qpair_alloc(ndev, &ndev->admin.qp, NNPU_QID_ADMIN,
				roundup_pow_of_two(places + 1), places);
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

		if (!wait || wait->answered)
			continue;
		wait->cqe = cqe;
		wait->answered = true;
		if (!wait->keeps_cid) {
			nnpu_cids_put(&qp->cids, le16_to_cpu(cqe.cid));
			ndev->admin.answered++;
		}
		complete(&wait->done);
	}
	nnpu_qpair_pop_done(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
	wake_up_all(&ndev->admin.room);
}

/**
 * nnpu_admin_stop - give up the commands that wait for an answer
 * @ndev: device, about to be reset
 *
 * Waiters wake up with -ETIMEDOUT and then wait for the reset, those for a place, too.
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
		wait->stopped = true;
		complete(&wait->done);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	wake_up_all(&ndev->admin.room);
}

/* Give the command to the device; -EBUSY: its place is taken; -ETIMEDOUT: no use. */
static int nnpu_admin_push(struct nnpu_device *ndev, u32 place, const void *sqe,
			   struct nnpu_admin_wait *wait, u16 *cid)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	struct nnpu_sqe entry;
	unsigned long flags;
	int ret = -ETIMEDOUT;

	memcpy(&entry, sqe, sizeof(entry));
	spin_lock_irqsave(&qp->lock, flags);
	if (qp->live) {
		ret = nnpu_cids_get(&qp->cids, place, 1, wait);
		if (ret >= 0) {
			*cid = ret;
			entry.cid = cpu_to_le16(ret);
			ret = nnpu_qpair_push(qp, &entry);
			if (ret) {
				/* The ring has room for all places: the device does not fetch. */
				nnpu_cids_put(&qp->cids, *cid);
				ret = -ETIMEDOUT;
			}
		}
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

/* The device is FATAL or was removed. */
static bool nnpu_admin_is_broken(struct nnpu_device *ndev)
{
	u32 status = nnpu_read(ndev, NNPU_REG_STATUS);

	/* All ones: the device was removed. */
	return status == U32_MAX || status & NNPU_STATUS_REG_FATAL;
}

/*
 * Wait in slices; look at the ring and at the device between them. The device executes commands
 * one after the other: as long as it answers those before this one it has not forgotten it. There
 * was one before in each place at most, and each takes NNPU_ADMIN_COMMAND_MS at most. A device that
 * answers more, or takes longer, has gone past this one.
 */
static void nnpu_admin_wait(struct nnpu_device *ndev, struct nnpu_admin_wait *wait)
{
	unsigned long timeout = msecs_to_jiffies(nnpu_param_admin_timeout_ms());
	unsigned long slice = msecs_to_jiffies(NNPU_ADMIN_SLICE_MS);
	unsigned long end = jiffies + timeout, last = end +
		msecs_to_jiffies(ndev->admin.qp.cids.size * NNPU_ADMIN_COMMAND_MS);
	u64 first = READ_ONCE(ndev->admin.answered);
	u64 answered = first;

	while (!wait_for_completion_timeout(&wait->done, slice)) {
		bool broken = nnpu_admin_is_broken(ndev);
		u64 now;

		nnpu_admin_process(ndev);
		if (completion_done(&wait->done) || broken)
			return;
		now = READ_ONCE(ndev->admin.answered);
		if (now != answered && now - first <= ndev->admin.qp.cids.size)
			end = jiffies + timeout;
		if (time_after(end, last))
			end = last;
		answered = now;
		if (time_after(jiffies, end))
			return;
	}
}

/* A late answer finds no owner after this. */
static void nnpu_admin_forget(struct nnpu_device *ndev, struct nnpu_admin_wait *wait, u16 cid)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (nnpu_cids_find(&qp->cids, cid) == wait)
		nnpu_cids_put(&qp->cids, cid);
	spin_unlock_irqrestore(&qp->lock, flags);
	wake_up_all(&ndev->admin.room);
}

/*
 * The end of a command that the device had: its completion, or -ETIMEDOUT. Only one whose own time
 * is over counts as timeout, not those that a reset takes with it.
 */
static int nnpu_admin_result(struct nnpu_device *ndev, const struct nnpu_sqe *head,
			     const struct nnpu_admin_wait *wait, struct nnpu_admin_result *result)
{
	if (!wait->answered && wait->stopped)
		return -ETIMEDOUT;
	if (!wait->answered) {
		atomic64_inc(&ndev->stats.admin_timeouts);
		drm_err(&ndev->drm, "admin command %s for context %u was not answered\n",
			nnpu_status_opcode_name(head->opcode), le32_to_cpu(head->ctx));
		return -ETIMEDOUT;
	}
	result->status = le16_to_cpu(wait->cqe.status) >> NNPU_CQE_STATUS_SHIFT;
	result->reason = le16_to_cpu(wait->cqe.reason);
	result->operand = le16_to_cpu(wait->cqe.operand);
	result->error = le32_to_cpu(wait->cqe.error);
	result->value = le64_to_cpu(wait->cqe.result);
	trace_nnpu_admin(ndev, head->opcode, le32_to_cpu(head->ctx), result->status);
	if (result->status)
		drm_dbg(&ndev->drm, "admin command %s for context %u: %s (%#x), reason %u\n",
			nnpu_status_opcode_name(head->opcode), le32_to_cpu(head->ctx),
			nnpu_status_name(result->status), result->status, result->reason);
	return 0;
}

/**
 * nnpu_admin_exec - run an admin command, leave recovery to the caller
 * @ndev: device
 * @place: whose place the command takes, NNPU_ADMIN_PLACE_* or that of a context
 * @sqe: 64-byte submission entry; its cid is filled in here
 * @result: gets the completion
 *
 * For callers that hold nnpu_device.reset_sem or run on nnpu_device.reset_wq. Not for
 * LOAD_PROGRAM.
 *
 * A wait for the place says nothing about the device: the command that has it is the caller's
 * own client's. It ends, or the device is reset. Few wait: ioctls have nnpu_ctx.command_lock, so
 * that the place of a context is wanted by one of them, by its releases, by the abort of its load
 * and by its end, nnpu_ctx_end().
 *
 * Return: 0 if the device answered, whatever the status; -ETIMEDOUT if not, and
 * the device may then still use memory the command names. -ETIMEDOUT, too, if the admin queue is
 * stopped, for a reset or for good.
 */
int nnpu_admin_exec(struct nnpu_device *ndev, u32 place, const void *sqe,
		    struct nnpu_admin_result *result)
{
	struct nnpu_admin_wait wait = { };
	u16 cid = 0;
	int ret;

	memset(result, 0, sizeof(*result));
	init_completion(&wait.done);
	wait_event(ndev->admin.room,
		   (ret = nnpu_admin_push(ndev, place, sqe, &wait, &cid)) != -EBUSY);
	if (ret)
		return ret;
	nnpu_admin_wait(ndev, &wait);
	nnpu_admin_forget(ndev, &wait, cid);
	return nnpu_admin_result(ndev, sqe, &wait, result);
}

/* Loads. */

/* Ask the device to end a load. False: it does not do that, or does not answer. */
static bool nnpu_admin_abort_load(struct nnpu_device *ndev, u32 place, u16 cid)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT,
		.qid = cpu_to_le16(NNPU_QID_ADMIN),
		.target_cid = cpu_to_le16(cid),
	};
	struct nnpu_admin_result result;

	return ndev->features & NNPU_FEATURE_ABORT &&
	       !nnpu_admin_exec(ndev, place, &sqe, &result) && !result.status;
}

/* Does this load have the loader? Another one that hangs has a waiter of its own. */
static bool nnpu_admin_is_current(struct nnpu_device *ndev, u16 cid)
{
	return nnpu_read_queue(ndev, NNPU_QID_ADMIN, NNPU_QREG_CURRENT) ==
	       (NNPU_QREG_CURRENT_RUNNING | cid);
}

/**
 * struct nnpu_admin_load - how a load advances
 * @place: for a command to abort it
 * @progress: of loads, as seen last
 * @hang_ms: how long it has not changed
 * @abort_ms: how long the abort has lasted
 * @unwanted: the process is dying, or has to stand still for system sleep
 * @aborted: the device was asked to end the load
 */
struct nnpu_admin_load {
	u32 place;
	u32 progress;
	unsigned int hang_ms;
	unsigned int abort_ms;
	bool unwanted;
	bool aborted;
};

/*
 * Judge a load after a slice. A load that hangs and has the loader is aborted, and so is one
 * that is unwanted. Return: false if the device is at fault.
 */
static bool nnpu_admin_judge_load(struct nnpu_device *ndev, struct nnpu_admin_load *l, u16 cid)
{
	u32 progress = nnpu_read_queue(ndev, NNPU_QID_ADMIN, NNPU_QREG_PROGRESS);
	unsigned int hang = nnpu_param_hang_timeout_ms();

	l->hang_ms = progress == l->progress ? l->hang_ms + NNPU_ADMIN_SLICE_MS : 0;
	l->progress = progress;
	if (nnpu_admin_is_broken(ndev))
		return false;
	if (l->aborted) {
		l->abort_ms += NNPU_ADMIN_SLICE_MS;
		return l->abort_ms <= nnpu_param_abort_timeout_ms();
	}
	if (l->unwanted || (l->hang_ms > hang && nnpu_admin_is_current(ndev, cid))) {
		if (!l->unwanted) {
			drm_warn(&ndev->drm, "load %#x makes no progress, aborting it\n", cid);
			nnpu_event_hang(ndev, NULL, NNPU_QID_ADMIN, cid, "load");
		}
		l->aborted = nnpu_admin_abort_load(ndev, l->place, cid);
		/* Without ABORT such a process waits like any other. */
		return l->aborted || l->hang_ms <= hang;
	}
	/* The load that has the loader had the time to be aborted, too. */
	return l->hang_ms <= 2 * hang + nnpu_param_abort_timeout_ms();
}

/* Return: the load became unwanted. */
static bool nnpu_admin_wait_load(struct nnpu_device *ndev, u32 place, struct nnpu_admin_wait *wait,
				 u16 cid)
{
	unsigned long slice = msecs_to_jiffies(NNPU_ADMIN_SLICE_MS);
	struct nnpu_admin_load l = { .place = place };
	long left;

	l.progress = nnpu_read_queue(ndev, NNPU_QID_ADMIN, NNPU_QREG_PROGRESS);
	do {
		if (l.unwanted)
			left = wait_for_completion_timeout(&wait->done, slice);
		else
			left = wait_for_completion_killable_timeout(&wait->done, slice);
		/*
		 * The freezer waits for all processes, and there are as many loads at the same time
		 * as contexts.
		 */
		if (left < 0 || (freezing(current) && signal_pending(current)))
			l.unwanted = true;
		/* An interrupt may have been lost. */
		nnpu_admin_process(ndev);
		if (left > 0 || completion_done(&wait->done))
			break;
	} while (nnpu_admin_judge_load(ndev, &l, cid));
	return l.unwanted;
}

/**
 * nnpu_admin_load - run LOAD_PROGRAM or SAVE_PROGRAM, leave recovery to the caller
 * @ndev: device
 * @place: nnpu_admin_load_place(); that of the context's other commands is the one before
 * @sqe: 64-byte submission entry; its cid is filled in here
 * @result: gets the completion
 *
 * For callers that hold nnpu_device.reset_sem and nnpu_ctx.load_lock, so that the place is free.
 *
 * The load may take long, while loads make progress. A fatal signal has it aborted, and so has the
 * freezer of processes; this function returns when the device has ended it.
 *
 * Return: as nnpu_admin_exec(); -ERESTARTSYS if it was aborted for the sake of the process.
 */
int nnpu_admin_load(struct nnpu_device *ndev, u32 place, const void *sqe,
		    struct nnpu_admin_result *result)
{
	struct nnpu_admin_wait wait = { .keeps_cid = true };
	bool unwanted;
	u16 cid = 0;
	int ret;

	memset(result, 0, sizeof(*result));
	init_completion(&wait.done);
	ret = nnpu_admin_push(ndev, place, sqe, &wait, &cid);
	if (ret)
		return ret;
	unwanted = nnpu_admin_wait_load(ndev, place - 1, &wait, cid);
	nnpu_admin_forget(ndev, &wait, cid);
	ret = nnpu_admin_result(ndev, sqe, &wait, result);
	if (!ret && unwanted && result->status == NNPU_STATUS_ABORTED)
		ret = -ERESTARTSYS;
	return ret;
}
