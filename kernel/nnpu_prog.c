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
#include <linux/gfp.h>
#include <linux/iosys-map.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_file.h"
#include "nnpu_gem.h"
#include "nnpu_prog.h"
#include "nnpu_pt.h"
#include "nnpu_release.h"
#include "nnpu_status.h"
#include "nnpu_sync.h"

/* Bytes that are copied between two looks at signals. */
#define NNPU_PROG_STEP	SZ_1M

static void nnpu_prog_destroy(struct nnpu_prog *program)
{
	struct nnpu_ctx *ctx = program->ctx;

	mutex_lock(&ctx->lock);
	list_del(&program->node);
	mutex_unlock(&ctx->lock);
	nnpu_table_free(&ctx->programs, program->id);
	atomic_dec(&ctx->ndev->stats.programs);
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

/*
 * Images up to this many bytes are contiguous memory if there is some: a buffer with its file
 * and its mapping takes longer than to load a small program.
 */
#define NNPU_PROG_CONTIGUOUS	SZ_64K

/**
 * struct nnpu_prog_image - the kernel's copy of an image
 * @pages: its memory if that is contiguous, @room bytes; NULL: @shmem has it
 * @dma: @pages for the device; DMA_MAPPING_ERROR: not mapped
 * @room: bytes, whole pages
 * @dir: who writes
 * @shmem: its memory, else
 * @map: kernel mapping
 * @pt: page table for the device
 */
struct nnpu_prog_image {
	void *pages;
	dma_addr_t dma;
	size_t room;
	enum dma_data_direction dir;
	struct drm_gem_shmem_object *shmem;
	struct iosys_map map;
	struct nnpu_pt pt;
};

static void nnpu_prog_image_fini(struct nnpu_prog_image *image)
{
	if (image->pages)
		free_pages_exact(image->pages, image->room);
	else if (!iosys_map_is_null(&image->map))
		drm_gem_vunmap_unlocked(&image->shmem->base, &image->map);
	if (image->shmem)
		drm_gem_object_put(&image->shmem->base);
}

/* nnpu_prog_image_fini() frees it. Memory that the device writes to is zeroed. */
static int nnpu_prog_image_alloc(struct nnpu_prog_image *image, struct drm_device *drm, u64 size,
				 enum dma_data_direction dir)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	int ret;

	memset(image, 0, sizeof(*image));
	image->dma = DMA_MAPPING_ERROR;
	image->room = PAGE_ALIGN(size);
	image->dir = dir;
	if (dir == DMA_FROM_DEVICE)
		gfp |= __GFP_ZERO;
	if (image->room <= NNPU_PROG_CONTIGUOUS)
		image->pages = alloc_pages_exact(image->room, gfp);
	if (image->pages) {
		iosys_map_set_vaddr(&image->map, image->pages);
		return 0;
	}
	image->shmem = nnpu_gem_new(drm, image->room);
	if (IS_ERR(image->shmem)) {
		ret = PTR_ERR(image->shmem);
		image->shmem = NULL;
		return ret;
	}
	ret = drm_gem_vmap_unlocked(&image->shmem->base, &image->map);
	if (ret)
		nnpu_prog_image_fini(image);
	return ret;
}

/*
 * Not inside a nnpu_device_enter() section: user memory may come late or never, and unplug
 * waits for the section.
 */
static int nnpu_prog_image_copy(struct nnpu_prog_image *image, struct drm_device *drm, u64 user,
				u32 size)
{
	int ret = nnpu_prog_image_alloc(image, drm, size, DMA_TO_DEVICE);

	if (ret)
		return ret;
	if (!copy_from_user(image->map.vaddr, u64_to_user_ptr(user), size))
		return 0;
	nnpu_prog_image_fini(image);
	return -EFAULT;
}

/* Inside a nnpu_device_enter() section; nnpu_prog_image_unmap() follows in the same. */
static int nnpu_prog_image_map(struct nnpu_prog_image *image, struct device *dev, u64 size)
{
	struct sg_table *sgt;
	int ret;

	/* The mapping for DMA comes after the last write: it does the cache maintenance. */
	if (image->pages) {
		image->dma = dma_map_single(dev, image->pages, image->room, image->dir);
		if (dma_mapping_error(dev, image->dma)) {
			image->dma = DMA_MAPPING_ERROR;
			return -ENOMEM;
		}
		image->pt.addr = image->dma;
		image->pt.size = size;
		return 0;
	}
	sgt = drm_gem_shmem_get_pages_sgt(image->shmem);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = nnpu_pt_init(&image->pt, dev, sgt, 0, PAGE_ALIGN(size));
	/* The table covers whole pages, the device reads @size bytes. */
	if (!ret)
		image->pt.size = size;
	return ret;
}

