// SPDX-License-Identifier: MIT
/*
 * Arbitration: decides whose work an engine does next.
 *
 * A context of a higher class comes before those of lower ones. Within a class the group
 * comes first that has used the least device time for its weight, however many contexts it
 * has; within the group the context that has used the least for its weight, whatever way its
 * jobs came. A context without a group is one of its own. Within the context a higher priority
 * is served before a lower one, and within a level the lane comes first that has used the
 * least device time. Neither a class nor a level is passed over more than MAX_PASSED times in
 * a row. Device time is counted in full however a job ends, so neither long jobs nor bad
 * entries gain a larger share. A group, context or lane that was idle starts level with the
 * others: idle time earns no credit.
 *
 * Without NNPU_FEATURE_SLICES a turn counts as one unit of device time, and weights do not count.
 *
 * The cost depends on the number of groups, contexts and lanes that have work, not of those
 * that exist.
 */
#include "device_state.h"
#include "engine.h"
#include "queue.h"
#include "scheduler.h"
#include "slots.h"

/* How often in a row a class or level with waiting work is passed over before it has a turn. */
#define MAX_PASSED	16

void sched_contend(struct nnpu_device *dev)
{
	atomic_store_explicit(&dev->contended, dev->num_ready |
			      (dev->mem_asked ? CONTENDED_MEMORY : 0), memory_order_relaxed);
}

/* @n more or less of what an engine could do. */
static void count_ready(struct nnpu_device *dev, int n)
{
	dev->num_ready += (unsigned int)n;
	sched_contend(dev);
}

static struct sched_class *class_of(struct nnpu_device *dev, const struct nnpu_ctx *ctx)
{
	return &dev->classes[ctx->sched.class];
}

void sched_add_ctx(struct nnpu_ctx *ctx)
{
	struct sched_ctx *s = &ctx->sched;

	s->group = ctx->group ? &ctx->group->sched[s->class] : &s->own;
}

static void group_add(struct sched_class *class, struct sched_group *g)
{
	g->prev = class->last;
	g->next = NULL;
	if (class->last)
		class->last->next = g;
	else
		class->first = g;
	class->last = g;
}

static void group_remove(struct sched_class *class, struct sched_group *g)
{
	if (g->prev)
		g->prev->next = g->next;
	else
		class->first = g->next;
	if (g->next)
		g->next->prev = g->prev;
	else
		class->last = g->prev;
}

static void ctx_add(struct sched_group *g, struct nnpu_ctx *ctx)
{
	ctx->sched.prev = g->last;
	ctx->sched.next = NULL;
	if (g->last)
		g->last->sched.next = ctx;
	else
		g->first = ctx;
	g->last = ctx;
	if (g->first == ctx || g->weight < ctx->sched.weight)
		g->weight = ctx->sched.weight;
}

static void ctx_remove(struct sched_group *g, struct nnpu_ctx *ctx)
{
	struct nnpu_ctx *prev = ctx->sched.prev, *next = ctx->sched.next, *c;
	uint16_t weight = 0;

	if (prev)
		prev->sched.next = next;
	else
		g->first = next;
	if (next)
		next->sched.prev = prev;
	else
		g->last = prev;
	if (ctx->sched.weight < g->weight)
		return;
	/* Mostly all weights are equal, and the first context ends the search. */
	for (c = g->first; c && weight < g->weight; c = c->sched.next)
		if (weight < c->sched.weight)
			weight = c->sched.weight;
	if (weight)
		g->weight = weight;
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
	if (!lane->ctx->sched.num_ready++ && !lane->ctx->sched.group->num_ready++)
		group_add(class_of(dev, lane->ctx), lane->ctx->sched.group);
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
	if (!--lane->ctx->sched.num_ready && !--lane->ctx->sched.group->num_ready)
		group_remove(class_of(dev, lane->ctx), lane->ctx->sched.group);
	count_ready(dev, -1);
}

static void raise(uint64_t *clock, uint64_t vtime)
{
	if (vtime != UINT64_MAX && *clock < vtime)
		*clock = vtime;
}

