// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: life time and fences.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "nnpu_check.h"
#include "nnpu_deps.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_job.h"
#include "nnpu_quota.h"
#include "nnpu_slot.h"
#include "nnpu_trace.h"

/**
 * DOC: Fences
 *
 * Each job has a fence. SUBMIT allocates it, and it signals when the job has ended,
 * successfully or not. out_syncs and reservations get it. It refers to nothing but itself
 * and the module, so it may outlive file and device in a sync_file.
 *
 * The core of dma-buf calls the ops of a fence until its last reference is dropped: for
 * names in debugfs and sync_files, and for tracepoints when it is freed. So each fence holds
 * the module until then. module_put() is the last act of its release, which returns to text
 * of the module: nnpu_drv_exit() waits for that.
 *
 * Each fence has a dma-fence context of its own. Fences of one context signal in order, and a
 * holder of several keeps the last one only. Jobs do not end in order: one ends at once because of
 * the error of an in-fence or because it is aborted, while the one before it still runs.
 */

/**
 * struct nnpu_job_fence - fence of a job
 * @base: fence
 * @lock: its lock
 */
struct nnpu_job_fence {
	struct dma_fence base;
	spinlock_t lock;	/* see above */
};

static const char *nnpu_job_fence_get_driver_name(struct dma_fence *fence)
{
	return NNPU_DRIVER_NAME;
}

static const char *nnpu_job_fence_get_timeline_name(struct dma_fence *fence)
{
	return "nnpu-job";
}

static void nnpu_job_fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops nnpu_job_fence_ops = {
	.get_driver_name = nnpu_job_fence_get_driver_name,
	.get_timeline_name = nnpu_job_fence_get_timeline_name,
	.release = nnpu_job_fence_release,
};

/**
 * nnpu_job_alloc - allocate a job and its fence
 * @ctx: context
 * @num_args: inputs plus outputs
 *
 * The device is awake until the job is freed. Sleeps; no locks are held.
 *
 * Return: the job, or NULL.
 */
struct nnpu_job *nnpu_job_alloc(struct nnpu_ctx *ctx, u32 num_args)
{
	struct nnpu_job_fence *fence;
	struct nnpu_job *job;

	BUILD_BUG_ON(offsetof(struct nnpu_job_fence, base) != 0);

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		return NULL;
	refcount_set(&job->ref, 1);
	INIT_LIST_HEAD(&job->node);
	job->deadline_ns = U64_MAX;
	job->args_len = nnpu_check_args_size(num_args);
	job->args = kvzalloc(job->args_len, GFP_KERNEL_ACCOUNT);
	/* Arguments, result block and profile. */
	job->slots = kvcalloc(num_args + 2, sizeof(*job->slots), GFP_KERNEL_ACCOUNT);
	fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);
	if (!job->args || !job->slots || !fence) {
		kvfree(job->args);
		kvfree(job->slots);
		kfree(fence);
		kfree(job);
		return NULL;
	}
	spin_lock_init(&fence->lock);
	job->fence = &fence->base;
	job->ctx = nnpu_ctx_get(ctx);
	nnpu_power_get(ctx->ndev);
	atomic_inc(&ctx->ndev->stats.jobs);
	return job;
}

/**
 * nnpu_job_init_fence - initialise the fence; the job gets the next number of its context
 * @job: job
 */
void nnpu_job_init_fence(struct nnpu_job *job)
{
	struct nnpu_job_fence *fence = container_of(job->fence, struct nnpu_job_fence, base);

	job->seqno = atomic64_inc_return(&job->ctx->seqno);
	/* The running ioctl keeps the module loaded. */
	__module_get(THIS_MODULE);
	dma_fence_init(&fence->base, &nnpu_job_fence_ops, &fence->lock,
		       dma_fence_context_alloc(1), job->seqno);
}

/* Drop the references that only the execution needed. Any context. */
static void nnpu_job_release_refs(struct nnpu_job *job)
{
	u32 i;

	for (i = 0; i < job->num_slots; i++)
		nnpu_slot_put_deferred(job->slots[i]);
	job->num_slots = 0;
	if (job->program)
		nnpu_prog_put_deferred(job->program);
	job->program = NULL;
}

/**
 * nnpu_job_put - drop a reference; the last one frees a job that has ended or was never committed
 * @job: job
 *
 * Any context.
 */
void nnpu_job_put(struct nnpu_job *job)
{
	struct nnpu_ctx *ctx = job->ctx;

	if (!refcount_dec_and_test(&job->ref))
		return;
	nnpu_job_release_refs(job);
	if (job->deps)
		nnpu_deps_put(job->deps);
	/* A fence without ops was never handed out. */
	if (job->fence->ops)
		dma_fence_put(job->fence);
	else
		kfree(container_of(job->fence, struct nnpu_job_fence, base));
	kvfree(job->slots);
	kvfree(job->args);
	kfree(job);
	nnpu_power_put(ctx->ndev);
	atomic_dec(&ctx->ndev->stats.jobs);
	atomic_dec(&ctx->num_jobs);
	wake_up(&ctx->job_wait);
	nnpu_ctx_put_deferred(ctx);
}

