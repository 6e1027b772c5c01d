// SPDX-License-Identifier: MIT
/*
 * Helpers: threads that compute parts of an operation beside the worker that runs it.
 *
 * A worker with an operation that is worth it shows it at dev->teams, opens its team, and takes
 * ranges of items like the helpers that come. When there are none it closes the team, and waits
 * for the helpers inside. Ranges that they gave back it computes by itself.
 *
 * A helper enters by one atomic operation on the state of the team, which says that it is open.
 * So the worker knows all that are inside once it has closed it, and what they read lives on its
 * stack. Workers are never freed before helpers.
 */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "device_state.h"
#include "engine.h"
#include "helpers.h"

/* In the state of a team, beside the number of helpers inside. */
#define TEAM_OPEN	(1u << 31)
#define TEAM_AWAITED	(1u << 30)	/* the worker sleeps until the last one leaves */
#define TEAM_INSIDE	0xffffu

/* Less work than this, in units of op_pace(), is not worth a second thread; and waking one. */
#define SHARE_UNITS	(1u << 15)
#define WAKE_UNITS	(1u << 17)
/* A range has at most so much work, so that not much of it is computed anew. */
#define RANGE_UNITS	(1u << 18)
/* An item of more work may take longer than helpers can stay, for a slice or between two jobs. */
#define LONG_UNITS	(1u << 21)

/* How long a helper looks for work before it sleeps, ns: operations follow each other closely. */
#define LOOK_NS		200000u
/* Looks before the thread lets others have its CPU at each; before a worker that waits sleeps. */
#define LOOK_SPINS	256u
#define WAIT_SPINS	512u
/* How long it sleeps before it looks whether its job is to end or to give way, ns. */
#define WAIT_NS		500000u

/* Items [first, end) that nobody computes at present. Empty: none. */
struct range {
	size_t first, end;
};

/* The parts of an operation that runs. On the stack of its worker. */
struct shared_parts {
	const struct op_parts *parts;
	uint32_t most;			/* items of a range */
	unsigned int threads;
	/*
	 * By thread, the worker first: items that nobody has taken, see segment(). A thread has the
	 * same part of each operation, for the part before is in its cache. Then it takes from others.
	 */
	_Atomic(uint64_t) segments[NNPU_DEVICE_MAX_THREADS];
	atomic_bool leave;		/* helpers are to leave at their next point */
	atomic_uint points;		/* that helpers have come to */
	struct range left[NNPU_DEVICE_MAX_THREADS - 1];	/* by helper: what it gave back */
};

