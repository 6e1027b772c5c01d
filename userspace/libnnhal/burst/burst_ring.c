// SPDX-License-Identifier: MIT
/*
 * Executions on a queue of the process itself: the hot path of bursts.
 *
 * An execution takes a request, compares the caller's with what stands in the
 * request's argument block, writes a prepared entry to the submission ring, rings
 * the doorbell, looks at the completion ring until the device has answered, and takes
 * the result. Nothing is allocated and no system call is made, unless memory is met
 * for the first time, the wait takes long, or times are asked for.
 *
 * Memory ordering. Four hand-overs take place, in this order, per request:
 *
 *   [A] argument block, entry  ->  doorbell           (process to device)
 *   [B] doorbell               ->  reads by the device
 *   [C] outputs, result block  ->  status word        (device to process)
 *   [D] status word            ->  reads of results, reuse of entry and block
 *
 * A is ring_doorbell(): the entry must be in memory before the doorbell arrives. B and
 * C are the device's: it fetches entries only after a doorbell, and writes the status
 * word with its phase bit last (Documentation/hardware/queues.rst). D is pop_completion():
 * nothing that depends on the completion may be read, nor anything the device read be
 * written, before the phase bit has been seen.
 *
 * As message passing: writes W(args) W(sqe) W(db) in order by A, R(db) R(sqe) R(args)
 * ... W(outputs) W(status) in order by the device, R(status) R(outputs) W(args') W(sqe')
 * in order by D. Were the outcome "status seen, outputs old" or "the device reads args'
 * for the request before" possible, there would be a cycle args -> db -> sqe -> outputs
 * -> status -> args' in which each edge is kept by A, the device, or D; there is none.
 * No store-to-load order is needed anywhere: arming and the race with a completion
 * that has just come is the device's (NNPU_DB_CQ_ARM behind the ring's tail raises the
 * interrupt at once), so the wait needs no full barrier either.
 *
 * Between threads of the process everything is ordered by burst.lock, except for the
 * look at the ring without it in burst_look(): that one decides nothing, it only ends the
 * wait, and what follows takes the lock and looks again.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "base/tsan.h"
#include "burst/burst_internal.h"
#include "burst/burst_ring.h"
#include "execution/arguments.h"
#include "transport/transport.h"

/*
 * [A] Make what was written to memory visible to the device before the store to the
 * doorbell; pairs with the device's read of the ring after the doorbell.
 *
 * The doorbell is device memory, the rings are normal cacheable memory. arm64: stores
 * of the two kinds may overtake each other; DMB OSH orders them for the outer shareable
 * domain, where devices are. Not DMB OSHST, as in writel() of the kernel: the process
 * may have read the outputs, result block and completion of a request before, and the
 * doorbell gives the device leave to write there again. x86: stores to write-back
 * memory become visible in program order after the loads before them, and a store to
 * uncached memory does not overtake them, so the compiler is all that has to be held
 * back. Other machines: the strongest barrier there is.
 */
