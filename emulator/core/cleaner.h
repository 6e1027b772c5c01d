/* SPDX-License-Identifier: MIT */
/*
 * Giving memory back. That takes long if it is large, so a thread of its own does it: neither
 * an admin command nor a job waits for it, and nobody holds a lock meanwhile.
 *
 * Memory that leaves is no longer counted as used, and cannot be used again before it is
 * free: see dev_mem_reserve().
 */
#ifndef NNPU_EMU_CLEANER_H
#define NNPU_EMU_CLEANER_H

#include <stdint.h>

struct nnpu_device;

/* Part of what leaves. */
struct leaving {
	struct leaving *next;
	void (*free)(struct nnpu_device *dev, struct leaving *l);
	uint64_t bytes;			/* of device memory */
};

/* Have it freed, after all that was handed over before. dev->lock held. */
void dev_leave(struct nnpu_device *dev, struct leaving *l);
/* The same with @bytes of mem_alloc(), which have room for struct leaving. */
void dev_leave_memory(struct nnpu_device *dev, void *memory, uint64_t bytes);
/* The same with memory of malloc() that is no device memory and begins with @l. */
void dev_leave_object(struct nnpu_device *dev, struct leaving *l);

/* The life of the thread. */
void cleaner_run(struct nnpu_device *dev);

#endif /* NNPU_EMU_CLEANER_H */
