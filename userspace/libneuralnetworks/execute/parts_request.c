// SPDX-License-Identifier: MIT
/*
 * The requests of the steps of a plan, and the memory between the steps.
 *
 * They are made at the first start, from the request for the whole model. An execution has its own memory
 * between steps, since others of the same compilation may run at the same time.
 */
#include <nnhal/buffer.h>
#include <stdlib.h>

#include "base/ndk_why.h"
#include "execute/ndk_steps.h"

void ndk_parts_free(struct ndk_parts *parts)
{
	if (!parts)
		return;
	for (uint32_t i = 0; parts->buffers && parts->buffers[i]; i++)
		nnhal_buffer_unref(parts->buffers[i]);
	nnhal_memory_unref(parts->pool);
	free(parts->buffers);
	free(parts->tokens);
	free(parts->requests);
	free(parts->arguments);
	free(parts->pools);
	free(parts->shapes);
	free(parts);
}

/* Memory between the steps. Tokens are those of values, buffers have no order. */
static int allocate_values(struct ndk_parts *parts, const ANeuralNetworksExecution *e)
{
	const struct ndk_plan *plan = e->compilation->plan;
	const struct nnhal_subgraph *main = &e->compilation->model->flat.hal.main;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_diag diag = { "" };
	uint32_t i, count = 0;

	if (plan->pool_size)
		status = nnhal_memory_create(plan->pool_size, &parts->pool, &diag);
	for (i = plan->num_arguments; !status && i < plan->num_values; i++) {
		const struct ndk_value *value = &plan->values[i];

		if (!value->on_device)
			continue;
		status = ndk_plan_allocate(plan, value, &main->operands[value->operand],
					   &parts->buffers[count], &parts->tokens[i]);
		count += !status;
	}
	return ndk_why_status(status, &diag, "memory between steps");
}

/* The number of a pool in a request; that of the argument before, if it is the same. */
static uint32_t add_pool(struct nnhal_request *request, const struct nnhal_request_pool *pool)
{
	/* The array is the execution's own. */
	struct nnhal_request_pool *pools = (struct nnhal_request_pool *)request->pools;
	uint32_t last = request->num_pools - 1;

	if (request->num_pools && pools[last].memory == pool->memory &&
	    pools[last].token == pool->token)
		return last;
	pools[request->num_pools] = *pool;
	return request->num_pools++;
}

static void set_argument(const ANeuralNetworksExecution *e, const struct ndk_parts *parts,
			 struct nnhal_request *request, uint32_t number,
			 struct nnhal_request_argument *to)
{
	const struct ndk_value *value = &e->compilation->plan->values[number];
	struct nnhal_request_pool pool = { .memory = parts->pool };

	*to = (struct nnhal_request_argument){ 0 };
	if (number < e->num_arguments && !e->hal_arguments[number].has_no_value) {
		*to = e->hal_arguments[number];
		pool = e->pools[to->location.pool_index];
	} else if (value->on_device) {
		pool = (struct nnhal_request_pool){ .token = parts->tokens[number] };
	} else if (value->length) {
		to->location.offset = value->offset;
		to->location.length = value->length;
	} else {
		to->has_no_value = true;
		return;
	}
	to->location.pool_index = add_pool(request, &pool);
}

static void make_requests(const ANeuralNetworksExecution *e, struct ndk_parts *parts)
{
	const struct ndk_plan *plan = e->compilation->plan;
	struct nnhal_request_argument *arguments = parts->arguments;
	struct nnhal_request_pool *pools = parts->pools;

	for (uint32_t i = 0; i < plan->num_steps; i++) {
		const struct ndk_step *step = &plan->steps[i];
		struct nnhal_request *request = &parts->requests[i];
		uint32_t count = step->num_inputs + step->num_outputs;

		request->num_inputs = step->num_inputs;
		request->inputs = arguments;
		request->num_outputs = step->num_outputs;
		request->outputs = arguments + step->num_inputs;
		request->pools = pools;
		for (uint32_t k = 0; k < count; k++)
			set_argument(e, parts, request, step->values[k], &arguments[k]);
		arguments += count;
		pools += count;
	}
}

int ndk_parts_init(ANeuralNetworksExecution *execution)
{
	const struct ndk_plan *plan = execution->compilation->plan;
	size_t total = 0, outputs = 0;
	struct ndk_parts *parts;
	int result;

	if (execution->parts)
		return ANEURALNETWORKS_NO_ERROR;
	parts = calloc(1, sizeof(*parts));
	if (!parts)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	for (uint32_t i = 0; i < plan->num_steps; i++) {
		total += (size_t)plan->steps[i].num_inputs + plan->steps[i].num_outputs;
		if (plan->steps[i].num_outputs > outputs)
			outputs = plan->steps[i].num_outputs;
	}
	parts->buffers = calloc((size_t)plan->num_values + 1, sizeof(struct nnhal_buffer *));
	parts->tokens = calloc(plan->num_values, sizeof(*parts->tokens));
	parts->requests = calloc(plan->num_steps, sizeof(*parts->requests));
	parts->arguments = calloc(total, sizeof(*parts->arguments));
	parts->pools = calloc(total, sizeof(*parts->pools));
	parts->shapes = calloc(outputs, sizeof(*parts->shapes));
	if (parts->buffers && parts->tokens && parts->requests && parts->arguments &&
	    parts->pools && parts->shapes)
		result = allocate_values(parts, execution);
	else
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	if (result) {
		ndk_parts_free(parts);
		return result;
	}
	make_requests(execution, parts);
	execution->parts = parts;
	return ANEURALNETWORKS_NO_ERROR;
}
