// SPDX-License-Identifier: MIT
/*
 * Executions.
 *
 * A run checks the request, fills in the argument records, submits the job, waits, and
 * reads the result. Its execution object (execution_pool.h) is used again by later runs.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "base/monotonic.h"
#include "base/probes.h"
#include "base/status.h"
#include "device/device_private.h"
#include "device/own_queue.h"
#include "execution/arguments.h"
#include "execution/buffers.h"
#include "execution/execution.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"
#include "execution/result_wait.h"
#include "execution/validate_request.h"
#include "memory/arena.h"
#include "memory/binding.h"
#include "transport/transport.h"

/* ---- before the run ---- */

void execution_done(struct execution *e)
{
	struct nnhal_prepared_model *model = e->model;

	execution_put(e);
	nnhal_prepared_model_unref(model);
}

/* Bind the pools that arguments name. */
static enum nnhal_status bind_pools(struct execution *e)
{
	struct nnhal_device *device = e->model->device;
	uint32_t i, pool, own;
	int err;

	for (i = 0; i < execution_num_args(e->model); i++) {
		if (e->resolved[i].omitted)
			continue;
		pool = e->resolved[i].pool;
		if (e->bindings[pool])
			continue;
		err = memory_bind(e->pools[pool].memory, device->table, true,
				  &e->bindings[pool]);
		if (err) {
			own = args_count_bindings(e->resolved, i, e->bindings);
			return args_bind_status(device, pool, own, err, e->options.diag);
		}
		e->needs_cpu |= e->bindings[pool]->needs_cpu;
		VLOG(&device->log, NNHAL_LOG_MEMORY, "pool %u: kind %u, %llu bytes, %s", pool,
		     e->pools[pool].memory->kind,
		     (unsigned long long)e->pools[pool].memory->size,
		     nnhal_memory_reach_text(e->bindings[pool]->reach));
	}
	return NNHAL_STATUS_NONE;
}

void execution_fail(struct execution *e, enum nnhal_status status)
{
	TRACE_END(TRACE_EXECUTE, e->model, status);
	buffers_settle(&e->model->rules, e->resolved, e->pools, NULL,
		       NNHAL_STATUS_GENERAL_FAILURE);
	execution_done(e);
}

enum nnhal_status execution_fill(struct execution *e)
{
	const struct nnhal_prepared_model *model = e->model;
	enum nnhal_status status = NNHAL_STATUS_NONE;

	TRACE_BEGIN(TRACE_COPY_INPUTS, model);
	if (e->needs_cpu)
		status = args_copy_inputs(model->device->transport, &model->rules, e->resolved,
					  e->pools, e->bindings, e->options.diag);
	TRACE_END(TRACE_COPY_INPUTS, model, status);
	if (!status)
		args_build(e->args, e->resolved, execution_num_args(model), e->bindings);
	return status;
}

enum nnhal_status execution_begin(struct nnhal_prepared_model *model,
				  const struct nnhal_request *request,
				  struct nnhal_bound_request *bound,
				  const struct nnhal_execute_options *options,
				  const struct request_rules *fenced_rules,
				  struct execution **result)
{
	struct nnhal_execute_options read;
	enum nnhal_status status;
	uint64_t start_ns;
	struct execution *e;
	uint32_t num_pools, i;
	int err;

