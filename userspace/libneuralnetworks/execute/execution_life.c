// SPDX-License-Identifier: MIT
/*
 * Executions: creation, what is said before the start, end.
 */
#include <stdlib.h>

#include "base/ndk_why.h"
#include "execute/ndk_steps.h"

static void destroy(struct ndk_spare *spare)
{
	ANeuralNetworksExecution *e = (ANeuralNetworksExecution *)spare;

	ndk_run_unref(e->run);
	free(e->arguments);
	free(e->hal_arguments);
	free(e->pools);
	free(e);
}

static ANeuralNetworksExecution *new_execution(const ANeuralNetworksCompilation *c)
{
	const struct nnhal_subgraph *main = &c->model->flat.hal.main;
	size_t count = (size_t)main->num_inputs + main->num_outputs;
	ANeuralNetworksExecution *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->spare.destroy = destroy;
	e->num_inputs = main->num_inputs;
	e->num_arguments = (uint32_t)count;
	e->arguments = calloc(count + 1, sizeof(*e->arguments));
	e->hal_arguments = calloc(count + 1, sizeof(*e->hal_arguments));
	e->pools = calloc(count + 1, sizeof(*e->pools));
	e->run = ndk_run_new(main->num_outputs, c->open_shapes);
	if (!e->arguments || !e->hal_arguments || !e->pools || !e->run) {
		destroy(&e->spare);
		return NULL;
	}
	e->request.num_inputs = main->num_inputs;
	e->request.inputs = e->hal_arguments;
	e->request.num_outputs = main->num_outputs;
	e->request.outputs = e->hal_arguments + main->num_inputs;
	e->request.pools = e->pools;
	return e;
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation,
				    ANeuralNetworksExecution **execution)
{
	ANeuralNetworksExecution *e;

	if (!execution)
		return REFUSE_NULL(execution);
	*execution = NULL;
	if (!compilation)
		return REFUSE_NULL(compilation);
	if (!compilation->valid)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is not finished, or its finish failed");
	e = (ANeuralNetworksExecution *)atomic_exchange_explicit(&compilation->spare, NULL,
								 memory_order_acquire);
	if (!e)
		e = new_execution(compilation);
	if (!e)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	e->compilation = ndk_compilation_ref(compilation);
	e->said = (struct ndk_said){ 0 };
	atomic_store_explicit(&e->refs, 1, memory_order_relaxed);
	atomic_store_explicit(&e->state, STATE_PREPARED, memory_order_relaxed);
	*execution = e;
	return ANEURALNETWORKS_NO_ERROR;
}

ANeuralNetworksExecution *ndk_execution_ref(ANeuralNetworksExecution *execution)
{
	atomic_fetch_add_explicit(&execution->refs, 1, memory_order_relaxed);
	return execution;
}

/* Leave nothing of the arguments behind. */
static void unset_all(ANeuralNetworksExecution *e)
{
	for (uint32_t i = 0; i < e->num_arguments; i++) {
		struct ndk_argument *a = &e->arguments[i];

		if (!a->is_set)
			continue;
		nnhal_memory_unref(a->hal);
		ANeuralNetworksMemory_free(a->memory);
		a->hal = NULL;
		a->memory = NULL;
		a->is_set = false;
		e->hal_arguments[i] = (struct nnhal_request_argument){ 0 };
	}
	e->num_set = 0;
	e->num_shared = 0;
	e->request.num_pools = 0;
}

/*
 * Programs make an execution for each inference, one after the other. So the compilation keeps the last
 * one that was freed. A run that goes on has references of its own to all that it needs.
 */
void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution)
{
	ANeuralNetworksCompilation *c;
	struct ndk_spare *none = NULL;

	if (!execution ||
	    atomic_fetch_sub_explicit(&execution->refs, 1, memory_order_acq_rel) != 1)
		return;
	c = execution->compilation;
	if (execution->burst)
		ndk_burst_forget(execution->burst, execution);
	execution->burst = NULL;
	unset_all(execution);
	ndk_parts_free(execution->parts);
	execution->parts = NULL;
	if (!ndk_run_renew(&execution->run) ||
	    !atomic_compare_exchange_strong_explicit(&c->spare, &none, &execution->spare,
						     memory_order_release, memory_order_relaxed))
		destroy(&execution->spare);
	ANeuralNetworksCompilation_free(c);
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
		return WHY_NULL(execution);
	if (ndk_execution_state(execution) != STATE_PREPARED)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the execution was started");
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure)
{
	int result = check_unstarted(execution);

	if (result)
		return TELL(result);
	if (!ndk_has_one_device(execution->compilation))
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "measuring takes exactly one device in createForDevices()");
	execution->said.measure = measure;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
	int result = check_unstarted(execution);

	if (result)
		return TELL(result);
	if (!ndk_has_one_device(execution->compilation))
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "a timeout takes exactly one device in createForDevices()");
	execution->said.timeout_ns = duration;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution,
					    uint64_t duration)
{
	int result = check_unstarted(execution);

	if (result)
		return TELL(result);
	execution->said.loop_timeout_ns = duration < NNHAL_MAX_LOOP_TIMEOUT_NS ?
					  duration : NNHAL_MAX_LOOP_TIMEOUT_NS;
	execution->said.has_loop_timeout = true;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable)
{
	int result = check_unstarted(execution);

	if (!result)
		execution->said.reusable = reusable;
	return TELL(result);
}

int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution,
							 bool enable)
{
	int result = check_unstarted(execution);

	if (!result && execution->num_set)
		result = ndk_why(ANEURALNETWORKS_BAD_STATE, "padding comes before the first argument");
	if (!result)
		execution->said.padded = enable;
	return TELL(result);
}
