/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_QPAIR_H_
#define _NNPU_QPAIR_H_

#include <linux/spinlock.h>

#include "nnpu_cids.h"
#include "nnpu_ring.h"

struct nnpu_device;

/* Queue ids. Ids from NNPU_QID_USER on are for user queues. */
#define NNPU_QID_ADMIN		0
#define NNPU_QID_KERNEL		1
#define NNPU_QID_USER		2

/* No command id: nnpu_cids_init() leaves its index over. */
#define NNPU_CID_NONE		0xffff

/**
 * struct nnpu_qpair - rings of a queue that only the kernel writes
 * @ndev: device
 * @qid: queue id
 * @lock: protects all that follows; taken in interrupts
 * @sq: submission ring
 * @cq: completion ring
 * @cids: commands in flight
 * @db: doorbell page
 * @sq_dma: DMA address of the submission ring
 * @cq_dma: DMA address of the completion ring
 * @live: the device knows the queue, and the driver takes completions
 */
struct nnpu_qpair {
	struct nnpu_device *ndev;
	u16 qid;
	spinlock_t lock;	/* see above */
	struct nnpu_sq sq;
	struct nnpu_cq cq;
	struct nnpu_cids cids;
	void __iomem *db;
	dma_addr_t sq_dma;
	dma_addr_t cq_dma;
	bool live;
};

int nnpu_qpair_alloc(struct nnpu_device *ndev, struct nnpu_qpair *qp, u16 qid, u32 entries,
		     u32 ids);
void nnpu_qpair_free(struct nnpu_qpair *qp);
void nnpu_qpair_restart(struct nnpu_qpair *qp, bool live);
int nnpu_qpair_push(struct nnpu_qpair *qp, const struct nnpu_sqe *sqe);
bool nnpu_qpair_pop(struct nnpu_qpair *qp, struct nnpu_cqe *cqe, void **owner);
void nnpu_qpair_pop_done(struct nnpu_qpair *qp);

#endif /* _NNPU_QPAIR_H_ */
