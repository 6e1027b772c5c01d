// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel queue, which carries the jobs of SUBMIT.
 *
 * The hard interrupt handler takes the completions. The work is bounded by the size of the
 * ring and ends in dma_fence_signal(), which is allowed there. A thread would add a context
 * switch to each job. Argument blocks are not mapped to user space: what
 * stands in them comes from the driver.
 */
#include <linux/dma-fence.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

/* Completions that are taken before the lock is dropped. */
#define NNPU_QUEUE_BATCH	16
/* Each entry may need two command ids; see nnpu_queue.places. */
#define NNPU_QUEUE_MAX_ENTRIES	(NNPU_CIDS_MAX / 2 + 1)

/**
 * nnpu_queue_ctx_places - command ids and argument blocks of a context
 * @queue: queue
 *
 * Return: number of places.
 */
u32 nnpu_queue_ctx_places(const struct nnpu_queue *queue)
{
	return NNPU_NUM_PRIORITIES * queue->places;
}

/**
 * nnpu_queue_max_contexts - contexts that a ring has room for, with a job of each priority
 * @entries: entries of the ring
 *
 * Return: number of contexts.
 */
u32 nnpu_queue_max_contexts(u32 entries)
{
	return (min(entries, NNPU_QUEUE_MAX_ENTRIES) - 1) / NNPU_NUM_PRIORITIES;
}

/**
 * nnpu_queue_init - allocate the kernel queue
 * @ndev: device
 *
 * Its rings have room for the credits of all contexts, so that no context waits for a place that
 * another one holds. If the device has small rings, credits shrink.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_queue_init(struct nnpu_device *ndev)
{
	u32 max_entries = min(ndev->limits.max_entries, NNPU_QUEUE_MAX_ENTRIES);
	u32 scheds = ndev->limits.max_contexts * NNPU_NUM_PRIORITIES, entries;
	struct nnpu_queue *queue = &ndev->queue;
	int ret;

	INIT_LIST_HEAD(&queue->inflight);
	queue->credits = nnpu_ring_credits(max_entries, scheds, nnpu_param_max_inflight());
	queue->direct = nnpu_ring_credits(max_entries, scheds, queue->credits + 1) > queue->credits;
	queue->places = queue->credits + queue->direct + 1;
	queue->args_stride = ALIGN(nnpu_check_args_size(ndev->limits.max_args), 64);
	/* One entry of a ring stays empty. */
	entries = roundup_pow_of_two(scheds * (queue->credits + queue->direct) + 1);
	queue->engines = kcalloc(max(ndev->limits.num_engines, 1), sizeof(*queue->engines),
				 GFP_KERNEL);
	if (!queue->engines)
		return -ENOMEM;
	ret = nnpu_qpair_alloc(ndev, &queue->qp, NNPU_QID_KERNEL, entries,
			       scheds * queue->places);
	if (ret)
		kfree(queue->engines);
	return ret;
}

/**
 * nnpu_queue_fini - free the kernel queue
 * @ndev: device; it does not access memory any more, and no job can be run
 */
void nnpu_queue_fini(struct nnpu_device *ndev)
{
	kfree(ndev->queue.engines);
	nnpu_qpair_free(&ndev->queue.qp);
}

/**
 * nnpu_queue_create - create the kernel queue in the device
 * @ndev: device, enabled; no job is in flight
 *
 * Return: 0, -ETIMEDOUT or -EIO.
 */
