// SPDX-License-Identifier: MIT
/*
 * Executions.
 *
 * An execution object holds everything one run needs: argument records, a result
 * block the device writes, a fence. Objects are kept with their prepared model and
 * used again, so that a run with memory seen before allocates nothing: check the
 * request, fill in the records, submit, wait, read the result.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Idle executions a prepared model keeps. */
#define MAX_IDLE	16

struct execution {
	struct async_job job;
	struct execution *next;
	struct nnhal_prepared_model *model;	/* referenced while in use */
	struct arena_chunk *result;
	struct arena_chunk *profile;
	struct transport_fence *fence;
	/* Inputs, then outputs. */
	struct resolved_arg *resolved;
	struct nnpu_arg *args;
	struct nnhal_output_shape *shapes;	/* one per output */
	/* Pools of the request; room for max_pools. */
	struct nnhal_request_pool *pools;
	const struct binding **bindings;	/* NULL: no argument is there */
	uint32_t num_pools;
	uint32_t max_pools;
	/* This run. */
	struct nnhal_execute_options options;
	uint32_t hal_version;
	uint64_t start_ns;
	enum nnhal_status preset;		/* over before it began */
	nnhal_execution_callback callback;
	void *context;
};

/* What a run came to. */
struct outcome {
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_timing timing;
};

static const struct outcome failed_outcome = {
	NNHAL_STATUS_GENERAL_FAILURE, 0, { NNHAL_NO_TIMING, NNHAL_NO_TIMING },
};

static uint32_t num_args(const struct nnhal_prepared_model *model)
{
	return model->rules.num_inputs + model->rules.num_outputs;
}

static uint64_t result_size(const struct nnhal_prepared_model *model)
{
	return sizeof(struct nnpu_args_header) + num_args(model) * sizeof(struct nnpu_arg);
}

/* ---- execution objects ---- */

static void execution_free(struct execution *e)
{
	struct nnhal_device *device = e->model->device;

	arena_put(&device->arena, e->result);
	arena_put(&device->arena, e->profile);
	if (e->fence)
		device->transport->ops->fence_destroy(device->transport, e->fence);
	free(e->pools);
	free(e->bindings);
	free(e->resolved);
	free(e->args);
	free(e->shapes);
	free(e);
}

static struct execution *execution_create(struct nnhal_prepared_model *model)
{
	struct transport *t = model->device->transport;
	size_t n = (size_t)num_args(model) + 1;
	struct execution *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->model = model;
	e->resolved = calloc(n, sizeof(*e->resolved));
	e->args = calloc(n, sizeof(*e->args));
	e->shapes = calloc(n, sizeof(*e->shapes));
	if (!e->resolved || !e->args || !e->shapes ||
	    arena_get(&model->device->arena, result_size(model), &e->result) ||
	    t->ops->fence_create(t, &e->fence)) {
		execution_free(e);
		return NULL;
	}
	return e;
}

static struct execution *execution_get(struct nnhal_prepared_model *model)
{
	struct execution *e;

	pthread_mutex_lock(&model->lock);
	e = model->idle;
	if (e) {
		model->idle = e->next;
		model->num_idle--;
	}
	pthread_mutex_unlock(&model->lock);
	if (!e)
		e = execution_create(model);
	if (e) {
		nnhal_prepared_model_ref(model);
		e->num_pools = 0;
		e->preset = NNHAL_STATUS_NONE;
		e->callback = NULL;
	}
	return e;
}

/* The run is over: drop its references and keep the object for the next one. */
static void execution_put(struct execution *e)
{
	struct nnhal_prepared_model *model = e->model;
	uint32_t i;

	for (i = 0; i < e->num_pools; i++)
		nnhal_memory_unref(e->pools[i].memory);
	e->num_pools = 0;
	pthread_mutex_lock(&model->lock);
	if (model->num_idle < MAX_IDLE) {
		e->next = model->idle;
		model->idle = e;
		model->num_idle++;
		e = NULL;
	}
	pthread_mutex_unlock(&model->lock);
	if (e)
		execution_free(e);
	nnhal_prepared_model_unref(model);
}

void executions_free(struct nnhal_prepared_model *model)
{
	struct execution *e;

	while ((e = model->idle)) {
		model->idle = e->next;
		execution_free(e);
	}
}

/* ---- before the run ---- */

