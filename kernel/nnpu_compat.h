/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Out-of-tree build only: names that the headers of older kernels spell differently from the
 * newest 6.12, and the node of kernels without CONFIG_DRM_ACCEL. extmod.mk has every source include
 * it first. The driver itself is written for 6.12; the kernel tree does not need this file.
 */
#ifndef _NNPU_COMPAT_H_
#define _NNPU_COMPAT_H_

#include <linux/module.h>
#include <linux/version.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/gpu_scheduler.h>

/* 6.13: a string, no longer a word. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns)	MODULE_INFO(import_ns, __stringify(ns))
#endif

/*
 * 6.15: the parameters are a structure. 6.17: a job names its DRM client. 6.12 got both in
 * later releases, so extmod.mk looks into the header.
 */
#ifndef NNPU_HAVE_SCHED_INIT_ARGS
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	unsigned int hang_limit;
	long timeout;
	atomic_t *score;
	const char *name;
	struct device *dev;
};

static inline int nnpu_compat_sched_init(struct drm_gpu_scheduler *sched,
					 const struct drm_sched_init_args *args)
{
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs,
			      args->credit_limit, args->hang_limit, args->timeout,
			      args->timeout_wq, args->score, args->name, args->dev);
}

#define drm_sched_init	nnpu_compat_sched_init
#endif

#ifndef NNPU_HAVE_SCHED_CLIENT_ID
static inline int nnpu_compat_sched_job_init(struct drm_sched_job *job,
					     struct drm_sched_entity *entity, u32 credits,
					     void *owner, u64 client_id)
{
	return drm_sched_job_init(job, entity, credits, owner);
}

#define drm_sched_job_init	nnpu_compat_sched_job_init
#endif

/* 6.16: these take the lock themselves, and those for who has it are called _locked. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define drm_gem_vmap_unlocked	drm_gem_vmap
#define drm_gem_vunmap_unlocked	drm_gem_vunmap
#endif

/* Without accel nodes the device is a render node. */
#if !IS_ENABLED(CONFIG_DRM_ACCEL)
#define DRIVER_COMPUTE_ACCEL	DRIVER_RENDER
#define accel_open		drm_open
#endif

#endif /* _NNPU_COMPAT_H_ */
