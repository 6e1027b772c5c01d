/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SCHED_H_
#define _NNPU_SCHED_H_

#include <linux/list.h>
#include <linux/types.h>

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_job;
struct workqueue_struct;

/**
 * struct nnpu_sched - jobs of one context and priority
 * @first_id: lowest index of a command id; see nnpu_queue.places
 * @given: jobs that the device has, at most nnpu_queue.credits
 * @waiting: jobs whose in-fences have not signalled
 * @ready: jobs that wait for nothing but their turn, the oldest first
 * @node: entry of nnpu_queue.runnable, if there are jobs in @ready and credits for them
 * @looked: value of nnpu_queue.looks when nnpu_queue_resume() saw a job of it
 *
 * All but @first_id under nnpu_qpair.lock of the kernel queue.
 */
struct nnpu_sched {
	u32 first_id;
	u32 given;
	struct list_head waiting;
	struct list_head ready;
	struct list_head node;
	u64 looked;
};

extern struct workqueue_struct *nnpu_sched_wq;

int nnpu_sched_setup(void);
void nnpu_sched_teardown(void);
void nnpu_sched_init(struct nnpu_device *ndev);
void nnpu_sched_fini(struct nnpu_device *ndev);
void nnpu_sched_init_ctx(struct nnpu_ctx *ctx);
void nnpu_sched_submit(struct nnpu_job *job);
void nnpu_sched_ready(struct nnpu_job *job);
void nnpu_sched_drop(struct nnpu_ctx *ctx);

#endif /* _NNPU_SCHED_H_ */
