// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel queue, which carries the jobs of SUBMIT.
 *
 * The hard interrupt handler takes the completions. The work is bounded by the size of the
 * ring and ends in dma_fence_signal(), which is allowed there. A thread would add a context
 * switch to each job. Argument blocks are not mapped to user space: what
 * stands in them comes from the driver.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_status.h"
#include "nnpu_trace.h"

#define NNPU_QUEUE_ENTRIES	64

static size_t nnpu_queue_args_size(const struct nnpu_queue *queue)
{
	return (size_t)queue->qp.cids.size * queue->args_stride;
}

/**
 * nnpu_queue_init - allocate the kernel queue
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_queue_init(struct nnpu_device *ndev)
{
	u32 entries = min(NNPU_QUEUE_ENTRIES, ndev->limits.max_entries);
	u32 depth = min(nnpu_param_max_inflight(), entries - 1);
	struct nnpu_queue *queue = &ndev->queue;
	int ret;

	INIT_LIST_HEAD(&queue->inflight);
	mutex_init(&queue->abort_lock);
	queue->depth = depth;
	queue->args_stride = ALIGN(nnpu_check_args_size(ndev->limits.max_args), 64);
	/* One id more than commands in flight: one may be pinned. */
	ret = nnpu_qpair_alloc(ndev, &queue->qp, NNPU_QID_KERNEL, entries, depth + 1);
	if (ret)
		return ret;
	queue->args = dma_alloc_coherent(ndev->drm.dev, nnpu_queue_args_size(queue),
					 &queue->args_dma, GFP_KERNEL);
	if (!queue->args) {
		nnpu_qpair_free(&queue->qp);
		return -ENOMEM;
	}
	return 0;
}

/**
 * nnpu_queue_fini - free the kernel queue
 * @ndev: device; it does not access memory any more, and no job can be run
 */
