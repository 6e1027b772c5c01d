// SPDX-License-Identifier: MIT
/*
 * Arbitration: decides in which order queues are served.
 *
 * A higher priority is served before a lower one, except that a level is not passed over
 * more than MAX_PASSED times in a row. Within a level the queue that has used the least
 * device time comes first. Device time is counted in full however a job ends, so neither
 * long jobs nor bad entries gain a larger share. A queue that was idle starts level with
 * the others: idle time earns no credit.
 *
 * The cost depends on the number of queues that have work, not of those that exist.
 */
#include "device_state.h"
#include "queue.h"
#include "scheduler.h"

/* How often in a row a level with waiting work is passed over before it has a turn. */
#define MAX_PASSED	16

static void ready_add(struct sched_level *level, struct nnpu_queue *q)
{
	q->prev = level->last;
	q->next = NULL;
	if (level->last)
		level->last->next = q;
	else
		level->first = q;
	level->last = q;
}

static void ready_remove(struct sched_level *level, struct nnpu_queue *q)
{
	if (q->prev)
		q->prev->next = q->next;
	else
		level->first = q->next;
	if (q->next)
		q->next->prev = q->prev;
	else
		level->last = q->prev;
}

void sched_update(struct nnpu_device *dev, struct nnpu_queue *q)
{
	struct sched_level *level = &dev->levels[q->priority];
	bool waits = queue_has_work(q);
	bool active = waits || q->busy;
	bool ready = waits && !q->busy;

	/* The admin queue is not for engines. */
	if (!q->id)
		return;
	if (active && !q->active) {
		level->active++;
		if (q->vtime < level->vtime)
			q->vtime = level->vtime;
	} else if (!active && q->active) {
		/* The last active queue had the level to itself: its time is the level's. */
		if (!--level->active && level->vtime < q->vtime)
			level->vtime = q->vtime;
	}
	q->active = active;
	if (ready && !q->ready) {
		ready_add(level, q);
		dev->num_ready++;
	} else if (!ready && q->ready) {
		ready_remove(level, q);
		dev->num_ready--;
	}
	q->ready = ready;
}

struct nnpu_queue *sched_pick(struct nnpu_device *dev)
{
	struct sched_level *level;
	struct nnpu_queue *q, *best;
	int top, i;

	if (!dev->num_ready || !dev->ready || atomic_load(&dev->stop))
		return NULL;
	for (top = NNPU_QUEUE_PRIORITY_NUM - 1; !dev->levels[top].first; top--)
		;
	for (i = top - 1; i >= 0; i--)
		if (dev->levels[i].first && dev->levels[i].passed >= MAX_PASSED) {
			top = i;
			break;
		}
	for (i = 0; i < top; i++) {
		level = &dev->levels[i];
		level->passed = level->first ? level->passed + 1 : 0;
	}
	level = &dev->levels[top];
	level->passed = 0;
	best = level->first;
	for (q = best->next; q; q = q->next)
		if (q->vtime < best->vtime)
			best = q;
	if (level->vtime < best->vtime)
		level->vtime = best->vtime;
	return best;
}

void sched_charge(struct nnpu_queue *q, uint64_t ns)
{
	/* A job that took no time on a coarse clock counts, too. */
	q->vtime += ns ? ns : 1;
}

void sched_wake(struct nnpu_device *dev)
{
	if (!dev->num_ready)
		return;
	/* Release: a poller that sees the new value finds the work once it has the lock. */
	if (dev->polling)
		atomic_fetch_add_explicit(&dev->work_seq, 1, memory_order_release);
	if (dev->sleeping && dev->polling < dev->num_ready)
		pthread_cond_signal(&dev->work);
}
