// SPDX-License-Identifier: MIT
/*
 * Queues that the library uses by itself.
 *
 * One job at a time, so rings and counters belong to who has the lock. How long the lock is held
 * depends on the job: others only try to take it. An idle queue costs nothing but its memory: the
 * driver takes its hardware queue back and lets the device sleep.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/monotonic.h"
#include "base/tsan.h"
#include "device/own_queue.h"
#include "transport/queue_ring.h"

/* Longest single sleep: bounds what a lost wake-up could cost. */
#define SLICE_NS	UINT64_C(1000000000)
/* Reads of the ring between two pauses. */
#define LOOKS		16
/* Executions through the driver until the next attempt to get a queue. */
#define PAUSE		1024

_Static_assert(TRANSPORT_SQ_ENTRIES > 1 && TRANSPORT_CQ_ENTRIES > 2, "room for one job");

void own_queues_init(struct own_queues *queues, struct transport *transport)
{
	unsigned int i;

	queues->transport = transport;
	atomic_init(&queues->closed, 0);
	for (i = 0; i < OWN_QUEUE_PRIORITIES; i++)
		pthread_mutex_init(&queues->queues[i].lock, NULL);
}

/* Caller holds the lock. */
static void end_queue(struct own_queues *queues, struct own_queue *q)
{
	queues->transport->ops->queue_destroy(queues->transport, q->queue);
	q->queue = NULL;
}

void own_queues_fini(struct own_queues *queues)
{
	unsigned int i;

	for (i = 0; i < OWN_QUEUE_PRIORITIES; i++) {
		if (queues->queues[i].queue)
			end_queue(queues, &queues->queues[i]);
		pthread_mutex_destroy(&queues->queues[i].lock);
	}
}

void own_queues_free_copy(struct own_queues *queues)
{
	unsigned int i;

	for (i = 0; i < OWN_QUEUE_PRIORITIES; i++)
		if (queues->queues[i].queue)
			queues->transport->ops->queue_free_copy(queues->queues[i].queue);
}

bool own_queues_give_up(struct own_queues *queues)
{
	bool given = false;
	unsigned int i;

	/* Executions that follow each other must not take the lock again and again. */
	atomic_fetch_add_explicit(&queues->closed, 1, memory_order_relaxed);
	for (i = 0; i < OWN_QUEUE_PRIORITIES; i++) {
		struct own_queue *q = &queues->queues[i];

		pthread_mutex_lock(&q->lock);
		if (q->queue) {
			end_queue(queues, q);
			given = true;
		}
		q->pause = PAUSE;
		pthread_mutex_unlock(&q->lock);
	}
	atomic_fetch_sub_explicit(&queues->closed, 1, memory_order_relaxed);
	return given;
}

/* Caller holds the lock. */
static cold_path bool create(struct own_queues *queues, struct own_queue *q, uint32_t priority)
{
	int err;

	if (q->pause) {
		q->pause--;
		return false;
	}
	err = queues->transport->ops->queue_create(queues->transport, priority, &q->queue);
	if (err) {
		q->queue = NULL;
		q->pause = PAUSE;
		/* Each priority finds that out once. */
		if (err == -EOPNOTSUPP)
			atomic_fetch_add_explicit(&queues->closed, 1, memory_order_relaxed);
		return false;
	}
	q->sq_tail = 0;
	q->cq_count = 0;
	q->cq_tell = TRANSPORT_CQ_ENTRIES / 2;
	spin_init(&q->spin, UINT32_MAX);
	return true;
}

static void submit(struct own_queue *q, const struct own_queue_job *job)
{
	const struct transport_job *j = job->job;
	struct nnpu_sqe_execute sqe = {
		.opcode = NNPU_IO_EXECUTE,
		.flags = j->profile ? NNPU_EXEC_PROFILE : 0,
		.cid = htole16((uint16_t)q->sq_tail),
		.program = htole32(j->program),
		.args_slot = htole32(job->args_slot),
		.args = htole64(job->args_offset),
		.args_len = htole32(job->args_len),
		.result_slot = htole32(j->result_slot),
		.result_off = htole64(j->result_offset),
	};

	if (j->profile) {
		sqe.profile_slot = htole32(j->profile_slot);
		sqe.profile_len = htole32(j->profile_size);
		sqe.profile_off = htole64(j->profile_offset);
	}
	/* The place is free: all earlier jobs have completed, [D]. */
	memcpy(&q->queue->sq[q->sq_tail], &sqe, sizeof(sqe));
	q->sq_tail = (q->sq_tail + 1) % TRANSPORT_SQ_ENTRIES;
	queue_ring_doorbell(q->queue, NNPU_DB_SQ_TAIL, q->sq_tail);
}

