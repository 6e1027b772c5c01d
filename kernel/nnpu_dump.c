// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device core dump of the first hang: small, as text, without user data.
 *
 * Read it from /sys/class/devcoredump/devcdN/data. A hang is on the way to fence signals, so
 * nothing is allocated there: the memory is there from the probe on, and a work item hands the
 * text over.
 */
#include <linux/devcoredump.h>
#include <linux/seq_buf.h>
#include <linux/vmalloc.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_dump.h"
#include "nnpu_job.h"

#define NNPU_DUMP_SIZE		(16 * 1024)

static void nnpu_dump_registers(struct nnpu_device *ndev, struct seq_buf *p)
{
	unsigned int qid;
	u32 reg;

	for (reg = NNPU_REG_ID; reg <= NNPU_REG_BUSY_HI; reg += 4)
		seq_buf_printf(p, "reg %#05x %#010x\n", reg,
			       nnpu_device_show_register(ndev, reg));
	for (qid = 0; qid < ndev->limits.num_engines; qid++)
		for (reg = NNPU_EREG_CURRENT; reg <= NNPU_EREG_PROGRESS; reg += 4)
			seq_buf_printf(p, "ereg %u %#04x %#010x\n", qid, reg,
				       nnpu_read(ndev, NNPU_EREG_BASE + qid * NNPU_EREG_STRIDE +
						 reg));
	for (qid = NNPU_QID_ADMIN; qid <= NNPU_QID_KERNEL; qid++)
		for (reg = NNPU_QREG_STATE; reg <= NNPU_QREG_ERROR; reg += 4)
			seq_buf_printf(p, "qreg %u %#04x %#010x\n", qid, reg,
				       nnpu_read_queue(ndev, qid, reg));
}

static void nnpu_dump_qpair(struct nnpu_qpair *qp, struct seq_buf *p)
{
	seq_buf_printf(p, "queue %u: live %d, %u commands\n", qp->qid, qp->live, qp->cids.used);
	seq_buf_printf(p, "  sq: tail %u head %u of %u\n", qp->sq.tail, qp->sq.head, qp->sq.size);
	seq_buf_printf(p, "  cq: head %u phase %u of %u\n", qp->cq.head, qp->cq.phase, qp->cq.size);
}

static void nnpu_dump_jobs(struct nnpu_queue *queue, struct seq_buf *p)
{
	struct nnpu_job *job;

	list_for_each_entry(job, &queue->inflight, node)
		seq_buf_printf(p,
			       "job %#x: context %u program %u seqno %llu, %lld us, resubmits %u\n",
			       job->cid, job->ctx->id, nnpu_job_program_id(job), job->seqno,
			       nnpu_job_running_us(job), job->resubmits);
}

static void nnpu_dump_work(struct work_struct *work)
{
	struct nnpu_dump *dump = container_of(work, struct nnpu_dump, work);
	struct nnpu_device *ndev = container_of(dump, struct nnpu_device, dump);

	/* It takes the memory over, also if it fails. */
	dev_coredumpv(ndev->drm.dev, dump->data, dump->size, GFP_KERNEL);
	dump->data = NULL;
}

/**
 * nnpu_dump_init - prepare for a hang
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_dump_init(struct nnpu_device *ndev)
{
	INIT_WORK(&ndev->dump.work, nnpu_dump_work);
	ndev->dump.data = vzalloc(NNPU_DUMP_SIZE);
	return ndev->dump.data ? 0 : -ENOMEM;
}

/**
 * nnpu_dump_fini - undo nnpu_dump_init()
 * @ndev: device; there are no hangs any more
 */
void nnpu_dump_fini(struct nnpu_device *ndev)
{
	flush_work(&ndev->dump.work);
	vfree(ndev->dump.data);
	ndev->dump.data = NULL;
}

/**
 * nnpu_dump_hang - dump registers, rings and jobs, on the first call only
 * @ndev: device, before anything is reset
 */
void nnpu_dump_hang(struct nnpu_device *ndev)
{
	struct nnpu_dump *dump = &ndev->dump;
	unsigned long flags;
	struct seq_buf p;

	/* Two watchdogs may find a hang at the same time. */
	if (xchg(&dump->taken, true))
		return;
	seq_buf_init(&p, dump->data, NNPU_DUMP_SIZE);
	seq_buf_printf(&p, "nnpu core dump 1\ndevice %s %s\n", ndev->identify->name,
		       ndev->identify->firmware);
	nnpu_dump_registers(ndev, &p);
	spin_lock_irqsave(&ndev->admin.qp.lock, flags);
	nnpu_dump_qpair(&ndev->admin.qp, &p);
	spin_unlock_irqrestore(&ndev->admin.qp.lock, flags);
	spin_lock_irqsave(&ndev->queue.qp.lock, flags);
	nnpu_dump_qpair(&ndev->queue.qp, &p);
	nnpu_dump_jobs(&ndev->queue, &p);
	spin_unlock_irqrestore(&ndev->queue.qp.lock, flags);
	dump->size = seq_buf_used(&p);
	queue_work(system_unbound_wq, &dump->work);
}
