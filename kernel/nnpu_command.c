// SPDX-License-Identifier: GPL-2.0-only
/*
 * Admin commands with recovery: the way in for all parts of the driver but the recovery
 * itself. When a function here returns, the device is done with the memory that the command
 * named: the device answered, was reset, or was cut off.
 */
#include <linux/freezer.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_reset.h"
#include "nnpu_status.h"

typedef int (*nnpu_command_fn)(struct nnpu_device *ndev, u32 place, const void *sqe,
			       struct nnpu_admin_result *result);

/* Whose place a command takes; see nnpu_admin.h. */
static u32 nnpu_command_place(const struct nnpu_ctx *ctx, const void *sqe)
{
	const struct nnpu_sqe_queue *head = sqe;

	switch (head->opcode) {
	case NNPU_ADMIN_CREATE_QUEUE:
	case NNPU_ADMIN_SUSPEND_QUEUE:
	case NNPU_ADMIN_DESTROY_QUEUE:
		return NNPU_ADMIN_PLACE_USERQS;
	case NNPU_ADMIN_ABORT:
		if (le16_to_cpu(head->qid) >= NNPU_QID_USER)
			return NNPU_ADMIN_PLACE_USERQS;
		break;
	case NNPU_ADMIN_LOAD_PROGRAM:
	case NNPU_ADMIN_SAVE_PROGRAM:
		return nnpu_admin_load_place(ctx->id);
	default:
		break;
	}
	return ctx ? nnpu_admin_place(ctx->id) : NNPU_ADMIN_PLACE_DEVICE;
}

/*
 * Was the command refused since the context was destroyed just before? Then the device does not use
 * what the command names. Each command has one status that says so, and DESTROY_CTX has none.
 */
static bool nnpu_command_is_late(const struct nnpu_ctx *ctx, u8 opcode, u16 status)
{
	if (!ctx || !READ_ONCE(ctx->destroyed))
		return false;
	switch (opcode) {
	case NNPU_ADMIN_DESTROY_CTX:
		return false;
	case NNPU_ADMIN_LOAD_PROGRAM:
	case NNPU_ADMIN_SAVE_PROGRAM:
		return status == NNPU_STATUS_INVALID_CTX || status == NNPU_STATUS_ABORTED;
	case NNPU_ADMIN_DESTROY_QUEUE:
	case NNPU_ADMIN_SUSPEND_QUEUE:
	case NNPU_ADMIN_ABORT:
		return status == NNPU_STATUS_INVALID_QUEUE;
	default:
		return status == NNPU_STATUS_INVALID_CTX;
	}
}

static int nnpu_command_run(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe,
			    nnpu_command_fn run, struct nnpu_admin_result *result)
{
	const struct nnpu_sqe *head = sqe;
	u64 generation;
	int ret, idx;

	memset(result, 0, sizeof(*result));
	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	down_read(&ndev->reset_sem);
	generation = atomic64_read(&ndev->reset_count);
	if (READ_ONCE(ndev->dead) || READ_ONCE(ndev->paused) || (ctx && nnpu_ctx_is_lost(ctx)))
		ret = -ENODEV;
	else if (run == nnpu_admin_load && READ_ONCE(ndev->stopping))
		/*
		 * A load may last. Other commands are bounded, and some must not be refused
		 * while the device works: it would keep what they take away.
		 */
		ret = -ENODEV;
	else
		ret = run(ndev, nnpu_command_place(ctx, sqe), sqe, result);
	if (!ret && !nnpu_status_known(result->status)) {
		/* It is unknown what the command did: reset the device. */
		drm_err(&ndev->drm, "admin command ended with unknown status %#x\n",
			result->status);
		atomic64_inc(&ndev->stats.bad_completions);
		ret = -EPROTO;
	}
	if (!ret && nnpu_command_is_late(ctx, head->opcode, result->status))
		ret = -ENODEV;
	up_read(&ndev->reset_sem);
	if (ret == -ETIMEDOUT || ret == -EPROTO) {
		nnpu_reset_sync(ndev, generation);
		ret = -ENODEV;
	}
	nnpu_device_exit(ndev, idx);
	return ret;
}

/**
 * nnpu_command_exec - run an admin command
 * @ndev: device
 * @ctx: context the command is for, or NULL
 * @sqe: 64-byte submission entry, not LOAD_PROGRAM or SAVE_PROGRAM; its cid is filled in here
 * @result: gets the completion
 *
 * Sleeps until the command of the same context before it has ended, and then for at most the admin
 * timeout after the last answer of the device, plus a device reset. When it returns the
 * device does not use memory that the command names any more.
 *
 * Return: 0 if the device answered, with any status the specification has;
 * -ENODEV if the device is gone, was reset, or the context is lost.
 */
int nnpu_command_exec(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe,
		      struct nnpu_admin_result *result)
{
	return nnpu_command_run(ndev, ctx, sqe, nnpu_admin_exec, result);
}

/**
 * nnpu_command_load - run LOAD_PROGRAM or SAVE_PROGRAM
 * @ndev: device
 * @ctx: context
 * @sqe: 64-byte submission entry; its cid is filled in here
 * @result: gets the completion
 *
 * Sleeps as long as loads make progress. The loads of a context come one after the other, as
 * in the device, so that each context takes one place, and no more loads than the device has
 * room for. A signal ends the wait for room, a fatal one has the device abort a load, too. When
 * this returns the device does not use memory that the command names any more.
 *
 * System sleep does not wait for loads, however many threads have one: when processes have to
 * stand still, a load that waits gives up, and one that the device has is aborted. Both begin again
 * afterwards.
 *
 * Return: as nnpu_command_exec(); -ERESTARTSYS: the program has not been loaded or saved.
 */
int nnpu_command_load(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe,
		      struct nnpu_admin_result *result)
{
	int ret;

	if (mutex_lock_interruptible(&ctx->load_lock))
		return -ERESTARTSYS;
	ret = -ERESTARTSYS;
	if (down_interruptible(&ndev->load_room))
		goto out;
	/* The one before has just made room, but the freezer waits. */
	if (!freezing(current) || !signal_pending(current))
		ret = nnpu_command_run(ndev, ctx, sqe, nnpu_admin_load, result);
	up(&ndev->load_room);
out:
	mutex_unlock(&ctx->load_lock);
	return ret;
}

/**
 * nnpu_command_revoke - run an admin command that must not fail
 * @ndev: device
 * @ctx: context it belongs to
 * @sqe: 64-byte submission entry of the command; its cid is filled in here
 *
 * For commands that take something away from the device. When this returns, the device
 * does not use it any more: a device that refuses the command is reset.
 */
void nnpu_command_revoke(struct nnpu_device *ndev, struct nnpu_ctx *ctx, const void *sqe)
{
	const struct nnpu_sqe *head = sqe;
	struct nnpu_admin_result result;
	u64 generation;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	generation = atomic64_read(&ndev->reset_count);
	if (!nnpu_command_exec(ndev, ctx, sqe, &result) && result.status) {
		drm_err(&ndev->drm, "admin command %s for context %u was refused: %s (%#x)\n",
			nnpu_status_opcode_name(head->opcode), ctx->id,
			nnpu_status_text(result.status), result.status);
		nnpu_reset_sync(ndev, generation);
	}
	nnpu_device_exit(ndev, idx);
}
