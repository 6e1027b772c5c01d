// SPDX-License-Identifier: GPL-2.0-only
/* QUERY: information on the device and the context of the caller. */
#include <linux/uaccess.h>

#include <drm/drm_file.h>

#include "nnpu_check.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_query.h"

/* Copies min(room, size) bytes and returns the size in args->size. */
static int nnpu_query_copy(struct drm_nnpu_query *args, const void *info, u32 size)
{
	u32 room = min(args->size, size);

	args->size = size;
	if (room && copy_to_user(u64_to_user_ptr(args->data), info, room))
		return -EFAULT;
	return 0;
}

static int nnpu_query_device(struct nnpu_device *ndev, struct drm_nnpu_query *args)
{
	struct drm_nnpu_device_info info = {
		.features = ndev->features,
		.hw_version = ndev->hw_version,
		.max_slots = ndev->limits.max_slots,
		.max_programs = ndev->limits.max_programs,
		.max_args = ndev->limits.max_args,
		.max_syncs = NNPU_MAX_SYNCS,
		.page_size = NNPU_PAGE_SIZE,
		.max_slot_size = NNPU_MAX_SLOT_SIZE,
		.max_program_size = ndev->limits.max_program_size,
		.num_queues = ndev->limits.max_queues,
		.num_engines = ndev->limits.num_engines,
		.hang_timeout_ms = nnpu_param_hang_timeout_ms(),
		.reset_count = atomic64_read(&ndev->reset_count),
	};
	struct nnpu_time_limits limits;

	if (!ndev->coherent)
		info.flags |= DRM_NNPU_DEVICE_SYNC;
	nnpu_param_time_limits(&limits);
	info.time_limit_ns = limits.usual;
	info.max_time_limit_ns = limits.max;
	if (ndev->userqs.num_hw) {
		/* A mapping of the doorbells is one page of the CPU. */
		info.doorbell_size = PAGE_SIZE;
		info.min_ring_entries = NNPU_MIN_ENTRIES;
		info.max_sq_entries = min(ndev->limits.max_entries, NNPU_MAX_SQ_ENTRIES);
		info.max_cq_entries = min(ndev->limits.max_entries, NNPU_MAX_CQ_ENTRIES);
	}
	return nnpu_query_copy(args, &info, sizeof(info));
}

/* Context 0 of a file that has not used it gives zeros, but never one from a dead device. */
static int nnpu_query_context(struct nnpu_device *ndev, struct drm_file *file,
			      struct drm_nnpu_query *args)
{
	struct nnpu_ctx *ctx = nnpu_file_get_context(file, args->ctx);
	struct drm_nnpu_context_info info = { };

	if (!ctx && args->ctx)
		return -ENOENT;
	if (ctx) {
		if (nnpu_ctx_is_lost(ctx))
			info.flags |= DRM_NNPU_CONTEXT_LOST;
		if (ctx->attrs.sched_class == NNPU_CTX_CLASS_URGENT)
			info.flags |= DRM_NNPU_CONTEXT_URGENT;
		info.slots = atomic_read(&ctx->num_slots);
		info.programs = atomic_read(&ctx->num_programs);
		info.jobs_submitted = nnpu_ctx_counted(ctx, NNPU_COUNT_SUBMITTED);
		info.jobs_completed = nnpu_ctx_counted(ctx, NNPU_COUNT_COMPLETED);
		info.jobs_failed = nnpu_ctx_counted(ctx, NNPU_COUNT_FAILED);
		info.jobs_timedout = nnpu_ctx_counted(ctx, NNPU_COUNT_TIMEDOUT);
		info.weight = ctx->attrs.weight;
		info.mem_limit = ctx->attrs.mem_limit;
		info.time_limit_ns = ctx->attrs.time_limit_ns;
		info.num_priorities = ctx->attrs.num_priorities;
		nnpu_file_put_context(file, ctx);
	} else if (READ_ONCE(ndev->dead)) {
		info.flags = DRM_NNPU_CONTEXT_LOST;
	}
	return nnpu_query_copy(args, &info, sizeof(info));
}

static int nnpu_query_clock(struct nnpu_device *ndev, struct drm_nnpu_query *args)
{
	struct drm_nnpu_clock clock;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	clock.device_ns = nnpu_device_read_clock(ndev, &clock.monotonic_ns);
	nnpu_device_exit(ndev, idx);
	return nnpu_query_copy(args, &clock, sizeof(clock));
}

/**
 * nnpu_query_ioctl - DRM_NNPU_QUERY
 * @drm: device
 * @data: struct drm_nnpu_query
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_query *args = data;

	if (args->pad || (args->ctx && args->topic != DRM_NNPU_QUERY_CONTEXT_INFO))
		return -EINVAL;
	switch (args->topic) {
	case DRM_NNPU_QUERY_DEVICE_INFO:
		return nnpu_query_device(ndev, args);
	case DRM_NNPU_QUERY_IDENTIFY:
		return nnpu_query_copy(args, ndev->identify, sizeof(*ndev->identify));
	case DRM_NNPU_QUERY_CONTEXT_INFO:
		return nnpu_query_context(ndev, file, args);
	case DRM_NNPU_QUERY_EXTENSIONS:
		return nnpu_query_copy(args, ndev->extensions,
				       ndev->num_extensions * sizeof(*ndev->extensions));
	case DRM_NNPU_QUERY_CLOCK:
		return nnpu_query_clock(ndev, args);
	default:
		return -EINVAL;
	}
}
