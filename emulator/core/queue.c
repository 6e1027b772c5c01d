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
	queue_watch_end(dev, q);
	sched_update(dev, q);
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
	sched_update(dev, q);
	engines_abort(dev, q, NULL);
	irqs_add(irqs, q->vector);
}

/*
 * Doorbells.
 *
 * While an engine serves a queue or watches it, a write to SQ_TAIL takes no lock. The tail
 * goes to the bell of the queue, an atomic word, and the engine reads it before its turn or
 * its watch ends. No tail is lost: the doorbell writes its tail only while SERVED is set, and
 * who clears SERVED takes the last tail with the same atomic exchange.
 * The doorbell releases and the engine acquires: entries are read after the tail.
 */
#define BELL_SERVED		(1ull << 63)
#define BELL_RUNG		(1ull << 62)	/* there is a tail that has not been taken */
#define BELL_ENTRIES_SHIFT	32		/* entries of the ring, while SERVED */
#define BELL_ENTRIES_MASK	0x1ffffu
#define BELL_TAIL_MASK		0xffffffffull

static void take_tail(struct nnpu_device *dev, struct nnpu_queue *q, uint64_t bell)
{
	if ((bell & BELL_RUNG) && dev->ready && !dev->stopping && !q->stopped && !q->dropping)
		q->sq_tail = (uint32_t)(bell & BELL_TAIL_MASK);
}

void queue_serve_begin(struct nnpu_device *dev, struct nnpu_queue *q)
{
	uint64_t bell = BELL_SERVED | (uint64_t)q->sq_entries << BELL_ENTRIES_SHIFT;

	q->watcher = NULL;
	take_tail(dev, q, atomic_exchange_explicit(&q->bell, bell, memory_order_acquire));
}

bool queue_is_rung(const struct nnpu_queue *q)
{
	return atomic_load_explicit(&q->bell, memory_order_relaxed) & BELL_RUNG;
}

void queue_take_tail(struct nnpu_device *dev, struct nnpu_queue *q)
{
	if (!queue_is_rung(q))
		return;
	take_tail(dev, q, atomic_fetch_and_explicit(&q->bell, ~(BELL_RUNG | BELL_TAIL_MASK),
						    memory_order_acquire));
}

void queue_serve_end(struct nnpu_device *dev, struct nnpu_queue *q)
{
	take_tail(dev, q, atomic_exchange_explicit(&q->bell, 0, memory_order_acquire));
}

void queue_watch_begin(struct nnpu_device *dev, struct nnpu_queue *q, struct nnpu_engine *e)
{
	queue_take_tail(dev, q);
	q->watcher = e;
}

void queue_watch_end(struct nnpu_device *dev, struct nnpu_queue *q)
{
	if (!q->watcher)
		return;
	q->watcher = NULL;
	queue_serve_end(dev, q);
	sched_update(dev, q);
}

/* False: no engine serves or watches the queue, or the tail is invalid. */
static bool queue_ring_served(struct nnpu_queue *q, uint32_t tail)
{
	uint64_t old, new;

	/* The engine has the cache line: reading before writing would transfer it twice. */
	prefetch_for_write((const void *)&q->bell);
	old = atomic_load_explicit(&q->bell, memory_order_relaxed);
	do {
		if (!(old & BELL_SERVED) ||
		    tail >= (old >> BELL_ENTRIES_SHIFT & BELL_ENTRIES_MASK))
			return false;
		new = (old & ~BELL_TAIL_MASK) | BELL_RUNG | tail;
	} while (!atomic_compare_exchange_weak_explicit(&q->bell, &old, new, memory_order_release,
							memory_order_relaxed));
	return true;
}

/* May the head move to @head? Up to the next entry to write, modulo size. */
static bool cq_head_valid(const struct nnpu_queue *q, uint32_t head)
{
	uint32_t mask = q->cq_entries - 1;

	return head < q->cq_entries &&
	       ((head - q->cq_head) & mask) <= ((q->cq_tail - q->cq_head) & mask);
}

static void queue_arm(struct nnpu_queue *q, uint32_t head, struct irqs *irqs)
{
	if (head != q->cq_tail) {
		q->armed = false;
		irqs_add(irqs, q->vector);
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
			queue_arm(q, value, irqs);
		break;
	default:
		dev_log(dev, NNPU_LOG_GUEST_ERROR, "queue %u: no doorbell at 0x%x", qid, reg);
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

	if (q && reg == NNPU_DB_SQ_TAIL && queue_ring_served(q, value))
		return;
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
	queue_watch_end(dev, q);
	if (q->busy || (idle && q->sq_head != q->sq_tail)) {
		q->held = !idle;
		sched_update(dev, q);
		sched_wake(dev);
		return NNPU_STATUS_BUSY;
	}
	/* Doorbells that come after this are too late. */
	q->dropping = true;
	sched_update(dev, q);
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
	sched_update(dev, q);
	sched_wake(dev);
}

void queue_resume(struct nnpu_queue *q, const struct nnpu_queue_state *state,
		  struct irqs *irqs)
{
	unsigned int flags = le16toh(state->flags);

	q->sq_head = le16toh(state->sq_head);
	q->sq_tail = le16toh(state->sq_tail);
	q->cq_head = le16toh(state->cq_head);
	q->cq_tail = le16toh(state->cq_tail);
	q->phase = flags & NNPU_QUEUE_STATE_PHASE ? NNPU_CQE_PHASE : 0;
	if (flags & NNPU_QUEUE_STATE_ARMED)
		queue_arm(q, le16toh(state->arm_head), irqs);
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
	return q->exists && !q->stopped && !q->dropping && !q->held && q->sq_head != q->sq_tail;
}

int queue_read_entries(struct nnpu_device *dev, const struct nnpu_queue *q, uint32_t first,
		       struct nnpu_sqe *sqe, uint32_t count)
{
	return dev_dma_read(dev, q->sq_addr + (uint64_t)first * NNPU_SQE_SIZE, sqe,
			    count * sizeof(*sqe));
}

void queue_prefetch(struct nnpu_device *dev, const struct nnpu_queue *q, uint32_t first,
		    uint32_t count)
{
	if (!dev->ops->dma_prefetch)
		return;
	/* Software polls this line: without the hint the write would wait for it. */
	dev->ops->dma_prefetch(dev->bus, q->cq_addr + (uint64_t)q->cq_tail * NNPU_CQE_SIZE,
			       NNPU_CQE_SIZE, true);
	if (count)
		dev->ops->dma_prefetch(dev->bus, q->sq_addr + (uint64_t)first * NNPU_SQE_SIZE,
				       count * NNPU_SQE_SIZE, false);
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
