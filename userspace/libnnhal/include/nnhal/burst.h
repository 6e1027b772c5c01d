/* SPDX-License-Identifier: MIT */
/*
 * Bursts: the IBurstContext of the HAL.
 *
 * A burst runs one prepared model many times in rapid succession. It owns a queue
 * pair of the device, whose rings and doorbell are mapped into the process. An
 * execution writes an entry and rings the doorbell; the device writes the completion
 * to memory. That takes no system call and copies no operand. The first request that
 * names a memory object binds it to a slot. It stays bound until
 * nnhal_burst_free_memory(), until it makes room for others, or until the burst ends.
 *
 * If the device offers no user-mode queues (module parameter user_queues), the same
 * calls submit through the driver, as nnhal_prepared_model_execute() does.
 *
 * All functions may be called from any thread, unless the burst was made for one thread at a time
 * (NNHAL_BURST_SINGLE_THREAD). Executions of one burst run in the
 * order of their submission. A child of fork() must not use a burst of its parent:
 * each call in the child returns DEVICE_UNAVAILABLE and does not affect the parent.
 * The child may call nnhal_burst_unref() to release what it has of it.
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

/*
 * Of a burst: one thread at a time uses it, so its calls need no lock, and no submission waits for
 * room. While a call is at work, another one returns RESOURCE_EXHAUSTED_TRANSIENT and does nothing. A
 * burst without a queue takes calls of several threads all the same.
 */
#define NNHAL_BURST_SINGLE_THREAD	(1u << 0)

/**
 * struct nnhal_burst_options - parameters of a burst
 * @size: sizeof(struct nnhal_burst_options)
 * @depth: submissions in flight at most, 1 to 32; 0: 16. A submission is in flight
 *	until its result has been taken. nnhal_burst_execute() has a place of its own
 * @spin_us: longest time to spin on the ring before sleeping, microseconds. The
 *	burst adapts the actual time to what waits take. 0: sleep at once;
 *	UINT32_MAX: the default, which is 0 for models prepared for LOW_POWER
 * @max_memories: memory objects that stay bound at the same time, 0: 64. The least
 *	recently used one is unbound to make room
 * @diag: filled in after an error of nnhal_burst_create(); may be NULL
 * @flags: NNHAL_BURST_SINGLE_THREAD or 0
 * @reserved: zero
 */
struct nnhal_burst_options {
	size_t size;
	uint32_t depth;
	uint32_t spin_us;
	uint32_t max_memories;
	struct nnhal_diag *diag;
	uint32_t flags;
	uint32_t reserved;
};

/* The meaning of a NULL options pointer. */
#define NNHAL_BURST_OPTIONS_INIT \
	{ sizeof(struct nnhal_burst_options), 0, UINT32_MAX, 0, NULL, 0, 0 }

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
 * @options: likewise; profile, work and completions must be NULL
 * @output_shapes: likewise
 * @num_output_shapes: likewise
 * @timing: likewise
 *
 * Return: the status that nnhal_prepared_model_execute_synchronously() returns, with
 * the same shapes and outputs.
 */
enum nnhal_status nnhal_burst_execute(struct nnhal_burst *burst,
				      const struct nnhal_request *request,
				      const struct nnhal_execute_options *options,
				      struct nnhal_output_shape *output_shapes,
				      uint32_t *num_output_shapes,
				      struct nnhal_timing *timing);

/* Submit: do not wait for room, return RESOURCE_EXHAUSTED_TRANSIENT. */
#define NNHAL_BURST_NONBLOCK	(1u << 0)

/**
 * nnhal_burst_submit() - execute and do not wait for the result
 * @burst: burst
 * @request: as above; not used after the function has returned
 * @options: as above; diag is not written after the function has returned
 * @tag: the result carries it
 * @flags: NNHAL_BURST_*
 *
 * The function waits for room while as many submissions are in flight as the burst takes: until
 * somebody takes a result, but no longer than the deadline of the request. A burst with
 * NNHAL_BURST_SINGLE_THREAD does not wait, since nobody else could take one.
 *
 * Return: NONE: nnhal_burst_wait() delivers the result, also if the deadline of the
 * request had passed. With any other status nothing was submitted:
 * RESOURCE_EXHAUSTED_TRANSIENT (no room, and it does not wait),
 * MISSED_DEADLINE_PERSISTENT (no room before the deadline), or the status that refuses the request.
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
 * @options: options of each request
 * @flags: NNHAL_BURST_*
 * @count: out: how many were submitted; they are the first ones of @requests
 *
 * The effect is that of several calls of nnhal_burst_submit(), up to the first one that
 * fails, at lower cost: the doorbell is rung once for all of them.
 *
 * Return: NONE if all were submitted, else the status of the first request that was not.
 */
