// SPDX-License-Identifier: MIT
/*
 * Rules for the requests to a model: what remains of its inputs, outputs and constants.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "device/extensions.h"
#include "execution/validate_request.h"
#include "memory/memory_private.h"

static void arg_info_init(struct arg_info *info, const struct nnhal_model *model,
			  const struct nnhal_operand *operand,
			  const struct extensions *extensions)
{
	struct extension_type type;
	bool scalar;

	info->element_size = nnhal_element_size(operand->type);
	scalar = nnhal_operand_type_is_scalar(operand->type);
	if (nnhal_is_extension_operand_type(operand->type)) {
		bool known = !extensions_find_type(extensions, model, operand->type, &type);

		info->element_size = known ? type.byte_size : 0;
		scalar = known && !type.is_tensor;
	}
	info->rank = operand->num_dimensions;
	info->dims = operand->dimensions;
	info->rank_known = operand->num_dimensions || scalar;
}

static void infos_init(struct arg_info *infos, const struct nnhal_model *model,
		       const struct extensions *extensions, const uint32_t *indexes,
		       uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		arg_info_init(&infos[i], model, &model->main.operands[indexes[i]], extensions);
}

/* Places of the CONSTANT_REFERENCE operands of a subgraph, from the @n-th on. */
static uint32_t regions_of(struct const_region *regions, uint32_t n,
			   const struct nnhal_model *model, const struct nnhal_subgraph *sg)
{
	uint32_t i;

	for (i = 0; i < sg->num_operands; i++) {
		const struct nnhal_operand *op = &sg->operands[i];
		const struct nnhal_memory *memory;

		if (op->lifetime != NNHAL_LIFETIME_CONSTANT_REFERENCE)
			continue;
		memory = model->pools[op->location.pool_index];
		if (regions)
			regions[n] = (struct const_region){
				.dev = memory->dev, .ino = memory->ino,
				.begin = memory->offset + op->location.offset,
				.end = memory->offset + op->location.offset +
				       op->location.length,
			};
		n++;
	}
	return n;
}

/* Those of all subgraphs. */
static uint32_t regions_init(struct const_region *regions, const struct nnhal_model *model)
{
	uint32_t n = regions_of(regions, 0, model, &model->main);
	uint32_t i;

	for (i = 0; i < model->num_referenced; i++)
		n = regions_of(regions, n, model, &model->referenced[i]);
	return n;
}

enum nnhal_status request_rules_init(struct request_rules *rules,
				     const struct nnhal_model *model,
				     const struct extensions *extensions, void **block)
{
	const struct nnhal_subgraph *sg = &model->main;
	uint64_t num_args = (uint64_t)sg->num_inputs + sg->num_outputs;
	uint64_t num_dims = 0;
	struct const_region *regions;
	struct arg_info *infos;
	uint32_t *dims;
	uint64_t i;

	memset(rules, 0, sizeof(*rules));
	rules->num_inputs = sg->num_inputs;
	rules->num_outputs = sg->num_outputs;
	rules->num_constants = regions_init(NULL, model);
	rules->allow_unspecified_output = true;
	for (i = 0; i < num_args; i++)
		num_dims += sg->operands[i < sg->num_inputs
					 ? sg->input_indexes[i]
					 : sg->output_indexes[i - sg->num_inputs]].num_dimensions;
	*block = malloc(rules->num_constants * sizeof(*regions) + num_args * sizeof(*infos) +
			num_dims * sizeof(*dims) + 1);
	if (!*block)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	regions = *block;
	infos = (struct arg_info *)(regions + rules->num_constants);
	dims = (uint32_t *)(infos + num_args);
	regions_init(regions, model);
	infos_init(infos, model, extensions, sg->input_indexes, sg->num_inputs);
	infos_init(infos + sg->num_inputs, model, extensions, sg->output_indexes,
		   sg->num_outputs);
	/* Copy the dimensions: the model is freed before the rules. */
	for (i = 0; i < num_args; i++) {
		if (infos[i].rank)
			memcpy(dims, infos[i].dims, infos[i].rank * sizeof(*dims));
		infos[i].dims = dims;
		dims += infos[i].rank;
	}
	rules->constants = regions;
	rules->inputs = infos;
	rules->outputs = infos + sg->num_inputs;
	return NNHAL_STATUS_NONE;
}
