/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_ADMIN_H_
#define _NNPU_ADMIN_H_

#include <linux/semaphore.h>
#include <linux/types.h>

#include "nnpu_qpair.h"

struct nnpu_device;

/* Admin commands at the same time, other than loads of programs. */
#define NNPU_ADMIN_DEPTH	16
/* Loads at the same time. A context has one. */
#define NNPU_ADMIN_LOADS	32

/**
 * struct nnpu_admin - admin queue
 * @qp: its rings; owners of its cids are struct nnpu_admin_wait
 * @room: counts NNPU_ADMIN_DEPTH
 * @loads: counts NNPU_ADMIN_LOADS: loads take long, and leave the places in @room to others
 */
struct nnpu_admin {
	struct nnpu_qpair qp;
	struct semaphore room;
	struct semaphore loads;
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
int nnpu_admin_exec(struct nnpu_device *ndev, const void *sqe, struct nnpu_admin_result *result);
int nnpu_admin_load(struct nnpu_device *ndev, const void *sqe, struct nnpu_admin_result *result);

#endif /* _NNPU_ADMIN_H_ */
