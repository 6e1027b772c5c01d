// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel queue, which carries the jobs of SUBMIT.
 *
 * The hard interrupt handler takes the completions and ends the jobs, up to NNPU_QUEUE_BATCH of
 * them and about NNPU_QUEUE_BATCH_REFS references; dma_fence_signal() is allowed there, and a
 * thread would add a context switch to each job. What is left after that is left to the work item.
 * Argument blocks are not mapped to user space: what stands in them comes from the driver.
 */
#include <linux/dma-fence.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_deps.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

/* Completions that are taken before the lock is dropped, and references that their jobs drop. */
#define NNPU_QUEUE_BATCH	16
#define NNPU_QUEUE_BATCH_REFS	256
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
	queue->places = queue->credits + 1;
	queue->args_stride = ALIGN(nnpu_check_args_size(ndev->limits.max_args), 64);
	/* One entry of a ring stays empty. */
	entries = roundup_pow_of_two(scheds * queue->credits + 1);
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
 * Write the entry of a job with a command id. qp.lock is held. The time of the job begins here:
 * what the device never had costs its client no engine time.
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
 * nnpu_queue_give - give a job to the device
 * @queue: queue; qp.lock is held
 * @job: job that is ready, with a credit; in flight if this returns 0
 *
 * Called inside a nnpu_device_enter() section. Allocates nothing.
 *
 * Return: 0; -ENODEV if the device is stopped, -ETIME if the deadline has passed, -EIO if the rings
 * are full, which credits rule out.
 */
int nnpu_queue_give(struct nnpu_queue *queue, struct nnpu_job *job)
{
	struct nnpu_qpair *qp = &queue->qp;
	int ret;

	lockdep_assert_held(&qp->lock);
	if (job->deadline_ns != U64_MAX && ktime_get_ns() >= job->deadline_ns)
		return -ETIME;
	if (!qp->live)
		return -ENODEV;
	ret = nnpu_cids_get(&qp->cids, job->sched->first_id, queue->places, job);
	if (ret < 0)
		return -EIO;
	job->cid = ret;
	if (nnpu_queue_push_job(queue, job)) {
		nnpu_cids_put(&qp->cids, job->cid);
		return -EIO;
	}
	job->sched->given++;
	job->state = NNPU_JOB_IN_FLIGHT;
	list_move_tail(&job->node, &queue->inflight);
	nnpu_queue_kick_watchdog(queue, false);
	return 0;
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
		list_del_init(&job->node);
		nnpu_job_end(job);
		nnpu_job_put(job);
	}
}

/**
 * nnpu_queue_update - jobs have become ready, or have left, or the device has ended some
 * @queue: queue; qp.lock is held
 * @sched: their context and priority
 */
void nnpu_queue_update(struct nnpu_queue *queue, struct nnpu_sched *sched)
{
	lockdep_assert_held(&queue->qp.lock);
	if (list_empty(&sched->ready) || sched->given >= queue->credits)
		list_del_init(&sched->node);
	else if (list_empty(&sched->node))
		list_add_tail(&sched->node, &queue->runnable);
}

/* The device does not have a job any more. */
static void nnpu_queue_take_back(struct nnpu_queue *queue, struct nnpu_job *job)
{
	nnpu_cids_put(&queue->qp.cids, job->cid);
	job->sched->given--;
}

/**
 * nnpu_queue_remove - end a job: the only place where that is decided
 * @queue: queue; qp.lock is held
 * @job: job that has not ended; the device must not have it, or has just ended it
 * @error: error of its fence
 * @ended: gets the job, with the reference that nnpu_queue_end_jobs() drops
 */
void nnpu_queue_remove(struct nnpu_queue *queue, struct nnpu_job *job, int error,
		       struct list_head *ended)
{
	bool in_flight = job->state == NNPU_JOB_IN_FLIGHT;

	lockdep_assert_held(&queue->qp.lock);
	if (in_flight) {
		nnpu_queue_take_back(queue, job);
		queue->completed++;
	}
	job->state = NNPU_JOB_ENDED;
	job->end_status = NNPU_STATUS_PENDING;
	job->end_error = error;
	job->end_ns = 0;
	list_move_tail(&job->node, ended);
	nnpu_queue_update(queue, job->sched);
	/* There is a place again, and a job for it. */
	if (in_flight && !list_empty(&job->sched->node))
		queue_work(nnpu_sched_wq, &queue->sched_work);
}

