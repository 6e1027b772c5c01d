/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_GEM_H_
#define _NNPU_GEM_H_

#include <linux/types.h>

struct dma_buf;
struct dma_buf_attachment;
struct drm_device;
struct drm_file;
struct drm_gem_object;
struct drm_gem_shmem_object;
struct nnpu_device;
struct sg_table;

void nnpu_gem_init(struct nnpu_device *ndev);
struct drm_gem_object *nnpu_gem_create_object(struct drm_device *drm, size_t size);
struct drm_gem_shmem_object *nnpu_gem_new(struct drm_device *drm, size_t size);
struct drm_gem_object *nnpu_gem_import(struct drm_device *drm, struct dma_buf *dma_buf);
struct drm_gem_object *nnpu_gem_import_sg_table(struct drm_device *drm,
						struct dma_buf_attachment *attach,
						struct sg_table *sgt);
bool nnpu_gem_is_foreign(struct drm_gem_object *obj);
bool nnpu_gem_is_writable(struct drm_gem_object *obj);
int nnpu_gem_dma_page(struct drm_gem_object *obj, u64 offset, dma_addr_t *dma);
void nnpu_gem_unplug_all(struct nnpu_device *ndev);
int nnpu_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_gem_userptr_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_gem_mmap_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _NNPU_GEM_H_ */
