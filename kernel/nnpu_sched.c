// SPDX-License-Identifier: GPL-2.0-only
/*
 * From SUBMIT to the kernel queue.
 *
 * There is one list of jobs that are ready for each context and priority, as each has credits of
 * its own. No client waits for a place that another one holds; the device arbitrates between the
 * contexts. A job that waits for in-fences is in no such list, so it is in nobody's way.
 *
 * nnpu_sched_fill() moves jobs from the lists to the ring. It is called by SUBMIT, for its job;
 * when the last in-fence of a job has signalled; and by the work item of the device when jobs have
 * ended or recovery lets go.
 */
#include <linux/dma-fence.h>
#include <linux/workqueue.h>

#include "nnpu_ctx.h"
#include "nnpu_deps.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_queue.h"
#include "nnpu_sched.h"

/*
 * The work items that jobs wait for: of all devices, as fences outlive them. Memory reclaim may
 * wait for fences.
 */
struct workqueue_struct *nnpu_sched_wq;

/**
 * nnpu_sched_setup - make the workqueue, when the module is loaded
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_sched_setup(void)
{
	nnpu_sched_wq = alloc_workqueue("nnpu-sched", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return nnpu_sched_wq ? 0 : -ENOMEM;
}

/**
 * nnpu_sched_teardown - undo nnpu_sched_setup(); no device and no fence is left
 */
void nnpu_sched_teardown(void)
{
	destroy_workqueue(nnpu_sched_wq);
}

/* Why the device is not to get a job of a context any more, 0: it is. qp.lock is held. */
static int nnpu_sched_refuse(const struct nnpu_ctx *ctx)
{
	if (ctx->closed)
		return -ECANCELED;
	if (nnpu_ctx_is_lost(ctx))
		return READ_ONCE(ctx->ndev->dead) ? -ENODEV : -ECANCELED;
	return 0;
}

/* Have jobs that are ready take the free places. qp.lock is held, in a section of the device. */
static void nnpu_sched_fill(struct nnpu_queue *queue, struct nnpu_sched *sched,
			    struct list_head *ended)
{
	struct nnpu_job *job;
	int error;

	while (sched->given < queue->credits) {
		job = list_first_entry_or_null(&sched->ready, struct nnpu_job, node);
		if (!job || queue->held || job->ctx->held)
			break;
		error = nnpu_sched_refuse(job->ctx);
		if (!error)
			error = nnpu_queue_give(queue, job);
		if (error)
			nnpu_queue_remove(queue, job, error, ended);
	}
	nnpu_queue_update(queue, sched);
}

/* The job waits for nothing any more. Older ones go first. qp.lock is held. */
static void nnpu_sched_insert(struct nnpu_queue *queue, struct nnpu_job *job)
{
	struct nnpu_job *before;

	list_for_each_entry_reverse(before, &job->sched->ready, node)
		if (before->seqno < job->seqno)
			break;
	/* Behind @before, which is the head of the list if all are younger. */
	list_move(&job->node, &before->node);
	job->state = NNPU_JOB_READY;
	nnpu_queue_update(queue, job->sched);
}

/* @entered: inside a nnpu_device_enter() section. */
static void nnpu_sched_insert_and_fill(struct nnpu_queue *queue, struct nnpu_job *job, bool entered,
				       struct list_head *ended)
{
	nnpu_sched_insert(queue, job);
	if (entered)
		nnpu_sched_fill(queue, job->sched, ended);
	else	/* The pause may have ended since, and its end has not seen this job. */
		queue_work(nnpu_sched_wq, &queue->sched_work);
}

/**
 * nnpu_sched_submit - SUBMIT has committed a job
 * @job: job with a fence; the caller's reference is taken over
 *
 * If the job has nothing to wait for and there is a place for it, it is at the device when this
 * returns, and may have ended.
 */
void nnpu_sched_submit(struct nnpu_job *job)
{
	struct nnpu_device *ndev = job->ctx->ndev;
	struct nnpu_queue *queue = &ndev->queue;
	struct nnpu_deps *deps = NULL;
	LIST_HEAD(ended);
	int error, idx;
	bool entered;

	if (job->deps) {
		deps = nnpu_deps_get(job->deps);
		deps->job = job;
	} else {
		nnpu_job_set_deadline(job);
	}
	entered = nnpu_device_enter(ndev, &idx);
	spin_lock_irq(&queue->qp.lock);
	/* What closes or loses the context drops what is in the lists after that. */
	error = nnpu_sched_refuse(job->ctx);
	if (error) {
		nnpu_queue_remove(queue, job, error, &ended);
	} else if (deps) {
		job->state = NNPU_JOB_WAITING;
		list_add_tail(&job->node, &job->sched->waiting);
	} else {
		nnpu_sched_insert_and_fill(queue, job, entered, &ended);
	}
	spin_unlock_irq(&queue->qp.lock);
	if (entered)
		nnpu_device_exit(ndev, idx);
	nnpu_queue_end_jobs(&ended);
	if (deps) {
		nnpu_deps_arm(deps);
		nnpu_deps_put(deps);
	}
}

