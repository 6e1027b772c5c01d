/* SPDX-License-Identifier: MIT */
/*
 * An engine: a thread that runs jobs, one at a time.
 */
#ifndef NNPU_EMU_ENGINE_H
#define NNPU_EMU_ENGINE_H

#include <pthread.h>

#include "cache_line.h"
#include "engine_memory.h"
#include "helpers.h"
#include "slots.h"

struct nnpu_engine;
struct program;

/* What op_progress() looks at: of a job, or of a load. */
struct job_progress {
	struct nnpu_device *dev;
	struct nnpu_ctx *ctx;		/* whose job or load it is, once that is known */
	struct nnpu_engine *worker;	/* of a job that may have its memory, or NULL */
	struct program *kept;		/* a load that prepares it, or NULL */
	atomic_uint *counter;		/* of the worker, or of the queue of loads */
	bool shared;			/* several threads count there */
	const atomic_uint *contended;	/* others wait for what it has: */
	void (*point)(struct job_progress *p);	/* ... called then, no lock held */
	const atomic_bool *abort;	/* an abort of this job has been requested */
	const atomic_bool *stop;	/* the device stops */
	uint64_t end_ns;		/* when the engine time of the job is used up; 0: no limit */
	uint32_t points;		/* seen, of a job with a limit */
	bool expired;			/* its engine time is used up */
	uint64_t deadline_ns;		/* of a job that has begun, with DEADLINE_ABORT; 0: none */
	bool late;			/* it has passed */
};

/*
 * Work was done where there can be no point. True: the job is to end. @p may be NULL, as with
 * op_progress().
 */
bool job_tick(struct job_progress *p);

/* A point where no work was done: op_progress() without its counter. */
bool job_look(struct job_progress *p);

/* Has an abort been requested, is a limit of time over, or does the device stop? */
static inline bool job_is_to_end(const struct job_progress *p)
{
	return atomic_load_explicit(p->abort, memory_order_relaxed) || p->expired || p->late ||
	       atomic_load_explicit(p->stop, memory_order_relaxed);
}

/* Why it is to end: ABORTED, TIME_LIMIT or DEADLINE, in this order. */
unsigned int job_end_status(const struct job_progress *p);

/* An engine as registers show it. dev->lock. */
struct nnpu_seat {
	struct nnpu_engine *worker;
	uint32_t base;			/* EREG_PROGRESS less nnpu_engine.count */
};

/* A worker: what an engine needs for one job, see seats.h. dev->lock, where not said. */
struct nnpu_engine {
	struct nnpu_device *dev;
	unsigned int id;
	pthread_t thread;
	pthread_cond_t turn;		/* has a seat, or is to end */
	bool seated;			/* runs on an engine: @seat */
	unsigned int seat;
	bool started;			/* its thread runs */
	bool spare;			/* is in dev->spares */
	struct nnpu_engine *next_spare;
	bool busy;			/* exec belongs to the thread while set */
	bool trim;			/* give its memory back when no longer busy */
	uint64_t asked;			/* ticket of who needs what its job does not use; 0: nobody */
	uint64_t busy_since;		/* ns */
	struct lane *lane;		/* that it serves, or NULL */
	struct nnpu_queue *q;		/* of the entry that has begun, or NULL */
	uint16_t cid;
	atomic_uint count;		/* advances with its entries; thread */
	uint32_t count_begin;		/* @count before the entry */
	struct nnpu_ctx *ctx;		/* of the job that has begun */
	atomic_bool abort;		/* an abort of the entry has been requested */
	uint64_t slice_end;		/* thread; 0: nobody has waited since the entry began */
	uint64_t away_ns;		/* thread; how long the job has given way, see job_clock() */
	struct job_progress progress;
	struct team team;
	struct exec_state exec;
	/* The control thread looks at it: a cache line of its own. */
	_Alignas(CACHE_LINE) struct slots_holder slots;
};

/*
 * Charge @ctx for @bytes of a table or chunk while the job runs. *@charged is what the job has
 * taken of it so far. False: the limit is reached.
 */
bool exec_charge_now(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint64_t *charged,
		     uint64_t bytes);

static inline bool exec_charge(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint64_t *charged,
			       uint64_t bytes)
{
	struct exec_state *x = &e->exec;
	uint64_t owed;

	if (bytes <= *charged)
		return true;
	owed = x->owed + bytes - *charged;
	if (owed >= x->credit)
		return exec_charge_now(e, ctx, charged, bytes);
	x->owed = owed;
	*charged = bytes;
	return true;
}

/* exec_charged_grow(), or nothing if there is room. */
static inline bool exec_charged_room(struct nnpu_engine *e, struct nnpu_ctx *ctx,
				     uint64_t *charged, void **p, uint32_t *max, uint32_t count,
				     size_t size)
{
	return count <= *max && *p ? exec_charge(e, ctx, charged, (uint64_t)count * size) :
				     exec_charged_grow(e, ctx, charged, p, max, count, size);
}

/* The life of a worker's thread. */
void engine_run(struct nnpu_engine *e);

/* Charge the lane with the time since the last charge. dev->lock held. */
void engine_charge(struct nnpu_engine *e, uint64_t now);

/*
 * Abort the entries that have begun: all of @q and of @ctx (NULL: any). Those that have given
 * way end without an engine. dev->lock held.
 */
void engines_abort(struct nnpu_device *dev, const struct nnpu_queue *q,
		   const struct nnpu_ctx *ctx);

/* Abort one entry that has begun. */
void engine_abort(struct nnpu_engine *e);

/* Who runs an entry @cid of @q, or NULL. dev->lock held. */
struct nnpu_engine *engine_of_entry(struct nnpu_device *dev, const struct nnpu_queue *q,
				    uint16_t cid);

#endif /* NNPU_EMU_ENGINE_H */
