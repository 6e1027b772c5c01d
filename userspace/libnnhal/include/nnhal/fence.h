/* SPDX-License-Identifier: MIT */
/*
 * Fences of fenced executions, and the times of deadlines.
 *
 * A fence is a file descriptor. A hardware device takes and gives sync files (linux/sync_file.h), of
 * whatever driver. The device in the process takes both sync files and fences of
 * nnhal_fence_create(), and gives the latter. Both kinds can be polled: POLLIN means that the fence
 * has signalled, with or without an error. A signalled fence stays so, for all its duplicates.
 */
#ifndef NNHAL_FENCE_H
#define NNHAL_FENCE_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * enum nnhal_fence_state - what becomes of a fence
 * @NNHAL_FENCE_ACTIVE: it has not signalled
 * @NNHAL_FENCE_SIGNALED: it has signalled without an error
 * @NNHAL_FENCE_ERROR: it has signalled with an error
 * @NNHAL_FENCE_UNKNOWN: the descriptor is no fence, or waiting failed
 */
enum nnhal_fence_state {
	NNHAL_FENCE_ACTIVE = 0,
	NNHAL_FENCE_SIGNALED = 1,
	NNHAL_FENCE_ERROR = 2,
	NNHAL_FENCE_UNKNOWN = 3,
};

/**
 * nnhal_fence_wait() - wait for a fence
 * @fence: fence of either kind
 * @timeout_ms: how long at most; 0: only look; negative: no limit
 *
 * Signals do not end the wait.
 *
 * Return: its state when it has signalled or the time is over.
 */
enum nnhal_fence_state nnhal_fence_wait(int fence, int timeout_ms);

/**
 * nnhal_fence_create() - make a fence for the device in the process
 * @fence: out: the fence; the caller closes it
 * @signal: out: what signals it; the caller closes it
 *
 * When all duplicates of @signal are closed, a fence that has not signalled has an error. Neither
 * takes a thread. A hardware device does not take such a fence.
 *
 * Return: NONE; RESOURCE_EXHAUSTED_*; INVALID_ARGUMENT (NULL pointer).
 */
enum nnhal_status nnhal_fence_create(int *fence, int *signal);

/**
 * nnhal_fence_signal() - signal a fence of nnhal_fence_create()
 * @signal: descriptor of nnhal_fence_create()
 * @error: 0, or the error of the fence, a negative errno
 *
 * The first signal counts. Never waits.
 *
 * Return: NONE, also if all duplicates of the fence are closed; INVALID_ARGUMENT (no such
 * descriptor, an error that is none).
 */
enum nnhal_status nnhal_fence_signal(int signal, int error);

/**
 * nnhal_deadline_after() - makeDeadline: the time after a duration
 * @duration_ns: from now on
 *
 * Return: CLOCK_MONOTONIC, ns; INT64_MAX, which is no limit, if the time is beyond it.
 */
uint64_t nnhal_deadline_after(uint64_t duration_ns);

/**
 * nnhal_deadline_has_passed() - hasDeadlinePassed
 * @has_deadline: there is a deadline
 * @deadline_ns: CLOCK_MONOTONIC; at or above INT64_MAX there is no limit
 *
 * Return: there is one, and now it is that time or later.
 */
bool nnhal_deadline_has_passed(bool has_deadline, uint64_t deadline_ns);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_FENCE_H */
