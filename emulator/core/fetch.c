// SPDX-License-Identifier: MIT
/*
 * Fetching entries of kernel queues.
 *
 * Such a queue holds jobs of any context. Engines fetch its entries as they come and sort them
 * by context and priority, so that no client's entries stand behind another one's jobs. Entries
 * of one queue, context and priority keep their order. What needs no job is completed at once.
 */
#include <endian.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "fetch.h"
#include "job.h"
#include "queue.h"
#include "scheduler.h"
#include "slots.h"

/* Entries that are read at once. */
#define READ_MAX	16u

uint64_t fetch_pool_bytes(uint32_t entries)
{
	return entries * sizeof(struct fetched);
}

struct fetched *fetch_make_pool(struct nnpu_device *dev, uint32_t entries)
{
	uint64_t bytes = fetch_pool_bytes(entries);

	cleaner_make_room(dev, mem_size(bytes));
	return mem_alloc(dev, bytes);
}

static void pool_free(struct nnpu_device *dev, struct leaving *l)
{
	const struct leaving_object *o = (struct leaving_object *)l;

	mem_free(dev, l, o->size);
}

void fetch_end_pool(struct nnpu_device *dev, struct nnpu_queue *q)
{
	/* In the pool itself. */
	struct leaving_object *o = (struct leaving_object *)q->pool;

	_Static_assert(sizeof(*o) <= sizeof(*q->pool), "has room");
	q->pool = NULL;
	q->unused = NULL;
	q->pool_used = 0;
	if (!o)
		return;
	*o = (struct leaving_object) { .leaving.free = pool_free };
	dev_leave_object(dev, o, mem_size(fetch_pool_bytes(q->sq_entries)));
}

/* There is room: see queue_has_places(). */
static struct fetched *get_room(struct nnpu_queue *q)
{
	struct fetched *f = q->unused;

	if (!f)
		return &q->pool[q->pool_used++];
	q->unused = f->next;
	return f;
}

void fetch_put(struct nnpu_queue *q, struct fetched *f)
{
	f->next = q->unused;
	q->unused = f;
}

void entry_verdict(const struct nnpu_queue *q, const struct nnpu_sqe *sqe, struct verdict *v)
{
	switch (sqe->opcode) {
	case NNPU_IO_NOP:
		if (sqe->flags || sqe->ctx || !is_zero(sqe->body, sizeof(sqe->body)))
			verdict_status(v, NNPU_STATUS_INVALID_FIELD);
		break;
	case NNPU_IO_EXECUTE:
	case NNPU_IO_COPY:
		job_check_entry(q, (const struct nnpu_sqe_execute *)sqe, v);
		break;
	default:
		verdict_status(v, NNPU_STATUS_INVALID_OPCODE);
		break;
	}
}

/* Put an entry into its lane. */
static void append(struct nnpu_device *dev, struct nnpu_queue *q, struct nnpu_ctx *ctx,
		   struct fetched *f)
{
	unsigned int priority = f->sqe.flags >> NNPU_EXEC_PRIORITY_SHIFT;
	struct lane *lane = ctx_lane(ctx, q->id, priority);

	if (!lane->active) {
		lane->q = q;
		lane->ctx = ctx;
		lane->priority = (uint8_t)priority;
	}
	f->next = NULL;
	if (lane->last)
		lane->last->next = f;
	else
		lane->first = f;
	lane->last = f;
	q->fetched++;
	sched_update_lane(dev, lane);
}

/* One entry that has been read. */
static void sort_entry(struct nnpu_device *dev, struct nnpu_queue *q, const struct nnpu_sqe *sqe,
		       struct irqs *irqs)
{
	uint32_t id = le32toh(((const struct nnpu_sqe_execute *)sqe)->ctx);
	struct verdict v = VERDICT_SUCCESS;
	struct nnpu_ctx *ctx = NULL;
	struct fetched *f = NULL;

	entry_verdict(q, sqe, &v);
	if (entry_is_job(sqe) && !v.status) {
		if (id && id <= dev->props.max_contexts)
			ctx = dev->contexts[id];
		if (!ctx || ctx->dying)
			verdict_status(&v, NNPU_STATUS_INVALID_CTX);
		else
			f = get_room(q);
	}
	if (f) {
		f->sqe = *sqe;
		f->fetched_ns = dev_now(dev);
		append(dev, q, ctx, f);
		return;
	}
	dev->jobs += entry_is_job(sqe);
	queue_complete(dev, q, le16toh(sqe->cid), &v, 0, true, irqs);
}

void fetch_entries(struct nnpu_device *dev, struct nnpu_queue *q)
{
	struct nnpu_sqe sqe[READ_MAX] __attribute__((aligned(8)));
	struct irqs irqs = { 0 };

	q->busy = true;
	sched_update(dev, q);
	while (queue_has_work(q) && queue_has_places(q) && !atomic_load(&dev->stop)) {
		uint32_t count = queue_entries_waiting(q), head = q->sq_head, i;
		int ret;

		if (count > READ_MAX)
			count = READ_MAX;
		if (count > q->sq_entries - q->fetched)
			count = q->sq_entries - q->fetched;
		pthread_mutex_unlock(&dev->lock);
		ret = queue_read_entries(dev, q, head, sqe, count);
		/* A fault in later entries does not concern the next one: read it alone. */
		if (ret && count > 1) {
			count = 1;
			ret = queue_read_entries(dev, q, head, sqe, count);
		}
		pthread_mutex_lock(&dev->lock);
		for (i = 0; i < count; i++) {
			dev_await_resume_locked(dev);
			if (!queue_may_begin(q))
				break;
			if (!queue_entry_read(dev, q, ret, &irqs))
				sort_entry(dev, q, &sqe[i], &irqs);
			irqs_raise_locked(dev, &irqs);
		}
	}
	q->busy = false;
	sched_update(dev, q);
	sched_wake(dev);
	dev_job_ended(dev);
}

