/* SPDX-License-Identifier: MIT */
/*
 * Enable, disable, reset. All functions: dev->lock held.
 */
#ifndef NNPU_EMU_RESET_H
#define NNPU_EMU_RESET_H

#include <stdint.h>

struct irqs;
struct nnpu_device;

/* A write to register CTRL. */
void device_write_ctrl(struct nnpu_device *dev, uint32_t value, struct irqs *irqs);

/* Tell the control thread to end all jobs and contexts. */
void device_stop(struct nnpu_device *dev);

/* Control thread: wait for the engines, then free all contexts. Drops the lock inside. */
void dev_end_everything(struct nnpu_device *dev);

#endif /* NNPU_EMU_RESET_H */
