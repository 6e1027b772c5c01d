// SPDX-License-Identifier: MIT
/*
 * Mapping a subgraph: its inputs, its operators in order, its outputs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "judge.h"
#include "map_graph.h"

/* Who runs the model gives each input a shape; inside of it the device finds them. */
static int check_input(struct mapper *m, const struct tflite_tensor *tensor)
{
	const struct shape *shape = tensor_shape(m, tensor);
	uint32_t i;

	if (m->interface)
		return 0;
	for (i = 0; i < shape->rank; i++)
		if (shape->dims[i] == 0)
			return tensor_fail(m, tensor, "dimension %" PRIu32 " is %" PRId32
					   ": the input needs a shape", i, tensor->dims[i]);
	return 0;
}

static int map_inputs(struct mapper *m)
{
	const struct fb_vector *inputs = &m->sub->inputs;
	uint32_t i;

	for (i = 0; i < inputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(inputs, i);
		const struct tflite_tensor *tensor = &m->sub->tensors[index];
		struct nnhal_operand operand;
		struct shape shape;

		if (m->role[index] & ROLE_INPUT)
			return tensor_fail(m, tensor, "listed twice as input");
		m->role[index] |= ROLE_INPUT;
		if (m->interface && m->interface->bindings[i] >= 0) {
			m->resource_of[index] = m->interface->bindings[i];
			continue;
		}
		if (describe_input(m, tensor, &operand, &shape) || check_input(m, tensor)) {
			if (m->model->judge && judge_input(m, index) == 0)
				continue;
			return -1;
		}
		operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
		m->operand_of[index] = hal_add_operand(m->g, &operand, index, m->diag);
		if (m->operand_of[index] < 0)
			return -1;
	}
	return 0;
}

/* Behind the inputs of a subgraph that is referred to: the values of variables. */
static int map_variables(struct mapper *m, const struct resource_set *set)
{
	uint32_t i;

	for (i = 0; i < m->model->num_resources; i++) {
		struct nnhal_operand operand;

		if (!set_has(set, i))
			continue;
		if (describe_resource(m, i, &operand))
			return -1;
		operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
		m->now[i] = hal_add_operand(m->g, &operand, HAL_NO_ORIGIN, m->diag);
		if (m->now[i] < 0)
			return -1;
	}
	return 0;
}

/* Before the operators: which tensors are outputs. */
static void mark_outputs(struct mapper *m)
{
	const struct fb_vector *outputs = &m->sub->outputs;
	uint32_t i;

	for (i = 0; i < outputs->count; i++)
		m->role[fb_vector_i32(outputs, i)] |= ROLE_OUTPUT;
}

static int map_operators(struct mapper *m)
{
	uint32_t i, refused = m->model->num_refusals;
	struct mark mark;

	for (i = 0; i < m->sub->num_operators; i++) {
		m->op = &m->sub->operators[i];
		m->op_index = i;
		m->options = m->op->options;
		m->options.reader = &m->reader;
		m->weight++;
		judge_mark(m, &mark);
		if (map_operator(m) && (!m->model->judge || judge_refuse(m, &mark)))
			return -1;
	}
	m->op = NULL;
	/* Only the main subgraph can have more inputs than it has. */
	if (m->model->num_refusals > refused && m->interface)
		return map_fail(m, "an operator of this subgraph is not supported");
	return 0;
}

/*
 * The operand of an output. An output is computed by an operation, and once: what comes in as
 * an input, is a constant or an output already, is copied.
 */
static int output_of(struct mapper *m, uint32_t index)
{
	const struct tflite_tensor *tensor = &m->sub->tensors[index];
	/* The new value of a variable is an output of its own already. */
	bool listed = m->role[index] & ROLE_LISTED || variable_is_kept(m, index);
	int own = m->operand_of[index], operand = own;

	if (!m->interface && own < 0 && !is_constant(m, tensor) && !is_empty_constant(m, tensor))
		return tensor_fail(m, tensor, "output of the model, but no operator computes it");
	m->role[index] |= ROLE_LISTED;
	if (m->interface && m->interface->is_condition)
		operand = condition_operand(m, tensor);
	else if (own < 0)
		operand = value_operand(m, tensor);
	if (operand < 0)
		return -1;
	if (operand == own && !listed && m->g->operand_origins[own] == index &&
	    m->g->operands[own].lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT)
		return own;
	if (own >= 0 && operand != own &&
	    m->g->operands[own].lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT)
		m->g->operands[own].lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	return copy_operand(m, operand, NULL, NNHAL_LIFETIME_SUBGRAPH_OUTPUT);
}

/* A list of operands that becomes longer. */
struct list {
	uint32_t *operands;
	uint32_t count;
};

static int list_init(struct mapper *m, struct list *list, uint32_t count)
{
	size_t variables = m->model->num_variables + (m->resource_of ? MAX_RESOURCES : 0);

	*list = (struct list){
		.operands = hal_alloc(m->b, count + variables + 1, sizeof(*list->operands), m->diag),
	};
	return list->operands ? 0 : -1;
}

static int list_add(struct list *list, int operand)
{
	if (operand < 0)
		return -1;
	list->operands[list->count++] = (uint32_t)operand;
	return 0;
}

