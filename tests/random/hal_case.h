/* SPDX-License-Identifier: MIT */
/*
 * A test case as a HAL model whose every field may be changed, and its request.
 */
#ifndef NNPU_TESTS_HAL_CASE_H
#define NNPU_TESTS_HAL_CASE_H

#include <nnhal/nnhal.h>

#include "../../userspace/tools/common/nntc.h"

/*
 * A subgraph. Lists of indexes have room for one entry more than the case has. What is
 * in @sg may shrink, and grow by that: memory is freed by what the case has.
 */
struct hal_graph {
	struct nnhal_subgraph *sg;	/* in the model */
	const struct nntc_subgraph *from;
	struct nnhal_operand *operands;
	uint32_t (*dims)[8];
	struct nnhal_operation *operations;
	uint32_t **op_inputs, **op_outputs;
	uint32_t *inputs, *outputs;
};

struct hal_case {
	struct nnhal_model model;
	struct nnhal_subgraph *referenced;
	/* The main subgraph, then those that the model refers to. */
	struct hal_graph *graphs;
	uint32_t num_graphs;
	uint8_t *values;
	struct nnhal_memory *pool;
	struct nnhal_memory *pools[1];
	/* Inputs and outputs in one memory object, each on a 64-byte boundary. */
	struct nnhal_request request;
	struct nnhal_request_argument *in_args, *out_args;
	struct nnhal_request_pool request_pools[1];
	struct nnhal_memory *memory;
	uint8_t *map;
	uint64_t size;
};

/* Fill in from a case; ends the program when memory is short. @h stays where it is. */
void hal_case_init(struct hal_case *h, const struct nntc_case *c);
void hal_case_fini(struct hal_case *h);

/* Write the inputs, and @fill into all else. */
void hal_case_load(struct hal_case *h, const struct nntc_case *c, uint8_t fill);

/* Is everything but the outputs as hal_case_load() left it? */
bool hal_case_untouched(const struct hal_case *h, const struct nntc_case *c, uint8_t fill);

/* Set number_of_consumers of all operands of a subgraph. */
void hal_graph_count_consumers(struct hal_graph *g);

#endif /* NNPU_TESTS_HAL_CASE_H */
