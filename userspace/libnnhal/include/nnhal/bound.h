/* SPDX-License-Identifier: MIT */
/*
 * Bound requests: a request that is checked and bound once and run any number of times.
 *
 * A bound request keeps a copy of a request and references of what it names: the prepared model,
 * memory objects, buffers. It runs alone, synchronously, asynchronously or fenced, or in bursts. A
 * run compares nothing with earlier ones: what the request says is known to be right. Statuses,
 * shapes and outputs are those of the request itself.
 *
 * An argument may be set anew between two runs: another place in its pool, other dimensions. The
 * next run checks the request once more, and refuses it if it breaks a rule, with the status that
 * the request would have. Version, pools and numbers of arguments stay as they are.
 *
 * Slots. A bound request that does not run holds no slot of the device. Its memory objects stay
 * bound until somebody needs their slots. Who binds memory when no slot is left takes one from a
 * binding that nobody uses, the least recently used one first. A run whose memory has
 * lost its slot binds it again, which is a call of the driver. So any number of bound requests may
 * exist, and they take nothing away from others. In a burst the same holds for the memory objects
 * that the burst keeps bound.
 *
 * Buffers. A bound request keeps the buffers that it names by tokens; it can still use them when
 * their tokens name nothing any more. The state of a buffer may change with each run, so such a
 * request is checked in each run.
 *
 * All functions may be called from any thread, and a bound request may run several times at once. A
 * run uses the arguments as they were when it was called. Bound requests, models, memory
 * objects, buffers and bursts may be released in any order.
 *
 * A device that is lost ends bound requests with it: runs return what runs of a request return.
 * Bind the request anew to a model of the device that comes back; the objects of nnhal/resilient.h
 * take requests only. A child of fork() may only release a bound request of its parent; other calls
 * return DEVICE_UNAVAILABLE there.
 */
#ifndef NNHAL_BOUND_H
#define NNHAL_BOUND_H

#include <nnhal/fenced.h>
#include <nnhal/prepared_model.h>
#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_bound_request;
struct nnhal_burst;

/**
 * struct nnhal_bound_options - parameters of a bound request
 * @size: sizeof(struct nnhal_bound_options)
 * @diag: filled in after an error of nnhal_bound_request_create(); may be NULL
 */
