// SPDX-License-Identifier: MIT
/*
 * IF, WHILE and CALL, and what does the same in StableHLO.
 *
 * The HAL has no CALL: it becomes an IF whose condition is always true. What a subgraph does
 * to variables goes through its inputs and outputs (resources.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "map_ops.h"
#include "references.h"

/**
 * struct reference - a reference of the operator to one or two subgraphs
 * @first: the inputs of the subgraphs begin at this one of the operator
 * @num_inputs: number of these inputs
 * @shapes: their shapes
 * @bindings: resources that they refer to, -1 for tensors
 * @reads: variables that the subgraphs read
 * @writes: those that they assign
 * @results: resources that the outputs refer to, -1 for tensors
 * @operands: operands of the operation
 * @num_operands: number of @operands
 * @outputs: results of the operation
 * @num_outputs: number of @outputs
 */
struct reference {
	uint32_t first;
	uint32_t num_inputs;
	struct shape *shapes;
	int *bindings;
	struct resource_set reads;
	struct resource_set writes;
	const int *results;
	int *operands;
	uint32_t num_operands;
	int *outputs;
	uint32_t num_outputs;
};

/* To be released with reference_fini(), also after an error. */
static int reference_init(struct mapper *m, struct reference *ref, uint32_t first)
{
	size_t inputs = m->op->inputs.count, outputs = m->op->outputs.count;
	size_t variables = m->resource_of ? MAX_RESOURCES : 0;
	uint32_t i;

	*ref = (struct reference){ .first = first, .num_inputs = (uint32_t)inputs - first };
	ref->shapes = calloc(inputs + 1, sizeof(*ref->shapes));
	ref->bindings = calloc(inputs + 1, sizeof(*ref->bindings));
	ref->operands = calloc(inputs + 4 + variables, sizeof(*ref->operands));
	ref->outputs = calloc(outputs + 1 + variables, sizeof(*ref->outputs));
	if (!ref->shapes || !ref->bindings || !ref->operands || !ref->outputs)
		return diag_fail_memory(m->diag);
	for (i = 0; i < ref->num_inputs; i++) {
		const struct tflite_tensor *tensor = input_tensor(m, first + i);

		if (!tensor)
			return map_fail(m, "input %" PRIu32 " is missing", first + i);
		ref->shapes[i] = *tensor_shape(m, tensor);
		ref->bindings[i] = m->resource_of ? m->resource_of[tensor - m->sub->tensors] : -1;
		if (tensor->type == TFLITE_RESOURCE && ref->bindings[i] < 0)
			return tensor_fail(m, tensor, "refers to no variable");
	}
	return 0;
}

static void reference_fini(struct reference *ref)
{
	free(ref->shapes);
	free(ref->bindings);
	free(ref->operands);
	free(ref->outputs);
}

/* Does the subgraph take what the operator gives it? */
static int check_inputs(struct mapper *m, const struct reference *ref, uint32_t index,
			const char *what)
{
	const struct tflite_subgraph *sub = &m->tflite->subgraphs[index];
	struct mapper there = { .model = m->model, .sub = sub, .sub_index = index, .b = m->b,
				.diag = m->diag };
	struct nnhal_operand outer, inner;
	uint32_t i;

	for (i = 0; i < ref->num_inputs; i++) {
		const struct tflite_tensor *tensor = input_tensor(m, ref->first + i);
		uint32_t position = (uint32_t)fb_vector_i32(&sub->inputs, i);

		if (ref->bindings[i] >= 0)
			continue;
		if (describe_with_shape(m, tensor, &outer, &ref->shapes[i]) ||
		    describe_with_shape(&there, &sub->tensors[position], &inner, &ref->shapes[i]))
			return -1;
		if (inner.type != outer.type || inner.scale != outer.scale ||
		    inner.zero_point != outer.zero_point)
			return tensor_fail(m, tensor, "input %" PRIu32 " of subgraph %" PRIu32
					   " (%s) has another type or quantization", i, index, what);
	}
	return 0;
}

