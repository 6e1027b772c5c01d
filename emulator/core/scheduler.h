/* SPDX-License-Identifier: MIT */
/*
 * Arbitration between queues. All functions: dev->lock held.
 */
#ifndef NNPU_EMU_SCHEDULER_H
#define NNPU_EMU_SCHEDULER_H

#include <stdint.h>

struct nnpu_device;
struct nnpu_queue;

/* Call it when something has changed that decides whether the queue has work. */
void sched_update(struct nnpu_device *dev, struct nnpu_queue *q);

/* The queue to serve next, or NULL. */
struct nnpu_queue *sched_pick(struct nnpu_device *dev);

/* Charge a busy queue with device time. */
void sched_charge(struct nnpu_queue *q, uint64_t ns);

/* Wake an engine if more queues are ready than engines look for work. */
void sched_wake(struct nnpu_device *dev);

#endif /* NNPU_EMU_SCHEDULER_H */
