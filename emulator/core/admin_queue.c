// SPDX-License-Identifier: MIT
/*
 * Admin commands about queues and their jobs.
 */
#include "admin_command.h"
#include "device_state.h"
#include "dma.h"
#include "engine.h"
#include "fetch.h"
#include "loads.h"
#include "queue.h"
#include "scheduler.h"
#include "slots.h"

static bool create_queue_fields_ok(const struct nnpu_sqe_create_queue *c)
{
	const unsigned int known = NNPU_QUEUE_KERNEL | NNPU_QUEUE_ARMED_IRQ | NNPU_QUEUE_RESUME;
	uint16_t flags = le16toh(c->state.flags);

	if ((c->flags & ~known) || c->reserved || c->state.reserved)
		return false;
	if (c->flags & NNPU_QUEUE_KERNEL &&
	    (c->ctx || c->priority || c->flags & NNPU_QUEUE_RESUME))
		return false;
	if (!(c->flags & NNPU_QUEUE_RESUME))
		return is_zero(&c->state, sizeof(c->state));
	if (flags & ~(NNPU_QUEUE_STATE_PHASE | NNPU_QUEUE_STATE_ARMED))
		return false;
	if (flags & NNPU_QUEUE_STATE_ARMED)
		return c->flags & NNPU_QUEUE_ARMED_IRQ;
	return !c->state.arm_head;
}

/* Are the indexes within the rings? Software may have changed the state. */
static bool state_ok(const struct nnpu_sqe_create_queue *c)
{
	uint32_t sq_entries = le32toh(c->sq_entries), cq_entries = le32toh(c->cq_entries);
	const struct nnpu_queue_state *s = &c->state;

	return le16toh(s->sq_head) < sq_entries && le16toh(s->sq_tail) < sq_entries &&
	       le16toh(s->cq_head) < cq_entries && le16toh(s->cq_tail) < cq_entries &&
	       le16toh(s->arm_head) < cq_entries;
}

