/* SPDX-License-Identifier: MIT */
/*
 * Helpers: threads that compute parts of an operation beside the worker that runs it.
 *
 * No more threads compute at once than the device has (property threads). Engines come first: a
 * helper leaves at its next point if an engine has begun another job, and gives back the range it
 * has begun. It leaves in the same way if its job ends or gives way. A worker waits for nobody but
 * for helpers that are in a range, and those leave at the next point if it has to be. It does by
 * itself what nobody else does.
 */
#ifndef NNPU_EMU_HELPERS_H
#define NNPU_EMU_HELPERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ops/parallel.h"

struct helper;
struct nnpu_device;
struct nnpu_engine;
struct shared_parts;

/* What a worker has of its helpers. */
struct team {
	struct op_team base;
	/* Helpers inside, and flags, see helpers.c. @parts stays as it is while one is inside. */
	atomic_uint state;
	struct shared_parts *parts;	/* of the operation that runs, or NULL */
	bool shared;			/* thread; helpers may come */
	atomic_ullong helped_ns;	/* time of helpers for the entry */
	uint64_t charged_ns;		/* of it, charged; dev->lock */
};

/* The worker's operations may have helpers from now on. */
void team_init(struct team *team);

/* What helpers have worked for the entry so far. */
static inline uint64_t team_time(const struct team *team)
{
	return atomic_load_explicit(&team->helped_ns, memory_order_relaxed);
}

/* The same less what was charged before. dev->lock held. */
uint64_t team_charge(struct team *team);

/* An entry begins; no helper is inside. dev->lock held. */
void team_renew(struct team *team);

/* The worker is about to give way: helpers leave. Later it has a seat again. Its thread, no lock. */
void team_pause(struct nnpu_engine *e);
void team_resume(struct nnpu_engine *e);

/* The worker computes, or does not any more. dev->lock held. */
void helpers_count(struct nnpu_device *dev, int n);

/* The performance level has changed: at LOW nobody helps. dev->lock held. */
void helpers_set_level(struct nnpu_device *dev);

/* Helpers, of which none has a thread yet. False: there is no memory. */
bool helpers_init(struct nnpu_device *dev, const pthread_condattr_t *attr);
void helpers_fini(struct nnpu_device *dev);

/* Helper @i, and the life of its thread. */
struct helper *helper_at(struct nnpu_device *dev, unsigned int i);
struct nnpu_device *helper_device(const struct helper *h);
void helper_run(struct helper *h);

#endif /* NNPU_EMU_HELPERS_H */
