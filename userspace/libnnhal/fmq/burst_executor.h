/* SPDX-License-Identifier: MIT */
/*
 * The executor of a burst server that was given a prepared model.
 */
#ifndef NNHAL_BURST_EXECUTOR_H
#define NNHAL_BURST_EXECUTOR_H

#include <nnhal/burst_fmq.h>

struct model_executor;

extern const struct nnhal_burst_executor model_executor_ops;

/* @max_pools: most slots of a request. Statuses of nnhal_burst_create(). */
enum nnhal_status model_executor_create(struct nnhal_prepared_model *model, uint32_t max_pools,
					struct nnhal_diag *diag, struct model_executor **executor);
/* The cache must be empty. NULL is allowed. */
void model_executor_destroy(struct model_executor *executor);

#endif /* NNHAL_BURST_EXECUTOR_H */