/* Take the completion of the job from the ring. False: it is not there. */
static bool take(struct own_queue *q, uint32_t *status)
{
	const struct nnpu_cqe *cqe;
	uint32_t word, cid;

	for (;;) {
		cqe = &q->queue->cq[q->cq_count % TRANSPORT_CQ_ENTRIES];
		if (!queue_is_completed(cqe, q->cq_count, &word))
			return false;
		barrier_after_status();
		/* The in-process device releases with this word; see [C]. */
		tsan_acquire(&cqe->status);
		cid = le16toh(cqe->cid);
		q->cq_count++;
		if (unlikely(q->cq_count == q->cq_tell)) {
			q->cq_tell += TRANSPORT_CQ_ENTRIES / 2;
			queue_ring_doorbell(q->queue, NNPU_DB_CQ_HEAD,
					    q->cq_count % TRANSPORT_CQ_ENTRIES);
		}
		*status = word >> NNPU_CQE_STATUS_SHIFT;
		/* Anything else is a fault of the device. */
		if (likely((cid + 1) % TRANSPORT_SQ_ENTRIES == q->sq_tail))
			return true;
	}
}

static bool look(struct own_queue *q, uint64_t limit, uint32_t *status)
{
	uint64_t start = cycles();
	unsigned int i;

	do {
		for (i = 0; i < LOOKS; i++)
			if (take(q, status)) {
				spin_learn(&q->spin, cycles() - start, true);
				return true;
			}
		pause_cpu();
	} while (cycles() - start < limit);
	return false;
}

/* Sleep until there may be a completion. */
static enum transport_queue_state doze(struct transport *t, struct own_queue *q)
{
	enum transport_queue_state state = TRANSPORT_QUEUE_READY;
	uint64_t start = cycles();
	int err;

	err = t->ops->queue_wait(t, q->queue, q->cq_count % TRANSPORT_CQ_ENTRIES,
				 monotonic_ns() + SLICE_NS, &state);
	spin_learn_sleep(&q->spin, cycles() - start);
	if (!err || err == -ETIME)
		return state;
	/* Nobody can wait for it any more: what it would still write to is used again. */
	t->ops->queue_stop(t, q->queue);
	return TRANSPORT_QUEUE_LOST;
}

/*
 * The doorbell of a queue that has ended leads to memory, which was zero. What is there was told to
 * nobody: the queue had ended before, and the device never saw the job.
 */
static bool is_unseen(const struct own_queue *q)
{
	volatile uint32_t *doorbell = q->queue->doorbell;

	return doorbell && q->sq_tail &&
	       le32toh(doorbell[NNPU_DB_SQ_TAIL / sizeof(*doorbell)]) == q->sq_tail;
}

/* The end of a job; false: it never began. Caller holds the lock. */
static bool await(struct own_queues *queues, struct own_queue *q, bool spins,
		  struct own_queue_end *end)
{
	bool unseen;

	end->state = TRANSPORT_QUEUE_READY;
	if (likely(look(q, spins ? spin_limit(&q->spin) : 0, &end->status)))
		return true;
	do {
		end->state = doze(queues->transport, q);
		if (take(q, &end->status)) {
			end->state = TRANSPORT_QUEUE_READY;
			return true;
		}
	} while (end->state == TRANSPORT_QUEUE_READY);
	unseen = is_unseen(q);
	end_queue(queues, q);
	return !unseen;
}

bool own_queue_run(struct own_queues *queues, const struct own_queue_job *job,
		   struct own_queue_end *end)
{
	struct own_queue *q = &queues->queues[job->job->priority];
	bool ran = false;

	if (atomic_load_explicit(&queues->closed, memory_order_relaxed) ||
	    pthread_mutex_trylock(&q->lock))
		return false;
	if (likely(q->queue) || create(queues, q, job->job->priority)) {
		submit(q, job);
		ran = await(queues, q, job->spins, end);
	}
	pthread_mutex_unlock(&q->lock);
	return ran;
}
