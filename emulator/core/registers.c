// SPDX-License-Identifier: MIT
/*
 * Registers, the reset state machine, and the life of a device.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core.h"

#define NS_PER_S		1000000000ull
/* Vectors of a platform device are the bits of IRQ_STATUS. */
#define PLATFORM_VECTORS	32

void nnpu_device_default_props(struct nnpu_device_props *props)
{
	*props = (struct nnpu_device_props) {
		.num_queues = 16,
		.num_engines = 1,
		.num_vectors = 17,
		.max_contexts = 64,
		.max_slots_log2 = 10,
		.max_programs = 256,
		.max_args = 4096,
		.max_entries_log2 = 12,
		.memory_size = 1ull << 30,
		.max_operand_size = 256ull << 20,
	};
}

int nnpu_device_check_props(const struct nnpu_device_props *p, char *error, size_t size)
{
	const struct {
		const char *name;
		uint64_t value;
		uint64_t min;
		uint64_t max;
	} ranges[] = {
		{ "num_queues", p->num_queues, 1, NNPU_DEVICE_MAX_QUEUES },
		{ "num_engines", p->num_engines, 1, NNPU_DEVICE_MAX_ENGINES },
		{ "num_vectors", p->num_vectors, 1,
		  p->platform_irq ? PLATFORM_VECTORS : NNPU_DEVICE_MAX_VECTORS },
		{ "max_contexts", p->max_contexts, 1, NNPU_DEVICE_MAX_CONTEXTS },
		{ "max_slots_log2", p->max_slots_log2, 0, 16 },
		{ "max_programs", p->max_programs, 1, UINT16_MAX },
		{ "max_args", p->max_args, 2, UINT16_MAX },
		{ "max_entries_log2", p->max_entries_log2, 1, 16 },
		{ "memory_size", p->memory_size, NNPU_DEVICE_MIN_MEMORY, NNPU_DEVICE_MAX_MEMORY },
		{ "max_operand_size", p->max_operand_size, 1, p->memory_size },
		{ "poll_ns", p->poll_ns, 0, NS_PER_S },
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (ranges[i].value >= ranges[i].min && ranges[i].value <= ranges[i].max)
			continue;
		snprintf(error, size, "%s is %llu, must be %llu to %llu", ranges[i].name,
			 (unsigned long long)ranges[i].value, (unsigned long long)ranges[i].min,
			 (unsigned long long)ranges[i].max);
		return -1;
	}
	return 0;
}

uint64_t nnpu_device_doorbell_size(const struct nnpu_device_props *props)
{
	uint64_t size = NNPU_PAGE_SIZE;

	while (size < (props->num_queues + 1ull) << NNPU_PAGE_SHIFT)
		size <<= 1;
	return size;
}

uint64_t dev_now(struct nnpu_device *dev)
{
	return dev->ops->now_ns(dev->bus);
}

bool dev_log_wanted(struct nnpu_device *dev, enum nnpu_log_level level)
{
	if (!dev->ops->log)
		return false;
	return dev->ops->log_wanted ? dev->ops->log_wanted(dev->bus, level) :
				      level == NNPU_LOG_GUEST_ERROR;
}

void dev_log(struct nnpu_device *dev, enum nnpu_log_level level, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!dev_log_wanted(dev, level))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dev->ops->log(dev->bus, level, text);
}

void irqs_add(struct irqs *irqs, unsigned int vector)
{
	unsigned int i;

	for (i = 0; i < irqs->count; i++)
		if (irqs->vectors[i] == vector)
			return;
	if (irqs->count < sizeof(irqs->vectors) / sizeof(irqs->vectors[0]))
		irqs->vectors[irqs->count++] = (uint16_t)vector;
}

/* Platform devices: the line follows status and mask. irq_lock orders the levels. */
static void irq_line_update(struct nnpu_device *dev, uint32_t set, uint32_t clear,
			    const uint32_t *mask)
{
	pthread_mutex_lock(&dev->irq_lock);
	dev->irq_status = (dev->irq_status | set) & ~clear;
	if (mask)
		dev->irq_mask = *mask;
	dev->ops->set_irq_level(dev->bus, dev->irq_status & ~dev->irq_mask);
	pthread_mutex_unlock(&dev->irq_lock);
}

