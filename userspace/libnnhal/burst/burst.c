// SPDX-License-Identifier: MIT
/*
 * Bursts: their life, and the functions of the API.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "burst/burst_internal.h"
#include "device/device_private.h"
#include "execution/arguments.h"
#include "execution/prepared_model_private.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

#define MAX_DEPTH	32
#define DEFAULT_DEPTH	16
#define DEFAULT_MEMORIES	64

/* ---- what the ways to the device share ---- */

void burst_sleep(struct nnhal_burst *b, uint64_t until_ns)
{
	uint64_t slice = monotonic_ns() + BURST_SLICE_NS;
	struct timespec until;

	if (slice < until_ns)
		until_ns = slice;
	until.tv_sec = (time_t)(until_ns / 1000000000u);
	until.tv_nsec = (long)(until_ns % 1000000000u);
	b->num_waiters++;
	pthread_cond_timedwait(&b->cond, &b->lock, &until);
	b->num_waiters--;
}

/* ---- life ---- */

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

	/* The queue first: then the device reaches nothing of the burst any more. */
	if (b->queue)
		t->ops->queue_destroy(t, b->queue);
	if (b->blocks.map)
		t->ops->bo_destroy(t, &b->blocks);
	burst_cache_fini(b);
	free_requests(b);
	if (b->owner)
		munmap(b->owner, (size_t)sysconf(_SC_PAGESIZE));
	pthread_cond_destroy(&b->cond);
	pthread_mutex_destroy(&b->lock);
	nnhal_prepared_model_unref(b->model);
	free(b);
}

/*
 * In a child of fork(): what is private to the process goes. Everything else, memory
 * objects and device included, is the parent's, down to the locks.
 */
static void burst_free_copy(struct nnhal_burst *b)
{
	struct cached_memory *e;

	while ((e = b->dropped)) {
		b->dropped = e->next;
		free(e);
	}
	while ((e = b->memories)) {
		b->memories = e->next;
		free(e);
	}
	free(b->buckets);
	free_requests(b);
	munmap(b->owner, (size_t)sysconf(_SC_PAGESIZE));
	free(b);
}

void burst_release(struct nnhal_burst *b)
{
	if (atomic_fetch_sub_explicit(&b->holds, 1, memory_order_acq_rel) == 1)
		burst_free(b);
}

/* A word that reads 0 in a child, whatever the child does before it looks. */
static int mark_owner(struct nnhal_burst *b)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -ENOMEM;
	b->owner = page;
	/* Not known before Linux 4.14. */
	if (madvise(page, size, MADV_WIPEONFORK))
		return -ENOSYS;
	*b->owner = 1;
	return 0;
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
		r->flags = REQUEST_STALE;
		/* Of a version there is not, with counts that do no harm. */
		r->seen_head[0] = UINT64_C(0x1ffffffff);
		r->seen_head[1] = 1;
		r->seen = calloc(n, sizeof(*r->seen));
		r->seen_dims = calloc(n, sizeof(*r->seen_dims));
		r->resolved = calloc(n, sizeof(*r->resolved));
		r->shapes = calloc(b->model->rules.num_outputs, sizeof(*r->shapes));
		if (!r->seen || !r->seen_dims || !r->resolved || !r->shapes)
			return -ENOMEM;
	}
	return 0;
}

/* No longer a queue, but the burst works; what was made of the ring goes again. */
static void drop_ring(struct nnhal_burst *b)
{
	struct transport *t = b->transport;

	if (b->queue)
		t->ops->queue_destroy(t, b->queue);
	if (b->blocks.map)
		t->ops->bo_destroy(t, &b->blocks);
	b->queue = NULL;
	b->blocks.map = NULL;
}