struct fetched *fetch_take(struct nnpu_device *dev, struct lane *lane)
{
	struct fetched *f = lane->first;

	lane->first = f->next;
	if (!lane->first)
		lane->last = NULL;
	lane->busy = true;
	sched_update_lane(dev, lane);
	return f;
}

void fetch_end(struct nnpu_device *dev, struct nnpu_queue *q)
{
	q->fetched--;
	sched_update(dev, q);
}

/* Take all that waits out of a lane. */
static struct fetched *empty_lane(struct nnpu_device *dev, struct lane *lane)
{
	struct fetched *first = lane->first;

	lane->first = NULL;
	lane->last = NULL;
	if (lane->q)
		sched_update_lane(dev, lane);
	return first;
}

/* End entries that are in no lane any more; complete them if there are @irqs. */
static void end_entries(struct nnpu_device *dev, struct nnpu_queue *q, struct fetched *f,
			unsigned int status, struct irqs *irqs)
{
	struct verdict v = VERDICT_SUCCESS;
	struct fetched *next;
	unsigned int n = 0;

	verdict_status(&v, status);
	for (; f; f = next) {
		next = f->next;
		if (irqs) {
			dev_await_resume_locked(dev);
			dev->jobs++;
			queue_complete(dev, q, le16toh(f->sqe.cid), &v, 0, true, irqs);
		}
		fetch_put(q, f);
		fetch_end(dev, q);
		/* There is a place for an entry that waits in the ring. */
		sched_wake(dev);
		/* The next queue may have another vector. */
		if (!(++n % HOLD_MAX) || irqs_full(irqs))
			dev_yield(dev, irqs);
	}
}

static void drop_lane(struct nnpu_device *dev, struct lane *lane, struct irqs *irqs)
{
	end_entries(dev, lane->q, empty_lane(dev, lane), NNPU_STATUS_INVALID_CTX, irqs);
}

void fetch_drop(struct nnpu_device *dev, struct nnpu_ctx *ctx, unsigned int qid,
		struct irqs *irqs)
{
	unsigned int i;

	for (i = 0; i < NNPU_QUEUE_PRIORITY_NUM; i++)
		drop_lane(dev, ctx_lane(ctx, qid, i), irqs);
}

void fetch_drop_queue(struct nnpu_device *dev, struct nnpu_queue *q)
{
	uint32_t id;

	for (id = 1; id <= dev->props.max_contexts && q->fetched; id++)
		if (dev->contexts[id])
			fetch_drop(dev, dev->contexts[id], q->id, NULL);
}

/* Take the entry @cid out of a lane. */
static struct fetched *remove_entry(struct lane *lane, uint16_t cid)
{
	struct fetched *f, *prev = NULL;

	for (f = lane->first; f && le16toh(f->sqe.cid) != cid; f = f->next)
		prev = f;
	if (!f)
		return NULL;
	if (prev)
		prev->next = f->next;
	else
		lane->first = f->next;
	if (lane->last == f)
		lane->last = prev;
	return f;
}

void fetch_all(struct nnpu_device *dev, struct nnpu_queue *q)
{
	while (q->busy)
		dev_await_jobs(dev);
	if (queue_has_work(q) && queue_has_places(q))
		fetch_entries(dev, q);
}

bool fetch_has(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid)
{
	const struct fetched *f;
	unsigned int i;
	uint32_t id;

	for (id = 1; id <= dev->props.max_contexts && q->fetched; id++)
		for (i = 0; dev->contexts[id] && i < NNPU_QUEUE_PRIORITY_NUM; i++)
			for (f = ctx_lane(dev->contexts[id], q->id, i)->first; f; f = f->next)
				if (le16toh(f->sqe.cid) == cid)
					return true;
	return false;
}

bool fetch_abort(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		 struct irqs *irqs)
{
	unsigned int i;
	uint32_t id;

	for (id = 1; id <= dev->props.max_contexts && q->fetched; id++)
		for (i = 0; dev->contexts[id] && i < NNPU_QUEUE_PRIORITY_NUM; i++) {
			struct lane *lane = ctx_lane(dev->contexts[id], q->id, i);
			struct fetched *f = remove_entry(lane, cid);

			if (!f)
				continue;
			f->next = NULL;
			sched_update_lane(dev, lane);
			end_entries(dev, q, f, NNPU_STATUS_ABORTED, irqs);
			return true;
		}
	return false;
}

bool fetch_abort_ctx(struct nnpu_device *dev, struct nnpu_queue *q, struct nnpu_ctx *ctx,
		     struct irqs *irqs)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < NNPU_QUEUE_PRIORITY_NUM; i++) {
		struct fetched *f = empty_lane(dev, ctx_lane(ctx, q->id, i));

		found |= f != NULL;
		end_entries(dev, q, f, NNPU_STATUS_ABORTED, irqs);
	}
	return found;
}
