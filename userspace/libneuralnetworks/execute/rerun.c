// SPDX-License-Identifier: MIT
/*
 * Running an execution again on nnapi-reference.
 *
 * The whole model runs there, also if only a step of it has failed. What is in memory of the device that
 * failed is copied for that; if it cannot be, the first result stays.
 */
#include <nnhal/buffer.h>
#include <nnhal/fenced.h>
#include <nnhal/util.h>
#include <stdlib.h>

#include "base/ndk_log.h"
#include "base/ndk_why.h"
#include "execute/execution_start.h"
#include "execute/ndk_rerun.h"

/* A second start of an execution. */
struct rerun {
	ANeuralNetworksExecution *execution;
	struct ndk_run *run;
	struct nnhal_prepared_model *prepared;
	struct nnhal_request request;
	struct nnhal_request_argument *arguments;
	struct nnhal_request_pool *pools;
	struct nnhal_memory **copies;		/* of each pool, or NULL */
};

bool ndk_may_rerun(const ANeuralNetworksExecution *execution, int result)
{
	const ANeuralNetworksCompilation *c = execution->compilation;

	switch (result) {
	case ANEURALNETWORKS_OP_FAILED:
	case ANEURALNETWORKS_UNAVAILABLE_DEVICE:
	case ANEURALNETWORKS_DEAD_OBJECT:
	case ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT:
	case ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT:
		return !c->chosen && !c->on_reference && (c->prepared || c->plan);
	default:
		return false;
	}
}

static void end(struct rerun *r)
{
	for (uint32_t i = 0; r->copies && i < r->request.num_pools; i++)
		nnhal_memory_unref(r->copies[i]);
	free(r->arguments);
	free(r->pools);
	free(r->copies);
	free(r);
}

static const struct ANeuralNetworksMemory *buffer_of(const ANeuralNetworksExecution *e, uint32_t i)
{
	const struct ANeuralNetworksMemory *memory = e->arguments[i].memory;

	return memory && memory->buffer ? memory : NULL;
}

/* Bytes of an argument that is in a buffer: of its content, or those of an output of known shape. */
static uint64_t size_in_buffer(const ANeuralNetworksExecution *e, uint32_t i)
{
	const struct nnhal_operand *operand;
	struct nnhal_buffer_state state = NNHAL_BUFFER_STATE_INIT;
	bool typed = e->hal_arguments[i].num_dimensions;
	uint32_t size = 0;

	if (i < e->num_inputs)
		return nnhal_buffer_get_state(buffer_of(e, i)->buffer, &state) ||
		       !state.is_initialized ? 0 : state.content_size;
	operand = ndk_argument_operand(e->compilation, true, i - e->num_inputs);
	if (nnhal_size_of_data(operand->type,
			       typed ? e->hal_arguments[i].dimensions : operand->dimensions,
			       typed ? e->hal_arguments[i].num_dimensions : operand->num_dimensions,
			       &size))
		return 0;
	return size;
}

/* Memory instead of a buffer, with its content if it is an input. */
static bool replace_buffer(struct rerun *r, uint32_t i)
{
	const ANeuralNetworksExecution *e = r->execution;
	uint64_t size = size_in_buffer(e, i);
	uint32_t pool = r->arguments[i].location.pool_index;

	if (!size || size > UINT32_MAX)
		return false;
	/* Arguments in one buffer have one pool: two inputs. */
	if (!r->copies[pool] && nnhal_memory_create(size, &r->copies[pool], NULL))
		return false;
	r->pools[pool] = (struct nnhal_request_pool){ .memory = r->copies[pool] };
	r->arguments[i].location.length = (uint32_t)size;
	return i >= e->num_inputs ||
	       !nnhal_buffer_copy_to(buffer_of(e, i)->buffer, r->copies[pool], NULL);
}

static struct rerun *begin(ANeuralNetworksExecution *e, struct ndk_run *run)
{
	struct nnhal_prepared_model *prepared = ndk_reference_model(e->compilation);
	struct rerun *r = prepared ? calloc(1, sizeof(*r)) : NULL;
	uint32_t i;

	if (!r)
		return NULL;
	r->execution = e;
	r->run = run;
	r->prepared = prepared;
	r->request = e->request;
	r->arguments = calloc((size_t)e->num_arguments + 1, sizeof(*r->arguments));
	r->pools = calloc((size_t)e->num_arguments + 1, sizeof(*r->pools));
	r->copies = calloc((size_t)e->num_arguments + 1, sizeof(struct nnhal_memory *));
	if (!r->arguments || !r->pools || !r->copies) {
		end(r);
		return NULL;
	}
	for (i = 0; i < e->request.num_pools; i++)
		r->pools[i] = e->pools[i];
	for (i = 0; i < e->num_arguments; i++) {
		r->arguments[i] = e->hal_arguments[i];
		if (buffer_of(e, i) && !replace_buffer(r, i)) {
			end(r);
			return NULL;
		}
	}
	r->request.inputs = r->arguments;
	r->request.outputs = r->arguments + e->num_inputs;
	r->request.pools = r->pools;
	return r;
}

