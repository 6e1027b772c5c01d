/* SPDX-License-Identifier: MIT */
/*
 * Queues that the library uses by itself, for synchronous executions.
 *
 * A device has at most one for each priority, created by the first execution. A thread that finds it
 * idle runs its job there: without a system call, if the job is short. All others go through the
 * driver. The application's own queues come first.
 */
#ifndef NNHAL_OWN_QUEUE_H
#define NNHAL_OWN_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "transport/transport.h"

#define OWN_QUEUE_PRIORITIES	3

struct own_queue {
	pthread_mutex_t lock;		/* held while a job runs */
	struct transport_queue *queue;	/* NULL: none */
	uint32_t sq_tail;
	uint32_t cq_count;		/* completions taken, ever */
	uint32_t cq_tell;		/* value of cq_count that the device is to be told */
	uint32_t pause;			/* jobs until the next attempt to create a queue */
	struct spin spin;
};

struct own_queues {
	struct transport *transport;
	/* Threads that are in own_queues_give_up(). While there is one, no execution takes a queue. */
	atomic_uint closed;
	struct own_queue queues[OWN_QUEUE_PRIORITIES];
};

/* An execution with its argument block in memory of the device. */
struct own_queue_job {
	const struct transport_job *job;	/* without fence */
	uint32_t args_slot;
	uint64_t args_offset;
	uint32_t args_len;
	bool spins;			/* false: sleep at once */
};

/* How it has ended. */
struct own_queue_end {
	enum transport_queue_state state;	/* READY: it has completed */
	uint32_t status;			/* of its completion */
};

void own_queues_init(struct own_queues *queues, struct transport *transport);
/* No job is running. */
void own_queues_fini(struct own_queues *queues);
/* In a child of fork(): free the copy. */
void own_queues_free_copy(struct own_queues *queues);
/*
 * Run a job and wait for its end. False: no queue is idle, or there is none; the job has not begun.
 * Nothing of the job is in use after the return.
 */
bool own_queue_run(struct own_queues *queues, const struct own_queue_job *job,
		   struct own_queue_end *end);
/*
 * Somebody else needs a queue: end these, each after the job that runs on it. They come back after
 * many executions, if there is room. False: there was none.
 */
bool own_queues_give_up(struct own_queues *queues);

#endif /* NNHAL_OWN_QUEUE_H */
