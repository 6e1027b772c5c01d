// SPDX-License-Identifier: MIT
/*
 * Building a HAL model operand by operand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <float16.h>

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

static void free_graph(struct hal_graph *g)
{
	free(g->operands);
	free(g->operand_origins);
	free(g->operations);
	free(g->operation_origins);
	free(g);
}

void hal_builder_fini(struct hal_builder *b)
{
	struct hal_chunk *chunk = b->chunks;

	while (chunk) {
		struct hal_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	while (b->num_graphs)
		free_graph(b->graphs[--b->num_graphs]);
	nnhal_memory_unref(b->pool);
	free(b->graphs);
	free(b->values);
	free(b->constants);
	memset(b, 0, sizeof(*b));
}

static int charge(struct hal_builder *b, size_t bytes, struct nntflite_diag *diag)
{
	if (bytes > MAX_ALLOCATED - b->allocated)
		return diag_fail(diag, "the model needs more than %zu MiB besides its constants",
			    MAX_ALLOCATED >> 20);
	b->allocated += bytes;
	return 0;
}

static void *new_chunk(struct hal_builder *b, size_t bytes, struct nntflite_diag *diag)
{
	struct hal_chunk *chunk = calloc(1, sizeof(*chunk) + bytes);

	if (!chunk) {
		diag_fail_memory(diag);
		return NULL;
	}
	chunk->next = b->chunks;
	b->chunks = chunk;
	return chunk->data;
}

void *hal_alloc(struct hal_builder *b, size_t count, size_t size, struct nntflite_diag *diag)
{
	const struct hal_chunk *chunk;

	if (count > MAX_ALLOCATED / size) {
		charge(b, MAX_ALLOCATED + 1, diag);
		return NULL;
	}
	if (charge(b, count * size + sizeof(*chunk), diag))
		return NULL;
	return new_chunk(b, count * size, diag);
}

void *hal_alloc_constant(struct hal_builder *b, uint64_t bytes, struct nntflite_diag *diag)
{
	if (bytes > b->max_pool - b->allocated_constants) {
		diag_fail(diag, "the constants take more than %llu bytes",
			  (unsigned long long)b->max_pool);
		return NULL;
	}
	b->allocated_constants += bytes;
	return new_chunk(b, bytes, diag);
}

/* Room for one more element than @used in an array that doubles; NULL with error. */
static void *grow(void *array, uint32_t used, uint32_t *room, size_t size,
		  struct nntflite_diag *diag)
{
	uint32_t want = *room ? *room * 2 : 64;
	void *bigger;

	if (used < *room)
		return array;
	if (*room > UINT32_MAX / 4) {
		diag_fail(diag, "the model is too large");
		return NULL;
	}
	bigger = reallocarray(array, want, size);
	if (!bigger) {
		diag_fail_memory(diag);
		return NULL;
	}
	*room = want;
	return bigger;
}

struct hal_graph *hal_add_graph(struct hal_builder *b, uint32_t *number,
				struct nntflite_diag *diag)
{
	struct hal_graph **graphs = grow(b->graphs, b->num_graphs, &b->max_graphs,
					 sizeof(*graphs), diag);
	struct hal_graph *g;

	if (!graphs)
		return NULL;
	b->graphs = graphs;
	if (charge(b, sizeof(*g), diag))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g) {
		diag_fail_memory(diag);
		return NULL;
	}
	g->b = b;
	*number = b->num_graphs;
	b->graphs[b->num_graphs++] = g;
	return g;
}

static int grow_operands(struct hal_graph *g, struct nntflite_diag *diag)
{
	struct nnhal_operand *operands;
	uint32_t room = g->max_operands;
	uint32_t *origins;

	if (charge(g->b, sizeof(*operands) + sizeof(*origins), diag))
		return -1;
	origins = grow(g->operand_origins, g->num_operands, &room, sizeof(*origins), diag);
	if (!origins)
		return -1;
	g->operand_origins = origins;
	operands = grow(g->operands, g->num_operands, &g->max_operands, sizeof(*operands), diag);
	if (!operands)
		return -1;
	g->operands = operands;
	return 0;
}

