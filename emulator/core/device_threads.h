/* SPDX-License-Identifier: MIT */
/*
 * The threads of a device: the workers, the loaders, the cleaner and the control thread.
 */
#ifndef NNPU_EMU_DEVICE_THREADS_H
#define NNPU_EMU_DEVICE_THREADS_H

#include <stdbool.h>

struct nnpu_device;

/* False: a thread could not be created. threads_join() ends those that run. */
bool threads_start(struct nnpu_device *dev);
void threads_join(struct nnpu_device *dev);

/*
 * One more spare worker, unless there cannot be more. dev->lock held, dropped while the thread
 * is made.
 */
void worker_create(struct nnpu_device *dev);

/* One more loader, idle. False: there cannot be more. The control thread, without dev->lock. */
bool load_worker_create(struct nnpu_device *dev);

#endif /* NNPU_EMU_DEVICE_THREADS_H */
