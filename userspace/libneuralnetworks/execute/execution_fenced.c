// SPDX-License-Identifier: MIT
/*
 * Executions that wait for events: fences go to the device, other events are waited for here. Nobody waits here for
 * a fence of others: it need not signal.
 */
#include <nnhal/util.h>
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "execute/execution_start.h"
#include "execute/ndk_event.h"
#include "execute/ndk_rerun.h"
#include "execute/ndk_steps.h"

bool ndk_known_shapes(ANeuralNetworksExecution *execution)
{
	const struct nnhal_subgraph *main = &execution->compilation->model->flat.hal.main;
	bool known = true;

	for (uint32_t i = 0; i < main->num_outputs; i++) {
		const struct nnhal_operand *o = &main->operands[main->output_indexes[i]];
		const struct nnhal_request_argument *a = &execution->request.outputs[i];
		struct nnhal_output_shape *shape = &execution->run->shapes[i];
		const uint32_t *dimensions = a->num_dimensions ? a->dimensions : o->dimensions;
		uint32_t rank = a->num_dimensions ? a->num_dimensions : o->num_dimensions;

		*shape = (struct nnhal_output_shape){ .is_sufficient = true };
		if (a->has_no_value || nnhal_operand_type_is_scalar(o->type))
			continue;
		known &= rank <= NNHAL_MAX_RANK &&
			 !nnhal_tensor_has_unspecified_dimensions(o->type, dimensions, rank);
		if (rank > NNHAL_MAX_RANK)
			continue;
		shape->num_dimensions = rank;
		memcpy(shape->dimensions, dimensions, rank * sizeof(*dimensions));
	}
	execution->run->num_shapes = main->num_outputs;
	return known;
}

/* The fences of the events; runs without one are waited for. The result of the first that failed. */
static int collect_fences(const struct ANeuralNetworksEvent *const *events, uint32_t count, int *fences,
			  uint32_t *num_fences)
{
	int result = ANEURALNETWORKS_NO_ERROR;

	for (uint32_t i = 0; i < count && !result; i++) {
		int fence = ndk_event_fence(events[i]);

		if (fence >= 0) {
			fences[(*num_fences)++] = fence;
			continue;
		}
		if (!events[i]->run->refused)
			ndk_run_ended(events[i]->run, true);
		if (events[i]->run->refused || events[i]->run->result)
			result = ndk_why(ANEURALNETWORKS_OP_FAILED, "dependency %u has failed: %s", i,
					 events[i]->run->why.message);
	}
	return result;
}

static void fenced_options(const ANeuralNetworksExecution *e, uint64_t duration,
			   struct nnhal_fenced_options *options)
{
	*options = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
	options->measure = e->said.measure ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
	options->has_deadline = e->said.timeout_ns;
	if (e->said.timeout_ns)
		options->deadline_ns = nnhal_deadline_after(e->said.timeout_ns);
	options->has_loop_timeout = e->said.has_loop_timeout;
	options->loop_timeout_ns = e->said.loop_timeout_ns;
	options->has_duration = duration;
	options->duration_ns = duration;
	options->diag = &e->run->why;
}

static int launch(ANeuralNetworksExecution *e, const int *fences, uint32_t num_fences,
		  const struct nnhal_fenced_options *options)
{
	struct ndk_run *run = e->run;
	enum nnhal_status status;
	int fence = -1;

	if (e->compilation->plan)
		return ndk_parts_launch(e, fences, num_fences, options);
	run->infos = calloc(1, sizeof(struct nnhal_fenced_callback *));
	if (!run->infos)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	run->num_infos = 1;
	status = nnhal_prepared_model_execute_fenced(e->compilation->prepared, &e->request, fences,
						     num_fences, options, &fence, run->infos);
	if (status)
		return ndk_run_result(run, status);
	run->fence = fence;
	/* Without a fence it has ended. */
	if (fence < 0)
		ndk_run_end(run, ndk_run_result(run, ndk_run_status(run)));
	return ANEURALNETWORKS_NO_ERROR;
}

/*
 * What could not be launched runs on nnapi-reference: before the call returns, without a fence, if the fences of
 * others have signalled, else behind them. Steps that were launched are behind them, too, and must not write
 * what the second run has written.
 */
