// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT: a sequence of phases with one commit point.
 *
 * Each phase stores what it acquires in struct nnpu_submit. nnpu_submit_cleanup() may follow
 * any phase, whether it failed or not. Nothing can fail in nnpu_submit_commit().
 */
#include <linux/dma-fence-chain.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>
#include <drm/drm_syncobj.h>

#include "nnpu_check.h"
#include "nnpu_deps.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_gem.h"
#include "nnpu_job.h"
#include "nnpu_sched.h"
#include "nnpu_slot.h"
#include "nnpu_submit.h"
#include "nnpu_trace.h"

/**
 * struct nnpu_out_sync - a syncobj that gets the job's fence
 * @syncobj: a reference
 * @chain: link for a timeline, NULL for a binary syncobj
 * @point: timeline point
 */
struct nnpu_out_sync {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/**
 * struct nnpu_submit - a SUBMIT under way
 * @ctx: context
 * @file: file
 * @args: ioctl argument, a copy
 * @begin_ns: when it was called, before any wait
 * @job: job
 * @out_syncs: args->num_out_syncs entries
 * @exec: reservation locks
 * @exec_used: @exec is initialised
 * @held: room for a reference of each buffer that @exec locks
 * @committed: the reference of @job was given away
 */
struct nnpu_submit {
	struct nnpu_ctx *ctx;
	struct drm_file *file;
	const struct drm_nnpu_submit *args;
	u64 begin_ns;
	struct nnpu_job *job;
	struct nnpu_out_sync *out_syncs;
	struct drm_exec exec;
	bool exec_used;
	struct drm_gem_object **held;
	bool committed;
};

static bool nnpu_submit_has_room(struct nnpu_submit *s)
{
	return atomic_read(&s->ctx->num_jobs) < NNPU_CTX_MAX_JOBS;
}

/* Wait until the context may have another job, unless that is not wanted, then allocate it. */
static int nnpu_submit_alloc(struct nnpu_submit *s)
{
	struct nnpu_ctx *ctx = s->ctx;
	int ret;

	for (;;) {
		if (s->args->flags & DRM_NNPU_SUBMIT_NONBLOCK)
			ret = nnpu_submit_has_room(s) ? 0 : -EBUSY;
		else
			ret = wait_event_interruptible(ctx->job_wait,
						       nnpu_ctx_is_lost(ctx) ||
						       nnpu_ctx_is_hidden(ctx) ||
						       nnpu_submit_has_room(s));
		if (ret)
			return ret;
		if (nnpu_ctx_is_lost(ctx))
			return -ENODEV;
		if (nnpu_ctx_is_hidden(ctx))
			return -ENOENT;
		if (atomic_inc_return(&ctx->num_jobs) <= NNPU_CTX_MAX_JOBS)
			break;
		atomic_dec(&ctx->num_jobs);
	}
	s->job = nnpu_job_alloc(ctx, s->args->num_inputs + s->args->num_outputs);
	if (!s->job) {
		atomic_dec(&ctx->num_jobs);
		wake_up(&ctx->job_wait);
		return -ENOMEM;
	}
	s->job->sched = &ctx->scheds[s->args->priority];
	s->out_syncs = kvcalloc(s->args->num_out_syncs, sizeof(*s->out_syncs), GFP_KERNEL);
	return s->out_syncs ? 0 : -ENOMEM;
}

/* A sum that does not fit is no deadline. */
static void nnpu_submit_deadline(struct nnpu_submit *s)
{
	const struct drm_nnpu_submit *args = s->args;
	struct nnpu_job *job = s->job;

	job->submit_ns = s->begin_ns;
	job->duration_ns = args->duration_ns;
	if (args->deadline_ns)
		job->deadline_ns = args->deadline_ns;
	if (args->flags & DRM_NNPU_SUBMIT_DEADLINE_ABORT)
		job->args->flags = cpu_to_le32(NNPU_ARGS_DEADLINE_ABORT);
}

/* Copy the argument records once, and check each record. */
static int nnpu_submit_copy_args(struct nnpu_submit *s)
{
	u32 count = s->args->num_inputs + s->args->num_outputs, i;
	struct nnpu_args_header *h = s->job->args;
	struct nnpu_arg *arg = (struct nnpu_arg *)(h + 1);
	int ret;

	h->num_inputs = cpu_to_le16(s->args->num_inputs);
	h->num_outputs = cpu_to_le16(s->args->num_outputs);
	h->loop_timeout_ns = cpu_to_le64(s->args->loop_timeout_ns);
	for (i = 0; i < count; i++, arg++) {
		ret = copy_struct_from_user(arg, sizeof(*arg),
					    u64_to_user_ptr(s->args->args +
							    (u64)i * s->args->arg_stride),
					    s->args->arg_stride);
		if (!ret)
			ret = nnpu_check_arg(arg);
		if (ret) {
			drm_dbg(&s->ctx->ndev->drm, "submit: argument %u refused\n", i);
			return ret == -E2BIG ? -EINVAL : ret;
		}
	}
	return 0;
}

/* Find a slot, check range and rights, and hold it for the job. */
static int nnpu_submit_use_slot(struct nnpu_submit *s, const struct nnpu_range *range,
				u32 rights, const char *what)
{
	struct nnpu_slot *slot = nnpu_slot_get(s->ctx, range->slot);

	if (!slot) {
		drm_dbg(&s->ctx->ndev->drm, "submit: %s names slot %u, which is not bound\n",
			what, range->slot);
		return -ENOENT;
	}
	s->job->slots[s->job->num_slots++] = slot;
	if ((slot->flags & rights) != rights ||
	    !nnpu_check_range(range->offset, range->length, slot->size)) {
		drm_dbg(&s->ctx->ndev->drm,
			"submit: %s: offset %llu, length %llu, slot %u of %llu bytes, rights %#x\n",
			what, range->offset, range->length, range->slot, slot->size, slot->flags);
		return -EINVAL;
	}
	return 0;
}

static int nnpu_submit_lookup_args(struct nnpu_submit *s)
{
	u32 count = s->args->num_inputs + s->args->num_outputs, i;
	const struct nnpu_arg *arg = (const struct nnpu_arg *)(s->job->args + 1);
	int ret;

	for (i = 0; i < count; i++, arg++) {
		bool output = i >= s->args->num_inputs;
		struct nnpu_range range = {
			.slot = le32_to_cpu(arg->slot),
			.offset = le64_to_cpu(arg->offset),
			.length = le64_to_cpu(arg->length),
		};

		if (arg->flags & cpu_to_le16(NNPU_ARG_NO_VALUE))
			continue;
		ret = nnpu_submit_use_slot(s, &range, output ? DRM_NNPU_SLOT_WRITE :
					   DRM_NNPU_SLOT_READ, output ? "output" : "input");
		if (ret)
			return ret;
		/* Inputs come first. */
		if (!output)
			s->job->num_read = s->job->num_slots;
	}
	return 0;
}

static int nnpu_submit_lookup_program(struct nnpu_submit *s)
{
	const struct drm_nnpu_submit *args = s->args;
	struct nnpu_job *job = s->job;

	job->opcode = NNPU_IO_EXECUTE;
	job->program = nnpu_prog_get(s->ctx, args->program);
	if (!job->program)
		return -ENOENT;
	if (args->num_inputs != job->program->num_inputs ||
	    args->num_outputs != job->program->num_outputs)
		return -EINVAL;
	if (args->loop_timeout_ns && !(s->ctx->ndev->features & NNPU_FEATURE_CONTROL_FLOW))
		return -EINVAL;
	return 0;
}

static int nnpu_submit_check_copy(struct nnpu_submit *s)
{
	const struct nnpu_arg *arg = (const struct nnpu_arg *)(s->job->args + 1);

	s->job->opcode = NNPU_IO_COPY;
	return nnpu_check_copy(arg, s->args->num_inputs);
}

/* Look up everything that the job names by number. */
static int nnpu_submit_lookup(struct nnpu_submit *s)
{
	const struct drm_nnpu_submit *args = s->args;
	struct nnpu_job *job = s->job;
	int ret;

	ret = args->kind == DRM_NNPU_JOB_COPY ? nnpu_submit_check_copy(s) :
						nnpu_submit_lookup_program(s);
	if (ret)
		return ret;
	ret = nnpu_submit_lookup_args(s);
	if (ret)
		return ret;

	job->flags = NNPU_EXEC_ARGS_DMA;
	if (s->ctx->ndev->features & NNPU_FEATURE_PRIORITY)
		job->flags |= args->priority << NNPU_EXEC_PRIORITY_SHIFT;
	job->result_slot = args->result_slot;
	job->result_off = args->result_offset;
	if (args->result_slot != NNPU_SLOT_NONE) {
		struct nnpu_range range = {
			.slot = args->result_slot,
			.offset = args->result_offset,
			.length = job->args_len,
		};

		ret = nnpu_submit_use_slot(s, &range, DRM_NNPU_SLOT_WRITE, "result");
		if (ret)
			return ret;
	}
	if (args->flags & DRM_NNPU_SUBMIT_PROFILE) {
		struct nnpu_range range = {
			.slot = args->profile_slot,
			.offset = args->profile_offset,
			.length = args->profile_size,
		};

		if (!(s->ctx->ndev->features & NNPU_FEATURE_PROFILE))
			return -EINVAL;
		ret = nnpu_submit_use_slot(s, &range, DRM_NNPU_SLOT_WRITE, "profile");
		if (ret)
			return ret;
		job->flags |= NNPU_EXEC_PROFILE;
		job->profile_slot = args->profile_slot;
		job->profile_off = args->profile_offset;
		job->profile_len = args->profile_size;
	}
	return 0;
}

static int nnpu_submit_copy_sync(struct nnpu_submit *s, u64 array, u32 i,
				 struct drm_nnpu_sync *sync)
{
	int ret = copy_struct_from_user(sync, sizeof(*sync),
					u64_to_user_ptr(array + (u64)i * s->args->sync_stride),
					s->args->sync_stride);

