// SPDX-License-Identifier: MIT
/*
 * The steps of a plan, in the ways in which executions run.
 *
 * Times and deadlines are for one device that the caller chose, which has no plan with steps; steps have
 * the loop timeout of the execution, each loop for itself.
 */
#include <nnhal/burst.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ndk_why.h"
#include "execute/execution_start.h"
#include "execute/ndk_rerun.h"
#include "execute/ndk_steps.h"

/* Shapes of outputs of a step that are outputs of the model. */
static void take_shapes(ANeuralNetworksExecution *e, struct ndk_run *run, uint32_t number,
			const struct nnhal_output_shape *shapes, uint32_t num_shapes)
{
	const struct ndk_step *step = &e->compilation->plan->steps[number];

	for (uint32_t i = 0; i < num_shapes && i < step->num_outputs; i++) {
		uint32_t value = step->values[step->num_inputs + i];

		if (value < e->num_arguments)
			run->shapes[value - e->num_inputs] = shapes[i];
	}
}

int ndk_parts_compute(ANeuralNetworksExecution *execution, struct nnhal_burst *const *bursts)
{
	ANeuralNetworksExecution *e = execution;
	const struct ndk_plan *plan = e->compilation->plan;
	struct nnhal_execute_options storage;
	int result = ndk_parts_init(e);
	enum nnhal_status status;
	struct nnhal_timing timing;
	uint32_t i;

	if (result)
		return result;
	ndk_known_shapes(e);
	for (i = 0; !result && i < plan->num_steps; i++) {
		struct ndk_parts *parts = e->parts;
		uint32_t num_shapes = 0;

		if (bursts)
			status = nnhal_burst_execute(bursts[i], &parts->requests[i],
						     ndk_options(e, &storage), parts->shapes,
						     &num_shapes, &timing);
		else
			status = nnhal_prepared_model_execute_synchronously(
				plan->steps[i].prepared, &parts->requests[i],
				ndk_options(e, &storage), parts->shapes, &num_shapes, &timing);
		take_shapes(e, e->run, i, parts->shapes, num_shapes);
		result = ndk_run_result(e->run, status);
	}
	return result;
}

static void launch_next(ANeuralNetworksExecution *e);

/* On a thread of libnnhal, or of the caller if the step could not be launched. */
static void on_step(void *context, enum nnhal_status status,
		    const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		    const struct nnhal_timing *timing)
{
	ANeuralNetworksExecution *e = context;
	struct ndk_run *run = e->parts->run;

	(void)timing;
	take_shapes(e, run, e->parts->next, shapes, num_shapes);
	if (!status && ++e->parts->next < e->compilation->plan->num_steps) {
		launch_next(e);
		return;
	}
	/* The execution may start again as soon as the run has ended. */
	e->parts->run = NULL;
	ndk_rerun_start(e, run, ndk_run_result(run, status));
}

/* A step that is launched calls back from another thread, so calls do not nest. */
static void launch_next(ANeuralNetworksExecution *e)
{
	struct nnhal_execute_options storage;
	uint32_t number = e->parts->next;

	nnhal_prepared_model_execute(e->compilation->plan->steps[number].prepared,
				     &e->parts->requests[number], ndk_options(e, &storage), on_step,
				     e);
}

void ndk_parts_start(ANeuralNetworksExecution *execution)
{
	int result = ndk_parts_init(execution);

	if (result) {
		ndk_run_end(execution->run, result);
		return;
	}
	ndk_known_shapes(execution);
	execution->parts->next = 0;
	execution->parts->run = ndk_run_ref(execution->run);
	launch_next(ndk_execution_ref(execution));
}

int ndk_parts_launch(ANeuralNetworksExecution *execution, const int *fences, uint32_t num_fences,
		     const struct nnhal_fenced_options *options)
{
	const struct ndk_plan *plan = execution->compilation->plan;
	struct ndk_run *run = execution->run;
	int fence = -1, result = ndk_parts_init(execution);
	struct nnhal_fenced_callback **infos;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t i;

	if (result)
		return result;
	infos = calloc(plan->num_steps, sizeof(struct nnhal_fenced_callback *));
	if (!infos)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	run->infos = infos;
	run->num_infos = plan->num_steps;
	for (i = 0; !status && i < plan->num_steps; i++) {
		int next = -1;

		status = nnhal_prepared_model_execute_fenced(
			plan->steps[i].prepared, &execution->parts->requests[i],
			i ? &fence : fences, i ? fence >= 0 : num_fences, options, &next,
			&infos[i]);
		if (status)
			break;
		if (fence >= 0)
			close(fence);
		fence = next;
	}
	run->fence = fence;
	/* A step that cannot wait for the one before, since that has failed, is not what is wrong. */
	if (status && !ndk_run_is_under_way(run) && ndk_run_status(run))
		status = ndk_run_status(run);
	if (status)
		return ndk_run_result(run, status);
	if (fence < 0)
		ndk_run_end(run, ndk_run_result(run, ndk_run_status(run)));
	return ANEURALNETWORKS_NO_ERROR;
}

struct nnhal_burst **ndk_parts_bursts(const struct ndk_plan *plan,
				      const struct nnhal_burst_options *options,
				      enum nnhal_status *status)
{
	struct nnhal_burst **bursts = calloc(plan->num_steps, sizeof(struct nnhal_burst *));

	*status = bursts ? NNHAL_STATUS_NONE : NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (uint32_t i = 0; !*status && i < plan->num_steps; i++)
		*status = nnhal_burst_create(plan->steps[i].prepared, options, &bursts[i]);
	if (!*status)
		return bursts;
	ndk_parts_bursts_free(plan, bursts);
	return NULL;
}

void ndk_parts_bursts_free(const struct ndk_plan *plan, struct nnhal_burst **bursts)
{
	for (uint32_t i = 0; bursts && i < plan->num_steps; i++)
		nnhal_burst_unref(bursts[i]);
	free(bursts);
}

void ndk_parts_bursts_forget(struct nnhal_burst *const *bursts,
			     const ANeuralNetworksExecution *execution)
{
	const struct ndk_plan *plan = execution->compilation->plan;

	for (uint32_t i = 0; i < plan->num_steps; i++) {
		for (uint32_t k = 0; k < execution->num_arguments; k++)
			if (execution->arguments[k].hal)
				nnhal_burst_free_memory(bursts[i], execution->arguments[k].hal);
		if (execution->parts && execution->parts->pool)
			nnhal_burst_free_memory(bursts[i], execution->parts->pool);
	}
}
