// SPDX-License-Identifier: GPL-2.0-only
/*
 * System sleep: the device loses its state, but the clients do not lose theirs.
 *
 * Before the pause (nnpu_pause.c) the jobs that the device has end, the user queues give their
 * hardware queues back, and the device writes its programs to memory. After the pause the contexts
 * are created again, and the programs are loaded. What waited goes on: jobs that wait for
 * fences or for their turn, entries in the rings of user queues. Slots, rings and argument blocks
 * are in memory of the host, which keeps them.
 *
 * What cannot be saved is lost as in a device reset, and takes nothing else with it. There is no
 * failure that would keep the system awake. Nor does a client keep it awake: each wait of an ioctl
 * either ends when its process has to stand still, or is bounded by commands of 20 ms. A load is
 * aborted then and begins again afterwards (nnpu_admin_load()).
 *
 * Processes are frozen meanwhile. Kernel threads are not; and a test module lets one device sleep
 * while processes run. What they change then is refused, or found by nnpu_sleep_check().
 */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_prog.h"
#include "nnpu_sleep.h"
#include "nnpu_userq.h"

/* Time between two looks at jobs that have begun. */
#define NNPU_SLEEP_LOOK_MS	2

/**
 * nnpu_sleep_is_active - is the device saved, asleep or being restored?
 * @ndev: device
 *
 * Return: true from nnpu_sleep_begin() to nnpu_sleep_end(), if contexts are to survive.
 */
bool nnpu_sleep_is_active(struct nnpu_device *ndev)
{
	return READ_ONCE(ndev->sleep.active);
}

/* All contexts that somebody has, each with a reference. */
static void nnpu_sleep_collect(struct nnpu_device *ndev)
{
	struct nnpu_ctx *ctx;
	u32 id;

	for (id = ndev->contexts.limit.min; nnpu_table_next(&ndev->contexts, &id); id++) {
		ctx = nnpu_table_get(&ndev->contexts, id, nnpu_ctx_tryget);
		if (ctx)
			list_add_tail(&ctx->sleep_node, &ndev->sleep.contexts);
	}
}

/* Wait until the device has no job, and no user queue. */
static void nnpu_sleep_drain(struct nnpu_device *ndev)
{
	unsigned long end = jiffies + msecs_to_jiffies(nnpu_param_sleep_drain_ms());
	unsigned int queues;
	bool drained;

	for (;;) {
		queues = nnpu_userq_lend_take_back(ndev);
		drained = nnpu_queue_is_drained(&ndev->queue);
		if ((!queues && drained) || READ_ONCE(ndev->dead))
			return;
		if (time_after(jiffies, end))
			break;
		msleep(NNPU_SLEEP_LOOK_MS);
	}
	drm_warn(&ndev->drm, "system sleep ends jobs that have not ended in time%s\n",
		 queues ? ", and their queues" : "");
}

static void nnpu_sleep_save(struct nnpu_ctx *ctx)
{
	int ret = nnpu_ctx_is_lost(ctx) ? -ENODEV : nnpu_prog_keep_all(ctx);

	/* The client has the message of a context that is lost. */
	if (ret && ret != -ENODEV)
		drm_warn(&ctx->ndev->drm, "context %u does not survive system sleep: %d\n",
			 ctx->id, ret);
	/* Others may need the memory. */
	if (ret)
		nnpu_prog_forget_all(ctx);
	WRITE_ONCE(ctx->kept, !ret);
}

/**
 * nnpu_sleep_begin - save what the device has
 * @ndev: device; nnpu_pause_begin() follows
 *
 * Takes sleep_drain_ms and the time to copy the device's memory at most.
 */
void nnpu_sleep_begin(struct nnpu_device *ndev)
{
	struct nnpu_sleep *sleep = &ndev->sleep;
	struct nnpu_ctx *ctx;

	if (!nnpu_param_sleep_drain_ms() || !(ndev->features & NNPU_FEATURE_SAVE))
		return;
	WRITE_ONCE(sleep->active, true);
	/* It may have looked just before. */
	flush_delayed_work(&ndev->userqs.work);
	nnpu_sleep_collect(ndev);
	nnpu_queue_hold(&ndev->queue, NULL);
	nnpu_sleep_drain(ndev);
	list_for_each_entry(ctx, &sleep->contexts, sleep_node)
		nnpu_sleep_save(ctx);
}

/**
 * nnpu_sleep_check - find contexts that have changed since they were saved
 * @ndev: device, paused: nobody can change one any more
 */
void nnpu_sleep_check(struct nnpu_device *ndev)
{
	struct nnpu_ctx *ctx;

	list_for_each_entry(ctx, &ndev->sleep.contexts, sleep_node)
		if (!nnpu_prog_all_kept(ctx))
			WRITE_ONCE(ctx->kept, false);
}

/**
 * nnpu_sleep_restore - give the device what it had
 * @ndev: device, just started; nnpu_device.reset_sem is held for writing
 *
 * A context that it refuses is lost. Allocates nothing.
 *
 * Return: 0, or -ETIMEDOUT if the device does not answer.
 */
int nnpu_sleep_restore(struct nnpu_device *ndev)
{
	struct nnpu_ctx *ctx;
	int ret;

	lockdep_assert_held_write(&ndev->reset_sem);
	list_for_each_entry(ctx, &ndev->sleep.contexts, sleep_node) {
		if (nnpu_ctx_is_lost(ctx))
			continue;
		ret = READ_ONCE(ctx->kept) ? nnpu_ctx_restore(ctx) : -EIO;
		if (ret == -ETIMEDOUT)
			return ret;
		if (ret) {
			nnpu_ctx_lose(ctx, "system sleep");
			nnpu_sched_drop(ctx);
			nnpu_userq_lose_ctx(ctx, NNPU_USERQ_LOST);
		}
	}
	return 0;
}

/**
 * nnpu_sleep_end - the device works again, or is dead: go on
 * @ndev: device, after nnpu_pause_end()
 */
void nnpu_sleep_end(struct nnpu_device *ndev)
{
	struct nnpu_sleep *sleep = &ndev->sleep;
	struct nnpu_ctx *ctx, *tmp;

	if (!nnpu_sleep_is_active(ndev))
		return;
	nnpu_queue_go_on(&ndev->queue, NULL);
	list_for_each_entry_safe(ctx, tmp, &sleep->contexts, sleep_node) {
		list_del_init(&ctx->sleep_node);
		WRITE_ONCE(ctx->kept, false);
		nnpu_prog_forget_all(ctx);
		nnpu_ctx_destroy_late(ctx);
		nnpu_ctx_put_deferred(ctx);
	}
	WRITE_ONCE(sleep->active, false);
	nnpu_userq_lend_go_on(ndev);
}

/**
 * nnpu_sleep_init - prepare for system sleep
 * @ndev: device
 */
void nnpu_sleep_init(struct nnpu_device *ndev)
{
	INIT_LIST_HEAD(&ndev->sleep.contexts);
}
