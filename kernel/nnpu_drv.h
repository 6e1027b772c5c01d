/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_DRV_H_
#define _NNPU_DRV_H_

struct drm_driver;

extern const struct drm_driver nnpu_drm_driver;

#endif /* _NNPU_DRV_H_ */
