// SPDX-License-Identifier: MIT
/*
 * Arbitration: decides whose work an engine does next.
 *
 * A context of a higher class comes before those of lower ones. Within a class the context
 * comes first that has used the least device time for its weight, whatever way its jobs came.
 * Within the context a higher priority is served before a lower one, and within a level the
 * lane comes first that has used the least device time. Neither a class nor a level is passed
 * over more than MAX_PASSED times in a row. Device time is counted in full however a job
 * ends, so neither long jobs nor bad entries gain a larger share. A context or lane that was
 * idle starts level with the others: idle time earns no credit.
 *
 * The cost depends on the number of contexts and lanes that have work, not of those that
 * exist.
 */
#include "device_state.h"
#include "queue.h"
#include "scheduler.h"
#include "slots.h"

/* How often in a row a class or level with waiting work is passed over before it has a turn. */
#define MAX_PASSED	16

/* @n more or less of what an engine could do. */
static void count_ready(struct nnpu_device *dev, int n)
{
	dev->num_ready += (unsigned int)n;
	atomic_store_explicit(&dev->contended, dev->num_ready, memory_order_relaxed);
}

static struct sched_class *class_of(struct nnpu_device *dev, const struct nnpu_ctx *ctx)
{
	return &dev->classes[ctx->sched.class];
}

static void ctx_add(struct nnpu_device *dev, struct nnpu_ctx *ctx)
{
	struct sched_class *class = class_of(dev, ctx);

	ctx->sched.prev = class->last;
	ctx->sched.next = NULL;
	if (class->last)
		class->last->sched.next = ctx;
	else
		class->first = ctx;
	class->last = ctx;
}

static void ctx_remove(struct nnpu_device *dev, struct nnpu_ctx *ctx)
{
	struct nnpu_ctx *prev = ctx->sched.prev, *next = ctx->sched.next;
	struct sched_class *class = class_of(dev, ctx);

	if (prev)
		prev->sched.next = next;
	else
		class->first = next;
	if (next)
		next->sched.prev = prev;
	else
		class->last = prev;
}

static void ready_add(struct nnpu_device *dev, struct lane *lane)
{
	struct sched_level *level = &lane->ctx->sched.levels[lane->priority];

	lane->prev = level->last;
	lane->next = NULL;
	if (level->last)
		level->last->next = lane;
	else
		level->first = lane;
	level->last = lane;
	if (!lane->ctx->sched.num_ready++)
		ctx_add(dev, lane->ctx);
	count_ready(dev, 1);
}

static void ready_remove(struct nnpu_device *dev, struct lane *lane)
{
	struct sched_level *level = &lane->ctx->sched.levels[lane->priority];

	if (lane->prev)
		lane->prev->next = lane->next;
	else
		level->first = lane->next;
	if (lane->next)
		lane->next->prev = lane->prev;
	else
		level->last = lane->prev;
	if (!--lane->ctx->sched.num_ready)
		ctx_remove(dev, lane->ctx);
	count_ready(dev, -1);
}

/* A lane gets work, or has none any more. */
static void set_active(struct nnpu_device *dev, struct lane *lane, bool active)
{
	struct sched_ctx *s = &lane->ctx->sched;
	struct sched_level *level = &s->levels[lane->priority];
	struct sched_class *class = class_of(dev, lane->ctx);

	lane->active = active;
	if (active) {
		level->active++;
		if (lane->vtime < level->vtime)
			lane->vtime = level->vtime;
		if (s->active++)
			return;
		class->active++;
		if (s->vtime < class->vtime)
			s->vtime = class->vtime;
		return;
	}
	/* The last active one had all to itself: its time is the others'. */
	if (!--level->active && level->vtime < lane->vtime)
		level->vtime = lane->vtime;
	if (!--s->active && !--class->active && class->vtime < s->vtime)
		class->vtime = s->vtime;
}

