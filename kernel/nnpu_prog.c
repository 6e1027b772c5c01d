// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs: PROGRAM_LOAD, PROGRAM_UNLOAD and PROGRAM_SAVE.
 *
 * The driver copies the image once into memory that no process can write. It checks the
 * header fields that it relies on. The device checks the whole image while it loads it, and
 * keeps what it needs, so the driver frees the copy when the command ends.
 */
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_file.h"
#include "nnpu_image.h"
#include "nnpu_prog.h"
#include "nnpu_pt.h"
#include "nnpu_release.h"
#include "nnpu_status.h"
#include "nnpu_tally.h"

static void nnpu_prog_destroy(struct nnpu_prog *program)
{
	struct nnpu_ctx *ctx = program->ctx;

	mutex_lock(&ctx->lock);
	list_del(&program->node);
	mutex_unlock(&ctx->lock);
	nnpu_table_free(&ctx->programs, program->id);
	atomic_dec(&ctx->ndev->stats.programs);
	atomic64_sub(program->memory, &ctx->tally->device_memory);
	kfree(program);
}

static void nnpu_prog_release(struct nnpu_prog *program)
{
	struct nnpu_ctx *ctx = program->ctx;
	struct nnpu_sqe_unload_program sqe = {
		.opcode = NNPU_ADMIN_UNLOAD_PROGRAM,
		.ctx = cpu_to_le32(ctx->id),
		.program = cpu_to_le32(program->id),
	};
	struct nnpu_admin_result result;

	/* The device knows nothing of a context that is lost: no message then. */
	if (!nnpu_command_exec(ctx->ndev, ctx, &sqe, &result) && result.status)
		drm_warn(&ctx->ndev->drm, "program %u of context %u cannot be unloaded: %s (%#x)\n",
			 program->id, ctx->id, nnpu_status_text(result.status), result.status);
	nnpu_prog_destroy(program);
}

static void nnpu_prog_release_item(struct nnpu_release_item *item)
{
	struct nnpu_prog *program = container_of(item, struct nnpu_prog, release_item);
	struct nnpu_ctx *ctx = program->ctx;

	nnpu_prog_release(program);
	nnpu_ctx_put(ctx);
}

static bool nnpu_prog_tryget(void *object)
{
	struct nnpu_prog *program = object;

	return refcount_inc_not_zero(&program->ref);
}

/**
 * nnpu_prog_get - find a program that is loaded
 * @ctx: context
 * @id: any number
 *
 * Return: a reference, or NULL.
 */
struct nnpu_prog *nnpu_prog_get(struct nnpu_ctx *ctx, u32 id)
{
	return nnpu_table_get(&ctx->programs, id, nnpu_prog_tryget);
}

/**
 * nnpu_prog_put_deferred - drop a reference in a context that must not wait
 * @program: program; the caller holds a reference of its context
 */
void nnpu_prog_put_deferred(struct nnpu_prog *program)
{
	if (!refcount_dec_and_test(&program->ref))
		return;
	nnpu_ctx_get(program->ctx);
	nnpu_release_add(&program->ctx->releases, &program->release_item);
}

/**
 * nnpu_prog_release_all - free all programs of a context
 * @ctx: context the device has forgotten, on its way out: no jobs, no file
 */
void nnpu_prog_release_all(struct nnpu_ctx *ctx)
{
	struct nnpu_prog *program, *tmp;

	list_for_each_entry_safe(program, tmp, &ctx->program_list, node)
		nnpu_prog_destroy(program);
}

static void nnpu_prog_set_verdict(struct drm_nnpu_program_load *args,
				  const struct nnpu_admin_result *result)
{
	args->status = result->status;
	args->reason = result->reason;
	args->index = result->error;
	args->operand = result->operand;
}

static size_t nnpu_prog_reports_size(const struct drm_nnpu_program_load *args)
{
	return (size_t)args->num_reports * sizeof(struct nnpu_command_report);
}

