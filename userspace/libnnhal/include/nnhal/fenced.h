/* SPDX-License-Identifier: MIT */
/*
 * Fenced executions: IPreparedModel.executeFenced and IFencedExecutionCallback of the HAL 1.3.
 *
 * A fenced execution begins when other fences have signalled, and signals one itself. Nobody in the
 * process waits for any of them: the driver does. Executions, also of several models, and work of
 * other devices form chains this way. If a fence ends with an error, so do all that wait for it.
 */
#ifndef NNHAL_FENCED_H
#define NNHAL_FENCED_H

#include <nnhal/fence.h>
#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_prepared_model;
struct nnhal_fenced_callback;

/**
 * struct nnhal_fenced_options - parameters of executeFenced beside the request
 * @size: sizeof(struct nnhal_fenced_options)
 * @measure: enum nnhal_measure
 * @has_deadline: @deadline_ns is valid
 * @deadline_ns: as of struct nnhal_execute_options
 * @has_loop_timeout: @loop_timeout_ns is valid
 * @loop_timeout_ns: as of struct nnhal_execute_options
 * @has_duration: @duration_ns is valid
 * @duration_ns: timeoutDurationAfterFence: a deadline that counts from the time when the last
 *	fence to wait for has signalled, but not from before the call. The earlier one counts
 * @diag: out: message after an error of the call; may be NULL. Not used afterwards
 */
struct nnhal_fenced_options {
	size_t size;
	int32_t measure;
	bool has_deadline;
	uint64_t deadline_ns;
	bool has_loop_timeout;
	uint64_t loop_timeout_ns;
	bool has_duration;
	uint64_t duration_ns;
	struct nnhal_diag *diag;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_FENCED_OPTIONS_INIT \
	{ sizeof(struct nnhal_fenced_options), NNHAL_MEASURE_NO, false, 0, false, 0, false, 0, \
	  NULL }

/**
 * nnhal_prepared_model_execute_fenced() - executeFenced
 * @model: prepared model
 * @request: arguments, with hal_version NNHAL_HAL_1_3 or 0; all dimensions of outputs must be
 *	known. Not used after the function has returned
 * @wait_for: @num_wait_for descriptors of fences; not used after the function has returned
 * @num_wait_for: number of fences; may be 0
 * @options: parameters, or NULL for NNHAL_FENCED_OPTIONS_INIT
 * @sync_fence: out: a fence that signals when the execution has ended, with an error if it has failed;
 *	the caller closes it. -1: there is none, as the execution has ended already, or did not begin
 * @callback: out: tells about the execution; the caller releases it. NULL unless the result is NONE
 *
 * The call does not wait for fences, but for one reason: memory that the device cannot reach has to be
 * copied, so the call waits for @wait_for, for the execution, and returns no fence. A deadline limits
 * that. Nor does it wait for room: a context that has as many jobs as it can have gives
 * RESOURCE_EXHAUSTED_TRANSIENT.
 *
 * On a hardware device executions of one device and priority that are launched later begin later, except
 * bursts on a device queue. None of them may be what @wait_for waits for.
 *
 * A buffer that a fenced execution writes is uninitialised until that has ended. A later fenced
 * execution may read it all the same; it has to wait for the fence.
 *
 * Return: NONE: the execution has been launched or has ended well; INVALID_ARGUMENT (the request
 * breaks a rule, outputs whose size is not known, one whose memory is too small, a descriptor that
 * is no fence, a fence that has an error already); MISSED_DEADLINE_* (before the launch);
 * RESOURCE_EXHAUSTED_*; GENERAL_FAILURE; DEVICE_UNAVAILABLE; DEAD_OBJECT.
 */
enum nnhal_status
nnhal_prepared_model_execute_fenced(struct nnhal_prepared_model *model,
				    const struct nnhal_request *request, const int *wait_for,
				    uint32_t num_wait_for,
				    const struct nnhal_fenced_options *options, int *sync_fence,
				    struct nnhal_fenced_callback **callback);

/**
 * nnhal_fenced_callback_get_execution_info() - getExecutionInfo
 * @callback: callback
 * @launched: out: time from the call to the end; may be NULL
 * @fenced: out: time from the signal of the last fence that was waited for to the end; may be NULL
 *
 * May be called any number of times, from any thread, also after the model was released.
 *
 * Return: the status of the execution: NONE, GENERAL_FAILURE, MISSED_DEADLINE_* or
 * RESOURCE_EXHAUSTED_*. GENERAL_FAILURE before its end. An execution that did not run because a fence
 * failed by timeout has MISSED_DEADLINE_TRANSIENT. Both times are NNHAL_NO_TIMING unless the
 * status is NONE and options->measure was set. In a child of fork() it is DEVICE_UNAVAILABLE.
 */
enum nnhal_status
nnhal_fenced_callback_get_execution_info(struct nnhal_fenced_callback *callback,
					 struct nnhal_timing *launched,
					 struct nnhal_timing *fenced);

/** nnhal_fenced_callback_ref() - take a reference; returns @callback */
struct nnhal_fenced_callback *nnhal_fenced_callback_ref(struct nnhal_fenced_callback *callback);

/**
 * nnhal_fenced_callback_unref() - release a reference; NULL is allowed
 *
 * The execution goes on. The last release may start the thread of the device that waits for
 * asynchronous executions.
 */
void nnhal_fenced_callback_unref(struct nnhal_fenced_callback *callback);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_FENCED_H */