/* What the device has written is there afterwards. */
static void nnpu_prog_image_unmap(struct nnpu_prog_image *image, struct device *dev)
{
	if (image->dma != DMA_MAPPING_ERROR)
		dma_unmap_single(dev, image->dma, image->room, image->dir);
	else if (image->pt.dev && image->dir == DMA_FROM_DEVICE)
		dma_sync_sgtable_for_cpu(dev, image->shmem->sgt, DMA_FROM_DEVICE);
	image->dma = DMA_MAPPING_ERROR;
	nnpu_pt_fini(&image->pt);
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

/* @copy gets the reports; the caller frees it. It stays NULL if there are none. */
static int nnpu_prog_check(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			   const struct nnpu_prog_image *image, void **copy)
{
	struct device *dev = ctx->ndev->drm.dev;
	size_t size = nnpu_prog_reports_size(args);
	struct nnpu_sqe_load_program sqe = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM,
		.flags = NNPU_LOAD_CHECK,
		.ctx = cpu_to_le32(ctx->id),
		.num_reports = cpu_to_le32(args->num_reports),
	};
	struct nnpu_command_report *reports;
	struct nnpu_admin_result result;
	dma_addr_t dma;
	int ret;

	/* User space chose the size: no warning if there is not so much memory. */
	reports = dma_alloc_coherent(dev, size, &dma, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!reports)
		return -ENOMEM;
	nnpu_pt_to_mem(&image->pt, &sqe.image);
	sqe.report_addr = cpu_to_le64(dma);
	ret = nnpu_command_load(ctx->ndev, ctx, &sqe, &result);
	if (ret)
		goto out;
	nnpu_prog_set_verdict(args, &result);
	ret = nnpu_status_load_errno(result.status);
	/* In these cases the device has not judged each command: there are no reports. */
	if (ret && result.status != NNPU_STATUS_PROGRAM_COMMAND)
		goto out;
	/* User memory has to wait until the section of nnpu_device_enter() is left. */
	*copy = kvmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (*copy)
		memcpy(*copy, reports, size);
	else
		ret = -ENOMEM;
out:
	dma_free_coherent(dev, size, reports, dma);
	return ret;
}

static int nnpu_prog_load(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			  const struct nnpu_prog_image *image, const struct nnpu_program_header *h)
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

/* Give the image to the device. */
static int nnpu_prog_run(struct nnpu_ctx *ctx, struct drm_nnpu_program_load *args,
			 struct nnpu_prog_image *image, const struct nnpu_program_header *h,
			 void **reports)
{
	struct nnpu_device *ndev = ctx->ndev;
	int ret = -ENODEV, idx;

	if (!nnpu_device_enter(ndev, &idx))
		return ret;
	if (!nnpu_ctx_is_lost(ctx))
		ret = nnpu_prog_image_map(image, ndev->drm.dev, args->image_size);
	if (!ret)
		ret = nnpu_sync_slots_for_device(ctx);
	if (!ret && args->flags & DRM_NNPU_PROGRAM_CHECK)
		ret = nnpu_prog_check(ctx, args, image, reports);
	else if (!ret)
		ret = nnpu_prog_load(ctx, args, image, h);
	nnpu_prog_image_unmap(image, ndev->drm.dev);
	nnpu_device_exit(ndev, idx);
	return ret;
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
	struct nnpu_prog_image image;
	struct nnpu_ctx *ctx;
	void *reports = NULL;
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
	ret = nnpu_prog_image_copy(&image, drm, args->image, args->image_size);
	if (ret)
		goto out_put;

	memcpy(&header, image.map.vaddr, sizeof(header));
	ret = nnpu_check_program_header(&header, args->image_size, &verdict);
	if (ret) {
		args->status = verdict.status;
		args->reason = verdict.reason;
		drm_dbg(drm, "program header refused: reason %u\n", verdict.reason);
	} else if (args->flags & DRM_NNPU_PROGRAM_CHECK &&
		   args->num_reports != le32_to_cpu(header.num_commands)) {
		ret = -EINVAL;
	} else {
		ret = nnpu_prog_run(ctx, args, &image, &header, &reports);
	}
	nnpu_prog_image_fini(&image);
	if (reports && copy_to_user(u64_to_user_ptr(args->report), reports,
				    nnpu_prog_reports_size(args)))
		ret = -EFAULT;
	kvfree(reports);
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

/* Have the device write to @image, or only say how large it would be. @size gets that. */
static int nnpu_prog_save(struct nnpu_prog *program, struct nnpu_prog_image *image, u64 room,
			  u64 *size)
{
	struct nnpu_ctx *ctx = program->ctx;
	struct nnpu_sqe_save_program sqe = {
		.opcode = NNPU_ADMIN_SAVE_PROGRAM,
		.ctx = cpu_to_le32(ctx->id),
		.program = cpu_to_le32(program->id),
	};
	struct nnpu_device *ndev = ctx->ndev;
	struct nnpu_admin_result result;
	int ret = -ENODEV, idx;

	if (!nnpu_device_enter(ndev, &idx))
		return ret;
	if (!nnpu_ctx_is_lost(ctx))
		ret = image ? nnpu_prog_image_map(image, ndev->drm.dev, room) : 0;
	if (ret)
		goto out;
	if (image)
		nnpu_pt_to_mem(&image->pt, &sqe.image);
	ret = nnpu_command_load(ndev, ctx, &sqe, &result);
	if (!ret)
		ret = nnpu_status_load_errno(result.status);
	if (!ret)
		*size = result.value;
out:
	if (image)
		nnpu_prog_image_unmap(image, ndev->drm.dev);
	nnpu_device_exit(ndev, idx);
	return ret;
}

/* Images may be large: in steps, and it ends when the process is killed. */
static int nnpu_prog_image_copy_out(const struct nnpu_prog_image *image, u64 user, u64 size)
{
	u64 at, n;

	for (at = 0; at < size; at += n) {
		n = min_t(u64, size - at, NNPU_PROG_STEP);
		if (fatal_signal_pending(current))
			return -EINTR;
		if (copy_to_user(u64_to_user_ptr(user + at), image->map.vaddr + at, n))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

/* User memory may come late or never: it waits until the device is done. */
static int nnpu_prog_save_to_user(struct nnpu_prog *program, struct drm_device *drm, u64 user,
				  u64 size)
{
	struct nnpu_prog_image image;
	u64 written = 0;
	int ret;

	ret = nnpu_prog_image_alloc(&image, drm, size, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	ret = nnpu_prog_save(program, &image, size, &written);
	/* A loaded program does not change, and so neither does the size of its image. */
	if (!ret && written != size)
		ret = -EIO;
	if (!ret)
		ret = nnpu_prog_image_copy_out(&image, user, size);
	nnpu_prog_image_fini(&image);
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