/* @reports: for the device to write to, mapped. */
static int nnpu_prog_check(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			   const struct nnpu_image *image, const struct nnpu_image *reports)
{
	struct nnpu_sqe_load_program sqe = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.flags = NNPU_LOAD_CHECK,
		.ctx = cpu_to_le32(ctx->id),
	};
	struct nnpu_admin_result result;
	int ret;

	nnpu_pt_to_mem(&image->pt, &sqe.image);
	nnpu_pt_to_mem(&reports->pt, &sqe.reports);
	ret = nnpu_command_load(ctx->ndev, ctx, &sqe, &result);
	if (ret)
		return ret;
	nnpu_prog_set_verdict(args, &result);
	return nnpu_status_load_errno(result.status);
}

static int nnpu_prog_load(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			  const struct nnpu_image *image, const struct nnpu_program_header *h)
{
	struct nnpu_sqe_load_program sqe = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.ctx = cpu_to_le32(ctx->id),
	};
	struct nnpu_admin_result result;
	struct nnpu_prog *program;
	int ret;

	program = kzalloc(sizeof(*program), GFP_KERNEL_ACCOUNT);
	if (!program)
		return -ENOMEM;
	refcount_set(&program->ref, 1);
	program->ctx = ctx;
	program->num_inputs = le16_to_cpu(h->num_inputs);
	program->num_outputs = le16_to_cpu(h->num_outputs);
	program->release_item.fn = nnpu_prog_release_item;
	ret = nnpu_table_reserve(&ctx->programs, &program->id);
	if (ret)
		goto err_free;

	sqe.program = cpu_to_le32(program->id);
	nnpu_pt_to_mem(&image->pt, &sqe.image);
	ret = nnpu_command_load(ctx->ndev, ctx, &sqe, &result);
	if (ret)
		goto err_id;
	nnpu_prog_set_verdict(args, &result);
	nnpu_event_status(ctx, result.status);
	ret = nnpu_status_load_errno(result.status);
	if (ret)
		goto err_id;

	program->memory = result.value;
	atomic64_add(program->memory, &ctx->tally->device_memory);
	args->memory = result.value;
	args->program = program->id;
	atomic_inc(&ctx->ndev->stats.programs);
	atomic_inc(&ctx->num_programs);
	mutex_lock(&ctx->lock);
	list_add_tail(&program->node, &ctx->program_list);
	mutex_unlock(&ctx->lock);
	nnpu_table_set(&ctx->programs, program->id, program);
	return 0;

err_id:
	nnpu_table_free(&ctx->programs, program->id);
err_free:
	kfree(program);
	return ret;
}

/* Give the image to the device, and to check it @reports, else NULL, to write to. */
static int nnpu_prog_run(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			 struct nnpu_image *image, const struct nnpu_program_header *h,
			 struct nnpu_image *reports)
{
	struct nnpu_device *ndev = ctx->ndev;
	int ret = -ENODEV, idx;

	if (!nnpu_device_enter(ndev, &idx))
		return ret;
	if (!nnpu_ctx_is_lost(ctx))
		ret = nnpu_image_map(image, ndev->drm.dev, args->image_size);
	if (!ret && reports)
		ret = nnpu_image_map(reports, ndev->drm.dev, nnpu_prog_reports_size(args));
	if (!ret && reports)
		ret = nnpu_prog_check(ctx, args, image, reports);
	else if (!ret)
		ret = nnpu_prog_load(ctx, args, image, h);
	if (reports)
		nnpu_image_unmap(reports, ndev->drm.dev);
	nnpu_image_unmap(image, ndev->drm.dev);
	nnpu_device_exit(ndev, idx);
	return ret;
}

