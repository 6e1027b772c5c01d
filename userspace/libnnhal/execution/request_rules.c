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

/* The extra parameters of an operand; their data goes to @scales and @bytes, which move on. */
static void arg_kind_init(struct arg_kind *kind, const struct nnhal_model *model,
			  const struct nnhal_operand *operand,
			  const struct extensions *extensions, float **scales, uint8_t **bytes)
{
	const struct nnhal_extra_params *extra = &operand->extra_params;
	struct extension_type type;

	*kind = (struct arg_kind){
		.type = operand->type, .scale = operand->scale,
		.zero_point = operand->zero_point, .extra = *extra,
	};
	/* The model chooses the prefix of an extension, the device its code. */
	if (nnhal_is_extension_operand_type(operand->type) &&
	    !extensions_find_type(extensions, model, operand->type, &type))
		kind->type = NNHAL_BASE_TYPE_MAX + 1 + type.code;
	if (extra->kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT) {
		memcpy(*scales, extra->channel_quant.scales,
		       extra->channel_quant.num_scales * sizeof(**scales));
		kind->extra.channel_quant.scales = *scales;
		*scales += extra->channel_quant.num_scales;
	} else if (extra->kind == NNHAL_EXTRA_PARAMS_EXTENSION && extra->extension_size) {
		memcpy(*bytes, extra->extension, extra->extension_size);
		kind->extra.extension = *bytes;
		*bytes += extra->extension_size;
	}
}

/* Argument @i of a model, inputs before outputs. */
static const struct nnhal_operand *operand_of(const struct nnhal_subgraph *sg, uint64_t i)
{
	return &sg->operands[i < sg->num_inputs ? sg->input_indexes[i]
						: sg->output_indexes[i - sg->num_inputs]];
}

/*
 * Places of the CONSTANT_REFERENCE operands of a subgraph, from the @n-th on. Those in memory of the
 * process have been read: the process may give up the memory and get the address once more.
 */
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
		if (memory_is_pointer(memory))
			continue;
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
	uint64_t num_dims = 0, num_scales = 0, num_bytes = 0, i;
	const struct nnhal_operand *operand;
	struct const_region *regions;
	struct arg_info *infos;
	struct arg_kind *kinds;
	uint32_t *dims;
	uint8_t *bytes;
	float *scales;

	memset(rules, 0, sizeof(*rules));
	rules->num_inputs = sg->num_inputs;
	rules->num_outputs = sg->num_outputs;
	rules->num_constants = regions_init(NULL, model);
	rules->allow_unspecified_output = true;
	for (i = 0; i < num_args; i++) {
		operand = operand_of(sg, i);
		num_dims += operand->num_dimensions;
		if (operand->extra_params.kind == NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
			num_scales += operand->extra_params.channel_quant.num_scales;
		else if (operand->extra_params.kind == NNHAL_EXTRA_PARAMS_EXTENSION)
			num_bytes += operand->extra_params.extension_size;
	}
	*block = malloc(rules->num_constants * sizeof(*regions) +
			num_args * (sizeof(*infos) + sizeof(*kinds)) +
			num_dims * sizeof(*dims) + num_scales * sizeof(*scales) + num_bytes + 1);
	if (!*block)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	regions = *block;
	infos = (struct arg_info *)(regions + rules->num_constants);
	kinds = (struct arg_kind *)(infos + num_args);
	dims = (uint32_t *)(kinds + num_args);
	scales = (float *)(dims + num_dims);
	bytes = (uint8_t *)(scales + num_scales);
	regions_init(regions, model);
	/* Copy dimensions and extra parameters: the model is freed before the rules. */
	for (i = 0; i < num_args; i++) {
		operand = operand_of(sg, i);
		arg_info_init(&infos[i], model, operand, extensions);
		arg_kind_init(&kinds[i], model, operand, extensions, &scales, &bytes);
		if (infos[i].rank)
			memcpy(dims, infos[i].dims, infos[i].rank * sizeof(*dims));
		infos[i].dims = dims;
		dims += infos[i].rank;
	}
	rules->constants = regions;
	rules->inputs = infos;
	rules->outputs = infos + sg->num_inputs;
	rules->kinds = kinds;
	return NNHAL_STATUS_NONE;
}
