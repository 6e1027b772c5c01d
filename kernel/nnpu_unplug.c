// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unplug: the driver leaves the device, and open files stay behind without it.
 */
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>

#include "nnpu_admin.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_gem.h"
#include "nnpu_genl.h"
#include "nnpu_queue_watch.h"
#include "nnpu_release.h"
#include "nnpu_reset.h"
#include "nnpu_unplug.h"

/*
 * Stop the device first. A caller that is refused after that, for example
 * by nnpu_device_enter(), may free memory that a job was using.
 *
 * No completion is taken after that, so the jobs in flight end here. What comes later waits for
 * others, which may wait for a fence: an exporter of a dma-buf in a section of nnpu_device_enter().
 */
static void nnpu_unplug_silence(struct nnpu_device *ndev)
{
	bool cookie = dma_fence_begin_signalling();

	/*
	 * Callers that wait for an answer hold reset_sem: wake them first. A device reset that
	 * is under way starts the admin queue again. Code that takes reset_sem after that sees that
	 * no load may begin, and other commands are answered soon or time out. Pairs with
	 * READ_ONCE() in nnpu_command_run(); reset_sem, which a reset takes for writing, orders the
	 * two.
	 */
	WRITE_ONCE(ndev->stopping, true);
	nnpu_admin_stop(ndev);
	down_write(&ndev->reset_sem);
	if (!ndev->dead) {
		nnpu_queue_stop(&ndev->queue);
		nnpu_device_disable(ndev);
		/*
		 * Cut it off even if it did not stop. This stops the admin queue once
		 * more: a reset may have started it again meanwhile.
		 */
		nnpu_reset_cut_off(ndev);
	}
	nnpu_ctx_lose_all(ndev, "removal", false);
	nnpu_queue_abandon(&ndev->queue, NNPU_CID_NONE, 0, -ENODEV);
	up_write(&ndev->reset_sem);
	/* A device that is removed in system sleep is not resumed before. */
	wake_up_all(&ndev->pause_wait);
	dma_fence_end_signalling(cookie);
}

/**
 * nnpu_unplug - take the driver off the device
 * @ndev: device, present or already removed
 *
 * Jobs end with -ENODEV, also those that wait for in-fences: nobody waits for these, only the fence
 * of such a job does. Open files, fences and buffers keep memory only, which is freed with the last
 * of them.
 */
void nnpu_unplug(struct nnpu_device *ndev)
{
	struct drm_device *drm = &ndev->drm;

	nnpu_netlink_remove(ndev);
	nnpu_unplug_silence(ndev);
	/* From here on only this function and debugfs use registers or DMA memory. */
	nnpu_device_wait_users(ndev);
	/* This waits for debugfs, and for sections of other drivers. */
	drm_dev_unplug(drm);
	nnpu_userq_unplug(ndev);
	nnpu_irq_free(ndev);
	nnpu_queue_watch_stop(ndev);
	nnpu_reset_fini(ndev);
	nnpu_dump_fini(ndev);
	/* Removed in system sleep: what waits for the end of that ends. Mappings go later. */
	nnpu_sleep_end(ndev);
	nnpu_sched_fini(ndev);

	nnpu_release_flush(&ndev->release);
	nnpu_ctx_unplug_all(ndev);
	nnpu_gem_unplug_all(ndev);
	nnpu_userq_fini(ndev);
	nnpu_queue_fini(ndev);
	nnpu_admin_fini(ndev);
	dma_free_coherent(drm->dev, sizeof(*ndev->identify), ndev->identify_mem,
			  ndev->identify_dma);
}