void sched_update_lane(struct nnpu_device *dev, struct lane *lane)
{
	bool is_queue = lane == &lane->q->lane;
	bool waits = is_queue ? queue_has_work(lane->q) : lane->first && !lane->dropping;
	bool active = waits || lane->busy;
	bool ready = lane->busy ? !!lane->away : waits;

	if (active && !lane->active)
		set_active(dev, lane, true);
	if (ready && !lane->ready)
		ready_add(dev, lane);
	else if (!ready && lane->ready)
		ready_remove(dev, lane);
	lane->ready = ready;
	if (!active && lane->active)
		set_active(dev, lane, false);
}

void sched_update(struct nnpu_device *dev, struct nnpu_queue *q)
{
	bool ready;

	if (q->ctx) {
		q->lane.busy = q->busy;
		sched_update_lane(dev, &q->lane);
		return;
	}
	/* The admin queue is not for engines. */
	ready = q->id && queue_has_work(q) && !q->busy && queue_has_places(q);
	if (ready != q->fetch)
		count_ready(dev, ready ? 1 : -1);
	q->fetch = ready;
}

struct nnpu_queue *sched_pick_fetch(struct nnpu_device *dev)
{
	unsigned int i;

	if (!dev->num_ready || !dev->ready || atomic_load(&dev->stop))
		return NULL;
	for (i = 1; i <= dev->props.num_queues; i++)
		if (dev->queues[i].fetch)
			return &dev->queues[i];
	return NULL;
}

static struct sched_class *pick_class(struct nnpu_device *dev)
{
	int top, i;

	for (top = NNPU_CTX_CLASS_NUM - 1; top && !dev->classes[top].first; top--)
		;
	for (i = top - 1; i >= 0; i--)
		if (dev->classes[i].first && dev->classes[i].passed >= MAX_PASSED) {
			top = i;
			break;
		}
	for (i = 0; i < top; i++)
		dev->classes[i].passed = dev->classes[i].first ? dev->classes[i].passed + 1 : 0;
	dev->classes[top].passed = 0;
	return &dev->classes[top];
}

static struct sched_level *pick_level(struct sched_ctx *s)
{
	int top, i;

	for (top = NNPU_QUEUE_PRIORITY_NUM - 1; !s->levels[top].first; top--)
		;
	for (i = top - 1; i >= 0; i--)
		if (s->levels[i].first && s->levels[i].passed >= MAX_PASSED) {
			top = i;
			break;
		}
	for (i = 0; i < top; i++)
		s->levels[i].passed = s->levels[i].first ? s->levels[i].passed + 1 : 0;
	s->levels[top].passed = 0;
	return &s->levels[top];
}

struct lane *sched_pick(struct nnpu_device *dev)
{
	struct nnpu_ctx *ctx, *first;
	struct sched_class *class;
	struct sched_level *level;
	struct lane *lane, *best;

	if (!dev->num_ready || !dev->ready || atomic_load(&dev->stop))
		return NULL;
	class = pick_class(dev);
	first = class->first;
	/* What is ready may be kernel queues with entries to fetch only. */
	if (!first)
		return NULL;
	for (ctx = first->sched.next; ctx; ctx = ctx->sched.next)
		if (ctx->sched.vtime < first->sched.vtime)
			first = ctx;
	if (class->vtime < first->sched.vtime)
		class->vtime = first->sched.vtime;
	level = pick_level(&first->sched);
	best = level->first;
	for (lane = best->next; lane; lane = lane->next)
		if (lane->vtime < best->vtime)
			best = lane;
	if (level->vtime < best->vtime)
		level->vtime = best->vtime;
	return best;
}

void sched_charge(struct lane *lane, uint64_t ns)
{
	struct sched_ctx *s = &lane->ctx->sched;

	/* A job that took no time on a coarse clock counts, too. */
	if (!ns)
		ns = 1;
	lane->vtime += ns;
	s->vtime += (ns * NNPU_CTX_WEIGHT_DEFAULT + s->weight - 1) / s->weight;
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
