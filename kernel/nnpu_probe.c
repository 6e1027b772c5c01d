// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up of the device, whatever its bus.
 */
#include <linux/dma-mapping.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_debugfs.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_gem.h"
#include "nnpu_identify.h"
#include "nnpu_genl.h"
#include "nnpu_pause.h"
#include "nnpu_probe.h"
#include "nnpu_queue_watch.h"
#include "nnpu_reset.h"
#include "nnpu_sync.h"
#include "nnpu_tally.h"
#include "nnpu_unplug.h"

/* The last context of an open file may outlive the binding. */
static void nnpu_probe_quota_put(struct drm_device *drm, void *data)
{
	nnpu_quota_put(data);
}

static void nnpu_probe_release_fini(struct drm_device *drm, void *data)
{
	nnpu_release_fini(data);
}

/* After success nnpu_unplug() undoes it. */
static int nnpu_probe_bring_up(struct nnpu_device *ndev)
{
	struct drm_device *drm = &ndev->drm;
	int ret;

	/* Programs, tensors and rings are little-endian, also where processes write them. */
	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN)) {
		drm_err(drm, "a big-endian kernel is not supported\n");
		return -EOPNOTSUPP;
	}
	init_rwsem(&ndev->reset_sem);
	nnpu_gem_init(ndev);
	init_waitqueue_head(&ndev->unplug_wait);
	nnpu_pause_init(ndev);
	nnpu_sleep_init(ndev);
	nnpu_power_init(ndev);
	nnpu_netlink_init_device(ndev);
	ret = nnpu_tally_init_device(ndev);
	if (ret)
		return ret;
	/* Before the releases: they end later, and enter sections until then. */
	ret = nnpu_device_init_users(ndev);
	if (ret)
		return ret;
	ret = nnpu_release_init(&ndev->release);
	if (ret)
		return ret;
	ret = drmm_add_action_or_reset(drm, nnpu_probe_release_fini, &ndev->release);
	if (ret)
		return ret;
	ret = nnpu_identify_registers(ndev);
	if (ret)
		return ret;
	nnpu_table_init(&ndev->contexts, 1, ndev->limits.max_contexts);
	ndev->quota = nnpu_quota_create(ndev->limits.max_contexts);
	if (!ndev->quota)
		return -ENOMEM;
	ret = drmm_add_action_or_reset(drm, nnpu_probe_quota_put, ndev->quota);
	if (ret)
		return ret;
	ndev->identify = drmm_kzalloc(drm, sizeof(*ndev->identify), GFP_KERNEL);
	if (!ndev->identify)
		return -ENOMEM;
	/* Firmware or another kernel may have left it running. */
	ret = nnpu_device_hw_reset(ndev);
	if (ret)
		return ret;

	ret = nnpu_sync_probe(ndev);
	if (ret)
		return ret;
	ndev->identify_mem = dma_alloc_coherent(drm->dev, sizeof(*ndev->identify),
						&ndev->identify_dma, GFP_KERNEL);
	if (!ndev->identify_mem)
		return -ENOMEM;
	ret = nnpu_admin_init(ndev);
	if (ret)
		goto err_identify;
	ret = nnpu_queue_init(ndev);
	if (ret)
		goto err_admin;
	ret = nnpu_dump_init(ndev);
	if (ret)
		goto err_queue;
	nnpu_userq_lend_init(ndev);
	nnpu_userq_watch_init(ndev);
	ret = nnpu_userq_init(ndev);
	if (ret)
		goto err_dump;
	nnpu_queue_watch_init(ndev);
	nnpu_sched_init(ndev);
	ret = nnpu_reset_init(ndev);
	if (ret)
		goto err_userq;
	ret = nnpu_irq_request(ndev);
	if (ret)
		goto err_recovery;
	nnpu_device_start_dma(ndev);
	ret = nnpu_reset_start(ndev);
	if (!ret)
		ret = nnpu_identify_command(ndev);
	if (ret)
		goto err_stop;
	nnpu_debugfs_init(ndev);
	return 0;

err_stop:
	if (nnpu_device_hw_reset(ndev))
		drm_err(drm, "device does not reset\n");
	ndev->bus->stop_dma(ndev);
	nnpu_irq_free(ndev);
err_recovery:
	nnpu_sched_fini(ndev);
	nnpu_queue_watch_stop(ndev);
	nnpu_reset_fini(ndev);
err_userq:
	nnpu_userq_fini(ndev);
err_dump:
	nnpu_dump_fini(ndev);
err_queue:
	nnpu_queue_fini(ndev);
err_admin:
	nnpu_admin_fini(ndev);
err_identify:
	dma_free_coherent(drm->dev, sizeof(*ndev->identify), ndev->identify_mem,
			  ndev->identify_dma);
	return ret;
}

/**
 * nnpu_probe - bring the device up, and let user space have it
 * @ndev: device, allocated with devm_drm_dev_alloc(); the bus code has filled in its
 *	fields
 *
 * After success the bus code calls nnpu_remove() or nnpu_unplug() in the end.
 *
 * Return: 0 or a negative errno.
 */
int nnpu_probe(struct nnpu_device *ndev)
{
	int ret = nnpu_probe_bring_up(ndev);

	if (ret)
		return ret;
	ret = drm_dev_register(&ndev->drm, 0);
	if (ret) {
		nnpu_unplug(ndev);
		return ret;
	}
	nnpu_netlink_add(ndev);
	nnpu_power_enable(ndev);
	drm_info(&ndev->drm, "%s, firmware %s\n", ndev->identify->name, ndev->identify->firmware);
	return 0;
}

/**
 * nnpu_remove - take the driver off a device that it had
 * @ndev: device, present or already removed; nnpu_probe() has succeeded
 */
void nnpu_remove(struct nnpu_device *ndev)
{
	nnpu_power_disable(ndev);
	nnpu_unplug(ndev);
	/* Programs see ENODEV: this says why. nnctl doctor looks for it. */
	drm_info(&ndev->drm, "removed\n");
}
