/* SPDX-License-Identifier: MIT */
/*
 * Executions.
 */
#ifndef NNHAL_EXECUTION_H
#define NNHAL_EXECUTION_H

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "execution/arguments.h"
#include "execution/bound_request.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"

/*
 * Runs of a request, or of a bound one: then @bound is not NULL, and @request is its copy.
 *
 * execution_start() is nnhal_prepared_model_execute(), but a failed launch does not call back.
 */
enum nnhal_status execution_start(struct nnhal_prepared_model *model,
				  const struct nnhal_request *request,
				  struct nnhal_bound_request *bound,
				  const struct nnhal_execute_options *options,
				  nnhal_execution_callback callback, void *context);
void execution_run(struct nnhal_prepared_model *model, const struct nnhal_request *request,
		   struct nnhal_bound_request *bound, const struct nnhal_execute_options *options,
		   struct nnhal_output_shape *shapes, struct outcome *out);

/* ---- what fenced executions share with the others ---- */

/*
 * Everything before the submission. @fenced_rules: rules of the model for a fenced run, which has no
 * arguments yet; NULL: any other run. With NONE the caller ends @result with execution_done(); its preset may be a
 * missed deadline.
 */
enum nnhal_status execution_begin(struct nnhal_prepared_model *model,
				  const struct nnhal_request *request,
				  struct nnhal_bound_request *bound,
				  const struct nnhal_execute_options *options,
				  const struct request_rules *fenced_rules,
				  struct execution **result);
/* Copy the inputs that need it, and write the argument records. */
enum nnhal_status execution_fill(struct execution *e);
enum nnhal_status execution_submit(struct execution *e);
/*
 * The fence of a run has signalled (@error 0: of the wait): have its result where memory has to be
 * synchronised. Before execution_has_to_run_again() and execution_end(). 0, or their @error.
 */
int execution_take_result(struct execution *e, int error);
/* Outcome of a run. @error: of the wait; 0: the fence has signalled. */
struct outcome execution_end(struct execution *e, int error);
/*
 * A run has ended. If all it lacked was memory of buffers, it has to run again with more of it. After a
 * failure to get that, e->preset says why.
 */
bool execution_has_to_run_again(struct execution *e, int error);
/* The run is over. */
void execution_done(struct execution *e);
/* A request that was not refused has failed with @status before it ran; it is over. */
void execution_fail(struct execution *e, enum nnhal_status status);

/* The completion queue that options name; NULL: none. */
static inline struct nnhal_completion_queue *
execution_completions(const struct nnhal_execute_options *options)
{
	return options && options->size >= SIZE_UP_TO(struct nnhal_execute_options, completions)
	       ? options->completions : NULL;
}

#endif /* NNHAL_EXECUTION_H */
