/* SPDX-License-Identifier: MIT */
/*
 * Program images, and how they map back to the model.
 */
#ifndef NNHAL_MODEL_IMAGE_H
#define NNHAL_MODEL_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

#include "transport/transport.h"

#define MAIN_SUBGRAPH	UINT32_MAX

/* The operation or subgraph of the model that a command stands for. */
struct command_origin {
	uint32_t operation;		/* of the main subgraph: the command, or it reaches it */
	uint32_t subgraph;		/* referenced subgraph, or MAIN_SUBGRAPH */
	uint32_t inner;			/* operation of that subgraph; UINT32_MAX: itself */
};

/* A tensor whose constant is in the memory of a pool. */
struct image_ref {
	uint32_t tensor;
	uint32_t pool;
};

/*
 * Why an operation cannot become a command; reason is NULL if it can. For an IF or WHILE the
 * reason may lie in a subgraph that it reaches.
 */
struct image_skip {
	const char *reason;
	uint32_t operand;		/* position, inputs first, or UINT32_MAX */
	uint32_t subgraph;		/* referenced subgraph, or MAIN_SUBGRAPH */
	uint32_t operation;		/* in that subgraph */
};

/* The operand of the model that a tensor stands for. */
struct tensor_origin {
	uint32_t subgraph;		/* referenced subgraph, or MAIN_SUBGRAPH */
	uint32_t operand;
};

/* A program image and how it maps back to the model. */
struct image {
	/*
	 * Complete except for the slots of constants, which loading fills in: tensors in
	 * @refs are in pools, all other tensors of kind NNPU_TENSOR_SLOT in @staging.
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
	/* The pools of the model, each with a reference. That of a cache: its data file. */
	struct nnhal_memory **pools;
	uint32_t num_pools;
};

void image_fini(struct image *image);
/* The constants have been loaded: free the copy. */
void image_drop_staging(struct image *image);

static inline struct nnpu_tensor_desc *image_tensors(const struct image *image)
{
	return (struct nnpu_tensor_desc *)(image->data + sizeof(struct nnpu_program_header));
}

static inline const struct nnpu_command *image_commands(const struct image *image)
{
	return (const struct nnpu_command *)(image_tensors(image) + image->num_tensors);
}

/* Operand @position of a command: its position among the operands of the operation. */
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

#endif /* NNHAL_MODEL_IMAGE_H */
