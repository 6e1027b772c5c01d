/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_RESET_H_
#define _NNPU_RESET_H_

#include <linux/types.h>

struct nnpu_device;

int nnpu_reset_init(struct nnpu_device *ndev);
void nnpu_reset_fini(struct nnpu_device *ndev);
int nnpu_reset_start(struct nnpu_device *ndev);
void nnpu_reset_cut_off(struct nnpu_device *ndev);
void nnpu_reset_device(struct nnpu_device *ndev, const char *why, u16 guilty_cid,
		       int guilty_error);
u64 nnpu_reset_request(struct nnpu_device *ndev);
void nnpu_reset_sync(struct nnpu_device *ndev, u64 generation);

#endif /* _NNPU_RESET_H_ */
