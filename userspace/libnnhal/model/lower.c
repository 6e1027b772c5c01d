// SPDX-License-Identifier: MIT
/*
 * The assembler: HAL model to program image.
 *
 * Operands become tensor records and operations become commands, one to one and
 * in the same order: those of the main subgraph, then a block for each subgraph that
 * IF and WHILE refer to. Small CONSTANT_COPY values travel inside the image, large
 * ones in a staging buffer that is bound to a slot while the program loads;
 * CONSTANT_REFERENCE values are read by the device from the pool itself. Nothing
 * of the graph is computed here.
 *
 * The work is done in three steps: what can be expressed (lower_graphs.c), which
 * operands are needed and where their constants go (plan), and writing the records (emit).
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "device/extensions.h"
#include "memory/memory_private.h"
#include "model/lower.h"
#include "model/lowering.h"
#include "model/model_image.h"
#include "transport/transport.h"

/* CONSTANT_COPY values up to this many bytes go into the image. */
#define INLINE_MAX		4096
/* Alignment of constants in the image and in the staging buffer. */
#define DATA_ALIGN		64

static bool is_reference(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static bool is_constant(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_COPY || is_reference(op);
}

static const struct nnhal_memory *pool_of(const struct lowering *l,
					  const struct nnhal_operand *op)
{
	return l->model->pools[op->location.pool_index];
}

/* Bytes of parameters of an operand's type, an extension's that the device has. */
static uint64_t params_size(const struct lowering *l, const struct nnhal_operand *op)
{
	struct extension_type type;

	return op->extra_params.kind == NNHAL_EXTRA_PARAMS_EXTENSION &&
	       !extensions_find_type(l->extensions, l->model, op->type, &type) ?
	       op->extra_params.extension_size : 0;
}

/* Reserve room for the constants that are not bound in place. */
static void place_constants(struct lowering *l, const struct lower_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->sg->num_operands; i++) {
		const struct nnhal_operand *op = &g->sg->operands[i];
		struct place *p = &g->places[i];

		if (op->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
			p->extra = l->data_size;
			l->data_size += round_up_u64((uint64_t)op->extra_params.channel_quant.num_scales *
						     sizeof(float), DATA_ALIGN);
		} else if (params_size(l, op)) {
			p->extra = l->data_size;
			l->data_size += round_up_u64(params_size(l, op), DATA_ALIGN);
		}
		if (!is_constant(op) || (is_reference(op) && pool_of(l, op)->direct))
			continue;
		p->staged = is_reference(op) || op->location.length > INLINE_MAX;
		if (p->staged) {
			p->offset = l->image->staging_size;
			l->image->staging_size += round_up_u64(op->location.length, DATA_ALIGN);
		} else {
			p->offset = l->data_size;
			l->data_size += round_up_u64(op->location.length, DATA_ALIGN);
		}
	}
}

/* Fill the staging buffer while the caller's memory is still there. */
static enum nnhal_status fill_staging(struct lowering *l, const struct lower_graph *g)
{
	uint32_t i;
	int err;

	for (i = 0; i < g->sg->num_operands; i++) {
		const struct nnhal_operand *op = &g->sg->operands[i];
		struct place *p = &g->places[i];
		uint8_t *to = l->image->staging + p->offset;

		if (!p->staged || !op->location.length)
			continue;
		if (!is_reference(op)) {
			memcpy(to, (const uint8_t *)l->model->operand_values +
			       op->location.offset, op->location.length);
			continue;
		}
		err = memory_read(pool_of(l, op), op->location.offset, to, op->location.length);
		if (err && !l->check) {
			diag_set(l->diag, "operand %u: pool %u cannot be read: %s", i,
				 op->location.pool_index, errno_text(-err));
			return NNHAL_STATUS_GENERAL_FAILURE;
		}
		p->unreadable = err;
	}
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status stage_constants(struct lowering *l)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct image *image = l->image;
	uint32_t i;

