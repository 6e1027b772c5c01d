// SPDX-License-Identifier: MIT
/*
 * Workers and seats.
 */
#include <errno.h>
#include <time.h>

#include "device_state.h"
#include "device_threads.h"
#include "engine.h"
#include "fetch.h"
#include "loads.h"
#include "memory_accounting.h"
#include "queue.h"
#include "scheduler.h"
#include "seats.h"

/* How long a spare worker keeps the memory of its last job, seconds. */
#define KEEP_MEMORY_S	1

void worker_new_slice(struct nnpu_engine *e)
{
	e->slice_end = 0;
}

void dev_kick_workers(struct nnpu_device *dev)
{
	unsigned int i;

	pthread_cond_broadcast(&dev->work);
	pthread_cond_broadcast(&dev->help);
	pthread_cond_broadcast(&dev->resumed);
	for (i = 0; i < atomic_load(&dev->num_workers); i++)
		pthread_cond_signal(&dev->engines[i].turn);
	for (i = 0; i < atomic_load(&dev->num_loaders); i++)
		pthread_cond_signal(&dev->loaders[i].wake);
}

void engine_abort(struct nnpu_engine *e)
{
	atomic_store(&e->abort, true);
	pthread_cond_signal(&e->turn);
	/* A stalled job. */
	pthread_cond_broadcast(&e->dev->event);
}

void engines_abort(struct nnpu_device *dev, const struct nnpu_queue *q,
		   const struct nnpu_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_workers); i++) {
		struct nnpu_engine *e = &dev->engines[i];

		/* An entry without a program holds no context, but its lane has one. */
		if (e->q && (!q || e->q == q) && (!ctx || e->lane->ctx == ctx))
			engine_abort(e);
	}
}

struct nnpu_engine *engine_of_entry(struct nnpu_device *dev, const struct nnpu_queue *q,
				    uint16_t cid)
{
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_workers); i++)
		if (dev->engines[i].q == q && dev->engines[i].cid == cid)
			return &dev->engines[i];
	return NULL;
}

void worker_pass_seat(struct nnpu_engine *e, struct nnpu_engine *to)
{
	struct nnpu_seat *seat = &e->dev->seats[e->seat];

	/* To begin or to go on is progress. */
	seat->base += atomic_load_explicit(&e->count, memory_order_relaxed) + 1 -
		      atomic_load_explicit(&to->count, memory_order_relaxed);
	seat->worker = to;
	to->seat = e->seat;
	e->seated = false;
	to->seated = true;
	pthread_cond_signal(&to->turn);
}

void worker_spare(struct nnpu_engine *e)
{
	e->next_spare = e->dev->spares;
	e->dev->spares = e;
	e->spare = true;
}

/* The worker that spared its memory last: it may have what the next job needs. */
static struct nnpu_engine *take_spare(struct nnpu_device *dev)
{
	struct nnpu_engine *spare = dev->spares;

	if (!spare)
		return NULL;
	dev->spares = spare->next_spare;
	spare->spare = false;
	return spare;
}

static void remove_spare(struct nnpu_device *dev, struct nnpu_engine *e)
{
	struct nnpu_engine **p = &dev->spares;

	while (*p != e)
		p = &(*p)->next_spare;
	*p = e->next_spare;
	e->spare = false;
}

void worker_park(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	struct timespec until;

	/* Who made it has done it, unless the thread was first. */
	if (!e->spare)
		worker_spare(e);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += KEEP_MEMORY_S;
	while (!e->seated && !dev->exiting) {
		if (!e->exec.has_memory)
			pthread_cond_wait(&e->turn, &dev->lock);
		else if (pthread_cond_timedwait(&e->turn, &dev->lock, &until) == ETIMEDOUT &&
			 !e->seated)
			exec_trim(e);
	}
	if (e->spare)
		remove_spare(dev, e);
}

