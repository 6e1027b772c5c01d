/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the device is in QEMU, whatever bus it is on: its properties, the two register windows,
 * and the bus operations that threads of the device call.
 */
#ifndef HW_MISC_NNPU_GLUE_H
#define HW_MISC_NNPU_GLUE_H

#include "exec/memory.h"
#include "qemu/main-loop.h"

#include "core/device_model.h"
#include "nnpu-dma.h"
#include "nnpu-props.h"

typedef struct NnpuGlue {
	MemoryRegion regs;
	MemoryRegion doorbells;
	/* NULL before nnpu_glue_start() and from nnpu_glue_stop() on. BQL. */
	struct nnpu_device *device;
	/* Accesses read all ones and write nothing: without clock, or in reset. BQL. */
	bool deaf;
	NnpuDma dma;
	/* Raises interrupts. The bus makes it before nnpu_glue_start(). */
	QEMUBH *irq_bh;
	/* The machine stands still: interrupts wait until it goes on, which schedules @irq_bh. BQL. */
	bool is_stopped;
	VMChangeStateEntry *vm_state;
	QEMUTimer *alarm;
	NnpuGlueProps props;
} NnpuGlue;

/* The bus operations that are the same on each bus. The bus is a struct NnpuGlue. */
int nnpu_glue_read(void *bus, uint64_t addr, void *buf, size_t len);
int nnpu_glue_write(void *bus, uint64_t addr, const void *buf, size_t len);
int nnpu_glue_publish(void *bus, uint64_t addr, const void *buf, size_t len);
uint64_t nnpu_glue_now_ns(void *bus);
void nnpu_glue_set_alarm(void *bus, uint64_t ns);
bool nnpu_glue_dma_busy(void *bus);
void nnpu_glue_log(void *bus, enum nnpu_log_level level, const char *text);
bool nnpu_glue_log_wanted(void *bus, enum nnpu_log_level level);
void nnpu_glue_thread_begin(void *bus, const char *name);
void nnpu_glue_thread_end(void *bus);

#define NNPU_GLUE_BUS_OPS				\
	.dma_read = nnpu_glue_read,			\
	.dma_write = nnpu_glue_write,			\
	.dma_publish = nnpu_glue_publish,		\
	.now_ns = nnpu_glue_now_ns,			\
	.set_alarm = nnpu_glue_set_alarm,		\
	.dma_busy = nnpu_glue_dma_busy,			\
	.log = nnpu_glue_log,				\
	.log_wanted = nnpu_glue_log_wanted,		\
	.thread_begin = nnpu_glue_thread_begin,		\
	.thread_end = nnpu_glue_thread_end

/*
 * Check the properties, of which "vectors" 0 stands for one per queue and one for the admin queue,
 * but not more than @max_vectors. Fills in @props but for the kind of interrupts, and makes both
 * register windows for @owner.
 */
bool nnpu_glue_init(NnpuGlue *glue, Object *owner, unsigned int max_vectors,
		    struct nnpu_device_props *props, Error **errp);

/* Create the device, which accesses memory through @as. nnpu_glue_stop() undoes this. */
bool nnpu_glue_start(NnpuGlue *glue, const struct nnpu_device_props *props,
		     const struct nnpu_bus_ops *ops, AddressSpace *as, Error **errp);

/*
 * Power-on reset. When this returns no access to memory is in progress, and none begins before
 * software enables the device again.
 */
void nnpu_glue_power_on_reset(NnpuGlue *glue);

/*
 * Nobody accesses the windows any more. Waits for the threads with the BQL held: they do not need
 * it, and nobody may see a half-removed device.
 */
void nnpu_glue_stop(NnpuGlue *glue);

#endif /* HW_MISC_NNPU_GLUE_H */