void irqs_raise(struct nnpu_device *dev, const struct irqs *irqs)
{
	unsigned int i;

	for (i = 0; i < irqs->count; i++) {
		if (dev->props.platform_irq)
			irq_line_update(dev, 1u << irqs->vectors[i], 0, NULL);
		else
			dev->ops->raise_irq(dev->bus, irqs->vectors[i]);
	}
}

void dev_fault(struct nnpu_device *dev, unsigned int fault, unsigned int qid, unsigned int cid)
{
	if (dev->fault_status != NNPU_FAULT_NONE)
		return;
	dev->fault_status = fault;
	dev->fault_info = (qid & 0xffff) | cid << 16;
}

void dev_fatal(struct nnpu_device *dev, unsigned int code, struct irqs *irqs)
{
	if (dev->fatal)
		return;
	dev->fatal = true;
	dev->fatal_code = (uint16_t)code;
	dev->ready = false;
	atomic_store(&dev->stop, true);
	pthread_cond_broadcast(&dev->work);
	pthread_cond_broadcast(&dev->event);
	irqs_add(irqs, 0);
}

bool dev_inject(struct nnpu_device *dev, unsigned int kind)
{
	if (!dev->inject[kind])
		return false;
	dev->inject[kind]--;
	return true;
}

uint64_t dev_features(const struct nnpu_device *dev)
{
	return NNPU_FEATURE_PROFILE | NNPU_FEATURE_ABORT | NNPU_FEATURE_PRIORITY |
	       NNPU_FEATURE_USER_QUEUES | NNPU_FEATURE_PERF_LEVELS | NNPU_FEATURE_SUSPEND |
	       NNPU_FEATURE_CONTROL_FLOW | NNPU_FEATURE_EXTENSIONS |
	       (dev->props.inject ? NNPU_FEATURE_INJECT : 0) |
	       (dev->props.null_mode ? NNPU_FEATURE_NULL : 0);
}

static bool mem_fits(const struct nnpu_device *dev, uint64_t bytes)
{
	return bytes <= dev->props.memory_size - dev->mem_used;
}

bool dev_mem_reserve(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes)
{
	bool ok = true;
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	if (ctx && ctx->mem_limit &&
	    (ctx->mem_used > ctx->mem_limit || bytes > ctx->mem_limit - ctx->mem_used))
		ok = false;
	/* What idle engines keep for their next job goes first. */
	for (i = 0; ok && !mem_fits(dev, bytes) && i < dev->props.num_engines; i++)
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	if (ok && !mem_fits(dev, bytes))
		ok = false;
	if (ok) {
		dev->mem_used += bytes;
		if (dev->mem_used > dev->mem_peak)
			dev->mem_peak = dev->mem_used;
		if (ctx)
			ctx->mem_used += bytes;
	}
	pthread_mutex_unlock(&dev->lock);
	return ok;
}

void dev_mem_release(struct nnpu_device *dev, struct nnpu_ctx *ctx, uint64_t bytes)
{
	pthread_mutex_lock(&dev->lock);
	dev->mem_used -= bytes;
	if (ctx)
		ctx->mem_used -= bytes;
	pthread_mutex_unlock(&dev->lock);
}

/* CTRL: dev->lock held. */

static bool ring_size_ok(const struct nnpu_device *dev, uint32_t entries)
{
	return entries >= NNPU_MIN_ENTRIES && entries <= 1u << dev->props.max_entries_log2 &&
	       !(entries & (entries - 1));
}