void admin_create_queue(struct admin *a, const struct nnpu_sqe_create_queue *c)
{
	struct nnpu_device *dev = a->dev;
	uint16_t id = le16toh(c->qid);
	struct nnpu_ctx *ctx = NULL;
	struct fetched *pool = NULL;
	struct irqs irqs = { 0 };
	struct nnpu_queue *q;

	if (!create_queue_fields_ok(c)) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	if (!(c->flags & NNPU_QUEUE_KERNEL)) {
		ctx = admin_get_ctx(a, c->ctx);
		if (!ctx)
			return;
	}
	if (!id || id > dev->props.num_queues) {
		admin_fail(a, NNPU_STATUS_INVALID_QUEUE);
		return;
	}
	q = &dev->queues[id];
	if (q->exists) {
		admin_fail(a, NNPU_STATUS_BUSY);
		return;
	}
	if (le16toh(c->vector) >= dev->props.num_vectors ||
	    !queue_ring_ok(dev, le32toh(c->sq_entries), le64toh(c->sq_addr)) ||
	    !queue_ring_ok(dev, le32toh(c->cq_entries), le64toh(c->cq_addr)) ||
	    le32toh(c->priority) >= NNPU_QUEUE_PRIORITY_NUM || !state_ok(c)) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	if (!ctx) {
		pool = fetch_make_pool(dev, le32toh(c->sq_entries));
		if (!pool) {
			admin_fail(a, NNPU_STATUS_NO_MEMORY);
			return;
		}
	}
	pthread_mutex_lock(&dev->lock);
	queue_init(dev, q);
	q->pool = pool;
	q->flags = c->flags;
	q->vector = le16toh(c->vector);
	q->priority = (uint8_t)le32toh(c->priority);
	q->ctx = ctx;
	q->lane.ctx = ctx;
	q->lane.priority = q->priority;
	q->sq_addr = le64toh(c->sq_addr);
	q->cq_addr = le64toh(c->cq_addr);
	q->sq_entries = le32toh(c->sq_entries);
	q->cq_entries = le32toh(c->cq_entries);
	if (c->flags & NNPU_QUEUE_RESUME)
		queue_resume(dev, q, &c->state, &irqs);
	q->exists = true;
	sched_update(dev, q);
	sched_wake(dev);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

void admin_suspend_queue(struct admin *a, const struct nnpu_sqe_suspend_queue *c)
{
	struct nnpu_device *dev = a->dev;
	struct nnpu_queue_state state;
	struct nnpu_queue *q;
	unsigned int status;

	if ((c->flags & ~NNPU_SUSPEND_IDLE) || c->ctx || c->reserved0 || c->reserved1 ||
	    !is_zero(c->reserved, sizeof(c->reserved))) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	q = admin_get_queue(a, c->qid);
	if (!q)
		return;
	if (!q->ctx) {
		admin_fail(a, NNPU_STATUS_INVALID_QUEUE);
		return;
	}
	if (le64toh(c->state_addr) & 7) {
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	status = queue_suspend(dev, q, c->flags & NNPU_SUSPEND_IDLE, &state);
	pthread_mutex_unlock(&dev->lock);
	if (!status && dev_dma_write(dev, le64toh(c->state_addr), &state, sizeof(state))) {
		pthread_mutex_lock(&dev->lock);
		queue_unsuspend(dev, q);
		pthread_mutex_unlock(&dev->lock);
		status = NNPU_STATUS_DMA_ERROR;
	}
	if (status) {
		admin_fail(a, status);
		return;
	}
	pthread_mutex_lock(&dev->lock);
	queue_init(dev, q);
	pthread_mutex_unlock(&dev->lock);
}

void admin_quiesce(struct nnpu_device *dev, struct nnpu_queue *q)
{
	q->dropping = true;
	sched_update_all(dev, q);
	engines_abort(dev, q, NULL);
	while (q->busy || q->begun)
		dev_await_jobs(dev);
	fetch_drop_queue(dev, q);
}

/* Fields of a command with the flags @known. */
static bool check_fields(struct admin *a, const struct nnpu_sqe_queue *c, unsigned int known)
{
	const unsigned int of_context = c->flags & NNPU_QUEUE_CMD_CONTEXT;

	if (!(c->flags & ~known) && !c->reserved0 && is_zero(c->reserved, sizeof(c->reserved)) &&
	    (of_context || !c->ctx) && !(of_context && c->flags & NNPU_QUEUE_CMD_PROBE) &&
	    ((c->opcode == NNPU_ADMIN_ABORT && !of_context) || !c->target_cid))
		return true;
	admin_fail(a, NNPU_STATUS_INVALID_FIELD);
	return false;
}

/* The queue that the command names. *@ctx: the context with CMD_CONTEXT, else NULL. */
static struct nnpu_queue *get_target(struct admin *a, const struct nnpu_sqe_queue *c,
				     struct nnpu_ctx **ctx)
{
	struct nnpu_queue *q;

	*ctx = NULL;
	if (c->flags & NNPU_QUEUE_CMD_CONTEXT) {
		*ctx = admin_get_ctx(a, c->ctx);
		if (!*ctx)
			return NULL;
	}
	q = admin_get_queue(a, c->qid);
	if (q && q->ctx && *ctx) {
		admin_fail(a, NNPU_STATUS_INVALID_QUEUE);
		return NULL;
	}
	return q;
}

void admin_destroy_queue(struct admin *a, const struct nnpu_sqe_queue *c)
{
	struct nnpu_queue *q;
	struct nnpu_ctx *ctx;

	if (!check_fields(a, c, 0))
		return;
	q = get_target(a, c, &ctx);
	if (!q)
		return;
	pthread_mutex_lock(&a->dev->lock);
	admin_quiesce(a->dev, q);
	queue_init(a->dev, q);
	pthread_mutex_unlock(&a->dev->lock);
}

/* Has a job of the context begun? dev->lock held. */
static bool lanes_busy(struct nnpu_ctx *ctx, const struct nnpu_queue *q)
{
	unsigned int i;

	for (i = 0; i < NNPU_QUEUE_PRIORITY_NUM; i++)
		if (ctx_lane(ctx, q->id, i)->busy)
			return true;
	return false;
}

/* What comes while they drop begins afterwards. */
static void lanes_dropping(struct nnpu_device *dev, struct nnpu_ctx *ctx,
			   const struct nnpu_queue *q, bool dropping)
{
	unsigned int i;

	for (i = 0; i < NNPU_QUEUE_PRIORITY_NUM; i++) {
		struct lane *lane = ctx_lane(ctx, q->id, i);

		lane->dropping = dropping;
		/* One that never had an entry has no queue. */
		if (lane->q)
			sched_update_lane(dev, lane);
	}
	sched_wake(dev);
}

void admin_reset_queue(struct admin *a, const struct nnpu_sqe_queue *c)
{
	struct nnpu_device *dev = a->dev;
	struct nnpu_queue *q;
	struct nnpu_ctx *ctx;

	if (!check_fields(a, c, NNPU_QUEUE_CMD_CONTEXT))
		return;
	q = get_target(a, c, &ctx);
	if (!q)
		return;
	pthread_mutex_lock(&dev->lock);
	if (ctx) {
		fetch_all(dev, q);
		lanes_dropping(dev, ctx, q, true);
		fetch_drop(dev, ctx, q->id, NULL);
		engines_abort(dev, q, ctx);
		while (lanes_busy(ctx, q))
			dev_await_jobs(dev);
		lanes_dropping(dev, ctx, q, false);
	} else {
		admin_quiesce(dev, q);
		queue_rewind(q);
	}
	pthread_mutex_unlock(&dev->lock);
}

/* Abort one entry @cid. False: there is none. dev->lock held. */
static bool abort_one(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		      struct irqs *irqs)
{
	struct nnpu_engine *e;

	if (fetch_abort(dev, q, cid, irqs))
		return true;
	e = engine_of_entry(dev, q, cid);
	if (e)
		engine_abort(e);
	return e;
}

void admin_abort(struct admin *a, const struct nnpu_sqe_queue *c)
{
	uint16_t cid = le16toh(c->target_cid);
	struct nnpu_device *dev = a->dev;
	struct nnpu_queue *q = NULL;
	struct nnpu_ctx *ctx = NULL;
	struct irqs irqs = { 0 };

	if (!check_fields(a, c, NNPU_QUEUE_CMD_CONTEXT | NNPU_QUEUE_CMD_PROBE))
		return;
	/* Queue 0 is that of LOAD_PROGRAM. */
	if (c->qid || c->flags) {
		q = get_target(a, c, &ctx);
		if (!q)
			return;
	}
	pthread_mutex_lock(&dev->lock);
	if (q && !q->ctx)
		fetch_all(dev, q);
	if (!q) {
		a->result = loads_abort(dev, cid, &irqs);
	} else if (ctx) {
		a->result = fetch_abort_ctx(dev, q, ctx, &irqs) || lanes_busy(ctx, q);
		engines_abort(dev, q, ctx);
	} else if (c->flags & NNPU_QUEUE_CMD_PROBE) {
		a->result = fetch_has(dev, q, cid) || engine_of_entry(dev, q, cid);
	} else {
		a->result = abort_one(dev, q, cid, &irqs);
	}
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}
