// SPDX-License-Identifier: MIT
/*
 * Arguments and results: code that all kinds of execution share.
 *
 * All functions work on arrays of the caller. Arguments are in the order inputs, outputs;
 * pools and bindings are indexed by the pool numbers of the request.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "base/status.h"
#include "base/tsan.h"
#include "device/device_private.h"
#include "execution/arguments.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "memory/binding.h"
#include "memory/memory_private.h"
#include "model/model_image.h"

/* Can the results of a run be written to what the options point to? */
static bool results_are_valid(const struct nnhal_execute_options *options)
{
	const struct nnhal_ext_profile *profile = options->profile;
	const struct nnhal_ext_work *work = options->work;

	if (profile &&
	    (!result_size_is_valid(profile, SIZE_UP_TO(struct nnhal_ext_profile, exec_ns)) ||
	     (profile->max_entries &&
	      !result_size_is_valid(&profile->entry_size,
				    SIZE_UP_TO(struct nnhal_ext_profile_entry, output_bytes)))))
		return false;
	return !work || result_size_is_valid(work, SIZE_UP_TO(struct nnhal_ext_work, reserved));
}

/* No result: zero. */
static void clear_results(const struct nnhal_execute_options *options)
{
	static const struct nnhal_ext_work no_work;
	struct nnhal_ext_profile none;

	if (options->profile) {
		none = (struct nnhal_ext_profile){
			.entry_size = options->profile->entry_size,
			.entries = options->profile->entries,
			.max_entries = options->profile->max_entries,
		};
		result_give(options->profile, options->profile->size, &none, sizeof(none));
	}
	if (options->work)
		result_give(options->work, options->work->size, &no_work, sizeof(no_work));
}

