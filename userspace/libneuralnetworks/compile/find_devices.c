// SPDX-License-Identifier: MIT
/*
 * The devices of a compilation.
 *
 * A device that takes the whole model gets it, nnapi-reference after all others. Else each operation goes to the first
 * device that supports it, and the model is cut. If that cannot be done, a
 * device gets the whole that supports it: where the caller chose the devices, one of these; else nnapi-reference.
 */
#include <nnhal/fence.h>
#include <stdlib.h>
#include <string.h>

#include "base/ndk_log.h"
#include "base/ndk_why.h"
#include "compile/ndk_compilation.h"

void ndk_prepare_options(const ANeuralNetworksCompilation *compilation, uint64_t deadline_ns,
			 struct nnhal_prepare_options *options)
{
	options->preference = compilation->preference;
	options->priority = compilation->priority;
	options->has_deadline = compilation->timeout_ns;
	options->deadline_ns = deadline_ns;
}

static const char *name_of(const ANeuralNetworksDevice *device)
{
	const char *name = "";

	ANeuralNetworksDevice_getName(device, &name);
	return name;
}

/* Prepare the whole model by a device. */
static int prepare_whole(ANeuralNetworksCompilation *c, const ANeuralNetworksDevice *device,
			 uint64_t deadline_ns)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	const struct nnhal_model *model = &c->model->flat.hal;
	struct nnhal_device *open;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	int result;

	open = ndk_device_open(device, &result);
	if (!open)
		return result;
	ndk_prepare_options(c, deadline_ns, &options);
	options.diag = &diag;
	if (c->cache_dir)
		status = ndk_prepare_cached(c, &(struct ndk_cached){ device, open, model, c->token },
					    &options, &c->prepared);
	else
		status = nnhal_device_prepare_model_sync(open, model, &options, &c->prepared);
	if (status)
		nnhal_device_unref(open);
	else
		c->device = open;
	c->on_reference = !status && ndk_device_is_reference(device);
	return ndk_why_status(status, ndk_renumber(c->model, &diag), name_of(device));
}

/* nnapi-reference comes last, whatever the caller's order is. */
static void sort_devices(ANeuralNetworksCompilation *c)
{
	for (uint32_t i = 0; i + 1 < c->num_devices; i++) {
		const ANeuralNetworksDevice *device = c->devices[i];

		if (!ndk_device_is_reference(device))
			continue;
		memmove(&c->devices[i], &c->devices[i + 1],
			(c->num_devices - 1 - i) * sizeof(*c->devices));
		c->devices[c->num_devices - 1] = device;
		return;
	}
}

/* Is a device out of the question, and another one not? Other failures are those of the compilation. */
static bool is_gone(int result)
{
	return result == ANEURALNETWORKS_UNAVAILABLE_DEVICE || result == ANEURALNETWORKS_DEAD_OBJECT;
}

static int why_missing(const ANeuralNetworksCompilation *c, const uint32_t *owners, bool all_answer)
{
	const struct nnhal_subgraph *main = &c->model->flat.hal.main;
	uint32_t i = 0;

	while (i + 1 < main->num_operations && owners[i] != NDK_NONE)
		i++;
	if (!all_answer)
		return ndk_why(ANEURALNETWORKS_OP_FAILED,
			       "a device gives no answer, others do not support operation %u, %s",
			       c->model->order[i], nnhal_operation_type_name(main->operations[i].type));
	return ndk_why(ANEURALNETWORKS_BAD_DATA, "no device supports operation %u, %s", c->model->order[i],
		       nnhal_operation_type_name(main->operations[i].type));
}

/*
 * Whose operations are whose. NO_ERROR: all have an owner, and @same says whether it is one for all;
 * BAD_DATA: an operation that no device supports; OP_FAILED: perhaps one that gave no answer does.
 */
static int find_owners(const ANeuralNetworksCompilation *c, uint32_t *owners, bool *answer, bool *same)
{
	const struct nnhal_model *model = &c->model->flat.hal;
	uint32_t n = model->main.num_operations, missing = n, i, device;
	bool all_answer = true;
	int result;

	for (i = 0; i < n; i++)
		owners[i] = NDK_NONE;
	for (device = 0; device < c->num_devices && missing; device++) {
		bool supports = ndk_device_supports(c->devices[device], model, answer, &result);

		if (result)
			return result;
		all_answer &= supports;
		for (i = 0; supports && i < n; i++)
			if (answer[i] && owners[i] == NDK_NONE) {
				owners[i] = device;
				missing--;
			}
	}
	if (missing)
		return why_missing(c, owners, all_answer);
	*same = true;
	for (i = 0; i < n; i++)
		*same &= owners[i] == owners[0];
	return ANEURALNETWORKS_NO_ERROR;
}

static int prepare_parts(ANeuralNetworksCompilation *c, uint64_t deadline)
{
	uint32_t n = c->model->flat.hal.main.num_operations;
	uint32_t *owners = calloc(n, sizeof(*owners));
	bool *answer = calloc(n, sizeof(*answer)), same;
	int result;

	if (owners && answer)
		result = find_owners(c, owners, answer, &same);
	else
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	if (!result)
		result = same ? prepare_whole(c, c->devices[owners[0]], deadline) :
				ndk_plan_make(c, owners, deadline, &c->plan);
	free(owners);
	free(answer);
	return result;
}

