/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous jobs: wait for a fence, then call back.
 */
#ifndef NNHAL_ASYNC_H
#define NNHAL_ASYNC_H

#include <stdbool.h>

#include <nnhal/nnhal.h>

#include "transport/transport.h"

/* One job. First member of struct execution. */
struct async_job {
	struct async_job *next;
	struct transport_fence *fence;	/* NULL: the job is over already */
	/*
	 * Called from the waiter thread; @error as transport_ops.wait returns it. False: the job was
	 * submitted again, and the callee has added it again, too.
	 */
	bool (*complete)(struct async_job *job, int error);
	/* In a completion queue (completion_queue.h); NULL: the waiter thread has it. */
	struct nnhal_completion_queue *queue;
	struct async_job **prev;
	struct transport *transport;
	struct async *async;
	int fd;				/* of its fence; -1: none */
};

struct async;

struct async *async_create(struct transport *transport);
/* No job may be pending. May be called from the waiter thread itself. */
void async_destroy(struct async *async);
/* In a child of fork(), which has no waiter thread: free the copy. */
void async_free_copy(struct async *async);
/* Start the waiter thread if it does not run. 0 or -errno. */
int async_start(struct async *async);
/* Add a job; cannot fail after async_start(). */
void async_add(struct async *async, struct async_job *job);

#endif /* NNHAL_ASYNC_H */