static inline void barrier_before_doorbell(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ __volatile__("" : : : "memory");
#elif defined(__aarch64__)
	__asm__ __volatile__("dmb osh" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * [D] After the phase bit was seen: hold back what reads the results, and what writes
 * to memory the device has read for this request. Pairs with the device's write of the
 * status word after everything else.
 *
 * arm64: DMB OSHLD orders the load before it with loads and stores after it, also
 * against a device. x86: loads are not reordered with later loads and stores. The
 * fence says the same to the compiler and to in-process devices.
 */
static inline void barrier_after_status(void)
{
#if defined(__aarch64__)
	__asm__ __volatile__("dmb oshld" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

hot_inline void ring_doorbell(struct transport_queue *q, uint32_t offset, uint32_t value)
{
	if (unlikely(!q->doorbell)) {
		q->ring(q, offset, value);
		return;
	}
	barrier_before_doorbell();
	q->doorbell[offset / sizeof(*q->doorbell)] = htole32(value);
}

/* Tell the device of entries that it does not know of yet. Caller holds the lock. */
hot_inline void announce(struct nnhal_burst *b)
{
	if (b->sq_rung == b->sq_tail)
		return;
	b->sq_rung = b->sq_tail;
	ring_doorbell(b->queue, NNPU_DB_SQ_TAIL, b->sq_tail);
}

/* ---- completions ---- */

/* What the device said of a request that failed. */
static cold_path void note_failure(struct burst_request *r, const struct nnpu_cqe *cqe)
{
	r->reason = le16toh(cqe->reason);
	r->error = le32toh(cqe->error);
}

/* What the device said of a request. */
hot_inline void note_completion(struct burst_request *r, const struct nnpu_cqe *cqe,
				uint32_t status)
{
	r->status = status >> NNPU_CQE_STATUS_SHIFT;
	r->exec_ns = le64toh(cqe->result);
	if (unlikely(r->status))
		note_failure(r, cqe);
}

/*
 * The device needs to know of the room some time: at most num_requests more
 * completions can come before this is said again.
 */
static cold_path void tell_room(struct nnhal_burst *b, uint32_t count)
{
	b->cq_tell = count + BURST_CQ_ENTRIES / 2;
	ring_doorbell(b->queue, NNPU_DB_CQ_HEAD, count % BURST_CQ_ENTRIES);
}

/* The request that a completion is of. NULL: nobody waits for it, the device's mistake. */
hot_inline struct burst_request *request_of(struct nnhal_burst *b, const struct nnpu_cqe *cqe)
{
	uint32_t cid = le16toh(cqe->cid);
	struct burst_request *r = &b->requests[cid];

	if (unlikely(cid >= b->num_requests ||
		     atomic_load_explicit(&r->state, memory_order_relaxed) != REQUEST_RUNNING))
		return NULL;
	return r;
}

/* A completion that the caller does not wait for, of whatever request, or of none. */
static cold_path void accept_completion(struct nnhal_burst *b, const struct nnpu_cqe *cqe,
					uint32_t status)
{
	struct burst_request *r = request_of(b, cqe);

	if (!r)
		return;
	note_completion(r, cqe, status);
	burst_complete(b, r);
	burst_wake(b);
}

/* Take one completion from the ring: false if there is none. Caller holds the lock. */
hot_inline bool pop_completion(struct nnhal_burst *b, const struct nnpu_cqe **cqe,
			       uint32_t *status)
{
	uint32_t count = atomic_load_explicit(&b->cq_count, memory_order_relaxed);

	*cqe = entry_of(b, count);
	if (!is_completed(*cqe, count, status))
		return false;
	barrier_after_status();
	/* The in-process device published with it; see [C]. */
	tsan_acquire(&(*cqe)->status);
	count++;
	atomic_store_explicit(&b->cq_count, count, memory_order_relaxed);
	if (unlikely(count == b->cq_tell))
		tell_room(b, count);
	return true;
}

/*
 * Take one completion: is it of the caller's own execution, which is on the device? The
 * state of that is not changed. Caller holds the lock.
 */
hot_inline bool reap_own(struct nnhal_burst *b, struct burst_request *own)
{
	const struct nnpu_cqe *cqe;
	uint32_t status;

	if (unlikely(!pop_completion(b, &cqe, &status)))
		return false;
	if (unlikely(cqe->cid != own->sqe.cid)) {
		accept_completion(b, cqe, status);
		return false;
	}
	b->num_running--;
	note_completion(own, cqe, status);
	return true;
}

void burst_reap(struct nnhal_burst *b)
{
	const struct nnpu_cqe *cqe;
	uint32_t status;

	while (pop_completion(b, &cqe, &status))
		accept_completion(b, cqe, status);
}

/* ---- waiting ---- */

hot_inline bool is_done(const struct burst_request *r)
{
	return atomic_load_explicit(&r->state, memory_order_relaxed) == REQUEST_DONE;
}

/*
 * It has not come by itself, or another one has. Not cold: what comes after the wait, on
 * the way of all, would be moved away with it.
 */
static __attribute__((noinline)) void await_slowly(struct nnhal_burst *b,
						   struct burst_request *r)
{
	uint32_t count;

	for (;;) {
		count = atomic_load_explicit(&b->cq_count, memory_order_relaxed);
		if (is_done(r) || reap_own(b, r))
			return;
		if (atomic_load_explicit(&b->cq_count, memory_order_relaxed) == count)
			burst_doze(b, UINT64_MAX);
	}
}

/*
 * Wait for a request to end. Caller holds the lock, which is dropped meanwhile.
 * Request and result are looked at in turn, so that a result that is there at once,
 * or after a sleep, costs one look.
 */
hot_inline void await(struct nnhal_burst *b, struct burst_request *r)
{
	uint64_t limit = spin_limit(&b->spin);

	if (likely(limit)) {
		pthread_mutex_unlock(&b->lock);
		burst_look(b, 1, &r->state, limit);
		pthread_mutex_lock(&b->lock);
	}
	if (likely(!is_done(r)) && likely(reap_own(b, r)))
		return;
	await_slowly(b, r);
}

/* ---- requests ---- */

/* Pool, offset, length and rank of an argument lie side by side: two words. */
_Static_assert(offsetof(struct nnhal_request_argument, num_dimensions) ==
	       offsetof(struct nnhal_request_argument, location) + 12, "layout of an argument");
/* Version and counts are two words. */
_Static_assert(offsetof(struct nnhal_request, inputs) == 16, "head of a request");

/* Zero if nothing but dimensions differs; no branch but that of the loop. */
hot_inline uint64_t compare(const struct nnhal_request_argument *a,
			    const struct nnhal_request_argument *seen, uint32_t count)
{
	const struct nnhal_request_argument *end = a + count;
	uint64_t diff = 0, x[2], y[2];

	for (; a != end; a++, seen++) {
		memcpy(x, &a->location, sizeof(x));
		memcpy(y, &seen->location, sizeof(y));
		diff |= (x[0] ^ y[0]) | (x[1] ^ y[1]) | (a->has_no_value ^ seen->has_no_value);
	}
	return diff;
}

/*
 * Is it the request last seen in this place? Then it is valid, its memory is bound
 * (entries are kept while a valid request names them), and the argument block is
 * right as it stands.
 */
hot_inline bool is_same(const struct nnhal_burst *b, const struct burst_request *r,
			const struct nnhal_request *request)
{
	const struct nnhal_request_pool *pools = request->pools;
	uint64_t head[2], diff;
	uint32_t i;

	memcpy(head, request, sizeof(head));
	/* What was seen is valid, so the counts are those of the model. */
	if (((head[0] ^ r->seen_head[0]) | (head[1] ^ r->seen_head[1])) ||
	    !request->inputs || !request->outputs || !pools)
		return false;
	diff = compare(request->inputs, r->seen, request->num_inputs) |
	       compare(request->outputs, r->seen + request->num_inputs, request->num_outputs);
	for (i = 0; i < r->num_pools; i++)
		diff |= ((uintptr_t)pools[i].memory ^ (uintptr_t)r->pools[i].memory) |
			pools[i].token;
	if (diff)
		return false;
	return likely(!(r->flags & (REQUEST_STALE | REQUEST_DIMS))) ||
	       (!(r->flags & REQUEST_STALE) && burst_same_dims(b, r, request));
}

static bool has_room(const struct nnhal_burst *b, bool is_submitted)
{
	return b->free && !(is_submitted && b->num_submitted >= b->depth);
}

/* Wait for room; a status if there will be none. Caller holds the lock. */
static cold_path enum nnhal_status wait_for_room(struct nnhal_burst *b, bool is_submitted,
						 bool block, struct nnhal_diag *diag)
{
	/* What is to make room must have begun. */
	announce(b);
	for (;;) {
		burst_reap(b);
		if (has_room(b, is_submitted))
			return NNHAL_STATUS_NONE;
		if (b->state != TRANSPORT_QUEUE_READY)
			return burst_ended_status(b, diag);
		if (!block) {
			diag_set(diag, "%u requests in flight", b->depth);
			return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		}
		burst_doze(b, UINT64_MAX);
	}
}

/*
 * Bring the inputs to where the device finds them, if they are elsewhere, say how long
 * loops may take, and see whether there is a queue. Caller holds the lock, which may be
 * dropped meanwhile.
 */
static cold_path enum nnhal_status begin_slowly(struct nnhal_burst *b, struct burst_request *r,
						uint64_t loop_timeout_ns, struct nnhal_diag *diag)
{
	struct nnpu_args_header *header = (struct nnpu_args_header *)r->args - 1;
	enum nnhal_status status = NNHAL_STATUS_NONE;

	header->loop_timeout_ns = htole64(r->flags & REQUEST_LOOPS ? loop_timeout_ns : 0);
	if (r->flags & REQUEST_BOUNCE) {
		/* A request that was taken keeps its memory. */
		atomic_store_explicit(&r->state, REQUEST_PREPARING, memory_order_relaxed);
		pthread_mutex_unlock(&b->lock);
		status = args_copy_inputs(&b->model->rules, r->resolved, r->pools, r->bindings,
					  diag);
		pthread_mutex_lock(&b->lock);
	}
	if (!status && b->state != TRANSPORT_QUEUE_READY)
		status = burst_ended_status(b, diag);
	return status;
}

/* The deadline had passed. */
static cold_path void set_late(struct burst_request *r, struct nnhal_diag *diag)
{
	diag_set(diag, "the deadline has passed");
	r->flags |= REQUEST_PRESET;
	r->preset = NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
}

/* The free place that saw the request last time, else the one not used for longest. */
static struct burst_request *find_free(struct nnhal_burst *b, const struct nnhal_request *request)
{
	struct burst_request *r, *oldest = NULL;
	uint64_t free;

	for (free = b->free; free; free &= free - 1) {
		r = &b->requests[__builtin_ctzll(free)];
		if (r->origin == request)
			return r;
		if (!oldest || r->last_used < oldest->last_used)
			oldest = r;
	}
	return oldest;
}

/* Another place than the first guess, when there is room. */
static __attribute__((noinline)) struct burst_request *
choose_place(struct nnhal_burst *b, const struct nnhal_request *request, bool is_submitted,
	     bool block, struct nnhal_diag *diag, enum nnhal_status *status)
{
	struct burst_request *r;

	if (!has_room(b, is_submitted)) {
		*status = wait_for_room(b, is_submitted, block, diag);
		if (*status)
			return NULL;
	}
	r = find_free(b, request);
	*b->guess = r;
	return r;
}

/*
 * Write an entry to the ring: what differs from request to request, all of which follows
 * from the number. The rest is the same in all places, since burst_ring_init(). When
 * requests go round as the ring does, the entry is there already, and the line stays in the
 * device's cache as well as in this one.
 */
hot_inline void write_entry(struct nnpu_sqe *place, const struct nnpu_sqe_execute *from)
{
	struct nnpu_sqe_execute *to = (void *)place;

	if (likely(to->cid == from->cid))
		return;
	to->cid = from->cid;
	to->args = from->args;
	to->result_off = from->result_off;
}

/*
 * Everything up to the ring. Returns with the request on the device, or preset.
 * Executions may use all requests, submissions all but one: results nobody takes do
 * not keep executions waiting. @flags: REQUEST_* of the call. @more: the doorbell is the
 * caller's. Caller holds the lock, which may be dropped meanwhile.
 */
hot_inline enum nnhal_status begin(struct nnhal_burst *b, const struct nnhal_request *request,
				   uint32_t flags, uint64_t deadline_ns,
				   uint64_t loop_timeout_ns, bool block, bool more,
				   struct nnhal_diag *diag, struct burst_request **result)
{
	bool late = (flags & REQUEST_DEADLINE) && deadline_passed(true, deadline_ns);
	bool is_submitted = flags & REQUEST_SUBMITTED;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct transport_queue *q = b->queue;
	struct burst_request *r;
	struct nnpu_sqe *place;
	uint32_t tail;

	/*
	 * That which saw the request last time, if it is free: of several in flight each finds
	 * its own again, in whatever order they end. Most callers submit theirs in turn, so
	 * the first guess is the place that followed the one before.
	 */
	r = *b->guess;
	if (unlikely(r->origin != request || !(b->free & r->bit) ||
		     (is_submitted && b->num_submitted >= b->depth))) {
		r = choose_place(b, request, is_submitted, block, diag, &status);
		if (unlikely(!r))
			return status;
	}
	b->guess = &r->follower;
	b->free ^= r->bit;
	if (is_submitted)
		b->num_submitted++;
	if (unlikely(!is_same(b, r, request))) {
		status = burst_rebuild(b, r, request, late, diag);
		if (status)
			goto fail;
	}
	r->flags = (r->flags & REQUEST_KEPT) | flags;
	*result = r;
	if (unlikely(late)) {
		set_late(r, diag);
		return NNHAL_STATUS_NONE;
	}
	if (unlikely((r->flags & (REQUEST_BOUNCE | REQUEST_LOOPS)) | b->state)) {
		status = begin_slowly(b, r, loop_timeout_ns, diag);
		if (status)
			goto fail;
	}
	r->last_used = ++b->clock;
	atomic_store_explicit(&r->state, REQUEST_RUNNING, memory_order_relaxed);
	/*
	 * There is an entry free: the ring has more than there are requests, and the
	 * entry of a completed request was fetched, [D].
	 */
	place = &b->sq[b->sq_tail];
	tail = (b->sq_tail + 1) % BURST_SQ_ENTRIES;
	b->sq_tail = tail;
	write_entry(place, &r->sqe);
	if (!more) {
		b->sq_rung = tail;
		ring_doorbell(q, NNPU_DB_SQ_TAIL, tail);
	}
	b->num_running++;
	/* Who sleeps because nothing was on the device has something to wait for now. */
	if (unlikely(b->num_waiters) && b->num_running == 1)
		burst_wake(b);
	return NNHAL_STATUS_NONE;
fail:
	if (is_submitted)
		b->num_submitted--;
	burst_put_request(b, r);
	return status;
}

/* Copy to memory the device cannot reach. Caller holds the lock, dropped meanwhile. */
static void copy_outputs(struct nnhal_burst *b, struct burst_request *r,
			 const struct nnhal_output_shape *shapes, struct nnhal_diag *diag,
			 struct outcome *out)
{
	pthread_mutex_unlock(&b->lock);
	out->status = args_copy_outputs(&b->model->rules, r->resolved, r->pools, r->bindings,
					shapes, diag);
	pthread_mutex_lock(&b->lock);
	if (out->status)
		out->num_shapes = 0;
}

/* What a request came to of the device; the rest of conclude(). */
static void judge(struct nnhal_burst *b, struct burst_request *r,
		  struct nnhal_output_shape *shapes, struct nnhal_diag *diag,
		  struct outcome *out)
{
	if (r->flags & REQUEST_PRESET) {
		out->status = r->preset;
		if (b->state != TRANSPORT_QUEUE_READY)
			diag_set(diag, "the device did not finish the execution: %s",
				 burst_state_text(b->state));
		return;
	}
	if (r->status != NNPU_STATUS_SUCCESS) {
		/* A job that hangs is aborted by the driver, as any other. */
		out->status = r->status == NNPU_STATUS_ABORTED
			      ? status_from_fence_error(ETIME, r->flags & REQUEST_DEADLINE)
			      : status_from_device(r->status);
		args_explain(b->model, r->status, r->reason, r->error, diag);
		if (out->status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE)
			return;
	}
	if (!args_read_shapes(r->results, b->num_outputs, shapes)) {
		out->status = NNHAL_STATUS_GENERAL_FAILURE;
		return;
	}
	out->num_shapes = b->num_outputs;
	if (out->status)
		return;
	if (r->flags & REQUEST_BOUNCE)
		copy_outputs(b, r, shapes, diag, out);
	if (!out->status && (r->flags & REQUEST_MEASURE))
		timing_of(&out->timing, r->start_ns,
			  r->flags & REQUEST_SUBMITTED ? r->end_ns : monotonic_ns(), r->exec_ns);
}

/*
 * What a request came to that has ended; @shapes may be NULL. Caller holds the lock,
 * which may be dropped meanwhile.
 */
static cold_path void conclude(struct nnhal_burst *b, struct burst_request *r,
			       struct nnhal_output_shape *shapes, struct nnhal_diag *diag,
			       struct outcome *out)
{
	/* Over, whoever else may look while the lock is dropped. */
	atomic_store_explicit(&r->state, REQUEST_DONE, memory_order_relaxed);
	/* Room that a caller of an older version does not expect to be written to. */
	if (!shapes || r->hal_version < NNHAL_HAL_1_2)
		shapes = r->shapes;
	*out = (struct outcome){ NNHAL_STATUS_NONE, 0, { NNHAL_NO_TIMING, NNHAL_NO_TIMING } };
	judge(b, r, shapes, diag, out);
	outcome_for_version(out, r->hal_version);
}

/*
 * Success, and nothing else to be done: what nearly all requests come to. Else false,
 * for conclude() to look at it.
 */
hot_inline bool conclude_quickly(struct nnhal_burst *b, const struct burst_request *r,
				 struct nnhal_output_shape *shapes)
{
	if (unlikely(r->status | (r->flags & ~REQUEST_USUAL)))
		return false;
	return !shapes || args_read_shapes(r->results, b->num_outputs, shapes);
}

/* A call's options, and what they mean for its request. */
struct call {
	struct nnhal_execute_options options;
	uint32_t flags;
	uint64_t start_ns;
	uint64_t loop_timeout_ns;	/* for the device: 0 is its default */
};

/* Options that were given. */
static cold_path enum nnhal_status read_options(struct call *call,
						const struct nnhal_execute_options *from,
						const struct nnhal_request *request)
{
	enum nnhal_status status = execute_options_read(&call->options, from);

	if (!status && (call->options.profile || call->options.work)) {
		diag_set(call->options.diag, "a burst makes no profile");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
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

hot_inline enum nnhal_status run(struct nnhal_burst *b, const struct nnhal_request *request,
				 struct call *call, bool plain,
				 struct nnhal_output_shape *shapes, uint32_t *num_shapes,
				 struct nnhal_timing *timing)
{
	static const struct nnhal_timing none = { NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	struct nnhal_diag *diag = plain ? NULL : call->options.diag;
	struct burst_request *r = NULL;
	enum nnhal_status status;
	struct outcome out;

	pthread_mutex_lock(&b->lock);
	status = begin(b, request, plain ? 0 : call->flags, plain ? 0 : call->options.deadline_ns,
		       plain ? 0 : call->loop_timeout_ns, true, false, diag, &r);
	if (unlikely(status)) {
		pthread_mutex_unlock(&b->lock);
		give(num_shapes, timing, 0, none);
		return request_status(status, request);
	}
	if (!plain)
		r->start_ns = call->start_ns;
	if (plain || !(r->flags & REQUEST_PRESET))
		await(b, r);
	if (likely(conclude_quickly(b, r, shapes))) {
		burst_put_request(b, r);
		pthread_mutex_unlock(&b->lock);
		give(num_shapes, timing, b->num_outputs, none);
		return NNHAL_STATUS_NONE;
	}
	conclude(b, r, shapes, diag, &out);
	burst_put_request(b, r);
	pthread_mutex_unlock(&b->lock);
	give(num_shapes, timing, out.num_shapes, out.timing);
	return out.status;
}

/* With options; the same without has nothing to ask. */
static __attribute__((noinline)) enum nnhal_status
run_with_options(struct nnhal_burst *b, const struct nnhal_request *request,
		 const struct nnhal_execute_options *options, struct nnhal_output_shape *shapes,
		 uint32_t *num_shapes, struct nnhal_timing *timing)
{
	struct call call = { .flags = 0 };
	enum nnhal_status status = read_options(&call, options, request);

	if (status) {
		give(num_shapes, timing, 0,
		     (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING });
		return status;
	}
	return run(b, request, &call, false, shapes, num_shapes, timing);
}

/* Not here, not now, or not with a queue. */
static cold_path enum nnhal_status execute_elsewhere(struct nnhal_burst *burst,
						     const struct nnhal_request *request,
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
		burst_submit_execute(burst, request, options, output_shapes, &out);
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
		return execute_elsewhere(burst, request, options, output_shapes,
					 num_output_shapes, timing);
	if (options)
		return run_with_options(burst, request, options, output_shapes,
					num_output_shapes, timing);
	return run(burst, request, NULL, true, output_shapes, num_output_shapes, timing);
}

/* One of several. @plain: @call says nothing. Caller holds the lock, dropped meanwhile. */
hot_inline enum nnhal_status submit_one(struct nnhal_burst *b,
					const struct nnhal_request *request,
					const struct call *call, bool plain, uint64_t tag,
					bool block)
{
	struct nnhal_diag *diag = plain ? NULL : call->options.diag;
	struct burst_request *r = NULL;
	enum nnhal_status status;

	if (unlikely(!request))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = begin(b, request, plain ? REQUEST_SUBMITTED : call->flags,
		       plain ? 0 : call->options.deadline_ns, plain ? 0 : call->loop_timeout_ns,
		       block, true, diag, &r);
	if (unlikely(status))
		return request_status(status, request);
	if (!plain)
		r->start_ns = call->start_ns;
	r->tag = tag;
	/* Over before it began: a result like any other. */
	if (!plain && unlikely(r->flags & REQUEST_PRESET))
		burst_add_result(b, r);
	return NNHAL_STATUS_NONE;
}

hot_inline enum nnhal_status submit_all(struct nnhal_burst *b,
					const struct nnhal_request *const *requests,
					const uint64_t *tags, uint32_t num,
					const struct call *call, bool plain, bool block,
					uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t i;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < num; i++) {
		status = submit_one(b, requests[i], call, plain, tags[i], block);
		if (unlikely(status))
			break;
	}
	announce(b);
	pthread_mutex_unlock(&b->lock);
	*count = i;
	return status;
}

static __attribute__((noinline)) enum nnhal_status
submit_with_options(struct nnhal_burst *b, const struct nnhal_request *const *requests,
		    const uint64_t *tags, uint32_t num,
		    const struct nnhal_execute_options *options, bool block, uint32_t *count)
{
	struct call call = { .flags = REQUEST_SUBMITTED };
	enum nnhal_status status = read_options(&call, options, requests[0]);

	return status ? status : submit_all(b, requests, tags, num, &call, false, block, count);
}

enum nnhal_status burst_ring_submit(struct nnhal_burst *b,
				    const struct nnhal_request *const *requests,
				    const uint64_t *tags, uint32_t num,
				    const struct nnhal_execute_options *options, uint32_t flags,
				    uint32_t *count)
{
	bool block = !(flags & NNHAL_BURST_NONBLOCK);

	if (options)
		return submit_with_options(b, requests, tags, num, options, block, count);
	return submit_all(b, requests, tags, num, NULL, true, block, count);
}

/* Hand out what a request came to. Caller holds the lock, which may be dropped meanwhile. */
hot_inline void give_result(struct nnhal_burst *b, struct burst_request *r,
			    struct nnhal_burst_result *result)
{
	struct outcome out;

	result->tag = r->tag;
	if (likely(conclude_quickly(b, r, result->output_shapes))) {
		result->status = NNHAL_STATUS_NONE;
		result->num_output_shapes = b->num_outputs;
		result->timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	} else {
		conclude(b, r, result->output_shapes, NULL, &out);
		result->status = out.status;
		result->num_output_shapes = out.num_shapes;
		result->timing = out.timing;
	}
	b->num_submitted--;
	burst_put_request(b, r);
}

/*
 * The next result: the oldest in the list, else from the ring. Who wants to know how long
 * it took gets it by way of the list: all that are there have ended now, not when they are
 * asked for. NULL if there is none at present. Caller holds the lock.
 */
hot_inline struct burst_request *next_result(struct nnhal_burst *b)
{
	const struct nnpu_cqe *cqe;
	struct burst_request *r;
	uint32_t status;

	while (likely(!b->results)) {
		if (!pop_completion(b, &cqe, &status))
			return NULL;
		r = request_of(b, cqe);
		if (likely(r && (r->flags & (REQUEST_SUBMITTED | REQUEST_MEASURE)) ==
				REQUEST_SUBMITTED)) {
			note_completion(r, cqe, status);
			b->num_running--;
			return r;
		}
		accept_completion(b, cqe, status);
		burst_reap(b);
	}
	return burst_take_result(b);
}

/*
 * Wait until there may be another result; @missing: as many are wanted. False if none came
 * until @until_ns. Caller holds the lock, which is dropped meanwhile.
 */
static bool await_results(struct nnhal_burst *b, uint32_t missing, uint64_t until_ns,
			  uint64_t *limit)
{
	bool found;

	if (*limit && b->num_running) {
		if (missing > b->num_running)
			missing = b->num_running;
		if (until_ns != UINT64_MAX)
			*limit = burst_look_limit(&b->spin, until_ns);
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

enum nnhal_status burst_ring_wait(struct nnhal_burst *b, struct nnhal_burst_result *results,
				  uint32_t min, uint32_t max, uint64_t until_ns,
				  uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct burst_request *r;
	uint32_t n = 0, before;
	bool waited = false;
	uint64_t limit;

	pthread_mutex_lock(&b->lock);
	limit = spin_limit(&b->spin);
	do {
		before = n;
		while (n < max && (r = next_result(b)))
			give_result(b, r, &results[n++]);
		/* What was seen was not for this thread: look no more, sleep. */
		if (unlikely(waited && n == before))
			limit = 0;
		waited = true;
		/* Others may take the last result there is to come. */
	} while (n < min && b->num_submitted && await_results(b, min - n, until_ns, &limit));
	if (unlikely(!n))
		status = burst_no_result_status(b);
	pthread_mutex_unlock(&b->lock);
	*count = n;
	return status;
}

/* ---- preparation ---- */

int burst_ring_init(struct nnhal_burst *b, uint32_t spin_us)
{
	uint64_t block_size = sizeof(struct nnpu_args_header) +
			      burst_num_args(b) * sizeof(struct nnpu_arg);
	struct transport *t = b->transport;
	uint64_t start = cycles(), start_ns = monotonic_ns();
	uint32_t i;
	int err;

	err = t->ops->queue_create(t, (uint32_t)b->model->priority, &b->queue);
	if (err)
		return err;
	if (b->queue->sq_entries != BURST_SQ_ENTRIES || b->queue->cq_entries != BURST_CQ_ENTRIES ||
	    b->num_requests >= BURST_SQ_ENTRIES || b->num_requests >= BURST_CQ_ENTRIES / 2)
		return -EIO;
	b->sq = b->queue->sq;
	b->cq = b->queue->cq;
	b->cq_tell = BURST_CQ_ENTRIES / 2;
	/*
	 * The device need not write shapes that are the model's anyhow: an execution comes to
	 * these or fails.
	 */
	if (burst_shapes_known(b)) {
		b->known = calloc((size_t)b->num_requests * b->num_outputs, sizeof(*b->known));
		if (!b->known)
			return -ENOMEM;
	}
	err = t->ops->bo_create(t, (b->known ? 1 : 2) * b->num_requests * block_size, &b->blocks);
	if (err)
		return err;
	for (i = 0; i < b->num_requests; i++)
		burst_request_init(b, i, block_size);
	for (i = 0; i < BURST_SQ_ENTRIES; i++)
		memcpy(&b->sq[i], &b->requests[0].sqe, sizeof(b->sq[i]));
	burst_spin_init(&b->spin, spin_us, start, start_ns);
	return 0;
}
