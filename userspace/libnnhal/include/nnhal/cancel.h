/* SPDX-License-Identifier: MIT */
/*
 * Cancels: an execution ends before its time.
 *
 * The options of an execution name a cancel (nnhal_execute_options.cancel,
 * nnhal_fenced_options.cancel). A request to it ends all executions that name it: those that run,
 * those that wait for fences or for their turn, and those that are launched later, which do not
 * begin. A cancel may be named by any number of executions, of any models and devices; who wants to
 * end one of several gives each its own. It stays requested: there is no way back.
 *
 * The HAL has no status for it. An execution that was cancelled ends as any other that fails: its
 * status is GENERAL_FAILURE, its callback is called once, its fence signals with an error, and
 * those that wait for the fence fail with it. Outputs are undefined then, buffers that it was to
 * write are uninitialised, and there are neither shapes nor times. nnhal_cancel_count() tells that
 * it was the cancel, and so does the diag of the execution. One that was about to end may still end
 * with its own result.
 *
 * All functions may be called from any thread, also from callbacks. A child of fork() may only
 * release a cancel of its parent.
 */
#ifndef NNHAL_CANCEL_H
#define NNHAL_CANCEL_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_cancel;

/**
 * nnhal_cancel_create() - make a cancel
 * @cancel: out: cancel with one reference, NULL after an error
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer); RESOURCE_EXHAUSTED_*.
 */
enum nnhal_status nnhal_cancel_create(struct nnhal_cancel **cancel);

/**
 * nnhal_cancel_request() - end the executions that name a cancel
 * @cancel: cancel
 *
 * Does not wait for their end. For each that the device runs the driver asks the device to abort
 * it; the device answers such a command at once, and ends the execution after at most 20 ms of
 * engine time. An execution that waits for fences signals its own one after these. A call that
 * waits for room in the driver, or for fences because memory has to be copied, goes on waiting, and
 * does not run then. The executions of others are not affected, nor are further ones of the same
 * model.
 *
 * Return: NONE, also if it was requested before; INVALID_ARGUMENT (a NULL pointer);
 * DEVICE_UNAVAILABLE: in a child of fork().
 */
enum nnhal_status nnhal_cancel_request(struct nnhal_cancel *cancel);

/**
 * nnhal_cancel_is_requested() - was nnhal_cancel_request() called?
 * @cancel: cancel; NULL: no
 */
bool nnhal_cancel_is_requested(const struct nnhal_cancel *cancel);

/**
 * nnhal_cancel_count() - how many executions a cancel has ended
 * @cancel: cancel; NULL: 0
 *
 * An execution counts before its status is delivered. One that ended by itself, or failed for
 * another reason, does not count.
 */
uint64_t nnhal_cancel_count(const struct nnhal_cancel *cancel);

/** nnhal_cancel_ref() - take a reference; returns @cancel */
struct nnhal_cancel *nnhal_cancel_ref(struct nnhal_cancel *cancel);

/**
 * nnhal_cancel_unref() - release a reference; NULL is allowed
 *
 * Executions that name it hold references of their own.
 */
void nnhal_cancel_unref(struct nnhal_cancel *cancel);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_CANCEL_H */
