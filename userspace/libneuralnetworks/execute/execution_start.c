// SPDX-License-Identifier: MIT
/*
 * Starting executions: compute(), startCompute(), and what all ways share.
 */
#include <nnhal/fence.h>
#include <stdlib.h>

#include "base/ndk_log.h"
#include "execute/execution_start.h"
#include "execute/ndk_event.h"
#include "execute/ndk_rerun.h"
#include "execute/ndk_steps.h"

int ndk_begin(ANeuralNetworksExecution *e)
{
	int from = STATE_PREPARED, result;

	if (e->said.reusable && ndk_execution_state(e) == STATE_ENDED)
		from = STATE_ENDED;
	if (!atomic_compare_exchange_strong(&e->state, &(int){ from }, STATE_RUNNING))
		return ANEURALNETWORKS_BAD_STATE;
	if (e->num_set == e->num_arguments &&
	    (from == STATE_PREPARED || ndk_run_renew(&e->run))) {
		ndk_count(e->compilation->counter);
		return ANEURALNETWORKS_NO_ERROR;
	}
	result = e->num_set == e->num_arguments ? ANEURALNETWORKS_OUT_OF_MEMORY :
						  ANEURALNETWORKS_BAD_DATA;
	atomic_store_explicit(&e->state, from, memory_order_release);
	return result;
}

int ndk_end(ANeuralNetworksExecution *e, int result)
{
	e->run->result = result;
	ndk_run_settle(e->run);
	e->run->done = true;
	atomic_store_explicit(&e->state, STATE_ENDED, memory_order_release);
	return result;
}

void ndk_launched(ANeuralNetworksExecution *e)
{
	atomic_store_explicit(&e->state, STATE_LAUNCHED, memory_order_release);
}

const struct nnhal_execute_options *ndk_options(const ANeuralNetworksExecution *e,
						struct nnhal_execute_options *options)
{
	const struct ndk_said *said = &e->said;

	if (!said->measure && !said->timeout_ns && !said->has_loop_timeout)
		return NULL;
	*options = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	options->measure = said->measure ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
	options->has_deadline = said->timeout_ns;
	if (said->timeout_ns)
		options->deadline_ns = nnhal_deadline_after(said->timeout_ns);
	options->has_loop_timeout = said->has_loop_timeout;
	options->loop_timeout_ns = said->loop_timeout_ns;
	return options;
}

int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution)
{
	struct nnhal_execute_options options;
	struct ndk_run *run;
	int result;

	if (!execution)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = ndk_begin(execution);
	if (result)
		return result;
	run = execution->run;
	result = ndk_begin_contents(execution);
	if (result)
		return ndk_end(execution, result);
	if (execution->compilation->plan)
		result = ndk_parts_compute(execution, NULL);
	else if (!execution->compilation->prepared)
		result = ANEURALNETWORKS_OP_FAILED;
	else
		result = ndk_result(nnhal_prepared_model_execute_synchronously(
			execution->compilation->prepared, &execution->request,
			ndk_options(execution, &options), run->shapes,
			&run->num_shapes, &run->launched));
	return ndk_end(execution, result ? ndk_rerun(execution, result) : result);
}

/* On a thread of libnnhal. The execution may have been freed. */
static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	struct ndk_run *run = context;

	ndk_run_set_shapes(run, shapes, num_shapes);
	run->launched = *timing;
	ndk_run_end(run, ndk_result(status));
	ndk_run_unref(run);
}

/* The same if another device may run it then. */
static void on_result_or_again(void *context, enum nnhal_status status,
			       const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			       const struct nnhal_timing *timing)
{
	ANeuralNetworksExecution *e = context;
	struct ndk_run *run = ndk_run_ref(e->run);

	if (status && ndk_may_rerun(e, ndk_result(status))) {
		ndk_rerun_start(e, run, ndk_result(status));
		return;
	}
	on_result(run, status, shapes, num_shapes, timing);
	ANeuralNetworksExecution_free(e);
}

static void launch(ANeuralNetworksExecution *e)
{
	bool again = ndk_may_rerun(e, ANEURALNETWORKS_OP_FAILED);
	struct nnhal_execute_options options;

	if (again)
		ndk_execution_ref(e);
	else
		ndk_run_ref(e->run);
	nnhal_prepared_model_execute(e->compilation->prepared, &e->request,
				     ndk_options(e, &options),
				     again ? on_result_or_again : on_result,
				     again ? (void *)e : (void *)e->run);
}

int ANeuralNetworksExecution_startCompute(ANeuralNetworksExecution *execution,
					  ANeuralNetworksEvent **event)
{
	ANeuralNetworksEvent *made;
	int result;

	if (!event)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	*event = NULL;
	if (!execution)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	made = ndk_event_new();
	if (!made)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	result = ndk_begin(execution);
	if (result) {
		ANeuralNetworksEvent_free(made);
		return result;
	}
	made->run = ndk_run_ref(execution->run);
	*event = made;
	/* The event brings the result in any case, also when nothing could be launched. */
	result = ndk_begin_contents(execution);
	if (result)
		ndk_run_end(execution->run, result);
	else if (execution->compilation->plan)
		ndk_parts_start(execution);
	else if (execution->compilation->prepared)
		launch(execution);
	else
		ndk_run_end(execution->run, ANEURALNETWORKS_OP_FAILED);
	ndk_launched(execution);
	return ANEURALNETWORKS_NO_ERROR;
}