static int grow_operations(struct hal_graph *g, struct nntflite_diag *diag)
{
	struct nnhal_operation *operations;
	uint32_t room = g->max_operations;
	uint32_t *origins;

	if (charge(g->b, sizeof(*operations) + sizeof(*origins), diag))
		return -1;
	origins = grow(g->operation_origins, g->num_operations, &room, sizeof(*origins), diag);
	if (!origins)
		return -1;
	g->operation_origins = origins;
	operations = grow(g->operations, g->num_operations, &g->max_operations,
			  sizeof(*operations), diag);
	if (!operations)
		return -1;
	g->operations = operations;
	return 0;
}

int hal_add_operand(struct hal_graph *g, const struct nnhal_operand *operand,
		    uint32_t origin, struct nntflite_diag *diag)
{
	uint32_t *dims = NULL;

	if (operand->num_dimensions) {
		dims = hal_alloc(g->b, operand->num_dimensions, sizeof(*dims), diag);
		if (!dims)
			return -1;
		memcpy(dims, operand->dimensions, operand->num_dimensions * sizeof(*dims));
	}
	if (grow_operands(g, diag))
		return -1;
	g->operands[g->num_operands] = *operand;
	g->operands[g->num_operands].dimensions = dims;
	g->operand_origins[g->num_operands] = origin;
	return (int)g->num_operands++;
}

