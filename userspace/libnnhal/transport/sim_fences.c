// SPDX-License-Identifier: MIT
/*
 * Fences of the in-process device, and its jobs that wait for fences of others.
 *
 * A thread waits for those: it begins with the first job that has to wait, and plays the callbacks that
 * fences have in the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fence_fd.h"
#include "base/monotonic.h"
#include "base/thread.h"
#include "transport/sim_private.h"
#include "transport/sim_rings.h"
#include "transport/transport.h"

#define KINDS	(FENCE_SYNC_FILE | FENCE_SOCKET)

/* A job that waits. */
struct sim_waiter {
	struct sim_waiter *next;
	struct sim_job *job;
	uint64_t deadline_ns;		/* 0: none */
	uint64_t duration_ns;		/* 0: none */
	uint64_t ready_ns;		/* when the last fence signalled; not before submit() */
	int error;			/* of the first fence that has one */
	uint32_t num;
	int fds[];			/* own duplicates; -1: has signalled */
};

/* ---- fences of jobs ---- */

int sim_fence_create(struct transport *t, struct transport_fence **fence)
{
	(void)t;
	*fence = calloc(1, sizeof(**fence));
	if (!*fence)
		return -ENOMEM;
	(*fence)->signal = -1;
	return 0;
}

static void fence_free(struct transport_fence *fence)
{
	if (fence->signal >= 0)
		close(fence->signal);
	free(fence);
}

void sim_fence_destroy(struct transport *t, struct transport_fence *fence)
{
	struct sim_transport *s = to_sim(t);
	bool is_pending;

	/* The thread that signals may still hold the lock. */
	pthread_mutex_lock(&s->fence_lock);
	is_pending = fence->is_pending;
	fence->is_orphan = true;
	pthread_mutex_unlock(&s->fence_lock);
	/* Nobody waits for its job any more, which goes on, and then frees it. */
	if (!is_pending)
		fence_free(fence);
}

/* Caller holds fence_lock. */
static void signal_descriptor(struct transport_fence *fence)
{
	if (fence->signal < 0)
		return;
	fence_socket_signal(fence->signal, fence->error);
	close(fence->signal);
	fence->signal = -1;
}

void sim_fence_set(struct sim_transport *s, struct transport_fence *fence, bool signalled,
		   int error)
{
	bool is_orphan;

	pthread_mutex_lock(&s->fence_lock);
	is_orphan = fence->is_pending && fence->is_orphan;
	fence->is_pending = false;
	fence->signalled = signalled;
	fence->error = error;
	if (signalled) {
		signal_descriptor(fence);
		pthread_cond_broadcast(&s->fence_cond);
	}
	pthread_mutex_unlock(&s->fence_lock);
	if (is_orphan)
		fence_free(fence);
}

void sim_fence_begin(struct sim_transport *s, struct transport_fence *fence)
{
	pthread_mutex_lock(&s->fence_lock);
	fence->is_pending = true;
	fence->signalled = false;
	fence->error = 0;
	pthread_mutex_unlock(&s->fence_lock);
}

int sim_fence_export(struct transport *t, struct transport_fence *fence, int *fd)
{
	struct sim_transport *s = to_sim(t);
	int signal, err = fence_socket_create(fd, &signal);

	if (err)
		return err;
	pthread_mutex_lock(&s->fence_lock);
	fence->signal = signal;
	if (fence->signalled)
		signal_descriptor(fence);
	pthread_mutex_unlock(&s->fence_lock);
	return 0;
}

int sim_fence_signal(struct transport *t, struct transport_fence *fence)
{
	sim_fence_set(to_sim(t), fence, true, 0);
	return 0;
}

int sim_fence_reset(struct transport *t, struct transport_fence *fence)
{
	sim_fence_set(to_sim(t), fence, false, 0);
	return 0;
}

int sim_fence_error(struct transport *t, struct transport_fence *fence)
{
	struct sim_transport *s = to_sim(t);
	int error;

	pthread_mutex_lock(&s->fence_lock);
	error = fence->error;
	pthread_mutex_unlock(&s->fence_lock);
	return error;
}

