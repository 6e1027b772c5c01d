// SPDX-License-Identifier: MIT
/*
 * Completion queues: asynchronous jobs whose end the caller asks for.
 *
 * A queue is an epoll instance with a descriptor of the fence of each job, which the kernel
 * makes readable when the fence signals. So nobody in the process waits, and the queue is readable
 * when any of them is. A job without fence, or for which there is no descriptor, is in the list
 * of jobs to look at; an eventfd in the same instance says so.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/status.h"
#include "device/completion_queue.h"
#include "device/device_private.h"
#include "transport/transport.h"

/* Events of one call of epoll_wait(). */
#define BATCH	16

struct nnhal_completion_queue {
	struct nnhal_device *device;	/* referenced */
	int poll_fd;
	int event_fd;			/* readable while @looked_at is not empty */
	pthread_mutex_t lock;
	struct async_job *polled;	/* with a descriptor */
	struct async_job *looked_at;	/* newest first */
};

static void list_add(struct async_job **list, struct async_job *job)
{
	job->next = *list;
	if (job->next)
		job->next->prev = &job->next;
	job->prev = list;
	*list = job;
}

static void list_remove(struct async_job *job)
{
	*job->prev = job->next;
	if (job->next)
		job->next->prev = job->prev;
}

static void queue_free(struct nnhal_completion_queue *q)
{
	if (q->poll_fd >= 0)
		close(q->poll_fd);
	if (q->event_fd >= 0)
		close(q->event_fd);
	if (device_is_own(q->device))
		pthread_mutex_destroy(&q->lock);
	nnhal_device_unref(q->device);
	free(q);
}

enum nnhal_status nnhal_completion_queue_create(struct nnhal_device *device,
						struct nnhal_completion_queue **queue,
						struct nnhal_diag *diag)
{
	/* No job. */
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
	struct nnhal_completion_queue *q;
	int err = 0;

	diag_clear(diag);
	if (queue)
		*queue = NULL;
	if (!device || !queue) {
		diag_set(diag, "NULL pointer for device or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	q = calloc(1, sizeof(*q));
	if (!q) {
		diag_set(diag, "no memory for a completion queue");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	q->device = nnhal_device_ref(device);
	pthread_mutex_init(&q->lock, NULL);
	q->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	q->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (q->event_fd < 0 || q->poll_fd < 0 ||
	    epoll_ctl(q->poll_fd, EPOLL_CTL_ADD, q->event_fd, &event))
		err = errno;
	if (!err) {
		*queue = q;
		return NNHAL_STATUS_NONE;
	}
	diag_set(diag, "descriptor of a completion queue: %s", errno_text(err));
	queue_free(q);
	return status_from_errno(err);
}

int nnhal_completion_queue_fd(const struct nnhal_completion_queue *queue)
{
	return queue ? queue->poll_fd : -1;
}

bool completion_queue_is_of(const struct nnhal_completion_queue *queue,
			    const struct nnhal_device *device)
{
	const struct nnhal_device *root = device->root ? device->root : device;

	return queue->device == device || queue->device == root;
}

/* Have the kernel say when the job ends. False: it cannot. Caller holds the lock. */
static bool poll_job(struct nnhal_completion_queue *q, struct async_job *job)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = job };
	struct transport *t = job->transport;

	if (!job->fence || t->ops->fence_export(t, job->fence, &job->fd))
		return false;
	if (!epoll_ctl(q->poll_fd, EPOLL_CTL_ADD, job->fd, &event))
		return true;
	close(job->fd);
	return false;
}

void completion_queue_add(struct nnhal_completion_queue *q, struct async_job *job)
{
	pthread_mutex_lock(&q->lock);
	if (poll_job(q, job)) {
		list_add(&q->polled, job);
	} else {
		job->fd = -1;
		list_add(&q->looked_at, job);
		(void)eventfd_write(q->event_fd, 1);
	}
	pthread_mutex_unlock(&q->lock);
}

/* Take a job that has ended out of the list of those without descriptor; NULL: none has. */
static struct async_job *look(struct nnhal_completion_queue *q, int *error)
{
	struct transport *t;
	struct async_job *job;
	eventfd_t value;
	uint32_t first;

	pthread_mutex_lock(&q->lock);
	for (job = q->looked_at; job; job = job->next) {
		t = job->transport;
		*error = job->fence ? t->ops->wait(t, &job->fence, 1, 0, &first) : 0;
		if (*error == -ETIME)
			continue;
		list_remove(job);
		break;
	}
	if (!q->looked_at)
		(void)eventfd_read(q->event_fd, &value);
	pthread_mutex_unlock(&q->lock);
	return job;
}

/* The descriptor of a job was readable. */
static bool end_polled(struct nnhal_completion_queue *q, struct async_job *job)
{
	struct transport *t = job->transport;
	uint32_t first;
	int error;

	pthread_mutex_lock(&q->lock);
	list_remove(job);
	pthread_mutex_unlock(&q->lock);
	/* A sibling of it may exist in a child of fork(): closing alone would not end the watch. */
	epoll_ctl(q->poll_fd, EPOLL_CTL_DEL, job->fd, NULL);
	close(job->fd);
	job->fd = -1;
	error = t->ops->wait(t, &job->fence, 1, -1, &first);
	return job->complete(job, error);
}

/*
 * The descriptor of a job was readable, but the caller wants no more: it is to be so again. Another
 * thread may take the job at once; in end_polled() it waits for the lock until we have left it.
 */
static void poll_again(struct nnhal_completion_queue *q, struct async_job *job)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = job };

	pthread_mutex_lock(&q->lock);
	epoll_ctl(q->poll_fd, EPOLL_CTL_MOD, job->fd, &event);
	pthread_mutex_unlock(&q->lock);
}

enum nnhal_status nnhal_completion_queue_dispatch(struct nnhal_completion_queue *queue,
						  uint32_t max, uint32_t *count)
{
	struct epoll_event events[BATCH];
	struct async_job *job;
	uint32_t done = 0;
	int i, n, error;

	if (count)
		*count = 0;
	if (!queue || !max)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!device_is_own(queue->device))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	while (done < max && (job = look(queue, &error)))
		done += job->complete(job, error);
	while (done < max) {
		/* One event may be that of jobs without descriptor, which were looked at. */
		n = epoll_wait(queue->poll_fd, events,
			       max - done < BATCH ? (int)(max - done) + 1 : BATCH, 0);
		if (n <= 0 || (n == 1 && !events[0].data.ptr))
			break;
		for (i = 0; i < n; i++) {
			if (!events[i].data.ptr)
				continue;
			if (done < max)
				done += end_polled(queue, events[i].data.ptr);
			else
				poll_again(queue, events[i].data.ptr);
		}
	}
	if (count)
		*count = done;
	return NNHAL_STATUS_NONE;
}

void nnhal_completion_queue_destroy(struct nnhal_completion_queue *q)
{
	struct async *async;
	struct async_job *job;
	struct transport *t;
	uint32_t first;

	if (!q)
		return;
	if (!device_is_own(q->device)) {
		queue_free(q);
		return;
	}
	while ((job = q->polled ? q->polled : q->looked_at)) {
		list_remove(job);
		if (job->fd >= 0)
			close(job->fd);
		job->fd = -1;
		t = job->transport;
		async = job->async;
		if (!async_start(async)) {
			job->queue = NULL;
			async_add(async, job);
			continue;
		}
		/* If it goes on, it is in the queue again. */
		job->complete(job, job->fence ? t->ops->wait(t, &job->fence, 1, -1, &first) : 0);
	}
	queue_free(q);
}
