// SPDX-License-Identifier: MIT
/*
 * The control thread: it executes admin commands one after the other, and resets. Only
 * LOAD_PROGRAM and SAVE_PROGRAM take long: they are handed over (loads.c).
 */
#include "admin.h"
#include "admin_command.h"
#include "device_state.h"
#include "engine.h"
#include "injected.h"
#include "program_load.h"
#include "queue.h"
#include "reset.h"
#include "slots.h"

void admin_fail(struct admin *a, unsigned int status)
{
	verdict_status(&a->v, status);
}

struct nnpu_ctx *admin_get_ctx(struct admin *a, __le32 id_le)
{
	struct nnpu_device *dev = a->dev;
	uint32_t id = le32toh(id_le);

	if (id && id <= dev->props.max_contexts && dev->contexts[id])
		return dev->contexts[id];
	admin_fail(a, NNPU_STATUS_INVALID_CTX);
	return NULL;
}

struct nnpu_queue *admin_get_queue(struct admin *a, __le16 id_le)
{
	struct nnpu_device *dev = a->dev;
	uint16_t id = le16toh(id_le);

	if (id && id <= dev->props.num_queues && dev->queues[id].exists)
		return &dev->queues[id];
	admin_fail(a, NNPU_STATUS_INVALID_QUEUE);
	return NULL;
}

static void admin_nop(struct admin *a, const struct nnpu_sqe *c)
{
	if (c->flags || c->ctx || !is_zero(c->body, sizeof(c->body)))
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
}

static void set_perf(struct nnpu_device *dev, unsigned int level)
{
	unsigned int i;

	pthread_mutex_lock(&dev->lock);
	dev->perf_level = level;
	helpers_set_level(dev);
	for (i = 0; level == NNPU_PERF_LOW && i < atomic_load(&dev->num_workers); i++)
		if (!dev->engines[i].busy)
			exec_trim(&dev->engines[i]);
	/* Wake engines that poll or sleep: the new level changes how long they do. */
	atomic_fetch_add_explicit(&dev->work_seq, 1, memory_order_release);
	pthread_cond_broadcast(&dev->work);
	pthread_mutex_unlock(&dev->lock);
}

static void admin_set_perf(struct admin *a, const struct nnpu_sqe_set_perf *c)
{
	if (c->flags || c->ctx || c->reserved0 || !is_zero(c->reserved, sizeof(c->reserved)) ||
	    le32toh(c->level) >= NNPU_PERF_NUM)
		admin_fail(a, NNPU_STATUS_INVALID_FIELD);
	else
		set_perf(a->dev, le32toh(c->level));
}

static void execute(struct admin *a, const struct nnpu_sqe *sqe)
{
	switch (sqe->opcode) {
	case NNPU_ADMIN_NOP:
		admin_nop(a, sqe);
		break;
	case NNPU_ADMIN_IDENTIFY:
		admin_identify(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_CREATE_CTX:
		admin_create_ctx(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_DESTROY_CTX:
		admin_destroy_ctx(a, sqe);
		break;
	case NNPU_ADMIN_CREATE_QUEUE:
		admin_create_queue(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_DESTROY_QUEUE:
		admin_destroy_queue(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_RESET_QUEUE:
		admin_reset_queue(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_LOAD_PROGRAM:
		admin_load_program(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_SAVE_PROGRAM:
		admin_save_program(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_UNLOAD_PROGRAM:
		admin_unload_program(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_INVALIDATE_SLOTS:
		admin_invalidate(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_ABORT:
		admin_abort(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_SET_PERF:
		admin_set_perf(a, (const void *)sqe);
		break;
	case NNPU_ADMIN_SUSPEND_QUEUE:
		admin_suspend_queue(a, (const void *)sqe);
		break;
	default:
		admin_fail(a, NNPU_STATUS_INVALID_OPCODE);
		break;
	}
}

static void serve_admin(struct nnpu_device *dev)
{
	struct nnpu_queue *q = &dev->queues[0];
	struct admin a = { .dev = dev, .v = VERDICT_SUCCESS };
	struct nnpu_sqe sqe __attribute__((aligned(8)));
	struct irqs irqs = { 0 };
	bool slow;
	int ret;

	ret = queue_read_entries(dev, q, q->sq_head, &sqe, 1);
	pthread_mutex_lock(&dev->lock);
	if (queue_entry_read(dev, q, ret, &irqs)) {
		pthread_mutex_unlock(&dev->lock);
		irqs_raise(dev, &irqs);
		return;
	}
	q->running = true;
	q->cid = le16toh(sqe.cid);
	if (dev_inject(dev, NNPU_INJECT_ADMIN_STALL))
		while (!atomic_load(&dev->stop))
			pthread_cond_wait(&dev->event, &dev->lock);
	a.bad_status = dev_inject(dev, NNPU_INJECT_ADMIN_STATUS);
	slow = sqe.opcode != NNPU_ADMIN_LOAD_PROGRAM && sqe.opcode != NNPU_ADMIN_SAVE_PROGRAM &&
	       dev_inject(dev, NNPU_INJECT_ADMIN_SLOW);
	pthread_mutex_unlock(&dev->lock);

	if (slow)
		injected_pause();
	execute(&a, &sqe);
	if (slow)
		injected_pause();
	if (a.bad_status)
		a.v.status = 0x7abc;
	if (!a.later)
		dev_log(dev, NNPU_LOG_TRACE, "admin 0x%02x ctx %u: %s", sqe.opcode,
			le32toh(sqe.ctx), status_name(a.v.status));

	pthread_mutex_lock(&dev->lock);
	dev_await_resume_locked(dev);
	if (!a.later)
		queue_complete(dev, q, le16toh(sqe.cid), &a.v, a.result, true, &irqs);
	q->running = false;
	q->cid = 0;
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

void control_run(struct nnpu_device *dev)
{
	struct nnpu_queue *q = &dev->queues[0];

	pthread_mutex_lock(&dev->lock);
	for (;;) {
		if (dev->stopping) {
			dev_end_everything(dev);
		} else if (dev->exiting) {
			break;
		} else if (dev->ready && q->sq_head != q->sq_tail) {
			pthread_mutex_unlock(&dev->lock);
			serve_admin(dev);
			pthread_mutex_lock(&dev->lock);
		} else {
			pthread_cond_wait(&dev->event, &dev->lock);
		}
	}
	pthread_mutex_unlock(&dev->lock);
}