int sim_wait(struct transport *t, struct transport_fence *const *fences, uint32_t count,
	     int64_t timeout_ns, uint32_t *first)
{
	struct sim_transport *s = to_sim(t);
	uint64_t end = timeout_ns < 0 ? 0 : monotonic_ns() + (uint64_t)timeout_ns;
	struct timespec until = {
		.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u),
	};
	int err = 0;
	uint32_t i;

	pthread_mutex_lock(&s->fence_lock);
	for (;;) {
		for (i = 0; i < count && !fences[i]->signalled; i++)
			;
		if (i < count || err)
			break;
		if (timeout_ns < 0)
			pthread_cond_wait(&s->fence_cond, &s->fence_lock);
		else
			err = pthread_cond_timedwait(&s->fence_cond, &s->fence_lock, &until);
	}
	pthread_mutex_unlock(&s->fence_lock);
	if (i == count)
		return -ETIME;
	*first = i;
	return 0;
}

/* ---- jobs that wait for fences ---- */

/* Look at the fences. True: all have signalled. */
static bool is_ready(struct sim_waiter *w)
{
	struct fence_info info;
	bool ready = true;
	uint32_t i;

	for (i = 0; i < w->num; i++) {
		if (w->fds[i] < 0)
			continue;
		/* One that cannot be looked at, for want of memory, is looked at again. */
		if (fence_info_read(w->fds[i], KINDS, &info) || !info.status) {
			ready = false;
			continue;
		}
		if (info.time_ns > w->ready_ns)
			w->ready_ns = info.time_ns;
		if (info.status < 0 && !w->error)
			w->error = info.status;
		close(w->fds[i]);
		w->fds[i] = -1;
	}
	return ready;
}

static void waiter_free(struct sim_waiter *w)
{
	uint32_t i;

	for (i = 0; i < w->num; i++)
		if (w->fds[i] >= 0)
			close(w->fds[i]);
	free(w);
}

static uint64_t earlier(uint64_t deadline_ns, uint64_t from_ns, uint64_t duration_ns)
{
	uint64_t end;

	if (!duration_ns || duration_ns >= INT64_MAX - from_ns)
		return deadline_ns;
	end = from_ns + duration_ns;
	return deadline_ns && deadline_ns < end ? deadline_ns : end;
}

/* End a job that does not run. */
static void end_job(struct sim_transport *s, struct sim_job *job, int error)
{
	struct transport_fence *fence = job->fence;

	sim_job_put(&s->rings, job);
	sim_fence_set(s, fence, true, error);
}

/* Its fences have signalled: the job runs, or ends with their error. */
static void let_go(struct sim_transport *s, struct sim_waiter *w)
{
	uint64_t now = monotonic_ns();
	int err = w->error;

	if (!err) {
		sim_job_set_deadline(s, w->job, earlier(w->deadline_ns,
							w->ready_ns < now ? w->ready_ns : now,
							w->duration_ns));
		err = sim_submit(&s->rings, w->job);
	}
	if (err)
		end_job(s, w->job, err);
	waiter_free(w);
}

/* Take those out of the list that are ready. Caller holds the lock. */
static struct sim_waiter *take_ready(struct sim_gate *g)
{
	struct sim_waiter **link = &g->waiters, *w, *ready = NULL, **tail = &ready;

	while ((w = *link)) {
		if (!is_ready(w)) {
			link = &w->next;
			continue;
		}
		*link = w->next;
		w->next = NULL;
		*tail = w;
		tail = &w->next;
	}
	g->tail = link;
	return ready;
}

/* The descriptors to poll: the kick, then the fences. Caller holds the lock. NULL: no memory. */
static struct pollfd *list_fences(struct sim_gate *g, nfds_t *count)
{
	struct sim_waiter *w;
	struct pollfd *p;
	nfds_t n = 1;
	uint32_t i;

	for (w = g->waiters; w; w = w->next)
		n += w->num;
	p = malloc(n * sizeof(*p));
	if (!p)
		return NULL;
	p[0] = (struct pollfd){ .fd = g->kick, .events = POLLIN };
	n = 1;
	for (w = g->waiters; w; w = w->next)
		for (i = 0; i < w->num; i++)
			if (w->fds[i] >= 0)
				p[n++] = (struct pollfd){ .fd = w->fds[i], .events = POLLIN };
	*count = n;
	return p;
}

