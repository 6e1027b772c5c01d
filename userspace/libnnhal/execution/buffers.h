/* SPDX-License-Identifier: MIT */
/*
 * Outputs of a run that are in buffers: what becomes of the buffers.
 */
#ifndef NNHAL_BUFFERS_H
#define NNHAL_BUFFERS_H

#include <stdbool.h>

#include <nnhal/nnhal.h>

#include "execution/validate_request.h"

/*
 * The device has found shapes of outputs. Do they fit their buffers? @status: NONE or
 * OUTPUT_INSUFFICIENT_SIZE. The latter is about memory of the caller only: an output in a buffer is
 * sufficient, or the run has failed.
 *
 * Return: @status or GENERAL_FAILURE.
 */
enum nnhal_status buffers_check(const struct request_rules *rules,
				const struct resolved_arg *args,
				const struct resolved_pool *pools,
				struct nnhal_output_shape *shapes, enum nnhal_status status,
				struct nnhal_diag *diag);
/* A run that was not refused has ended; @shapes are used with NONE only. */
void buffers_settle(const struct request_rules *rules, const struct resolved_arg *args,
		    const struct resolved_pool *pools,
		    const struct nnhal_output_shape *shapes, enum nnhal_status status);
/* A run has failed, but its job may still write: its outputs get other memory with their next use. */
void buffers_abandon(const struct request_rules *rules, const struct resolved_arg *args,
		     const struct resolved_pool *pools);
/*
 * The status of the device is OUTPUT_INSUFFICIENT. Would the run succeed if the buffers had the
 * memory that @shapes take?
 */
bool buffers_can_grow(const struct request_rules *rules, const struct resolved_arg *args,
		      const struct resolved_pool *pools,
		      const struct nnhal_output_shape *shapes);
/* Memory for an output that is too small for its buffer, which can grow. 0 or -errno. */
int buffer_grow(const struct resolved_pool *pool, const struct nnhal_output_shape *shape,
		struct nnhal_memory **storage);

#endif /* NNHAL_BUFFERS_H */
