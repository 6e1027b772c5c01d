// SPDX-License-Identifier: GPL-2.0-only
/*
 * NNPU: module and ioctl table.
 */
#include <linux/module.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_print.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_drv.h"
#include "nnpu_file.h"
#include "nnpu_gem.h"
#include "nnpu_genl.h"
#include "nnpu_pci.h"
#include "nnpu_platform.h"
#include "nnpu_prog.h"
#include "nnpu_query.h"
#include "nnpu_release.h"
#include "nnpu_slot.h"
#include "nnpu_submit.h"
#include "nnpu_sync.h"
#include "nnpu_userq.h"

/**
 * DOC: fdinfo
 *
 * Beside the keys common to DRM drivers:
 *
 * drm-engine-npu: time the device has executed jobs of this file, as it says
 * itself, user queues included. A job of SUBMIT that never completed counts from its
 * start to its end.
 *
 * drm-engine-capacity-npu: engines, if there are several.
 *
 * nnpu-jobs-submitted, nnpu-jobs-completed, nnpu-jobs-failed,
 * nnpu-jobs-timedout: as in struct drm_nnpu_context_info, of all contexts of the file.
 * What ends after its context was destroyed counts, too.
 *
 * drm-total-device, drm-resident-device: device memory of the programs that the file has loaded.
 * Scratch memory of jobs is nobody's. The buffers of the file are in drm-total-memory.
 */
static void nnpu_drv_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	const struct nnpu_tally *tally = nnpu_file_tally(file);
	u64 device;

	nnpu_userq_hw_account_all(to_nnpu_device(file->minor->dev), tally);
	drm_printf(p, "drm-engine-npu:\t%llu ns\n",
		   nnpu_tally_counted(tally, NNPU_COUNT_ENGINE_NS));
	if (to_nnpu_device(file->minor->dev)->limits.num_engines > 1)
		drm_printf(p, "drm-engine-capacity-npu:\t%u\n",
			   to_nnpu_device(file->minor->dev)->limits.num_engines);
	drm_printf(p, "nnpu-jobs-submitted:\t%llu\n",
		   nnpu_tally_counted(tally, NNPU_COUNT_SUBMITTED));
	drm_printf(p, "nnpu-jobs-completed:\t%llu\n",
		   nnpu_tally_counted(tally, NNPU_COUNT_COMPLETED));
	drm_printf(p, "nnpu-jobs-failed:\t%llu\n",
		   nnpu_tally_counted(tally, NNPU_COUNT_FAILED));
	drm_printf(p, "nnpu-jobs-timedout:\t%llu\n",
		   nnpu_tally_counted(tally, NNPU_COUNT_TIMEDOUT));
	drm_show_memory_stats(p, file);
	device = atomic64_read(&tally->device_memory);
	drm_printf(p, "drm-total-device:\t%llu\n", device);
	drm_printf(p, "drm-resident-device:\t%llu\n", device);
}

static const struct drm_ioctl_desc nnpu_drv_ioctls[] = {
	DRM_IOCTL_DEF_DRV(NNPU_QUERY, nnpu_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_BO_CREATE, nnpu_gem_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_BO_MMAP, nnpu_gem_mmap_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_BO_PREP, nnpu_sync_prep_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_BO_FINI, nnpu_sync_fini_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_BO_USERPTR, nnpu_gem_userptr_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_SLOT_BIND, nnpu_slot_bind_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_SLOT_UNBIND, nnpu_slot_unbind_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_PROGRAM_LOAD, nnpu_prog_load_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_PROGRAM_UNLOAD, nnpu_prog_unload_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_PROGRAM_SAVE, nnpu_prog_save_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_SUBMIT, nnpu_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_QUEUE_CREATE, nnpu_userq_ioctl_create, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_QUEUE_DESTROY, nnpu_userq_ioctl_destroy, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_QUEUE_WAIT, nnpu_userq_ioctl_wait, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_CONTEXT_CREATE, nnpu_file_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(NNPU_CONTEXT_DESTROY, nnpu_file_destroy_ioctl, DRM_RENDER_ALLOW),
};

/* DRM_ACCEL_FOPS, but for release(). */
static const struct file_operations nnpu_drv_fops = {
	.owner = THIS_MODULE,
	.open = accel_open,
	.release = nnpu_file_release,
	.unlocked_ioctl	= drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.fop_flags = FOP_UNSIGNED_OFFSET,
	.show_fdinfo = drm_show_fdinfo,
};

const struct drm_driver nnpu_drm_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.name = NNPU_DRIVER_NAME,
	.desc = "NNPU neural network accelerator",
	.major = NNPU_DRIVER_MAJOR,
	.minor = NNPU_DRIVER_MINOR,
	.fops = &nnpu_drv_fops,
	.open = nnpu_file_open,
	.postclose = nnpu_file_close,
	.show_fdinfo = nnpu_drv_show_fdinfo,
	.ioctls = nnpu_drv_ioctls,
	.num_ioctls = ARRAY_SIZE(nnpu_drv_ioctls),
	.gem_create_object = nnpu_gem_create_object,
	.gem_prime_import = nnpu_gem_import,
	.gem_prime_import_sg_table = nnpu_gem_import_sg_table,
};

static int __init nnpu_drv_init(void)
{
	int ret;

	ret = nnpu_release_setup();
	if (ret)
		return ret;
	ret = nnpu_sched_setup();
	if (ret)
		goto err_release;
	/* Before the devices, so that no event is missed. */
	ret = nnpu_netlink_setup();
	if (ret)
		goto err_sched;
	ret = nnpu_pci_register();
	if (ret)
		goto err_netlink;
	ret = nnpu_platform_register();
	if (ret)
		goto err_pci;
	return 0;

err_pci:
	nnpu_pci_unregister();
err_netlink:
	nnpu_netlink_teardown();
err_sched:
	nnpu_sched_teardown();
err_release:
	nnpu_release_teardown();
	return ret;
}
module_init(nnpu_drv_init);

static void __exit nnpu_drv_exit(void)
{
	nnpu_platform_unregister();
	nnpu_pci_unregister();
	nnpu_netlink_teardown();
	/* Devices may be on their way out; no file or fence is left. */
	nnpu_release_teardown();
	nnpu_sched_teardown();
	/*
	 * The last fence dropped the last reference of the module in its release, which may not
	 * have returned yet: wait for all tasks, preempted ones, too, and for interrupts. Where
	 * the kernel has no RCU of tasks, it is not preemptible, or has nothing that traces it.
	 */
	synchronize_rcu_tasks();
}
module_exit(nnpu_drv_exit);

MODULE_DESCRIPTION("NNPU neural network accelerator");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(DMA_BUF);
