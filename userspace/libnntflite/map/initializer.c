// SPDX-License-Identifier: MIT
/*
 * CALL_ONCE: the values of variables before the first run.
 *
 * The subgraph that it refers to is no part of the model. Constants that it assigns are initial
 * values. What it computes, a model of its own computes: the initializer, whose outputs are
 * initial values. Who runs the model runs that one before.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_ops.h"
#include "resources.h"

/* Slot of the options table. */
enum { CALL_ONCE_SUBGRAPH };

/* Subgraphs that initialize. Each may reach all others, which are mapped again for it. */
#define MAX_INITIALIZERS	8

static bool is_computed(const struct map_model *init, const struct resource *r)
{
	return r->kept >= 0 && init->states_kept[r->kept].output >= 0;
}

int initializer_finish(struct mapper *m)
{
	struct map_model *model = m->model;
	uint32_t i, outputs = 0;

	for (i = 0; i < model->num_resources; i++) {
		struct resource *r = &model->resources[i];

		if (r->kept >= 0 && m->now[i] >= 0 && !is_computed(model, r))
			r->initial = m->sub->tensors[m->g->operand_origins[m->now[i]]].data;
	}
	/* Outputs are in the order of the variables. */
	for (i = 0; i < model->num_variables; i++)
		if (model->states_kept[i].output >= 0)
			model->resources[model->states_kept[i].resource].initial_output = outputs++;
	return outputs ? hal_builder_finish(m->b, m->diag) : 0;
}

/* The model's resource gets what the initializer gives it. */
static int take_over(struct mapper *m, const struct resource *from)
{
	int number = find_resource(m->model, from->container, from->name);
	struct nnhal_operand before, after;
	uint32_t dims[TFLITE_MAX_RANK];
	struct resource *r;
	bool was_used;

	if (number < 0)
		return map_fail(m, "more than %d variables", MAX_RESOURCES);
	r = &m->model->resources[number];
	if (r->kept >= 0)
		return map_fail(m, "variable '%s' is used before", TEXT(r->name));
	if (r->initial || r->initial_output != NNTFLITE_NONE)
		return map_fail(m, "variable '%s' has an initial value already", TEXT(r->name));
	was_used = r->is_used;
	if (was_used) {
		if (describe_resource(m, (uint32_t)number, &before))
			return -1;
		/* The dimensions are in the resource, which is about to change. */
		memcpy(dims, r->shape.dims, sizeof(dims));
		before.dimensions = dims;
	}
	r->is_used = true;
	r->subgraph = from->subgraph;
	r->tensor = from->tensor;
	if (describe_resource(m, (uint32_t)number, &after))
		return -1;
	if (was_used && (before.type != after.type || before.scale != after.scale ||
			 before.zero_point != after.zero_point ||
			 before.num_dimensions != after.num_dimensions ||
			 memcmp(before.dimensions, after.dimensions,
				after.num_dimensions * sizeof(*dims))))
		return map_fail(m, "variable '%s' has an initial value of another type or shape",
				TEXT(r->name));
	r->initial = from->initial;
	r->initial_output = from->initial_output;
	/* All outputs of the initializer have a place to go to. */
	if (r->initial_output != NNTFLITE_NONE && resource_place(m, (uint32_t)number) < 0)
		return -1;
	return 0;
}

static int take_values(struct mapper *m, struct map_model *init)
{
	uint32_t i;

	if (init->num_variables && init->builder.model.main.num_outputs) {
		if (m->model->initializer)
			return map_fail(m, "a second initializer that computes");
		m->model->initializer = init;
	}
	for (i = 0; i < init->num_resources; i++)
		if (init->resources[i].kept >= 0 && take_over(m, &init->resources[i]))
			return -1;
	return 0;
}

int map_call_once(struct mapper *m, uint32_t type)
{
	uint32_t index = fb_u32(&m->options, CALL_ONCE_SUBGRAPH, 0);
	const struct tflite_subgraph *sub;
	struct map_model *init;
	int ret;

	(void)type;
	if (index >= m->tflite->num_subgraphs)
		return map_fail(m, "subgraph %" PRIu32 " of %" PRIu32 " does not exist", index,
				m->tflite->num_subgraphs);
	sub = &m->tflite->subgraphs[index];
	if (sub->inputs.count || sub->outputs.count)
		return map_fail(m, "subgraph %" PRIu32 " has %" PRIu32 " inputs and %" PRIu32
				" outputs, expected none", index, sub->inputs.count, sub->outputs.count);
	if (m->interface || m->model->is_initializer)
		return map_fail(m, "only the main subgraph initializes variables: elsewhere it depends "
				"on values whether that happens");
	/* Whoever calls it a second time finds it done. */
	if (m->model->initializers[index] == INITIALIZER_DONE)
		return 0;
	if (m->model->initializers[index] == INITIALIZER_FAILED)
		return map_fail(m, "subgraph %" PRIu32 " is not supported", index);
	if (m->model->num_initializers == MAX_INITIALIZERS)
		return map_fail(m, "more than %d subgraphs that initialize variables",
				MAX_INITIALIZERS);
	init = calloc(1, sizeof(*init));
	if (!init)
		return diag_fail_memory(m->diag);
	m->model->initializers[index] = INITIALIZER_FAILED;
	m->model->num_initializers++;
	init->tflite = m->tflite;
	init->main = index;
	init->is_initializer = true;
	ret = map_model(init, m->diag);
	if (!ret) {
		m->model->states[index] = SUBGRAPH_DONE;
		ret = take_values(m, init);
	}
	if (!ret)
		m->model->initializers[index] = INITIALIZER_DONE;
	if (m->model->initializer != init) {
		map_model_free(init);
		free(init);
	}
	return ret;
}
