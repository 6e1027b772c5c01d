// SPDX-License-Identifier: MIT
/*
 * Mapping a subgraph: its inputs, its operators in order, its outputs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "map_graph.h"

/* IF and WHILE one inside the other; no file in use comes near. */
#define MAX_DEPTH	16

/* Who runs the model gives each input a shape; inside of it the device finds them. */
static int check_input(struct mapper *m, const struct tflite_tensor *tensor)
{
	const struct shape *shape = tensor_shape(m, tensor);
	uint32_t i;

	if (m->sub_index != m->model->main)
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
		if (describe_tensor(m, tensor, &operand, &shape) || check_input(m, tensor)) {
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

/* Before the operators: which tensors are outputs. */
static int mark_outputs(struct mapper *m)
{
	const struct fb_vector *outputs = &m->sub->outputs;
	uint32_t i;

	for (i = 0; i < outputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(outputs, i);

		if (m->role[index] & ROLE_OUTPUT)
			return tensor_fail(m, &m->sub->tensors[index],
					   "listed twice as output");
		m->role[index] |= ROLE_OUTPUT;
	}
	return 0;
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
		judge_mark(m, &mark);
		if (map_operator(m) && (!m->model->judge || judge_refuse(m, &mark)))
			return -1;
	}
	m->op = NULL;
	/* Only the main subgraph can have more inputs than it has. */
	if (m->model->num_refusals > refused && m->sub_index != m->model->main)
		return map_fail(m, "an operator of this subgraph is not supported");
	return 0;
}

/* After the operators: all outputs are computed. */
static int check_outputs(struct mapper *m)
{
	const struct fb_vector *outputs = &m->sub->outputs;
	uint32_t i;

	for (i = 0; i < outputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(outputs, i);

		if (m->operand_of[index] < 0 || m->role[index] & ROLE_INPUT)
			return tensor_fail(m, &m->sub->tensors[index],
					   "output of the model, but no operator computes it");
	}
	return 0;
}

/* The operands of a list of tensors, with room for @more. */
static uint32_t *operands(struct mapper *m, const struct fb_vector *tensors, uint32_t more)
{
	uint32_t *list = hal_alloc(m->b, (size_t)tensors->count + more + 1, sizeof(*list), m->diag);
	uint32_t i;

	for (i = 0; list && i < tensors->count; i++)
		list[i] = (uint32_t)m->operand_of[fb_vector_i32(tensors, i)];
	return list;
}

/* The inputs and outputs of the file, and behind them the variables. */
static int finish_graph(struct mapper *m)
{
	const struct map_model *model = m->model;
	uint32_t kept = m->sub_index == model->main ? model->num_variables : 0;
	uint32_t num_inputs = m->sub->inputs.count, num_outputs = m->sub->outputs.count;
	uint32_t *inputs = operands(m, &m->sub->inputs, kept);
	uint32_t *outputs = inputs ? operands(m, &m->sub->outputs, kept) : NULL;
	uint32_t i;

	if (!outputs)
		return -1;
	for (i = 0; i < kept; i++) {
		inputs[num_inputs++] = (uint32_t)model->states_kept[i].input;
		if (model->states_kept[i].output >= 0)
			outputs[num_outputs++] = (uint32_t)model->states_kept[i].output;
	}
	if (!num_inputs)
		return map_fail(m, "the model has no inputs, and the HAL no models without");
	return hal_graph_finish(m->g, inputs, num_inputs, outputs, num_outputs, m->diag);
}

int mapper_init(struct mapper *m, struct map_model *model, uint32_t index, uint32_t *number)
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
		.b = &model->builder,
		.reader = model->tflite->reader,
		.diag = model->diag,
	};
	m->reader.diag = model->diag;
	shapes = calloc(count, sizeof(*shapes));
	m->shapes = shapes;
	m->operand_of = malloc(count * sizeof(*m->operand_of));
	m->role = calloc(count, sizeof(*m->role));
	if (!m->shapes || !m->operand_of || !m->role)
		return diag_fail_memory(m->diag);
	for (i = 0; i < count; i++)
		m->operand_of[i] = -1;
	if (resolve_shapes(model, index, index == model->main, shapes))
		return -1;
	m->g = hal_add_graph(&model->builder, number, m->diag);
	return m->g ? 0 : -1;
}

void mapper_fini(struct mapper *m)
{
	free((void *)m->shapes);
	free(m->operand_of);
	free(m->role);
}

int map_graph(struct mapper *m)
{
	if (map_inputs(m) || mark_outputs(m) || map_operators(m))
		return -1;
	if (m->model->judge && m->sub_index == m->model->main)
		return judge_finish(m);
	return check_outputs(m) ? -1 : finish_graph(m);
}

int map_subgraph(struct mapper *m, uint32_t index, uint32_t *number)
{
	struct map_model *model = m->model;
	struct mapper inner;
	int ret = -1;

	if (index >= m->tflite->num_subgraphs)
		return map_fail(m, "subgraph %" PRIu32 " of %" PRIu32 " does not exist", index,
				m->tflite->num_subgraphs);
	if (model->states[index] == SUBGRAPH_BEGUN)
		return map_fail(m, "subgraph %" PRIu32 " reaches itself", index);
	if (model->states[index] == SUBGRAPH_DONE) {
		*number = model->numbers[index];
		return 0;
	}
	if (model->depth == MAX_DEPTH)
		return map_fail(m, "more than %d subgraphs one inside the other", MAX_DEPTH);
	model->depth++;
	model->states[index] = SUBGRAPH_BEGUN;
	if (!mapper_init(&inner, model, index, number) && !map_graph(&inner)) {
		model->states[index] = SUBGRAPH_DONE;
		model->numbers[index] = *number;
		ret = 0;
	} else {
		model->states[index] = SUBGRAPH_NEW;
	}
	mapper_fini(&inner);
	model->depth--;
	return ret;
}