static int launch_again(ANeuralNetworksExecution *e, const int *fences, uint32_t num_fences,
			const struct nnhal_fenced_options *options, int result)
{
	bool has_step = e->run->fence >= 0, pending = false;

	for (uint32_t i = 0; i < num_fences; i++) {
		enum nnhal_fence_state state = nnhal_fence_wait(fences[i], 0);

		if (state != NNHAL_FENCE_ACTIVE && state != NNHAL_FENCE_SIGNALED)
			return ndk_why(ANEURALNETWORKS_OP_FAILED, "a fence that is waited for has failed");
		pending |= state == NNHAL_FENCE_ACTIVE;
	}
	if (pending)
		return ndk_rerun_launch(e, has_step ? &e->run->fence : fences, has_step ? 1 : num_fences,
					options, result) ? ANEURALNETWORKS_NO_ERROR : result;
	/* Steps that wait for nobody end: devices see to that. */
	if (has_step)
		nnhal_fence_wait(e->run->fence, -1);
	result = ndk_rerun(e, result);
	if (!result) {
		ndk_run_set_fence(e->run, -1, NULL, 0);
		ndk_run_end(e->run, result);
	}
	return result;
}

static int launch_somewhere(ANeuralNetworksExecution *e, const int *fences, uint32_t num_fences,
			    uint64_t duration)
{
	struct nnhal_fenced_options options;
	int result;

	fenced_options(e, duration, &options);
	result = launch(e, fences, num_fences, &options);
	if (result && ndk_may_rerun(e, result))
		result = launch_again(e, fences, num_fences, &options, result);
	/* The caller gets its memory back when the steps that were launched have ended. */
	if (!result || !ndk_run_is_under_way(e->run))
		return result;
	e->run->refused = ndk_run_note(e->run, result);
	return ANEURALNETWORKS_NO_ERROR;
}

static int start(ANeuralNetworksExecution *e, const ANeuralNetworksEvent *const *dependencies,
		 uint32_t count, uint64_t duration, ANeuralNetworksEvent *event)
{
	int *fences = calloc((size_t)count + 1, sizeof(*fences));
	uint32_t num_fences = 0;
	int result;

	if (!fences)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	result = ndk_begin(e);
	if (result) {
		free(fences);
		return result;
	}
	event->run = ndk_run_ref(e->run);
	if (!ndk_known_shapes(e))
		result = ndk_why(ANEURALNETWORKS_BAD_DATA,
				 "an output without a known shape, which the event could not tell");
	else if (!e->compilation->prepared && !e->compilation->plan)
		result = ndk_why_nowhere(e->compilation);
	else
		result = collect_fences(dependencies, count, fences, &num_fences);
	/* What dependencies write has a content by now, or gets one before their fences signal. */
	if (!result)
		result = ndk_begin_contents(e);
	if (!result)
		result = launch_somewhere(e, fences, num_fences, duration);
	free(fences);
	if (result) {
		e->run->num_shapes = 0;
		return ndk_end(e, result);
	}
	ndk_launched(e);
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_startComputeWithDependencies(
	ANeuralNetworksExecution *execution, const ANeuralNetworksEvent *const *dependencies,
	uint32_t num_dependencies, uint64_t duration, ANeuralNetworksEvent **event)
{
	ANeuralNetworksEvent *made;
	int result;

	if (!event)
		return REFUSE_NULL(event);
	*event = NULL;
	if (!execution || (num_dependencies && !dependencies))
		return REFUSE_NULL(execution, dependencies);
	for (uint32_t i = 0; i < num_dependencies; i++)
		if (!dependencies[i])
			return REFUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "dependencies[%u] is NULL", i);
	if (ndk_execution_state(execution) != STATE_PREPARED && !execution->said.reusable)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the execution was started, and is not reusable");
	if (duration && !ndk_has_one_device(execution->compilation))
		return REFUSE(ANEURALNETWORKS_BAD_DATA,
			      "a duration takes exactly one device in createForDevices()");
	made = ndk_event_new();
	if (!made)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	result = start(execution, dependencies, num_dependencies, duration, made);
	if (result)
		ANeuralNetworksEvent_free(made);
	else
		*event = made;
	return TELL(result);
}
