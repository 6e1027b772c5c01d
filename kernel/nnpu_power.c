// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runtime power management and the performance level.
 *
 *   high     a user queue has a hardware queue: its process may ring at any time
 *            without a call into the driver
 *   medium   jobs have not ended, or the autosuspend delay has not passed
 *   low      no job and no such queue for power/autosuspend_delay_ms: the device is
 *            runtime-suspended. Its engines sleep and free the memory that they keep
 *            between jobs
 *
 * A job holds a reference from SUBMIT to its end, a user queue holds one while it has a
 * hardware queue. Open files, buffers, programs and parked queues hold none. A suspended
 * device keeps its state and still executes commands and jobs, but slower. So no other
 * part of the driver has to resume it.
 */
#include <linux/device.h>
#include <linux/pm_runtime.h>
#include <linux/sysfs.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_device.h"
#include "nnpu_pause.h"
#include "nnpu_power.h"

/* Default of power/autosuspend_delay_ms. */
#define NNPU_POWER_DELAY_MS	2000

/**
 * nnpu_power_init - prepare
 * @ndev: device
 */
void nnpu_power_init(struct nnpu_device *ndev)
{
	mutex_init(&ndev->power.lock);
}

/**
 * nnpu_power_enable - from now on the device may be suspended
 * @ndev: device, registered
 *
 * Drops the reference that the bus holds during probe.
 */
void nnpu_power_enable(struct nnpu_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	ndev->bus->keep_state(ndev);
	/*
	 * While it is runtime-suspended it keeps its state, in system sleep it does not: the
	 * core must not leave it as it is and out of both.
	 */
	dev_pm_set_driver_flags(dev, DPM_FLAG_NO_DIRECT_COMPLETE);
	pm_runtime_set_autosuspend_delay(dev, NNPU_POWER_DELAY_MS);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_allow(dev);
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
}

/**
 * nnpu_power_disable - undo nnpu_power_enable()
 * @ndev: device, awake
 */
void nnpu_power_disable(struct nnpu_device *ndev)
{
	struct device *dev = ndev->drm.dev;

	pm_runtime_get_noresume(dev);
	pm_runtime_forbid(dev);
	pm_runtime_dont_use_autosuspend(dev);
}

/**
 * nnpu_power_get - the device is in use
 * @ndev: device
 *
 * Sleeps, for an admin command at most. There is no error: a device that does not change
 * its level works nevertheless.
 */
void nnpu_power_get(struct nnpu_device *ndev)
{
	int ret = pm_runtime_get_sync(ndev->drm.dev);

	if (ret < 0)
		drm_dbg(&ndev->drm, "not resumed: %d\n", ret);
}

/**
 * nnpu_power_put - undo nnpu_power_get()
 * @ndev: device
 *
 * Any context.
 */
void nnpu_power_put(struct nnpu_device *ndev)
{
	pm_runtime_mark_last_busy(ndev->drm.dev);
	pm_runtime_put_autosuspend(ndev->drm.dev);
}

/**
 * nnpu_power_get_queue - a user queue gets a hardware queue
 * @ndev: device
 *
 * As nnpu_power_get(). When it returns the device is at its high level.
 */
void nnpu_power_get_queue(struct nnpu_device *ndev)
{
	/* Before the resume: then it sets the high level at once. */
	atomic_inc(&ndev->power.queues);
	nnpu_power_get(ndev);
	nnpu_power_update(ndev);
}

/**
 * nnpu_power_put_queue - undo nnpu_power_get_queue()
 * @ndev: device
 *
 * Any context. The level falls with the next nnpu_power_update(), at the latest
 * when the device is suspended.
 */
void nnpu_power_put_queue(struct nnpu_device *ndev)
{
	atomic_dec(&ndev->power.queues);
	nnpu_power_put(ndev);
}

static u32 nnpu_power_wanted(struct nnpu_power *power)
{
	lockdep_assert_held(&power->lock);
	if (power->suspended)
		return NNPU_PERF_LOW;
	return atomic_read(&power->queues) ? NNPU_PERF_HIGH : NNPU_PERF_MEDIUM;
}

/**
 * nnpu_power_update - bring the device to the level that its use calls for
 * @ndev: device
 *
 * Sleeps, for an admin command at most.
 */
