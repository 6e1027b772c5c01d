// SPDX-License-Identifier: MIT
/*
 * Subgraphs that IF, WHILE and CALL refer to.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "map_graph.h"

/* Shapes and variables with which one subgraph may be referred to. */
#define MAX_INSTANCES	16

static bool same_shape(const struct shape *a, const struct shape *b)
{
	return a->rank == b->rank && a->scalar == b->scalar &&
	       !memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims));
}

static bool same_interface(const struct interface *a, const struct interface *b)
{
	uint32_t i;

	/* @is_unread follows from the rest. */
	if (a->subgraph != b->subgraph || a->gives != b->gives ||
	    a->is_condition != b->is_condition || memcmp(&a->first, &b->first, sizeof(a->first)) ||
	    memcmp(&a->rest, &b->rest, sizeof(a->rest)))
		return false;
	for (i = 0; i < a->num_inputs; i++)
		if (a->bindings[i] != b->bindings[i] || !same_shape(&a->shapes[i], &b->shapes[i]))
			return false;
	return true;
}

/* The instance of an interface, new if there is none; NULL with a message. */
static struct instance *find(struct mapper *m, const struct interface *interface, bool *is_new)
{
	struct instance **list = &m->model->instances[interface->subgraph], *instance;
	struct shape *shapes;
	uint32_t found = 0;
	int *bindings;

	*is_new = false;
	for (instance = *list; instance; instance = instance->next, found++)
		if (same_interface(&instance->interface, interface))
			return instance;
	if (found == MAX_INSTANCES)
		return map_fail(m, "subgraph %" PRIu32 " is given more than %d kinds of inputs",
				interface->subgraph, MAX_INSTANCES), NULL;
	instance = hal_alloc(m->b, 1, sizeof(*instance), m->diag);
	shapes = hal_alloc(m->b, (size_t)interface->num_inputs + 1, sizeof(*shapes), m->diag);
	bindings = hal_alloc(m->b, (size_t)interface->num_inputs + 1, sizeof(*bindings), m->diag);
	if (!instance || !shapes || !bindings)
		return NULL;
	memcpy(shapes, interface->shapes, interface->num_inputs * sizeof(*shapes));
	memcpy(bindings, interface->bindings, interface->num_inputs * sizeof(*bindings));
	instance->interface = *interface;
	instance->interface.shapes = shapes;
	instance->interface.bindings = bindings;
	instance->failed = true;
	instance->next = *list;
	*list = instance;
	*is_new = true;
	return instance;
}

const struct instance *map_instance(struct mapper *m, const struct interface *interface)
{
	struct map_model *model = m->model;
	uint32_t index = interface->subgraph;
	struct instance *instance;
	struct mapper inner;
	bool is_new;

	if (model->states[index] == SUBGRAPH_BEGUN)
		return map_fail(m, "subgraph %" PRIu32 " reaches itself", index), NULL;
	instance = find(m, interface, &is_new);
	if (!instance)
		return NULL;
	if (!is_new) {
		if (instance->failed)
			return map_fail(m, "subgraph %" PRIu32 " is not supported", index), NULL;
		return instance;
	}
	if (model->depth == MAX_DEPTH)
		return map_fail(m, "more than %d subgraphs one inside the other", MAX_DEPTH), NULL;
	model->depth++;
	model->states[index] = SUBGRAPH_BEGUN;
	if (!mapper_init(&inner, model, index, &instance->interface, &instance->number) &&
	    !map_graph(&inner)) {
		instance->failed = false;
		instance->graph = inner.g;
		instance->weight = inner.weight;
	}
	model->states[index] = SUBGRAPH_DONE;
	mapper_fini(&inner);
	model->depth--;
	return instance->failed ? NULL : instance;
}
