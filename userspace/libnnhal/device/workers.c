// SPDX-License-Identifier: MIT
/*
 * Threads of a device for work that waits for the device.
 *
 * More work than threads waits in a list, oldest first. Threads that have no work stay until
 * the device is closed, which waits for them: when it has been closed, no thread of the library
 * runs any more. Only a callback that releases the last reference of the device cannot wait for
 * its own thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"
#include "device/workers.h"

/* The device prepares one model at a time; more threads only lower and wait at the same time. */
#define MOST_WORKERS	4

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct work *first;		/* oldest */
	struct work **last;
	unsigned int num_waiting;	/* pieces of work */
	unsigned int num_idle;		/* threads */
	unsigned int num_threads;
	pthread_t threads[MOST_WORKERS];
	bool stop;
	bool orphan;			/* destroyed by one of the threads */
};

struct workers *workers_create(void)
{
	struct workers *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->last = &w->first;
	return w;
}

static void workers_free(struct workers *w)
{
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void workers_free_copy(struct workers *w)
{
	free(w);
}

void workers_destroy(struct workers *w)
{
	pthread_t self = pthread_self();
	bool own_thread = false;
	unsigned int i;

	/* Nobody adds work any more, so num_threads is final. */
	pthread_mutex_lock(&w->lock);
	for (i = 0; i < w->num_threads; i++)
		own_thread |= pthread_equal(w->threads[i], self);
	w->stop = true;
	w->orphan = own_thread;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	for (i = 0; i < w->num_threads; i++) {
		if (pthread_equal(w->threads[i], self))
			pthread_detach(self);
		else
			pthread_join(w->threads[i], NULL);
	}
	if (!own_thread)
		workers_free(w);
}

/* Wait for work. NULL: the end. */
static struct work *take(struct workers *w)
{
	struct work *work;

	pthread_mutex_lock(&w->lock);
	w->num_idle++;
	while (!w->first && !w->stop)
		pthread_cond_wait(&w->wake, &w->lock);
	w->num_idle--;
	work = w->first;
	if (work) {
		w->first = work->next;
		if (!w->first)
			w->last = &w->first;
		w->num_waiting--;
	}
	pthread_mutex_unlock(&w->lock);
	return work;
}

static void *worker(void *data)
{
	struct workers *w = data;
	struct work *work;
	bool orphan;

	while ((work = take(w))) {
		work->run(work);
		pthread_mutex_lock(&w->lock);
		/* By this thread: all the others have been waited for. */
		orphan = w->orphan;
		pthread_mutex_unlock(&w->lock);
		if (orphan) {
			workers_free(w);
			return NULL;
		}
	}
	return NULL;
}

/* Caller holds the lock. */
static int add_thread(struct workers *w)
{
	int err = thread_start(&w->threads[w->num_threads], worker, w);

	if (!err)
		w->num_threads++;
	return err;
}

int workers_add(struct workers *w, struct work *work)
{
	int err = 0;

	pthread_mutex_lock(&w->lock);
	if (w->num_waiting >= w->num_idle && w->num_threads < MOST_WORKERS)
		err = add_thread(w);
	/* Without a new thread the others do it. */
	if (w->num_threads) {
		err = 0;
		work->next = NULL;
		*w->last = work;
		w->last = &work->next;
		w->num_waiting++;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return err;
}