enum nnhal_status nnhal_burst_submit_many(struct nnhal_burst *burst,
					  const struct nnhal_request *const *requests,
					  const uint64_t *tags, uint32_t num,
					  const struct nnhal_execute_options *options,
					  uint32_t flags, uint32_t *count);

/**
 * struct nnhal_burst_result - a request that has ended
 * @size: in: sizeof(struct nnhal_burst_result); of an array that of the first entry counts
 * @tag: as passed to nnhal_burst_submit()
 * @status: as nnhal_burst_execute() returns
 * @num_output_shapes: entries of @output_shapes
 * @output_shapes: room for one entry per output, owned by the caller; may be NULL
 * @timing: as nnhal_burst_execute() gives
 */
struct nnhal_burst_result {
	size_t size;
	uint64_t tag;
	enum nnhal_status status;
	uint32_t num_output_shapes;
	struct nnhal_output_shape *output_shapes;
	struct nnhal_timing timing;
};

#define NNHAL_BURST_RESULT_INIT \
	{ sizeof(struct nnhal_burst_result), 0, NNHAL_STATUS_NONE, 0, NULL, \
	  { NNHAL_NO_TIMING, NNHAL_NO_TIMING } }

/**
 * nnhal_burst_wait() - take the next result of nnhal_burst_submit()
 * @burst: burst
 * @result: in: size, output_shapes; out: everything else; untouched unless the status is NONE
 * @timeout_ns: how long to wait at most, ns; 0: do not wait; UINT64_MAX: no limit
 *
 * Results come in order of completion. Each result is given to one caller.
 *
 * Return: NONE; MISSED_DEADLINE_TRANSIENT: none within @timeout_ns;
 * INVALID_ARGUMENT: nothing is in flight, a NULL pointer, or a wrong size; DEVICE_UNAVAILABLE:
 * in a child of fork().
 */
enum nnhal_status nnhal_burst_wait(struct nnhal_burst *burst, struct nnhal_burst_result *result,
				   uint64_t timeout_ns);

/**
 * nnhal_burst_wait_many() - take several results
 * @burst: burst
 * @results: @max entries, used as by nnhal_burst_wait()
 * @min: how many to wait for, not 0; if fewer are in flight, all of those
 * @max: how many to take at most, not below @min
 * @timeout_ns: how long to wait at most, as for nnhal_burst_wait()
 * @count: out: how many were taken. With NONE at least 1; fewer than @min after
 *	@timeout_ns or if no more were in flight. With any other status 0
 *
 * The effect is that of several calls of nnhal_burst_wait(), at lower cost.
 *
 * Return: NONE: at least one was taken; else as for nnhal_burst_wait().
 */
enum nnhal_status nnhal_burst_wait_many(struct nnhal_burst *burst,
					struct nnhal_burst_result *results, uint32_t min,
					uint32_t max, uint64_t timeout_ns, uint32_t *count);

/**
 * nnhal_burst_free_memory() - IBurstContext.freeMemory: forget a memory object
 * @burst: burst
 * @memory: memory object; the burst need not know it
 *
 * Memory that a request in flight uses is unbound when that request has ended; the function does not
 * wait for it. It waits for the device to end the binding, and for another call with the burst that
 * binds or unbinds memory. These are commands to the device: the driver waits for each at most twice
 * its module parameter admin_timeout_ms, 10 s unless set, and then resets the device.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer); DEVICE_UNAVAILABLE (in a child of
 * fork()).
 */
enum nnhal_status nnhal_burst_free_memory(struct nnhal_burst *burst,
					  struct nnhal_memory *memory);

/** nnhal_burst_ref() - take a reference; returns @burst */
struct nnhal_burst *nnhal_burst_ref(struct nnhal_burst *burst);

/**
 * nnhal_burst_unref() - release a reference; NULL is allowed
 *
 * The last release aborts the job that runs or waits for its end, drops requests that
 * have not begun, and releases the queue and its slots.
 */
void nnhal_burst_unref(struct nnhal_burst *burst);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_BURST_H */
