/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_CTX_H_
#define _NNPU_CTX_H_

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "nnpu_check.h"
#include "nnpu_hw.h"
#include "nnpu_release.h"
#include "nnpu_sched.h"
#include "nnpu_table.h"
#include "nnpu_tally.h"

struct file;
struct nnpu_device;
struct nnpu_quota_hold;

#define NNPU_NUM_PRIORITIES	3

/* Jobs of one context that have not ended. SUBMIT waits until there are fewer. */
#define NNPU_CTX_MAX_JOBS	256

/**
 * struct nnpu_ctx_args - memory of an argument block
 * @mem: nnpu_queue.args_stride bytes, coherent
 * @dma: its DMA address
 */
struct nnpu_ctx_args {
	void *mem;
	dma_addr_t dma;
};

/**
 * struct nnpu_ctx - hardware context of an open file
 * @ref: @users, each job and each queue hold a reference; 0 until the device knows the
 *	context
 * @users: the file's table and each call that uses it; the last one closes it
 * @ndev: device; a reference of its drm_device is held
 * @id: hardware number
 * @hold: its holder in nnpu_device.quota; fences of jobs that ended before their in-fences hold
 *	it, too
 * @group: with which contexts it shares device memory and time: those of its user; 0: none
 * @attrs: attributes
 * @lost: a device reset or nnpu_ctx_end() destroyed it; set once, read with nnpu_ctx_is_lost()
 * @destroyed: the device was asked to destroy it
 * @hidden: CONTEXT_DESTROY has taken it from the table: nobody waits any more
 * @lock: protects @slot_table, @slot_list and the DMA memory of slots
 * @slot_table: slot entries the device reads; NULL after unplug
 * @slot_table_dma: its DMA address
 * @slots: slots by number
 * @slot_list: all struct nnpu_slot, hidden ones included
 * @programs: programs by number
 * @program_list: all struct nnpu_prog; under @lock
 * @kept: system sleep has saved it; see nnpu_sleep.c
 * @kept_programs: programs with an image in memory, for the same
 * @sleep_node: entry of nnpu_sleep.contexts, with a reference
 * @takes_jobs: it has @args; set once
 * @scheds: jobs by priority
 * @args: argument blocks of the jobs that the device has, nnpu_queue_ctx_places() of them;
 *	NULL after unplug
 * @held: calls of nnpu_queue_hold() for this context; under nnpu_qpair.lock of the kernel queue
 * @closed: the file has given it up: no job is given to the device; under the same lock
 * @seqno: last number of a job
 * @load_lock: one load at a time; its holder waits for the load, others interruptibly for it
 * @command_lock: one ioctl at a time that sends a command; see nnpu_file_begin_command()
 * @num_slots: slots that are bound
 * @num_programs: programs that are loaded
 * @num_jobs: jobs that have not been freed
 * @job_wait: woken when @num_jobs goes down
 * @counts: by enum nnpu_count
 * @tally: client, with the counters of its file; a reference
 * @releases: of its slots and programs, and its own
 * @release_item: release, when an interrupt or job drops the last reference
 * @free_work: last step of the release, which drops the reference of the drm_device
 * @rcu: for the memory of the structure: see nnpu_ctx_free_work()
 */
struct nnpu_ctx {
	refcount_t ref;
	refcount_t users;
	struct nnpu_device *ndev;
	u32 id;
	struct nnpu_quota_hold *hold;
	u32 group;
	struct nnpu_ctx_attrs attrs;
	bool lost;
	bool destroyed;
	bool hidden;

	struct mutex lock;	/* see above */
	struct nnpu_slot_entry *slot_table;
	dma_addr_t slot_table_dma;
	struct nnpu_table slots;
	struct list_head slot_list;
	struct nnpu_table programs;
	struct list_head program_list;
	bool kept;
	struct list_head kept_programs;
	struct list_head sleep_node;

	bool takes_jobs;
	struct nnpu_sched scheds[NNPU_NUM_PRIORITIES];
	struct nnpu_ctx_args *args;
	unsigned int held;
	bool closed;
	atomic64_t seqno;
	struct mutex load_lock;		/* see above */
	struct mutex command_lock;	/* see above */

	atomic_t num_slots;
	atomic_t num_programs;
	atomic_t num_jobs;
	wait_queue_head_t job_wait;

	atomic64_t counts[NNPU_NUM_COUNTS];
	struct nnpu_tally *tally;

	struct nnpu_release_list releases;
	struct nnpu_release_item release_item;
	struct work_struct free_work;
	struct rcu_head rcu;
};

struct nnpu_ctx *nnpu_ctx_create(struct nnpu_device *ndev, struct file *opened,
				 struct nnpu_tally *tally, const struct nnpu_ctx_attrs *attrs);
int nnpu_ctx_prepare_jobs(struct nnpu_ctx *ctx);
void nnpu_ctx_end(struct nnpu_ctx *ctx);
void nnpu_ctx_put(struct nnpu_ctx *ctx);
void nnpu_ctx_put_deferred(struct nnpu_ctx *ctx);
void nnpu_ctx_lose(struct nnpu_ctx *ctx, const char *why);
void nnpu_ctx_lose_all(struct nnpu_device *ndev, const char *why, bool spare_kept);
int nnpu_ctx_restore(struct nnpu_ctx *ctx);
void nnpu_ctx_destroy_late(struct nnpu_ctx *ctx);
bool nnpu_ctx_tryget(void *object);
void nnpu_ctx_unplug_all(struct nnpu_device *ndev);

static inline struct nnpu_ctx *nnpu_ctx_get(struct nnpu_ctx *ctx)
{
	refcount_inc(&ctx->ref);
	return ctx;
}

static inline bool nnpu_ctx_takes_jobs(const struct nnpu_ctx *ctx)
{
	/* Pairs with smp_store_release() in nnpu_ctx_prepare_jobs(). */
	return smp_load_acquire(&ctx->takes_jobs);
}

/* Any context. */
static inline void nnpu_ctx_count(struct nnpu_ctx *ctx, enum nnpu_count what, u64 more)
{
	atomic64_add(more, &ctx->counts[what]);
	nnpu_tally_count(ctx->tally, what, more);
}

static inline u64 nnpu_ctx_counted(const struct nnpu_ctx *ctx, enum nnpu_count what)
{
	return atomic64_read(&ctx->counts[what]);
}

/* Pairs with WRITE_ONCE() in nnpu_ctx_lose_all() and nnpu_ctx_end(). An early check only. */
static inline bool nnpu_ctx_is_lost(const struct nnpu_ctx *ctx)
{
	return READ_ONCE(ctx->lost);
}

/* System sleep has saved it, and nothing has taken it since. */
static inline bool nnpu_ctx_is_kept(const struct nnpu_ctx *ctx)
{
	return READ_ONCE(ctx->kept) && !nnpu_ctx_is_lost(ctx);
}

/* Pairs with WRITE_ONCE() in nnpu_file.c: a waiter for the context is to give up. */
static inline bool nnpu_ctx_is_hidden(const struct nnpu_ctx *ctx)
{
	return READ_ONCE(ctx->hidden);
}

#endif /* _NNPU_CTX_H_ */