struct helper {
	_Alignas(CACHE_LINE) struct nnpu_device *dev;
	unsigned int id;
	unsigned int seat;		/* that it looks at first */
	struct team *team;		/* that it is in */
	uint64_t since;			/* its time is charged up to here, ns */
	struct job_progress progress;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

/* Do more threads compute than may, with @more? */
static bool too_many(const struct nnpu_device *dev, unsigned int more)
{
	return atomic_load_explicit(&dev->running, memory_order_relaxed) +
	       atomic_load_explicit(&dev->helping, memory_order_relaxed) + more >
	       atomic_load_explicit(&dev->max_threads, memory_order_relaxed);
}

/* May anybody help? Not whether one is free: the last one may be about to leave. */
static bool has_helpers(const struct nnpu_device *dev)
{
	return atomic_load_explicit(&dev->running, memory_order_relaxed) <
	       atomic_load_explicit(&dev->max_threads, memory_order_relaxed);
}

/* Items [first, end) in one word. */
static uint64_t segment(uint32_t first, uint32_t end)
{
	return (uint64_t)end << 32 | first;
}

/* From the beginning of a thread's own segment, or from the end of another one's. */
static bool take_from(struct shared_parts *s, unsigned int i, bool own, struct range *r)
{
	uint64_t now = atomic_load_explicit(&s->segments[i], memory_order_relaxed), then;
	uint32_t first, end, n;

	do {
		first = (uint32_t)now;
		end = (uint32_t)(now >> 32);
		if (first == end)
			return false;
		/* Smaller and smaller, so that all end at about the same time. */
		n = (end - first) / 2 + 1;
		if (n > s->most)
			n = s->most;
		then = own ? segment(first + n, end) : segment(first, end - n);
	} while (!atomic_compare_exchange_weak_explicit(&s->segments[i], &now, then,
							memory_order_relaxed,
							memory_order_relaxed));
	*r = own ? (struct range) { first, first + n } : (struct range) { end - n, end };
	return true;
}

/* @thread: its number; 0 is the worker. */
static bool take_range(struct shared_parts *s, unsigned int thread, struct range *r)
{
	unsigned int i;

	if (take_from(s, thread, true, r))
		return true;
	for (i = 1; i < s->threads; i++)
		if (take_from(s, (thread + i) % s->threads, false, r))
			return true;
	return false;
}

/* The worker. */

static struct nnpu_engine *engine_of(struct team *team)
{
	return (struct nnpu_engine *)((char *)team - offsetof(struct nnpu_engine, team));
}

static void team_open(struct nnpu_engine *e)
{
	e->team.shared = true;
	atomic_fetch_or_explicit(&e->team.state, TEAM_OPEN, memory_order_release);
	atomic_store_explicit(&e->dev->teams[e->seat], e, memory_order_release);
}

/* Nobody comes any more. */
static void team_close(struct nnpu_engine *e)
{
	struct nnpu_engine *own = e;

	e->team.shared = false;
	/* A job that ends without a seat has closed it before: there is the team of another one. */
	atomic_compare_exchange_strong_explicit(&e->dev->teams[e->seat], &own, NULL,
						memory_order_relaxed, memory_order_relaxed);
	atomic_fetch_and_explicit(&e->team.state, ~TEAM_OPEN, memory_order_relaxed);
}

void team_pause(struct nnpu_engine *e)
{
	bool shared = e->team.shared;

	if (!e->team.parts)
		return;
	atomic_store_explicit(&e->team.parts->leave, true, memory_order_relaxed);
	if (shared)
		team_close(e);
	e->team.shared = shared;
}

void team_resume(struct nnpu_engine *e)
{
	/* Who has no seat has come back to end. */
	if (!e->team.parts || !e->team.shared || job_is_to_end(&e->progress))
		return;
	atomic_store_explicit(&e->team.parts->leave, false, memory_order_relaxed);
	team_open(e);
}

static unsigned int inside(struct team *team)
{
	return atomic_load_explicit(&team->state, memory_order_acquire) & TEAM_INSIDE;
}

/* Sleep until no helper is inside, but not for long. */
static void sleep_for_helpers(struct nnpu_engine *e)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&e->dev->lock);
	if (atomic_fetch_or_explicit(&e->team.state, TEAM_AWAITED, memory_order_acquire) &
	    TEAM_INSIDE)
		pthread_cond_timedwait(&e->turn, &e->dev->lock, &until);
	atomic_fetch_and_explicit(&e->team.state, ~TEAM_AWAITED, memory_order_relaxed);
	pthread_mutex_unlock(&e->dev->lock);
}

/* The team is closed: wait until all have left. True: the job is to end. */
static bool await_helpers(struct nnpu_engine *e, struct shared_parts *s)
{
	unsigned int spins, seen = 0, points;
	bool ends = false;

	for (spins = 0; inside(&e->team); spins++) {
		if (spins < LOOK_SPINS) {
			relax();
			continue;
		}
		if (spins < WAIT_SPINS) {
			sched_yield();
			continue;
		}
		sleep_for_helpers(e);
		/* A point of theirs is progress of the job; a worker that waits makes none. */
		points = atomic_load_explicit(&s->points, memory_order_relaxed);
		ends |= points != seen ? op_progress(&e->progress) : job_look(&e->progress);
		seen = points;
		if (ends)
			atomic_store_explicit(&s->leave, true, memory_order_relaxed);
	}
	return ends;
}

static void wake_helpers(struct nnpu_device *dev, unsigned int n)
{
	pthread_mutex_lock(&dev->lock);
	if (n > dev->asleep)
		n = dev->asleep;
	while (n--)
		pthread_cond_signal(&dev->help);
	pthread_mutex_unlock(&dev->lock);
}

/* Ranges that were given back. */
static int compute_left(struct shared_parts *s, struct op_pace *pace)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < s->threads - 1; i++)
		if (s->left[i].end)
			ret = s->parts->compute(s->parts->work, s->left[i].first, s->left[i].end,
						pace);
	return ret;
}