/* The device that is asked last: it need not be better than parts of the model elsewhere. */
static const ANeuralNetworksDevice *last_resort(const ANeuralNetworksCompilation *c)
{
	const ANeuralNetworksDevice *last = c->devices[c->num_devices - 1];

	return ndk_device_is_reference(last) ? last : NULL;
}

static int find(ANeuralNetworksCompilation *c)
{
	uint64_t deadline = c->timeout_ns ? nnhal_deadline_after(c->timeout_ns) : 0;
	const ANeuralNetworksDevice *last = last_resort(c);
	uint32_t i, count = c->num_devices - (last && c->num_devices > 1);
	int result = ANEURALNETWORKS_NO_ERROR, failure = ANEURALNETWORKS_NO_ERROR;

	for (i = 0; i < count; i++) {
		result = prepare_whole(c, c->devices[i], deadline);
		if (!result)
			return result;
		ndk_log(NNHAL_LOG_COMPILATION, "%s does not take the whole model: %s: %s",
			name_of(c->devices[i]), ndk_result_name(result), ndk_reason(result));
		if (result == ANEURALNETWORKS_BAD_DATA)
			continue;
		/* The caller hears what is wrong with a device that it chose. */
		if (c->chosen && !is_gone(result))
			return result;
		failure = result;
	}
	if (c->num_devices > 1)
		result = prepare_parts(c, deadline);
	if (result && last && c->num_devices > 1) {
		ndk_log(NNHAL_LOG_COMPILATION, "the model cannot be cut: %s: %s",
			ndk_result_name(result), ndk_reason(result));
		result = prepare_whole(c, last, deadline);
	}
	/* That a device is gone is the reason rather than that the others do not take the model. */
	if (result && failure && (c->chosen || !last))
		return ndk_why(failure, "a device is gone, and the others do not take the model");
	return result;
}

/* Does nnapi-reference run any of it, while there are other devices? */
static bool falls_back(const ANeuralNetworksCompilation *c)
{
	bool found = c->on_reference;

	for (uint32_t i = 0; c->plan && i < c->plan->num_steps; i++)
		found |= ndk_device_is_reference(c->plan->steps[i].device);
	return found && !c->chosen && c->num_devices > 1;
}

/* What nobody should have to guess: what runs where. */
static void tell(const ANeuralNetworksCompilation *c, int result)
{
	if (falls_back(c))
		ndk_count(&ndk_counters()->fallbacks);
	if (c->plan)
		for (uint32_t i = 0; i < c->plan->num_steps; i++)
			ndk_log(NNHAL_LOG_COMPILATION, "step %u of %u: %s", i + 1, c->plan->num_steps,
				name_of(c->plan->steps[i].device));
	else if (c->prepared)
		ndk_log(NNHAL_LOG_COMPILATION, "the whole model: %s%s",
			c->on_reference ? "nnapi-reference" : nnhal_device_name(c->device),
			falls_back(c) ? ", as no other device takes it" : "");
	else
		/* finish() does not fail if the caller chose no devices: this line says it. */
		ndk_log(c->chosen ? NNHAL_LOG_COMPILATION : NNHAL_LOG_ERROR, "no device runs the model: %s: %s",
			ndk_result_name(result), ndk_reason(result));
}

int ndk_find_devices(ANeuralNetworksCompilation *compilation)
{
	struct ndk_counters *counters = ndk_counters();
	int result;

	if (!compilation->chosen) {
		result = ndk_devices_by_preference(&compilation->devices,
						   &compilation->num_devices);
		if (result)
			return result;
	}
	sort_devices(compilation);
	result = find(compilation);
	if (result)
		strcpy(compilation->why.message, ndk_reason(result));
	compilation->counter = compilation->plan ? &counters->in_steps :
			       !compilation->prepared ? &counters->nowhere :
			       compilation->on_reference ? &counters->on_reference :
							   &counters->on_device;
	tell(compilation, result);
	return result;
}

struct nnhal_prepared_model *ndk_reference_model(ANeuralNetworksCompilation *compilation)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	ANeuralNetworksCompilation *c = compilation;
	const ANeuralNetworksDevice *last = last_resort(c);
	struct nnhal_prepared_model *again;
	struct nnhal_device *open = NULL;
	enum nnhal_status status;
	int result;

	if (!last)
		return NULL;
	ndk_prepare_options(c, 0, &options);
	pthread_mutex_lock(&c->again_lock);
	if (!c->again && !c->again_refused)
		open = ndk_device_open(last, &result);
	if (open) {
		status = nnhal_device_prepare_model_sync(open, &c->model->flat.hal, &options,
							 &c->again);
		c->again_refused = status == NNHAL_STATUS_INVALID_ARGUMENT;
		/* What is prepared keeps the device open. */
		nnhal_device_unref(open);
	}
	again = c->again;
	pthread_mutex_unlock(&c->again_lock);
	return again;
}

bool ndk_reference_reaches(const ANeuralNetworksCompilation *compilation, struct nnhal_memory *memory)
{
	uint32_t reach = NNHAL_MEMORY_REACH_NOT_SUPPORTED;
	int result;
	struct nnhal_device *open = ndk_device_open(last_resort(compilation), &result);

	if (!open)
		return false;
	/* Memory that cannot be bound is not reached. */
	if (nnhal_memory_reach(memory, open, &reach, NULL))
		reach = NNHAL_MEMORY_REACH_NOT_SUPPORTED;
	nnhal_device_unref(open);
	return reach == NNHAL_MEMORY_REACH_IN_PLACE;
}
