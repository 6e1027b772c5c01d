// SPDX-License-Identifier: MIT
/*
 * Variable tensors: values that are kept from one inference to the next.
 *
 * Each becomes an input of the HAL model, the value before the inference, and an output, the
 * value after it. Who runs the model passes the output of one run to the next.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_model.h"
#include "mapper.h"
#include "resources.h"

#define MAX_VARIABLES	4096

static struct map_variable *find(struct map_model *model, uint32_t tensor)
{
	uint32_t i;

	for (i = 0; i < model->num_variables; i++)
		if (model->states_kept[i].tensor == tensor)
			return &model->states_kept[i];
	return NULL;
}

bool variable_is_kept(const struct mapper *m, uint32_t tensor)
{
	return !m->interface && m->sub->tensors[tensor].is_variable && find(m->model, tensor);
}

int variable_keep(struct mapper *m, const struct nnhal_operand *like, uint32_t tensor, int resource)
{
	struct map_model *model = m->model;
	struct nnhal_operand operand = *like;
	struct map_variable *v;

	if (model->num_variables == MAX_VARIABLES)
		return map_fail(m, "more than %d variables", MAX_VARIABLES);
	v = reallocarray(model->states_kept, model->num_variables + 1, sizeof(*v));
	if (!v)
		return diag_fail_memory(m->diag);
	model->states_kept = v;
	v += model->num_variables;
	*v = (struct map_variable){
		.tensor = tensor, .resource = resource, .input = -1, .output = -1,
	};
	operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	if (!model->is_initializer) {
		v->input = hal_add_operand(m->g, &operand, tensor, m->diag);
		if (v->input < 0)
			return -1;
	}
	return (int)model->num_variables++;
}

static struct map_variable *add(struct mapper *m, const struct tflite_tensor *tensor)
{
	struct map_model *model = m->model;
	struct nnhal_operand operand;
	struct map_variable *v;
	struct shape shape;
	int index;

	if (m->interface)
		return tensor_fail(m, tensor, "a variable of a subgraph that is not the main one"),
		       NULL;
	if (describe_tensor(m, tensor, &operand, &shape))
		return NULL;
	if (!shape_is_known(&shape))
		return tensor_fail(m, tensor, "a variable of unknown shape"), NULL;
	index = variable_keep(m, &operand, (uint32_t)(tensor - m->sub->tensors), -1);
	if (index < 0)
		return NULL;
	v = &model->states_kept[index];
	m->operand_of[v->tensor] = v->input;
	return v;
}

/* The variable at input @pos of the operator, made when it is met first; NULL with message. */
static struct map_variable *variable_at(struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	struct map_variable *v;

	if (!tensor || !tensor->is_variable ||
	    m->role[tensor - m->sub->tensors] & ROLE_INPUT)
		return map_fail(m, "input %" PRIu32 " is no variable", pos), NULL;
	v = find(m->model, (uint32_t)(tensor - m->sub->tensors));
	return v ? v : add(m, tensor);
}

int variable_operand(struct mapper *m, uint32_t pos)
{
	struct map_variable *v = variable_at(m, pos);

	return v ? m->operand_of[v->tensor] : -1;
}

int variable_update(struct mapper *m, uint32_t pos)
{
	struct map_variable *v = variable_at(m, pos);
	struct nnhal_operand operand;

	if (!v)
		return -1;
	/* Of several new values the last one is kept. */
	if (v->output >= 0)
		m->g->operands[v->output].lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	operand = m->g->operands[v->input];
	operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	v->output = hal_add_operand(m->g, &operand, v->tensor, m->diag);
	m->operand_of[v->tensor] = v->output;
	return v->output;
}

void variables_go_back(struct mapper *m, uint32_t num_operands)
{
	struct map_model *model = m->model;
	uint32_t i;

	if (m->interface)
		return;
	while (model->num_variables &&
	       model->states_kept[model->num_variables - 1].input >= (int)num_operands) {
		const struct map_variable *v = &model->states_kept[--model->num_variables];

		if (v->resource < 0)
			m->operand_of[v->tensor] = -1;
	}
	for (i = 0; i < model->num_variables; i++) {
		struct map_variable *v = &model->states_kept[i];

		if (v->output < (int)num_operands || v->resource >= 0)
			continue;
		v->output = -1;
		m->operand_of[v->tensor] = v->input;
	}
}

/* The value before the first inference: zero, which is the zero point of a quantized type. */
static int initial_value(struct mapper *m, const struct nnhal_operand *operand,
			 struct nntflite_variable *v)
{
	uint8_t *initial;

	if (!operand->zero_point)
		return 0;
	initial = hal_alloc(m->b, v->bytes, 1, m->diag);
	if (!initial)
		return -1;
	memset(initial, operand->zero_point, v->bytes);
	v->initial = initial;
	return 0;
}

static int finish_variable(struct mapper *m, const struct map_variable *from,
			   struct nntflite_variable *v)
{
	const struct resource *r = from->resource < 0 ? NULL : &m->model->resources[from->resource];
	const struct tflite_subgraph *sub = r ? &m->tflite->subgraphs[r->subgraph] : m->sub;
	const struct tflite_tensor *tensor = &sub->tensors[r ? r->tensor : from->tensor];
	const struct shape *shape = r ? &r->shape : tensor_shape(m, tensor);
	struct text name = r ? r->name : tensor->name;
	char *copy = hal_alloc(m->b, name.length + 1, 1, m->diag);

	if (!copy)
		return -1;
	v->name = text_print(name, copy, name.length + 1);
	v->type = m->g->operands[from->input].type;
	v->rank = shape->rank;
	v->bytes = (size_t)shape_elements(shape) * tflite_type_size(tensor->type);
	memcpy(v->dims, shape->dims, shape->rank * sizeof(*v->dims));
	v->initializer = NNTFLITE_NONE;
	if (!r || (!r->initial && r->initial_output == NNTFLITE_NONE))
		return initial_value(m, &m->g->operands[from->input], v);
	v->initial = r->initial;
	v->initializer = r->initial_output;
	return 0;
}

int variables_finish(struct mapper *m)
{
	struct map_model *model = m->model;
	uint32_t i, outputs = m->sub->outputs.count;

	model->variables = hal_alloc(m->b, (size_t)model->num_variables + 1,
				     sizeof(*model->variables), m->diag);
	if (!model->variables)
		return -1;
	for (i = 0; i < model->num_variables; i++) {
		const struct map_variable *from = &model->states_kept[i];
		struct nntflite_variable *v = &model->variables[i];

		v->input = m->sub->inputs.count + i;
		v->output = from->output < 0 ? NNTFLITE_NONE : outputs++;
		if (finish_variable(m, from, v))
			return -1;
	}
	return 0;
}
