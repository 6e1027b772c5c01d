// SPDX-License-Identifier: MIT
/*
 * Resource variables.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_ops.h"
#include "references.h"
#include "resources.h"

/* Slots of the options tables, in the order of the schema. */
enum { HANDLE_CONTAINER, HANDLE_NAME };

/* Ways in which a file may bind resources to the inputs of one subgraph. */
#define MAX_EFFECTS	16

static bool has_resources(const struct tflite_model *tflite)
{
	uint32_t i, k;

	for (i = 0; i < tflite->num_subgraphs; i++)
		for (k = 0; k < tflite->subgraphs[i].num_operators; k++)
			if (tflite->subgraphs[i].operators[k].code == TFLITE_VAR_HANDLE)
				return true;
	return false;
}

int resources_init(struct map_model *model, struct nntflite_diag *diag)
{
	model->uses_resources = has_resources(model->tflite);
	if (!model->uses_resources)
		return 0;
	model->resources = calloc(MAX_RESOURCES, sizeof(*model->resources));
	return model->resources ? 0 : diag_fail_memory(diag);
}

static bool same_text(struct text a, struct text b)
{
	return a.length == b.length && (!a.length || !memcmp(a.data, b.data, a.length));
}

int find_resource(struct map_model *model, struct text container, struct text name)
{
	struct resource *r;
	uint32_t i;

	if (container.length > MAX_RESOURCE_NAME || name.length > MAX_RESOURCE_NAME)
		return -1;
	for (i = 0; i < model->num_resources; i++)
		if (same_text(model->resources[i].container, container) &&
		    same_text(model->resources[i].name, name))
			return (int)i;
	if (i == MAX_RESOURCES)
		return -1;
	r = &model->resources[model->num_resources++];
	r->container = container;
	r->name = name;
	r->initial_output = NNTFLITE_NONE;
	r->kept = -1;
	return (int)i;
}

static int handle(struct map_model *model, const struct fb_table *options)
{
	struct text container = fb_string(options, HANDLE_CONTAINER);

	return find_resource(model, container, fb_string(options, HANDLE_NAME));
}

/* A walk over a subgraph that looks for what it does to resources. */
struct walk {
	struct map_model *model;
	const struct tflite_subgraph *sub;
	uint32_t index;
	int *bound;			/* resource of each tensor, or -1 */
	struct effects *effects;
};

static int bound_at(const struct walk *w, const struct fb_vector *list, uint32_t pos)
{
	int32_t tensor = pos < list->count ? fb_vector_i32(list, pos) : -1;

	return tensor < 0 ? -1 : w->bound[tensor];
}

/* What is read or assigned first says what type and shape the variable has. */
static void first_use(struct map_model *model, int resource, uint32_t subgraph, uint32_t tensor)
{
	struct resource *r = &model->resources[resource];

	if (r->is_used)
		return;
	r->is_used = true;
	r->subgraph = subgraph;
	r->tensor = tensor;
}

static void note_use(struct walk *w, const struct fb_vector *values, uint32_t pos, int resource,
		     struct resource_set *set)
{
	int32_t tensor = pos < values->count ? fb_vector_i32(values, pos) : -1;

	if (resource < 0 || tensor < 0)
		return;
	set_add(set, (uint32_t)resource);
	first_use(w->model, resource, w->index, (uint32_t)tensor);
}

static const struct effects *walk(struct map_model *model, uint32_t index, const int *bindings,
				  uint32_t depth);

/* What an operator refers to: its effects are those of this one, too. */
static void walk_call(struct walk *w, const struct tflite_operator *op, uint32_t target,
		      uint32_t first, uint32_t depth)
{
	const struct tflite_subgraph *sub;
	const struct effects *inner;
	int *bindings;
	uint32_t i;

	if (target >= w->model->tflite->num_subgraphs || depth == 0)
		return;
	sub = &w->model->tflite->subgraphs[target];
	if (op->inputs.count != sub->inputs.count + first)
		return;
	bindings = malloc(((size_t)sub->inputs.count + 1) * sizeof(*bindings));
	if (!bindings) {
		diag_fail_memory(w->model->diag);
		return;
	}
	for (i = 0; i < sub->inputs.count; i++)
		bindings[i] = bound_at(w, &op->inputs, i + first);
	inner = walk(w->model, target, bindings, depth - 1);
	free(bindings);
	if (!inner)
		return;
	set_join(&w->effects->reads, &inner->reads);
	set_join(&w->effects->writes, &inner->writes);
	for (i = 0; i < op->outputs.count && i < sub->outputs.count; i++)
		if (inner->results[i] >= 0)
			w->bound[fb_vector_i32(&op->outputs, i)] = inner->results[i];
}

