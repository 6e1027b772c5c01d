// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files and their contexts. Opening a file costs the device nothing: context 0 is created
 * when a call first needs it, the others by CONTEXT_CREATE. So a process that scans the nodes
 * takes no context, and one that opens many files takes none from the others.
 *
 * The table of the file is a user of the context, and so is each call while it needs
 * it. CONTEXT_DESTROY takes the context from the table and ends what the device has of it, so that
 * a call which uses it finds a lost context. The last user closes it, so no call sees a context
 * that is closed.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "nnpu_check.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_param.h"
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
	u32 zero;
	int ret;

	if (READ_ONCE(to_nnpu_device(drm)->dead))
		return -ENODEV;
	priv = kzalloc(sizeof(*priv), GFP_KERNEL_ACCOUNT);
	if (!priv)
		return -ENOMEM;
	ret = -ENOMEM;
	priv->tally = nnpu_tally_create(to_nnpu_device(drm), file);
	if (!priv->tally)
		goto err_free;
	nnpu_table_init(&priv->contexts, 0, NNPU_FILE_MAX_CONTEXTS);
	nnpu_table_init(&priv->userqs, 1, NNPU_USERQ_PER_FILE);
	/* The first number of an empty table is 0. */
	ret = nnpu_table_reserve(&priv->contexts, &zero);
	if (ret)
		goto err_tally;
	mutex_init(&priv->lock);
	file->driver_priv = priv;
	atomic_inc(&to_nnpu_device(drm)->stats.clients);
	return 0;

err_tally:
	nnpu_tally_hide(to_nnpu_device(drm), priv->tally);
	nnpu_tally_put(priv->tally);
err_free:
	kfree(priv);
	return ret;
}

static bool nnpu_file_tryuse(void *object)
{
	struct nnpu_ctx *ctx = object;

	return refcount_inc_not_zero(&ctx->users);
}

/**
 * nnpu_file_get_context - find a context of a file
 * @file: file
 * @id: any number
 *
 * Return: the context, for nnpu_file_put_context(); NULL if there is none.
 */
struct nnpu_ctx *nnpu_file_get_context(struct drm_file *file, u32 id)
{
	struct nnpu_file *priv = file->driver_priv;

	return nnpu_table_get(&priv->contexts, id, nnpu_file_tryuse);
}

/**
 * nnpu_file_put_context - a call does not use a context any more
 * @file: file
 * @ctx: context
 *
 * May wait for the device if the context was destroyed meanwhile. Not inside a
 * nnpu_device_enter() section.
 */
void nnpu_file_put_context(struct drm_file *file, struct nnpu_ctx *ctx)
{
	struct nnpu_file *priv = file->driver_priv;

	if (!refcount_dec_and_test(&ctx->users))
		return;
	/* Those that were just being created. */
	nnpu_userq_close_all(&priv->userqs, ctx);
	nnpu_ctx_put(ctx);
}

/**
 * nnpu_file_begin_command - find a context, and wait until no other ioctl has a command for it
 * @file: file
 * @id: any number
 *
 * For ioctls, before they change anything: a process with many threads waits here, where a signal
 * ends the wait, and its releases and aborts go past it. nnpu_file_end_command() follows.
 *
 * Return: the context; ERR_PTR(-ENOENT) if there is none, ERR_PTR(-ERESTARTSYS) at a signal.
 */
struct nnpu_ctx *nnpu_file_begin_command(struct drm_file *file, u32 id)
{
	struct nnpu_ctx *ctx = nnpu_file_get_context(file, id);

	if (!ctx)
		return ERR_PTR(-ENOENT);
	if (mutex_lock_interruptible(&ctx->command_lock)) {
		nnpu_file_put_context(file, ctx);
		return ERR_PTR(-ERESTARTSYS);
	}
	return ctx;
}

/**
 * nnpu_file_end_command - undo nnpu_file_begin_command()
 * @file: file
 * @ctx: context
 */
void nnpu_file_end_command(struct drm_file *file, struct nnpu_ctx *ctx)
{
	mutex_unlock(&ctx->command_lock);
	nnpu_file_put_context(file, ctx);
}

/* Take a context from the table. False: there was none. */
static bool nnpu_file_drop_context(struct drm_file *file, u32 id)
{
	struct nnpu_file *priv = file->driver_priv;
	struct nnpu_ctx *ctx = nnpu_table_hide(&priv->contexts, id);

	if (!ctx)
		return false;
	if (id)
		nnpu_table_free(&priv->contexts, id);
	/* Wake calls that wait: SUBMIT for room, QUEUE_WAIT for completions. */
	WRITE_ONCE(ctx->hidden, true);
	wake_up_all(&ctx->job_wait);
	nnpu_ctx_end(ctx);
	nnpu_userq_close_all(&priv->userqs, ctx);
	nnpu_file_put_context(file, ctx);
	return true;
}

/**
 * nnpu_file_release - the last reference to a file is gone
 * @inode: inode of the node
 * @filp: file
 *
 * Ends the contexts first. DRM would release the buffers before that: it takes a lock that others
 * hold while they import a buffer, and the jobs would go on meanwhile.
 *
 * Return: 0.
 */
