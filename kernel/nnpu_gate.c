// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gates: what jobs with in-fences wait for.
 *
 * drm_sched would wait for the in-fences itself. But then it keeps a cancelled job until they
 * have signalled, and the fences of other clients may take as long as they like: the job's
 * buffers and its context could not be freed. So the scheduler waits for a fence of the driver,
 * which signals when the in-fences have, or when the context is closed.
 *
 * The fence of a cancelled job must not signal before its in-fences: who waits for it may rely on
 * what they stand for. nnpu_gate_defer() leaves that to the gate, which refers to fences only
 * and outlives job, context and device.
 *
 * Lock order: nnpu_gates.lock or the lock of an in-fence, nnpu_gate.lock, locks of the scheduler
 * and of workqueues. In-fences may be fences of other jobs, and their callbacks run under their
 * locks. So no callback signals the fence of a job: that has the same class, and a chain of
 * cancelled jobs would recurse.
 */
#include <linux/dma-fence-chain.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include <drm/nnpu_accel.h>

#include "nnpu_gate.h"
#include "nnpu_quota.h"

static const char *nnpu_gate_get_driver_name(struct dma_fence *fence)
{
	return "nnpu";
}

static const char *nnpu_gate_get_timeline_name(struct dma_fence *fence)
{
	return "nnpu-gate";
}

static void nnpu_gate_release(struct dma_fence *fence)
{
	struct nnpu_gate *gate = container_of(fence, struct nnpu_gate, base);
	u32 i;

	for (i = 0; i < gate->num; i++)
		dma_fence_put(gate->in[i].fence);
	dma_fence_free(fence);
}

static const struct dma_fence_ops nnpu_gate_ops = {
	.get_driver_name = nnpu_gate_get_driver_name,
	.get_timeline_name = nnpu_gate_get_timeline_name,
	.release = nnpu_gate_release,
};

/* The in-fences have signalled, after the job was cancelled. Hard interrupt. */
static void nnpu_gate_work(struct irq_work *work)
{
	struct nnpu_gate *gate = container_of(work, struct nnpu_gate, work);
	struct dma_fence *out = gate->out;

	dma_fence_set_error(out, gate->error);
	dma_fence_signal(out);
	nnpu_quota_hold_put(gate->hold);
	dma_fence_put(&gate->base);
	/* Last: it may drop the last reference of the module. */
	dma_fence_put(out);
}

static void nnpu_gate_one_in(struct nnpu_gate *gate)
{
	unsigned long flags;
	bool deferred;

	if (!atomic_dec_and_test(&gate->pending))
		return;
	spin_lock_irqsave(&gate->lock, flags);
	gate->all_in = true;
	deferred = gate->out;
	spin_unlock_irqrestore(&gate->lock, flags);
	/*
	 * nnpu_gate_free() cannot free the gate meanwhile: it removes this callback, and waits
	 * for the lock of the in-fence to do so.
	 */
	dma_fence_signal(&gate->base);
	if (deferred)
		irq_work_queue(&gate->work);
}

static void nnpu_gate_callback(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	nnpu_gate_one_in(container_of(cb, struct nnpu_gate_in, cb)->gate);
}

/**
 * nnpu_gates_init - prepare for gates
 * @gates: gates
 */
void nnpu_gates_init(struct nnpu_gates *gates)
{
	spin_lock_init(&gates->lock);
	INIT_LIST_HEAD(&gates->list);
	gates->open = false;
}

/**
 * nnpu_gates_open - nobody waits for in-fences any more
 * @gates: gates; those that are armed later are open at once
 */
void nnpu_gates_open(struct nnpu_gates *gates)
{
	struct nnpu_gate *gate;

	spin_lock_irq(&gates->lock);
	gates->open = true;
	list_for_each_entry(gate, &gates->list, node)
		dma_fence_signal(&gate->base);
	spin_unlock_irq(&gates->lock);
}

/**
 * nnpu_gate_alloc - allocate a gate
 * @max: in-fences it has room for
 *
 * Return: the gate, or NULL.
 */
struct nnpu_gate *nnpu_gate_alloc(u32 max)
{
	struct nnpu_gate *gate = kzalloc(struct_size(gate, in, max), GFP_KERNEL_ACCOUNT);

	if (!gate)
		return NULL;
	spin_lock_init(&gate->lock);
	INIT_LIST_HEAD(&gate->node);
	init_irq_work(&gate->work, nnpu_gate_work);
	dma_fence_init(&gate->base, &nnpu_gate_ops, &gate->lock, dma_fence_context_alloc(1), 1);
	return gate;
}

/**
 * nnpu_gate_add - add an in-fence
 * @gate: gate with room for it, not armed
 * @fence: fence; the gate takes over the reference
 *
 * One that is named several times is waited for once.
 */
