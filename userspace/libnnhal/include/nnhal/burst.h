/* SPDX-License-Identifier: MIT */
/*
 * Bursts: the IBurstContext of the HAL.
 *
 * A burst runs one prepared model many times in rapid succession. It owns a queue
 * pair of the device whose rings and doorbell are mapped into the process: an
 * execution writes an entry and rings the doorbell, and the device answers in
 * memory; no system call, no copy of an operand. Memory a burst has met stays
 * bound to a slot until nnhal_burst_free_memory() or the end of the burst.
 *
 * Where user-mode queues are not to be had (module parameter user_queues, another
 * device) the same calls go the way of nnhal_prepared_model_execute().
 *
 * All functions may be called from any thread; executions of one burst run in the
 * order of their submission. After fork() the child must not use a burst of its
 * parent: each call there gives DEVICE_UNAVAILABLE and changes nothing for the
 * parent; only nnhal_burst_unref() is of use.
 */
#ifndef NNHAL_BURST_H
#define NNHAL_BURST_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nnhal_burst;
struct nnhal_memory;
struct nnhal_prepared_model;
struct nnhal_execute_options;

/**
 * struct nnhal_burst_options - parameters of a burst
 * @size: sizeof(struct nnhal_burst_options)
 * @depth: requests in flight at most, 1 to 32; 0: 16. A submitted one is in flight
 *	until its result has been taken; executions always find room beside them
 * @spin_us: longest time to look for a result before sleeping, microseconds; the
 *	burst shortens it by itself when results take longer. 0: sleep at once;
 *	UINT32_MAX: what suits the device, and 0 for models prepared for LOW_POWER
 * @max_memories: memory objects kept bound at the same time, 0: 64. The one not
 *	used for longest makes room
 * @diag: filled in after an error of nnhal_burst_create(); may be NULL
 */
struct nnhal_burst_options {
	size_t size;
	uint32_t depth;
	uint32_t spin_us;
	uint32_t max_memories;
	struct nnhal_diag *diag;
};

/* What a NULL options pointer stands for. */
#define NNHAL_BURST_OPTIONS_INIT \
	{ sizeof(struct nnhal_burst_options), 0, UINT32_MAX, 0, NULL }

/**
 * nnhal_burst_create() - configureExecutionBurst
 * @model: prepared model; the burst keeps a reference
 * @options: parameters, or NULL for NNHAL_BURST_OPTIONS_INIT
 * @burst: out: burst with one reference, NULL after an error
 *
 * The queue has the priority of the prepared model.
 *
 * Return: NONE; INVALID_ARGUMENT; RESOURCE_EXHAUSTED_*; DEVICE_UNAVAILABLE,
 * DEAD_OBJECT; GENERAL_FAILURE.
 */
enum nnhal_status nnhal_burst_create(struct nnhal_prepared_model *model,
				     const struct nnhal_burst_options *options,
				     struct nnhal_burst **burst);

/**
 * nnhal_burst_execute() - execute and wait for the result
 * @burst: burst
 * @request: as for nnhal_prepared_model_execute_synchronously()
 * @options: likewise; profile must be NULL
 * @output_shapes: likewise
 * @num_output_shapes: likewise
 * @timing: likewise
 *
 * The same status, shapes and outputs as
 * nnhal_prepared_model_execute_synchronously() gives.
 */
enum nnhal_status nnhal_burst_execute(struct nnhal_burst *burst,
				      const struct nnhal_request *request,
				      const struct nnhal_execute_options *options,
				      struct nnhal_output_shape *output_shapes,
				      uint32_t *num_output_shapes,
				      struct nnhal_timing *timing);

/* Submit: do not wait for room, give RESOURCE_EXHAUSTED_TRANSIENT. */
#define NNHAL_BURST_NONBLOCK	(1u << 0)

/**
 * nnhal_burst_submit() - execute and do not wait for the result
 * @burst: burst
 * @request: as above; not used any more when the function has returned
 * @options: as above; diag is filled in only by this function
 * @tag: comes back with the result
 * @flags: NNHAL_BURST_*
 *
 * Return: NONE: nnhal_burst_wait() brings the result, also that of a request whose
 * deadline had passed. Otherwise nothing was submitted: RESOURCE_EXHAUSTED_TRANSIENT
 * (NNHAL_BURST_NONBLOCK and as many requests in flight as the burst takes), and what
 * the request is refused with.
 */