int hal_add_copied(struct hal_graph *g, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct nntflite_diag *diag)
{
	struct hal_builder *b = g->b;
	size_t at = (b->values_size + 3) & ~(size_t)3;

	if (charge(b, bytes + 3, diag))
		return -1;
	if (at + bytes > b->values_room) {
		size_t room = 2 * (at + bytes) + 256;
		uint8_t *bigger = realloc(b->values, room);

		if (!bigger)
			return diag_fail_memory(diag);
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
	return hal_add_operand(g, operand, origin, diag);
}

/* The one of the latest with this value, or -1. No type of tensors is one of scalars. */
static int find_recent(const struct hal_graph *g, uint32_t type, const void *data, size_t bytes)
{
	uint32_t i;

	for (i = 0; i < g->num_recent && i < HAL_RECENT; i++) {
		const struct nnhal_operand *o = &g->operands[g->recent[i]];

		if (o->type == type &&
		    (!bytes || !memcmp(g->b->values + o->location.offset, data, bytes)))
			return g->recent[i];
	}
	return -1;
}

static int remember(struct hal_graph *g, int index)
{
	if (index >= 0)
		g->recent[g->num_recent++ % HAL_RECENT] = index;
	return index;
}

static int add_scalar(struct hal_graph *g, uint32_t type, const void *data, size_t bytes,
		      struct nntflite_diag *diag)
{
	struct nnhal_operand operand = { .type = type };
	int index = find_recent(g, type, data, bytes);

	/* The same few strides, paddings and activations occur again and again. */
	return index >= 0 ? index : remember(g, hal_add_copied(g, &operand, data, bytes,
							       HAL_NO_ORIGIN, diag));
}

int hal_add_int32(struct hal_graph *g, int32_t value, struct nntflite_diag *diag)
{
	return add_scalar(g, NNHAL_OPERAND_INT32, &value, sizeof(value), diag);
}

int hal_add_float32(struct hal_graph *g, float value, struct nntflite_diag *diag)
{
	return add_scalar(g, NNHAL_OPERAND_FLOAT32, &value, sizeof(value), diag);
}

int hal_add_float16(struct hal_graph *g, float value, struct nntflite_diag *diag)
{
	uint16_t half = float_to_half(value);

	return add_scalar(g, NNHAL_OPERAND_FLOAT16, &half, sizeof(half), diag);
}

int hal_add_bool(struct hal_graph *g, bool value, struct nntflite_diag *diag)
{
	uint8_t byte = value;

	return add_scalar(g, NNHAL_OPERAND_BOOL, &byte, sizeof(byte), diag);
}

int hal_add_no_value(struct hal_graph *g, uint32_t type, struct nntflite_diag *diag)
{
	struct nnhal_operand operand = { .type = type, .lifetime = NNHAL_LIFETIME_NO_VALUE };
	int index = find_recent(g, type, NULL, 0);

	/* A recurrent layer lacks many. */
	if (index >= 0)
		return index;
	/* An operand without a value needs a scale, too, if its type has one. */
	if (type == NNHAL_OPERAND_TENSOR_QUANT16_SYMM ||
	    type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED)
		operand.scale = 1;
	return remember(g, hal_add_operand(g, &operand, HAL_NO_ORIGIN, diag));
}

int hal_add_subgraph(struct hal_graph *g, uint32_t number, struct nntflite_diag *diag)
{
	struct nnhal_operand operand = {
		.type = NNHAL_OPERAND_SUBGRAPH,
		.lifetime = NNHAL_LIFETIME_SUBGRAPH,
		/* The main subgraph is not among the referenced ones. */
		.location.offset = number - 1,
	};

	return hal_add_operand(g, &operand, HAL_NO_ORIGIN, diag);
}

int hal_add_pooled(struct hal_graph *g, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct nntflite_diag *diag)
{
	struct hal_builder *b = g->b;
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
				sizeof(*constant), diag);
		if (!constant)
			return -1;
		b->constants = constant;
		end = b->pool_size + bytes;
		if (end > b->max_pool)
			return diag_fail(diag, "the constants take more than %llu bytes",
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
	return hal_add_operand(g, operand, origin, diag);
}

int hal_add_operation(struct hal_graph *g, uint32_t type, const int *inputs,
		      uint32_t num_inputs, const int *outputs, uint32_t num_outputs,
		      uint32_t origin, struct nntflite_diag *diag)
{
	uint32_t *list = hal_alloc(g->b, (size_t)num_inputs + num_outputs, sizeof(*list), diag);
	uint32_t i;

	if (!list || grow_operations(g, diag))
		return -1;
	for (i = 0; i < num_inputs; i++)
		list[i] = (uint32_t)inputs[i];
	for (i = 0; i < num_outputs; i++)
		list[num_inputs + i] = (uint32_t)outputs[i];
	g->operations[g->num_operations] = (struct nnhal_operation){
		.type = type,
		.num_inputs = num_inputs,
		.num_outputs = num_outputs,
		.inputs = list,
		.outputs = list + num_inputs,
	};
	g->operation_origins[g->num_operations] = origin;
	if (type >> 16)
		g->b->uses_extension = true;
	return (int)g->num_operations++;
}

static int make_pool(struct hal_builder *b, struct nntflite_diag *diag)
{
	struct nnhal_diag why = { "" };
	enum nnhal_status status;
	uint8_t *base;
	uint32_t i;

	if (b->num_constants == 0)
		return 0;
	status = nnhal_memory_create(b->pool_size, &b->pool, &why);
	base = status == NNHAL_STATUS_NONE ? nnhal_memory_map(b->pool, &why) : NULL;
	if (!base) {
		if (diag->message[0] == '\0' && status != NNHAL_STATUS_INVALID_ARGUMENT)
			diag->errnum = status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT ?
				       EMFILE : ENOMEM;
		return diag_fail(diag, "cannot get %llu bytes of memory for the constants: %s",
				 (unsigned long long)b->pool_size, why.message);
	}
	for (i = 0; i < b->num_constants; i++)
		memcpy(base + b->constants[i].offset, b->constants[i].data,
		       b->constants[i].bytes);
	b->model.num_pools = 1;
	b->model.pools = &b->pool;
	return 0;
}

int hal_graph_finish(struct hal_graph *g, const uint32_t *inputs, uint32_t num_inputs,
		     const uint32_t *outputs, uint32_t num_outputs, struct nntflite_diag *diag)
{
	g->inputs = hal_alloc(g->b, (size_t)num_inputs + 1, sizeof(*inputs), diag);
	g->outputs = hal_alloc(g->b, (size_t)num_outputs + 1, sizeof(*outputs), diag);
	if (!g->inputs || !g->outputs)
		return -1;
	if (num_inputs)
		memcpy(g->inputs, inputs, num_inputs * sizeof(*inputs));
	if (num_outputs)
		memcpy(g->outputs, outputs, num_outputs * sizeof(*outputs));
	g->num_inputs = num_inputs;
	g->num_outputs = num_outputs;
	return 0;
}

static struct nnhal_subgraph finished(struct hal_graph *g)
{
	uint32_t i, j;

	for (i = 0; i < g->num_operations; i++)
		for (j = 0; j < g->operations[i].num_inputs; j++)
			g->operands[g->operations[i].inputs[j]].number_of_consumers++;
	return (struct nnhal_subgraph){
		.num_operands = g->num_operands,
		.num_operations = g->num_operations,
		.num_inputs = g->num_inputs,
		.num_outputs = g->num_outputs,
		.operands = g->operands,
		.operations = g->operations,
		.input_indexes = g->inputs,
		.output_indexes = g->outputs,
	};
}

/*
 * Note which subgraphs are referred to. The depth is bounded: the mapping refuses subgraphs that
 * are too deep one inside the other.
 */
static void mark_referred(struct hal_builder *b, uint32_t graph, uint32_t *number)
{
	const struct hal_graph *g = b->graphs[graph];
	uint32_t i;

	number[graph] = 1;
	for (i = 0; i < g->num_operands; i++)
		if (g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH &&
		    !number[g->operands[i].location.offset + 1])
			mark_referred(b, g->operands[i].location.offset + 1, number);
}

/* Leave out the subgraphs to which nothing refers: what did could not be mapped. */
static int drop_unused(struct hal_builder *b, struct nntflite_diag *diag)
{
	uint32_t *number = hal_alloc(b, b->num_graphs, sizeof(*number), diag);
	uint32_t i, k, count = 0;

	if (!number)
		return -1;
	mark_referred(b, 0, number);
	for (i = 0; i < b->num_graphs; i++) {
		if (!number[i]) {
			free_graph(b->graphs[i]);
			continue;
		}
		number[i] = count;
		b->graphs[count++] = b->graphs[i];
	}
	b->num_graphs = count;
	for (i = 0; i < count; i++) {
		struct hal_graph *g = b->graphs[i];

		for (k = 0; k < g->num_operands; k++)
			if (g->operands[k].lifetime == NNHAL_LIFETIME_SUBGRAPH)
				g->operands[k].location.offset =
					number[g->operands[k].location.offset + 1] - 1;
	}
	return 0;
}

int hal_builder_finish(struct hal_builder *b, struct nntflite_diag *diag)
{
	static const struct nnhal_extension_prefix extension = {
		.name = HAL_EXTENSION_NAME, .prefix = HAL_EXTENSION_PREFIX,
	};
	struct nnhal_subgraph *referenced = hal_alloc(b, b->num_graphs, sizeof(*referenced), diag);
	uint32_t i;

	if (!referenced || drop_unused(b, diag))
		return -1;
	b->model = (struct nnhal_model){
		.hal_version = NNHAL_HAL_1_3,
		.main = finished(b->graphs[0]),
		.num_referenced = b->num_graphs - 1,
		.referenced = referenced,
		.operand_values = b->values,
		.operand_values_size = b->values_size,
		.num_extensions = b->uses_extension,
		.extensions = &extension,
	};
	for (i = 1; i < b->num_graphs; i++)
		referenced[i - 1] = finished(b->graphs[i]);
	return make_pool(b, diag);
}
