// SPDX-License-Identifier: MIT
/*
 * Queues of the process itself, created by the kernel driver.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include "base/monotonic.h"
#include "transport/drm_private.h"
#include "transport/transport.h"

struct drm_queue {
	struct transport_queue base;
	uint32_t number;		/* 0: none, as the driver counts from 1 */
	uint32_t ring_handle;		/* 0: none, likewise */
	int fd;				/* -1: none */
	void *rings;			/* submission ring, completion ring: a page each */
};

/* Both enumerations have the same numbers: no conversion. */
_Static_assert((int)TRANSPORT_QUEUE_READY == DRM_NNPU_QUEUE_STATE_READY &&
	       (int)TRANSPORT_QUEUE_STOPPED == DRM_NNPU_QUEUE_STATE_STOPPED &&
	       (int)TRANSPORT_QUEUE_HUNG == DRM_NNPU_QUEUE_STATE_HUNG &&
	       (int)TRANSPORT_QUEUE_LOST == DRM_NNPU_QUEUE_STATE_LOST &&
	       (int)TRANSPORT_QUEUE_GONE == DRM_NNPU_QUEUE_STATE_GONE &&
	       (int)TRANSPORT_QUEUE_DESTROYED == DRM_NNPU_QUEUE_STATE_DESTROYED,
	       "states of queues");

static size_t rings_size(const struct drm_transport *d)
{
	return 2 * (size_t)d->info.page_size;
}

/* The rings are of no use to a child, and a child must not write to them. */
static int create_rings(struct drm_queue *q, const struct drm_transport *d)
{
	struct drm_nnpu_bo_create create = { .size = rings_size(d) };
	int err = drm_ioctl(d->fd, DRM_IOCTL_NNPU_BO_CREATE, &create);

	if (err)
		return err;
	q->ring_handle = create.handle;
	err = drm_map_handle(d->fd, create.handle, rings_size(d), &q->rings);
	if (err)
		return err;
	return madvise(q->rings, rings_size(d), MADV_DONTFORK) ? -errno : 0;
}