void nnpu_power_update(struct nnpu_device *ndev)
{
	struct nnpu_sqe_set_perf sqe = { .opcode = NNPU_ADMIN_SET_PERF };
	struct nnpu_power *power = &ndev->power;
	struct nnpu_admin_result result;
	u32 level, now;
	int idx;

	if (!(ndev->features & NNPU_FEATURE_PERF_LEVELS) || !nnpu_device_enter(ndev, &idx))
		return;
	mutex_lock(&power->lock);
	level = nnpu_power_wanted(power);
	/* Read it from the device: a reset changes it, too. All ones: the device is gone. */
	now = nnpu_read(ndev, NNPU_REG_PERF_LEVEL);
	if (now != level && now < NNPU_PERF_NUM &&
	    nnpu_read(ndev, NNPU_REG_PERF_CAPS) & BIT(level)) {
		sqe.level = cpu_to_le32(level);
		if (nnpu_command_exec(ndev, NULL, &sqe, &result) || result.status)
			drm_dbg(&ndev->drm, "performance level %u was refused\n", level);
	}
	mutex_unlock(&power->lock);
	nnpu_device_exit(ndev, idx);
}

static void nnpu_power_set_suspended(struct nnpu_device *ndev, bool suspended)
{
	mutex_lock(&ndev->power.lock);
	ndev->power.suspended = suspended;
	mutex_unlock(&ndev->power.lock);
	nnpu_power_update(ndev);
}

static int nnpu_power_runtime_suspend(struct device *dev)
{
	struct nnpu_device *ndev = dev_get_drvdata(dev);

	nnpu_power_set_suspended(ndev, true);
	if (ndev->bus->suspend)
		ndev->bus->suspend(ndev);
	return 0;
}

static int nnpu_power_runtime_resume(struct device *dev)
{
	struct nnpu_device *ndev = dev_get_drvdata(dev);

	if (ndev->bus->resume)
		ndev->bus->resume(ndev);
	nnpu_power_set_suspended(ndev, false);
	return 0;
}

/* System sleep: the bus may turn the power off. */
static int nnpu_power_sleep(struct device *dev)
{
	struct nnpu_device *ndev = dev_get_drvdata(dev);

	nnpu_sleep_begin(ndev);
	nnpu_pause_begin(ndev);
	nnpu_sleep_check(ndev);
	if (ndev->bus->power_off)
		ndev->bus->power_off(ndev);
	return 0;
}

static int nnpu_power_wake(struct device *dev)
{
	struct nnpu_device *ndev = dev_get_drvdata(dev);
	int ret = ndev->bus->power_on ? ndev->bus->power_on(ndev) : 0;

	if (ret)
		drm_err(&ndev->drm, "no power after system sleep: %d\n", ret);
	/*
	 * Whatever happened: it finds a device that does not answer dead, and wakes all that wait.
	 */
	nnpu_pause_end(ndev);
	nnpu_sleep_end(ndev);
	return ret;
}

const struct dev_pm_ops nnpu_power_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(nnpu_power_sleep, nnpu_power_wake)
	RUNTIME_PM_OPS(nnpu_power_runtime_suspend, nnpu_power_runtime_resume, NULL)
};

/**
 * nnpu_power_level_name - a performance level as text
 * @level: NNPU_PERF_*
 *
 * Return: its name, "unknown" for all others.
 */
const char *nnpu_power_level_name(u32 level)
{
	static const char * const names[NNPU_PERF_NUM] = {
		[NNPU_PERF_LOW] = "low",
		[NNPU_PERF_MEDIUM] = "medium",
		[NNPU_PERF_HIGH] = "high",
	};

	return level < NNPU_PERF_NUM ? names[level] : "unknown";
}

/* Attributes of the device the driver is bound to. */

static ssize_t perf_level_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nnpu_device *ndev = dev_get_drvdata(dev);
	u32 level;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	level = nnpu_read(ndev, NNPU_REG_PERF_LEVEL);
	nnpu_device_exit(ndev, idx);
	return sysfs_emit(buf, "%s\n", nnpu_power_level_name(level));
}
static DEVICE_ATTR_RO(perf_level);

static umode_t nnpu_power_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	struct nnpu_device *ndev = dev_get_drvdata(kobj_to_dev(kobj));

	return ndev->features & NNPU_FEATURE_PERF_LEVELS ? attr->mode : 0;
}

static struct attribute *nnpu_power_attrs[] = {
	&dev_attr_perf_level.attr,
	NULL
};

static const struct attribute_group nnpu_power_group = {
	.attrs = nnpu_power_attrs,
	.is_visible = nnpu_power_is_visible,
};

const struct attribute_group *nnpu_power_groups[] = {
	&nnpu_power_group,
	NULL
};
