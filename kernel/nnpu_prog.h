/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PROG_H_
#define _NNPU_PROG_H_

#include <linux/list.h>
#include <linux/refcount.h>

#include "nnpu_release.h"

struct drm_device;
struct drm_file;
struct nnpu_ctx;
struct nnpu_image;

/**
 * struct nnpu_prog - a program the device has loaded
 * @ref: PROGRAM_LOAD holds a reference until PROGRAM_UNLOAD, and each job
 * @ctx: context; no reference, except while @release_item is on its list
 * @id: program number
 * @num_inputs: inputs, from the header of the image
 * @num_outputs: outputs, likewise
 * @memory: bytes of device memory
 * @node: entry of nnpu_ctx.program_list; under nnpu_ctx.lock
 * @kept: image that system sleep has saved, mapped for the device; NULL: none
 * @kept_size: its bytes
 * @kept_node: entry of nnpu_ctx.kept_programs, with a reference
 * @release_item: release, when an interrupt or job drops the last reference
 */
struct nnpu_prog {
	refcount_t ref;
	struct nnpu_ctx *ctx;
	u32 id;
	u32 num_inputs;
	u32 num_outputs;
	u64 memory;
	struct list_head node;
	struct nnpu_image *kept;
	u64 kept_size;
	struct list_head kept_node;
	struct nnpu_release_item release_item;
};

struct nnpu_prog *nnpu_prog_get(struct nnpu_ctx *ctx, u32 id);
void nnpu_prog_put_deferred(struct nnpu_prog *program);
void nnpu_prog_release_all(struct nnpu_ctx *ctx);
int nnpu_prog_keep_all(struct nnpu_ctx *ctx);
bool nnpu_prog_all_kept(struct nnpu_ctx *ctx);
int nnpu_prog_restore_all(struct nnpu_ctx *ctx);
void nnpu_prog_forget_all(struct nnpu_ctx *ctx);
int nnpu_prog_load_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_prog_unload_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_prog_save_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _NNPU_PROG_H_ */
