// SPDX-License-Identifier: MIT
/*
 * Enable, disable and reset.
 *
 * A register write only starts a change: it sets dev->stop, and the control thread ends
 * jobs, frees contexts and brings the registers to their new state.
 */
#include "device_state.h"
#include "engine.h"
#include "fetch.h"
#include "interrupts.h"
#include "loads.h"
#include "program_load.h"
#include "queue.h"
#include "reset.h"

/* CTRL: dev->lock held. */

static void device_enable(struct nnpu_device *dev, struct irqs *irqs)
{
	struct nnpu_queue *q = &dev->queues[0];
	uint32_t sq_entries = (dev->admin_size & 0xffff) + 1;
	uint32_t cq_entries = (dev->admin_size >> 16) + 1;

	if (!queue_ring_ok(dev, sq_entries, dev->admin_sq) ||
	    !queue_ring_ok(dev, cq_entries, dev->admin_cq)) {
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
void device_stop(struct nnpu_device *dev)
{
	dev->stopping = true;
	atomic_store(&dev->stop, true);
	dev_kick_workers(dev);
	pthread_cond_broadcast(&dev->event);
}

static void device_reset(struct nnpu_device *dev)
{
	dev->resetting = true;
	dev->ctrl = 0;
	device_stop(dev);
}

void device_write_ctrl(struct nnpu_device *dev, uint32_t value, struct irqs *irqs)
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
	/* Else the control thread enables the device when it has ended everything. */
}

/* The control thread's part. */

/* What only power-on clears; MEM_USED is 0 already. */
static void clear_counters(struct nnpu_device *dev)
{
	unsigned int i;

	dev->jobs = 0;
	dev->busy_ns = 0;
	dev->mem_peak = dev->mem_used;
	for (i = 0; i <= dev->props.num_queues; i++)
		dev->queues[i].busy_ns = 0;
	for (i = 0; i < dev->props.num_engines; i++)
		dev->seats[i].base = -atomic_load_explicit(&dev->seats[i].worker->count,
							   memory_order_relaxed);
	dev->latch_mem = 0;
	dev->latch_peak = 0;
	dev->latch_clock = 0;
	dev->latch_jobs = 0;
	dev->latch_busy = 0;
	dev->power_on_ns = dev_now(dev);
}

/* No engine is busy and no context exists: bring the device to its new state. */
static void device_stopped(struct nnpu_device *dev, struct irqs *irqs)
{
	unsigned int i;

	for (i = 0; i <= dev->props.num_queues; i++)
		queue_init(dev, &dev->queues[i]);
	irqs_forget(dev);
	dev->ready = false;
	dev->stopping = false;
	if (dev->resetting) {
		dev->fatal = false;
		dev->fatal_code = 0;
		dev->admin_size = 0;
		atomic_store_explicit(&dev->db_stride, NNPU_PAGE_SHIFT, memory_order_relaxed);
		dev->admin_sq = 0;
		dev->admin_cq = 0;
		dev->fault_status = NNPU_FAULT_NONE;
		dev->fault_info = 0;
		memset(dev->inject, 0, sizeof(dev->inject));
		dev->perf_level = NNPU_PERF_MEDIUM;
		helpers_set_level(dev);
		dev->resetting = false;
	}
	if (dev->power_on) {
		clear_counters(dev);
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

	for (i = 0; i < atomic_load(&dev->num_workers); i++)
		if (dev->engines[i].busy)
			return true;
	return false;
}

/* An engine that fetches entries of a queue is not busy, but the queue is. */
static bool queues_busy(const struct nnpu_device *dev)
{
	unsigned int i;

	for (i = 1; i <= dev->props.num_queues; i++)
		if (dev->queues[i].busy)
			return true;
	return false;
}

void dev_end_everything(struct nnpu_device *dev)
{
	struct irqs irqs = { 0 };
	uint32_t id, number;
	bool reset;

	while (engines_busy(dev) || queues_busy(dev) || loads_busy(dev))
		dev_await_jobs(dev);
	for (id = 0; id < atomic_load(&dev->num_workers); id++)
		exec_trim(&dev->engines[id]);
	/* Only this thread uses contexts and programs now. */
	for (id = 1; id <= dev->props.max_contexts; id++)
		for (number = 1; dev->contexts[id] && number <= dev->props.num_queues; number++)
			fetch_drop(dev, dev->contexts[id], number, NULL);
	/* A queue of a context must not outlive it. */
	for (id = 1; id <= dev->props.num_queues; id++)
		queue_init(dev, &dev->queues[id]);
	for (id = 1; id <= dev->props.max_contexts; id++) {
		struct nnpu_ctx *ctx = dev->contexts[id];

		if (!ctx)
			continue;
		dev->contexts[id] = NULL;
		dev->num_contexts--;
		for (number = 1; number <= dev->props.max_programs; number++) {
			if (!ctx->programs[number])
				continue;
			program_put(ctx->programs[number]);
			dev->num_programs--;
		}
		ctx_leave(ctx);
	}
	reset = dev->resetting;
	/* Before the reset is seen to be over: what is raised after that must stay. */
	if (reset && dev->props.platform_irq)
		irq_line_update(dev, 0, UINT32_MAX, &(uint32_t){ 0 });
	device_stopped(dev, &irqs);
	pthread_mutex_unlock(&dev->lock);
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
