/* SPDX-License-Identifier: MIT */
/*
 * The threads of a device: one per engine, and the control thread.
 */
#ifndef NNPU_DEVICE_THREADS_H
#define NNPU_DEVICE_THREADS_H

#include <stdbool.h>

struct nnpu_device;

/* False: a thread could not be created. threads_join() ends those that run. */
bool threads_start(struct nnpu_device *dev);
void threads_join(struct nnpu_device *dev);

/* Control thread: sleep until a job ends. dev->lock held. */
void dev_await_jobs(struct nnpu_device *dev);

/* A job has ended. dev->lock held. */
void dev_job_ended(struct nnpu_device *dev);

/* Performance level: how long engines look for work and keep memory. */
void dev_set_perf(struct nnpu_device *dev, unsigned int level);

#endif /* NNPU_DEVICE_THREADS_H */