/* Does the subgraph exist, with these inputs and outputs? Its variables are noted. */
static int refer(struct mapper *m, struct reference *ref, uint32_t index, uint32_t num_outputs,
		 const char *what)
{
	const struct tflite_subgraph *sub;
	const struct effects *effects;

	if (index >= m->tflite->num_subgraphs)
		return map_fail(m, "%s: subgraph %" PRIu32 " of %" PRIu32 " does not exist", what,
				index, m->tflite->num_subgraphs);
	sub = &m->tflite->subgraphs[index];
	if (sub->inputs.count != ref->num_inputs)
		return map_fail(m, "%s: subgraph %" PRIu32 " has %" PRIu32 " inputs, expected %"
				PRIu32, what, index, sub->inputs.count, ref->num_inputs);
	if (sub->outputs.count != num_outputs)
		return map_fail(m, "%s: subgraph %" PRIu32 " has %" PRIu32 " outputs, expected %"
				PRIu32, what, index, sub->outputs.count, num_outputs);
	if (check_inputs(m, ref, index, what))
		return -1;
	if (!m->resource_of)
		return 0;
	effects = effects_of(m, index, ref->bindings);
	if (!effects)
		return -1;
	set_join(&ref->reads, &effects->reads);
	set_join(&ref->writes, &effects->writes);
	ref->results = effects->results;
	return 0;
}

/* Does nothing go into the subgraphs? */
static bool is_unread(const struct reference *ref)
{
	uint32_t i;

	for (i = 0; i < MAX_RESOURCES / 64; i++)
		if (ref->reads.bits[i] | ref->writes.bits[i])
			return false;
	for (i = 0; i < ref->num_inputs; i++)
		if (ref->bindings[i] < 0)
			return false;
	return true;
}

/* The subgraph with the variables of the reference; NULL with a message. */
static const struct instance *instance_of(struct mapper *m, const struct reference *ref,
					  uint32_t index, bool is_condition)
{
	struct interface interface = {
		.subgraph = index,
		.num_inputs = ref->num_inputs,
		.shapes = ref->shapes,
		.bindings = ref->bindings,
		.first = ref->writes,
		.gives = !is_condition,
		.is_unread = is_unread(ref),
		.is_condition = is_condition,
	};
	const struct instance *instance;
	uint32_t i;

	for (i = 0; i < MAX_RESOURCES / 64; i++)
		interface.rest.bits[i] = ref->reads.bits[i] & ~ref->writes.bits[i];
	instance = map_instance(m, &interface);
	if (!instance)
		return NULL;
	m->weight += instance->weight;
	if (m->weight > MAX_WEIGHT)
		return map_fail(m, "one run would run more than %u operators", MAX_WEIGHT), NULL;
	return instance;
}

static int put_subgraph(struct mapper *m, struct reference *ref, const struct instance *instance)
{
	int operand = hal_add_subgraph(m->g, instance->number, m->diag);

	ref->operands[ref->num_operands++] = operand;
	return operand < 0 ? -1 : 0;
}

/* The value of a variable before the operator; one that is not read may have any. */
static int variable_before(struct mapper *m, const struct reference *ref, uint32_t resource)
{
	return set_has(&ref->reads, resource) ? resource_value(m, resource) :
						resource_place(m, resource);
}

/* Inputs: the tensors, then the variables that are assigned, then those that are only read. */
static int put_values(struct mapper *m, struct reference *ref)
{
	uint32_t i, turn;

	for (i = 0; i < ref->num_inputs; i++) {
		const struct tflite_tensor *tensor = input_tensor(m, ref->first + i);
		bool is_variable = tensor->is_variable &&
				   !(m->role[tensor - m->sub->tensors] & ROLE_INPUT);
		int operand;

		if (ref->bindings[i] >= 0)
			continue;
		operand = is_variable ? variable_operand(m, ref->first + i) :
					value_operand(m, tensor);
		if (operand < 0)
			return -1;
		ref->operands[ref->num_operands++] = operand;
	}
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < m->model->num_resources; i++) {
			int operand;

			if (turn == 0 ? !set_has(&ref->writes, i) :
			    set_has(&ref->writes, i) || !set_has(&ref->reads, i))
				continue;
			operand = variable_before(m, ref, i);
			if (operand < 0)
				return -1;
			ref->operands[ref->num_operands++] = operand;
		}
	}
	return 0;
}