/* PROGRAM_CHECK. User memory has to wait until the section of nnpu_device_enter() is left. */
static int nnpu_prog_run_check(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			       struct nnpu_image *image, const struct nnpu_program_header *h)
{
	size_t size = nnpu_prog_reports_size(args);
	struct nnpu_image reports;
	int ret, err = 0;

	if (args->num_reports != le32_to_cpu(h->num_commands))
		return -EINVAL;
	ret = nnpu_image_alloc(&reports, &ctx->ndev->drm, size, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	ret = nnpu_prog_run(ctx, args, image, h, &reports);
	/* In other cases the device has not judged each command: there are no reports. */
	if (!ret || args->status == NNPU_STATUS_PROGRAM_COMMAND)
		err = nnpu_image_copy_out(&reports, args->report, size);
	nnpu_image_fini(&reports);
	return err ?: ret;
}

/**
 * nnpu_prog_load_ioctl - DRM_NNPU_PROGRAM_LOAD
 * @drm: device
 * @data: struct drm_nnpu_program_load
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_prog_load_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_program_load *args = data;
	struct nnpu_header_verdict verdict;
	struct nnpu_program_header header;
	struct nnpu_image image;
	struct nnpu_ctx *ctx;
	int ret;

	args->program = 0;
	args->status = 0;
	args->reason = 0;
	args->index = 0;
	args->operand = NNPU_OPERAND_NONE;
	args->memory = 0;
	ret = nnpu_check_load(args, ndev->limits.max_program_size);
	if (ret)
		return ret;
	ctx = nnpu_file_use_context(file, args->ctx);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	ret = -ENODEV;
	if (READ_ONCE(ndev->dead) || nnpu_ctx_is_lost(ctx))
		goto out_put;
	ret = nnpu_image_copy_in(&image, drm, args->image, args->image_size);
	if (ret)
		goto out_put;

	memcpy(&header, image.map.vaddr, sizeof(header));
	ret = nnpu_check_program_header(&header, args->image_size, &verdict);
	if (ret) {
		args->status = verdict.status;
		args->reason = verdict.reason;
		drm_dbg(drm, "program header refused: reason %u\n", verdict.reason);
	} else if (args->flags & DRM_NNPU_PROGRAM_CHECK) {
		ret = nnpu_prog_run_check(ctx, args, &image, &header);
	} else {
		ret = nnpu_prog_run(ctx, args, &image, &header, NULL);
	}
	nnpu_image_fini(&image);
out_put:
	nnpu_file_put_context(file, ctx);
	return ret;
}

/**
 * nnpu_prog_unload_ioctl - DRM_NNPU_PROGRAM_UNLOAD
 * @drm: device
 * @data: struct drm_nnpu_program_unload
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_prog_unload_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_program_unload *args = data;
	struct nnpu_prog *program;
	struct nnpu_ctx *ctx;
	int ret = 0;

	if (args->flags || args->pad)
		return -EINVAL;
	ctx = nnpu_file_begin_command(file, args->ctx);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	program = nnpu_table_hide(&ctx->programs, args->program);
	if (program) {
		atomic_dec(&ctx->num_programs);
		if (refcount_dec_and_test(&program->ref))
			nnpu_prog_release(program);
	} else {
		ret = -ENOENT;
	}
	nnpu_file_end_command(file, ctx);
	return ret;
}

/* The command. @image is mapped, or NULL: how large would it be? @size gets that. */
static int nnpu_prog_exec_save(struct nnpu_prog *program, const struct nnpu_image *image, u64 *size)
{
	struct nnpu_ctx *ctx = program->ctx;
	struct nnpu_sqe_save_program sqe = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM,
		.ctx = cpu_to_le32(ctx->id),
		.program = cpu_to_le32(program->id),
	};
	struct nnpu_admin_result result;
	int ret;

	if (image)
		nnpu_pt_to_mem(&image->pt, &sqe.image);
	ret = nnpu_command_load(ctx->ndev, ctx, &sqe, &result);
	if (!ret)
		ret = nnpu_status_load_errno(result.status);
	if (!ret)
		*size = result.value;
	return ret;
}

/* Have the device write to @image, or only say how large it would be. @size gets that. */
static int nnpu_prog_save(struct nnpu_prog *program, struct nnpu_image *image, u64 room, u64 *size)
{
	struct nnpu_ctx *ctx = program->ctx;
	struct nnpu_device *ndev = ctx->ndev;
	int ret = -ENODEV, idx;

	if (!nnpu_device_enter(ndev, &idx))
		return ret;
	if (!nnpu_ctx_is_lost(ctx))
		ret = image ? nnpu_image_map(image, ndev->drm.dev, room) : 0;
	if (!ret)
		ret = nnpu_prog_exec_save(program, image, size);
	if (image)
		nnpu_image_unmap(image, ndev->drm.dev);
	nnpu_device_exit(ndev, idx);
	return ret;
}

