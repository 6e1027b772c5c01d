/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_RELEASE_H_
#define _NNPU_RELEASE_H_

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/**
 * struct nnpu_release - deferred releases of a device
 * @wq: workqueue
 * @pending: items of all lists that are not yet released
 * @done: items released so far
 * @progress: woken when @done has changed
 */
struct nnpu_release {
	struct workqueue_struct *wq;
	atomic_t pending;
	atomic_t done;
	wait_queue_head_t progress;
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
 * @fn: releases the object; that of the last one may free the list
 */
struct nnpu_release_item {
	struct llist_node node;
	void (*fn)(struct nnpu_release_item *item);
};

int nnpu_release_setup(void);
void nnpu_release_teardown(void);
int nnpu_release_init(struct nnpu_release *release);
void nnpu_release_fini(struct nnpu_release *release);
void nnpu_release_queue(struct nnpu_release *release, struct work_struct *work);
void nnpu_release_list_init(struct nnpu_release_list *list, struct nnpu_release *release);
void nnpu_release_add(struct nnpu_release_list *list, struct nnpu_release_item *item);
int nnpu_release_wait_item(struct nnpu_release *release, int seen);
void nnpu_release_expect(void);
void nnpu_release_queue_last(struct work_struct *work);
void nnpu_release_flush(struct nnpu_release *release);

#endif /* _NNPU_RELEASE_H_ */
