/* SPDX-License-Identifier: MIT */
/*
 * A queue: submission ring, completion ring, doorbells.
 */
#ifndef NNPU_EMU_QUEUE_H
#define NNPU_EMU_QUEUE_H

#include <stdatomic.h>

#include "interrupts.h"
#include "scheduler.h"
#include "verdict.h"

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_engine;

/* All fields but @progress: dev->lock. */
struct nnpu_queue {
	uint16_t id;
	bool exists;
	uint8_t flags;
	uint16_t vector;
	struct nnpu_ctx *ctx;		/* owner or NULL */
	uint64_t sq_addr;
	uint64_t cq_addr;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t sq_head;
	uint32_t sq_tail;
	uint32_t cq_head;
	uint32_t cq_tail;		/* next entry to write */
	uint16_t phase;
	bool armed;
	uint32_t arm_head;
	bool stopped;
	uint16_t error;			/* NNPU_STATUS_* that stopped it */
	bool busy;			/* an engine serves it */
	bool running;			/* an entry is executing: @cid, the latest to start */
	uint16_t cid;
	uint32_t begun;			/* entries that have begun, and not ended */
	uint32_t fetched;		/* kernel queues: entries fetched, and not ended */
	bool fetch;			/* kernel queues: there are entries to fetch */
	/* Kernel queues: room for fetched entries, as many as the ring has; see fetch.h. */
	struct fetched *pool;
	struct fetched *unused;		/* of those that were in use */
	uint32_t pool_used;		/* those from here on never were */
	bool dropping;			/* being reset or destroyed: no more completions */
	bool held;			/* to be suspended: nothing is fetched */
	/* scheduler.c */
	uint8_t priority;
	struct lane lane;		/* of a context's queue */
	uint64_t busy_ns;		/* device time used since power-on */
	atomic_uint progress;		/* of entries that have ended, and of loads */
};

/* A write to register @reg of a doorbell page. dev->lock must not be held. */
void queue_doorbell(struct nnpu_device *dev, unsigned int qid, uint32_t reg, uint32_t value);

/* Read @count entries from @first on. dev->lock need not be held. 0 or -1. */
int queue_read_entries(struct nnpu_device *dev, const struct nnpu_queue *q, uint32_t first,
		       struct nnpu_sqe *sqe, uint32_t count);

/* All others: dev->lock held. */

/* May a ring have so many entries at this address? */
bool queue_ring_ok(const struct nnpu_device *dev, uint32_t entries, uint64_t addr);

/* Both rings are empty and at their start, the queue is not stopped. */
void queue_rewind(struct nnpu_queue *q);

/* Reset all fields but the id. */
void queue_init(struct nnpu_device *dev, struct nnpu_queue *q);

/* Stop a queue because of a fault. The admin queue takes the device down with it. */
void queue_stop(struct nnpu_device *dev, struct nnpu_queue *q, unsigned int fault,
		unsigned int status, struct irqs *irqs);

/* Kernel queues: is there a place in the device for one more fetched entry? */
bool queue_has_places(const struct nnpu_queue *q);

/*
 * May entries of the queue begin? Whatever picks or starts one asks this in the same hold of
 * the lock. Where the answer changes, sched_update_all() follows.
 */
static inline bool queue_may_begin(const struct nnpu_queue *q)
{
	return q->exists && !q->stopped && !q->dropping && !q->held;
}

/* May the next entry be fetched? */
bool queue_has_work(const struct nnpu_queue *q);

/* How many entries wait that are contiguous in the ring. */
uint32_t queue_entries_waiting(const struct nnpu_queue *q);

/*
 * An entry has been read with result @ret: move the head, or stop the queue. Returns
 * @ret.
 */
int queue_entry_read(struct nnpu_device *dev, struct nnpu_queue *q, int ret,
		     struct irqs *irqs);

/* Has the completion ring room for @count entries? */
bool queue_has_room(const struct nnpu_queue *q, uint32_t count);

/* Write a completion, unless the queue no longer takes any. */
void queue_complete(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		    const struct verdict *v, uint64_t result, bool interrupt,
		    struct irqs *irqs);

/*
 * Save the state for SUSPEND_QUEUE. Returns a status. After SUCCESS nothing changes the
 * queue until queue_init() or queue_unsuspend().
 */
unsigned int queue_suspend(struct nnpu_device *dev, struct nnpu_queue *q, bool idle,
			   struct nnpu_queue_state *state);
void queue_unsuspend(struct nnpu_device *dev, struct nnpu_queue *q);

/* Restore a state that was checked, before the queue exists. */
void queue_resume(struct nnpu_device *dev, struct nnpu_queue *q,
		  const struct nnpu_queue_state *state, struct irqs *irqs);

#endif /* NNPU_EMU_QUEUE_H */
