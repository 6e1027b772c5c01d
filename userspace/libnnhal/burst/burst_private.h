/* SPDX-License-Identifier: MIT */
/*
 * Bursts: the structures that the files of this folder share.
 *
 *   burst_api.c       the functions of the API
 *   burst_queue.c     executions on a queue that the process itself fills: the hot path
 *   burst_submit.c    executions through the driver, where there is no such queue
 *   burst_begin.h     from a request to an entry in the submission ring
 *   burst_result.h    from a completion to a result
 *   burst_wait.h      spinning and sleeping
 *   burst_request.h   requests and their argument blocks
 *   burst_ring.h      submission ring, completion ring, doorbells, memory ordering
 *   burst_owner.h     who has the burst: its lock, or the only thread that uses it
 *   burst_places.h    places of requests, the list of results
 *   burst_cache.h     memory objects that a burst keeps bound
 *   burst.c           creation and release
 *
 * burst.lock is the outermost lock of the library. It is never held while the library waits for
 * the end of a job. It is held while memory is bound or forgotten. The latter is a command to
 * the device: the driver waits at most admin_timeout_ms (10 s unless set) for room in its queue
 * and as long for the answer, and then resets it. If no slot is left, binding first ends one
 * that nobody uses, here or elsewhere; if all others are busy they are asked 50 times, a
 * millisecond apart (bind_table_ask_others()). Others who need a slot take the lock without
 * waiting (burst_cache.c).
 */
#ifndef NNHAL_BURST_PRIVATE_H
#define NNHAL_BURST_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <drm/nnpu_program.h>
#include <drm/nnpu_rings.h>
#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/fork_guard.h"
#include "base/spin.h"
#include "execution/arguments.h"
#include "execution/bound_request.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "memory/binding.h"
#include "transport/transport.h"

/* A memory object that is bound for a burst. */
struct cached_memory {
	struct cached_memory *next_in_bucket;
	struct cached_memory *next;
	struct nnhal_memory *memory;	/* referenced */
	struct binding *binding;	/* the burst's own */
	uint64_t last_used;
};

enum burst_request_state {
	REQUEST_FREE,
	REQUEST_PREPARING,		/* taken, not submitted */
	REQUEST_RUNNING,		/* on the device */
	REQUEST_DONE,			/* has a result that nobody has taken */
};

/* Flags of a request: why it differs from the usual case. */
#define REQUEST_BOUNCE		(1u << 0)	/* memory with needs_cpu */
#define REQUEST_VERSION		(1u << 1)	/* not 1.3 */
#define REQUEST_MEASURE		(1u << 2)
#define REQUEST_DEADLINE	(1u << 3)
#define REQUEST_SUBMITTED	(1u << 4)	/* nnhal_burst_submit(), else execute */
#define REQUEST_PRESET		(1u << 5)	/* burst_request.preset is the status */
/* Can the next request in this place be the same? */
#define REQUEST_STALE		(1u << 6)	/* no: there is no valid last one */
#define REQUEST_DIMS		(1u << 7)	/* it has dimensions: compare them too */
/* The model has loops: each call sets the loop timeout. */
#define REQUEST_LOOPS		(1u << 8)
/* It names buffers: held and bound until its end, which sets their state. Never the same again. */
#define REQUEST_BUFFERS		(1u << 9)
/* Its argument block has a deadline. */
#define REQUEST_TIMED		(1u << 10)
/* It is a bound one: burst_request.stamp names it, and no other request is the same. */
#define REQUEST_BOUND		(1u << 11)
/* Flags of the request; the others are flags of the call. */
#define REQUEST_KEPT		(REQUEST_BOUNCE | REQUEST_VERSION | REQUEST_STALE | REQUEST_DIMS | \
				 REQUEST_LOOPS | REQUEST_BUFFERS | REQUEST_TIMED | REQUEST_BOUND)
/* Flags without effect on a request that has succeeded. */
#define REQUEST_USUAL		(REQUEST_SUBMITTED | REQUEST_STALE | REQUEST_DIMS | \
				 REQUEST_LOOPS | REQUEST_TIMED | REQUEST_BOUND)

/* Values of nnhal_burst.owner, see burst_owner.h. */
enum {
	OWNER_NONE,
	OWNER_QUICK,
	OWNER_LOCKED,
	OWNER_GIVER,
};

/* Values of nnhal_burst.wanted: who asks for a slot while a call is at work gets one at its end. */
enum {
	WANTED_NOT,
	WANTED_ASKED,
	WANTED_GIVEN,
};

/*
 * A place for one request in flight. Its number is the command id. Its argument block keeps
 * the last request: if the next one is the same, the block is right already.
 */
struct burst_request {
	/* The entry for the ring; it never changes. */
	struct nnpu_sqe_execute sqe;

