/* SPDX-License-Identifier: MIT */
/*
 * Arbitration between groups, between the contexts of a group, and between the lanes of a
 * context. All functions: dev->lock held.
 */
#ifndef NNPU_EMU_SCHEDULER_H
#define NNPU_EMU_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "nnpu_hw.h"

struct lane;
struct nnpu_ctx;
struct nnpu_device;
struct nnpu_engine;
struct nnpu_queue;

/* The lanes of a context that have one priority. */
struct sched_level {
	struct lane *first;		/* lanes that are ready, oldest first */
	struct lane *last;
	unsigned int active;		/* lanes with work that waits or has begun */
	unsigned int passed;		/* turns of higher levels in a row while work waits here */
	uint64_t vtime;			/* where a lane starts that gets work again, ns */
};

/* The groups of one class. */
struct sched_class {
	struct sched_group *first;	/* groups with ready lanes, oldest first */
	struct sched_group *last;
	unsigned int active;		/* groups with work that waits or has begun */
	unsigned int passed;		/* turns of higher classes in a row while work waits here */
	uint64_t vtime;			/* where a group starts that gets work again, ns */
};

/* The contexts of one group and class. */
struct sched_group {
	struct nnpu_ctx *first;		/* contexts with work that waits or has begun */
	struct nnpu_ctx *last;
	uint16_t weight;		/* the largest of theirs */
	unsigned int num_ready;		/* contexts with ready lanes */
	uint64_t vtime;			/* device time used, by weight, as arbitration counts it */
	uint64_t ctx_vtime;		/* where a context starts that gets work again, ns */
	struct sched_group *prev;	/* groups with ready lanes */
	struct sched_group *next;
};

/* What arbitration knows of a context. */
struct sched_ctx {
	uint8_t class;			/* NNPU_CTX_CLASS_* */
	uint16_t weight;
	struct sched_group *group;
	struct sched_group own;		/* its group if it is in none */
	struct sched_level levels[NNPU_QUEUE_PRIORITY_NUM];
	unsigned int active;		/* lanes */
	unsigned int num_ready;
	uint64_t vtime;			/* device time used, by weight, as arbitration counts it */
	struct nnpu_ctx *prev;		/* contexts of the group with work */
	struct nnpu_ctx *next;
};

/* A fetched entry of a kernel queue that has not begun. */
struct fetched {
	struct nnpu_sqe sqe;
	uint64_t fetched_ns;
	struct fetched *next;
};

/*
 * A lane: entries that execute one after the other. A queue of a context is a lane. The
 * entries of a kernel queue go to a lane of their context.
 */
struct lane {
	struct nnpu_queue *q;
	struct nnpu_ctx *ctx;
	uint8_t priority;
	bool busy;			/* an entry has begun, or an engine serves the queue */
	bool dropping;			/* being reset: its entries do not complete */
	struct nnpu_engine *away;	/* the job that has given way, or NULL */
	struct fetched *first;		/* of a kernel queue */
	struct fetched *last;
	bool active;			/* has work that waits or has begun */
	bool ready;			/* is in the list of its level */
	uint64_t vtime;
	struct lane *prev;
	struct lane *next;
};

/* A new context, which has class and weight and has joined its group. */
void sched_add_ctx(struct nnpu_ctx *ctx);

/* Call these when something has changed that decides whether there is work. */
void sched_update(struct nnpu_device *dev, struct nnpu_queue *q);
void sched_update_lane(struct nnpu_device *dev, struct lane *lane);
/* The same for a queue and its lanes in all contexts: queue_may_begin() has changed. */
void sched_update_all(struct nnpu_device *dev, struct nnpu_queue *q);

/* In dev->contended: a worker is to give memory back. */
#define CONTENDED_MEMORY	(1u << 31)

/* What jobs see at their points has changed. */
void sched_contend(struct nnpu_device *dev);

/* The lane to serve next, or NULL. sched_begin(): its turn begins, and the others are passed over. */
struct lane *sched_pick(struct nnpu_device *dev);
void sched_begin(struct nnpu_device *dev, struct lane *lane);

/* Does @a come before @b, another ready lane, if no others are there? */
bool sched_is_before(const struct nnpu_device *dev, const struct lane *a, const struct lane *b);

/* A kernel queue with entries to fetch, or NULL. */
struct nnpu_queue *sched_pick_fetch(struct nnpu_device *dev);

/* Charge a busy lane, its context and group with device time. */
void sched_charge(struct lane *lane, uint64_t ns);

/* Wake an engine if more is ready than engines look for work. */
void sched_wake(struct nnpu_device *dev);

#endif /* NNPU_EMU_SCHEDULER_H */