static int map_doorbell(struct drm_queue *q, const struct drm_transport *d)
{
	void *page = mmap(NULL, d->info.doorbell_size, PROT_READ | PROT_WRITE, MAP_SHARED, q->fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	q->base.doorbell = page;
	return 0;
}

/*
 * The process may not make the ioctl, as a filter of system calls decides. The driver ends a queue, too,
 * when its last descriptor and its last mapping go. Another thread may be about to ring: it finds
 * memory in place of the doorbell.
 */
static void let_go(struct drm_queue *q, const struct drm_transport *d)
{
	if (q->base.doorbell)
		mmap((void *)(uintptr_t)q->base.doorbell, d->info.doorbell_size,
		     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	close(q->fd);
	q->fd = -1;
}

void drm_queue_stop(struct transport *t, struct transport_queue *queue)
{
	struct drm_queue *q = (struct drm_queue *)queue;
	const struct drm_transport *d = to_drm(t);
	struct drm_nnpu_queue_destroy arg = { .queue = q->number };
	int err = 0;

	q->number = 0;
	if (arg.queue)
		err = drm_ioctl(d->fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &arg);
	/* Without the device, or after the end of the context, the queue has ended already. */
	if (err && err != -ENODEV && err != -ENOENT && q->fd >= 0)
		let_go(q, d);
}

void drm_queue_destroy(struct transport *t, struct transport_queue *queue)
{
	struct drm_queue *q = (struct drm_queue *)queue;
	const struct drm_transport *d = to_drm(t);

	drm_queue_stop(t, queue);
	if (q->base.doorbell)
		munmap((void *)(uintptr_t)q->base.doorbell, d->info.doorbell_size);
	if (q->fd >= 0)
		close(q->fd);
	if (q->rings)
		munmap(q->rings, rings_size(d));
	if (q->ring_handle)
		drm_gem_close(d->fd, q->ring_handle);
	free(q);
}

int drm_queue_fd(struct transport_queue *queue)
{
	return ((struct drm_queue *)queue)->fd;
}

/* The child has neither the rings nor the doorbell. */
void drm_queue_free_copy(struct transport_queue *queue)
{
	struct drm_queue *q = (struct drm_queue *)queue;

	close(q->fd);
	free(q);
}

static int create_queue(struct drm_queue *q, const struct drm_transport *d, uint32_t priority)
{
	struct drm_nnpu_queue_create arg = {
		.priority = priority,
		.ring_handle = q->ring_handle,
		.sq_entries = TRANSPORT_SQ_ENTRIES,
		.cq_entries = TRANSPORT_CQ_ENTRIES,
		.cq_offset = d->info.page_size,
	};
	int err = drm_ioctl(d->fd, DRM_IOCTL_NNPU_QUEUE_CREATE, &arg);

	if (err)
		return err;
	q->number = arg.queue;
	q->fd = arg.fd;
	q->base.sq = q->rings;
	q->base.cq = (struct nnpu_cqe *)((uint8_t *)q->rings + d->info.page_size);
	return map_doorbell(q, d);
}

int drm_queue_create(struct transport *t, uint32_t priority, struct transport_queue **queue)
{
	const struct drm_transport *d = to_drm(t);
	struct drm_queue *q;
	int err;

	if (d->info.min_ring_entries > TRANSPORT_SQ_ENTRIES ||
	    d->info.max_sq_entries < TRANSPORT_SQ_ENTRIES ||
	    d->info.max_cq_entries < TRANSPORT_CQ_ENTRIES)
		return -EOPNOTSUPP;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->fd = -1;
	err = create_rings(q, d);
	if (!err)
		err = create_queue(q, d, priority);
	if (err) {
		drm_queue_destroy(t, &q->base);
		return err;
	}
	*queue = &q->base;
	return 0;
}

int drm_queue_wait(struct transport *t, struct transport_queue *queue, uint32_t cq_head,
		   uint64_t until_ns, enum transport_queue_state *state)
{
	struct drm_nnpu_queue_wait arg = {
		.queue = ((struct drm_queue *)queue)->number, .cq_head = cq_head,
		.timeout_ns = until_ns > INT64_MAX ? INT64_MAX : (int64_t)until_ns,
	};
	int err = drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &arg);

	*state = (enum transport_queue_state)arg.state;
	/* A false alarm: the caller looks at the ring and waits again. */
	if (err && err != -ETIME && drm_wait_again(err))
		return 0;
	return err;
}

/* How long the relation of the clocks is good for. */
#define CLOCK_GOOD_NS	1000000000u

int drm_device_time(struct transport *t, uint64_t at_ns, uint64_t *device_ns)
{
	struct drm_transport *d = to_drm(t);
	struct drm_nnpu_clock clock;
	struct drm_nnpu_query q = {
		.topic = DRM_NNPU_QUERY_CLOCK, .size = sizeof(clock), .data = (uintptr_t)&clock,
	};
	uint64_t asked = atomic_load_explicit(&d->clock_asked_ns, memory_order_acquire);
	uint64_t behind;
	int err;

	if (!asked || monotonic_ns() - asked > CLOCK_GOOD_NS) {
		err = drm_ioctl(d->fd, DRM_IOCTL_NNPU_QUERY, &q);
		if (err)
			return err;
		atomic_store_explicit(&d->clock_behind_ns, clock.monotonic_ns - clock.device_ns,
				      memory_order_relaxed);
		atomic_store_explicit(&d->clock_asked_ns, clock.monotonic_ns, memory_order_release);
	}
	/* The difference may be negative. */
	behind = atomic_load_explicit(&d->clock_behind_ns, memory_order_relaxed);
	*device_ns = (int64_t)(at_ns - behind) > 0 ? at_ns - behind : 1;
	return 0;
}
