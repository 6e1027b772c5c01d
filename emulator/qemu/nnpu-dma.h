/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to guest memory by the threads of a device.
 *
 * The threads never take the big lock (BQL), because whoever waits for them to end holds
 * it. So they access RAM directly, and nothing else: an access to MMIO needs the lock, and
 * could reach another device or this one.
 */
#ifndef HW_MISC_NNPU_DMA_H
#define HW_MISC_NNPU_DMA_H

#include "exec/memory.h"
#include "qemu/queue.h"
#include "qemu/thread.h"

#include "core/device_model.h"

/* A thread that accesses memory. */
typedef struct NnpuDmaThread {
	bool active;			/* an access is in progress */
	QLIST_ENTRY(NnpuDmaThread) next;
} NnpuDmaThread;

/* State that the threads of one device share. */
typedef struct NnpuDma {
	AddressSpace *as;
	struct nnpu_device *device;	/* set when it has been created: it accesses nothing before */
	QemuMutex lock;			/* of threads */
	QLIST_HEAD(, NnpuDmaThread) threads;
} NnpuDma;

void nnpu_dma_init(NnpuDma *dma, AddressSpace *as);
void nnpu_dma_fini(NnpuDma *dma);

/* The calling thread begins to access memory; it ends to do so. */
void nnpu_dma_thread_begin(NnpuDma *dma);
void nnpu_dma_thread_end(NnpuDma *dma);

/* 0, or -1: no RAM there. Between begin and end, by threads registered with RCU. */
int nnpu_dma_read(NnpuDma *dma, uint64_t addr, void *buf, size_t len);
int nnpu_dma_write(NnpuDma *dma, uint64_t addr, const void *buf, size_t len);

/* As nnpu_bus_ops.dma_publish(). */
int nnpu_dma_publish(NnpuDma *dma, uint64_t addr, const void *buf, size_t len);

/*
 * The guest has withdrawn memory from the device, or nnpu_device_may_access() gives false since
 * then. After this call an access that began before is in progress as long as nnpu_dma_is_busy()
 * says so: it does so no longer than copying one piece takes.
 */
void nnpu_dma_withdraw(NnpuDma *dma);
bool nnpu_dma_is_busy(NnpuDma *dma);

/* The same, and wait until none is in progress. */
void nnpu_dma_wait_idle(NnpuDma *dma);

#endif /* HW_MISC_NNPU_DMA_H */
