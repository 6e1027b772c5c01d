// SPDX-License-Identifier: MIT
/*
 * Executions on a queue of the process itself: the hot path of bursts.
 *
 * An execution takes a place, compares the request with the last one in that place, copies
 * a prepared entry to the submission ring, rings the doorbell, spins until the completion is
 * there, and takes the result. It allocates nothing, and it makes a system call only if
 * memory is new to the burst, if the wait is long, or if times are measured.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "burst/burst_begin.h"
#include "burst/burst_owner.h"
#include "burst/burst_places.h"
#include "burst/burst_private.h"
#include "burst/burst_queue.h"
#include "burst/burst_result.h"
#include "burst/burst_ring.h"
#include "base/spin.h"
#include "burst/burst_submit.h"
#include "burst/burst_wait.h"
#include "execution/arguments.h"

/* ---- waiting ---- */

hot_inline bool is_done(const struct burst_request *r)
{
	return atomic_load_explicit(&r->state, memory_order_relaxed) == REQUEST_DONE;
}

/*
 * Spinning has not seen the completion, or has seen that of another request. Not marked cold:
 * the compiler would move the code behind the wait, which is hot, away with it.
 */
static __attribute__((noinline)) void await_slowly(struct nnhal_burst *b,
						   struct burst_request *r)
{
	uint32_t count;

	for (;;) {
		count = atomic_load_explicit(&b->cq_count, memory_order_relaxed);
		if (is_done(r) || burst_reap_own(b, r))
			return;
		if (atomic_load_explicit(&b->cq_count, memory_order_relaxed) == count)
			burst_doze(b, UINT64_MAX);
	}
}

/*
 * Wait for a request to end. Caller holds the lock, which is dropped meanwhile. The state of
 * the request and the ring are read in turn, so that a result that is there at once, or
 * after a sleep, costs one read.
 */
hot_inline void await(struct nnhal_burst *b, struct burst_request *r)
{
	uint64_t limit = spin_limit(&b->spin);

	if (likely(limit)) {
		pthread_mutex_unlock(&b->lock);
		burst_look(b, 1, &r->state, limit);
		pthread_mutex_lock(&b->lock);
	}
	if (likely(!is_done(r)) && likely(burst_reap_own(b, r)))
		return;
	await_slowly(b, r);
}

/* For await_alone(): the result was not there at once. */
static __attribute__((noinline)) void await_longer(struct nnhal_burst *b, struct burst_request *r)
{
	uint64_t limit = spin_limit(&b->spin);

	if (burst_owner(b) != OWNER_QUICK) {
		await(b, r);
		return;
	}
	if (likely(limit) && likely(burst_look(b, 1, &r->state, limit)) &&
	    likely(burst_reap_own(b, r)))
		return;
	burst_lock_owned(b);
	await_slowly(b, r);
}

/* The same for the only thread that uses the burst, which need not have the lock. */
hot_inline void await_alone(struct nnhal_burst *b, struct burst_request *r)
{
	unsigned int i;

	if (likely(burst_owner(b) == OWNER_QUICK) && likely(spin_limit(&b->spin)))
		for (i = 0; i < BURST_LOOKS; i++)
			if (burst_reap_own(b, r)) {
				spin_note_short(&b->spin);
				return;
			}
	await_longer(b, r);
}

/* ---- calls ---- */

/* The options of a call, and what follows from them for its request. */
struct call {
	struct nnhal_execute_options options;
	uint32_t flags;
	uint64_t start_ns;
	uint64_t loop_timeout_ns;	/* for the device: 0 is its default */
};

/* Read options that are not NULL. */
static cold_path enum nnhal_status read_options(struct call *call,
						const struct nnhal_execute_options *from,
						const struct nnhal_request *request)
{
	enum nnhal_status status = burst_read_options(&call->options, from);

	if (status)
		return request_status(status, request);
	if (call->options.has_deadline)
		call->flags |= REQUEST_DEADLINE;
	call->loop_timeout_ns = args_loop_timeout(&call->options);
	if (call->options.measure) {
		call->flags |= REQUEST_MEASURE;
		call->start_ns = monotonic_ns();
	}
	return NNHAL_STATUS_NONE;
}

