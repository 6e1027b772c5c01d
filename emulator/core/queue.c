// SPDX-License-Identifier: MIT
/*
 * Rings, doorbells and completions.
 */
#include <endian.h>

#include "device_state.h"
#include "dma.h"
#include "engine.h"
#include "fetch.h"
#include "queue.h"
#include "scheduler.h"

bool queue_ring_ok(const struct nnpu_device *dev, uint32_t entries, uint64_t addr)
{
	return entries >= NNPU_MIN_ENTRIES && entries <= 1u << dev->props.max_entries_log2 &&
	       !(entries & (entries - 1)) && page_aligned(addr);
}

void queue_rewind(struct nnpu_queue *q)
{
	q->sq_head = 0;
	q->sq_tail = 0;
	q->cq_head = 0;
	q->cq_tail = 0;
	q->phase = NNPU_CQE_PHASE;
	q->armed = false;
	q->arm_head = 0;
	q->stopped = false;
	q->error = NNPU_STATUS_SUCCESS;
	q->held = false;
	q->dropping = false;
}

void queue_init(struct nnpu_device *dev, struct nnpu_queue *q)
{
	q->exists = false;
	sched_update_all(dev, q);
	q->priority = 0;
	q->lane = (struct lane) { .q = q };
	q->flags = 0;
	q->vector = 0;
	q->ctx = NULL;
	fetch_end_pool(dev, q);
	q->sq_addr = 0;
	q->cq_addr = 0;
	q->sq_entries = 0;
	q->cq_entries = 0;
	queue_rewind(q);
	q->running = false;
	q->cid = 0;
	atomic_store(&q->progress, 0);
}

void queue_stop(struct nnpu_device *dev, struct nnpu_queue *q, unsigned int fault,
		unsigned int status, struct irqs *irqs)
{
	dev_fault(dev, fault, q->id, q->running ? q->cid : 0);
	if (!q->id) {
		dev_fatal(dev, status, irqs);
		return;
	}
	q->stopped = true;
	q->error = (uint16_t)status;
	sched_update_all(dev, q);
	engines_abort(dev, q, NULL);
	irqs_add(irqs, q->vector);
}

/* Doorbells. */

/* May the head move to @head? Up to the next entry to write, modulo size. */
static bool cq_head_valid(const struct nnpu_queue *q, uint32_t head)
{
	uint32_t mask = q->cq_entries - 1;

	return head < q->cq_entries &&
	       ((head - q->cq_head) & mask) <= ((q->cq_tail - q->cq_head) & mask);
}

static void queue_arm(struct nnpu_device *dev, struct nnpu_queue *q, uint32_t head,
		      struct irqs *irqs)
{
	if (head != q->cq_tail) {
		q->armed = false;
		irqs_ask(dev, q->vector, irqs);
		return;
	}
	q->armed = true;
	q->arm_head = head;
}

/* dev->lock held. */
static void ring_locked(struct nnpu_device *dev, struct nnpu_queue *q, unsigned int qid,
			uint32_t reg, uint32_t value, struct irqs *irqs)
{
	bool good = true;

	if (!dev->ready || dev->stopping)
		return;
	if (!q || !q->exists) {
		dev_fault(dev, NNPU_FAULT_DOORBELL, qid, 0);
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "doorbell of absent queue %u", qid);
		return;
	}
	if (q->stopped || q->dropping)
		return;
	switch (reg) {
	case NNPU_DB_SQ_TAIL:
		good = value < q->sq_entries;
		if (!good)
			break;
		q->sq_tail = value;
		if (!qid) {
			pthread_cond_broadcast(&dev->event);
		} else if (!q->busy) {
			sched_update(dev, q);
			sched_wake(dev);
		}
		break;
	case NNPU_DB_CQ_HEAD:
		good = cq_head_valid(q, value);
		if (good)
			q->cq_head = value;
		break;
	case NNPU_DB_CQ_ARM:
		if (!(q->flags & NNPU_QUEUE_ARMED_IRQ))
			break;
		good = value < q->cq_entries;
		if (good)
			queue_arm(dev, q, value, irqs);
		break;
	}
	if (!good) {
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "queue %u: doorbell 0x%x: bad value %u", qid,
			reg, value);
		queue_stop(dev, q, NNPU_FAULT_DOORBELL, NNPU_STATUS_INVALID_FIELD, irqs);
	}
}

