/* SPDX-License-Identifier: MIT */
/*
 * Completion queues: asynchronous jobs whose end the caller asks for.
 */
#ifndef NNHAL_COMPLETION_QUEUE_H
#define NNHAL_COMPLETION_QUEUE_H

#include <nnhal/nnhal.h>

#include "device/async.h"

/*
 * As async_add(): job->complete() is called from nnhal_completion_queue_dispatch(), or from
 * the thread of the device if the queue is destroyed before. The job holds the device.
 */
void completion_queue_add(struct nnhal_completion_queue *queue, struct async_job *job);
/* Can a device use the queue? Only its own. */
bool completion_queue_is_of(const struct nnhal_completion_queue *queue,
			    const struct nnhal_device *device);

#endif /* NNHAL_COMPLETION_QUEUE_H */