	status = execute_options_read(&read, options);
	if (status)
		return status;
	start_ns = read.measure ? monotonic_ns() : 0;
	if (request && !layout_is_known(request->hal_version, "request", read.diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!model || !request || (request->num_pools && !request->pools)) {
		diag_set(read.diag, "NULL pointer for model, request or pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(model->device, read.diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	err = execution_get(model, &e);
	if (err) {
		diag_set(read.diag, "resources of an execution: %s", errno_text(-err));
		return args_memory_status(model->device, 0, err);
	}
	nnhal_prepared_model_ref(model);
	num_pools = request->num_pools;
	if (!args_make_room(&e->pools, &e->bindings, &e->max_pools, num_pools)) {
		diag_set(read.diag, "no memory for an execution");
		execution_done(e);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	e->options = read;
	e->start_ns = start_ns;
	e->hal_version = hal_version_of(request->hal_version);
	e->is_fenced = fenced_rules;
	status = execution_resolve(e, request, bound, num_pools,
				   fenced_rules ? fenced_rules : &model->rules);
	if (status) {
		execution_done(e);
		return status;
	}
	e->num_pools = num_pools;
	e->has_buffers = false;
	e->needs_cpu = false;
	for (i = 0; i < num_pools; i++) {
		if (!e->pools[i].buffer)
			nnhal_memory_ref(e->pools[i].memory);
		else
			e->has_buffers = true;
		e->bindings[i] = NULL;
	}
	*result = e;
	TRACE_BEGIN(TRACE_EXECUTE, model);
	VLOG(&model->device->log, NNHAL_LOG_EXECUTION, "execute: program %u with %u pools",
	     model->program, num_pools);
	if (deadline_passed(read.has_deadline, read.deadline_ns)) {
		diag_set(read.diag, "the deadline has passed");
		e->preset = NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
		return NNHAL_STATUS_NONE;
	}
	status = bind_pools(e);
	if (!status && !fenced_rules)
		status = execution_fill(e);
	if (status)
		execution_fail(e, status);
	return status;
}

/* ---- the run ---- */

/* Get memory for profile records, if the caller wants them and the device has them. */
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

/* Fill in the job, and clear the result. */
static void make_job(struct execution *e, struct transport_job *job)
{
	struct nnhal_prepared_model *model = e->model;
	struct nnpu_args_header *header = e->result->map;

	*job = (struct transport_job){
		.program = model->program,
		.priority = (uint32_t)model->priority,
		.args = e->args,
		.num_inputs = model->rules.num_inputs,
		.num_outputs = model->rules.num_outputs,
		.result_slot = e->result->slot,
		.result_offset = e->result->offset,
		.loop_timeout_ns = model->has_loops ? args_loop_timeout(&e->options) : 0,
		.in_fences = e->wait_for,
		.num_in_fences = e->num_wait_for,
		.duration_ns = e->duration_ns,
		.no_wait = e->is_fenced,
		.fence = e->fence,
	};
	if (model->device->transport->limits.has_deadlines)
		job->deadline_ns = deadline_for_device(e->options.has_deadline,
						       e->options.deadline_ns);
	if (want_profile(e)) {
		job->profile = true;
		job->profile_slot = e->profile->slot;
		job->profile_offset = e->profile->offset;
		job->profile_size = model->num_commands * (uint32_t)sizeof(struct nnpu_profile);
	}
	/* The device overwrites it; else the job did not end on the device. */
	memset(header, 0, sizeof(*header));
	header->status = htole16(NNPU_STATUS_PENDING);
}

enum nnhal_status execution_submit(struct execution *e)
{
	struct transport *t = e->model->device->transport;
	struct transport_job job;
	int err;

	make_job(e, &job);
	err = arena_give(t, e->result);
	if (!err)
		err = t->ops->submit(t, &job);
	if (!err)
		return NNHAL_STATUS_NONE;
	diag_set(e->options.diag, "submitting the execution: %s", errno_text(-err));
	return device_status_from_error(e->model->device, err);
}

/*
 * What only the driver can do: end a job at its deadline, and tell other drivers by the reservation of a dma-buf when it has ended.
 */
static bool needs_driver(const struct execution *e)
{
	uint32_t i;

	if (e->options.has_deadline)
		return true;
	for (i = 0; i < e->num_pools; i++)
		if (e->bindings[i] &&
		    e->pools[i].memory->kind == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB)
			return true;
	return false;
}

/* On a queue of the library. False: it has not begun, the driver has to run it. */
static bool run_on_own_queue(struct execution *e)
{
	const struct nnhal_prepared_model *model = e->model;
	uint32_t block_size = execution_block_size(model);
	struct nnpu_args_header *args = (struct nnpu_args_header *)e->args - 1;
	const struct nnpu_args_header *header = e->result->map;
	struct transport_job job;
	const struct own_queue_job own = {
		.job = &job,
		.args_slot = e->result->slot,
		.args_offset = e->result->offset + block_size,
		.args_len = block_size,
		.spins = model->preference != NNHAL_PREFER_LOW_POWER,
	};
	struct own_queue_end end;

	if (needs_driver(e))
		return false;
	make_job(e, &job);
	args->loop_timeout_ns = htole64(job.loop_timeout_ns);
	if (!own_queue_run(&e->model->device->own_queues, &own, &end))
		return false;
	if (le16toh(header->status) != NNPU_STATUS_PENDING)
		return true;
	/* As the driver would say it by the fence. */
	if (end.state == TRANSPORT_QUEUE_READY)
		e->lost_error = end.status == NNPU_STATUS_NO_MEMORY ? -ENOMEM : -EIO;
	else
		e->lost_error = end.state == TRANSPORT_QUEUE_HUNG ? -ETIME : -EIO;
	return true;
}

/* ---- after the run ---- */

int execution_take_result(struct execution *e, int error)
{
	struct transport *t = e->model->device->transport;

	if (e->preset || error)
		return error;
	error = arena_take(t, e->result);
	if (!error && e->profile && e->options.profile)
		error = arena_take(t, e->profile);
	return error;
}

static uint32_t operation_type(uint32_t opcode)
{
	switch (opcode) {
	case NNPU_CMD_BRANCH:
		return NNHAL_OPERATION_IF;
	case NNPU_CMD_LOOP:
		return NNHAL_OPERATION_WHILE;
	default:
		return opcode;
	}
}

static void read_profile(struct execution *e, const struct nnpu_args_header *header)
{
	struct nnhal_ext_profile *profile = e->options.profile;
	struct nnhal_ext_profile_entry entry;
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
		entry = (struct nnhal_ext_profile_entry){
			.operation = command < e->model->num_commands
				     ? e->model->command_origins[command].operation : UINT32_MAX,
			.operation_type = operation_type(le32toh(records[i].opcode)),
			.start_ns = le64toh(records[i].start_ns),
			.exec_ns = le64toh(records[i].exec_ns),
			.output_bytes = le64toh(records[i].bytes),
		};
		result_copy((uint8_t *)profile->entries + i * profile->entry_size,
			    profile->entry_size, &entry, sizeof(entry));
	}
	profile->num_entries = n;
}

static void read_work(struct nnhal_ext_work *to, const struct nnpu_args_header *header)
{
	const struct nnhal_ext_work work = {
		.inferences = le16toh(header->inferences),
		.allocations = le16toh(header->allocations),
		.copies = le16toh(header->copies),
	};

	result_give(to, to->size, &work, sizeof(work));
}

/* The job did not end on the device: take the status from its fence. */
static enum nnhal_status lost_status(struct execution *e)
{
	struct transport *t = e->model->device->transport;
	int err = e->lost_error ? e->lost_error : t->ops->fence_error(t, e->fence);

	diag_set(e->options.diag, "the device did not finish the execution: %s",
		 err ? errno_text(-err) : "no result");
	return status_from_fence_error(-err, e->options.has_deadline);
}

struct outcome execution_end(struct execution *e, int error)
{
	const struct nnhal_prepared_model *model = e->model;
	const struct nnpu_arg *records = (const struct nnpu_arg *)
		((const uint8_t *)e->result->map + sizeof(struct nnpu_args_header));
	struct outcome out = OUTCOME_FAILED;
	struct nnpu_args_header header;

	if (e->preset) {
		out.status = e->preset;
		goto out;
	}
	if (error) {
		diag_set(e->options.diag, "waiting for the device: %s", errno_text(-error));
		e->is_abandoned = error != -ENODEV;
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
		args_explain(model, le16toh(header.status), le16toh(header.reason),
			     le32toh(header.command), e->options.diag);
	if (out.status == NNHAL_STATUS_NONE ||
	    out.status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE) {
		if (!args_read_shapes(records + model->rules.num_inputs, model->rules.num_outputs,
				      e->shapes)) {
			out.status = NNHAL_STATUS_GENERAL_FAILURE;
			goto out;
		}
		if (e->has_buffers)
			out.status = buffers_check(&model->rules, e->resolved, e->pools,
						   e->shapes, out.status, e->options.diag);
		if (out.status == NNHAL_STATUS_GENERAL_FAILURE)
			goto out;
		out.num_shapes = model->rules.num_outputs;
	}
	if (out.status == NNHAL_STATUS_NONE) {
		TRACE_BEGIN(TRACE_COPY_OUTPUTS, model);
		if (e->needs_cpu)
			out.status = args_copy_outputs(model->device->transport, &model->rules,
						       e->resolved, e->pools, e->bindings,
						       e->shapes, e->options.diag);
		TRACE_END(TRACE_COPY_OUTPUTS, model, out.status);
		if (out.status) {
			out.num_shapes = 0;
			goto out;
		}
		if (e->options.profile)
			read_profile(e, &header);
		if (e->options.work)
			read_work(e->options.work, &header);
		if (e->options.measure == NNHAL_MEASURE_YES)
			timing_of(&out.timing, e->start_ns, monotonic_ns(),
				  le64toh(header.exec_ns));
	}
out:
	if (e->is_abandoned)
		buffers_abandon(&model->rules, e->resolved, e->pools);
	else if (e->has_buffers)
		buffers_settle(&model->rules, e->resolved, e->pools, e->shapes, out.status);
	outcome_for_version(&out, e->hal_version);
	TRACE_END(TRACE_EXECUTE, model, out.status);
	VLOG(&model->device->log, NNHAL_LOG_EXECUTION, "execute: program %u: %s%s%s", model->program,
	     nnhal_status_name((int)out.status), out.status && e->options.diag ? ": " : "",
	     out.status && e->options.diag ? e->options.diag->message : "");
	return out;
}

/* ---- outputs that need more memory than their buffers have ---- */

/* Exchange the memory of buffers for what the shapes of the outputs take. */
static enum nnhal_status exchange_storage(struct execution *e)
{
	const struct request_rules *rules = &e->model->rules;
	struct nnhal_memory *storage;
	struct resolved_arg *a;
	uint64_t size;
	uint32_t i;
	int err;

	for (i = 0; i < rules->num_outputs; i++) {
		if (e->shapes[i].is_sufficient)
			continue;
		a = &e->resolved[rules->num_inputs + i];
		err = buffer_grow(&e->pools[a->pool], &e->shapes[i], &storage);
		if (err) {
			diag_set(e->options.diag, "output %u: memory of its buffer: %s", i,
				 errno_text(-err));
			return args_memory_status(e->model->device, 0, err);
		}
		binding_unpin(e->bindings[a->pool]);
		e->bindings[a->pool] = NULL;
		nnhal_memory_unref(e->pools[a->pool].memory);
		e->pools[a->pool].memory = storage;
		size = nnhal_memory_size(storage);
		a->length = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	}
	return bind_pools(e);
}

/* Not for ever: with each run at least one output has room. */
bool execution_has_to_run_again(struct execution *e, int error)
{
	const struct nnhal_prepared_model *model = e->model;
	const struct nnpu_args_header *header = e->result->map;
	const struct nnpu_arg *records = (const struct nnpu_arg *)(header + 1);

	if (e->preset || error || le16toh(header->status) != NNPU_STATUS_OUTPUT_INSUFFICIENT ||
	    e->num_repeats == model->rules.num_outputs ||
	    !args_read_shapes(records + model->rules.num_inputs, model->rules.num_outputs,
			      e->shapes) ||
	    !buffers_can_grow(&model->rules, e->resolved, e->pools, e->shapes))
		return false;
	e->num_repeats++;
	e->preset = exchange_storage(e);
	if (e->preset)
		return false;
	args_build(e->args, e->resolved, execution_num_args(model), e->bindings);
	return true;
}

/* Run and wait. 0 or -errno of the wait. */
static int run(struct execution *e)
{
	if (e->preset || run_on_own_queue(e))
		return 0;
	e->preset = execution_submit(e);
	return e->preset ? 0 : execution_take_result(e, result_wait(e));
}

void execution_run(struct nnhal_prepared_model *model, const struct nnhal_request *request,
		   struct nnhal_bound_request *bound, const struct nnhal_execute_options *options,
		   struct nnhal_output_shape *shapes, struct outcome *out)
{
	struct execution *e;
	int error;

	if (execution_completions(options)) {
		diag_set(options->diag, "a completion queue is for asynchronous executions");
		out->status = request_status(NNHAL_STATUS_INVALID_ARGUMENT, request);
		return;
	}
	out->status = execution_begin(model, request, bound, options, NULL, &e);
	if (out->status) {
		out->status = request_status(out->status, request);
		return;
	}
	do {
		error = run(e);
	} while (execution_has_to_run_again(e, error));
	*out = execution_end(e, error);
	if (shapes && out->num_shapes)
		memcpy(shapes, e->shapes, out->num_shapes * sizeof(*shapes));
	execution_done(e);
}

static enum nnhal_status give(const struct outcome *out, uint32_t *num_shapes,
			      struct nnhal_timing *timing)
{
	if (num_shapes)
		*num_shapes = out->num_shapes;
	if (timing)
		*timing = out->timing;
	return out->status;
}

enum nnhal_status
nnhal_prepared_model_execute_synchronously(struct nnhal_prepared_model *model,
					   const struct nnhal_request *request,
					   const struct nnhal_execute_options *options,
					   struct nnhal_output_shape *output_shapes,
					   uint32_t *num_output_shapes,
					   struct nnhal_timing *timing)
{
	struct outcome out = OUTCOME_FAILED;

	execution_run(model, request, NULL, options, output_shapes, &out);
	return give(&out, num_output_shapes, timing);
}

enum nnhal_status
nnhal_bound_request_execute_synchronously(struct nnhal_bound_request *bound,
					  const struct nnhal_execute_options *options,
					  struct nnhal_output_shape *output_shapes,
					  uint32_t *num_output_shapes,
					  struct nnhal_timing *timing)
{
	struct outcome out = OUTCOME_FAILED;

	if (bound)
		execution_run(bound->model, &bound->request, bound, options, output_shapes, &out);
	else
		out.status = NNHAL_STATUS_INVALID_ARGUMENT;
	return give(&out, num_output_shapes, timing);
}
