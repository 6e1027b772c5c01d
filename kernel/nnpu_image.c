// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images of programs in memory of the kernel: what a process has loaded while the device reads it,
 * and what the device saves.
 */
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>

#include "nnpu_gem.h"
#include "nnpu_image.h"

/* Bytes that are copied between two looks at signals. */
#define NNPU_IMAGE_STEP	SZ_1M

/*
 * Images up to this many bytes are contiguous memory if there is some: a buffer with its file
 * and its mapping takes longer than to load a small program.
 */
#define NNPU_IMAGE_CONTIGUOUS	SZ_64K

/**
 * nnpu_image_fini - free the memory of an image
 * @image: image, not mapped
 */
void nnpu_image_fini(struct nnpu_image *image)
{
	if (image->pages)
		free_pages_exact(image->pages, image->room);
	else if (!iosys_map_is_null(&image->map))
		drm_gem_vunmap_unlocked(&image->shmem->base, &image->map);
	if (image->shmem)
		drm_gem_object_put(&image->shmem->base);
}

/**
 * nnpu_image_alloc - allocate the memory of an image
 * @image: filled in
 * @drm: device
 * @size: bytes
 * @dir: DMA_TO_DEVICE; else the device writes, to memory that is zeroed
 *
 * Return: 0 or a negative errno.
 */
int nnpu_image_alloc(struct nnpu_image *image, struct drm_device *drm, u64 size,
		     enum dma_data_direction dir)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	int ret;

	memset(image, 0, sizeof(*image));
	image->dma = DMA_MAPPING_ERROR;
	image->room = PAGE_ALIGN(size);
	image->dir = dir;
	if (dir != DMA_TO_DEVICE)
		gfp |= __GFP_ZERO;
	if (image->room <= NNPU_IMAGE_CONTIGUOUS)
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
		nnpu_image_fini(image);
	return ret;
}

/**
 * nnpu_image_copy_in - copy an image of a process
 * @image: filled in
 * @drm: device
 * @user: address
 * @size: bytes
 *
 * Not inside a nnpu_device_enter() section: user memory may come late or never, and unplug
 * waits for the section.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_image_copy_in(struct nnpu_image *image, struct drm_device *drm, u64 user, u32 size)
{
	int ret = nnpu_image_alloc(image, drm, size, DMA_TO_DEVICE);

	if (ret)
		return ret;
	if (!copy_from_user(image->map.vaddr, u64_to_user_ptr(user), size))
		return 0;
	nnpu_image_fini(image);
	return -EFAULT;
}

/**
 * nnpu_image_map - let the device see an image
 * @image: image
 * @dev: device
 * @size: bytes of it
 *
 * The device stays bound until nnpu_image_unmap(): a nnpu_device_enter() section is open, or
 * unplug is impossible.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_image_map(struct nnpu_image *image, struct device *dev, u64 size)
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

/**
 * nnpu_image_unmap - undo nnpu_image_map()
 * @image: image, mapped or not; what the device has written is there afterwards
 * @dev: device
 */
void nnpu_image_unmap(struct nnpu_image *image, struct device *dev)
{
	if (image->dma != DMA_MAPPING_ERROR)
		dma_unmap_single(dev, image->dma, image->room, image->dir);
	else
		nnpu_image_sync_for_cpu(image, dev);
	image->dma = DMA_MAPPING_ERROR;
	nnpu_pt_fini(&image->pt);
}

/**
 * nnpu_image_sync_for_cpu - have what the device has written in memory
 * @image: image, mapped or not
 * @dev: device
 */
void nnpu_image_sync_for_cpu(struct nnpu_image *image, struct device *dev)
{
	if (image->dir == DMA_TO_DEVICE)
		return;
	if (image->dma != DMA_MAPPING_ERROR)
		dma_sync_single_for_cpu(dev, image->dma, image->room, image->dir);
	else if (image->pt.dev)
		dma_sync_sgtable_for_cpu(dev, image->shmem->sgt, DMA_FROM_DEVICE);
}

/**
 * nnpu_image_sync_for_device - let the device see what memory has
 * @image: image, mapped
 * @dev: device
 *
 * Allocates nothing.
 */
void nnpu_image_sync_for_device(struct nnpu_image *image, struct device *dev)
{
	if (image->dma != DMA_MAPPING_ERROR)
		dma_sync_single_for_device(dev, image->dma, image->room, image->dir);
	else
		dma_sync_sgtable_for_device(dev, image->shmem->sgt, DMA_TO_DEVICE);
}

/**
 * nnpu_image_copy_out - copy an image to a process
 * @image: image
 * @user: address
 * @size: bytes
 *
 * Images may be large: in steps, and it ends when the process is killed.
 *
 * Return: 0, -EFAULT, -EINTR.
 */
int nnpu_image_copy_out(const struct nnpu_image *image, u64 user, u64 size)
{
	u64 at, n;

	for (at = 0; at < size; at += n) {
		n = min_t(u64, size - at, NNPU_IMAGE_STEP);
		if (fatal_signal_pending(current))
			return -EINTR;
		if (copy_to_user(u64_to_user_ptr(user + at), image->map.vaddr + at, n))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}
