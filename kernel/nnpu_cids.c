// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command ids: which command a completion is for. No device here. Callers serialise.
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "nnpu_cids.h"

/* Bits of an id. Some are left for the generation, however many ids there are. */
#define NNPU_CIDS_BITS		16
#define NNPU_CIDS_MIN_GENERATION_BITS	3

/**
 * nnpu_cids_init - start with no command in flight
 * @cids: table
 * @size: ids at the same time, at most NNPU_CIDS_MAX
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int nnpu_cids_init(struct nnpu_cids *cids, u32 size)
{
	BUILD_BUG_ON(NNPU_CIDS_MAX >= 1u << (NNPU_CIDS_BITS - NNPU_CIDS_MIN_GENERATION_BITS));

	memset(cids, 0, sizeof(*cids));
	if (!size || size > NNPU_CIDS_MAX)
		return -EINVAL;
	cids->entries = kvcalloc(size, sizeof(*cids->entries), GFP_KERNEL);
	if (!cids->entries)
		return -ENOMEM;
	cids->size = size;
	/* One index is left over, so that NNPU_CID_NONE is no id. */
	cids->shift = order_base_2(size + 1);
	return 0;
}

/**
 * nnpu_cids_fini - free the table
 * @cids: table
 */
void nnpu_cids_fini(struct nnpu_cids *cids)
{
	kvfree(cids->entries);
	memset(cids, 0, sizeof(*cids));
}

/**
 * nnpu_cids_get - get an id for a command
 * @cids: table
 * @first: lowest index that it may have
 * @count: how many indexes it may have from there on
 * @owner: nnpu_cids_find() returns it for the id; not NULL
 *
 * Return: the id, or -EBUSY if all these indexes are in use.
 */
int nnpu_cids_get(struct nnpu_cids *cids, u32 first, u32 count, void *owner)
{
	u32 i;

	for (i = first; i < first + count && i < cids->size; i++) {
		struct nnpu_cids_entry *entry = &cids->entries[i];

		if (entry->owner || entry->pins)
			continue;
		entry->owner = owner;
		entry->generation++;
		cids->used++;
		return (u16)(entry->generation << cids->shift) | i;
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
	u32 i = nnpu_cids_index(cids, cid);

	if (i >= cids->size || (u16)(cids->entries[i].generation << cids->shift) != cid - i)
		return NULL;
	return cids->entries[i].owner;
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
	cids->entries[nnpu_cids_index(cids, cid)].owner = NULL;
	cids->used--;
}

/**
 * nnpu_cids_pin - keep an id from being used again when its command ends
 * @cids: table
 * @cid: id in use
 *
 * Several may do that; each calls nnpu_cids_unpin().
 */
void nnpu_cids_pin(struct nnpu_cids *cids, u16 cid)
{
	cids->entries[nnpu_cids_index(cids, cid)].pins++;
}

/**
 * nnpu_cids_unpin - undo nnpu_cids_pin()
 * @cids: table
 * @cid: id, of a command that may have ended
 */
void nnpu_cids_unpin(struct nnpu_cids *cids, u16 cid)
{
	cids->entries[nnpu_cids_index(cids, cid)].pins--;
}
