// SPDX-License-Identifier: MIT
/*
 * Models: the public functions.
 */
#include <stdlib.h>
#include <string.h>

#include <sized.h>

#include "../file/tflite_file.h"
#include "find_name.h"

struct nntflite_model {
	struct map_model map;
};

int map_model_choose(struct map_model *map, const struct nntflite_model_options *options,
		     struct nntflite_diag *diag)
{
	static const struct nntflite_model_options defaults = NNTFLITE_MODEL_OPTIONS_INIT;
	struct nntflite_model_options read;
	char names[200];
	uint32_t i;

	if (!options_read(&read, options, &defaults, shapes))
		return diag_fail(diag, "options of the model: of another version");
	options = &read;
	if (options->num_shapes && !options->shapes)
		return diag_fail(diag, "shapes are missing");
	map->shapes = options->shapes;
	map->num_shapes = options->num_shapes;
	if (!options->signature)
		return 0;
	for (i = 0; i < map->tflite->num_signatures; i++) {
		if (!text_is(map->tflite->signatures[i].key, options->signature))
			continue;
		map->signature = &map->tflite->signatures[i];
		map->main = map->signature->subgraph;
		return 0;
	}
	return diag_fail(diag, "the file has no signature '%s', it has %s", options->signature,
			 list_signatures(map->tflite, names, sizeof(names)));
}

enum nnhal_status nntflite_model_create(const struct nntflite_file *file,
					const struct nntflite_model_options *options,
					struct nntflite_model **out, struct nntflite_diag *diag)
{
	struct nntflite_model *model;
	struct nntflite_diag ignored;

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!file || !out) {
		diag_fail(diag, "no file, or no place for the model");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	model = calloc(1, sizeof(*model));
	if (!model) {
		diag_fail_memory(diag);
		return diag_status(diag);
	}
	model->map.tflite = &file->tflite;
	if (map_model_choose(&model->map, options, diag) || map_model(&model->map, diag)) {
		nntflite_model_destroy(model);
		return diag_status(diag);
	}
	*out = model;
	return NNHAL_STATUS_NONE;
}

void nntflite_model_destroy(struct nntflite_model *model)
{
	if (!model)
		return;
	map_model_free(&model->map);
	free(model);
}

const struct nnhal_model *nntflite_model_get_hal(const struct nntflite_model *model)
{
	return model ? &model->map.builder.model : NULL;
}

const struct nnhal_model *nntflite_model_get_initializer(const struct nntflite_model *model)
{
	return model && model->map.initializer ? &model->map.initializer->builder.model : NULL;
}

uint32_t nntflite_model_num_inputs(const struct nntflite_model *model)
{
	return model ? model->map.num_inputs : 0;
}

uint32_t nntflite_model_num_outputs(const struct nntflite_model *model)
{
	return model ? model->map.num_outputs : 0;
}

const struct nntflite_io *nntflite_model_input(const struct nntflite_model *model,
					       uint32_t index)
{
	return index < model->map.num_inputs ? &model->map.inputs[index] : NULL;
}

const struct nntflite_io *nntflite_model_output(const struct nntflite_model *model,
						uint32_t index)
{
	return index < model->map.num_outputs ? &model->map.outputs[index] : NULL;
}

/* By the name in struct nntflite_io, which is printable, or as it is in the file. */
static uint32_t find_io(const struct nntflite_model *model, bool input, const char *name)
{
	const struct nntflite_io *list;
	uint32_t i, count;

	if (!model || !name)
		return NNTFLITE_NONE;
	list = input ? model->map.inputs : model->map.outputs;
	count = input ? model->map.num_inputs : model->map.num_outputs;
	for (i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return i;
	return find_name(&model->map, input, name);
}

uint32_t nntflite_model_find_input(const struct nntflite_model *model, const char *name)
{
	return find_io(model, true, name);
}

uint32_t nntflite_model_input_open(const struct nntflite_model *model, uint32_t index)
{
	const struct tflite_tensor *tensor;
	uint32_t i, open = 0;

	if (!model || index >= model->map.num_inputs)
		return 0;
	tensor = &model->map.tflite->subgraphs[model->map.main].tensors[model->map.inputs[index].tensor];
	for (i = 0; i < tensor->rank; i++)
		open |= (tensor->signature[i] < 0 ? 1u : 0u) << i;
	return open;
}

uint32_t nntflite_model_find_output(const struct nntflite_model *model, const char *name)
{
	return find_io(model, false, name);
}

uint32_t nntflite_model_num_variables(const struct nntflite_model *model)
{
	return model ? model->map.num_variables : 0;
}

const struct nntflite_variable *nntflite_model_variable(const struct nntflite_model *model,
							uint32_t index)
{
	return index < model->map.num_variables ? &model->map.variables[index] : NULL;
}

enum nnhal_status nntflite_model_explain(const struct nntflite_model *model,
					 const struct nnhal_diag *why,
					 struct nntflite_diag *diag)
{
	if (!diag)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_init(diag);
	if (!model || !why) {
		diag_fail(diag, "no model, or no message");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	explain_place(&model->map, why, diag);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nntflite_model_origin(const struct nntflite_model *model, uint32_t operation,
					struct nntflite_origin *origin)
{
	const struct hal_graph *g;
	const struct tflite_subgraph *sub;
	uint32_t op, tensor;

	if (!model || !origin || operation >= model->map.builder.graphs[0]->num_operations)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	g = model->map.builder.graphs[0];
	sub = &model->map.tflite->subgraphs[model->map.main];
	op = g->operation_origins[operation];
	tensor = g->operand_origins[g->operations[operation].outputs[0]];
	*origin = (struct nntflite_origin){ .op = NNTFLITE_NONE };
	if (op != HAL_NO_ORIGIN) {
		origin->op = op;
		tflite_operator_name(&sub->operators[op], origin->name, sizeof(origin->name));
	}
	if (tensor != HAL_NO_ORIGIN)
		text_print(sub->tensors[tensor].name, origin->tensor, sizeof(origin->tensor));
	return NNHAL_STATUS_NONE;
}