void nnpu_gate_add(struct nnpu_gate *gate, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < gate->num; i++)
		if (gate->in[i].fence == fence) {
			dma_fence_put(fence);
			return;
		}
	gate->num++;
	gate->in[i].fence = fence;
	gate->in[i].gate = gate;
}

/* Have the in-fences open the gate. */
static void nnpu_gate_arm(struct nnpu_gate *gate)
{
	u32 i;

	if (atomic_xchg(&gate->armed, 1))
		return;
	atomic_set(&gate->pending, gate->num + 1);
	for (i = 0; i < gate->num; i++)
		if (dma_fence_add_callback(gate->in[i].fence, &gate->in[i].cb, nnpu_gate_callback))
			nnpu_gate_one_in(gate);
	nnpu_gate_one_in(gate);
}

/**
 * nnpu_gate_wait - begin to wait for the in-fences, or go on with that
 * @gate: gate
 * @gates: those that nnpu_gates_open() opens together, always the same
 *
 * Only the first job of an entity waits. So a fence has one callback of each entity at most,
 * however many jobs name it.
 *
 * Return: a reference of the fence to wait for; NULL if the gate is open.
 */
struct dma_fence *nnpu_gate_wait(struct nnpu_gate *gate, struct nnpu_gates *gates)
{
	nnpu_gate_arm(gate);
	if (!gate->gates) {
		gate->gates = gates;
		spin_lock_irq(&gates->lock);
		list_add_tail(&gate->node, &gates->list);
		if (gates->open)
			dma_fence_signal(&gate->base);
		spin_unlock_irq(&gates->lock);
	}
	return dma_fence_is_signaled(&gate->base) ? NULL : dma_fence_get(&gate->base);
}

/**
 * nnpu_gate_error - error of the in-fences
 * @gate: gate whose in-fences have signalled
 *
 * Return: the error of the first one that has one, else 0.
 */
int nnpu_gate_error(const struct nnpu_gate *gate)
{
	u32 i;

	for (i = 0; i < gate->num; i++) {
		/* A link of a timeline has no error of its own; that of the point counts. */
		int status = dma_fence_get_status(dma_fence_chain_contained(gate->in[i].fence));

		if (status < 0)
			return status;
	}
	return 0;
}

/**
 * nnpu_gate_time - when the in-fences had signalled
 * @gate: gate
 *
 * Return: CLOCK_MONOTONIC of the last one, not later than now, ns. Those that have not signalled,
 * as the context is closed, do not count.
 */
u64 nnpu_gate_time(const struct nnpu_gate *gate)
{
	u64 time = 0;
	u32 i;

	for (i = 0; i < gate->num; i++)
		if (dma_fence_is_signaled(gate->in[i].fence))
			time = max_t(u64, time,
				     ktime_to_ns(dma_fence_timestamp(gate->in[i].fence)));
	/* Other drivers may give their fences any time. */
	return min(time, ktime_get_ns());
}

/**
 * nnpu_gate_defer - signal a fence when the in-fences have signalled
 * @gate: gate; once for each
 * @out: fence that has not signalled
 * @error: its error
 * @hold: pays for that
 *
 * Any context in which no lock of a fence is held. What stays is the gate and @out. Others may take
 * long to signal, so it counts as the context whose job it was: a user cannot have any number.
 *
 * Return: false if they have signalled already: the caller signals the fence.
 */
bool nnpu_gate_defer(struct nnpu_gate *gate, struct dma_fence *out, int error,
		     struct nnpu_quota_hold *hold)
{
	unsigned long flags;
	bool deferred;

	nnpu_gate_arm(gate);
	spin_lock_irqsave(&gate->lock, flags);
	deferred = !gate->all_in;
	if (deferred) {
		/* All references are dropped by nnpu_gate_work(). */
		dma_fence_get(&gate->base);
		gate->hold = nnpu_quota_hold_get(hold);
		gate->out = dma_fence_get(out);
		gate->error = error;
	}
	spin_unlock_irqrestore(&gate->lock, flags);
	return deferred;
}

/**
 * nnpu_gate_free - the job does not need its gate any more
 * @gate: gate, armed or not
 *
 * Any context in which no lock of a fence is held.
 */
void nnpu_gate_free(struct nnpu_gate *gate)
{
	unsigned long flags;
	u32 i;

	if (gate->gates) {
		spin_lock_irqsave(&gate->gates->lock, flags);
		list_del(&gate->node);
		spin_unlock_irqrestore(&gate->gates->lock, flags);
	}
	/* A deferred signal needs the callbacks. */
	for (i = 0; atomic_read(&gate->armed) && !gate->out && i < gate->num; i++)
		dma_fence_remove_callback(gate->in[i].fence, &gate->in[i].cb);
	dma_fence_put(&gate->base);
}