static void device_enable(struct nnpu_device *dev, struct irqs *irqs)
{
	struct nnpu_queue *q = &dev->queues[0];
	uint32_t sq_entries = (dev->admin_size & 0xffff) + 1;
	uint32_t cq_entries = (dev->admin_size >> 16) + 1;

	if (!ring_size_ok(dev, sq_entries) || !ring_size_ok(dev, cq_entries) ||
	    (dev->admin_sq & (NNPU_PAGE_SIZE - 1)) || (dev->admin_cq & (NNPU_PAGE_SIZE - 1))) {
		dev_fatal(dev, NNPU_STATUS_INVALID_FIELD, irqs);
		return;
	}
	queue_init(dev, q);
	q->exists = true;
	q->sq_addr = dev->admin_sq;
	q->cq_addr = dev->admin_cq;
	q->sq_entries = sq_entries;
	q->cq_entries = cq_entries;
	dev->ready = true;
}

/* Have the control thread end everything. */
static void device_stop(struct nnpu_device *dev)
{
	dev->stopping = true;
	atomic_store(&dev->stop, true);
	pthread_cond_broadcast(&dev->work);
	pthread_cond_broadcast(&dev->event);
}

static void device_reset(struct nnpu_device *dev)
{
	dev->resetting = true;
	dev->ctrl = 0;
	device_stop(dev);
}

static void write_ctrl(struct nnpu_device *dev, uint32_t value, struct irqs *irqs)
{
	uint32_t old = dev->ctrl;

	if (dev->resetting)
		return;
	if (value & NNPU_CTRL_RESET) {
		device_reset(dev);
		return;
	}
	if (dev->fatal)
		return;
	dev->ctrl = value & NNPU_CTRL_ENABLE;
	if (old == dev->ctrl)
		return;
	if (!dev->ctrl)
		device_stop(dev);
	else if (!dev->stopping)
		device_enable(dev, irqs);
	/* Else the control thread enables when it has stopped. */
}

/* The control thread, when no engine is busy: nothing is left of what was. */
static void device_stopped(struct nnpu_device *dev, struct irqs *irqs)
{
	unsigned int i;

	for (i = 0; i <= dev->props.num_queues; i++)
		queue_init(dev, &dev->queues[i]);
	for (i = 0; i < dev->props.num_engines; i++)
		exec_trim(&dev->engines[i]);
	dev->ready = false;
	dev->stopping = false;
	if (dev->resetting) {
		dev->fatal = false;
		dev->fatal_code = 0;
		dev->admin_size = 0;
		dev->admin_sq = 0;
		dev->admin_cq = 0;
		dev->fault_status = NNPU_FAULT_NONE;
		dev->fault_info = 0;
		memset(dev->inject, 0, sizeof(dev->inject));
		dev->perf_level = NNPU_PERF_MEDIUM;
		dev->resetting = false;
	}
	if (dev->power_on) {
		dev->jobs = 0;
		dev->busy_ns = 0;
		for (i = 0; i <= dev->props.num_queues; i++)
			dev->queues[i].busy_ns = 0;
		dev->power_on_ns = dev_now(dev);
		dev->power_on = false;
	}
	if (!dev->fatal)
		atomic_store(&dev->stop, false);
	if (dev->ctrl & NNPU_CTRL_ENABLE && !dev->fatal)
		device_enable(dev, irqs);
}

static bool engines_busy(const struct nnpu_device *dev)
{
	unsigned int i;

	for (i = 0; i < dev->props.num_engines; i++)
		if (dev->engines[i].busy)
			return true;
	return false;
}

void dev_await_jobs(struct nnpu_device *dev)
{
	dev->awaiting_jobs = true;
	pthread_cond_wait(&dev->event, &dev->lock);
	dev->awaiting_jobs = false;
}

void dev_job_ended(struct nnpu_device *dev)
{
	if (dev->awaiting_jobs)
		pthread_cond_broadcast(&dev->event);
}

void dev_set_perf(struct nnpu_device *dev, unsigned int level)
{
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	dev->perf_level = level;
	for (i = 0; level == NNPU_PERF_LOW && i < dev->props.num_engines; i++)
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	/* How long engines look for work, and keep memory, is decided anew. */
	atomic_fetch_add_explicit(&dev->work_seq, 1, memory_order_release);
	pthread_cond_broadcast(&dev->work);
	pthread_mutex_unlock(&dev->lock);
}