static int run_shared(struct nnpu_engine *e, const struct op_parts *parts, struct op_pace *pace)
{
	struct shared_parts s;
	struct range r;
	unsigned int i;
	int ret = 0;

	s.parts = parts;
	s.threads = e->dev->props.num_threads;
	s.most = parts->units < RANGE_UNITS ? (uint32_t)(RANGE_UNITS / (parts->units + 1)) + 1 : 1;
	for (i = 0; i < s.threads; i++)
		atomic_init(&s.segments[i], segment((uint32_t)(parts->items * i / s.threads),
						    (uint32_t)(parts->items * (i + 1) / s.threads)));
	atomic_init(&s.leave, false);
	atomic_init(&s.points, 0);
	for (i = 0; i < s.threads - 1; i++)
		s.left[i].end = 0;
	e->team.parts = &s;
	team_open(e);
	while (!ret && take_range(&s, 0, &r))
		ret = parts->compute(parts->work, r.first, r.end, pace);
	team_close(e);
	if (ret)
		atomic_store_explicit(&s.leave, true, memory_order_relaxed);
	if (await_helpers(e, &s)) {
		pace->ended = true;
		ret = OP_ABORTED;
	}
	if (!ret)
		ret = compute_left(&s, pace);
	e->team.parts = NULL;
	return ret;
}

static int team_run(struct op_team *base, const struct op_parts *parts, struct op_pace *pace)
{
	struct nnpu_engine *e = engine_of((struct team *)base);
	struct nnpu_device *dev = e->dev;
	size_t units;

	if (__builtin_mul_overflow(parts->items, parts->units, &units))
		units = SIZE_MAX;
	/* Numbers of items are halves of a word, see segment(). */
	if (units < SHARE_UNITS || parts->items > UINT32_MAX / NNPU_DEVICE_MAX_THREADS ||
	    !has_helpers(dev) || job_is_to_end(&e->progress))
		return parts->compute(parts->work, 0, parts->items, pace);
	if (units >= WAKE_UNITS && atomic_load_explicit(&dev->asleep, memory_order_relaxed))
		wake_helpers(dev, parts->items < dev->props.num_threads ?
			     (unsigned int)parts->items - 1 : dev->props.num_threads - 1);
	return run_shared(e, parts, pace);
}

void team_init(struct team *team)
{
	team->base.run = team_run;
}

uint64_t team_charge(struct team *team)
{
	uint64_t all = team_time(team), more = all - team->charged_ns;

	team->charged_ns = all;
	return more;
}

void team_renew(struct team *team)
{
	atomic_store_explicit(&team->helped_ns, 0, memory_order_relaxed);
	team->charged_ns = 0;
}

/* The helpers. */

static void charge(struct helper *h)
{
	uint64_t now = dev_now(h->dev);

	atomic_fetch_add_explicit(&h->team->helped_ns, now - h->since, memory_order_relaxed);
	h->since = now;
}

static void helper_point(struct job_progress *p)
{
	struct helper *h = (struct helper *)((char *)p - offsetof(struct helper, progress));

	charge(h);
	if (too_many(h->dev, 0))
		p->expired = true;
}

/* One more that computes. False: there may be none. */
static bool begin_to_help(struct nnpu_device *dev)
{
	if (too_many(dev, 1))
		return false;
	atomic_fetch_add_explicit(&dev->helping, 1, memory_order_relaxed);
	if (!too_many(dev, 0))
		return true;
	atomic_fetch_sub_explicit(&dev->helping, 1, memory_order_relaxed);
	return false;
}

static bool enter(struct team *team)
{
	unsigned int state = atomic_load_explicit(&team->state, memory_order_relaxed);

	do {
		if (!(state & TEAM_OPEN))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&team->state, &state, state + 1,
							memory_order_acquire,
							memory_order_relaxed));
	return true;
}

static void leave(struct nnpu_engine *e)
{
	unsigned int state = atomic_fetch_sub_explicit(&e->team.state, 1, memory_order_release);

	if ((state & TEAM_INSIDE) != 1 || !(state & TEAM_AWAITED))
		return;
	pthread_mutex_lock(&e->dev->lock);
	pthread_cond_signal(&e->turn);
	pthread_mutex_unlock(&e->dev->lock);
}

/*
 * Does the helper have an item that it had to give back, and would begin again and again? Inside of
 * the team.
 */
static bool is_in_vain(const struct helper *h, const struct shared_parts *s)
{
	return s->left[h->id].end && s->parts->units > LONG_UNITS;
}

/* Compute ranges until there is none, or the helper is to leave. Inside of the team. */
static void compute_ranges(struct helper *h, struct shared_parts *s)
{
	struct op_pace pace = { .progress = &h->progress };
	struct range r = s->left[h->id];

	s->left[h->id].end = 0;
	while (r.end || take_range(s, h->id + 1, &r)) {
		if (s->parts->compute(s->parts->work, r.first, r.end, &pace) || pace.ended) {
			s->left[h->id] = r;
			return;
		}
		r.end = 0;
		if (job_is_to_end(&h->progress) || too_many(h->dev, 0))
			return;
	}
}

