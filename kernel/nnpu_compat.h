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

/* 6.13: a string, no longer a word. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns)	MODULE_INFO(import_ns, __stringify(ns))
#endif

/* 6.16: these take the lock themselves, and those for callers that have it are called _locked. */
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
