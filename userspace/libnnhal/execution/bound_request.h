/* SPDX-License-Identifier: MIT */
/*
 * Bound requests: what runs of any kind take from them.
 */
#ifndef NNHAL_BOUND_REQUEST_H
#define NNHAL_BOUND_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"

/* Stamps that no request has which is known to be right. */
#define STAMP_NONE	0	/* of a place in a burst: its request is not a bound one */
#define STAMP_UNCHECKED	1	/* of a bound request: an argument was set since the last run */
#define STAMP_FIRST	2

struct nnhal_bound_request {
	atomic_uint refs;
	/*
	 * Names the arguments: no others of this device ever had the same stamp. So whoever has seen
	 * it knows them.
	 */
	atomic_uint_least64_t stamp;
	struct nnhal_prepared_model *model;
	/* The copy. Version, counts and pools never change; arguments under the lock. */
	struct nnhal_request request;
	struct nnhal_request_argument *args;	/* inputs, then outputs */
	uint32_t (*dims)[NNHAL_MAX_RANK];
	struct nnhal_request_pool *pools;	/* memory objects are referenced */
	struct nnhal_buffer **buffers;		/* of each pool, held; NULL: a memory object */
	bool has_buffers;
	pthread_mutex_t lock;
	/* What the arguments are resolved to, if they are known to be right and in no buffer. */
	bool is_resolved;
	bool is_good_fenced;			/* for fenced runs as well */
	struct resolved_arg *resolved;
};

static inline uint64_t bound_stamp(const struct nnhal_bound_request *bound)
{
	return atomic_load_explicit(&((struct nnhal_bound_request *)bound)->stamp,
				    memory_order_relaxed);
}

/* As resolve_request(). @stamp: out: of what was resolved; may be NULL. */
enum nnhal_status bound_resolve(struct nnhal_bound_request *bound,
				const struct request_rules *rules, struct resolved_pool *pools,
				struct resolved_arg *args, uint64_t *stamp,
				struct nnhal_diag *diag);

#endif /* NNHAL_BOUND_REQUEST_H */
