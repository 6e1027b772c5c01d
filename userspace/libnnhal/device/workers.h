/* SPDX-License-Identifier: MIT */
/*
 * Threads of a device for work that waits for the device: a bounded number, started when they
 * are needed, ended with the device.
 */
#ifndef NNHAL_WORKERS_H
#define NNHAL_WORKERS_H

/* A piece of work. First member of the structure that describes it. */
struct work {
	struct work *next;
	/* Called once, on a thread of the device. May release the device. */
	void (*run)(struct work *work);
};

struct workers;

struct workers *workers_create(void);
/*
 * End the threads and wait for them. No work may be waiting. May be called from a thread of its
 * own, which then ends when its work has returned.
 */
void workers_destroy(struct workers *workers);
/* In a child of fork(), which has none of the threads: free the copy. */
void workers_free_copy(struct workers *workers);
/* Have a thread do the work, after all work added before has begun. 0 or -errno. */
int workers_add(struct workers *workers, struct work *work);

#endif /* NNHAL_WORKERS_H */