int nnpu_queue_create(struct nnpu_device *ndev)
{
	struct nnpu_qpair *qp = &ndev->queue.qp;
	struct nnpu_sqe_create_queue sqe = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_KERNEL,
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
		.vector = cpu_to_le16(min(ndev->num_irqs - 1, (unsigned int)NNPU_IRQ_KERNEL)),
		.sq_entries = cpu_to_le32(qp->sq.size),
		.cq_entries = cpu_to_le32(qp->cq.size),
		.sq_addr = cpu_to_le64(qp->sq_dma),
		.cq_addr = cpu_to_le64(qp->cq_dma),
	};
	struct nnpu_admin_result result;
	int ret;

	spin_lock_irq(&qp->lock);
	nnpu_qpair_restart(qp, false);
	spin_unlock_irq(&qp->lock);
	ret = nnpu_admin_exec(ndev, NNPU_ADMIN_PLACE_RECOVERY, &sqe, &result);
	if (ret)
		return ret;
	if (result.status) {
		drm_err(&ndev->drm, "CREATE_QUEUE failed: %s (%#x)\n",
			nnpu_status_text(result.status), result.status);
		return -EIO;
	}
	spin_lock_irq(&qp->lock);
	qp->live = true;
	spin_unlock_irq(&qp->lock);
	return 0;
}

/*
 * Write the entry of a job in flight. qp.lock is held. The time of the job begins here, not when it
 * begins to be held: what the device never had costs its client no engine time.
 */
static int nnpu_queue_push_job(struct nnpu_queue *queue, struct nnpu_job *job)
{
	u32 place = nnpu_cids_index(&queue->qp.cids, job->cid) - job->ctx->scheds[0].first_id;
	const struct nnpu_ctx_args *args = &job->ctx->args[place];
	struct nnpu_sqe_execute sqe;
	/* After a reset of the queue it goes on. */
	bool first = !job->start;
	int ret;

	BUILD_BUG_ON(sizeof(sqe) != sizeof(struct nnpu_sqe));
	nnpu_job_fill_deadline(job);
	memcpy(args->mem, job->args, job->args_len);
	nnpu_job_fill_sqe(job, args->dma, &sqe);
	job->asked = ktime_to_ms(ktime_get());
	if (first)
		job->start = ktime_get();
	ret = nnpu_qpair_push(&queue->qp, (const struct nnpu_sqe *)&sqe);
	if (first && ret)
		job->start = 0;
	else if (first)
		trace_nnpu_job_start(job);
	return ret;
}

/**
 * nnpu_queue_submit - give a job to the device
 * @queue: queue
 * @job: job; in flight if this returns 0
 *
 * Called inside a nnpu_device_enter() section. Allocates nothing. While recovery holds
 * the queue or the context the job waits here.
 *
 * Return: 0; -ECANCELED if the context was lost or closed, -ENODEV if the device is
 * dead, -ETIME if the deadline has passed, -EIO if the rings are full, which the
 * scheduler's credits rule out.
 */
int nnpu_queue_submit(struct nnpu_queue *queue, struct nnpu_job *job)
{
	struct nnpu_qpair *qp = &queue->qp;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&qp->lock, flags);
	if (job->ctx->closed) {
		ret = -ECANCELED;
		goto out;
	}
	if (nnpu_ctx_is_lost(job->ctx)) {
		ret = READ_ONCE(queue->qp.ndev->dead) ? -ENODEV : -ECANCELED;
		goto out;
	}
	if (job->deadline_ns != U64_MAX && ktime_get_ns() >= job->deadline_ns) {
		ret = -ETIME;
		goto out;
	}
	job->held = queue->held || job->ctx->held;
	if (!job->held && !qp->live) {
		ret = -ENODEV;
		goto out;
	}
	ret = nnpu_cids_get(&qp->cids, job->sched->first_id, queue->places, job);
	if (ret < 0) {
		ret = -EIO;
		goto out;
	}
	job->cid = ret;
	ret = job->held ? 0 : nnpu_queue_push_job(queue, job);
	if (ret) {
		nnpu_cids_put(&qp->cids, job->cid);
		ret = -EIO;
		goto out;
	}
	list_add_tail(&job->node, &queue->inflight);
	nnpu_queue_kick_watchdog(queue, false);
out:
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

/**
 * nnpu_queue_kick_watchdog - schedule the watchdog
 * @queue: queue
 * @now: run it at once, not after its period
 *
 * Any context.
 */
