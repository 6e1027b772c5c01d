// SPDX-License-Identifier: MIT
/*
 * Faults that are injected into jobs.
 */
#include <time.h>

#include "device_state.h"
#include "engine.h"
#include "injected.h"
#include "queue.h"
#include "scheduler.h"
#include "seats.h"
#include "slots.h"
#include "ops/op.h"

/* How long a stalled job with a limit sleeps before it looks at the clock, at most, ns. */
#define STALL_LOOK_NS	100000000u

/* Sleep until something happens or the engine time is used up. dev->lock held. */
static void stall_wait(struct nnpu_engine *e)
{
	struct nnpu_device *dev = e->dev;
	uint64_t now = dev_now(dev), ns;
	struct timespec until;

	if (!e->progress.end_ns) {
		pthread_cond_wait(&dev->event, &dev->lock);
		return;
	}
	e->progress.expired = now >= e->progress.end_ns;
	if (e->progress.expired)
		return;
	/* The clock of the device may go at another pace. */
	ns = e->progress.end_ns - now < STALL_LOOK_NS ? e->progress.end_ns - now : STALL_LOOK_NS;
	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec = (long)(ns % 1000000000u);
	pthread_cond_timedwait(&dev->event, &dev->lock, &until);
}

/* Does it take the reset of the queue or the end of the context to end the job? dev->lock held. */
static bool is_dropped(const struct nnpu_engine *e)
{
	return e->q->dropping || e->lane->dropping || e->lane->ctx->dying;
}

void injected_stall(struct nnpu_engine *e, const struct injected *in)
{
	struct nnpu_device *dev = e->dev;

	pthread_mutex_lock(&dev->lock);
	while (!atomic_load(&dev->stop) &&
	       (in->stuck || !(in->deaf ? is_dropped(e) : job_is_to_end(&e->progress)))) {
		if (e->asked)
			worker_give_memory(e);
		else if (in->stuck || in->deaf)
			pthread_cond_wait(&dev->event, &dev->lock);
		else
			stall_wait(e);
	}
	pthread_mutex_unlock(&dev->lock);
}

void injected_slow(struct job_progress *progress)
{
	/* As often as an operation reaches a point. */
	const struct timespec step = { .tv_nsec = 1000000 };
	unsigned int i;

	for (i = 0; i < 1000 && !op_progress(progress); i++)
		nanosleep(&step, NULL);
}

void injected_pause(void)
{
	const struct timespec half = { .tv_nsec = 10000000 };

	nanosleep(&half, NULL);
}

void injected_slow_dma(void)
{
	injected_pause();
	injected_pause();
}

void injected_take(struct nnpu_device *dev, struct nnpu_queue *q, struct injected *in)
{
	in->stall = dev_inject(dev, NNPU_INJECT_JOB_STALL);
	in->stuck = dev_inject(dev, NNPU_INJECT_JOB_STUCK);
	in->deaf = dev_inject(dev, NNPU_INJECT_JOB_DEAF);
	in->slow = dev_inject(dev, NNPU_INJECT_JOB_SLOW);
	in->fail_dma = dev_inject(dev, NNPU_INJECT_DMA_ERROR);
	in->slow_dma = dev_inject(dev, NNPU_INJECT_DMA_SLOW);
	in->lost_irq = dev_inject(dev, NNPU_INJECT_LOST_IRQ);
	in->bad_status = dev_inject(dev, NNPU_INJECT_BAD_STATUS);
	in->lost_cqe = dev_inject(dev, NNPU_INJECT_LOST_CQE);
	/* The extra completion must not overflow the ring. */
	in->bad_cid = queue_has_room(q, 2) && dev_inject(dev, NNPU_INJECT_BAD_CID);
}
