// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of jobs on a device that does not see what CPU caches hold, or whose DMA is bounced.
 *
 * Buffers are mapped for the CPU as usual, cached. The driver synchronises what a job names: all
 * of it before the device gets the job, and what the job may write after it has ended, before its
 * fence signals. No more than that: the rest of a buffer may belong to other jobs, or to a CPU
 * that is writing to it.
 *
 * A process that rings the device by itself does not call the driver, so there are no user queues.
 * Memory that somebody else has mapped for the device is refused: who exports a dma-buf
 * synchronises it, and several exporters do so for themselves only.
 *
 * Rings, slot tables, argument blocks and reports are coherent memory (dma_alloc_coherent()). Page
 * tables and images are mapped after they are written.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/iommu.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>

#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_print.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_slot.h"
#include "nnpu_sync.h"
#include "nnpu_sync_walk.h"

/* Does the IOMMU layer of the kernel map memory for the device? */
static bool nnpu_sync_by_iommu(struct device *dev)
{
#ifdef CONFIG_IOMMU_API
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && iommu_is_dma_domain(domain);
#else
	return false;
#endif
}

/**
 * nnpu_sync_probe - find out how the device sees memory
 * @ndev: device; its DMA mask is set. nnpu_device.coherent and nnpu_device.bounces are filled in
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
	/* Bounce buffers have a largest size. They may be needed for other pages only. */
	ndev->bounces = dma_max_mapping_size(dev) != SIZE_MAX;
	ndev->coherent = nnpu_sync_is_coherent(ndev->bounces, dma_need_sync(dev, dma),
					       nnpu_sync_by_iommu(dev),
					       dev_is_dma_coherent(dev));
	dma_unmap_page(dev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	__free_page(page);
	if (!ndev->coherent)
		drm_info(&ndev->drm, "DMA is %s: no user queues, no imported memory\n",
			 ndev->bounces ? "bounced" : "not coherent");
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
 * @ndev: device
 * @dir: direction
 * @job: job that needs it, or NULL
 */
struct nnpu_sync {
	struct nnpu_sync_walk walk;
	struct nnpu_device *ndev;
	enum dma_data_direction dir;
	const struct nnpu_job *job;
};

static void nnpu_sync_for_cpu(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length)
{
	const struct nnpu_sync *sync = container_of(walk, struct nnpu_sync, walk);

	dma_sync_single_for_cpu(sync->ndev->drm.dev, dma, length, sync->dir);
}

static void nnpu_sync_for_device(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length)
{
	const struct nnpu_sync *sync = container_of(walk, struct nnpu_sync, walk);

	dma_sync_single_for_device(sync->ndev->drm.dev, dma, length, sync->dir);
}

/*
 * Does anybody wait for the end of the caller's nnpu_device_enter() section: unplug, a pause, the
 * process, which is killed, or who gives the context up? None of them
 * waits for more than NNPU_SYNC_STEP bytes of the memory.
 */
static bool nnpu_sync_is_over(const struct nnpu_sync_walk *walk)
{
	const struct nnpu_sync *sync = container_of(walk, struct nnpu_sync, walk);
	const struct nnpu_job *job = sync->job;

	if (READ_ONCE(sync->ndev->stopping) || fatal_signal_pending(current))
		return true;
	/* Just a hint: nnpu_queue_submit() looks again, with the lock. */
	return job && (READ_ONCE(job->ctx->closed) || nnpu_ctx_is_lost(job->ctx));
}

static void nnpu_sync_init(struct nnpu_sync *sync, struct nnpu_device *ndev, bool for_cpu)
{
	struct device *dev = ndev->drm.dev;

	*sync = (struct nnpu_sync) {
		.walk = {
			/* An IOMMU puts pages behind each other that are not contiguous. */
			.piece = device_iommu_mapped(dev) ? PAGE_SIZE : NNPU_SYNC_STEP,
			.sync = for_cpu ? nnpu_sync_for_cpu : nnpu_sync_for_device,
			.stop = for_cpu ? NULL : nnpu_sync_is_over,
		},
		.ndev = ndev,
	};
}

static int nnpu_sync_slot(const struct nnpu_sync *sync, struct nnpu_slot *slot, u64 offset,
			  u64 length)
{
	struct sg_table *sgt = to_drm_gem_shmem_obj(slot->obj)->sgt;

	/* Unplug has taken the mapping away: the device has ended the job before. */
	return sgt ? nnpu_sync_walk(&sync->walk, sgt, slot->offset + offset, length) : 0;
}

/**
 * nnpu_sync_job_for_device - the device is about to get a job
 * @job: job; the caller is inside a nnpu_device_enter() section
 *
 * What the job writes, too: it need not write all of it, and the rest must stay as it is.
 *
 * A job may name more memory than there is, so this can take minutes. If somebody waits for the
 * section, for the job or for the process, it ends after NNPU_SYNC_STEP bytes at the latest: some
 * milliseconds, wherever a page takes less than 10 us.
 *
 * Return: 0: nnpu_queue_submit() or nnpu_sync_job_undo() follows. -ENODEV or -ECANCELED: the device
 * must not get the job.
 */
int nnpu_sync_job_for_device(struct nnpu_job *job)
{
	struct nnpu_device *ndev = job->ctx->ndev;
	struct nnpu_sync sync;
	int ret = 0;
	u32 i;

	if (!job->ranges)
		return 0;
	nnpu_sync_init(&sync, ndev, false);
	sync.job = job;
	/* Before the copy: see nnpu_sync_slots_for_device(). */
	for (i = job->num_read; i < job->num_slots; i++)
		atomic_inc(&job->slots[i]->writers);
	job->synced = true;
	for (i = 0; i < job->num_slots && !ret; i++) {
		const struct nnpu_sync_range *range = &job->ranges[i];

		sync.dir = i < job->num_read ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
		ret = nnpu_sync_slot(&sync, job->slots[i], range->offset, range->length);
	}
	if (!ret)
		return 0;
	nnpu_sync_job_undo(job);
	return READ_ONCE(ndev->dead) ? -ENODEV : -ECANCELED;
}

/**
 * nnpu_sync_job_undo - the device did not get a job
 * @job: job; it holds its slots still
 *
 * The device has written nothing, so there is nothing to synchronise: what the CPU wrote since is
 * not to be lost.
 */
void nnpu_sync_job_undo(struct nnpu_job *job)
{
	u32 i;

	if (!job->synced)
		return;
	job->synced = false;
	for (i = job->num_read; i < job->num_slots; i++)
		atomic_dec(&job->slots[i]->writers);
}

/**
 * nnpu_sync_job_for_cpu - the device is done with a job
 * @job: job; it holds its slots still
 *
 * Sleeps, and may take as long as the process likes that named the memory: on its behalf only, and
 * in no section.
 */
void nnpu_sync_job_for_cpu(struct nnpu_job *job)
{
	struct nnpu_sync sync;
	u32 i;

	if (!job->synced)
		return;
	job->synced = false;
	nnpu_sync_init(&sync, job->ctx->ndev, true);
	sync.dir = DMA_FROM_DEVICE;
	for (i = job->num_read; i < job->num_slots; i++) {
		const struct nnpu_sync_range *range = &job->ranges[i];

		nnpu_sync_slot(&sync, job->slots[i], range->offset, range->length);
		atomic_dec(&job->slots[i]->writers);
	}
}

/**
 * nnpu_sync_slots_for_device - the device is about to read through any slot of a context
 * @ctx: context
 *
 * A program may take its constants from slots, and the driver does not know from which. Jobs do not
 * begin meanwhile. A slot that one in flight writes to is left out: to copy what the CPU has
 * would take from the device what it wrote.
 *
 * There may be more slots than memory, as several may have the same buffer. It ends when the
 * process is killed, and when unplug or a pause wait for the caller's nnpu_device_enter() section:
 * after NNPU_SYNC_STEP bytes at the latest.
 *
 * Return: 0; -EINTR; -ENODEV.
 */
int nnpu_sync_slots_for_device(struct nnpu_ctx *ctx)
{
	struct nnpu_queue *queue = &ctx->ndev->queue;
	struct nnpu_sync sync;
	struct nnpu_slot *slot;
	int ret = 0;

	if (ctx->ndev->coherent)
		return 0;
	nnpu_sync_init(&sync, ctx->ndev, false);
	sync.dir = DMA_TO_DEVICE;
	nnpu_queue_hold(queue, ctx);
	mutex_lock(&ctx->lock);
	list_for_each_entry(slot, &ctx->slot_list, node) {
		if (!atomic_read(&slot->writers))
			ret = nnpu_sync_slot(&sync, slot, 0, slot->size);
		if (ret) {
			ret = fatal_signal_pending(current) ? -EINTR : -ENODEV;
			break;
		}
	}
	mutex_unlock(&ctx->lock);
	nnpu_queue_go_on(queue, ctx);
	return ret;
}