/* One completion of a job in flight. */
static void nnpu_queue_complete(struct nnpu_queue *queue, struct nnpu_job *job,
				const struct nnpu_cqe *cqe, struct list_head *ended)
{
	u16 status = le16_to_cpu(cqe->status) >> NNPU_CQE_STATUS_SHIFT;
	int error = nnpu_status_job_errno(status);

	if (!nnpu_status_known(status)) {
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

/* Take a batch of completions and end their jobs. Return: how many; @more: there may be others. */
static unsigned int nnpu_queue_take(struct nnpu_queue *queue, bool *more)
{
	unsigned int taken = 0, refs = 0;
	struct nnpu_qpair *qp = &queue->qp;
	bool cookie = dma_fence_begin_signalling();
	struct nnpu_cqe cqe;
	unsigned long flags;
	LIST_HEAD(ended);
	void *owner;

	*more = false;
	spin_lock_irqsave(&qp->lock, flags);
	while (nnpu_qpair_pop(qp, &cqe, &owner)) {
		struct nnpu_job *job = owner;

		taken++;
		if (job) {
			refs += job->num_slots + (job->deps ? job->deps->num : 0);
			nnpu_queue_complete(queue, job, &cqe, &ended);
		}
		*more = taken == NNPU_QUEUE_BATCH || refs >= NNPU_QUEUE_BATCH_REFS;
		if (*more)
			break;
	}
	if (taken)
		nnpu_qpair_pop_done(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
	nnpu_queue_end_jobs(&ended);
	dma_fence_end_signalling(cookie);
	return taken;
}

/**
 * nnpu_queue_process - take all completions from the ring and end their jobs
 * @queue: queue
 *
 * Process context.
 *
 * Return: number of completions taken.
 */
unsigned int nnpu_queue_process(struct nnpu_queue *queue)
{
	unsigned int total = 0;
	bool more;

	/* Bounded, so that a device that completes without end does not hold the CPU. */
	do {
		total += nnpu_queue_take(queue, &more);
	} while (more && total < queue->qp.cq.size);
	return total;
}

/**
 * nnpu_queue_interrupt - take completions in the interrupt handler
 * @queue: queue
 *
 * Return: number of completions taken.
 */
unsigned int nnpu_queue_interrupt(struct nnpu_queue *queue)
{
	bool more;
	unsigned int taken = nnpu_queue_take(queue, &more);

	if (more)
		queue_work(nnpu_sched_wq, &queue->sched_work);
	return taken;
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
 * Jobs stay ready until nnpu_queue_go_on() was called as often.
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
	spin_lock_irq(&queue->qp.lock);
	if (ctx)
		ctx->held--;
	else
		queue->held--;
	if (!list_empty(&queue->runnable))
		queue_work(nnpu_sched_wq, &queue->sched_work);
	spin_unlock_irq(&queue->qp.lock);
}

/**
 * nnpu_queue_is_drained - has the device ended all jobs that it was given?
 * @queue: queue, held
 *
 * Return: false if it has some.
 */
bool nnpu_queue_is_drained(struct nnpu_queue *queue)
{
	bool drained;

	spin_lock_irq(&queue->qp.lock);
	drained = list_empty(&queue->inflight);
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
 * Those of contexts that were saved and that had not begun are ready again, before the others,
 * until nnpu_queue_go_on(). One that had begun may have written over what it reads.
 */
void nnpu_queue_retain(struct nnpu_queue *queue, bool known)
{
	struct nnpu_job *job, *tmp;
	LIST_HEAD(ended);
	LIST_HEAD(kept);

	spin_lock_irq(&queue->qp.lock);
	queue->looks++;
	list_for_each_entry_safe(job, tmp, &queue->inflight, node) {
		bool begun = nnpu_queue_is_head(queue, job) || job->suspect || !known;

		if (begun || !nnpu_ctx_is_kept(job->ctx))
			nnpu_queue_remove(queue, job, -ECANCELED, &ended);
		else
			list_move_tail(&job->node, &kept);
	}
	/* The last one first, so that each is before those that came after it. */
	list_for_each_entry_safe_reverse(job, tmp, &kept, node) {
		nnpu_queue_take_back(queue, job);
		job->state = NNPU_JOB_READY;
		job->start = 0;
		list_move(&job->node, &job->sched->ready);
		nnpu_queue_update(queue, job->sched);
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

		if (ctx && job->ctx != ctx)
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
 * -ECANCELED. nnpu_sched_drop() follows.
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
