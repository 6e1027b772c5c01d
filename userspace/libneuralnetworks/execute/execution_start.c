// SPDX-License-Identifier: MIT
/*
 * Starting executions: compute(), startCompute(), and what all ways share.
 */
#include <nnhal/fence.h>
#include <stdlib.h>

#include "base/ndk_log.h"
#include "base/ndk_why.h"
#include "execute/execution_start.h"
#include "execute/ndk_event.h"
#include "execute/ndk_rerun.h"
#include "execute/ndk_steps.h"

static int why_unset(const ANeuralNetworksExecution *e)
{
	uint32_t i = 0;

	while (i + 1 < e->num_arguments && e->arguments[i].is_set)
		i++;
	return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u is not set", i < e->num_inputs ? "input" : "output",
		       i < e->num_inputs ? i : i - e->num_inputs);
}

int ndk_why_nowhere(const ANeuralNetworksCompilation *c)
{
	return ndk_why(ANEURALNETWORKS_OP_FAILED, "no device takes the model: %s", c->why.message);
}

int ndk_begin(ANeuralNetworksExecution *e)
{
	int from = STATE_PREPARED, result;

	if (e->said.reusable && ndk_execution_state(e) == STATE_ENDED)
		from = STATE_ENDED;
	if (!atomic_compare_exchange_strong(&e->state, &(int){ from }, STATE_RUNNING))
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the execution runs, or was started and is not reusable");
	if (e->num_set == e->num_arguments &&
	    (from == STATE_PREPARED || ndk_run_renew(&e->run))) {
		ndk_count(e->compilation->counter);
		return ANEURALNETWORKS_NO_ERROR;
	}
	result = e->num_set == e->num_arguments ? ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory") :
						  why_unset(e);
	atomic_store_explicit(&e->state, from, memory_order_release);
	return result;
}

int ndk_end(ANeuralNetworksExecution *e, int result)
{
	e->run->result = ndk_run_note(e->run, result);
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

	if (!said->measure && !said->timeout_ns && !said->has_loop_timeout && !e->compilation->explains)
		return NULL;
	*options = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	options->diag = &e->run->why;
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
		return REFUSE_NULL(execution);
	result = ndk_begin(execution);
	if (result)
		return TELL(result);
	run = execution->run;
	result = ndk_begin_contents(execution);
	if (result)
		return TELL(ndk_end(execution, result));
	if (execution->compilation->plan)
		result = ndk_parts_compute(execution, NULL);
	else if (!execution->compilation->prepared)
		result = ndk_why_nowhere(execution->compilation);
	else
		result = ndk_run_result(run, nnhal_prepared_model_execute_synchronously(
			execution->compilation->prepared, &execution->request,
			ndk_options(execution, &options), run->shapes,
			&run->num_shapes, &run->launched));
	return TELL(ndk_end(execution, result ? ndk_rerun(execution, result) : result));
}

/* On a thread of libnnhal. The execution may have been freed. */
static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	struct ndk_run *run = context;

	ndk_run_set_shapes(run, shapes, num_shapes);
	run->launched = *timing;
	ndk_run_end(run, ndk_run_result(run, status));
	ndk_run_unref(run);
}

/* The same if another device may run it then. */
static void on_result_or_again(void *context, enum nnhal_status status,
			       const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			       const struct nnhal_timing *timing)
{
	ANeuralNetworksExecution *e = context;
	struct ndk_run *run = ndk_run_ref(e->run);

	int result = ndk_run_result(run, status);

	if (status && ndk_may_rerun(e, result)) {
		ndk_rerun_start(e, run, result);
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
		return REFUSE_NULL(event);
	*event = NULL;
	if (!execution)
		return REFUSE_NULL(execution);
	made = ndk_event_new();
	if (!made)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	result = ndk_begin(execution);
	if (result) {
		ANeuralNetworksEvent_free(made);
		return TELL(result);
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
		ndk_run_end(execution->run, ndk_why_nowhere(execution->compilation));
	ndk_launched(execution);
	return ANEURALNETWORKS_NO_ERROR;
}
