/* SPDX-License-Identifier: MIT */
/*
 * Prepared models: the IPreparedModel of the HAL.
 *
 * A prepared model is a program loaded into the device. It is reference-counted,
 * holds its device open, and runs any number of executions at once, each with
 * memory and shapes of its own.
 *
 * One thread per device waits for all asynchronous executions without a completion queue and calls
 * their callbacks. It starts with the first of them. A callback may call any function of the
 * library but must not wait for another callback of the same device. The library drops its references
 * before it calls back, so the release of the last reference of the device waits for a callback
 * that runs, unless it is made there: do not hold a lock then that a callback takes.
 */
#ifndef NNHAL_PREPARED_MODEL_H
#define NNHAL_PREPARED_MODEL_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_prepared_model;
struct nnhal_ext_profile;
struct nnhal_ext_work;
struct nnhal_completion_queue;

/**
 * struct nnhal_execute_options - parameters of execute_1_3 beside the request
 * @size: sizeof(struct nnhal_execute_options)
 * @measure: enum nnhal_measure
 * @has_deadline: @deadline_ns is valid
 * @deadline_ns: CLOCK_MONOTONIC, ns. At or above INT64_MAX there is no limit.
 *	If the deadline has passed before the execution begins, it ends with
 *	MISSED_DEADLINE_PERSISTENT; one that has begun is ended by the device at its
 *	deadline, with MISSED_DEADLINE_TRANSIENT
 * @has_loop_timeout: @loop_timeout_ns is valid
 * @loop_timeout_ns: longest time for each WHILE, ns; more than
 *	NNHAL_MAX_LOOP_TIMEOUT_NS gives INVALID_ARGUMENT
 * @diag: out: message after an error; may be NULL. An asynchronous execution may write
 *	it, @profile and @work until the callback has returned
 * @profile: out: time of each operation, see nnhal/ext.h; may be NULL
 * @work: out: what the device did besides the operations, see nnhal/ext.h; may be NULL
 * @completions: of an asynchronous execution: the queue that calls back, see nnhal/completion.h.
 *	It must outlive the launch. NULL: the library's thread calls back. Executions of another
 *	kind get INVALID_ARGUMENT
 *
 * If @profile or @work has a wrong size, the call ends with INVALID_ARGUMENT, and neither is written.
 */
struct nnhal_execute_options {
	size_t size;
	int32_t measure;
	bool has_deadline;
	uint64_t deadline_ns;
	bool has_loop_timeout;
	uint64_t loop_timeout_ns;
	struct nnhal_diag *diag;
	struct nnhal_ext_profile *profile;
	struct nnhal_ext_work *work;
	struct nnhal_completion_queue *completions;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_EXECUTE_OPTIONS_INIT \
	{ sizeof(struct nnhal_execute_options), NNHAL_MEASURE_NO, false, 0, false, 0, \
	  NULL, NULL, NULL, NULL }

/* LoopTimeoutDurationNs.DEFAULT and .MAXIMUM */
#define NNHAL_DEFAULT_LOOP_TIMEOUT_NS	UINT64_C(2000000000)
#define NNHAL_MAX_LOOP_TIMEOUT_NS	UINT64_C(15000000000)

/**
 * typedef nnhal_execution_callback - IExecutionCallback.notify_1_3
 * @context: as passed with the callback
 * @status: result
 * @output_shapes: @num_output_shapes entries, valid during the call; NULL if
 *	there are none
 * @num_output_shapes: number of outputs if @status is NONE or
 *	OUTPUT_INSUFFICIENT_SIZE, else 0
 * @timing: both fields NNHAL_NO_TIMING unless @status is NONE and @measure was set
 */
typedef void (*nnhal_execution_callback)(void *context, enum nnhal_status status,
					 const struct nnhal_output_shape *output_shapes,
					 uint32_t num_output_shapes,
					 const struct nnhal_timing *timing);

/**
 * nnhal_prepared_model_execute() - execute_1_3: execute asynchronously
 * @model: prepared model
 * @request: arguments; its hal_version selects the version of the method. Not used
 *	after the function has returned; the library holds references of the memory
 *	objects until the execution has ended
 * @options: parameters, or NULL for NNHAL_EXECUTE_OPTIONS_INIT. Not used after the
 *	function has returned, except for the structures it points to
 * @callback: called exactly once, from within this function if it does not
 *	return NONE, else from a thread of the library
 * @context: passed to @callback
 *
 * Return: NONE: the execution has started, and @callback delivers the result. With any
 * other status @callback has been called with it. INVALID_ARGUMENT if @callback is NULL.
 */
enum nnhal_status nnhal_prepared_model_execute(struct nnhal_prepared_model *model,
					       const struct nnhal_request *request,
					       const struct nnhal_execute_options *options,
					       nnhal_execution_callback callback,
					       void *context);

/**
 * nnhal_prepared_model_execute_synchronously() - executeSynchronously_1_3
 * @model: prepared model
 * @request: arguments; its hal_version selects the version of the method
 * @options: parameters, or NULL for NNHAL_EXECUTE_OPTIONS_INIT
 * @output_shapes: out: room for one entry per output of the request; may be NULL
 * @num_output_shapes: out: number of outputs if the result is NONE or
 *	OUTPUT_INSUFFICIENT_SIZE, else 0; may be NULL
 * @timing: out: both fields NNHAL_NO_TIMING unless the result is NONE and
 *	options->measure was set; may be NULL
 *
 * Returns when the execution is over: neither library nor device touch the
 * request's memory afterwards.
 *
 * Return: NONE; OUTPUT_INSUFFICIENT_SIZE; INVALID_ARGUMENT (the request breaks a
 * rule); MISSED_DEADLINE_*; RESOURCE_EXHAUSTED_*; GENERAL_FAILURE (an operation
 * refused the values of its operands, memory could not be read, the device was
 * reset); DEVICE_UNAVAILABLE (device removed); DEAD_OBJECT.
 */
enum nnhal_status
nnhal_prepared_model_execute_synchronously(struct nnhal_prepared_model *model,
					   const struct nnhal_request *request,
					   const struct nnhal_execute_options *options,
					   struct nnhal_output_shape *output_shapes,
					   uint32_t *num_output_shapes,
					   struct nnhal_timing *timing);

/** nnhal_prepared_model_ref() - take a reference; returns @model */
struct nnhal_prepared_model *nnhal_prepared_model_ref(struct nnhal_prepared_model *model);

/**
 * nnhal_prepared_model_unref() - release a reference; NULL is allowed
 *
 * The last release unloads the program. Executions that still run hold references of
 * their own.
 */
void nnhal_prepared_model_unref(struct nnhal_prepared_model *model);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_PREPARED_MODEL_H */
