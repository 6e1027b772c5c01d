/* SPDX-License-Identifier: MIT */
/*
 * Fetching entries of kernel queues, whose jobs belong to any context. dev->lock held.
 */
#ifndef NNPU_EMU_FETCH_H
#define NNPU_EMU_FETCH_H

#include <stdbool.h>
#include <stdint.h>

struct fetched;
struct lane;
struct nnpu_device;
struct nnpu_queue;

/*
 * Fetch the entries of a kernel queue and give them to the lanes of their contexts. Drops the
 * lock inside.
 */
void fetch_entries(struct nnpu_device *dev, struct nnpu_queue *q);

/* The next entry of a lane, which now begins. To be freed. */
struct fetched *fetch_take(struct nnpu_device *dev, struct lane *lane);

/* An entry has ended, or is dropped. */
void fetch_end(struct nnpu_device *dev, struct nnpu_queue *q);

/* Drop what waits in a lane; complete it with INVALID_CTX if there are @irqs. */
struct irqs;
void fetch_drop(struct nnpu_device *dev, struct lane *lane, struct irqs *irqs);

/* Drop what waits of a queue, without completions. */
void fetch_drop_queue(struct nnpu_device *dev, struct nnpu_queue *q);

/* Complete the entry @cid with ABORTED if it waits. False: it does not. */
bool fetch_abort(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		 struct irqs *irqs);

#endif /* NNPU_EMU_FETCH_H */
