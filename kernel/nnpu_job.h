/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_JOB_H_
#define _NNPU_JOB_H_

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/refcount.h>

#include "nnpu_ctx.h"
#include "nnpu_hw.h"
#include "nnpu_prog.h"

struct nnpu_deps;
struct nnpu_device;
struct nnpu_sched;
struct nnpu_slot;

/**
 * enum nnpu_job_state - how far a job has come
 * @NNPU_JOB_NEW: SUBMIT has not committed it
 * @NNPU_JOB_WAITING: it waits for in-fences; entry of nnpu_sched.waiting
 * @NNPU_JOB_READY: it waits for its turn; entry of nnpu_sched.ready
 * @NNPU_JOB_IN_FLIGHT: the device has it, with a command id; entry of nnpu_queue.inflight
 * @NNPU_JOB_ENDED: nnpu_queue_remove() was called, nnpu_queue_end_jobs() follows
 */
enum nnpu_job_state {
	NNPU_JOB_NEW,
	NNPU_JOB_WAITING,
	NNPU_JOB_READY,
	NNPU_JOB_IN_FLIGHT,
	NNPU_JOB_ENDED,
};

/**
 * struct nnpu_job - one submitted execution or copy
 * @ctx: context; a reference
 * @program: program; a reference until the job has ended; NULL for a copy
 * @fence: fence for out_syncs and reservations; a reference
 * @seqno: number of the job in its context, and of @fence
 * @args: argument block, @args_len bytes, checked
 * @args_len: bytes of @args
 * @slots: slots it names; references until the job has ended
 * @num_slots: entries of @slots
 * @num_read: of @slots, how many the job only reads: the first ones
 * @deps: what it waits for; a reference. NULL: nothing
 * @ref: references; nnpu_job_put(). SUBMIT has one until the commit, then what ends the job
 * @state: how far it has come; under nnpu_qpair.lock. Nobody ends a job but by
 *	nnpu_queue_remove(), which makes it NNPU_JOB_ENDED, once
 * @propagate: it takes the errors of the fences that it waits for
 * @submit_ns: when SUBMIT was called
 * @deadline_ns: when the device is not to begin it any more, U64_MAX: none
 * @duration_ns: the same from the time when @deps had signalled, 0: none. nnpu_job_set_deadline()
 *	takes it into @deadline_ns
 * @opcode: NNPU_IO_EXECUTE or NNPU_IO_COPY
 * @sched: lists of its context and priority
 * @flags: NNPU_EXEC_*
 * @result_slot: slot for the result block or NNPU_SLOT_NONE
 * @profile_slot: slot for profile records
 * @result_off: offset in @result_slot
 * @profile_off: offset in @profile_slot
 * @profile_len: bytes of room for profile records
 * @node: entry of the list that @state says; under nnpu_qpair.lock. Then of a list of jobs to end
 * @cid: command id while in flight; under nnpu_qpair.lock
 * @resubmits: times it was given to the device again; under nnpu_qpair.lock
 * @suspect: the device completed it with an unknown status; under nnpu_qpair.lock
 * @cancel_error: error of the fence if the device ends the job with ABORTED; 0 if the
 *	driver did not ask for that; under nnpu_qpair.lock
 * @end_status: status of its completion, NNPU_STATUS_PENDING if there was none
 * @end_error: error of its fence
 * @end_ns: time of execution as the device says
 * @asked: when the device last was seen to have it, ms; under nnpu_qpair.lock
 * @start: when the device got it first, 0: it never had it; under nnpu_qpair.lock while in flight
 * @exec_ns: time of execution as the device says, bounded by the time since @start
 */
struct nnpu_job {
	struct nnpu_ctx *ctx;
	struct nnpu_prog *program;
	struct dma_fence *fence;
	u64 seqno;
	struct nnpu_args_header *args;
	u32 args_len;
	struct nnpu_slot **slots;
	u32 num_slots;
	u32 num_read;
	struct nnpu_deps *deps;
	refcount_t ref;
	enum nnpu_job_state state;
	bool propagate;
	u64 submit_ns;
	u64 deadline_ns;
	u64 duration_ns;

	struct nnpu_sched *sched;
	u8 opcode;
	u8 flags;
	u32 result_slot;
	u32 profile_slot;
	u64 result_off;
	u64 profile_off;
	u32 profile_len;

	struct list_head node;
	u16 cid;
	u32 resubmits;
	bool suspect;
	int cancel_error;
	u16 end_status;
	int end_error;
	u64 end_ns;
	u64 asked;
	ktime_t start;
	u64 exec_ns;
};

/**
 * nnpu_job_program_id - number of the program of a job
 * @job: job that has not ended
 *
 * Return: the number, 0 for a copy.
 */
static inline u32 nnpu_job_program_id(const struct nnpu_job *job)
{
	return job->program ? job->program->id : 0;
}

/**
 * nnpu_job_running_us - since when the device has a job
 * @job: job in flight; nnpu_qpair.lock is held
 *
 * Return: microseconds.
 */
static inline s64 nnpu_job_running_us(const struct nnpu_job *job)
{
	return job->start ? ktime_us_delta(ktime_get(), job->start) : 0;
}

struct nnpu_job *nnpu_job_alloc(struct nnpu_ctx *ctx, u32 num_args);
void nnpu_job_put(struct nnpu_job *job);
void nnpu_job_init_fence(struct nnpu_job *job);
u64 nnpu_job_time_after(u64 from, u64 duration_ns);
void nnpu_job_set_deadline(struct nnpu_job *job);
void nnpu_job_fill_deadline(struct nnpu_job *job);
void nnpu_job_fill_sqe(const struct nnpu_job *job, u64 args_dma, struct nnpu_sqe_execute *sqe);
void nnpu_job_end(struct nnpu_job *job);

#endif /* _NNPU_JOB_H_ */
