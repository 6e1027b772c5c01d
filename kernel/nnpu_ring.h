/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_RING_H_
#define _NNPU_RING_H_

#include <linux/types.h>

#include "nnpu_hw.h"

/**
 * struct nnpu_sq - submission ring, the side that writes
 * @entries: ring memory
 * @size: entries of the ring, power of two
 * @tail: index of the next entry to write
 * @head: index of the oldest entry the device may not have fetched yet
 */
struct nnpu_sq {
	struct nnpu_sqe *entries;
	u32 size;
	u32 tail;
	u32 head;
};

/**
 * struct nnpu_cq - completion ring, the side that reads
 * @entries: ring memory
 * @size: entries of the ring, power of two
 * @head: index of the next entry to read
 * @phase: phase bit of entries that are new on this pass
 */
struct nnpu_cq {
	struct nnpu_cqe *entries;
	u32 size;
	u32 head;
	u16 phase;
};

void nnpu_ring_sq_init(struct nnpu_sq *sq, void *mem, u32 size);
u32 nnpu_ring_credits(u32 entries, u32 users, u32 wanted);
u32 nnpu_ring_sq_room(const struct nnpu_sq *sq);
int nnpu_ring_sq_push(struct nnpu_sq *sq, const struct nnpu_sqe *sqe);
int nnpu_ring_sq_fetched(struct nnpu_sq *sq, u16 head);

void nnpu_ring_cq_init(struct nnpu_cq *cq, void *mem, u32 size);
bool nnpu_ring_cq_pop(struct nnpu_cq *cq, struct nnpu_cqe *cqe);

#endif /* _NNPU_RING_H_ */
