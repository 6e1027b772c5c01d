/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_QUERY_H_
#define _NNPU_QUERY_H_

struct drm_device;
struct drm_file;

int nnpu_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _NNPU_QUERY_H_ */
