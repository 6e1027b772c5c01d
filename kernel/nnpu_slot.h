/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SLOT_H_
#define _NNPU_SLOT_H_

#include <linux/list.h>
#include <linux/refcount.h>

#include "nnpu_pt.h"
#include "nnpu_release.h"

struct drm_device;
struct drm_file;
struct drm_gem_object;
struct nnpu_ctx;

/**
 * struct nnpu_slot - a buffer, or part of one, that the device may reach
 * @ref: the binding holds a reference and each job that names the slot
 * @ctx: context; no reference, except while @release_item is on its list
 * @id: slot number
 * @flags: DRM_NNPU_SLOT_*
 * @offset: first byte in @obj
 * @size: bytes
 * @obj: buffer; a reference
 * @pt: page table of the device; under nnpu_ctx.lock
 * @node: entry of nnpu_ctx.slot_list; under nnpu_ctx.lock
 * @release_item: release, when an interrupt or job drops the last reference
 */
struct nnpu_slot {
	refcount_t ref;
	struct nnpu_ctx *ctx;
	u32 id;
	u32 flags;
	u64 offset;
	u64 size;
	struct drm_gem_object *obj;
	struct nnpu_pt pt;
	struct list_head node;
	struct nnpu_release_item release_item;
};

struct nnpu_slot *nnpu_slot_get(struct nnpu_ctx *ctx, u32 id);
void nnpu_slot_put(struct nnpu_slot *slot);
void nnpu_slot_put_deferred(struct nnpu_slot *slot);
void nnpu_slot_free_dma_all(struct nnpu_ctx *ctx);
void nnpu_slot_release_all(struct nnpu_ctx *ctx);
int nnpu_slot_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_slot_unbind_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _NNPU_SLOT_H_ */