void nnpu_queue_kick_watchdog(struct nnpu_queue *queue, bool now)
{
	struct workqueue_struct *wq = queue->qp.ndev->reset_wq;

	if (now)
		mod_delayed_work(wq, &queue->watchdog_work, 0);
	else
		queue_delayed_work(wq, &queue->watchdog_work, msecs_to_jiffies
				   (nnpu_watchdog_period_ms(nnpu_param_hang_timeout_ms())));
}

/**
 * nnpu_queue_end_jobs - signal the fences of jobs that have ended
 * @ended: list of nnpu_queue_remove(). No lock is held
 *
 * Any context.
 */
void nnpu_queue_end_jobs(struct list_head *ended)
{
	struct nnpu_job *job, *tmp;

	list_for_each_entry_safe(job, tmp, ended, node) {
		bool is_direct = job->is_direct;

		list_del_init(&job->node);
		nnpu_job_end(job, job->end_status, job->end_ns, job->end_error);
		if (is_direct)
			nnpu_job_put(job);
	}
}

/**
 * nnpu_queue_remove - a job is not in flight any more
 * @queue: queue; qp.lock is held
 * @job: job in flight
 * @error: error of its fence
 * @ended: gets the job
 */
void nnpu_queue_remove(struct nnpu_queue *queue, struct nnpu_job *job, int error,
		       struct list_head *ended)
{
	lockdep_assert_held(&queue->qp.lock);
	nnpu_cids_put(&queue->qp.cids, job->cid);
	if (job->is_direct)
		atomic_set(&job->sched->direct, 0);
	queue->completed++;
	atomic_set(&job->ending, 1);
	job->end_status = NNPU_STATUS_PENDING;
	job->end_error = error;
	job->end_ns = 0;
	list_move_tail(&job->node, ended);
}

/* One completion of a job in flight. */
static void nnpu_queue_complete(struct nnpu_queue *queue, struct nnpu_job *job,
				const struct nnpu_cqe *cqe, struct list_head *ended)
{
	u16 status = le16_to_cpu(cqe->status) >> NNPU_CQE_STATUS_SHIFT;
	int error = nnpu_status_job_errno(status);

	if (!nnpu_status_known(status) || job->held) {
		/*
		 * The device may still use the memory of the job: keep the job until
		 * the watchdog has asked the device.
		 */
		atomic64_inc(&queue->qp.ndev->stats.bad_completions);
		job->suspect = true;
		nnpu_queue_kick_watchdog(queue, true);
		return;
	}
	/* INVALID_CTX: it had not begun when the context was destroyed. */
	if (job->cancel_error &&
	    (status == NNPU_STATUS_ABORTED || status == NNPU_STATUS_INVALID_CTX))
		error = job->cancel_error;
	nnpu_queue_remove(queue, job, error, ended);
	job->end_status = status;
	job->end_ns = le64_to_cpu(cqe->result);
}

/**
 * nnpu_queue_process - take completions from the ring and end their jobs
 * @queue: queue
 *
 * Any context.
 *
 * Return: number of completions taken.
 */
unsigned int nnpu_queue_process(struct nnpu_queue *queue)
{
	struct nnpu_qpair *qp = &queue->qp;
	bool cookie = dma_fence_begin_signalling();
	unsigned int total = 0, taken;
	unsigned long flags;
	struct nnpu_cqe cqe;
	LIST_HEAD(ended);
	void *owner;

	do {
		taken = 0;
		spin_lock_irqsave(&qp->lock, flags);
		while (taken < NNPU_QUEUE_BATCH && nnpu_qpair_pop(qp, &cqe, &owner)) {
			taken++;
			if (owner)
				nnpu_queue_complete(queue, owner, &cqe, &ended);
		}
		if (taken)
			nnpu_qpair_pop_done(qp);
		spin_unlock_irqrestore(&qp->lock, flags);
		nnpu_queue_end_jobs(&ended);
		total += taken;
		/* Bounded, so that a device that completes without end does not hold the CPU. */
	} while (taken == NNPU_QUEUE_BATCH && total < qp->cq.size);
	dma_fence_end_signalling(cookie);
	return total;
}

