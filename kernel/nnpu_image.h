/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_IMAGE_H_
#define _NNPU_IMAGE_H_

#include <linux/dma-direction.h>
#include <linux/iosys-map.h>
#include <linux/types.h>

#include "nnpu_pt.h"

struct device;
struct drm_device;
struct drm_gem_shmem_object;

/**
 * struct nnpu_image - the kernel's copy of an image
 * @pages: its memory if that is contiguous, @room bytes; NULL: @shmem has it
 * @dma: @pages for the device; DMA_MAPPING_ERROR: not mapped
 * @room: bytes, whole pages
 * @dir: which side writes; DMA_BIDIRECTIONAL: the device, which reads it later
 * @shmem: its memory, else
 * @map: kernel mapping
 * @pt: page table for the device
 */
struct nnpu_image {
	void *pages;
	dma_addr_t dma;
	size_t room;
	enum dma_data_direction dir;
	struct drm_gem_shmem_object *shmem;
	struct iosys_map map;
	struct nnpu_pt pt;
};

int nnpu_image_alloc(struct nnpu_image *image, struct drm_device *drm, u64 size,
		     enum dma_data_direction dir);
void nnpu_image_fini(struct nnpu_image *image);
int nnpu_image_copy_in(struct nnpu_image *image, struct drm_device *drm, u64 user, u32 size);
int nnpu_image_copy_out(const struct nnpu_image *image, u64 user, u64 size);
int nnpu_image_map(struct nnpu_image *image, struct device *dev, u64 size);
void nnpu_image_unmap(struct nnpu_image *image, struct device *dev);
void nnpu_image_sync_for_cpu(struct nnpu_image *image, struct device *dev);
void nnpu_image_sync_for_device(struct nnpu_image *image, struct device *dev);

#endif /* _NNPU_IMAGE_H_ */
