// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler of the kernel queue: callbacks of drm_sched, pause and unpause.
 */
#include <drm/drm_managed.h>

#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_queue.h"
#include "nnpu_sched.h"

/* The dependencies of the job are met and the queue has room. */
static struct dma_fence *nnpu_sched_run_job(struct drm_sched_job *base)
{
	struct nnpu_job *job = container_of(base, struct nnpu_job, base);
	/* A reference for the caller; the job may end and be freed before this returns. */
	struct dma_fence *fence = dma_fence_get(job->fence);
	struct nnpu_device *ndev = job->ctx->ndev;
	bool cookie = dma_fence_begin_signalling();
	int ret = nnpu_job_in_error(job), idx;

	if (ret)
		goto out_end;
	ret = -ENODEV;
	if (nnpu_device_enter(ndev, &idx)) {
		ret = nnpu_queue_submit(&ndev->queue, job);
		nnpu_device_exit(idx);
	}
out_end:
	if (ret)
		nnpu_job_end(job, NNPU_STATUS_PENDING, 0, ret);
	dma_fence_end_signalling(cookie);
	return fence;
}

/* The job has ended, or its entity was destroyed before it began. */
static void nnpu_sched_free_job(struct drm_sched_job *base)
{
	struct nnpu_job *job = container_of(base, struct nnpu_job, base);

	if (!dma_fence_is_signaled(job->fence))
		nnpu_job_end(job, NNPU_STATUS_PENDING, 0, -ECANCELED);
	drm_sched_job_cleanup(base);
	nnpu_job_free(job);
}

/*
 * No timedout_job: the watchdog (nnpu_queue_watch.c) finds hangs. It judges the progress of
 * the device, not the age of a job. It gives innocent jobs to the device again without
 * drm_sched, whose pending list stays as it is.
 */
static const struct drm_sched_backend_ops nnpu_sched_ops = {
	.run_job = nnpu_sched_run_job,
	.free_job = nnpu_sched_free_job,
};

static void nnpu_sched_fini(struct drm_device *drm, void *data)
{
	struct nnpu_sched *sched = data;

	/* See nnpu_ctx_free_work(): a callback may still be about to wake the scheduler. */
	synchronize_rcu();
	drm_sched_fini(&sched->base);
	mutex_destroy(&sched->pause_lock);
}

/**
 * nnpu_sched_init - prepare the scheduler
 * @ndev: device; its kernel queue is allocated
 *
 * The scheduler lives as long as the DRM device: open files point to it.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_sched_init(struct nnpu_device *ndev)
{
	struct drm_sched_init_args args = {
		.ops = &nnpu_sched_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = ndev->queue.depth,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "nnpu",
		.dev = ndev->drm.dev,
	};
	struct nnpu_sched *sched = &ndev->sched;
	int ret;

	ret = drm_sched_init(&sched->base, &args);
	if (ret)
		return ret;
	mutex_init(&sched->pause_lock);
	return drmm_add_action_or_reset(&ndev->drm, nnpu_sched_fini, sched);
}

/**
 * nnpu_sched_pause - stop the scheduler
 * @sched: scheduler
 *
 * When this returns the scheduler does not look at entities and does not run or free jobs,
 * until nnpu_sched_unpause() was called as often as this function. May sleep, but waits
 * for one run_job or free_job at most.
 */
void nnpu_sched_pause(struct nnpu_sched *sched)
{
	mutex_lock(&sched->pause_lock);
	if (!sched->paused++)
		drm_sched_wqueue_stop(&sched->base);
	mutex_unlock(&sched->pause_lock);
}

/**
 * nnpu_sched_unpause - undo nnpu_sched_pause()
 * @sched: scheduler
 */
void nnpu_sched_unpause(struct nnpu_sched *sched)
{
	mutex_lock(&sched->pause_lock);
	if (!--sched->paused)
		drm_sched_wqueue_start(&sched->base);
	mutex_unlock(&sched->pause_lock);
}
