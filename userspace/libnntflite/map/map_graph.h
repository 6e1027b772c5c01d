/* SPDX-License-Identifier: MIT */
/*
 * Mapping one subgraph.
 */
#ifndef NNTFLITE_MAP_MAP_GRAPH_H
#define NNTFLITE_MAP_MAP_GRAPH_H

#include "map_model.h"
#include "mapper.h"

/*
 * Begin with subgraph @index of the file; *@number is that of the HAL's. @interface: what its
 * reference gives to it, NULL for the main one. 0 or -1.
 */
int mapper_init(struct mapper *m, struct map_model *model, uint32_t index,
		const struct interface *interface, uint32_t *number);
/* Also after mapper_init() failed. */
void mapper_fini(struct mapper *m);

/* Map inputs, operators and outputs. 0 or -1. */
int map_graph(struct mapper *m);

#endif /* NNTFLITE_MAP_MAP_GRAPH_H */
