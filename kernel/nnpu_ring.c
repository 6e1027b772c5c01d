// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: index arithmetic and memory accesses, no device. Callers serialise.
 *
 * Memory ordering. Submission: the driver writes entries with plain stores; writel() of the
 * doorbell orders them before the device can read them. Completion: the device writes the
 * word with status and phase last. The driver reads this word first, then dma_rmb(), then
 * the rest of the entry.
 */
#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include "nnpu_ring.h"

/**
 * nnpu_ring_sq_init - start with an empty submission ring
 * @sq: ring
 * @mem: memory of @size entries
 * @size: entries, power of two
 */
void nnpu_ring_sq_init(struct nnpu_sq *sq, void *mem, u32 size)
{
	sq->entries = mem;
	sq->size = size;
	sq->tail = 0;
	sq->head = 0;
}

/**
 * nnpu_ring_sq_room - entries that can be pushed
 * @sq: ring
 *
 * One entry stays empty: tail == head means empty, never full.
 *
 * Return: number of entries.
 */
u32 nnpu_ring_sq_room(const struct nnpu_sq *sq)
{
	return sq->size - 1 - ((sq->tail - sq->head) & (sq->size - 1));
}

/**
 * nnpu_ring_sq_push - write an entry behind the last one
 * @sq: ring
 * @sqe: entry, copied
 *
 * The caller then writes sq->tail to the doorbell.
 *
 * Return: 0, or -ENOSPC if the ring is full.
 */
int nnpu_ring_sq_push(struct nnpu_sq *sq, const struct nnpu_sqe *sqe)
{
	if (!nnpu_ring_sq_room(sq))
		return -ENOSPC;
	memcpy(&sq->entries[sq->tail], sqe, sizeof(*sqe));
	sq->tail = (sq->tail + 1) & (sq->size - 1);
	return 0;
}

/**
 * nnpu_ring_credits - how many entries of a ring each of its users may have
 * @entries: largest ring, entries
 * @users: users, each with as many as any other
 * @wanted: entries that a user would like, at least 1
 *
 * Return: entries; 0 if the ring is too small for one each.
 */
u32 nnpu_ring_credits(u32 entries, u32 users, u32 wanted)
{
	return min(wanted, (entries - 1) / users);
}

/**
 * nnpu_ring_sq_fetched - update the index up to which the device has fetched entries
 * @sq: ring
 * @head: nnpu_cqe.sq_head of a completion
 *
 * Return: 0, or -EPROTO if @head is not between the old index and the tail; the ring is
 * unchanged then.
 */
int nnpu_ring_sq_fetched(struct nnpu_sq *sq, u16 head)
{
	u32 mask = sq->size - 1;

	if (head > mask || ((head - sq->head) & mask) > ((sq->tail - sq->head) & mask))
		return -EPROTO;
	sq->head = head;
	return 0;
}

/**
 * nnpu_ring_cq_init - start with an empty completion ring
 * @cq: ring
 * @mem: memory of @size entries, cleared here: phase 0 is "not written"
 * @size: entries, power of two
 */
void nnpu_ring_cq_init(struct nnpu_cq *cq, void *mem, u32 size)
{
	cq->entries = mem;
	cq->size = size;
	cq->head = 0;
	cq->phase = NNPU_CQE_PHASE;
	memset(mem, 0, size * sizeof(*cq->entries));
}

/**
 * nnpu_ring_cq_pop - take the next completion
 * @cq: ring
 * @cqe: gets a copy, so that later writes of the device have no effect
 *
 * The caller writes cq->head to the doorbell after a batch.
 *
 * Return: false if there is none.
 */
bool nnpu_ring_cq_pop(struct nnpu_cq *cq, struct nnpu_cqe *cqe)
{
	const struct nnpu_cqe *entry = &cq->entries[cq->head];
	__le16 status = READ_ONCE(entry->status);

	if ((le16_to_cpu(status) & NNPU_CQE_PHASE) != cq->phase)
		return false;
	/* Pairs with the device's ordered write of status: the rest is there. */
	dma_rmb();
	*cqe = *entry;
	cqe->status = status;
	cq->head = (cq->head + 1) & (cq->size - 1);
	if (!cq->head)
		cq->phase ^= NNPU_CQE_PHASE;
	return true;
}
