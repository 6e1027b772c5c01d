// SPDX-License-Identifier: GPL-2.0-only
/*
 * The schedulers of the kernel queue: one for each context and priority, as each has credits of
 * its own. No client waits for a place that another one holds; the device arbitrates between
 * the contexts.
 */
#include <drm/drm_managed.h>

#include "nnpu_device.h"
#include "nnpu_gate.h"
#include "nnpu_job.h"
#include "nnpu_queue.h"
#include "nnpu_sched.h"

/* What the job has to wait for; NULL: nothing. */
static struct dma_fence *nnpu_sched_prepare_job(struct drm_sched_job *base,
						struct drm_sched_entity *entity)
{
	struct nnpu_job *job = container_of(base, struct nnpu_job, base);

	return job->gate ? nnpu_gate_wait(job->gate, &job->sched->gates) : NULL;
}

/*
 * Give a job to the device. @entered: inside a nnpu_device_enter() section. 0: it is in flight, and
 * may have been freed. Otherwise it has ended.
 */
static int nnpu_sched_give(struct nnpu_job *job, bool entered)
{
	struct nnpu_device *ndev = job->ctx->ndev;
	int ret = job->propagate ? nnpu_gate_error(job->gate) : 0;

	nnpu_job_set_deadline(job);
	if (!ret && entered)
		ret = nnpu_queue_submit(&ndev->queue, job);
	else if (!ret)
		/* Paused: only a process that is not frozen in system sleep comes here. */
		ret = READ_ONCE(ndev->dead) ? -ENODEV : -ECANCELED;
	if (ret && nnpu_job_begin_end(job))
		nnpu_job_end(job, NNPU_STATUS_PENDING, 0, ret);
	return ret;
}

/* The job waits for nothing and the queue has room. */
static struct dma_fence *nnpu_sched_run_job(struct drm_sched_job *base)
{
	struct nnpu_job *job = container_of(base, struct nnpu_job, base);
	/* A reference for the caller; a job that the device has may be freed meanwhile. */
	struct dma_fence *fence = dma_fence_get(job->fence);
	struct nnpu_device *ndev = job->ctx->ndev;
	struct nnpu_sched *sched = job->sched;
	bool entered, cookie;
	int ret, idx;

	entered = nnpu_device_enter(ndev, &idx);
	cookie = dma_fence_begin_signalling();
	ret = nnpu_sched_give(job, entered);
	/* Pairs with atomic_read_acquire(): who sees this comes after the job. */
	atomic_fetch_dec_release(&sched->waiting);
	if (ret) {
		/* The scheduler is through with the job, even if its fence signals later. */
		dma_fence_put(fence);
		fence = ERR_PTR(ret);
	}
	dma_fence_end_signalling(cookie);
	if (entered)
		nnpu_device_exit(ndev, idx);
	return fence;
}

/* The job has ended, or its entity was destroyed before it began. */
static void nnpu_sched_free_job(struct drm_sched_job *base)
{
	struct nnpu_job *job = container_of(base, struct nnpu_job, base);
	bool cookie = dma_fence_begin_signalling();

	if (nnpu_job_begin_end(job))
		nnpu_job_end(job, NNPU_STATUS_PENDING, 0, -ECANCELED);
	dma_fence_end_signalling(cookie);
	drm_sched_job_cleanup(base);
	nnpu_job_put(job);
}

/*
 * No timedout_job: the watchdog (nnpu_queue_watch.c) finds hangs. It judges the progress of
 * the device, not the age of a job. It gives innocent jobs to the device again without
 * drm_sched, whose pending list stays as it is.
 */
static const struct drm_sched_backend_ops nnpu_sched_ops = {
	.prepare_job = nnpu_sched_prepare_job,
	.run_job = nnpu_sched_run_job,
	.free_job = nnpu_sched_free_job,
};

/**
 * nnpu_sched_prepare - prepare what needs no memory
 * @sched: scheduler, zeroed
 * @ndev: device; its kernel queue is allocated
 * @first_id: lowest index of a command id of its jobs
 *
 * nnpu_sched_give_up() may follow, before or after nnpu_sched_init().
 */
void nnpu_sched_prepare(struct nnpu_sched *sched, struct nnpu_device *ndev, u32 first_id)
{
	sched->first_id = first_id;
	atomic_set(&sched->waiting, 0);
	/* Without a place for such a job there always is one. */
	atomic_set(&sched->direct, !ndev->queue.direct);
	nnpu_gates_init(&sched->gates);
}

/**
 * nnpu_sched_init - make the scheduler and its entity
 * @sched: scheduler, prepared
 * @ndev: device
 * @wq: ordered workqueue for its items; outlives the scheduler
 *
 * Return: 0 or a negative errno.
 */
