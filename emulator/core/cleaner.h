/* SPDX-License-Identifier: MIT */
/*
 * Giving memory back. That takes long if it is large, so a thread of its own does it: neither
 * an admin command nor a job waits for it, and nobody holds a lock meanwhile.
 *
 * Device memory that leaves is no longer counted as used, and cannot be used again before it is
 * free: see dev_mem_reserve(). Objects are in no charge. So that they do not pile up while the
 * thread is at something large, who makes new ones frees old ones: see cleaner_make_room().
 */
#ifndef NNPU_EMU_CLEANER_H
#define NNPU_EMU_CLEANER_H

#include <stddef.h>
#include <stdint.h>

struct nnpu_device;

/* Part of what leaves. */
struct leaving {
	struct leaving *next;
	void (*free)(struct nnpu_device *dev, struct leaving *l);
	uint64_t bytes;			/* of device memory */
};

/* Oldest first. */
struct leaving_list {
	struct leaving *first;
	struct leaving *last;
};

/* Part of an object: memory of malloc() that is no device memory. It may own some. */
struct leaving_object {
	struct leaving leaving;
	uint64_t size;			/* what it takes of the heap */
};

/* Have it freed, after all that was handed over before. dev->lock held. */
void dev_leave(struct nnpu_device *dev, struct leaving *l);
/* The same with @bytes of mem_alloc(), which have room for struct leaving. */
void dev_leave_memory(struct nnpu_device *dev, void *memory, uint64_t bytes);
/* The same with whole pages at the end of such memory, which stays. */
void dev_leave_end(struct nnpu_device *dev, void *end, uint64_t bytes);
/* The same with an object of @size, which is one piece if its leaving.free is not set. */
void dev_leave_object(struct nnpu_device *dev, struct leaving_object *o, uint64_t size);

/*
 * An object of @size is to be made. If too many leave, free some of them, about as much as the
 * new one takes. So there is never more than OBJECTS_LEAVING_MAX or the largest object beside
 * those that can exist at once. The control thread, which alone makes objects; no lock held.
 */
#define OBJECTS_LEAVING_MAX	(256u << 10)
void cleaner_make_room(struct nnpu_device *dev, uint64_t size);

/* The life of the thread. */
void cleaner_run(struct nnpu_device *dev);

#endif /* NNPU_EMU_CLEANER_H */
