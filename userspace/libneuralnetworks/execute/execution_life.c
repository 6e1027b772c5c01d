// SPDX-License-Identifier: MIT
/*
 * Executions: creation, what is said before the start, end.
 */
#include <stdlib.h>

#include "execute/ndk_execution.h"

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation,
				    ANeuralNetworksExecution **execution)
{
	const struct nnhal_subgraph *main;
	ANeuralNetworksExecution *e;
	uint32_t count;

	if (!compilation || !execution)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (!compilation->valid)
		return ANEURALNETWORKS_BAD_STATE;
	main = &compilation->model->flat.hal.main;
	count = main->num_inputs + main->num_outputs;
	e = calloc(1, sizeof(*e));
	if (!e)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	e->compilation = ndk_compilation_ref(compilation);
	atomic_init(&e->state, STATE_PREPARED);
	e->num_inputs = main->num_inputs;
	e->num_arguments = count;
	e->arguments = calloc((size_t)count + 1, sizeof(*e->arguments));
	e->hal_arguments = calloc((size_t)count + 1, sizeof(*e->hal_arguments));
	e->pools = calloc((size_t)count + 1, sizeof(*e->pools));
	e->run = ndk_run_new(main->num_outputs);
	if (!e->arguments || !e->hal_arguments || !e->pools || !e->run) {
		ANeuralNetworksExecution_free(e);
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	}
	e->request.num_inputs = main->num_inputs;
	e->request.inputs = e->hal_arguments;
	e->request.num_outputs = main->num_outputs;
	e->request.outputs = e->hal_arguments + main->num_inputs;
	e->request.pools = e->pools;
	*execution = e;
	return ANEURALNETWORKS_NO_ERROR;
}

/* A run that goes on has references of its own to all that it needs. */
void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution)
{
	if (!execution)
		return;
	if (execution->burst)
		ndk_burst_forget(execution->burst, execution);
	for (uint32_t i = 0; execution->arguments && i < execution->num_arguments; i++) {
		nnhal_memory_unref(execution->arguments[i].hal);
		ANeuralNetworksMemory_free(execution->arguments[i].memory);
	}
	ndk_run_unref(execution->run);
	ANeuralNetworksCompilation_free(execution->compilation);
	free(execution->arguments);
	free(execution->hal_arguments);
	free(execution->pools);
	free(execution);
}

enum ndk_state ndk_execution_state(ANeuralNetworksExecution *execution)
{
	int launched = STATE_LAUNCHED;

	if (atomic_load_explicit(&execution->state, memory_order_acquire) == STATE_LAUNCHED &&
	    ndk_run_ended(execution->run, false))
		atomic_compare_exchange_strong(&execution->state, &launched, STATE_ENDED);
	return (enum ndk_state)atomic_load_explicit(&execution->state, memory_order_acquire);
}

/* What is said before the start: BAD_STATE after it. */
static int check_unstarted(ANeuralNetworksExecution *execution)
{
	if (!execution)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	return ndk_execution_state(execution) == STATE_PREPARED ? ANEURALNETWORKS_NO_ERROR :
								  ANEURALNETWORKS_BAD_STATE;
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure)
{
	int result = check_unstarted(execution);

	if (result)
		return result;
	if (!ndk_has_one_device(execution->compilation))
		return ANEURALNETWORKS_BAD_DATA;
	execution->measure = measure;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
	int result = check_unstarted(execution);

	if (result)
		return result;
	if (!ndk_has_one_device(execution->compilation))
		return ANEURALNETWORKS_BAD_DATA;
	execution->timeout_ns = duration;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution,
					    uint64_t duration)
{
	int result = check_unstarted(execution);

	if (result)
		return result;
	execution->loop_timeout_ns = duration < NNHAL_MAX_LOOP_TIMEOUT_NS ?
				     duration : NNHAL_MAX_LOOP_TIMEOUT_NS;
	execution->has_loop_timeout = true;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable)
{
	int result = check_unstarted(execution);

	if (!result)
		execution->reusable = reusable;
	return result;
}

/* The padding that devices prefer is 1 byte: lengths are exact either way. */
int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution,
							 bool enable)
{
	int result = check_unstarted(execution);

	(void)enable;
	if (!result && execution->num_set)
		result = ANEURALNETWORKS_BAD_STATE;
	return result;
}
