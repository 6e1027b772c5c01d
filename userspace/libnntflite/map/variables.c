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

#define MAX_VARIABLES	4096

static struct map_variable *find(struct map_model *model, uint32_t tensor)
{
	uint32_t i;

	for (i = 0; i < model->num_variables; i++)
		if (model->states_kept[i].tensor == tensor)
			return &model->states_kept[i];
	return NULL;
}

static struct map_variable *add(struct mapper *m, const struct tflite_tensor *tensor)
{
	struct map_model *model = m->model;
	struct nnhal_operand operand;
	struct map_variable *v;
	struct shape shape;

	if (m->sub_index != model->main)
		return tensor_fail(m, tensor, "a variable of a subgraph that is not the main one"),
		       NULL;
	if (model->num_variables == MAX_VARIABLES)
		return map_fail(m, "more than %d variables", MAX_VARIABLES), NULL;
	if (describe_tensor(m, tensor, &operand, &shape))
		return NULL;
	if (!shape_is_known(&shape))
		return tensor_fail(m, tensor, "a variable of unknown shape"), NULL;
	v = reallocarray(model->states_kept, model->num_variables + 1, sizeof(*v));
	if (!v)
		return diag_fail_memory(m->diag), NULL;
	model->states_kept = v;
	v += model->num_variables;
	operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	*v = (struct map_variable){ .tensor = (uint32_t)(tensor - m->sub->tensors) };
	v->input = hal_add_operand(m->g, &operand, v->tensor, m->diag);
	v->output = -1;
	if (v->input < 0)
		return NULL;
	m->operand_of[v->tensor] = v->input;
	model->num_variables++;
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

	if (m->sub_index != model->main)
		return;
	while (model->num_variables &&
	       model->states_kept[model->num_variables - 1].input >= (int)num_operands) {
		model->num_variables--;
		m->operand_of[model->states_kept[model->num_variables].tensor] = -1;
	}
	for (i = 0; i < model->num_variables; i++) {
		struct map_variable *v = &model->states_kept[i];

		if (v->output < (int)num_operands)
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
		const struct tflite_tensor *tensor = &m->sub->tensors[from->tensor];
		const struct shape *shape = tensor_shape(m, tensor);
		struct nntflite_variable *v = &model->variables[i];
		char *name = hal_alloc(m->b, tensor->name.length + 1, 1, m->diag);

		if (!name)
			return -1;
		*v = (struct nntflite_variable){
			.name = text_print(tensor->name, name, tensor->name.length + 1),
			.type = m->g->operands[from->input].type,
			.rank = shape->rank,
			.bytes = (size_t)shape_elements(shape) * tflite_type_size(tensor->type),
			.input = m->sub->inputs.count + i,
			.output = from->output < 0 ? NNTFLITE_NONE : outputs++,
		};
		memcpy(v->dims, shape->dims, shape->rank * sizeof(*v->dims));
		if (initial_value(m, &m->g->operands[from->input], v))
			return -1;
	}
	return 0;
}