	if (ret == -E2BIG)
		return -EINVAL;
	return ret ? ret : nnpu_check_sync(sync);
}

/* Make the job wait for the fences of in_syncs. */
static int nnpu_submit_in_syncs(struct nnpu_submit *s)
{
	struct drm_nnpu_sync sync;
	struct dma_fence *fence;
	u32 i;
	int ret;

	if (!s->args->num_in_syncs)
		return 0;
	s->job->deps = nnpu_deps_alloc(s->args->num_in_syncs);
	if (!s->job->deps)
		return -ENOMEM;
	s->job->propagate = s->args->flags & DRM_NNPU_SUBMIT_PROPAGATE;
	for (i = 0; i < s->args->num_in_syncs; i++) {
		ret = nnpu_submit_copy_sync(s, s->args->in_syncs, i, &sync);
		if (ret)
			return ret;
		ret = drm_syncobj_find_fence(s->file, sync.handle, sync.point, 0, &fence);
		if (ret)
			return ret;
		nnpu_deps_add(s->job->deps, fence);
	}
	return 0;
}

/* Look up the syncobjs that get the fence of the job. */
static int nnpu_submit_out_syncs(struct nnpu_submit *s)
{
	struct drm_nnpu_sync sync;
	u32 i;
	int ret;

	for (i = 0; i < s->args->num_out_syncs; i++) {
		struct nnpu_out_sync *out = &s->out_syncs[i];

		ret = nnpu_submit_copy_sync(s, s->args->out_syncs, i, &sync);
		if (ret)
			return ret;
		out->syncobj = drm_syncobj_find(s->file, sync.handle);
		if (!out->syncobj)
			return -ENOENT;
		out->point = sync.point;
		if (!sync.point)
			continue;
		out->chain = dma_fence_chain_alloc();
		if (!out->chain)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Lock the reservations of all buffers and reserve room for the fence. Of private buffers, too:
 * one may be exported while the job runs, and its dma-buf may outlive the handle.
 */
static int nnpu_submit_lock(struct nnpu_submit *s)
{
	struct nnpu_job *job = s->job;
	int ret = 0;
	u32 i;

	if (!job->num_slots)
		return 0;
	s->held = kvcalloc(job->num_slots, sizeof(*s->held), GFP_KERNEL);
	if (!s->held)
		return -ENOMEM;
	drm_exec_init(&s->exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		      job->num_slots);
	s->exec_used = true;
	drm_exec_until_all_locked(&s->exec) {
		for (i = 0; i < job->num_slots; i++) {
			ret = drm_exec_prepare_obj(&s->exec, job->slots[i]->obj, 1);
			drm_exec_retry_on_contention(&s->exec);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/*
 * What the job reads comes before what it writes. So a buffer that it reads and writes has one
 * fence in the end, for writing: the second takes the place of the first.
 */
static void nnpu_submit_attach_resv(struct nnpu_submit *s)
{
	struct nnpu_job *job = s->job;
	u32 i;

	for (i = 0; i < job->num_slots; i++)
		dma_resv_add_fence(job->slots[i]->obj->resv, job->fence, i < job->num_read ?
				   DMA_RESV_USAGE_READ : DMA_RESV_USAGE_WRITE);
}

static void nnpu_submit_attach_syncs(struct nnpu_submit *s, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < s->args->num_out_syncs; i++) {
		struct nnpu_out_sync *out = &s->out_syncs[i];

		if (out->chain) {
			drm_syncobj_add_point(out->syncobj, out->chain, fence, out->point);
			out->chain = NULL;
		} else {
			drm_syncobj_replace_fence(out->syncobj, fence);
		}
	}
}

/*
 * The commit point: from here on the job will end and signal its fence. Nothing here waits: the
 * reservations are locked, and page faults of others need them.
 */
static void nnpu_submit_commit(struct nnpu_submit *s)
{
	struct nnpu_job *job = s->job;
	struct dma_fence *fence;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	nnpu_job_init_fence(job);
	fence = dma_fence_get(job->fence);
	nnpu_submit_attach_resv(s);
	nnpu_ctx_count(s->ctx, NNPU_COUNT_SUBMITTED, 1);
	trace_nnpu_job_submit(job);
	nnpu_sched_submit(job);
	/* The job may have been freed already. */
	s->committed = true;
	dma_fence_end_signalling(cookie);
	nnpu_submit_attach_syncs(s, fence);
	dma_fence_put(fence);
}

/*
 * The job may have ended, and its buffers may be closed: drm_exec_fini() would drop the last
 * reference of one while it holds the reservation of another. To free a buffer takes its
 * reservation, so that must come later.
 */
static void nnpu_submit_unlock(struct nnpu_submit *s)
{
	struct drm_gem_object *obj;
	u32 count = 0;

	if (s->exec_used) {
		drm_exec_for_each_locked_object(&s->exec, obj) {
			drm_gem_object_get(obj);
			s->held[count++] = obj;
		}
		drm_exec_fini(&s->exec);
		while (count)
			drm_gem_object_put(s->held[--count]);
	}
	kvfree(s->held);
}

static void nnpu_submit_cleanup(struct nnpu_submit *s)
{
	u32 i;

	nnpu_submit_unlock(s);
	for (i = 0; s->out_syncs && i < s->args->num_out_syncs; i++) {
		if (s->out_syncs[i].syncobj)
			drm_syncobj_put(s->out_syncs[i].syncobj);
		dma_fence_chain_free(s->out_syncs[i].chain);
	}
	kvfree(s->out_syncs);
	if (!s->job || s->committed)
		return;
	nnpu_job_put(s->job);
}

static int nnpu_submit(struct nnpu_submit *s)
{
	int ret;

	ret = nnpu_file_prepare_jobs(s->file, s->ctx);
	if (ret)
		return ret;
	ret = nnpu_submit_alloc(s);
	if (ret)
		return ret;
	nnpu_submit_deadline(s);
	ret = nnpu_submit_copy_args(s);
	if (ret)
		return ret;
	ret = nnpu_submit_lookup(s);
	if (ret)
		return ret;
	ret = nnpu_submit_in_syncs(s);
	if (ret)
		return ret;
	ret = nnpu_submit_out_syncs(s);
	if (ret)
		return ret;
	ret = nnpu_submit_lock(s);
	if (ret)
		return ret;
	nnpu_submit_commit(s);
	return 0;
}

/**
 * nnpu_submit_ioctl - DRM_NNPU_SUBMIT
 * @drm: device
 * @data: struct drm_nnpu_submit
 * @file: file
 *
 * If the device goes away meanwhile, the job ends with -ENODEV.
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct nnpu_submit s = {
		.file = file,
		.args = data,
		.begin_ns = ktime_get_ns(),
	};
	int ret;

	ret = nnpu_check_submit(s.args, ndev->limits.max_args, ndev->features);
	if (ret) {
		drm_dbg(drm, "submit: refused\n");
		return ret;
	}
	/* Without a context there are neither programs nor slots. */
	s.ctx = nnpu_file_get_context(file, s.args->ctx);
	if (!s.ctx)
		return -ENOENT;
	if (READ_ONCE(ndev->dead) || nnpu_ctx_is_lost(s.ctx)) {
		ret = -ENODEV;
	} else if (s.args->priority >= s.ctx->attrs.num_priorities) {
		ret = -EACCES;
	} else {
		ret = nnpu_submit(&s);
		nnpu_submit_cleanup(&s);
	}
	nnpu_file_put_context(file, s.ctx);
	return ret;
}
