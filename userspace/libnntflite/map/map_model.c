// SPDX-License-Identifier: MIT
/*
 * Mapping a .tflite file to a HAL model.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_graph.h"
#include "resources.h"

/* The names of all tensors: those in the signature, else their own. To be freed. */
static struct text *io_names(const struct mapper *m, bool input)
{
	const struct tflite_signature *s = m->model->signature;
	const struct tflite_named *named = s ? (input ? s->inputs : s->outputs) : NULL;
	uint32_t i, count = s ? (input ? s->num_inputs : s->num_outputs) : 0;
	struct text *names = calloc((size_t)m->sub->num_tensors + 1, sizeof(*names));

	if (!names) {
		diag_fail_memory(m->diag);
		return NULL;
	}
	for (i = 0; i < m->sub->num_tensors; i++)
		names[i] = m->sub->tensors[i].name;
	/* The first of several names counts. */
	for (i = count; i-- > 0;)
		names[named[i].tensor] = named[i].name;
	return names;
}

static int fill_io(struct mapper *m, uint32_t index, const struct nnhal_operand *operand,
		   struct text name, struct nntflite_io *io)
{
	const struct tflite_tensor *tensor = &m->sub->tensors[index];
	const struct shape *shape = tensor_shape(m, tensor);
	char *copy = hal_alloc(m->b, name.length + 1, 1, m->diag);

	if (!copy)
		return -1;
	*io = (struct nntflite_io){
		.name = text_print(name, copy, name.length + 1),
		.tensor = index,
		.tflite_type = tensor->type,
		.type = operand->type,
		.rank = shape->rank,
		.scale = operand->scale,
		.zero_point = operand->zero_point,
	};
	memcpy(io->dims, shape->dims, shape->rank * sizeof(shape->dims[0]));
	if (shape_is_known(shape)) {
		io->elements = (size_t)shape_elements(shape);
		io->bytes = io->elements * tflite_type_size(tensor->type);
	}
	return 0;
}

static struct nntflite_io *fill_list(struct mapper *m, const struct fb_vector *list, bool input)
{
	struct nntflite_io *ios = hal_alloc(m->b, (size_t)list->count + 1, sizeof(*ios), m->diag);
	struct text *names = ios ? io_names(m, input) : NULL;
	int ret = names ? 0 : -1;
	uint32_t i;

	for (i = 0; i < list->count && !ret; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(list, i);
		uint32_t operand = input ? m->g->inputs[i] : m->g->outputs[i];

		ret = fill_io(m, index, &m->g->operands[operand], names[index], &ios[i]);
	}
	free(names);
	return ret ? NULL : ios;
}

static int map_main(struct map_model *model)
{
	struct mapper m;
	uint32_t number;
	int ret = -1;

	model->states[model->main] = SUBGRAPH_BEGUN;
	if (mapper_init(&m, model, model->main, NULL, &number) || map_graph(&m)) {
		ret = -1;
	} else if (model->judge) {
		ret = hal_builder_finish(m.b, model->diag);
	} else if (model->is_initializer) {
		ret = initializer_finish(&m);
	} else {
		model->inputs = fill_list(&m, &m.sub->inputs, true);
		model->outputs = model->inputs ? fill_list(&m, &m.sub->outputs, false) : NULL;
		if (model->outputs) {
			model->num_inputs = m.sub->inputs.count;
			model->num_outputs = m.sub->outputs.count;
			ret = variables_finish(&m) ? -1 : hal_builder_finish(m.b, model->diag);
		}
	}
	mapper_fini(&m);
	return ret;
}

int map_model(struct map_model *model, struct nntflite_diag *diag)
{
	uint32_t i, count = model->tflite->num_subgraphs;
	int ret = -1;

	model->diag = diag;
	/*
	 * Constants that overlap in the file are stored apart: a bound in proportion to
	 * the file keeps a hostile one from asking for all memory. A small constant
	 * takes more than 4 bytes in the file and at least 64 in the pool.
	 */
	hal_builder_init(&model->builder, 16 * (uint64_t)model->tflite->reader.size + 65536);
	/* What follows calls for their shapes is in proportion to the file, too. */
	for (i = 0; i < count; i++)
		model->infer_left += model->tflite->subgraphs[i].num_operators +
				     (uint64_t)model->tflite->subgraphs[i].num_tensors +
				     model->tflite->subgraphs[i].num_references;
	model->infer_left = 32 * model->infer_left + 4096;
	model->states = calloc(count, sizeof(*model->states));
	model->initializers = calloc(count, sizeof(*model->initializers));
	model->instances = calloc(count, sizeof(*model->instances));
	model->effects = calloc(count, sizeof(*model->effects));
	if (!model->states || !model->initializers || !model->instances || !model->effects)
		diag_fail_memory(diag);
	else if (!resources_init(model, diag))
		ret = map_main(model);
	model->diag = NULL;
	return ret;
}

void map_model_free(struct map_model *model)
{
	hal_builder_fini(&model->builder);
	free(model->states);
	free(model->initializers);
	free(model->instances);
	resources_free(model);
	if (model->initializer)
		map_model_free(model->initializer);
	free(model->initializer);
	free(model->refusals);
	free(model->states_kept);
	memset(model, 0, sizeof(*model));
}