void queue_doorbell(struct nnpu_device *dev, unsigned int qid, uint32_t reg, uint32_t value)
{
	struct nnpu_queue *q = qid <= dev->props.num_queues ? &dev->queues[qid] : NULL;
	struct irqs irqs = { 0 };

	if (reg != NNPU_DB_SQ_TAIL && reg != NNPU_DB_CQ_HEAD && reg != NNPU_DB_CQ_ARM) {
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "queue %u: no doorbell at 0x%x", qid, reg);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	ring_locked(dev, q, qid, reg, value, &irqs);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

/* Suspending. */

unsigned int queue_suspend(struct nnpu_device *dev, struct nnpu_queue *q, bool idle,
			   struct nnpu_queue_state *state)
{
	unsigned int flags = 0;

	if (q->stopped)
		return NNPU_STATUS_NO_RESOURCES;
	if (q->busy || (idle && q->sq_head != q->sq_tail)) {
		q->held = !idle;
		sched_update_all(dev, q);
		sched_wake(dev);
		return NNPU_STATUS_BUSY;
	}
	/* Doorbells that come after this are too late. */
	q->dropping = true;
	sched_update_all(dev, q);
	if (q->phase)
		flags |= NNPU_QUEUE_STATE_PHASE;
	if (q->armed)
		flags |= NNPU_QUEUE_STATE_ARMED;
	*state = (struct nnpu_queue_state) {
		.sq_head = htole16((uint16_t)q->sq_head),
		.sq_tail = htole16((uint16_t)q->sq_tail),
		.cq_head = htole16((uint16_t)q->cq_head),
		.cq_tail = htole16((uint16_t)q->cq_tail),
		.arm_head = htole16(q->armed ? (uint16_t)q->arm_head : 0),
		.flags = htole16((uint16_t)flags),
	};
	return NNPU_STATUS_SUCCESS;
}

void queue_unsuspend(struct nnpu_device *dev, struct nnpu_queue *q)
{
	q->dropping = false;
	q->held = false;
	sched_update_all(dev, q);
	sched_wake(dev);
}

void queue_resume(struct nnpu_device *dev, struct nnpu_queue *q,
		  const struct nnpu_queue_state *state, struct irqs *irqs)
{
	unsigned int flags = le16toh(state->flags);

	q->sq_head = le16toh(state->sq_head);
	q->sq_tail = le16toh(state->sq_tail);
	q->cq_head = le16toh(state->cq_head);
	q->cq_tail = le16toh(state->cq_tail);
	q->phase = flags & NNPU_QUEUE_STATE_PHASE ? NNPU_CQE_PHASE : 0;
	if (flags & NNPU_QUEUE_STATE_ARMED)
		queue_arm(dev, q, le16toh(state->arm_head), irqs);
}

/* Entries. */

uint32_t queue_entries_waiting(const struct nnpu_queue *q)
{
	return (q->sq_head <= q->sq_tail ? q->sq_tail : q->sq_entries) - q->sq_head;
}

bool queue_has_places(const struct nnpu_queue *q)
{
	return q->fetched < q->sq_entries;
}

bool queue_has_work(const struct nnpu_queue *q)
{
	return queue_may_begin(q) && q->sq_head != q->sq_tail;
}

int queue_read_entries(struct nnpu_device *dev, const struct nnpu_queue *q, uint32_t first,
		       struct nnpu_sqe *sqe, uint32_t count)
{
	return dev_dma_read(dev, q->sq_addr + (uint64_t)first * NNPU_SQE_SIZE, sqe,
			    count * sizeof(*sqe));
}

int queue_entry_read(struct nnpu_device *dev, struct nnpu_queue *q, int ret,
		     struct irqs *irqs)
{
	if (!ret)
		q->sq_head = (q->sq_head + 1) & (q->sq_entries - 1);
	else if (!atomic_load(&dev->stop) && !q->dropping)
		queue_stop(dev, q, NNPU_FAULT_SQ_READ, NNPU_STATUS_DMA_ERROR, irqs);
	return ret;
}

bool queue_has_room(const struct nnpu_queue *q, uint32_t count)
{
	uint32_t mask = q->cq_entries - 1;
	uint32_t used = (q->cq_tail - q->cq_head) & mask;

	return mask - used >= count;
}

/* The queue takes no more completions. */
static bool queue_muted(const struct nnpu_device *dev, const struct nnpu_queue *q)
{
	return q->dropping || q->stopped || atomic_load(&dev->stop);
}

_Static_assert(offsetof(struct nnpu_cqe, status) + 2 == sizeof(struct nnpu_cqe), "comes last");

/*
 * dev->lock is held throughout: software may answer a completion with a doorbell as soon
 * as it is in memory, and that doorbell has to find the new tail.
 */
void queue_complete(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		    const struct verdict *v, uint64_t result, bool interrupt,
		    struct irqs *irqs)
{
	const struct nnpu_cqe cqe = {
		.result = htole64(result),
		.error = htole32(v->error),
		.reason = htole16(v->reason),
		.operand = htole16(v->operand),
		.qid = htole16(q->id),
		.sq_head = htole16((uint16_t)q->sq_head),
		.cid = htole16(cid),
		.status = htole16((uint16_t)(v->status << NNPU_CQE_STATUS_SHIFT) | q->phase),
	};

	if (queue_muted(dev, q))
		return;
	if (!queue_has_room(q, 1)) {
		queue_stop(dev, q, NNPU_FAULT_CQ_FULL, NNPU_STATUS_NO_RESOURCES, irqs);
		return;
	}
	/* The status makes the entry visible to software: it is written last. */
	if (dev_dma_publish(dev, q->cq_addr + (uint64_t)q->cq_tail * NNPU_CQE_SIZE, &cqe,
			    sizeof(cqe))) {
		if (!queue_muted(dev, q))
			queue_stop(dev, q, NNPU_FAULT_CQ_WRITE, NNPU_STATUS_DMA_ERROR, irqs);
		return;
	}
	q->cq_tail = (q->cq_tail + 1) & (q->cq_entries - 1);
	if (!q->cq_tail)
		q->phase ^= NNPU_CQE_PHASE;
	if (q->flags & NNPU_QUEUE_ARMED_IRQ) {
		if (!q->armed || q->arm_head == q->cq_tail)
			return;
		q->armed = false;
	}
	if (interrupt)
		irqs_add(irqs, q->vector);
}
