// SPDX-License-Identifier: MIT
/*
 * The register window and the doorbell window.
 */
#include "device_state.h"
#include "engine.h"
#include "interrupts.h"
#include "loads.h"
#include "queue.h"
#include "reset.h"

/* dev->lock held. */

static uint32_t latch(uint64_t value, uint32_t *high)
{
	*high = (uint32_t)(value >> 32);
	return (uint32_t)value;
}

static uint64_t busy_time(struct nnpu_device *dev)
{
	uint64_t now = dev_now(dev);
	uint64_t busy = dev->busy_ns;
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_workers); i++)
		if (dev->engines[i].busy && dev->engines[i].seated)
			busy += now - dev->engines[i].busy_since;
	return busy;
}

static uint32_t read_status(const struct nnpu_device *dev)
{
	return (dev->ready ? NNPU_STATUS_REG_READY : 0) |
	       (dev->fatal ? NNPU_STATUS_REG_FATAL : 0) |
	       (dev->resetting ? NNPU_STATUS_REG_RESETTING : 0) |
	       (uint32_t)dev->fatal_code << 8;
}

/*
 * The entry that an engine executes; of several, that which has the first worker. Of the admin
 * queue: the command that executes, else the load that has the turn.
 */
static uint32_t read_current(const struct nnpu_device *dev, const struct nnpu_queue *q)
{
	unsigned int i;

	if (!q->id) {
		uint16_t cid = q->cid;

		return q->running || loads_current(dev, &cid) ? NNPU_QREG_CURRENT_RUNNING | cid : 0;
	}
	for (i = 0; q->begun && i < atomic_load(&dev->num_workers); i++)
		if (dev->engines[i].q == q && dev->engines[i].seated)
			return NNPU_QREG_CURRENT_RUNNING | dev->engines[i].cid;
	return 0;
}

static uint32_t read_progress(const struct nnpu_device *dev, const struct nnpu_queue *q)
{
	uint32_t progress = atomic_load_explicit(&q->progress, memory_order_relaxed);
	unsigned int i;

	for (i = 0; q->begun && i < atomic_load(&dev->num_workers); i++) {
		const struct nnpu_engine *e = &dev->engines[i];

		if (e->q == q)
			progress += atomic_load_explicit(&e->count, memory_order_relaxed) -
				    e->count_begin;
	}
	return progress;
}

static uint32_t read_engine_reg(const struct nnpu_device *dev, uint32_t offset)
{
	uint32_t number = (offset - NNPU_EREG_BASE) / NNPU_EREG_STRIDE;
	const struct nnpu_engine *e;

	if (number >= dev->props.num_engines)
		return 0;
	e = dev->seats[number].worker;
	switch ((offset - NNPU_EREG_BASE) % NNPU_EREG_STRIDE) {
	case NNPU_EREG_CURRENT:
		return e->q ? NNPU_EREG_CURRENT_RUNNING |
			      (uint32_t)e->q->id << 16 | e->cid : 0;
	case NNPU_EREG_PROGRESS:
		return dev->seats[number].base +
		       atomic_load_explicit(&e->count, memory_order_relaxed);
	default:
		return 0;
	}
}

static uint32_t read_queue_reg(struct nnpu_device *dev, uint32_t offset)
{
	uint32_t qid = (offset - NNPU_QREG_BASE) / NNPU_QREG_STRIDE;
	const struct nnpu_queue *q;

	if (qid > dev->props.num_queues)
		return 0;
	q = &dev->queues[qid];
	switch ((offset - NNPU_QREG_BASE) % NNPU_QREG_STRIDE) {
	case NNPU_QREG_STATE:
		if (!q->exists)
			return NNPU_QSTATE_ABSENT;
		if (q->stopped)
			return NNPU_QSTATE_STOPPED;
		if (q->running || q->begun)
			return NNPU_QSTATE_RUNNING;
		return queue_has_work(q) || q->fetched ? NNPU_QSTATE_WAITING : NNPU_QSTATE_IDLE;
	case NNPU_QREG_PROGRESS:
		return read_progress(dev, q);
	case NNPU_QREG_CURRENT:
		return read_current(dev, q);
	case NNPU_QREG_ERROR:
		return q->error;
	case NNPU_QREG_BUSY:
		return (uint32_t)(q->busy_ns / 1000);
	default:
		return 0;
	}
}

static uint32_t read_irq_reg(struct nnpu_device *dev, uint32_t offset)
{
	uint32_t value;

	pthread_mutex_lock(&dev->irq_lock);
	value = offset == NNPU_REG_IRQ_STATUS ? dev->irq_status : dev->irq_mask;
	pthread_mutex_unlock(&dev->irq_lock);
	return value;
}