	for (i = 0; i < l->num_graphs; i++)
		place_constants(l, &l->graphs[i]);
	if (!image->staging_size)
		return NNHAL_STATUS_NONE;
	image->staging = malloc(image->staging_size);
	if (!image->staging) {
		diag_set(l->diag, "no memory for %llu bytes of constants",
			 (unsigned long long)image->staging_size);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (i = 0; !status && i < l->num_graphs; i++)
		status = fill_staging(l, &l->graphs[i]);
	return status;
}

static void need_operand(struct lowering *l, struct lower_graph *g, uint32_t index, uint8_t kind)
{
	struct place *p = &g->places[index];

	if (p->tensor != NO_INDEX)
		return;
	p->tensor = l->image->num_tensors;
	p->kind = kind;
	l->image->tensor_origins[l->image->num_tensors++] = (struct tensor_origin){
		.subgraph = g->number, .operand = index,
	};
}

static uint8_t kind_of(const struct lower_graph *g, uint32_t index)
{
	const struct nnhal_operand *op = &g->sg->operands[index];

	switch (op->lifetime) {
	case NNHAL_LIFETIME_CONSTANT_COPY:
		return g->places[index].staged ? NNPU_TENSOR_SLOT : NNPU_TENSOR_INLINE;
	case NNHAL_LIFETIME_CONSTANT_REFERENCE:
		return NNPU_TENSOR_SLOT;
	case NNHAL_LIFETIME_NO_VALUE:
		return NNPU_TENSOR_NO_VALUE;
	default:
		/* The numbers of the other lifetimes are those of the tensor kinds. */
		return g->number == MAIN_SUBGRAPH ? (uint8_t)op->lifetime : NNPU_TENSOR_TEMPORARY;
	}
}

static bool is_written(uint8_t kind)
{
	return kind == NNPU_TENSOR_TEMPORARY || kind == NNPU_TENSOR_OUTPUT;
}

/* Inputs of an operation that are operands of its command: the first @n, or from there. */
static uint32_t num_command_inputs(const struct nnhal_operation *o)
{
	return is_control(o) ? o->num_inputs - 2 : o->num_inputs;
}

static uint32_t command_input(const struct nnhal_operation *o, uint32_t k)
{
	return o->inputs[operand_of_operation(o, k)];
}

/*
 * Tensors of an operation of the main subgraph. What it reads but no command has written
 * was written by a skipped operation; that becomes an input of the checked program.
 */
static void plan_main_operation(struct lowering *l, const struct nnhal_operation *o)
{
	struct lower_graph *g = &l->graphs[0];
	uint32_t k;

	for (k = 0; k < num_command_inputs(o); k++) {
		uint32_t index = command_input(o, k);
		uint8_t kind = kind_of(g, index);

		if (g->places[index].tensor != NO_INDEX)
			continue;
		if (is_written(kind)) {
			kind = NNPU_TENSOR_INPUT;
			l->num_inputs++;
			l->num_indexes++;
		}
		need_operand(l, g, index, kind);
	}
	for (k = 0; k < o->num_outputs; k++)
		need_operand(l, g, o->outputs[k], kind_of(g, o->outputs[k]));
}

static void plan_block(struct lowering *l, struct lower_graph *g)
{
	uint32_t i, k;

	for (i = 0; i < g->sg->num_inputs; i++)
		need_operand(l, g, g->sg->input_indexes[i], NNPU_TENSOR_TEMPORARY);
	l->num_indexes += g->sg->num_inputs + (uint64_t)g->sg->num_outputs;
	for (i = 0; i < g->sg->num_operations; i++) {
		const struct nnhal_operation *o = &g->sg->operations[i];

		l->num_indexes += num_command_inputs(o) + (uint64_t)o->num_outputs;
		for (k = 0; k < num_command_inputs(o); k++)
			need_operand(l, g, command_input(o, k), kind_of(g, command_input(o, k)));
		for (k = 0; k < o->num_outputs; k++)
			need_operand(l, g, o->outputs[k], NNPU_TENSOR_TEMPORARY);
	}
}

/* The operation of the main subgraph that command @c is. */
static const struct nnhal_operation *main_operation(const struct lowering *l, uint32_t c)
{
	return &l->model->main.operations[l->image->command_origins[c].operation];
}

/* A checked program has an output, whatever was skipped. */
static void force_output(struct lowering *l)
{
	const struct nnhal_operation *o = main_operation(l, l->num_main_commands - 1);

	if (!o->num_outputs)
		return;
	l->forced_output = o->outputs[0];
	l->graphs[0].places[l->forced_output].kind = NNPU_TENSOR_OUTPUT;
	l->num_outputs = 1;
}

/* Number the tensors: inputs, then what the commands read and write in order. */
static void plan_tensors(struct lowering *l)
{
	struct lower_graph *g = &l->graphs[0];
	uint32_t c, i;

	for (i = 0; i < g->sg->num_inputs; i++) {
		/* No command that is checked reads one that cannot be expressed. */
		if (lower_operand_obstacle(l, g, g->sg->input_indexes[i]))
			continue;
		need_operand(l, g, g->sg->input_indexes[i], NNPU_TENSOR_INPUT);
		l->num_inputs++;
	}
	l->num_indexes = l->num_inputs;
	for (c = 0; c < l->num_main_commands; c++) {
		const struct nnhal_operation *o = main_operation(l, c);

		l->num_indexes += num_command_inputs(o) + (uint64_t)o->num_outputs;
		plan_main_operation(l, o);
	}
	for (i = 0; i < g->sg->num_outputs; i++)
		if (g->places[g->sg->output_indexes[i]].kind == NNPU_TENSOR_OUTPUT &&
		    g->places[g->sg->output_indexes[i]].tensor != NO_INDEX)
			l->num_outputs++;
	if (!l->num_outputs)
		force_output(l);
	l->num_indexes += l->num_outputs;
	for (i = 1; i < l->num_graphs; i++)
		if (l->graphs[i].reached)
			plan_block(l, &l->graphs[i]);
}

static struct lower_graph *graph_of(const struct lowering *l, uint32_t subgraph)
{
	return &l->graphs[subgraph == MAIN_SUBGRAPH ? 0 : l->graph_of[subgraph]];
}

static uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Type and shape; what is known of an extension's type is known to the device. */
static void emit_type(const struct lowering *l, const struct nnhal_operand *op,
		      const struct place *p, struct nnpu_tensor_desc *t, uint8_t *data)
{
	struct extension_type type;
	uint16_t code = (uint16_t)op->type;
	bool scalar = nnhal_operand_type_is_scalar(op->type);
	uint64_t size = params_size(l, op);
	uint32_t d;

	if (nnhal_is_extension_operand_type(op->type) &&
	    !extensions_find_type(l->extensions, l->model, op->type, &type)) {
		code = type.code;
		scalar = !type.is_tensor;
	}
	t->type = htole16(code);
	t->rank = (uint8_t)op->num_dimensions;
	if (!op->num_dimensions && !scalar)
		t->flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
	for (d = 0; d < op->num_dimensions; d++)
		t->dims[d] = htole32(op->dimensions[d]);
	if (!size)
		return;
	t->params_off = htole32((uint32_t)p->extra);
	t->params_len = htole32((uint32_t)size);
	memcpy(data + p->extra, op->extra_params.extension, size);
}

static void emit_tensor(struct lowering *l, const struct tensor_origin *origin,
			struct nnpu_tensor_desc *t, uint8_t *data)
{
	const struct lower_graph *g = graph_of(l, origin->subgraph);
	const struct nnhal_operand *op = &g->sg->operands[origin->operand];
	const struct nnhal_channel_quant *cq = &op->extra_params.channel_quant;
	const struct place *p = &g->places[origin->operand];
	uint32_t s, bits;