/* Sleep until something may have changed. Descriptors are closed by this thread only. */
static void sleep_on(struct sim_gate *g, struct pollfd *p, nfds_t count)
{
	uint64_t kicks;

	if (!p) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		return;
	}
	poll(p, count, -1);
	if (read(g->kick, &kicks, sizeof(kicks)) < 0)
		kicks = 0;
	free(p);
}

static void *gate_thread(void *data)
{
	struct sim_transport *s = data;
	struct sim_gate *g = &s->gate;
	struct sim_waiter *ready, *w;
	struct pollfd *p;
	nfds_t count = 0;
	bool stop;

	for (;;) {
		pthread_mutex_lock(&g->lock);
		ready = take_ready(g);
		stop = g->stop;
		p = ready || stop ? NULL : list_fences(g, &count);
		pthread_mutex_unlock(&g->lock);
		if (stop && !ready)
			return NULL;
		if (!ready)
			sleep_on(g, p, count);
		while ((w = ready)) {
			ready = w->next;
			let_go(s, w);
		}
	}
}

static void kick(struct sim_gate *g)
{
	const uint64_t one = 1;

	/* It cannot fail: a counter that is full has been seen by nobody, and wakes as well. */
	if (write(g->kick, &one, sizeof(one)) < 0)
		return;
}

/* Caller holds the lock. */
static int start_thread(struct sim_transport *s)
{
	struct sim_gate *g = &s->gate;
	int err;

	if (g->started)
		return 0;
	if (g->kick < 0)
		g->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->kick < 0)
		return -errno;
	err = thread_start(&g->thread, gate_thread, s);
	g->started = !err;
	return err;
}

/* From now on they are fences: what the caller's descriptors become meanwhile does not matter. */
static int copy_fences(struct sim_waiter *w, const int *fds, uint32_t count)
{
	struct fence_info info;
	uint32_t i;

	for (i = 0; i < count; i++) {
		w->fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
		if (w->fds[i] < 0)
			return -errno;
		w->num++;
		if (fence_info_read(w->fds[i], KINDS, &info) == -EINVAL)
			return -EINVAL;
	}
	return 0;
}

int sim_submit_behind(struct sim_transport *s, struct sim_job *job,
		      const struct transport_job *from)
{
	struct sim_gate *g = &s->gate;
	struct sim_waiter *w;
	int err;

	if (!from->num_in_fences) {
		sim_job_set_deadline(s, job, earlier(from->deadline_ns, monotonic_ns(),
						     from->duration_ns));
		return sim_submit(&s->rings, job);
	}
	w = calloc(1, sizeof(*w) + from->num_in_fences * sizeof(*w->fds));
	if (!w)
		return -ENOMEM;
	*w = (struct sim_waiter){
		.job = job, .deadline_ns = from->deadline_ns, .duration_ns = from->duration_ns,
		.ready_ns = monotonic_ns(),
	};
	err = copy_fences(w, from->in_fences, from->num_in_fences);
	if (err) {
		waiter_free(w);
		return err;
	}
	if (is_ready(w)) {
		let_go(s, w);
		return 0;
	}
	pthread_mutex_lock(&g->lock);
	err = start_thread(s);
	if (!err) {
		*g->tail = w;
		g->tail = &w->next;
		kick(g);
	}
	pthread_mutex_unlock(&g->lock);
	if (err)
		waiter_free(w);
	return err;
}

/* ---- life ---- */

void sim_fences_init(struct sim_transport *s)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->fence_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->fence_cond, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&s->gate.lock, NULL);
	s->gate.tail = &s->gate.waiters;
	s->gate.kick = -1;
}

void sim_fences_stop(struct sim_transport *s)
{
	struct sim_gate *g = &s->gate;
	struct sim_waiter *w;

	if (!g->started)
		return;
	pthread_mutex_lock(&g->lock);
	g->stop = true;
	kick(g);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	/* Jobs that nobody waits for any more; all others hold the device. */
	while ((w = g->waiters)) {
		g->waiters = w->next;
		end_job(s, w->job, -ECANCELED);
		waiter_free(w);
	}
}

void sim_fences_fini(struct sim_transport *s)
{
	if (s->gate.kick >= 0)
		close(s->gate.kick);
	pthread_mutex_destroy(&s->gate.lock);
	pthread_cond_destroy(&s->fence_cond);
	pthread_mutex_destroy(&s->fence_lock);
}
