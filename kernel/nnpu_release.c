// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deferred releases. The last reference of a context, slot or program may be dropped in an
 * interrupt, but its release sends an admin command and waits for the answer. Each device has
 * a workqueue for that: a device that does not answer keeps nobody else waiting.
 *
 * Each context has a list there, and one work item: a job may drop a thousand references of slots
 * at once, and each release waits for a command of that context. As work items of their own they
 * would fill the workqueue, and the releases of all other contexts would wait behind them.
 *
 * What the last release of a device cannot do is to free the device with its workqueue. This
 * is left to a workqueue of the module, where nothing waits for a device.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "nnpu_release.h"

static struct workqueue_struct *nnpu_release_last_wq;
/* Calls of nnpu_release_queue_last() that are still to come. */
static atomic_t nnpu_release_expected;
static DECLARE_WAIT_QUEUE_HEAD(nnpu_release_wait);

/**
 * nnpu_release_setup - prepare for devices
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_release_setup(void)
{
	nnpu_release_last_wq = alloc_workqueue("nnpu-release-last", WQ_UNBOUND, 0);
	return nnpu_release_last_wq ? 0 : -ENOMEM;
}

/**
 * nnpu_release_teardown - wait for the last releases and undo nnpu_release_setup()
 */
void nnpu_release_teardown(void)
{
	wait_event(nnpu_release_wait, !atomic_read(&nnpu_release_expected));
	destroy_workqueue(nnpu_release_last_wq);
}

/**
 * nnpu_release_init - prepare deferred releases of a device
 * @release: releases
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_release_init(struct nnpu_release *release)
{
	spin_lock_init(&release->lock);
	INIT_LIST_HEAD(&release->pending);
	release->added = 0;
	release->done = 0;
	init_waitqueue_head(&release->progress);
	release->wq = alloc_workqueue("nnpu-release", WQ_UNBOUND, 0);
	return release->wq ? 0 : -ENOMEM;
}

/**
 * nnpu_release_fini - finish all releases and undo nnpu_release_init()
 * @release: releases; not in a work item of nnpu_release_queue()
 */
void nnpu_release_fini(struct nnpu_release *release)
{
	destroy_workqueue(release->wq);
	release->wq = NULL;
}

/**
 * nnpu_release_queue - have an object released soon
 * @release: releases of its device
 * @work: its work item
 *
 * Any context.
 */
void nnpu_release_queue(struct nnpu_release *release, struct work_struct *work)
{
	queue_work(release->wq, work);
}

static void nnpu_release_item(struct nnpu_release *release, struct nnpu_release_item *item)
{
	struct nnpu_release_mark mark;

	/* The item does not outlive its release, so its mark moves. */
	spin_lock_irq(&release->lock);
	mark.number = item->mark.number;
	list_replace(&item->mark.node, &mark.node);
	spin_unlock_irq(&release->lock);
	item->fn(item);
	spin_lock_irq(&release->lock);
	list_del(&mark.node);
	release->done++;
	spin_unlock_irq(&release->lock);
	wake_up_all(&release->progress);
}

static void nnpu_release_list_work(struct work_struct *work)
{
	struct nnpu_release_list *list = container_of(work, struct nnpu_release_list, work);
	struct llist_node *items = llist_reverse_order(llist_del_all(&list->items));
	/* The last item may free the list. The device waits for this work item before it goes. */
	struct nnpu_release *release = list->release;
	struct nnpu_release_item *item, *tmp;

	llist_for_each_entry_safe(item, tmp, items, node)
		nnpu_release_item(release, item);
}

/**
 * nnpu_release_list_init - make an empty list
 * @list: list
 * @release: releases of its device
 */
void nnpu_release_list_init(struct nnpu_release_list *list, struct nnpu_release *release)
{
	list->release = release;
	init_llist_head(&list->items);
	INIT_WORK(&list->work, nnpu_release_list_work);
}

/**
 * nnpu_release_add - have an object released soon, after those before it on its list
 * @list: list; the object keeps it alive
 * @item: object
 *
 * Any context.
 */
void nnpu_release_add(struct nnpu_release_list *list, struct nnpu_release_item *item)
{
	struct nnpu_release *release = list->release;
	unsigned long flags;

	spin_lock_irqsave(&release->lock, flags);
	item->mark.number = ++release->added;
	list_add_tail(&item->mark.node, &release->pending);
	spin_unlock_irqrestore(&release->lock, flags);
	if (llist_add(&item->node, &list->items))
		queue_work(release->wq, &list->work);
}

/**
 * nnpu_release_added - how many items were there so far?
 * @release: releases of a device
 *
 * Return: the number of the last one.
 */
u64 nnpu_release_added(struct nnpu_release *release)
{
	u64 added;

	spin_lock_irq(&release->lock);
	added = release->added;
	spin_unlock_irq(&release->lock);
	return added;
}

/**
 * nnpu_release_done - how many items have been released so far?
 * @release: releases of a device
 *
 * Return: their number.
 */
u64 nnpu_release_done(struct nnpu_release *release)
{
	u64 done;

	spin_lock_irq(&release->lock);
	done = release->done;
	spin_unlock_irq(&release->lock);
	return done;
}

/**
 * nnpu_release_is_pending - is one of the first items not yet released?
 * @release: releases of a device
 * @last: the last item to look at, from nnpu_release_added()
 *
 * Return: false if all of them have been released.
 */
bool nnpu_release_is_pending(struct nnpu_release *release, u64 last)
{
	struct nnpu_release_mark *oldest;
	bool pending;

	spin_lock_irq(&release->lock);
	oldest = list_first_entry_or_null(&release->pending, struct nnpu_release_mark, node);
	pending = oldest && oldest->number <= last;
	spin_unlock_irq(&release->lock);
	return pending;
}

/**
 * nnpu_release_wait_item - wait until an item has been released
 * @release: releases of a device
 * @last: the last item that the caller waits for: others come for ever
 * @seen: nnpu_release_done() before the caller found that it lacks something
 *
 * Return: 0 if an item has been released since, or all up to @last have; -ERESTARTSYS at a signal.
 */
int nnpu_release_wait_item(struct nnpu_release *release, u64 last, u64 seen)
{
	return wait_event_interruptible(release->progress, nnpu_release_done(release) != seen ||
				   !nnpu_release_is_pending(release, last));
}

/**
 * nnpu_release_expect - there is an object that nnpu_release_queue_last() will be called for
 */
void nnpu_release_expect(void)
{
	atomic_inc(&nnpu_release_expected);
}

/**
 * nnpu_release_queue_last - have the last reference of a device dropped soon
 * @work: does that; it may call nnpu_release_fini()
 *
 * Any context. Once for each nnpu_release_expect().
 */
void nnpu_release_queue_last(struct work_struct *work)
{
	queue_work(nnpu_release_last_wq, work);
	if (atomic_dec_and_test(&nnpu_release_expected))
		wake_up_all(&nnpu_release_wait);
}

/**
 * nnpu_release_flush - wait for the releases queued so far
 * @release: releases of a device
 */
void nnpu_release_flush(struct nnpu_release *release)
{
	flush_workqueue(release->wq);
}
