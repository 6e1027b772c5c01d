// SPDX-License-Identifier: MIT
/*
 * Asynchronous executions: one thread per device that waits for all of them.
 *
 * The thread starts with the first asynchronous execution. It waits for the fences of all
 * jobs and for one more fence, the kick. A launch signals the kick, so that the thread adds
 * the new job to its wait. Without jobs the thread sleeps on a condition variable. Jobs hold
 * references of their device, so no job is left when the device is closed. Then the thread
 * ends. The last release of the device may happen in a callback on this thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"
#include "device/async.h"
#include "transport/transport.h"

/*
 * Longest single wait. It is no limit for a job, since fences always signal. It bounds the
 * cost of a lost wake-up.
 */
#define WAIT_SLICE_NS	1000000000

struct async {
	struct transport *transport;
	struct transport_fence *kick;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool started;
	bool stop;
	bool orphan;			/* destroyed from its own thread */
	struct async_job *incoming;	/* newest first */
	/* Used by the thread only: its jobs, and their fences behind the kick. */
	struct async_job *active;
	struct transport_fence **fences;
	struct async_job **jobs;
	uint32_t room;
};

struct async *async_create(struct transport *transport)
{
	struct async *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->transport = transport;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->wake, NULL);
	return a;
}

static void async_free(struct async *a)
{
	free(a->fences);
	free(a->jobs);
	pthread_cond_destroy(&a->wake);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void async_free_copy(struct async *a)
{
	free(a->fences);
	free(a->jobs);
	free(a);
}

void async_destroy(struct async *a)
{
	bool own_thread = a->started && pthread_equal(a->thread, pthread_self());

	pthread_mutex_lock(&a->lock);
	a->stop = true;
	a->orphan = own_thread;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
	if (a->started && !own_thread)
		pthread_join(a->thread, NULL);
	if (a->kick)
		a->transport->ops->fence_destroy(a->transport, a->kick);
	if (own_thread)
		pthread_detach(pthread_self());
	else
		async_free(a);
}

/* Room for the kick and @count jobs; false if there is no memory. */
static bool make_room(struct async *a, uint32_t count)
{
	struct transport_fence **fences;
	struct async_job **jobs;
	uint32_t room = a->room ? a->room * 2 : 16;

	if (count < a->room)
		return true;
	fences = realloc(a->fences, room * sizeof(*fences));
	if (fences)
		a->fences = fences;
	jobs = realloc(a->jobs, room * sizeof(*jobs));
	if (jobs)
		a->jobs = jobs;
	if (!fences || !jobs)
		return false;
	a->room = room;
	return true;
}

/* Sleep until there is work; take it. False: end of the thread. */
static bool take_incoming(struct async *a)
{
	struct async_job **tail = &a->active;
	struct async_job *job, *next, *list = NULL;

	pthread_mutex_lock(&a->lock);
	while (!a->active && !a->incoming && !a->stop)
		pthread_cond_wait(&a->wake, &a->lock);
	if (!a->active && !a->incoming) {
		pthread_mutex_unlock(&a->lock);
		return false;
	}
	/* Reset before taking: a kick after this is for a job not taken yet. */
	a->transport->ops->fence_reset(a->transport, a->kick);
	for (job = a->incoming; job; job = next) {
		next = job->next;
		job->next = list;
		list = job;
	}
	a->incoming = NULL;
	pthread_mutex_unlock(&a->lock);
	while (*tail)
		tail = &(*tail)->next;
	*tail = list;
	return true;
}

static void finish(struct async *a, struct async_job *done, int error)
{
	struct async_job **link = &a->active;

	while (*link != done)
		link = &(*link)->next;
	*link = done->next;
	done->complete(done, error);
}

/* End jobs that have no fence: they were over when launched. True if there was one. */
static bool finish_ready(struct async *a)
{
	struct async_job *job;

	for (job = a->active; job; job = job->next)
		if (!job->fence) {
			finish(a, job, 0);
			return true;
		}
	return false;
}

/*
 * Waiting for all at once has failed. That says nothing about any of them: ask one after the other,
 * and end one that has signalled or whose wait fails by itself.
 */
static void wait_singly(struct async *a)
{
	struct transport *t = a->transport;
	struct async_job *job;
	uint32_t first;
	int err;

	for (job = a->active; job; job = job->next) {
		err = t->ops->wait(t, &job->fence, 1, 0, &first);
		if (err != -ETIME) {
			finish(a, job, err);
			return;
		}
	}
	err = t->ops->wait(t, &a->active->fence, 1, WAIT_SLICE_NS, &first);
	if (err != -ETIME)
		finish(a, a->active, err);
}

/* Wait for a job or the kick, and end the job. */
static void wait_once(struct async *a)
{
	struct transport *t = a->transport;
	struct async_job *job;
	uint32_t count = 1, first = 0;
	int err;

	/* Without memory for more, the oldest jobs are waited for first. */
	a->fences[0] = a->kick;
	for (job = a->active; job && make_room(a, count + 1); job = job->next) {
		a->fences[count] = job->fence;
		a->jobs[count] = job;
		count++;
	}
	err = t->ops->wait(t, a->fences, count, WAIT_SLICE_NS, &first);
	if (err == -ETIME)
		return;
	if (err)
		wait_singly(a);
	else if (first)
		finish(a, a->jobs[first], 0);
}

static void *async_thread(void *data)
{
	struct async *a = data;
	bool orphan;

	while (take_incoming(a)) {
		/*
		 * The callback may have released the last reference of the device. Then this
		 * was the last job, and only this structure is left.
		 */
		if (!finish_ready(a))
			wait_once(a);
		pthread_mutex_lock(&a->lock);
		orphan = a->orphan;
		pthread_mutex_unlock(&a->lock);
		if (orphan) {
			async_free(a);
			return NULL;
		}
	}
	return NULL;
}

int async_start(struct async *a)
{
	int err = 0;

	pthread_mutex_lock(&a->lock);
	if (!a->started) {
		if (!a->kick)
			err = a->transport->ops->fence_create(a->transport, &a->kick);
		if (!err && !make_room(a, 1))
			err = -ENOMEM;
		if (!err) {
			err = thread_start(&a->thread, async_thread, a);
			a->started = !err;
		}
	}
	pthread_mutex_unlock(&a->lock);
	return err;
}

void async_add(struct async *a, struct async_job *job)
{
	pthread_mutex_lock(&a->lock);
	job->next = a->incoming;
	a->incoming = job;
	a->transport->ops->fence_signal(a->transport, a->kick);
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
}
