// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: shmem GEM objects. PRIME import and export are those of the DRM helpers, but for
 * DMA_BUF_IOCTL_SYNC: where DMA is not coherent an exported buffer is synchronised by it. An
 * imported dma-buf is a buffer like any other, except that it has no mmap offset. Memory of
 * a process that is pinned (nnpu_pin.c) is one, too, but it is neither mapped nor exported: others
 * would keep pages that one process pays for.
 *
 * A buffer lives as long as somebody holds a reference. Its DMA mapping must not outlive the
 * binding of device and driver: nnpu_gem_unplug_all() takes the mappings away. The mapping of
 * an import ends with its attachment, not before: some exporters keep it until then.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/error-injection.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_prime.h>

#include "nnpu_check.h"
#include "nnpu_device.h"
#include "nnpu_file.h"
#include "nnpu_gem.h"
#include "nnpu_pin.h"
#include "nnpu_sync.h"

/**
 * struct nnpu_bo - a buffer
 * @base: part of the DRM helpers; the first member, since they free its address
 * @import: the dma-buf that was imported, a reference; NULL if the memory is our own.
 *	drm_gem_object.import_attach is NULL after unplug
 * @pin: the memory of a process, pinned; NULL if it is none. Released at unplug
 * @node: entry of nnpu_device.bo_list, under nnpu_device.bo_lock
 */
struct nnpu_bo {
	struct drm_gem_shmem_object base;
	struct dma_buf *import;
	struct nnpu_pin *pin;
	struct list_head node;
};

static struct nnpu_bo *to_nnpu_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct nnpu_bo, base);
}

/* The list has complete buffers only: the helpers free incomplete ones themselves. */
static void nnpu_gem_track(struct nnpu_device *ndev, struct drm_gem_object *obj)
{
	mutex_lock(&ndev->bo_lock);
	list_add_tail(&to_nnpu_bo(obj)->node, &ndev->bo_list);
	mutex_unlock(&ndev->bo_lock);
	atomic_inc(&ndev->stats.buffers);
}

/*
 * No path takes one of the two locks while it holds the other, so lockdep would not see the first
 * one that takes them the wrong way round.
 */
static void nnpu_gem_tell_order(struct nnpu_device *ndev)
{
	struct dma_resv resv;

	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return;
	dma_resv_init(&resv);
	dma_resv_lock(&resv, NULL);
	mutex_lock(&ndev->bo_lock);
	mutex_unlock(&ndev->bo_lock);
	dma_resv_unlock(&resv);
	dma_resv_fini(&resv);
}

/**
 * nnpu_gem_init - prepare the list of buffers
 * @ndev: device
 */
void nnpu_gem_init(struct nnpu_device *ndev)
{
	mutex_init(&ndev->bo_lock);
	INIT_LIST_HEAD(&ndev->bo_list);
	nnpu_gem_tell_order(ndev);
}

/**
 * nnpu_gem_is_foreign - does the memory of a buffer belong to somebody else?
 * @obj: buffer
 *
 * Return: true if it was imported from a dma-buf or is memory of a process, also after unplug.
 */
bool nnpu_gem_is_foreign(struct drm_gem_object *obj)
{
	return to_nnpu_bo(obj)->import || to_nnpu_bo(obj)->pin;
}

/**
 * nnpu_gem_is_writable - may the device write to a buffer?
 * @obj: buffer
 *
 * Return: false if it is memory of a process that was pinned for reading.
 */
bool nnpu_gem_is_writable(struct drm_gem_object *obj)
{
	const struct nnpu_pin *pin = to_nnpu_bo(obj)->pin;

	return !pin || nnpu_pin_is_writable(pin);
}

static void nnpu_gem_unmap_import(struct drm_gem_object *obj)
{
	struct drm_gem_shmem_object *shmem = to_drm_gem_shmem_obj(obj);
	struct dma_buf *import = to_nnpu_bo(obj)->import;
	struct dma_buf_attachment *attach;

	/* PRIME looks at the attachment with this lock held. */
	mutex_lock(&obj->dev->object_name_lock);
	attach = obj->import_attach;
	obj->import_attach = NULL;
	mutex_unlock(&obj->dev->object_name_lock);
	if (!attach)
		return;
	dma_buf_unmap_attachment_unlocked(attach, shmem->sgt, DMA_BIDIRECTIONAL);
	shmem->sgt = NULL;
	dma_buf_detach(import, attach);
}