/**
 * nnpu_queue_stop - take no more completions
 * @queue: queue
 */
void nnpu_queue_stop(struct nnpu_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->qp.lock, flags);
	queue->qp.live = false;
	spin_unlock_irqrestore(&queue->qp.lock, flags);
}

/**
 * nnpu_queue_hold - give the device no more jobs
 * @queue: queue
 * @ctx: of this context only, or NULL
 *
 * Jobs that the scheduler runs wait in flight until nnpu_queue_go_on() was called as often.
 */
void nnpu_queue_hold(struct nnpu_queue *queue, struct nnpu_ctx *ctx)
{
	spin_lock_irq(&queue->qp.lock);
	if (ctx)
		ctx->held++;
	else
		queue->held++;
	spin_unlock_irq(&queue->qp.lock);
}

/**
 * nnpu_queue_go_on - undo nnpu_queue_hold()
 * @queue: queue
 * @ctx: as for nnpu_queue_hold()
 */
void nnpu_queue_go_on(struct nnpu_queue *queue, struct nnpu_ctx *ctx)
{
	struct nnpu_job *job, *tmp;
	bool pushed = false;
	LIST_HEAD(ended);

	spin_lock_irq(&queue->qp.lock);
	if (ctx)
		ctx->held--;
	else
		queue->held--;
	list_for_each_entry_safe(job, tmp, &queue->inflight, node) {
		if (!job->held || queue->held || job->ctx->held)
			continue;
		job->held = false;
		if (!queue->qp.live)
			nnpu_queue_remove(queue, job, -ENODEV, &ended);
		else if (job->ctx->closed || nnpu_ctx_is_lost(job->ctx) ||
			 nnpu_queue_push_job(queue, job))
			nnpu_queue_remove(queue, job, -ECANCELED, &ended);
		else
			pushed = true;
	}
	/* It may have looked in a pause, and have come to its end. */
	if (pushed)
		nnpu_queue_kick_watchdog(queue, false);
	spin_unlock_irq(&queue->qp.lock);
	nnpu_queue_end_jobs(&ended);
}

/**
 * nnpu_queue_is_drained - has the device ended all jobs that it was given?
 * @queue: queue, held
 *
 * Return: false if it has some.
 */
bool nnpu_queue_is_drained(struct nnpu_queue *queue)
{
	struct nnpu_job *job;
	bool drained = true;

	spin_lock_irq(&queue->qp.lock);
	list_for_each_entry(job, &queue->inflight, node)
		drained &= job->held;
	spin_unlock_irq(&queue->qp.lock);
	return drained;
}

/**
 * nnpu_queue_abandon - end all jobs in flight
 * @queue: queue, stopped; the device has no access to memory of jobs any more
 * @guilty_cid: job with an error of its own, or NNPU_CID_NONE
 * @guilty_error: its error
 * @error: error of the others
 */
void nnpu_queue_abandon(struct nnpu_queue *queue, u16 guilty_cid, int guilty_error, int error)
{
	struct nnpu_job *job, *tmp;
	LIST_HEAD(ended);

	spin_lock_irq(&queue->qp.lock);
	list_for_each_entry_safe(job, tmp, &queue->inflight, node)
		nnpu_queue_remove(queue, job, job->cid == guilty_cid ? guilty_error : error,
				  &ended);
	spin_unlock_irq(&queue->qp.lock);
	nnpu_queue_end_jobs(&ended);
}

/* Is this the first job of its context and priority? It is the one that may have begun. */
static bool nnpu_queue_is_head(struct nnpu_queue *queue, struct nnpu_job *job)
{
	if (job->sched->looked == queue->looks)
		return false;
	job->sched->looked = queue->looks;
	return true;
}

