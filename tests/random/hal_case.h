/* SPDX-License-Identifier: MIT */
/*
 * A test case as a HAL model whose every field may be changed, and its request.
 */
#ifndef NNPU_TESTS_HAL_CASE_H
#define NNPU_TESTS_HAL_CASE_H

#include <nnhal/nnhal.h>

#include "../../userspace/tools/nnvec/nntc.h"

struct hal_case {
	struct nnhal_model model;
	struct nnhal_operand *operands;
	uint32_t (*dims)[8];
	struct nnhal_operation *operations;
	uint32_t **op_inputs, **op_outputs;
	uint32_t *inputs, *outputs;
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

/* Fill in from a case; ends the program when memory is short. */
void hal_case_init(struct hal_case *h, const struct nntc_case *c);
void hal_case_fini(struct hal_case *h);

/* Write the inputs, and @fill into all else. */
void hal_case_load(struct hal_case *h, const struct nntc_case *c, uint8_t fill);

/* Is everything but the outputs as hal_case_load() left it? */
bool hal_case_untouched(const struct hal_case *h, const struct nntc_case *c, uint8_t fill);

/* Set number_of_consumers of all operands. */
void hal_case_count_consumers(struct hal_case *h);

#endif /* NNPU_TESTS_HAL_CASE_H */