static uint32_t read_reg(struct nnpu_device *dev, uint32_t offset)
{
	const struct nnpu_device_props *p = &dev->props;

	switch (offset) {
	case NNPU_REG_ID:
		return NNPU_ID_MAGIC;
	case NNPU_REG_VERSION:
		return NNPU_HW_VERSION;
	case NNPU_REG_FEATURES_LO:
		return (uint32_t)dev_features(dev);
	case NNPU_REG_FEATURES_HI:
		return (uint32_t)(dev_features(dev) >> 32);
	case NNPU_REG_LIMITS0:
		return p->num_queues | p->max_entries_log2 << 16 | p->max_db_stride << 24;
	case NNPU_REG_LIMITS1:
		return p->max_contexts | p->max_slots_log2 << 16 | p->num_engines << 24;
	case NNPU_REG_LIMITS2:
		return p->max_programs | p->max_args << 16;
	case NNPU_REG_TIMEOUT_MS:
		return NNPU_DEVICE_TIMEOUT_MS;
	case NNPU_REG_CTRL:
		return dev->ctrl;
	case NNPU_REG_STATUS:
		return read_status(dev);
	case NNPU_REG_ADMIN_SIZE:
		return dev->admin_size;
	case NNPU_REG_DB_STRIDE:
		return atomic_load_explicit(&dev->db_stride, memory_order_relaxed);
	case NNPU_REG_ADMIN_SQ_LO:
		return (uint32_t)dev->admin_sq;
	case NNPU_REG_ADMIN_SQ_HI:
		return (uint32_t)(dev->admin_sq >> 32);
	case NNPU_REG_ADMIN_CQ_LO:
		return (uint32_t)dev->admin_cq;
	case NNPU_REG_ADMIN_CQ_HI:
		return (uint32_t)(dev->admin_cq >> 32);
	case NNPU_REG_IRQ_STATUS:
	case NNPU_REG_IRQ_MASK:
		return read_irq_reg(dev, offset);
	case NNPU_REG_MEM_TOTAL_LO:
		return (uint32_t)p->memory_size;
	case NNPU_REG_MEM_TOTAL_HI:
		return (uint32_t)(p->memory_size >> 32);
	case NNPU_REG_MEM_USED_LO:
		return latch(dev->mem_used, &dev->latch_mem);
	case NNPU_REG_MEM_USED_HI:
		return dev->latch_mem;
	case NNPU_REG_MEM_PEAK_LO:
		return latch(dev->mem_peak, &dev->latch_peak);
	case NNPU_REG_MEM_PEAK_HI:
		return dev->latch_peak;
	case NNPU_REG_CLOCK_LO:
		return latch(dev_now(dev) - dev->power_on_ns, &dev->latch_clock);
	case NNPU_REG_CLOCK_HI:
		return dev->latch_clock;
	case NNPU_REG_PERF_LEVEL:
		return dev->perf_level;
	case NNPU_REG_PERF_CAPS:
		return (1u << NNPU_PERF_NUM) - 1;
	case NNPU_REG_FAULT_STATUS:
		return dev->fault_status;
	case NNPU_REG_FAULT_INFO:
		return dev->fault_info;
	case NNPU_REG_CONTEXTS:
		return dev->num_contexts;
	case NNPU_REG_PROGRAMS:
		return dev->num_programs;
	case NNPU_REG_JOBS_LO:
		return latch(dev->jobs, &dev->latch_jobs);
	case NNPU_REG_JOBS_HI:
		return dev->latch_jobs;
	case NNPU_REG_BUSY_LO:
		return latch(busy_time(dev), &dev->latch_busy);
	case NNPU_REG_BUSY_HI:
		return dev->latch_busy;
	default:
		if (offset >= NNPU_QREG_BASE)
			return read_queue_reg(dev, offset);
		return offset >= NNPU_EREG_BASE ? read_engine_reg(dev, offset) : 0;
	}
}

uint32_t nnpu_device_reg_read(struct nnpu_device *dev, uint64_t offset, unsigned int size)
{
	uint32_t value;

	if (size != 4 || offset & 3 || offset >= NNPU_REGS_SIZE) {
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "register read of %u bytes at 0x%llx", size,
			(unsigned long long)offset);
		return 0;
	}
	pthread_mutex_lock(&dev->lock);
	value = read_reg(dev, (uint32_t)offset);
	pthread_mutex_unlock(&dev->lock);
	if (offset == NNPU_REG_STATUS && dev->ops->dma_busy && dev->ops->dma_busy(dev->bus))
		value |= NNPU_STATUS_REG_DMA;
	return value;
}