/**
 * nnpu_queue_retain - keep the jobs that can begin anew after system sleep, end the others
 * @queue: queue, stopped and held; the device has no access to memory of jobs any more
 * @known: all completions were taken, so that the first job of a context and priority is the only
 *	one that can have begun. Else any may have
 *
 * Those of contexts that were saved and that had not begun wait for nnpu_queue_go_on(). One that
 * had begun may have written over what it reads.
 */
void nnpu_queue_retain(struct nnpu_queue *queue, bool known)
{
	struct nnpu_job *job, *tmp;
	LIST_HEAD(ended);

	spin_lock_irq(&queue->qp.lock);
	queue->looks++;
	list_for_each_entry_safe(job, tmp, &queue->inflight, node) {
		bool begun = !job->held &&
			     (nnpu_queue_is_head(queue, job) || job->suspect || !known);

		if (begun || !nnpu_ctx_is_kept(job->ctx)) {
			nnpu_queue_remove(queue, job, -ECANCELED, &ended);
			continue;
		}
		job->held = true;
		job->start = 0;
	}
	spin_unlock_irq(&queue->qp.lock);
	nnpu_queue_end_jobs(&ended);
}

/**
 * nnpu_queue_resume - go on after RESET_QUEUE
 * @queue: queue, held; if @ctx is given this context is held
 * @ctx: context whose entries were reset, or NULL: those of all
 * @guilty_cid: job the reset was for, or NNPU_CID_NONE
 * @guilty_error: its error
 *
 * Jobs that had not begun are given to the device again, in the same order.
 */
void nnpu_queue_resume(struct nnpu_queue *queue, struct nnpu_ctx *ctx, u16 guilty_cid,
		       int guilty_error)
{
	struct nnpu_job *job, *tmp;
	LIST_HEAD(ended);

	spin_lock_irq(&queue->qp.lock);
	if (!ctx)
		nnpu_qpair_restart(&queue->qp, true);
	queue->looks++;
	list_for_each_entry_safe(job, tmp, &queue->inflight, node) {
		int fate;

		if (job->held || (ctx && job->ctx != ctx))
			continue;
		fate = nnpu_watchdog_job_fate(job->cid == guilty_cid || job->suspect,
					      nnpu_queue_is_head(queue, job) || job->ctx->closed,
					      job->resubmits++, job->suspect ? -EIO : guilty_error);
		if (fate == NNPU_FATE_RESUBMIT && nnpu_queue_push_job(queue, job))
			fate = -ECANCELED;
		if (fate != NNPU_FATE_RESUBMIT)
			nnpu_queue_remove(queue, job, fate, &ended);
	}
	spin_unlock_irq(&queue->qp.lock);
	nnpu_queue_end_jobs(&ended);
}

/**
 * nnpu_queue_unpin - let a command id be used again
 * @queue: queue
 * @cid: id that the watchdog has pinned
 */
void nnpu_queue_unpin(struct nnpu_queue *queue, u16 cid)
{
	spin_lock_irq(&queue->qp.lock);
	nnpu_cids_unpin(&queue->qp.cids, cid);
	spin_unlock_irq(&queue->qp.lock);
}

/**
 * nnpu_queue_close_ctx - the file gives a context up
 * @queue: queue
 * @ctx: context
 *
 * No job of it is given to the device any more, and jobs that the device aborts end with
 * -ECANCELED.
 */
void nnpu_queue_close_ctx(struct nnpu_queue *queue, struct nnpu_ctx *ctx)
{
	struct nnpu_job *job;

	spin_lock_irq(&queue->qp.lock);
	ctx->closed = true;
	list_for_each_entry(job, &queue->inflight, node)
		if (job->ctx == ctx)
			job->cancel_error = -ECANCELED;
	spin_unlock_irq(&queue->qp.lock);
}
