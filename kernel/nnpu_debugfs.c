// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: state of driver and device.
 *
 *   objects       live objects, one "name count" per line; all zero when no file
 *                 is open and no buffer is mapped or exported
 *   stats         events since the driver was bound
 *   state         queues, contexts, slots, programs, jobs in flight
 *   registers     the device's registers; ENODEV while it is dead or paused
 *   fault_inject  write "KIND COUNT": NNPU_INJECT_* of nnpu_hw.h; exists only if the
 *                 device has NNPU_FEATURE_INJECT
 *   event_inject  write a number: so many test events of netlink; exists likewise
 */
#include <linux/debugfs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_file.h>

#include "nnpu_ctx.h"
#include "nnpu_debugfs.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_job.h"
#include "nnpu_slot.h"

static struct nnpu_device *nnpu_debugfs_device(struct seq_file *m)
{
	struct drm_debugfs_entry *entry = m->private;

	return to_nnpu_device(entry->dev);
}

static int nnpu_debugfs_objects(struct seq_file *m, void *data)
{
	struct nnpu_stats *stats = &nnpu_debugfs_device(m)->stats;

	seq_printf(m, "contexts %d\n", atomic_read(&stats->contexts));
	seq_printf(m, "slots %d\n", atomic_read(&stats->slots));
	seq_printf(m, "programs %d\n", atomic_read(&stats->programs));
	seq_printf(m, "jobs %d\n", atomic_read(&stats->jobs));
	seq_printf(m, "buffers %d\n", atomic_read(&stats->buffers));
	seq_printf(m, "queues %d\n", atomic_read(&stats->queues));
	seq_printf(m, "pinned_bytes %lld\n", atomic64_read(&stats->pinned_bytes));
	return 0;
}

static int nnpu_debugfs_stats(struct seq_file *m, void *data)
{
	struct nnpu_stats *stats = &nnpu_debugfs_device(m)->stats;

	seq_printf(m, "lost_irqs %lld\n", atomic64_read(&stats->lost_irqs));
	seq_printf(m, "unknown_cids %lld\n", atomic64_read(&stats->unknown_cids));
	seq_printf(m, "bad_completions %lld\n", atomic64_read(&stats->bad_completions));
	seq_printf(m, "lost_jobs %lld\n", atomic64_read(&stats->lost_jobs));
	seq_printf(m, "hangs %lld\n", atomic64_read(&stats->hangs));
	seq_printf(m, "queue_resets %lld\n", atomic64_read(&stats->queue_resets));
	seq_printf(m, "device_resets %lld\n", atomic64_read(&stats->device_resets));
	seq_printf(m, "admin_timeouts %lld\n", atomic64_read(&stats->admin_timeouts));
	return 0;
}

static void nnpu_debugfs_qpair(struct seq_file *m, const char *name, struct nnpu_qpair *qp)
{
	seq_printf(m, "queue %u (%s): %s, sq tail %u head %u of %u, cq head %u phase %u of %u, %u of %u commands in flight\n",
		   qp->qid, name, qp->live ? "live" : "stopped", qp->sq.tail, qp->sq.head,
		   qp->sq.size, qp->cq.head, qp->cq.phase, qp->cq.size, qp->cids.used,
		   qp->cids.size);
}

static void nnpu_debugfs_jobs(struct seq_file *m, struct nnpu_queue *queue)
{
	struct nnpu_job *job;

	spin_lock_irq(&queue->qp.lock);
	nnpu_debugfs_qpair(m, "kernel", &queue->qp);
	seq_printf(m, "jobs ended by the device: %llu\n", queue->completed);
	list_for_each_entry(job, &queue->inflight, node)
		seq_printf(m, "job %#x: context %u program %u seqno %llu, %lld us, resubmitted %u times%s\n",
			   job->cid, job->ctx->id, nnpu_job_program_id(job), job->seqno,
			   nnpu_job_running_us(job), job->resubmits,
			   job->suspect ? ", unknown status" : "");
	spin_unlock_irq(&queue->qp.lock);
}

static void nnpu_debugfs_context(struct seq_file *m, struct nnpu_ctx *ctx)
{
	struct nnpu_prog *program;
	struct nnpu_slot *slot;

	seq_printf(m, "context %u:%s jobs %d submitted %llu completed %llu failed %llu timedout %llu, engine %llu ns\n",
		   ctx->id, nnpu_ctx_is_lost(ctx) ? " lost," : "", atomic_read(&ctx->num_jobs),
		   nnpu_ctx_counted(ctx, NNPU_COUNT_SUBMITTED),
		   nnpu_ctx_counted(ctx, NNPU_COUNT_COMPLETED),
		   nnpu_ctx_counted(ctx, NNPU_COUNT_FAILED),
		   nnpu_ctx_counted(ctx, NNPU_COUNT_TIMEDOUT),
		   nnpu_ctx_counted(ctx, NNPU_COUNT_ENGINE_NS));
	/* Do not wait for a holder that may be stuck: debugfs must show the state then. */
	if (!mutex_trylock(&ctx->lock)) {
		seq_puts(m, "  busy\n");
		return;
	}
	list_for_each_entry(slot, &ctx->slot_list, node)
		seq_printf(m, "  slot %u: %llu bytes, rights %#x, table levels %u nodes %u, refs %u\n",
			   slot->id, slot->size, slot->flags, slot->pt.levels, slot->pt.num_nodes,
			   refcount_read(&slot->ref));
	list_for_each_entry(program, &ctx->program_list, node)
		seq_printf(m, "  program %u: %u inputs, %u outputs, %llu bytes, refs %u\n",
			   program->id, program->num_inputs, program->num_outputs, program->memory,
			   refcount_read(&program->ref));
	mutex_unlock(&ctx->lock);
}