/* Of the jobs that have given way, the one to go on. There is one. */
static struct lane *pick_away(struct nnpu_device *dev)
{
	struct lane *best = NULL;
	unsigned int i;

	for (i = 0; i < atomic_load(&dev->num_workers); i++) {
		struct lane *lane = dev->engines[i].lane;

		if (lane && lane->away && (!best || sched_is_before(dev, lane, best)))
			best = lane;
	}
	return best;
}

/* Who has the seat next? NULL: the job goes on. */
static struct nnpu_engine *next_worker(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	struct lane *best;

	e->lane->away = e;
	sched_update_lane(dev, e->lane);
	best = sched_pick(dev);
	if (!best)
		return NULL;
	/* A spare worker picks by itself. If none could be made, those that have begun take turns. */
	if (!best->away && dev->spares)
		return take_spare(dev);
	if (!best->away)
		best = pick_away(dev);
	sched_begin(dev, best);
	return best->away == e ? NULL : best->away;
}

/* The job of a lane has a seat again, or ends without one. */
static void come_back(struct nnpu_engine *e)
{
	e->lane->away = NULL;
	sched_update_lane(e->dev, e->lane);
}

void worker_give_memory(struct nnpu_engine *e)
{
	if (!e->asked)
		return;
	exec_give(e);
	mem_answer(e);
}

static void give_way(struct nnpu_engine *e, uint64_t now)
{
	struct nnpu_device *dev = e->dev;
	struct nnpu_engine *next;
	struct nnpu_queue *q;

	engine_charge(e, now);
	while ((q = sched_pick_fetch(dev)))
		fetch_entries(dev, q);
	next = next_worker(e);
	sched_wake(dev);
	if (next) {
		if (next->lane)
			come_back(next);
		worker_pass_seat(e, next);
		helpers_count(dev, -1);
		for (;;) {
			worker_give_memory(e);
			if (e->seated || job_is_to_end(&e->progress))
				break;
			pthread_cond_wait(&e->turn, &dev->lock);
		}
		helpers_count(dev, 1);
	}
	/* Who had the seat before has called this for us, unless the job ends without one. */
	if (e->lane->away)
		come_back(e);
	e->busy_since = dev_now(dev);
	e->away_ns += e->busy_since - now;
	if (e->progress.end_ns)
		e->progress.end_ns += e->busy_since - now;
	e->slice_end = e->busy_since + SLICE_NS;
}

void worker_point(struct job_progress *p)
{
	struct nnpu_engine *e = (struct nnpu_engine *)((char *)p -
						       offsetof(struct nnpu_engine, progress));
	struct nnpu_device *dev = e->dev;
	uint64_t now = dev_now(dev);
	unsigned int contended;

	if (e->progress.end_ns && now + team_time(&e->team) >= e->progress.end_ns) {
		e->progress.expired = true;
		return;
	}
	if (e->progress.deadline_ns && now >= e->progress.deadline_ns) {
		e->progress.late = true;
		return;
	}
	contended = atomic_load_explicit(&dev->contended, memory_order_relaxed);
	if (contended & CONTENDED_MEMORY) {
		slots_release(&e->slots);
		pthread_mutex_lock(&dev->lock);
		worker_give_memory(e);
		pthread_mutex_unlock(&dev->lock);
	}
	if (!(contended & ~CONTENDED_MEMORY) || !dev->props.slices)
		return;
	/* The slice begins when somebody waits. */
	if (!e->slice_end)
		e->slice_end = now + SLICE_NS;
	if (now < e->slice_end)
		return;
	slots_release(&e->slots);
	team_pause(e);
	pthread_mutex_lock(&dev->lock);
	if (!dev->spares && e->seated && !job_is_to_end(&e->progress)) {
		worker_create(dev);
		now = dev_now(dev);
	}
	if (e->seated && !job_is_to_end(&e->progress))
		give_way(e, now);
	pthread_mutex_unlock(&dev->lock);
	team_resume(e);
}