	emit_type(l, op, p, t, data);
	t->kind = p->kind;
	t->scale = htole32(float_bits(op->scale));
	t->zero_point = htole32((uint32_t)op->zero_point);
	if (op->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
		t->channel_dim = htole32(cq->channel_dim);
		t->num_channel_scales = htole32(cq->num_scales);
		t->channel_scales_off = htole32((uint32_t)p->extra);
		for (s = 0; s < cq->num_scales; s++) {
			bits = htole32(float_bits(cq->scales[s]));
			memcpy(data + p->extra + s * sizeof(bits), &bits, sizeof(bits));
		}
	}
	if (!is_constant(op))
		return;
	t->data_len = htole64(op->location.length);
	if (p->kind == NNPU_TENSOR_INLINE) {
		t->data_off = htole64(p->offset);
		if (op->location.length)
			memcpy(data + p->offset, (const uint8_t *)l->model->operand_values +
			       op->location.offset, op->location.length);
	} else if (p->staged) {
		t->data_off = htole64(p->offset);
	} else {
		t->data_off = htole64(op->location.offset);
		l->image->refs[l->image->num_refs++] = (struct image_ref){
			.tensor = p->tensor, .pool = op->location.pool_index,
		};
	}
}

/* Commands and the index pool, written in the order of the commands. */
struct emit {
	struct lowering *l;
	struct nnpu_command *commands;
	__le32 *indexes;
	uint32_t num_commands;
	uint32_t num_indexes;
};

static void emit_index(struct emit *e, const struct lower_graph *g, uint32_t operand)
{
	e->indexes[e->num_indexes++] = htole32(g->places[operand].tensor);
}

static struct nnpu_command *emit_command(struct emit *e, uint32_t opcode, uint32_t num_inputs,
					 uint32_t num_outputs)
{
	struct nnpu_command *c = &e->commands[e->num_commands++];

	c->opcode = htole32(opcode);
	c->num_inputs = htole16((uint16_t)num_inputs);
	c->num_outputs = htole16((uint16_t)num_outputs);
	c->operands_first = htole32(e->num_indexes);
	return c;
}

static uint32_t opcode_of(const struct lowering *l, const struct nnhal_operation *o)
{
	uint32_t opcode = o->type;

	switch (o->type) {
	case NNHAL_OPERATION_IF:
		return NNPU_CMD_BRANCH;
	case NNHAL_OPERATION_WHILE:
		return NNPU_CMD_LOOP;
	default:
		break;
	}
	if (nnhal_is_extension_operation_type(o->type))
		extensions_find_operation(l->extensions, l->model, o->type, &opcode);
	return opcode;
}

static void emit_operation(struct emit *e, const struct lower_graph *g,
			   const struct nnhal_operation *o)
{
	uint32_t k, num_inputs = num_command_inputs(o);
	struct lower_graph *targets[2];
	struct nnpu_command *c = emit_command(e, opcode_of(e->l, o), num_inputs,
					      o->num_outputs);

	if (is_control(o)) {
		lower_graph_targets(e->l, g, o, targets);
		for (k = 0; k < 2; k++)
			c->target[k] = htole32(targets[k]->block);
	}
	for (k = 0; k < num_inputs; k++)
		emit_index(e, g, command_input(o, k));
	for (k = 0; k < o->num_outputs; k++)
		emit_index(e, g, o->outputs[k]);
}

static void emit_block(struct emit *e, const struct lower_graph *g)
{
	uint32_t k;

	emit_command(e, NNPU_CMD_BLOCK, g->sg->num_inputs, g->sg->num_outputs);
	for (k = 0; k < g->sg->num_inputs; k++)
		emit_index(e, g, g->sg->input_indexes[k]);
	for (k = 0; k < g->sg->num_outputs; k++)
		emit_index(e, g, g->sg->output_indexes[k]);
	for (k = 0; k < g->sg->num_operations; k++)
		emit_operation(e, g, &g->sg->operations[k]);
}

static void emit_commands(struct emit *e, struct nnpu_program_header *header)
{
	struct lowering *l = e->l;
	const struct lower_graph *g = &l->graphs[0];
	const struct image *image = l->image;
	uint32_t c, i;

	header->inputs_first = htole32(e->num_indexes);
	for (i = 0; i < image->num_tensors; i++) {
		const struct tensor_origin *origin = &image->tensor_origins[i];

		if (origin->subgraph == MAIN_SUBGRAPH &&
		    g->places[origin->operand].kind == NNPU_TENSOR_INPUT)
			e->indexes[e->num_indexes++] = htole32(i);
	}
	header->outputs_first = htole32(e->num_indexes);
	for (i = 0; i < g->sg->num_outputs; i++) {
		const struct place *p = &g->places[g->sg->output_indexes[i]];

		if (p->tensor != NO_INDEX && p->kind == NNPU_TENSOR_OUTPUT)
			emit_index(e, g, g->sg->output_indexes[i]);
	}
	if (l->forced_output != NO_INDEX)
		emit_index(e, g, l->forced_output);
	for (c = 0; c < l->num_main_commands; c++)
		emit_operation(e, g, main_operation(l, c));
	for (i = 1; i < l->num_graphs; i++)
		if (l->graphs[i].reached)
			emit_block(e, &l->graphs[i]);
}

static enum nnhal_status emit_image(struct lowering *l)
{
	struct image *image = l->image;
	struct nnpu_program_header *header;
	uint64_t tensors_off = sizeof(*header);
	uint64_t commands_off = tensors_off +
				(uint64_t)image->num_tensors * sizeof(struct nnpu_tensor_desc);
	uint64_t indexes_off = commands_off +
			       (uint64_t)image->num_commands * sizeof(struct nnpu_command);
	uint64_t data_off = round_up_u64(indexes_off + l->num_indexes * sizeof(__le32),
					 DATA_ALIGN);
	uint64_t size = data_off + l->data_size;
	struct emit emit = { .l = l };
	uint32_t i;