/* User memory may come late or never: it waits until the device is done. */
static int nnpu_prog_save_to_user(struct nnpu_prog *program, struct drm_device *drm, u64 user,
				  u64 size)
{
	struct nnpu_image image;
	u64 written = 0;
	int ret;

	ret = nnpu_image_alloc(&image, drm, size, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	ret = nnpu_prog_save(program, &image, size, &written);
	/* A loaded program does not change, and so neither does the size of its image. */
	if (!ret && written != size)
		ret = -EIO;
	if (!ret)
		ret = nnpu_image_copy_out(&image, user, size);
	nnpu_image_fini(&image);
	return ret;
}

/**
 * nnpu_prog_save_ioctl - DRM_NNPU_PROGRAM_SAVE
 * @drm: device
 * @data: struct drm_nnpu_program_save
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_prog_save_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_program_save *args = data;
	struct nnpu_prog *program;
	struct nnpu_ctx *ctx;
	u64 size = 0;
	int ret;

	ret = nnpu_check_save(args);
	if (ret)
		return ret;
	ctx = nnpu_file_get_context(file, args->ctx);
	if (!ctx)
		return -ENOENT;
	program = nnpu_prog_get(ctx, args->program);
	if (!program) {
		ret = -ENOENT;
		goto out_put;
	}
	ret = -EOPNOTSUPP;
	if (ndev->features & NNPU_FEATURE_SAVE)
		ret = nnpu_prog_save(program, NULL, 0, &size);
	/* The device counts with 32 bits. */
	if (!ret && (!size || size > U32_MAX))
		ret = -EIO;
	if (!ret && args->size >= size)
		ret = nnpu_prog_save_to_user(program, drm, args->image, size);
	if (!ret)
		args->size = size;
	nnpu_prog_put_deferred(program);
out_put:
	nnpu_file_put_context(file, ctx);
	return ret;
}

/* System sleep. */

/* Have the device write its image of a program, which stays mapped. */
static int nnpu_prog_keep_image(struct nnpu_prog *program, struct nnpu_image *image, u64 size)
{
	struct nnpu_device *ndev = program->ctx->ndev;
	int ret = -ENODEV, idx;
	u64 written = 0;

	if (!nnpu_device_enter(ndev, &idx))
		return ret;
	ret = nnpu_image_map(image, ndev->drm.dev, size);
	if (!ret)
		ret = nnpu_prog_exec_save(program, image, &written);
	if (!ret && written != size)
		ret = -EIO;
	if (!ret)
		nnpu_image_sync_for_cpu(image, ndev->drm.dev);
	else
		nnpu_image_unmap(image, ndev->drm.dev);
	nnpu_device_exit(ndev, idx);
	return ret;
}

static int nnpu_prog_keep(struct nnpu_prog *program)
{
	struct nnpu_device *ndev = program->ctx->ndev;
	struct nnpu_image *image;
	u64 size = 0;
	int ret;

	ret = nnpu_prog_save(program, NULL, 0, &size);
	if (!ret && (!size || size > ndev->limits.max_program_size))
		ret = -EFBIG;
	if (ret)
		return ret;
	image = kzalloc(sizeof(*image), GFP_KERNEL | __GFP_NOWARN);
	if (!image)
		return -ENOMEM;
	ret = nnpu_image_alloc(image, &ndev->drm, size, DMA_BIDIRECTIONAL);
	if (ret)
		goto err_free;
	ret = nnpu_prog_keep_image(program, image, size);
	if (ret)
		goto err_image;
	program->kept = image;
	program->kept_size = size;
	return 0;

err_image:
	nnpu_image_fini(image);
err_free:
	kfree(image);
	return ret;
}

