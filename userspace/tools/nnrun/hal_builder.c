// SPDX-License-Identifier: MIT
/*
 * Building a HAL model operand by operand.
 */
#include <stdlib.h>
#include <string.h>

#include "hal_builder.h"

/* Largest memory for the structure of a model, without the constants of the file. */
#define MAX_ALLOCATED	((size_t)256 << 20)

/* Alignment of constants in the pool: a cache line, which suits every vector load. */
#define POOL_ALIGN	64

/* DataLocation has 32-bit offsets. */
#define MAX_POOL	((uint64_t)UINT32_MAX - POOL_ALIGN)

struct hal_chunk {
	struct hal_chunk *next;
	max_align_t data[];
};

void hal_builder_init(struct hal_builder *b, uint64_t max_pool)
{
	memset(b, 0, sizeof(*b));
	b->max_pool = max_pool < MAX_POOL ? max_pool : MAX_POOL;
}

void hal_builder_fini(struct hal_builder *b)
{
	struct hal_chunk *chunk = b->chunks;

	while (chunk) {
		struct hal_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	nnhal_memory_unref(b->pool);
	free(b->operands);
	free(b->operand_origins);
	free(b->operations);
	free(b->operation_origins);
	free(b->values);
	free(b->constants);
	memset(b, 0, sizeof(*b));
}

static int charge(struct hal_builder *b, size_t bytes, struct error *err)
{
	if (bytes > MAX_ALLOCATED - b->allocated)
		return fail(err, "the model needs more than %zu MiB besides its constants",
			    MAX_ALLOCATED >> 20);
	b->allocated += bytes;
	return 0;
}

void *hal_alloc(struct hal_builder *b, size_t count, size_t size, struct error *err)
{
	struct hal_chunk *chunk;

	if (count > MAX_ALLOCATED / size) {
		charge(b, MAX_ALLOCATED + 1, err);
		return NULL;
	}
	if (charge(b, count * size + sizeof(*chunk), err))
		return NULL;
	chunk = calloc(1, sizeof(*chunk) + count * size);
	if (!chunk) {
		fail(err, "out of memory");
		return NULL;
	}
	chunk->next = b->chunks;
	b->chunks = chunk;
	return chunk->data;
}

/* Room for one more element than @used in an array that doubles; NULL with error. */
static void *grow(void *array, uint32_t used, uint32_t *room, size_t size, struct error *err)
{
	uint32_t want = *room ? *room * 2 : 64;
	void *bigger;

	if (used < *room)
		return array;
	if (*room > UINT32_MAX / 4) {
		fail(err, "the model is too large");
		return NULL;
	}
	bigger = reallocarray(array, want, size);
	if (!bigger) {
		fail(err, "out of memory");
		return NULL;
	}
	*room = want;
	return bigger;
}

static int grow_operands(struct hal_builder *b, struct error *err)
{
	struct nnhal_operand *operands;
	uint32_t room = b->max_operands;
	uint32_t *origins;

	if (charge(b, sizeof(*operands) + sizeof(*origins), err))
		return -1;
	origins = grow(b->operand_origins, b->num_operands, &room, sizeof(*origins), err);
	if (!origins)
		return -1;
	b->operand_origins = origins;
	operands = grow(b->operands, b->num_operands, &b->max_operands, sizeof(*operands), err);
	if (!operands)
		return -1;
	b->operands = operands;
	return 0;
}

static int grow_operations(struct hal_builder *b, struct error *err)
{
	struct nnhal_operation *operations;
	uint32_t room = b->max_operations;
	uint32_t *origins;

	if (charge(b, sizeof(*operations) + sizeof(*origins), err))
		return -1;
	origins = grow(b->operation_origins, b->num_operations, &room, sizeof(*origins), err);
	if (!origins)
		return -1;
	b->operation_origins = origins;
	operations = grow(b->operations, b->num_operations, &b->max_operations,
			  sizeof(*operations), err);
	if (!operations)
		return -1;
	b->operations = operations;
	return 0;
}

int hal_add_operand(struct hal_builder *b, const struct nnhal_operand *operand,
		    uint32_t origin, struct error *err)
{
	uint32_t *dims = NULL;

	if (operand->num_dimensions) {
		dims = hal_alloc(b, operand->num_dimensions, sizeof(*dims), err);
		if (!dims)
			return -1;
		memcpy(dims, operand->dimensions, operand->num_dimensions * sizeof(*dims));
	}
	if (grow_operands(b, err))
		return -1;
	b->operands[b->num_operands] = *operand;
	b->operands[b->num_operands].dimensions = dims;
	b->operand_origins[b->num_operands] = origin;
	return (int)b->num_operands++;
}

int hal_add_copied(struct hal_builder *b, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct error *err)
{
	size_t at = (b->values_size + 3) & ~(size_t)3;

	if (charge(b, bytes + 3, err))
		return -1;
	if (at + bytes > b->values_room) {
		size_t room = 2 * (at + bytes) + 256;
		uint8_t *bigger = realloc(b->values, room);

		if (!bigger)
			return fail(err, "out of memory");
		memset(bigger + b->values_size, 0, room - b->values_size);
		b->values = bigger;
		b->values_room = room;
	}
	if (bytes)
		memcpy(b->values + at, data, bytes);
	b->values_size = at + bytes;
	operand->lifetime = NNHAL_LIFETIME_CONSTANT_COPY;
	operand->location = (struct nnhal_data_location){
		.offset = (uint32_t)at, .length = (uint32_t)bytes,
	};
	return hal_add_operand(b, operand, origin, err);
}

static int add_scalar(struct hal_builder *b, uint32_t type, const void *data, size_t bytes,
		      struct error *err)
{
	struct nnhal_operand operand = { .type = type };
	uint32_t i;
	int index;

	/* The same few strides, paddings and activations occur again and again. */
	for (i = 0; i < b->num_scalars && i < HAL_RECENT_SCALARS; i++) {
		const struct nnhal_operand *o = &b->operands[b->scalars[i]];

		if (o->type == type && !memcmp(b->values + o->location.offset, data, bytes))
			return b->scalars[i];
	}
	index = hal_add_copied(b, &operand, data, bytes, HAL_NO_ORIGIN, err);
	if (index >= 0)
		b->scalars[b->num_scalars++ % HAL_RECENT_SCALARS] = index;
	return index;
}

int hal_add_int32(struct hal_builder *b, int32_t value, struct error *err)
{
	return add_scalar(b, NNHAL_OPERAND_INT32, &value, sizeof(value), err);
}

int hal_add_float32(struct hal_builder *b, float value, struct error *err)
{
	return add_scalar(b, NNHAL_OPERAND_FLOAT32, &value, sizeof(value), err);
}

int hal_add_bool(struct hal_builder *b, bool value, struct error *err)
{
	uint8_t byte = value;

	return add_scalar(b, NNHAL_OPERAND_BOOL, &byte, sizeof(byte), err);
}

int hal_add_pooled(struct hal_builder *b, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct error *err)
{
	struct hal_constant *constant = NULL;
	uint64_t end;
	uint32_t i;

	/*
	 * Neighbours often share data (a bias of several heads), others rarely. So only the
	 * latest few are compared, which keeps this linear.
	 */
	for (i = 0; i < 32 && i < b->num_constants && !constant; i++) {
		struct hal_constant *c = &b->constants[b->num_constants - 1 - i];

		if (c->data == data && c->bytes == bytes)
			constant = c;
	}
	if (!constant) {
		constant = grow(b->constants, b->num_constants, &b->max_constants,
				sizeof(*constant), err);
		if (!constant)
			return -1;
		b->constants = constant;
		end = b->pool_size + bytes;
		if (end > b->max_pool)
			return fail(err, "the constants take more than %llu bytes",
				    (unsigned long long)b->max_pool);
		constant = &b->constants[b->num_constants++];
		*constant = (struct hal_constant){ data, bytes, b->pool_size };
		b->pool_size = (end + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
	}
	operand->lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	operand->location = (struct nnhal_data_location){
		.pool_index = 0,
		.offset = (uint32_t)constant->offset,
		.length = (uint32_t)bytes,
	};
	return hal_add_operand(b, operand, origin, err);
}

int hal_add_operation(struct hal_builder *b, uint32_t type, const int *inputs,
		      uint32_t num_inputs, int output, uint32_t origin, struct error *err)
{
	uint32_t *list = hal_alloc(b, (size_t)num_inputs + 1, sizeof(*list), err);
	uint32_t i;

	if (!list || grow_operations(b, err))
		return -1;
	for (i = 0; i < num_inputs; i++)
		list[i] = (uint32_t)inputs[i];
	list[num_inputs] = (uint32_t)output;
	b->operations[b->num_operations] = (struct nnhal_operation){
		.type = type,
		.num_inputs = num_inputs,
		.num_outputs = 1,
		.inputs = list,
		.outputs = list + num_inputs,
	};
	b->operation_origins[b->num_operations] = origin;
	return (int)b->num_operations++;
}

static int make_pool(struct hal_builder *b, struct error *err)
{
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	uint8_t *base;
	uint32_t i;

	if (b->num_constants == 0)
		return 0;
	status = nnhal_memory_create(b->pool_size, &b->pool, &diag);
	base = status == NNHAL_STATUS_NONE ? nnhal_memory_map(b->pool, &diag) : NULL;
	if (!base)
		return fail(err, "cannot get %llu bytes of memory for the constants: %s",
			    (unsigned long long)b->pool_size, diag.message);
	for (i = 0; i < b->num_constants; i++)
		memcpy(base + b->constants[i].offset, b->constants[i].data,
		       b->constants[i].bytes);
	b->model.num_pools = 1;
	b->model.pools = &b->pool;
	return 0;
}

int hal_builder_finish(struct hal_builder *b, const uint32_t *inputs, uint32_t num_inputs,
		       const uint32_t *outputs, uint32_t num_outputs, struct error *err)
{
	uint32_t i, j;

	b->inputs = hal_alloc(b, (size_t)num_inputs + 1, sizeof(*inputs), err);
	b->outputs = hal_alloc(b, (size_t)num_outputs + 1, sizeof(*outputs), err);
	if (!b->inputs || !b->outputs)
		return -1;
	if (num_inputs)
		memcpy(b->inputs, inputs, num_inputs * sizeof(*inputs));
	if (num_outputs)
		memcpy(b->outputs, outputs, num_outputs * sizeof(*outputs));

	for (i = 0; i < b->num_operations; i++)
		for (j = 0; j < b->operations[i].num_inputs; j++)
			b->operands[b->operations[i].inputs[j]].number_of_consumers++;

	b->model = (struct nnhal_model){
		.hal_version = NNHAL_HAL_1_3,
		.main = {
			.num_operands = b->num_operands,
			.num_operations = b->num_operations,
			.num_inputs = num_inputs,
			.num_outputs = num_outputs,
			.operands = b->operands,
			.operations = b->operations,
			.input_indexes = b->inputs,
			.output_indexes = b->outputs,
		},
		.operand_values = b->values,
		.operand_values_size = b->values_size,
	};
	return make_pool(b, err);
}