/* Behind the outputs of the operator: new values of variables. */
static int put_new_values(struct mapper *m, struct reference *ref)
{
	uint32_t i;

	for (i = 0; i < m->model->num_resources; i++) {
		struct nnhal_operand operand;

		if (!set_has(&ref->writes, i))
			continue;
		if (describe_resource(m, i, &operand))
			return -1;
		operand.lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
		m->now[i] = hal_add_operand(m->g, &operand, HAL_NO_ORIGIN, m->diag);
		if (m->now[i] < 0)
			return -1;
		ref->outputs[ref->num_outputs++] = m->now[i];
	}
	return 0;
}

/* The shape of a result of a subgraph. */
static void result_shape(const struct instance *instance, uint32_t output, struct shape *shape)
{
	const struct nnhal_operand *o = &instance->graph->operands[instance->graph->outputs[output]];
	uint32_t i;

	*shape = (struct shape){ .rank = o->num_dimensions };
	for (i = 0; i < shape->rank; i++)
		shape->dims[i] = o->dimensions[i];
}

/* Do two operands that are the same value on both sides of a reference agree? */
static int check_result(struct mapper *m, uint32_t pos, const struct instance *instance,
			uint32_t output, const struct shape *shape)
{
	const struct nnhal_operand *inner =
		&instance->graph->operands[instance->graph->outputs[output]];
	const struct tflite_tensor *tensor = output_tensor(m, pos);
	struct nnhal_operand outer;
	uint32_t i;

	if (describe_with_shape(m, tensor, &outer, shape))
		return -1;
	if (inner->type != outer.type || inner->scale != outer.scale ||
	    inner->zero_point != outer.zero_point)
		return tensor_fail(m, tensor, "output %" PRIu32 " of subgraph %" PRIu32
				   " has another type or quantization", output,
				   instance->interface.subgraph);
	if (!inner->num_dimensions || !shape->rank)
		return 0;
	for (i = 0; i < shape->rank; i++)
		if (inner->num_dimensions != shape->rank ||
		    (inner->dimensions[i] && shape->dims[i] &&
		     inner->dimensions[i] != shape->dims[i]))
			return tensor_fail(m, tensor, "output %" PRIu32 " of subgraph %" PRIu32
					   " has another shape", output,
					   instance->interface.subgraph);
	return 0;
}

/* What is known of a value that comes from one of two subgraphs. */
static void join_shapes(struct shape *a, const struct shape *b)
{
	uint32_t i;

	if (a->rank != b->rank) {
		*a = (struct shape){ .rank = 0 };
		return;
	}
	for (i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i])
			a->dims[i] = 0;
}

/* Output @pos refers to a resource: it is no operand. 0 or -1. */
static int bind_output(struct mapper *m, uint32_t pos, int resource)
{
	if (check_output(m, pos))
		return -1;
	m->resource_of[fb_vector_i32(&m->op->outputs, pos)] = resource;
	return 0;
}

static int branch_outputs(struct mapper *m, struct reference *ref, const struct instance *then,
			  const struct instance *otherwise)
{
	uint32_t i, output = 0;

	for (i = 0; i < m->op->outputs.count; i++) {
		const struct shape *said = tensor_shape(m, output_tensor(m, i));
		struct shape shape, other;
		int operand;

		if (ref->results && ref->results[i] >= 0) {
			if (bind_output(m, i, ref->results[i]))
				return -1;
			continue;
		}
		result_shape(then, output, &shape);
		result_shape(otherwise, output, &other);
		join_shapes(&shape, &other);
		if (shape_is_known(said))
			shape = *said;
		if (check_result(m, i, then, output, &shape) ||
		    check_result(m, i, otherwise, output, &shape))
			return -1;
		operand = output_operand_of_shape(m, i, &shape);
		if (operand < 0)
			return -1;
		ref->outputs[ref->num_outputs++] = operand;
		output++;
	}
	return put_new_values(m, ref);
}

static int finish(struct mapper *m, uint32_t type, const struct reference *ref)
{
	return add_operation_outputs(m, type, ref->operands, ref->num_operands, ref->outputs,
				     ref->num_outputs);
}

