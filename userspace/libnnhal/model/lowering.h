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

/* Alignment of constants in the image and in the staging buffer. */
#define LOWER_DATA_ALIGN		64

/* Where the constant of an operand goes. */
struct place {
	uint64_t offset;		/* in the inline data or the staging buffer */
	uint64_t extra;			/* scales or parameters, in the inline data */
	uint32_t tensor;		/* NO_INDEX: operand is not needed */
	uint8_t kind;			/* NNPU_TENSOR_* */
	bool staged;
	bool unreadable;
};

/* A subgraph of the model: it becomes the main part of the program or a block. */
struct lower_graph {
	const struct nnhal_subgraph *sg;
	struct place *places;		/* one per operand */
	uint32_t number;		/* referenced subgraph, or MAIN_SUBGRAPH */
	bool reached;
	uint32_t entered_by;		/* first operation of the main subgraph that reaches it */
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
	/* The main subgraph, then the others, each after all that refer to it. */
	struct lower_graph *graphs;
	uint32_t num_graphs;
	uint32_t *graph_of;		/* by number of a referenced subgraph: in graphs */
	struct place *places;
	/* Counts for the header of the image. */
	uint32_t num_main_commands;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint64_t num_indexes;
	uint64_t data_size;
	uint32_t forced_output;		/* operand, or NO_INDEX */
};

/* Sort the subgraphs of a valid model; NONE or out of memory. */
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

/* Write the image. */
enum nnhal_status lower_emit(struct lowering *l);

/* Bytes of the parameters of an operand of an extension type that the device has; else 0. */
static inline uint64_t lower_params_size(const struct lowering *l, const struct nnhal_operand *op)
{
	struct extension_type type;

	return op->extra_params.kind == NNHAL_EXTRA_PARAMS_EXTENSION &&
	       !extensions_find_type(l->extensions, l->model, op->type, &type) ?
	       op->extra_params.extension_size : 0;
}

static inline bool lower_is_reference(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static inline bool lower_is_constant(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_COPY || lower_is_reference(op);
}

/* Number of inputs of an operation that are operands of its command, and input @k of them. */
static inline uint32_t lower_num_inputs(const struct nnhal_operation *o)
{
	return is_control(o) ? o->num_inputs - 2 : o->num_inputs;
}

static inline uint32_t lower_input(const struct nnhal_operation *o, uint32_t k)
{
	return o->inputs[operand_of_operation(o, k)];
}

/* The operation of the main subgraph that command @c stands for. */
static inline const struct nnhal_operation *
lower_main_operation(const struct lowering *l, uint32_t c)
{
	return &l->model->main.operations[l->image->command_origins[c].operation];
}

#endif /* NNHAL_LOWERING_H */
