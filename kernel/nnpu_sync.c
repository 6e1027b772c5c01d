// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a device that does not see what CPU caches hold, or whose DMA is bounced.
 *
 * Buffers are mapped for the CPU as usual, cached. The process that uses a buffer says when the CPU
 * is going to access a part of it (BO_PREP) and when the device may have the part again (BO_FINI).
 * A dma-buf of such a buffer does the same for DMA_BUF_IOCTL_SYNC. Jobs synchronise nothing: no
 * fence waits for a walk through caches.
 *
 * A walk is as long as the caller likes, so the caller pays for it: it holds no lock, and its
 * sections of nnpu_device_enter() are those of one step each, so neither unplug nor a pause waits
 * for more than that.
 *
 * Rings, slot tables, argument blocks and reports are coherent memory (dma_alloc_coherent()). Page
 * tables and images are mapped after they are written. A new buffer is synchronised when the first
 * SLOT_BIND maps it.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/freezer.h>
#include <linux/gfp.h>
#include <linux/iommu.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>

#include <drm/drm_file.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_print.h>
#include <drm/drm_utils.h>

#include "nnpu_check.h"
#include "nnpu_device.h"
#include "nnpu_gem.h"
#include "nnpu_pause.h"
#include "nnpu_sync.h"
#include "nnpu_sync_walk.h"

/**
 * nnpu_sync_probe - find out how the device sees memory
 * @ndev: device; its DMA mask is set. nnpu_device.coherent is filled in
 *
 * Return: 0 or a negative errno.
 */
int nnpu_sync_probe(struct nnpu_device *ndev)
{
	struct device *dev = ndev->drm.dev;
	struct page *page = alloc_page(GFP_KERNEL);
	dma_addr_t dma;

	if (!page)
		return -ENOMEM;
	dma = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, dma)) {
		__free_page(page);
		drm_err(&ndev->drm, "the device cannot reach memory: DMA mask or bounce buffers\n");
		return -EIO;
	}
	/* If the device does not reach all memory, other pages may be bounced. */
	ndev->coherent = !dma_need_sync(dev, dma) && !dma_addressing_limited(dev);
	dma_unmap_page(dev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	__free_page(page);
	if (!ndev->coherent)
		drm_info(&ndev->drm,
			 "DMA is not coherent or bounced: no user queues, no imported memory\n");
	return 0;
}

/**
 * nnpu_sync_is_needed - does memory have to be synchronised?
 * @ndev: device
 * @sgt: memory, mapped for the device
 *
 * Return: true if it does.
 */
bool nnpu_sync_is_needed(struct nnpu_device *ndev, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	if (ndev->coherent)
		return false;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (dma_need_sync(ndev->drm.dev, sg_dma_address(sg)))
			return true;
	return false;
}

/**
 * struct nnpu_sync - memory that changes hands
 * @walk: how
 * @dev: device
 * @dir: direction
 */
struct nnpu_sync {
	struct nnpu_sync_walk walk;
	struct device *dev;
	enum dma_data_direction dir;
};

static void nnpu_sync_for_cpu(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length)
{
	const struct nnpu_sync *sync = container_of(walk, struct nnpu_sync, walk);

	dma_sync_single_for_cpu(sync->dev, dma, length, sync->dir);
}

static void nnpu_sync_for_device(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length)
{
	const struct nnpu_sync *sync = container_of(walk, struct nnpu_sync, walk);

	dma_sync_single_for_device(sync->dev, dma, length, sync->dir);
}

/*
 * The mapping of a buffer of our own; it stays as long as nnpu_device_enter() succeeds. NULL: it
 * has none yet, and is synchronised when it gets one.
 */
static int nnpu_sync_find_mapping(struct drm_gem_object *obj, struct sg_table **sgt)
{
	int ret = dma_resv_lock_interruptible(obj->resv, NULL);

	if (ret)
		return ret;
	*sgt = to_drm_gem_shmem_obj(obj)->sgt;
	dma_resv_unlock(obj->resv);
	return 0;
}

/* Begin a section for one step. 0, or why there is none any more. */
static int nnpu_sync_enter(struct nnpu_device *ndev, int *idx)
{
	for (;;) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		/*
		 * System sleep does not wait either: the call begins again after it. Only a signal,
		 * which the freezer sends a little later, has it do so.
		 */
		if (freezing(current) && signal_pending(current))
			return -ERESTARTSYS;
		if (nnpu_device_enter(ndev, idx))
			return 0;
		if (READ_ONCE(ndev->dead))
			return -ENODEV;
		nnpu_pause_wait(ndev);
	}
}

