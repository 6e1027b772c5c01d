// SPDX-License-Identifier: MIT
/*
 * Sessions: memory for the inputs and outputs of a model, and runs of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sized.h>

#include "../file/tflite.h"
#include "session_private.h"

/* First room for an output of unknown size. */
#define FIRST_ROOM	4096u

/* Largest tensor, as everywhere in the library. */
#define LARGEST_OUTPUT	(UINT64_C(1) << 31)

enum nnhal_status session_fail(struct nntflite_diag *diag, const char *what,
			       enum nnhal_status status, const struct nnhal_diag *why)
{
	diag_fail(diag, "%s: %s", what, why->message[0] ? why->message :
							   nnhal_status_name(status));
	return status;
}

/* The same of a call that got the HAL model: the message is put in terms of the file. */
static enum nnhal_status model_fail(const struct nntflite_session *s, struct nntflite_diag *diag,
				    const char *what, enum nnhal_status status,
				    const struct nnhal_diag *why)
{
	if (!why->message[0])
		return session_fail(diag, what, status, why);
	nntflite_model_explain(s->model, why, diag);
	diag_prefix(diag, "%s: ", what);
	return status;
}

/* A part of the memory for inputs and outputs. */
static void part(struct nnhal_request_argument *argument, uint64_t bytes, uint64_t *size)
{
	argument->location = (struct nnhal_data_location){
		.offset = (uint32_t)*size, .length = (uint32_t)bytes,
	};
	*size += (bytes + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN;
}

/* Memory for an output of unknown size; what it had goes. */
static enum nnhal_status make_room(struct session_output *o, uint64_t room,
				   struct nntflite_diag *diag)
{
	struct nnhal_memory *memory = NULL;
	struct nnhal_diag why = { "" };
	enum nnhal_status status;
	uint8_t *base;

	if (room > LARGEST_OUTPUT) {
		diag_fail(diag, "output '%s' takes more than 2^31 bytes", o->what->name);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	}
	status = nnhal_memory_create(room, &memory, &why);
	if (status != NNHAL_STATUS_NONE)
		return session_fail(diag, "cannot get memory for an output", status, &why);
	base = nnhal_memory_map(memory, &why);
	if (!base) {
		nnhal_memory_unref(memory);
		return session_fail(diag, "cannot map memory for an output",
				    NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
	}
	nnhal_memory_unref(o->memory);
	o->memory = memory;
	o->base = base;
	o->room = room;
	return NNHAL_STATUS_NONE;
}

/* Where inputs and outputs are. */
static enum nnhal_status make_io(struct nntflite_session *s, struct nntflite_diag *diag)
{
	struct nnhal_request_argument *outputs = s->arguments + s->request.num_inputs;
	struct nnhal_diag why = { "" };
	enum nnhal_status status;
	uint64_t size = 0;
	uint32_t i;

	for (i = 0; i < s->num_inputs + s->num_outputs; i++) {
		uint32_t k = i - s->num_inputs;

		if (i < s->num_inputs)
			part(&s->arguments[i], nntflite_model_input(s->model, i)->bytes, &size);
		else if (s->outputs[k].what->bytes)
			part(&outputs[k], s->outputs[k].what->bytes, &size);
		if (size > UINT32_MAX) {
			diag_fail(diag, "inputs and outputs take more than 4 GiB");
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	/* A model may have neither inputs nor outputs of known size. */
	status = nnhal_memory_create(size ? size : VALUE_ALIGN, &s->io, &why);
	if (status != NNHAL_STATUS_NONE)
		return session_fail(diag, "cannot get memory for inputs and outputs", status, &why);
	s->io_base = nnhal_memory_map(s->io, &why);
	if (!s->io_base)
		return session_fail(diag, "cannot map memory for inputs and outputs",
				    NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
	for (i = 0; i < s->num_outputs && status == NNHAL_STATUS_NONE; i++) {
		if (s->outputs[i].what->bytes)
			s->outputs[i].base = s->io_base + outputs[i].location.offset;
		else
			status = make_room(&s->outputs[i], FIRST_ROOM, diag);
	}
	return status;
}

static enum nnhal_status prepare(struct nntflite_session *s,
				 const struct nntflite_session_options *options,
				 struct nntflite_diag *diag)
{
	const struct nnhal_model *initializer = nntflite_model_get_initializer(s->model);
	static const struct nnhal_prepare_options defaults = NNHAL_PREPARE_OPTIONS_INIT;
	const struct nnhal_cache *cache;
	struct nnhal_prepare_options how;
	struct nnhal_diag why = { "" };
	enum nnhal_status status = NNHAL_STATUS_NONE;

	if (!options_read(&how, options->prepare, &defaults, cache)) {
		diag_fail(diag, "options of the preparation: of another version");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	how.diag = &why;
	/* It runs once: nothing is gained by a cache. */
	cache = how.cache;
	how.cache = NULL;
	if (initializer)
		status = nnhal_device_prepare_model_sync(s->device, initializer, &how,
							 &s->initializer);
	if (status != NNHAL_STATUS_NONE)
		return session_fail(diag, "cannot prepare the initial values of the variables",
				    status, &why);
	if (options->prepared) {
		s->prepared = nnhal_prepared_model_ref(options->prepared);
		return NNHAL_STATUS_NONE;
	}
	how.cache = cache;
	status = nnhal_device_prepare_model_sync(s->device, nntflite_model_get_hal(s->model), &how,
						 &s->prepared);
	if (status != NNHAL_STATUS_NONE)
		return model_fail(s, diag, "cannot prepare the model", status, &why);
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status session_init(struct nntflite_session *s,
				      const struct nntflite_session_options *options,
				      struct nntflite_diag *diag)
{
	const struct nnhal_subgraph *hal = &nntflite_model_get_hal(s->model)->main;
	uint32_t num_arguments = hal->num_inputs + hal->num_outputs;
	enum nnhal_status status;
	uint32_t i;

	s->num_inputs = nntflite_model_num_inputs(s->model);
	s->num_outputs = nntflite_model_num_outputs(s->model);
	s->num_variables = nntflite_model_num_variables(s->model);
	s->outputs = calloc((size_t)s->num_outputs + 1, sizeof(*s->outputs));
	s->variables = calloc((size_t)s->num_variables + 1, sizeof(*s->variables));
	s->arguments = calloc((size_t)num_arguments + 1, sizeof(*s->arguments));
	/* At most one for each argument, and one for all of known size. */
	s->pools = calloc((size_t)num_arguments + 1, sizeof(*s->pools));
	s->shapes = calloc((size_t)hal->num_outputs + 1, sizeof(*s->shapes));
	if (!s->outputs || !s->variables || !s->arguments || !s->pools || !s->shapes) {
		diag_fail_memory(diag);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (i = 0; i < s->num_outputs; i++) {
		s->outputs[i].what = nntflite_model_output(s->model, i);
		s->outputs[i].element_size = tflite_type_size(s->outputs[i].what->tflite_type);
	}
	s->request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = hal->num_inputs,
		.num_outputs = hal->num_outputs,
		.inputs = s->arguments,
		.outputs = s->arguments + hal->num_inputs,
		.pools = s->pools,
	};
	status = prepare(s, options, diag);
	if (status == NNHAL_STATUS_NONE)
		status = make_io(s, diag);
	return status == NNHAL_STATUS_NONE ? session_variables_init(s, diag) : status;
}

enum nnhal_status nntflite_session_create(const struct nntflite_model *model,
					  struct nnhal_device *device,
					  const struct nntflite_session_options *options,
					  struct nntflite_session **session,
					  struct nntflite_diag *diag)
{
	static const struct nntflite_session_options defaults = NNTFLITE_SESSION_OPTIONS_INIT;
	struct nntflite_session_options read;
	struct nntflite_diag ignored;
	struct nntflite_session *s;
	enum nnhal_status status;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!model || !device || !session) {
		diag_fail(diag, "no model, device or place for the session");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!options_read(&read, options, &defaults, prepared)) {
		diag_fail(diag, "options of the session: of another version");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		diag_fail_memory(diag);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	s->model = model;
	s->device = nnhal_device_ref(device);
	status = session_init(s, &read, diag);
	if (status != NNHAL_STATUS_NONE) {
		nntflite_session_destroy(s);
		return status;
	}
	*session = s;
	return NNHAL_STATUS_NONE;
}

void nntflite_session_destroy(struct nntflite_session *s)
{
	uint32_t i;

	if (!s)
		return;
	session_variables_fini(s);
	for (i = 0; s->outputs && i < s->num_outputs; i++)
		nnhal_memory_unref(s->outputs[i].memory);
	nnhal_memory_unref(s->io);
	nnhal_prepared_model_unref(s->prepared);
	nnhal_prepared_model_unref(s->initializer);
	nnhal_device_unref(s->device);
	free(s->outputs);
	free(s->arguments);
	free(s->pools);
	free(s->shapes);
	free(s);
}

struct nnhal_prepared_model *nntflite_session_prepared(const struct nntflite_session *s)
{
	return s ? s->prepared : NULL;
}

void *nntflite_session_input(struct nntflite_session *s, uint32_t index)
{
	return index < s->num_inputs ? s->io_base + s->arguments[index].location.offset : NULL;
}

enum nnhal_status nntflite_session_set_input(struct nntflite_session *s, uint32_t index,
					     const void *data, size_t bytes,
					     struct nntflite_diag *diag)
{
	const struct nntflite_io *what = nntflite_model_input(s->model, index);
	struct nntflite_diag ignored;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!what)
		diag_fail(diag, "no input %" PRIu32 ", the model has %" PRIu32, index,
			  s->num_inputs);
	else if (!data || bytes != what->bytes)
		diag_fail(diag, "input %" PRIu32 " '%s': %zu bytes, expected %zu", index,
			  what->name, data ? bytes : 0, what->bytes);
	if (diag->message[0])
		return NNHAL_STATUS_INVALID_ARGUMENT;
	memcpy(nntflite_session_input(s, index), data, bytes);
	return NNHAL_STATUS_NONE;
}

const struct nnhal_request *nntflite_session_begin(struct nntflite_session *s)
{
	struct nnhal_request_argument *outputs = s->arguments + s->request.num_inputs;
	uint32_t i, pool = 1;

	s->has_result = false;
	s->pools[0] = (struct nnhal_request_pool){ .memory = s->io };
	for (i = 0; i < s->num_outputs; i++) {
		if (!s->outputs[i].memory)
			continue;
		outputs[i].location = (struct nnhal_data_location){
			.pool_index = pool, .length = (uint32_t)s->outputs[i].room,
		};
		s->pools[pool++] = (struct nnhal_request_pool){ .memory = s->outputs[i].memory };
	}
	s->request.num_pools = session_variables_bind(s, pool);
	return &s->request;
}

/* Bytes of a tensor; 0 if a size is not known. Empty ones and unknown ones look the same. */
static uint64_t bytes_of(const struct nnhal_output_shape *shape, size_t element_size)
{
	uint64_t bytes = element_size;
	uint32_t i;

	for (i = 0; i < shape->num_dimensions; i++) {
		if (shape->dimensions[i] && bytes > LARGEST_OUTPUT / shape->dimensions[i])
			return LARGEST_OUTPUT + 1;
		bytes *= shape->dimensions[i];
	}
	return shape->num_dimensions ? bytes : 0;
}

/* The outputs that did not fit get more memory: what they need, or twice what they had. */
static enum nnhal_status enlarge(struct nntflite_session *s,
				 const struct nnhal_output_shape *shapes, uint32_t num_shapes,
				 struct nntflite_diag *diag)
{
	enum nnhal_status status = NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE;
	bool any = false;
	uint32_t i;

	for (i = 0; i < s->num_outputs && i < num_shapes; i++) {
		struct session_output *o = &s->outputs[i];
		uint64_t bytes = bytes_of(&shapes[i], o->element_size);
		enum nnhal_status made;

		if (shapes[i].is_sufficient || !o->memory)
			continue;
		made = make_room(o, bytes > o->room ? bytes : 2 * o->room, diag);
		if (made != NNHAL_STATUS_NONE)
			return made;
		any = true;
	}
	if (any)
		return status;
	diag_fail(diag, "the device wants more room for an output of known size");
	return NNHAL_STATUS_GENERAL_FAILURE;
}

/* What the run has put out. */
static enum nnhal_status take_shapes(struct nntflite_session *s,
				     const struct nnhal_output_shape *shapes,
				     uint32_t num_shapes, struct nntflite_diag *diag)
{
	uint32_t i, k;

	for (i = 0; i < s->num_outputs; i++) {
		struct session_output *o = &s->outputs[i];

		o->rank = o->what->rank;
		o->bytes = o->what->bytes;
		memcpy(o->dims, o->what->dims, sizeof(o->dims));
		if (!o->memory)
			continue;
		if (i >= num_shapes || shapes[i].num_dimensions > NNTFLITE_MAX_RANK) {
			diag_fail(diag, "output '%s': the device gave no shape", o->what->name);
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
		o->rank = shapes[i].num_dimensions;
		for (k = 0; k < o->rank; k++)
			o->dims[k] = shapes[i].dimensions[k];
		o->bytes = bytes_of(&shapes[i], o->element_size);
		if (o->bytes > o->room) {
			diag_fail(diag, "output '%s': its shape takes more than its room",
				  o->what->name);
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nntflite_session_end(struct nntflite_session *s, enum nnhal_status status,
				       const struct nnhal_output_shape *shapes,
				       uint32_t num_shapes, struct nntflite_diag *diag)
{
	struct nntflite_diag ignored;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!shapes)
		num_shapes = 0;
	if (status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE)
		return enlarge(s, shapes, num_shapes, diag);
	if (status != NNHAL_STATUS_NONE)
		return status;
	status = take_shapes(s, shapes, num_shapes, diag);
	if (status != NNHAL_STATUS_NONE)
		return status;
	session_variables_advance(s);
	s->has_result = true;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nntflite_session_run(struct nntflite_session *s,
				       const struct nnhal_execute_options *options,
				       struct nnhal_timing *timing, struct nntflite_diag *diag)
{
	static const struct nnhal_execute_options defaults = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_execute_options how;
	struct nnhal_diag why = { "" };
	struct nntflite_diag ignored;
	enum nnhal_status status, ended;
	uint32_t num_shapes;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!options_read(&how, options, &defaults, profile)) {
		diag_fail(diag, "options of the execution: of another version");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	how.diag = &why;
	/* Memory doubles at least each time, up to a limit: there are few turns. */
	do {
		ended = nnhal_prepared_model_execute_synchronously(s->prepared,
								   nntflite_session_begin(s), &how,
								   s->shapes, &num_shapes, timing);
		status = nntflite_session_end(s, ended, s->shapes, num_shapes, diag);
	} while (status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	if (ended != NNHAL_STATUS_NONE && status == ended)
		return model_fail(s, diag, "cannot run the model", status, &why);
	return status;
}

enum nnhal_status nntflite_session_output(const struct nntflite_session *s, uint32_t index,
					  struct nntflite_value *value)
{
	const struct session_output *o = s && index < s->num_outputs ? &s->outputs[index] : NULL;
	struct nntflite_value found = NNTFLITE_VALUE_INIT;

	if (!o || !value ||
	    !result_size_is_valid(value, SIZE_UP_TO(struct nntflite_value, reserved)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!s->has_result)
		return NNHAL_STATUS_GENERAL_FAILURE;
	found.data = o->base;
	found.bytes = o->bytes;
	found.rank = o->rank;
	memcpy(found.dims, o->dims, sizeof(found.dims));
	result_give(value, value->size, &found, sizeof(found));
	return NNHAL_STATUS_NONE;
}