	atomic_uchar state;
	uint32_t flags;			/* REQUEST_* */
	uint32_t hal_version;		/* normalised */
	uint64_t bit;			/* of this place in nnhal_burst.free */
	struct burst_request *follower;	/* the one that was taken next, last time */
	struct burst_request *next;	/* with a result */
	uint64_t stamp;			/* of the bound request, or STAMP_NONE */
	uint64_t tag;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t last_used;

	/* The result: of the library (REQUEST_PRESET), else of the device. */
	enum nnhal_status preset;
	uint32_t status;
	uint32_t reason;
	uint32_t error;
	uint64_t exec_ns;
	const struct nnpu_arg *results;	/* records of the outputs: the device's, or b->known */

	/*
	 * The request last seen: its address, never followed; version and counts;
	 * arguments, inputs before outputs.
	 */
	const struct nnhal_request *origin;
	uint64_t seen_head[2];
	struct nnhal_request_argument *seen;
	uint32_t (*seen_dims)[NNHAL_MAX_RANK];
	uint32_t num_pools;
	uint32_t max_pools;
	struct resolved_pool *pools;
	uint32_t num_held;		/* pools, some of them buffers; 0: no buffer is held */
	struct cached_memory **cached;	/* NULL: no argument is there, or it is a buffer */
	const struct binding **bindings;
	struct resolved_arg *resolved;
	struct nnpu_arg *args;		/* records in the argument block */
	struct nnhal_output_shape *shapes;

	/* burst_submit.c */
	struct nnhal_burst *burst;
	struct outcome outcome;
	struct nnhal_diag diag;
};

struct nnhal_burst {
	atomic_uint refs;
	/* One for all of refs together, one for each pending callback. */
	atomic_uint holds;
	struct fork_guard guard;	/* the device's */
	struct nnhal_prepared_model *model;
	struct transport *transport;
	struct transport_queue *queue;	/* NULL: burst_submit.c */
	struct nnpu_sqe *sq;		/* the queue's */
	struct nnpu_cqe *cq;
	uint32_t num_outputs;
	uint32_t depth;

	bool is_single;			/* NNHAL_BURST_SINGLE_THREAD, with a queue */
	bool never_waits;		/* for room: NNHAL_BURST_SINGLE_THREAD, nobody else makes some */
	atomic_uchar owner;		/* of such a burst; else OWNER_NONE */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint32_t num_waiters;		/* on cond */
	bool sleeping;			/* a thread is in queue_wait */
	uint64_t num_sleeps;		/* calls of queue_wait, for tests */
	uint64_t slice_until;		/* end of the current slice, 0: not known */
	uint64_t slice_cycles;		/* counter when it was computed */

	struct burst_request *requests;
	uint32_t num_requests;
	uint32_t num_submitted;		/* by nnhal_burst_submit(), not taken yet */
	uint32_t num_running;
	uint64_t free;			/* bits of free places */
	struct burst_request **guess;	/* the place that is likely to be taken next */
	struct burst_request *results;	/* oldest first */
	struct burst_request **results_tail;
	atomic_uchar has_results;	/* REQUEST_DONE if results is not empty */
	struct transport_bo blocks;	/* argument blocks, and result blocks if !known */
	struct nnpu_arg *known;		/* records of the outputs of each request */

	/* The rings; cq_count is also read without the lock. */
	enum transport_queue_state state;
	uint32_t sq_tail;
	uint32_t sq_rung;		/* the tail that the device knows */
	uint32_t cq_tell;		/* value of cq_count that the device is to be told */
	atomic_uint cq_count;		/* completions taken, ever */
	struct spin spin;

	uint64_t clock;			/* counts requests */
	uint32_t max_memories;
	uint32_t num_memories;
	uint32_t bucket_mask;
	struct cached_memory **buckets;
	struct cached_memory *memories;	/* all entries of the table */
	struct cached_memory *dropped;	/* forgotten, still in use by a request */
	struct slot_holder holder;	/* of the slots of all these */
	/* There are dropped entries, more than max_memories, or somebody who wants a slot. */
	atomic_bool is_untidy;
	atomic_uchar wanted;		/* a slot, of a burst that one thread uses: WANTED_* */
};

/* The process that created the burst, or a child? */
static inline bool burst_is_own(const struct nnhal_burst *b)
{
	return likely(!fork_guard_in_child(&b->guard));
}

static inline uint32_t burst_num_args(const struct nnhal_burst *b)
{
	return b->model->rules.num_inputs + b->model->rules.num_outputs;
}

/* Release one of burst.holds; the last one frees the burst. */
void burst_release(struct nnhal_burst *b);

#endif /* NNHAL_BURST_PRIVATE_H */