void dev_end_everything(struct nnpu_device *dev)
{
	struct irqs irqs = { 0 };
	uint32_t id, number;
	bool reset;

	while (engines_busy(dev))
		dev_await_jobs(dev);
	/* Nobody but this thread knows contexts and programs now. */
	for (id = 1; id <= dev->props.max_contexts; id++) {
		struct nnpu_ctx *ctx = dev->contexts[id];

		if (!ctx)
			continue;
		dev->contexts[id] = NULL;
		dev->num_contexts--;
		pthread_mutex_unlock(&dev->lock);
		for (number = 1; number <= dev->props.max_programs; number++) {
			if (!ctx->programs[number])
				continue;
			program_put(ctx->programs[number]);
			pthread_mutex_lock(&dev->lock);
			dev->num_programs--;
			pthread_mutex_unlock(&dev->lock);
		}
		ctx_free(ctx);
		pthread_mutex_lock(&dev->lock);
	}
	reset = dev->resetting;
	device_stopped(dev, &irqs);
	pthread_mutex_unlock(&dev->lock);
	if (reset && dev->props.platform_irq)
		irq_line_update(dev, 0, UINT32_MAX, &(uint32_t){ 0 });
	irqs_raise(dev, &irqs);
	dev_log(dev, NNPU_LOG_TRACE, reset ? "reset done" : "disabled");
	pthread_mutex_lock(&dev->lock);
}

void nnpu_device_power_on_reset(struct nnpu_device *dev)
{
	pthread_mutex_lock(&dev->lock);
	dev->power_on = true;
	device_reset(dev);
	pthread_mutex_unlock(&dev->lock);
}

/* Registers: dev->lock held. */

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

	for (i = 0; i < dev->props.num_engines; i++)
		if (dev->engines[i].busy)
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
		return q->running ? NNPU_QSTATE_RUNNING : NNPU_QSTATE_IDLE;
	case NNPU_QREG_PROGRESS:
		return atomic_load_explicit(&q->progress, memory_order_relaxed);
	case NNPU_QREG_CURRENT:
		return q->running ? NNPU_QREG_CURRENT_RUNNING | q->cid : 0;
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
		return p->num_queues | p->max_entries_log2 << 16 | (uint32_t)NNPU_PAGE_SHIFT << 24;
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
		return offset >= NNPU_QREG_BASE ? read_queue_reg(dev, offset) : 0;
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
	return value;
}

static void set_half(uint64_t *value, bool high, uint32_t half)
{
	unsigned int shift = high ? 32 : 0;

	*value = (*value & ~(0xffffffffull << shift)) | (uint64_t)half << shift;
}

/* false if the write is one that has no effect. */
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
		write_ctrl(dev, value, irqs);
		return true;
	case NNPU_REG_ADMIN_SIZE:
	case NNPU_REG_ADMIN_SQ_LO:
	case NNPU_REG_ADMIN_SQ_HI:
	case NNPU_REG_ADMIN_CQ_LO:
	case NNPU_REG_ADMIN_CQ_HI:
		return write_admin_reg(dev, offset, value);
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
	uint64_t qid = offset >> NNPU_PAGE_SHIFT;

	if (size != 4 || offset & 3 || offset >= nnpu_device_doorbell_size(&dev->props)) {
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "doorbell write of %u bytes at 0x%llx ignored",
			size, (unsigned long long)offset);
		return;
	}
	queue_doorbell(dev, (unsigned int)qid, offset & (NNPU_PAGE_SIZE - 1), (uint32_t)value);
}

/* Life. */

static void device_free(struct nnpu_device *dev)
{
	pthread_cond_destroy(&dev->event);
	pthread_cond_destroy(&dev->work);
	pthread_mutex_destroy(&dev->irq_lock);
	pthread_mutex_destroy(&dev->lock);
	free(dev->engines);
	free(dev->contexts);
	free(dev->queues);
	free(dev);
}