static int burst_init(struct nnhal_burst *b, const struct nnhal_burst_options *o)
{
	uint32_t spin_us = o->spin_us;
	int err;

	if (spin_us == UINT32_MAX && b->model->preference == NNHAL_PREFER_LOW_POWER)
		spin_us = 0;
	b->depth = o->depth ? o->depth : DEFAULT_DEPTH;
	/* One that submissions cannot take: executions always get on. */
	b->num_requests = b->depth + 1;
	err = mark_owner(b);
	if (!err)
		err = create_requests(b);
	if (!err)
		err = burst_cache_init(b, o->max_memories ? o->max_memories : DEFAULT_MEMORIES);
	if (err)
		return err;
	err = burst_ring_init(b, spin_us);
	/* Not offered, or used up: the way through the driver is always there. */
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

	if (!options_read(to, from, &defaults, sizeof(*to), sizeof(*to)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(to->diag);
	if (to->depth > MAX_DEPTH) {
		diag_set(to->diag, "depth %u, expected at most %u", to->depth, MAX_DEPTH);
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
	b->model = nnhal_prepared_model_ref(model);
	b->num_outputs = model->rules.num_outputs;
	b->transport = model->device->transport;
	err = burst_init(b, &read);
	if (!err) {
		*burst = b;
		return NNHAL_STATUS_NONE;
	}
	diag_set(read.diag, "burst: %s", errno_text(-err));
	status = device_status_from_error(model->device, err);
	/* Whatever the system has against it, it is none of the caller's arguments. */
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

/* ---- requests ---- */

enum nnhal_status nnhal_burst_submit(struct nnhal_burst *burst,
				     const struct nnhal_request *request,
				     const struct nnhal_execute_options *options, uint64_t tag,
				     uint32_t flags)
{
	uint32_t count;

	if (unlikely(!burst || !request || (flags & ~NNHAL_BURST_NONBLOCK)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (unlikely(!burst_is_own(burst)))
		return request_status(NNHAL_STATUS_DEVICE_UNAVAILABLE, request);
	if (likely(burst->queue))
		return burst_ring_submit(burst, &request, &tag, 1, options, flags, &count);
	return burst_submit_submit(burst, request, options, tag, flags);
}

/* Where there is no queue: one after the other. */
static cold_path enum nnhal_status submit_each(struct nnhal_burst *burst,
					       const struct nnhal_request *const *requests,
					       const uint64_t *tags, uint32_t num,
					       const struct nnhal_execute_options *options,
					       uint32_t flags, uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;

	while (*count < num && !status) {
		status = requests[*count] ? burst_submit_submit(burst, requests[*count], options,
								tags[*count], flags)
					  : NNHAL_STATUS_INVALID_ARGUMENT;
		*count += !status;
	}
	return status;
}

enum nnhal_status nnhal_burst_submit_many(struct nnhal_burst *burst,
					  const struct nnhal_request *const *requests,
					  const uint64_t *tags, uint32_t num,
					  const struct nnhal_execute_options *options,
					  uint32_t flags, uint32_t *count)
{
	if (unlikely(!count))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*count = 0;
	if (unlikely(!burst || !requests || !requests[0] || !tags || !num ||
		     (flags & ~NNHAL_BURST_NONBLOCK)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (unlikely(!burst_is_own(burst)))
		return request_status(NNHAL_STATUS_DEVICE_UNAVAILABLE, requests[0]);
	if (likely(burst->queue))
		return burst_ring_submit(burst, requests, tags, num, options, flags, count);
	return submit_each(burst, requests, tags, num, options, flags, count);
}

hot_inline enum nnhal_status wait_for(struct nnhal_burst *burst,
				      struct nnhal_burst_result *results, uint32_t min,
				      uint32_t max, uint64_t timeout_ns, uint32_t *count)
{
	uint64_t until_ns = UINT64_MAX;

	if (unlikely(!burst_is_own(burst)))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (timeout_ns != UINT64_MAX) {
		until_ns = monotonic_ns();
		until_ns = timeout_ns < INT64_MAX - until_ns ? until_ns + timeout_ns : UINT64_MAX;
	}
	if (likely(burst->queue))
		return burst_ring_wait(burst, results, min, max, until_ns, count);
	return burst_submit_wait(burst, results, min, max, until_ns, count);
}

enum nnhal_status nnhal_burst_wait(struct nnhal_burst *burst, struct nnhal_burst_result *result,
				   uint64_t timeout_ns)
{
	uint32_t count = 0;

	if (unlikely(!burst || !result))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return wait_for(burst, result, 1, 1, timeout_ns, &count);
}

enum nnhal_status nnhal_burst_wait_many(struct nnhal_burst *burst,
					struct nnhal_burst_result *results, uint32_t min,
					uint32_t max, uint64_t timeout_ns, uint32_t *count)
{
	if (unlikely(!count))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*count = 0;
	if (unlikely(!burst || !results || !min || min > max))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return wait_for(burst, results, min, max, timeout_ns, count);
}

enum nnhal_status nnhal_burst_free_memory(struct nnhal_burst *burst, struct nnhal_memory *memory)
{
	if (!burst || !memory)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!burst_is_own(burst))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&burst->lock);
	burst_cache_forget(burst, memory);
	pthread_mutex_unlock(&burst->lock);
	return NNHAL_STATUS_NONE;
}