/* Outputs go back to their buffers. Returns the result. */
static int finish(struct rerun *r, enum nnhal_status status)
{
	ANeuralNetworksExecution *e = r->execution;
	int result = ndk_run_result(r->run, status);
	struct nnhal_diag diag;

	for (uint32_t i = e->num_inputs; !result && i < e->num_arguments; i++) {
		const struct nnhal_output_shape *shape = &r->run->shapes[i - e->num_inputs];

		if (buffer_of(e, i))
			result = ndk_why_status(nnhal_buffer_copy_from(
				buffer_of(e, i)->buffer,
				r->copies[r->arguments[i].location.pool_index], shape->dimensions,
				shape->num_dimensions, &diag), &diag, "an output in memory of a device");
	}
	ndk_count(&ndk_counters()->reruns);
	ndk_log(NNHAL_LOG_EXECUTION, "again on nnapi-reference: %s", ndk_result_name(result));
	return result;
}

static struct rerun *begin_and_tell(ANeuralNetworksExecution *e, struct ndk_run *run, int result)
{
	struct rerun *r = begin(e, run);

	ndk_log(NNHAL_LOG_EXECUTION, "%s on %s: %s%s", ndk_result_name(result),
		e->compilation->plan ? "a step" : nnhal_device_name(e->compilation->device), run->why.message,
		r ? "" : ", and nnapi-reference cannot run it again");
	/* The second run has its own reason. */
	if (r)
		run->why.message[0] = '\0';
	return r;
}

int ndk_rerun(ANeuralNetworksExecution *execution, int result)
{
	ANeuralNetworksExecution *e = execution;
	struct nnhal_execute_options storage;
	struct rerun *r;

	if (!ndk_may_rerun(e, result))
		return result;
	r = begin_and_tell(e, e->run, result);
	if (!r)
		return result;
	result = finish(r, nnhal_prepared_model_execute_synchronously(
		r->prepared, &r->request, ndk_options(e, &storage), e->run->shapes,
		&e->run->num_shapes, &e->run->launched));
	end(r);
	return result;
}

/* Can it run without anything being copied before or after? */
static bool is_in_place(const ANeuralNetworksExecution *e)
{
	uint32_t i;

	for (i = 0; i < e->num_arguments; i++)
		if (buffer_of(e, i))
			return false;
	for (i = 0; i < e->request.num_pools; i++)
		if (!ndk_reference_reaches(e->compilation, e->pools[i].memory))
			return false;
	return true;
}

bool ndk_rerun_launch(ANeuralNetworksExecution *execution, const int *fences, uint32_t num_fences,
		      const struct nnhal_fenced_options *options, int result)
{
	ANeuralNetworksExecution *e = execution;
	struct nnhal_fenced_callback **info;
	enum nnhal_status status;
	struct rerun *r;
	int fence = -1;

	if (!is_in_place(e))
		return false;
	r = begin_and_tell(e, e->run, result);
	if (!r)
		return false;
	info = calloc(1, sizeof(struct nnhal_fenced_callback *));
	status = info ? nnhal_prepared_model_execute_fenced(r->prepared, &r->request, fences, num_fences,
							    options, &fence, info) :
			NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	/* What is launched has references of its own. */
	end(r);
	ndk_log(NNHAL_LOG_EXECUTION, "behind its fences on nnapi-reference: %s",
		nnhal_status_name((int)status));
	if (status) {
		free(info);
		return false;
	}
	ndk_count(&ndk_counters()->reruns);
	ndk_run_set_fence(e->run, fence, info, 1);
	if (fence < 0)
		ndk_run_end(e->run, ndk_run_result(e->run, ndk_run_status(e->run)));
	return true;
}

static void leave(ANeuralNetworksExecution *e, struct ndk_run *run, int result)
{
	ndk_run_end(run, result);
	ndk_run_unref(run);
	ANeuralNetworksExecution_free(e);
}

static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	struct rerun *r = context;
	ANeuralNetworksExecution *e = r->execution;
	struct ndk_run *run = r->run;
	int result;

	(void)timing;
	ndk_run_set_shapes(run, shapes, num_shapes);
	result = finish(r, status);
	end(r);
	leave(e, run, result);
}

void ndk_rerun_start(ANeuralNetworksExecution *execution, struct ndk_run *run, int result)
{
	struct nnhal_execute_options storage;
	struct rerun *r = NULL;

	if (ndk_may_rerun(execution, result))
		r = begin_and_tell(execution, run, result);
	/* If it cannot be launched, it calls back as well. */
	if (r)
		nnhal_prepared_model_execute(r->prepared, &r->request,
					     ndk_options(execution, &storage), on_result, r);
	else
		leave(execution, run, result);
}
