// SPDX-License-Identifier: MIT
/*
 * Arguments of an execution in buffers of the device.
 */
#include <stdio.h>
#include <string.h>

#include "case_buffers.h"

static bool wrong(char *text, const char *what, uint32_t i, enum nnhal_status status,
		  const struct nnhal_diag *diag)
{
	snprintf(text, REASON_TEXT, "buffer of argument %u: %s: %s%s%s", i, what,
		 nnhal_status_name((int)status), diag->message[0] ? ": " : "", diag->message);
	return false;
}

static const struct value *value_of(const struct vec_model *m, uint32_t i)
{
	return i < m->num_inputs ? &m->inputs[i] : &m->outputs[i - m->num_inputs];
}

static uint8_t *bytes_of(const struct vec_model *m, const struct value *v)
{
	return m->pools->entries[v->pool].bytes + v->offset;
}

/* Memory of exactly the size of the operand, which is what copies take. */
static bool memory_init(struct case_buffer *b, uint32_t size, struct nnhal_diag *diag)
{
	if (nnhal_memory_create(size, &b->memory, diag))
		return false;
	b->bytes = nnhal_memory_map(b->memory, diag);
	return b->bytes;
}

bool case_buffers_init(struct case_buffer *list, struct nnhal_device *device,
		       struct nnhal_prepared_model *model, const struct vec_model *m,
		       enum tokens tokens, char *text)
{
	struct nnhal_buffer_desc desc = { .size = sizeof(desc) };
	uint32_t i, count = m->num_inputs + m->num_outputs;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	for (i = 0; i < count; i++) {
		bool output = i >= m->num_inputs;
		struct nnhal_buffer_role role = {
			.io_index = output ? i - m->num_inputs : i, .frequency = 1.0f,
		};
		const struct value *v = value_of(m, i);

		/* Every second argument, outputs counted as well. */
		if (v->omitted || (tokens == TOKENS_MIXED && i % 2))
			continue;
		status = nnhal_device_allocate(device, &desc, &model, 1, &role, !output, &role,
					       output, &list[i].buffer, &list[i].token, &diag);
		if (status)
			return wrong(text, "allocate", i, status, &diag);
		if (v->operand->num_bytes && !memory_init(&list[i], v->operand->num_bytes, &diag))
			return wrong(text, "memory", i, NNHAL_STATUS_GENERAL_FAILURE, &diag);
	}
	return true;
}

void case_buffers_free(struct case_buffer *list, uint32_t count)
{
	for (uint32_t i = 0; list && i < count; i++) {
		nnhal_buffer_unref(list[i].buffer);
		nnhal_memory_unref(list[i].memory);
	}
}

bool case_buffers_fill(const struct case_buffer *list, const struct vec_model *m, char *text)
{
	struct nnhal_diag diag;
	enum nnhal_status status;

	for (uint32_t i = 0; i < m->num_inputs; i++) {
		const struct value *v = &m->inputs[i];

		if (!list[i].buffer)
			continue;
		memcpy(list[i].bytes, bytes_of(m, v), v->length);
		status = nnhal_buffer_copy_from(list[i].buffer, list[i].memory, v->operand->dims,
						v->operand->rank, &diag);
		if (status)
			return wrong(text, "copyFrom", i, status, &diag);
	}
	return true;
}

/* Copy an argument from its buffer. An output without bytes has nothing to copy. */
static bool read_one(const struct case_buffer *b, uint32_t i, char *text)
{
	struct nnhal_buffer_state state = { .size = sizeof(state) };
	struct nnhal_diag diag = { "" };
	enum nnhal_status status = nnhal_buffer_get_state(b->buffer, &state);

	if (status || !state.is_initialized)
		return wrong(text, "not initialised", i, status, &diag);
	if (!state.content_size && !b->memory)
		return true;
	status = nnhal_buffer_copy_to(b->buffer, b->memory, &diag);
	return !status || wrong(text, "copyTo", i, status, &diag);
}

bool case_buffers_read(const struct case_buffer *list, const struct vec_model *m, char *text)
{
	uint32_t i, count = m->num_inputs + m->num_outputs;
	const struct nnhal_diag none = { "" };

	for (i = 0; i < count; i++) {
		const struct value *v = value_of(m, i);

		if (!list[i].buffer)
			continue;
		if (!read_one(&list[i], i, text))
			return false;
		if (i >= m->num_inputs && list[i].memory)
			memcpy(bytes_of(m, v), list[i].bytes, v->operand->num_bytes);
		else if (i < m->num_inputs && memcmp(bytes_of(m, v), list[i].bytes, v->length))
			return wrong(text, "input was changed", i, NNHAL_STATUS_NONE, &none);
	}
	return true;
}
