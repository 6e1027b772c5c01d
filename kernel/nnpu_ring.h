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

/* Commands in flight on one queue pair; the index is the low byte of a cid. */
#define NNPU_CIDS_MAX		64

/**
 * struct nnpu_cids - command ids in flight
 * @size: ids in use at the same time, at most NNPU_CIDS_MAX
 * @used: ids in use
 * @owner: what the id stands for, NULL if free
 * @generation: high byte of the id last given out for this index
 *
 * An id is generation << 8 | index. A completion that comes late, twice or with
 * an invented id finds no owner rather than the wrong one.
 */
struct nnpu_cids {
	u32 size;
	u32 used;
	void *owner[NNPU_CIDS_MAX];
	u8 generation[NNPU_CIDS_MAX];
};

void nnpu_sq_init(struct nnpu_sq *sq, void *mem, u32 size);
u32 nnpu_sq_room(const struct nnpu_sq *sq);
int nnpu_sq_push(struct nnpu_sq *sq, const struct nnpu_sqe *sqe);
int nnpu_sq_fetched(struct nnpu_sq *sq, u16 head);

void nnpu_cq_init(struct nnpu_cq *cq, void *mem, u32 size);
bool nnpu_cq_pop(struct nnpu_cq *cq, struct nnpu_cqe *cqe);

void nnpu_cids_init(struct nnpu_cids *cids, u32 size);
int nnpu_cids_get(struct nnpu_cids *cids, void *owner);
void *nnpu_cids_find(const struct nnpu_cids *cids, u16 cid);
void nnpu_cids_put(struct nnpu_cids *cids, u16 cid);

/* Position of a live command in arrays kept beside the ring. */
static inline u32 nnpu_cid_index(u16 cid)
{
	return cid & 0xff;
}

#endif /* _NNPU_RING_H_ */
