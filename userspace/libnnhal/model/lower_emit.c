// SPDX-License-Identifier: MIT
/*
 * Writing a program image: tensor records, commands, the index pool, constants.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "device/extensions.h"
#include "model/lowering.h"
#include "model/model_image.h"

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

/* Type, shape and parameters; types of extensions are mapped to codes of the device. */
static void emit_type(const struct lowering *l, const struct nnhal_operand *op,
		      const struct place *p, struct nnpu_tensor_desc *t, uint8_t *data)
{
	struct extension_type type;
	uint16_t code = (uint16_t)op->type;
	bool scalar = nnhal_operand_type_is_scalar(op->type);
	uint64_t size = lower_params_size(l, op);
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
	if (!lower_is_constant(op))
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
	uint32_t k, num_inputs = lower_num_inputs(o);
	struct lower_graph *targets[2];
	struct nnpu_command *c = emit_command(e, opcode_of(e->l, o), num_inputs,
					      o->num_outputs);

	if (is_control(o)) {
		lower_graph_targets(e->l, g, o, targets);
		for (k = 0; k < 2; k++)
			c->target[k] = htole32(targets[k]->block);
	}
	for (k = 0; k < num_inputs; k++)
		emit_index(e, g, lower_input(o, k));
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
		emit_operation(e, g, lower_main_operation(l, c));
	for (i = 1; i < l->num_graphs; i++)
		if (l->graphs[i].reached)
			emit_block(e, &l->graphs[i]);
}

enum nnhal_status lower_emit(struct lowering *l)
{
	struct image *image = l->image;
	struct nnpu_program_header *header;
	uint64_t tensors_off = sizeof(*header);
	uint64_t commands_off = tensors_off +
				(uint64_t)image->num_tensors * sizeof(struct nnpu_tensor_desc);
	uint64_t indexes_off = commands_off +
			       (uint64_t)image->num_commands * sizeof(struct nnpu_command);
	uint64_t data_off = round_up_u64(indexes_off + l->num_indexes * sizeof(__le32),
					 LOWER_DATA_ALIGN);
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
	header->tensor_stride = htole16(sizeof(struct nnpu_tensor_desc));
	header->command_stride = htole16(sizeof(struct nnpu_command));
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