static void walk_operator(struct walk *w, const struct tflite_operator *op, uint32_t depth)
{
	struct fb_reader reader = w->model->tflite->reader;
	struct fb_table options = op->options;
	struct nntflite_diag ignored;
	struct references refs;
	uint32_t i;

	diag_init(&ignored);
	reader.diag = &ignored;
	options.reader = &reader;
	switch (op->code) {
	case TFLITE_VAR_HANDLE:
		if (op->outputs.count)
			w->bound[fb_vector_i32(&op->outputs, 0)] = handle(w->model, &options);
		break;
	case TFLITE_READ_VARIABLE:
		note_use(w, &op->outputs, 0, bound_at(w, &op->inputs, 0), &w->effects->reads);
		break;
	case TFLITE_ASSIGN_VARIABLE:
		note_use(w, &op->inputs, 1, bound_at(w, &op->inputs, 0), &w->effects->writes);
		break;
	default:
		if (!op_references(op, &reader, &refs))
			break;
		for (i = 0; i < refs.count; i++)
			walk_call(w, op, refs.subgraphs[i], refs.first, depth);
		break;
	}
}

/* Those found before; or else new ones, NULL without memory, with a message, or if there are too many. */
static struct effects *find_effects(struct map_model *model, uint32_t index, const int *bindings,
				    bool *is_new)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[index];
	struct nntflite_diag *diag = model->diag;
	struct effects *e;
	uint32_t count = 0;

	*is_new = false;
	for (e = model->effects[index]; e; e = e->next, count++)
		if (!memcmp(e->bindings, bindings, sub->inputs.count * sizeof(*bindings)))
			return e;
	if (count == MAX_EFFECTS)
		return NULL;
	e = hal_alloc(&model->builder, 1, sizeof(*e), diag);
	if (!e)
		return NULL;
	e->bindings = hal_alloc(&model->builder, (size_t)sub->inputs.count + 1, sizeof(int), diag);
	e->results = hal_alloc(&model->builder, (size_t)sub->outputs.count + 1, sizeof(int), diag);
	if (!e->bindings || !e->results)
		return NULL;
	memcpy(e->bindings, bindings, sub->inputs.count * sizeof(*bindings));
	memset(e->results, 0xff, sub->outputs.count * sizeof(int));
	/* Listed before the walk: a subgraph that reaches itself finds this entry. */
	e->next = model->effects[index];
	model->effects[index] = e;
	*is_new = true;
	return e;
}

static const struct effects *walk(struct map_model *model, uint32_t index, const int *bindings,
				  uint32_t depth)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[index];
	struct walk w = { .model = model, .sub = sub, .index = index };
	bool is_new;
	struct effects *e = find_effects(model, index, bindings, &is_new);
	uint32_t i;

	if (e && !is_new)
		return e;
	if (!e)
		return NULL;
	w.effects = e;
	w.bound = malloc(((size_t)sub->num_tensors + 1) * sizeof(*w.bound));
	if (!w.bound) {
		diag_fail_memory(model->diag);
		return NULL;
	}
	memset(w.bound, 0xff, ((size_t)sub->num_tensors + 1) * sizeof(*w.bound));
	for (i = 0; i < sub->inputs.count; i++)
		w.bound[fb_vector_i32(&sub->inputs, i)] = bindings[i];
	for (i = 0; i < sub->num_operators; i++)
		walk_operator(&w, &sub->operators[i], depth);
	for (i = 0; i < sub->outputs.count; i++)
		e->results[i] = w.bound[fb_vector_i32(&sub->outputs, i)];
	free(w.bound);
	return e;
}

