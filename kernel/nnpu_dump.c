// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device core dump of the first hang: small, as text, without user data.
 *
 * Read it from /sys/class/devcoredump/devcdN/data.
 */
#include <linux/devcoredump.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_job.h"

#define NNPU_DUMP_SIZE		(8 * 1024)

static void nnpu_dump_registers(struct nnpu_device *ndev, struct drm_printer *p)
{
	unsigned int qid;
	u32 reg;

	for (reg = NNPU_REG_ID; reg <= NNPU_REG_BUSY_HI; reg += 4)
		drm_printf(p, "reg %#05x %#010x\n", reg, nnpu_read(ndev, reg));
	for (qid = NNPU_QID_ADMIN; qid <= NNPU_QID_KERNEL; qid++)
		for (reg = NNPU_QREG_STATE; reg <= NNPU_QREG_ERROR; reg += 4)
			drm_printf(p, "qreg %u %#04x %#010x\n", qid, reg,
				   nnpu_read_queue(ndev, qid, reg));
}

static void nnpu_dump_qpair(struct nnpu_qpair *qp, struct drm_printer *p)
{
	drm_printf(p, "queue %u: live %d, %u commands\n", qp->qid, qp->live, qp->cids.used);
	drm_printf(p, "  sq: tail %u head %u of %u\n", qp->sq.tail, qp->sq.head, qp->sq.size);
	drm_printf(p, "  cq: head %u phase %u of %u\n", qp->cq.head, qp->cq.phase, qp->cq.size);
}

static void nnpu_dump_jobs(struct nnpu_queue *queue, struct drm_printer *p)
{
	struct nnpu_job *job;

	list_for_each_entry(job, &queue->inflight, node)
		drm_printf(p, "job %#x: context %u program %u seqno %llu, %lld us, resubmits %u\n",
			   job->cid, job->ctx->id, job->program->id, job->seqno,
			   ktime_us_delta(ktime_get(), job->start), job->resubmits);
}

/**
 * nnpu_dump_hang - dump registers, rings and jobs, on the first call only
 * @ndev: device, before anything is reset
 *
 * Runs on the way to fence signals, so it does not wait for memory.
 */
void nnpu_dump_hang(struct nnpu_device *ndev)
{
	struct drm_print_iterator iter = { .remain = NNPU_DUMP_SIZE };
	struct drm_printer p = drm_coredump_printer(&iter);
	unsigned long flags;
	void *data;

	if (ndev->dumped)
		return;
	ndev->dumped = true;
	/* devcoredump frees it with vfree(). */
	data = __vmalloc(NNPU_DUMP_SIZE, GFP_NOWAIT | __GFP_NOWARN | __GFP_ZERO);
	if (!data)
		return;
	iter.data = data;

	drm_printf(&p, "nnpu core dump 1\ndevice %s %s\n", ndev->identify->name,
		   ndev->identify->firmware);
	nnpu_dump_registers(ndev, &p);
	spin_lock_irqsave(&ndev->admin.qp.lock, flags);
	nnpu_dump_qpair(&ndev->admin.qp, &p);
	spin_unlock_irqrestore(&ndev->admin.qp.lock, flags);
	spin_lock_irqsave(&ndev->queue.qp.lock, flags);
	nnpu_dump_qpair(&ndev->queue.qp, &p);
	nnpu_dump_jobs(&ndev->queue, &p);
	spin_unlock_irqrestore(&ndev->queue.qp.lock, flags);
	dev_coredumpv(ndev->drm.dev, data, NNPU_DUMP_SIZE - iter.remain, GFP_NOWAIT);
}
