// SPDX-License-Identifier: MIT
/*
 * Bursts: the functions of the API but for nnhal_burst_execute(), which is in burst_queue.c.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/monotonic.h"
#include "burst/burst_cache.h"
#include "burst/burst_owner.h"
#include "burst/burst_private.h"
#include "burst/burst_queue.h"
#include "burst/burst_submit.h"
#include "execution/arguments.h"

/* @bound: the bound request whose request it is, or NULL. */
static inline enum nnhal_status submit_one(struct nnhal_burst *burst,
					   const struct nnhal_request *request,
					   struct nnhal_bound_request *bound,
					   const struct nnhal_execute_options *options,
					   uint64_t tag, uint32_t flags)
{
	uint32_t count;

	if (unlikely(!burst || !request || (flags & ~NNHAL_BURST_NONBLOCK)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (unlikely(!burst_is_own(burst)))
		return request_status(NNHAL_STATUS_DEVICE_UNAVAILABLE, request);
	if (likely(burst->queue))
		return burst_queue_submit(burst, &request, bound, &tag, 1, options, flags, &count);
	return burst_submit_submit(burst, request, bound, options, tag, flags);
}

enum nnhal_status nnhal_burst_submit(struct nnhal_burst *burst,
				     const struct nnhal_request *request,
				     const struct nnhal_execute_options *options, uint64_t tag,
				     uint32_t flags)
{
	return submit_one(burst, request, NULL, options, tag, flags);
}

enum nnhal_status nnhal_burst_submit_bound(struct nnhal_burst *burst,
					   struct nnhal_bound_request *bound,
					   const struct nnhal_execute_options *options,
					   uint64_t tag, uint32_t flags)
{
	return submit_one(burst, bound ? &bound->request : NULL, bound, options, tag, flags);
}

/* Without a queue: one after the other. */
static cold_path enum nnhal_status submit_each(struct nnhal_burst *burst,
					       const struct nnhal_request *const *requests,
					       const uint64_t *tags, uint32_t num,
					       const struct nnhal_execute_options *options,
					       uint32_t flags, uint32_t *count)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;

	while (*count < num && !status) {
		status = requests[*count] ? burst_submit_submit(burst, requests[*count], NULL, options,
								tags[*count], flags)
					  : NNHAL_STATUS_INVALID_ARGUMENT;
		*count += !status;
	}
	return status;
}

enum nnhal_status nnhal_burst_submit_many(struct nnhal_burst *burst,
					  const struct nnhal_request *const *requests,
					  const uint64_t *tags, uint32_t num,
					  const struct nnhal_execute_options *options,
					  uint32_t flags, uint32_t *count)
{
	if (unlikely(!count))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*count = 0;
	if (unlikely(!burst || !requests || !requests[0] || !tags || !num ||
		     (flags & ~NNHAL_BURST_NONBLOCK)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (unlikely(!burst_is_own(burst)))
		return request_status(NNHAL_STATUS_DEVICE_UNAVAILABLE, requests[0]);
	if (likely(burst->queue))
		return burst_queue_submit(burst, requests, NULL, tags, num, options, flags, count);
	return submit_each(burst, requests, tags, num, options, flags, count);
}

static inline bool size_is_valid(const struct nnhal_burst_result *results)
{
	return result_size_is_valid(results, SIZE_UP_TO(struct nnhal_burst_result, timing));
}

hot_inline enum nnhal_status wait_for(struct nnhal_burst *burst,
				      struct nnhal_burst_result *results, uint32_t min,
				      uint32_t max, uint64_t timeout_ns, uint32_t *count)
{
	uint64_t until_ns = UINT64_MAX;

	if (unlikely(!burst_is_own(burst)))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (timeout_ns != UINT64_MAX) {
		until_ns = monotonic_ns();
		until_ns = timeout_ns < INT64_MAX - until_ns ? until_ns + timeout_ns : UINT64_MAX;
	}
	if (likely(burst->queue))
		return burst_queue_wait(burst, results, min, max, until_ns, count);
	return burst_submit_wait(burst, results, min, max, until_ns, count);
}

enum nnhal_status nnhal_burst_wait(struct nnhal_burst *burst, struct nnhal_burst_result *result,
				   uint64_t timeout_ns)
{
	uint32_t count = 0;

	if (unlikely(!burst || !result || !size_is_valid(result)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return wait_for(burst, result, 1, 1, timeout_ns, &count);
}

enum nnhal_status nnhal_burst_wait_many(struct nnhal_burst *burst,
					struct nnhal_burst_result *results, uint32_t min,
					uint32_t max, uint64_t timeout_ns, uint32_t *count)
{
	if (unlikely(!count))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*count = 0;
	if (unlikely(!burst || !results || !min || min > max || !size_is_valid(results)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return wait_for(burst, results, min, max, timeout_ns, count);
}

enum nnhal_status nnhal_burst_free_memory(struct nnhal_burst *burst, struct nnhal_memory *memory)
{
	if (!burst || !memory)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!burst_is_own(burst))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	if (!burst_enter(burst))
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	burst_cache_forget(burst, memory);
	burst_leave(burst, burst->is_single);
	return NNHAL_STATUS_NONE;
}