static void least(uint64_t *value, uint64_t vtime)
{
	if (vtime < *value)
		*value = vtime;
}

/*
 * A lane gets work. Who runs meanwhile has not been charged since his turn began, and as long
 * as nobody waited nobody was picked: bring the clocks to where the others are, or the newcomer
 * would have all the time that they had to themselves.
 */
static void catch_up(struct nnpu_device *dev, const struct lane *lane)
{
	const struct sched_ctx *s = &lane->ctx->sched;
	struct sched_class *class = class_of(dev, lane->ctx);
	struct sched_level *level = &lane->ctx->sched.levels[lane->priority];
	uint64_t groups = UINT64_MAX, contexts = UINT64_MAX, lanes = UINT64_MAX, now = dev_now(dev);
	const struct sched_group *g;
	const struct nnpu_ctx *c;
	const struct lane *l;
	unsigned int i;

	for (i = 0; i < dev->props.num_engines; i++) {
		struct nnpu_engine *e = dev->seats[i].worker;

		if (!e->busy || !e->lane || e->lane == lane)
			continue;
		engine_charge(e, now);
		if (class_of(dev, e->lane->ctx) == class)
			least(&groups, e->lane->ctx->sched.group->vtime);
		if (e->lane->ctx == lane->ctx && e->lane->priority == lane->priority)
			least(&lanes, e->lane->vtime);
	}
	for (g = class->first; g; g = g->next)
		least(&groups, g->vtime);
	for (c = s->group->first; c; c = c->sched.next)
		if (c != lane->ctx)
			least(&contexts, c->sched.vtime);
	for (l = level->first; l; l = l->next)
		least(&lanes, l->vtime);
	raise(&class->vtime, groups);
	raise(&s->group->ctx_vtime, contexts);
	raise(&level->vtime, lanes);
}

/* A lane gets work, or has none any more. */
static void set_active(struct nnpu_device *dev, struct lane *lane, bool active)
{
	struct sched_ctx *s = &lane->ctx->sched;
	struct sched_level *level = &s->levels[lane->priority];
	struct sched_class *class = class_of(dev, lane->ctx);
	struct sched_group *g = s->group;

	lane->active = active;
	if (active) {
		if (class->active)
			catch_up(dev, lane);
		level->active++;
		if (lane->vtime < level->vtime)
			lane->vtime = level->vtime;
		if (s->active++)
			return;
		ctx_add(g, lane->ctx);
		if (s->vtime < g->ctx_vtime)
			s->vtime = g->ctx_vtime;
		if (g->first != g->last)
			return;
		class->active++;
		if (g->vtime < class->vtime)
			g->vtime = class->vtime;
		return;
	}
	/* The last active one had all to itself: its time is the others'. */
	if (!--level->active && level->vtime < lane->vtime)
		level->vtime = lane->vtime;
	if (--s->active)
		return;
	ctx_remove(g, lane->ctx);
	if (g->first)
		return;
	if (g->ctx_vtime < s->vtime)
		g->ctx_vtime = s->vtime;
	if (!--class->active && class->vtime < g->vtime)
		class->vtime = g->vtime;
}

void sched_update_lane(struct nnpu_device *dev, struct lane *lane)
{
	bool is_queue = lane == &lane->q->lane;
	bool waits = is_queue ? queue_has_work(lane->q) :
				lane->first && !lane->dropping && queue_may_begin(lane->q);
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
	if (ready != q->fetch) {
		dev->num_fetch += ready ? 1 : -1u;
		count_ready(dev, ready ? 1 : -1);
	}
	q->fetch = ready;
}

void sched_update_all(struct nnpu_device *dev, struct nnpu_queue *q)
{
	unsigned int i;
	uint32_t id;

	sched_update(dev, q);
	for (id = 1; id <= dev->props.max_contexts && q->fetched; id++)
		for (i = 0; dev->contexts[id] && i < NNPU_QUEUE_PRIORITY_NUM; i++) {
			struct lane *lane = ctx_lane(dev->contexts[id], q->id, i);

			if (lane->q)
				sched_update_lane(dev, lane);
		}
}

