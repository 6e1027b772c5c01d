/* SPDX-License-Identifier: MIT */
/*
 * The control thread: admin commands, resets, the end of everything.
 */
#ifndef NNPU_EMU_ADMIN_H
#define NNPU_EMU_ADMIN_H

struct nnpu_device;

/* The life of the control thread. */
void control_run(struct nnpu_device *dev);

#endif /* NNPU_EMU_ADMIN_H */
