/* SPDX-License-Identifier: MIT */
/*
 * Prepared models: the IPreparedModel of the HAL.
 *
 * A prepared model is a program loaded into the device. It is reference-counted,
 * holds its device open, and runs any number of executions at once, each with
 * memory and shapes of its own.
 *
 * Asynchronous executions that have been launched are watched by one thread per
 * device, which starts with the first of them and calls all callbacks. A
 * callback may call any function of the library but must not wait for another
 * callback of the same device.
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

/**
 * struct nnhal_execute_options - parameters of execute_1_3 beside the request
 * @size: sizeof(struct nnhal_execute_options)
 * @measure: enum nnhal_measure
 * @has_deadline: @deadline_ns counts
 * @deadline_ns: CLOCK_MONOTONIC, ns. At or above INT64_MAX there is no limit.
 *	A deadline that has passed already ends the execution with
 *	MISSED_DEADLINE_PERSISTENT; otherwise it may end late
 * @has_loop_timeout: @loop_timeout_ns counts
 * @loop_timeout_ns: most time for each WHILE, ns; more than
 *	NNHAL_MAX_LOOP_TIMEOUT_NS gives INVALID_ARGUMENT
 * @diag: filled in after an error, until the callback has returned; may be NULL
 * @profile: times of the single operations, filled in until the callback has
 *	returned, see nnhal/ext.h; may be NULL
 * @work: what the device did beside the operations, filled in until the callback
 *	has returned, see nnhal/ext.h; may be NULL
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
};

/* What a NULL options pointer stands for. */
#define NNHAL_EXECUTE_OPTIONS_INIT \
	{ sizeof(struct nnhal_execute_options), NNHAL_MEASURE_NO, false, 0, false, 0, \
	  NULL, NULL, NULL }

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
 * @timing: NNHAL_NO_TIMING twice unless @status is NONE and measuring was asked for
 */
typedef void (*nnhal_execution_callback)(void *context, enum nnhal_status status,
					 const struct nnhal_output_shape *output_shapes,
					 uint32_t num_output_shapes,
					 const struct nnhal_timing *timing);

/**
 * nnhal_prepared_model_execute() - execute_1_3: execute asynchronously
 * @model: prepared model
 * @request: arguments; its hal_version selects the version of the method. Not
 *	used any more when the function has returned; the library holds
 *	references of the memory objects until the execution has ended
 * @options: parameters, or NULL for NNHAL_EXECUTE_OPTIONS_INIT; not used any more
 *	when the function has returned, except for what it points to
 * @callback: called exactly once, from within this function if it does not
 *	return NONE, else from a thread of the library
 * @context: passed to @callback
 *
 * Return: NONE: the execution has started, @callback brings the result. Otherwise
 * @callback was called with the same status. Without @callback: INVALID_ARGUMENT.
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
 * @timing: out: NNHAL_NO_TIMING twice unless the result is NONE and measuring was
 *	asked for; may be NULL
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
 * The last release unloads the program; executions that still run hold
 * references of their own.
 */
void nnhal_prepared_model_unref(struct nnhal_prepared_model *model);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_PREPARED_MODEL_H */