static void nnpu_debugfs_userqs(struct seq_file *m, struct nnpu_userqs *uqs)
{
	struct nnpu_userq *uq;

	mutex_lock(&uqs->lock);
	list_for_each_entry(uq, &uqs->all, node)
		seq_printf(m, "user queue %u of context %u: %s, priority %u, hardware queue %u, %u events%s\n",
			   uq->id, uq->ctx->id, nnpu_userq_state_name(uq->state), uq->priority,
			   uq->qid, atomic_read(&uq->events),
			   READ_ONCE(uq->mappings) ? ", mapped" : "");
	mutex_unlock(&uqs->lock);
}

static void nnpu_debugfs_power(struct seq_file *m, struct nnpu_device *ndev)
{
	const char *level = "unknown";
	int idx;

	if (nnpu_device_enter(ndev, &idx)) {
		level = nnpu_power_level_name(nnpu_read(ndev, NNPU_REG_PERF_LEVEL));
		nnpu_device_exit(ndev, idx);
	}
	seq_printf(m, "power: %s level, %d user queues\n", level,
		   atomic_read(&ndev->power.queues));
}

static int nnpu_debugfs_state(struct seq_file *m, void *data)
{
	struct nnpu_device *ndev = nnpu_debugfs_device(m);
	struct nnpu_ctx *ctx;
	u32 id;
	int idx;

	if (!drm_dev_enter(&ndev->drm, &idx))
		return -ENODEV;
	seq_printf(m, "device: %s, %lld resets\n",
		   ndev->dead ? "dead" : ndev->paused ? "paused" : "running",
		   atomic64_read(&ndev->reset_count));
	nnpu_debugfs_power(m, ndev);
	spin_lock_irq(&ndev->admin.qp.lock);
	nnpu_debugfs_qpair(m, "admin", &ndev->admin.qp);
	spin_unlock_irq(&ndev->admin.qp.lock);
	nnpu_debugfs_jobs(m, &ndev->queue);
	nnpu_debugfs_userqs(m, &ndev->userqs);
	for (id = ndev->contexts.limit.min; id <= ndev->contexts.limit.max; id++) {
		ctx = nnpu_table_get(&ndev->contexts, id, nnpu_ctx_tryget);
		if (!ctx)
			continue;
		nnpu_debugfs_context(m, ctx);
		nnpu_ctx_put_deferred(ctx);
	}
	drm_dev_exit(idx);
	return 0;
}

#define NNPU_DEBUGFS_REG(name)	{ #name, NNPU_REG_##name }
#define NNPU_DEBUGFS_QREG(name)	{ #name, NNPU_QREG_##name }

/**
 * struct nnpu_debugfs_reg - a register to show
 * @name: name
 * @offset: register, or register of a queue's window
 */
struct nnpu_debugfs_reg {
	const char *name;
	u32 offset;
};

static const struct nnpu_debugfs_reg nnpu_debugfs_regs[] = {
	NNPU_DEBUGFS_REG(ID),
	NNPU_DEBUGFS_REG(VERSION),
	NNPU_DEBUGFS_REG(FEATURES_LO),
	NNPU_DEBUGFS_REG(FEATURES_HI),
	NNPU_DEBUGFS_REG(LIMITS0),
	NNPU_DEBUGFS_REG(LIMITS1),
	NNPU_DEBUGFS_REG(LIMITS2),
	NNPU_DEBUGFS_REG(TIMEOUT_MS),
	NNPU_DEBUGFS_REG(CTRL),
	NNPU_DEBUGFS_REG(STATUS),
	NNPU_DEBUGFS_REG(ADMIN_SIZE),
	NNPU_DEBUGFS_REG(DB_STRIDE),
	NNPU_DEBUGFS_REG(MEM_TOTAL_LO),
	NNPU_DEBUGFS_REG(MEM_TOTAL_HI),
	NNPU_DEBUGFS_REG(MEM_USED_LO),
	NNPU_DEBUGFS_REG(MEM_USED_HI),
	NNPU_DEBUGFS_REG(MEM_PEAK_LO),
	NNPU_DEBUGFS_REG(MEM_PEAK_HI),
	NNPU_DEBUGFS_REG(CLOCK_LO),
	NNPU_DEBUGFS_REG(CLOCK_HI),
	NNPU_DEBUGFS_REG(PERF_LEVEL),
	NNPU_DEBUGFS_REG(PERF_CAPS),
	NNPU_DEBUGFS_REG(FAULT_STATUS),
	NNPU_DEBUGFS_REG(FAULT_INFO),
	NNPU_DEBUGFS_REG(CONTEXTS),
	NNPU_DEBUGFS_REG(PROGRAMS),
	NNPU_DEBUGFS_REG(JOBS_LO),
	NNPU_DEBUGFS_REG(JOBS_HI),
	NNPU_DEBUGFS_REG(BUSY_LO),
	NNPU_DEBUGFS_REG(BUSY_HI),
};

