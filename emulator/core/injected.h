/* SPDX-License-Identifier: MIT */
/* Faults that are injected into jobs (Documentation/hardware/fault-injection.rst). */
#ifndef NNPU_EMU_INJECTED_H
#define NNPU_EMU_INJECTED_H

#include <stdbool.h>

struct job_progress;
struct nnpu_device;
struct nnpu_engine;
struct nnpu_queue;

/* Injections for the job that starts. */
struct injected {
	bool stall;
	bool stuck;
	bool deaf;
	bool slow;
	bool fail_dma;
	bool slow_dma;
	bool lost_irq;
	bool bad_cid;
	bool bad_status;
	bool lost_cqe;
};

/* What the job that starts has to do. dev->lock held. */
void injected_take(struct nnpu_device *dev, struct nnpu_queue *q, struct injected *in);
/* A job without progress. @deaf: only the reset of its queue ends it, @stuck: of the device. */
void injected_stall(struct nnpu_engine *e, const struct injected *in);
/* Half of the time that a slow command, or the time that a slow access, takes longer. No lock held. */
void injected_pause(void);
void injected_slow_dma(void);
/* One more second, in steps that count as progress. */
void injected_slow(struct job_progress *progress);

#endif /* NNPU_EMU_INJECTED_H */