enum nnhal_status execute_options_read(struct nnhal_execute_options *to,
				       const struct nnhal_execute_options *from)
{
	static const struct nnhal_execute_options defaults = NNHAL_EXECUTE_OPTIONS_INIT;

	/* The first version of the structure ended before @work. */
	if (!options_read(to, from, &defaults, profile))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(to->diag);
	if (unlikely(to->profile || to->work)) {
		if (!results_are_valid(to)) {
			diag_set(to->diag, "size of a profile or of work: expected %zu, %zu, %zu",
				 sizeof(struct nnhal_ext_profile),
				 sizeof(struct nnhal_ext_profile_entry),
				 sizeof(struct nnhal_ext_work));
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
		clear_results(to);
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

uint64_t args_loop_timeout(const struct nnhal_execute_options *options)
{
	if (!options->has_loop_timeout)
		return 0;
	/* 0 ns means no time at all, but 0 in the header means the default. */
	return options->loop_timeout_ns ? options->loop_timeout_ns : 1;
}

bool args_make_room(struct resolved_pool **pools, const struct binding ***bindings,
		    uint32_t *max_pools, uint32_t num_pools)
{
	struct resolved_pool *new_pools;
	const struct binding **new_bindings;

	if (num_pools <= *max_pools)
		return true;
	new_pools = realloc(*pools, num_pools * sizeof(*new_pools));
	if (!new_pools)
		return false;
	*pools = new_pools;
	new_bindings = realloc(*bindings, num_pools * sizeof(*new_bindings));
	if (!new_bindings)
		return false;
	*bindings = new_bindings;
	*max_pools = num_pools;
	return true;
}

enum nnhal_status args_memory_status(struct nnhal_device *device, uint32_t own, int error)
{
	/* The request is valid, so an error of the memory is no argument error. */
	if (error == -EINVAL || error == -EFAULT || error == -EBADF)
		return NNHAL_STATUS_GENERAL_FAILURE;
	/* Slots of others become free with the end of their jobs. */
	if (error == -ENOSPC && bind_table_has_others(device->table, own))
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	return device_status_from_error(device, error);
}

uint32_t args_count_bindings(const struct resolved_arg *args, uint32_t count,
			     const struct binding *const *bindings)
{
	uint32_t i, j, result = 0;

	for (i = 0; i < count; i++) {
		if (args[i].omitted)
			continue;
		for (j = 0; j < i; j++)
			if (!args[j].omitted &&
			    bindings[args[j].pool] == bindings[args[i].pool])
				break;
		result += j == i;
	}
	return result;
}

enum nnhal_status args_bind_status(struct nnhal_device *device, uint32_t pool, uint32_t own,
				   int error, struct nnhal_diag *diag)
{
	diag_set(diag, "pool %u cannot be bound: %s", pool, errno_text(-error));
	return args_memory_status(device, own, error);
}

static enum nnhal_status unreadable(uint32_t input, uint32_t pool, int err, struct nnhal_diag *diag)
{
	diag_set(diag, "input %u: pool %u cannot be read: %s", input, pool, errno_text(-err));
	return NNHAL_STATUS_GENERAL_FAILURE;
}

static enum nnhal_status unwritable(uint32_t output, uint32_t pool, int err, struct nnhal_diag *diag)
{
	diag_set(diag, "output %u: pool %u cannot be written: %s", output, pool, errno_text(-err));
	return NNHAL_STATUS_GENERAL_FAILURE;
}

enum nnhal_status args_copy_inputs(struct transport *t, const struct request_rules *rules,
				   const struct resolved_arg *args,
				   const struct resolved_pool *pools,
				   const struct binding *const *bindings, struct nnhal_diag *diag)
{
	const struct resolved_arg *a;
	const struct binding *b;
	uint32_t i;
	int err;

	for (i = 0; i < rules->num_inputs; i++) {
		a = &args[i];
		if (a->omitted || !bindings[a->pool]->needs_cpu)
			continue;
		b = bindings[a->pool];
		if (!b->has_bounce) {
			err = memory_check_file(pools[a->pool].memory, a->offset + (uint64_t)a->length);
			if (err)
				return unreadable(i, a->pool, err, diag);
			continue;
		}
		/*
		 * Requests in flight may share an input. The device may read the copy for one
		 * of them while it is written for another, with the same bytes.
		 */
		tsan_racy_writes_begin();
		err = memory_read(pools[a->pool].memory, a->offset,
				  (uint8_t *)b->bounce.map + a->offset, a->length);
		tsan_racy_writes_end();
		if (!err)
			err = transport_give(t, &b->bounce, a->offset, a->length);
		if (err)
			return unreadable(i, a->pool, err, diag);
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status args_copy_outputs(struct transport *t, const struct request_rules *rules,
				    const struct resolved_arg *args,
				    const struct resolved_pool *pools,
				    const struct binding *const *bindings,
				    const struct nnhal_output_shape *shapes,
				    struct nnhal_diag *diag)
{
	const struct resolved_arg *a;
	const struct binding *b;
	uint32_t i, size;
	int err;

	for (i = 0; i < rules->num_outputs; i++) {
		a = &args[rules->num_inputs + i];
		if (a->omitted || !bindings[a->pool]->needs_cpu)
			continue;
		b = bindings[a->pool];
		if (!b->has_bounce) {
			err = memory_check_file(pools[a->pool].memory, a->offset + (uint64_t)a->length);
			if (err)
				return unwritable(i, a->pool, err, diag);
			continue;
		}
		/* Only what the device wrote; the rest of the buffer keeps its content. */
		if (!arg_size(&rules->outputs[i], shapes[i].dimensions, shapes[i].num_dimensions,
			      &size) || size > a->length)
			return NNHAL_STATUS_GENERAL_FAILURE;
		err = transport_take(t, &b->bounce, a->offset, size);
		if (err)
			return unwritable(i, a->pool, err, diag);
		/*
		 * If two requests in flight have the same output buffer, its content is that
		 * of either of them, as with memory that the device reaches.
		 */
		tsan_racy_reads_begin();
		err = memory_write(pools[a->pool].memory, a->offset,
				   (uint8_t *)b->bounce.map + a->offset, size);
		tsan_racy_reads_end();
		if (err)
			return unwritable(i, a->pool, err, diag);
	}
	return NNHAL_STATUS_NONE;
}

void args_build(struct nnpu_arg *records, const struct resolved_arg *args, uint32_t count,
		const struct binding *const *bindings)
{
	uint32_t i, d;

	for (i = 0; i < count; i++) {
		const struct resolved_arg *a = &args[i];
		struct nnpu_arg *record = &records[i];

		memset(record, 0, sizeof(*record));
		if (a->omitted) {
			record->flags = htole16(NNPU_ARG_NO_VALUE);
			continue;
		}
		record->slot = htole32(bindings[a->pool]->slot);
		record->offset = htole64(bindings[a->pool]->delta + (uint64_t)a->offset);
		record->length = htole64(a->length);
		if (!a->has_shape)
			continue;
		record->flags = htole16(NNPU_ARG_SHAPE);
		record->rank = (uint8_t)a->rank;
		for (d = 0; d < a->rank; d++)
			record->dims[d] = htole32(a->dims[d]);
	}
}

/* Name the operation of the model that failed. */
static void command_explain(const struct command_origin *origin, uint32_t device_status,
			    const char *reason, struct nnhal_diag *diag)
{
	const char *status = device_status_text(device_status);

	if (device_status == NNPU_STATUS_LOOP_TIMEOUT)
		reason = "the condition is still true";
	if (origin->subgraph == MAIN_SUBGRAPH)
		diag_set(diag, "operation %u: %s: %s", origin->operation, status, reason);
	else
		diag_set(diag, "subgraph %u operation %u: %s: %s", origin->subgraph,
			 origin->inner, status, reason);
}

void args_explain(const struct nnhal_prepared_model *model, uint32_t device_status,
		  uint32_t device_reason, uint32_t index, struct nnhal_diag *diag)
{
	const char *reason = device_reason_text(device_reason);
	const char *status = device_status_text(device_status);

	switch (device_status) {
	case NNPU_STATUS_ARG_SHAPE:
	case NNPU_STATUS_ARG_SIZE:
	case NNPU_STATUS_OUTPUT_INSUFFICIENT:
		if (index < model->rules.num_inputs)
			diag_set(diag, "input %u: %s: %s", index, status, reason);
		else
			diag_set(diag, "output %u: %s: %s", index - model->rules.num_inputs, status,
				 reason);
		break;
	case NNPU_STATUS_OP_FAILED:
	case NNPU_STATUS_LOOP_TIMEOUT:
		if (index < model->num_commands) {
			command_explain(&model->command_origins[index], device_status, reason, diag);
			break;
		}
		/* fall through */
	default:
		diag_set(diag, "device: %s: %s", status, reason);
	}
}

void timing_of(struct nnhal_timing *timing, uint64_t start_ns, uint64_t end_ns, uint64_t exec_ns)
{
	timing->time_in_driver = (end_ns - start_ns + 999) / 1000;
	timing->time_on_device = (exec_ns + 999) / 1000;
	/* The times are of two clocks: limit the part to the whole. */
	if (timing->time_on_device > timing->time_in_driver)
		timing->time_on_device = timing->time_in_driver;
}

void outcome_for_version(struct outcome *out, uint32_t hal_version)
{
	if (hal_version < NNHAL_HAL_1_2) {
		/* Callbacks of 1.0 and 1.1 have only a status. */
		out->num_shapes = 0;
		out->timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	}
	out->status = nnhal_status_for_version(out->status, hal_version);
}

enum nnhal_status request_status(enum nnhal_status status, const struct nnhal_request *request)
{
	uint32_t version = request ? hal_version_of(request->hal_version) : 0;

	return version ? nnhal_status_for_version(status, version) : status;
}