hot_inline void give(uint32_t *num_shapes, struct nnhal_timing *timing, uint32_t num,
		     struct nnhal_timing value)
{
	if (likely(!((uintptr_t)num_shapes | (uintptr_t)timing)))
		return;
	if (num_shapes)
		*num_shapes = num;
	if (timing)
		*timing = value;
}

/*
 * @bound: the bound request whose copy @request is, or NULL. @plain: there are no options. @single:
 * b->is_single.
 */
hot_inline enum nnhal_status run(struct nnhal_burst *b, const struct nnhal_request *request,
				 struct nnhal_bound_request *bound, struct call *call,
				 bool plain, bool single, struct nnhal_output_shape *shapes, uint32_t *num_shapes,
				 struct nnhal_timing *timing)
{
	static const struct nnhal_timing none = { NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	struct nnhal_diag *diag = plain ? NULL : call->options.diag;
	struct burst_request *r = NULL;
	enum nnhal_status status;
	struct outcome out;

	if (!single) {
		pthread_mutex_lock(&b->lock);
	} else if (unlikely(!burst_enter_quickly(b))) {
		give(num_shapes, timing, 0, none);
		return burst_busy_status(request, diag);
	}
	status = burst_begin(b, request, bound, plain ? 0 : call->flags,
			     plain ? 0 : call->options.deadline_ns,
			     plain ? 0 : call->loop_timeout_ns, true, false, single, diag, &r);
	if (unlikely(status)) {
		burst_leave(b, single);
		give(num_shapes, timing, 0, none);
		return request_status(status, request);
	}
	if (!plain)
		r->start_ns = call->start_ns;
	if (plain || !(r->flags & REQUEST_PRESET))
		single ? await_alone(b, r) : await(b, r);
	if (likely(burst_conclude_quickly(b, r, shapes))) {
		single ? burst_put_quietly(b, r) : burst_put_request(b, r);
		burst_leave(b, single);
		give(num_shapes, timing, b->num_outputs, none);
		return NNHAL_STATUS_NONE;
	}
	burst_need_lock(b);
	burst_conclude(b, r, shapes, diag, &out);
	burst_put_request(b, r);
	burst_leave(b, single);
	give(num_shapes, timing, out.num_shapes, out.timing);
	return out.status;
}

/* Apart, so that run() without options needs no checks for them. */
static __attribute__((noinline)) enum nnhal_status
run_with_options(struct nnhal_burst *b, const struct nnhal_request *request,
		 struct nnhal_bound_request *bound, const struct nnhal_execute_options *options,
		 struct nnhal_output_shape *shapes, uint32_t *num_shapes,
		 struct nnhal_timing *timing)
{
	struct call call = { .flags = 0 };
	enum nnhal_status status = read_options(&call, options, request);

	if (status) {
		give(num_shapes, timing, 0,
		     (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING });
		return status;
	}
	return run(b, request, bound, &call, false, b->is_single, shapes, num_shapes, timing);
}

/* The burst is not for several threads at a time. */
static __attribute__((noinline)) enum nnhal_status
run_single(struct nnhal_burst *b, const struct nnhal_request *request,
	   struct nnhal_output_shape *shapes, uint32_t *num_shapes, struct nnhal_timing *timing)
{
	return run(b, request, NULL, NULL, true, true, shapes, num_shapes, timing);
}

/* Bad arguments, a child of fork(), or a burst without a queue. */
static cold_path enum nnhal_status execute_elsewhere(struct nnhal_burst *burst,
						     const struct nnhal_request *request,
						     struct nnhal_bound_request *bound,
						     const struct nnhal_execute_options *options,
						     struct nnhal_output_shape *output_shapes,
						     uint32_t *num_output_shapes,
						     struct nnhal_timing *timing)
{
	struct outcome out = OUTCOME_FAILED;