/* A reference of a program that has no image; NULL: all have one. */
static struct nnpu_prog *nnpu_prog_get_unkept(struct nnpu_ctx *ctx)
{
	struct nnpu_prog *program, *found = NULL;

	mutex_lock(&ctx->lock);
	list_for_each_entry(program, &ctx->program_list, node)
		if (!program->kept && nnpu_prog_tryget(program)) {
			found = program;
			break;
		}
	mutex_unlock(&ctx->lock);
	return found;
}

/**
 * nnpu_prog_keep_all - before system sleep: copy the programs of a context to memory
 * @ctx: context. Until nnpu_prog_forget_all() this and the next three functions have one caller
 *
 * Those, too, that were unloaded and still have jobs.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_prog_keep_all(struct nnpu_ctx *ctx)
{
	struct nnpu_prog *program;
	int ret = 0;

	while (!ret && (program = nnpu_prog_get_unkept(ctx))) {
		ret = nnpu_prog_keep(program);
		if (ret)
			nnpu_prog_put_deferred(program);
		else
			list_add_tail(&program->kept_node, &ctx->kept_programs);
	}
	return ret;
}

/**
 * nnpu_prog_all_kept - is there an image of each program?
 * @ctx: context
 *
 * Return: false if there is not.
 */
bool nnpu_prog_all_kept(struct nnpu_ctx *ctx)
{
	struct nnpu_prog *program = nnpu_prog_get_unkept(ctx);

	if (program)
		nnpu_prog_put_deferred(program);
	return !program;
}

/**
 * nnpu_prog_restore_all - after system sleep: load the programs of a context again
 * @ctx: context that the device has, without programs; nnpu_device.reset_sem is held for writing
 *
 * Allocates nothing.
 *
 * Return: 0; -ETIMEDOUT if the device does not answer, -EIO if it refuses a program or has aborted
 * its load.
 */
int nnpu_prog_restore_all(struct nnpu_ctx *ctx)
{
	struct nnpu_device *ndev = ctx->ndev;
	struct nnpu_prog *program;

	lockdep_assert_held_write(&ndev->reset_sem);
	list_for_each_entry(program, &ctx->kept_programs, kept_node) {
		struct nnpu_sqe_load_program sqe = {
			.opcode = NNPU_ADMIN_LOAD_PROGRAM,
			.ctx = cpu_to_le32(ctx->id),
			.program = cpu_to_le32(program->id),
		};
		struct nnpu_admin_result result;
		int ret;

		nnpu_image_sync_for_device(program->kept, ndev->drm.dev);
		nnpu_pt_to_mem(&program->kept->pt, &sqe.image);
		ret = nnpu_admin_load(ndev, nnpu_admin_load_place(ctx->id), &sqe, &result);
		/* The process that resumes the device is being killed: the context is lost. */
		if (ret == -ERESTARTSYS)
			return -EIO;
		if (ret)
			return ret;
		/* It made no progress: the others would not, either. */
		if (result.status == NNPU_STATUS_ABORTED)
			return -ETIMEDOUT;
		if (result.status) {
			drm_warn(&ndev->drm, "program %u of context %u after sleep: %s (%#x)\n",
				 program->id, ctx->id, nnpu_status_text(result.status),
				 result.status);
			return -EIO;
		}
	}
	return 0;
}

/**
 * nnpu_prog_forget_all - free what nnpu_prog_keep_all() has copied
 * @ctx: context
 */
void nnpu_prog_forget_all(struct nnpu_ctx *ctx)
{
	struct nnpu_prog *program, *tmp;

	list_for_each_entry_safe(program, tmp, &ctx->kept_programs, kept_node) {
		struct nnpu_image *image = program->kept;

		list_del(&program->kept_node);
		nnpu_image_unmap(image, ctx->ndev->drm.dev);
		nnpu_image_fini(image);
		kfree(image);
		mutex_lock(&ctx->lock);
		program->kept = NULL;
		mutex_unlock(&ctx->lock);
		nnpu_prog_put_deferred(program);
	}
}
