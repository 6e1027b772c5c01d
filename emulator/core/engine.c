// SPDX-License-Identifier: MIT
/*
 * Engines: threads that serve one entry at a time and look for work in between.
 *
 * A queue of a context is served in turns; a kernel queue is not (fetch.c).
 *
 * An entry takes dev->lock three times: when it is chosen, when it starts after it was
 * read, and when it is completed. The last one also chooses the next entry. While no other
 * queue has work an engine serves its queue entry by entry: this is a turn.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "device_state.h"
#include "engine.h"
#include "fetch.h"
#include "injected.h"
#include "job.h"
#include "memory_accounting.h"
#include "program_load.h"
#include "queue.h"
#include "scheduler.h"
#include "seats.h"

/* How long an idle engine keeps the memory of its last job, seconds. */
#define KEEP_MEMORY_S	1
/* How long it looks for work at performance level HIGH, at least, ns. */
#define HIGH_POLL_NS	500000u
/* Looks for new work between two looks at the clock. */
#define POLL_SPINS	64
/* Points between two looks at the clock, for the limit of engine time. Deadlines: each point. */
#define POINTS_PER_LOOK	16

/* The entry that an engine serves. */
struct entry {
	struct nnpu_sqe sqe __attribute__((aligned(8)));
	struct injected in;
	struct job job;			/* its verdict and times are set for other entries, too */
	uint16_t cid;
};

unsigned int job_end_status(const struct job_progress *p)
{
	if (atomic_load_explicit(p->abort, memory_order_relaxed) || !(p->expired || p->late))
		return NNPU_STATUS_ABORTED;
	return p->expired ? NNPU_STATUS_TIME_LIMIT : NNPU_STATUS_DEADLINE;
}

