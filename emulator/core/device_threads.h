/* SPDX-License-Identifier: MIT */
/*
 * The threads of a device: the workers, the loaders, the cleaner and the control thread.
 */
#ifndef NNPU_EMU_DEVICE_THREADS_H
#define NNPU_EMU_DEVICE_THREADS_H

#include <stdbool.h>

struct load_worker;
struct nnpu_device;
struct nnpu_engine;

/* False: a thread could not be created. threads_join() ends those that run. */
bool threads_start(struct nnpu_device *dev);
void threads_join(struct nnpu_device *dev);

/* One more worker, without a seat; NULL: there cannot be more. dev->lock held. */
struct nnpu_engine *worker_create(struct nnpu_device *dev);

/* One more loader, idle; NULL: there cannot be more. dev->lock held. */
struct load_worker *load_worker_create(struct nnpu_device *dev);

#endif /* NNPU_EMU_DEVICE_THREADS_H */