static void nnpu_gem_unmap_pin(struct drm_gem_object *obj)
{
	struct nnpu_device *ndev = to_nnpu_device(obj->dev);
	struct nnpu_pin *pin = to_nnpu_bo(obj)->pin;
	struct sg_table *sgt;

	dma_resv_lock(obj->resv, NULL);
	sgt = to_drm_gem_shmem_obj(obj)->sgt;
	to_drm_gem_shmem_obj(obj)->sgt = NULL;
	dma_resv_unlock(obj->resv);
	if (!sgt)
		return;
	/* Unpinning waits for page locks: not with the reservation locked. */
	nnpu_pin_release(pin);
	atomic64_sub(nnpu_pin_size(pin), &ndev->stats.pinned_bytes);
}

/* The device does not access the buffer any more. */
static void nnpu_gem_unmap(struct drm_gem_object *obj)
{
	struct drm_gem_shmem_object *shmem = to_drm_gem_shmem_obj(obj);
	struct sg_table *sgt;

	if (to_nnpu_bo(obj)->import) {
		nnpu_gem_unmap_import(obj);
		return;
	}
	if (to_nnpu_bo(obj)->pin) {
		nnpu_gem_unmap_pin(obj);
		return;
	}
	dma_resv_lock(obj->resv, NULL);
	sgt = shmem->sgt;
	shmem->sgt = NULL;
	if (sgt) {
		/* Unplug does not wait for a walk, and nobody reads a buffer without references. */
		dma_unmap_sgtable(obj->dev->dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
		sg_free_table(sgt);
		kfree(sgt);
	}
	dma_resv_unlock(obj->resv);
}

static void nnpu_gem_free(struct drm_gem_object *obj)
{
	struct nnpu_device *ndev = to_nnpu_device(obj->dev);
	struct nnpu_bo *bo = to_nnpu_bo(obj);

	nnpu_gem_unmap(obj);
	/* Only now: the device stays bound until no buffer without references is in the list. */
	mutex_lock(&ndev->bo_lock);
	list_del_init(&bo->node);
	wake_up_all(&ndev->unplug_wait);
	mutex_unlock(&ndev->bo_lock);
	atomic_dec(&ndev->stats.buffers);
	if (!nnpu_gem_is_foreign(obj)) {
		drm_gem_shmem_free(&bo->base);
		return;
	}
	if (bo->import)
		dma_buf_put(bo->import);
	else
		nnpu_pin_destroy(bo->pin);
	drm_gem_object_release(obj);
	kfree(bo);
}

/* For fdinfo: does the buffer have pages? */
static enum drm_gem_object_status nnpu_gem_status(struct drm_gem_object *obj)
{
	struct drm_gem_shmem_object *shmem = to_drm_gem_shmem_obj(obj);

	/* Without the reservation lock: statistics need not be exact. */
	if (nnpu_gem_is_foreign(obj) || READ_ONCE(shmem->pages))
		return DRM_GEM_OBJECT_RESIDENT;
	return 0;
}

/* Imports are mapped through the descriptor of the dma-buf. */
static int nnpu_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (nnpu_gem_is_foreign(obj))
		return -EINVAL;
	return drm_gem_shmem_object_mmap(obj, vma);
}

static struct dma_buf *nnpu_gem_refuse_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EPERM);
}

/* A file has one handle more of a buffer, or one less. */
static void nnpu_gem_count(struct drm_gem_object *obj, struct drm_file *file, int more)
{
	struct nnpu_tally *tally = nnpu_file_tally(file);
	s64 bytes = more * (s64)obj->size;

	atomic_add(more, &tally->buffers);
	atomic64_add(bytes, &tally->memory);
	if (to_nnpu_bo(obj)->pin)
		atomic64_add(bytes, &tally->pinned);
}

static int nnpu_gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	nnpu_gem_count(obj, file, 1);
	return 0;
}

static void nnpu_gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	nnpu_gem_count(obj, file, -1);
}

/* Without a device nothing has to be synchronised any more. */
static int nnpu_gem_sync_export(struct dma_buf *dma_buf, enum dma_data_direction dir, bool for_cpu)
{
	struct drm_gem_object *obj = dma_buf->priv;
	int ret = nnpu_sync_buffer(obj, 0, obj->size, dir, for_cpu);

	return ret == -ENODEV ? 0 : ret;
}

static int nnpu_gem_begin_cpu_access(struct dma_buf *dma_buf, enum dma_data_direction dir)
{
	int ret = nnpu_sync_wait(dma_buf->priv, dir != DMA_FROM_DEVICE, MAX_SCHEDULE_TIMEOUT);

	return ret ?: nnpu_gem_sync_export(dma_buf, dir, true);
}

static int nnpu_gem_end_cpu_access(struct dma_buf *dma_buf, enum dma_data_direction dir)
{
	return nnpu_gem_sync_export(dma_buf, dir, false);
}

