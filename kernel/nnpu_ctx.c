// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: the owners of the slots, programs and jobs of an open file.
 *
 * Calls that use a context hold a reference, and so does each job: a context outlives its
 * file until the last job has ended. DESTROY_CTX comes first, when the file gives the context
 * up: the device ends and forgets all that it has of it. With the last reference the driver frees
 * the memory.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/dma-mapping.h>
#include <linux/error-injection.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include <drm/drm_print.h>

#include "nnpu_admin.h"
#include "nnpu_command.h"
#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_genl.h"
#include "nnpu_pause.h"
#include "nnpu_prog.h"
#include "nnpu_release.h"
#include "nnpu_slot.h"
#include "nnpu_status.h"
#include "nnpu_userq.h"

static size_t nnpu_ctx_table_size(struct nnpu_device *ndev)
{
	return PAGE_ALIGN(ndev->limits.max_slots * sizeof(struct nnpu_slot_entry));
}

static void nnpu_ctx_free_args(struct nnpu_ctx *ctx)
{
	struct nnpu_device *ndev = ctx->ndev;
	u32 i;

	for (i = 0; ctx->args && i < nnpu_queue_ctx_places(&ndev->queue); i++)
		if (ctx->args[i].mem)
			dma_free_coherent(ndev->drm.dev, ndev->queue.args_stride,
					  ctx->args[i].mem, ctx->args[i].dma);
	kfree(ctx->args);
	ctx->args = NULL;
}

/*
 * An allocation for each block: memory that is in pieces has room for them. No warning: a process
 * can have this fail as often as it likes.
 */
static int nnpu_ctx_alloc_args(struct nnpu_ctx *ctx)
{
	u32 places = nnpu_queue_ctx_places(&ctx->ndev->queue), i;
	struct nnpu_device *ndev = ctx->ndev;

	ctx->args = kcalloc(places, sizeof(*ctx->args), GFP_KERNEL_ACCOUNT);
	for (i = 0; ctx->args && i < places; i++) {
		struct nnpu_ctx_args *a = &ctx->args[i];

		a->mem = dma_alloc_coherent(ndev->drm.dev, ndev->queue.args_stride, &a->dma,
					    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!a->mem)
			return -ENOMEM;
	}
	return ctx->args ? 0 : -ENOMEM;
}

/* Free the DMA memory that is left. Slots first: their entries are in the table. */
static void nnpu_ctx_free_dma(struct nnpu_ctx *ctx)
{
	struct nnpu_device *ndev = ctx->ndev;

	mutex_lock(&ctx->lock);
	nnpu_slot_free_dma_all(ctx);
	if (ctx->slot_table)
		dma_free_coherent(ndev->drm.dev, nnpu_ctx_table_size(ndev), ctx->slot_table,
				  ctx->slot_table_dma);
	ctx->slot_table = NULL;
	nnpu_ctx_free_args(ctx);
	mutex_unlock(&ctx->lock);
}

static void nnpu_ctx_free_id(struct nnpu_ctx *ctx)
{
	nnpu_table_free(&ctx->ndev->contexts, ctx->id);
	nnpu_quota_hold_put(ctx->hold);
}

static void nnpu_ctx_fill_destroy(const struct nnpu_ctx *ctx, struct nnpu_sqe *sqe)
{
	*sqe = (struct nnpu_sqe) {
		.opcode = NNPU_ADMIN_DESTROY_CTX,
		.ctx = cpu_to_le32(ctx->id),
	};
}

static void nnpu_ctx_destroy_hw(struct nnpu_ctx *ctx)
{
	struct nnpu_sqe sqe;

	nnpu_ctx_fill_destroy(ctx, &sqe);
	/* Before the command: others may meet a context that is destroyed. */
	WRITE_ONCE(ctx->destroyed, true);
	nnpu_command_revoke(ctx->ndev, ctx, &sqe);
}

static void nnpu_ctx_free_work(struct work_struct *work)
{
	struct nnpu_ctx *ctx = container_of(work, struct nnpu_ctx, free_work);
	struct nnpu_device *ndev = ctx->ndev;

	nnpu_tally_put(ctx->tally);
	kfree(ctx);
	drm_dev_put(&ndev->drm);
}