/* In the team of this worker. */
static void work_inside(struct helper *h, struct nnpu_engine *e)
{
	struct shared_parts *s = e->team.parts;

	h->team = &e->team;
	h->since = dev_now(h->dev);
	h->progress = (struct job_progress) {
		.dev = h->dev,
		.counter = &s->points,
		.shared = true,
		.contended = &h->dev->helping,
		.point = helper_point,
		.abort = &s->leave,
		.stop = &h->dev->stop,
	};
	compute_ranges(h, s);
	charge(h);
}

/* False: the team of this worker does not take the helper. */
static bool help(struct helper *h, struct nnpu_engine *e)
{
	struct nnpu_device *dev = h->dev;
	bool helps = false;

	if (!begin_to_help(dev))
		return false;
	if (enter(&e->team)) {
		helps = !is_in_vain(h, e->team.parts);
		if (helps)
			work_inside(h, e);
		leave(e);
	}
	atomic_fetch_sub_explicit(&dev->helping, 1, memory_order_relaxed);
	return helps;
}

/* Help one worker after the other. False: none has anything to share. */
static bool help_any(struct helper *h)
{
	struct nnpu_device *dev = h->dev;
	unsigned int i, n = dev->props.num_engines;

	for (i = 0; i < n; i++) {
		unsigned int seat = (h->seat + i) % n;
		struct nnpu_engine *e;

		e = atomic_load_explicit(&dev->teams[seat], memory_order_acquire);
		if (e && help(h, e)) {
			h->seat = seat + 1;
			return true;
		}
	}
	return false;
}

/* Look for work for a while. */
static void look(struct helper *h)
{
	uint64_t end = dev_now(h->dev) + LOOK_NS;
	unsigned int spins = 0;

	do {
		if (help_any(h)) {
			end = dev_now(h->dev) + LOOK_NS;
			spins = 0;
		} else if (spins < LOOK_SPINS) {
			spins++;
			relax();
		} else {
			/* The worker may need this CPU. */
			sched_yield();
		}
		/* The clock of a device that is paused stands still. */
	} while (dev_runs(h->dev) &&
		 (spins < LOOK_SPINS || (!too_many(h->dev, 1) && dev_now(h->dev) < end)));
}

void helper_run(struct helper *h)
{
	struct nnpu_device *dev = h->dev;

	pthread_mutex_lock(&dev->lock);
	while (!dev->exiting) {
		atomic_fetch_add_explicit(&dev->asleep, 1, memory_order_relaxed);
		pthread_cond_wait(&dev->help, &dev->lock);
		atomic_fetch_sub_explicit(&dev->asleep, 1, memory_order_relaxed);
		if (dev->exiting)
			break;
		pthread_mutex_unlock(&dev->lock);
		look(h);
		pthread_mutex_lock(&dev->lock);
	}
	pthread_mutex_unlock(&dev->lock);
}

void helpers_count(struct nnpu_device *dev, int n)
{
	/* Under the lock: nobody else writes it. */
	atomic_store_explicit(&dev->running,
			      atomic_load_explicit(&dev->running, memory_order_relaxed) +
			      (unsigned int)n, memory_order_relaxed);
}

void helpers_set_level(struct nnpu_device *dev)
{
	atomic_store_explicit(&dev->max_threads,
			      dev->perf_level == NNPU_PERF_LOW ? 0 : dev->props.num_threads,
			      memory_order_relaxed);
}

struct helper *helper_at(struct nnpu_device *dev, unsigned int i)
{
	return &dev->helpers[i];
}

struct nnpu_device *helper_device(const struct helper *h)
{
	return h->dev;
}

bool helpers_init(struct nnpu_device *dev, const pthread_condattr_t *attr)
{
	unsigned int i;

	pthread_cond_init(&dev->help, attr);
	helpers_set_level(dev);
	if (dev->props.num_threads == 1)
		return true;
	dev->helpers = aligned_alloc(CACHE_LINE,
				     (dev->props.num_threads - 1) * sizeof(*dev->helpers));
	for (i = 0; dev->helpers && i < dev->props.num_threads - 1; i++)
		dev->helpers[i] = (struct helper) { .dev = dev, .id = i };
	return dev->helpers;
}

void helpers_fini(struct nnpu_device *dev)
{
	free(dev->helpers);
	pthread_cond_destroy(&dev->help);
}