static bool make_room(struct execution *e, uint32_t num_pools)
{
	const struct binding **bindings;
	struct nnhal_request_pool *pools;

	if (num_pools <= e->max_pools)
		return true;
	pools = realloc(e->pools, num_pools * sizeof(*pools));
	if (pools)
		e->pools = pools;
	bindings = realloc(e->bindings, num_pools * sizeof(*bindings));
	if (bindings)
		e->bindings = bindings;
	if (!pools || !bindings)
		return false;
	e->max_pools = num_pools;
	return true;
}

static enum nnhal_status read_options(struct nnhal_execute_options *to,
				      const struct nnhal_execute_options *from)
{
	static const struct nnhal_execute_options defaults = NNHAL_EXECUTE_OPTIONS_INIT;

	*to = defaults;
	if (!from)
		return NNHAL_STATUS_NONE;
	/* The first version of the structure is this one. */
	if (from->size < sizeof(*to))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	memcpy(to, from, sizeof(*to));
	diag_clear(to->diag);
	if (to->profile) {
		to->profile->num_entries = 0;
		to->profile->queue_ns = 0;
		to->profile->exec_ns = 0;
	}
	if (to->measure != NNHAL_MEASURE_NO && to->measure != NNHAL_MEASURE_YES) {
		diag_set(to->diag, "measure %d, expected 0 or 1", to->measure);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (to->has_loop_timeout && to->loop_timeout_ns > NNHAL_MAX_LOOP_TIMEOUT_NS) {
		diag_set(to->diag, "loop timeout of %llu ns, expected at most %llu",
			 (unsigned long long)to->loop_timeout_ns,
			 (unsigned long long)NNHAL_MAX_LOOP_TIMEOUT_NS);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (to->profile && to->profile->max_entries && !to->profile->entries) {
		diag_set(to->diag, "profile: NULL pointer for %u entries",
			 to->profile->max_entries);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

/* Slots for the pools that arguments are in. */
static enum nnhal_status bind_pools(struct execution *e)
{
	struct nnhal_device *device = e->model->device;
	uint32_t i, pool;
	int err;

	if (e->num_pools)
		memset(e->bindings, 0, e->num_pools * sizeof(*e->bindings));
	for (i = 0; i < num_args(e->model); i++) {
		if (e->resolved[i].omitted)
			continue;
		pool = e->resolved[i].pool;
		if (e->bindings[pool])
			continue;
		err = memory_bind(e->pools[pool].memory, device->table, true,
				  &e->bindings[pool]);
		if (!err)
			continue;
		diag_set(e->options.diag, "pool %u cannot be bound: %s", pool, errno_text(-err));
		/* The request is valid: what is wrong with the memory is no argument error. */
		if (err == -EINVAL || err == -EFAULT || err == -EBADF)
			return NNHAL_STATUS_GENERAL_FAILURE;
		return device_status_from_error(device, err);
	}
	return NNHAL_STATUS_NONE;
}

/* Inputs in memory the device cannot reach go through its bounce buffer. */
static enum nnhal_status copy_inputs(struct execution *e)
{
	const struct resolved_arg *a;
	const struct binding *b;
	uint32_t i;
	int err;

	for (i = 0; i < e->model->rules.num_inputs; i++) {
		a = &e->resolved[i];
		if (a->omitted || !e->bindings[a->pool]->has_bounce)
			continue;
		b = e->bindings[a->pool];
		err = memory_read(e->pools[a->pool].memory, a->offset,
				  (uint8_t *)b->bounce.map + a->offset, a->length);
		if (err) {
			diag_set(e->options.diag, "input %u: pool %u cannot be read: %s", i,
				 a->pool, errno_text(-err));
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
	}
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status copy_outputs(struct execution *e)
{
	const struct nnhal_output_shape *shape;
	const struct resolved_arg *a;
	const struct binding *b;
	uint32_t i, size;
	int err;

	for (i = 0; i < e->model->rules.num_outputs; i++) {
		a = &e->resolved[e->model->rules.num_inputs + i];
		if (a->omitted || !e->bindings[a->pool]->has_bounce)
			continue;
		shape = &e->shapes[i];
		b = e->bindings[a->pool];
		/* Only what the device wrote; the rest of the caller's room stays as it is. */
		if (nnhal_size_of_data(e->model->rules.outputs[i].type, shape->dimensions,
				       shape->num_dimensions, &size) || size > a->length)
			return NNHAL_STATUS_GENERAL_FAILURE;
		err = memory_write(e->pools[a->pool].memory, a->offset,
				   (uint8_t *)b->bounce.map + a->offset, size);
		if (err) {
			diag_set(e->options.diag, "output %u: pool %u cannot be written: %s", i,
				 a->pool, errno_text(-err));
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
	}
	return NNHAL_STATUS_NONE;
}

static void build_args(struct execution *e)
{
	uint32_t i, d;

	for (i = 0; i < num_args(e->model); i++) {
		const struct resolved_arg *a = &e->resolved[i];
		struct nnpu_arg *arg = &e->args[i];

		memset(arg, 0, sizeof(*arg));
		if (a->omitted) {
			arg->flags = htole16(NNPU_ARG_NO_VALUE);
			continue;
		}
		arg->slot = htole32(e->bindings[a->pool]->slot);
		arg->offset = htole64(a->offset);
		arg->length = htole64(a->length);
		if (!a->has_shape)
			continue;
		arg->flags = htole16(NNPU_ARG_SHAPE);
		arg->rank = (uint8_t)a->rank;
		for (d = 0; d < a->rank; d++)
			arg->dims[d] = htole32(a->dims[d]);
	}
}

/* Everything up to the submission. The execution is the caller's to put back. */
static enum nnhal_status execution_begin(struct nnhal_prepared_model *model,
					 const struct nnhal_request *request,
					 const struct nnhal_execute_options *options,
					 struct execution **result)
{
	struct nnhal_execute_options read;
	enum nnhal_status status;
	uint64_t start_ns = 0;
	struct execution *e;
	uint32_t num_pools, i;

	if (options && options->size >= sizeof(*options) && options->measure)
		start_ns = monotonic_ns();
	status = read_options(&read, options);
	if (status)
		return status;
	if (!model || !request || (request->num_pools && !request->pools)) {
		diag_set(read.diag, "NULL pointer for model, request or pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	e = execution_get(model);
	num_pools = request->num_pools;
	if (!e || !make_room(e, num_pools)) {
		diag_set(read.diag, "no memory for an execution");
		if (e)
			execution_put(e);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	e->options = read;
	e->start_ns = start_ns;
	e->hal_version = hal_version_of(request->hal_version);
	status = resolve_request(request, num_pools, &model->rules, e->pools, e->resolved,
				 read.diag);
	if (status) {
		execution_put(e);
		return status;
	}
	e->num_pools = num_pools;
	for (i = 0; i < num_pools; i++)
		nnhal_memory_ref(e->pools[i].memory);
	*result = e;
	if (deadline_passed(read.has_deadline, read.deadline_ns)) {
		diag_set(read.diag, "the deadline has passed");
		e->preset = NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
		return NNHAL_STATUS_NONE;
	}
	status = bind_pools(e);
	if (!status)
		status = copy_inputs(e);
	if (status) {
		execution_put(e);
		return status;
	}
	build_args(e);
	return NNHAL_STATUS_NONE;
}

/* ---- the run ---- */

/* Room for profile records, if the caller wants some and the device writes them. */
static bool want_profile(struct execution *e)
{
	struct nnhal_prepared_model *model = e->model;

	if (!e->options.profile || !e->options.profile->max_entries ||
	    !model->device->transport->limits.can_profile)
		return false;
	if (!e->profile &&
	    arena_get(&model->device->arena,
		      (uint64_t)model->num_commands * sizeof(struct nnpu_profile), &e->profile))
		return false;
	return true;
}

static enum nnhal_status execution_submit(struct execution *e)
{
	struct nnhal_prepared_model *model = e->model;
	struct transport *t = model->device->transport;
	struct nnpu_args_header *header = e->result->map;
	struct transport_job job = {
		.program = model->program,
		.priority = (uint32_t)model->priority,
		.args = e->args,
		.num_inputs = model->rules.num_inputs,
		.num_outputs = model->rules.num_outputs,
		.result_slot = e->result->slot,
		.result_offset = e->result->offset,
		.fence = e->fence,
	};
	int err;

	if (want_profile(e)) {
		job.profile = true;
		job.profile_slot = e->profile->slot;
		job.profile_offset = e->profile->offset;
		job.profile_size = model->num_commands * (uint32_t)sizeof(struct nnpu_profile);
	}
	/* Still there afterwards: the job did not reach its end on the device. */
	memset(header, 0, sizeof(*header));
	header->status = htole16(NNPU_STATUS_PENDING);
	err = t->ops->submit(t, &job);
	if (!err)
		return NNHAL_STATUS_NONE;
	diag_set(e->options.diag, "submitting the execution: %s", errno_text(-err));
	return device_status_from_error(model->device, err);
}

/* ---- after the run ---- */

/* Actual shapes as the device gave them. False if they make no sense. */
static bool read_shapes(struct execution *e)
{
	const struct nnpu_arg *records =
		(const struct nnpu_arg *)((const uint8_t *)e->result->map +
					  sizeof(struct nnpu_args_header)) +
		e->model->rules.num_inputs;
	uint32_t i, d;

	for (i = 0; i < e->model->rules.num_outputs; i++) {
		const struct nnpu_arg record = records[i];
		struct nnhal_output_shape *shape = &e->shapes[i];

		if (record.rank > NNHAL_MAX_RANK)
			return false;
		shape->num_dimensions = record.rank;
		shape->is_sufficient = !(le16toh(record.flags) & NNPU_ARG_INSUFFICIENT);
		for (d = 0; d < NNHAL_MAX_RANK; d++)
			shape->dimensions[d] = d < record.rank ? le32toh(record.dims[d]) : 0;
	}
	return true;
}

static void read_profile(struct execution *e, const struct nnpu_args_header *header)
{
	struct nnhal_ext_profile *profile = e->options.profile;
	const struct nnpu_profile *records;
	uint32_t i, n, command;

	profile->queue_ns = le64toh(header->queue_ns);
	profile->exec_ns = le64toh(header->exec_ns);
	if (!e->profile || !profile->max_entries)
		return;
	records = e->profile->map;
	n = le32toh(header->num_profile);
	if (n > e->model->num_commands)
		n = e->model->num_commands;
	if (n > profile->max_entries)
		n = profile->max_entries;
	for (i = 0; i < n; i++) {
		command = le32toh(records[i].command);
		profile->entries[i] = (struct nnhal_ext_profile_entry){
			.operation = command < e->model->num_commands
				     ? e->model->operation_of_command[command] : UINT32_MAX,
			.operation_type = le32toh(records[i].opcode),
			.start_ns = le64toh(records[i].start_ns),
			.exec_ns = le64toh(records[i].exec_ns),
			.output_bytes = le64toh(records[i].bytes),
		};
	}
	profile->num_entries = n;
}

/* Which argument or operation the device names. */
static void explain(struct execution *e, const struct nnpu_args_header *header)
{
	const struct nnhal_prepared_model *model = e->model;
	uint32_t status = le16toh(header->status);
	uint32_t index = le32toh(header->command);
	const char *reason = device_reason_text(le16toh(header->reason));

	switch (status) {
	case NNPU_STATUS_ARG_SHAPE:
	case NNPU_STATUS_ARG_SIZE:
	case NNPU_STATUS_OUTPUT_INSUFFICIENT:
		if (index < model->rules.num_inputs)
			diag_set(e->options.diag, "input %u: %s: %s", index,
				 device_status_text(status), reason);
		else
			diag_set(e->options.diag, "output %u: %s: %s",
				 index - model->rules.num_inputs, device_status_text(status),
				 reason);
		break;
	case NNPU_STATUS_OP_FAILED:
		if (index < model->num_commands) {
			diag_set(e->options.diag, "operation %u: %s: %s",
				 model->operation_of_command[index], device_status_text(status),
				 reason);
			break;
		}
		/* fall through */
	default:
		diag_set(e->options.diag, "device: %s: %s", device_status_text(status), reason);
	}
}

static void read_timing(struct execution *e, const struct nnpu_args_header *header,
			struct nnhal_timing *timing)
{
	timing->time_in_driver = (monotonic_ns() - e->start_ns + 999) / 1000;
	timing->time_on_device = (le64toh(header->exec_ns) + 999) / 1000;
	/* Two clocks: the part is not longer than the whole. */
	if (timing->time_on_device > timing->time_in_driver)
		timing->time_on_device = timing->time_in_driver;
}

/* The job never came to its end on the device: what its fence says. */
static enum nnhal_status lost_status(struct execution *e)
{
	struct transport *t = e->model->device->transport;
	int err = t->ops->fence_error(t, e->fence);

	diag_set(e->options.diag, "the device did not finish the execution: %s",
		 err ? errno_text(-err) : "no result");
	return status_from_fence_error(-err, e->options.has_deadline);
}

/* @error: of the wait; 0: the fence has signalled. */
static struct outcome execution_end(struct execution *e, int error)
{
	struct outcome out = failed_outcome;
	struct nnpu_args_header header;

	if (e->preset) {
		out.status = e->preset;
		goto out;
	}
	if (error) {
		diag_set(e->options.diag, "waiting for the device: %s", errno_text(-error));
		out.status = status_from_fence_error(-error, false);
		goto out;
	}
	memcpy(&header, e->result->map, sizeof(header));
	if (le16toh(header.status) == NNPU_STATUS_PENDING) {
		out.status = lost_status(e);
		goto out;
	}
	out.status = status_from_device(le16toh(header.status));
	if (out.status)
		explain(e, &header);
	if (out.status == NNHAL_STATUS_NONE ||
	    out.status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE) {
		if (!read_shapes(e)) {
			out.status = NNHAL_STATUS_GENERAL_FAILURE;
			goto out;
		}
		out.num_shapes = e->model->rules.num_outputs;
	}
	if (out.status == NNHAL_STATUS_NONE) {
		out.status = copy_outputs(e);
		if (out.status) {
			out.num_shapes = 0;
			goto out;
		}
		if (e->options.profile)
			read_profile(e, &header);
		if (e->options.measure == NNHAL_MEASURE_YES)
			read_timing(e, &header, &out.timing);
	}
out:
	if (e->hal_version < NNHAL_HAL_1_2) {
		/* Older callbacks carry nothing but the status. */
		out.num_shapes = 0;
		out.timing = failed_outcome.timing;
	}
	out.status = nnhal_status_for_version(out.status, e->hal_version);
	return out;
}

static enum nnhal_status request_status(enum nnhal_status status,
					const struct nnhal_request *request)
{
	uint32_t version = request ? hal_version_of(request->hal_version) : 0;

	return version ? nnhal_status_for_version(status, version) : status;
}

static int wait_for(struct execution *e)
{
	struct transport *t = e->model->device->transport;
	uint32_t first;

	return t->ops->wait(t, &e->fence, 1, -1, &first);
}

enum nnhal_status
nnhal_prepared_model_execute_synchronously(struct nnhal_prepared_model *model,
					   const struct nnhal_request *request,
					   const struct nnhal_execute_options *options,
					   struct nnhal_output_shape *output_shapes,
					   uint32_t *num_output_shapes,
					   struct nnhal_timing *timing)
{
	struct outcome out = failed_outcome;
	struct execution *e;

	out.status = execution_begin(model, request, options, &e);
	if (out.status) {
		out.status = request_status(out.status, request);
	} else {
		if (!e->preset) {
			out.status = execution_submit(e);
			if (out.status)
				e->preset = out.status;
		}
		out = execution_end(e, e->preset ? 0 : wait_for(e));
		if (output_shapes && out.num_shapes)
			memcpy(output_shapes, e->shapes,
			       out.num_shapes * sizeof(*output_shapes));
		execution_put(e);
	}
	if (num_output_shapes)
		*num_output_shapes = out.num_shapes;
	if (timing)
		*timing = out.timing;
	return out.status;
}

/* On the waiter thread. */
static void complete(struct async_job *job, int error)
{
	struct execution *e = (struct execution *)job;
	struct outcome out = execution_end(e, error);

	e->callback(e->context, out.status, out.num_shapes ? e->shapes : NULL, out.num_shapes,
		    &out.timing);
	execution_put(e);
}

static enum nnhal_status launch(struct execution *e)
{
	struct nnhal_device *device = e->model->device;
	enum nnhal_status status;

	if (async_start(device->async)) {
		diag_set(e->options.diag, "cannot start a thread");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (!e->preset) {
		status = execution_submit(e);
		if (status)
			return status;
	}
	e->job.fence = e->preset ? NULL : e->fence;
	e->job.complete = complete;
	async_add(device->async, &e->job);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_prepared_model_execute(struct nnhal_prepared_model *model,
					       const struct nnhal_request *request,
					       const struct nnhal_execute_options *options,
					       nnhal_execution_callback callback, void *context)
{
	enum nnhal_status status;
	struct execution *e;

	if (!callback)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = execution_begin(model, request, options, &e);
	if (!status) {
		e->callback = callback;
		e->context = context;
		status = launch(e);
		if (!status)
			return NNHAL_STATUS_NONE;
		execution_put(e);
	}
	status = request_status(status, request);
	callback(context, status, NULL, 0, &failed_outcome.timing);
	return status;
}
