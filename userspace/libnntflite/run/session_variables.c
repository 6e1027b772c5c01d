// SPDX-License-Identifier: MIT
/*
 * The variables of a session.
 *
 * They are in buffers of the device. For types of extensions, whose sizes libnnhal does not
 * know, it makes none: these variables are in memory that the device shares.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session_private.h"

static bool is_written(const struct nntflite_variable *v)
{
	return v->output != NNTFLITE_NONE;
}

/* A call of libnnhal for a variable failed: @what and its name before the message. */
static enum nnhal_status variable_fail(struct nntflite_diag *diag, const struct session_variable *v,
				       const char *what, enum nnhal_status status,
				       const struct nnhal_diag *why)
{
	session_fail(diag, what, status, why);
	diag_prefix(diag, "variable '%s': ", v->what->name);
	return status;
}

static uint32_t num_places(const struct nntflite_variable *v)
{
	return is_written(v) ? NUM_PLACES : 1;
}

/* A buffer of the device; GENERAL_FAILURE if it makes none of this kind. */
static enum nnhal_status allocate(struct nntflite_session *s, struct session_variable *v,
				  uint32_t place, struct nnhal_diag *why)
{
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_buffer_role input = { .io_index = v->what->input, .frequency = 1 };
	struct nnhal_buffer_role output = { .io_index = v->what->output, .frequency = 1 };
	struct nnhal_prepared_model *models[] = { s->prepared, s->initializer };
	bool computed = v->what->initializer != NNTFLITE_NONE;
	struct place *p = &v->places[place];

	if (place == PLACE_INITIAL && computed)
		output = (struct nnhal_buffer_role){
			.model_index = 1, .io_index = v->what->initializer, .frequency = 1,
		};
	return nnhal_device_allocate(s->device, &desc, models, s->initializer ? 2 : 1, &input, 1,
				     &output, place != PLACE_INITIAL || computed, &p->buffer,
				     &p->token, why);
}

