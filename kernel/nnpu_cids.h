/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_CIDS_H_
#define _NNPU_CIDS_H_

#include <linux/types.h>

/* Commands in flight on one queue pair; the index is the low byte of a cid. */
#define NNPU_CIDS_MAX		64

/* struct nnpu_cids: no index is pinned. */
#define NNPU_CIDS_NO_PIN	NNPU_CIDS_MAX

/**
 * struct nnpu_cids - command ids in flight
 * @size: ids in use at the same time, at most NNPU_CIDS_MAX
 * @used: ids in use
 * @pinned: index that no command gets, or NNPU_CIDS_NO_PIN
 * @owner: owner of the command, NULL if the index is free
 * @generation: high byte of the last id with this index
 *
 * An id is generation << 8 | index. So a completion that is late, repeated or has an invented
 * id finds no owner, instead of the wrong one. Generations wrap soon: an id that an ABORT names
 * is pinned until the device has answered, else the ABORT may meet the next command that has
 * the id.
 */
struct nnpu_cids {
	u32 size;
	u32 used;
	u32 pinned;
	void *owner[NNPU_CIDS_MAX];
	u8 generation[NNPU_CIDS_MAX];
};

void nnpu_cids_init(struct nnpu_cids *cids, u32 size);
int nnpu_cids_get(struct nnpu_cids *cids, void *owner);
void *nnpu_cids_find(const struct nnpu_cids *cids, u16 cid);
void nnpu_cids_put(struct nnpu_cids *cids, u16 cid);
void nnpu_cids_pin(struct nnpu_cids *cids, u16 cid);
void nnpu_cids_unpin(struct nnpu_cids *cids);

/* Position of a live command in arrays kept beside the ring. */
static inline u32 nnpu_cid_index(u16 cid)
{
	return cid & 0xff;
}

#endif /* _NNPU_CIDS_H_ */
