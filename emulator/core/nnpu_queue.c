// SPDX-License-Identifier: MIT
/*
 * Rings, doorbells, completions, and the engines that serve the queues.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "nnpu_internal.h"

/* How long an idle engine keeps the memory of its last job, seconds. */
#define KEEP_MEMORY_S	1

/* A queue without history; its place in memory and its id stay. */
void queue_init(struct nnpu_queue *q)
{
	q->exists = false;
	q->flags = 0;
	q->vector = 0;
	q->ctx = NULL;
	q->sq_addr = 0;
	q->cq_addr = 0;
	q->sq_entries = 0;
	q->cq_entries = 0;
	q->sq_head = 0;
	q->sq_tail = 0;
	q->cq_head = 0;
	q->cq_tail = 0;
	q->cq_done = 0;
	q->phase = NNPU_CQE_PHASE;
	q->armed = false;
	q->arm_head = 0;
	q->stopped = false;
	q->error = NNPU_STATUS_SUCCESS;
	q->running = false;
	q->cid = 0;
	q->dropping = false;
	atomic_store(&q->abort, false);
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
	atomic_store(&q->abort, true);
	pthread_cond_broadcast(&dev->event);
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

static void queue_arm(struct nnpu_queue *q, uint32_t head, struct irqs *irqs)
{
	/*
	 * An entry that is being written counts as written for software that has seen
	 * it already (head is behind it), and as not written for software that has
	 * not: its publication raises the interrupt then.
	 */
	if (head != q->cq_done && head != q->cq_tail) {
		q->armed = false;
		irqs_add(irqs, q->vector);
		return;
	}
	q->armed = true;
	q->arm_head = head;
}

void queue_doorbell(struct nnpu_device *dev, unsigned int qid, uint32_t reg, uint32_t value,
		    struct irqs *irqs)
{
	struct nnpu_queue *q = qid <= dev->props.num_queues ? &dev->queues[qid] : NULL;
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
		if (qid) {
			atomic_fetch_add_explicit(&dev->work_seq, 1, memory_order_release);
			pthread_cond_signal(&dev->work);
		} else {
			pthread_cond_broadcast(&dev->event);
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

/* Entries. */

int queue_fetch(struct nnpu_device *dev, struct nnpu_queue *q, struct nnpu_sqe *sqe)
{
	uint64_t addr = q->sq_addr + (uint64_t)q->sq_head * NNPU_SQE_SIZE;
	struct irqs irqs = { 0 };
	int ret = dev_dma_read(dev, addr, sqe, sizeof(*sqe));

	pthread_mutex_lock(&dev->lock);
	if (!ret)
		q->sq_head = (q->sq_head + 1) & (q->sq_entries - 1);
	else if (!atomic_load(&dev->stop) && !q->dropping)
		queue_stop(dev, q, NNPU_FAULT_SQ_READ, NNPU_STATUS_DMA_ERROR, &irqs);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
	return ret;
}

bool queue_has_room(const struct nnpu_queue *q, uint32_t count)
{
	uint32_t mask = q->cq_entries - 1;
	uint32_t used = (q->cq_tail - q->cq_head) & mask;

	return mask - used >= count;
}

/* Nobody waits for completions of this queue any more. */
static bool queue_muted(const struct nnpu_device *dev, const struct nnpu_queue *q)
{
	return q->dropping || q->stopped || atomic_load(&dev->stop);
}

void queue_complete(struct nnpu_device *dev, struct nnpu_queue *q, uint16_t cid,
		    const struct verdict *v, uint64_t result, bool interrupt)
{
	struct nnpu_cqe cqe = {
		.result = htole64(result),
		.error = htole32(v->error),
		.reason = htole16(v->reason),
		.operand = htole16(v->operand),
		.qid = htole16(q->id),
		.cid = htole16(cid),
	};
	struct irqs irqs = { 0 };
	uint64_t addr;
	uint16_t status;

	pthread_mutex_lock(&dev->lock);
	if (queue_muted(dev, q)) {
		pthread_mutex_unlock(&dev->lock);
		return;
	}
	if (!queue_has_room(q, 1)) {
		queue_stop(dev, q, NNPU_FAULT_CQ_FULL, NNPU_STATUS_NO_RESOURCES, &irqs);
		pthread_mutex_unlock(&dev->lock);
		irqs_raise(dev, &irqs);
		return;
	}
	addr = q->cq_addr + (uint64_t)q->cq_tail * NNPU_CQE_SIZE;
	status = htole16((uint16_t)(v->status << NNPU_CQE_STATUS_SHIFT) | q->phase);
	cqe.sq_head = htole16((uint16_t)q->sq_head);
	/* Software may see the entry and move its head before the lock is back. */
	q->cq_tail = (q->cq_tail + 1) & (q->cq_entries - 1);
	if (!q->cq_tail)
		q->phase ^= NNPU_CQE_PHASE;
	pthread_mutex_unlock(&dev->lock);

	if (dev_dma_write(dev, addr, &cqe, offsetof(struct nnpu_cqe, status)) ||
	    dev->ops->dma_store16(dev->bus, addr + offsetof(struct nnpu_cqe, status), status)) {
		pthread_mutex_lock(&dev->lock);
		if (!queue_muted(dev, q))
			queue_stop(dev, q, NNPU_FAULT_CQ_WRITE, NNPU_STATUS_DMA_ERROR, &irqs);
		pthread_mutex_unlock(&dev->lock);
		irqs_raise(dev, &irqs);
		return;
	}

	pthread_mutex_lock(&dev->lock);
	q->cq_done = q->cq_tail;
	if (!(q->flags & NNPU_QUEUE_ARMED_IRQ)) {
		if (interrupt)
			irqs_add(&irqs, q->vector);
	} else if (q->armed && q->arm_head != q->cq_done) {
		q->armed = false;
		if (interrupt)
			irqs_add(&irqs, q->vector);
	}
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);
}

/* Engines. */

/*
 * The queue to serve next: round robin over those with work that no engine is at.
 * This is the one place that decides the order of jobs of different queues.
 */
static struct nnpu_queue *queue_pick(struct nnpu_device *dev)
{
	unsigned int i;

	if (!dev->ready || atomic_load(&dev->stop))
		return NULL;
	for (i = 0; i < dev->props.num_queues; i++) {
		unsigned int id = (dev->next_queue - 1 + i) % dev->props.num_queues + 1;
		struct nnpu_queue *q = &dev->queues[id];

		if (!q->exists || q->stopped || q->dropping || q->busy || q->sq_head == q->sq_tail)
			continue;
		dev->next_queue = id % dev->props.num_queues + 1;
		return q;
	}
	return NULL;
}

/* A job that makes no progress. @stuck: only the end of everything ends it. */
static void job_stall(struct nnpu_device *dev, struct nnpu_queue *q, bool stuck)
{
	pthread_mutex_lock(&dev->lock);
	while (!atomic_load(&dev->stop) && (stuck || !atomic_load(&q->abort)))
		pthread_cond_wait(&dev->event, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
}

/* One more second, in steps that count as progress. */
static void job_slow(struct job_progress *progress)
{
	const struct timespec step = { .tv_nsec = 5000000 };
	unsigned int i;

	for (i = 0; i < 200 && !op_progress(progress); i++)
		nanosleep(&step, NULL);
}

/* Injections for the job that starts. */
struct injected {
	bool stall;
	bool stuck;
	bool slow;
	bool fail_dma;
	bool lost_irq;
	bool bad_cid;
	bool bad_status;
};

static void take_injections(struct nnpu_device *dev, struct nnpu_queue *q, struct injected *in)
{
	in->stall = dev_inject(dev, NNPU_INJECT_JOB_STALL);
	in->stuck = dev_inject(dev, NNPU_INJECT_JOB_STUCK);
	in->slow = dev_inject(dev, NNPU_INJECT_JOB_SLOW);
	in->fail_dma = dev_inject(dev, NNPU_INJECT_DMA_ERROR);
	in->lost_irq = dev_inject(dev, NNPU_INJECT_LOST_IRQ);
	in->bad_status = dev_inject(dev, NNPU_INJECT_BAD_STATUS);
	/* The extra completion must not run the ring over. */
	in->bad_cid = queue_has_room(q, 2) && dev_inject(dev, NNPU_INJECT_BAD_CID);
}

/*
 * Find context and program of an EXECUTE entry and hold them for the job. dev->lock
 * held.
 */
static int job_hold(struct nnpu_device *dev, const struct nnpu_queue *q, struct job *job)
{
	uint32_t id = le32toh(job->sqe->ctx);
	uint32_t number = le32toh(job->sqe->program);
	struct nnpu_ctx *ctx = q->ctx;

	if (!ctx)
		ctx = id && id <= dev->props.max_contexts ? dev->contexts[id] : NULL;
	if (!ctx || ctx->dying)
		return verdict_status(&job->verdict, NNPU_STATUS_INVALID_CTX);
	if (!number || number > dev->props.max_programs || !ctx->programs[number])
		return verdict_status(&job->verdict, NNPU_STATUS_INVALID_PROGRAM);
	job->ctx = ctx;
	job->program = ctx->programs[number];
	job->program->refs++;
	ctx->running++;
	job->engine->ctx = ctx;
	return 0;
}

static void job_release(struct nnpu_device *dev, struct job *job)
{
	program_put(job->program);
	pthread_mutex_lock(&dev->lock);
	job->engine->ctx = NULL;
	if (!--job->ctx->running)
		pthread_cond_broadcast(&dev->event);
	pthread_mutex_unlock(&dev->lock);
}

/* An EXECUTE entry, from its checks to the point where only the completion is left. */
static void serve_execute(struct nnpu_engine *e, struct nnpu_queue *q,
			  const struct nnpu_sqe *sqe, uint64_t fetched_ns, struct job *job,
			  struct injected *in)
{
	struct nnpu_device *dev = e->dev;
	struct irqs irqs = { 0 };
	int ret;

	*job = (struct job) {
		.engine = e,
		.sqe = (const struct nnpu_sqe_execute *)sqe,
		.fetched_ns = fetched_ns,
		.verdict = VERDICT_SUCCESS,
	};
	ret = job_check_entry(q, job->sqe, &job->verdict);
	pthread_mutex_lock(&dev->lock);
	take_injections(dev, q, in);
	job->fail_dma = in->fail_dma;
	if (dev_inject(dev, NNPU_INJECT_FATAL))
		dev_fatal(dev, NNPU_STATUS_INTERNAL, &irqs);
	if (!ret)
		ret = job_hold(dev, q, job);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, &irqs);

	if (in->stall || in->stuck)
		job_stall(dev, q, in->stuck);
	if (in->slow)
		job_slow(&e->progress);
	if (!ret) {
		job_run(job);
		job_release(dev, job);
	}
	pthread_mutex_lock(&dev->lock);
	dev->jobs++;
	pthread_mutex_unlock(&dev->lock);
	dev_log(dev, NNPU_LOG_TRACE, "queue %u: job %u: %s, %llu ns", q->id, le16toh(sqe->cid),
		status_name(job->verdict.status), (unsigned long long)job->exec_ns);
}

static void serve_nop(const struct nnpu_sqe *sqe, struct verdict *v)
{
	if (sqe->flags || sqe->ctx || !is_zero(sqe->body, sizeof(sqe->body)))
		verdict_status(v, NNPU_STATUS_INVALID_FIELD);
}

/* Fetch, execute and complete one entry of a queue that is marked busy. */
static void serve_entry(struct nnpu_engine *e, struct nnpu_queue *q)
{
	struct nnpu_device *dev = e->dev;
	struct injected in = { 0 };
	struct job job = { .verdict = VERDICT_SUCCESS };
	struct verdict v = VERDICT_SUCCESS;
	struct nnpu_sqe sqe __attribute__((aligned(8)));
	uint64_t fetched_ns;
	uint16_t cid;

	if (queue_fetch(dev, q, &sqe))
		return;
	fetched_ns = dev_now(dev);
	cid = le16toh(sqe.cid);
	pthread_mutex_lock(&dev->lock);
	q->running = true;
	q->cid = cid;
	pthread_mutex_unlock(&dev->lock);

	switch (sqe.opcode) {
	case NNPU_IO_NOP:
		serve_nop(&sqe, &v);
		break;
	case NNPU_IO_EXECUTE:
		serve_execute(e, q, &sqe, fetched_ns, &job, &in);
		v = job.verdict;
		break;
	default:
		verdict_status(&v, NNPU_STATUS_INVALID_OPCODE);
		break;
	}
	if (in.bad_cid)
		queue_complete(dev, q, cid ^ 0x8000, &v, job.exec_ns, !in.lost_irq);
	if (in.bad_status)
		v.status = 0x7abc;
	queue_complete(dev, q, cid, &v, job.exec_ns, !in.lost_irq);
}

/* Look for work for a while before going to sleep. dev->lock held, dropped inside. */
static void engine_poll(struct nnpu_device *dev)
{
	unsigned int seq = atomic_load(&dev->work_seq);
	uint64_t end;

	pthread_mutex_unlock(&dev->lock);
	end = dev_now(dev) + dev->props.poll_ns;
	while (atomic_load_explicit(&dev->work_seq, memory_order_acquire) == seq &&
	       !atomic_load_explicit(&dev->stop, memory_order_relaxed) && dev_now(dev) < end)
		sched_yield();
	pthread_mutex_lock(&dev->lock);
}

/*
 * Sleep until there may be work. Memory kept for the next job goes back after a
 * second without one. dev->lock held.
 */
static void engine_sleep(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	struct timespec until;

	if (!e->exec.has_memory) {
		pthread_cond_wait(&dev->work, &dev->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += KEEP_MEMORY_S;
	if (pthread_cond_timedwait(&dev->work, &dev->lock, &until) == ETIMEDOUT)
		exec_trim(e);
}

void engine_run(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	bool polled = true;

	pthread_mutex_lock(&dev->lock);
	while (!dev->exiting) {
		struct nnpu_queue *q = queue_pick(dev);

		if (!q && !polled && dev->props.poll_ns) {
			engine_poll(dev);
			polled = true;
			continue;
		}
		if (!q) {
			engine_sleep(e);
			continue;
		}
		q->busy = true;
		atomic_store(&q->abort, false);
		e->busy = true;
		e->busy_since = dev_now(dev);
		e->progress = (struct job_progress) {
			.counter = &q->progress, .abort = &q->abort, .stop = &dev->stop,
		};
		pthread_mutex_unlock(&dev->lock);
		serve_entry(e, q);
		polled = false;
		pthread_mutex_lock(&dev->lock);
		e->busy = false;
		dev->busy_ns += dev_now(dev) - e->busy_since;
		q->busy = false;
		q->running = false;
		q->cid = 0;
		pthread_cond_broadcast(&dev->event);
		/* Other engines may have passed this queue over while it was busy. */
		if (q->sq_head != q->sq_tail)
			pthread_cond_signal(&dev->work);
	}
	pthread_mutex_unlock(&dev->lock);
}
