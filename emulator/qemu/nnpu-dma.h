/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to guest memory by the threads of a device.
 *
 * They never take the big lock, because who waits for their end holds it. So an access
 * goes straight to memory, and to nothing else: that would need the lock, and could end
 * in another device, or in the same one.
 */
#ifndef HW_MISC_NNPU_DMA_H
#define HW_MISC_NNPU_DMA_H

#include "exec/memory.h"
#include "qemu/queue.h"
#include "qemu/thread.h"

/* A thread that makes accesses. */
typedef struct NnpuDmaThread {
	bool active;			/* one is under way */
	QLIST_ENTRY(NnpuDmaThread) next;
} NnpuDmaThread;

/* What threads of one device share. */
typedef struct NnpuDma {
	AddressSpace *as;
	QemuMutex lock;			/* of threads */
	QLIST_HEAD(, NnpuDmaThread) threads;
} NnpuDma;

void nnpu_dma_init(NnpuDma *dma, AddressSpace *as);
void nnpu_dma_fini(NnpuDma *dma);

/* The calling thread will make accesses; it will make no more. */
void nnpu_dma_thread_begin(NnpuDma *dma);
void nnpu_dma_thread_end(NnpuDma *dma);

/* 0, or -1 where there is no memory. Threads that RCU knows, between begin and end. */
int nnpu_dma_read(NnpuDma *dma, uint64_t addr, void *buf, size_t len);
int nnpu_dma_write(NnpuDma *dma, uint64_t addr, const void *buf, size_t len);

/* Within a page; the last two bytes, aligned, in one piece and after everything else. */
int nnpu_dma_publish(NnpuDma *dma, uint64_t addr, const void *buf, size_t len);

/* A hint that it will be accessed; no access. */
void nnpu_dma_prefetch(NnpuDma *dma, uint64_t addr, size_t len, bool is_write);

/*
 * The guest has taken memory away. Who began an access before may still see it; the
 * guest must not go on, and use it for something else, until he is done. Copying a piece
 * is all there is to wait for.
 */
void nnpu_dma_wait_idle(NnpuDma *dma);

#endif /* HW_MISC_NNPU_DMA_H */