static const struct dma_buf_ops nnpu_gem_dmabuf_ops = {
	.cache_sgt_mapping = true,
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = drm_gem_map_dma_buf,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.release = drm_gem_dmabuf_release,
	.begin_cpu_access = nnpu_gem_begin_cpu_access,
	.end_cpu_access = nnpu_gem_end_cpu_access,
	.mmap = drm_gem_dmabuf_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

static struct dma_buf *nnpu_gem_export(struct drm_gem_object *obj, int flags)
{
	struct dma_buf_export_info info = {
		.exp_name = NNPU_DRIVER_NAME,
		.owner = obj->dev->driver->fops->owner,
		.ops = &nnpu_gem_dmabuf_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};

	return drm_gem_dmabuf_export(obj->dev, &info);
}

/* The buffer behind a dma-buf of this device; NULL: it is none. */
static struct drm_gem_object *nnpu_gem_of_export(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = dma_buf->priv;

	return dma_buf->ops == &nnpu_gem_dmabuf_ops && obj->dev == drm ? obj : NULL;
}

static const struct drm_gem_object_funcs nnpu_gem_funcs = {
	.free = nnpu_gem_free,
	.open = nnpu_gem_open,
	.close = nnpu_gem_close,
	.export = nnpu_gem_export,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = nnpu_gem_mmap,
	.status = nnpu_gem_status,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

static const struct drm_gem_object_funcs nnpu_gem_pin_funcs = {
	.free = nnpu_gem_free,
	.open = nnpu_gem_open,
	.close = nnpu_gem_close,
	.export = nnpu_gem_refuse_export,
	.mmap = nnpu_gem_mmap,
	.status = nnpu_gem_status,
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
	struct nnpu_bo *bo;

	BUILD_BUG_ON(offsetof(struct nnpu_bo, base) != 0);

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&bo->node);
	bo->base.base.funcs = &nnpu_gem_funcs;
	return &bo->base.base;
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
		nnpu_gem_track(to_nnpu_device(drm), &shmem->base);
	return shmem;
}

/**
 * nnpu_gem_import - import a dma-buf
 * @drm: device
 * @dma_buf: dma-buf
 *
 * Return: a reference or an ERR_PTR.
 */
struct drm_gem_object *nnpu_gem_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj = nnpu_gem_of_export(drm, dma_buf);
	int idx;

	if (obj) {
		drm_gem_object_get(obj);
		return obj;
	}
	/* This maps the pages for the device. */
	if (!nnpu_device_enter(to_nnpu_device(drm), &idx))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dma_buf);
	nnpu_device_exit(to_nnpu_device(drm), idx);
	return obj;
}

/**
 * nnpu_gem_import_sg_table - make a buffer of a dma-buf
 * @drm: device
 * @attach: attachment
 * @sgt: its pages, mapped for the device
 *
 * Called by drm_gem_prime_import().
 *
 * Return: the object or an ERR_PTR.
 */
struct drm_gem_object *nnpu_gem_import_sg_table(struct drm_device *drm,
						struct dma_buf_attachment *attach,
						struct sg_table *sgt)
{
	struct drm_gem_object *obj;

	if (nnpu_sync_is_needed(to_nnpu_device(drm), sgt))
		return ERR_PTR(-EOPNOTSUPP);
	obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);
	if (IS_ERR(obj))
		return obj;
	/* drm_gem_prime_import() has taken the reference. */
	to_nnpu_bo(obj)->import = attach->dmabuf;
	nnpu_gem_track(to_nnpu_device(drm), obj);
	return obj;
}

/**
 * nnpu_gem_dma_page - DMA address of a page of a buffer
 * @obj: buffer of our own
 * @offset: multiple of the device page size, inside the buffer
 * @dma: gets the address
 *
 * Inside a nnpu_device_enter() section. The address is valid as long as the buffer lives,
 * or until unplug.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_gem_dma_page(struct drm_gem_object *obj, u64 offset, dma_addr_t *dma)
{
	struct sg_table *sgt = drm_gem_shmem_get_pages_sgt(to_drm_gem_shmem_obj(obj));
	struct scatterlist *sg;
	unsigned int i;

	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	/* Segments consist of whole CPU pages, so a device page is within one segment. */
	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (offset < sg_dma_len(sg)) {
			*dma = sg_dma_address(sg) + offset;
			return 0;
		}
		offset -= sg_dma_len(sg);
	}
	return -EINVAL;
}
ALLOW_ERROR_INJECTION(nnpu_gem_dma_page, ERRNO);

/* Take a buffer that has references off the list; NULL if there is none. */
static struct nnpu_bo *nnpu_gem_take_live(struct nnpu_device *ndev)
{
	struct nnpu_bo *bo, *found = NULL;

