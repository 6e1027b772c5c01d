// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reset of the device: everything that was in it is lost. If it does not come back, it is cut off
 * from memory, and what the reset itself has not ended ends with -ENODEV.
 */
#include <linux/dma-fence.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_event.h"
#include "nnpu_reset.h"
#include "nnpu_trace.h"

/**
 * nnpu_reset_start - take the device from reset to running
 * @ndev: device, just reset
 *
 * Return: 0 or a negative errno.
 */
int nnpu_reset_start(struct nnpu_device *ndev)
{
	struct nnpu_qpair *qp = &ndev->admin.qp;
	u32 stride;
	int ret;

	spin_lock_irq(&qp->lock);
	nnpu_qpair_restart(qp, true);
	spin_unlock_irq(&qp->lock);
	nnpu_write(ndev, NNPU_REG_ADMIN_SIZE, (qp->cq.size - 1) << 16 | (qp->sq.size - 1));
	nnpu_write(ndev, NNPU_REG_ADMIN_SQ_LO, lower_32_bits(qp->sq_dma));
	nnpu_write(ndev, NNPU_REG_ADMIN_SQ_HI, upper_32_bits(qp->sq_dma));
	nnpu_write(ndev, NNPU_REG_ADMIN_CQ_LO, lower_32_bits(qp->cq_dma));
	nnpu_write(ndev, NNPU_REG_ADMIN_CQ_HI, upper_32_bits(qp->cq_dma));
	/* The doorbells of the admin queue are found with it: a wrong one is no device to use. */
	nnpu_write(ndev, NNPU_REG_DB_STRIDE, ndev->limits.db_shift);
	stride = nnpu_read(ndev, NNPU_REG_DB_STRIDE);
	if (stride != ndev->limits.db_shift) {
		drm_err(&ndev->drm, "doorbell stride %u refused: it is %u\n",
			ndev->limits.db_shift, stride);
		return -EIO;
	}
	nnpu_write(ndev, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	ret = nnpu_device_poll(ndev, NNPU_REG_STATUS,
			       NNPU_STATUS_REG_READY | NNPU_STATUS_REG_FATAL,
			       NNPU_STATUS_REG_READY, ndev->timeout_ms);
	if (ret)
		return ret;
	return nnpu_queue_create(ndev);
}

/**
 * nnpu_reset_cut_off - stop using the device for good
 * @ndev: device, stopped or not responding; nnpu_device.reset_sem is held for writing
 *
 * Afterwards the driver takes no answer and no completion, and the device cannot access
 * memory.
 */
void nnpu_reset_cut_off(struct nnpu_device *ndev)
{
	lockdep_assert_held_write(&ndev->reset_sem);
	nnpu_admin_stop(ndev);
	nnpu_queue_stop(&ndev->queue);
	ndev->bus->stop_dma(ndev);
	WRITE_ONCE(ndev->dead, true);
}

/**
 * nnpu_reset_device - reset the device and start it anew
 * @ndev: device
 * @why: for the log
 * @guilty_cid: job with an error of its own, or NNPU_CID_NONE
 * @guilty_error: its error
 *
 * On nnpu_device.reset_wq, inside a nnpu_device_enter() section. All contexts are lost, all
 * jobs in flight and all user queues end. A device that does not come back is dead.
 */
void nnpu_reset_device(struct nnpu_device *ndev, const char *why, u16 guilty_cid,
		       int guilty_error)
{
	struct nnpu_queue *queue = &ndev->queue;
	int ret;

	nnpu_queue_hold(queue, NULL);
	/* Unplug stops the device: no fault. */
	if (!READ_ONCE(ndev->stopping))
		nnpu_dump_hang(ndev);
	/* Callers that wait for an answer hold reset_sem: wake them first. */
	nnpu_admin_stop(ndev);
	down_write(&ndev->reset_sem);
	if (ndev->dead)
		goto out;
	drm_warn(&ndev->drm, "device reset: %s, fault %u info %#x\n", why,
		 nnpu_read(ndev, NNPU_REG_FAULT_STATUS), nnpu_read(ndev, NNPU_REG_FAULT_INFO));
	nnpu_queue_stop(queue);
	ret = nnpu_device_hw_reset(ndev);
	if (ret) {
		/*
		 * Nothing may be released while it can write to memory. Jobs that wait end with
		 * -ENODEV, as those that the device has.
		 */
		nnpu_reset_cut_off(ndev);
		guilty_error = -ENODEV;
	}
	nnpu_ctx_lose_all(ndev, why, false);
	/*
	 * After the reset: a process that sees its queue ended may free the rings. Before
	 * the start: then no process can ring the device that runs again.
	 */
	nnpu_userq_lose_all(ndev, NNPU_USERQ_LOST, false);
	nnpu_queue_abandon(queue, guilty_cid, guilty_error, ret ? -ENODEV : -ECANCELED);
	if (!ret) {
		ret = nnpu_reset_start(ndev);
		if (ret)
			nnpu_reset_cut_off(ndev);
	}
	if (ret)
		drm_err(&ndev->drm, "device does not come back, giving up: %d\n", ret);
	atomic64_inc(&ndev->stats.device_resets);
	trace_nnpu_reset(ndev, "device", why, guilty_cid, ret);
	nnpu_event_reset(ndev, NNPU_RESET_SCOPE_DEVICE, NULL, guilty_cid, why, ret);
	/* This also sets the performance level, which the reset changed. */
	nnpu_userq_watch_kick(ndev, true);
out:
	atomic64_inc(&ndev->reset_count);
	up_write(&ndev->reset_sem);
	nnpu_queue_go_on(queue, NULL);
}

static void nnpu_reset_work(struct work_struct *work)
{
	struct nnpu_device *ndev = container_of(work, struct nnpu_device, reset_work);
	bool cookie, asked;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return;
	cookie = dma_fence_begin_signalling();
	/* In any case: a reset that came first may have done what was asked for. */
	asked = xchg(&ndev->reset_asked, false);
	if (atomic64_read(&ndev->reset_count) < atomic64_read(&ndev->reset_wanted))
		nnpu_reset_device(ndev, asked ? "asked for" : "admin command failed",
				  NNPU_CID_NONE, 0);
	dma_fence_end_signalling(cookie);
	nnpu_device_exit(ndev, idx);
}

static void nnpu_reset_queue(struct nnpu_device *ndev, s64 wanted)
{
	s64 old = atomic64_read(&ndev->reset_wanted);

	while (old < wanted && !atomic64_try_cmpxchg(&ndev->reset_wanted, &old, wanted))
		;
	queue_work(ndev->reset_wq, &ndev->reset_work);
}

/**
 * nnpu_reset_sync - have the device reset and wait for it
 * @ndev: device; the caller is inside a nnpu_device_enter() section or unplug is
 *	impossible, and holds neither reset_sem nor a spinlock
 * @generation: nnpu_device.reset_count before the caller saw the device fail. If the
 *	device was reset since, this function does not reset it again
 *
 * Not on nnpu_device.reset_wq. When this returns the device does not access memory that
 * it knew before the call.
 */
void nnpu_reset_sync(struct nnpu_device *ndev, u64 generation)
{
	nnpu_reset_queue(ndev, generation + 1);
	flush_work(&ndev->reset_work);
}

/**
 * nnpu_reset_request - have the device reset, and do not wait for it
 * @ndev: device; the caller is inside a nnpu_device_enter() section
 *
 * Return: what nnpu_device.reset_count is after the reset, at least.
 */
u64 nnpu_reset_request(struct nnpu_device *ndev)
{
	u64 wanted = atomic64_read(&ndev->reset_count) + 1;

	WRITE_ONCE(ndev->reset_asked, true);
	nnpu_reset_queue(ndev, wanted);
	return wanted;
}

/**
 * nnpu_reset_init - prepare resets
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_reset_init(struct nnpu_device *ndev)
{
	INIT_WORK(&ndev->reset_work, nnpu_reset_work);
	/* Fence signals depend on it, and memory reclaim may wait for fences. */
	ndev->reset_wq = alloc_ordered_workqueue("nnpu-reset", WQ_MEM_RECLAIM);
	return ndev->reset_wq ? 0 : -ENOMEM;
}

/**
 * nnpu_reset_fini - end resets for good
 * @ndev: device, unplugged or not yet registered; its watchdog has stopped
 */
void nnpu_reset_fini(struct nnpu_device *ndev)
{
	cancel_work_sync(&ndev->reset_work);
	destroy_workqueue(ndev->reset_wq);
	ndev->reset_wq = NULL;
}
