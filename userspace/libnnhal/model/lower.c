// SPDX-License-Identifier: MIT
/*
 * The assembler: HAL model to program image.
 *
 * Operands become tensor records and operations become commands, one to one and in the same
 * order. The commands of the main subgraph come first, then a block for each subgraph that IF
 * and WHILE refer to. Small CONSTANT_COPY values go into the image. Large ones go into a
 * staging buffer, which is bound to a slot while the program loads. The device reads
 * CONSTANT_REFERENCE values from the pool. Nothing of the graph is computed here.
 *
 * There are three steps. lower_graphs.c decides which operations can become commands. This
 * file decides which operands are needed and where their constants go. lower_emit.c writes
 * the records.
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
static const struct nnhal_memory *pool_of(const struct lowering *l,
					  const struct nnhal_operand *op)
{
	return l->model->pools[op->location.pool_index];
}

/* Reserve room for the constants that are not bound in place. */
static void place_constants(struct lowering *l, const struct lower_graph *g)
{
	uint32_t i;

	for (i = 0; i < g->sg->num_operands; i++) {
		const struct nnhal_operand *op = &g->sg->operands[i];
		struct place *p = &g->places[i];

		if (op->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
			uint64_t num_scales = op->extra_params.channel_quant.num_scales;

			p->extra = l->data_size;
			l->data_size += round_up_u64(num_scales * sizeof(float), LOWER_DATA_ALIGN);
		} else if (lower_params_size(l, op)) {
			p->extra = l->data_size;
			l->data_size += round_up_u64(lower_params_size(l, op), LOWER_DATA_ALIGN);
		}
		if (!lower_is_constant(op) || (lower_is_reference(op) && pool_of(l, op)->direct))
			continue;
		p->staged = lower_is_reference(op) || op->location.length > INLINE_MAX;
		if (p->staged) {
			p->offset = l->image->staging_size;
			l->image->staging_size += round_up_u64(op->location.length,
							       LOWER_DATA_ALIGN);
		} else {
			p->offset = l->data_size;
			l->data_size += round_up_u64(op->location.length, LOWER_DATA_ALIGN);
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
		if (!lower_is_reference(op)) {
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

/*
 * Tensors of an operation of the main subgraph. If it reads an operand that no command has
 * written, a skipped operation writes that operand: it becomes an input of the checked
 * program.
 */
static void plan_main_operation(struct lowering *l, const struct nnhal_operation *o)
{
	struct lower_graph *g = &l->graphs[0];
	uint32_t k;

	for (k = 0; k < lower_num_inputs(o); k++) {
		uint32_t index = lower_input(o, k);
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

		l->num_indexes += lower_num_inputs(o) + (uint64_t)o->num_outputs;
		for (k = 0; k < lower_num_inputs(o); k++)
			need_operand(l, g, lower_input(o, k), kind_of(g, lower_input(o, k)));
		for (k = 0; k < o->num_outputs; k++)
			need_operand(l, g, o->outputs[k], NNPU_TENSOR_TEMPORARY);
	}
}

/* A checked program needs an output, even if all operations that write one were skipped. */
static void force_output(struct lowering *l)
{
	const struct nnhal_operation *o = lower_main_operation(l, l->num_main_commands - 1);

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
		/* No command reads an operand that cannot be a tensor record. */
		if (lower_operand_obstacle(l, g, g->sg->input_indexes[i]))
			continue;
		need_operand(l, g, g->sg->input_indexes[i], NNPU_TENSOR_INPUT);
		l->num_inputs++;
	}
	l->num_indexes = l->num_inputs;
	for (c = 0; c < l->num_main_commands; c++) {
		const struct nnhal_operation *o = lower_main_operation(l, c);

		l->num_indexes += lower_num_inputs(o) + (uint64_t)o->num_outputs;
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
	status = lower_emit(l);
	if (status == NNHAL_STATUS_INVALID_ARGUMENT && l->check) {
		/* The model is valid but too large for the device: no operation is supported. */
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
