/* SPDX-License-Identifier: MIT */
/*
 * Requests and their argument blocks: is a request the same as the last one in its place?
 * If not, it is checked and the argument block is rebuilt. The caller holds burst.lock.
 */
#ifndef NNHAL_BURST_REQUEST_H
#define NNHAL_BURST_REQUEST_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "burst/burst_private.h"

/* Does the model define all output shapes? */
bool burst_shapes_known(const struct nnhal_burst *b);
/* Set up argument block, result block if there is one, and ring entry of a place. */
void burst_request_init(struct nnhal_burst *b, uint32_t number, uint64_t block_size);
/*
 * Are the dimensions the same as last time? The ranks are known to be. Pure, so that the
 * compiler keeps values in registers across the call.
 */
bool burst_same_dims(const struct nnhal_burst *b, const struct burst_request *r,
		     const struct nnhal_request *request) __attribute__((pure));
/*
 * Check a request that differs from the last one in its place, bind its memory and write
 * its argument block. @bound: see burst_begin(). @late: the deadline has passed: only check it.
 */
cold_path enum nnhal_status burst_rebuild(struct nnhal_burst *b, struct burst_request *r,
					  const struct nnhal_request *request,
					  struct nnhal_bound_request *bound, bool late,
					  struct nnhal_diag *diag);

/*
 * A request with buffers has ended with @status, or does not begin: set the state of its outputs and
 * release its buffers. @shapes of the outputs are used with NONE only.
 */
cold_path void burst_end_buffers(struct nnhal_burst *b, struct burst_request *r,
				 const struct nnhal_output_shape *shapes,
				 enum nnhal_status status);

/*
 * Make the next comparison fail. The head that is stored here has a version that no request should have.
 * If one has it all the same, the heads are equal, and all counts in them are 0: REQUEST_STALE then makes
 * the comparison fail.
 */
static inline void burst_forget_request(struct burst_request *r)
{
	r->seen_head[0] = htole64(UINT32_MAX);
	r->seen_head[1] = 0;
	r->flags |= REQUEST_STALE;
}

/* Pool, offset, length and rank of an argument are adjacent: two 64-bit words. */
_Static_assert(offsetof(struct nnhal_request_argument, num_dimensions) ==
	       offsetof(struct nnhal_request_argument, location) + 12, "layout of an argument");
/* Version and counts of a request are two 64-bit words. */
_Static_assert(offsetof(struct nnhal_request, inputs) == 16, "head of a request");

/* Zero if only dimensions differ. The loop has no other branch. */
hot_inline uint64_t burst_compare_args(const struct nnhal_request_argument *a,
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
 * Is @request the same as the last one in this place? Then it is valid, its memory is bound
 * (the cache keeps entries that a valid request names), and the argument block is right.
 */
hot_inline bool burst_is_same(const struct nnhal_burst *b, const struct burst_request *r,
			      const struct nnhal_request *request)
{
	const struct nnhal_request_pool *pools = request->pools;
	uint64_t head[2], diff;
	uint32_t i;

	memcpy(head, request, sizeof(head));
	/* The last one was valid or forgotten: equal counts are the counts of the model, or 0. */
	if (((head[0] ^ r->seen_head[0]) | (head[1] ^ r->seen_head[1])) ||
	    !request->inputs || !request->outputs || !pools)
		return false;
	diff = burst_compare_args(request->inputs, r->seen, request->num_inputs) |
	       burst_compare_args(request->outputs, r->seen + request->num_inputs,
				  request->num_outputs);
	for (i = 0; i < request->num_pools; i++)
		diff |= ((uintptr_t)pools[i].memory ^ (uintptr_t)r->pools[i].memory) |
			pools[i].token;
	if (diff)
		return false;
	return likely(!(r->flags & (REQUEST_STALE | REQUEST_DIMS | REQUEST_BOUND))) ||
	       (!(r->flags & (REQUEST_STALE | REQUEST_BOUND)) && burst_same_dims(b, r, request));
}

#endif /* NNHAL_BURST_REQUEST_H */