enum nnhal_status nnhal_burst_submit(struct nnhal_burst *burst,
				     const struct nnhal_request *request,
				     const struct nnhal_execute_options *options, uint64_t tag,
				     uint32_t flags);

/**
 * nnhal_burst_submit_many() - the same for several requests
 * @burst: burst
 * @requests: @num requests
 * @tags: @num tags
 * @num: how many, not 0
 * @options: of each of them
 * @flags: NNHAL_BURST_*
 * @count: out: how many were submitted: the first ones
 *
 * The same as several calls of nnhal_burst_submit(), but for what each call costs, up to
 * the first one that fails. The device hears of all of them together.
 *
 * Return: NONE if all were submitted, else as nnhal_burst_submit() for the next one.
 */
enum nnhal_status nnhal_burst_submit_many(struct nnhal_burst *burst,
					  const struct nnhal_request *const *requests,
					  const uint64_t *tags, uint32_t num,
					  const struct nnhal_execute_options *options,
					  uint32_t flags, uint32_t *count);

/**
 * struct nnhal_burst_result - a request that has ended
 * @tag: as passed to nnhal_burst_submit()
 * @status: as nnhal_burst_execute() returns
 * @num_output_shapes: entries of @output_shapes
 * @output_shapes: room for one entry per output, the caller's; may be NULL
 * @timing: as nnhal_burst_execute() gives
 */
struct nnhal_burst_result {
	uint64_t tag;
	enum nnhal_status status;
	uint32_t num_output_shapes;
	struct nnhal_output_shape *output_shapes;
	struct nnhal_timing timing;
};

/**
 * nnhal_burst_wait() - take the next result of nnhal_burst_submit()
 * @burst: burst
 * @result: in: output_shapes; out: everything else
 * @timeout_ns: how long to wait at most, ns; 0: only look; UINT64_MAX: no limit
 *
 * Results come in order of completion, each to one caller.
 *
 * Return: NONE; MISSED_DEADLINE_TRANSIENT: none within @timeout_ns;
 * INVALID_ARGUMENT: nothing is in flight, or a NULL pointer; DEVICE_UNAVAILABLE:
 * in a child of fork().
 */
enum nnhal_status nnhal_burst_wait(struct nnhal_burst *burst, struct nnhal_burst_result *result,
				   uint64_t timeout_ns);

/**
 * nnhal_burst_wait_many() - take several results
 * @burst: burst
 * @results: @max entries, each as the one of nnhal_burst_wait()
 * @min: how many to wait for, not 0; if fewer are in flight, for all of them
 * @max: how many to take at most, not below @min
 * @timeout_ns: how long to wait at most, as nnhal_burst_wait()
 * @count: out: how many were taken: with NONE at least 1, fewer than @min after
 *	@timeout_ns or if there were no more; else 0
 *
 * The same as several calls of nnhal_burst_wait(), but for what each call costs.
 *
 * Return: NONE: at least one was taken; else as nnhal_burst_wait().
 */
enum nnhal_status nnhal_burst_wait_many(struct nnhal_burst *burst,
					struct nnhal_burst_result *results, uint32_t min,
					uint32_t max, uint64_t timeout_ns, uint32_t *count);

/**
 * nnhal_burst_free_memory() - IBurstContext.freeMemory: forget a memory object
 * @burst: burst
 * @memory: memory object, met before or not
 *
 * Requests in flight keep what they use. Return: NONE or INVALID_ARGUMENT (NULL).
 */
enum nnhal_status nnhal_burst_free_memory(struct nnhal_burst *burst,
					  struct nnhal_memory *memory);

/** nnhal_burst_ref() - take a reference; returns @burst */
struct nnhal_burst *nnhal_burst_ref(struct nnhal_burst *burst);

/**
 * nnhal_burst_unref() - release a reference; NULL is allowed
 *
 * The last release waits for the job that runs to be aborted or to end, drops
 * requests not yet begun, and gives the queue and its slots back.
 */
void nnhal_burst_unref(struct nnhal_burst *burst);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_BURST_H */