int nnpu_file_release(struct inode *inode, struct file *filp)
{
	struct drm_file *file = filp->private_data;
	struct nnpu_file *priv = file->driver_priv;
	u32 id;

	/* Nobody else has the file, so the table gets none more. */
	for (id = 0; nnpu_table_next(&priv->contexts, &id); id++)
		nnpu_file_drop_context(file, id);
	return drm_release(inode, filp);
}

/**
 * nnpu_file_close - free the driver's part of a file
 * @drm: device
 * @file: file, whose contexts have ended
 */
void nnpu_file_close(struct drm_device *drm, struct drm_file *file)
{
	struct nnpu_file *priv = file->driver_priv;

	nnpu_table_fini(&priv->contexts);
	nnpu_table_fini(&priv->userqs);
	mutex_destroy(&priv->lock);
	nnpu_tally_hide(to_nnpu_device(drm), priv->tally);
	nnpu_tally_put(priv->tally);
	atomic_dec(&to_nnpu_device(drm)->stats.clients);
	kfree(priv);
}

static int nnpu_file_attrs(const struct drm_nnpu_context_create *args,
			   struct nnpu_ctx_attrs *attrs)
{
	struct nnpu_time_limits limits;

	nnpu_param_time_limits(&limits);
	return nnpu_check_context(args, &limits, attrs);
}

/* nnpu_file.lock is held: there is no context 0. */
static struct nnpu_ctx *nnpu_file_create_zero(struct drm_file *file)
{
	const struct drm_nnpu_context_create args = { };
	struct nnpu_file *priv = file->driver_priv;
	struct nnpu_ctx_attrs attrs;
	struct nnpu_ctx *ctx;
	int ret;

	ret = nnpu_file_attrs(&args, &attrs);
	if (ret)
		return ERR_PTR(ret);
	ctx = nnpu_ctx_create(to_nnpu_device(file->minor->dev), file->filp, priv->tally, &attrs);
	if (IS_ERR(ctx))
		return ctx;
	/* For the caller. */
	refcount_inc(&ctx->users);
	nnpu_table_set(&priv->contexts, 0, ctx);
	return ctx;
}

/**
 * nnpu_file_use_context - find a context of a file; create context 0 if there is none
 * @file: file
 * @id: any number
 *
 * May wait for the device as nnpu_ctx_create() does; other threads that use
 * the file wait interruptibly. A call that fails can be repeated.
 *
 * Return: the context, for nnpu_file_put_context(); ERR_PTR(): -ENOENT, -ERESTARTSYS, or as
 * nnpu_ctx_create().
 */
struct nnpu_ctx *nnpu_file_use_context(struct drm_file *file, u32 id)
{
	struct nnpu_ctx *ctx = nnpu_file_get_context(file, id);
	struct nnpu_file *priv = file->driver_priv;

	if (ctx)
		return ctx;
	if (id)
		return ERR_PTR(-ENOENT);
	if (mutex_lock_interruptible(&priv->lock))
		return ERR_PTR(-ERESTARTSYS);
	ctx = nnpu_file_get_context(file, 0);
	if (!ctx)
		ctx = nnpu_file_create_zero(file);
	mutex_unlock(&priv->lock);
	return ctx;
}

/**
 * nnpu_file_prepare_jobs - have what jobs of the kernel queue need
 * @file: file
 * @ctx: one of its contexts
 *
 * Other threads that use the file wait interruptibly. A call that fails can be repeated.
 *
 * Return: 0, -ERESTARTSYS, or as nnpu_ctx_prepare_jobs().
 */
int nnpu_file_prepare_jobs(struct drm_file *file, struct nnpu_ctx *ctx)
{
	struct nnpu_file *priv = file->driver_priv;
	int ret;

	if (nnpu_ctx_takes_jobs(ctx))
		return 0;
	if (mutex_lock_interruptible(&priv->lock))
		return -ERESTARTSYS;
	ret = nnpu_ctx_prepare_jobs(ctx);
	mutex_unlock(&priv->lock);
	return ret;
}

/**
 * nnpu_file_create_ioctl - DRM_NNPU_CONTEXT_CREATE
 * @drm: device
 * @data: struct drm_nnpu_context_create
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_file_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_context_create *args = data;
	struct nnpu_file *priv = file->driver_priv;
	struct nnpu_ctx_attrs attrs;
	struct nnpu_ctx *ctx;
	int ret;
	u32 id;

	ret = nnpu_file_attrs(args, &attrs);
	if (ret)
		return ret;
	if (nnpu_check_context_is_nice(&attrs) && !capable(CAP_SYS_NICE))
		return -EPERM;
	ret = nnpu_table_reserve(&priv->contexts, &id);
	if (ret)
		return ret;
	ctx = nnpu_ctx_create(to_nnpu_device(drm), file->filp, priv->tally, &attrs);
	if (IS_ERR(ctx)) {
		nnpu_table_free(&priv->contexts, id);
		return PTR_ERR(ctx);
	}
	nnpu_table_set(&priv->contexts, id, ctx);
	args->ctx = id;
	return 0;
}

/**
 * nnpu_file_destroy_ioctl - DRM_NNPU_CONTEXT_DESTROY
 * @drm: device
 * @data: struct drm_nnpu_context_destroy
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_file_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_context_destroy *args = data;

	if (args->flags)
		return -EINVAL;
	return nnpu_file_drop_context(file, args->ctx) ? 0 : -ENOENT;
}
