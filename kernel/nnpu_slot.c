// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots: the memory that the device may access for a context.
 *
 * A slot ends in this order: first the driver makes the entry invalid, so that the device
 * does not read it again. INVALIDATE_SLOTS makes the device forget what it read before.
 * Then the driver releases page table and buffer, and then the number.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_check.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_gem.h"
#include "nnpu_release.h"
#include "nnpu_slot.h"

/* Make the hardware entry valid: the flags are written last. */
static void nnpu_slot_write_entry(struct nnpu_slot *slot)
{
	struct nnpu_slot_entry *entry = &slot->ctx->slot_table[slot->id];
	u32 flags = NNPU_SLOT_VALID;

	if (slot->flags & DRM_NNPU_SLOT_READ)
		flags |= NNPU_SLOT_READ;
	if (slot->flags & DRM_NNPU_SLOT_WRITE)
		flags |= NNPU_SLOT_WRITE;
	nnpu_pt_to_mem(&slot->pt, &entry->mem);
	/* The device may read the entry at any time: a valid entry must be complete. */
	dma_wmb();
	WRITE_ONCE(entry->flags, cpu_to_le32(flags));
}

static void nnpu_slot_clear_entry(struct nnpu_slot *slot)
{
	struct nnpu_slot_entry *entry = &slot->ctx->slot_table[slot->id];

	WRITE_ONCE(entry->flags, 0);
	/* Invalid before the rest changes. */
	dma_wmb();
	memset(&entry->mem, 0, sizeof(entry->mem));
}

/* When this returns the device does not access memory through the slot. */
static void nnpu_slot_invalidate(struct nnpu_slot *slot)
{
	struct nnpu_ctx *ctx = slot->ctx;
	struct nnpu_sqe_invalidate sqe = {
		.opcode = NNPU_ADMIN_INVALIDATE_SLOTS,
		.ctx = cpu_to_le32(ctx->id),
		.first = cpu_to_le32(slot->id),
		.count = cpu_to_le32(1),
	};

	mutex_lock(&ctx->lock);
	if (ctx->slot_table)
		nnpu_slot_clear_entry(slot);
	mutex_unlock(&ctx->lock);
	nnpu_command_revoke(ctx->ndev, ctx, &sqe);
}

/* For a slot that the device does not know (any more). */
static void nnpu_slot_destroy(struct nnpu_slot *slot)
{
	struct nnpu_ctx *ctx = slot->ctx;

	mutex_lock(&ctx->lock);
	list_del(&slot->node);
	nnpu_pt_fini(&slot->pt);
	mutex_unlock(&ctx->lock);
	nnpu_table_free(&ctx->slots, slot->id);
	drm_gem_object_put(slot->obj);
	atomic_dec(&ctx->ndev->stats.slots);
	kfree(slot);
}

static void nnpu_slot_release(struct nnpu_slot *slot)
{
	nnpu_slot_invalidate(slot);
	nnpu_slot_destroy(slot);
}

static void nnpu_slot_release_item(struct nnpu_release_item *item)
{
	struct nnpu_slot *slot = container_of(item, struct nnpu_slot, release_item);
	struct nnpu_ctx *ctx = slot->ctx;

	nnpu_slot_release(slot);
	nnpu_ctx_put(ctx);
}

static bool nnpu_slot_tryget(void *object)
{
	struct nnpu_slot *slot = object;

	return refcount_inc_not_zero(&slot->ref);
}

/**
 * nnpu_slot_get - find a slot that is bound
 * @ctx: context
 * @id: any number
 *
 * Return: a reference, or NULL.
 */
struct nnpu_slot *nnpu_slot_get(struct nnpu_ctx *ctx, u32 id)
{
	return nnpu_table_get(&ctx->slots, id, nnpu_slot_tryget);
}

/**
 * nnpu_slot_put - drop a reference
 * @slot: slot; the caller holds a reference of its context
 *
 * May wait for the device.
 */
void nnpu_slot_put(struct nnpu_slot *slot)
{
	if (refcount_dec_and_test(&slot->ref))
		nnpu_slot_release(slot);
}

/**
 * nnpu_slot_put_deferred - drop a reference in a context that must not wait
 * @slot: slot; the caller holds a reference of its context
 */
void nnpu_slot_put_deferred(struct nnpu_slot *slot)
{
	if (!refcount_dec_and_test(&slot->ref))
		return;
	nnpu_ctx_get(slot->ctx);
	nnpu_release_add(&slot->ctx->releases, &slot->release_item);
}

/**
 * nnpu_slot_free_dma_all - free the page tables of all slots of a context
 * @ctx: context the device has forgotten; nnpu_ctx.lock is held
 */
void nnpu_slot_free_dma_all(struct nnpu_ctx *ctx)
{
	struct nnpu_slot *slot;

	lockdep_assert_held(&ctx->lock);
	list_for_each_entry(slot, &ctx->slot_list, node)
		nnpu_pt_fini(&slot->pt);
}

