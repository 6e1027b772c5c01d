/* SPDX-License-Identifier: MIT */
/*
 * Building a HAL model operand by operand.
 *
 * A builder owns everything its model points to. Constants that the caller has in
 * memory are noted and copied into one pool (a memfd the device reaches without a
 * copy) by hal_builder_finish().
 *
 * Functions that add something return its index, or -1 with the error filled in.
 */
#ifndef NNTFLITE_MAP_HAL_BUILDER_H
#define NNTFLITE_MAP_HAL_BUILDER_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "../base/nntflite_diag.h"

/* The operand or operation comes from no tensor or operator of the file. */
#define HAL_NO_ORIGIN	UINT32_MAX

/* Where a constant comes from and where in the pool it goes. */
struct hal_constant {
	const void *data;
	size_t bytes;
	uint64_t offset;
};

struct hal_chunk;
struct hal_builder;

/* How many of the latest scalars and omitted operands are searched for the same one. */
#define HAL_RECENT		16

/* One subgraph. */
struct hal_graph {
	struct hal_builder *b;
	uint32_t subgraph;		/* of the file, for messages */
	struct nnhal_operand *operands;
	uint32_t *operand_origins;	/* tensor index, for messages */
	uint32_t num_operands;
	uint32_t max_operands;
	struct nnhal_operation *operations;
	uint32_t *operation_origins;	/* operator index, for messages */
	uint32_t num_operations;
	uint32_t max_operations;
	int recent[HAL_RECENT];		/* scalars and omitted operands, the latest ones */
	uint32_t num_recent;
	uint32_t *inputs;
	uint32_t *outputs;
	uint32_t num_inputs;
	uint32_t num_outputs;
};

/* The extension that operations come from which the HAL lacks, and its prefix here. */
#define HAL_EXTENSION_NAME	"org.nnpu.tflite"
#define HAL_EXTENSION_PREFIX	1u
#define HAL_EXTENSION_CODE(n)	(HAL_EXTENSION_PREFIX << 16 | (uint32_t)(n))

/* A model: subgraph 0 is the main one, the others are what IF and WHILE refer to. */
struct hal_builder {
	struct hal_graph **graphs;
	uint32_t num_graphs;
	uint32_t max_graphs;
	uint8_t *values;		/* CONSTANT_COPY */
	size_t values_size;
	size_t values_room;
	struct hal_constant *constants;	/* CONSTANT_REFERENCE */
	uint32_t num_constants;
	uint32_t max_constants;
	uint64_t pool_size;
	uint64_t max_pool;
	struct hal_chunk *chunks;	/* see hal_alloc() */
	size_t allocated;
	uint64_t allocated_constants;
	bool uses_extension;
	struct nnhal_memory *pool;
	struct nnhal_model model;
};

/* @max_pool: most bytes of constants, padding included. */
void hal_builder_init(struct hal_builder *b, uint64_t max_pool);
void hal_builder_fini(struct hal_builder *b);

/* Zeroed memory that lives as long as the builder; NULL with a message if there is none. */
void *hal_alloc(struct hal_builder *b, size_t count, size_t size, struct nntflite_diag *diag);

/*
 * The same for the @bytes bytes of a constant. All of them together take at most what constants may
 * take.
 */
void *hal_alloc_constant(struct hal_builder *b, uint64_t bytes, struct nntflite_diag *diag);

/* A new subgraph, or NULL; the first is the main one. @number: out, its index. */
struct hal_graph *hal_add_graph(struct hal_builder *b, uint32_t *number,
				struct nntflite_diag *diag);

/* A copy of *@operand; its dimensions are copied too. */
int hal_add_operand(struct hal_graph *g, const struct nnhal_operand *operand,
		    uint32_t origin, struct nntflite_diag *diag);

/* CONSTANT_COPY scalars; those of the same value may be the same operand. */
int hal_add_int32(struct hal_graph *g, int32_t value, struct nntflite_diag *diag);
int hal_add_float32(struct hal_graph *g, float value, struct nntflite_diag *diag);
int hal_add_float16(struct hal_graph *g, float value, struct nntflite_diag *diag);
int hal_add_bool(struct hal_graph *g, bool value, struct nntflite_diag *diag);

/* An operand that is omitted; those of a type may be the same one. */
int hal_add_no_value(struct hal_graph *g, uint32_t type, struct nntflite_diag *diag);

/* The referenced subgraph @number, as IF and WHILE take it. */
int hal_add_subgraph(struct hal_graph *g, uint32_t number, struct nntflite_diag *diag);

/* A constant operand with @bytes bytes at @data copied into the model at once. */
int hal_add_copied(struct hal_graph *g, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct nntflite_diag *diag);

/*
 * A constant operand with data in the pool. @data must stay until
 * hal_builder_finish(); data named several times is stored once.
 */
int hal_add_pooled(struct hal_graph *g, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct nntflite_diag *diag);

/* An operation; @inputs and @outputs are copied. */
int hal_add_operation(struct hal_graph *g, uint32_t type, const int *inputs,
		      uint32_t num_inputs, const int *outputs, uint32_t num_outputs,
		      uint32_t origin, struct nntflite_diag *diag);

/* The lists of inputs and outputs of a subgraph. 0 or -1. */
int hal_graph_finish(struct hal_graph *g, const uint32_t *inputs, uint32_t num_inputs,
		     const uint32_t *outputs, uint32_t num_outputs,
		     struct nntflite_diag *diag);

/* Complete b->model: consumers, pool, the subgraphs that are referred to. 0 or -1. */
int hal_builder_finish(struct hal_builder *b, struct nntflite_diag *diag);

#endif /* NNTFLITE_MAP_HAL_BUILDER_H */
