/* SPDX-License-Identifier: MIT */
/*
 * Executions that their options let cancel.
 */
#ifndef NNHAL_CANCELLED_H
#define NNHAL_CANCELLED_H

#include <stdbool.h>
#include <stdint.h>

#include "execution/execution_pool.h"

/* Have the cancel, if there is one, know the run. False: the run must not begin. */
bool execution_may_begin(struct execution *e);
/*
 * Has the cancel ended the run, whose job has ended? Then it counts. @status: of its result block.
 */
bool execution_is_cancelled(struct execution *e, uint16_t status);

#endif /* NNHAL_CANCELLED_H */
