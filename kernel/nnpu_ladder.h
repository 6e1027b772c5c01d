/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_LADDER_H_
#define _NNPU_LADDER_H_

#include <linux/types.h>

struct nnpu_admin_result;
struct nnpu_ctx;
struct nnpu_device;
struct nnpu_ladder;
struct nnpu_watchdog;

/**
 * enum nnpu_ladder_step - steps of recovery, smallest first
 * @NNPU_LADDER_ABORT: abort the job; the jobs behind it go on
 * @NNPU_LADDER_QUEUE: reset or destroy the queue
 */
enum nnpu_ladder_step {
	NNPU_LADDER_ABORT,
	NNPU_LADDER_QUEUE,
};

/**
 * struct nnpu_ladder_ops - what differs between the kernel queue and user queues
 * @exec: run an admin command; 0 if the device answered
 * @job_left: has the job left the device? Called repeatedly, may take completions
 * @reset_queue: step 2; 0, or a negative errno if the device did not do it
 * @reset_device: step 3; NULL if @exec and @reset_queue reset the device by themselves
 */
struct nnpu_ladder_ops {
	int (*exec)(struct nnpu_ladder *l, const void *sqe, struct nnpu_admin_result *result);
	bool (*job_left)(struct nnpu_ladder *l);
	int (*reset_queue)(struct nnpu_ladder *l);
	void (*reset_device)(struct nnpu_ladder *l);
};

/**
 * struct nnpu_ladder - recovery of one queue
 * @ops: what differs
 * @ndev: device
 * @ctx: context of the job
 * @watchdog: watchdog of the job, or NULL
 * @why: reason, for the log
 * @qid: queue
 * @cid: job at fault, or NNPU_CID_NONE
 * @error: error of that job
 */
struct nnpu_ladder {
	const struct nnpu_ladder_ops *ops;
	struct nnpu_device *ndev;
	struct nnpu_ctx *ctx;
	struct nnpu_watchdog *watchdog;
	const char *why;
	u16 qid;
	u16 cid;
	int error;
};

bool nnpu_ladder_wait(struct nnpu_ladder *l);
int nnpu_ladder_abort(struct nnpu_ladder *l);
void nnpu_ladder_go_on(struct nnpu_ladder *l, int ret);
void nnpu_ladder_climb(struct nnpu_ladder *l, enum nnpu_ladder_step first);

#endif /* _NNPU_LADDER_H_ */
