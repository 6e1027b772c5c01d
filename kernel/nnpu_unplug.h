/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_UNPLUG_H_
#define _NNPU_UNPLUG_H_

struct nnpu_device;

void nnpu_unplug(struct nnpu_device *ndev);

#endif /* _NNPU_UNPLUG_H_ */
