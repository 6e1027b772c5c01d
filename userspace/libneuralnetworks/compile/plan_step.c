// SPDX-License-Identifier: MIT
/*
 * The models of steps: operations of the whole model, with what they need of its operands.
 *
 * What another step or the caller writes is an input, what others read is an output. Memory of constants
 * that the step does not use is left out, unless it has IF or WHILE, whose subgraphs refer to it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "compile/ndk_plan.h"

struct maker {
	struct ndk_step_model *m;
	const struct ndk_layout *l;
	uint32_t step;
	bool has_control;
	uint32_t *inputs, *outputs;		/* of the step's model */
	uint32_t *input_values, *output_values;
	uint32_t *used_pools;
};

static bool is_control(const struct nnhal_operation *op)
{
	return op->type == NNHAL_OPERATION_IF || op->type == NNHAL_OPERATION_WHILE;
}

/* Where the constant of an operand is in the step's model. */
static void move_constant(struct maker *k, struct nnhal_operand *operand)
{
	struct nnhal_model *hal = &k->m->hal;
	struct nnhal_data_location *at = &operand->location;
	uint32_t *local_pool;

	if (k->has_control)
		return;
	if (operand->lifetime == NNHAL_LIFETIME_CONSTANT_COPY) {
		memcpy(k->m->constants + hal->operand_values_size,
		       k->l->model->operand_values + at->offset, at->length);
		at->offset = (uint32_t)hal->operand_values_size;
		hal->operand_values_size += ((size_t)at->length + 7) & ~(size_t)7;
	} else if (operand->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE) {
		local_pool = &k->l->local_pool[at->pool_index];
		if (!*local_pool) {
			k->used_pools[hal->num_pools] = at->pool_index;
			k->m->pools[hal->num_pools] = k->l->model->pools[at->pool_index];
			*local_pool = ++hal->num_pools;
		}
		at->pool_index = *local_pool - 1;
	}
}

/* The number of an operand in the step's model. */
static uint32_t map_operand(struct maker *k, uint32_t index)
{
	struct nnhal_subgraph *main = &k->m->hal.main;
	struct nnhal_operand *operand;
	uint32_t *local = &k->l->local[index], number;

	if (*local)
		return *local - 1;
	number = main->num_operands++;
	*local = number + 1;
	operand = &k->m->operands[number];
	*operand = k->l->model->main.operands[index];
	operand->number_of_consumers = 0;
	switch (operand->lifetime) {
	case NNHAL_LIFETIME_TEMPORARY_VARIABLE:
	case NNHAL_LIFETIME_SUBGRAPH_INPUT:
	case NNHAL_LIFETIME_SUBGRAPH_OUTPUT:
		break;
	default:
		move_constant(k, operand);
		return number;
	}
	operand->location = (struct nnhal_data_location){ 0 };
	if (k->l->writer[index] != k->step) {
		operand->lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
		k->input_values[main->num_inputs] = k->l->value_of[index];
		k->inputs[main->num_inputs++] = number;
	} else if (k->l->value_of[index] != NDK_NONE) {
		operand->lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
		k->output_values[main->num_outputs] = k->l->value_of[index];
		k->outputs[main->num_outputs++] = number;
	} else {
		operand->lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	}
	return number;
}

static void add_operations(struct maker *k)
{
	const struct ndk_layout *l = k->l;
	struct nnhal_subgraph *main = &k->m->hal.main;
	uint32_t *list = k->m->indexes, i, n;

	for (i = l->first[k->step]; i < l->first[k->step + 1]; i++) {
		const struct nnhal_operation *from = &l->model->main.operations[l->operations[i]];
		struct nnhal_operation *to = &k->m->operations[main->num_operations++];

		*to = *from;
		to->inputs = list;
		for (n = 0; n < from->num_inputs; n++) {
			*list = map_operand(k, from->inputs[n]);
			k->m->operands[*list++].number_of_consumers++;
		}
		to->outputs = list;
		for (n = 0; n < from->num_outputs; n++)
			*list++ = map_operand(k, from->outputs[n]);
	}
}