int nnpu_sched_init(struct nnpu_sched *sched, struct nnpu_device *ndev,
		    struct workqueue_struct *wq)
{
	struct drm_sched_init_args args = {
		.ops = &nnpu_sched_ops,
		.submit_wq = wq,
		.num_rqs = 1,
		.credit_limit = ndev->queue.credits,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "nnpu",
		.dev = ndev->drm.dev,
	};
	struct drm_gpu_scheduler *base = &sched->base;
	int ret;

	ret = drm_sched_init(base, &args);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&sched->entity, 0, &base, 1, NULL);
	if (ret)
		drm_sched_fini(base);
	return ret;
}

/**
 * nnpu_sched_may_pass - can the next job go to the device without the scheduler?
 * @sched: scheduler; nnpu_ctx.submit_lock is held
 *
 * A job that has nothing to wait for need not wait for a worker to say so: with a small job that
 * is most of its time. It must not overtake the jobs that were submitted before it. So none of
 * them may be in the scheduler. The credits do not count such a job, so there is one at a time,
 * which has a place of its own in the rings.
 *
 * Return: true: nnpu_sched_pass() has to follow.
 */
bool nnpu_sched_may_pass(struct nnpu_sched *sched)
{
	/* Pairs with atomic_fetch_dec_release() in nnpu_sched_run_job(). */
	if (atomic_read_acquire(&sched->waiting))
		return false;
	return !atomic_cmpxchg(&sched->direct, 0, 1);
}

/**
 * nnpu_sched_pass - give a job to the device at once
 * @job: job without gate; nnpu_sched_may_pass() has allowed it
 * @entered: inside a nnpu_device_enter() section
 *
 * The job may have been freed when this returns.
 */
void nnpu_sched_pass(struct nnpu_job *job, bool entered)
{
	struct nnpu_sched *sched = job->sched;

	job->is_direct = true;
	if (!nnpu_sched_give(job, entered))
		return;
	atomic_set(&sched->direct, 0);
	nnpu_job_put(job);
}

/**
 * nnpu_sched_push - give a job to its scheduler
 * @job: job, armed; nnpu_ctx.submit_lock is held
 *
 * The job may have been freed when this returns.
 */
void nnpu_sched_push(struct nnpu_job *job)
{
	atomic_inc(&job->sched->waiting);
	drm_sched_entity_push_job(&job->base);
}

/**
 * nnpu_sched_give_up - let the jobs that wait for fences go on
 * @sched: scheduler; nnpu_queue_submit() refuses its jobs, so that they end
 */
void nnpu_sched_give_up(struct nnpu_sched *sched)
{
	nnpu_gates_open(&sched->gates);
}

/**
 * nnpu_sched_stop - give the device no job of this scheduler, until nnpu_sched_start()
 * @sched: scheduler
 *
 * Waits for one run_job or free_job at most.
 */
void nnpu_sched_stop(struct nnpu_sched *sched)
{
	drm_sched_wqueue_stop(&sched->base);
}

/**
 * nnpu_sched_start - undo nnpu_sched_stop()
 * @sched: scheduler
 */
void nnpu_sched_start(struct nnpu_sched *sched)
{
	drm_sched_wqueue_start(&sched->base);
}

/**
 * nnpu_sched_close - cancel the jobs that wait
 * @sched: scheduler, given up; the caller keeps new jobs out
 *
 * Waits for one run_job or free_job of this scheduler at most. Jobs that the device has go on.
 *
 * drm_sched_entity_fini() removes the entity from the run queue and its jobs from the entity. A
 * scheduler that is just taking a job would put the entity back (drm_sched_entity_pop_job())
 * and then take jobs at the same time. So the scheduler stands still meanwhile. Nor may a fence
 * that the entity waits for signal meanwhile: both would drop the reference of it. The gates
 * are open, and the entity waits for nothing else.
 */
void nnpu_sched_close(struct nnpu_sched *sched)
{
	bool cookie;

	drm_sched_wqueue_stop(&sched->base);
	cookie = dma_fence_begin_signalling();
	drm_sched_entity_fini(&sched->entity);
	drm_sched_wqueue_start(&sched->base);
	dma_fence_end_signalling(cookie);
}

/**
 * nnpu_sched_fini - undo nnpu_sched_init()
 * @sched: scheduler, closed; all its jobs have been freed, and an RCU grace period has passed
 *	since. Until then the callback of a fence may be about to queue its work items
 */
void nnpu_sched_fini(struct nnpu_sched *sched)
{
	drm_sched_fini(&sched->base);
}
