/* SPDX-License-Identifier: MIT */
/*
 * An engine: a thread that runs jobs, one at a time.
 */
#ifndef NNPU_EMU_ENGINE_H
#define NNPU_EMU_ENGINE_H

#include <pthread.h>

#include "engine_memory.h"
#include "prefetch.h"
#include "slots.h"

/* What op_progress() looks at. */
struct job_progress {
	atomic_uint *counter;		/* QREG_PROGRESS of the queue */
	const atomic_bool *abort;	/* an abort of this job has been requested */
	const atomic_bool *stop;	/* the device stops */
};

/* Has an abort been requested, or does the device stop? */
bool job_is_to_end(const struct job_progress *p);

struct nnpu_engine {
	struct nnpu_device *dev;
	unsigned int id;
	pthread_t thread;
	bool started;
	bool busy;			/* dev->lock; exec belongs to the thread while set */
	bool trim;			/* dev->lock; give its memory back when no longer busy */
	uint64_t busy_since;		/* ns */
	struct nnpu_ctx *ctx;		/* of the job that runs; dev->lock */
	struct job_progress progress;
	struct exec_state exec;
	/* The control thread looks at it: a cache line of its own. */
	_Alignas(CACHE_LINE) struct slots_holder slots;
};

/* The life of an engine's thread. */
void engine_run(struct nnpu_engine *e);

#endif /* NNPU_EMU_ENGINE_H */
