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
struct nnpu_ctx;
struct nnpu_device;
struct nnpu_queue;

/*
 * Fetch the entries of a kernel queue and give them to the lanes of their contexts. Drops the
 * lock inside.
 */
void fetch_entries(struct nnpu_device *dev, struct nnpu_queue *q);

uint64_t fetch_pool_bytes(uint32_t entries);

/* The room for fetched entries of a kernel queue. dev->lock not held. NULL: no memory. */
struct fetched *fetch_make_pool(struct nnpu_device *dev, uint32_t entries);

/* Have it freed. No entry of it is in use. */
void fetch_end_pool(struct nnpu_device *dev, struct nnpu_queue *q);

/* The next entry of a lane, which now begins. fetch_put() gives it back. */
struct fetched *fetch_take(struct nnpu_device *dev, struct lane *lane);

void fetch_put(struct nnpu_queue *q, struct fetched *f);

/* An entry has ended, or is dropped. */
void fetch_end(struct nnpu_device *dev, struct nnpu_queue *q);

/*
 * Drop what waits of a context and a queue. With @irqs it completes with INVALID_CTX. Drops the
 * lock now and then.
 */
struct irqs;
void fetch_drop(struct nnpu_device *dev, struct nnpu_ctx *ctx, unsigned int qid,
		struct irqs *irqs);

/* Drop what waits of a queue, without completions. Drops the lock now and then. */
void fetch_drop_queue(struct nnpu_device *dev, struct nnpu_queue *q);

/* Complete the entry @cid with ABORTED if it waits. False: it does not. */
bool fetch_abort(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		 struct irqs *irqs);

/* The same for all that waits of a context. Drops the lock now and then. */
bool fetch_abort_ctx(struct nnpu_device *dev, struct nnpu_queue *q, struct nnpu_ctx *ctx,
		     struct irqs *irqs);

/* Does the entry @cid wait? */
bool fetch_has(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid);

/* Fetch what was announced so far. The control thread. */
void fetch_all(struct nnpu_device *dev, struct nnpu_queue *q);

#endif /* NNPU_EMU_FETCH_H */