static int list_outputs(struct mapper *m, struct list *outputs)
{
	uint32_t i;

	for (i = 0; i < m->sub->outputs.count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(&m->sub->outputs, i);
		bool is_resource = m->interface && m->resource_of && m->resource_of[index] >= 0;

		if (!is_resource && list_add(outputs, output_of(m, index)))
			return -1;
	}
	return 0;
}

/* A graph of the HAL has an input; some subgraphs need none. */
static int unread_input(struct mapper *m)
{
	struct nnhal_operand operand = {
		.type = NNHAL_OPERAND_TENSOR_BOOL8, .num_dimensions = 1,
		.dimensions = (const uint32_t[]){ 1 }, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT,
	};

	return hal_add_operand(m->g, &operand, HAL_NO_ORIGIN, m->diag);
}

/* The inputs and outputs of the file, and behind them the variables. */
static int finish_main(struct mapper *m, struct list *inputs, struct list *outputs)
{
	const struct map_model *model = m->model;
	uint32_t i;

	if (m->resource_of && resources_finish(m))
		return -1;
	if (model->is_initializer && list_add(inputs, unread_input(m)))
		return -1;
	for (i = 0; i < model->num_variables; i++) {
		if (model->states_kept[i].input >= 0)
			list_add(inputs, model->states_kept[i].input);
		if (model->states_kept[i].output >= 0)
			list_add(outputs, model->states_kept[i].output);
	}
	if (!inputs->count)
		return map_fail(m, "the model has no inputs, and the HAL no models without");
	return 0;
}

/* Of a subgraph that is referred to: the variables that its interface has. */
static int finish_referred(struct mapper *m, struct list *inputs, struct list *outputs)
{
	const struct hal_graph *g = m->g;
	uint32_t i;

	/* They were made right behind the inputs of the file. */
	for (i = inputs->count; i < g->num_operands &&
	     g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_INPUT; i++)
		list_add(inputs, (int)i);
	for (i = 0; i < m->model->num_resources && m->interface->gives; i++) {
		struct nnhal_operand operand;

		if (!set_has(&m->interface->first, i))
			continue;
		if (describe_resource(m, i, &operand) ||
		    list_add(outputs, copy_operand(m, m->now[i], &operand,
						   NNHAL_LIFETIME_SUBGRAPH_OUTPUT)))
			return -1;
	}
	return 0;
}

static int finish_graph(struct mapper *m)
{
	struct list inputs, outputs;
	uint32_t i;

	if (list_init(m, &inputs, m->sub->inputs.count) ||
	    list_init(m, &outputs, m->sub->outputs.count))
		return -1;
	for (i = 0; i < m->sub->inputs.count; i++)
		list_add(&inputs, m->operand_of[fb_vector_i32(&m->sub->inputs, i)]);
	if (list_outputs(m, &outputs) ||
	    (m->interface ? finish_referred(m, &inputs, &outputs) :
			    finish_main(m, &inputs, &outputs)))
		return -1;
	return hal_graph_finish(m->g, inputs.operands, inputs.count, outputs.operands,
				outputs.count, m->diag);
}

int mapper_init(struct mapper *m, struct map_model *model, uint32_t index,
		const struct interface *interface, uint32_t *number)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[index];
	uint32_t count = sub->num_tensors ? sub->num_tensors : 1;
	struct shape *shapes;
	uint32_t i;

	*m = (struct mapper){
		.model = model,
		.tflite = model->tflite,
		.sub = sub,
		.sub_index = index,
		.interface = interface,
		.b = &model->builder,
		.reader = model->tflite->reader,
		.diag = model->diag,
	};
	m->reader.diag = model->diag;
	shapes = calloc(count, sizeof(*shapes));
	m->shapes = shapes;
	m->operand_of = malloc(count * sizeof(*m->operand_of));
	m->role = calloc(count, sizeof(*m->role));
	if (model->uses_resources)
		m->resource_of = malloc(count * sizeof(*m->resource_of));
	if (!m->shapes || !m->operand_of || !m->role || (model->uses_resources && !m->resource_of))
		return diag_fail_memory(m->diag);
	for (i = 0; i < count; i++) {
		m->operand_of[i] = -1;
		if (m->resource_of)
			m->resource_of[i] = -1;
	}
	for (i = 0; i < MAX_RESOURCES; i++)
		m->now[i] = -1;
	if (resolve_shapes(model, index, interface ? interface->shapes : NULL, shapes))
		return -1;
	m->g = hal_add_graph(&model->builder, number, m->diag);
	if (!m->g)
		return -1;
	m->g->subgraph = index;
	return 0;
}

void mapper_fini(struct mapper *m)
{
	free((void *)m->shapes);
	free(m->operand_of);
	free(m->role);
	free(m->resource_of);
	free(m->dense);
	free(m->same_as);
}

int map_graph(struct mapper *m)
{
	if (map_inputs(m) ||
	    (m->interface && (map_variables(m, &m->interface->first) ||
			      map_variables(m, &m->interface->rest) ||
			      (m->interface->is_unread && unread_input(m) < 0))))
		return -1;
	mark_outputs(m);
	if (map_operators(m))
		return -1;
	if (m->model->judge && !m->interface)
		return judge_finish(m);
	return finish_graph(m);
}
