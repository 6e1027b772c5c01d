// SPDX-License-Identifier: MIT
/*
 * Bursts: creation and release.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/base.h"
#include "base/diag.h"
#include "burst/burst_cache.h"
#include "burst/burst_private.h"
#include "burst/burst_request.h"
#include "base/spin.h"
#include "device/device_private.h"
#include "execution/arguments.h"
#include "execution/prepared_model_private.h"
#include "transport/transport.h"

#define MAX_DEPTH	32
#define DEFAULT_DEPTH	16
#define DEFAULT_MEMORIES	64

static void free_requests(struct nnhal_burst *b)
{
	uint32_t i;

	for (i = 0; b->requests && i < b->num_requests; i++) {
		struct burst_request *r = &b->requests[i];

		free(r->seen);
		free(r->seen_dims);
		free(r->pools);
		free(r->cached);
		free(r->bindings);
		free(r->resolved);
		free(r->shapes);
	}
	free(b->requests);
	free(b->known);
}

static void burst_free(struct nnhal_burst *b)
{
	struct transport *t = b->transport;
	uint32_t i;

	/* The queue first: then the device reaches nothing of the burst any more. */
	if (b->queue)
		t->ops->queue_destroy(t, b->queue);
	/* Nobody has taken the results. */
	for (i = 0; b->requests && i < b->num_requests; i++)
		burst_end_buffers(b, &b->requests[i], NULL, NNHAL_STATUS_GENERAL_FAILURE);
	t->ops->bo_destroy(t, &b->blocks);
	burst_cache_fini(b);
	free_requests(b);
	pthread_cond_destroy(&b->cond);
	pthread_mutex_destroy(&b->lock);
	nnhal_prepared_model_unref(b->model);
	free(b);
}

static void free_entry_copy(struct cached_memory *e)
{
	memory_free_own_copy(e->binding);
	nnhal_memory_unref(e->memory);
	free(e);
}

/*
 * In a child of fork(): release what the child has of it. The queue, its slots and the locks
 * belong to the parent.
 */
static void burst_free_copy(struct nnhal_burst *b)
{
	struct cached_memory *e;
	uint32_t i, k;

	for (i = 0; b->requests && i < b->num_requests; i++)
		for (k = 0; k < b->requests[i].num_held; k++)
			resolved_pool_put(&b->requests[i].pools[k]);
	while ((e = b->dropped)) {
		b->dropped = e->next;
		free_entry_copy(e);
	}
	while ((e = b->memories)) {
		b->memories = e->next;
		free_entry_copy(e);
	}
	free(b->buckets);
	free_requests(b);
	if (b->queue)
		b->transport->ops->queue_free_copy(b->queue);
	if (b->blocks.map)
		munmap(b->blocks.map, b->blocks.size);
	nnhal_prepared_model_unref(b->model);
	free(b);
}

void burst_release(struct nnhal_burst *b)
{
	if (atomic_fetch_sub_explicit(&b->holds, 1, memory_order_acq_rel) == 1)
		burst_free(b);
}

static int create_requests(struct nnhal_burst *b)
{
	size_t n = burst_num_args(b);
	uint32_t i;

	b->requests = calloc(b->num_requests, sizeof(*b->requests));
	if (!b->requests)
		return -ENOMEM;
	b->guess = &b->requests[0].follower;
	for (i = 0; i < b->num_requests; i++) {
		struct burst_request *r = &b->requests[i];

		r->burst = b;
		r->bit = UINT64_C(1) << i;
		r->follower = r;
		b->free |= r->bit;
		burst_forget_request(r);
		r->seen = calloc(n, sizeof(*r->seen));
		r->seen_dims = calloc(n, sizeof(*r->seen_dims));
		r->resolved = calloc(n, sizeof(*r->resolved));
		r->shapes = calloc(b->model->rules.num_outputs, sizeof(*r->shapes));
		if (!r->seen || !r->seen_dims || !r->resolved || !r->shapes)
			return -ENOMEM;
	}
	return 0;
}

/* Create the queue, the places of requests and what waiting needs. 0 or -errno. */
static int create_queue(struct nnhal_burst *b, uint32_t spin_us)
{
	uint64_t block_size = sizeof(struct nnpu_args_header) +
			      burst_num_args(b) * sizeof(struct nnpu_arg);
	struct transport *t = b->transport;
	uint32_t i;
	int err;

	err = t->ops->queue_create(t, (uint32_t)b->model->priority, &b->queue);
	/* The library may have for itself what is missing: a queue, or its descriptor. */
	if ((err == -ENOSPC || err == -EMFILE || err == -ENFILE) &&
	    own_queues_give_up(&b->model->device->own_queues))
		err = t->ops->queue_create(t, (uint32_t)b->model->priority, &b->queue);
	if (err)
		return err;
	if (b->num_requests >= TRANSPORT_SQ_ENTRIES || b->num_requests >= TRANSPORT_CQ_ENTRIES / 2)
		return -EIO;
	b->sq = b->queue->sq;
	b->cq = b->queue->cq;
	b->cq_tell = TRANSPORT_CQ_ENTRIES / 2;
	/*
	 * If the model defines all output shapes, an execution has these shapes or fails: the
	 * device need not write them.
	 */
	if (burst_shapes_known(b)) {
		b->known = calloc((size_t)b->num_requests * b->num_outputs, sizeof(*b->known));
		if (!b->known)
			return -ENOMEM;
	}
	err = bind_table_bo_create(b->model->device->table,
				   (b->known ? 1 : 2) * b->num_requests * block_size, &b->blocks);
	if (err)
		return err;
	for (i = 0; i < b->num_requests; i++)
		burst_request_init(b, i, block_size);
	for (i = 0; i < TRANSPORT_SQ_ENTRIES; i++)
		memcpy(&b->sq[i], &b->requests[0].sqe, sizeof(b->sq[i]));
	spin_init(&b->spin, spin_us);
	return 0;
}