	mutex_lock(&ndev->bo_lock);
	list_for_each_entry(bo, &ndev->bo_list, node) {
		if (!kref_get_unless_zero(&bo->base.base.refcount))
			continue;
		list_del_init(&bo->node);
		found = bo;
		break;
	}
	mutex_unlock(&ndev->bo_lock);
	return found;
}

/* Buffers that were created since have no mapping. */
static bool nnpu_gem_none_dying(struct nnpu_device *ndev)
{
	struct nnpu_bo *bo;
	bool none = true;

	mutex_lock(&ndev->bo_lock);
	list_for_each_entry(bo, &ndev->bo_list, node)
		none &= !!kref_read(&bo->base.base.refcount);
	mutex_unlock(&ndev->bo_lock);
	return none;
}

/**
 * nnpu_gem_unplug_all - take away the DMA mappings of all buffers
 * @ndev: device, unplugged and unable to access memory; no slot has a page table
 *
 * The memory itself stays for the files and mappings that use it.
 */
void nnpu_gem_unplug_all(struct nnpu_device *ndev)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct nnpu_bo *bo;

	while ((bo = nnpu_gem_take_live(ndev))) {
		nnpu_gem_unmap(&bo->base.base);
		drm_gem_object_put(&bo->base.base);
	}
	/*
	 * nnpu_gem_free() is about to unmap the others. The condition takes a mutex, which
	 * wait_event() does not allow.
	 */
	add_wait_queue(&ndev->unplug_wait, &wait);
	while (!nnpu_gem_none_dying(ndev))
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&ndev->unplug_wait, &wait);
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
	int ret, idx;
	u32 handle;
	u64 size;

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
		ret = drm_gem_handle_create(file, &shmem->base, &handle);
		/* The handle holds the object now. */
		drm_gem_object_put(&shmem->base);
	}
	nnpu_device_exit(to_nnpu_device(drm), idx);
	if (ret)
		return ret;
	args->size = size;
	args->handle = handle;
	return 0;
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
	if (nnpu_gem_is_foreign(obj))
		ret = -EINVAL;
	else
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return ret;
}

/* Make a buffer of pinned memory, which it owns then. Inside a nnpu_device_enter() section. */
static struct drm_gem_object *nnpu_gem_from_pin(struct drm_device *drm, struct nnpu_pin *pin)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_gem_object *obj;
	struct sg_table *sgt;

	obj = nnpu_gem_create_object(drm, nnpu_pin_size(pin));
	if (IS_ERR(obj))
		return obj;
	sgt = nnpu_pin_map(pin, drm->dev);
	if (IS_ERR(sgt)) {
		kfree(to_nnpu_bo(obj));
		return ERR_CAST(sgt);
	}
	obj->funcs = &nnpu_gem_pin_funcs;
	drm_gem_private_object_init(drm, obj, nnpu_pin_size(pin));
	INIT_LIST_HEAD(&to_drm_gem_shmem_obj(obj)->madv_list);
	to_drm_gem_shmem_obj(obj)->sgt = sgt;
	to_nnpu_bo(obj)->pin = pin;
	atomic64_add(nnpu_pin_size(pin), &ndev->stats.pinned_bytes);
	nnpu_gem_track(ndev, obj);
	return obj;
}

/**
 * nnpu_gem_userptr_ioctl - DRM_NNPU_BO_USERPTR
 * @drm: device
 * @data: struct drm_nnpu_bo_userptr
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_gem_userptr_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nnpu_device *ndev = to_nnpu_device(drm);
	struct drm_nnpu_bo_userptr *args = data;
	struct drm_gem_object *obj;
	struct nnpu_pin *pin;
	u32 handle;
	int ret, idx;

	ret = nnpu_check_userptr(args);
	if (ret)
		return ret;
	/* Under bounce buffers a page that is pinned twice would have two copies. */
	if (!ndev->coherent)
		return -EOPNOTSUPP;
	pin = nnpu_pin_create(args->addr, args->size, args->flags & DRM_NNPU_USERPTR_WRITE,
			      dma_get_max_seg_size(drm->dev));
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	obj = ERR_PTR(-ENODEV);
	if (nnpu_device_enter(ndev, &idx)) {
		obj = nnpu_gem_from_pin(drm, pin);
		nnpu_device_exit(ndev, idx);
	}
	if (IS_ERR(obj)) {
		nnpu_pin_destroy(pin);
		return PTR_ERR(obj);
	}
	ret = drm_gem_handle_create(file, obj, &handle);
	/* The handle holds the object now. */
	drm_gem_object_put(obj);
	if (!ret)
		args->handle = handle;
	return ret;
}
