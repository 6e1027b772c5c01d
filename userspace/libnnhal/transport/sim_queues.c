// SPDX-License-Identifier: MIT
/*
 * Queues of the in-process device for user-mode submission.
 *
 * Counterparts of QUEUE_CREATE, QUEUE_WAIT and QUEUE_DESTROY of the kernel driver. There is
 * no parking: each queue keeps its hardware queue. The doorbell of this device is a function
 * call, so there is no doorbell page.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "transport/sim_rings.h"
#include "transport/transport.h"

/* One page each. */
_Static_assert(TRANSPORT_SQ_ENTRIES * NNPU_SQE_SIZE <= NNPU_PAGE_SIZE &&
	       TRANSPORT_CQ_ENTRIES * NNPU_CQE_SIZE <= NNPU_PAGE_SIZE, "rings");

struct sim_queue {
	struct transport_queue base;
	struct sim_rings *rings;
	struct sim_memory memory;	/* submission ring, completion ring */
	uint32_t id;			/* and its vector */
};

static struct sim_queue *to_sim_queue(struct transport_queue *queue)
{
	return (struct sim_queue *)queue;
}

static void ring(struct transport_queue *queue, uint32_t offset, uint32_t value)
{
	struct sim_queue *q = to_sim_queue(queue);

	nnpu_inproc_doorbell(q->rings->ip, q->id, offset, value);
}

/* A number that is free, or 0. */
static uint32_t take_number(struct sim_rings *r)
{
	uint32_t i, id = 0;

	pthread_mutex_lock(&r->admin_lock);
	for (i = 0; i < SIM_USER_QUEUES && !id; i++)
		if (!r->user_queues[i]) {
			r->user_queues[i] = true;
			id = SIM_FIRST_USER_QUEUE + i;
		}
	pthread_mutex_unlock(&r->admin_lock);
	return id;
}

static void put_number(struct sim_rings *r, uint32_t id)
{
	pthread_mutex_lock(&r->admin_lock);
	r->user_queues[id - SIM_FIRST_USER_QUEUE] = false;
	pthread_mutex_unlock(&r->admin_lock);
}

static void queue_free(struct sim_queue *q)
{
	sim_memory_fini(q->rings, &q->memory);
	put_number(q->rings, q->id);
	free(q);
}

static int create(struct sim_queue *q, uint32_t priority)
{
	struct nnpu_sqe_create_queue sqe = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE, .flags = NNPU_QUEUE_ARMED_IRQ,
		.ctx = htole32(SIM_CTX),
		.qid = htole16((uint16_t)q->id), .vector = htole16((uint16_t)q->id),
		.sq_entries = htole32(TRANSPORT_SQ_ENTRIES),
		.cq_entries = htole32(TRANSPORT_CQ_ENTRIES),
		.priority = htole32(priority),
		.sq_addr = htole64((uintptr_t)q->base.sq),
		.cq_addr = htole64((uintptr_t)q->base.cq),
	};
	struct nnpu_cqe cqe;
	int err = sim_admin(q->rings, &sqe, &cqe);

	if (err)
		return err;
	switch (sim_cqe_status(&cqe)) {
	case NNPU_STATUS_SUCCESS:
		return 0;
	case NNPU_STATUS_NO_MEMORY:
		return -ENOMEM;
	case NNPU_STATUS_NO_RESOURCES:
		return -ENOSPC;
	default:
		return -EIO;
	}
}

int sim_queue_create(struct sim_rings *r, uint32_t priority, struct transport_queue **queue)
{
	struct sim_queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	q->rings = r;
	q->id = take_number(r);
	if (!q->id) {
		free(q);
		return -ENOSPC;
	}
	err = sim_memory_init(r, &q->memory, 2 * NNPU_PAGE_SIZE);
	if (!err) {
		q->base.sq = q->memory.map;
		q->base.cq = (struct nnpu_cqe *)((uint8_t *)q->memory.map + NNPU_PAGE_SIZE);
		q->base.ring = ring;
		err = create(q, priority);
	}
	if (err) {
		queue_free(q);
		return err;
	}
	*queue = &q->base;
	return 0;
}

void sim_queue_stop(struct transport_queue *queue)
{
	struct sim_queue *q = to_sim_queue(queue);
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_DESTROY_QUEUE, .qid = htole16((uint16_t)q->id),
	};
	struct nnpu_cqe cqe;

	/* A FATAL device does not answer and accesses no memory any more. */
	sim_admin(q->rings, &sqe, &cqe);
}

void sim_queue_destroy(struct transport_queue *queue)
{
	sim_queue_stop(queue);
	queue_free(to_sim_queue(queue));
}

static uint32_t read_reg(const struct sim_queue *q, uint32_t reg)
{
	return nnpu_inproc_read32(q->rings->ip,
				  NNPU_QREG_BASE + q->id * NNPU_QREG_STRIDE + reg);
}

static enum transport_queue_state state_of(const struct sim_queue *q)
{
	if (sim_is_fatal(q->rings))
		return TRANSPORT_QUEUE_GONE;
	switch (read_reg(q, NNPU_QREG_STATE)) {
	case NNPU_QSTATE_STOPPED:
		return TRANSPORT_QUEUE_STOPPED;
	case NNPU_QSTATE_ABSENT:
		return TRANSPORT_QUEUE_DESTROYED;
	default:
		return TRANSPORT_QUEUE_READY;
	}
}

/* Count of interrupts that may concern the queue: its own, and those for FATAL. */
static uint64_t count_of(const struct sim_queue *q)
{
	return q->rings->irq_counts[0] + q->rings->irq_counts[q->id];
}

int sim_queue_wait(struct transport_queue *queue, uint32_t cq_head, uint64_t until_ns,
		   enum transport_queue_state *state)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000u),
		.tv_nsec = (long)(until_ns % 1000000000u),
	};
	struct sim_queue *q = to_sim_queue(queue);
	struct sim_rings *r = q->rings;
	uint64_t seen;
	int err = 0;

	pthread_mutex_lock(&r->irq_lock);
	seen = count_of(q);
	pthread_mutex_unlock(&r->irq_lock);
	*state = state_of(q);
	if (*state != TRANSPORT_QUEUE_READY)
		return 0;
	/* After the counter was read: the interrupt may come within this call. */
	ring(queue, NNPU_DB_CQ_ARM, cq_head);
	pthread_mutex_lock(&r->irq_lock);
	while (count_of(q) == seen && !err)
		err = pthread_cond_timedwait(&r->user_cond, &r->irq_lock, &until);
	pthread_mutex_unlock(&r->irq_lock);
	*state = state_of(q);
	return err && *state == TRANSPORT_QUEUE_READY ? -ETIME : 0;
}

bool sim_queue_is_running(struct transport_queue *queue)
{
	return read_reg(to_sim_queue(queue), NNPU_QREG_CURRENT) & NNPU_QREG_CURRENT_RUNNING;
}

bool sim_queue_abort(struct transport_queue *queue)
{
	struct sim_queue *q = to_sim_queue(queue);
	uint32_t current = read_reg(q, NNPU_QREG_CURRENT);
	struct nnpu_sqe_queue sqe = {
		.opcode = NNPU_ADMIN_ABORT, .qid = htole16((uint16_t)q->id),
		.target_cid = htole16((uint16_t)(current & NNPU_QREG_CURRENT_CID)),
	};
	struct nnpu_cqe cqe;

	if (!(current & NNPU_QREG_CURRENT_RUNNING) || sim_admin(q->rings, &sqe, &cqe))
		return false;
	/* 0: the job has ended meanwhile. */
	return cqe.result;
}