	if (size > l->limits->max_program_size || l->num_inputs > UINT16_MAX) {
		diag_set(l->diag, "program of %llu bytes, the device takes at most %u",
			 (unsigned long long)size, l->limits->max_program_size);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	image->data = calloc(1, size);
	image->refs = calloc((size_t)image->num_tensors + 1, sizeof(*image->refs));
	if (!image->data || !image->refs) {
		diag_set(l->diag, "no memory for a program of %llu bytes",
			 (unsigned long long)size);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	image->size = (uint32_t)size;
	header = (struct nnpu_program_header *)image->data;
	header->magic = htole32(NNPU_PROGRAM_MAGIC);
	header->version = htole16(NNPU_PROGRAM_VERSION);
	header->header_size = htole16(sizeof(*header));
	header->size = htole32((uint32_t)size);
	if (l->model->relax_computation_float32_to_float16)
		header->flags = htole32(NNPU_PROGRAM_RELAXED);
	header->tensors_off = htole32((uint32_t)tensors_off);
	header->num_tensors = htole32(image->num_tensors);
	header->commands_off = htole32((uint32_t)commands_off);
	header->num_commands = htole32(image->num_commands);
	header->indexes_off = htole32((uint32_t)indexes_off);
	header->num_indexes = htole32((uint32_t)l->num_indexes);
	header->data_off = htole32((uint32_t)data_off);
	header->data_size = htole32((uint32_t)l->data_size);
	header->num_inputs = htole16((uint16_t)l->num_inputs);
	header->num_outputs = htole16((uint16_t)l->num_outputs);
	for (i = 0; i < image->num_tensors; i++)
		emit_tensor(l, &image->tensor_origins[i], &image_tensors(image)[i],
			    image->data + data_off);
	emit.commands = (struct nnpu_command *)(image->data + commands_off);
	emit.indexes = (__le32 *)(image->data + indexes_off);
	emit_commands(&emit, header);
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status take_pools(struct lowering *l)
{
	struct image *image = l->image;
	uint32_t i;

	image->pools = calloc((size_t)l->model->num_pools + 1, sizeof(*image->pools));
	if (!image->pools)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (i = 0; i < l->model->num_pools; i++)
		image->pools[i] = nnhal_memory_ref(l->model->pools[i]);
	image->num_pools = l->model->num_pools;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status alloc_origins(struct lowering *l)
{
	struct image *image = l->image;
	size_t num_operands = 0, num_commands = 0;
	uint32_t i;

	for (i = 0; i < l->num_graphs; i++) {
		num_operands += l->graphs[i].sg->num_operands;
		num_commands += l->graphs[i].sg->num_operations + (size_t)1;
	}
	image->tensor_origins = calloc(num_operands, sizeof(*image->tensor_origins));
	image->command_origins = calloc(num_commands, sizeof(*image->command_origins));
	image->skips = calloc(l->model->main.num_operations, sizeof(*image->skips));
	image->num_operations = l->model->main.num_operations;
	if (!image->tensor_origins || !image->command_origins || !image->skips)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status lower(struct lowering *l)
{
	struct image *image = l->image;
	enum nnhal_status status;
	uint32_t i;

	if (lower_graphs_init(l) || alloc_origins(l) || take_pools(l)) {
		diag_set(l->diag, "no memory to translate the model");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = stage_constants(l);
	if (!status)
		status = lower_find_skips(l);
	if (status || !image->num_commands)
		return status;
	plan_tensors(l);
	status = emit_image(l);
	if (status == NNHAL_STATUS_INVALID_ARGUMENT && l->check) {
		/* Valid, but too large for the device: nothing of it is supported. */
		for (i = 0; i < image->num_operations; i++)
			image->skips[i] = (struct image_skip){
				"model is too large for the device", UINT32_MAX, MAIN_SUBGRAPH,
				UINT32_MAX };
		image->num_commands = 0;
		diag_clear(l->diag);
		return NNHAL_STATUS_NONE;
	}
	return status;
}

enum nnhal_status lower_model(const struct nnhal_model *model,
			      const struct transport_limits *limits,
			      const struct extensions *extensions, bool check,
			      struct image *image, struct nnhal_diag *diag)
{
	struct lowering l = {
		.model = model, .limits = limits, .extensions = extensions, .check = check,
		.image = image, .diag = diag, .forced_output = NO_INDEX,
	};
	enum nnhal_status status;

	memset(image, 0, sizeof(*image));
	status = lower(&l);
	lower_graphs_fini(&l);
	if (status)
		image_fini(image);
	return status;
}

void image_fini(struct image *image)
{
	uint32_t i;

	for (i = 0; i < image->num_pools; i++)
		nnhal_memory_unref(image->pools[i]);
	free(image->pools);
	free(image->refs);
	free(image->staging);
	free(image->skips);
	free(image->command_origins);
	free(image->tensor_origins);
	free(image->data);
	memset(image, 0, sizeof(*image));
}
