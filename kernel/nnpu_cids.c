// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command ids: which command a completion is for. No device here. Callers serialise.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "nnpu_cids.h"

/**
 * nnpu_cids_init - start with no command in flight
 * @cids: table
 * @size: ids at the same time, at most NNPU_CIDS_MAX
 */
void nnpu_cids_init(struct nnpu_cids *cids, u32 size)
{
	memset(cids, 0, sizeof(*cids));
	cids->size = size;
	cids->pinned = NNPU_CIDS_NO_PIN;
}

/**
 * nnpu_cids_get - get an id for a command
 * @cids: table
 * @owner: nnpu_cids_find() returns it for the id; not NULL
 *
 * Return: the id, or -EBUSY if all are in use.
 */
int nnpu_cids_get(struct nnpu_cids *cids, void *owner)
{
	u32 i;

	for (i = 0; i < cids->size; i++) {
		if (cids->owner[i] || i == cids->pinned)
			continue;
		cids->owner[i] = owner;
		cids->generation[i]++;
		cids->used++;
		return cids->generation[i] << 8 | i;
	}
	return -EBUSY;
}

/**
 * nnpu_cids_find - find the owner of an id that a completion has
 * @cids: table
 * @cid: any value
 *
 * Return: the owner, or NULL if no such command is in flight.
 */
void *nnpu_cids_find(const struct nnpu_cids *cids, u16 cid)
{
	u32 i = nnpu_cid_index(cid);

	if (i >= cids->size || cids->generation[i] != cid >> 8)
		return NULL;
	return cids->owner[i];
}

/**
 * nnpu_cids_put - free the id of a command that has ended
 * @cids: table
 * @cid: id in use
 */
void nnpu_cids_put(struct nnpu_cids *cids, u16 cid)
{
	if (!nnpu_cids_find(cids, cid))
		return;
	cids->owner[nnpu_cid_index(cid)] = NULL;
	cids->used--;
}

/**
 * nnpu_cids_pin - keep an id from being used again when its command ends
 * @cids: table; nothing is pinned
 * @cid: id in use
 */
void nnpu_cids_pin(struct nnpu_cids *cids, u16 cid)
{
	cids->pinned = nnpu_cid_index(cid);
}

/**
 * nnpu_cids_unpin - undo nnpu_cids_pin()
 * @cids: table
 */
void nnpu_cids_unpin(struct nnpu_cids *cids)
{
	cids->pinned = NNPU_CIDS_NO_PIN;
}