static void set_half(uint64_t *value, bool high, uint32_t half)
{
	unsigned int shift = high ? 32 : 0;

	*value = (*value & ~(0xffffffffull << shift)) | (uint64_t)half << shift;
}

/* False: the write has no effect. Both are for a device that is disabled. */

static bool write_db_stride(struct nnpu_device *dev, uint32_t value)
{
	if (dev->ctrl & NNPU_CTRL_ENABLE || dev->resetting || value < NNPU_PAGE_SHIFT ||
	    value > dev->props.max_db_stride)
		return false;
	atomic_store_explicit(&dev->db_stride, value, memory_order_relaxed);
	return true;
}

static bool write_admin_reg(struct nnpu_device *dev, uint32_t offset, uint32_t value)
{
	if (dev->ctrl & NNPU_CTRL_ENABLE || dev->resetting)
		return false;
	switch (offset) {
	case NNPU_REG_ADMIN_SIZE:
		dev->admin_size = value;
		break;
	case NNPU_REG_ADMIN_SQ_LO:
	case NNPU_REG_ADMIN_SQ_HI:
		set_half(&dev->admin_sq, offset == NNPU_REG_ADMIN_SQ_HI, value);
		break;
	case NNPU_REG_ADMIN_CQ_LO:
	case NNPU_REG_ADMIN_CQ_HI:
		set_half(&dev->admin_cq, offset == NNPU_REG_ADMIN_CQ_HI, value);
		break;
	}
	return true;
}

static bool write_inject(struct nnpu_device *dev, uint32_t value)
{
	uint32_t kind = value >> NNPU_INJECT_KIND_SHIFT;

	if (!dev->props.inject || !kind || kind >= NNPU_INJECT_NUM || dev->resetting)
		return false;
	dev->inject[kind] = value & NNPU_INJECT_COUNT_MASK;
	return true;
}

static bool write_reg(struct nnpu_device *dev, uint32_t offset, uint32_t value,
		      struct irqs *irqs)
{
	switch (offset) {
	case NNPU_REG_CTRL:
		device_write_ctrl(dev, value, irqs);
		return true;
	case NNPU_REG_ADMIN_SIZE:
	case NNPU_REG_ADMIN_SQ_LO:
	case NNPU_REG_ADMIN_SQ_HI:
	case NNPU_REG_ADMIN_CQ_LO:
	case NNPU_REG_ADMIN_CQ_HI:
		return write_admin_reg(dev, offset, value);
	case NNPU_REG_DB_STRIDE:
		return write_db_stride(dev, value);
	case NNPU_REG_IRQ_STATUS:
		if (dev->props.platform_irq)
			irq_line_update(dev, 0, value, NULL);
		return dev->props.platform_irq;
	case NNPU_REG_IRQ_MASK:
		if (dev->props.platform_irq)
			irq_line_update(dev, 0, 0, &value);
		return dev->props.platform_irq;
	case NNPU_REG_INJECT:
		return write_inject(dev, value);
	default:
		return false;
	}
}

void nnpu_device_reg_write(struct nnpu_device *dev, uint64_t offset, uint64_t value,
			   unsigned int size)
{
	struct irqs irqs = { 0 };
	bool ok = false;

	if (size == 4 && !(offset & 3) && offset < NNPU_REGS_SIZE) {
		pthread_mutex_lock(&dev->lock);
		ok = write_reg(dev, (uint32_t)offset, (uint32_t)value, &irqs);
		pthread_mutex_unlock(&dev->lock);
		irqs_raise(dev, &irqs);
	}
	if (!ok)
		dev_log(dev, NNPU_LOG_GUEST_ERROR,
			"register write of %u bytes at 0x%llx (0x%llx) ignored", size,
			(unsigned long long)offset, (unsigned long long)value);
}

void nnpu_device_doorbell_write(struct nnpu_device *dev, uint64_t offset, uint64_t value,
				unsigned int size)
{
	unsigned int stride = atomic_load_explicit(&dev->db_stride, memory_order_relaxed);
	uint64_t qid = offset >> stride;

	if (size != 4 || offset & 3 || offset >= nnpu_device_doorbell_size(&dev->props)) {
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "doorbell write of %u bytes at 0x%llx ignored",
			size, (unsigned long long)offset);
		return;
	}
	queue_doorbell(dev, (unsigned int)qid, offset & ((1u << stride) - 1), (uint32_t)value);
}
