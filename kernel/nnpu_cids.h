/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_CIDS_H_
#define _NNPU_CIDS_H_

#include <linux/types.h>

/* Most commands in flight on one queue pair. */
#define NNPU_CIDS_MAX		8191

/**
 * struct nnpu_cids_entry - an index
 * @owner: owner of the command, NULL if the index is free
 * @generation: of the last id with this index
 * @pins: calls of nnpu_cids_pin(): no command gets the index
 */
struct nnpu_cids_entry {
	void *owner;
	u16 generation;
	u16 pins;
};

/**
 * struct nnpu_cids - command ids in flight
 * @size: ids in use at the same time, at most NNPU_CIDS_MAX
 * @shift: position of the generation in an id
 * @used: ids in use
 * @entries: @size indexes
 *
 * An id is generation << shift | index. So a completion that is late, repeated or has an invented
 * id finds no owner, instead of the wrong one. Generations wrap soon: an id that an ABORT names
 * is pinned until the device has answered, else the ABORT may meet the next command that has
 * the id. Each user of ids has its own range of indexes, so that none waits for another.
 */
struct nnpu_cids {
	u32 size;
	u32 shift;
	u32 used;
	struct nnpu_cids_entry *entries;
};

int nnpu_cids_init(struct nnpu_cids *cids, u32 size);
void nnpu_cids_fini(struct nnpu_cids *cids);
int nnpu_cids_get(struct nnpu_cids *cids, u32 first, u32 count, void *owner);
void *nnpu_cids_find(const struct nnpu_cids *cids, u16 cid);
void nnpu_cids_put(struct nnpu_cids *cids, u16 cid);
void nnpu_cids_pin(struct nnpu_cids *cids, u16 cid);
void nnpu_cids_unpin(struct nnpu_cids *cids, u16 cid);

/* Position of a live command in arrays kept beside the ring. */
static inline u32 nnpu_cids_index(const struct nnpu_cids *cids, u16 cid)
{
	return cid & ((1u << cids->shift) - 1);
}

#endif /* _NNPU_CIDS_H_ */
