// SPDX-License-Identifier: GPL-2.0-only
/*
 * CANCEL: a process ends one of its jobs.
 *
 * A job that the device does not have ends in the driver. One that it has is aborted by the command
 * that recovery uses first, but it is no hang: there is no dump, no message, and no further step.
 * If the device does not end the job, the watchdog finds that out.
 *
 * The command takes the place of the context, one after the other with its other ioctls. So a
 * client that cancels in a loop keeps only itself waiting, and never the place or the work items of
 * recovery.
 */
#include <linux/dma-fence-chain.h>

#include <drm/drm_file.h>
#include <drm/drm_syncobj.h>

#include <drm/nnpu_accel.h>

#include "nnpu_admin.h"
#include "nnpu_cancel.h"
#include "nnpu_check.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_job.h"
#include "nnpu_queue.h"

/* The device may have the job: ask it to end it. The caller holds nnpu_ctx.command_lock. */
static int nnpu_cancel_abort(struct nnpu_device *ndev, struct nnpu_job *job)
{
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT,
		.qid = cpu_to_le16(NNPU_QID_KERNEL),
	};
	struct nnpu_admin_result result;
	int ret, idx;
	u16 cid;

	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	ret = nnpu_queue_cancel(&ndev->queue, job, &cid);
	if (ret == -EINPROGRESS) {
		sqe.target_cid = cpu_to_le16(cid);
		/*
		 * Whatever becomes of it, the job ends: if the device did not find it, it has
		 * ended just now, and a reset ends all jobs.
		 */
		nnpu_command_exec(ndev, job->ctx, &sqe, &result);
		nnpu_queue_unpin(&ndev->queue, cid);
		ret = 0;
	}
	nnpu_device_exit(ndev, idx);
	return ret;
}

static int nnpu_cancel_job(struct nnpu_device *ndev, struct nnpu_job *job)
{
	int ret, idx;

	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	ret = nnpu_queue_cancel(&ndev->queue, job, NULL);
	nnpu_device_exit(ndev, idx);
	if (ret != -EINPROGRESS)
		return ret;
	if (!(ndev->features & NNPU_FEATURE_ABORT))
		return -EOPNOTSUPP;
	if (mutex_lock_killable(&job->ctx->command_lock))
		return -EINTR;
	ret = nnpu_cancel_abort(ndev, job);
	mutex_unlock(&job->ctx->command_lock);
	return ret;
}

/**
 * nnpu_cancel_ioctl - DRM_NNPU_CANCEL
 * @drm: device
 * @data: struct drm_nnpu_cancel
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_cancel_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_nnpu_cancel *args = data;
	struct dma_fence *fence, *of_job;
	struct nnpu_job *job;
	int ret;

	ret = nnpu_check_cancel(args);
	if (ret)
		return ret;
	ret = drm_syncobj_find_fence(file, args->syncobj, args->point, 0, &fence);
	/* The syncobj has no fence there yet. */
	if (ret == -EINVAL)
		ret = -ENOENT;
	if (ret)
		return ret;
	of_job = dma_fence_chain_contained(fence);
	job = nnpu_job_of_fence(of_job);
	if (!job)
		ret = nnpu_job_is_fence(of_job) || dma_fence_is_signaled(of_job) ? -EALREADY :
										  -ENOENT;
	else if (job->ctx->tally != nnpu_file_tally(file))
		ret = -ENOENT;
	else
		ret = nnpu_cancel_job(to_nnpu_device(drm), job);
	if (job)
		nnpu_job_put(job);
	dma_fence_put(fence);
	return ret;
}