const struct effects *effects_of(struct mapper *m, uint32_t index, const int *bindings)
{
	const struct effects *e = walk(m->model, index, bindings, MAX_DEPTH);

	if (!e)
		map_fail(m, "subgraph %" PRIu32 " is given variables in more than %d ways", index,
			 MAX_EFFECTS);
	/* What lacked memory further inside has left a message, and effects that are not complete. */
	return m->diag->message[0] ? NULL : e;
}

/* Its name in messages. */
#define RESOURCE_NAME(model, i)	TEXT((model)->resources[i].name)

int describe_resource(struct mapper *m, uint32_t resource, struct nnhal_operand *operand)
{
	struct resource *r = &m->model->resources[resource];
	const struct tflite_subgraph *sub = &m->tflite->subgraphs[r->subgraph];
	struct mapper there = {
		.model = m->model, .tflite = m->tflite, .sub = sub, .sub_index = r->subgraph,
		.b = m->b, .g = m->g, .diag = m->diag,
	};
	const struct tflite_tensor *tensor;
	uint32_t i;

	if (!r->is_used)
		return map_fail(m, "variable '%s' has neither type nor shape: nothing reads or assigns "
				"it", RESOURCE_NAME(m->model, resource));
	tensor = &sub->tensors[r->tensor];
	r->shape = (struct shape){ .rank = tensor->rank };
	for (i = 0; i < tensor->rank; i++) {
		r->shape.dims[i] = tensor->dims[i] > 0 ? (uint32_t)tensor->dims[i] : 0;
		if (tensor->dims[i] <= 0 || tensor->signature[i] != tensor->dims[i])
			return tensor_fail(&there, tensor, "variable '%s' needs a known shape, "
					   "dimension %" PRIu32 " is open",
					   RESOURCE_NAME(m->model, resource), i);
	}
	if (tensor->rank == 0)
		r->shape = (struct shape){ .rank = 1, .dims = { 1 }, .scalar = true };
	return describe_with_shape(&there, tensor, operand, &r->shape);
}

/* The resource that a tensor refers to; -1 with a message. */
static int resource_at(struct mapper *m, uint32_t pos)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	int resource = tensor && m->resource_of ? m->resource_of[tensor - m->sub->tensors] : -1;

	if (!tensor)
		return map_fail(m, "input %" PRIu32 " is missing", pos);
	if (resource < 0)
		return tensor_fail(m, tensor, "refers to no variable");
	return resource;
}

/* In the main subgraph a resource becomes a variable when it is used first. */
static int keep(struct mapper *m, uint32_t resource)
{
	struct resource *r = &m->model->resources[resource];
	struct nnhal_operand operand;

	if (r->kept >= 0)
		return 0;
	if (describe_resource(m, resource, &operand))
		return -1;
	r->kept = variable_keep(m, &operand, NNTFLITE_NONE, (int)resource);
	if (r->kept < 0)
		return -1;
	m->now[resource] = m->model->states_kept[r->kept].input;
	return 0;
}

int resource_place(struct mapper *m, uint32_t resource)
{
	if (!m->interface && keep(m, resource))
		return -1;
	if (m->now[resource] < 0)
		return map_fail(m, "variable '%s' has no value yet", RESOURCE_NAME(m->model, resource));
	return m->now[resource];
}

int resource_value(struct mapper *m, uint32_t resource)
{
	const struct resource *r = &m->model->resources[resource];

	if (resource_place(m, resource) < 0)
		return -1;
	if (!m->interface && m->now[resource] == m->model->states_kept[r->kept].input &&
	    !r->initial && r->initial_output == NNTFLITE_NONE)
		return map_fail(m, "variable '%s' is read before it is assigned: the file has no "
				"CALL_ONCE that does", RESOURCE_NAME(m->model, resource));
	return m->now[resource];
}