	if (!burst || !request)
		out.status = NNHAL_STATUS_INVALID_ARGUMENT;
	else if (!burst_is_own(burst))
		out.status = request_status(NNHAL_STATUS_DEVICE_UNAVAILABLE, request);
	else
		burst_submit_execute(burst, request, bound, options, output_shapes, &out);
	give(num_output_shapes, timing, out.num_shapes, out.timing);
	return out.status;
}

enum nnhal_status nnhal_burst_execute(struct nnhal_burst *burst,
				      const struct nnhal_request *request,
				      const struct nnhal_execute_options *options,
				      struct nnhal_output_shape *output_shapes,
				      uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	if (unlikely(!burst || !request || !burst_is_own(burst) || !burst->queue))
		return execute_elsewhere(burst, request, NULL, options, output_shapes,
					 num_output_shapes, timing);
	if (options)
		return run_with_options(burst, request, NULL, options, output_shapes,
					num_output_shapes, timing);
	if (unlikely(burst->is_single))
		return run_single(burst, request, output_shapes, num_output_shapes, timing);
	return run(burst, request, NULL, NULL, true, false, output_shapes, num_output_shapes,
		   timing);
}

/* Not the shortest way: options, a burst for several threads, or what execute_elsewhere() is for. */
static __attribute__((noinline)) enum nnhal_status
execute_bound(struct nnhal_burst *b, struct nnhal_bound_request *bound,
	      const struct nnhal_execute_options *options, struct nnhal_output_shape *shapes,
	      uint32_t *num_shapes, struct nnhal_timing *timing)
{
	const struct nnhal_request *request = bound ? &bound->request : NULL;

	if (unlikely(!b || !bound || !burst_is_own(b) || !b->queue))
		return execute_elsewhere(b, request, bound, options, shapes, num_shapes, timing);
	if (options)
		return run_with_options(b, request, bound, options, shapes, num_shapes, timing);
	return run(b, request, bound, NULL, true, false, shapes, num_shapes, timing);
}

enum nnhal_status nnhal_burst_execute_bound(struct nnhal_burst *burst,
					    struct nnhal_bound_request *bound,
					    const struct nnhal_execute_options *options,
					    struct nnhal_output_shape *output_shapes,
					    uint32_t *num_output_shapes,
					    struct nnhal_timing *timing)
{
	/* Such a burst has a queue. */
	if (unlikely(!burst || !bound || options || !burst->is_single || !burst_is_own(burst)))
		return execute_bound(burst, bound, options, output_shapes, num_output_shapes,
				     timing);
	return run(burst, &bound->request, bound, NULL, true, true, output_shapes,
		   num_output_shapes, timing);
}

/* Submit one request. @plain: there are no options. Caller holds the lock. */
hot_inline enum nnhal_status submit_one(struct nnhal_burst *b,
					const struct nnhal_request *request,
					struct nnhal_bound_request *bound,
					const struct call *call, bool plain, uint64_t tag,
					bool block)
{
	struct nnhal_diag *diag = plain ? NULL : call->options.diag;
	struct burst_request *r = NULL;
	enum nnhal_status status;

	if (unlikely(!request))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = burst_begin(b, request, bound, plain ? REQUEST_SUBMITTED : call->flags,
			     plain ? 0 : call->options.deadline_ns,
			     plain ? 0 : call->loop_timeout_ns, block, true, false, diag, &r);
	if (unlikely(status))
		return request_status(status, request);
	if (!plain)
		r->start_ns = call->start_ns;
	r->tag = tag;
	/* The deadline had passed: that is a result like any other. */
	if (!plain && unlikely(r->flags & REQUEST_PRESET))
		burst_add_result(b, r);
	return NNHAL_STATUS_NONE;
}

hot_inline enum nnhal_status submit_all(struct nnhal_burst *b,
					const struct nnhal_request *const *requests,
					struct nnhal_bound_request *bound,
					const uint64_t *tags, uint32_t num,
					const struct call *call, bool plain, bool block,
					uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t i;

	if (unlikely(!burst_enter(b)))
		return burst_busy_status(requests[0], plain ? NULL : call->options.diag);
	for (i = 0; i < num; i++) {
		status = submit_one(b, requests[i], bound, call, plain, tags[i], block);
		if (unlikely(status))
			break;
	}
	burst_announce(b);
	burst_leave(b, b->is_single);
	*count = i;
	return status;
}

static __attribute__((noinline)) enum nnhal_status
submit_with_options(struct nnhal_burst *b, const struct nnhal_request *const *requests,
		    struct nnhal_bound_request *bound, const uint64_t *tags, uint32_t num,
		    const struct nnhal_execute_options *options, bool block, uint32_t *count)
{
	struct call call = { .flags = REQUEST_SUBMITTED };
	enum nnhal_status status = read_options(&call, options, requests[0]);

	return status ? status : submit_all(b, requests, bound, tags, num, &call, false, block,
					    count);
}

enum nnhal_status burst_queue_submit(struct nnhal_burst *b,
				     const struct nnhal_request *const *requests,
				     struct nnhal_bound_request *bound,
				     const uint64_t *tags, uint32_t num,
				     const struct nnhal_execute_options *options, uint32_t flags,
				     uint32_t *count)
{
	bool block = !(flags & NNHAL_BURST_NONBLOCK);

	*count = 0;
	if (options)
		return submit_with_options(b, requests, bound, tags, num, options, block, count);
	if (bound)
		return submit_all(b, requests, bound, tags, num, NULL, true, block, count);
	return submit_all(b, requests, NULL, tags, num, NULL, true, block, count);
}

/*
 * Give a result to the caller, whose structure has @size bytes. Caller holds the lock, which may be
 * dropped meanwhile.
 */
hot_inline void give_result(struct nnhal_burst *b, struct burst_request *r,
			    struct nnhal_burst_result *result, size_t size)
{
	struct outcome out;