static int add_branches(struct mapper *m, struct reference *ref, int condition,
			const struct references *refs)
{
	uint32_t then_index = refs->subgraphs[0], else_index = refs->subgraphs[refs->count - 1];
	const struct instance *then, *otherwise;
	const int *results;

	if (refer(m, ref, then_index, m->op->outputs.count, refs->count == 2 ? "then" : "callee"))
		return -1;
	results = ref->results;
	if (refer(m, ref, else_index, m->op->outputs.count, "else"))
		return -1;
	if (results && memcmp(results, ref->results, m->op->outputs.count * sizeof(*results)))
		return map_fail(m, "the branches give different variables");
	ref->operands[ref->num_operands++] = condition;
	then = instance_of(m, ref, then_index, false);
	otherwise = then ? instance_of(m, ref, else_index, false) : NULL;
	if (!otherwise)
		return -1;
	/* What computes nothing and assigns nothing is nothing. */
	if (!then->graph->num_outputs)
		return branch_outputs(m, ref, then, otherwise);
	if (put_subgraph(m, ref, then) || put_subgraph(m, ref, otherwise) ||
	    put_values(m, ref) || branch_outputs(m, ref, then, otherwise))
		return -1;
	if (then->interface.is_unread)
		ref->operands[ref->num_operands++] = condition;
	return finish(m, NNHAL_OPERATION_IF, ref);
}

static int map_branches(struct mapper *m, int condition, const struct references *refs)
{
	struct reference ref;
	int ret = reference_init(m, &ref, refs->first);

	if (!ret)
		ret = condition < 0 ? -1 : add_branches(m, &ref, condition, refs);
	reference_fini(&ref);
	return ret;
}

int condition_operand(struct mapper *m, const struct tflite_tensor *tensor)
{
	static const struct shape one = { .rank = 1, .dims = { 1 } };
	const struct shape *shape = tensor_shape(m, tensor);
	int inputs[2], output;

	if (tensor->type != TFLITE_BOOL)
		return tensor_fail(m, tensor, "a condition of type %s, expected bool",
				   tflite_type_name(tensor->type));
	if (shape_is_known(shape) && shape_elements(shape) != 1)
		return tensor_fail(m, tensor, "a condition of %" PRIu64 " elements, expected one",
				   shape_elements(shape));
	inputs[0] = value_operand(m, tensor);
	if (inputs[0] < 0 || (shape->rank == 1 && shape->dims[0] == 1))
		return inputs[0];
	inputs[1] = int32_vector_operand(m, (const int32_t[]){ 1 }, 1);
	output = inputs[1] < 0 ? -1 : temporary_operand(m, (uint32_t)inputs[0], &one);
	if (output < 0 || add_operation(m, HAL_EXTENSION_CODE(TFLITE_RESHAPE), inputs, 2, output))
		return -1;
	return output;
}

int map_if(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *tensor = input_tensor(m, 0);
	struct references refs;

	(void)type;
	if (!tensor)
		return map_fail(m, "input 0 is missing");
	op_references(m->op, &m->reader, &refs);
	return map_branches(m, condition_operand(m, tensor), &refs);
}

int map_call(struct mapper *m, uint32_t type)
{
	struct nnhal_operand condition = {
		.type = NNHAL_OPERAND_TENSOR_BOOL8, .num_dimensions = 1,
		.dimensions = (const uint32_t[]){ 1 },
	};
	uint8_t always = 1;
	struct references refs;

	(void)type;
	op_references(m->op, &m->reader, &refs);
	return map_branches(m, hal_add_copied(m->g, &condition, &always, 1, HAL_NO_ORIGIN, m->diag),
			    &refs);
}

/* Is the index of a branch that of the first of two? */
static int index_operand(struct mapper *m, const struct tflite_tensor *tensor)
{
	struct nnhal_operand condition = {
		.type = NNHAL_OPERAND_TENSOR_BOOL8, .num_dimensions = 1,
		.dimensions = (const uint32_t[]){ 1 },
		.lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE,
	};
	const struct shape *shape = tensor_shape(m, tensor);
	int inputs[2], output;

	if (tensor->type != TFLITE_INT32 || shape->rank != 1 || shape->dims[0] != 1)
		return tensor_fail(m, tensor, "the index of a branch has to be one int32");
	inputs[0] = value_operand(m, tensor);
	inputs[1] = inputs[0] < 0 ? -1 : int32_vector_operand(m, (const int32_t[]){ 0 }, 1);
	output = inputs[1] < 0 ? -1 : hal_add_operand(m->g, &condition, HAL_NO_ORIGIN, m->diag);
	if (output < 0 || add_operation(m, HAL_EXTENSION_CODE(TFLITE_EQUAL), inputs, 2, output))
		return -1;
	return output;
}