/* The burst works without a queue: release what was created of it. */
static void drop_ring(struct nnhal_burst *b)
{
	struct transport *t = b->transport;

	if (b->queue)
		t->ops->queue_destroy(t, b->queue);
	t->ops->bo_destroy(t, &b->blocks);
	b->queue = NULL;
}

static int burst_init(struct nnhal_burst *b, const struct nnhal_burst_options *o)
{
	uint32_t spin_us = o->spin_us;
	int err;

	if (spin_us == UINT32_MAX && b->model->preference == NNHAL_PREFER_LOW_POWER)
		spin_us = 0;
	b->depth = o->depth ? o->depth : DEFAULT_DEPTH;
	/* One place more, which submissions cannot take: an execution always finds room. */
	b->num_requests = b->depth + 1;
	err = create_requests(b);
	if (!err)
		err = burst_cache_init(b, o->max_memories ? o->max_memories : DEFAULT_MEMORIES);
	if (err)
		return err;
	err = create_queue(b, spin_us);
	b->never_waits = o->flags & NNHAL_BURST_SINGLE_THREAD;
	b->is_single = !err && (o->flags & NNHAL_BURST_SINGLE_THREAD);
	/* No queues offered, or none left: submit through the driver. */
	if (err == -EOPNOTSUPP || err == -ENOSPC) {
		drop_ring(b);
		err = 0;
	}
	return err;
}

static enum nnhal_status read_options(struct nnhal_burst_options *to,
				      const struct nnhal_burst_options *from)
{
	static const struct nnhal_burst_options defaults = NNHAL_BURST_OPTIONS_INIT;

	if (!options_read(to, from, &defaults, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(to->diag);
	if (to->depth > MAX_DEPTH) {
		diag_set(to->diag, "depth %u, expected at most %u", to->depth, MAX_DEPTH);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (to->flags & ~NNHAL_BURST_SINGLE_THREAD || to->reserved) {
		diag_set(to->diag, "flags 0x%x, reserved 0x%x are not known", to->flags,
			 to->reserved);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_burst_create(struct nnhal_prepared_model *model,
				     const struct nnhal_burst_options *options,
				     struct nnhal_burst **burst)
{
	struct nnhal_burst_options read;
	enum nnhal_status status;
	pthread_condattr_t attr;
	struct nnhal_burst *b;
	int err;

	if (burst)
		*burst = NULL;
	status = read_options(&read, options);
	if (status)
		return status;
	if (!model || !burst) {
		diag_set(read.diag, "NULL pointer for model or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(model->device, read.diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	b = calloc(1, sizeof(*b));
	if (!b) {
		diag_set(read.diag, "no memory for a burst");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	atomic_init(&b->refs, 1);
	atomic_init(&b->holds, 1);
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->cond, &attr);
	pthread_condattr_destroy(&attr);
	b->results_tail = &b->results;
	b->blocks = (struct transport_bo)TRANSPORT_BO_NONE;
	b->model = nnhal_prepared_model_ref(model);
	b->guard = model->device->table->guard;
	b->num_outputs = model->rules.num_outputs;
	b->transport = model->device->transport;
	err = burst_init(b, &read);
	if (!err) {
		*burst = b;
		return NNHAL_STATUS_NONE;
	}
	diag_set(read.diag, "burst: %s", errno_text(-err));
	status = device_status_from_error(model->device, err);
	/* EINVAL of the system is not about an argument of the caller. */
	if (status == NNHAL_STATUS_INVALID_ARGUMENT)
		status = NNHAL_STATUS_GENERAL_FAILURE;
	burst_free(b);
	return status;
}

struct nnhal_burst *nnhal_burst_ref(struct nnhal_burst *burst)
{
	atomic_fetch_add_explicit(&burst->refs, 1, memory_order_relaxed);
	return burst;
}

void nnhal_burst_unref(struct nnhal_burst *burst)
{
	if (!burst || atomic_fetch_sub_explicit(&burst->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (burst_is_own(burst))
		burst_release(burst);
	else
		burst_free_copy(burst);
}
