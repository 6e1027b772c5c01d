/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a board has around an NNPU: sysbus devices with one memory region and one output each.
 */
#ifndef HW_MISC_NNPU_BOARD_H
#define HW_MISC_NNPU_BOARD_H

#include "qemu/units.h"

/* A page of the largest size that a guest may have. */
#define NNPU_BOARD_MMIO_SIZE	(64 * KiB)

/* The output is high while the device is held in reset, as it is at power-on. */
#define TYPE_NNPU_RESET_CONTROL	"nnpu-reset-control"

/* The output is high while the domain is on. It is off at power-on. */
#define TYPE_NNPU_POWER_DOMAIN	"nnpu-power-domain"

#endif /* HW_MISC_NNPU_BOARD_H */