/**
 * nnpu_slot_release_all - free all slots of a context
 * @ctx: context the device has forgotten, on its way out: no jobs, no file
 */
void nnpu_slot_release_all(struct nnpu_ctx *ctx)
{
	struct nnpu_slot *slot, *tmp;

	list_for_each_entry_safe(slot, tmp, &ctx->slot_list, node)
		nnpu_slot_destroy(slot);
}

static int nnpu_slot_map(struct nnpu_slot *slot)
{
	struct nnpu_ctx *ctx = slot->ctx;
	struct sg_table *sgt;
	int ret;

	sgt = drm_gem_shmem_get_pages_sgt(to_drm_gem_shmem_obj(slot->obj));
	/*
	 * shmem says -ENOSPC for want of memory; here that means that no slot is free. DMA says
	 * -EIO when the bounce buffers are full.
	 */
	if (sgt == ERR_PTR(-ENOSPC) || sgt == ERR_PTR(-EIO))
		return -ENOMEM;
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = nnpu_pt_init(&slot->pt, ctx->ndev->drm.dev, sgt, slot->offset,
			   slot->size);
	if (ret)
		return ret;

	mutex_lock(&ctx->lock);
	if (ctx->slot_table) {
		nnpu_slot_write_entry(slot);
		list_add_tail(&slot->node, &ctx->slot_list);
	} else {
		ret = -ENODEV;
	}
	mutex_unlock(&ctx->lock);
	if (ret)
		nnpu_pt_fini(&slot->pt);
	return ret;
}

static int nnpu_slot_bind(struct nnpu_ctx *ctx, struct drm_gem_object *obj,
			  struct drm_nnpu_slot_bind *args)
{
	struct nnpu_slot *slot;
	int ret;

	slot = kzalloc(sizeof(*slot), GFP_KERNEL_ACCOUNT);
	if (!slot)
		return -ENOMEM;
	refcount_set(&slot->ref, 1);
	slot->ctx = ctx;
	slot->flags = args->flags;
	slot->offset = args->offset;
	slot->size = args->size;
	slot->obj = obj;
	slot->release_item.fn = nnpu_slot_release_item;

	ret = nnpu_table_reserve(&ctx->slots, &slot->id);
	if (ret)
		goto err_free;
	ret = nnpu_slot_map(slot);
	if (ret)
		goto err_id;
	drm_gem_object_get(obj);
	atomic_inc(&ctx->ndev->stats.slots);
	atomic_inc(&ctx->num_slots);
	args->slot = slot->id;
	nnpu_table_set(&ctx->slots, slot->id, slot);
	return 0;

err_id:
	nnpu_table_free(&ctx->slots, slot->id);
err_free:
	kfree(slot);
	return ret;
}

/**
 * nnpu_slot_bind_ioctl - DRM_NNPU_SLOT_BIND
 * @drm: device
 * @data: struct drm_nnpu_slot_bind
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_slot_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_slot_bind *args = data;
	struct drm_gem_object *obj;
	struct nnpu_ctx *ctx;
	int ret, idx;

	ret = nnpu_check_bind(args);
	if (ret)
		return ret;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	ret = -EINVAL;
	if (!nnpu_check_range(args->offset, args->size, obj->size))
		goto out_put;
	ret = -EACCES;
	if (args->flags & DRM_NNPU_SLOT_WRITE && !nnpu_gem_is_writable(obj))
		goto out_put;
	ctx = nnpu_file_use_context(file, args->ctx);
	ret = PTR_ERR_OR_ZERO(ctx);
	if (ret)
		goto out_put;
	ret = -ENODEV;
	if (nnpu_device_enter(ndev, &idx)) {
		if (!nnpu_ctx_is_lost(ctx))
			ret = nnpu_slot_bind(ctx, obj, args);
		nnpu_device_exit(ndev, idx);
	}
	nnpu_file_put_context(file, ctx);
out_put:
	drm_gem_object_put(obj);
	return ret;
}

/**
 * nnpu_slot_unbind_ioctl - DRM_NNPU_SLOT_UNBIND
 * @drm: device
 * @data: struct drm_nnpu_slot_unbind
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_slot_unbind_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_slot_unbind *args = data;
	struct nnpu_slot *slot;
	struct nnpu_ctx *ctx;
	int ret = 0;

	if (args->flags || args->pad)
		return -EINVAL;
	ctx = nnpu_file_begin_command(file, args->ctx);
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	slot = nnpu_table_hide(&ctx->slots, args->slot);
	if (slot) {
		atomic_dec(&ctx->num_slots);
		nnpu_slot_put(slot);
	} else {
		ret = -ENOENT;
	}
	nnpu_file_end_command(file, ctx);
	return ret;
}
