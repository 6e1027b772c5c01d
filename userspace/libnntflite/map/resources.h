/* SPDX-License-Identifier: MIT */
/*
 * Resource variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE.
 *
 * A resource has a name, and whatever subgraph names it means the same one. The HAL has no
 * such thing: in the main subgraph each is a variable (variables.c), an input and an output of
 * the model. A subgraph that uses one gets its value as a further input, and gives the new
 * value as a further output if it assigns one.
 */
#ifndef NNTFLITE_MAP_RESOURCES_H
#define NNTFLITE_MAP_RESOURCES_H

#include "map_model.h"
#include "mapper.h"

/*
 * Bytes of each part of the name of a resource. Operators may share long names, which would be
 * compared again and again.
 */
#define MAX_RESOURCE_NAME	512

/* A set of resources. */
struct resource_set {
	uint64_t bits[MAX_RESOURCES / 64];
};

static inline bool set_has(const struct resource_set *set, uint32_t i)
{
	return set->bits[i / 64] >> (i % 64) & 1;
}

static inline void set_add(struct resource_set *set, uint32_t i)
{
	set->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void set_join(struct resource_set *set, const struct resource_set *other)
{
	uint32_t i;

	for (i = 0; i < MAX_RESOURCES / 64; i++)
		set->bits[i] |= other->bits[i];
}

/**
 * struct resource - a resource variable
 * @container: first part of its name
 * @name: second part
 * @subgraph: where it is used first, for its type and shape
 * @tensor: the tensor that it is read to or assigned from there
 * @is_used: @subgraph and @tensor are valid
 * @shape: shape of the value, known
 * @initial: value before the first run, or NULL
 * @initial_output: output of the initializer with that value, or NNTFLITE_NONE
 * @kept: its variable, or -1
 */
struct resource {
	struct text container;
	struct text name;
	uint32_t subgraph;
	uint32_t tensor;
	bool is_used;
	struct shape shape;
	const uint8_t *initial;
	uint32_t initial_output;
	int kept;
};

/**
 * struct effects - what a subgraph does to resources
 * @next: of the same subgraph
 * @bindings: resources that its inputs refer to, -1 for the other inputs; in hal_alloc() memory
 * @results: resources that its outputs refer to, likewise
 * @reads: resources that it or those that it refers to read
 * @writes: those that they assign
 */
struct effects {
	struct effects *next;
	int *bindings;
	int *results;
	struct resource_set reads;
	struct resource_set writes;
};

/* Before the model is mapped: room for resources, if there are any in the file. 0 or -1. */
int resources_init(struct map_model *model, struct nntflite_diag *diag);

/*
 * The effects of subgraph @index with its inputs bound as @bindings says. NULL with a message
 * without memory or if there are too many ways to bind it.
 */
const struct effects *effects_of(struct mapper *m, uint32_t index, const int *bindings);

/*
 * The operand with the value of a resource in this subgraph; -1 with a message. That of
 * resource_place() may have been assigned never.
 */
int resource_value(struct mapper *m, uint32_t resource);
int resource_place(struct mapper *m, uint32_t resource);
/* The resource of a name, new if there is none; -1 if there are too many or if the name is too long. */
int find_resource(struct map_model *model, struct text container, struct text name);
/* Forget what the mapping of an operator did, as judge_refuse() wishes. */
void resources_go_back(struct mapper *m, const int *now);
/* The type and shape of a resource. 0 or -1. */
int describe_resource(struct mapper *m, uint32_t resource, struct nnhal_operand *operand);
/* At the end of the main subgraph: outputs of the model for the new values. 0 or -1. */
int resources_finish(struct mapper *m);
/* At the end of an initializer: what it computes, and what it assigns of constants. 0 or -1. */
int initializer_finish(struct mapper *m);
/* Release what the model knows of resources. */
void resources_free(struct map_model *model);

#endif /* NNTFLITE_MAP_RESOURCES_H */
