/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NNPU as a platform device of QEMU: what a machine wires up.
 */
#ifndef HW_MISC_NNPU_SYSBUS_H
#define HW_MISC_NNPU_SYSBUS_H

#include "hw/sysbus.h"

#include "nnpu-props.h"

#define TYPE_NNPU_SYSBUS "nnpu-sysbus"

/* Inputs. The reset line is high while the device is held in reset. */
#define NNPU_SYSBUS_RESET	"reset"
/* High while the clock runs, which it does if nothing is connected. */
#define NNPU_SYSBUS_CLOCK	"clock"
/* High while the power domain is on, which it is if nothing is connected. */
#define NNPU_SYSBUS_POWER	"power"

/* Memory regions; the one interrupt is a level. */
enum {
	NNPU_SYSBUS_MMIO_REGS,
	NNPU_SYSBUS_MMIO_DOORBELLS,
};

/* Before it is realized. */
void nnpu_sysbus_set_props(SysBusDevice *sbd, const NnpuGlueProps *props);

#endif /* HW_MISC_NNPU_SYSBUS_H */