static void nnpu_ctx_release(struct nnpu_ctx *ctx)
{
	struct nnpu_device *ndev = ctx->ndev;

	nnpu_ctx_destroy_hw(ctx);
	nnpu_ctx_free_dma(ctx);
	nnpu_slot_release_all(ctx);
	nnpu_prog_release_all(ctx);
	/* Only now: the device stays bound until the table is empty of dead contexts. */
	nnpu_ctx_free_id(ctx);
	wake_up_all(&ndev->unplug_wait);
	nnpu_table_fini(&ctx->slots);
	nnpu_table_fini(&ctx->programs);
	mutex_destroy(&ctx->lock);
	mutex_destroy(&ctx->load_lock);
	mutex_destroy(&ctx->command_lock);
	atomic_dec(&ndev->stats.contexts);
	atomic_dec(&ctx->tally->contexts);
	nnpu_netlink_changed(NNPU_NETLINK_CONTEXTS);
	nnpu_release_queue_last(&ctx->free_work);
}

static void nnpu_ctx_release_item(struct nnpu_release_item *item)
{
	nnpu_ctx_release(container_of(item, struct nnpu_ctx, release_item));
}

/**
 * nnpu_ctx_put - drop a reference
 * @ctx: context
 *
 * May wait for the device. Not allowed in interrupts and the work items of nnpu_sched_wq and
 * nnpu_device.reset_wq.
 */
void nnpu_ctx_put(struct nnpu_ctx *ctx)
{
	if (refcount_dec_and_test(&ctx->ref))
		nnpu_ctx_release(ctx);
}

/**
 * nnpu_ctx_put_deferred - drop a reference in a context that must not wait
 * @ctx: context
 */
void nnpu_ctx_put_deferred(struct nnpu_ctx *ctx)
{
	if (refcount_dec_and_test(&ctx->ref))
		nnpu_release_add(&ctx->releases, &ctx->release_item);
}

static void nnpu_ctx_fill_create(const struct nnpu_ctx *ctx, struct nnpu_sqe_create_ctx *sqe)
{
	*sqe = (struct nnpu_sqe_create_ctx) {
		.opcode = NNPU_ADMIN_CREATE_CTX,
		.ctx = cpu_to_le32(ctx->id),
		.slot_table = cpu_to_le64(ctx->slot_table_dma),
		.num_slots = cpu_to_le32(ctx->ndev->limits.max_slots),
		.weight = cpu_to_le16(ctx->attrs.weight),
		.sched_class = cpu_to_le16(ctx->attrs.sched_class),
		.mem_limit = cpu_to_le64(ctx->attrs.mem_limit),
		.time_limit_ns = cpu_to_le64(ctx->attrs.time_limit_ns),
		.group = cpu_to_le32(ctx->group),
	};
}