/**
 * nnpu_job_time_after - a time that may be too large to be a time
 * @from: CLOCK_MONOTONIC, ns
 * @duration_ns: time after it
 *
 * Return: the time; U64_MAX, which stands for none, if it does not fit.
 */
u64 nnpu_job_time_after(u64 from, u64 duration_ns)
{
	return duration_ns < U64_MAX - from ? from + duration_ns : U64_MAX;
}

/**
 * nnpu_job_set_deadline - the job waits for nothing any more: its duration counts
 * @job: job that is about to become ready, for the first time
 */
void nnpu_job_set_deadline(struct nnpu_job *job)
{
	u64 from = job->submit_ns;

	if (!job->duration_ns)
		return;
	if (job->deps)
		from = max(from, nnpu_deps_time(job->deps));
	job->deadline_ns = min(job->deadline_ns, nnpu_job_time_after(from, job->duration_ns));
	job->duration_ns = 0;
}

/**
 * nnpu_job_fill_deadline - write what is left until the deadline into the argument block
 * @job: job
 *
 * The device counts from fetching the entry, which comes right after its doorbell: so nobody has to
 * know how the clocks of CPU and device relate.
 */
void nnpu_job_fill_deadline(struct nnpu_job *job)
{
	u64 now;

	if (job->deadline_ns == U64_MAX) {
		/* There are no flags without a deadline. */
		job->args->flags = 0;
		return;
	}
	now = ktime_get_ns();
	/* 0 would be none. */
	job->args->deadline_ns = cpu_to_le64(job->deadline_ns > now ? job->deadline_ns - now : 1);
}

/**
 * nnpu_job_fill_sqe - write the submission entry of a job
 * @job: job; its cid is set
 * @args_dma: DMA address of its argument block
 * @sqe: gets the entry
 */
void nnpu_job_fill_sqe(const struct nnpu_job *job, u64 args_dma, struct nnpu_sqe_execute *sqe)
{
	*sqe = (struct nnpu_sqe_execute) {
		.opcode = job->opcode,
		.flags = job->flags,
		.cid = cpu_to_le16(job->cid),
		.ctx = cpu_to_le32(job->ctx->id),
		.program = cpu_to_le32(nnpu_job_program_id(job)),
		.args = cpu_to_le64(args_dma),
		.args_len = cpu_to_le32(job->args_len),
		.result_slot = cpu_to_le32(job->result_slot),
		.result_off = cpu_to_le64(job->result_off),
		.profile_slot = cpu_to_le32(job->profile_slot),
		.profile_len = cpu_to_le32(job->profile_len),
		.profile_off = cpu_to_le64(job->profile_off),
	};
}

/**
 * nnpu_job_end - a job has ended: account for it and signal its fence
 * @job: job; nnpu_queue_remove() was called, which has said how it ends
 *
 * Any context, no locks held. Drops the references of slots and program before it signals
 * the fence: then user space can unbind a slot and reuse its number at once. The fence of a job
 * that has ended while it waited signals after its in-fences.
 */
void nnpu_job_end(struct nnpu_job *job)
{
	u16 status = job->end_status;
	struct nnpu_ctx *ctx = job->ctx;
	int error = job->end_error;

	if (job->start) {
		u64 start = ktime_to_ns(job->start), wall = max(ktime_get_ns() - start, 1ULL);

		/* A job without completion counts from its start until now. */
		job->exec_ns = status == NNPU_STATUS_PENDING ? wall : clamp(job->end_ns, 1, wall);
		nnpu_ctx_count(ctx, NNPU_COUNT_ENGINE_NS, job->exec_ns);
		nnpu_tally_time(ctx->tally, NNPU_LATENCY_WAIT, start - job->submit_ns);
		if (status != NNPU_STATUS_PENDING)
			nnpu_tally_time(ctx->tally, NNPU_LATENCY_RUN, job->exec_ns);
		nnpu_tally_time(ctx->tally, NNPU_LATENCY_TOTAL, start + wall - job->submit_ns);
	}
	nnpu_event_status(ctx, status);
	trace_nnpu_job_complete(job, status, error);
	nnpu_job_release_refs(job);
	nnpu_ctx_count(ctx, NNPU_COUNT_COMPLETED, 1);
	if (error)
		nnpu_ctx_count(ctx, NNPU_COUNT_FAILED, 1);
	/* Not a job that has inherited the error, or that had a limit of its own. */
	if (error == -ETIME && job->start &&
	    (status == NNPU_STATUS_PENDING || status == NNPU_STATUS_TIME_LIMIT))
		nnpu_ctx_count(ctx, NNPU_COUNT_TIMEDOUT, 1);

	/* Not before the fences that the job was to wait for. */
	if (!job->deps || !nnpu_deps_defer(job->deps, job->fence, error, ctx->hold)) {
		if (error)
			dma_fence_set_error(job->fence, error);
		dma_fence_signal(job->fence);
	}
}