struct nnhal_bound_options {
	size_t size;
	struct nnhal_diag *diag;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_BOUND_OPTIONS_INIT	{ sizeof(struct nnhal_bound_options), NULL }

/**
 * nnhal_bound_request_create() - check and bind a request
 * @model: prepared model; the bound request keeps a reference
 * @request: as for nnhal_prepared_model_execute_synchronously(); not used after the function has
 *	returned. The bound request keeps references of memory objects and buffers
 * @options: parameters, or NULL for NNHAL_BOUND_OPTIONS_INIT
 * @bound: out: bound request with one reference, NULL after an error
 *
 * The rules are those of an execution that is not fenced. A buffer need not be initialised yet. The
 * state of buffers does not change.
 *
 * Return: NONE; else the status with which an execution would refuse the request.
 */
enum nnhal_status nnhal_bound_request_create(struct nnhal_prepared_model *model,
					     const struct nnhal_request *request,
					     const struct nnhal_bound_options *options,
					     struct nnhal_bound_request **bound);

/**
 * nnhal_bound_request_set_input() - set an input anew
 * @bound: bound request
 * @index: number of the input
 * @argument: pool, offset, length and dimensions, copied; checked by the next run
 *
 * Several arguments may be set before the next run: what counts is that the request is right then.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, no such input, dimensions that are missing or of
 * a rank that the model contradicts); GENERAL_FAILURE: a rank above NNHAL_MAX_RANK;
 * DEVICE_UNAVAILABLE: in a child of fork(). After an error nothing has changed.
 */
enum nnhal_status
nnhal_bound_request_set_input(struct nnhal_bound_request *bound, uint32_t index,
			      const struct nnhal_request_argument *argument);

/** nnhal_bound_request_set_output() - the same for an output */
enum nnhal_status
nnhal_bound_request_set_output(struct nnhal_bound_request *bound, uint32_t index,
			       const struct nnhal_request_argument *argument);

/**
 * nnhal_bound_request_execute() - nnhal_prepared_model_execute() of a bound request
 * @bound: bound request; it may be released before the callback
 * @options: likewise
 * @callback: likewise
 * @context: passed to @callback
 *
 * Return: as nnhal_prepared_model_execute().
 */
enum nnhal_status nnhal_bound_request_execute(struct nnhal_bound_request *bound,
					      const struct nnhal_execute_options *options,
					      nnhal_execution_callback callback, void *context);

/**
 * nnhal_bound_request_execute_synchronously() - run a bound request and wait for its end
 * @bound: bound request
 * @options: as for nnhal_prepared_model_execute_synchronously()
 * @output_shapes: likewise
 * @num_output_shapes: likewise
 * @timing: likewise
 *
 * Return: as nnhal_prepared_model_execute_synchronously().
 */
enum nnhal_status
nnhal_bound_request_execute_synchronously(struct nnhal_bound_request *bound,
					  const struct nnhal_execute_options *options,
					  struct nnhal_output_shape *output_shapes,
					  uint32_t *num_output_shapes,
					  struct nnhal_timing *timing);

/**
 * nnhal_bound_request_execute_fenced() - nnhal_prepared_model_execute_fenced() of a bound request
 * @bound: bound request
 * @wait_for: as for nnhal_prepared_model_execute_fenced()
 * @num_wait_for: likewise
 * @options: likewise
 * @sync_fence: likewise
 * @callback: likewise
 *
 * The stricter rules for fenced executions are checked by the first such run.
 *
 * Return: as nnhal_prepared_model_execute_fenced().
 */
enum nnhal_status
nnhal_bound_request_execute_fenced(struct nnhal_bound_request *bound, const int *wait_for,
				   uint32_t num_wait_for,
				   const struct nnhal_fenced_options *options, int *sync_fence,
				   struct nnhal_fenced_callback **callback);

/**
 * nnhal_burst_execute_bound() - nnhal_burst_execute() of a bound request
 * @burst: burst of the model that the request is bound to
 * @bound: bound request
 * @options: as for nnhal_burst_execute()
 * @output_shapes: likewise
 * @num_output_shapes: likewise
 * @timing: likewise
 *
 * This is the shortest way to an execution, above all without options and with a burst that has
 * NNHAL_BURST_SINGLE_THREAD.
 *
 * Return: as nnhal_burst_execute(); INVALID_ARGUMENT if @bound is for another model.
 */
enum nnhal_status nnhal_burst_execute_bound(struct nnhal_burst *burst,
					    struct nnhal_bound_request *bound,
					    const struct nnhal_execute_options *options,
					    struct nnhal_output_shape *output_shapes,
					    uint32_t *num_output_shapes,
					    struct nnhal_timing *timing);

/**
 * nnhal_burst_submit_bound() - nnhal_burst_submit() of a bound request
 * @burst: burst of the model that the request is bound to
 * @bound: bound request; it may be released before the result is there
 * @options: as for nnhal_burst_submit()
 * @tag: the result carries it
 * @flags: NNHAL_BURST_NONBLOCK
 *
 * Return: as nnhal_burst_submit(); INVALID_ARGUMENT if @bound is for another model.
 */
enum nnhal_status nnhal_burst_submit_bound(struct nnhal_burst *burst,
					   struct nnhal_bound_request *bound,
					   const struct nnhal_execute_options *options,
					   uint64_t tag, uint32_t flags);

/** nnhal_bound_request_ref() - take a reference; returns @bound */
struct nnhal_bound_request *nnhal_bound_request_ref(struct nnhal_bound_request *bound);

/**
 * nnhal_bound_request_unref() - release a reference; NULL is allowed
 *
 * Runs that have begun go on.
 */
void nnhal_bound_request_unref(struct nnhal_bound_request *bound);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_BOUND_H */
