// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deferred releases. The last reference of a context, slot or program may be dropped in an
 * interrupt, but its release sends an admin command and waits for the answer.
 */
#include <linux/errno.h>
#include <linux/workqueue.h>

#include "nnpu_release.h"

static struct workqueue_struct *nnpu_release_wq;

/**
 * nnpu_release_init - prepare deferred releases
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_release_init(void)
{
	nnpu_release_wq = alloc_workqueue("nnpu-release", WQ_UNBOUND, 0);
	return nnpu_release_wq ? 0 : -ENOMEM;
}

/**
 * nnpu_release_exit - finish all releases and undo nnpu_release_init()
 */
void nnpu_release_exit(void)
{
	destroy_workqueue(nnpu_release_wq);
}

/**
 * nnpu_release_queue - have an object released soon
 * @work: its work item
 *
 * Any context.
 */
void nnpu_release_queue(struct work_struct *work)
{
	queue_work(nnpu_release_wq, work);
}

/**
 * nnpu_release_flush - wait for the releases queued so far
 */
void nnpu_release_flush(void)
{
	flush_workqueue(nnpu_release_wq);
}
