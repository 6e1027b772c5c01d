/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_QUEUE_H_
#define _NNPU_QUEUE_H_

#include <linux/list.h>
#include <linux/workqueue.h>

#include "nnpu_qpair.h"
#include "nnpu_sched.h"
#include "nnpu_watchdog.h"

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_job;

/**
 * struct nnpu_queue - the kernel queue: jobs of SUBMIT
 * @qp: its rings; owners of its cids are struct nnpu_job
 * @args_stride: bytes of memory for an argument block
 * @credits: jobs of one context and priority that the device may have; the rings have room for
 *	those of all contexts and priorities
 * @places: command ids and argument blocks of a context and priority, one more than @credits:
 *	the watchdog may pin an id
 * @inflight: jobs that the device has, oldest first; under qp.lock
 * @runnable: each struct nnpu_sched with jobs that are ready and credits for them; under qp.lock
 * @sched_work: gives the device the jobs that are ready
 * @completed: jobs the device has ended; under qp.lock
 * @held: calls of nnpu_queue_hold() for all contexts; under qp.lock
 * @looks: calls of nnpu_queue_resume(); under qp.lock
 * @engines: hang detection, one for each engine; only work items of nnpu_device.reset_wq use
 *	them
 * @watchdog_work: looks at the queue while jobs are in flight
 */
struct nnpu_queue {
	struct nnpu_qpair qp;
	u32 args_stride;
	u32 credits;
	u32 places;
	struct list_head inflight;
	struct list_head runnable;
	struct work_struct sched_work;
	u64 completed;
	unsigned int held;
	u64 looks;
	struct nnpu_watchdog *engines;
	struct delayed_work watchdog_work;
};

int nnpu_queue_init(struct nnpu_device *ndev);
void nnpu_queue_fini(struct nnpu_device *ndev);
int nnpu_queue_create(struct nnpu_device *ndev);
int nnpu_queue_give(struct nnpu_queue *queue, struct nnpu_job *job);
unsigned int nnpu_queue_process(struct nnpu_queue *queue);
unsigned int nnpu_queue_interrupt(struct nnpu_queue *queue);
void nnpu_queue_end_jobs(struct list_head *ended);
void nnpu_queue_remove(struct nnpu_queue *queue, struct nnpu_job *job, int error,
		       struct list_head *ended);
void nnpu_queue_update(struct nnpu_queue *queue, struct nnpu_sched *sched);
void nnpu_queue_stop(struct nnpu_queue *queue);
void nnpu_queue_hold(struct nnpu_queue *queue, struct nnpu_ctx *ctx);
void nnpu_queue_go_on(struct nnpu_queue *queue, struct nnpu_ctx *ctx);
void nnpu_queue_abandon(struct nnpu_queue *queue, u16 guilty_cid, int guilty_error, int error);
bool nnpu_queue_is_drained(struct nnpu_queue *queue);
void nnpu_queue_retain(struct nnpu_queue *queue, bool known);
void nnpu_queue_resume(struct nnpu_queue *queue, struct nnpu_ctx *ctx, u16 guilty_cid,
		       int guilty_error);
void nnpu_queue_unpin(struct nnpu_queue *queue, u16 cid);
void nnpu_queue_close_ctx(struct nnpu_queue *queue, struct nnpu_ctx *ctx);
void nnpu_queue_kick_watchdog(struct nnpu_queue *queue, bool now);

/* Places of a context. */
u32 nnpu_queue_ctx_places(const struct nnpu_queue *queue);
u32 nnpu_queue_max_contexts(u32 entries);

#endif /* _NNPU_QUEUE_H_ */
