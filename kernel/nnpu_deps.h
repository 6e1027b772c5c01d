/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_DEPS_H_
#define _NNPU_DEPS_H_

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/llist.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct nnpu_deps;
struct nnpu_job;
struct nnpu_quota_hold;
struct workqueue_struct;

/**
 * struct nnpu_deps_in - an in-fence
 * @fence: fence; a reference
 * @cb: callback; its data is @deps
 * @deps: what it belongs to
 */
struct nnpu_deps_in {
	struct dma_fence *fence;
	struct dma_fence_cb cb;
	struct nnpu_deps *deps;
};

/**
 * struct nnpu_deps - the in-fences of a job
 * @ref: the job has a reference; nnpu_deps_arm() takes another one, until the in-fences have
 *	signalled
 * @pending: in-fences that have not signalled, and one more until nnpu_deps_arm() is through
 * @node: entry of the list of those whose last in-fence has signalled
 * @lock: protects @job, @all_in, @out, @error and @hold
 * @job: the job, from nnpu_deps_arm() until it ends; no reference
 * @all_in: the in-fences have signalled, and the job has been told
 * @out: signals when all in-fences have; a reference. NULL: none
 * @error: error of @out
 * @hold: what pays for @out; a reference
 * @num: entries of @in
 * @in: in-fences
 */
struct nnpu_deps {
	refcount_t ref;
	atomic_t pending;
	struct llist_node node;
	spinlock_t lock;	/* see above */
	struct nnpu_job *job;
	bool all_in;
	struct dma_fence *out;
	int error;
	struct nnpu_quota_hold *hold;
	u32 num;
	struct nnpu_deps_in in[] __counted_by(num);
};

struct nnpu_deps *nnpu_deps_alloc(u32 max);
void nnpu_deps_add(struct nnpu_deps *deps, struct dma_fence *fence);
struct nnpu_deps *nnpu_deps_get(struct nnpu_deps *deps);
void nnpu_deps_put(struct nnpu_deps *deps);
void nnpu_deps_arm(struct nnpu_deps *deps);
bool nnpu_deps_defer(struct nnpu_deps *deps, struct dma_fence *out, int error,
		     struct nnpu_quota_hold *hold);
u64 nnpu_deps_time(const struct nnpu_deps *deps);
int nnpu_deps_error(const struct nnpu_deps *deps);

#endif /* _NNPU_DEPS_H_ */