static const struct nnpu_debugfs_reg nnpu_debugfs_qregs[] = {
	NNPU_DEBUGFS_QREG(STATE),
	NNPU_DEBUGFS_QREG(PROGRESS),
	NNPU_DEBUGFS_QREG(CURRENT),
	NNPU_DEBUGFS_QREG(ERROR),
	NNPU_DEBUGFS_QREG(BUSY),
};

static int nnpu_debugfs_registers(struct seq_file *m, void *data)
{
	struct nnpu_device *ndev = nnpu_debugfs_device(m);
	unsigned int i, qid;
	int idx;

	/* Not while the device is dead, either: its function may be reset meanwhile. */
	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	for (i = 0; i < ARRAY_SIZE(nnpu_debugfs_regs); i++)
		seq_printf(m, "%s %#x\n", nnpu_debugfs_regs[i].name,
			   nnpu_device_show_register(ndev, nnpu_debugfs_regs[i].offset));
	for (i = 0; i < ndev->limits.num_engines; i++) {
		struct nnpu_watchdog_sample s;

		nnpu_read_engine(ndev, i, &s);
		seq_printf(m, "E%u_CURRENT %#x\nE%u_PROGRESS %#x\n", i, s.current_job, i,
			   s.progress);
	}
	for (qid = NNPU_QID_ADMIN; qid < NNPU_QID_USER + ndev->userqs.num_hw; qid++)
		for (i = 0; i < ARRAY_SIZE(nnpu_debugfs_qregs); i++)
			seq_printf(m, "Q%u_%s %#x\n", qid, nnpu_debugfs_qregs[i].name,
				   nnpu_read_queue(ndev, qid, nnpu_debugfs_qregs[i].offset));
	nnpu_device_exit(ndev, idx);
	return 0;
}

static ssize_t nnpu_debugfs_inject(struct file *file, const char __user *user, size_t len,
				   loff_t *pos)
{
	struct nnpu_device *ndev = file->private_data;
	unsigned int kind, count;
	char text[32];
	int idx;

	if (!len || len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, len))
		return -EFAULT;
	text[len] = '\0';
	if (sscanf(text, "%u %u", &kind, &count) != 2 || !kind || kind >= NNPU_INJECT_NUM ||
	    count > NNPU_INJECT_COUNT_MASK)
		return -EINVAL;
	if (!nnpu_device_enter(ndev, &idx))
		return -ENODEV;
	nnpu_write(ndev, NNPU_REG_INJECT, kind << NNPU_INJECT_KIND_SHIFT | count);
	nnpu_device_exit(ndev, idx);
	return len;
}

static const struct file_operations nnpu_debugfs_inject_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = nnpu_debugfs_inject,
	.llseek = noop_llseek,
};

/* With interrupts off, as where events come from. */
static ssize_t nnpu_debugfs_event(struct file *file, const char __user *user, size_t len,
				  loff_t *pos)
{
	struct nnpu_device *ndev = file->private_data;
	unsigned int count;
	unsigned long flags;
	int ret;

	ret = kstrtouint_from_user(user, len, 0, &count);
	if (ret)
		return ret;
	while (count--) {
		local_irq_save(flags);
		nnpu_event_device(ndev, NNPU_EVENT_TYPE_TEST);
		local_irq_restore(flags);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return len;
}

static const struct file_operations nnpu_debugfs_event_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = nnpu_debugfs_event,
	.llseek = noop_llseek,
};

static const struct drm_debugfs_info nnpu_debugfs_files[] = {
	{ "objects", nnpu_debugfs_objects },
	{ "stats", nnpu_debugfs_stats },
	{ "state", nnpu_debugfs_state },
	{ "registers", nnpu_debugfs_registers },
};

/**
 * nnpu_debugfs_init - create the device's files
 * @ndev: device; DRM removes the files with the device
 */
void nnpu_debugfs_init(struct nnpu_device *ndev)
{
	drm_debugfs_add_files(&ndev->drm, nnpu_debugfs_files, ARRAY_SIZE(nnpu_debugfs_files));
	if (!(ndev->features & NNPU_FEATURE_INJECT))
		return;
	debugfs_create_file("fault_inject", 0200, ndev->drm.debugfs_root, ndev,
			    &nnpu_debugfs_inject_fops);
	debugfs_create_file("event_inject", 0200, ndev->drm.debugfs_root, ndev,
			    &nnpu_debugfs_event_fops);
}