static void count_progress(struct job_progress *p)
{
	if (p->shared)
		atomic_fetch_add_explicit(p->counter, 1, memory_order_relaxed);
	else
		/* No other thread writes the counter: it need not be one atomic operation. */
		atomic_store_explicit(p->counter,
				      atomic_load_explicit(p->counter, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

bool job_tick(struct job_progress *p)
{
	if (!p)
		return false;
	count_progress(p);
	return job_is_to_end(p);
}

bool job_look(struct job_progress *p)
{
	dev_await_resume(p->dev);
	if (atomic_load_explicit(p->contended, memory_order_relaxed) || p->deadline_ns ||
	    (p->end_ns && !(++p->points % POINTS_PER_LOOK)))
		p->point(p);
	return job_is_to_end(p);
}

bool op_progress(struct job_progress *p)
{
	if (!p)
		return false;
	count_progress(p);
	return job_look(p);
}

/*
 * Find context and program of a job's entry and hold them for the job. dev->lock held.
 */
static int job_hold(struct nnpu_device *dev, const struct nnpu_queue *q, struct job *job)
{
	uint32_t id = le32toh(job->sqe->ctx);
	uint32_t number = le32toh(job->sqe->program);
	struct nnpu_ctx *ctx = q->ctx;

	if (!ctx)
		ctx = id && id <= dev->props.max_contexts ? dev->contexts[id] : NULL;
	if (!ctx || ctx->dying)
		return verdict_status(&job->verdict, NNPU_STATUS_INVALID_CTX);
	if (job->sqe->opcode == NNPU_IO_EXECUTE) {
		if (!number || number > dev->props.max_programs || !ctx->programs[number])
			return verdict_status(&job->verdict, NNPU_STATUS_INVALID_PROGRAM);
		job->program = ctx->programs[number];
		job->program->refs++;
	}
	job->ctx = ctx;
	ctx->running++;
	job->engine->ctx = ctx;
	job->engine->progress.ctx = ctx;
	/* The clock never comes to a limit that does not fit. */
	if (ctx->time_limit_ns && ctx->time_limit_ns < UINT64_MAX - job->engine->busy_since)
		job->engine->progress.end_ns = job->engine->busy_since + ctx->time_limit_ns;
	return 0;
}

/* dev->lock held. */
static void job_release(struct nnpu_device *dev, struct job *job)
{
	if (job->program)
		program_put(job->program);
	job->engine->ctx = NULL;
	if (!--job->ctx->running)
		dev_job_ended(dev);
}

static bool is_job(const struct entry *en)
{
	return entry_is_job(&en->sqe);
}

/* Check what can be told from the entry alone. dev->lock may be held. */
static inline void entry_check(struct nnpu_engine *e, const struct nnpu_queue *q, struct entry *en)
{
	const struct nnpu_sqe *sqe = &en->sqe;
	struct verdict *v = &en->job.verdict;

	en->cid = le16toh(sqe->cid);
	en->job = (struct job) {
		.engine = e,
		.sqe = (const struct nnpu_sqe_execute *)sqe,
		.verdict = VERDICT_SUCCESS,
	};
	entry_verdict(q, sqe, v);
}

/* dev->lock held. */
static inline void entry_start(struct nnpu_engine *e, struct nnpu_queue *q, struct entry *en,
			       struct irqs *irqs)
{
	struct nnpu_device *dev = e->dev;

	e->q = q;
	e->cid = en->cid;
	e->count_begin = atomic_load_explicit(&e->count, memory_order_relaxed);
	/* To begin is progress. */
	atomic_store_explicit(&e->count, e->count_begin + 1, memory_order_relaxed);
	q->begun++;
	q->running = true;
	q->cid = en->cid;
	if (!is_job(en))
		return;
	if (dev->props.inject) {
		injected_take(dev, q, &en->in);
		en->job.fail_dma = en->in.fail_dma;
		if (dev_inject(dev, NNPU_INJECT_FATAL))
			dev_fatal(dev, NNPU_STATUS_INTERNAL, irqs);
	}
	if (!en->job.verdict.status)
		job_hold(dev, q, &en->job);
}

static inline void entry_run(struct nnpu_engine *e, struct nnpu_queue *q, struct entry *en)
{
	struct nnpu_device *dev = e->dev;
	const struct injected *in = &en->in;

	if (in->stall || in->stuck || in->deaf)
		injected_stall(e, in);
	if (in->slow)
		injected_slow(&e->progress);
	if (in->stall || in->stuck || in->deaf || in->slow) {
		/* It starts now. What it has given way for is over. */
		en->job.start_ns = 0;
		e->away_ns = 0;
	}
	if (in->slow_dma)
		injected_slow_dma();
	if (en->job.ctx)
		job_run(&en->job);
	if (in->bad_status)
		en->job.verdict.status = 0x7abc;
	if (is_job(en) && dev_log_wanted(dev, NNPU_LOG_TRACE))
		dev_log(dev, NNPU_LOG_TRACE, "queue %u: job %u: %s, %llu ns", q->id, en->cid,
			status_name(en->job.verdict.status),
			(unsigned long long)en->job.exec_ns);
}

/* Release what the entry held. dev->lock held. */
static inline void entry_end(struct nnpu_engine *e, struct nnpu_queue *q, struct entry *en)
{
	struct nnpu_device *dev = e->dev;

	e->q = NULL;
	/* Under the lock: it need not be one atomic operation, which would wait for all stores. */
	atomic_store_explicit(&q->progress,
			      atomic_load_explicit(&q->progress, memory_order_relaxed) +
			      atomic_load_explicit(&e->count, memory_order_relaxed) -
			      e->count_begin, memory_order_relaxed);
	q->begun--;
	/* For the fault registers. */
	q->cid = en->cid;
	if (!is_job(en))
		return;
	dev->jobs++;
	if (en->job.ctx)
		job_release(dev, &en->job);
}

/* dev->lock held. */
static inline void entry_complete(struct nnpu_engine *e, struct nnpu_queue *q,
				  const struct entry *en, struct irqs *irqs)
{
	struct nnpu_device *dev = e->dev;

	q->running = q->begun;
	if (en->in.lost_cqe || e->lane->dropping)
		return;
	if (en->in.bad_cid)
		queue_complete(dev, q, en->cid ^ 0x8000, &en->job.verdict, en->job.exec_ns,
			       !en->in.lost_irq, irqs);
	queue_complete(dev, q, en->cid, &en->job.verdict, en->job.exec_ns, !en->in.lost_irq, irqs);
}

/*
 * Fetch the next entry. False: it could not be read, or it is not to begin, for the queue was
 * reset, stopped or held meanwhile. dev->lock held, dropped while memory is read.
 */
static bool entry_fetch(struct nnpu_device *dev, struct nnpu_queue *q, struct nnpu_sqe *sqe,
			struct irqs *irqs)
{
	uint32_t head = q->sq_head;
	int ret;

	pthread_mutex_unlock(&dev->lock);
	ret = queue_read_entries(dev, q, head, sqe, 1);
	pthread_mutex_lock(&dev->lock);
	return queue_may_begin(q) && !queue_entry_read(dev, q, ret, irqs);
}

/* What an engine does with an entry that has been fetched. dev->lock held, dropped inside. */
static void entry_serve(struct nnpu_engine *e, struct nnpu_queue *q, struct entry *en,
			struct irqs *irqs)
{
	struct nnpu_device *dev = e->dev;

	entry_start(e, q, en, irqs);
	pthread_mutex_unlock(&dev->lock);
	irqs_raise(dev, irqs);

	entry_run(e, q, en);

	pthread_mutex_lock(&dev->lock);
	dev_await_resume_locked(dev);
	entry_end(e, q, en);
	entry_complete(e, q, en, irqs);
}

/*
 * Fetch, execute and complete one entry of a busy queue. Returns the time when a job
 * ended, or 0 if there was none. dev->lock held, dropped in between.
 */
static uint64_t serve_entry(struct nnpu_engine *e, struct nnpu_queue *q)
{
	struct nnpu_device *dev = e->dev;
	struct irqs irqs = { 0 };
	uint64_t end_ns = 0;
	struct entry en;

	if (entry_fetch(dev, q, &en.sqe, &irqs)) {
		memset(&en.in, 0, sizeof(en.in));
		entry_check(e, q, &en);
		en.job.fetched_ns = dev_now(dev);
		en.job.start_ns = en.job.fetched_ns;
		entry_serve(e, q, &en, &irqs);
		end_ns = en.job.end_ns;
	}
	irqs_raise_locked(dev, &irqs);
	return end_ns;
}

/* Prepare for a new entry. dev->lock held. */
static void engine_renew(struct nnpu_engine *e)
{
	atomic_store_explicit(&e->abort, false, memory_order_relaxed);
	e->away_ns = 0;
	team_renew(&e->team);
	worker_new_slice(e);
	e->progress.ctx = NULL;
	e->progress.end_ns = 0;
	e->progress.points = 0;
	e->progress.expired = false;
	e->progress.deadline_ns = 0;
	e->progress.late = false;
}

void engine_charge(struct nnpu_engine *e, uint64_t now)
{
	/* Who activated a lane may have charged it after the caller asked the clock. */
	uint64_t used = now > e->busy_since ? now - e->busy_since : 0;

	e->busy_since += used;
	e->dev->busy_ns += used;
	e->lane->q->busy_ns += used;
	/* Who has others work for him uses up their time as well. Engines are not busier for it. */
	sched_charge(e->lane, used + team_charge(&e->team));
}

/* dev->lock held. */
static void engine_begin(struct nnpu_engine *e, struct nnpu_queue *q)
{
	struct nnpu_device *dev = e->dev;

	q->busy = true;
	sched_update(dev, q);
	e->lane = &q->lane;
	/* Another engine may take the work that is left. */
	sched_wake(dev);
	e->busy = true;
	helpers_count(dev, 1);
	e->busy_since = dev_now(dev);
	engine_renew(e);
}

/* The worker has no work. dev->lock held. */
static void engine_leave(struct nnpu_engine *e)
{
	engine_charge(e, dev_now(e->dev));
	e->lane = NULL;
	e->busy = false;
	helpers_count(e->dev, -1);
	if (!e->trim && !e->asked)
		return;
	e->trim = false;
	exec_trim(e);
	mem_answer(e);
}

static uint64_t poll_time(const struct nnpu_device *dev)
{
	switch (dev->perf_level) {
	case NNPU_PERF_LOW:
		return 0;
	case NNPU_PERF_HIGH:
		return dev->props.poll_ns > HIGH_POLL_NS ? dev->props.poll_ns : HIGH_POLL_NS;
	default:
		return dev->props.poll_ns;
	}
}

/* Does somebody wait for the turn to end? dev->lock held. */
static bool turn_is_over(const struct nnpu_engine *e)
{
	const struct nnpu_device *dev = e->dev;

	/* Another queue, the control thread, or a reclaim of the engine's memory. */
	return !e->seated || dev->num_ready || dev->awaiting_jobs || e->trim || e->asked ||
	       !dev->ready ||
	       atomic_load_explicit(&dev->stop, memory_order_relaxed);
}

/* dev->lock held. */
static void engine_end(struct nnpu_engine *e, struct nnpu_queue *q)
{
	struct nnpu_device *dev = e->dev;

	engine_leave(e);
	q->busy = false;
	sched_update(dev, q);
	/* Nobody else looks: this worker has no seat, and who has it may sleep. */
	if (!e->seated)
		sched_wake(dev);
	dev_job_ended(dev);
}

/* Looking for work. */

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

/* Has anything happened since @seq? The clock of a device that is paused stands still. */
static bool poll_ends(struct nnpu_device *dev, unsigned int seq)
{
	return atomic_load_explicit(&dev->work_seq, memory_order_acquire) != seq || !dev_runs(dev);
}

/*
 * Does the turn go on with another entry? @end_ns: the end of the last job, or 0. It saves
 * a look at the clock; the time after it is charged with the next entry. dev->lock held.
 */
static bool turn_goes_on(struct nnpu_engine *e, const struct nnpu_queue *q, uint64_t end_ns)
{
	if (turn_is_over(e) || !queue_has_work(q))
		return false;
	/* A job that has given way may have ended before the time of the last charge. */
	engine_charge(e, end_ns > e->busy_since ? end_ns : dev_now(e->dev));
	engine_renew(e);
	return true;
}

/* Serve a queue as long as it has entries and nobody waits. dev->lock held. */
static void engine_turn(struct nnpu_engine *e, struct nnpu_queue *q)
{
	uint64_t end_ns;

	engine_begin(e, q);
	do {
		end_ns = serve_entry(e, q);
	} while (turn_goes_on(e, q, end_ns));
	engine_end(e, q);
}

/* Run the next entry of a kernel queue's lane. dev->lock held, dropped in between. */
static void engine_job(struct nnpu_engine *e, struct lane *lane)
{
	struct fetched *f = fetch_take(e->dev, lane);
	struct nnpu_device *dev = e->dev;
	struct nnpu_queue *q = lane->q;
	struct irqs irqs = { 0 };
	struct entry en;

	e->lane = lane;
	e->busy = true;
	helpers_count(dev, 1);
	e->busy_since = dev_now(dev);
	sched_wake(dev);
	engine_renew(e);
	memset(&en.in, 0, sizeof(en.in));
	en.sqe = f->sqe;
	entry_check(e, q, &en);
	en.job.fetched_ns = f->fetched_ns;
	en.job.start_ns = e->busy_since;
	fetch_put(q, f);
	entry_serve(e, q, &en, &irqs);
	engine_leave(e);
	lane->busy = false;
	sched_update_lane(dev, lane);
	fetch_end(dev, q);
	if (!e->seated)
		sched_wake(dev);
	dev_job_ended(dev);
	irqs_raise_locked(dev, &irqs);
}

/* Do what is to be done next. False: there is nothing. dev->lock held, dropped inside. */
static bool engine_serve(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	struct nnpu_queue *q = sched_pick_fetch(dev);
	struct lane *lane;

	if (q) {
		fetch_entries(dev, q);
		return true;
	}
	lane = sched_pick(dev);
	if (!lane)
		return false;
	sched_begin(dev, lane);
	if (lane->away) {
		struct nnpu_engine *to = lane->away;

		lane->away = NULL;
		sched_update_lane(dev, lane);
		worker_pass_seat(e, to);
	} else if (lane->q->ctx) {
		engine_turn(e, lane->q);
	} else {
		engine_job(e, lane);
	}
	return true;
}

/* Look for work for a while before going to sleep. dev->lock held, dropped inside. */
static void engine_poll(struct nnpu_device *dev, uint64_t ns)
{
	unsigned int seq = atomic_load_explicit(&dev->work_seq, memory_order_relaxed);
	unsigned int i = 0;
	uint64_t end;

	dev->polling++;
	pthread_mutex_unlock(&dev->lock);
	end = dev_now(dev) + ns;
	while (!poll_ends(dev, seq)) {
		if (++i % POLL_SPINS) {
			cpu_relax();
			continue;
		}
		if (dev_now(dev) >= end)
			break;
		/* The thread that is to ring the doorbell may need this CPU. */
		sched_yield();
	}
	pthread_mutex_lock(&dev->lock);
	dev->polling--;
}

/* Sleep until there may be work. dev->lock held. */
static void engine_sleep(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	struct timespec until;
	bool trim = false;

	if (dev->perf_level == NNPU_PERF_LOW)
		exec_trim(e);
	dev->sleeping++;
	if (!e->exec.has_memory || dev->perf_level == NNPU_PERF_HIGH) {
		pthread_cond_wait(&dev->work, &dev->lock);
	} else {
		/* Memory kept for the next job goes back after a while without one. */
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += KEEP_MEMORY_S;
		trim = pthread_cond_timedwait(&dev->work, &dev->lock, &until) == ETIMEDOUT;
	}
	dev->sleeping--;
	if (trim)
		exec_trim(e);
}

void engine_run(struct nnpu_engine *e)
{
	/* The tables of a small job take no memory of the device, and none that is not there anyway. */
	_Alignas(TENSOR_ALIGN) uint8_t page[NNPU_PAGE_SIZE] = { 0 };
	struct nnpu_device *dev = e->dev;
	bool polled = true;

	/* What no entry changes; engine_renew() sets the rest. */
	e->progress = (struct job_progress) {
		.dev = dev, .counter = &e->count, .contended = &dev->contended,
		.point = worker_point, .worker = e, .abort = &e->abort, .stop = &dev->stop,
	};
	pthread_mutex_lock(&dev->lock);
	exec_set_page(e, page);
	e->started = true;
	while (!dev->exiting) {
		if (!e->seated) {
			worker_park(e);
		} else if (engine_serve(e)) {
			polled = false;
		} else if (!polled && poll_time(dev)) {
			engine_poll(dev, poll_time(dev));
			polled = true;
		} else {
			engine_sleep(e);
		}
	}
	exec_set_page(e, NULL);
	pthread_mutex_unlock(&dev->lock);
}