void nnpu_queue_fini(struct nnpu_device *ndev)
{
	struct nnpu_queue *queue = &ndev->queue;

	dma_free_coherent(ndev->drm.dev, nnpu_queue_args_size(queue), queue->args,
			  queue->args_dma);
	queue->args = NULL;
	nnpu_qpair_free(&queue->qp);
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

	/* It carries the jobs of all files. */
	if (ndev->features & NNPU_FEATURE_PRIORITY)
		sqe.priority = cpu_to_le32(NNPU_QUEUE_PRIORITY_MEDIUM);
	spin_lock_irq(&qp->lock);
	nnpu_qpair_restart(qp, false);
	spin_unlock_irq(&qp->lock);
	ret = nnpu_admin_exec(ndev, &sqe, &result);
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

static u64 nnpu_queue_args_dma(const struct nnpu_queue *queue, u16 cid)
{
	return queue->args_dma + nnpu_cid_index(cid) * queue->args_stride;
}

static int nnpu_queue_push_job(struct nnpu_queue *queue, struct nnpu_job *job)
{
	struct nnpu_sqe_execute sqe;

	BUILD_BUG_ON(sizeof(sqe) != sizeof(struct nnpu_sqe));
	memcpy(queue->args + nnpu_cid_index(job->cid) * queue->args_stride, job->args,
	       job->args_len);
	nnpu_job_fill_sqe(job, nnpu_queue_args_dma(queue, job->cid), &sqe);
	return nnpu_qpair_push(&queue->qp, (const struct nnpu_sqe *)&sqe);
}

/**
 * nnpu_queue_submit - give a job to the device
 * @queue: queue
 * @job: job; in flight if this returns 0
 *
 * Called by run_job inside a nnpu_device_enter() section. Allocates nothing.
 *
 * Return: 0; -ECANCELED if the context was lost, -ENODEV if the device is dead,
 * -EIO if the rings are full, which the scheduler's credits rule out.
 */
int nnpu_queue_submit(struct nnpu_queue *queue, struct nnpu_job *job)
{
	struct nnpu_qpair *qp = &queue->qp;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&qp->lock, flags);
	if (nnpu_ctx_is_lost(job->ctx)) {
		ret = -ECANCELED;
		goto out;
	}
	if (!qp->live) {
		ret = -ENODEV;
		goto out;
	}
	ret = nnpu_cids_get(&qp->cids, job);
	if (ret < 0) {
		ret = -EIO;
		goto out;
	}
	job->cid = ret;
	job->start = ktime_get();
	ret = nnpu_queue_push_job(queue, job);
	if (ret) {
		nnpu_cids_put(&qp->cids, job->cid);
		ret = -EIO;
		goto out;
	}
	list_add_tail(&job->node, &queue->inflight);
	/* Under the lock: the job cannot end meanwhile. */
	trace_nnpu_job_start(job);
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
 * struct nnpu_queue_ended - a job that has ended, to be signalled without the lock
 * @job: job
 * @exec_ns: time of execution as the device says
 * @status: status, NNPU_STATUS_PENDING if it did not complete
 * @error: error of its fence
 */
struct nnpu_queue_ended {
	struct nnpu_job *job;
	u64 exec_ns;
	u16 status;
	int error;
};

static void nnpu_queue_end_jobs(const struct nnpu_queue_ended *ended, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		nnpu_job_end(ended[i].job, ended[i].status, ended[i].exec_ns, ended[i].error);
}

static void nnpu_queue_remove(struct nnpu_queue *queue, struct nnpu_job *job)
{
	list_del_init(&job->node);
	nnpu_cids_put(&queue->qp.cids, job->cid);
	queue->completed++;
}

/* One completion of a job in flight; false if it stays in flight. */
static bool nnpu_queue_complete(struct nnpu_queue *queue, struct nnpu_job *job,
				const struct nnpu_cqe *cqe, struct nnpu_queue_ended *ended)
{
	u16 status = le16_to_cpu(cqe->status) >> NNPU_CQE_STATUS_SHIFT;

	if (!nnpu_status_known(status)) {
		/*
		 * The device may still use the memory of the job: keep the job until
		 * the queue is reset.
		 */
		atomic64_inc(&queue->qp.ndev->stats.bad_completions);
		job->suspect = true;
		nnpu_queue_kick_watchdog(queue, true);
		return false;
	}
	ended->job = job;
	ended->status = status;
	ended->exec_ns = le64_to_cpu(cqe->result);
	ended->error = nnpu_status_job_errno(status);
	if (status == NNPU_STATUS_ABORTED && job->cancel_error)
		ended->error = job->cancel_error;
	nnpu_queue_remove(queue, job);
	return true;
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
	struct nnpu_queue_ended ended[16];
	struct nnpu_qpair *qp = &queue->qp;
	bool cookie = dma_fence_begin_signalling();
	unsigned int total = 0, taken, count;
	unsigned long flags;
	struct nnpu_cqe cqe;
	void *owner;

	do {
		taken = 0;
		count = 0;
		spin_lock_irqsave(&qp->lock, flags);
		while (taken < ARRAY_SIZE(ended) && nnpu_qpair_pop(qp, &cqe, &owner)) {
			taken++;
			if (owner && nnpu_queue_complete(queue, owner, &cqe, &ended[count]))
				count++;
		}
		if (taken)
			nnpu_qpair_pop_done(qp);
		spin_unlock_irqrestore(&qp->lock, flags);
		nnpu_queue_end_jobs(ended, count);
		total += taken;
		/* Bounded, so that a device that completes without end does not hold the CPU. */
	} while (taken == ARRAY_SIZE(ended) && total < qp->cq.size);
	dma_fence_end_signalling(cookie);
	return total;
}

/**
 * nnpu_queue_count - count the jobs in flight
 * @queue: queue
 * @suspects: gets the number of those that ended with an unknown status
 *
 * Return: number of jobs in flight, suspects included.
 */
unsigned int nnpu_queue_count(struct nnpu_queue *queue, unsigned int *suspects)
{
	unsigned int count = 0;
	struct nnpu_job *job;
	unsigned long flags;

	*suspects = 0;
	spin_lock_irqsave(&queue->qp.lock, flags);
	list_for_each_entry(job, &queue->inflight, node) {
		count++;
		*suspects += job->suspect;
	}
	spin_unlock_irqrestore(&queue->qp.lock, flags);
	return count;
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
 * nnpu_queue_abandon - end all jobs in flight
 * @queue: queue, stopped; the device has no access to memory of jobs any more
 * @guilty_cid: job with an error of its own, or NNPU_CID_NONE
 * @guilty_error: its error
 * @error: error of the others
 */
void nnpu_queue_abandon(struct nnpu_queue *queue, u16 guilty_cid, int guilty_error, int error)
{
	struct nnpu_qpair *qp = &queue->qp;
	struct nnpu_queue_ended ended;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	while (!list_empty(&queue->inflight)) {
		struct nnpu_job *job;

		job = list_first_entry(&queue->inflight, struct nnpu_job, node);
		ended = (struct nnpu_queue_ended) {
			.job = job,
			.status = NNPU_STATUS_PENDING,
			.error = job->cid == guilty_cid ? guilty_error : error,
		};
		nnpu_queue_remove(queue, job);
		spin_unlock_irqrestore(&qp->lock, flags);
		nnpu_queue_end_jobs(&ended, 1);
		spin_lock_irqsave(&qp->lock, flags);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}

/**
 * nnpu_queue_resume - go on after RESET_QUEUE
 * @queue: queue; its scheduler is stopped
 * @guilty_cid: job the reset was for, or NNPU_CID_NONE
 * @guilty_error: its error
 * @running_cid: job that had begun, or NNPU_CID_NONE
 *
 * Jobs that had not begun are given to the device again, in the same order.
 */
void nnpu_queue_resume(struct nnpu_queue *queue, u16 guilty_cid, int guilty_error,
		       u16 running_cid)
{
	struct nnpu_queue_ended ended[NNPU_CIDS_MAX];
	struct nnpu_qpair *qp = &queue->qp;
	struct nnpu_job *job, *tmp;
	unsigned int count = 0;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	nnpu_qpair_restart(qp, true);
	list_for_each_entry_safe(job, tmp, &queue->inflight, node) {
		int fate = nnpu_watchdog_job_fate(job->cid == guilty_cid || job->suspect,
						  job->cid == running_cid, job->resubmits++,
						  job->suspect ? -EIO : guilty_error);

		if (fate == NNPU_FATE_RESUBMIT && nnpu_queue_push_job(queue, job))
			fate = -ECANCELED;
		if (fate == NNPU_FATE_RESUBMIT)
			continue;
		ended[count++] = (struct nnpu_queue_ended) {
			.job = job,
			.status = NNPU_STATUS_PENDING,
			.error = fate,
		};
		nnpu_queue_remove(queue, job);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	nnpu_queue_end_jobs(ended, count);
}

/**
 * nnpu_queue_pin_job - choose the next job of a closed file to abort
 * @queue: queue; nnpu_queue.abort_lock is held
 * @ctx: context; it gets no new jobs
 * @cid: gets the command id of the job, which no other job gets before
 *	nnpu_queue_unpin_job()
 *
 * The last one first: none of them gets to run meanwhile. A job that the device ends with
 * ABORTED then has the error -ECANCELED.
 *
 * Return: false if all jobs of the context in flight have been chosen.
 */
bool nnpu_queue_pin_job(struct nnpu_queue *queue, struct nnpu_ctx *ctx, u16 *cid)
{
	struct nnpu_job *job;
	bool found = false;

	lockdep_assert_held(&queue->abort_lock);
	spin_lock_irq(&queue->qp.lock);
	list_for_each_entry_reverse(job, &queue->inflight, node) {
		if (job->ctx != ctx || job->abort_chosen)
			continue;
		job->abort_chosen = true;
		job->cancel_error = -ECANCELED;
		*cid = job->cid;
		nnpu_cids_pin(&queue->qp.cids, job->cid);
		found = true;
		break;
	}
	spin_unlock_irq(&queue->qp.lock);
	return found;
}

/**
 * nnpu_queue_unpin_job - the device has answered the ABORT
 * @queue: queue; nnpu_queue.abort_lock is held
 */
void nnpu_queue_unpin_job(struct nnpu_queue *queue)
{
	spin_lock_irq(&queue->qp.lock);
	nnpu_cids_unpin(&queue->qp.cids);
	spin_unlock_irq(&queue->qp.lock);
}
