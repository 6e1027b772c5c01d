/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_DEBUGFS_H_
#define _NNPU_DEBUGFS_H_

struct nnpu_device;

#if IS_ENABLED(CONFIG_DEBUG_FS)
void nnpu_debugfs_init(struct nnpu_device *ndev);
#else
static inline void nnpu_debugfs_init(struct nnpu_device *ndev) {}
#endif

#endif /* _NNPU_DEBUGFS_H_ */
