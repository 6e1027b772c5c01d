// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pairs that only the kernel writes: the admin queue and the kernel queue.
 *
 * The rings are not mapped to user space, so what stands in them comes from the driver or
 * the device. The driver believes nothing that the device writes: it looks up command ids,
 * checks indices, and copies each entry before it judges the entry.
 */
#include <linux/dma-mapping.h>

#include "nnpu_device.h"
#include "nnpu_qpair.h"

/**
 * nnpu_qpair_alloc - allocate the rings of a queue
 * @ndev: device
 * @qp: queue pair
 * @qid: queue id
 * @entries: entries of each ring, power of two
 * @ids: command ids; the caller has fewer than @entries commands in flight
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int nnpu_qpair_alloc(struct nnpu_device *ndev, struct nnpu_qpair *qp, u16 qid, u32 entries,
		     u32 ids)
{
	struct device *dev = ndev->drm.dev;
	void *sq, *cq;
	int ret;

	qp->ndev = ndev;
	qp->qid = qid;
	qp->db = ndev->doorbells + ((size_t)qid << ndev->limits.db_shift);
	spin_lock_init(&qp->lock);
	ret = nnpu_cids_init(&qp->cids, ids);
	if (ret)
		return ret;
	sq = dma_alloc_coherent(dev, entries * NNPU_SQE_SIZE, &qp->sq_dma, GFP_KERNEL);
	if (!sq)
		goto err_cids;
	cq = dma_alloc_coherent(dev, entries * NNPU_CQE_SIZE, &qp->cq_dma, GFP_KERNEL);
	if (!cq) {
		dma_free_coherent(dev, entries * NNPU_SQE_SIZE, sq, qp->sq_dma);
		goto err_cids;
	}
	nnpu_ring_sq_init(&qp->sq, sq, entries);
	nnpu_ring_cq_init(&qp->cq, cq, entries);
	return 0;

err_cids:
	nnpu_cids_fini(&qp->cids);
	return -ENOMEM;
}

/**
 * nnpu_qpair_free - free the rings of a queue
 * @qp: queue pair; the device does not use it any more
 */
void nnpu_qpair_free(struct nnpu_qpair *qp)
{
	struct device *dev = qp->ndev->drm.dev;

	dma_free_coherent(dev, qp->sq.size * NNPU_SQE_SIZE, qp->sq.entries, qp->sq_dma);
	dma_free_coherent(dev, qp->cq.size * NNPU_CQE_SIZE, qp->cq.entries, qp->cq_dma);
	qp->sq.entries = NULL;
	qp->cq.entries = NULL;
	nnpu_cids_fini(&qp->cids);
}

/**
 * nnpu_qpair_restart - put the rings in the state of a queue just created
 * @qp: queue pair; the device does not use it now. nnpu_qpair.lock is held
 * @live: take completions from now on
 *
 * Commands in flight keep their ids.
 */
void nnpu_qpair_restart(struct nnpu_qpair *qp, bool live)
{
	lockdep_assert_held(&qp->lock);
	nnpu_ring_sq_init(&qp->sq, qp->sq.entries, qp->sq.size);
	nnpu_ring_cq_init(&qp->cq, qp->cq.entries, qp->cq.size);
	qp->live = live;
}

/**
 * nnpu_qpair_push - give a command to the device
 * @qp: queue pair; nnpu_qpair.lock is held
 * @sqe: entry with its cid
 *
 * Return: 0, or -ENOSPC.
 */
int nnpu_qpair_push(struct nnpu_qpair *qp, const struct nnpu_sqe *sqe)
{
	int ret = nnpu_ring_sq_push(&qp->sq, sqe);

	lockdep_assert_held(&qp->lock);
	/* writel() orders the entry before the doorbell. */
	if (!ret)
		writel(qp->sq.tail, qp->db + NNPU_DB_SQ_TAIL);
	return ret;
}

/**
 * nnpu_qpair_pop - take the next completion
 * @qp: queue pair; nnpu_qpair.lock is held
 * @cqe: gets a copy
 * @owner: gets the owner of the command, NULL if the completion must be ignored
 *
 * An entry completes nothing if it names no command in flight, has the id of another
 * queue, or has an impossible index of the submission ring. If it was the only completion
 * of a command, the timeout of that command expires.
 *
 * Return: false if there is none.
 */
bool nnpu_qpair_pop(struct nnpu_qpair *qp, struct nnpu_cqe *cqe, void **owner)
{
	struct nnpu_device *ndev = qp->ndev;

	lockdep_assert_held(&qp->lock);
	*owner = NULL;
	if (!qp->live || !nnpu_ring_cq_pop(&qp->cq, cqe))
		return false;
	if (le16_to_cpu(cqe->qid) != qp->qid ||
	    nnpu_ring_sq_fetched(&qp->sq, le16_to_cpu(cqe->sq_head))) {
		atomic64_inc(&ndev->stats.bad_completions);
		dev_warn_ratelimited(ndev->drm.dev,
				     "queue %u: bad completion (queue %u, head %u) ignored\n",
				     qp->qid, le16_to_cpu(cqe->qid), le16_to_cpu(cqe->sq_head));
		return true;
	}
	*owner = nnpu_cids_find(&qp->cids, le16_to_cpu(cqe->cid));
	if (!*owner) {
		atomic64_inc(&ndev->stats.unknown_cids);
		dev_warn_ratelimited(ndev->drm.dev,
				     "queue %u: completion of unknown command %#x ignored\n",
				     qp->qid, le16_to_cpu(cqe->cid));
	}
	return true;
}

/**
 * nnpu_qpair_pop_done - tell the device how far completions were taken
 * @qp: queue pair; nnpu_qpair.lock is held
 */
void nnpu_qpair_pop_done(struct nnpu_qpair *qp)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->live)
		return;
	/* Entries are read before the device may write them again. writel() orders writes only. */
	mb();
	writel(qp->cq.head, qp->db + NNPU_DB_CQ_HEAD);
}