/* How much there can be in the step. */
static void count(const struct ndk_layout *l, uint32_t step, size_t *references, size_t *bytes,
		  bool *has_control)
{
	const struct nnhal_subgraph *main = &l->model->main;
	uint32_t i, n;

	for (i = l->first[step]; i < l->first[step + 1]; i++) {
		const struct nnhal_operation *op = &main->operations[l->operations[i]];

		*has_control |= is_control(op);
		*references += (size_t)op->num_inputs + op->num_outputs;
		for (n = 0; n < op->num_inputs; n++) {
			const struct nnhal_operand *o = &main->operands[op->inputs[n]];

			if (o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY)
				*bytes += ((size_t)o->location.length + 7) & ~(size_t)7;
		}
	}
}

static bool allocate(struct ndk_step_model *m, size_t operations, size_t references, size_t bytes)
{
	m->operands = calloc(references, sizeof(*m->operands));
	m->operations = calloc(operations, sizeof(*m->operations));
	/* Lists of operations; inputs and outputs; their values; numbers of pools. */
	m->indexes = calloc(references, 6 * sizeof(*m->indexes));
	m->values = calloc(references, sizeof(*m->values));
	m->pools = calloc(references, sizeof(*m->pools));
	m->constants = calloc(bytes + 1, 1);
	return m->operands && m->operations && m->indexes && m->values && m->pools && m->constants;
}

/* Leave the scratch of the layout as it was. */
static void clear_scratch(const struct maker *k)
{
	const struct ndk_layout *l = k->l;
	uint32_t i, n;

	for (i = l->first[k->step]; i < l->first[k->step + 1]; i++) {
		const struct nnhal_operation *op = &l->model->main.operations[l->operations[i]];

		for (n = 0; n < op->num_inputs; n++)
			l->local[op->inputs[n]] = 0;
		for (n = 0; n < op->num_outputs; n++)
			l->local[op->outputs[n]] = 0;
	}
	for (i = 0; !k->has_control && i < k->m->hal.num_pools; i++)
		l->local_pool[k->used_pools[i]] = 0;
}

static void complete(const struct maker *k)
{
	struct ndk_step_model *m = k->m;
	struct nnhal_subgraph *main = &m->hal.main;

	memcpy(m->values, k->input_values, main->num_inputs * sizeof(*m->values));
	memcpy(m->values + main->num_inputs, k->output_values,
	       main->num_outputs * sizeof(*m->values));
	main->operands = m->operands;
	main->operations = m->operations;
	main->input_indexes = k->inputs;
	main->output_indexes = k->outputs;
	if (k->has_control)
		return;
	m->hal.operand_values = m->constants;
	m->hal.pools = m->pools;
}

int ndk_step_model_init(struct ndk_step_model *model, const struct ndk_layout *layout,
			uint32_t step)
{
	struct maker k = { .m = model, .l = layout, .step = step };
	size_t references = 0, bytes = 0;

	*model = (struct ndk_step_model){ .hal = *layout->model };
	model->hal.main = (struct nnhal_subgraph){ 0 };
	count(layout, step, &references, &bytes, &k.has_control);
	if (!k.has_control) {
		model->hal.num_referenced = 0;
		model->hal.referenced = NULL;
		model->hal.num_pools = 0;
		model->hal.operand_values_size = 0;
	}
	if (!allocate(model, layout->first[step + 1] - layout->first[step], references, bytes)) {
		ndk_step_model_fini(model);
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	}
	k.inputs = model->indexes + references;
	k.outputs = k.inputs + references;
	k.input_values = k.outputs + references;
	k.output_values = k.input_values + references;
	k.used_pools = k.output_values + references;
	add_operations(&k);
	clear_scratch(&k);
	complete(&k);
	if (model->hal.main.num_inputs && model->hal.main.num_outputs)
		return ANEURALNETWORKS_NO_ERROR;
	ndk_step_model_fini(model);
	return ndk_why(ANEURALNETWORKS_BAD_DATA, "step %u has no input or no output", step);
}

void ndk_step_model_fini(struct ndk_step_model *model)
{
	free(model->operands);
	free(model->operations);
	free(model->indexes);
	free(model->values);
	free(model->pools);
	free(model->constants);
	*model = (struct ndk_step_model){ 0 };
}
