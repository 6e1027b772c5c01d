// SPDX-License-Identifier: MIT
/*
 * What an operation costs by the figures of capabilities.
 */
#include <float.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "model/model_copy.h"
#include "model/validate.h"

struct costs {
	const struct nnhal_model *model;
	const struct nnhal_capabilities *capabilities;
	/* Of each referenced subgraph that is known. */
	struct nnhal_performance_info *subgraphs;
	uint8_t *known;
};

static struct nnhal_performance_info sum(struct nnhal_performance_info a,
					 struct nnhal_performance_info b)
{
	return (struct nnhal_performance_info){ a.exec_time + b.exec_time,
						a.power_usage + b.power_usage };
}

/* The subgraph that input @k of an operation of a valid model refers to. */
static uint32_t subgraph_of(const struct nnhal_subgraph *sg, const struct nnhal_operation *op,
			    uint32_t k)
{
	return sg->operands[op->inputs[k]].location.offset;
}

/* IF has its branches in inputs 1 and 2, WHILE condition and body in 0 and 1. */
static uint32_t first_subgraph_input(const struct nnhal_operation *op)
{
	return op->type == NNHAL_OPERATION_IF;
}

static bool has_subgraphs(const struct nnhal_operation *op)
{
	return op->type == NNHAL_OPERATION_IF || op->type == NNHAL_OPERATION_WHILE;
}

/* Costs of the subgraphs that it refers to are known. */
static struct nnhal_performance_info operation_cost(const struct costs *c,
						    const struct nnhal_subgraph *sg,
						    const struct nnhal_operation *op)
{
	struct nnhal_performance_info both;
	uint32_t first, type;

	if (has_subgraphs(op)) {
		first = first_subgraph_input(op);
		both = sum(c->subgraphs[subgraph_of(sg, op, first)],
			   c->subgraphs[subgraph_of(sg, op, first + 1)]);
		if (op->type == NNHAL_OPERATION_WHILE)
			return sum(c->capabilities->while_performance, both);
		both.exec_time /= 2;
		both.power_usage /= 2;
		return sum(c->capabilities->if_performance, both);
	}
	if (!op->num_inputs)
		return (struct nnhal_performance_info){ FLT_MAX, FLT_MAX };
	type = sg->operands[op->inputs[0]].type;
	if (c->model->relax_computation_float32_to_float16 && type == NNHAL_OPERAND_FLOAT32)
		return c->capabilities->relaxed_float32_to_float16_scalar;
	if (c->model->relax_computation_float32_to_float16 && type == NNHAL_OPERAND_TENSOR_FLOAT32)
		return c->capabilities->relaxed_float32_to_float16_tensor;
	return nnhal_operand_performance_lookup(c->capabilities, type);
}

/* A subgraph that @op refers to and whose cost is not known; UINT32_MAX: there is none. */
static uint32_t unknown_subgraph(const struct costs *c, const struct nnhal_subgraph *sg,
				 const struct nnhal_operation *op)
{
	uint32_t k, number;

	if (!has_subgraphs(op))
		return UINT32_MAX;
	for (k = 0; k < 2; k++) {
		number = subgraph_of(sg, op, first_subgraph_input(op) + k);
		if (!c->known[number])
			return number;
	}
	return UINT32_MAX;
}

/*
 * Costs of subgraph @number and of all below it. Each operation of each subgraph is looked at once:
 * a place on the stack remembers how far it is. References have no cycle in a valid model.
 */
static bool add_subgraph_costs(struct costs *c, uint32_t number)
{
	struct place {
		uint32_t number;
		uint32_t operation;
	} *stack;
	uint32_t depth = 0, next;

	if (c->known[number])
		return true;
	stack = calloc(c->model->num_referenced, sizeof(*stack));
	if (!stack)
		return false;
	stack[0].number = number;
	for (;;) {
		struct place *top = &stack[depth];
		const struct nnhal_subgraph *sg = &c->model->referenced[top->number];

		if (top->operation == sg->num_operations) {
			c->known[top->number] = 1;
			if (!depth--)
				break;
			continue;
		}
		next = unknown_subgraph(c, sg, &sg->operations[top->operation]);
		if (next != UINT32_MAX) {
			stack[++depth] = (struct place){ .number = next };
			continue;
		}
		c->subgraphs[top->number] =
			sum(c->subgraphs[top->number],
			    operation_cost(c, sg, &sg->operations[top->operation++]));
	}
	free(stack);
	return true;
}

/* @model is valid. */
static enum nnhal_status cost_of(const struct nnhal_model *model,
				 const struct nnhal_capabilities *capabilities, uint32_t operation,
				 struct nnhal_performance_info *cost, struct nnhal_diag *diag)
{
	const struct nnhal_operation *op = &model->main.operations[operation];
	struct costs c = { .model = model, .capabilities = capabilities };
	uint32_t next = UINT32_MAX;
	bool good;

	c.subgraphs = calloc((size_t)model->num_referenced + 1,
			     sizeof(*c.subgraphs) + sizeof(*c.known));
	good = c.subgraphs;
	if (good)
		c.known = (uint8_t *)(c.subgraphs + model->num_referenced + 1);
	while (good && (next = unknown_subgraph(&c, &model->main, op)) != UINT32_MAX)
		good = add_subgraph_costs(&c, next);
	if (good)
		*cost = operation_cost(&c, &model->main, op);
	else
		diag_set(diag, "no memory for the costs of %u subgraphs", model->num_referenced);
	free(c.subgraphs);
	return good ? NNHAL_STATUS_NONE : NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnhal_status nnhal_model_get_operation_cost(const struct nnhal_model *model,
						 const struct nnhal_capabilities *capabilities,
						 uint32_t operation,
						 struct nnhal_performance_info *cost,
						 struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct model_copy copy;

	diag_clear(diag);
	if (!model || !capabilities || !cost) {
		diag_set(diag, "NULL pointer for model, capabilities or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = model_copy_init(&copy, model, diag);
	if (status)
		return status;
	status = validate_model(&copy.model, diag);
	if (!status && operation >= copy.model.main.num_operations) {
		diag_set(diag, "operation %u, but there are %u", operation,
			 copy.model.main.num_operations);
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!status)
		status = cost_of(&copy.model, capabilities, operation, cost, diag);
	model_copy_fini(&copy);
	return status;
}
