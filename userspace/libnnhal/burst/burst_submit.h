/* SPDX-License-Identifier: MIT */
/*
 * Executions through the driver, where the process has no queue.
 */
#ifndef NNHAL_BURST_SUBMIT_H
#define NNHAL_BURST_SUBMIT_H

#include <stdint.h>

#include "burst/burst_private.h"

/* The options of an execution, but for those that a burst does not have. */
enum nnhal_status burst_read_options(struct nnhal_execute_options *to,
				     const struct nnhal_execute_options *from);
void burst_submit_execute(struct nnhal_burst *b, const struct nnhal_request *request,
			  struct nnhal_bound_request *bound,
			  const struct nnhal_execute_options *options,
			  struct nnhal_output_shape *shapes, struct outcome *out);
enum nnhal_status burst_submit_submit(struct nnhal_burst *b,
				      const struct nnhal_request *request,
				      struct nnhal_bound_request *bound,
				      const struct nnhal_execute_options *options, uint64_t tag,
				      uint32_t flags);
enum nnhal_status burst_submit_wait(struct nnhal_burst *b, struct nnhal_burst_result *results,
				    uint32_t min, uint32_t max, uint64_t until_ns,
				    uint32_t *count);

#endif /* NNHAL_BURST_SUBMIT_H */
