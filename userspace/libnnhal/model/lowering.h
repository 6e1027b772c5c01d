/* SPDX-License-Identifier: MIT */
/*
 * What the files of lowering share: the state of one run.
 */
#ifndef NNHAL_LOWERING_H
#define NNHAL_LOWERING_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "device/extensions.h"
#include "model/model_image.h"
#include "transport/transport.h"

#define NO_INDEX		UINT32_MAX

/* Where the constant of an operand goes. */
struct place {
	uint64_t offset;		/* in the inline data or the staging buffer */
	uint64_t extra;			/* scales or parameters, in the inline data */
	uint32_t tensor;		/* NO_INDEX: operand is not needed */
	uint8_t kind;			/* NNPU_TENSOR_* */
	bool staged;
	bool unreadable;
};

/* A subgraph of the model on its way to be the main part or a block. */
struct lower_graph {
	const struct nnhal_subgraph *sg;
	struct place *places;		/* one per operand */
	uint32_t number;		/* referenced subgraph, or MAIN_SUBGRAPH */
	bool reached;
	uint32_t entered_by;		/* operation of the main subgraph that is the first */
	uint32_t block;			/* index of its BLOCK command */
	struct image_skip obstacle;
};

struct lowering {
	const struct nnhal_model *model;
	const struct transport_limits *limits;
	const struct extensions *extensions;
	struct image *image;
	struct nnhal_diag *diag;
	bool check;
	/* The main subgraph, then the others, each behind all that refer to it. */
	struct lower_graph *graphs;
	uint32_t num_graphs;
	uint32_t *graph_of;		/* by number of a referenced subgraph: in graphs */
	struct place *places;
	/* Commands and what the image's header says. */
	uint32_t num_main_commands;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint64_t num_indexes;
	uint64_t data_size;
	uint32_t forced_output;		/* operand, or NO_INDEX */
};

/* Bring the subgraphs of a valid model in order; NONE or out of memory. */
enum nnhal_status lower_graphs_init(struct lowering *l);
void lower_graphs_fini(struct lowering *l);
/* The graph that input @i of an IF or WHILE refers to. */
struct lower_graph *lower_graph_input(const struct lowering *l, const struct lower_graph *g,
				      const struct nnhal_operation *o, uint32_t i);
/* The two graphs of an IF or WHILE in the order of the targets. */
void lower_graph_targets(const struct lowering *l, const struct lower_graph *g,
			 const struct nnhal_operation *o, struct lower_graph *targets[2]);
/* Why an operand cannot be a tensor record; NULL if it can. */
const char *lower_operand_obstacle(const struct lowering *l, const struct lower_graph *g,
				   uint32_t index);
/* Decide which operations become commands and number those. */
enum nnhal_status lower_find_skips(struct lowering *l);

#endif /* NNHAL_LOWERING_H */
