/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PAUSE_H_
#define _NNPU_PAUSE_H_

struct nnpu_device;

void nnpu_pause_init(struct nnpu_device *ndev);
void nnpu_pause_begin(struct nnpu_device *ndev);
void nnpu_pause_end(struct nnpu_device *ndev);
void nnpu_pause_wait(struct nnpu_device *ndev);

#endif /* _NNPU_PAUSE_H_ */
