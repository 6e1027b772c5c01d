/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SCHED_H_
#define _NNPU_SCHED_H_

#include <linux/atomic.h>
#include <linux/types.h>

#include <drm/gpu_scheduler.h>

#include "nnpu_gate.h"

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_job;

/**
 * struct nnpu_sched - jobs of one context and priority
 * @base: scheduler; its credits are the jobs that the device has
 * @entity: its only entity: the jobs that wait
 * @gates: what the jobs in @entity wait for
 * @first_id: lowest index of a command id; see nnpu_queue.places
 * @waiting: jobs that @base has and the queue does not
 * @direct: the device has a job that @base does not know; see nnpu_sched_may_pass()
 * @looked: value of nnpu_queue.looks when nnpu_queue_resume() saw a job of it; under
 *	nnpu_qpair.lock
 */
struct nnpu_sched {
	struct drm_gpu_scheduler base;
	struct drm_sched_entity entity;
	struct nnpu_gates gates;
	u32 first_id;
	atomic_t waiting;
	atomic_t direct;
	u64 looked;
};

void nnpu_sched_prepare(struct nnpu_sched *sched, struct nnpu_device *ndev, u32 first_id);
int nnpu_sched_init(struct nnpu_sched *sched, struct nnpu_device *ndev,
		    struct workqueue_struct *wq);
bool nnpu_sched_may_pass(struct nnpu_sched *sched);
void nnpu_sched_push(struct nnpu_job *job);
void nnpu_sched_pass(struct nnpu_job *job, bool entered);
void nnpu_sched_give_up(struct nnpu_sched *sched);
void nnpu_sched_stop(struct nnpu_sched *sched);
void nnpu_sched_start(struct nnpu_sched *sched);
void nnpu_sched_close(struct nnpu_sched *sched);
void nnpu_sched_fini(struct nnpu_sched *sched);

#endif /* _NNPU_SCHED_H_ */