	result->tag = r->tag;
	if (likely(burst_conclude_quickly(b, r, result->output_shapes))) {
		result->status = NNHAL_STATUS_NONE;
		result->num_output_shapes = b->num_outputs;
		result->timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	} else {
		burst_conclude(b, r, result->output_shapes, NULL, &out);
		result->status = out.status;
		result->num_output_shapes = out.num_shapes;
		result->timing = out.timing;
	}
	result_clear_surplus(result, size, sizeof(*result));
	b->num_submitted--;
	burst_put_request(b, r);
}

/*
 * Wait until there may be another result; @missing more are wanted. False: @until_ns has
 * passed. Caller holds the lock, which is dropped meanwhile.
 */
static bool await_results(struct nnhal_burst *b, uint32_t missing, uint64_t until_ns,
			  uint64_t *limit)
{
	bool found;

	if (*limit && b->num_running) {
		if (missing > b->num_running)
			missing = b->num_running;
		if (until_ns != UINT64_MAX)
			*limit = spin_limit_until(&b->spin, until_ns);
		pthread_mutex_unlock(&b->lock);
		found = burst_look(b, missing, &b->has_results, *limit);
		pthread_mutex_lock(&b->lock);
		if (unlikely(!found))
			*limit = 0;
		return true;
	}
	if (until_ns != UINT64_MAX && monotonic_ns() >= until_ns)
		return false;
	burst_doze(b, until_ns);
	return true;
}

enum nnhal_status burst_queue_wait(struct nnhal_burst *b, struct nnhal_burst_result *results,
				   uint32_t min, uint32_t max, uint64_t until_ns,
				   uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct burst_request *r;
	uint32_t n = 0, before;
	bool waited = false;
	uint64_t limit;

	*count = 0;
	if (unlikely(!burst_enter(b)))
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	limit = spin_limit(&b->spin);
	do {
		before = n;
		while (n < max && (r = burst_next_result(b)))
			give_result(b, r, result_entry(results, n++), results->size);
		/* Another thread took the result: stop spinning, sleep. */
		if (unlikely(waited && n == before))
			limit = 0;
		waited = true;
		/* Other threads may take the last result. */
	} while (n < min && b->num_submitted && await_results(b, min - n, until_ns, &limit));
	if (unlikely(!n))
		status = burst_no_result_status(b);
	burst_leave(b, b->is_single);
	*count = n;
	return status;
}
