// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: shmem GEM objects. PRIME import and export are the helpers' own; an
 * imported dma-buf is a buffer like any other, but for mmap.
 */
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>

#include "nnpu_check.h"
#include "nnpu_device.h"
#include "nnpu_gem.h"

static void nnpu_gem_free(struct drm_gem_object *obj)
{
	struct nnpu_device *ndev = to_nnpu_device(obj->dev);

	atomic_dec(&ndev->stats.buffers);
	drm_gem_shmem_free(to_drm_gem_shmem_obj(obj));
}

/* For fdinfo: does the buffer have pages? */
static enum drm_gem_object_status nnpu_gem_status(struct drm_gem_object *obj)
{
	struct drm_gem_shmem_object *shmem = to_drm_gem_shmem_obj(obj);

	/* A glance without the reservation lock is good enough for statistics. */
	if (obj->import_attach || READ_ONCE(shmem->pages))
		return DRM_GEM_OBJECT_RESIDENT;
	return 0;
}

static const struct drm_gem_object_funcs nnpu_gem_funcs = {
	.free = nnpu_gem_free,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.status = nnpu_gem_status,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/**
 * nnpu_gem_create_object - allocate the structure of a buffer
 * @drm: device
 * @size: bytes of the buffer
 *
 * Called by the shmem helpers.
 *
 * Return: the object or an ERR_PTR.
 */
struct drm_gem_object *nnpu_gem_create_object(struct drm_device *drm, size_t size)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_gem_shmem_object *shmem;

	shmem = kzalloc(sizeof(*shmem), GFP_KERNEL_ACCOUNT);
	if (!shmem)
		return ERR_PTR(-ENOMEM);
	shmem->base.funcs = &nnpu_gem_funcs;
	/* A device that does not snoop must not meet cached lines. */
	shmem->map_wc = !ndev->coherent;
	return &shmem->base;
}

/**
 * nnpu_gem_new - create a buffer of zeroed memory
 * @drm: device
 * @size: bytes, whole pages
 *
 * Return: a reference or an ERR_PTR.
 */
struct drm_gem_shmem_object *nnpu_gem_new(struct drm_device *drm, size_t size)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(drm, size);

	if (!IS_ERR(shmem))
		atomic_inc(&to_nnpu_device(drm)->stats.buffers);
	return shmem;
}

/**
 * nnpu_gem_import - make a buffer of a dma-buf
 * @drm: device
 * @attach: attachment
 * @sgt: its pages, mapped for the device
 *
 * Called by drm_gem_prime_import().
 *
 * Return: the object or an ERR_PTR.
 */
struct drm_gem_object *nnpu_gem_import(struct drm_device *drm, struct dma_buf_attachment *attach,
				       struct sg_table *sgt)
{
	struct drm_gem_object *obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);

	if (!IS_ERR(obj))
		atomic_inc(&to_nnpu_device(drm)->stats.buffers);
	return obj;
}

/**
 * nnpu_gem_create_ioctl - DRM_NNPU_BO_CREATE
 * @drm: device
 * @data: struct drm_nnpu_bo_create
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_bo_create *args = data;
	struct drm_gem_shmem_object *shmem;
	u64 size;
	int ret, idx;

	args->handle = 0;
	if (args->flags)
		return -EINVAL;
	ret = nnpu_check_bo_size(args->size, &size);
	if (ret)
		return ret;
	if (!nnpu_device_enter(to_nnpu_device(drm), &idx))
		return -ENODEV;
	shmem = nnpu_gem_new(drm, size);
	if (IS_ERR(shmem)) {
		ret = PTR_ERR(shmem);
	} else {
		ret = drm_gem_handle_create(file, &shmem->base, &args->handle);
		/* The handle holds the object now. */
		drm_gem_object_put(&shmem->base);
	}
	nnpu_device_exit(idx);
	args->size = size;
	return ret;
}

/**
 * nnpu_gem_mmap_ioctl - DRM_NNPU_BO_MMAP
 * @drm: device
 * @data: struct drm_nnpu_bo_mmap
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_gem_mmap_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nnpu_bo_mmap *args = data;
	struct drm_gem_object *obj;
	int ret = 0;

	if (args->flags)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	if (obj->import_attach)
		ret = -EINVAL;
	else
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return ret;
}
