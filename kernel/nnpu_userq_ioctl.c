// SPDX-License-Identifier: GPL-2.0-only
/*
 * QUEUE_CREATE, QUEUE_DESTROY and QUEUE_WAIT.
 */
#include <linux/file.h>
#include <linux/fs.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "nnpu_check.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_gem.h"
#include "nnpu_userq.h"

/* A waiter arms again this often, in case an interrupt was lost. */
#define NNPU_USERQ_SLICE_MS	250

/* The DMA addresses are valid as long as the buffer lives. */
static int nnpu_userq_ioctl_map_rings(struct nnpu_userq *uq,
				      const struct drm_nnpu_queue_create *args)
{
	int ret = nnpu_gem_dma_page(uq->ring, args->sq_offset, &uq->sq_dma);

	return ret ?: nnpu_gem_dma_page(uq->ring, args->cq_offset, &uq->cq_dma);
}

static int nnpu_userq_ioctl_make(struct nnpu_table *userqs, struct nnpu_ctx *ctx,
				 struct drm_gem_object *ring, struct drm_nnpu_queue_create *args)
{
	struct nnpu_userq *uq;
	struct file *filp;
	int ret, fd;

	uq = nnpu_userq_alloc(ctx, args);
	if (!uq)
		return -ENOMEM;
	drm_gem_object_get(ring);
	uq->ring = ring;
	ret = nnpu_userq_ioctl_map_rings(uq, args);
	if (ret)
		goto err_put;
	ret = nnpu_table_reserve(userqs, &uq->id);
	if (ret)
		goto err_put;
	fd = get_unused_fd_flags(O_CLOEXEC | O_RDWR);
	if (fd < 0) {
		ret = fd;
		goto err_id;
	}
	filp = nnpu_userq_file_create(uq);
	if (IS_ERR(filp)) {
		ret = PTR_ERR(filp);
		goto err_fd;
	}
	ret = nnpu_userq_publish(uq);
	if (ret)
		goto err_file;
	args->queue = uq->id;
	args->fd = fd;
	nnpu_table_set(userqs, uq->id, uq);
	fd_install(fd, filp);
	return 0;

err_file:
	/* Its release drops the descriptor's reference. */
	fput(filp);
err_fd:
	put_unused_fd(fd);
err_id:
	nnpu_table_free(userqs, uq->id);
err_put:
	nnpu_userq_unuse(uq);
	return ret;
}

/**
 * nnpu_userq_ioctl_create - DRM_NNPU_QUEUE_CREATE
 * @drm: device
 * @data: struct drm_nnpu_queue_create
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_userq_ioctl_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_queue_create *args = data;
	struct drm_gem_object *ring;
	struct nnpu_ctx *ctx;
	int ret, idx;

	if (!ndev->userqs.num_hw)
		return -EOPNOTSUPP;
	ret = nnpu_check_queue(args, ndev->limits.max_entries);
	if (ret)
		return ret;
	ctx = nnpu_file_use_context(file, args->ctx);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	ret = -ENODEV;
	if (!nnpu_device_enter(ndev, &idx))
		goto out_put;
	ring = drm_gem_object_lookup(file, args->ring_handle);
	if (!ring)
		ret = -ENOENT;
	else if (args->priority >= ctx->attrs.num_priorities)
		ret = -EACCES;
	else if (nnpu_gem_is_foreign(ring) ||
		 !nnpu_check_range(args->sq_offset, NNPU_PAGE_SIZE, ring->size) ||
		 !nnpu_check_range(args->cq_offset, NNPU_PAGE_SIZE, ring->size))
		ret = -EINVAL;
	else
		ret = nnpu_userq_ioctl_make(nnpu_file_userqs(file), ctx, ring, args);
	if (ring)
		drm_gem_object_put(ring);
	nnpu_device_exit(ndev, idx);
out_put:
	nnpu_file_put_context(file, ctx);
	return ret;
}

/**
 * nnpu_userq_ioctl_destroy - DRM_NNPU_QUEUE_DESTROY
 * @drm: device
 * @data: struct drm_nnpu_queue_destroy
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_userq_ioctl_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_queue_destroy *args = data;

	if (args->flags)
		return -EINVAL;
	return nnpu_userq_close(nnpu_file_userqs(file), args->queue) ? 0 : -ENOENT;
}

/* Reads both fields under the lock, so that they match. True if the queue has ended. */
static bool nnpu_userq_ioctl_get_end(struct nnpu_userq *uq, struct drm_nnpu_queue_wait *args)
{
	struct nnpu_userqs *uqs = &uq->ndev->userqs;
	bool ended;

	mutex_lock(&uqs->lock);
	ended = nnpu_userq_state_ended(uq->state);
	if (ended) {
		args->state = nnpu_userq_state_uapi(uq->state);
		args->reason = uq->reason;
	}
	mutex_unlock(&uqs->lock);
	return ended;
}

static int nnpu_userq_ioctl_await(struct nnpu_userq *uq, struct drm_nnpu_queue_wait *args)
{
	unsigned long slice = msecs_to_jiffies(NNPU_USERQ_SLICE_MS);

	for (;;) {
		s64 now = ktime_get_ns(), left = max(args->timeout_ns, now) - now;
		int seen = atomic_read(&uq->events);
		bool stopped;
		long ret;

		if (nnpu_userq_ioctl_get_end(uq, args))
			return 0;
		/* After the counter was read, so that no interrupt is missed. */
		nnpu_userq_hw_arm(uq, args->cq_head);
		/* A stopped queue raises no interrupt; the watchdog ends it and wakes us. */
		stopped = nnpu_userq_watch_stopped(uq);
		if (!left)
			return atomic_read(&uq->events) != seen ? 0 : -ETIME;
		ret = wait_event_interruptible_timeout(uq->wait,
						       atomic_read(&uq->events) != seen,
						       min(slice, nsecs_to_jiffies(left) + 1));
		if (ret < 0)
			return ret;
		/* The device also raises the interrupt when it stops a queue. */
		if (!ret || (!stopped && nnpu_userq_watch_stopped(uq)))
			continue;
		nnpu_userq_ioctl_get_end(uq, args);
		return 0;
	}
}

/**
 * nnpu_userq_ioctl_wait - DRM_NNPU_QUEUE_WAIT
 * @drm: device
 * @data: struct drm_nnpu_queue_wait
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_userq_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_queue_wait *args = data;
	struct nnpu_userq *uq;
	int ret;

	args->state = DRM_NNPU_QUEUE_STATE_READY;
	args->reason = 0;
	if (args->flags || args->pad)
		return -EINVAL;
	uq = nnpu_table_get(nnpu_file_userqs(file), args->queue, nnpu_userq_tryget);
	if (!uq)
		return -ENOENT;
	/* The device would stop the queue because of such an index. */
	ret = args->cq_head < uq->cq_entries ? nnpu_userq_ioctl_await(uq, args) : -EINVAL;
	nnpu_userq_put(uq);
	return ret;
}
