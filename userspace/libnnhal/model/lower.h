/* SPDX-License-Identifier: MIT */
/*
 * From HAL models to program images.
 */
#ifndef NNHAL_LOWER_H
#define NNHAL_LOWER_H

#include "internal.h"

/* A tensor whose constant is in the memory of a pool. */
struct image_ref {
	uint32_t tensor;
	uint32_t pool;
};

/*
 * Why the host cannot pass an operation on; reason is NULL if it can. An IF or WHILE
 * may have the reason in a subgraph that it reaches.
 */
struct image_skip {
	const char *reason;
	uint32_t operand;		/* position, inputs first, or UINT32_MAX */
	uint32_t subgraph;		/* referenced subgraph, or MAIN_SUBGRAPH */
	uint32_t operation;		/* in that subgraph */
};

/* What a tensor is in the model. */
struct tensor_origin {
	uint32_t subgraph;		/* referenced subgraph, or MAIN_SUBGRAPH */
	uint32_t operand;
};

/* A program image and how it maps back to the model. */
struct image {
	/*
	 * Complete but for the slots of constants: those in @refs, and all others of
	 * kind NNPU_TENSOR_SLOT, which are in the staged bytes.
	 */
	uint8_t *data;
	uint32_t size;
	uint32_t num_tensors;
	uint32_t num_commands;
	uint32_t num_operations;	/* of the main subgraph */
	bool has_loops;
	struct tensor_origin *tensor_origins;
	struct command_origin *command_origins;
	struct image_skip *skips;	/* one per operation of the main subgraph */
	/* Constants that are too large for the image or cannot be bound in place. */
	uint8_t *staging;
	uint64_t staging_size;
	struct image_ref *refs;
	uint32_t num_refs;
	/* Memory the refs are in, referenced, one entry per pool of the model. */
	struct nnhal_memory **pools;
	uint32_t num_pools;
};

/*
 * Turn a valid model into an image. @extensions of the device, or NULL.
 *
 * With @check, operations the host cannot express are left out and what they
 * would have written becomes an input; image->skips says which and why. If none
 * is left, image->num_commands is 0 and there is no image. Without @check such an
 * operation gives INVALID_ARGUMENT.
 */
enum nnhal_status lower_model(const struct nnhal_model *model,
			      const struct transport_limits *limits,
			      const struct extensions *extensions, bool check,
			      struct image *image, struct nnhal_diag *diag);
void image_fini(struct image *image);

static inline struct nnpu_tensor_desc *image_tensors(const struct image *image)
{
	return (struct nnpu_tensor_desc *)(image->data + sizeof(struct nnpu_program_header));
}

static inline const struct nnpu_command *image_commands(const struct image *image)
{
	return (const struct nnpu_command *)(image_tensors(image) + image->num_tensors);
}

/* Operand @position of a command as the operation it comes from has it. */
static inline uint32_t operand_of_operation(const struct nnhal_operation *o, uint32_t position)
{
	/* Subgraphs are targets, not operands: inputs 1 and 2 of IF, 0 and 1 of WHILE. */
	if (o->type == NNHAL_OPERATION_IF)
		return position ? position + 2 : 0;
	return o->type == NNHAL_OPERATION_WHILE ? position + 2 : position;
}

static inline bool is_control(const struct nnhal_operation *o)
{
	return o->type == NNHAL_OPERATION_IF || o->type == NNHAL_OPERATION_WHILE;
}

/* ---- lower.c and lower_graphs.c ---- */

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

#endif /* NNHAL_LOWER_H */
