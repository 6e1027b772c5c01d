/* SPDX-License-Identifier: MIT */
/*
 * Executions.
 */
#ifndef NNHAL_EXECUTION_H
#define NNHAL_EXECUTION_H

#include <nnhal/nnhal.h>

#include "execution/prepared_model_private.h"

/* As nnhal_prepared_model_execute(), but a failed launch does not call back. */
enum nnhal_status execution_start(struct nnhal_prepared_model *model,
				  const struct nnhal_request *request,
				  const struct nnhal_execute_options *options,
				  nnhal_execution_callback callback, void *context);

#endif /* NNHAL_EXECUTION_H */
