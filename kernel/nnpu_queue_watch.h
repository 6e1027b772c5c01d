/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_QUEUE_WATCH_H_
#define _NNPU_QUEUE_WATCH_H_

struct nnpu_device;

void nnpu_queue_watch_init(struct nnpu_device *ndev);
void nnpu_queue_watch_stop(struct nnpu_device *ndev);

#endif /* _NNPU_QUEUE_WATCH_H_ */
