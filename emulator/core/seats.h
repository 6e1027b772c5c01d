/* SPDX-License-Identifier: MIT */
/*
 * Workers and seats: how a job gives way and goes on. dev->lock held, except where said.
 *
 * A worker is a thread with the memory of one job. As many workers as the device has engines
 * have a seat: those run. A job that gives way keeps its worker, and the seat goes to the
 * worker of another job or to a spare one. So the state of a job is the stack of its thread.
 */
#ifndef NNPU_EMU_SEATS_H
#define NNPU_EMU_SEATS_H

/* How long a job runs while others wait, ns. */
#define SLICE_NS	5000000u

struct job_progress;
struct nnpu_device;
struct nnpu_engine;
struct nnpu_queue;

/* It has no seat and nothing to do: it can have the next one. */
void worker_spare(struct nnpu_engine *e);

/* Without a seat: wait until there is one, or the device goes. */
void worker_park(struct nnpu_engine *e);

/* Give the seat to a job that has given way. */
void worker_pass_seat(struct nnpu_engine *e, struct nnpu_engine *to);

/*
 * At a point, no lock held: see whether the time of the job is used up. If others wait, give
 * way when the slice is over.
 */
void worker_point(struct job_progress *p);

/*
 * Give memory back that the job does not use, if somebody has asked for it. Where a job could
 * also give way; dev->lock held, dropped inside.
 */
void worker_give_memory(struct nnpu_engine *e);

/* An entry begins: it has a whole slice. */
void worker_new_slice(struct nnpu_engine *e);

#endif /* NNPU_EMU_SEATS_H */