struct nnpu_queue *sched_pick_fetch(struct nnpu_device *dev)
{
	unsigned int i;

	/* Rings of user queues come here, too: to look at all queues takes longer than a small job. */
	if (!dev->num_fetch || !dev->ready || atomic_load(&dev->stop))
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
	return &s->levels[top];
}

struct lane *sched_pick(struct nnpu_device *dev)
{
	struct sched_group *group, *g;
	struct nnpu_ctx *ctx, *first;
	struct sched_class *class;
	struct sched_level *level;
	struct lane *lane, *best;

	if (!dev->num_ready || !dev->ready || atomic_load(&dev->stop))
		return NULL;
	class = pick_class(dev);
	group = class->first;
	/* What is ready may be kernel queues with entries to fetch only. */
	if (!group)
		return NULL;
	for (g = group->next; g; g = g->next)
		if (g->vtime < group->vtime)
			group = g;
	if (class->vtime < group->vtime)
		class->vtime = group->vtime;
	first = NULL;
	for (ctx = group->first; ctx; ctx = ctx->sched.next)
		if (ctx->sched.num_ready && (!first || ctx->sched.vtime < first->sched.vtime))
			first = ctx;
	if (group->ctx_vtime < first->sched.vtime)
		group->ctx_vtime = first->sched.vtime;
	level = pick_level(&first->sched);
	best = level->first;
	for (lane = best->next; lane; lane = lane->next)
		if (lane->vtime < best->vtime)
			best = lane;
	if (level->vtime < best->vtime)
		level->vtime = best->vtime;
	return best;
}

bool sched_is_before(const struct nnpu_device *dev, const struct lane *a, const struct lane *b)
{
	const struct sched_ctx *s = &a->ctx->sched, *t = &b->ctx->sched;

	if (s->class > t->class)
		return dev->classes[t->class].passed < MAX_PASSED;
	if (s->class < t->class)
		return dev->classes[s->class].passed >= MAX_PASSED;
	if (s->group != t->group)
		return s->group->vtime < t->group->vtime;
	if (s != t)
		return s->vtime < t->vtime;
	if (a->priority > b->priority)
		return s->levels[b->priority].passed < MAX_PASSED;
	if (a->priority < b->priority)
		return s->levels[a->priority].passed >= MAX_PASSED;
	return a->vtime < b->vtime;
}

void sched_begin(struct nnpu_device *dev, struct lane *lane)
{
	struct sched_ctx *s = &lane->ctx->sched;
	unsigned int i;

	if (!dev->props.slices) {
		lane->vtime++;
		s->vtime++;
		s->group->vtime++;
	}
	for (i = 0; i < s->class; i++)
		dev->classes[i].passed = dev->classes[i].first ? dev->classes[i].passed + 1 : 0;
	dev->classes[s->class].passed = 0;
	for (i = 0; i < lane->priority; i++)
		s->levels[i].passed = s->levels[i].first ? s->levels[i].passed + 1 : 0;
	s->levels[lane->priority].passed = 0;
}

static uint64_t by_weight(uint64_t ns, uint16_t weight)
{
	return (ns * NNPU_CTX_WEIGHT_DEFAULT + weight - 1) / weight;
}

void sched_charge(struct lane *lane, uint64_t ns)
{
	struct sched_ctx *s = &lane->ctx->sched;
	struct sched_group *g = s->group;
	uint64_t share;

	/* A turn counts as one, however long it is: see sched_begin(). */
	if (!lane->ctx->dev->props.slices)
		return;
	/* A job that took no time on a coarse clock counts, too. */
	if (!ns)
		ns = 1;
	lane->vtime += ns;
	share = by_weight(ns, s->weight);
	s->vtime += share;
	g->vtime += g->weight == s->weight ? share : by_weight(ns, g->weight);
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
