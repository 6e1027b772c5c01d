// SPDX-License-Identifier: MIT
/*
 * Bursts: straight to a queue of the device.
 */
#include <nnhal/burst.h>
#include <stdlib.h>

#include "base/ndk_why.h"
#include "execute/execution_start.h"
#include "execute/ndk_rerun.h"
#include "execute/ndk_steps.h"

int ANeuralNetworksBurst_create(ANeuralNetworksCompilation *compilation,
				ANeuralNetworksBurst **burst)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_diag diag = { "" };
	ANeuralNetworksBurst *b;

	if (!burst)
		return REFUSE_NULL(burst);
	*burst = NULL;
	if (!compilation)
		return REFUSE_NULL(compilation);
	if (!compilation->valid)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is not finished, or its finish failed");
	b = calloc(1, sizeof(*b));
	if (!b)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	/* One thread at a time is all that the NNAPI allows, and it costs libnnhal less. */
	options.flags = NNHAL_BURST_SINGLE_THREAD;
	options.diag = &diag;
	if (compilation->plan)
		b->steps = ndk_parts_bursts(compilation->plan, &options, &status);
	else if (compilation->prepared)
		status = nnhal_burst_create(compilation->prepared, &options, &b->burst);
	if (status) {
		free(b);
		return TELL(ndk_why_status(status, &diag, "the burst"));
	}
	atomic_init(&b->refs, 1);
	atomic_init(&b->use, BURST_FREE);
	pthread_mutex_init(&b->forgetting, NULL);
	b->compilation = ndk_compilation_ref(compilation);
	*burst = b;
	return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksBurst_free(ANeuralNetworksBurst *burst)
{
	if (!burst || atomic_fetch_sub_explicit(&burst->refs, 1, memory_order_acq_rel) != 1)
		return;
	nnhal_burst_unref(burst->burst);
	ndk_parts_bursts_free(burst->compilation->plan, burst->steps);
	ANeuralNetworksCompilation_free(burst->compilation);
	pthread_mutex_destroy(&burst->forgetting);
	free(burst);
}

static bool take(ANeuralNetworksBurst *burst, enum ndk_burst_use use)
{
	int from = BURST_FREE;

	return atomic_compare_exchange_strong_explicit(&burst->use, &from, use,
						       memory_order_acquire, memory_order_relaxed);
}

static void leave(ANeuralNetworksBurst *burst)
{
	atomic_store_explicit(&burst->use, BURST_FREE, memory_order_release);
}

/*
 * The burst is the caller's; false: another thread computes with it. Who frees an execution does not compute, so
 * a caller waits for that: it unbinds what one execution had.
 */
static bool enter(ANeuralNetworksBurst *burst)
{
	bool taken = take(burst, BURST_COMPUTES);

	if (taken || atomic_load_explicit(&burst->use, memory_order_relaxed) == BURST_COMPUTES)
		return taken;
	pthread_mutex_lock(&burst->forgetting);
	taken = take(burst, BURST_COMPUTES);
	pthread_mutex_unlock(&burst->forgetting);
	return taken;
}

static void forget_pointers(ANeuralNetworksBurst *burst, const ANeuralNetworksExecution *execution)
{
	pthread_mutex_lock(&burst->forgetting);
	if (burst->steps && take(burst, BURST_FORGETS)) {
		ndk_parts_bursts_forget(burst->steps, execution);
		leave(burst);
	} else if (burst->burst && take(burst, BURST_FORGETS)) {
		for (uint32_t i = 0; i < execution->num_arguments; i++)
			if (execution->arguments[i].hal)
				nnhal_burst_free_memory(burst->burst, execution->arguments[i].hal);
		leave(burst);
	}
	pthread_mutex_unlock(&burst->forgetting);
}

/*
 * Memory of the process that an execution had as arguments stays pinned no longer than the execution. If
 * the burst computes, it drops the memory when it needs the room.
 */
void ndk_burst_forget(ANeuralNetworksBurst *burst, const ANeuralNetworksExecution *execution)
{
	uint32_t i = 0;

	while (i < execution->num_arguments && !execution->arguments[i].hal)
		i++;
	if (i < execution->num_arguments)
		forget_pointers(burst, execution);
	ANeuralNetworksBurst_free(burst);
}

static void remember_burst(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst)
{
	if (execution->burst == burst)
		return;
	if (execution->burst)
		ndk_burst_forget(execution->burst, execution);
	atomic_fetch_add_explicit(&burst->refs, 1, memory_order_relaxed);
	execution->burst = burst;
}

static int compute(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst)
{
	struct nnhal_execute_options options;
	int result;

	result = ndk_begin(e);
	if (result)
		return result;
	if (!burst->burst && !burst->steps)
		return ndk_end(e, ndk_why_nowhere(e->compilation));
	result = ndk_begin_contents(e);
	if (result)
		return ndk_end(e, result);
	remember_burst(e, burst);
	if (burst->steps)
		result = ndk_parts_compute(e, burst->steps);
	else
		result = ndk_run_result(e->run, nnhal_burst_execute(
			burst->burst, &e->request, ndk_options(e, &options), e->run->shapes,
			&e->run->num_shapes, &e->run->launched));
	return ndk_end(e, result ? ndk_rerun(e, result) : result);
}

int ANeuralNetworksExecution_burstCompute(ANeuralNetworksExecution *execution,
					  ANeuralNetworksBurst *burst)
{
	int result;

	if (!execution || !burst)
		return REFUSE_NULL(execution, burst);
	if (execution->compilation != burst->compilation)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "the burst is of another compilation than the execution");
	if (!enter(burst))
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "another thread computes on the burst");
	result = compute(execution, burst);
	leave(burst);
	return TELL(result);
}
