// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files. Opening one costs the device nothing: the context is created when a call
 * first needs it. So a process that scans the nodes takes no context, and one that
 * opens many files takes none from the others.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_userq.h"

/**
 * nnpu_file_open - a file of the device is opened
 * @drm: device
 * @file: file; its driver_priv is set
 *
 * Return: 0, -ENODEV if the device does not work any more, -ENOMEM.
 */
int nnpu_file_open(struct drm_device *drm, struct drm_file *file)
{
	struct nnpu_file *priv;

	if (READ_ONCE(to_nnpu_device(drm)->dead))
		return -ENODEV;
	priv = kzalloc(sizeof(*priv), GFP_KERNEL);
	if (!priv)
		return -ENOMEM;
	mutex_init(&priv->lock);
	file->driver_priv = priv;
	return 0;
}

/**
 * nnpu_file_close - the last reference to a file is gone
 * @drm: device
 * @file: file
 */
void nnpu_file_close(struct drm_device *drm, struct drm_file *file)
{
	struct nnpu_file *priv = file->driver_priv;

	if (priv->ctx) {
		nnpu_userq_close_all(priv->ctx);
		nnpu_ctx_close(priv->ctx);
	}
	mutex_destroy(&priv->lock);
	kfree(priv);
}

/**
 * nnpu_file_use_context - the context of a file, created if there is none
 * @file: file
 *
 * May wait for the device as nnpu_ctx_create() does; other threads that use
 * the file wait interruptibly. A call that fails can be repeated.
 *
 * Return: the context, valid as long as the file; ERR_PTR(): -EINTR, or as
 * nnpu_ctx_create().
 */
struct nnpu_ctx *nnpu_file_use_context(struct drm_file *file)
{
	struct nnpu_ctx *ctx = nnpu_file_context(file);
	struct nnpu_file *priv = file->driver_priv;

	if (ctx)
		return ctx;
	if (mutex_lock_interruptible(&priv->lock))
		return ERR_PTR(-EINTR);
	ctx = priv->ctx;
	if (!ctx) {
		ctx = nnpu_ctx_create(to_nnpu_device(file->minor->dev), file->filp);
		if (!IS_ERR(ctx)) {
			/* Pairs with smp_load_acquire() in nnpu_file_context(). */
			smp_store_release(&priv->ctx, ctx);
		}
	}
	mutex_unlock(&priv->lock);
	return ctx;
}
