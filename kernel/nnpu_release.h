/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_RELEASE_H_
#define _NNPU_RELEASE_H_

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/**
 * struct nnpu_release - deferred releases of a device
 * @wq: workqueue
 * @lock: protects what follows, without @progress; taken in interrupts
 * @pending: marks of items of all lists that are not yet released, the oldest first
 * @added: items so far
 * @done: items released so far
 * @progress: woken when @done has changed
 */
struct nnpu_release {
	struct workqueue_struct *wq;
	spinlock_t lock;	/* see above */
	struct list_head pending;
	u64 added;
	u64 done;
	wait_queue_head_t progress;
};

/**
 * struct nnpu_release_mark - the place of an item among all of a device
 * @node: entry of nnpu_release.pending
 * @number: nnpu_release.added when it came
 */
struct nnpu_release_mark {
	struct list_head node;
	u64 number;
};

/**
 * struct nnpu_release_list - releases of one client, one after the other
 * @release: releases of its device
 * @items: those that wait
 * @work: releases @items
 */
struct nnpu_release_list {
	struct nnpu_release *release;
	struct llist_head items;
	struct work_struct work;
};

/**
 * struct nnpu_release_item - an object on such a list
 * @node: entry of nnpu_release_list.items
 * @mark: its place, until the release begins
 * @fn: releases the object; that of the last one may free the list
 */
struct nnpu_release_item {
	struct llist_node node;
	struct nnpu_release_mark mark;
	void (*fn)(struct nnpu_release_item *item);
};

int nnpu_release_setup(void);
void nnpu_release_teardown(void);
int nnpu_release_init(struct nnpu_release *release);
void nnpu_release_fini(struct nnpu_release *release);
void nnpu_release_queue(struct nnpu_release *release, struct work_struct *work);
void nnpu_release_list_init(struct nnpu_release_list *list, struct nnpu_release *release);
void nnpu_release_add(struct nnpu_release_list *list, struct nnpu_release_item *item);
u64 nnpu_release_added(struct nnpu_release *release);
u64 nnpu_release_done(struct nnpu_release *release);
bool nnpu_release_is_pending(struct nnpu_release *release, u64 last);
int nnpu_release_wait_item(struct nnpu_release *release, u64 last, u64 seen);
void nnpu_release_expect(void);
void nnpu_release_queue_last(struct work_struct *work);
void nnpu_release_flush(struct nnpu_release *release);

#endif /* _NNPU_RELEASE_H_ */
