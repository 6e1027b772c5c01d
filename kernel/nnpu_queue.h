/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_QUEUE_H_
#define _NNPU_QUEUE_H_

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "nnpu_qpair.h"
#include "nnpu_watchdog.h"

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_job;

/**
 * struct nnpu_queue - the kernel queue: jobs of SUBMIT
 * @qp: its rings; owners of its cids are struct nnpu_job
 * @abort_lock: one ABORT of a job of a closed file at a time: one id can be pinned
 * @args: argument blocks, one per command id, in coherent memory
 * @args_dma: DMA address of @args
 * @args_stride: bytes from one argument block to the next
 * @depth: commands in flight
 * @inflight: jobs the device owns, oldest first; under qp.lock
 * @completed: jobs the device has ended; under qp.lock
 * @watchdog: state of the watchdog; only work items of nnpu_device.reset_wq use it
 * @watchdog_work: looks at the queue while jobs are in flight
 */
struct nnpu_queue {
	struct nnpu_qpair qp;
	struct mutex abort_lock;	/* see above */
	void *args;
	dma_addr_t args_dma;
	u32 args_stride;
	u32 depth;
	struct list_head inflight;
	u64 completed;
	struct nnpu_watchdog watchdog;
	struct delayed_work watchdog_work;
};

int nnpu_queue_init(struct nnpu_device *ndev);
void nnpu_queue_fini(struct nnpu_device *ndev);
int nnpu_queue_create(struct nnpu_device *ndev);
int nnpu_queue_submit(struct nnpu_queue *queue, struct nnpu_job *job);
unsigned int nnpu_queue_process(struct nnpu_queue *queue);
unsigned int nnpu_queue_count(struct nnpu_queue *queue, unsigned int *suspects);
void nnpu_queue_stop(struct nnpu_queue *queue);
void nnpu_queue_abandon(struct nnpu_queue *queue, u16 guilty_cid, int guilty_error, int error);
void nnpu_queue_resume(struct nnpu_queue *queue, u16 guilty_cid, int guilty_error,
		       u16 running_cid);
bool nnpu_queue_pin_job(struct nnpu_queue *queue, struct nnpu_ctx *ctx, u16 *cid);
void nnpu_queue_unpin_job(struct nnpu_queue *queue);
void nnpu_queue_kick_watchdog(struct nnpu_queue *queue, bool now);

#endif /* _NNPU_QUEUE_H_ */