/**
 * nnpu_sync_buffer - give a part of a buffer to the CPU or to the device
 * @obj: buffer; the caller holds a reference, no lock, and is in no nnpu_device_enter() section
 * @offset: first byte
 * @size: bytes; the range is inside the buffer
 * @dir: DMA_FROM_DEVICE: the CPU reads, DMA_TO_DEVICE: it writes, DMA_BIDIRECTIONAL: both
 * @for_cpu: give it to the CPU
 *
 * Costs nothing on a coherent device. Memory of others is coherent: what is not was refused.
 *
 * Return: 0; -ENODEV; -EINTR: the process is killed; -ERESTARTSYS.
 */
int nnpu_sync_buffer(struct drm_gem_object *obj, u64 offset, u64 size,
		     enum dma_data_direction dir, bool for_cpu)
{
	struct nnpu_device *ndev = to_nnpu_device(obj->dev);
	struct device *dev = obj->dev->dev;
	struct nnpu_sync sync = {
		.walk = {
			/* An IOMMU puts pages behind each other that are not contiguous. */
			.piece = device_iommu_mapped(dev) ? PAGE_SIZE : NNPU_SYNC_STEP,
			.sync = for_cpu ? nnpu_sync_for_cpu : nnpu_sync_for_device,
		},
		.dev = dev,
		.dir = dir,
	};
	struct sg_table *sgt;
	bool more;
	int ret, idx;

	if (ndev->coherent || nnpu_gem_is_foreign(obj))
		return READ_ONCE(ndev->dead) ? -ENODEV : 0;
	ret = nnpu_sync_enter(ndev, &idx);
	if (ret)
		return ret;
	ret = nnpu_sync_find_mapping(obj, &sgt);
	if (ret || !sgt) {
		nnpu_device_exit(ndev, idx);
		return ret;
	}
	nnpu_sync_walk_begin(&sync.walk, sgt, offset, size);
	do {
		more = nnpu_sync_walk_step(&sync.walk);
		nnpu_device_exit(ndev, idx);
		if (more)
			ret = nnpu_sync_enter(ndev, &idx);
	} while (more && !ret);
	return ret;
}

/**
 * nnpu_sync_wait - wait for the jobs in the reservation of a buffer that the CPU must wait for
 * @obj: buffer
 * @write: the CPU is going to write: readers count as well
 * @timeout: jiffies; 0: only look
 *
 * Return: 0; -ETIME; -ERESTARTSYS.
 */
int nnpu_sync_wait(struct drm_gem_object *obj, bool write, unsigned long timeout)
{
	enum dma_resv_usage usage = dma_resv_usage_rw(write);
	long ret;

	ret = dma_resv_wait_timeout(obj->resv, usage, true, timeout);
	if (ret < 0)
		return ret;
	return ret ? 0 : -ETIME;
}

static enum dma_data_direction nnpu_sync_dir(u32 flags)
{
	if (!(flags & DRM_NNPU_BO_WRITE))
		return DMA_FROM_DEVICE;
	return flags & DRM_NNPU_BO_READ ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

/**
 * nnpu_sync_prep_ioctl - DRM_NNPU_BO_PREP
 * @drm: device
 * @data: struct drm_nnpu_bo_prep
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_sync_prep_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_nnpu_bo_prep *args = data;
	struct drm_gem_object *obj;
	int ret;

	ret = nnpu_check_prep(args);
	if (ret)
		return ret;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	if (!nnpu_check_range(args->offset, args->size, obj->size))
		ret = -EINVAL;
	if (!ret && !(args->flags & DRM_NNPU_BO_NO_WAIT))
		ret = nnpu_sync_wait(obj, args->flags & DRM_NNPU_BO_WRITE,
				     drm_timeout_abs_to_jiffies(args->timeout_ns));
	if (!ret)
		ret = nnpu_sync_buffer(obj, args->offset, args->size, nnpu_sync_dir(args->flags),
				       true);
	drm_gem_object_put(obj);
	return ret;
}

/**
 * nnpu_sync_fini_ioctl - DRM_NNPU_BO_FINI
 * @drm: device
 * @data: struct drm_nnpu_bo_fini
 * @file: file
 *
 * Return: 0 or a negative errno as documented in nnpu_accel.h.
 */
int nnpu_sync_fini_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_nnpu_bo_fini *args = data;
	struct drm_gem_object *obj;
	int ret;

	ret = nnpu_check_fini(args);
	if (ret)
		return ret;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	if (nnpu_check_range(args->offset, args->size, obj->size))
		ret = nnpu_sync_buffer(obj, args->offset, args->size, nnpu_sync_dir(args->flags),
				       false);
	else
		ret = -EINVAL;
	drm_gem_object_put(obj);
	return ret;
}
