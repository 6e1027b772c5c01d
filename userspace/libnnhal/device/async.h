/* SPDX-License-Identifier: MIT */
/*
 * Work that ends some time and then calls back.
 */
#ifndef NNHAL_ASYNC_H
#define NNHAL_ASYNC_H

#include "transport/transport.h"

/* One piece of work. First member of struct execution. */
struct async_job {
	struct async_job *next;
	struct transport_fence *fence;	/* NULL: over already */
	/* Called once from the waiter thread; @error as transport_ops.wait gives it. */
	void (*complete)(struct async_job *job, int error);
};

struct async;

struct async *async_create(struct transport *transport);
/* No job may be pending. May be called from the waiter thread itself. */
void async_destroy(struct async *async);
/* Start the waiter thread if it does not run. 0 or -errno. */
int async_start(struct async *async);
/* Hand over a job; cannot fail after async_start(). */
void async_add(struct async *async, struct async_job *job);

#endif /* NNHAL_ASYNC_H */
