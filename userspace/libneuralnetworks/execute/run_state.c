// SPDX-License-Identifier: MIT
/*
 * Starts of executions: what the execution and its event share.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ndk_why.h"
#include "execute/ndk_execution.h"

struct ndk_run *ndk_run_new(uint32_t num_outputs, bool open_shapes)
{
	struct ndk_run *run = calloc(1, sizeof(*run) + num_outputs * sizeof(run->shapes[0]));

	if (!run)
		return NULL;
	atomic_init(&run->refs, 1);
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->ended, NULL);
	run->fence = -1;
	run->launched = run->fenced = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	run->num_outputs = num_outputs;
	run->open_shapes = open_shapes;
	return run;
}

struct ndk_run *ndk_run_ref(struct ndk_run *run)
{
	atomic_fetch_add_explicit(&run->refs, 1, memory_order_relaxed);
	return run;
}

void ndk_run_set_fence(struct ndk_run *run, int fence, struct nnhal_fenced_callback **infos,
		       uint32_t num_infos)
{
	if (run->fence >= 0)
		close(run->fence);
	for (uint32_t i = 0; i < run->num_infos; i++)
		nnhal_fenced_callback_unref(run->infos[i]);
	free(run->infos);
	run->fence = fence;
	run->infos = infos;
	run->num_infos = num_infos;
}

int ndk_run_note(struct ndk_run *run, int result)
{
	if (result && !run->why.message[0])
		strcpy(run->why.message, ndk_reason(result));
	return result;
}

int ndk_run_result(struct ndk_run *run, enum nnhal_status status)
{
	int result = ndk_why_status(status, &run->why, "the execution");

	/* Lengths and shapes were right when they were set: what the operations give contradicts them. */
	if (result == ANEURALNETWORKS_BAD_DATA && run->open_shapes)
		result = ndk_why(ANEURALNETWORKS_OP_FAILED, "the execution: %s", run->why.message);
	return ndk_run_note(run, result);
}

int ndk_run_why(const struct ndk_run *run)
{
	if (!run->result)
		return run->result;
	return ndk_why(run->result, "the execution has failed: %s", run->why.message);
}

static void free_written(struct ndk_run *run)
{
	for (uint32_t i = 0; i < run->num_written; i++)
		ANeuralNetworksMemory_free(run->written[i]);
	free(run->written);
	run->written = NULL;
	run->num_written = 0;
}

enum nnhal_status ndk_run_status(struct ndk_run *run)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;

	/* Those behind a step that failed fail because of it; those that were not launched have none. */
	for (uint32_t i = 0; i < run->num_infos && run->infos[i] && !status; i++)
		status = nnhal_fenced_callback_get_execution_info(run->infos[i], &run->launched,
								  &run->fenced);
	return status;
}

/* Of a fenced run: nobody tells it that it has ended; whoever asks looks at the fence. */
static bool look_at_fence(struct ndk_run *run, bool wait)
{
	if (nnhal_fence_wait(run->fence, wait ? -1 : 0) == NNHAL_FENCE_ACTIVE)
		return false;
	pthread_mutex_lock(&run->lock);
	if (!run->done) {
		run->result = run->refused;
		if (!run->result)
			run->result = ndk_run_result(run, ndk_run_status(run));
		ndk_run_settle(run);
		run->done = true;
	}
	pthread_mutex_unlock(&run->lock);
	return true;
}

void ndk_run_unref(struct ndk_run *run)
{
	if (!run || atomic_fetch_sub_explicit(&run->refs, 1, memory_order_acq_rel) != 1)
		return;
	/* Memory that it has written outlives it. */
	if (run->fence >= 0 && run->num_written)
		look_at_fence(run, false);
	ndk_run_set_fence(run, -1, NULL, 0);
	free_written(run);
	pthread_cond_destroy(&run->ended);
	pthread_mutex_destroy(&run->lock);
	free(run);
}

bool ndk_run_renew(struct ndk_run **run)
{
	struct ndk_run *r = *run;

	if (atomic_load_explicit(&r->refs, memory_order_acquire) == 1 && !r->infos) {
		free_written(r);
		r->done = false;
		r->num_shapes = 0;
		r->why.message[0] = '\0';
		r->launched = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
		return true;
	}
	r = ndk_run_new(r->num_outputs, r->open_shapes);
	if (!r)
		return false;
	ndk_run_unref(*run);
	*run = r;
	return true;
}

void ndk_run_end(struct ndk_run *run, int result)
{
	pthread_mutex_lock(&run->lock);
	run->result = ndk_run_note(run, result);
	ndk_run_settle(run);
	run->done = true;
	pthread_cond_broadcast(&run->ended);
	pthread_mutex_unlock(&run->lock);
}

bool ndk_run_ended(struct ndk_run *run, bool wait)
{
	bool done;

	if (run->fence >= 0)
		return look_at_fence(run, wait);
	pthread_mutex_lock(&run->lock);
	while (wait && !run->done)
		pthread_cond_wait(&run->ended, &run->lock);
	done = run->done;
	pthread_mutex_unlock(&run->lock);
	return done;
}
