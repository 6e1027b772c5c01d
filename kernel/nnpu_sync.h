/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SYNC_H_
#define _NNPU_SYNC_H_

#include <linux/dma-direction.h>
#include <linux/types.h>

struct drm_device;
struct drm_file;
struct drm_gem_object;
struct nnpu_device;
struct sg_table;

int nnpu_sync_probe(struct nnpu_device *ndev);
bool nnpu_sync_is_needed(struct nnpu_device *ndev, struct sg_table *sgt);
int nnpu_sync_wait(struct drm_gem_object *obj, bool write, unsigned long timeout);
int nnpu_sync_buffer(struct drm_gem_object *obj, u64 offset, u64 size,
		     enum dma_data_direction dir, bool for_cpu);
int nnpu_sync_prep_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_sync_fini_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _NNPU_SYNC_H_ */
