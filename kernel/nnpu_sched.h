/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SCHED_H_
#define _NNPU_SCHED_H_

#include <linux/mutex.h>

#include <drm/gpu_scheduler.h>

struct nnpu_device;

/**
 * struct nnpu_sched - scheduler of the kernel queue
 * @base: scheduler; its credits are the jobs in flight
 * @pause_lock: protects @paused; held until the scheduler has stopped
 * @paused: calls of nnpu_sched_pause() without nnpu_sched_unpause()
 */
struct nnpu_sched {
	struct drm_gpu_scheduler base;
	struct mutex pause_lock;	/* see above */
	unsigned int paused;
};

int nnpu_sched_init(struct nnpu_device *ndev);
void nnpu_sched_pause(struct nnpu_sched *sched);
void nnpu_sched_unpause(struct nnpu_sched *sched);

#endif /* _NNPU_SCHED_H_ */
