/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_ADMIN_H_
#define _NNPU_ADMIN_H_

#include <linux/types.h>
#include <linux/wait.h>

#include "nnpu_qpair.h"

struct nnpu_device;

/**
 * DOC: Places
 *
 * A place is a command id and room in the rings for one command. Each sender of commands has
 * a place of its own, so that it waits for its own command at most, and no client for another:
 *
 * - NNPU_ADMIN_PLACE_RECOVERY: probe and the work items of nnpu_device.reset_wq
 * - NNPU_ADMIN_PLACE_DEVICE: commands for the device as a whole
 * - NNPU_ADMIN_PLACE_USERQS: hardware queues of user queues, under nnpu_userqs.hw_lock
 * - nnpu_admin_place(): commands of a context; ioctls wait for nnpu_ctx.command_lock before
 * - nnpu_admin_load_place(): LOAD_PROGRAM and SAVE_PROGRAM of a context, under nnpu_ctx.load_lock
 */
#define NNPU_ADMIN_PLACE_RECOVERY	0
#define NNPU_ADMIN_PLACE_DEVICE		1
#define NNPU_ADMIN_PLACE_USERQS		2
#define NNPU_ADMIN_PLACE_CONTEXTS	3

/* Places of a context. */
#define NNPU_ADMIN_CTX_PLACES		2

static inline u32 nnpu_admin_place(u32 ctx)
{
	return NNPU_ADMIN_PLACE_CONTEXTS + (ctx - 1) * NNPU_ADMIN_CTX_PLACES;
}

static inline u32 nnpu_admin_load_place(u32 ctx)
{
	return nnpu_admin_place(ctx) + 1;
}

/**
 * struct nnpu_admin - admin queue
 * @qp: its rings; owners of its cids are struct nnpu_admin_wait, indexes are places
 * @room: waiters for a place that is taken
 * @answered: commands that the device has answered, loads left out; under qp.lock
 */
struct nnpu_admin {
	struct nnpu_qpair qp;
	wait_queue_head_t room;
	u64 answered;
};

/**
 * struct nnpu_admin_result - completion of an admin command
 * @status: NNPU_STATUS_*, not necessarily a known one
 * @reason: NNPU_REASON_*
 * @operand: operand at fault
 * @error: tensor or command at fault
 * @value: result per command
 */
struct nnpu_admin_result {
	u16 status;
	u16 reason;
	u16 operand;
	u32 error;
	u64 value;
};

int nnpu_admin_init(struct nnpu_device *ndev);
void nnpu_admin_fini(struct nnpu_device *ndev);
void nnpu_admin_process(struct nnpu_device *ndev);
void nnpu_admin_stop(struct nnpu_device *ndev);
u32 nnpu_admin_max_contexts(u32 entries);
int nnpu_admin_exec(struct nnpu_device *ndev, u32 place, const void *sqe,
		    struct nnpu_admin_result *result);
int nnpu_admin_load(struct nnpu_device *ndev, u32 place, const void *sqe,
		    struct nnpu_admin_result *result);

#endif /* _NNPU_ADMIN_H_ */
