/* SPDX-License-Identifier: MIT */
/*
 * Completion queues: the results of asynchronous executions on a thread of the caller.
 *
 * An asynchronous execution whose options name a completion queue calls back from
 * nnhal_completion_queue_dispatch(), not from a thread of the library, and the library starts no
 * thread for it. The queue has a descriptor for poll(), epoll and event loops that is readable
 * while results wait.
 *
 * All functions but nnhal_completion_queue_destroy() may be called from any thread, also several
 * times at once. A callback may launch further executions with the same queue. A child of fork()
 * may only destroy its copy of a queue; the parent's goes on.
 */
#ifndef NNHAL_COMPLETION_H
#define NNHAL_COMPLETION_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_completion_queue;
struct nnhal_device;

/**
 * nnhal_completion_queue_create() - make a completion queue
 * @device: device of the executions; the queue keeps a reference
 * @queue: out: queue, NULL after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer); RESOURCE_EXHAUSTED_*; DEVICE_UNAVAILABLE.
 */
enum nnhal_status nnhal_completion_queue_create(struct nnhal_device *device,
						struct nnhal_completion_queue **queue,
						struct nnhal_diag *diag);

/**
 * nnhal_completion_queue_fd() - the descriptor of a queue
 * @queue: queue
 *
 * It is readable (POLLIN) while results wait. Do nothing with it but wait; it belongs to the queue.
 * Each execution in flight takes a descriptor, too. One that finds none is looked at by
 * nnhal_completion_queue_dispatch(), and keeps the descriptor readable until then.
 *
 * Return: the descriptor, -1 if @queue is NULL.
 */
int nnhal_completion_queue_fd(const struct nnhal_completion_queue *queue);

/**
 * nnhal_completion_queue_dispatch() - call the callbacks of executions that have ended
 * @queue: queue
 * @max: how many at most, not 0
 * @count: out: how many were called; may be NULL
 *
 * Does not wait for an execution that runs.
 *
 * Return: NONE, also if no result was there; INVALID_ARGUMENT (a NULL pointer, @max 0);
 * DEVICE_UNAVAILABLE: in a child of fork().
 */
enum nnhal_status nnhal_completion_queue_dispatch(struct nnhal_completion_queue *queue,
						  uint32_t max, uint32_t *count);

/**
 * nnhal_completion_queue_destroy() - release a queue; NULL is allowed
 *
 * No other call with the queue may be under way, and no callback of it may call this. Executions
 * that have not called back yet do so from the library's thread, as without a queue, or, if that
 * cannot be started, from within this function, which then waits for them.
 */
void nnhal_completion_queue_destroy(struct nnhal_completion_queue *queue);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_COMPLETION_H */
