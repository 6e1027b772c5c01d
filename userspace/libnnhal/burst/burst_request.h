/* SPDX-License-Identifier: MIT */
/*
 * Requests: is one the last one seen in its place, and what is done if not.
 */
#ifndef NNHAL_BURST_REQUEST_H
#define NNHAL_BURST_REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "burst/burst_private.h"

/* Does the model alone say what shapes an execution comes to? */
bool burst_shapes_known(const struct nnhal_burst *b);
/* Argument block of a request, its result block if there is one, and the entry for them. */
void burst_request_init(struct nnhal_burst *b, uint32_t number, uint64_t block_size);
/* Are the dimensions the same as last time? The ranks are. Pure: the hot path counts on it. */
bool burst_same_dims(const struct nnhal_burst *b, const struct burst_request *r,
		     const struct nnhal_request *request) __attribute__((pure));
/*
 * Check a request that is not the last one and write its argument block. @late: the
 * deadline has passed, so checking is all.
 */
cold_path enum nnhal_status burst_rebuild(struct nnhal_burst *b, struct burst_request *r,
					  const struct nnhal_request *request, bool late,
					  struct nnhal_diag *diag);

/* No request is the same as the one in this place: a version that does not exist. */
static inline void burst_forget_request(struct burst_request *r)
{
	r->seen_head[0] = UINT64_C(0x1ffffffff);
	r->seen_head[1] = 1;
	r->flags |= REQUEST_STALE;
}

/* Pool, offset, length and rank of an argument lie side by side: two words. */
_Static_assert(offsetof(struct nnhal_request_argument, num_dimensions) ==
	       offsetof(struct nnhal_request_argument, location) + 12, "layout of an argument");
/* Version and counts are two words. */
_Static_assert(offsetof(struct nnhal_request, inputs) == 16, "head of a request");

/* Zero if nothing but dimensions differs; no branch but that of the loop. */
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
 * Is it the request last seen in this place? Then it is valid, its memory is bound
 * (entries are kept while a valid request names them), and the argument block is
 * right as it stands.
 */
hot_inline bool burst_is_same(const struct nnhal_burst *b, const struct burst_request *r,
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
	diff = burst_compare_args(request->inputs, r->seen, request->num_inputs) |
	       burst_compare_args(request->outputs, r->seen + request->num_inputs, request->num_outputs);
	for (i = 0; i < r->num_pools; i++)
		diff |= ((uintptr_t)pools[i].memory ^ (uintptr_t)r->pools[i].memory) |
			pools[i].token;
	if (diff)
		return false;
	return likely(!(r->flags & (REQUEST_STALE | REQUEST_DIMS))) ||
	       (!(r->flags & REQUEST_STALE) && burst_same_dims(b, r, request));
}

#endif /* NNHAL_BURST_REQUEST_H */
