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
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/iommu.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>

#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_print.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_job.h"
#include "nnpu_slot.h"
#include "nnpu_sync.h"

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
	ndev->coherent = !ndev->bounces && !dma_need_sync(dev, dma);
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

/* Bytes that are synchronised between two looks at the scheduler. */
#define NNPU_SYNC_STEP		SZ_1M

/*
 * Part of a buffer, by DMA addresses. An IOMMU may have put pages behind each other that are not
 * contiguous, so there it goes by pages. Sleeps: the process chose how much it is.
 */
static void nnpu_sync_part(struct device *dev, struct sg_table *sgt, u64 offset, u64 length,
			   bool for_cpu, enum dma_data_direction dir)
{
	u64 step = device_iommu_mapped(dev) ? PAGE_SIZE : NNPU_SYNC_STEP, done = 0;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 len = sg_dma_len(sg);

		if (!length)
			return;
		if (offset >= len) {
			offset -= len;
			continue;
		}
		while (length && offset < len) {
			dma_addr_t dma = sg_dma_address(sg) + offset;
			u64 n = min3(length, len - offset, step - (dma & (PAGE_SIZE - 1)));

			if (for_cpu)
				dma_sync_single_for_cpu(dev, dma, n, dir);
			else
				dma_sync_single_for_device(dev, dma, n, dir);
			offset += n;
			length -= n;
			done += n;
			if (done >= NNPU_SYNC_STEP) {
				done = 0;
				cond_resched();
			}
		}
		offset = 0;
	}
}

static void nnpu_sync_slot(struct nnpu_slot *slot, u64 offset, u64 length, bool for_cpu,
			   enum dma_data_direction dir)
{
	struct sg_table *sgt = to_drm_gem_shmem_obj(slot->obj)->sgt;

	/* Unplug has taken the mapping away: the device has ended the job before. */
	if (sgt)
		nnpu_sync_part(slot->ctx->ndev->drm.dev, sgt, slot->offset + offset, length,
			       for_cpu, dir);
}

/**
 * nnpu_sync_job_for_device - the device is about to get a job
 * @job: job; the caller is inside a nnpu_device_enter() section
 *
 * What the job writes, too: it need not write all of it, and the rest must stay as it is.
 */
void nnpu_sync_job_for_device(struct nnpu_job *job)
{
	u32 i;

	if (!job->ranges)
		return;
	job->synced = true;
	for (i = 0; i < job->num_slots; i++) {
		const struct nnpu_sync_range *range = &job->ranges[i];
		bool read = i < job->num_read;

		/* Before the copy: see nnpu_sync_slots_for_device(). */
		if (!read)
			atomic_inc(&job->slots[i]->writers);
		nnpu_sync_slot(job->slots[i], range->offset, range->length, false,
			       read ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL);
	}
}

/**
 * nnpu_sync_job_for_cpu - the device is done with a job
 * @job: job; it holds its slots still
 *
 * Sleeps, and may take as long as the process likes that named the memory: on its behalf only.
 */
void nnpu_sync_job_for_cpu(struct nnpu_job *job)
{
	u32 i;

	if (!job->synced)
		return;
	job->synced = false;
	for (i = job->num_read; i < job->num_slots; i++) {
		const struct nnpu_sync_range *range = &job->ranges[i];

		nnpu_sync_slot(job->slots[i], range->offset, range->length, true,
			       DMA_FROM_DEVICE);
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
 * process is killed, and when unplug or a pause wait for the caller's nnpu_device_enter() section.
 *
 * Return: 0; -EINTR; -ENODEV.
 */
int nnpu_sync_slots_for_device(struct nnpu_ctx *ctx)
{
	struct nnpu_queue *queue = &ctx->ndev->queue;
	struct nnpu_slot *slot;
	int ret = 0;

	if (ctx->ndev->coherent)
		return 0;
	nnpu_queue_hold(queue, ctx);
	mutex_lock(&ctx->lock);
	list_for_each_entry(slot, &ctx->slot_list, node) {
		if (fatal_signal_pending(current))
			ret = -EINTR;
		else if (READ_ONCE(ctx->ndev->stopping))
			ret = -ENODEV;
		if (ret)
			break;
		if (!atomic_read(&slot->writers))
			nnpu_sync_slot(slot, 0, slot->size, false, DMA_TO_DEVICE);
	}
	mutex_unlock(&ctx->lock);
	nnpu_queue_go_on(queue, ctx);
	return ret;
}
