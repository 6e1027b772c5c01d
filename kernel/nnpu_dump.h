/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_DUMP_H_
#define _NNPU_DUMP_H_

struct nnpu_device;

#if IS_ENABLED(CONFIG_DEV_COREDUMP)
void nnpu_dump_hang(struct nnpu_device *ndev);
#else
static inline void nnpu_dump_hang(struct nnpu_device *ndev) {}
#endif

#endif /* _NNPU_DUMP_H_ */