int map_case(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *tensor = input_tensor(m, 0);
	struct references refs;

	if (!tensor)
		return map_fail(m, "input 0 is missing");
	if (!op_references(m->op, &m->reader, &refs))
		return map_fail(m, "only one or two branches are supported: the HAL's IF has two");
	if (refs.count == 1)
		return map_call(m, type);
	return map_branches(m, index_operand(m, tensor), &refs);
}

/* The HAL's loops carry values of known sizes, the same in each round. */
static int check_loop(struct mapper *m, const struct reference *ref, const struct instance *body)
{
	uint32_t i, output = 0;

	for (i = 0; i < ref->num_inputs; i++) {
		struct shape shape;

		if (ref->results && ref->results[i] != ref->bindings[i])
			return map_fail(m, "output %" PRIu32 " of the body is another variable than "
					"input %" PRIu32, i, i);
		if (ref->bindings[i] >= 0)
			continue;
		if (!shape_is_known(&ref->shapes[i]))
			return tensor_fail(m, input_tensor(m, i), "the HAL's WHILE needs values of known "
					   "size");
		result_shape(body, output, &shape);
		if (!shape_is_known(&shape))
			return tensor_fail(m, output_tensor(m, i), "its size may change from round to "
					   "round, which the HAL's WHILE does not allow");
		if (check_result(m, i, body, output, &ref->shapes[i]))
			return -1;
		output++;
	}
	return 0;
}

static int loop_outputs(struct mapper *m, struct reference *ref)
{
	uint32_t i;

	for (i = 0; i < m->op->outputs.count; i++) {
		int operand;

		if (ref->bindings[i] >= 0) {
			if (bind_output(m, i, ref->bindings[i]))
				return -1;
			continue;
		}
		operand = output_operand_of_shape(m, i, &ref->shapes[i]);
		if (operand < 0)
			return -1;
		ref->outputs[ref->num_outputs++] = operand;
	}
	return put_new_values(m, ref);
}

static int add_loop(struct mapper *m, struct reference *ref, const struct references *refs)
{
	uint32_t condition_index = refs->subgraphs[0], body_index = refs->subgraphs[1];
	const struct instance *condition, *body;
	struct resource_set none = { { 0 } };

	if (refer(m, ref, condition_index, 1, "condition"))
		return -1;
	if (memcmp(&ref->writes, &none, sizeof(none)))
		return map_fail(m, "its condition assigns a variable, which the HAL's WHILE does not "
				"allow");
	if (refer(m, ref, body_index, m->op->outputs.count, "body"))
		return -1;
	if (is_unread(ref))
		return map_fail(m, "a loop that carries no value");
	condition = instance_of(m, ref, condition_index, true);
	body = condition ? instance_of(m, ref, body_index, false) : NULL;
	if (!body || check_loop(m, ref, body))
		return -1;
	if (!body->graph->num_outputs)
		return loop_outputs(m, ref);
	if (put_subgraph(m, ref, condition) || put_subgraph(m, ref, body) || put_values(m, ref) ||
	    loop_outputs(m, ref))
		return -1;
	return finish(m, NNHAL_OPERATION_WHILE, ref);
}

int map_while(struct mapper *m, uint32_t type)
{
	struct references refs;
	struct reference ref;
	int ret;

	(void)type;
	op_references(m->op, &m->reader, &refs);
	if (m->op->outputs.count != m->op->inputs.count)
		return map_fail(m, "%" PRIu32 " outputs for %" PRIu32 " inputs", m->op->outputs.count,
				m->op->inputs.count);
	ret = reference_init(m, &ref, 0);
	if (!ret)
		ret = add_loop(m, &ref, &refs);
	reference_fini(&ref);
	return ret;
}