static void join_threads(struct nnpu_device *dev)
{
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	dev->exiting = true;
	device_stop(dev);
	pthread_mutex_unlock(&dev->lock);
	/* The control thread waits for the engines to be done, then frees contexts. */
	if (dev->control_started)
		pthread_join(dev->control, NULL);
	for (i = 0; i < dev->props.num_engines; i++) {
		if (dev->engines[i].started)
			pthread_join(dev->engines[i].thread, NULL);
		exec_fini(&dev->engines[i]);
	}
}

static void *engine_main(void *arg)
{
	struct nnpu_engine *e = arg;
	struct nnpu_device *dev = e->dev;
	char name[16];

	snprintf(name, sizeof(name), "nnpu-engine%u", e->id);
	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, name);
	engine_run(e);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

static void *control_main(void *arg)
{
	struct nnpu_device *dev = arg;

	if (dev->ops->thread_begin)
		dev->ops->thread_begin(dev->bus, "nnpu-control");
	control_run(dev);
	if (dev->ops->thread_end)
		dev->ops->thread_end(dev->bus);
	return NULL;
}

static bool start_threads(struct nnpu_device *dev)
{
	sigset_t all, old;
	unsigned int i;

	/* Signals of the process are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (i = 0; i < dev->props.num_engines; i++) {
		struct nnpu_engine *e = &dev->engines[i];

		e->started = !pthread_create(&e->thread, NULL, engine_main, e);
		if (!e->started)
			break;
	}
	if (i == dev->props.num_engines)
		dev->control_started = !pthread_create(&dev->control, NULL, control_main, dev);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return dev->control_started;
}

/* Like calloc(), at the beginning of a cache line. @size: a multiple of one. */
static void *alloc_lines(size_t num, size_t size)
{
	void *p = aligned_alloc(CACHE_LINE, num * size);

	return p ? memset(p, 0, num * size) : NULL;
}

struct nnpu_device *nnpu_device_create(const struct nnpu_device_props *props,
				       const struct nnpu_bus_ops *ops, void *bus,
				       char *error, size_t size)
{
	pthread_mutexattr_t lock_attr;
	struct nnpu_device *dev;
	pthread_condattr_t attr;
	unsigned int i;

	if (nnpu_device_check_props(props, error, size))
		return NULL;
	dev = alloc_lines(1, sizeof(*dev));
	if (!dev)
		goto err_memory;
	dev->props = *props;
	dev->ops = ops;
	dev->bus = bus;
	/* Held for so short a time that waiting awake beats going to sleep. */
	pthread_mutexattr_init(&lock_attr);
	pthread_mutexattr_settype(&lock_attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&dev->lock, &lock_attr);
	pthread_mutexattr_destroy(&lock_attr);
	pthread_mutex_init(&dev->irq_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dev->work, &attr);
	pthread_cond_init(&dev->event, NULL);
	pthread_condattr_destroy(&attr);
	dev->queues = alloc_lines(props->num_queues + 1, sizeof(*dev->queues));
	dev->contexts = calloc(props->max_contexts + 1, sizeof(*dev->contexts));
	dev->engines = alloc_lines(props->num_engines, sizeof(*dev->engines));
	if (!dev->queues || !dev->contexts || !dev->engines) {
		device_free(dev);
		goto err_memory;
	}
	for (i = 0; i <= props->num_queues; i++)
		dev->queues[i].id = (uint16_t)i;
	for (i = 0; i < props->num_engines; i++) {
		dev->engines[i].dev = dev;
		dev->engines[i].id = i;
	}
	dev->next_serial = 1;
	dev->perf_level = NNPU_PERF_MEDIUM;
	dev->power_on_ns = dev_now(dev);
	if (!start_threads(dev)) {
		join_threads(dev);
		device_free(dev);
		snprintf(error, size, "cannot start the device's threads");
		return NULL;
	}
	return dev;

err_memory:
	snprintf(error, size, "out of memory");
	return NULL;
}

void nnpu_device_destroy(struct nnpu_device *dev)
{
	if (!dev)
		return;
	join_threads(dev);
	device_free(dev);
}
