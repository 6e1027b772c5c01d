/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_GATE_H_
#define _NNPU_GATE_H_

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct nnpu_gates - the closed gates of jobs that wait
 * @lock: protects @list and @open; taken in interrupts. No lock of a gate or fence is held
 * @list: struct nnpu_gate
 * @open: nobody waits any more
 */
struct nnpu_gates {
	spinlock_t lock;	/* see above */
	struct list_head list;
	bool open;
};

/**
 * struct nnpu_gate_in - an in-fence
 * @fence: fence; a reference
 * @cb: callback; its data is @gate
 * @gate: the gate it belongs to
 */
struct nnpu_gate_in {
	struct dma_fence *fence;
	struct dma_fence_cb cb;
	struct nnpu_gate *gate;
};

/**
 * struct nnpu_gate - what a job with in-fences waits for
 * @base: signals when all in-fences have, or when nobody waits for them any more
 * @lock: lock of @base; protects @all_in, @out and @error
 * @gates: where @node is an entry
 * @node: entry of nnpu_gates.list
 * @pending: in-fences that have not signalled, and one more until nnpu_gate_arm() is through
 * @armed: the callbacks are being installed, or have been; the first who waits does that
 * @all_in: all in-fences have signalled
 * @out: signals when all in-fences have; a reference. NULL: none
 * @error: error of @out
 * @hold: what pays for the gate while it waits with @out; a reference
 * @work: signals @out
 * @num: entries of @in
 * @in: in-fences
 */
struct nnpu_gate {
	struct dma_fence base;
	spinlock_t lock;	/* see above */
	struct nnpu_gates *gates;
	struct list_head node;
	atomic_t pending;
	atomic_t armed;
	bool all_in;
	struct dma_fence *out;
	int error;
	struct nnpu_quota_hold *hold;
	struct irq_work work;
	u32 num;
	struct nnpu_gate_in in[] __counted_by(num);
};

struct nnpu_quota_hold;

void nnpu_gates_init(struct nnpu_gates *gates);
void nnpu_gates_open(struct nnpu_gates *gates);

struct nnpu_gate *nnpu_gate_alloc(u32 max);
void nnpu_gate_add(struct nnpu_gate *gate, struct dma_fence *fence);
struct dma_fence *nnpu_gate_wait(struct nnpu_gate *gate, struct nnpu_gates *gates);
u64 nnpu_gate_time(const struct nnpu_gate *gate);
int nnpu_gate_error(const struct nnpu_gate *gate);
bool nnpu_gate_defer(struct nnpu_gate *gate, struct dma_fence *out, int error,
		     struct nnpu_quota_hold *hold);
void nnpu_gate_free(struct nnpu_gate *gate);

#endif /* _NNPU_GATE_H_ */
