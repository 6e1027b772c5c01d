// SPDX-License-Identifier: MIT
/*
 * Rules of control flow: IF, WHILE and the subgraphs they refer to.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "model/validate.h"

/* One IF or WHILE being checked. */
struct control {
	const struct nnhal_model *model;
	const struct nnhal_subgraph *sg;
	const struct nnhal_operation *op;
	const char *where;
	uint32_t number;
	struct nnhal_diag *diag;
};

#define FAIL(c, fmt, ...) \
	(diag_set((c)->diag, "%soperation %u (%s) " fmt, (c)->where, (c)->number, \
		  nnhal_operation_type_name((c)->op->type), ##__VA_ARGS__), false)

static const struct nnhal_operand *outer_input(const struct control *c, uint32_t i)
{
	return &c->sg->operands[c->op->inputs[i]];
}

static const struct nnhal_operand *outer_output(const struct control *c, uint32_t i)
{
	return &c->sg->operands[c->op->outputs[i]];
}

static const struct nnhal_operand *inner_input(const struct nnhal_subgraph *sg, uint32_t i)
{
	return &sg->operands[sg->input_indexes[i]];
}

static const struct nnhal_operand *inner_output(const struct nnhal_subgraph *sg, uint32_t i)
{
	return &sg->operands[sg->output_indexes[i]];
}

/* Operand @i of the operation as a subgraph; NULL with a message if it is none. */
static const struct nnhal_subgraph *subgraph_input(const struct control *c, uint32_t i)
{
	const struct nnhal_operand *op = outer_input(c, i);

	if (op->lifetime != NNHAL_LIFETIME_SUBGRAPH ||
	    op->location.offset >= c->model->num_referenced) {
		(void)FAIL(c, "input %u: not a subgraph", i);
		return NULL;
	}
	return &c->model->referenced[op->location.offset];
}

/* A TENSOR_BOOL8 of shape [1]. */
static bool is_condition(const struct nnhal_operand *op)
{
	return op->type == NNHAL_OPERAND_TENSOR_BOOL8 && op->num_dimensions == 1 &&
	       op->dimensions[0] == 1;
}

static bool same_extra_params(const struct nnhal_operand *a, const struct nnhal_operand *b)
{
	const struct nnhal_channel_quant *qa = &a->extra_params.channel_quant;
	const struct nnhal_channel_quant *qb = &b->extra_params.channel_quant;

	if (a->extra_params.kind != b->extra_params.kind)
		return false;
	if (a->extra_params.kind == NNHAL_EXTRA_PARAMS_EXTENSION)
		return a->extra_params.extension_size == b->extra_params.extension_size &&
		       (!a->extra_params.extension_size ||
			!memcmp(a->extra_params.extension, b->extra_params.extension,
				a->extra_params.extension_size));
	if (a->extra_params.kind != NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		return true;
	return qa->channel_dim == qb->channel_dim && qa->num_scales == qb->num_scales &&
	       (!qa->num_scales ||
		!memcmp(qa->scales, qb->scales, qa->num_scales * sizeof(*qa->scales)));
}

/* Values pass from one to the other: type, known dimensions and quantization must agree. */
static bool same_kind(const struct control *c, const char *what, uint32_t i,
		      const struct nnhal_operand *a, const struct nnhal_operand *b)
{
	uint32_t d;

	if (a->type != b->type)
		return FAIL(c, "%s %u: %s in one graph, %s in the other", what, i,
			    nnhal_operand_type_name(a->type), nnhal_operand_type_name(b->type));
	if (a->num_dimensions && b->num_dimensions) {
		if (a->num_dimensions != b->num_dimensions)
			return FAIL(c, "%s %u: rank %u in one graph, %u in the other", what, i,
				    a->num_dimensions, b->num_dimensions);
		for (d = 0; d < a->num_dimensions; d++)
			if (a->dimensions[d] && b->dimensions[d] &&
			    a->dimensions[d] != b->dimensions[d])
				return FAIL(c, "%s %u: dimension %u is %u in one graph, %u in the other",
					    what, i, d, a->dimensions[d], b->dimensions[d]);
	}
	if (a->scale != b->scale || a->zero_point != b->zero_point ||
	    !same_extra_params(a, b))
		return FAIL(c, "%s %u: quantization differs between the graphs", what, i);
	return true;
}

static bool check_branch(const struct control *c, uint32_t position)
{
	const struct nnhal_subgraph *branch = subgraph_input(c, position);
	uint32_t i;

	if (!branch)
		return false;
	if (branch->num_inputs != c->op->num_inputs - 3)
		return FAIL(c, "input %u: branch has %u inputs, expected %u", position,
			    branch->num_inputs, c->op->num_inputs - 3);
	if (branch->num_outputs != c->op->num_outputs)
		return FAIL(c, "input %u: branch has %u outputs, expected %u", position,
			    branch->num_outputs, c->op->num_outputs);
	for (i = 0; i < branch->num_inputs; i++)
		if (!same_kind(c, "input", i + 3, outer_input(c, i + 3), inner_input(branch, i)))
			return false;
	for (i = 0; i < branch->num_outputs; i++)
		if (!same_kind(c, "output", i, outer_output(c, i), inner_output(branch, i)))
			return false;
	return true;
}

static bool check_if(const struct control *c)
{
	if (c->op->num_inputs < 3 || !c->op->num_outputs)
		return FAIL(c, "has %u inputs and %u outputs, expected at least 3 and 1",
			    c->op->num_inputs, c->op->num_outputs);
	if (!is_condition(outer_input(c, 0)))
		return FAIL(c, "input 0: expected TENSOR_BOOL8 of shape [1]");
	return check_branch(c, 1) && check_branch(c, 2);
}

static bool known_size(const struct control *c, const char *what, uint32_t i,
		       const struct nnhal_operand *op)
{
	if (nnhal_tensor_has_unspecified_dimensions(op->type, op->dimensions,
						    op->num_dimensions))
		return FAIL(c, "%s %u: size is not known", what, i);
	return true;
}

static bool check_condition_graph(const struct control *c)
{
	const struct nnhal_subgraph *cond = subgraph_input(c, 0);
	uint32_t i;

	if (!cond)
		return false;
	if (cond->num_inputs != c->op->num_inputs - 2)
		return FAIL(c, "condition has %u inputs, expected %u", cond->num_inputs,
			    c->op->num_inputs - 2);
	if (cond->num_outputs != 1 || !is_condition(inner_output(cond, 0)))
		return FAIL(c, "condition: expected one output, TENSOR_BOOL8 of shape [1]");
	for (i = 0; i < cond->num_inputs; i++)
		if (!same_kind(c, "condition input", i, outer_input(c, i + 2),
			       inner_input(cond, i)) ||
		    !known_size(c, "condition input", i, inner_input(cond, i)))
			return false;
	return true;
}

static bool check_body_graph(const struct control *c)
{
	const struct nnhal_subgraph *body = subgraph_input(c, 1);
	uint32_t i;

	if (!body)
		return false;
	if (body->num_inputs != c->op->num_inputs - 2)
		return FAIL(c, "body has %u inputs, expected %u", body->num_inputs,
			    c->op->num_inputs - 2);
	if (body->num_outputs < c->op->num_outputs || body->num_outputs > body->num_inputs)
		return FAIL(c, "body has %u outputs, expected %u to %u", body->num_outputs,
			    c->op->num_outputs, body->num_inputs);
	for (i = 0; i < body->num_inputs; i++)
		if (!same_kind(c, "body input", i, outer_input(c, i + 2), inner_input(body, i)) ||
		    !known_size(c, "body input", i, inner_input(body, i)))
			return false;
	for (i = 0; i < body->num_outputs; i++)
		if (!same_kind(c, "body output", i, inner_input(body, i), inner_output(body, i)) ||
		    !known_size(c, "body output", i, inner_output(body, i)))
			return false;
	return true;
}

static bool check_while(const struct control *c)
{
	uint32_t i;

	if (c->op->num_inputs < 3 || !c->op->num_outputs)
		return FAIL(c, "has %u inputs and %u outputs, expected at least 3 and 1",
			    c->op->num_inputs, c->op->num_outputs);
	if (c->op->num_outputs > c->op->num_inputs - 2)
		return FAIL(c, "has %u outputs, expected at most %u", c->op->num_outputs,
			    c->op->num_inputs - 2);
	if (!check_condition_graph(c) || !check_body_graph(c))
		return false;
	for (i = 2; i < c->op->num_inputs; i++)
		if (!known_size(c, "input", i, outer_input(c, i)))
			return false;
	for (i = 0; i < c->op->num_outputs; i++)
		if (!same_kind(c, "output", i, outer_input(c, i + 2), outer_output(c, i)) ||
		    !known_size(c, "output", i, outer_output(c, i)))
			return false;
	return true;
}

bool validate_control_flow(const struct nnhal_model *model, const struct nnhal_subgraph *sg,
			   const char *where, uint32_t operation, struct nnhal_diag *diag)
{
	const struct control c = {
		.model = model, .sg = sg, .op = &sg->operations[operation],
		.where = where, .number = operation, .diag = diag,
	};

	return c.op->type == NNHAL_OPERATION_IF ? check_if(&c) : check_while(&c);
}

/*
 * Depth-first walk over the references. Each subgraph is entered once, so the time is linear
 * however often subgraphs are shared. The stack is an array with one entry per subgraph.
 */
enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

struct frame {
	const struct nnhal_subgraph *sg;
	uint32_t number;
	uint32_t next_operand;
};

/* Next subgraph that @frame refers to, or UINT32_MAX. */
static uint32_t next_reference(struct frame *frame)
{
	while (frame->next_operand < frame->sg->num_operands) {
		const struct nnhal_operand *op = &frame->sg->operands[frame->next_operand++];

		if (op->lifetime == NNHAL_LIFETIME_SUBGRAPH)
			return op->location.offset;
	}
	return UINT32_MAX;
}

static bool walk_references(const struct nnhal_model *model, struct frame *stack,
			    uint8_t *marks, struct nnhal_diag *diag)
{
	uint32_t depth = 0, next;

	/* The main subgraph is at the bottom; no operand can refer to it. */
	stack[0] = (struct frame){ .sg = &model->main, .number = UINT32_MAX };
	for (;;) {
		next = next_reference(&stack[depth]);
		if (next == UINT32_MAX) {
			if (!depth)
				return true;
			marks[stack[depth--].number] = MARK_DONE;
		} else if (marks[next] == MARK_OPEN) {
			diag_set(diag, "subgraph %u refers to itself, directly or through others",
				 next);
			return false;
		} else if (marks[next] == MARK_NEW) {
			marks[next] = MARK_OPEN;
			stack[++depth] = (struct frame){
				.sg = &model->referenced[next], .number = next,
			};
		}
	}
}

enum nnhal_status validate_references(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	size_t count = model->num_referenced;
	struct frame *stack;
	uint8_t *marks;
	uint32_t i;
	bool valid;

	if (!count)
		return NNHAL_STATUS_NONE;
	stack = calloc(count + 1, sizeof(*stack) + sizeof(*marks));
	if (!stack) {
		diag_set(diag, "no memory to check %zu subgraphs", count);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	marks = (uint8_t *)(stack + count + 1);
	valid = walk_references(model, stack, marks, diag);
	for (i = 0; valid && i < count; i++)
		if (marks[i] == MARK_NEW) {
			diag_set(diag, "subgraph %u: nothing refers to it", i);
			valid = false;
		}
	free(stack);
	return valid ? NNHAL_STATUS_NONE : NNHAL_STATUS_INVALID_ARGUMENT;
}