static uint64_t aligned(uint64_t size)
{
	return (size + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN;
}

/* Memory for the variables that have no buffers. */
static enum nnhal_status make_kept(struct nntflite_session *s, struct nntflite_diag *diag)
{
	struct nnhal_diag why = { "" };
	enum nnhal_status status;
	uint64_t size = 0;
	uint32_t i, k;

	for (i = 0; i < s->num_variables; i++) {
		struct session_variable *v = &s->variables[i];

		for (k = 0; k < num_places(v->what) && !v->places[0].buffer; k++) {
			v->places[k].offset = size;
			size += aligned(v->what->bytes);
		}
	}
	if (size == 0)
		return NNHAL_STATUS_NONE;
	if (size > UINT32_MAX) {
		diag_fail(diag, "the variables take more than 4 GiB");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = nnhal_memory_create(size, &s->kept, &why);
	if (status != NNHAL_STATUS_NONE)
		return session_fail(diag, "cannot get memory for variables", status, &why);
	s->kept_base = nnhal_memory_map(s->kept, &why);
	if (!s->kept_base)
		return session_fail(diag, "cannot map memory for variables",
				    NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
	return NNHAL_STATUS_NONE;
}

static void fill(uint8_t *to, const struct nntflite_variable *v)
{
	if (v->initial)
		memcpy(to, v->initial, v->bytes);
	else
		memset(to, 0, v->bytes);
}

static enum nnhal_status set_initial(struct nntflite_session *s, struct session_variable *v,
				     struct nntflite_diag *diag)
{
	const struct place *p = &v->places[PLACE_INITIAL];
	struct nnhal_memory *memory = NULL;
	struct nnhal_diag why = { "" };
	enum nnhal_status status;
	uint8_t *base;

	if (!p->buffer) {
		fill(s->kept_base + p->offset, v->what);
		return NNHAL_STATUS_NONE;
	}
	status = nnhal_memory_create(v->what->bytes, &memory, &why);
	base = status == NNHAL_STATUS_NONE ? nnhal_memory_map(memory, &why) : NULL;
	if (base) {
		fill(base, v->what);
		status = nnhal_buffer_copy_from(p->buffer, memory, NULL, 0, &why);
	} else if (status == NNHAL_STATUS_NONE) {
		status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	nnhal_memory_unref(memory);
	if (status != NNHAL_STATUS_NONE)
		return variable_fail(diag, v, "cannot set its initial value", status, &why);
	return NNHAL_STATUS_NONE;
}

/* Where a place is, as argument @argument in pool @pool of a request. */
static void bind(struct nntflite_session *s, struct session_variable *v, uint32_t place,
		 struct nnhal_request_argument *argument, struct nnhal_request_pool *pools,
		 uint32_t pool)
{
	const struct place *p = &v->places[place];

	argument->location = (struct nnhal_data_location){ .pool_index = pool };
	pools[pool] = (struct nnhal_request_pool){ .token = p->token };
	if (p->buffer)
		return;
	pools[pool].memory = s->kept;
	argument->location.offset = (uint32_t)p->offset;
	argument->location.length = (uint32_t)v->what->bytes;
}

/* Let the device compute the initial values that the file gives as a subgraph. */
static enum nnhal_status run_initializer(struct nntflite_session *s, struct nntflite_diag *diag)
{
	uint32_t i, count = nntflite_model_get_initializer(s->model)->main.num_outputs;
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_request_argument *outputs = calloc(count, sizeof(*outputs));
	struct nnhal_request_pool *pools = calloc((size_t)count + 1, sizeof(*pools));
	/* A byte that nothing reads. */
	struct nnhal_request_argument input = { .location = { .pool_index = count, .length = 1 } };
	struct nnhal_request request = {
		.hal_version = NNHAL_HAL_1_3, .num_inputs = 1, .num_outputs = count,
		.num_pools = count + 1, .inputs = &input, .outputs = outputs, .pools = pools,
	};
	enum nnhal_status status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	struct nnhal_diag why = { "" };

	options.diag = &why;
	for (i = 0; outputs && pools && i < s->num_variables; i++) {
		struct session_variable *v = &s->variables[i];
		uint32_t output = v->what->initializer;

		if (output != NNTFLITE_NONE)
			bind(s, v, PLACE_INITIAL, &outputs[output], pools, output);
	}
	if (pools)
		pools[count].memory = s->io;
	if (outputs && pools)
		status = nnhal_prepared_model_execute_synchronously(s->initializer, &request,
								    &options, NULL, NULL, NULL);
	free(outputs);
	free(pools);
	if (status != NNHAL_STATUS_NONE)
		return session_fail(diag, "cannot compute the initial values of the variables",
				    status, &why);
	return NNHAL_STATUS_NONE;
}

static void release(struct session_variable *v)
{
	uint32_t k;

	for (k = 0; k < NUM_PLACES; k++) {
		nnhal_buffer_unref(v->places[k].buffer);
		v->places[k] = (struct place){ .buffer = NULL };
	}
}

enum nnhal_status session_variables_init(struct nntflite_session *s, struct nntflite_diag *diag)
{
	struct nnhal_diag why = { "" };
	enum nnhal_status status;
	uint32_t i, k;

	for (i = 0; i < s->num_variables; i++) {
		struct session_variable *v = &s->variables[i];

		v->what = nntflite_model_variable(s->model, i);
		for (k = 0; k < num_places(v->what); k++) {
			status = allocate(s, v, k, &why);
			if (status == NNHAL_STATUS_NONE)
				continue;
			release(v);
			if (status != NNHAL_STATUS_GENERAL_FAILURE)
				return variable_fail(diag, v, "cannot get a buffer", status,
						     &why);
			break;
		}
	}
	status = make_kept(s, diag);
	for (i = 0; i < s->num_variables && status == NNHAL_STATUS_NONE; i++)
		if (s->variables[i].what->initializer == NNTFLITE_NONE)
			status = set_initial(s, &s->variables[i], diag);
	if (status == NNHAL_STATUS_NONE && s->initializer)
		status = run_initializer(s, diag);
	return status;
}

void session_variables_fini(struct nntflite_session *s)
{
	uint32_t i;

	for (i = 0; s->variables && i < s->num_variables; i++)
		release(&s->variables[i]);
	free(s->variables);
	nnhal_memory_unref(s->kept);
}

/* Where the next value goes. */
static uint32_t next_place(const struct session_variable *v)
{
	return v->now == PLACE_EVEN ? PLACE_ODD : PLACE_EVEN;
}

uint32_t session_variables_bind(struct nntflite_session *s, uint32_t pool)
{
	struct nnhal_request_argument *outputs = s->arguments + s->request.num_inputs;
	uint32_t i;

	for (i = 0; i < s->num_variables; i++) {
		struct session_variable *v = &s->variables[i];

		bind(s, v, v->now, &s->arguments[v->what->input], s->pools, pool++);
		if (is_written(v->what))
			bind(s, v, next_place(v), &outputs[v->what->output], s->pools, pool++);
	}
	return pool;
}

void session_variables_advance(struct nntflite_session *s)
{
	uint32_t i;

	for (i = 0; i < s->num_variables; i++)
		if (is_written(s->variables[i].what))
			s->variables[i].now = next_place(&s->variables[i]);
}

void nntflite_session_reset(struct nntflite_session *s)
{
	uint32_t i;

	for (i = 0; i < s->num_variables; i++)
		s->variables[i].now = PLACE_INITIAL;
}

enum nnhal_status nntflite_session_get_variable(struct nntflite_session *s, uint32_t index,
						void *data, size_t bytes,
						struct nntflite_diag *diag)
{
	const struct session_variable *v = index < s->num_variables ? &s->variables[index] : NULL;
	struct nnhal_memory *memory = NULL;
	struct nnhal_diag why = { "" };
	struct nntflite_diag ignored;
	enum nnhal_status status;
	const uint8_t *base;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!v)
		diag_fail(diag, "no variable %" PRIu32 ", the model has %" PRIu32, index,
			  s->num_variables);
	else if (!data || bytes != v->what->bytes)
		diag_fail(diag, "variable %" PRIu32 " '%s': %zu bytes, expected %zu", index,
			  v->what->name, data ? bytes : 0, v->what->bytes);
	if (diag->message[0])
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!v->places[v->now].buffer) {
		memcpy(data, s->kept_base + v->places[v->now].offset, bytes);
		return NNHAL_STATUS_NONE;
	}
	status = nnhal_memory_create(bytes, &memory, &why);
	base = status == NNHAL_STATUS_NONE ? nnhal_memory_map(memory, &why) : NULL;
	if (base)
		status = nnhal_buffer_copy_to(v->places[v->now].buffer, memory, &why);
	else if (status == NNHAL_STATUS_NONE)
		status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	if (status == NNHAL_STATUS_NONE)
		memcpy(data, base, bytes);
	nnhal_memory_unref(memory);
	if (status != NNHAL_STATUS_NONE)
		return variable_fail(diag, v, "cannot read its value", status, &why);
	return NNHAL_STATUS_NONE;
}
