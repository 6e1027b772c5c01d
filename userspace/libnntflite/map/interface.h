/* SPDX-License-Identifier: MIT */
/*
 * Subgraphs that IF, WHILE and CALL refer to.
 *
 * A subgraph of the file is mapped once for each interface that its references need: the
 * shapes of its inputs, and the variables that go in and out. Most have one.
 */
#ifndef NNTFLITE_MAP_INTERFACE_H
#define NNTFLITE_MAP_INTERFACE_H

#include "mapper.h"
#include "resources.h"

/**
 * struct interface - what a reference gives to a subgraph, and gets
 * @subgraph: number in the file
 * @num_inputs: inputs of the subgraph in the file
 * @shapes: their shapes
 * @bindings: resources that they refer to, -1 for tensors
 * @first: variables that come in behind the inputs
 * @rest: those that come in behind these
 * @gives: the values of @first go out behind the outputs
 * @is_unread: nothing comes in: it gets an input that it does not read
 * @is_condition: its output is a condition of WHILE, which has the shape [1]
 */
struct interface {
	uint32_t subgraph;
	uint32_t num_inputs;
	const struct shape *shapes;
	const int *bindings;
	struct resource_set first;
	struct resource_set rest;
	bool gives;
	bool is_unread;
	bool is_condition;
};

/**
 * struct instance - a subgraph that was mapped for an interface
 * @interface: the interface
 * @failed: it could not be mapped
 * @number: of the HAL's subgraph
 * @graph: the HAL's subgraph
 * @weight: operators that one run of it runs at most
 */
struct instance {
	struct instance *next;		/* of the same subgraph */
	struct interface interface;
	bool failed;
	uint32_t number;
	const struct hal_graph *graph;
	uint32_t weight;
};

/* The subgraph @interface->subgraph for this interface; NULL with a message. */
const struct instance *map_instance(struct mapper *m, const struct interface *interface);

/* Operators that one run of the model may run, loops counted as one round. */
#define MAX_WEIGHT	(1u << 20)

#endif /* NNTFLITE_MAP_INTERFACE_H */
