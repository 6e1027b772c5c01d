/* SPDX-License-Identifier: MIT */
/*
 * Executions on a queue of the process: submit and wait. nnhal_burst_execute() is there too.
 */
#ifndef NNHAL_BURST_QUEUE_H
#define NNHAL_BURST_QUEUE_H

#include <stdint.h>

#include "burst/burst_private.h"

/* Submit one or several requests; @count: out: how many were submitted. */
enum nnhal_status burst_queue_submit(struct nnhal_burst *b,
				     const struct nnhal_request *const *requests,
				     struct nnhal_bound_request *bound,
				     const uint64_t *tags, uint32_t num,
				     const struct nnhal_execute_options *options, uint32_t flags,
				     uint32_t *count);
enum nnhal_status burst_queue_wait(struct nnhal_burst *b, struct nnhal_burst_result *results,
				   uint32_t min, uint32_t max, uint64_t until_ns,
				   uint32_t *count);

#endif /* NNHAL_BURST_QUEUE_H */