static int nnpu_ctx_create_hw(struct nnpu_ctx *ctx)
{
	struct nnpu_sqe_create_ctx sqe;
	struct nnpu_admin_result result;
	int ret;

	nnpu_ctx_fill_create(ctx, &sqe);
	ret = nnpu_command_exec(ctx->ndev, ctx, &sqe, &result);
	if (ret)
		return ret;
	switch (result.status) {
	case NNPU_STATUS_SUCCESS:
		return 0;
	case NNPU_STATUS_NO_RESOURCES:
		return -ENOSPC;
	case NNPU_STATUS_NO_MEMORY:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

/*
 * The user that a context counts for: the opener of the file or, in a user namespace, the maker of
 * that namespace. Else a user with subordinate ids would be many.
 */
static kuid_t nnpu_ctx_payer(const struct cred *cred)
{
	const struct user_namespace *ns = cred->user_ns;
	kuid_t uid = cred->euid;

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static int nnpu_ctx_try_reserve_id(struct nnpu_ctx *ctx, struct file *opened)
{
	bool exempt = file_ns_capable(opened, &init_user_ns, CAP_SYS_RESOURCE);
	kuid_t payer = nnpu_ctx_payer(opened->f_cred);
	struct nnpu_device *ndev = ctx->ndev;
	struct nnpu_quota_hold *hold;
	int ret;

	/* No user has the largest number, so no group of one is 0. */
	ctx->group = exempt ? 0 : from_kuid(&init_user_ns, payer) + 1;
	hold = nnpu_quota_hold(ndev->quota, payer, exempt);
	if (IS_ERR(hold))
		return PTR_ERR(hold);
	ret = nnpu_table_reserve(&ndev->contexts, &ctx->id);
	if (ret) {
		nnpu_quota_hold_put(hold);
		return ret;
	}
	ctx->hold = hold;
	return 0;
}

/*
 * If there are too many: files that were just closed may still hold some. Outside of a
 * nnpu_device_enter() section, so that only the caller waits for them, interruptibly. It waits
 * for those that were closed before it came: the releases of others never end.
 */
static int nnpu_ctx_reserve_id(struct nnpu_ctx *ctx, struct file *opened)
{
	struct nnpu_release *release = &ctx->ndev->release;
	u64 last = nnpu_release_added(release), seen;
	bool more;
	int ret;

	do {
		more = nnpu_release_is_pending(release, last);
		seen = nnpu_release_done(release);
		ret = nnpu_ctx_try_reserve_id(ctx, opened);
		if (ret != -EUSERS && ret != -EDQUOT)
			return ret;
		if (more && nnpu_release_wait_item(release, last, seen))
			return -ERESTARTSYS;
	} while (more);
	return ret;
}

/**
 * nnpu_ctx_prepare_jobs - have what jobs of the kernel queue need
 * @ctx: context; one caller at a time
 *
 * The argument blocks take longer than all the rest of a context. A process that uses rings of its
 * own, as libnnhal does where it can, never needs them.
 *
 * Return: 0, -ENOMEM, or -ENODEV if the device is gone.
 */
int nnpu_ctx_prepare_jobs(struct nnpu_ctx *ctx)
{
	int ret, idx;

	if (nnpu_ctx_takes_jobs(ctx))
		return 0;
	/* Unplug waits for this, and frees the blocks then. */
	if (!nnpu_device_enter(ctx->ndev, &idx))
		return -ENODEV;
	ret = nnpu_ctx_alloc_args(ctx);
	if (ret)
		nnpu_ctx_free_args(ctx);
	else
		/* Pairs with smp_load_acquire() in nnpu_ctx_takes_jobs(). */
		smp_store_release(&ctx->takes_jobs, true);
	nnpu_device_exit(ctx->ndev, idx);
	return ret;
}
ALLOW_ERROR_INJECTION(nnpu_ctx_prepare_jobs, ERRNO);

static int nnpu_ctx_init(struct nnpu_ctx *ctx)
{
	struct nnpu_device *ndev = ctx->ndev;
	int ret;

	ctx->slot_table = dma_alloc_coherent(ndev->drm.dev, nnpu_ctx_table_size(ndev),
					     &ctx->slot_table_dma,
					     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!ctx->slot_table)
		return -ENOMEM;
	nnpu_sched_init_ctx(ctx);
	/* From here on a device reset finds the context and marks it lost. */
	nnpu_table_set(&ndev->contexts, ctx->id, ctx);
	ret = nnpu_ctx_create_hw(ctx);
	if (ret)
		goto err_hide;
	/* No reference can be taken before this: a context that failed is freed at once. */
	refcount_set(&ctx->ref, 1);
	return 0;

err_hide:
	nnpu_table_hide(&ndev->contexts, ctx->id);
	nnpu_ctx_free_dma(ctx);
	return ret;
}

/* -EAGAIN: a device reset destroyed the context just then, or the device is paused. */
static struct nnpu_ctx *nnpu_ctx_try_create(struct nnpu_device *ndev, struct file *opened,
					    struct nnpu_tally *tally,
					    const struct nnpu_ctx_attrs *attrs)
{
	struct nnpu_ctx *ctx;
	int ret, idx;

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->ndev = ndev;
	ctx->attrs = *attrs;
	ctx->tally = tally;
	refcount_set(&ctx->users, 1);
	mutex_init(&ctx->lock);
	mutex_init(&ctx->load_lock);
	mutex_init(&ctx->command_lock);
	init_waitqueue_head(&ctx->job_wait);
	INIT_LIST_HEAD(&ctx->slot_list);
	INIT_LIST_HEAD(&ctx->program_list);
	INIT_LIST_HEAD(&ctx->kept_programs);
	INIT_LIST_HEAD(&ctx->sleep_node);
	nnpu_release_list_init(&ctx->releases, &ndev->release);
	ctx->release_item.fn = nnpu_ctx_release_item;
	INIT_WORK(&ctx->free_work, nnpu_ctx_free_work);
	nnpu_table_init(&ctx->slots, 0, ndev->limits.max_slots);
	nnpu_table_init(&ctx->programs, 1, ndev->limits.max_programs);

	ret = nnpu_ctx_reserve_id(ctx, opened);
	if (ret)
		goto err_free;
	ret = -ENODEV;
	if (nnpu_device_enter(ndev, &idx)) {
		ret = nnpu_ctx_init(ctx);
		nnpu_device_exit(ndev, idx);
	}
	if (ret == -ENODEV && !READ_ONCE(ndev->dead))
		ret = -EAGAIN;
	if (ret)
		goto err_id;

	drm_dev_get(&ndev->drm);
	nnpu_tally_get(tally);
	nnpu_release_expect();
	atomic_inc(&ndev->stats.contexts);
	atomic_inc(&tally->contexts);
	nnpu_netlink_changed(NNPU_NETLINK_CONTEXTS);
	return ctx;

err_id:
	nnpu_ctx_free_id(ctx);
err_free:
	nnpu_table_fini(&ctx->slots);
	nnpu_table_fini(&ctx->programs);
	mutex_destroy(&ctx->lock);
	mutex_destroy(&ctx->load_lock);
	mutex_destroy(&ctx->command_lock);
	kfree(ctx);
	return ERR_PTR(ret);
}

/**
 * nnpu_ctx_create - create a context
 * @ndev: device
 * @opened: the open file; its user pays
 * @tally: counters of the file
 * @attrs: attributes
 *
 * May wait for the device, and for contexts that are being released; each admin command
 * ends or the device is reset.
 *
 * Return: the context with one user; ERR_PTR(): -EUSERS if no context is left, -EDQUOT
 * if the user has as many as are left, -ENOSPC if the device refuses another, -ENOMEM,
 * -ENODEV, -EIO.
 */
struct nnpu_ctx *nnpu_ctx_create(struct nnpu_device *ndev, struct file *opened,
				 struct nnpu_tally *tally, const struct nnpu_ctx_attrs *attrs)
{
	struct nnpu_ctx *ctx;
	unsigned int tries = 3;

	do {
		nnpu_pause_wait(ndev);
		ctx = nnpu_ctx_try_create(ndev, opened, tally, attrs);
	} while (ctx == ERR_PTR(-EAGAIN) && --tries);
	if (ctx == ERR_PTR(-EUSERS) || ctx == ERR_PTR(-EDQUOT))
		nnpu_event_limit(ndev, tally, NNPU_LIMIT_KIND_CONTEXTS, 0);
	return ctx == ERR_PTR(-EAGAIN) ? ERR_PTR(-ENODEV) : ctx;
}

/**
 * nnpu_ctx_end - the file gives a context up
 * @ctx: context; calls may still use it
 *
 * One command ends all that the device has of it, however many jobs, queues and loads: the time
 * depends on the device only. Then the context is like one that a device reset has destroyed. The
 * jobs that the device does not have end here, also those that wait for in-fences.
 */
void nnpu_ctx_end(struct nnpu_ctx *ctx)
{
	nnpu_queue_close_ctx(&ctx->ndev->queue, ctx);
	nnpu_sched_drop(ctx);
	nnpu_ctx_destroy_hw(ctx);
	WRITE_ONCE(ctx->lost, true);
	nnpu_userq_lose_ctx(ctx, NNPU_USERQ_DESTROYED);
}

/**
 * nnpu_ctx_lose - mark a context that the device does not have any more as lost
 * @ctx: context; nnpu_device.reset_sem is held for writing. nnpu_sched_drop() follows
 * @why: for netlink
 */
void nnpu_ctx_lose(struct nnpu_ctx *ctx, const char *why)
{
	/* Not of those whose client has given them up. */
	if (!nnpu_ctx_is_lost(ctx) && !READ_ONCE(ctx->destroyed))
		nnpu_event_lost(ctx, why);
	WRITE_ONCE(ctx->lost, true);
	wake_up_all(&ctx->job_wait);
}

/**
 * nnpu_ctx_lose_all - mark all contexts as lost in a device reset, and end their jobs that wait
 * @ndev: device; nnpu_device.reset_sem is held for writing
 * @why: for netlink
 * @spare_kept: but those that system sleep has saved
 */
void nnpu_ctx_lose_all(struct nnpu_device *ndev, const char *why, bool spare_kept)
{
	unsigned long id, flags;
	struct nnpu_ctx *ctx;
	u32 next;

	xa_lock_irqsave(&ndev->contexts.xa, flags);
	xa_for_each(&ndev->contexts.xa, id, ctx)
		if (!spare_kept || !nnpu_ctx_is_kept(ctx))
			nnpu_ctx_lose(ctx, why);
	xa_unlock_irqrestore(&ndev->contexts.xa, flags);
	for (next = ndev->contexts.limit.min; nnpu_table_next(&ndev->contexts, &next); next++) {
		/* One without references has no jobs. */
		ctx = nnpu_table_get(&ndev->contexts, next, nnpu_ctx_tryget);
		if (!ctx)
			continue;
		if (nnpu_ctx_is_lost(ctx))
			nnpu_sched_drop(ctx);
		nnpu_ctx_put_deferred(ctx);
	}
}

/**
 * nnpu_ctx_restore - create a context again in a device that was started anew
 * @ctx: context that system sleep has saved; nnpu_device.reset_sem is held for writing
 *
 * Allocates nothing. If it fails with -EIO, the device does not have the context.
 *
 * Return: 0; -ETIMEDOUT if the device does not answer, -EIO if it refuses the context or a program.
 */
int nnpu_ctx_restore(struct nnpu_ctx *ctx)
{
	u32 place = nnpu_admin_place(ctx->id);
	struct nnpu_sqe_create_ctx sqe;
	struct nnpu_admin_result result;
	struct nnpu_sqe destroy;
	int ret;

	nnpu_ctx_fill_create(ctx, &sqe);
	ret = nnpu_admin_exec(ctx->ndev, place, &sqe, &result);
	if (ret)
		return ret;
	if (result.status) {
		drm_warn(&ctx->ndev->drm, "context %u after sleep: %s (%#x)\n", ctx->id,
			 nnpu_status_text(result.status), result.status);
		return -EIO;
	}
	ret = nnpu_prog_restore_all(ctx);
	nnpu_ctx_fill_destroy(ctx, &destroy);
	/* What cannot be taken away from the device is taken away by a reset. */
	if (ret == -EIO && (nnpu_admin_exec(ctx->ndev, place, &destroy, &result) || result.status))
		ret = -ETIMEDOUT;
	return ret;
}

/**
 * nnpu_ctx_destroy_late - after a pause: destroy a context that was given up in it
 * @ctx: context that nnpu_ctx_restore() has given back to the device, or not
 *
 * The client's command was refused in the pause. The device may say that there is no such context.
 */
void nnpu_ctx_destroy_late(struct nnpu_ctx *ctx)
{
	struct nnpu_admin_result result;
	struct nnpu_sqe sqe;

	/*
	 * nnpu_device.paused was cleared before @destroyed is read here; nnpu_ctx_destroy_hw() sets
	 * @destroyed before srcu_read_lock() of nnpu_device_enter(), a full barrier, and then
	 * reads @paused. So one of the two sees the other.
	 */
	smp_mb();
	if (!READ_ONCE(ctx->destroyed))
		return;
	nnpu_ctx_fill_destroy(ctx, &sqe);
	nnpu_command_exec(ctx->ndev, NULL, &sqe, &result);
}

/**
 * nnpu_ctx_tryget - take a reference, for nnpu_table_get()
 * @object: context
 *
 * Return: false if the context is on its way out, or not yet there.
 */
bool nnpu_ctx_tryget(void *object)
{
	struct nnpu_ctx *ctx = object;

	return refcount_inc_not_zero(&ctx->ref);
}

/**
 * nnpu_ctx_unplug_all - free the DMA memory of all contexts
 * @ndev: device, unplugged and unable to access memory
 *
 * Open files keep their contexts without DMA memory: it must not outlive the binding of
 * device and driver.
 */
void nnpu_ctx_unplug_all(struct nnpu_device *ndev)
{
	u32 id;

	for (id = ndev->contexts.limit.min; id <= ndev->contexts.limit.max; id++) {
		struct nnpu_ctx *ctx = nnpu_table_get(&ndev->contexts, id, nnpu_ctx_tryget);

		if (ctx) {
			nnpu_ctx_free_dma(ctx);
			nnpu_ctx_put_deferred(ctx);
			continue;
		}
		/*
		 * nnpu_ctx_release() is about to free it. No context comes after
		 * drm_dev_unplug().
		 */
		wait_event(ndev->unplug_wait, !nnpu_table_get(&ndev->contexts, id, NULL));
	}
}
