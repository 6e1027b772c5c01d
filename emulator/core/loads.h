/* SPDX-License-Identifier: MIT */
/*
 * Loads: LOAD_PROGRAM and SAVE_PROGRAM commands, which run beside the other admin commands.
 *
 * A context with loads has a loader: a thread that runs them one after the other. One loader
 * at a time has the turn. It gives the turn away at a point when its slice is over and
 * others wait, who come first in, first out.
 */
#ifndef NNPU_EMU_LOADS_H
#define NNPU_EMU_LOADS_H

#include <pthread.h>

#include "cache_line.h"
#include "engine.h"
#include "slots.h"
#include "verdict.h"

struct irqs;

/* A LOAD_PROGRAM or SAVE_PROGRAM that was fetched. */
struct load {
	struct leaving_object leaving;
	struct load *next;		/* of the context */
	union {
		struct nnpu_sqe_load_program sqe;
		struct nnpu_sqe_save_program save;	/* it begins like sqe */
	};
	struct program *saved;		/* SAVE_PROGRAM: referenced; else NULL */
	bool bad_status;		/* injected */
	bool stall;
	bool slow;
};

/* A thread that loads. dev->lock, where not said. */
struct load_worker {
	struct nnpu_device *dev;
	unsigned int id;
	pthread_t thread;
	pthread_cond_t wake;		/* a context, the turn, an abort, the end */
	struct nnpu_ctx *ctx;		/* whose loads it runs; NULL: it is idle */
	struct load *load;		/* that runs, the first of the context, or NULL */
	struct load_worker *next;	/* idle, or waits for the turn */
	bool waits;			/* for the turn */
	atomic_bool abort;		/* of the load that runs */
	uint64_t slice_end;		/* thread; 0: nobody has waited since the turn began */
	struct job_progress progress;
	/* The control thread looks at it: a cache line of its own. */
	_Alignas(CACHE_LINE) struct slots_holder slots;
};

/* What a load gives: its verdict, the result of the completion, the program or NULL. */
struct load_outcome {
	struct verdict v;
	uint64_t result;
	struct program *program;
};

/* admin_program.c: load the image of w->load, or save. dev->lock not held. */
void load_run(struct load_worker *w, struct load_outcome *out);

/* The life of a loader's thread. */
void loader_run(struct load_worker *w);

/*
 * A load and a loader that can run it, for loads_add(). The control thread, without dev->lock.
 * NULL: there is no memory, or no thread can be made.
 */
struct load *loads_prepare(struct nnpu_device *dev, const struct nnpu_ctx *ctx,
			   const struct nnpu_sqe_load_program *sqe, bool bad_status);

/* All others: dev->lock held. */

/* Is the number of a program reserved by a load that has not ended? */
bool loads_have_number(const struct nnpu_ctx *ctx, uint32_t number);

/*
 * Have a command loaded. Its completion follows. Returns a status: if it is not SUCCESS, the
 * load is still the caller's. @load may be NULL.
 */
unsigned int loads_add(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct load *load);

/* End the load with this command id. False: there is none. */
bool loads_abort(struct nnpu_device *dev, uint16_t cid, struct irqs *irqs);

/*
 * End all loads of a context. ctx->loader is NULL when the last one has ended. Drops the lock
 * now and then.
 */
void loads_abort_ctx(struct nnpu_device *dev, struct nnpu_ctx *ctx, struct irqs *irqs);

/* Is any loader at work? */
bool loads_busy(const struct nnpu_device *dev);

/* The command id of the load that has the turn. False: there is none. */
bool loads_current(const struct nnpu_device *dev, uint16_t *cid);

#endif /* NNPU_EMU_LOADS_H */