/**
 * nnpu_sched_ready - the in-fences of a job have signalled
 * @job: job, a reference; it may have ended
 *
 * Process context, no locks held but reservations.
 */
void nnpu_sched_ready(struct nnpu_job *job)
{
	int error = job->propagate ? nnpu_deps_error(job->deps) : 0, idx;
	struct nnpu_device *ndev = job->ctx->ndev;
	struct nnpu_queue *queue = &ndev->queue;
	LIST_HEAD(ended);
	bool entered;

	nnpu_job_set_deadline(job);
	entered = nnpu_device_enter(ndev, &idx);
	spin_lock_irq(&queue->qp.lock);
	if (job->state == NNPU_JOB_WAITING && error)
		nnpu_queue_remove(queue, job, error, &ended);
	else if (job->state == NNPU_JOB_WAITING)
		nnpu_sched_insert_and_fill(queue, job, entered, &ended);
	spin_unlock_irq(&queue->qp.lock);
	if (entered)
		nnpu_device_exit(ndev, idx);
	nnpu_queue_end_jobs(&ended);
}

/**
 * nnpu_sched_drop - end all jobs of a context that the device does not have
 * @ctx: context; it is closed or lost, so none comes after them
 *
 * No spinlock is held. They do not wait for their in-fences. Only their fences do.
 */
void nnpu_sched_drop(struct nnpu_ctx *ctx)
{
	struct nnpu_queue *queue = &ctx->ndev->queue;
	struct nnpu_job *job, *tmp;
	LIST_HEAD(ended);
	unsigned int i;

	spin_lock_irq(&queue->qp.lock);
	for (i = 0; i < NNPU_NUM_PRIORITIES; i++) {
		struct nnpu_sched *sched = &ctx->scheds[i];

		list_for_each_entry_safe(job, tmp, &sched->ready, node)
			nnpu_queue_remove(queue, job, nnpu_sched_refuse(ctx), &ended);
		list_for_each_entry_safe(job, tmp, &sched->waiting, node)
			nnpu_queue_remove(queue, job, nnpu_sched_refuse(ctx), &ended);
	}
	spin_unlock_irq(&queue->qp.lock);
	nnpu_queue_end_jobs(&ended);
}

/*
 * One look at each context and priority that has jobs and credits. The lock is dropped between
 * them: argument blocks are copied with it. A list of its own, as those that recovery holds stay
 * runnable.
 */
static void nnpu_sched_fill_all(struct nnpu_queue *queue)
{
	struct nnpu_sched *sched;
	LIST_HEAD(ended);
	LIST_HEAD(left);

	spin_lock_irq(&queue->qp.lock);
	list_splice_init(&queue->runnable, &left);
	while ((sched = list_first_entry_or_null(&left, struct nnpu_sched, node))) {
		list_move_tail(&sched->node, &queue->runnable);
		nnpu_sched_fill(queue, sched, &ended);
		spin_unlock_irq(&queue->qp.lock);
		nnpu_queue_end_jobs(&ended);
		spin_lock_irq(&queue->qp.lock);
	}
	spin_unlock_irq(&queue->qp.lock);
}

/* Paused or gone: the end of the pause asks again, and unplug has dropped the jobs. */
static void nnpu_sched_work(struct work_struct *work)
{
	struct nnpu_queue *queue = container_of(work, struct nnpu_queue, sched_work);
	struct nnpu_device *ndev = queue->qp.ndev;
	bool cookie;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	cookie = dma_fence_begin_signalling();
	/* What the interrupt handler has left. */
	nnpu_queue_process(queue);
	nnpu_sched_fill_all(queue);
	dma_fence_end_signalling(cookie);
	nnpu_device_exit(ndev, idx);
}

/**
 * nnpu_sched_init - prepare for jobs
 * @ndev: device
 */
void nnpu_sched_init(struct nnpu_device *ndev)
{
	INIT_LIST_HEAD(&ndev->queue.runnable);
	INIT_WORK(&ndev->queue.sched_work, nnpu_sched_work);
}

/**
 * nnpu_sched_fini - no job comes any more
 * @ndev: device, unplugged or not yet registered; its interrupts are free
 */
void nnpu_sched_fini(struct nnpu_device *ndev)
{
	cancel_work_sync(&ndev->queue.sched_work);
}

/**
 * nnpu_sched_init_ctx - prepare for jobs of a context
 * @ctx: context; the kernel queue is allocated
 */
void nnpu_sched_init_ctx(struct nnpu_ctx *ctx)
{
	struct nnpu_queue *queue = &ctx->ndev->queue;
	u32 id = (ctx->id - 1) * nnpu_queue_ctx_places(queue);
	unsigned int i;

	for (i = 0; i < NNPU_NUM_PRIORITIES; i++, id += queue->places) {
		struct nnpu_sched *sched = &ctx->scheds[i];

		sched->first_id = id;
		INIT_LIST_HEAD(&sched->waiting);
		INIT_LIST_HEAD(&sched->ready);
		INIT_LIST_HEAD(&sched->node);
	}
}
