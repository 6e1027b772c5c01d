// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pause: somebody else takes the device for a while, and its state is lost: system sleep, or a
 * reset of the PCI function. The driver stops the device before, and starts it anew afterwards.
 * All contexts are lost, as in a device reset, but those that nnpu_sleep.c has saved; files and
 * buffers stay.
 */
#include <linux/dma-fence.h>
#include <linux/wait.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_irq.h"
#include "nnpu_pause.h"
#include "nnpu_reset.h"
#include "nnpu_sleep.h"

static void nnpu_pause_silence(struct nnpu_device *ndev)
{
	bool spare_kept = nnpu_sleep_is_active(ndev);
	struct nnpu_queue *queue = &ndev->queue;
	bool stopped;

	lockdep_assert_held_write(&ndev->reset_sem);
	if (!spare_kept)
		nnpu_queue_stop(queue);
	/* If it does not stop: it is cut off, and nnpu_pause_end() resets it again. */
	stopped = !nnpu_device_hw_reset(ndev);
	ndev->bus->stop_dma(ndev);
	/* What it completed until then has ended, and was not merely begun. */
	if (spare_kept) {
		nnpu_queue_process(queue);
		nnpu_queue_stop(queue);
	}
	nnpu_ctx_lose_all(ndev, "pause", spare_kept);
	nnpu_userq_lose_all(ndev, NNPU_USERQ_LOST, spare_kept);
	if (spare_kept)
		nnpu_queue_retain(queue, stopped);
	else
		nnpu_queue_abandon(queue, NNPU_CID_NONE, 0, -ECANCELED);
	/* After the device has stopped: code that is refused may free what the device used. */
	WRITE_ONCE(ndev->paused, true);
	/* Code that saw the device fail before needs no reset any more. */
	atomic64_inc(&ndev->reset_count);
}

/*
 * On nnpu_device.reset_wq, so that no recovery runs beside it. The callers that it wakes ask for a
 * device reset, whose work item finds the device paused.
 */
static void nnpu_pause_work(struct work_struct *work)
{
	struct nnpu_device *ndev = container_of(work, struct nnpu_device, pause_work);
	bool cookie = dma_fence_begin_signalling();

	nnpu_queue_hold(&ndev->queue, NULL);
	/* As in nnpu_unplug_silence(). */
	WRITE_ONCE(ndev->stopping, true);
	nnpu_admin_stop(ndev);
	down_write(&ndev->reset_sem);
	if (!ndev->dead)
		nnpu_pause_silence(ndev);
	up_write(&ndev->reset_sem);
	nnpu_queue_go_on(&ndev->queue, NULL);
	dma_fence_end_signalling(cookie);
}

/**
 * nnpu_pause_init - prepare pauses
 * @ndev: device
 */
void nnpu_pause_init(struct nnpu_device *ndev)
{
	INIT_WORK(&ndev->pause_work, nnpu_pause_work);
	init_waitqueue_head(&ndev->pause_wait);
}

/**
 * nnpu_pause_begin - stop using the device until nnpu_pause_end()
 * @ndev: device, registered
 *
 * When this returns nobody uses registers or doorbells, interrupt handlers and processes included,
 * and the device accesses no memory. All contexts are lost, all user queues have ended, and jobs
 * end with -ECANCELED: those in flight, and those that wait. After
 * nnpu_sleep_begin() what was saved waits instead. The caller keeps unplug away.
 */
void nnpu_pause_begin(struct nnpu_device *ndev)
{
	/* There are no resets after shutdown, which leaves the driver bound. */
	if (!READ_ONCE(ndev->dead)) {
		queue_work(ndev->reset_wq, &ndev->pause_work);
		flush_work(&ndev->pause_work);
	}
	nnpu_irq_ignore(ndev);
	/* What nnpu_userq_lend_work() has begun to zap is not on the list any more. */
	nnpu_userq_zap_lost(ndev);
	flush_delayed_work(&ndev->userqs.work);
	nnpu_device_wait_users(ndev);
}

static int nnpu_pause_start(struct nnpu_device *ndev)
{
	/* Nobody knows what state it is in. */
	int ret = nnpu_device_hw_reset(ndev);

	if (ret)
		return ret;
	nnpu_device_start_dma(ndev);
	return nnpu_reset_start(ndev);
}

static void nnpu_pause_lose_kept(struct nnpu_device *ndev)
{
	nnpu_ctx_lose_all(ndev, "system sleep", false);
	nnpu_userq_lose_all(ndev, NNPU_USERQ_LOST, false);
}

/* Start the device, with the contexts that system sleep has saved if it takes them. */
static int nnpu_pause_restart(struct nnpu_device *ndev)
{
	int ret = nnpu_pause_start(ndev);

	if (!nnpu_sleep_is_active(ndev))
		return ret;
	if (!ret && nnpu_sleep_restore(ndev)) {
		drm_err(&ndev->drm, "no answer after system sleep, all contexts are lost\n");
		nnpu_admin_stop(ndev);
		/* A process that sees a context lost may free its memory. */
		if (nnpu_device_hw_reset(ndev))
			ndev->bus->stop_dma(ndev);
		nnpu_pause_lose_kept(ndev);
		ret = nnpu_pause_start(ndev);
	}
	if (ret)
		nnpu_pause_lose_kept(ndev);
	return ret;
}

/**
 * nnpu_pause_end - start the device anew
 * @ndev: device, after nnpu_pause_begin()
 *
 * A device that does not come back is dead.
 */
void nnpu_pause_end(struct nnpu_device *ndev)
{
	int ret = 0, idx;

	down_write(&ndev->reset_sem);
	/* The admin queue needs them for the start. */
	nnpu_irq_heed(ndev);
	if (ndev->paused) {
		ret = nnpu_pause_restart(ndev);
		if (ret)
			nnpu_reset_cut_off(ndev);
		WRITE_ONCE(ndev->paused, false);
	}
	WRITE_ONCE(ndev->stopping, false);
	up_write(&ndev->reset_sem);
	wake_up_all(&ndev->pause_wait);
	if (ret)
		drm_err(&ndev->drm, "device does not come back after a pause: %d\n", ret);
	/* The reset has changed the performance level. */
	if (nnpu_device_enter(ndev, &idx)) {
		nnpu_userq_watch_kick(ndev, true);
		nnpu_device_exit(ndev, idx);
	}
}

/**
 * nnpu_pause_wait - wait until the device is not paused
 * @ndev: device; no nnpu_device_enter() section is open
 *
 * For callers that can do nothing without the device, but lose nothing either. A fatal signal
 * ends the wait. It does not count as frozen: the caller may hold nnpu_file.lock. In system sleep
 * processes are frozen before the pause begins, and any other pause ends soon.
 */
void nnpu_pause_wait(struct nnpu_device *ndev)
{
	/* The caller finds out by itself that the device is still paused. */
	(void)wait_event_killable(ndev->pause_wait, !READ_ONCE(ndev->paused) ||
				  READ_ONCE(ndev->dead));
}
