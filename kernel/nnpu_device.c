// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device apart from its bus: registers, reset and stop.
 */
#include <linux/iopoll.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nnpu_counter.h"
#include "nnpu_device.h"

/**
 * nnpu_device_enter - begin to use registers or DMA memory
 * @ndev: device
 * @idx: for nnpu_device_exit()
 *
 * On the way to a fence signal a section begins before dma_fence_begin_signalling(). lockdep
 * connects what is taken later to the innermost lock only; a section, as a recursive reader,
 * would hide the annotation from it.
 *
 * Return: false if the device is gone, dead or paused. In this case the device does not access
 * memory any more, and the caller may free memory that the device used.
 */
bool nnpu_device_enter(struct nnpu_device *ndev, int *idx)
{
	*idx = srcu_read_lock(&ndev->users);
	if (!READ_ONCE(ndev->dead) && !READ_ONCE(ndev->paused)) {
		/* Sparse does not know sections that a function begins for its caller. */
		__release(&ndev->users);
		return true;
	}
	srcu_read_unlock(&ndev->users, *idx);
	return false;
}

/**
 * nnpu_device_exit - end what nnpu_device_enter() began
 * @ndev: device
 * @idx: from nnpu_device_enter()
 */
void nnpu_device_exit(struct nnpu_device *ndev, int idx)
{
	__acquire(&ndev->users);
	srcu_read_unlock(&ndev->users, idx);
}

static void nnpu_device_fini_users(struct drm_device *drm, void *data)
{
	cleanup_srcu_struct(data);
}

/**
 * nnpu_device_init_users - prepare for nnpu_device_enter() and for reads of counters
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_device_init_users(struct nnpu_device *ndev)
{
	int ret;

	mutex_init(&ndev->counter_lock);
	ret = init_srcu_struct(&ndev->users);
	return ret ?: drmm_add_action_or_reset(&ndev->drm, nnpu_device_fini_users, &ndev->users);
}

/**
 * nnpu_device_wait_users - wait until nobody uses registers or DMA memory any more
 * @ndev: device that nnpu_device_enter() refuses. No lock of the driver is held
 *
 * Sections may last as long as a load, so each device has its own: drm_dev_unplug() waits for
 * those of all DRM devices.
 */
void nnpu_device_wait_users(struct nnpu_device *ndev)
{
	synchronize_srcu(&ndev->users);
}

static u32 nnpu_device_read_any(void *device, u32 reg)
{
	return nnpu_read(device, reg);
}

/**
 * nnpu_device_read_counter - read a counter of 64 bits
 * @ndev: device
 * @lo: its LO register
 *
 * Sleeps, if somebody else just reads one: for two reads of registers.
 *
 * Return: a value that the counter had, whichever way it moves.
 */
u64 nnpu_device_read_counter(struct nnpu_device *ndev, u32 lo)
{
	return nnpu_counter_read(&ndev->counter_lock, nnpu_device_read_any, ndev, lo);
}

static u64 nnpu_device_now(void *device)
{
	return ktime_get_ns();
}

/**
 * nnpu_device_read_clock - read the device clock and that of the CPU
 * @ndev: device
 * @monotonic_ns: gets CLOCK_MONOTONIC
 *
 * Sleeps, if somebody else just reads a counter.
 *
 * Return: device clock, ns; read just after the other one.
 */
u64 nnpu_device_read_clock(struct nnpu_device *ndev, u64 *monotonic_ns)
{
	return nnpu_counter_read_timed(&ndev->counter_lock, nnpu_device_read_any, ndev,
				       NNPU_REG_CLOCK_LO, nnpu_device_now, monotonic_ns);
}

/**
 * nnpu_device_show_register - read a register that may be half of a counter
 * @ndev: device
 * @reg: register
 *
 * For dumps of all registers: they take nobody's HI away.
 *
 * Return: value.
 */
u32 nnpu_device_show_register(struct nnpu_device *ndev, u32 reg)
{
	u32 value;

	mutex_lock(&ndev->counter_lock);
	value = nnpu_read(ndev, reg);
	mutex_unlock(&ndev->counter_lock);
	return value;
}

/**
 * nnpu_device_poll - wait for a register
 * @ndev: device
 * @reg: register
 * @mask: bits to look at
 * @value: what they must be
 * @timeout_ms: how long at most
 *
 * Return: 0; -ETIMEDOUT; -ENODEV if the device does not answer at all.
 */
int nnpu_device_poll(struct nnpu_device *ndev, u32 reg, u32 mask, u32 value, u32 timeout_ms)
{
	u32 v;
	int ret;

	ret = read_poll_timeout(nnpu_read, v, v == U32_MAX || (v & mask) == value, 50,
				(u64)timeout_ms * USEC_PER_MSEC, false, ndev, reg);
	if (v == U32_MAX)
		ret = -ENODEV;
	if (ret)
		drm_err(&ndev->drm, "register %#x is %#x, bits %#x should become %#x: %d\n", reg, v,
			mask, value, ret);
	return ret;
}

static int nnpu_device_await_reset(struct nnpu_device *ndev)
{
	int ret = nnpu_device_poll(ndev, NNPU_REG_STATUS,
				   NNPU_STATUS_REG_RESETTING | NNPU_STATUS_REG_FATAL |
				   NNPU_STATUS_REG_READY, 0, ndev->timeout_ms);
	u32 id;

	if (ret)
		return ret;
	/* Some bridges answer zeros for a device that is not there, which looks like the end. */
	id = nnpu_read(ndev, NNPU_REG_ID);
	if (id == NNPU_ID_MAGIC)
		return 0;
	drm_err(&ndev->drm, "register ID is %#x after a reset\n", id);
	return -ENODEV;
}

/**
 * nnpu_device_hw_reset - reset the device
 * @ndev: device
 *
 * By register, and if that does not help from outside. Afterwards it is disabled and accesses no
 * memory.
 *
 * Return: 0 or a negative errno; then the device is in an unknown state.
 */
int nnpu_device_hw_reset(struct nnpu_device *ndev)
{
	int ret;

	nnpu_write(ndev, NNPU_REG_CTRL, NNPU_CTRL_RESET);
	ret = nnpu_device_await_reset(ndev);
	if (!ret || !ndev->bus->reset)
		return ret;
	drm_warn(&ndev->drm, "no reset by register, using the reset line\n");
	ndev->bus->reset(ndev);
	return nnpu_device_await_reset(ndev);
}

/**
 * nnpu_device_start_dma - let the device access memory
 * @ndev: device, just reset
 */
void nnpu_device_start_dma(struct nnpu_device *ndev)
{
	if (ndev->bus->start_dma)
		ndev->bus->start_dma(ndev);
}

/**
 * nnpu_device_disable - stop the device
 * @ndev: device
 *
 * Return: 0 or a negative errno; then the device is in an unknown state.
 */
int nnpu_device_disable(struct nnpu_device *ndev)
{
	nnpu_write(ndev, NNPU_REG_CTRL, 0);
	return nnpu_device_poll(ndev, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0,
				ndev->timeout_ms);
}