/* Is what is assigned, or read, what the variable holds? */
static int check_kind(struct mapper *m, const struct tflite_tensor *tensor, uint32_t resource,
		      const struct shape *shape)
{
	const struct resource *r = &m->model->resources[resource];
	struct nnhal_operand own, other;
	uint32_t i;

	first_use(m->model, (int)resource, m->sub_index, (uint32_t)(tensor - m->sub->tensors));
	if (describe_resource(m, resource, &own) ||
	    describe_with_shape(m, tensor, &other, shape))
		return -1;
	if (own.type != other.type || own.scale != other.scale ||
	    own.zero_point != other.zero_point)
		return tensor_fail(m, tensor, "type %s, or its quantization, is not that of variable '%s'",
				   tflite_type_name(tensor->type),
				   RESOURCE_NAME(m->model, resource));
	for (i = 0; i < shape->rank; i++)
		if (shape->rank != r->shape.rank ||
		    (shape->dims[i] && shape->dims[i] != r->shape.dims[i]))
			return tensor_fail(m, tensor, "its shape is not that of variable '%s'",
					   RESOURCE_NAME(m->model, resource));
	return 0;
}

int map_var_handle(struct mapper *m, uint32_t type)
{
	struct text container = fb_string(&m->options, HANDLE_CONTAINER);
	struct text name = fb_string(&m->options, HANDLE_NAME);
	int resource = find_resource(m->model, container, name);

	(void)type;
	if (container.length > MAX_RESOURCE_NAME || name.length > MAX_RESOURCE_NAME)
		return map_fail(m, "a variable whose name has %zu and %zu bytes, at most %d are"
				" supported", container.length, name.length, MAX_RESOURCE_NAME);
	if (resource < 0)
		return map_fail(m, "more than %d variables", MAX_RESOURCES);
	m->resource_of[fb_vector_i32(&m->op->outputs, 0)] = resource;
	return 0;
}

int map_read_variable(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *tensor = output_tensor(m, 0);
	int resource = resource_at(m, 0);
	int value;

	(void)type;
	if (resource < 0 || check_output(m, 0) ||
	    check_kind(m, tensor, (uint32_t)resource, tensor_shape(m, tensor)))
		return -1;
	value = resource_value(m, (uint32_t)resource);
	if (value < 0)
		return -1;
	/* No operation: later assignments give the variable another operand. */
	m->operand_of[tensor - m->sub->tensors] = value;
	return 0;
}

int map_assign_variable(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *tensor = input_tensor(m, 1);
	int resource = resource_at(m, 0);
	int value;

	(void)type;
	if (!tensor)
		return map_fail(m, "input 1 is missing");
	if (resource < 0 ||
	    check_kind(m, tensor, (uint32_t)resource, tensor_shape(m, tensor)) ||
	    (!m->interface && keep(m, (uint32_t)resource)))
		return -1;
	value = tensor->is_variable && !(m->role[tensor - m->sub->tensors] & ROLE_INPUT) ?
		variable_operand(m, 1) : value_operand(m, tensor);
	if (value < 0)
		return -1;
	m->now[resource] = value;
	return 0;
}

void resources_go_back(struct mapper *m, const int *now)
{
	uint32_t i;

	for (i = 0; i < m->model->num_resources; i++) {
		struct resource *r = &m->model->resources[i];

		m->now[i] = now[i];
		if (!m->interface && r->kept >= (int)m->model->num_variables) {
			r->kept = -1;
			m->now[i] = -1;
		}
	}
}

/* The value of an initializer that lies in the file needs no operation. */
static bool is_in_file(const struct mapper *m, int operand)
{
	const struct tflite_tensor *tensor;

	if (m->g->operands[operand].lifetime != NNHAL_LIFETIME_CONSTANT_REFERENCE)
		return false;
	tensor = &m->sub->tensors[m->g->operand_origins[operand]];
	return !tensor->sparsity.present && !tensor->is_packed;
}

int resources_finish(struct mapper *m)
{
	struct map_model *model = m->model;
	uint32_t i;

	for (i = 0; i < model->num_resources; i++) {
		struct map_variable *v = model->resources[i].kept < 0 ? NULL :
					 &model->states_kept[model->resources[i].kept];
		struct nnhal_operand operand;

		if (!v || m->now[i] == v->input)
			continue;
		if (model->is_initializer && is_in_file(m, m->now[i]))
			continue;
		if (describe_resource(m, i, &operand))
			return -1;
		v->output = copy_operand(m, m->now[i], &operand, NNHAL_LIFETIME_SUBGRAPH_OUTPUT);
		if (v->output < 0)
			return -1;
	}
	return 0;
}

void resources_free(struct map_model *model)
{
	free(model->resources);
	free(model->effects);
}
